"""Which cases of a product of names a default run takes: each name at least once; the rest are slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.tries import seldom


def covering(cases: Iterable[tuple[str, ...]], share: int) -> list[Any]:
    """One case in `share` along the diagonals, and more until every name stands in one; the others are slow.

    Cases that have a name in common run mostly the same code: diagonals repeat a name as seldom as can be.
    """
    every = list(cases)
    ranks = [{name: at for at, name in enumerate(dict.fromkeys(names))} for names in zip(*every, strict=True)]
    taken = {
        case for case in every if not sum(rank[name] for rank, name in zip(ranks, case, strict=True)) % share
    }
    seen = {(at, name) for case in taken for at, name in enumerate(case)}
    for case in every:
        if not seen.issuperset(enumerate(case)):
            taken.add(case)
            seen.update(enumerate(case))
    return seldom(every, taken)
