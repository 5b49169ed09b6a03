from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import HierarchyError
from privet.hierarchy import Flat, Prefix

codes = st.lists(st.text("01é", max_size=5), max_size=12)


@given(codes)
def test_groups_agree_with_the_definition(values: list[str]) -> None:
    groups = defaultdict(set)
    for value in values:
        for kept in (3, 1):
            if len(value) > kept:
                groups[value[:kept] + "*" * (len(value) - kept)].add(value)
    domain = Prefix(keep=(3, 1)).domain(values)
    found = {n.label: set(domain.values[n.lo : n.hi]) for n in domain.root.walk() if n.label in groups}
    assert found == groups


def test_short_values_stay_themselves() -> None:
    root = Prefix(keep=(3, 1)).domain(["5", "53", "537", "5371", "", None]).root
    assert [node.label for node in root.walk()] == [
        "*",
        "",
        "5",
        "5*",
        "53",
        "5**",
        "537",
        "5***",
        "537*",
        "5371",
        None,
    ]


def test_starred_values_could_be_taken_for_groups() -> None:
    hierarchy = Prefix(keep=(1,))
    assert hierarchy.uncovered(["5*", "55", "*", "*5"]) == ["5*", "*"]
    with pytest.raises(HierarchyError, match=r"1 of 2 values are ending in \*"):
        hierarchy.domain(["5*", "55"])


def test_stars_inside_a_value_make_no_group_twice() -> None:
    root = Prefix(keep=(2, 1)).domain(["0*0", "001"]).root
    assert [node.label for node in root.walk()] == ["*", "0**", "0*0", "00*", "001"]


@pytest.mark.parametrize("keep", [(), (0,), (1, 3), (3, 3), (True,), ("3",), (1.0,)])
def test_malformed_lengths_are_refused(keep: tuple[int, ...]) -> None:
    with pytest.raises(HierarchyError, match="keep"):
        Prefix(keep=keep)


def test_flat_sorts_by_text_and_names_its_root_apart() -> None:
    assert Flat().domain(["b", "é", None, "a", "b"]).values == ("a", "b", "é", None)
    assert Flat().domain(["*", "**", "a"]).root.label == "***"
    assert Flat().uncovered(["x", None]) == []


def test_ranges_of_prefixes_are_for_codes_that_a_reader_can_put_in_order() -> None:
    assert Prefix(keep=(3, 1)).domain(["53715", "53703", None]).ranged
    assert not Prefix(keep=(3, 1)).domain(["53715", "537"]).ranged
    assert Prefix(keep=(3, 1), hide=("036",)).domain(["53715", "53703"]).ranged
    assert (
        not Prefix(keep=(3, 1), hide=("036",)).domain(["53715", "03601"]).ranged
    )  # 000** stands among the others
