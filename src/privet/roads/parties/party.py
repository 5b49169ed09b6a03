"""One party of a joint release, beside its own data.

    read ──► code as agreed ──► search with the others ──► recode ──► hand in ──► check what is opened

Nothing here sends anything: whatever leaves goes through the protocols of `privet.parties`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from privet.core import Column, Finding, Progress, Purse, Role, Step, Tally, Verdict, Verdicts, silent
from privet.domain import Domain, Value
from privet.engine import Engine, codes_of
from privet.engines.frames import encode
from privet.equality import finder
from privet.errors import HierarchyError, InputError, InternalError, PartyError, PersonError, PrivetError
from privet.parties.assembly import assembled
from privet.parties.columns import ColumnsCounts
from privet.parties.contract import Contract
from privet.parties.people import PeopleCounts
from privet.parties.primitives.intersection import common
from privet.parties.primitives.sameness import beside_first, refuse_others
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.parties.words import Declared, Split
from privet.recoding import Generalization
from privet.roads.noisy.release import NoisyRelease
from privet.roads.parties.concluding import greet
from privet.roads.parties.noisy import NoisyOutcome, publish_noisy
from privet.roads.parties.release import release_of, unmet
from privet.roads.stations import (
    in_frame,
    judge,
    need_tables,
    settle,
    source_digest,
)
from privet.roads.tables.persons import opened
from privet.roads.tables.release import TableRelease


@dataclass(frozen=True)
class Outcome:
    """What a party holds at the end: the same at all of them, but for the scores that the leader saw."""

    table: Any = field(repr=False)  # a polars frame of what is published, in canonical order
    finding: Finding = field(repr=False)
    verdicts: Verdicts

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.finding.steps


def take_part(
    link: Link,
    contract: Contract,
    source: Any,
    engine: Engine[Any],
    *,
    rows: Rows = UNTOLD,
    progress: Progress = silent,
) -> Outcome:
    """Search with the other parties, and open the table with them; or raise, and nothing is published."""
    need_tables(engine)
    by = by_columns if contract.split is Split.COLUMNS else by_people
    frame, finding = by(link, contract, source, engine, rows, progress)
    frame = in_frame(engine, engine.in_order(engine.read(frame, replace(contract.policy.form, query=None))))
    rows.opened(frame.write_csv().encode())
    return _checked(frame, finding, contract, engine)


def publish_together(
    link: Link,
    contract: Contract,
    source: Any,
    engine: Engine[Any],
    *,
    certificate: bytes | None = None,
    rows: Rows = UNTOLD,
    rehearsed: bool = False,
    signed: bool = True,
    purse: Purse | None = None,
    progress: Progress = silent,
) -> tuple[Outcome | NoisyOutcome, TableRelease | NoisyRelease]:
    """Greet, search and open with the others; what each holds at the end, and the release it would write.

    `rows`: the marks of everybody's; `purse`: what this party pays from, where the contract spends.
    """
    run = greet(link, certificate, rows, rehearsed=rehearsed, signed=signed)
    if contract.noisy is not None:
        return publish_noisy(link, contract, source, engine, run, purse, rows, progress)
    found = take_part(link, contract, source, engine, rows=rows, progress=progress)
    traffic = link.traffic
    private = {
        "source": source_digest(source),
        "traffic": {
            "sent": traffic.sent,
            "received": traffic.received,
            "messages": traffic.messages,
            "rounds": traffic.rounds,
        },
    }
    table = engine.read(found.table, replace(contract.policy.form, query=None))
    release = release_of(
        table,
        found.finding,
        found.verdicts,
        contract=contract,
        run=run,
        engine=engine,
        private=private,
    )
    return found, release


def by_people(  # noqa: PLR0917 - a party, and what it brings
    link: Link, contract: Contract, source: Any, engine: Engine[Any], told: Rows, progress: Progress
) -> tuple[Any, Finding]:
    """Every party has all columns of its own persons; what was opened, and how it was found."""
    terms = contract.terms()
    try:
        table = _whose(engine, source, contract)
        tallied = engine.tally(table, terms)
        tally = _as_agreed(tallied.tally, contract)
        for other in contract.policy.with_role(Role.OTHER):  # nobody counts it, so nothing has read it yet
            agreed_codes(in_frame(engine, table), other.name, contract.domains[other.name])
        most = contract.rows_at_most
        if most is not None and tally.records > most:
            raise InputError(f"there are more rows than the {most:,} that the contract allows for")
    except PrivetError as error:
        raise named(link, error) from None
    told.open(link)  # every decision of the search tells of the rows
    counts = PeopleCounts(link, tally, contract.reveal, contract.adding)
    finding = contract.policy.algorithm.search(counts, terms, progress)  # type: ignore[arg-type]
    recoding = finding.recoding
    if not isinstance(recoding, Generalization):
        raise InternalError("a joint search finds cuts")
    recoded = in_frame(engine, engine.apply(tallied, terms, recoding))
    labels = _labels(contract, recoding)
    rows = np.stack([_coded(recoded, name, values) for name, values in labels.items()], axis=1)
    sizes = [len(values) for values in labels.values()]
    together = assembled(link, counts.computing(), rows, sizes, contract.rows_at_most)
    if len(together) != counts.records:
        raise PartyError("other rows were handed in than were counted before; nothing is published")
    return _frame(together, labels), finding


def _whose(engine: Engine[Any], source: Any, contract: Contract) -> Any:
    """This party's table, where no identifier repeats in it or the policy says that each row is a person."""
    try:
        return opened(engine, source, settle(source, contract.policy.form), contract.policy)
    except PersonError as error:
        raise PersonError(
            *error.complaints,
            "of several parties rows are counted, not persons: give each person one row, or agree on "
            'rows = "persons"',
        ) from None


