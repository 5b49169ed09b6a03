"""The nouns of the package: everything else is made of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privet import notebook
from privet.declared import TABLE, AlgorithmFacts, HierarchyFacts, ModelFacts, declare
from privet.domain import Codes, Cut, Domain, Node, Value, flat
from privet.errors import PolicyError, one_of

if TYPE_CHECKING:
    from typing import Self


class Role(Enum):
    """What a column could do to the person behind a record."""

    IDENTIFIER = "identifier"  # names a person by itself: dropped, or disguised when the policy says how
    QUASI = "quasi"  # may name a person together with others: generalised
    SENSITIVE = "sensitive"  # what must not be learnt about a person: published as it is
    TARGET = "target"  # what the recipient wants to predict: published as it is
    OTHER = "other"  # published as it is
    UNDECIDED = "undecided"  # nobody has decided yet: publishing refuses


class Nulls(Enum):
    """How a missing value is read when a promise is checked."""

    VALUE = "value"  # a value of its own: strict, the default
    WILDCARD = "wildcard"  # matches everything: looser, recorded in the evidence


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
        if not isinstance(self.role, Role):
            words = {role.value: role for role in Role}
            if not isinstance(self.role, str) or self.role not in words:
                raise PolicyError(f"attributes.{self.name}: {one_of('role', list(words), self.role)}")
            object.__setattr__(self, "role", words[self.role])

    @property
    def published(self) -> bool:
        return self.role is not Role.IDENTIFIER or self.disguise is not None


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of a tally: its domain, and the code of every cell."""

    name: str
    domain: Domain = field(repr=False)
    codes: Codes = field(repr=False)

    def recoded(self, cut: Cut) -> Column:
        """The same column as published under a cut; nodes that read alike become one value."""
        labels = tuple(dict.fromkeys(cut.labels))
        position = {label: at for at, label in enumerate(labels)}
        of_code = np.array([position[label] for label in cut.labels], dtype=np.intp)[cut.positions]
        domain = Domain(labels, replace(cut.domain.root, lo=0, hi=len(labels), children=()))
        return Column(self.name, domain, domain.column(of_code[self.codes]))


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
        return self.with_columns(lambda column: replace(column, codes=column.codes[kept]), self.counts[kept])

    def by_record(self) -> Tally:
        """The same tally with a cell for each record; a cell's records stand together."""
        ones = np.ones(self.records, dtype=np.int64)
        return self.with_columns(lambda c: replace(c, codes=np.repeat(c.codes, self.counts)), ones)

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
        cuts = {c.name: Cut(c.domain, (c.domain.root,)) for c in self.quasi}
        return self.recoded(Generalization(cuts))


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


@dataclass(frozen=True, eq=False)
class Shown:
    """How one column is published: the nodes in use, and which of them each cell has."""

    domain: Domain = field(repr=False)
    nodes: tuple[Node, ...] = field(repr=False)
    positions: NDArray[Any] = field(repr=False)
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)

    @cached_property
    def used(self) -> tuple[Node, ...]:
        """The nodes that are published, each label once, in leaf order, the wider before the narrower."""
        there = {self.nodes[at].label: self.nodes[at] for at in _occurring(self.positions, self.kept)}
        return tuple(sorted(there.values(), key=lambda node: (node.lo, -node.hi)))

    @property
    def untouched(self) -> bool:
        """Is every value published as it is?"""
        return all(n.leaves == 1 and n.label == self.domain.values[n.lo] for n in self.used)


@dataclass(frozen=True)
class Generalization:
    """Global recoding: each raw value of an attribute is published as the node of the cut above it."""

    name: ClassVar[str] = "generalization"
    kept: ClassVar[None] = None  # no record is left out
    by_record: ClassVar[bool] = False

    cuts: Mapping[str, Cut]

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        return tally

    def shown(self, column: Column) -> Shown:
        cut = self.cuts[column.name]
        return Shown(cut.domain, cut.nodes, cut.positions[column.codes])

    def recode(self, tally: Tally) -> Tally:
        return replace(
            tally,
            quasi=tuple(c.recoded(self.cuts[c.name]) if c.name in self.cuts else c for c in tally.quasi),
        )


