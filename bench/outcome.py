"""What a benchmark returns: tables to read, curves to look at, and the same numbers as JSON."""

from __future__ import annotations

import csv
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from bench.curves import Chart, drawn

OUT = Path(__file__).resolve().parent / "out"

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads. A head says how its numbers are written; None stands for a dash."""

    title: str
    heads: Mapping[str, str]  # head: format, such as ".2f"
    rows: Sequence[Sequence[Cell]]

    def lines(self) -> list[str]:
        """
        >>> Table("errands", {"what": "", "s": ".1f"}, [["shop", 2.04], ["bank", None]]).lines()
        ['errands', '  what    s', '  shop  2.0', '  bank    -']
        """
        cells = [list(self.heads), *([self._text(*cell) for cell in self._pairs(row)] for row in self.rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.heads))]
        right = [form != "" for form in self.heads.values()]
        shown = [self.title]
        for row in cells:
            padded = [
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, right, strict=True)
            ]
            shown.append(("  " + "  ".join(padded)).rstrip())
        return shown

    def _pairs(self, row: Sequence[Cell]) -> list[tuple[Cell, str]]:
        return list(zip(row, self.heads.values(), strict=True))

    @staticmethod
    def _text(cell: Cell, form: str) -> str:
        if cell is None:
            return "-"
        return cell if isinstance(cell, str) else format(cell, form)

    def document(self) -> dict[str, object]:
        return {"title": self.title, "rows": [dict(zip(self.heads, row, strict=True)) for row in self.rows]}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured, against what, and what came out."""

    name: str
    title: str
    against: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    charts: Mapping[str, Chart] | None = None

    def lines(self) -> list[str]:
        shown = ["", self.title, "=" * len(self.title), self.against]
        for table in self.tables:
            shown += ["", *table.lines()]
        return [*shown, *([""] if self.notes else []), *(f"* {note}" for note in self.notes)]

    def write(self, folder: Path = OUT) -> list[Path]:
        """NAME.json, the tables as NAME-TABLE.csv, and one SVG for each chart."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "benchmark": self.name,
            "title": self.title,
            "against": self.against,
            "machine": machine(),
            "tables": [table.document() for table in self.tables],
            "notes": list(self.notes),
        }
        written = [folder / f"{self.name}.json"]
        written[0].write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for table in self.tables:
            plain = "-".join(re.findall(r"[a-z0-9]+", table.title.lower())[:6])
            written.append(folder / f"{self.name}-{plain}.csv")
            with written[-1].open("w", encoding="utf-8", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([list(table.heads), *table.rows])
        for name, chart in (self.charts or {}).items():
            written.append(folder / f"{name}.svg")
            written[-1].write_text(drawn(chart), encoding="utf-8")
        return written


def machine() -> dict[str, str | int | None]:
    """What the figures depend on."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("privet", "polars", "numpy")},
    }


def rated(ratio: float, most: float, unit: str = "x") -> str:
    """A target beside what was reached.

    >>> rated(4.2, 8), rated(9, 8)
    ('<= 8x: met', '<= 8x: MISSED')
    """
    return f"<= {most:g}{unit}: {'met' if ratio <= most else 'MISSED'}"
