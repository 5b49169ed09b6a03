"""Mining together finds what mining all records in one place finds."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.noisy import quick
from tests.parties.parties import house, run

from privet.cli import main
from privet.errors import InputError, PolicyError, UnsupportedError
from privet.parties.itemsets import MiningContract
from privet.parties.mining import Table, by_columns, by_people
from privet.parties.transport import together
from privet.rehearsal import mine

# Spec 09, 4.16.
ALICE, BOB = (1, 0, 1, 1, 0, 1, 1, 0), (1, 1, 0, 1, 0, 1, 0, 0)


def naive(table: Table, support: Fraction) -> dict[tuple[int, ...], int]:
    """Every subset, counted."""
    least = max(support * len(table), Fraction(0))
    found = {}
    for size in range(1, table.shape[1] + 1):
        for items in combinations(range(table.shape[1]), size):
            count = int(table[:, list(items)].all(axis=1).sum())
            if count >= least:
                found[items] = count
    return found


TABLES = st.integers(1, 5).flatmap(
    lambda wide: st.lists(st.lists(st.booleans(), min_size=wide, max_size=wide), min_size=1, max_size=12)
)
SHARES = st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


@given(rows=TABLES, support=SHARES, parties=st.integers(3, 5), data=st.data())
@settings(max_examples=25)
def test_by_people(rows: list[list[bool]], support: Fraction, parties: int, data: Any) -> None:
    table = np.array(rows, dtype=bool)
    of = np.array([data.draw(st.integers(0, parties - 1)) for _ in rows])
    found = run(parties, lambda link: by_people(link, table[of == link.me], support))
    assert all(one == naive(table, support) for one in found)


@given(rows=TABLES, support=SHARES, data=st.data())
@settings(max_examples=6)
def test_by_columns(rows: list[list[bool]], support: Fraction, data: Any) -> None:
    table = np.array(rows, dtype=bool)
    owner = [data.draw(st.integers(0, 1)) for _ in range(table.shape[1])]

    def part(link: Any) -> Any:
        mine = table & (np.array(owner) == link.me)  # nothing of the other's items
        return by_columns(link, mine, owner, support)

    least = max(1, ceil(support * len(rows)))
    want = {items: count for items, count in naive(table, support).items() if count >= least}
    with quick():
        assert run(2, part) == [want, want]


def test_the_specs_support() -> None:
    table = np.array([ALICE, BOB], dtype=bool).T
    found = run(2, lambda link: by_columns(link, table, [0, 1], Fraction(3, 8)))  # with real transfers
    assert found[0] == {(0,): 5, (1,): 4, (0, 1): 3}
    with quick():
        assert (0, 1) not in run(2, lambda link: by_columns(link, table, [0, 1], Fraction(1, 2)))[0]


def test_supports_of_what_is_rare_do_not_travel() -> None:
    """A rare item has a support that is found again in bytes; nobody receives it."""
    rare = 0x5E7
    tables = [np.ones((4_000, 2), dtype=bool) for _ in range(3)]
    for table in tables:
        table[rare:, 1] = False
    one = house(3)
    found = together(one, [lambda link: by_people(link, tables[link.me], Fraction(1, 2))] * 3)
    assert found[0] == {(0,): 12_000}
    said = b"".join(payload for link in one.links for _, _, payload in link.traffic.transcript)
    assert rare.to_bytes(8, "little") not in said
    assert (3 * rare).to_bytes(8, "little") not in said


def test_what_cannot_be() -> None:
    table = np.ones((2, 1), dtype=bool)
    with pytest.raises(UnsupportedError, match="a share above 0"):
        run(3, lambda link: by_people(link, table, Fraction(0)))
    with pytest.raises(InputError, match="not one record"):
        run(3, lambda link: by_people(link, table[:0], Fraction(1, 2)))
    with pytest.raises(UnsupportedError, match="three parties"):
        run(2, lambda link: by_people(link, table, Fraction(1, 2)))
    with pytest.raises(UnsupportedError, match="between two parties"):
        run(3, lambda link: by_columns(link, table, [0], Fraction(1, 2)))


# From files, under a contract.

DOCUMENT: dict[str, Any] = {
    "mining": 1,
    "split": "people",
    "parties": ["north", "south", "west"],
    "support": "1/3",
    "person": "id",
    "item": "item",
    "items": ["CANARY", "bread", "milk", "tea"],
}
BASKETS = {
    "1": "bread milk",
    "2": "bread",
    "3": "milk tea bread",
    "4": "tea",
    "5": "CANARY milk",
    "6": "milk bread",
}


def files(folder: Path, of: dict[str, str]) -> list[Path]:
    """By person and item, whose file has the row: `of` by person, or by item."""
    rows: dict[str, list[str]] = {name: [] for name in sorted(set(of.values()))}
    for person, basket in BASKETS.items():
        for item in basket.split():
            rows[of.get(person, of.get(item, ""))].append(f"{person},{item}")
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(["id,item", *lines]) + "\n")
    return [folder / f"{name}.csv" for name in rows]


def expected(persons: list[str], support: Fraction) -> dict[tuple[str, ...], int]:
    items = DOCUMENT["items"]
    table = np.array([[item in BASKETS[person].split() for item in items] for person in persons])
    return {tuple(items[at] for at in one): count for one, count in naive(table, support).items()}


def test_files_by_people_and_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = {"1": "north", "2": "south", "3": "west", "4": "north", "5": "south", "6": "west"}
    parts = files(tmp_path, of)
    found = mine(MiningContract.from_document(DOCUMENT), parts, record=True)
    assert found.itemsets == expected([*BASKETS], Fraction(1, 3))
    path = tmp_path / "mining.toml"
    path.write_text(tomli_w.dumps(DOCUMENT))
    out = tmp_path / "found.csv"
    assert main(["joint", "mine", str(path), *map(str, parts), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "frequent itemsets of 3 parties" in said
    assert "bread" not in said, "values are for the file only"
    assert len(out.read_text().splitlines()) == len(found.itemsets) + 1
    assert main(["joint", "mine", str(path), *map(str, parts), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["itemsets"] == len(found.itemsets)
    assert main(["joint", "mine", str(path), *map(str, parts[:2])]) == 2
    assert not any(b"CANARY" in p for t in found.traffic.values() for _, _, p in t.transcript)


@pytest.mark.usefixtures("quickly")
def test_files_by_columns_have_the_persons_that_both_know(tmp_path: Path) -> None:
    owner = {"bread": "loan", "CANARY": "loan", "milk": "shop", "tea": "shop"}
    document = {
        **DOCUMENT,
        "split": "columns",
        "parties": ["loan", "shop"],
        "owners": {"loan": ["CANARY", "bread"], "shop": ["milk", "tea"]},
    }
    found = mine(MiningContract.from_document(document), files(tmp_path, owner))
    assert found.itemsets == expected(["1", "3", "5", "6"], Fraction(1, 3))
    with pytest.raises(InputError, match=r"^loan: the data has items that the contract gives to the other"):
        mine(MiningContract.from_document(document), files(tmp_path, owner)[::-1])


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("split", ["people", "columns"])
def test_equal_persons_are_one_however_they_are_written(split: str, tmp_path: Path) -> None:
    of = {"1": "north", "2": "south", "3": "west", "4": "north", "5": "south", "6": "west"}
    document = DOCUMENT
    if split == "columns":
        of = {"bread": "loan", "CANARY": "loan", "milk": "shop", "tea": "shop"}
        owners = {"loan": ["CANARY", "bread"], "shop": ["milk", "tea"]}
        document = {**DOCUMENT, "split": "columns", "parties": ["loan", "shop"], "owners": owners}
    parts = files(tmp_path, of)
    agreed = MiningContract.from_document(document)
    as_written = mine(agreed, parts).itemsets
    for old, new in (("3,tea", "3.0,tea"), ("5,CANARY", "+5,CANARY"), ("6,bread", "6e0,bread")):
        for part in parts:
            part.write_text(part.read_text().replace(old, new))
    assert mine(agreed, parts).itemsets == as_written


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"mining": 2}, "first line"),
    "key": ({"suport": "1/2"}, "did you mean support"),
    "share": ({"support": 0.5}, "quoted fraction"),
    "above": ({"support": "3/2"}, "at most 1"),
    "two": ({"parties": ["north", "south"]}, "three or more"),
    "name": ({"parties": ["north", "north", "west"]}, "a name of its own"),
    "items": ({"items": ["a", "a"]}, "each once"),
    "owners": ({"owners": {"north": ["bread"]}}, "only with split"),
    "owned": (
        {"split": "columns", "parties": ["a", "b"], "owners": {"a": ["tea"]}},
        "every item has one owner",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_mining_contract_says_what_is_wrong(wrong: str) -> None:
    change, said = WRONG[wrong]
    with pytest.raises(PolicyError, match=said):
        MiningContract.from_document({**DOCUMENT, **change})


def test_items_that_nobody_agreed_on_are_counted_not_shown(tmp_path: Path) -> None:
    parts = files(tmp_path, dict(zip(BASKETS, ["north", "south", "west"] * 2, strict=True)))
    parts[1].write_text("id,item\n9,SECRET\n")
    with pytest.raises(InputError, match=r"^south: item: 1 items are not among") as caught:
        mine(MiningContract.from_document(DOCUMENT), parts)
    assert "SECRET" not in str(caught.value)
