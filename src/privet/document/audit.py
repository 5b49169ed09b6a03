"""Whether published documents keep their promise: from the release alone, with no code of the search.

Records whose trees are equal once sensitive values are taken away form a class. A class of at least `l`
is l-diverse if its trees can be laid over each other such that at every vertex no sensitive value (or
bucket) has more than one in `l`. Publishers write the children of all members in the same order, so the
order as written is tried first; where equal siblings make others possible, they are searched, up to a
limit. A search that gives up says so: undecided is not a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TypeAlias

from privet import equality
from privet.document.forest import NONE, Vertex, bucket_of
from privet.document.schema import Buckets, Field, Kind, Schema
from privet.domain import Value
from privet.errors import InputError, PolicyError

Flat: TypeAlias = tuple[int, ...]  # the buckets of a tree in preorder, children by form; -1 without one
STEPS = 20_000  # orders of siblings that are tried for one class


@dataclass(frozen=True, slots=True)
class TreeVerdict:
    """What an audit found: numbers only, so that it can be shown to anybody."""

    records: int
    classes: int
    k: int  # the size of the smallest class
    l: int  # what the worst class keeps, as far as was looked for
    small: int = 0  # classes with fewer than l members
    broken: int = 0  # classes that are large enough and cannot be l-diverse
    undecided: int = 0  # classes for which the search gave up
    at_risk: int = 0  # records in classes that are not known to keep the promise
    alone: int = 0  # of these, records in classes that are too small
    sizes: tuple[int, ...] = ()  # of all classes, in order

    @property
    def anonymous(self) -> bool:
        """Is every class large enough, whatever its sensitive values?"""
        return not self.small

    @property
    def holds(self) -> bool:
        return not (self.small or self.broken or self.undecided)


def audit(schema: Schema, records: Iterable[Vertex], l: int, *, steps: int = STEPS) -> TreeVerdict:
    """Check that every record is in a class of at least `l`, and every class l-diverse."""
    if l < 1:
        raise PolicyError("l is at least 1")
    forms = Forms(schema)
    classes: dict[int, list[Flat]] = {}
    for record in records:
        form, flat = forms.read(record)
        classes.setdefault(form, []).append(tuple(flat))
    small = broken = undecided = at_risk = alone = 0
    kept: int | None = None
    for form, members in classes.items():
        found = len(members) >= l and _diverse(forms, form, members, l, steps)
        small += len(members) < l
        alone += len(members) if len(members) < l else 0
        broken += len(members) >= l and found is False
        undecided += found is None
        at_risk += 0 if found else len(members)
        here = max(as_written(members), l if found else 0)
        kept = here if kept is None else min(kept, here)
    sizes = sorted(len(members) for members in classes.values())
    return TreeVerdict(
        sum(sizes),
        len(sizes),
        min(sizes, default=0),
        kept or 0,
        small,
        broken,
        undecided,
        at_risk,
        alone,
        tuple(sizes),
    )


class Forms:
    """Numbers for trees without their sensitive values: two trees have one number if they are isomorphic."""

    def __init__(self, schema: Schema) -> None:
        self._numbers: dict[tuple[str, tuple[Value, ...], tuple[int, ...]], int] = {}
        self.children: list[tuple[int, ...]] = []  # by form: the forms of the children, in order
        self.sizes: list[int] = []  # by form: how many vertices
        self._buckets: dict[tuple[str, Value | int], int] = {}
        self._types = {kind.name: _reading(kind) for kind in schema.kinds}

    def read(self, vertex: Vertex) -> tuple[int, list[int]]:
        """The form of a tree, and its buckets in preorder: children by form, equal ones as written."""
        if vertex.type not in self._types:
            raise InputError("a vertex is of a type that the schema does not have")
        quasi, sensitive, width = self._types[vertex.type]
        if len(vertex.values) != width:
            raise InputError(f"a vertex of type {vertex.type} has not one value for each field")
        parts = sorted((self.read(child) for child in vertex.children), key=lambda part: part[0])
        key = (vertex.type, tuple(vertex.values[at] for at in quasi), tuple(form for form, _ in parts))
        form = self._numbers.get(key)
        if form is None:
            form = self._numbers[key] = len(self.sizes)
            self.children.append(key[2])
            self.sizes.append(1 + sum(self.sizes[child] for child in key[2]))
        flat = [NONE if sensitive is None else self._bucket(vertex, *sensitive)]
        for _, below in parts:
            flat += below
        return form, flat

    def _bucket(self, vertex: Vertex, at: int, kind: Kind, f: Field, cut: Buckets | None) -> int:
        value = vertex.values[at]
        read = equality.key(value) if cut is None or cut.labelled else bucket_of(kind, f, cut, value)
        return self._buckets.setdefault((vertex.type, read), len(self._buckets))

    def siblings(self, form: int) -> list[int]:
        """For each place of a tree a number, equal for those that may change places in some order."""
        found: list[int] = []
        numbers: dict[tuple[int, int], int] = {}

        def visit(here: int, group: int) -> None:
            found.append(group)
            for child in self.children[here]:
                visit(child, numbers.setdefault((group, child), len(numbers) + 1))

        visit(form, 0)
        return found

    def orders(self, form: int, flat: Flat) -> Iterator[Flat]:
        """All ways to write a tree down that differ in the order of siblings of equal form only."""
        runs: list[list[tuple[int, Flat]]] = []
        at = 1
        for child in self.children[form]:
            part = (child, flat[at : at + self.sizes[child]])
            at += self.sizes[child]
            if runs and runs[-1][0][0] == child:
                runs[-1].append(part)
            else:
                runs.append([part])
        yield from ((flat[0], *below) for below in _chained([partial(self._run, run) for run in runs]))

    def _run(self, run: Sequence[tuple[int, Flat]]) -> Iterator[Flat]:
        """All orders of siblings of equal form, with all orders inside them."""
        for order in permutations(run):
            yield from _chained([partial(self.orders, *part) for part in order])


def _chained(parts: Sequence[Callable[[], Iterator[Flat]]]) -> Iterator[Flat]:
    """Each choice of the first part with each of the others, one at a time: there may be very many."""
    if not parts:
        yield ()
        return
    for first in parts[0]():
        for rest in _chained(parts[1:]):
            yield first + rest


def _reading(kind: Kind) -> tuple[tuple[int, ...], tuple[int, Kind, Field, Buckets | None] | None, int]:
    """Where a type's quasi-identifiers are, where its sensitive value is, and how many values there are."""
    f = kind.sensitive
    quasi = tuple(kind.position(q.name) for q in kind.quasi)
    return quasi, (kind.position(f.name), kind, f, f.buckets) if f else None, len(kind.published)