@dataclass(frozen=True, eq=False)
class Regions:
    """Local recoding into boxes: the records of each are published as its nodes, one for each attribute.

    Boxes are said without data, as ranges, and so fit other records too. Which box each cell is in belongs
    to the tally that they were found on, since boxes may overlap: `of_cell` and `kept` have an entry for each
    of its cells, or, where records of one cell may part (`by_record`), for each record in the order of
    `Tally.by_record`.
    """

    name: ClassVar[str] = "regions"

    nodes: Mapping[str, tuple[Node, ...]] = field(repr=False)  # by attribute; they may overlap
    boxes: Mapping[str, NDArray[Any]] = field(repr=False)  # by attribute: the node of each box
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)  # False: suppressed; None: all stay
    by_record: bool = False
    of_cell: NDArray[Any] | None = field(default=None, repr=False)  # the box of each; None: each has its own

    @cached_property
    def positions(self) -> Mapping[str, NDArray[Any]]:
        """By attribute: the node of each cell."""
        if self.of_cell is None:
            return self.boxes
        return {name: of_box[self.of_cell] for name, of_box in self.boxes.items()}

    def box(self, at: int) -> dict[str, Node]:
        """A box: a range for each attribute."""
        return {name: self.nodes[name][int(of_box[at])] for name, of_box in self.boxes.items()}

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        return tally.by_record() if self.by_record else tally

    def shown(self, column: Column) -> Shown:
        return Shown(column.domain, self.nodes[column.name], self.positions[column.name], self.kept)

    def labels_of(self, name: str) -> set[Value]:
        """The labels of a column that some published record has."""
        return {self.nodes[name][at].label for at in _occurring(self.positions[name], self.kept)}

    def recode(self, tally: Tally) -> Tally:
        """What is published of a tally, in either form."""
        tally = self.over(tally) if tally.cells != tally.records else tally
        made = replace(
            tally,
            quasi=tuple(
                published(c.name, [n.label for n in self.nodes[c.name]], self.positions[c.name])
                if c.name in self.nodes
                else c
                for c in tally.quasi
            ),
        )
        return made if self.kept is None else made.where(self.kept)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Values replaced record by record: the labels in use, and which of them each record gets.

    Records stand in the order of `Tally.by_record`, once for each copy. A column that is not named leaves as
    it is.
    """

    name: ClassVar[str] = "perturbation"

    labels: Mapping[str, tuple[Value, ...]] = field(repr=False)  # by column
    positions: Mapping[str, NDArray[Any]] = field(repr=False)  # by column: the label of each record
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)  # by record; None: all stay
    copies: int = 1  # how many records are published for each of the table
    by_record: ClassVar[bool] = True

    def labels_of(self, name: str) -> set[Value]:
        """The labels of a column that some published record has; none of a column that leaves as it is."""
        if name not in self.labels:
            return set()
        return {self.labels[name][at] for at in _occurring(self.positions[name], self.kept)}

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        records = tally.by_record()
        if self.copies == 1:
            return records
        return records.with_columns(
            lambda c: replace(c, codes=np.tile(c.codes, self.copies)), np.tile(records.counts, self.copies)
        )

    def recode(self, tally: Tally) -> Tally:
        def made(column: Column) -> Column:
            if column.name not in self.labels:
                return column
            return published(column.name, self.labels[column.name], self.positions[column.name])

        records = self.over(tally)
        perturbed = records.with_columns(made, records.counts)
        return perturbed if self.kept is None else perturbed.where(self.kept)


Recoding: TypeAlias = Generalization | Regions | Perturbation  # a closed family; each engine applies all


def _occurring(positions: NDArray[Any], kept: NDArray[np.bool_] | None) -> list[int]:
    chosen = positions if kept is None else positions[kept]
    there = np.zeros(int(chosen.max(initial=0)) + 1, dtype=bool)  # positions are few: no need to sort rows
    there[chosen] = True
    found: list[int] = np.flatnonzero(there).tolist()
    return found


def published(name: str, labels: Sequence[Value], positions: NDArray[Any]) -> Column:
    """A column of published labels, which have no hierarchy; those that read alike are one value."""
    found = flat(tuple(dict.fromkeys(labels)))
    of_label = np.array([found.codes[label] for label in labels], dtype=np.intp)
    return Column(name, found, found.column(of_label[positions]))


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
class Finding:
    """What a search returns: the recoding, and how it was reached."""

    recoding: Recoding
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()  # what the recipient should know of the search: "stopped by its time limit"
    claims: Mapping[str, int | Fraction] = field(default_factory=dict)  # of promises that nothing can check
    reasons: tuple[str, ...] = ()  # why nothing finer: it tells of the data, so for the steward alone


class Progress(Protocol):
    """Told how far long work has come; never told a value."""

    def __call__(self, stage: str, done: int, of: int | None = None) -> None: ...


def silent(stage: str, done: int, of: int | None = None) -> None:
    """Progress for callers who do not look."""


@runtime_checkable
class Algorithm(AlgorithmFacts, Protocol):
    """A search for a recoding that keeps every promise and loses little; it declares `AlgorithmFacts`."""

    __slots__ = ()

    def search(self, tally: Tally, policy: Policy, progress: Progress = silent) -> Finding: ...


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
    # packed; a file's ending says so by itself, so that no policy needs to
    gzip: bool = field(default=False, metadata={"policy": False})
    # what the columns are called in full, where the file says it
    labels: Mapping[str, str] = field(default_factory=dict, metadata={"policy": False}, compare=False)


@dataclass(frozen=True, slots=True)
class Purse:
    """What a release is paid from: a ledger's file, and the data set's name in it."""

    file: str
    dataset: str

    def __post_init__(self) -> None:
        file: Any = self.file
        dataset: Any = self.dataset
        if not isinstance(file, (str, Path)) or not isinstance(dataset, str):
            raise PolicyError(
                'ledger: is a file and a data set, such as Purse("ledger.sqlite", "admissions")'
            )
        if "://" not in str(self.file):  # a database's address stays as it is
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
    form: Form = field(default_factory=Form)
    shape: Any = None  # what is said of data that is not a table: where paths or documents are found in it
    # Of a table that holds a population, the rows that leave: by column, what it says of them.
    publish_only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ledger: Purse | None = None  # for algorithms that spend; it may be named when publishing, too

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


Policy = Terms  # the name that searches know it by: of a policy they see its terms
