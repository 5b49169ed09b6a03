"""A walk through the release of a table: nobody is entered who is not needed, and nobody is called back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.walk import Walk, walked

from privet.samples import SAMPLES

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
SHARES = 'type = "lkc-privacy"\nl = 2\nk = 5\nc = "1/2"\nsensitive = { surgery = ["Transgender"] }'


def walk(folder: Path, promise: str, search: str) -> Walk:
    sample = SAMPLES["patients"]
    text = sample.policy()
    head = text[: text.index("[[models]]")]
    (folder / "policy.toml").write_text(f'{head}[[models]]\n{promise}\n[algorithm]\ntype = "{search}"\n')
    sample.generate(200, seed=0).write_csv(folder / "data.csv")
    return walked(folder / "data.csv", folder / "policy.toml", write=True)


def test_a_plain_table_enters_what_it_needs(tmp_path: Path) -> None:
    found = walk(tmp_path, SIZES, "top-down")
    assert not found.modules & UNASKED
    assert {"roads/__init__", "roads/tables/road", "counts/memory", "models/kanonymity"} <= found.modules


@pytest.mark.parametrize("search", ["top-down", "optimal", "mondrian"])
@pytest.mark.parametrize("promise", [SIZES, SHARES])
def test_no_two_modules_call_back_and_forth(tmp_path: Path, promise: str, search: str) -> None:
    if promise is SHARES and search == "mondrian":
        pytest.skip("Mondrian keeps promises about whole classes")
    assert walk(tmp_path, promise, search).back_and_forth == []
