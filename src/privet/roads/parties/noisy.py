"""One of two parties that publish with differential privacy, beside its own data and its own ledger.

    read ──► code ──► match persons ──► reserve ──► draw together ──► sign ──► enter ──► place
             refuses here for nothing   from here on the epsilon is spent, whatever happens

Both parties name the same payments, each in its own ledger; the run's id is the release's name in both. A run
that fails after the reservation has spent it: the other may have seen what was drawn. Matching persons and
comparing their classes costs nothing and tells something, so across columns a run is noted before (`rows`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from privet.core import Progress, Purse, Step, Verdicts, silent
from privet.dp.coded import CodedColumn, CodedTable, Dictionary, encode
from privet.dp.counts import consistent
from privet.dp.ledger import Account, Ledger, Reservation
from privet.dp.noise import NamedSource, production
from privet.dp.settings import DiffGenSettings, Drawn, Public, epsilon_of, public
from privet.engine import Engine
from privet.engines.frames import encode as numbered_texts
from privet.errors import BudgetError, InputError, InternalError, PartyError, PrivetError
from privet.evidence import notes as ev
from privet.parties.contract import Contract
from privet.parties.noisy import known as kn
from privet.parties.noisy.choosing import Pair
from privet.parties.noisy.joint import Plan, paired, release
from privet.parties.primitives.intersection import common
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.parties.words import Split
from privet.policy.values import form_noted
from privet.roads.noisy.release import NoisyRelease, told_of
from privet.roads.noisy.road import account_of, as_charges, numbered, refuse_unwritable
from privet.roads.parties.release import Run, joint_note
from privet.roads.stations import as_written, in_frame, need_tables, settle, source_digest

DATASET = "each party's own"  # how a data set is called in a party's ledger is its own business


@dataclass(frozen=True)
class NoisyOutcome:
    """What a party holds at the end: the same at both."""

    table: Any = field(repr=False)  # a polars frame of what is published
    steps: tuple[Step, ...] = field(repr=False)
    verdicts: Verdicts = ()


@dataclass(frozen=True)
class Coded:
    """One party's records in public codes, and the texts by which its ledger knows them again."""

    table: CodedTable = field(repr=False)
    columns: Mapping[str, Dictionary] = field(repr=False)


def publish_noisy(  # noqa: PLR0917 - what any party has, and what it pays from
    link: Link,
    contract: Contract,
    source: Any,
    engine: Engine[Any],
    run: Run,
    purse: Purse | None,
    rows: Rows = UNTOLD,
    progress: Progress = silent,
) -> tuple[NoisyOutcome, NoisyRelease]:
    """This party's part of the release; raises before anything is spent where it can be seen before."""
    try:
        need_tables(engine)
        account, noise, coded = _ready(link, contract, source, engine, purse, rows, progress)
    except PrivetError as error:
        if isinstance(error, PartyError):
            raise
        raise type(error)(*(f"{link.name(link.me)}: {one}" for one in error.complaints)) from None
    _agree(link, noise.label)
    pair = paired(link, plan_of(contract), coded.table)
    epsilon = epsilon_of(contract.policy)
    reservation = account.reserve(
        run.session,
        epsilon,
        purpose=contract.purpose or contract.policy.purpose or "a joint release",
        source=noise.label,
        per_person=_settings(contract).records_per_person,
        data=account.ledger.sketch({name: (one.values, one.codes) for name, one in coded.columns.items()}),
    )
    rows.paid()
    try:
        return _drawn(pair, contract, source, engine, run, coded.table, noise, reservation, progress)
    except PartyError as error:
        raise PartyError(*error.complaints, kn.spent(contract.policy)) from None


def _ready(  # noqa: PLR0917 - all that a party begins with
    link: Link,
    contract: Contract,
    source: Any,
    engine: Engine[Any],
    purse: Purse | None,
    rows: Rows,
    progress: Progress,
) -> tuple[Account, NamedSource, Coded]:
    """Everything that can be refused for nothing."""
    policy, settings = contract.policy, _settings(contract)
    if purse is None:
        raise BudgetError(
            "what differential privacy spends is written down: [ledger] file and dataset in node.toml, or "
            "--ledger FILE --dataset NAME; once, before the first release: privet ledger open FILE "
            "--dataset NAME --budget EPSILON"
        )
    account, known = account_of(purse), public(policy)
    account.refuse_overdraft(epsilon_of(policy), settings.records_per_person)
    refuse_unwritable(known, as_written(replace(policy.form, format=policy.form.format or "csv"), None))
    noise = production(settings.noise.value)
    progress("read", 0)
    if contract.split is Split.PEOPLE:
        coded = _by_people(contract, source, engine, known)
    else:
        coded = _by_columns(link, contract, source, engine, known, rows)
    plan_of(contract).refuse(coded.table)
    return account, noise, coded


def _by_people(contract: Contract, source: Any, engine: Engine[Any], known: Public) -> Coded:
    form = settle(source, contract.policy.form)
    # A table without a record is a neighbour of one with one: treated alike, paid alike.
    frame = in_frame(engine, engine.read(source, form, known.columns, empty=True))
    columns = numbered(frame, known)
    return Coded(encode(columns, known.predictors, known.target, known.classes), columns)


