"""What anybody can check of a noisy release: that it adds up and keeps to what was public; no more.

That noise was drawn, and of the right size, cannot be seen on the data: somebody could write any table. So
nothing here is called a check of differential privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from privet.core import Form
from privet.domain import Value
from privet.dp import cuts
from privet.dp.budget import CountBudget
from privet.dp.publicdomain import ItemSets, Predictor
from privet.dp.settings import COUNT, DiffGenSettings, Output, Public, Settings, epsilon_of, public
from privet.dp.spend import Charge, cost
from privet.engine import Cluster, Engine
from privet.errors import BudgetError, InputError
from privet.evidence import notes as ev
from privet.evidence.values import Evidence, PublishedValue
from privet.hierarchy.numbers import fraction
from privet.hierarchy.sets import SEPARATOR
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.roads.stations import data_file, file_of, in_frame, needed


def complaints(
    folder: Path, evidence: Evidence, policy: Policy, settings: Settings, engine: Engine[Any]
) -> Iterator[str]:
    """Everything that is not as the evidence says, or not as the policy allows."""
    needed(
        evidence.measures.counts, "measures.counts"
    )  # whoever says nothing of them is not asked about them
    yield from _account(evidence, policy, settings)
    known = public(policy)
    yield from _columns(evidence, known, settings)
    lost = evidence.measures.attributes or {}
    for predictor in known.predictors:  # a set says several nodes: of it there is no one loss
        if predictor.name in lost and "lm" not in lost[predictor.name] and not _has_sets(predictor):
            yield f"measures.attributes.{predictor.name}.lm: is missing"
    allowed = dict(_allowed(evidence, known))
    for name, labels in allowed.items():
        if labels is None:
            yield f"{name}: its values do not cover its domain, each part once"
    data, form = data_file(folder, evidence)
    if settings.output is Output.RECORDS:
        path = file_of(folder, needed(needed(evidence.data, "data").counts, "data.counts"))
        counts = _read(path, form, [*known.columns, COUNT], engine)
        columns, in_order, times = _records(data, form, evidence.columns, engine)
        if columns != list(evidence.columns):
            yield "the columns of the data are not those that the evidence names"
            return
    else:
        counts, in_order, times = _read(data, form, evidence.columns, engine), True, None
    wanted = [*known.columns, COUNT]
    if list(counts.columns) != wanted:
        yield "the counts do not have the columns of the policy, and a count"
        return
    yield from _values(counts, known, allowed)
    if not (in_order and _sorted(counts)):
        yield "the rows do not stand in canonical order, and their order may tell something"
    yield from _added(times, counts, evidence, wanted[:-1])


def _read(path: Path, form: Form, columns: Sequence[str], engine: Engine[Any]) -> Any:
    """A table as it stands. JSON lines without a line name no column: they say as little as they may."""
    found = in_frame(engine, engine.read(path, form, empty=True))
    return found if found.width else in_frame(engine, engine.read(path, form, columns, empty=True))


def _records(
    path: Path, form: Form, columns: Sequence[str], engine: Engine[Any]
) -> tuple[list[str], bool, Callable[[list[str]], Any]]:
    """Of the records: their columns, whether they stand in order, and how many of each there are."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    if isinstance(engine, Cluster):
        there = engine.read(path, form, empty=True)
        in_order = engine.is_in_order(there)

        def combined(by: list[str]) -> Any:
            return pl.DataFrame(engine.combinations(there)).rename({"n": COUNT}).select(*by, COUNT).sort(by)

        return list(engine.columns(there)), in_order, combined
    table = _read(path, form, columns, engine)

    def counted(by: list[str]) -> Any:
        texts = [pl.col(name).cast(pl.String) for name in by]
        return table.group_by(texts).agg(pl.len().cast(pl.Int64).alias(COUNT)).sort(by)

    return list(table.columns), _sorted(table), counted


def _sorted(table: Any) -> bool:
    """Do rows stand by what is published? A count is a number, and no two rows differ in it alone."""
    from privet.engines.frames import is_in_order  # noqa: PLC0415 - loads the engine's library

    return is_in_order(table.drop(COUNT, strict=False))


