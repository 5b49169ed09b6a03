"""km-anonymity: searches and auditor against brute force over all itemsets of random databases."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.rules import naive
from tests.tries import seldom

from privet import native
from privet.errors import PolicyError, UnsatisfiableError
from privet.hierarchy import Tree
from privet.rules.baskets import Baskets
from privet.rules.generalising import ItemTree, coded, generalise
from privet.rules.known import KMAnonymity, judged
from privet.rules.rare import rare
from privet.rules.thinning import everywhere, feasible, locally

TREE = Tree.of({"*": {"L": {"l1": ["a", "b"], "l2": ["c"]}, "R": ["d", "e", "f"]}})


def drawn(seed: int) -> tuple[list[naive.Record], int, int, random.Random]:
    chance = random.Random(seed)
    records = naive.database(chance, chance.randint(2, 24), chance.randint(1, 6), chance.uniform(0.15, 0.8))
    return records, chance.randint(1, 4), chance.randint(1, min(4, len(records))), chance


def sets(baskets: Baskets) -> list[naive.Record]:
    return [frozenset(baskets.items[i] for i in one) for one in baskets.tuples()]


@pytest.mark.parametrize("seed", seldom(range(150), range(50)))
@pytest.mark.parametrize("library", [True, False])
def test_rare_itemsets_are_all_that_are_minimal(
    seed: int, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, m, k, _ = drawn(seed)
    if not library:
        monkeypatch.setattr(native, "library", lambda: None)
    baskets = Baskets.of(records)
    found = rare(baskets, m, k)
    bad = {frozenset(one) for one, many in naive.known(records, m).items() if many < k}
    minimal = {one for one in bad if not any(other < one for other in bad)}
    itemsets = [
        frozenset(baskets.items[i] for i in found.members[a:b])
        for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]
    assert set(itemsets) == minimal
    places = {(int(r), itemsets[int(w)]) for r, w in zip(found.record, found.which, strict=True)}
    assert places == {(at, one) for at, record in enumerate(records) for one in minimal if one <= record}


@pytest.mark.parametrize("seed", seldom(range(150), range(50)))
def test_the_auditor_counts_what_the_definition_says(seed: int) -> None:
    records, m, k, chance = drawn(seed)
    baskets = Baskets.of(records)
    verdict, _ = judged(baskets, None, KMAnonymity(m=m, k=k))
    counts = naive.known(records, m)
    assert verdict.holds == all(many >= k for many in counts.values())
    assert verdict.achieved["k"] == min(counts.values(), default=len(records))
    classes = np.array([chance.randrange(3) for _ in records])
    verdict, _ = judged(baskets, classes, KMAnonymity(m=m, k=k))
    groups = [[r for r, c in zip(records, classes, strict=True) if c == one] for one in set(classes.tolist())]
    assert verdict.holds == all(
        len(group) >= k and all(many >= k for many in naive.known(group, m).values()) for group in groups
    )


@pytest.mark.parametrize("seed", seldom(range(150), range(40)))
def test_suppression_keeps_the_promise_and_invents_nothing(seed: int) -> None:
    records, m, k, _ = drawn(seed)
    baskets = Baskets.of(records)
    for way in (everywhere, locally):
        made = sets(baskets.keeping(way(baskets, m, k)))
        assert all(many >= k for many in naive.known(made, m).values())
        assert all(new <= old for new, old in zip(made, records, strict=True))
        if all(many >= k for many in naive.known(records, m).values()):
            assert made == records
    gone = {i for r in records for i in r} - {
        i for r in sets(baskets.keeping(everywhere(baskets, m, k))) for i in r
    }
    assert sets(baskets.keeping(everywhere(baskets, m, k))) == [r - gone for r in records]


@pytest.mark.parametrize("seed", seldom(range(200), range(50)))
def test_generalisation_keeps_the_promise(seed: int) -> None:
    records, m, k, chance = drawn(seed)
    baskets = Baskets.of(records)
    domain = TREE.domain(baskets.items)
    tree = ItemTree.of(domain)
    classes = None if chance.random() < 0.5 else np.array([chance.randrange(2) for _ in records])
    at_most = Fraction(chance.randint(0, 3), 10)
    try:
        made = generalise(coded(baskets, domain), tree, m=m, k=k, at_most=at_most, classes=classes)
    except UnsatisfiableError:
        groups = (
            [records]
            if classes is None
            else [[r for r, c in zip(records, classes, strict=True) if c == one] for one in (0, 1)]
        )
        # Only where even the root is in too few records of a class.
        assert any(0 < sum(bool(r) for r in group) < k for group in groups)
        return
    published = sets(made.baskets)
    for one in {0, 1} if classes is not None else {None}:
        group = [p for at, p in enumerate(published) if one is None or classes[at] == one]  # type: ignore[index]
        assert all(many >= k for many in naive.known(group, m).values())
    assert made.suppressed <= at_most * baskets.cells
    above = {leaf: ancestors(leaf) for leaf in TREE.leaves}
    for raw, new in zip(records, published, strict=True):
        # Each published node stands above an item of the record, and each item is below one or suppressed.
        assert all(any(node in above[item] for item in raw) for node in new)
    missing = sum(not above[item] & new for raw, new in zip(records, published, strict=True) for item in raw)
    assert missing == made.suppressed
    # Nothing is changed where nothing must be.
    if classes is None and all(many >= k for many in naive.known(records, m).values()):
        assert published == records


def ancestors(leaf: str) -> set[str]:
    return {node.label for node in TREE.root.walk() if leaf in {n.label for n in node.walk()}}


def test_known_by_hand() -> None:
    """Every item is in two records, but the pair a, b in one: m = 1 holds, m = 2 does not."""
    baskets = Baskets.of([["a", "b"], ["a"], ["b"]])
    assert judged(baskets, None, KMAnonymity(m=1, k=2))[0].holds
    verdict = judged(baskets, None, KMAnonymity(m=2, k=2))[0]
    assert (verdict.broken, verdict.achieved["k"], verdict.at_risk) == (1, 1, 1)


def test_more_records_asked_for_than_there_are() -> None:
    with pytest.raises(UnsatisfiableError, match="the largest k that can is 3"):
        feasible(3, 4)


@pytest.mark.parametrize(
    "wrong", [{"m": 0, "k": 2}, {"m": 2, "k": 0}, {"m": True, "k": 2}, {"m": 2, "k": 2.5}]
)
def test_a_wrong_promise_cannot_be_made(wrong: dict[str, int]) -> None:
    with pytest.raises(PolicyError):
        KMAnonymity(**wrong)


def test_a_very_long_record_is_done_in_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once each of its items took a round of its own, so that one long line took hours."""
    items = [f"i{at}" for at in range(200)]
    alone = [f"alone{at}" for at in range(2_000)]
    baskets = Baskets.of([[*items, *alone], *([item] for item in items * 2)])
    rounds: list[int] = []
    found = np.lexsort

    def counted(keys: Any) -> Any:
        rounds.append(1)
        return found(keys)

    monkeypatch.setattr(np, "lexsort", counted)
    left = baskets.keeping(locally(baskets, 2, 2))
    assert len(rounds) < 150  # 2,199 before
    assert judged(left, None, KMAnonymity(m=2, k=2))[0].holds
    assert left.cells == 401  # nobody else lost anything


def test_a_record_loses_what_is_in_most_of_its_rare_itemsets() -> None:
    """Of a, b and c it is a that makes two pairs rare: without it b and c stay."""
    baskets = Baskets.of([["a", "b", "c"], *[["b", "c"]] * 3, *[["a"]] * 3])
    left = baskets.keeping(locally(baskets, 2, 2))
    assert sets(left) == [{"b", "c"}, *[{"b", "c"}] * 3, *[{"a"}] * 3]


def test_as_many_as_there_are_is_not_too_many() -> None:
    feasible(3, 3)
    baskets = Baskets.of([["a"], ["a"], ["a", "b"]])
    assert sets(baskets.keeping(locally(baskets, 2, 3))) == [{"a"}] * 3
