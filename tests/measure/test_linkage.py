"""Linking a list with a table: the tables of the spec, and one person after another as the oracle."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Value
from privet.errors import InputError
from privet.measure import attack
from privet.measure.linkage import linkage

# Tables 20.1 and 20.2, with the two repairs of the spec (errata 1 and 2).
TABLE: dict[str, list[Value]] = {
    "Age": ["24", "37", "26", "38", "36", "25"],
    "ZIP": ["10598", "90210", "10547", "90345", "89119", "02139"],
    "Disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
}
NAMES = ["Mary", "John", "Ann", "Jack", "Joy", "Victor", "Peter", "Diana", "William", "Sue"]
VOTERS: dict[str, list[Value]] = {
    "Age": ["38", "36", "31", "57", "26", "46", "25", "24", "37", "26"],
    "ZIP": ["90345", "89119", "02139", "10562", "10547", "90345", "02139", "10598", "90210", "10547"],
}
REGION = {"1": "Northeastern US", "0": "Northeastern US", "9": "Western US", "8": "Western US"}
PUBLISHED: dict[str, list[Value]] = {
    "Age": ["[20,30]" if int(str(age)) <= 30 else "[30,40]" for age in TABLE["Age"]],
    "ZIP": [REGION[str(code)[0]] for code in TABLE["ZIP"]],
    "Disease": TABLE["Disease"],
}


def itself(attribute: str, raw: Value) -> frozenset[Value]:
    return frozenset({raw})


def generalised(attribute: str, raw: Value) -> frozenset[Value]:
    """Node <A1, Z2>: half-open decades (20, 30], and regions."""
    if attribute == "ZIP":
        return frozenset({REGION[str(raw)[0]]})
    decade = (int(str(raw)) - 1) // 10 * 10
    return frozenset({f"[{decade},{decade + 10}]"})


def test_the_raw_tables_of_the_spec_link_as_printed() -> None:
    found = linkage(VOTERS, TABLE, ("Age", "ZIP"), itself, ["Disease"])
    owners = [[NAMES[at] for at in found.people_of(row)] for row in range(6)]
    assert owners == [["Diana"], ["William"], ["Joy", "Sue"], ["Mary"], ["John"], ["Peter"]]
    told = found.told()
    assert told["identified"] == 7
    assert told["found_out"] == {"Disease": 7}
    assert told["records_with_one_person"] == 5  # row 3 is Joy's or Sue's
    assert told["matched"] == 7
    # Erratum 5: "only" Joy and Sue match a row with HIV. Diana and Peter do too.
    with_hiv = {NAMES[at] for row in (0, 2, 5) for at in found.people_of(row)}
    assert with_hiv == {"Diana", "Joy", "Sue", "Peter"}


def test_the_generalised_table_hides_records_and_not_the_disease() -> None:
    found = linkage(VOTERS, PUBLISHED, ("Age", "ZIP"), generalised, ["Disease"])
    rows = {name: found.records_of(at) for at, name in enumerate(NAMES)}
    assert {name for name, r in rows.items() if r == [0, 2, 5]} == {"Diana", "Joy", "Sue", "Peter"}
    assert {name for name, r in rows.items() if r == [1, 3, 4]} == {"Mary", "John", "William"}
    assert {name for name, r in rows.items() if not r} == {"Ann", "Jack", "Victor"}
    assert found.told()["identified"] == 0
    assert found.told()["found_out"] == {"Disease": 4}  # everybody in the class of the northeast has HIV
    assert found.shares(NAMES.index("Mary")) == {
        "Disease": {"Hepatitis C": Fraction(2, 3), "Diabetes": Fraction(1, 3)}
    }
    assert found.told()["candidates"] == {"fewest": 3, "median": 3.0, "most": 3}


LABELS: dict[str, dict[Value, set[Value]]] = {
    "x": {"a": {"a", "A"}, "b": {"b", "A"}, None: {None}},
    "y": {"1": {"1"}, "2": {"2", "*"}, None: {"*"}},
}
raw = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["1", "2", None])), max_size=8)
shown = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "A", None]), st.sampled_from(["1", "2", "*"]), st.sampled_from("uv")
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150)
@given(raw, shown)
def test_it_is_one_person_after_another(
    people: list[tuple[Value, Value]], records: list[tuple[Value, Value, Value]]
) -> None:
    def may(attribute: str, raw: Value) -> frozenset[Value]:
        return frozenset(LABELS[attribute][raw])

    persons = {name: [row[at] for row in people] for at, name in enumerate("xy")}
    table = {name: [row[at] for row in records] for at, name in enumerate("xys")}
    found = linkage(persons, table, ("x", "y"), may, ["s"])
    one_by_one = [attack.link(table, {"x": may("x", x), "y": may("y", y)}, ["s"]) for x, y in people]
    assert [found.records_of(at) for at in range(len(people))] == [list(one.rows) for one in one_by_one]
    assert [found.shares(at)["s"] for at in range(len(people))] == [one.confidence["s"] for one in one_by_one]
    told = found.told()
    assert told["people"] == len(people)
    assert told["matched"] == sum(bool(one.rows) for one in one_by_one)
    assert told["identified"] == sum(one.size == 1 for one in one_by_one)
    assert told["found_out"] == {"s": sum(len(one.confidence["s"]) == 1 for one in one_by_one)}
    owners = [sum(row in one.rows for one in one_by_one) for row in range(len(records))]
    assert told["records_with_one_person"] == owners.count(1)
    assert told["records_with_nobody"] == owners.count(0)
    assert told["expected_right"] == pytest.approx(sum(1 / one.size for one in one_by_one if one.size))


def test_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="'Job'"):
        linkage(VOTERS, TABLE, ("Job",), itself, ["Disease"])
    with pytest.raises(InputError, match="no column in common"):
        linkage(VOTERS, TABLE, (), itself, ["Disease"])