def _account(evidence: Evidence, policy: Policy, settings: Settings) -> Iterator[str]:
    """The payments add up to what was promised, exactly."""
    paid, epsilon = needed(evidence.ledger, "ledger"), epsilon_of(policy)
    try:
        charges = [Charge(s.purpose, s.mechanism, fraction(s.epsilon), s.group) for s in paid.spends]
        said = {"epsilon": fraction(paid.epsilon), "person": fraction(paid.person_epsilon)}
        settled = fraction(paid.spent)
    except (BudgetError, ValueError):
        yield "ledger: a payment that is not one"
        return
    spent, person = cost(charges), epsilon * settings.records_per_person
    if said != {"epsilon": epsilon, "person": person}:
        yield "ledger: it speaks of another epsilon than the policy"
    if settled != spent:
        yield f"ledger: the payments add up to {spent}, and it says {paid.spent}"
    whole = not (isinstance(settings, DiffGenSettings) and settings.counts is CountBudget.FIXED)
    if spent > epsilon or (whole and spent != epsilon):
        yield f"ledger: the payments add up to {spent}, and the policy promises {epsilon}"
    claims = {"epsilon": spent, "epsilon of a person": person}
    if list(evidence.promises) != [ev.construction(model, claims) for model in policy.models]:
        yield "the promises are not those that the policy and the payments make"
    if evidence.algorithm != describe(settings):
        yield "the evidence speaks of another algorithm than the policy"


def _columns(evidence: Evidence, known: Public, settings: Settings) -> Iterator[str]:
    wanted = known.columns
    if settings.output is Output.COUNTS:
        wanted.append(COUNT)
    if list(evidence.columns) != wanted:
        yield "the evidence speaks of other columns than the policy"


def _allowed(evidence: Evidence, known: Public) -> Iterator[tuple[str, set[Value] | None]]:
    """What may stand in each column; None where what the evidence lists is not a cut."""
    for predictor in known.predictors:
        try:
            nodes = cuts.read(predictor, values_of(evidence, predictor.name))
        except (InputError, ValueError, ArithmeticError, KeyError):  # a number without an interval
            yield predictor.name, None
        else:
            yield predictor.name, {node.label for node in nodes}
    yield known.target, set(known.classes)


def values_of(evidence: Evidence, name: str) -> Sequence[PublishedValue]:
    """What the evidence says that a column may have."""
    note = needed(evidence.attributes.get(name), f"attributes.{name}")
    return needed(note.values_, f"attributes.{name}.values")


def _values(counts: Any, known: Public, allowed: Mapping[str, set[Value] | None]) -> Iterator[str]:
    of_sets = {p.name for p in known.predictors if _has_sets(p)}
    for name, labels in allowed.items():
        found = {v if v is None else str(v) for v in counts.get_column(name).unique().to_list()}
        if name in of_sets:
            found = {part for value in found for part in (value or "").split(SEPARATOR)}
        if labels is not None and found - labels:
            yield f"{name}: {len(found - labels):,} values that the evidence does not list"


def _has_sets(predictor: Predictor) -> bool:
    return isinstance(predictor.domain, ItemSets)


def _added(
    times: Callable[[list[str]], Any] | None, counts: Any, evidence: Evidence, by: list[str]
) -> Iterator[str]:
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    number = counts.get_column(COUNT).cast(pl.Int64, strict=False)
    if number.null_count():
        yield "a count that is not a whole number"
        return
    if counts.select(by).is_duplicated().any():
        yield "two counts for the same row"
    total = int(number.clip(lower_bound=0).sum())
    if total != evidence.records:
        yield f"the evidence speaks of {evidence.records} records, the counts of {total}"
    if times is None:
        return
    texts = [pl.col(name).cast(pl.String) for name in by]
    expanded = times(by)
    expected = counts.with_columns(number).select(*texts, COUNT).filter(pl.col(COUNT) != 0).sort(by)
    if not expanded.equals(expected):
        yield "the records are not the counts, each row as often as its count says"
