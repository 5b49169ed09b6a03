"""What `make test` runs, which comes before every commit, and what it leaves to `make test-more`; CI: both.

A test may cost `FAIR` seconds of processor time, all its cases together. What costs more is dear: `dear.tsv`
names it with what was measured (`make test-costs` measures anew), and of its cases as many are run as fit
into that, spread evenly from the first; none, if none fits. A test that is new, and in no list yet, is run
whole.

However dear, one case is run of each file of tests and, in each folder, of each promise, search, engine,
kind of data and format that a case of it is about; and what is marked `always`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from privet import registry
from privet.declared import TABLE
from privet.engines import text as files
from privet.engines.documents import files as documents

FAIR = 0.08  # seconds that a test may cost by default
TIERS = pytest.StashKey[tuple[list[pytest.Item], list[pytest.Item]]]()  # of what was collected: run, and left
LIST = Path(__file__).with_name("dear.tsv")


@dataclass(frozen=True, slots=True)
class Dear:
    """What all cases of a test cost, and how many there were."""

    cases: int
    seconds: float

    @property
    def each(self) -> float:
        return self.seconds / self.cases

    def taken(self, cases: int) -> frozenset[int]:
        """Which of so many, counted from 0."""
        fit = min(cases, int(FAIR / self.each))
        return frozenset(at * cases // fit for at in range(fit))


def listed() -> dict[str, Dear]:
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        name, cases, seconds = line.split("\t")
        found[name] = Dear(int(cases), float(seconds))
    return found


def test_of(item: pytest.Item) -> str:
    """The test of which this is a case."""
    return item.nodeid.partition("[")[0]


def room_of(item: pytest.Item) -> str:
    """The folder in which it stands."""
    return item.nodeid.partition("::")[0].rpartition("/")[0]


@cache
def _names() -> re.Pattern[str]:
    formats = {*files.FORMATS.values(), *documents.FORMATS.values()}
    known = {TABLE, *formats, *(name for kind in registry.BUILT_IN.values() for name in kind)}
    longest = sorted(known, key=len, reverse=True)  # `k-anonymity` ends other names
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")


def subjects_of(item: pytest.Item) -> frozenset[str]:
    """What this case is about, of all that has a name; and its file."""
    file, _, rest = item.nodeid.partition("::")
    return frozenset({file, *_names().findall(rest.partition("[")[2])})


def left(items: Iterable[pytest.Item], dear: dict[str, Dear]) -> Iterator[pytest.Item]:
    """Those that `make test` leaves to `make test-more`."""
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[test_of(item)].append(item)
    seen: defaultdict[str, set[str]] = defaultdict(set)
    beyond: list[pytest.Item] = []
    for name, cases in tests.items():
        taken = dear[name].taken(len(cases)) if name in dear else range(len(cases))
        for at, item in enumerate(cases):
            if at in taken or item.get_closest_marker("always") is not None:
                seen[room_of(item)] |= subjects_of(item)
            else:
                beyond.append(item)
    for item in sorted(beyond, key=lambda one: dear[test_of(one)].each):  # the cheapest one of what is left
        subjects, here = subjects_of(item), seen[room_of(item)]
        if subjects <= here:
            yield item
        here |= subjects


def subjects(items: Iterable[pytest.Item]) -> dict[str, frozenset[str]]:
    """What all of them are about, by the folder in which they stand."""
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for item in items:
        found[room_of(item)] |= subjects_of(item)
    return dict(found)
