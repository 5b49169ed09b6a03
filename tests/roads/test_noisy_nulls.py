"""Missing values are a public category where the domain says so, and refused for nothing where not."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dp.small import table as small
from tests.roads import noisy
from tests.tries import seldom

import privet as pv
from privet.dp import cuts
from privet.dp.contingency import finest
from privet.dp.ledger import Ledger
from privet.dp.publicdomain import Categories, Numbers, Predictor
from privet.errors import InputError, PolicyError
from privet.hierarchy import parse
from privet.hierarchy.tree import Tree

NULLS = """
policy = 1
purpose = "a test"

[attributes]
job = {{ role = "quasi", hierarchy = {{ type = "tree", tree = {{ Any = ["cook", "smith"] }}{0} }} }}
age = {{ role = "quasi", hierarchy = {{ type = "intervals", low = 0, high = 40{0} }} }}
ill = {{ role = "target", values = ["yes", "no"{1}] }}
"""
SAID = NULLS.format(", null = true", ", { null = true }")
UNSAID = NULLS.format("", "")
ALGORITHMS = (
    noisy.DIFFGEN + 'marginals = "1/10"\n',
    '[algorithm]\ntype = "noisy-contingency"\nnoise = "exact"\n',
    noisy.DIFFGEN + 'output = "counts"\n',
)
FORMATS = ("csv", "jsonl", "parquet")


def raw(rows: int = 900) -> pl.DataFrame:
    draw = np.random.default_rng(3)

    def holes(values: Any) -> list[Any]:
        return [None if hole else value for value, hole in zip(values, draw.random(rows) < 0.3, strict=True)]

    return pl.DataFrame(
        {
            "job": holes(draw.choice(["cook", "smith"], rows).tolist()),
            "age": holes(draw.integers(0, 40, rows).tolist()),
            "ill": holes(draw.choice(["yes", "no"], rows).tolist()),
        }
    )


def with_much(text: str, algorithm: str) -> str:
    return text + noisy.MODEL.replace('"1/2"', '"80"') + algorithm


@pytest.mark.parametrize(
    ("algorithm", "format_"),
    seldom(product(ALGORITHMS, FORMATS), [*product(ALGORITHMS, ["csv"]), *product(ALGORITHMS[:1], FORMATS)]),
)
def test_missing_values_are_counted_published_and_verified(
    algorithm: str, format_: str, tmp_path: Path
) -> None:
    noisy.ledger(tmp_path, 100)
    data = raw()
    release = pv.publish(data, noisy.policy(tmp_path, with_much(SAID, algorithm)), output=format_)
    folder = release.write(tmp_path / "out")
    found = pv.verify(folder)
    assert found.holds, found.complaints
    compared = pv.compare(data, folder)
    assert compared["counts"]["total"] <= 60  # with so much epsilon hardly any count is off
    published = release.to_polars()
    if "count" not in published.columns:
        for name in ("job", "ill"):
            true = data.get_column(name).null_count()
            assert abs(published.get_column(name).null_count() - true) <= 30, name
    again = pv.Policy.load(folder / "policy.toml")
    assert again.with_role(pv.Role.TARGET)[0].values == ("yes", "no", None)


def test_where_the_domain_does_not_say_so_they_are_refused_for_nothing(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, 100)
    with pytest.raises(InputError) as refused:
        pv.publish(raw(), noisy.policy(tmp_path, with_much(UNSAID, noisy.DIFFGEN)))
    assert len(refused.value.complaints) == 3
    assert all("null = true" in complaint for complaint in refused.value.complaints)
    assert Ledger(tmp_path / "ledger.sqlite").balance("ward").spent == 0


def test_a_domain_with_nulls_takes_tables_without_one(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, 100)
    release = pv.publish(raw().drop_nulls(), noisy.policy(tmp_path, with_much(SAID, noisy.DIFFGEN)))
    assert pv.verify(release.write(tmp_path / "out")).holds


def test_a_file_needs_a_text_for_what_is_missing(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, 100)
    text = with_much(SAID, noisy.DIFFGEN) + "[form]\nnulls = []\n"
    with pytest.raises(PolicyError, match=r"form\.nulls has no text for it"):
        pv.publish(raw(), noisy.policy(tmp_path, text), output="csv")
    assert Ledger(tmp_path / "ledger.sqlite").balance("ward").spent == 0


def test_only_public_domains_say_so() -> None:
    with pytest.raises(PolicyError) as refused:
        pv.Policy.loads(SAID + '[[models]]\ntype = "k-anonymity"\nk = 2\n')
    said = "\n".join(refused.value.complaints)
    assert "attributes.job: hierarchy" in said
    assert "attributes.age: hierarchy" in said
    for wrong in ('[{ null = false }, "a"]', '[{ other = true }, "a"]', "[{ null = true }, { null = true }]"):
        text = with_much(SAID.replace('["yes", "no", { null = true }]', wrong), noisy.DIFFGEN)
        with pytest.raises(PolicyError, match="values"):
            pv.Policy.loads(text)


def test_it_is_written_back_as_it_was_said() -> None:
    for said in (
        {"type": "tree", "tree": {"Any": ["a", "b"]}, "null": True},
        {"type": "intervals", "low": 0, "high": 9, "null": True},
    ):
        assert parse(said, base=Path()).to_policy() == said


def naive(values: list[str | None], size: int) -> list[int]:
    """The definition: each number its own code, what is missing the last."""
    return [size if value is None else int(value) for value in values]


@given(st.lists(st.none() | st.integers(0, 6).map(str), max_size=20))
def test_codes_of_numbers_that_may_be_missing(values: list[str | None]) -> None:
    domain = Numbers(0, 7, null=True)
    assert domain.codes(values).tolist() == naive(values, 7)
    assert Numbers(0, 7).codes(values).tolist() == [-1 if v is None else int(v) for v in values]
    assert (domain.size, domain.points, domain.root.leaves) == (8, 7, 8)
    numbers, missing = domain.root.children
    assert (numbers.label, missing.label, missing.leaves) == ("[0-7)", None, 1)
    assert [node.leaves for node in finest(domain)] == [1] * 8
    assert finest(domain)[-1].label is None


@pytest.mark.parametrize("domain", [Numbers(0, 7, null=True), Numbers(edges=(0, 2, 7), null=True)])
def test_a_cut_with_missing_values_is_noted_and_read_back(domain: Numbers) -> None:
    predictor = Predictor("n", domain)
    numbers, missing = domain.root.children
    for cut in ((domain.root,), (numbers, missing), (*finest(domain),)):
        noted = cuts.noted(domain, cut)
        assert [node.label for node in cuts.read(predictor, noted)] == [node.label for node in cut]
    for wrong in ((numbers,), (missing,), (missing, numbers)):
        with pytest.raises(InputError):
            cuts.read(predictor, cuts.noted(domain, wrong))


def test_counts_are_the_naive_ones() -> None:
    from privet.dp.contingency import contingency
    from privet.dp.exact import Exact

    job = Predictor("Job", Categories(Tree.of({"Any": ["cook", "smith"]}), null=True))
    age = Predictor("Age", Numbers(0, 3, null=True))
    rows = [("cook", "1", "Y"), (None, "1", None), (None, None, "Y"), ("smith", None, None)] * 50
    made = contingency(small(rows, [job, age], ("Y", None)), Fraction(1000), Exact())
    labels, counts = made.rows()
    texts = [column.texts() for column in labels.values()]
    assert dict(zip(zip(*texts, strict=True), counts.tolist(), strict=True)) == {
        (j, None if a is None else f"{a}", c): n for (j, a, c), n in Counter(rows).items()
    }
