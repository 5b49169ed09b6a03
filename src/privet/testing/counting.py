"""What everybody who answers a search's questions keeps, checked on random tables in random parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from privet.core import Finding, PrivacyModel, Tally
from privet.counts.door import Candidate, Counts, OpenCounts, Score
from privet.domain import Cut, Node
from privet.errors import PrivetError
from privet.recoding import Generalization, Regions
from privet.relational.incognito import Incognito
from privet.relational.lattice import Lattice
from privet.relational.mondrian import Choice, Cuts, Mondrian, Output
from privet.relational.objective import Loss
from privet.relational.optimal import Optimal
from privet.relational.samarati import Samarati
from privet.relational.topdown import Splits, TopDown
from privet.testing.adding import joined, parts_of
from privet.testing.contracts import policy_for, run
from privet.testing.strategies import class_models, models, splits, tallies

Make: TypeAlias = Callable[[Sequence[Tally]], Counts]
SEARCHES: tuple[Any, ...] = (
    *(TopDown(score=score, splits=how) for score in Score for how in Splits),
    Mondrian(),
    Mondrian(relaxed=True),
    Mondrian(choice=Choice.BEST),
    Mondrian(cuts=Cuts.HIERARCHY),
    Mondrian(output=Output.MEANS),
    *(Optimal(loss=loss, suppression=Fraction(1, 3)) for loss in Loss),
    Optimal(),
    Optimal(suppression=Fraction(1, 3), trim=False),
    Samarati(suppression=Fraction(1, 4)),
    Incognito(),
)


def in_arrays(recoding: Regions, tally: Tally) -> Any:  # noqa: ARG001 - for those that look cells up
    """Regions as they lie in this process."""
    kept = None if recoding.kept is None else recoding.kept.tolist()
    of_cell = None if recoding.of_cell is None else recoding.of_cell.tolist()
    boxes = {name: [recoding.nodes[name][at] for at in of.tolist()] for name, of in recoding.boxes.items()}
    return kept, recoding.by_record, of_cell, boxes


def check_counts(
    make: Make,
    *,
    examples: int = 100,
    shrink: bool = True,
    searches: Sequence[Any] = SEARCHES,
    seen: Callable[[Regions, Tally], Any] = in_arrays,
) -> None:
    """Questions are answered as the definitions say, and searches find the same, to the bit.

    `make` gets a table in parts, and answers for all of them; one that brings them together is right, too.
    `seen`: regions as they are compared, where the cells of one answerer do not lie in this process.
    """

    def test(data: Any) -> None:
        parts, tally = _drawn(data)
        counts = make(parts)
        assert counts.heading.cells == 0, "a heading has no cells"
        assert [(c.name, c.domain) for c in counts.heading.quasi] == [(c.name, c.domain) for c in tally.quasi]
        assert counts.records == tally.records, "every record counts, once"
        _histograms(counts, tally)
        _classes(counts, tally, data)
        _boxes(counts, tally, data)
        _published(counts, tally)
        search = data.draw(st.sampled_from(searches))
        promises = tuple(data.draw(st.lists(_promises(tally), min_size=1, max_size=2)))
        ours, theirs = (_found(search, one, tally, promises, seen) for one in (tally, make(parts)))
        assert ours == theirs, f"{search.name}: finds something else than with the table in one piece"

    run(test, examples, shrink=shrink)


def check_leaves(
    make: Callable[[Sequence[Tally]], OpenCounts], *, examples: int = 100, shrink: bool = True
) -> None:
    """Leaves hold the records that a naive count finds, before and after every split."""

    def test(data: Any) -> None:
        parts, tally = _drawn(data)
        protected = [(0, 0)]
        leaves = make(parts).leaves(protected, needed=data.draw(st.booleans()))
        cuts = [[column.domain.root] for column in tally.quasi]  # by position
        for _ in range(data.draw(st.integers(0, 5))):
            ways = [
                Candidate(at, node, children, position)
                for at, cut in enumerate(cuts)
                for position, node in enumerate(cut)
                for children in splits(tally.quasi[at].domain, node)
            ]
            if not ways:
                return
            some = data.draw(st.lists(st.sampled_from(ways), min_size=1, max_size=3))
            for candidate, ahead in zip(some, leaves.ahead(some), strict=True):
                found: dict[Any, list[int]] = {}
                for at, unit in enumerate(ahead.unit.tolist()):
                    where = tuple(int(position[unit]) for position in ahead.position)
                    key = (*where, int(ahead.child[at]))
                    both = found.setdefault(key, [0, 0])
                    both[0] += int(ahead.count[at])
                    both[1] += int(ahead.having[0][at])
                want = _ahead(tally, cuts, candidate)
                assert found == want, "look-ahead: wrong groups"
            candidate = some[0]
            cut = cuts[candidate.attribute]
            positions = leaves.split(candidate)
            cut.extend([candidate.node] * (max(positions) + 1 - len(cut)))
            for position, child in zip(positions, candidate.children, strict=True):
                cut[position] = child
            sizes: Counter[Any] = Counter()
            for unit, size in enumerate(leaves.size.tolist()):
                sizes[tuple(int(position[unit]) for position in leaves.position)] += size
            assert sizes == _leaves(tally, cuts), "leaves: wrong sizes after a split"

    run(test, examples, shrink=shrink)


def _drawn(data: Any) -> tuple[list[Tally], Tally]:
    tally: Tally = data.draw(tallies(target=None, cells=16))
    few = st.integers(0, data.draw(st.integers(0, 3)))
    parts = parts_of(tally, data.draw(st.lists(few, min_size=tally.cells, max_size=tally.cells)))
    return parts, joined(parts)


def _promises(tally: Tally) -> st.SearchStrategy[PrivacyModel]:
    return models(tally) | class_models(tally)


def _found(
    search: Any,
    data: Tally | Counts,
    tally: Tally,
    promises: Sequence[PrivacyModel],
    seen: Callable[[Regions, Tally], Any],
) -> Any:
    """What a search finds, as something that can be compared bit by bit; or what it says instead."""
    try:
        finding: Finding = search.search(data, policy_for(tally, promises, search))
    except PrivetError as error:
        return type(error), error.complaints
    recoding = finding.recoding
    if isinstance(recoding, Generalization):
        return finding.steps, finding.notes, {name: cut.nodes for name, cut in recoding.cuts.items()}
    assert isinstance(recoding, Regions)
    return finding.steps, finding.notes, seen(recoding, tally)


def _histograms(counts: Counts, tally: Tally) -> None:
    columns = [*tally.quasi, *tally.sensitive]
    by = tally.sensitive[0]
    plain = counts.histograms([c.name for c in columns])
    crossed = counts.histograms([c.name for c in columns], by.name)
    for column, one, two in zip(columns, plain, crossed, strict=True):
        want = np.zeros((column.domain.size, by.domain.size), dtype=np.int64)
        for code, other, count in zip(column.codes, by.codes, tally.counts, strict=True):
            want[code, other] += count
        assert two.tolist() == want.tolist(), "a histogram by another column"
        assert one.tolist() == want.sum(axis=1).tolist(), "a histogram; null is a value like any other"


def _classes(counts: Counts, tally: Tally, data: Any) -> None:
    lattice = Lattice.of(tally)
    name = tally.sensitive[0].name
    found = counts.grouping(lattice.ladders, [name])
    node = data.draw(st.tuples(*(st.integers(0, levels - 1) for levels in lattice.shape)))
    groups = [ladder.groups[level] for ladder, level in zip(lattice.ladders, node, strict=True)]
    want: dict[Any, Counter[int]] = {}
    for cell, count in enumerate(tally.counts.tolist()):
        key = tuple(int(g[c.codes[cell]]) for g, c in zip(groups, tally.quasi, strict=True))[::-1]
        want.setdefault(key, Counter())[int(tally.sensitive[0].codes[cell])] += count
    classes = found.at(node)
    assert classes.size.tolist() == [want[key].total() for key in sorted(want)], "sizes of classes"
    entries = classes.sensitive[0]
    said = list(zip(entries.owner.tolist(), entries.value.tolist(), entries.count.tolist(), strict=True))
    assert said == [
        (at, value, want[key][value]) for at, key in enumerate(sorted(want)) for value in sorted(want[key])
    ], "sensitive values of classes"
    every = np.arange(len(classes))
    members = [g[codes].tolist() for g, codes in zip(groups, classes.codes(every), strict=True)]
    assert list(zip(*members[::-1], strict=True)) == sorted(want), "a member of each class"


def _boxes(counts: Counts, tally: Tally, data: Any) -> None:
    """A few rounds of random cuts, each beside the same made naively."""
    table = counts.boxing([tally.sensitive[0].name])
    box = np.zeros(tally.cells, dtype=np.intp)
    for _ in range(data.draw(st.integers(1, 3))):
        boxes = int(box.max()) + 1
        members = [np.flatnonzero(box == at) for at in range(boxes)]
        low, high, records = table.extremes()
        for at, mine in enumerate(members):
            assert low[at].tolist() == [int(c.codes[mine].min()) for c in tally.quasi], "smallest codes"
            assert high[at].tolist() == [int(c.codes[mine].max()) for c in tally.quasi], "largest codes"
            assert records[at] == tally.counts[mine].sum(), "records of a box"
        attribute = np.array(
            [data.draw(st.integers(0, len(tally.quasi) - 1)) for _ in members], dtype=np.intp
        )
        first, last = low[np.arange(boxes), attribute], high[np.arange(boxes), attribute]
        want: list[tuple[int, int, int]] = []
        for at, mine in enumerate(members):
            codes = tally.quasi[int(attribute[at])].codes[mine]
            seen = sorted(set(codes.tolist()))
            want += [(at, code, int(tally.counts[mine][codes == code].sum())) for code in seen]
        assert list(zip(*map(list, table.histogram(attribute)), strict=True)) == want, "values by box"
        cut = np.array([data.draw(st.integers(int(a), int(b))) for a, b in zip(first, last, strict=True)])
        table.propose(attribute, cut)
        value = np.array([int(tally.quasi[int(attribute[b])].codes[cell]) for cell, b in enumerate(box)])
        right = value > cut[box]
        there, found = table.parts()
        size = [int(tally.counts[(2 * box + right) == part].sum()) for part in range(2 * boxes)]
        assert there.tolist() == [bool(n) for n in size], "parts with records"
        assert found.size.tolist() == [n for n in size if n], "records of parts"
        done = cut < last
        table.split(done)
        box = box + (np.cumsum(done) - done)[box] + (right & done[box])


def _published(counts: Counts, tally: Tally) -> None:
    if not hasattr(counts, "published"):
        return  # who keeps counts secret shows no table either
    cuts = {c.name: Cut(c.domain, tuple(c.domain.root.children) or (c.domain.root,)) for c in tally.quasi}
    recoding = Generalization(cuts)
    assert _cells(counts.published(recoding)) == _cells(tally.recoded(recoding)), "what would be published"


def _cells(tally: Tally) -> Counter[Any]:
    found: Counter[Any] = Counter()
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    for cell, count in enumerate(tally.counts.tolist()):
        found[tuple(c.domain.values[int(c.codes[cell])] for c in columns)] += count
    return found


def _position(cut: Sequence[Node], code: int) -> int:
    return next(at for at, node in enumerate(cut) if node.lo <= code < node.hi)


def _leaves(tally: Tally, cuts: Sequence[Sequence[Node]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for cell, count in enumerate(tally.counts.tolist()):
        key = (_position(cut, int(c.codes[cell])) for cut, c in zip(cuts, tally.quasi, strict=True))
        found[tuple(key)] += count
    return found


def _ahead(tally: Tally, cuts: Sequence[Sequence[Node]], candidate: Candidate) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for cell, count in enumerate(tally.counts.tolist()):
        code = int(tally.quasi[candidate.attribute].codes[cell])
        if candidate.node.lo <= code < candidate.node.hi:
            key = tuple(_position(cut, int(c.codes[cell])) for cut, c in zip(cuts, tally.quasi, strict=True))
            both = found.setdefault((*key, _position(candidate.children, code)), [0, 0])
            both[0] += count
            both[1] += count if tally.sensitive[0].codes[cell] == 0 else 0
    return found
