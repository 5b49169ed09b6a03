"""Differential privacy: paid in a ledger before any noise is drawn, entered in it before anything leaves.

    read ──► code ──► reserve ──► search and count ──► write beside ──► enter ──► rename
             refuses here for nothing    pays item by item      a kill at any place leaves no unpaid data

What could occur is the policy's to say. The data is refused where it has anything else, and nothing of it
is told but what epsilon pays for: not even how many records there are.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from privet.core import Form, Progress, Purse, Verdicts, silent
from privet.counts.door import Ints
from privet.counts.live import LiveCells, PublicCodes
from privet.domain import Value
from privet.dp.coded import CodedTable, Dictionary, encode, encode_values
from privet.dp.ledger import Account, Ledger, Reservation
from privet.dp.noise import production
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Numbers
from privet.dp.settings import (
    ContingencySettings,
    DiffGenSettings,
    Drawn,
    Public,
    Settings,
    epsilon_of,
    public,
)
from privet.dp.sketch import Sketch
from privet.dp.spend import Charge
from privet.engine import Cluster, Engine
from privet.errors import InternalError, PolicyError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.release import Release
from privet.roads import Found, Stations
from privet.roads.answers import NoisyComparison, TableExplanation, TableRisk
from privet.roads.noisy import check as noisy_check
from privet.roads.noisy import comparison as noisy_compare
from privet.roads.noisy.release import NoisyRelease, told_of
from privet.roads.stations import Asked, Once, Passed, as_written, in_frame, need_tables, settle


@dataclass(frozen=True)
class Bought:
    """Noisy counts, and the entries that paid for them."""

    drawn: Drawn = field(repr=False)
    reservation: Reservation = field(repr=False)
    paid: Mapping[str, Any]
    ledger: str  # where it is kept


@dataclass(frozen=True)
class Counted:
    """Records in public codes, and the keyed fingerprints by which the ledger knows the data again."""

    table: CodedTable = field(repr=False)
    sketch: Sketch = field(repr=False)
    live: LiveCells | None = field(default=None, repr=False)  # who answers, where records stay on a cluster


Way = Passed[Counted, Bought, NoisyTable, NoisyTable]


class NoisyRoad(Stations[Any, Counted, Bought, NoisyTable, NoisyTable]):
    """Tables of which only noisy counts leave, and whose privacy is spent."""

    name: ClassVar[str] = "diffgen"
    waits: ClassVar[Mapping[str, str]] = {"read": "read", "count": "code", "search": "search"}

    def refuse(self, asked: Asked) -> None:
        """Everything that can be refused for nothing is, before anything is paid."""
        policy = asked.policy
        settings, epsilon = settings_of(policy), epsilon_of(policy)
        if asked.like is not None:
            raise UnsupportedError(f"{settings.name} pays for every release anew: publish without --like")
        need_tables(asked.engine)
        known = public(policy)
        settings.refuse(known)
        _account(policy).refuse_overdraft(epsilon, settings.records_per_person)
        refuse_unwritable(known, as_written(asked.form, asked.output))
        production(settings.noise.value)

    def read(self, asked: Asked) -> Any:
        columns = public(asked.policy).columns
        # A table without a record is a neighbour of one with one: treated alike, paid alike.
        table = asked.engine.read(asked.source, asked.form, columns, empty=True)
        return table if isinstance(asked.engine, Cluster) else in_frame(asked.engine, table)

    def count(self, asked: Asked, data: Once[Any]) -> Counted:
        known, ledger = public(asked.policy), _account(asked.policy).ledger
        if isinstance(asked.engine, Cluster):
            there = There.of(asked.engine, data.take(), known)
            return Counted(there.table, ledger.sketch_of_cells(there.values, there.live.cells), there.live)
        columns = numbered(data.take(), known)
        with ThreadPoolExecutor(1) as beside:
            sketch = beside.submit(
                ledger.sketch, {name: (one.values, one.codes) for name, one in columns.items()}
            )
            table = encode(columns, known.predictors, known.target, known.classes)
            return Counted(table, sketch.result())

    def search(self, asked: Asked, counts: Counted) -> Bought:
        policy = asked.policy
        settings, epsilon, account = settings_of(policy), epsilon_of(policy), _account(policy)
        noise = production(settings.noise.value)
        name = secrets.token_hex(8)  # no time in it: that would tell how long this took
        reservation = account.reserve(
            name,
            epsilon,
            purpose=policy.purpose or "a release",
            source=noise.label,
            per_person=settings.records_per_person,
            data=counts.sketch,
        )
        drawn = settings.draw(counts.table, epsilon, noise, reservation, asked.progress, live=counts.live)
        if drawn.charges != as_charges(reservation):
            raise InternalError("the ledger and the release do not name the same payments")
        paid = {"release": name, "dataset": account.dataset, "noise": noise.label}
        return Bought(drawn, reservation, paid, account.ledger.place)

    def apply(self, asked: Asked, counts: Counted, found: Bought) -> NoisyTable:  # noqa: ARG002
        return found.drawn.table

    def look(self, asked: Asked, leaving: NoisyTable) -> NoisyTable:  # noqa: ARG002
        return leaving

    def judge(self, asked: Asked, seen: NoisyTable) -> Verdicts:  # noqa: ARG002
        """Nothing: no table shows whether noise was drawn."""
        return ()

    def measure(self, passed: Way) -> tuple[ev.Told, dict[str, Any]]:
        policy, found = passed.policy, passed.found
        told = told_of(policy, settings_of(policy), found.drawn, epsilon_of(policy), found.paid)
        return told, {"ledger": found.ledger}

    def release(self, passed: Way, evidence: Evidence, private: Mapping[str, Any]) -> NoisyRelease:
        asked = passed.asked
        return NoisyRelease(
            made=passed.leaving,
            output=settings_of(asked.policy).output,
            reservation=passed.found.reservation,
            engine=asked.engine,
            policy=asked.policy,
            verdicts=(),
            evidence=evidence,
            steps=passed.leaving.steps,
            form=as_written(asked.form, asked.output),
            private=private,
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        del source, engine
        raise UnsupportedError(
            f"{policy.models[0].name}: no table has it as it stands; it is about how a release is made"
        )

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        return Found((), tuple(noisy_check.complaints(folder, evidence, policy, settings_of(policy), engine)))

    def risk(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        show_values: bool = False,
        progress: Progress = silent,
    ) -> TableRisk:
        del source, engine, show_values, progress
        raise UnsupportedError(
            f"{policy.models[0].name} does not ask how exposed the raw table is: its promise is the same for "
            "everybody; `privet plan` says what it costs in exactness"
        )

    def compare(
        self,
        raw: Any,
        release: Release | Path,
        policy: Policy,
        *,
        engine: Engine[Any],
        classify: bool = False,
        progress: Progress = silent,
    ) -> NoisyComparison:
        del progress
        if classify:
            raise UnsupportedError(
                "--classify compares records one by one, and noisy records are nobody's own; "
                "`python -m bench diffgen` trains on a release and tests on held-out records"
            )
        known = public(policy)
        form = settle(raw, policy.form)
        data = engine.read(raw, form, known.columns, empty=True)
        if isinstance(engine, Cluster):
            there = There.of(engine, data, known)
            return noisy_compare.compare(
                noisy_compare.pieces_of(there.table, there.codes, there.live), known, release, engine
            )
        return noisy_compare.compare([(coded(in_frame(engine, data), known), 1)], known, release, engine)

    def explain(
        self,
        folder: Path,
        evidence: Evidence,
        policy: Policy,
        *,
        engine: Engine[Any],
        show_values: bool = False,
    ) -> TableExplanation:
        del folder, policy, engine, show_values
        raise UnsupportedError(
            f"{evidence.algorithm['type']}: no group forced the loss, epsilon and h did; `privet plan` "
            "says what other ones would give, before anything is spent"
        )


def settings_of(policy: Policy) -> Settings:
    """The algorithm of a policy that takes this road."""
    settings = policy.algorithm
    if not isinstance(settings, DiffGenSettings | ContingencySettings):
        raise InternalError("only diffgen and noisy-contingency take this road")
    if complaints := settings.complaints(policy):
        raise PolicyError(*complaints)  # a policy made in Python has not been read
    return settings


def coded(data: Any, known: Public) -> CodedTable:
    """Records in public codes; raises, for nothing, where one has a value outside."""
    return encode(numbered(data, known), known.predictors, known.target, known.classes)


@dataclass(frozen=True)
class There:
    """A table on a cluster: what is public of it, the values of its columns, and who answers for records."""

    table: CodedTable = field(repr=False)
    values: Mapping[str, tuple[Sequence[Value], Ints]] = field(repr=False)
    codes: Mapping[str, Ints] = field(repr=False)
    live: LiveCells = field(repr=False)

    @classmethod
    def of(cls, engine: Cluster[Any], data: Any, known: Public) -> There:
        """Raises, for nothing, where a record has a value outside."""
        found = engine.valued(data, known.columns)
        values = {name: (one.texts, one.counts) for name, one in found.items()}
        table, codes = encode_values(values, known.predictors, known.target, known.classes)
        sets = {at: column.sets for at, column in enumerate(table.columns) if column.sets is not None}
        live = engine.live(data, found, PublicCodes(codes, len(known.classes), sets))
        return cls(table, values, codes, live)


def numbered(data: Any, known: Public) -> dict[str, Dictionary]:
    from privet.engines.frames import encode as coded_columns  # noqa: PLC0415 - loads the engine's library

    columns = data.select(known.columns)
    return {name: Dictionary(values, codes) for name, (codes, values) in coded_columns(columns).items()}


def as_charges(reservation: Reservation) -> tuple[Charge, ...]:
    """What the ledger has, less its numbers and times: times would tell how long each step took."""
    return tuple(Charge(c.purpose, c.mechanism, c.epsilon, c.group) for c in reservation.charges)


def _account(policy: Policy) -> Account:
    if policy.ledger is None:
        raise PolicyError(
            "ledger: what differential privacy spends is written down; name the ledger and the data set, "
            '--ledger FILE --dataset NAME or [ledger] file = "…", dataset = "…"; once, before the first '
            "release: privet ledger open FILE --dataset NAME --budget EPSILON"
        )
    return account_of(policy.ledger)


def account_of(purse: Purse) -> Account:
    """What a purse opens."""
    return Account(Ledger(purse.file, create=False), purse.dataset)


def refuse_unwritable(known: Public, form: Form) -> None:
    """A label that the file cannot hold is found now, not when epsilon is gone."""
    if form.format in {"csv", "tsv"} and not form.nulls and known.nullable:
        raise PolicyError(
            f"attributes.{known.nullable[0]}: a missing value is published, and form.nulls has no text for it"
        )
    for name, labels in _labels(known):
        for label in labels:
            try:
                label.encode(form.encoding)
            except UnicodeEncodeError:
                raise PolicyError(f"attributes.{name}: a label has no {form.encoding}") from None
            if label and label in form.nulls:
                raise PolicyError(
                    f"attributes.{name}: a label is also a text that means missing; say other form.nulls"
                )


def _labels(known: Public) -> Iterator[tuple[str, list[str]]]:
    for predictor in known.predictors:
        if not isinstance(predictor.domain, Numbers):
            labels = [str(node.label) for node in predictor.domain.root.walk() if node.label is not None]
            yield predictor.name, labels
    yield known.target, [label for label in known.classes if label is not None]
