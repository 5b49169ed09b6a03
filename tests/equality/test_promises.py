"""Equal values are equal, whatever counts them; and they leave in one spelling. Issues 13, line 1, and 17."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.equality.test_key import naive

import privet as pv
from privet.errors import UnsatisfiableError
from privet.measure.audit import audit
from privet.roads import engine_of
from privet.verification import verify


def policy(models: str, *, age: str = '{ role = "quasi" }', algorithm: str = "top-down") -> pv.Policy:
    return pv.Policy.loads(
        f'policy = 1\n[attributes]\nage = {age}\nill = {{ role = "sensitive" }}\n{models}\n'
        f'[algorithm]\ntype = "{algorithm}"\n'
    )


def lkc(value: str, *, k: int = 2, c: str = "1/2") -> str:
    return f'[[models]]\ntype = "lkc-privacy"\nl = 1\nk = {k}\nc = "{c}"\nsensitive = {{ ill = [{value}] }}'


DISTINCT = '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]'


@pytest.mark.parametrize("said", ["1", '"1"', '"1.0"', '"1e0"'])
def test_a_float_column_has_the_number_that_the_policy_protects(said: str) -> None:
    """As every pandas column of integers with one gap."""
    data = pl.DataFrame({"age": ["a"] * 4, "ill": [1.0, 1.0, 1.0, None]})
    with pytest.raises(UnsatisfiableError):
        pv.publish(data, policy(lkc(said)))
    ((_, verdict),) = pv.check(data, policy(lkc(said)))
    assert verdict.achieved["c"] == Fraction(3, 4)


@pytest.mark.parametrize("engine", ["embedded", "plain"])
@pytest.mark.parametrize(
    "spelt", [("45", "45.0"), ("\u00e9", "e\u0301"), ("2024-03-05", "2024-03-05T00:00:00Z")]
)
def test_two_spellings_are_not_two_values(spelt: tuple[str, str], engine: str, tmp_path: Path) -> None:
    source = tmp_path / "raw.csv"
    pl.DataFrame({"age": ["a", "a"], "ill": spelt}).write_csv(source)
    with pytest.raises(UnsatisfiableError):
        pv.publish(source, policy(DISTINCT), engine=engine)
    ((_, verdict),) = pv.check(source, policy(DISTINCT), engine=engine)
    assert (verdict.holds, verdict.achieved["l"]) == (False, 1)


def test_equal_sensitive_values_leave_in_one_spelling(tmp_path: Path) -> None:
    data = pl.DataFrame({"age": ["a"] * 4, "ill": ["45", "45.0", "4.5e1", "flu"]})
    release = pv.publish(data, policy(lkc('"45"', c="3/4")))
    assert sorted(release.to_polars()["ill"]) == ["45", "45", "45", "flu"]
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert release.verdicts[0][1].achieved["c"] == Fraction(3, 4)


@pytest.mark.parametrize("algorithm", ["top-down", "optimal", "mondrian", "local"])
@pytest.mark.parametrize("age", ['{ role = "quasi" }', '{ role = "quasi", hierarchy = { type = "flat" } }'])
def test_equal_quasi_identifiers_leave_in_one_spelling(age: str, algorithm: str) -> None:
    """Their spelling would tell records of a class apart, and a reader of texts would count other classes."""
    data = pl.DataFrame({"age": ["7", "7.0", "8", "8"], "ill": [*"abab"]})
    release = pv.publish(
        data, policy('[[models]]\ntype = "k-anonymity"\nk = 2', age=age, algorithm=algorithm)
    )
    assert sorted(release.to_polars()["age"]) == ["7", "7", "8", "8"]


def test_a_leaf_of_a_hierarchy_is_found_by_equality() -> None:
    leaves = '{ Any = { Few = ["7", "8"], "Café" = ["é"] } }'
    tree = f'{{ role = "quasi", hierarchy = {{ type = "tree", tree = {leaves} }} }}'
    data = pl.DataFrame({"age": ["7.0", "8e0", "7", "\u00e9", "e\u0301", "\u00e9"], "ill": [*"ababab"]})
    release = pv.publish(data, policy('[[models]]\ntype = "k-anonymity"\nk = 3', age=tree))
    assert set(release.to_polars()["age"]) <= {"Few", "\u00e9"}


def test_a_hierarchy_that_names_two_spellings_tells_them_apart() -> None:
    """Codes as 250.0 and 250.00 are text to whoever wrote them down: classes are finer, not coarser."""
    tree = '{ role = "quasi", hierarchy = { type = "tree", tree = { Any = ["250.0", "250.00"] } } }'
    data = pl.DataFrame({"age": ["250.0", "250.0", "250.00", "250.00"], "ill": [*"abab"]})
    release = pv.publish(data, policy('[[models]]\ntype = "k-anonymity"\nk = 2', age=tree))
    assert sorted(release.to_polars()["age"]) == ["250.0", "250.0", "250.00", "250.00"]
    assert release.verdicts[0][1].achieved["k"] == 2


def test_names_of_columns_are_composed(tmp_path: Path) -> None:
    source = tmp_path / "raw.csv"
    source.write_text("a\u0302ge,ill\n1,a\n1,b\n", encoding="utf-8")
    said = (
        'policy = 1\n[attributes]\n"\u00e2ge" = "quasi"\nill = "other"\n'
        '[[models]]\ntype = "k-anonymity"\nk = 2\n'
    )
    for data in (source, pl.read_csv(source)):
        assert pv.publish(data, pv.Policy.loads(said)).to_polars().columns == ["\u00e2ge", "ill"]


def test_rows_that_leave_are_found_by_equality() -> None:
    data = pl.DataFrame({"age": [1, 1, 2, 2], "ill": [*"abab"], "in": [1.0, None, 1.0, 0.0]})
    said = policy('[[models]]\ntype = "k-anonymity"\nk = 1')
    with_rows = said.dumps().replace(
        "[attributes.ill]", '[attributes.in]\nrole = "sensitive"\n\n[attributes.ill]'
    )
    with_rows = with_rows.replace('nulls = "value"', 'nulls = "value"\npublish_only = { in = ["1"] }', 1)
    assert pv.publish(data, pv.Policy.loads(with_rows)).to_polars().height == 2


def test_an_auditor_finds_the_equal_value() -> None:
    data = pl.DataFrame({"age": ["a"] * 4, "ill": ["1.0", "1", "1e0", "2"]})
    said = policy(lkc('"1.00"'))
    tally = engine_of("embedded").tally_published(engine_of("embedded").read(data, said.form), said)
    found = audit(tally, said.models[0])  # type: ignore[arg-type] # it is a linkage bound
    assert not found.holds


spellings = st.sampled_from(
    ["7", "7.0", "7e0", "8", "8.00", "\u00e9", "e\u0301", "2024-03-05", "2024-03-05 00:00", None]
)
rows = st.lists(st.tuples(st.sampled_from(["a", "b", None]), spellings), min_size=1, max_size=14)


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(["7", "8.0", "é"]), st.fractions(Fraction(1, 4), 1, max_denominator=4))
def test_promises_agree_with_the_naive_definition(rows: Any, protected: str, c: Fraction) -> None:
    data = pl.DataFrame(rows, schema={"age": pl.String, "ill": pl.String}, orient="row")
    groups: dict[Any, list[Any]] = defaultdict(list)
    for age, ill in rows:
        groups[age].append(naive(ill))
    share = max(Fraction(group.count(naive(protected)), len(group)) for group in groups.values())
    worst_l = min(len(set(group)) for group in groups.values())
    if any(naive(ill) == naive(protected) for _, ill in rows):
        verdict = pv.check(data, policy(lkc(f'"{protected}"', k=1, c=str(c))))[0][1]
        assert verdict.holds == (share <= c)
    assert pv.check(data, policy(DISTINCT))[0][1].achieved["l"] == worst_l
    try:
        left = pv.publish(data, policy(DISTINCT)).to_polars()
    except UnsatisfiableError:
        assert len({naive(ill) for _, ill in rows}) < 2
        return
    classes: dict[Any, set[Any]] = defaultdict(set)
    for age, ill in left.iter_rows():
        classes[age].add(naive(ill))
    assert all(len(values) >= 2 for values in classes.values())


DOCUMENTS = """
policy = 1
kind = "documents"
[documents]
record = { type = "person" }
[documents.types.person]
quasi = ["age"]
sensitive = "ill"
"""
WAYS = {
    "ctoff": '[[models]]\ntype = "document-l-diversity"\nl = 2\n[algorithm]\ntype = "ctoff"\n',
    "anatomy": '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[algorithm]\ntype = "tree-anatomy"\n',
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ending", ["json", "xml"])
def test_documents_of_45_and_45_0_are_not_diverse(way: str, ending: str, tmp_path: Path) -> None:
    source = tmp_path / f"raw.{ending}"
    values = ["45", "45.0", "4.5e1", "45.00"]
    if ending == "json":
        source.write_text("[" + ",".join(f'{{"age": 1, "ill": {v}}}' for v in values) + "]")
    else:
        people = "".join(f"<person><age>1</age><ill>{v}</ill></person>" for v in values)
        source.write_text(f"<people>{people}</people>")
    said = pv.Policy.loads(DOCUMENTS + WAYS[way])
    with pytest.raises(UnsatisfiableError):
        pv.publish(source, said)
    assert not pv.check(source, said)[0][1].holds


def test_a_rule_about_7_is_not_evaded_by_7_0(tmp_path: Path) -> None:
    source = tmp_path / "raw.json"
    values = [7.0, 1, 7.0, 2, 7.0, 3, 4, 5]
    source.write_text(json.dumps([{"age": 1, "ill": v} for v in values]))
    rule = (
        '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[[models]]\ntype = "pm-privacy"\n'
        'rules = [{ value = "7", m = 1, p = "1/4" }]\n[algorithm]\ntype = "tree-anatomy"\n'
    )
    said = pv.Policy.loads(DOCUMENTS + rule)
    verdicts = {model.name: verdict for model, verdict in pv.check(source, said)}
    assert verdicts["pm-privacy"].achieved["p"] == Fraction(3, 8)
    release = pv.publish(source, said)
    assert release.evidence["records"] < len(values), "with p below 1/l the value is erased"


def test_trajectories_know_equal_values(tmp_path: Path) -> None:
    data = pl.DataFrame({"path": ["a1 b2"] * 4, "ill": [1.0, 1.0, 1.0, 2.0]})
    said = pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n[trajectories]\nform = "column"\npath = "path"\n'
        '[attributes]\nill = { role = "sensitive" }\n'
        '[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\nc = "1/2"\nsensitive = { ill = ["1"] }\n'
        '[algorithm]\ntype = "suppress-points"\n'
    )
    assert pv.check(data, said)[0][1].achieved["c"] == Fraction(3, 4)
    assert set(pv.publish(data, said).to_polars()["path"]) == {""}, "nothing that leads to the value is left"
