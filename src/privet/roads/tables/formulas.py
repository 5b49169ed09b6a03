"""Cells that a spreadsheet may take for formulas: whoever opens a release there is told, or they are escaped.

Values leave as they are unless the policy says `formulas = "escaped"`: then an apostrophe stands before each,
in what is counted and checked as in what is written, so a receiver counts what was promised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from privet.core import Form, Tally, Terms
from privet.domain import Value
from privet.engine import Cluster, Engine
from privet.evidence.values import Evidence
from privet.readings import Formulas
from privet.spreadsheets import BEGINS, escaped, like_formula

FORMATS = ("csv", "tsv")  # a typed file says that a text is a text


def written(engine: Engine[Any], table: Any, policy: Terms, form: Form) -> Any:
    """The table as it leaves."""
    if policy.formulas is not Formulas.ESCAPED or form.format not in FORMATS:
        return table
    changes = {
        name: {value: str(escaped(value)) for value in engine.distinct(table, name) if like_formula(value)}
        for name in engine.columns(table)
    }
    return engine.respelt(table, {name: spelt for name, spelt in changes.items() if spelt})


def label(policy: Terms, value: Value) -> Value:
    """A label as it is written."""
    return escaped(value) if policy.formulas is Formulas.ESCAPED else value


def cautions(engine: Engine[Any], table: Any, tally: Tally, form: Form) -> list[str]:
    """A caution for each column of a table with such values; `tally` has the values that were counted."""
    if form.format not in FORMATS:
        return []
    known: dict[str, Iterable[Value]] = {
        column.name: column.domain.values
        for column in (*tally.quasi, *tally.sensitive, *([tally.target] if tally.target else []))
    }
    found = []
    for name in engine.columns(table):
        if name in known:
            values = known[name]
        elif isinstance(engine, Cluster):  # only what may be a formula need come here
            values = engine.beginning(table, name, BEGINS)
        else:
            values = engine.distinct(table, name)
        if times := sum(map(like_formula, values)):
            found.append(caution(name, times))
    return found


def in_columns(columns: Iterable[tuple[str, Iterable[Value]]], form: Form) -> list[str]:
    """The same for columns of texts, or items, of a release that is not a table of records."""
    if form.format not in (*FORMATS, "baskets"):
        return []
    counted = ((name, sum(map(like_formula, set(values)))) for name, values in columns)
    return [caution(name, times) for name, times in counted if times]


def caution(name: str, times: int) -> str:
    many = f"{times} different values begin" if times > 1 else "1 value begins"
    return f"{name}: {many} like a formula; a spreadsheet may run it: import the column as text"


def complaints(evidence: Evidence, found: Iterable[str]) -> list[str]:
    """Cautions that the data gives cause for and the evidence does not say."""
    return [f"cautions: is not said: {one}" for one in found if one not in evidence.cautions]


def bare(policy: Terms, found: Iterable[str]) -> list[str]:
    """Complaints where such cells are there although the policy says that they are escaped."""
    if policy.formulas is not Formulas.ESCAPED:
        return []
    return [f'{one.partition(";")[0]}, and the policy says formulas = "escaped"' for one in found]
