"""What the owner decided about an audited table, in audit.toml; read whole or refused whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from privet import tomltext
from privet.disclose.audit.decision import Auditor
from privet.disclose.audit.exact import exact
from privet.errors import InputError, PolicyError, one_of, unknown_key

VERSION = 1
KINDS = ("sum", "max", "min")
# What may be asked of a column. One kind only: a sum and a maximum together tell more than each alone.
ANSWERS = {"sum": ("sum", "avg", "count"), "max": ("max", "count"), "min": ("min", "count")}
TOP = ("audit", "table", "person", "public", "smallest", "log", "witness", "keys", "rate", "columns")
OF_KIND = {
    "sum": ("kind", "low", "high", "width", "grid", "nulls"),
    "max": ("kind", "low", "high", "grid", "nulls"),
    "min": ("kind", "low", "high", "grid", "nulls"),
}
NULLS = ("refuse", "leave-out")


@dataclass(frozen=True)
class Own:
    """Everybody's own bound, in a column that everybody is taken to know."""

    column: str

    def __str__(self) -> str:
        return f"column {self.column}"


Edge: TypeAlias = Fraction | Own
Bounds: TypeAlias = tuple[Sequence[Fraction], Sequence[Fraction]]


@dataclass(frozen=True)
class AuditedColumn:
    """One secret column: what may be asked of it, and what is protected."""

    name: str
    kind: str
    low: Edge | None = None
    high: Edge | None = None
    width: Fraction | None = None
    grid: Fraction | None = None  # 0: nobody takes values for multiples of anything
    nulls: str = "refuse"

    @property
    def own(self) -> tuple[str, ...]:
        """The columns that hold everybody's own bounds."""
        return tuple(edge.column for edge in (self.low, self.high) if isinstance(edge, Own))

    def bounds(self, n: int, held: Mapping[str, Sequence[object]]) -> Bounds | None:
        """Everybody's bounds of a sum; `held` has the columns of those who have their own."""
        if self.kind != "sum" or self.low is None or self.high is None:
            return None
        low, high = (self._edges(edge, n, held) for edge in (self.low, self.high))
        return low, high

    def _edges(self, edge: Edge, n: int, held: Mapping[str, Sequence[object]]) -> list[Fraction]:
        if isinstance(edge, Fraction):
            return [edge] * n
        try:
            return [exact(value) for value in held[edge.column]]
        except InputError as error:
            raise InputError(f"{edge.column}: somebody's bound {error}") from None

    def auditor(self, n: int, bounds: Bounds | None) -> Auditor:
        """A fresh one for so many people."""
        if self.kind == "sum":
            from privet.disclose.audit.summation import SumAuditor  # noqa: PLC0415 - scipy is an extra

            if bounds is None or self.width is None:
                raise PolicyError(f"columns.{self.name}: a sum needs low, high and width")
            return SumAuditor(*bounds, width=self.width, grid=self.grid)
        from privet.disclose.audit.maximum import MaxAuditor  # noqa: PLC0415 - beside its sibling

        low, high = self.ends()
        return MaxAuditor(n, grid=self.grid or None, low=low, high=high)

    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """Public bounds of a maximum, as its auditor sees them: of a minimum, turned over."""
        low, high = (edge if isinstance(edge, Fraction) else None for edge in (self.low, self.high))
        if self.kind != "min":
            return low, high
        return None if high is None else -high, None if low is None else -low

    def settings(self) -> dict[str, str]:
        """What a log depends on, as text."""
        said = {
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "width": self.width,
            "grid": self.grid,
            "nulls": self.nulls,
        }
        return {key: str(value) for key, value in said.items() if value is not None}


