"""What a site of a virtual database hears is on the list of spec 08, 3.11, and nothing else is.

The list is made by hand from all rows: of every region its extremes, the columns and places where it was
tried to be cut, how many ties there are and how many go left, whether the cut was made, how many records the
leaves have. From that list alone every message that is not chance can be written down; a site that heard
anything more would have received another one. What the first site adds up is written down in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.parties.parties import house

from privet.parties.primitives.securesum import Pairwise, Ring
from privet.parties.transport import together
from privet.parties.virtual.growing import grown
from privet.parties.virtual.rules import Rules
from privet.parties.virtual.sites import Among
from privet.parties.words import Adding

CHANCE = {"ring", "place", "value", "masked", "key"}  # see the tests of sums, ties and extremes
K = 4


@dataclass
class Try:
    """A cut that was tried."""

    column: int
    at: int
    below: int
    above: int
    ties: int
    left: int
    halves: tuple[int, int]
    sites: tuple[int, int]
    made: bool


@dataclass
class Region:
    size: int
    sites: int
    low: Any
    high: Any
    tries: list[Try] = field(default_factory=list)

    @property
    def wide(self) -> bool:
        return self.size > 2 * K

    @property
    def varying(self) -> int:
        return int((self.high > self.low).sum())

    @property
    def made(self) -> bool:
        return any(one.made for one in self.tries)


def listed(rows: Any, whose: Any, sites: int) -> dict[str, Region]:
    """By path every region, as one who has all rows finds it; no two rows have the same value."""
    found: dict[str, Region] = {}
    span = rows.max(axis=0) - rows.min(axis=0)
    todo = [("", np.arange(len(rows)))]
    for path, some in todo:
        here = rows[some]
        region = found[path] = Region(
            len(some), len(set(whose[some].tolist())), here.min(axis=0), here.max(axis=0)
        )
        if not region.wide:
            continue
        wide = [Fraction(int(h - l), int(s)) for l, h, s in zip(region.low, region.high, span, strict=True)]
        for column in sorted(range(rows.shape[1]), key=lambda c: (-wide[c], c)):
            values = here[:, column]
            at = sorted(values.tolist())[(len(some) + 1) // 2 - 1]
            below, above = int((values < at).sum()), int((values > at).sum())
            ties = len(some) - below - above
            left = min(max(len(some) // 2 - below, 0), ties)
            goes = (values < at) | ((values == at) & (left > 0))
            halves = [some[goes], some[~goes]]
            counted = [len(set(whose[half].tolist())) for half in halves]
            made = all(len(h) >= K for h in halves) and min(counted) >= sites
            sizes = (len(halves[0]), len(halves[1]))
            region.tries.append(
                Try(column, at, below, above, ties, left, sizes, (counted[0], counted[1]), made)
            )
            if made:
                todo += [(path + side, half) for side, half in zip("LR", halves, strict=True)]
                break
    return found


def written(regions: dict[str, Region], most: int, whose: int) -> tuple[list[tuple[str, bytes]], list[Any]]:
    """Every message that is not chance, and every sum that the first site learns, from the list alone."""
    told: list[tuple[str, bytes]] = []
    sums: list[list[int]] = [[regions[""].size], [whose]]

    def bits(kind: str, those: list[bool]) -> None:
        told.append((kind, bytes(those)))

    def extremes(those: list[Region]) -> None:
        both = [most - one.low for one in those] + [one.high for one in those]
        told.append(("largest", np.concatenate(both).astype(np.min_scalar_type(most)).tobytes()))

    bits("root", [True])
    extremes([regions[""]])
    level = [""]
    while level:
        bits("may split", [regions[path].wide for path in level])
        active = [regions[path] for path in level if regions[path].wide]
        if active and level != [""]:
            extremes(active)
        turn = 0
        while active := [one for one in active if one.varying > turn]:
            tries = [one.tries[turn] for one in active]
            low = [int(r.low[t.column]) for r, t in zip(active, tries, strict=True)]
            high = [int(r.high[t.column]) for r, t in zip(active, tries, strict=True)]
            while open_ := [at for at in range(len(tries)) if low[at] < high[at]]:
                probes = {at: (low[at] + high[at]) // 2 for at in open_}
                bits("enough", [probes[at] >= tries[at].at for at in open_])
                sums.append([-1] * len(open_))  # how many are at most a probe: the list says "probe counts"
                for at in open_:
                    low[at], high[at] = (
                        (low[at], probes[at]) if probes[at] >= tries[at].at else (probes[at] + 1, high[at])
                    )
            sums.append([one.below for one in tries] + [one.above for one in tries])
            counts = [one.ties for one in tries] + [one.left for one in tries]
            told.append(("ties", np.array(counts, dtype="<u4").tobytes()))
            sums.append([size for one in tries for size in one.halves])
            sums.append([count for one in tries for count in one.sites])
            bits("commit", [one.made for one in tries])
            active = [r for r, t in zip(active, tries, strict=True) if not t.made]
            turn += 1
        level = [path + side for path in level if regions[path].made for side in "LR"]
    leaves = [regions[path] for path in sorted(regions) if not regions[path].made]
    extremes(leaves)
    sums += [[one.size for one in leaves], [one.sites for one in leaves]]
    bits("kept", [True] * len(leaves))
    told.append(("sizes", np.array([one.size for one in leaves], dtype="<u4").tobytes()))
    return told, sums


@pytest.mark.one_in(2)
@pytest.mark.parametrize("adding", Adding)
@pytest.mark.parametrize("seed", range(3))
def test_every_message_can_be_written_down_from_the_list(seed: int, adding: Adding) -> None:
    rng = np.random.default_rng(seed)
    count, parties, sites, most = 90, 4, 3, 999
    rows = np.stack([rng.permutation(most + 1)[:count] for _ in range(2)], axis=1)
    # The first column tells the site, so that cuts along it are refused and others are tried.
    whose = rng.integers(0, parties, count)
    whose[rows[:, 0] < 250] = 2
    regions = listed(rows, whose, sites)
    want, totals = written(regions, most, parties)
    assert any(not one.made for region in regions.values() for one in region.tries), "some are refused"
    learned: list[Any] = []
    one = house(parties)
    kind = Ring if adding is Adding.RING else Pairwise
    honest = kind.total

    def total(self: Any, mine: Any) -> Any:
        found = honest(self, mine)
        if found is not None:
            learned.append(found.tolist())
        return found

    rules = Rules(K, sites)
    with patch.object(kind, "total", total):
        together(
            one,
            [lambda link: grown(rows[whose == link.me], (most + 1,) * 2, rules, Among(link, adding))]
            * parties,
        )
    for site in range(1, parties):
        heard = [(kind, p) for _, kind, p in one.links[site].traffic.transcript if kind not in CHANCE]
        assert heard == want
    firsts = {kind for _, kind, _ in one.links[0].traffic.transcript}
    assert firsts <= CHANCE | set(dict(want)), "the first site hears what is masked, and its own words again"
    for found, wanted in zip(learned, totals, strict=True):
        assert all(w in {-1, f} for f, w in zip(found, wanted, strict=True)), (found, wanted)
