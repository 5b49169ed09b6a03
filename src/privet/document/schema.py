"""What a policy says about documents: where records are, what vertices they have, what each field may do.

One tree stands for one person. Every vertex has a type, and the type says which fields it has: at most
one of them is sensitive, because the promises of this room are about one sensitive value at a vertex.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from privet.core import Hierarchy, Role
from privet.declared import settle
from privet.domain import Value, plain
from privet.errors import InputError, PolicyError
from privet.hierarchy.numbers import decimal, fraction

DEEPEST = 200  # levels of a record; whoever nests deeper attacks the reader
AROUND = 8  # brackets or elements around a record: a list, a wrapper, a group and its halves
ROLES = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER, Role.UNDECIDED)


MOST = 100_000  # buckets of one width; more tell no more than the values themselves


@dataclass(frozen=True, slots=True)
class Buckets:
    """How a continuous sensitive value is read when promises are checked: `[a, b)`, the last one closed.

    >>> half = Buckets.of_width(Decimal(0), Decimal(4), Decimal("0.5"))
    >>> half.bucket("3.26"), half.label(half.bucket("3.26")), half.bucket("4")
    (6, '[3-3.5)', 7)
    """

    edges: tuple[Decimal, ...]
    labelled: bool = False  # is the bucket published instead of the value itself?

    def __post_init__(self) -> None:
        settle(self)
        if len(self.edges) < 2 or any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise PolicyError("buckets need at least two edges, in rising order")

    @classmethod
    def of_width(cls, low: Decimal, high: Decimal, width: Decimal, *, labelled: bool = False) -> Buckets:
        """Equal buckets from `low` to `high`; the last one is narrower where the width does not divide."""
        if not all(number.is_finite() for number in (low, high, width)):
            raise PolicyError("buckets: from, to and width are finite numbers")
        if width <= 0 or low >= high:
            raise PolicyError("buckets need a positive width, and a beginning below their end")
        if high - low > MOST * width:
            raise PolicyError(f"buckets: more than {MOST:,} of this width; make it larger")
        edges = [low]
        while edges[-1] < high:
            edges.append(min(edges[-1] + width, high))
        return cls(tuple(edges), labelled)

    def bucket(self, value: Value) -> int | None:
        """Which bucket a value is in; null is in none. Whatever is not a number or outside is refused."""
        if value is None:
            return None
        try:
            number = decimal(value)
        except ValueError:
            raise InputError("a value of a field with buckets is not a number") from None
        if number.is_nan() or not self.edges[0] <= number <= self.edges[-1]:
            raise InputError("a number is outside all buckets of its field; widen the edges")
        low, high = 0, len(self.edges) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.edges[middle] <= number else (low, middle)
        return low

    def label(self, bucket: int) -> str:
        last = bucket == len(self.edges) - 2
        return f"[{plain(self.edges[bucket])}-{plain(self.edges[bucket + 1])}{']' if last else ')'}"


@dataclass(frozen=True, slots=True)
class Field:
    """A scalar of a vertex. `xml` is its name in XML where that differs; readers use it, nobody else."""

    name: str
    role: Role
    hierarchy: Hierarchy | None = None  # quasi only; None: the values directly below `*`
    buckets: Buckets | None = None  # sensitive only
    xml: str | None = None

    def __post_init__(self) -> None:
        settle(self)


@dataclass(frozen=True)
class Kind:
    """A type of vertices: its fields, and below which key its children of each type stand.

    `children` are pairs (key in the document, name of the type). An array of scalars stands for
    children of a type with the one field `value`.
    """

    name: str
    fields: tuple[Field, ...]
    children: tuple[tuple[str, str], ...] = ()
    weight: Fraction = Fraction(1)  # how much a label of this type counts in level-weighted loss

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", fraction(self.weight))  # 0.1 as it is written
        settle(self)

    def with_role(self, role: Role) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if f.role is role)

    @cached_property  # asked for at every vertex
    def published(self) -> tuple[Field, ...]:
        """The fields that a `Vertex` of this type has values for, in this order: all but identifiers."""
        return tuple(f for f in self.fields if f.role is not Role.IDENTIFIER)

    @property
    def quasi(self) -> tuple[Field, ...]:
        return self.with_role(Role.QUASI)

    @cached_property
    def quasi_places(self) -> tuple[int, ...]:
        """Where the quasi-identifiers stand among a vertex' values."""
        return tuple(at for at, f in enumerate(self.published) if f.role is Role.QUASI)

    @cached_property
    def sensitive(self) -> Field | None:
        return next(iter(self.with_role(Role.SENSITIVE)), None)

    def position(self, name: str) -> int:
        """Where a published field stands among a vertex' values."""
        return [f.name for f in self.published].index(name)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the records are in a file: `$.students[*]` in JSON, `/students/student` in XML."""

    json: str | None = None
    xml: str | None = None

    def __post_init__(self) -> None:
        settle(self)


@dataclass(frozen=True)
class Schema:
    """The types of a collection, and which of them is the root of every record."""

    root: str
    kinds: tuple[Kind, ...]
    record: Places = field(default_factory=Places)

    def __post_init__(self) -> None:
        settle(self)
        complaints = list(self._complaints())
        if complaints:
            raise PolicyError(*complaints)

    def _complaints(self) -> Iterable[str]:
        names = [kind.name for kind in self.kinds]
        if len(set(names)) < len(names):
            yield "two types have the same name"
        if self.root not in names:
            yield f"the records are of type {self.root}, which is not described"
        for kind in self.kinds:
            yield from _wrong_in(kind, names)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The number of each type."""
        return {kind.name: at for at, kind in enumerate(self.kinds)}

    def kind(self, name: str) -> Kind:
        return self.kinds[self.position[name]]

    @property
    def attributes(self) -> Sequence[tuple[Kind, Field]]:
        """Every published field with its type. Fields of different types are different attributes."""
        return [(kind, f) for kind in self.kinds for f in kind.published]


def _wrong_in(kind: Kind, types: Sequence[str]) -> Iterable[str]:
    place = f"type {kind.name}"
    names = [f.name for f in kind.fields]
    if len(set(names)) < len(names):
        yield f"{place}: two fields have the same name"
    if len(kind.with_role(Role.SENSITIVE)) > 1:
        yield f"{place}: at most one field is sensitive; choose one, or give the others a child vertex"
    if not kind.quasi and kind.sensitive is None and not kind.with_role(Role.UNDECIDED):
        yield (
            f"{place}: a vertex needs a quasi-identifying or a sensitive field; to drop it whole, name its "
            "key under identifier where its parent is described, and not among children"
        )
    if kind.weight < 0:
        yield f"{place}: a weight is not negative"
    keys = [key for key, _ in kind.children]
    if len(set(keys)) < len(keys) or set(keys) & set(names):
        both = sorted(set(keys) & set(names))
        said = f" ({', '.join(both)} for both)" if both else ""
        yield f"{place}: a key stands for one field or one list of children{said}"
    for key, child in kind.children:
        if child not in types:
            yield f"{place}: children {key} are of type {child}, which is not described"
    for f in kind.fields:
        if f.role not in ROLES:
            yield f"{place}, field {f.name}: documents have no role {f.role.value}"
        if f.hierarchy is not None and f.role is not Role.QUASI:
            yield f"{place}, field {f.name}: only a quasi-identifier has a hierarchy"
        if f.buckets is not None and f.role is not Role.SENSITIVE:
            yield f"{place}, field {f.name}: only a sensitive field has buckets"