def by_columns(  # noqa: PLR0917 - as above
    link: Link, contract: Contract, source: Any, engine: Engine[Any], told: Rows, progress: Progress
) -> tuple[Any, Finding]:
    """Every party has some columns of all persons; rows are matched first."""
    policy, me = contract.policy, link.name(link.me)
    holder = contract.sensitive_owner
    shared = (Role.TARGET,) if holder is not None else (Role.SENSITIVE, Role.TARGET)
    roles = (Role.SENSITIVE, Role.TARGET) if holder == me else shared
    mine = [*contract.owners.get(me, ()), *(a.name for a in policy.with_role(*roles))]
    person = str(contract.person)
    try:
        table = engine.read(source, settle(source, policy.form), [person, *mine])
        frame = in_frame(engine, table)
        coded = {name: agreed_codes(frame, name, contract.domains[name]) for name in mine}
        persons, values = encode(frame.select(person))[person]
        if None in values:
            raise InputError(f"{person}: a row without an identifier cannot be matched")
        told.open(link)  # whether identifiers and shared columns agree tells of the rows, too
        order = common(link, [str(values[code]) for code in persons.tolist()])
    except PrivetError as error:
        raise named(link, error) from None
    if len(order) and (everybodys := [a.name for a in policy.with_role(*shared)]):
        codes = np.stack([coded[name][order] for name in everybodys]).astype("<u4")
        refuse_others(link, beside_first(link), codes.tobytes(), " or ".join(everybodys))
    nothing = np.zeros(len(order), dtype=np.intp)

    def column(name: str) -> Column:
        domain = contract.domains[name]
        return Column(name, domain, domain.column(coded[name][order] if name in coded else nothing))

    target = [column(a.name) for a in policy.with_role(Role.TARGET)]
    tally = Tally(
        quasi=tuple(column(a.name) for a in policy.quasi),
        sensitive=tuple(column(a.name) for a in policy.with_role(Role.SENSITIVE)),
        target=target[0] if target else None,
        counts=np.ones(len(order), dtype=np.int64),
        nulls=policy.nulls,
    )
    owners = {name: at for at, p in enumerate(contract.parties) for name in contract.owners.get(p, ())}
    held_by = None if holder is None else contract.parties.index(holder)
    counts = ColumnsCounts(link, tally, [owners[a.name] for a in policy.quasi], contract.reveal, held_by)
    finding = policy.algorithm.search(counts, contract.terms(), progress)  # type: ignore[arg-type]
    if not isinstance(finding.recoding, Generalization):
        raise InternalError("a joint search finds cuts")
    labels = _labels(contract, finding.recoding)
    shown = dict(zip((a.name for a in policy.quasi), counts.published(), strict=True))
    rows = np.zeros((len(order), len(labels)), dtype=np.int64)
    for at, (name, said) in enumerate(labels.items()):
        number = {label: number for number, label in enumerate(said)}
        if name in shown:
            rows[:, at] = [number[label] for label in shown[name]]
        elif name in coded:
            rows[:, at] = coded[name][order]
    if held_by is not None:
        known = [at for at, name in enumerate(labels) if name in shown or name in coded]
        rows = _told_rows(link, held_by, rows, known)
    return _frame(rows, labels), finding


