"""The nouns of the package: everything else is made of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privet import equality, notebook
from privet.declared import TABLE, AlgorithmFacts, HierarchyFacts, ModelFacts, Order, declare, settle
from privet.domain import Codes, Cut, Domain, Value
from privet.errors import shown
from privet.readings import Absent, Formulas, Rows
from privet.readings import Nulls as Nulls  # noqa: PLC0414 - a noun that is known from here

if TYPE_CHECKING:
    from typing import Self

    from privet.recoding import Recoding


class Percent(Fraction):
    """A share that was written with a percent sign, so that 100% is everything and not one of something."""


class Role(Enum):
    """What a column could do to the person behind a record."""

    IDENTIFIER = "identifier"  # names a person by itself: dropped, or disguised when the policy says how
    QUASI = "quasi"  # may name a person together with others: generalised
    SENSITIVE = "sensitive"  # what must not be learnt about a person: published as it is
    TARGET = "target"  # what the recipient wants to predict: published as it is
    OTHER = "other"  # published as it is
    UNDECIDED = "undecided"  # nobody has decided yet: publishing refuses


class Hierarchy(HierarchyFacts, Protocol):
    """A rule that arranges the values of an attribute under ever more general ones."""

    __slots__ = ()

    def domain(self, values: Sequence[Value]) -> Domain:
        """The values in leaf order; raises HierarchyError when one is not covered."""

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        """The values that have no place in the hierarchy; for the steward's own eyes."""

    def to_policy(self) -> dict[str, Any]:
        """The hierarchy as its table in a policy file."""


class Disguise(Protocol):
    """How an identifier is published instead of being dropped."""

    name: ClassVar[str]

    def cover(self, values: Sequence[Value], person: Sequence[Value] | None = None) -> list[Value]:
        """What is published for each value; `person` says whose value it is where that matters."""

    def fits(self, published: str) -> bool:
        """Could this be what is published for some value? A name is not a mask, whoever says so."""

    def to_policy(self) -> dict[str, Any]:
        """The disguise as its keys in a policy file; never the key itself."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column that the policy names. A role may be given as its word: `Attribute("age", "quasi")`."""

    name: str
    role: Role
    hierarchy: Hierarchy | None = None
    disguise: Disguise | None = None
    person: str | None = None  # the column that says whose record it is; date shifting needs it
    values: tuple[Value, ...] = ()  # all that could stand in a target, where the data must not say it

    def __post_init__(self) -> None:
        given: Any = self.name
        settle(self, f"attributes.{given if isinstance(given, str) else shown(given)}")
        object.__setattr__(self, "name", equality.name(self.name))
        if self.person is not None:
            object.__setattr__(self, "person", equality.name(self.person))

    @property
    def published(self) -> bool:
        return self.role is not Role.IDENTIFIER or self.disguise is not None


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of a tally: its domain, and the code of every cell."""

    name: str
    domain: Domain = field(repr=False)
    codes: Codes = field(repr=False)

    def at(self, cells: NDArray[Any]) -> Column:
        """The same column of these cells."""
        return replace(self, codes=self.codes[cells])

    def recoded(self, cut: Cut) -> Column:
        """The same column as published under a cut; nodes that read alike become one value."""
        labels = tuple(dict.fromkeys(cut.labels))
        position = {label: at for at, label in enumerate(labels)}
        of_code = np.array([position[label] for label in cut.labels], dtype=np.intp)[cut.positions]
        domain = Domain(labels, replace(cut.domain.root, lo=0, hi=len(labels), children=()))
        if len(labels) == 1:  # most columns of most tables that a search begins with
            return Column(self.name, domain, domain.column(np.zeros(len(self.codes), dtype=np.uint8)))
        return Column(self.name, domain, domain.column(of_code)[self.codes])


@dataclass(frozen=True, eq=False)
class Tally:
    """How many records have each combination of values: all that a search or a check may see.

    A struct of arrays. Cell `i` stands for `counts[i]` records that agree in every column; two cells
    may agree too (an engine merges them only where that pays), so readers add counts up.
    """

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    target: Column | None
    counts: NDArray[np.int64] = field(repr=False)
    nulls: Nulls = Nulls.VALUE
    person: NDArray[Any] | None = field(default=None, repr=False)  # whose each cell is; None: a record's own
    across: bool = False  # may an adversary know values from several rows of a person?

    @property
    def cells(self) -> int:
        return len(self.counts)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    def column(self, name: str) -> Column | None:
        """The quasi-identifier, sensitive attribute or target of that name."""
        every = (*self.quasi, *self.sensitive, *((self.target,) if self.target else ()))
        return next((column for column in every if column.name == name), None)

    def recoded(self, recoding: Recoding) -> Tally:
        """The tally of what would be published."""
        return recoding.recode(self)

    def where(self, kept: NDArray[np.bool_]) -> Tally:
        """The tally of some cells only."""
        part = self.with_columns(lambda column: column.at(kept), self.counts[kept])
        return part if self.person is None else replace(part, person=self.person[kept])

    def by_record(self) -> Tally:
        """The same tally with a cell for each record; a cell's records stand together."""
        ones = np.ones(self.records, dtype=np.int64)
        made = self.with_columns(lambda c: replace(c, codes=np.repeat(c.codes, self.counts)), ones)
        return made if self.person is None else replace(made, person=np.repeat(self.person, self.counts))

    def with_columns(self, made: Callable[[Column], Column], counts: NDArray[np.int64]) -> Tally:
        """The same tally with every column changed alike."""
        return replace(
            self,
            quasi=tuple(map(made, self.quasi)),
            sensitive=tuple(map(made, self.sensitive)),
            target=None if self.target is None else made(self.target),
            counts=counts,
        )

    def topmost(self) -> Tally:
        """The tally of the table with every quasi-identifier fully generalised."""
        return replace(self, quasi=tuple(c.recoded(Cut(c.domain, (c.domain.root,))) for c in self.quasi))


