"""Coincident generalisation: the printed examples, the literal loop, and exact audits of whole runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, PrivacyModel, Role, Terms
from privet.disclose.inherent import Partition, Values, exactly
from privet.disclose.inherent import groups as partition
from privet.errors import PolicyError, UnsatisfiableError
from privet.hierarchy import Auto
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Regions
from privet.relational.coincident import Coincident, Strategy
from privet.relational.merging import Unit, forest, merge, powers, settled, tree
from privet.relational.neighbours import neighbours

Bag = Sequence[Hashable]


def two(bag: Bag) -> bool:
    return len(set(bag)) >= 2


def half(bag: Bag) -> bool:
    return max(Counter(bag).values()) * 2 <= len(bag)


def asked(values: Bag, holds: Callable[[Bag], bool]) -> Callable[..., np.ndarray]:
    """Which groups are broken, by looking at each bag."""

    def broken(group: np.ndarray, groups: int) -> np.ndarray:
        return np.array(
            [not holds([v for v, at in zip(values, group, strict=True) if at == g]) for g in range(groups)],
            dtype=bool,
        )

    return broken


def literal(leaves: list[str], holds: Callable[[Bag], bool]) -> list[str] | None:
    """The loop as it is printed: a smallest violating group is merged with all below its sibling."""
    current = {(0, at): leaf for at, leaf in enumerate(leaves)}  # (height, place) -> values
    top = (len(leaves) - 1).bit_length()
    while True:
        bad = sorted(
            (len(bag), place << height, height, place)
            for (height, place), bag in current.items()
            if not holds(bag)
        )
        if not bad:
            return [bag for _, bag in sorted(current.items(), key=lambda item: item[0][1] << item[0][0])]
        _, _, height, place = bad[0]
        if height == top:
            return None
        parent = (height + 1, place >> 1)
        below = [key for key in current if key[0] <= height and key[1] >> (height + 1 - key[0]) == place >> 1]
        current[parent] = "".join(current.pop(key) for key in sorted(below, key=lambda k: k[1] << k[0]))


def solved(leaves: list[str], holds: Callable[[Bag], bool]) -> list[str] | None:
    values = "".join(leaves)
    unit = Unit(len(leaves[0]))
    broken = asked(values, holds)
    _, failed = settled(broken, unit, len(leaves))
    try:
        level = tree(broken, unit, np.arange(len(leaves)), len(leaves), failed)
    except UnsatisfiableError:
        return None
    found: dict[int, str] = {}
    for at, leaf in enumerate(leaves):
        first = at >> level[at] << level[at]
        found[int(first)] = found.get(int(first), "") + leaf
    return [found[key] for key in sorted(found)]


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ("ab aa bb ab ab cc dd cd", ["abaa", "bbab", "abcc", "ddcd"]),
        ("aa aa ab ab ab ab cd cd", ["aaaaabab", "ab", "ab", "cd", "cd"]),
        ("aa aa aa aa bc bc bc bc", ["aaaaaaaabcbcbcbc"]),
        ("aa aa aa aa aa aa aa aa", None),
    ],
)
def test_merge_trees_of_the_spec(leaves: str, expected: list[str] | None) -> None:  # E3
    assert solved(leaves.split(), two) == expected
    assert literal(leaves.split(), two) == expected


@settings(max_examples=300)
@given(
    st.integers(0, 3).flatmap(
        lambda k: st.lists(st.text("abc", min_size=2, max_size=2), min_size=1 << k, max_size=1 << k)
    ),
    st.sampled_from([two, half]),
)
def test_the_tree_is_the_literal_loop(leaves: list[str], holds: Callable[[Bag], bool]) -> None:
    assert solved(leaves, holds) == literal(leaves, holds)


def test_choices_of_k() -> None:  # E4
    assert powers(7, 3) == [4]
    assert powers(9, 2) == [2, 4, 8]
    assert powers(7, 5) == []
    assert powers(8, 1) == [2, 4, 8]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("abcdab", ["ab", "cd", "ab"]),
        ("aabbcd", ["abc", "abd"]),
        ("aabcab", ["aba", "acb"]),
        ("aabbaa", ["aba", "aba"]),
        ("aaaabc", ["aab", "aac"]),
        ("aaaaab", ["aaaaab"]),
        ("aaaaaa", None),
    ],
)
def test_units_of_the_interleaved_algorithm(values: str, expected: list[str] | None) -> None:  # E5
    group, failed = settled(asked(values, two), Unit(1, interleaved=True), 1)
    assert failed.tolist() == [expected is None]
    if expected is not None:
        found = [
            "".join(v for v, at in zip(values, group, strict=True) if at == g)
            for g in dict.fromkeys(group.tolist())
        ]
        assert found == expected


def chances(
    unit: Unit, units: int, *, least: bool, grow: bool, holds: Callable[[Bag], bool]
) -> Callable[[Values], Mapping[Partition, Fraction]]:
    """UU or UA with every fall of its draw: the permutation of safe units is run through."""

    def run(values: Values) -> Mapping[Partition, Fraction]:
        broken = asked(values, holds)
        _, failed = settled(broken, unit, units)
        safe = np.flatnonzero(~failed).tolist()
        orders = list(permutations(safe))
        found: dict[Partition, Fraction] = {}
        for order in orders:
            made = _with_order(broken, unit, units, least=least, grow=grow, order=order)
            found[made] = found.get(made, Fraction(0)) + Fraction(1, len(orders))
        return found

    return run


class _Fixed:
    """A draw that falls as it is told."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order = np.array(order, dtype=np.intp)

    def permutation(self, of: np.ndarray) -> np.ndarray:
        assert sorted(of.tolist()) == sorted(self.order.tolist())
        return self.order


