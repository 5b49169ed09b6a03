"""Hierarchical anatomy: `run` from JSON to JSON with its audit, `figures` the experiments of the source.

Ozalp (2017), section 3.5, says neither which rules were used nor how many queries; here every value has the
same (m, p), and other sets of rules are reported beside. Nothing that the source claims is taken for granted.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from bench.child import scratch
from bench.outcome import Cell, Outcome, Table, rated
from privet.document.anatomy import Anatomize, Grouping
from privet.document.anatomy_audit import audit
from privet.document.anatomy_measure import suppression_accuracy
from privet.document.anatomy_rules import Rule, Rules
from privet.document.described import described
from privet.document.forest import Forest, Vertex
from privet.document.publication import publish
from privet.document.style import Style
from privet.engines.documents import publication_files
from privet.engines.documents.files import Documents
from privet.errors import InputError
from privet.samples.transcripts import schema, transcripts

MOST = 30  # seconds at most for one search over 1,000 students
STAGES = ("read", "encode", "search", "publish", "write", "audit")
NAMES = {
    "": "no rules",
    "*": "every value",
    "grade": "grades",
    "often": "most frequent grade",
    "rare": "rare grades",
}


@dataclass(frozen=True)
class Students:
    """Transcripts as trees and as a forest."""

    rows: int
    seed: int = 0

    @cached_property
    def file(self) -> str:
        return json.dumps(list(transcripts(self.rows, self.seed)))

    @cached_property
    def documents(self) -> Documents:
        with scratch() as folder:
            path = folder / "students.json"
            path.write_text(self.file, encoding="utf-8")
            found = Documents(path, described(schema()))
            self.__dict__["records"] = list(found)
        return found

    @cached_property
    def records(self) -> list[Vertex]:
        self.documents  # noqa: B018 - reads them
        read: list[Vertex] = self.__dict__["records"]
        return read

    @cached_property
    def forest(self) -> Forest:
        return Forest.of(described(schema()), self.records)

    def rules(self, which: str, m: int, p: Fraction) -> Rules:
        """One of the sets of rules in NAMES."""
        grades = Counter(v.values[1] for record in self.records for v in record.children)
        ordered = [str(grade) for grade, _ in grades.most_common()]
        few: dict[str, Sequence[str]] = {"often": ordered[:1], "rare": ordered[-3:]}
        if not which:
            return Rules()
        if which == "*":
            return Rules((Rule("*", m, p),))
        if which == "grade":
            return Rules((Rule("*", m, p, "grade"),))
        return Rules(tuple(Rule(grade, m, p, "grade") for grade in few[which]))

    def accuracy(self, how: Anatomize) -> float:
        return 100 * float(suppression_accuracy(how.search(self.forest)))


def run(*, full: bool) -> Outcome:
    cases = [(3, style, which) for style in Style for which in ("", "*")]
    if full:
        cases += [(l, style, which) for l in (2, 4, 5) for style in Style for which in ("", "*", "grade")]
    students = Students(1000)
    rows = [measured(students, l, style, which) for l, style, which in cases]
    heads = {"l": "d", "style": "", "rules": "", **{f"{s} s": ".2f" for s in STAGES}}
    heads |= {"kept": ".1f", "suppressed": "d", "file MB": ".1f", "target": ""}
    tables = [Table("1,000 students", heads, rows)]
    if full:
        large = Students(5000)
        tables.append(Table("5,000 students", heads, [measured(large, 3, s, "", 25 * MOST) for s in Style]))
    return Outcome(
        "anatomy",
        "Trees in two halves: JSON to JSON",
        f"{students.forest.vertices:,} vertices in 1,000 records. `kept` is suppression accuracy in percent; "
        "rules are (m = 3, p = 1/2). The source took minutes; the target is for the search alone.",
        tuple(tables),
    )


def measured(students: Students, l: int, style: Style, which: str, most: float = MOST) -> list[Cell]:
    seconds: dict[str, float] = {}

    def timed(stage: str, do: Callable[[], object]) -> object:
        begun = time.perf_counter()
        made = do()
        seconds[stage] = time.perf_counter() - begun
        return made

    rules = students.rules(which, 3, Fraction(1, 2))
    with scratch() as folder:
        path, out = folder / "students.json", folder / "out.json"
        path.write_text(students.file, encoding="utf-8")
        documents = Documents(path, described(schema()))
        records = timed("read", lambda: list(documents))
        assert isinstance(records, list)
        forest = timed("encode", lambda: Forest.of(documents.schema, records))
        assert isinstance(forest, Forest)
        found = timed("search", lambda: Anatomize(l, rules, style).search(forest))
        assert isinstance(found, Grouping)
        made = timed("publish", lambda: publish(found)[0])
        timed("write", lambda: publication_files.write(made, out, documents.shape))  # type: ignore[arg-type]
        timed("audit", lambda: checked(out, documents, l, rules))
        size = out.stat().st_size / 1e6
    return [
        l,
        style.value,
        NAMES[which],
        *(seconds[stage] for stage in STAGES),
        100 * float(suppression_accuracy(found)),
        len(found.suppressed),
        size,
        rated(seconds["search"], most, " s"),
    ]


def checked(path: Path, documents: Documents, l: int, rules: Rules) -> None:
    told = audit(publication_files.read(path, documents.schema), l, rules)
    if not told.holds:
        raise InputError(f"what was written does not keep its promise in {len(told.findings)} places")
