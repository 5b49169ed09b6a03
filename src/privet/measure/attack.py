"""The linkage attack, carried out: what somebody who knows a few raw values finds in a table.

`link` shows one attack on rows; `simulate` runs many on counts, against random targets. The adversary
knows how raw values are published (policy and evidence are public), so known values are translated
into the labels that may stand for them before the published table is searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from privet.core import Tally, Terms
from privet.domain import Value
from privet.errors import HierarchyError, InputError
from privet.hierarchy.numbers import decimal, read
from privet.recoding import Generalization

Rows: TypeAlias = Mapping[str, Sequence[Value]]  # columns by name, each with one text for every row


class Translation(Protocol):
    """The labels that may stand for a raw value in a published table; several if that is not certain."""

    def __call__(self, attribute: str, raw: Value) -> frozenset[Value]: ...


@dataclass(frozen=True)
class RecordMatch:
    """The rows that match, and how sure each sensitive value is among them. For the steward's eyes."""

    rows: tuple[int, ...]  # places from 0 on
    confidence: Mapping[str, Mapping[Value, Fraction]] = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it; null is written as an empty name."""
        return {
            "size": self.size,
            "rows": list(self.rows),
            "confidence": {
                name: {value or "": str(share) for value, share in shares.items()}
                for name, shares in self.confidence.items()
            },
        }


def link(table: Rows, known: Mapping[str, Collection[Value]], sensitive: Iterable[str]) -> RecordMatch:
    """The rows that have one of the known values in every known attribute."""
    missing = [name for name in (*known, *sensitive) if name not in table]
    if missing:
        raise InputError(*(f"the table has no column {name!r}" for name in missing))
    rows: Sequence[int] = range(len(next(iter(table.values()), ())))
    for name, values in known.items():
        column = table[name]
        rows = [row for row in rows if column[row] in values]
    confidence = {
        name: {
            value: Fraction(times, len(rows))
            for value, times in Counter(table[name][row] for row in rows).most_common()
        }
        for name in sensitive
    }
    return RecordMatch(tuple(rows), confidence)


@dataclass(frozen=True)
class Attack:
    """The same knowledge used on the raw table and on the published one."""

    before: RecordMatch
    after: RecordMatch


def attack(
    raw: Rows,
    published: Rows,
    known: Mapping[str, Value],
    translation: Translation,
    sensitive: Iterable[str],
) -> Attack:
    """What knowing these raw values of a person gives, before and after."""
    names = tuple(sensitive)
    return Attack(
        before=link(raw, {name: {value} for name, value in known.items()}, names),
        after=link(published, {name: translation(name, value) for name, value in known.items()}, names),
    )


def by_recoding(recoding: Generalization) -> Translation:
    """The translation of a global recoding that is still in memory: each value has exactly one label."""

    def translate(attribute: str, raw: Value) -> frozenset[Value]:
        cut = recoding.cuts.get(attribute)
        if cut is None:
            return frozenset({raw})
        code = cut.domain.code(raw)
        return frozenset() if code is None else frozenset({cut.nodes[int(cut.positions[code])].label})

    return translate


def by_evidence(evidence: Mapping[str, Any], policy: Terms | None = None) -> Translation:
    """The translation that anybody can make who has a release folder and nothing else.

    A value is published under a label that reads like it, under the interval that holds it, or under
    the label that its rule-made hierarchy (prefix, calendar) gives. Where a tree's leaves were left out
    of the release, any label may stand for it: the attack is then weaker than a well-read adversary's.
    """
    notes = evidence["attributes"]
    rules = {a.name: a.hierarchy for a in policy.attributes if a.hierarchy} if policy else {}

    def translate(attribute: str, raw: Value) -> frozenset[Value]:
        values = notes.get(attribute, {}).get("values")
        if values is None:  # published unchanged
            return frozenset({raw})
        labels = {value["label"] for value in values}
        if raw in labels:
            return frozenset({raw})
        number = None if raw is None else read(raw)
        inside = {
            value["label"]
            for value in values
            if "interval" in value and number is not None
            if decimal(value["interval"][0]) <= number < decimal(value["interval"][1])
        }
        if inside:
            return frozenset(inside)
        if attribute in rules:
            try:
                above = {node.label for node in rules[attribute].domain([raw]).root.walk()}
            except HierarchyError:
                above = set()
            if found := (above & labels) - {None}:
                return frozenset(found)
        return frozenset(value["label"] for value in values if "interval" not in value) - {None}

    return translate


def by_notes(notes: Mapping[str, Any], otherwise: Translation) -> Translation:
    """The translation that the steward's private notes hold.

    A value has one label or, where records were recoded one by one, one of several.
    """
    told: dict[str, dict[Value, set[Value]]] = {}
    for name, pairs in notes.get("published_as", {}).items():
        labels = told.setdefault(name, {})
        for pair in pairs:
            labels.setdefault(pair["raw"], set()).add(pair["published"])

    def translate(attribute: str, raw: Value) -> frozenset[Value]:
        if raw in told.get(attribute, {}):
            return frozenset(told[attribute][raw])
        return otherwise(attribute, raw)

    return translate


@dataclass(frozen=True, slots=True)
class Success:
    """How well an adversary does, averaged over targets."""

    identity: float  # picks the target's record among those that match, at random
    pinned: float  # only one record matches
    attribute: float  # names the target's sensitive value: the most frequent among those that match
    group: float  # records that match


@dataclass(frozen=True, slots=True)
class Simulation:
    """The same random attacks before and after."""

    known: int
    trials: int
    before: Success
    after: Success
    guess: float  # naming the most frequent sensitive value of the whole table, knowing nothing


def simulate(
    raw: Tally,
    published: Tally,
    translation: Translation,
    *,
    known: int,
    trials: int,
    rng: np.random.Generator,
    sensitive: str | None = None,
) -> Simulation:
    """Attack random people of whom `known` random quasi-identifying values are known.

    `raw` and `published` are tallies of the tables as they stand. `sensitive` names the attribute that
    the adversary is after; without it, the first.
    """
    if not 1 <= known <= len(raw.quasi) or trials < 1:
        raise InputError(f"an attack knows 1 to {len(raw.quasi)} values and is tried at least once")
    wanted = sensitive or (raw.sensitive[0].name if raw.sensitive else None)
    secret, secret_after = (t.column(wanted) if wanted else None for t in (raw, published))
    targets = rng.choice(raw.cells, size=trials, p=raw.counts / raw.counts.sum())
    columns = {column.name: column for column in published.quasi}
    before: list[tuple[float, float, float, float]] = []
    after: list[tuple[float, float, float, float]] = []
    for target in targets.tolist():
        chosen = [raw.quasi[at] for at in rng.choice(len(raw.quasi), size=known, replace=False)]
        own = None if secret is None else secret.domain.values[secret.codes[target]]
        match = np.ones(raw.cells, dtype=bool)
        match_after = np.ones(published.cells, dtype=bool)
        for column in chosen:
            code = int(column.codes[target])
            match &= column.codes == code
            there = columns[column.name]
            labels = translation(column.name, column.domain.values[code])
            codes = [there.domain.codes[label] for label in labels if label in there.domain.codes]
            match_after &= np.isin(there.codes, codes) if len(codes) != 1 else there.codes == codes[0]
        before.append(_tried(raw, match, secret, own))
        after.append(_tried(published, match_after, secret_after, own))
    guess = 0.0
    if secret is not None:
        guess = float(np.bincount(secret.codes, weights=raw.counts).max() / raw.records)
    return Simulation(known, trials, _success(before), _success(after), guess)


def _tried(tally: Tally, match: Any, secret: Any, own: Value) -> tuple[float, float, float, float]:
    size = int(tally.counts[match].sum())
    if not size:  # the translation leads nowhere: the adversary learns nothing
        return 0.0, 0.0, 0.0, 0.0
    right = 0.0
    if secret is not None:
        times = np.bincount(secret.codes[match], weights=tally.counts[match], minlength=secret.domain.size)
        best = np.flatnonzero(times == times.max())
        right = float(secret.domain.code(own) in best) / len(best)  # a tie is broken by a coin
    return 1 / size, float(size == 1), right, float(size)


def _success(tries: Sequence[tuple[float, float, float, float]]) -> Success:
    return Success(*(float(mean) for mean in np.mean(tries, axis=0)))
