"""Recoding types: by their definitions, on two columns, and of what searches find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, Role, Terms
from privet.domain import Value
from privet.errors import InputError
from privet.hierarchy import Tree
from privet.measure.summary import TYPES, loosest, of_rows, recoding_types
from privet.models.kanonymity import KAnonymity
from privet.relational.incognito import Incognito
from privet.relational.lattice import cuts_by_level
from privet.relational.mondrian import Mondrian

TREE = Tree.of({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
DOMAIN = TREE.domain(["a", "b", "c", "d"])
ABOVE: dict[str, list[Value]] = {
    "a": ["a", "ab", "*"],
    "b": ["b", "ab", "*"],
    "c": ["c", "cd", "*"],
    "d": ["d", "cd", "*"],
}
rows = st.lists(
    st.sampled_from("abcd").flatmap(lambda v: st.tuples(st.just(v), st.sampled_from(ABOVE[v]))), max_size=12
)


@given(rows)
def test_types_are_their_definitions(pairs: list[tuple[str, Value]]) -> None:
    raw, released = [a for a, _ in pairs], [b for _, b in pairs]
    alike = all(b == d for a, b in pairs for c, d in pairs if a == c)
    levels = [{ABOVE[a].index(b)} for a, b in pairs]
    if all(a == b for a, b in pairs):
        expected = "unchanged"
    elif not alike:
        expected = "local"
    else:
        expected = "full-domain" if len(set.union(*levels)) == 1 else "global"
    assert of_rows(DOMAIN, raw, released) == expected


def test_rows_must_match_and_a_table_is_its_loosest_column() -> None:
    with pytest.raises(InputError, match="2 records, the released one 1"):
        of_rows(DOMAIN, ["a", "b"], ["a"])
    assert loosest(["full-domain", "unchanged"]) == "full-domain"
    assert loosest(list(TYPES)) == "local"
    assert loosest([]) == "unchanged"


def test_what_searches_find_is_of_their_type() -> None:
    tally = tally_of({"x": list("aabbccdd"), "y": list("abcdabcd")}, hierarchies={"x": TREE, "y": TREE})
    attributes = tuple(Attribute(name, Role.QUASI, TREE) for name in "xy")
    lattice = Terms(attributes, (KAnonymity(k=2),), Incognito())
    found = recoding_types(tally, lattice.algorithm.search(tally, lattice).recoding)
    assert set(found.values()) <= {"unchanged", "full-domain"}
    assert "full-domain" in found.values()
    # Where many have one value, its records are told apart by the other attribute; where few have, not.
    uneven = tally_of({"x": list("aaaacd"), "y": list("aaddad")}, hierarchies={"x": TREE, "y": TREE})
    boxes = Terms(attributes, (KAnonymity(k=2),), Mondrian())
    assert recoding_types(uneven, boxes.algorithm.search(uneven, boxes).recoding)["y"] == "local"
    assert len(cuts_by_level(tally.quasi[0].domain)) == 3