def _by_columns(  # noqa: PLR0917 - as above
    link: Link, contract: Contract, source: Any, engine: Engine[Any], known: Public, rows: Rows
) -> Coded:
    """Own columns and the class, in the order of the persons that both have; the others' without a code."""
    mine = contract.owners.get(link.name(link.me), ())
    person = str(contract.person)
    form = settle(source, contract.policy.form)
    frame = in_frame(engine, engine.read(source, form, [person, *mine, known.target], empty=True))
    own = [predictor for predictor in known.predictors if predictor.name in mine]
    texts = numbered_texts(frame.select([*mine, known.target]))
    columns = {name: Dictionary(values, codes) for name, (codes, values) in texts.items()}
    coded = encode(columns, own, known.target, known.classes)
    persons, names = numbered_texts(frame.select(person))[person]
    if None in names:
        raise InputError(f"{person}: a row without an identifier cannot be matched")
    rows.open(link)  # who is there, and whether both have the same classes, is told for nothing
    order = common(link, [str(names[code]) for code in persons.tolist()])
    if not len(order):
        raise InputError("there is not one person that both parties have")
    by_name = {column.name: column for column in coded.columns}
    nothing = np.zeros(len(order), dtype=np.uint8)
    matched = tuple(
        CodedColumn(p, by_name[p.name].codes[order] if p.name in by_name else nothing)
        for p in known.predictors
    )
    return Coded(replace(coded, columns=matched, class_codes=coded.class_codes[order]), columns)


def _agree(link: Link, label: str) -> None:
    """Both draw with the same samplers, or their releases would not be the same to the byte."""
    mine = hashlib.sha256(label.encode()).digest()
    other = 1 - link.me
    link.send(other, "samplers", mine)
    if link.receive(other, "samplers", len(mine)) != mine:
        raise PartyError(f"{link.name(other)}: draws noise with other samplers, or another version of them")


def _drawn(  # noqa: PLR0917 - what was made ready, and what pays
    pair: Pair,
    contract: Contract,
    source: Any,
    engine: Engine[Any],
    run: Run,
    table: CodedTable,
    noise: NamedSource,
    reservation: Reservation,
    progress: Progress,
) -> tuple[NoisyOutcome, NoisyRelease]:
    policy, settings, epsilon = contract.policy, _settings(contract), epsilon_of(contract.policy)
    link = pair.link
    made = release(pair, plan_of(contract), table, noise, reservation, progress)
    if made.charges != as_charges(reservation):
        raise InternalError("the ledger and the release do not name the same payments")
    drawn = Drawn(consistent(made, settings.consistency), (), made.charges, settings.h)
    paid = {"release": run.session, "dataset": DATASET, "noise": noise.label}
    told = told_of(policy, settings, drawn, epsilon, paid)
    told = replace(
        told,
        cautions=[*told.cautions, *_cautions(contract)],
        more={**told.more, "made": run.moment, "joint": noted(contract, run)},
    )
    form = as_written(replace(policy.form, format=policy.form.format or "csv"), None)
    found = NoisyRelease(
        made=drawn.table,
        output=settings.output,
        reservation=reservation,
        engine=engine,
        policy=policy,
        verdicts=(),
        evidence=ev.evidence_of(policy, told),
        steps=drawn.table.steps,
        form=form,
        private={
            "source": source_digest(source),
            "form": form_noted(policy.form),
            "ledger": reservation.place,
            "traffic": {
                "sent": link.traffic.sent,
                "received": link.traffic.received,
                "messages": link.traffic.messages,
                "rounds": link.traffic.rounds,
            },
        },
    )
    return NoisyOutcome(found.to_polars(), drawn.table.steps), found


def made_up(contract: Contract, folder: Path) -> list[Purse]:
    """Ledgers that last as long as a rehearsal, each with enough in it; none where nothing is spent."""
    if contract.noisy is None:
        return []
    found = []
    for party in contract.parties:
        purse = Purse(str(folder / f"{party}.ledger"), "rehearsed")
        budget = epsilon_of(contract.policy) * _settings(contract).records_per_person
        Ledger(purse.file).open(purse.dataset, budget)
        found.append(purse)
    return found


def plan_of(contract: Contract) -> Plan:
    """What both parties know of it."""
    if contract.noisy is None:
        raise InternalError("a noisy contract says how it is drawn")
    owner = None
    if contract.split is Split.COLUMNS:
        of = {name: at for at, p in enumerate(contract.parties) for name in contract.owners.get(p, ())}
        owner = tuple(of[predictor.name] for predictor in public(contract.policy).predictors)
    asked = _settings(contract).search_of(epsilon_of(contract.policy))
    return Plan(asked, contract.noisy, owner, contract.rows_at_most)


def noted(contract: Contract, run: Run) -> dict[str, Any]:
    """Who took part, what each saw, and what is promised to whom."""
    if contract.noisy is None:
        raise InternalError("a noisy contract says how it is drawn")
    return {
        **joint_note(contract, run),
        "select": contract.noisy.select.value,
        "outsider": kn.outsider(contract),
        "insider": kn.insider(contract),
    }


def _cautions(contract: Contract) -> Sequence[str]:
    return (
        f"To a reader of the release: {kn.outsider(contract)}.",
        f"To the other party that made it: {kn.insider(contract)}.",
    )


def _settings(contract: Contract) -> DiffGenSettings:
    settings = contract.policy.algorithm
    if not isinstance(settings, DiffGenSettings):
        raise InternalError("only diffgen is drawn together")
    return settings
