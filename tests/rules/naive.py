"""The definitions once more, naively, over Python sets: what every search and auditor is compared with."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

Record = frozenset[str]
Named = tuple[frozenset[str], frozenset[str]]  # both sides of a rule; an itemset has no left one
Asked = tuple[frozenset[str], frozenset[str], Fraction]  # and the confidence to hide it by; 0: its support


def database(chance: random.Random, records: int, items: int, often: float = 0.5) -> list[Record]:
    labels = [chr(ord("a") + at) for at in range(items)]
    return [frozenset(i for i in labels if chance.random() < often) for _ in range(records)]


def support(records: Iterable[Record], itemset: Iterable[str]) -> int:
    wanted = set(itemset)
    return sum(wanted <= record for record in records)


def subsets(items: Iterable[str], most: int | None = None) -> Iterator[tuple[str, ...]]:
    ordered = sorted(items)
    sizes = range(1, (len(ordered) if most is None else min(most, len(ordered))) + 1)
    return chain.from_iterable(combinations(ordered, size) for size in sizes)


def frequent(records: Sequence[Record], least: int) -> dict[frozenset[str], int]:
    every = set().union(*records) if records else set()
    found = {frozenset(one): support(records, one) for one in subsets(every)}
    return {one: many for one, many in found.items() if many >= least}


def visible(
    records: Sequence[Record], left: Iterable[str], right: Iterable[str], least: int, share: Fraction
) -> bool:
    both = support(records, {*left, *right})
    before = support(records, left)
    return both >= least and before > 0 and Fraction(both, before) >= share


def rules(
    records: Sequence[Record], least: int, share: Fraction
) -> set[tuple[frozenset[str], frozenset[str]]]:
    return {
        (frozenset(left), itemset - set(left))
        for itemset in frequent(records, least)
        for left in subsets(itemset)
        if len(left) < len(itemset) and visible(records, left, itemset - set(left), least, share)
    }


def known(records: Sequence[Record], m: int) -> dict[tuple[str, ...], int]:
    """Every set of up to m items that somebody has, and how many have it."""
    found = {one for record in records for one in subsets(record, m)}
    return {one: support(records, one) for one in found}


def border(records: Sequence[Record], least: int, gone: Sequence[frozenset[str]]) -> set[frozenset[str]]:
    kept = [one for one in frequent(records, least) if not any(hidden <= one for hidden in gone)]
    return {one for one in kept if not any(one < other for other in kept)}


def best(records: Sequence[Record], asked: Sequence[Asked], least: int) -> tuple[int, int]:
    """Brute force: the fewest border elements lost, and then the fewest items deleted.

    A rule with a share is hidden by its confidence, and its itemset is innocent; it may be lost all the same.
    """
    sensitive = [left | right for left, right, _ in asked]
    elements = border(records, least, [left | right for left, right, share in asked if not share])
    touched = [at for at, record in enumerate(records) if any(one <= record for one in sensitive)]
    items = set().union(*sensitive)
    ways = [[frozenset(), *map(frozenset, subsets(records[at] & items))] for at in touched]
    answer: tuple[int, int] | None = None
    for way in product(*ways):
        made = list(records)
        for at, lost in zip(touched, way, strict=True):
            made[at] = records[at] - lost
        if any(visible(made, left, right, least, share) for left, right, share in asked):
            continue
        price = (sum(support(made, one) < least for one in elements), sum(map(len, way)))
        answer = price if answer is None else min(answer, price)
    assert answer is not None
    return answer


def removed(records: Sequence[Record], sensitive: Sequence[Named], least: int, share: Fraction) -> list[int]:
    """Spec 09, section 3.11, "heuristic", word by word: which records go, in order."""
    innocent = rules(records, least, share) - set(sensitive)
    left, gone = dict(enumerate(records)), list[int]()
    while True:
        now = list(left.values())
        seen = [a | b for a, b in sensitive if visible(now, a, b, least, share)]
        if not seen:
            return gone
        harmed = [a | b for a, b in innocent if visible(now, a, b, least, share)]
        candidates = [(at, one) for at, one in left.items() if any(rule <= one for rule in seen)]
        *_, best = min(
            (-sum(rule <= one for rule in seen), sum(rule <= one for rule in harmed), len(one), at)
            for at, one in candidates
        )
        gone.append(best)
        del left[best]


def deleted(records: Sequence[Record], asked: Sequence[Asked], least: int) -> list[tuple[int, str]]:
    """The same section, "border-based": which items go from which records, in order.

    A rule with a share is hidden by its confidence, and an item of its consequent goes.
    """
    left = [set(one) for one in records]
    innocent = border(records, least, [a | b for a, b, share in asked if not share])
    first = {one: support(records, one) for one in innocent}
    gone = list[tuple[int, str]]()
    while True:
        now = [frozenset(one) for one in left]
        seen = [(a | b, b if share else a | b) for a, b, share in asked if visible(now, a, b, least, share)]
        if not seen:
            return gone
        current = {one: support(now, one) for one in first}

        def weight(at: int, item: str, now: Sequence[Record] = now, current: object = current) -> Fraction:
            assert isinstance(current, dict)
            total = Fraction(0)
            for element, sup0 in first.items():
                if item in element and element <= now[at] and current[element] >= least:
                    lost = current[element] == least
                    total += 10**9 if lost else Fraction(sup0 - current[element] + 1, sup0 - least)
            return total

        candidates = {
            (at, item)
            for one, victims in seen
            for at, record in enumerate(now)
            if one <= record
            for item in victims
        }
        *_, at, item = min((weight(at, item), support(now, {item}), at, item) for at, item in candidates)
        left[at].discard(item)
        gone.append((at, item))
