"""Equal values that parties write differently are one value, as they are where all rows lie in one place."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import Any
from unicodedata import normalize

import polars as pl
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties import federation, noisy
from tests.parties import test_mining as mining
from tests.parties import test_noisy_contract as spending

from privet import publish
from privet.equality import key
from privet.errors import PolicyError, PrivetError, UnsatisfiableError
from privet.parties import agreements
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract
from privet.registry import find
from privet.rehearsal import mine, rehearse
from privet.roads.parties.database import coded
from privet.roads.parties.rehearsing import make_database

SPELT = ("{}", "{}.0", "+{}", "{}e0", "{}.00")
AGES = [23, 23, 31, 31, 37, 37, 42, 42, 58, 58, 63, 63]
ACCENTS = ("Café", "Cafe\u0301")  # composed, and not


def document(**changes: Any) -> dict[str, Any]:
    return {
        "contract": 1,
        "split": "people",
        "parties": ["north", "south", "west"],
        "public": {
            "age": {"range": [1, 98]},
            "code": {"values": ["1", "2", "3"]},
            "class": {"values": ["0", "1"]},
        },
        "policy": {
            "policy": 1,
            "attributes": {
                "age": {"role": "quasi", "hierarchy": {"type": "intervals", "width": [10, 20]}},
                "place": {
                    "role": "quasi",
                    "hierarchy": {"type": "tree", "tree": {"Any": {"Café": [], "1": ["10", "11"]}}},
                },
                "code": {"role": "sensitive"},
                "class": {"role": "target"},
            },
            "models": [{"type": "lkc-privacy", "l": 2, "k": 2, "c": "3/4", "sensitive": {"code": ["1.00"]}}],
            "algorithm": {"type": "top-down"},
        },
        **changes,
    }


def contract(**changes: Any) -> Contract:
    return Contract.from_document(document(**changes), base=Path())


def frames(*, spelt: bool) -> list[pl.DataFrame]:
    """Three parties' rows; `spelt`: every value once as the contract writes it, and then in other ways."""
    ways, accents, met = cycle(SPELT), cycle(ACCENTS), set[int]()

    def way(number: int) -> str:
        first = number not in met
        met.add(number)
        return next(ways).format(number) if spelt and not first else str(number)

    rows = [
        {
            "age": way(age),
            "place": (next(accents) if spelt else ACCENTS[0]) if at % 3 else way(10 + at % 2),
            "code": way(1 + at % 3),
            "class": str(int(age > 40)),
        }
        for at, age in enumerate(AGES)
    ]
    return [pl.DataFrame(rows[start::3]) for start in range(3)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reveal", ["decisions", "counts"])
def test_people_written_in_several_ways_are_published_as_in_one_place(reveal: str) -> None:
    found = rehearse(contract(reveal=reveal), frames(spelt=True), pooled=True)
    assert found.as_pooled is True
    as_listed = rehearse(contract(reveal=reveal), frames(spelt=False), pooled=True)
    assert as_listed.as_pooled is True
    assert found.table.equals(as_listed.table)
    assert sum(step.performed for step in found.steps) > 1


@pytest.mark.usefixtures("quickly")
@given(data=st.data())
@settings(max_examples=25)
def test_however_values_are_written_and_rows_are_split(data: Any) -> None:
    """Beside `publish` on all rows in one place, all of them written as the contract writes them."""
    parties = data.draw(st.integers(2, 4))
    said = document(parties=["north", "south", "west", "east"][:parties])
    said["policy"]["absent"] = "allowed"
    agreed = Contract.from_document(said, base=Path())
    values = [st.sampled_from(some) for some in (AGES, [10, 11], [1, 2, 3], [0, 1])]
    rows = data.draw(st.lists(st.tuples(*values), min_size=2 * parties, max_size=14))
    names, ways = ["age", "place", "code", "class"], st.sampled_from(SPELT)
    plain = [[str(value) for value in row] for row in rows]
    spelt = [[data.draw(ways).format(value) for value in row] for row in rows]
    parts = [pl.DataFrame(spelt[at::parties], schema=names, orient="row") for at in range(parties)]
    try:
        alone = publish(pl.DataFrame(plain, schema=names, orient="row"), agreed.policy).to_polars()
    except UnsatisfiableError:
        with pytest.raises(UnsatisfiableError):
            rehearse(agreed, parts)
        return
    found = rehearse(agreed, parts).table
    assert found.sort(names).equals(alone.select(pl.all().cast(pl.String)).sort(names))


def test_a_release_has_the_contracts_spelling_where_nobody_has_written_it_so() -> None:
    """Which spellings occur no party knows; `publish` would take the shortest of them."""
    tables = [
        frame.with_columns(pl.col("code") + ".0", pl.col("class") + ".0") for frame in frames(spelt=False)
    ]
    found = rehearse(contract(), tables, pooled=True)
    assert (found.as_pooled, found.as_listed) == (False, True)
    assert found.table.equals(rehearse(contract(), frames(spelt=False)).table)


def test_numbers_of_a_typed_file_are_the_contracts(tmp_path: Path) -> None:
    """A Parquet file that has known a missing value has floats."""
    tables = frames(spelt=False)
    place = tmp_path / "north.parquet"
    tables[0].with_columns(pl.col("age", "code", "class").cast(pl.Float64)).write_parquet(place)
    found = rehearse(contract(), [place, *tables[1:]])
    assert found.table.equals(rehearse(contract(), tables).table)


def test_what_no_promise_counts_leaves_as_it_was_written_where_that_is_listed() -> None:
    said = document()
    said["policy"]["attributes"]["ward"] = {"role": "other"}
    said["public"]["ward"] = {"values": ["7", "7.0"]}
    agreed = Contract.from_document(said, base=Path())
    wards = cycle(["7", "7.0", "+7"])
    tables = [
        frame.with_columns(ward=pl.Series([next(wards) for _ in range(4)])) for frame in frames(spelt=True)
    ]
    found = rehearse(agreed, tables)
    assert found.table.get_column("ward").value_counts().sort("ward").rows() == [("7", 8), ("7.0", 4)]


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("holder", [None, "bank"])
def test_columns_written_in_several_ways_are_published_as_in_one_place(holder: str | None) -> None:
    agreed = contract(
        split="columns",
        reveal="scores",
        parties=["loan", "bank"],
        person="id",
        owners={"loan": ["place"], "bank": ["age"]},
        **({} if holder is None else {"sensitive_owner": holder}),
    )

    def sides(*, spelt: bool) -> list[pl.DataFrame]:
        whole = pl.concat(frames(spelt=spelt)).with_row_index("id")
        plain = pl.concat(frames(spelt=False))
        other = whole.with_columns(plain.get_column("code") + ".0", plain.get_column("class") + ".0")
        other = other if spelt else whole
        mine = ["id", "place", "class"] if holder else ["id", "place", "class", "code"]
        return [whole.select(mine), other.select("id", "age", "class", "code").reverse()]

    found = rehearse(agreed, sides(spelt=True), pooled=True)
    assert found.table.equals(rehearse(agreed, sides(spelt=False)).table)
    assert found.as_listed is True
    if holder is None:  # then `publish` has the first party's spelling, in which each is once as listed
        assert found.as_pooled is True


@pytest.mark.parametrize("column", ["age", "place", "code", "class"])
def test_what_equals_nothing_listed_is_refused_by_column_and_number(column: str) -> None:
    for wrong in ("007", "CANARY", "37.5"):
        tables = frames(spelt=True)
        tables[2] = tables[2].with_columns(
            pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(wrong)).otherwise(pl.col(column)).alias(column)
        )
        with pytest.raises(PrivetError, match=rf"^west: attributes\.{column}: 1 of .* the contract lists"):
            rehearse(contract(), tables)