def _told_rows(link: Link, holder: int, rows: Any, known: Sequence[int]) -> Any:
    """The published rows with the sensitive values that only the holder has, sorted: not by person.

    The others see that the columns that they know are right.
    """
    if link.me == holder:
        link.broadcast_words("published", rows[np.lexsort(rows.T[::-1])].reshape(-1).astype(np.uint32))
        return rows
    told = link.receive_words(holder, "published", rows.size, np.uint32).astype(np.int64).reshape(rows.shape)
    ours, theirs = (np.unique(table[:, list(known)], axis=0, return_counts=True) for table in (rows, told))
    if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
        raise PartyError(f"{link.name(holder)}: published other rows than those that were found together")
    return told


def named(link: Link, error: PrivetError) -> PrivetError:
    """The same error, with the party that it is about."""
    if isinstance(error, PartyError):
        return error  # it names whom it is about
    return type(error)(*(f"{link.name(link.me)}: {complaint}" for complaint in error.complaints))


def agreed_codes(frame: Any, name: str, agreed: Domain) -> Any:
    """The agreed code of each row's value."""
    codes, values = encode(frame.select(name))[name]
    return _among(name, values, agreed)[codes]


def _among(name: str, values: Sequence[Value], agreed: Domain) -> Any:
    """The agreed code of each value of a column, however it is written; refuses what is not listed."""
    try:
        Declared(agreed).domain(values)
    except HierarchyError as error:
        raise HierarchyError(*(f"attributes.{name}: {complaint}" for complaint in error.complaints)) from None
    return codes_of(agreed, values)


def _as_agreed(tally: Tally, contract: Contract) -> Tally:
    """The tally with the agreed codes in sensitive and target columns too."""

    def agreed(column: Column) -> Column:
        domain = contract.domains[column.name]
        of_code = _among(column.name, column.domain.values, domain)
        return Column(column.name, domain, domain.column(of_code[column.codes]))

    return replace(
        tally,
        sensitive=tuple(map(agreed, tally.sensitive)),
        target=None if tally.target is None else agreed(tally.target),
    )


def _labels(contract: Contract, recoding: Generalization) -> dict[str, list[Value]]:
    """By column, in the policy's order, everything that could be published."""
    found = {}
    for name, domain in contract.domains.items():
        cut = recoding.cuts.get(name)
        found[name] = list(dict.fromkeys(domain.values if cut is None else cut.labels))
    return found


def _coded(frame: Any, name: str, labels: Sequence[Value]) -> Any:
    """The number of each row's label; what is not recoded is there in its party's own spelling."""
    codes, values = encode(frame.select(name))[name]
    found = list(map(finder({label: at for at, label in enumerate(labels)}), values))
    if None in found:
        raise InternalError("a row has what was found to be listed before the search")
    return np.array(found, dtype=np.int64)[codes]


def _frame(rows: Any, labels: Mapping[str, Sequence[Value]]) -> Any:
    """What is published, row by row as it was opened."""
    import polars as pl  # noqa: PLC0415 - a party that only hands in does without

    return pl.DataFrame(
        {
            name: pl.Series([labels[name][code] for code in rows[:, at].tolist()], dtype=pl.String)
            for at, name in enumerate(labels)
        }
    )


def _checked(frame: Any, finding: Finding, contract: Contract, engine: Engine[Any]) -> Outcome:
    """Every promise again, on the table that leaves; each party does it for itself."""
    table = engine.read(frame, replace(contract.policy.form, query=None))
    final = engine.tally_published(table, contract.policy)
    unmet(contract.policy, final)
    verdicts: tuple[tuple[Any, Verdict], ...] = judge(final, contract.policy)
    if broken := [model.name for model, verdict in verdicts if not verdict.holds]:
        raise PartyError(
            f"the table that was opened breaks {', '.join(broken)}: a party hands in or says something else "
            "than it has, or the search is at fault; nothing is published"
        )
    return Outcome(frame, finding, verdicts)