def _diverse(forms: Forms, form: int, members: Sequence[Flat], l: int, steps: int) -> bool | None:
    """Is a class l-diverse? None: not found out."""
    most = len(members) // l
    if all(_few(place, most) for place in zip(*members, strict=True)):
        return True
    # Over all places that may be exchanged, a value may occur as often as they allow together.
    together: dict[int, Counter[int]] = {}
    groups = forms.siblings(form)
    for flat in members:
        for group, bucket in zip(groups, flat, strict=True):
            together.setdefault(group, Counter())[bucket] += 1
    places = Counter(groups)
    if any(
        count > most * places[group]
        for group, counts in together.items()
        for bucket, count in counts.items()
        if bucket != NONE
    ):
        return False
    return _Search(forms, form, members, most, steps).found()


def as_written(members: Sequence[Flat]) -> int:
    """The largest l that a class keeps when its trees are laid over each other as they are written."""
    places = (Counter(place) for place in zip(*members, strict=True) if place[0] != NONE)
    worst = max((max(counts.values()) for counts in places), default=1)
    return len(members) // worst


def _few(buckets: Sequence[int], most: int) -> bool:
    return buckets[0] == NONE or max(Counter(buckets).values()) <= most


class _Search:
    """Lay the members over each other one by one; the first stays as it is written."""

    def __init__(self, forms: Forms, form: int, members: Sequence[Flat], most: int, steps: int) -> None:
        self.forms, self.form, self.members = forms, form, members
        self.most, self.steps = most, steps  # `most` of any value at any place

    def found(self) -> bool | None:
        counts: list[Counter[int]] = [Counter() for _ in self.members[0]]
        self._lay(counts, self.members[0])
        found = self._place(1, counts)
        return None if not found and self.steps < 0 else found

    def _place(self, at: int, counts: list[Counter[int]]) -> bool:
        if at == len(self.members):
            return True
        for order in self.forms.orders(self.form, self.members[at]):
            self.steps -= 1
            if self.steps < 0:
                return False
            taken = self._lay(counts, order)
            if taken == len(order) and self._place(at + 1, counts):
                return True
            for place in range(taken):
                counts[place][order[place]] -= 1
        return False

    def _lay(self, counts: list[Counter[int]], order: Flat) -> int:
        """Count a tree in as far as it fits; how many places that were."""
        for place, bucket in enumerate(order):
            if bucket != NONE and counts[place][bucket] == self.most:
                return place
            counts[place][bucket] += 1
        return len(order)
