"""A first policy for set-valued data: a guess at where the sets are, and no promise yet."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from privet.core import Form
from privet.engines import text
from privet.engines.transactions import lines
from privet.errors import InputError

SOME = 200  # lines or rows that are looked at
SEPARATORS = (";", "|", ",", " ")
SETS = "items basket products diagnoses codes tags pages genres set"
PERSONS = "person customer patient user visitor member order invoice basket transaction session id"
ITEMS = "item product article page diagnosis code sku title movie"

PROMISES = """\
# What is promised: rules that nobody finds, or km-anonymity. Decide, and take the "#" away.
#
# [[hide]]
# antecedent = [ ]                            # what the rule is about, a list of items
# consequent = [ ]                            # what follows from it; or itemset = [ ] instead of both
# support =                                   # from when on it is seen: records, or a share in quotes
# confidence =                                # and a share of the records with the antecedent, in quotes
#
# [[models]]
# type = "km-anonymity"
# m =                                         # how many items of a person an adversary may know
# k =                                         # how many records have any such items, at least"""


def guess(path: Path, form: Form) -> dict[str, str]:
    """The table [transactions] as it may be: lines of baskets, a column of sets, or rows of items.

    Names and separators only: no value of the data.
    """
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if text.FORMATS.get(suffix.lower()) in {"json", "jsonl", "parquet", "arrow"}:
        return {"form": "column", "set": "COLUMN"}
    some = _lines(path, form)
    separator = next((one for one in SEPARATORS if one in some[0]), ",")
    rows = list(csv.reader(some, delimiter=separator))
    if len({len(row) for row in rows}) > 1 or len(rows[0]) == 1:
        return {"form": "baskets", "separator": separator}
    names = [name.strip() for name in rows[0]]
    for at, name in enumerate(names):
        held = [row[at] for row in rows[1:] if row[at]]
        for mark in SEPARATORS:
            if mark != separator and held and sum(mark in value for value in held) * 2 > len(held):
                return {"form": "column", "set": name, "separator": mark}
    person, item = _named(names, PERSONS), _named(names, ITEMS)
    if person is not None and item is not None and person != item:
        return {"form": "items", "person": person, "item": item}
    column = _named(names, SETS)
    return (
        {"form": "baskets", "separator": separator} if column is None else {"form": "column", "set": column}
    )


def drafted(path: Path, found: dict[str, str]) -> str:
    """The draft as a policy file; it refuses to publish until something is promised."""
    made = [
        f"# Drafted by privet from {json.dumps(path.name)}. Nothing is promised: `privet publish` refuses.",
        "policy = 1",
        'kind = "transactions"',
        "",
        '# Where the sets are, a guess: form = "column" (set), "items" (person, item) or "baskets" (lines).',
        "[transactions]",
        *(f"{key} = {json.dumps(value)}" for key, value in found.items()),
        '# hierarchy = { type = "csv", path = "items.csv" }   # what stands above the items',
        "",
        "# What leaves beside the sets; columns that are not named are never published.",
        "# [attributes]",
        '# COLUMN = { role = "quasi" }',
        "",
        PROMISES,
    ]
    return "\n".join(made) + "\n"


def _lines(path: Path, form: Form) -> list[str]:
    try:
        with lines.opened(path, form) as file:
            found = [line.rstrip("\r\n") for line, _ in zip(file, range(SOME), strict=False)]
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text in {form.encoding}; say --encoding") from None
    except OSError:
        raise InputError(f"{path}: no such file, or it cannot be read") from None
    if not found:
        raise InputError(f"{path}: the data has not one record")
    return found


def _named(names: list[str], words: str) -> str | None:
    wanted = words.split()
    return next(
        (name for word in wanted for name in names if word in re.split(r"[^a-z]+", name.lower())), None
    )
