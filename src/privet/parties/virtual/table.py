"""A site's part of a virtual database: the boxes that all know, and its own rows under them.

The rows of one site need not be k-anonymous by themselves: they never leave but in a union.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from privet import jsonvalue
from privet.errors import InputError
from privet.parties.primitives.extremes import Ints
from privet.parties.primitives.union import shuffled
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.growing import Grown, groups_of

VERSION = 1


@dataclass(frozen=True)
class LocalTable:
    """What a site keeps."""

    low: Ints = field(repr=False)  # leaves x columns
    high: Ints = field(repr=False)
    sizes: Ints = field(repr=False)  # records of all sites
    leaf: Ints = field(repr=False)  # by row of this site
    sensitive: Ints = field(repr=False)  # rows x columns

    @classmethod
    def of(cls, grown: Grown, sensitive: Ints) -> Self:
        """The rows under their boxes, in an order that tells nothing."""
        order = shuffled(np.arange(len(grown.leaf)))
        return cls(grown.low, grown.high, grown.sizes, grown.leaf[order], sensitive[order])

    def classes(self) -> Ints:
        """By leaf the number of its group."""
        return groups_of(self.low, self.high)

    def boxes(self, contract: DatabaseContract) -> str:
        """What all sites know alike, as CSV: every box and how many records it has."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow([*contract.quasi, "records"])
        rows.writerows([*self.label(at, contract), int(size)] for at, size in enumerate(self.sizes))
        return text.getvalue()

    def label(self, leaf: int, contract: DatabaseContract) -> list[str]:
        """A box as it is published: a value, or the two ends of a range."""
        found = []
        for values, low, high in zip(contract.quasi.values(), self.low[leaf], self.high[leaf], strict=True):
            first, last = str(values[low]), str(values[high])
            found.append(first if low == high else f"{first}..{last}")
        return found

    def to_bytes(self) -> bytes:
        named = {name: getattr(self, name).tolist() for name in ("low", "high", "sizes", "leaf", "sensitive")}
        return json.dumps({"table": VERSION, **named}, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, text: bytes, contract: DatabaseContract) -> Self:
        """A kept table; whatever does not fit the contract is refused."""
        columns = {
            "low": len(contract.quasi),
            "high": len(contract.quasi),
            "sensitive": len(contract.sensitive),
        }
        try:
            said = jsonvalue.loads(text.decode())
            found = {
                name: np.array(said[name], dtype=np.int64).reshape(
                    (len(said[name]), columns[name]) if name in columns else (len(said[name]),)
                )
                for name in ("low", "high", "sizes", "leaf", "sensitive")
            }
        except (ValueError, KeyError, TypeError, OverflowError):
            found = {}
        if not found or not _fits(found, contract):
            raise InputError("this site's part of the virtual database is gone or damaged; make it anew")
        return cls(**found)


def _fits(found: Mapping[str, Ints], contract: DatabaseContract) -> bool:
    """Do all rows lie in boxes that there are, with values that there are?"""
    leaf, sensitive, boxes = found["leaf"], found["sensitive"], len(found["low"])
    sizes = [len(values) for values in contract.sensitive.values()]
    return (
        {len(found["high"]), len(found["sizes"])} == {boxes}
        and len(leaf) == len(sensitive)
        and not ((leaf < 0) | (leaf >= boxes)).any()
        and not ((sensitive < 0) | (sensitive >= sizes)).any()
    )


def rows_as_csv(rows: Iterable[tuple[str, ...]], columns: list[str]) -> str:
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerow(columns)
    written.writerows(rows)
    return text.getvalue()