@dataclass(frozen=True)
class AuditConfig:
    """An audited table. Paths are relative to the file."""

    table: str
    person: str
    public: tuple[str, ...]
    columns: Mapping[str, AuditedColumn]
    log: Path
    keys: Path
    smallest: int = 2
    rate: int = 60  # requests a minute, for each analyst
    witness: Path | None = None

    @property
    def own(self) -> tuple[str, ...]:
        """All columns that hold bounds, each once."""
        return tuple(dict.fromkeys(name for column in self.columns.values() for name in column.own))

    @classmethod
    def load(cls, path: str | Path) -> AuditConfig:
        """Read the file; every complaint at once."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PolicyError(f"{path}: no such file; `privet audit init` drafts one") from None
        except (UnicodeDecodeError, IsADirectoryError):
            raise PolicyError(f"{path}: this is not a text file") from None
        document = tomltext.document(text, str(path))
        try:
            return cls.from_document(document, base=path.parent, name=path.stem)
        except PolicyError as error:
            raise error.at(str(path)) from None

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, base: Path, name: str = "audit") -> AuditConfig:
        """Read what TOML made of it."""
        wrong = [unknown_key(TOP, key) for key in document if key not in TOP]
        if document.get("audit") != VERSION:
            wrong.append(f"the first line must be `audit = {VERSION}`")
        wrong += [
            f'{key}: is a name, as in {key} = "…"'
            for key in ("table", "person")
            if not _text(document.get(key))
        ]
        public = document.get("public")
        if not isinstance(public, list) or not all(map(_text, public)):
            wrong.append(
                "public: is a list of the columns that conditions may use; everybody is taken to know them"
            )
            public = []
        for key, least in (("smallest", 2), ("rate", 1)):
            given = document.get(key, least)
            if not isinstance(given, int) or isinstance(given, bool) or given < least:
                wrong.append(f"{key}: is a whole number from {least}, not {given!r}")
        for key in ("log", "keys", "witness"):
            if not _text(document.get(key, "x")):
                wrong.append(f"{key}: is the name of a file")
        columns = _columns(document.get("columns"), wrong)
        wrong += [
            f"public: {column} is audited, so a condition on it would tell"
            for column in public
            if column in columns
        ]
        bounds = [name for column in columns.values() for name in column.own]
        wrong += [
            f"columns: {name} is audited, so it cannot be a bound that everybody knows"
            for name in bounds
            if name in columns
        ]
        names = [document.get("table"), document.get("person"), *public, *columns, *bounds]
        if any(isinstance(name, str) and "%" in name for name in names):
            wrong.append(
                "names with % cannot be audited: PostgreSQL's driver would take it for a placeholder"
            )
        asked = {*public, *columns}
        if len({folded(name) for name in asked}) < len(asked):
            wrong.append("two names differ only in capitals: a query could mean either")
        if document.get("person") in columns:
            wrong.append("person: the audited column cannot name people")
        if wrong:
            raise PolicyError(*wrong)
        return cls(
            document["table"],
            document["person"],
            tuple(public),
            columns,
            base / document.get("log", f"{name}.log.db"),
            base / document.get("keys", f"{name}.keys.toml"),
            document.get("smallest", 2),
            document.get("rate", 60),
            base / document["witness"] if "witness" in document else None,
        )


def folded(name: str) -> str:
    """As SQL compares names: capitals of ASCII do not count; a letter that only looks alike is another one.

    >>> folded("Größe"), folded("\N{LATIN SMALL LETTER LONG S}taff") == "staff"
    ('größe', False)
    """
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _columns(given: object, wrong: list[str]) -> dict[str, AuditedColumn]:
    if not isinstance(given, Mapping) or not given:
        wrong.append('columns: name what is audited, as in [columns.salary] with kind = "sum"')
        return {}
    made = {}
    for name, table in given.items():
        place = f"columns.{name}"
        kind = table.get("kind") if isinstance(table, Mapping) else None
        if kind not in KINDS:
            wrong.append(f"{place}: {one_of('kind', KINDS, kind)}")
            continue
        wrong += [f"{place}.{unknown_key(OF_KIND[kind], key)}" for key in table if key not in OF_KIND[kind]]
        said = _numbers(place, kind, table, wrong)
        if (nulls := table.get("nulls", "refuse")) not in NULLS:
            wrong.append(f"{place}.{one_of('nulls', NULLS, nulls)}")
        made[name] = AuditedColumn(name, kind, nulls=nulls, **said)
    return made


def _numbers(place: str, kind: str, table: Mapping[str, Any], wrong: list[str]) -> dict[str, Any]:
    """Bounds, width and grid of a column."""
    said: dict[str, Any] = {}
    for key in ("low", "high", "width", "grid"):
        if key not in table:
            if kind == "sum" and key != "grid":
                wrong.append(f"{place}.{key} is missing")
            continue
        if key not in OF_KIND[kind]:
            continue  # complained of already
        own = kind == "sum" and key in ("low", "high")
        try:
            said[key] = (_own(table[key]) if own else None) or _exactly(table[key])
        except InputError:
            column = f' or {{ column = "{key}" }}' if own else ""
            wrong.append(
                f'{place}.{key}: is an exact number such as 100 or "0.5"{column}, not {table[key]!r}'
            )
    if "grid" in said and said["grid"] < 0:
        wrong.append(f"{place}.grid: is above 0, or 0 if nobody takes values for multiples of anything")
    if said.get("width", 1) <= 0:
        wrong.append(f"{place}.width: is above 0")
    low, high = said.get("low"), said.get("high")
    # Everybody's own bounds are known with the data only: the auditor looks at them.
    if isinstance(low, Fraction) and isinstance(high, Fraction) and high - low < said.get("width", 0):
        wrong.append(f"{place}: the bounds are narrower than the width, so everybody is known already")
    if kind != "sum" and isinstance(low, Fraction) and isinstance(high, Fraction) and high <= low:
        wrong.append(f"{place}: high is above low")
    return said


def _own(given: object) -> Own | None:
    if not isinstance(given, Mapping):
        return None
    if set(given) != {"column"} or not _text(given["column"]):
        raise InputError("names a column")
    return Own(given["column"])


def _exactly(given: object) -> Fraction:
    if isinstance(given, float):
        raise InputError("write it in quotes, so that it is exact")
    return exact(given)
