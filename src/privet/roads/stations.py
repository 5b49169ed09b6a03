"""What every road passes: how a source is named, what is refused, what is said at the end.

What goes along from station to station are values: what was asked, and what each station made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from privet import core
from privet.core import Form, PrivacyModel, Progress, Tally, Verdict, Verdicts
from privet.declared import Order, spoken
from privet.engine import SUFFIX, Cluster, Engine
from privet.engines import text
from privet.errors import (
    BrokenPromiseError,
    InputError,
    InternalError,
    TamperedError,
    UnsupportedError,
    one_of,
)
from privet.evidence import notes as ev
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.registry import find

LABELLED = frozenset(("stata", "spss", "sas"))  # formats in which a column has a label
Data = TypeVar("Data")  # as it was read
Counts = TypeVar("Counts")  # all that a search may see, and the engine's own notes on it
Decided = TypeVar("Decided")  # what it decided on
Leaving = TypeVar("Leaving")  # the data that is about to leave
Seen = TypeVar("Seen")  # that data as its recipient will see it
T = TypeVar("T")


def judge(tally: Tally, policy: core.Terms) -> tuple[tuple[PrivacyModel, Verdict], ...]:
    """Every promise of the policy that can be checked, checked on a tally."""
    return tuple((model, model.check(tally)) for model in checkable(policy))


def checkable(policy: core.Terms) -> list[PrivacyModel]:
    """The promises about a release itself, not about how it was made."""
    return [model for model in policy.models if not model.spent]


def refuse_broken(
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...], policy: Policy, like: str | Path | None
) -> None:
    """Nothing leaves that breaks a promise; whose fault it is depends on where the recoding came from."""
    broken = [(model, verdict) for model, verdict in verdicts if not verdict.holds]
    if not broken:
        return
    if like is None:
        raise InternalError(f"{policy.algorithm.name} broke {', '.join(model.name for model, _ in broken)}")
    raise BrokenPromiseError(
        *(f"{spoken(model)} is broken by {verdict.broken} groups of this batch" for model, verdict in broken),
        f"{like}: its recoding does not keep the policy here; publish without --like",
    )


def columns_needed(policy: Policy) -> list[str]:
    """What must be read: what is published, and what says whose record it is."""
    published = [attribute.name for attribute in policy.attributes if attribute.published]
    persons = [a.person for a in policy.attributes if a.published and a.person is not None]
    return list(dict.fromkeys([*published, *persons, *([policy.person] if policy.person else [])]))


def settle(source: Any, form: Form) -> Form:
    """The form with everything said that can be told from a file."""
    text.refuse_blank(source)
    if text.is_elsewhere(source):
        return text.settled_elsewhere(source, form)
    if isinstance(source, (str, Path)) and not text.is_url(source):
        form = text.settled(Path(source), form)
        if form.format in LABELLED and Path(source).is_file():
            from privet.engines import packed  # noqa: PLC0415 - and with it polars, which few files need here

            form = replace(form, labels=packed.labels(Path(source), str(form.format)))
    return form


def handed_out(form: Form) -> Form:
    """The form as it may be told to anybody: how the source was found and read is the steward's business.

    A query or a sheet may name persons; and what was read without a header, or in a notation of its own,
    leaves with a header and in privet's notation.
    """
    kind = None if form.format is None else text.READ_ONLY.get(form.format, form.format)
    gone = _kept_back(form)
    labels = {name: label for name, label in form.labels.items() if name not in gone}
    return replace(
        form,
        format=kind,
        query=None,
        sheet=None,
        header=True,
        trim=False,
        numbers={},
        missing={},
        labels=labels,
    )


def _kept_back(form: Form) -> dict[str, str]:
    """The columns whose labels tell about somebody, and what: it would leave as it is."""
    if not form.labels:
        return {}
    found: dict[str, str] = find("labels", "telling")().kept_back(form.labels)
    return found


def about_labels(source: Any, policy: Policy, output: str | None) -> list[str]:
    """What its steward is told of labels that do not leave: of which columns, and not what they say."""
    if policy.kind == "documents" or not isinstance(source, (str, Path)) or not Path(source).is_file():
        return []
    kind = policy.form.format or text.FORMATS.get(Path(source).suffix.lower())
    written = text.READ_ONLY.get(kind or "", kind) if output is None else output
    if kind not in LABELLED or written not in LABELLED:
        return []
    left = {attribute.name for attribute in policy.attributes if attribute.published}
    return [
        f"{text.listed([name])}: the label of the column does not leave, for {what} stands in it"
        for name, what in _kept_back(settle(source, policy.form)).items()
        if name in left
    ]


def as_written(form: Form, output: str | None) -> Form:
    """How the data leaves: as it came, unless another format is asked for ("parquet", "csv.gz")."""
    form = handed_out(form)
    if output is None:
        return strict(replace(form, format=form.format or "csv"))
    kind = output.removesuffix(".gz")
    if kind not in SUFFIX:
        raise InputError(one_of("the format to write", sorted(SUFFIX), output))
    delimiter = form.delimiter if kind == form.format else None
    return strict(replace(form, format=kind, delimiter=delimiter, gzip=output.endswith(".gz")))


def strict(form: Form) -> Form:
    """The form with all said that a receiver must know, and no more: one text stands for a missing value.

    Whoever may say that several texts mean "missing" may say that all values do.
    """
    if form.format not in text.TEXTS:
        return replace(form, delimiter=None, encoding="utf-8", nulls=("",))
    delimiter = form.delimiter or ("\t" if form.format == "tsv" else ",")
    return replace(form, delimiter=delimiter, nulls=form.nulls[:1])


def source_digest(source: Any) -> str | None:
    """What the steward can recognise a source by; it never leaves: a digest confirms a guess."""
    if isinstance(source, (str, Path)) and Path(source).is_file():
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def need_tables(engine: Engine[Any]) -> None:
    """Refuse an engine that does not take tables made in this process, for roads that make them."""
    if not engine.takes_tables:
        raise UnsupportedError(
            f"the engine {engine.name!r} reads files only, and this is made in this process; "
            "the engine 'embedded' takes it"
        )


def in_frame(engine: Engine[Any], table: Any) -> Any:
    """A table as a polars frame, for roads that go through rows in this process, whatever the engine."""
    import polars as pl  # noqa: PLC0415 - a road that only counts does without

    return pl.DataFrame(engine.arrow(table))


def data_file(folder: Path, evidence: Evidence, which: str | None = None) -> tuple[Path, Form]:
    """Where the data of a release folder lies, and how it is written, as its evidence says.

    `which` is another of its files than the data itself.
    """
    notes = needed(evidence.data, "data")
    return file_of(folder, which or notes.file), notes.form


def file_of(folder: Path, name: str) -> Path:
    """A file of a release folder that its evidence names."""
    path = folder / name
    if path.parent != folder or not path.exists():
        raise TamperedError(f"{folder}: the data file that the evidence names is missing")
    return path


OUT_OF_ORDER = (
    "the records do not stand in canonical order: their order may tell whose they are; the policy "
    'does not say order = "kept"'
)


SIBLINGS = (
    "Siblings were laid such that values are diverse at every place: that their order follows from nothing "
    "but what is published is the steward's word."
)


def order_complaints(policy: Policy, evidence: Evidence, *, sorted_: bool) -> list[str]:
    """Does the order of what left tell nothing, or is it said that it does?"""
    if policy.order is Order.KEPT:
        silent = ev.ORDER_KEPT not in evidence.cautions
        return (
            ["cautions: that the records stand in the order in which they came is not said"] if silent else []
        )
    return [] if sorted_ else [OUT_OF_ORDER]


def needed(found: T | None, what: str) -> T:
    """A part of the evidence that releases of this kind have."""
    if found is None:
        raise TamperedError(f"evidence.json: {what}: is missing")
    return found


def others(claims: Iterable[tuple[str, object, object]]) -> list[str]:
    """What the evidence claims and the data does not have: what it is, the claim, what was found."""
    return [
        f"{what}: the evidence claims other numbers than the data has"
        for what, claimed, found in claims
        if claimed != found
    ]


def refuse_classify(what: str, *, asked: bool) -> None:
    """Say that no classifier is trained on such a release, rather than leave the question out."""
    if asked:
        raise UnsupportedError(f"--classify: {what} has no target to be predicted; tables have")


@dataclass(frozen=True)
class Asked:
    """What the steward asked for."""

    source: Any = field(repr=False)
    policy: Policy
    engine: Engine[Any]
    like: Path | None
    output: str | None
    progress: Progress = field(repr=False)
    beside: Executor = field(repr=False)  # for what need not wait

    @cached_property
    def form(self) -> Form:
        """How the source is written, with everything said that can be told from a file."""
        form = settle(self.source, self.policy.form)
        if form.format is None and isinstance(self.engine, Cluster):
            return replace(form, format=self.engine.written)
        return form


class Once(Generic[Data]):
    """Data that is handed over: whoever takes it holds it alone, so that texts go when they are counted."""

    def __init__(self, data: Data) -> None:
        self._data = [data]

    def take(self) -> Data:
        return self._data.pop()


@dataclass(frozen=True)
class Passed(Generic[Counts, Decided, Leaving, Seen]):
    """What every station made, for those who measure and release."""

    asked: Asked
    counts: Counts = field(repr=False)
    found: Decided = field(repr=False)
    leaving: Leaving = field(repr=False)
    seen: Seen = field(repr=False)
    verdicts: Verdicts

    @property
    def policy(self) -> Policy:
        return self.asked.policy


class Later:
    """A question that a module of the kind's own room answers; a release does not wait until it is loaded."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, road: type, name: str) -> None:
        self.room, self.name = road.__module__.rpartition(".")[0], name

    def __get__(self, road: object, kind: type) -> Callable[..., Any]:
        answer: Callable[..., Any] = getattr(import_module(f"{self.room}.{self.module}"), self.name)
        return answer
