"""What one step of relaxation would buy: the splits that were refused, and the parameters that allow them.

The figures speak of groups that are not published, so they belong to the steward's private notes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from fractions import Fraction
from itertools import groupby
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Finding, PrivacyModel, Step, Tally, Terms
from privet.domain import Cut, Domain, Node, Value, plain
from privet.hierarchy.numbers import decimal
from privet.measure.classes import Ints, add_up, keys, roomy
from privet.models.linkage import LinkageCheck, LinkageModel
from privet.models.template import Template
from privet.recoding import Generalization

EFFORT = 50_000_000  # cells looked at, about a second; more would make publishing wait for a footnote


@dataclass(frozen=True, eq=False)
class _Refused:
    """A split that was refused and could still be made: its node is in the final cut."""

    column: Column
    cut: Cut
    node: Node
    children: tuple[Node, ...]
    by: str


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Published cells, cut up further along one attribute."""

    cell: NDArray[np.intp]  # which published cell each is part of
    column: Column  # the attribute, by a raw code of each piece
    counts: Ints


def relaxations(
    tally: Tally, policy: Terms, finding: Finding, *, describe: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """For each refused split, the nearest promises that would allow it and the LM it would save.

    Most saved first. `describe` writes a model as a policy does. Where trying them would take long, one
    entry says that it was skipped.
    """
    recoding = finding.recoding
    if not isinstance(recoding, Generalization):
        return []  # only a search from the top down logs what it could not split
    refused = sorted(_refused(tally, recoding, finding.steps), key=lambda split: split.column.name)
    if not refused:
        return []
    base = _Base(tally, recoding)
    work = sum(base.cells * len(split.children) * base.combinations(policy, split) for split in refused)
    if work > EFFORT:
        return [
            {"skipped": f"trying the {len(refused)} refused splits would take too long ({work:.0e} cells)"}
        ]
    found = []
    for _, splits in groupby(refused, key=lambda split: split.column.name):
        same = list(splits)
        pieces = base.pieces(same)
        for split in same:
            after = base.after(split, pieces, policy)
            found.append(_relaxation(policy, split, after, base.saved(split, pieces), describe))
    return sorted(found, key=lambda entry: -entry["lm_saved"])


def _relaxation(
    policy: Terms, split: _Refused, after: Tally, saved: float, describe: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    models, changes = [], []
    for model in policy.models:
        nearest = model.nearest(after)
        models.append(_written(describe(nearest)))
        changes.extend(_changes(model, nearest))
    return {
        "attribute": split.column.name,
        "label": split.node.label,
        "children": [child.label for child in split.children],
        "refused_by": split.by,
        "lm_saved": round(saved, 9),
        "changes": changes,
        "models": models,
    }


class _Base:
    """The published table in as few cells as possible, so that one more split of it is soon counted."""

    def __init__(self, tally: Tally, recoding: Generalization) -> None:
        self._tally = tally
        self._quasi = {c.name: c.recoded(recoding.cuts[c.name]) for c in tally.quasi}
        key, room = keys((*self._quasi.values(), *tally.sensitive), tally.cells)
        self._key, there = _numbered(key, room)
        if tally.person is not None:  # cells of different persons stay apart
            wide = int(tally.person.max(initial=0)) + 1
            self._key, there = _numbered(self._key * wide + tally.person, len(there) * wide)
        self.cells = len(there)
        self._one = np.empty(self.cells, dtype=np.intp)  # a raw cell of each published one
        self._one[self._key] = np.arange(tally.cells)

    def combinations(self, policy: Terms, split: _Refused) -> int:
        """How many groups of attributes the models look at, for each cell."""
        active = len(self._active(split, policy))
        # Only a linkage model speaks of how many values are known; the l of l-diversity is another one.
        most = [model.linkage().l if isinstance(model, LinkageModel) else None for model in policy.models]
        return sum(comb(active, min(l or active, active)) for l in most)

    def pieces(self, splits: Sequence[_Refused]) -> _Pieces:
        """The table with all these splits of one attribute made: each of them alone is a coarser form."""
        column, cut = splits[0].column, splits[0].cut
        finest = Cut(cut.domain, _split(cut, splits))
        fan = len(finest.nodes)
        key, there = _numbered(self._key * fan + finest.positions[column.codes], self.cells * fan)
        counts = add_up(key, self._tally.counts, len(there))
        low = np.array([node.lo for node in finest.nodes])
        return _Pieces(there // fan, Column(column.name, column.domain, low[there % fan]), counts)

    def after(self, split: _Refused, pieces: _Pieces, policy: Terms) -> Tally:
        """The tally as it would be published after one more split."""
        one = self._one[pieces.cell]
        cut = Cut(split.cut.domain, _split(split.cut, [split]))
        quasi = tuple(
            pieces.column.recoded(cut)
            if column.name == split.column.name
            else replace(column, codes=column.codes[one])
            for column in self._active(split, policy)
        )
        sensitive = tuple(replace(c, codes=c.codes[one]) for c in self._tally.sensitive)
        person = None if self._tally.person is None else self._tally.person[one]
        return replace(
            self._tally, quasi=quasi, sensitive=sensitive, target=None, counts=pieces.counts, person=person
        )

    def saved(self, split: _Refused, pieces: _Pieces) -> float:
        """The LM of the whole table that the split takes away."""
        domain, codes = split.cut.domain, pieces.column.codes
        before = domain.loss(split.node)
        found = sum(
            (before - domain.loss(child)) * int(pieces.counts[(codes >= child.lo) & (codes < child.hi)].sum())
            for child in split.children
        )
        return found / (self._tally.records * len(self._quasi))

    def _active(self, split: _Refused, policy: Terms) -> list[Column]:
        """Attributes that tell something: one that has a single value adds nothing to a combination."""
        named = {name for model in policy.models for name in model.known() or ()}
        return [
            column
            for column in self._quasi.values()
            if column.domain.size > 1 or column.name == split.column.name or column.name in named
        ]


def _numbered(key: Ints, room: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The same keys without gaps, and the key of each number."""
    if room > roomy(len(key)):
        there, number = np.unique(key, return_inverse=True)
        return number, there
    place = np.zeros(room, dtype=np.intp)
    place[key] = 1
    there = np.flatnonzero(place)
    place[there] = np.arange(len(there))
    return place[key], there


def _split(cut: Cut, splits: Sequence[_Refused]) -> tuple[Node, ...]:
    """The nodes of a cut with some of them replaced by their children."""
    children = {split.node.lo: split.children for split in splits}
    return tuple(part for node in cut.nodes for part in children.get(node.lo, (node,)))


def _refused(tally: Tally, recoding: Generalization, steps: Sequence[Step]) -> Iterator[_Refused]:
    """Refused splits whose value is still published, each value once: with its best split."""
    seen: set[tuple[str, Value]] = set()
    for step in steps:
        column = next((c for c in tally.quasi if c.name == step.attribute), None)
        if step.performed or column is None or (step.attribute, step.label) in seen:
            continue
        seen.add((step.attribute, step.label))
        cut = recoding.cuts[step.attribute]
        for node in cut.nodes:
            children = _children(column.domain, node, step) if node.label == step.label else ()
            if children:
                yield _Refused(column, cut, node, children, step.reason)


def _children(domain: Domain, node: Node, step: Step) -> tuple[Node, ...]:
    """The nodes that the step would have made; none if this is another node of the same name."""
    if node.children:
        return node.children if tuple(c.label for c in node.children) == step.children else ()
    scale = domain.scale
    if scale is None or node.interval is None or len(step.children) != 2 or step.children[1] is None:
        return ()
    # The log has labels; the place is where the right half begins.
    label, end = step.children[1], f"{plain(node.interval[1])})"
    text = label[1:].removesuffix(end).removesuffix("..") if label.startswith("[") else label
    try:
        begin = decimal(text.removesuffix("-") if scale.low >= 0 else text)
    except ValueError:
        return ()
    at = bisect_left(range(node.lo + 1, node.hi), begin, key=scale.threshold) + node.lo + 1
    if not node.lo < at < node.hi:
        return ()
    halves = domain.split(node, at)
    return halves if tuple(half.label for half in halves) == step.children else ()


def _changes(model: PrivacyModel, nearest: PrivacyModel) -> list[dict[str, Any]]:
    """Which numbers moved, from what to what; a value's own bound only where it has one."""
    moved: dict[str, tuple[Any, Any]] = {}
    promise: Any = model  # a frozen dataclass, as the contract of models says
    for parameter in fields(promise):
        old, new = getattr(model, parameter.name), getattr(nearest, parameter.name)
        if parameter.init and isinstance(old, (int, Fraction)) and old != new:
            moved[parameter.name] = old, new
    bounds: list[tuple[Template, Template]] = []
    general = None
    if isinstance(model, LinkageCheck) and isinstance(nearest, LinkageCheck):
        bounds = list(zip(model.linkage().templates, nearest.linkage().templates, strict=False))
        general = nearest.share
    for old, new in bounds:
        if old.at_most != new.at_most != general:
            value = "every" if isinstance(new.value, Enum) else new.value
            moved[f"sensitive.{new.attribute}.{value}"] = old.at_most, new.at_most
    return [
        {"model": model.name, "parameter": name, "from": _exact(old), "to": _exact(new)}
        for name, (old, new) in moved.items()
    ]


def _exact(number: Any) -> int | str:
    return number if isinstance(number, int) else str(number)


def _written(table: Any) -> Any:
    """With names that JSON allows: null and "every value" are keys in a model."""
    if isinstance(table, Mapping):
        return {
            "every" if isinstance(key, Enum) else "null" if key is None else key: _written(value)
            for key, value in table.items()
        }
    if isinstance(table, list):
        return [_written(item) for item in table]
    return "every" if isinstance(table, Enum) else table
