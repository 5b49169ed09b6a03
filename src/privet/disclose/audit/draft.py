"""A first audit.toml from the columns of a table. It reads names and types, and never a value.

Bounds are facts that everybody knows already. Taken from the data, the largest value would be told by the
bound itself; so a draft proposes columns that look like bounds, and no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LOW = ("low", "lower", "min", "minimum", "floor")
HIGH = ("high", "upper", "max", "maximum", "cap", "ceiling")

HEAD = """audit = 1
table = {table}
person = {person}                # names each person once
public = [{public}]              # columns that conditions may use; everybody is taken to know them: take out
                                 # what not everybody may know
smallest = 2                     # fewer people than this are never asked about
rate = 60                        # requests a minute, for each analyst
# witness = "…"                  # a file on another disk, which tells if an older copy of the log is put back

# One table for each column that is audited; delete the others. kind = "sum" answers SUM, AVG and COUNT and
# needs public bounds and the width that is protected; kind = "max" or "min" answers that and COUNT, and has
# bounds where there are public ones. One kind for a column: a sum and a maximum together would tell more than
# each alone. Bounds are what everybody knows without the data. Never take them from the data: the largest
# value would be told by its own bound. A sum of whole numbers needs grid.
"""


def bound_columns(name: str, columns: Iterable[str]) -> tuple[str, str] | None:
    """Two columns that look like everybody's own bounds of this one, by their names.

    >>> bound_columns("salary", ["id", "salary", "salary_min", "salary_max"])
    ('salary_min', 'salary_max')
    >>> bound_columns("pay", ["pay", "LowPay", "upper pay"])
    ('LowPay', 'upper pay')
    >>> bound_columns("age", ["age", "max_age"]) is None
    True
    """
    words = {column: _words(column) for column in columns if column != name}
    found = []
    for ends in (LOW, HIGH):
        fits = [
            column
            for column, said in words.items()
            if any(said in ([*_words(name), end], [end, *_words(name)]) for end in ends)
        ]
        if len(fits) != 1:
            return None
        found.append(fits[0])
    return found[0], found[1]


def _words(name: str) -> list[str]:
    """The words of a name, however they are joined."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())


def drafted(
    table: str,
    person: str,
    public: list[str],
    numbers: Mapping[str, bool],
    bounds: Mapping[str, tuple[str, str]],
) -> str:
    """Nothing is decided, so that nothing can be served before the owner decides.

    `numbers` are the columns of numbers, and whether they are whole; `bounds` what looks like their bounds.
    """
    text = HEAD.format(
        table=_quoted(table), person=_quoted(person), public=", ".join(_quoted(name) for name in public)
    )
    for name, whole in numbers.items():
        text += f'\n[columns.{_quoted(name)}]\nkind = "undecided"\n'
        if name in bounds:
            low, high = (_quoted(column) for column in bounds[name])
            text += f"# low = {{ column = {low} }}  # everybody's own, if everybody may know this column\n"
            text += f"# high = {{ column = {high} }}\n# width = 1\n"
        else:
            text += "# low = 0\n# high = 100\n# width = 1\n"
        if whole:
            text += (
                "# grid = 1                       # everybody knows that these are whole; 0: nobody does\n"
            )
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