def _with_order(
    broken: Callable[..., np.ndarray],
    unit: Unit,
    units: int,
    *,
    least: bool,
    grow: bool,
    order: Sequence[int],
) -> Partition:
    try:
        made = merge(broken, unit, units, least=least, grow=grow, rng=_Fixed(order))  # type: ignore[arg-type]
        made = made if made is not None else forest(broken, unit, units)
    except UnsatisfiableError:
        return ()
    return partition(*(np.flatnonzero(made.group_of == g).tolist() for g in range(made.groups)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("holds", [two, half])
@pytest.mark.parametrize(("least", "grow"), [(True, False), (True, True), (False, False)])
@settings(max_examples=5)
@given(data=st.data())
def test_what_is_seen_is_all_there_is_to_know(
    holds: Callable[[Bag], bool], *, least: bool, grow: bool, data: st.DataObject
) -> None:
    units = data.draw(st.integers(2, 4))
    values = tuple(data.draw(st.lists(st.sampled_from("abc"), min_size=2 * units, max_size=2 * units)))
    algorithm = chances(Unit(2), units, least=least, grow=grow, holds=holds)
    for released in algorithm(values):
        if released:
            assert exactly(algorithm, values, released).coincident


@settings(max_examples=10)
@given(st.lists(st.sampled_from("abcd"), min_size=6, max_size=6), st.sampled_from([two, half]))
def test_a_unit_of_six_is_coincident(values: list[str], holds: Callable[[Bag], bool]) -> None:
    algorithm = chances(Unit(1, interleaved=True), 1, least=True, grow=False, holds=holds)
    for released in algorithm(tuple(values)):
        if released:
            assert exactly(algorithm, values, released).coincident


def policy(algorithm: Coincident, *models: PrivacyModel) -> Terms:
    attributes = (Attribute("age", Role.QUASI, Auto()), Attribute("job", Role.QUASI, Auto()))
    return Terms(attributes, models, algorithm)


def people(many: int, values: str = "abcd", seed: int = 1) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, many).tolist(),
        "job": rng.choice(["cook", "maid", "clerk"], many).tolist(),
        "ill": rng.choice(list(values), many).tolist(),
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("start", [None, 3])
@pytest.mark.parametrize(
    "model",
    [
        DistinctLDiversity(l=3, sensitive=("ill",)),
        EntropyLDiversity(l=2, sensitive=("ill",)),
        PSensitiveKAnonymity(p=2, k=4, sensitive=("ill",)),
        RecursiveLDiversity(c=Fraction(2), l=2, sensitive=("ill",)),
        TCloseness(t=Fraction(1, 2), sensitive=("ill",), distance=Distance.EQUAL),
    ],
)
def test_every_promise_holds_on_what_is_published(
    strategy: Strategy, interleaved: bool, start: int | None, model: PrivacyModel
) -> None:
    table = people(203)
    tally = tally_of({"age": table["age"], "job": table["job"]}, sensitive={"ill": table["ill"]})  # type: ignore[dict-item]
    algorithm = Coincident(start=start, strategy=strategy, interleaved=interleaved)
    finding = algorithm.search(tally, policy(algorithm, model))
    assert isinstance(finding.recoding, Regions)
    published = tally.recoded(finding.recoding)
    assert model.check(published).holds
    withheld = tally.records - published.records
    assert f"{withheld} people withheld" in finding.notes[0]
    assert withheld < 203 / 2
    for column in tally.by_record().quasi:
        shown = finding.recoding.shown(column)
        kept = np.ones(203, dtype=bool) if shown.kept is None else shown.kept
        for at in np.flatnonzero(kept).tolist():
            node = shown.nodes[int(shown.positions[at])]
            assert node.lo <= int(column.codes[at]) < node.hi


def test_who_stands_beside_whom_does_not_depend_on_sensitive_values() -> None:
    table = people(300)
    order = []
    for ill in (table["ill"], sorted(table["ill"], key=str)):
        tally = tally_of({"age": table["age"], "job": table["job"]}, sensitive={"ill": ill})  # type: ignore[dict-item]
        found = neighbours(tally.quasi, tally.counts, np.random.default_rng(0))
        records = tally.by_record()
        order.append([tuple(int(c.codes[at]) for c in records.quasi) for at in found])
    assert order[0] == order[1]


def test_neighbours_are_alike() -> None:
    tally = tally_of({"age": [50, 20, 51, 21, 52, 22], "job": ["x"] * 6}, sensitive={"ill": list("abcabc")})
    found = neighbours(tally.quasi, tally.counts, np.random.default_rng(0))
    ages = np.repeat(tally.quasi[0].codes, tally.counts)[found]
    assert sorted(ages[:3].tolist()) == [0, 1, 2]


def test_nothing_can_be_released_where_the_whole_breaks_the_promise() -> None:  # E8
    tally = tally_of({"age": [20, 21, 22], "job": ["x"] * 3}, sensitive={"ill": ["a", "a", "b"]})
    algorithm = Coincident()
    with pytest.raises(UnsatisfiableError, match="keep it to yourself"):
        algorithm.search(tally, policy(algorithm, EntropyLDiversity(l=2, sensitive=("ill",))))


def test_nothing_always_has_a_cause() -> None:
    tally = tally_of({"age": [20], "job": ["x"]}, sensitive={"ill": ["a"]})
    for algorithm, why in (
        (Coincident(), "1 records are too few"),
        (Coincident(start=2), "not one group of 2"),
    ):
        with pytest.raises(UnsatisfiableError, match=why):
            algorithm.search(tally, policy(algorithm, DistinctLDiversity(l=2, sensitive=("ill",))))


def test_left_over_people_are_withheld_or_refused() -> None:
    tally = tally_of({"age": [20, 21, 22, 23, 24], "job": ["x"] * 5}, sensitive={"ill": list("ababa")})
    model = DistinctLDiversity(l=2, sensitive=("ill",))
    algorithm = Coincident(start=2)
    assert tally.recoded(algorithm.search(tally, policy(algorithm, model)).recoding).records == 4
    strict = Coincident(start=2, strict=True)
    with pytest.raises(UnsatisfiableError, match="left over"):
        strict.search(tally, policy(strict, model))


@pytest.mark.parametrize("wrong", [{"start": 0}, {"strategy": Strategy.UA, "grow": True}])
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        Coincident(**wrong)  # type: ignore[arg-type]


def test_the_draw_of_company_is_uniform() -> None:
    """UU with one unsafe group of four: each of three safe ones joins as often; false alarm 1e-6."""
    values = "aaababab"
    rng = np.random.default_rng(7)
    joined = Counter()  # type: Counter[int]
    for _ in range(3_000):
        made = merge(asked(values, two), Unit(2), 4, least=True, grow=False, rng=rng)
        assert made is not None
        (other,) = (unit for unit in (1, 2, 3) if made.group_of[2 * unit] == made.group_of[0])
        joined[other] += 1
    assert all(abs(times - 1_000) < 5 * np.sqrt(3_000 * 2 / 9) for times in joined.values())
    assert len(list(combinations(joined, 2))) == 3
