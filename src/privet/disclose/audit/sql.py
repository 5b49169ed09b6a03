"""The small SQL that analysts may pose: one aggregate over one table, with conditions on public columns.

    SELECT SUM(salary) FROM staff WHERE dept = 'R&D' AND age > 40
    SELECT dept, AVG(salary) FROM staff GROUP BY dept

sqlglot parses it. Every node of the tree must be one that is named here; from these a new tree is built
with the owner's names for columns and a placeholder for every literal. Nothing that an analyst wrote ever
becomes SQL text. A refusal says what is not understood, and nothing about the data.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from privet.disclose.audit.config import folded
from privet.errors import InputError, MissingExtraError
from privet.hierarchy.numbers import decimal

try:
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError
except ImportError:
    raise MissingExtraError("SQL for audited queries", "audit") from None

# The parser warns of what it cannot read and quotes it; what analysts wrote belongs into no log of ours.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

LONGEST = 10_000  # characters
AGGREGATES: Mapping[type[exp.Expression], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Max: "max",
    exp.Min: "min",
    exp.Count: "count",
}
COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
PARTS: Mapping[type[exp.Expression], tuple[str, ...]] = {
    **dict.fromkeys((exp.And, exp.Or, exp.Is, *COMPARISONS), ("this", "expression")),
    exp.Paren: ("this",),
    exp.Not: ("this",),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions"),
}
WHERE = "WHERE has comparisons of a column with a literal, IN, BETWEEN, IS NULL, AND, OR, NOT"
CLAUSES = ("expressions", "from", "from_", "where", "group", "kind", "operation_modifiers")
FORM = "SELECT SUM(column) FROM table WHERE …"
GROUPED = "GROUP BY names public columns, and SELECT has these and one aggregate"

Literal = str | int | Decimal | bool


class RefusedError(InputError):
    """A query outside the dialect, or about a set that is never answered; says nothing about the data."""

    code = "refused"


@dataclass(frozen=True)
class Query:
    """What is asked: an aggregate of a column (None: of all) over the people who meet a condition."""

    aggregate: str
    column: str | None
    condition: exp.Expression | None
    literals: tuple[Literal, ...]
    text: str  # as it was posed, in one form; for the owner's log
    by: tuple[str, ...] = ()  # the public columns of GROUP BY


def parsed(text: str, *, table: str, public: tuple[str, ...], audited: tuple[str, ...]) -> Query:
    """The query, or a refusal that names what is not allowed."""
    if len(text) > LONGEST:
        raise RefusedError(f"a query has at most {LONGEST:,} characters")
    try:
        text.encode()  # half a surrogate pair is not a text that a database or a log could hold
        statements = parse(text, read="postgres")
    except (SqlglotError, RecursionError, ValueError):
        raise RefusedError(f"this is not SQL that can be read; the form is {FORM}") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise RefusedError(f"one SELECT and nothing else; the form is {FORM}")
    try:
        return _Reader(table, public, audited).query(statements[0])
    except RecursionError:
        raise RefusedError("the conditions are nested too deeply") from None


class _Reader:
    """One query on its way through the list of what is allowed."""

    def __init__(self, table: str, public: tuple[str, ...], audited: tuple[str, ...]) -> None:
        self._table = table
        self._public = {folded(name): name for name in public}
        self._audited = {folded(name): name for name in audited}
        self._literals: list[Literal] = []

    def query(self, select: exp.Select) -> Query:
        extra = sorted(key.rstrip("_") for key, value in select.args.items() if value and key not in CLAUSES)
        if extra:
            raise RefusedError(f"{', '.join(extra)}: not allowed; the form is {FORM}")
        by = self._by(select)
        wanted = [one.unalias() for one in select.expressions]
        named = [one for one in wanted if by and isinstance(one, exp.Column)]
        if any(self._public.get(self._name(one)) not in by for one in named):
            raise RefusedError(GROUPED)
        if len(wanted) != len(named) + 1:
            raise RefusedError("a query asks for one aggregate")
        asked = next(one for one in wanted if one not in named)
        if type(asked) not in AGGREGATES:
            raise RefusedError("a query asks for SUM, AVG, MAX, MIN or COUNT of a column")
        aggregate = AGGREGATES[type(asked)]
        self._from(select)
        column = self._of(asked, aggregate)
        where = select.args.get("where")
        condition = self._condition(where.this) if where is not None else None
        return Query(aggregate, column, condition, tuple(self._literals), select.sql(comments=False), by)

    def _by(self, select: exp.Select) -> tuple[str, ...]:
        group = select.args.get("group")
        if group is None:
            return ()
        if any(value for key, value in group.args.items() if key != "expressions") or not group.expressions:
            raise RefusedError(GROUPED)
        if not all(isinstance(one, exp.Column) for one in group.expressions):
            raise RefusedError(GROUPED)
        return tuple(dict.fromkeys(str(self._column(one).name) for one in group.expressions))

    def _from(self, select: exp.Select) -> None:
        origin = select.args.get("from_") or select.args.get("from")
        table = origin.this if origin is not None else None
        plain = isinstance(table, exp.Table) and not [
            key for key, value in table.args.items() if value and key != "this"
        ]
        if table is None or not plain or folded(table.name) != folded(self._table):
            raise RefusedError(f"FROM names one table: {self._table}")

    def _of(self, asked: exp.Expression, aggregate: str) -> str | None:
        others = [key for key, value in asked.args.items() if value and key not in ("this", "big_int")]
        if others:
            raise RefusedError("an aggregate has one plain column")
        if aggregate == "count" and isinstance(asked.this, exp.Star):
            return None
        if not isinstance(asked.this, exp.Column):
            raise RefusedError("an aggregate has one plain column, and no DISTINCT or arithmetic")
        name = self._name(asked.this)
        if name not in self._audited:
            known = ", ".join(sorted(self._audited.values()))
            raise RefusedError(f"this column is not audited; there are {known}")
        return self._audited[name]

    def _name(self, column: exp.Column) -> str:
        if column.args.get("db") or column.args.get("catalog"):
            raise RefusedError("a column has its name, or the table's name in front")
        if column.table and folded(column.table) != folded(self._table):
            raise RefusedError(f"columns are of {self._table}")
        return folded(column.name)

    def _condition(self, node: exp.Expression) -> exp.Expression:
        unread = {key for key, value in node.args.items() if value} - set(PARTS.get(type(node), ()))
        if unread and unread != {"negate"}:  # a part that nobody reads would be a condition that is lost
            raise RefusedError(WHERE)
        if unread:
            return exp.Not(this=exp.Paren(this=self._bare(node)))
        return self._bare(node)

    def _bare(self, node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Paren):
            return exp.Paren(this=self._condition(node.this))
        if isinstance(node, exp.Not):
            return exp.Not(this=exp.Paren(this=self._condition(node.this)))
        if type(node) in (exp.And, exp.Or):
            left, right = self._condition(node.this), self._condition(node.expression)
            return type(node)(this=exp.Paren(this=left), expression=exp.Paren(this=right))
        if type(node) in COMPARISONS:
            if isinstance(node.this, exp.Column) == isinstance(node.expression, exp.Column):
                raise RefusedError("a condition compares a column with a literal")
            return type(node)(this=self._operand(node.this), expression=self._operand(node.expression))
        if isinstance(node, exp.Between):
            low, high = node.args["low"], node.args["high"]
            return exp.Between(this=self._column(node.this), low=self._literal(low), high=self._literal(high))
        if isinstance(node, exp.In) and node.expressions:
            column = self._column(node.this)
            return exp.In(this=column, expressions=[self._literal(one) for one in node.expressions])
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return exp.Is(this=self._column(node.this), expression=exp.Null())
        raise RefusedError(
            "WHERE has comparisons of a column with a literal, IN, BETWEEN, IS NULL, AND, OR, NOT"
        )

    def _operand(self, node: exp.Expression) -> exp.Expression:
        return self._column(node) if isinstance(node, exp.Column) else self._literal(node)

    def _column(self, node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Column):
            raise RefusedError("a condition compares a column with a literal")
        name = self._name(node)
        if name not in self._public:
            known = ", ".join(sorted(self._public.values()))
            raise RefusedError(f"conditions may use {known}")
        return exp.column(self._public[name], quoted=True)

    def _literal(self, node: exp.Expression) -> exp.Expression:
        sign = 1
        if isinstance(node, exp.Neg):
            sign, node = -1, node.this
        value: Literal
        if isinstance(node, exp.Boolean) and sign == 1:
            value = bool(node.this)
        elif isinstance(node, exp.Literal) and node.is_string and sign == 1:
            value = str(node.this)
        elif isinstance(node, exp.Literal) and not node.is_string:
            value = _number(str(node.this), sign)
        else:
            raise RefusedError("a condition compares a column with a literal")
        self._literals.append(value)
        return exp.Placeholder()


def _number(text: str, sign: int) -> Literal:
    try:
        if text.isdigit():
            return sign * int(text)
        value = decimal(text)  # no arithmetic with it: that would round
    except (ArithmeticError, ValueError):  # ValueError: more digits than Python reads
        raise RefusedError("this number cannot be read") from None
    return value.copy_negate() if sign < 0 else value


def select(columns: tuple[str, ...], table: str, condition: exp.Expression | None, dialect: str) -> str:
    """SQL text from the owner's names and a condition of ours, for one database."""
    made: Any = exp.select(*(exp.column(name, quoted=True) for name in columns))
    made = made.from_(exp.to_identifier(table, quoted=True))
    if condition is not None:
        made = made.where(condition)
    return str(made.sql(dialect=dialect))