LISTED = {
    "public.code": ({"code": {"values": ["1", "2", "1.0"]}}, "public.code"),
    "public.age": ({"age": {"values": ["1", "+1", "98"]}}, "public.age"),
    "public.class": ({"class": {"values": [*ACCENTS]}}, "public.class"),
}


@pytest.mark.parametrize("public", LISTED)
def test_a_contract_does_not_list_one_value_twice(public: str) -> None:
    """As two they would count as two at the parties, and as one in the table that leaves."""
    change, place = LISTED[public]
    said = document()
    said["public"] |= change
    said["policy"]["absent"] = "allowed"
    with pytest.raises(PolicyError, match=rf"{place}: .* equal"):
        Contract.from_document(said, base=Path())


def test_nor_does_one_of_a_database_or_of_items() -> None:
    with pytest.raises(PolicyError, match=r"quasi\.age: .* equal"):
        federation.contract(quasi={"age": {"values": ["17", "18", "17.0"]}})
    with pytest.raises(PolicyError, match=r"sensitive\.disease: .* equal"):
        federation.contract(sensitive={"disease": {"values": [*ACCENTS]}})
    with pytest.raises(PolicyError, match=r"items: .* equal"):
        MiningContract.from_document({**mining.DOCUMENT, "items": ["1", "1.0"]})


