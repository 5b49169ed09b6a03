"""A walk through the release of a table: nobody is entered who is not needed, and nobody is called back."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tests.tries import seldom
from tests.walk import Walk, walked

from privet.evidence.signing import PrivateKey, Signatories
from privet.samples import SAMPLES

RELEASED, WRITTEN = 53, 71  # modules until the release is there, and until it is written: as it was before
# What a policy that does not ask for it need not open.
UNASKED = {
    "models/persons",
    "models/template",
    "relational/lattice",
    "report/documents",
    "report/joint",
    "report/spent",
    "report/trajectories",
    "report/transactions",
    "roads/absent",
    "roads/tables/earlier",
    "roads/tables/persons",
    "roads/tables/population",
}
SIZES = 'type = "k-anonymity"\nk = 5'
SHARES = 'type = "lkc-privacy"\nl = 2\nk = 5\nc = "1/2"\nsensitive = { surgery = ["Urology"] }'
ONE_KNOWN = SHARES.replace("l = 2", "l = 1")  # of one attribute the lattice is soon told
VALUES = 'type = "entropy-l-diversity"\nl = 2\nsensitive = ["surgery"]'
CLOSE = 'type = "t-closeness"\nt = "1/2"\nsensitive = ["surgery"]\ndistance = "equal"'


def walk(
    folder: Path, promise: str, search: str, *, person: bool = False, sign: Signatories | None = None
) -> Walk:
    sample = SAMPLES["patients"]
    text = sample.policy()
    head = text[: text.index("[[models]]")]
    data = sample.generate(60, seed=0)
    if person:  # everybody has two rows
        head = head.replace('rows = "persons"', 'person = "who"')
        head = head.replace("[attributes]", '[attributes]\nwho = { role = "identifier" }')
        data = data.with_columns((pl.int_range(pl.len()) // 2).cast(pl.String).alias("who"))
    (folder / "policy.toml").write_text(f'{head}[[models]]\n{promise}\n[algorithm]\ntype = "{search}"\n')
    data.write_csv(folder / "data.csv")
    return walked(folder / "data.csv", folder / "policy.toml", write=True, sign=sign)


def test_a_plain_table_enters_what_it_needs(tmp_path: Path) -> None:
    found = walk(tmp_path, SIZES, "top-down")
    assert not found.modules & UNASKED
    assert {"roads/__init__", "roads/tables/road", "counts/memory", "models/kanonymity"} <= found.modules


def test_a_walk_touches_fewer_modules_than_before_the_walls_were_moved(tmp_path: Path) -> None:
    found = walk(tmp_path, SIZES, "top-down")
    assert len(found.modules) < WRITTEN
    assert len(walked(tmp_path / "data.csv", tmp_path / "policy.toml", write=False).modules) < RELEASED


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("promise", "search"),
    [
        *(
            (SIZES, search)
            for search in ("top-down", "optimal", "mondrian", "local", "incognito", "samarati")
        ),
        *((SHARES, s) for s in ("top-down", "optimal")),
        *seldom(
            product([VALUES, CLOSE], ["top-down", "optimal", "mondrian"]),
            [(VALUES, "mondrian"), (CLOSE, "top-down")],
        ),
    ],
)
def test_no_two_modules_call_back_and_forth(tmp_path: Path, promise: str, search: str) -> None:
    assert walk(tmp_path, promise, search).back_and_forth == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("promise", "search"),
    [
        (SIZES, "top-down"),
        (SIZES, "optimal"),
        pytest.param(ONE_KNOWN, "optimal", marks=pytest.mark.slow),  # as long as all the others
        (VALUES, "top-down"),
        (CLOSE, "top-down"),
    ],
)
def test_nor_where_persons_are_counted(tmp_path: Path, promise: str, search: str) -> None:
    assert walk(tmp_path, promise, search, person=True).back_and_forth == []


def test_nor_where_the_release_is_signed(tmp_path: Path) -> None:
    found = walk(tmp_path, SIZES, "top-down", sign=PrivateKey.make("steward"))
    assert "evidence/signing" in found.modules
    assert found.back_and_forth == []