def begins(columns: Sequence[Column], cells: int) -> NDArray[np.bool_] | None:
    """Does a class begin at each cell? None where cells do not stand in the order of their codes.

    Engines count in that order. Looking takes a few bytes of each cell, where sorting takes all of them many
    times; and whoever hands over cells in another order is found out by the first column, nearly always.
    """
    found = np.ones(cells, dtype=bool)
    if cells < 2:
        return found
    same = np.ones(cells - 1, dtype=bool)
    for column in columns:
        here, before = column.codes[1:], column.codes[:-1]
        if (same & (here < before)).any():
            return None
        same &= here == before
    np.logical_not(same, out=found[1:])
    return found


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a promise holds: numbers only, so that it can be shown to anybody."""

    achieved: Mapping[str, int | Fraction]
    broken: int = 0  # how many groups break the promise
    at_risk: int = 0  # how many records stand in such a group

    @property
    def holds(self) -> bool:
        return not self.broken

    @property
    def about(self) -> str | None:
        """Of data with several parts: which of them."""
        return None

    def _repr_html_(self) -> str:
        """Numbers only, as anywhere."""
        rows = {**self.achieved, "groups that break it": self.broken, "records at risk": self.at_risk}
        return notebook.card("Verdict", [("holds", self.holds), *rows.items()])


@runtime_checkable
class PrivacyModel(ModelFacts, Protocol):
    """A promise that can be checked: frozen, comparable, holding no data; it declares `ModelFacts`."""

    __slots__ = ()

    def check(self, tally: Tally) -> Verdict: ...

    def nearest(self, tally: Tally) -> Self:
        """The least demanding change of the parameters that this tally keeps."""


Verdicts: TypeAlias = tuple[
    tuple[PrivacyModel, Verdict], ...
]  # every promise that was checked, with what was found


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a search's log: what was tried, how it scored, what became of it."""

    attribute: str
    label: Value
    children: tuple[Value, ...]
    score: float | None  # None: not known, or not to be told
    performed: bool
    reason: str = ""  # why it was refused: the promise that would break


@dataclass(frozen=True)
class Tried:
    """A search that another one tried: what it would have lost, or why there is no such release."""

    algorithm: Algorithm
    loss: float | None
    refused: str = ""


@dataclass(frozen=True)
class Choice:
    """What a search that tries others came to."""

    algorithm: Algorithm  # with the parameters that made the release
    by: str  # the measure that was to be made small
    tried: tuple[Tried, ...]  # all, in the order in which they were tried

    @property
    def ahead(self) -> float | None:
        """By how much the next best loses more; None where nothing else was possible."""
        mine = next(one.loss for one in self.tried if one.algorithm is self.algorithm)
        others = [one.loss for one in self.tried if one.algorithm is not self.algorithm]
        best = min((loss for loss in others if loss is not None), default=None)
        return None if best is None or mine is None else best - mine