def test_the_virtual_database_has_the_same_rows_under_it() -> None:
    """Also in questions: 2.1e1 is 21."""
    agreed, engine = federation.contract(), find("engines", "embedded")()
    as_listed = federation.frames()
    other = [
        frame.with_columns(pl.col("age").cast(pl.Float64), pl.format("+{}", "zip")) for frame in as_listed
    ]
    other = [frame.rename({"literal": "zip"}) if "literal" in frame.columns else frame for frame in other]
    for one, same in zip(other, as_listed, strict=True):
        for mine_, theirs in zip(coded(agreed, one, engine), coded(agreed, same, engine), strict=True):
            assert mine_.tolist() == theirs.tolist()
    made = make_database(agreed, other, engine)
    asked = [
        Question.parsed([text], agreed) for text in ("age between 21.0 and 2.9e1", "age between 21 and 29")
    ]
    assert asked[0] == asked[1]
    assert Question.parsed(["age in 2.1e1, 29.0"], agreed) == Question.parsed(["age in 21, 29"], agreed)
    assert Question.parsed(["age >= 5e1"], agreed) == Question.parsed(["age >= 50"], agreed)
    assert made.ask(asked[0])[0].matched > 0


def test_items_are_counted_together() -> None:
    said = {**mining.DOCUMENT, "items": ["1", "2", "Café"]}
    rows = [("a", "1"), ("a", "2.0"), ("b", "1.0"), ("b", "Cafe\u0301"), ("c", "+1"), ("c", "2")]
    tables = [pl.DataFrame(rows[at : at + 2], schema=["id", "item"], orient="row") for at in (0, 2, 4)]
    found = mine(MiningContract.from_document(said), tables)
    assert found.itemsets == {("1",): 3, ("2",): 2, ("Café",): 1, ("1", "2"): 2, ("1", "Café"): 1}


@pytest.mark.parametrize("split", ["people", "columns"])
def test_a_noisy_release_takes_what_is_equal(split: str, tmp_path: Path) -> None:
    """Classes and leaves of a tree, too: a party that writes them otherwise has the same records."""
    said = spending.document(split)
    sex = ["1", "2"]
    said["policy"]["attributes"]["Sex"]["hierarchy"]["tree"] = {"Any_Sex": sex}
    said["policy"]["attributes"]["Class"]["values"] = ["1", "0"]
    changes = {"Male": "1", "Female": "2.0", "M": "1.0", "F": "+2", "Y": "1e0", "N": "0.0"}
    with noisy.quick():
        agreed = Contract.from_document(said, base=Path())
        files = spending.parts(tmp_path, split)
        for path in files:
            lines = [
                [changes.get(cell, cell) for cell in line.split(",")]
                for line in path.read_text().splitlines()
            ]
            path.write_text("\n".join(",".join(line) for line in lines) + "\n")
        found = rehearse(agreed, files)
    assert {key(value) for value in found.table.get_column("Class").to_list()} <= {"1", "0"}
    assert set(found.table.get_column("Class").to_list()) <= {"1", "0"}


@pytest.mark.parametrize("kind", ["people", "columns", "database", "mining"])
def test_names_of_columns_are_the_same_however_they_are_composed(tmp_path: Path, kind: str) -> None:
    """Refused with two names that look alike: `publish` takes such a policy and such a table."""
    texts = {
        "people": tomli_w.dumps(document()).replace("code", "codé"),
        "columns": tomli_w.dumps(
            document(
                split="columns", parties=["a", "b"], person="codé-id", owners={"a": ["agé"], "b": ["place"]}
            )
        ).replace("[public.age]", '[public."agé"]').replace("attributes.age", 'attributes."agé"'),
        "database": tomli_w.dumps(federation.document()).replace("age", "agé"),
        "mining": tomli_w.dumps(mining.DOCUMENT | {"person": "idé", "item": "itém"}),
    }  # fmt: skip
    text = re.sub(r"(?m)^\[(.*)\.(\w*é\w*)(.*)\]$", r'[\1."\2"\3]', texts[kind])
    text = re.sub(r"(?m)^(\w*é\w*) = ", r'"\1" = ', text)
    path, other = tmp_path / "one.toml", tmp_path / "other.toml"
    path.write_text(text, encoding="utf-8")
    other.write_text(normalize("NFD", text), encoding="utf-8")
    assert path.read_bytes() != other.read_bytes()
    assert agreements.load(other).digest == agreements.load(path).digest
    if kind == "database":
        made = DatabaseContract.load(other)
        assert Question.parsed([normalize("NFD", "agé = 27")], made) == Question.parsed(["agé = 27"], made)


def test_two_names_that_are_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.toml"
    path.write_text('["é"]\na = 1\n["e\u0301"]\na = 2\n', encoding="utf-8")
    with pytest.raises(PolicyError, match="composed differently"):
        Contract.load(path)
