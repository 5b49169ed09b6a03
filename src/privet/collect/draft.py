"""A first collect.toml from the names of columns. What answers may be is left for the collector to decide.

Domains are what everybody knows before anybody has answered. Taken from answers, the largest one would be
told by its own bound; so a draft has names, and a guess which of them are numbers, and nothing is decided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from privet.collect.cells import csv_blocks, json_blocks
from privet.collect.numerals import answered
from privet.collect.source import Source
from privet.errors import InputError

LOOKED_AT = 1_000  # records, to guess which columns are numbers

HEAD = """collect = 1
purpose = "…"                    # what respondents are told
# budget = 4                     # the most epsilon that one respondent's ledger lets out over all rounds

# One table for each question. Decide each mechanism, and say what answers may be from what everybody knows:
# never look into data for it. What the plan does not name is never sent. `privet collect show` says what
# each column hides.
#   numbers:    laplace (epsilon), gaussian (sigma), uniform (half_width); the last two have no finite epsilon
#   categories: randomised-response (two values), k-randomised-response (several), unary and optimised-unary
#               (many), each with epsilon; randomised responses may say truth = "3/4" instead
#   both:       as-is, for what is not a secret
"""

NUMBER = """
[columns.{name}]
type = "number"
low = 0
high = 100
step = 1                         # answers are rounded to steps; a coarser one is quicker and hides as well
mechanism = "undecided"
epsilon = 1
"""

CATEGORY = """
[columns.{name}]
type = "category"
values = ["…", "no answer"]      # every answer that there can be
mechanism = "undecided"
epsilon = 1
# missing = "no answer"          # the value that stands for no answer
"""


def drafted(columns: Mapping[str, bool]) -> str:
    """The text of a plan in which nothing is decided; `columns` says of each whether it is a number."""
    tables = [(NUMBER if number else CATEGORY).format(name=json.dumps(name, ensure_ascii=False))
              for name, number in columns.items()]  # fmt: skip
    return HEAD + "".join(tables)


def columns_of(source: Source) -> dict[str, bool]:
    """The names of columns, and whether what stands in them are numbers."""
    if source.lines:
        return _of_lines(source)
    names: list[str] = []

    def every(header: Sequence[str]) -> Sequence[str]:
        names.extend(header)
        return header

    blocks = list(islice(csv_blocks(source.bytes, every, source.delimiter), 1))
    columns: Mapping[str, Sequence[Any]] = blocks[0].columns if blocks else dict.fromkeys(names, ())
    return {name: _numeric(columns[name]) for name in names}


def _of_lines(source: Source) -> dict[str, bool]:
    def record(document: Any, number: int) -> Mapping[str, Any]:
        if not isinstance(document, dict):
            raise InputError(f"record {number:,}: is not an object")
        return {"record": document}

    blocks = list(islice(json_blocks(source.bytes, record), 1))
    found: dict[str, list[Any]] = {}
    for document in blocks[0].columns["record"] if blocks else ():
        for name, value in document.items():
            found.setdefault(str(name), []).append(value)
    return {name: _numeric(values) for name, values in found.items()}


def _numeric(cells: Sequence[Any]) -> bool:
    there = [cell for cell in cells[:LOOKED_AT] if cell is not None and str(cell).strip()]
    return bool(there) and all(answered(cell) is not None for cell in there)