@dataclass(frozen=True)
class Finding:
    """What a search returns: the recoding, and how it was reached."""

    recoding: Recoding
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()  # what the recipient should know of the search: "stopped by its time limit"
    claims: Mapping[str, int | Fraction] = field(default_factory=dict)  # of promises that nothing can check
    reasons: tuple[str, ...] = ()  # why nothing finer: it tells of the data, so for the steward alone
    choice: Choice | None = None  # of a search that tries several others


class Progress(Protocol):
    """Told how far long work has come; never told a value."""

    def __call__(self, stage: str, done: int, of: int | None = None) -> None: ...


def silent(stage: str, done: int, of: int | None = None) -> None:
    """Progress for callers who do not look."""


@runtime_checkable
class Algorithm(AlgorithmFacts, Protocol):
    """A search for a recoding that keeps every promise and loses little; it declares `AlgorithmFacts`."""

    __slots__ = ()

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding: ...


@dataclass(frozen=True, slots=True)
class Form:
    """How a file is written: what a reader must know and cannot always guess."""

    format: str | None = None  # csv, parquet, xlsx, stata, …; None: by the file's ending
    delimiter: str | None = None  # None: by the header line
    encoding: str = "utf-8"
    nulls: tuple[str, ...] = ("",)  # tokens that mean "missing" in text files
    query: str | None = None  # what to select from a database
    sheet: str | None = None  # which sheet of a workbook; None: the only one that holds anything
    header: bool = True  # does the first line name the columns? else they are column_1, column_2, …
    trim: bool = False  # are blanks around values no part of them?
    numbers: Mapping[str, str] = field(default_factory=dict)  # by column, a notation such as "1.234,5"
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by column, further tokens
    # packed; a file's ending says so by itself, so that no policy needs to, and none differs by it
    gzip: bool = field(default=False, metadata={"policy": False}, compare=False)
    # what the columns are called in full, where the file says it
    labels: Mapping[str, str] = field(default_factory=dict, metadata={"policy": False}, compare=False)

    def __post_init__(self) -> None:
        settle(self)


@dataclass(frozen=True, slots=True)
class Purse:
    """What a release is paid from: a ledger's file, and the data set's name in it."""

    file: str
    dataset: str

    def __post_init__(self) -> None:
        if isinstance(self.file, Path):
            object.__setattr__(self, "file", str(self.file))
        settle(self, "ledger")
        if "://" not in self.file:  # a database's address stays as it is
            object.__setattr__(self, "file", str(Path(self.file)))  # "./ledger" and "ledger" are one file


@dataclass(frozen=True)
class Terms:
    """What a search and an engine are told of a policy: nobody has checked that it fits together.

    `privet.Policy` is the one that is checked, and the only one that a road begins with. A search may be
    asked about less: the promises of the rows that leave, or one column.
    """

    attributes: tuple[Attribute, ...]
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    purpose: str = ""
    kind: str = TABLE
    nulls: Nulls = Nulls.VALUE
    order: Order = Order.CANONICAL
    form: Form = field(default_factory=Form)
    shape: Any = None  # what is said of data that is not a table: where paths or documents are found in it
    # Of a table that holds a population, the rows that leave: by column, what it says of them.
    publish_only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ledger: Purse | None = None  # for algorithms that spend; it may be named when publishing, too
    absent: Absent = Absent.REFUSED  # what becomes of a protected value that does not occur
    person: str | None = None  # the column that says whose a row is: then persons are counted, not rows
    rows: Rows = Rows.UNSAID  # whose rows are, where no column says it
    formulas: Formulas = Formulas.CAUTIONED  # what becomes of cells that a spreadsheet may run
    across: bool = False  # may an adversary know values from several rows of a person?

    def __post_init__(self) -> None:
        self.declared()

    def declared(self) -> None:
        """Promises and algorithms of plug-ins that inherit nothing get the facts that they do not declare."""
        for attribute in self.attributes:
            if attribute.hierarchy is not None:
                declare(attribute.hierarchy, HierarchyFacts)
        for model in self.models:
            declare(model, ModelFacts)
        if self.algorithm is not None:  # of a policy that could not be read
            declare(self.algorithm, AlgorithmFacts)

    def with_role(self, *roles: Role) -> tuple[Attribute, ...]:
        return tuple(a for a in self.attributes if a.role in roles)

    @property
    def quasi(self) -> tuple[Attribute, ...]:
        return self.with_role(Role.QUASI)

    def asking(self, **changes: Any) -> Terms:
        """The same with something changed, for a search or an engine that is asked about less."""
        said = {f.name: getattr(self, f.name) for f in fields(Terms)}
        return Terms(**said | changes)
