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
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random

from bench.child import scratch
from bench.outcome import Cell, Outcome, Table, rated
from privet.document import publication_files
from privet.document.anatomy import Anatomize, Grouping
from privet.document.anatomy_audit import audit
from privet.document.anatomy_measure import query_accuracy, suppression_accuracy
from privet.document.anatomy_merge import Style
from privet.document.anatomy_rules import Rule, Rules
from privet.document.described import described
from privet.document.estimate import Estimator
from privet.document.files import Documents
from privet.document.forest import Forest, Vertex
from privet.document.publication import publish
from privet.document.query import Between, Condition, Query, Step, count
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


# ---- the experiments

LS = (2, 3, 4)
PS = ("1/4", "1/2", "3/4", "1")
MS = (1, 2, 3, 4, 5)


def figures(*, full: bool) -> Outcome:
    students = Students(1000 if full else 120)
    tables = [
        suppressed(students, "3.5: m = 3", [(l, 3, p) for l in LS for p in PS], full=full),
        suppressed(students, "3.6: p = 3/4", [(l, m, "3/4") for l in LS for m in MS], full=full),
        suppressed(students, "3.7: l = 3", [(3, m, p) for p in PS for m in (1, 3, 5)], full=full),
        families(students, 100 if full else 20),
        partitions(students),
    ]
    return Outcome(
        "anatomy-figures",
        f"figures 3.5 to 3.16: {len(students.records):,} students",
        "Suppression accuracy and query accuracy in percent, t-t and v-v; uniform rules unless named. The "
        "source claims v-v above t-t for p < 1; compare.",
        tuple(tables),
    )


def suppressed(
    students: Students, title: str, settings: Sequence[tuple[int, int, str]], *, full: bool
) -> Table:
    sets = ["*", "grade", "often", "rare"] if full else ["*", "grade"]
    heads = {"l": "d", "m": "d", "p": ""}
    heads |= {f"{NAMES[which]} {style.value}": ".1f" for which in sets for style in Style}
    rows: list[list[Cell]] = []
    for l, m, p in settings:
        row: list[Cell] = [l, m, p]
        for which in sets:
            rules = students.rules(which, m, Fraction(p))
            row += [students.accuracy(Anatomize(l, rules, style)) for style in Style]
        rows.append(row)
    return Table(f"suppression accuracy, {title}", heads, rows)


def partitions(students: Students) -> Table:
    rows: list[list[Cell]] = []
    for style in Style:
        base: tuple[float, float] | None = None
        for parts in (1, 2, 5, 10):
            how = Anatomize(2, students.rules("*", 3, Fraction(3, 4)), style, parts)
            students.forest.children  # noqa: B018 - computed once, not in the time of the first
            begun = time.perf_counter()
            kept = students.accuracy(how)
            spent = time.perf_counter() - begun
            base = base or (kept, spent)
            rows.append([style.value, parts, kept, kept - base[0], spent, spent / base[1]])
    heads = {"style": "", "parts": "d", "kept": ".1f", "change": ".1f", "s": ".2f", "of one part": ".2f"}
    return Table("3.15, 3.16: parts (l = 2, m = 3, p = 3/4)", heads, rows)


def families(students: Students, asked: int) -> Table:
    """Figures 3.11 to 3.13: ten families of queries, the deeper the later."""
    rows: list[list[Cell]] = []
    settings = [(l, 2, p) for l, p in ((2, "0.5"), (3, "0.33"), (4, "0.25"))] + [(2, 1, "1"), (3, 1, "1")]
    forest = students.forest
    questions = {
        name: chosen(students, make, asked) for name, make in sorted(FAMILIES.items(), key=lambda kv: kv[0])
    }
    for l, m, p in settings:
        estimators = [
            Estimator(
                publish(Anatomize(l, students.rules("*", m, Fraction(p)), style).search(forest), Random(0))[0]
            )
            for style in Style
        ]
        for name, found in questions.items():
            row: list[Cell] = [l, m, p, name, len(found)]
            for estimator in estimators:
                told = query_accuracy([(true, float(estimator.expected(q))) for q, true in found])
                row.append(100 * told.clipped)
            rows.append(row)
    heads = {"l": "d", "m": "d", "p": "", "family": "", "queries": "d", "t-t": ".1f", "v-v": ".1f"}
    return Table("3.8, 3.11 to 3.13: query accuracy by family (negative terms as 0)", heads, rows)


def chosen(
    students: Students, make: Callable[[Vertex, Random], Query], asked: int
) -> list[tuple[Query, int]]:
    """Questions about things that occur, with at least five people to count."""
    random = Random(7)
    found: list[tuple[Query, int]] = []
    for _ in range(asked * 20):
        query = make(random.choice(students.records), random)
        true = count(query, students.records, students.forest.schema)
        if true >= 5:
            found.append((query, true))
        if len(found) == asked:
            break
    return found


def one(vertex: Vertex, at: int) -> Condition:
    return frozenset([vertex.values[at]])


def near(vertex: Vertex, at: int, width: str) -> Condition:
    low = Decimal(str(vertex.values[at])) // Decimal(width) * Decimal(width)
    return Between(low, low + Decimal(width))


def course_of(person: Vertex, random: Random) -> Vertex:
    return random.choice(person.children)


def read_of(person: Vertex, random: Random) -> tuple[Vertex, Vertex]:
    """A course with a book."""
    with_books: list[tuple[Vertex, Vertex]] = [(c, b) for c in person.children for b in c.children]
    return random.choice(with_books)


def _person(where: dict[str, Condition], *below: Step) -> Query:
    return Query(Step("student", where, below))


def _department(person: Vertex, random: Random) -> Query:
    course = course_of(person, random)
    letters = str(course.values[0]).rstrip("0123456789")
    same = frozenset(c.values[0] for c in person.children if str(c.values[0]).startswith(letters))
    grades = frozenset([course.values[1], course_of(person, random).values[1]])
    return _person({}, Step("course", {"course": same, "grade": grades}))


def _with_book(person: Vertex, random: Random, *, graded: bool) -> Query:
    course, book = read_of(person, random)
    where = {"course": one(course, 0), **({"grade": one(course, 1)} if graded else {})}
    return _person({}, Step("course", where, (Step("book", {"title": one(book, 0)}),)))


def _title(person: Vertex, random: Random) -> Query:
    _, book = read_of(person, random)
    return _person({}, Step("course", {}, (Step("book", {"title": one(book, 0)}),)))


FAMILIES: dict[str, Callable[[Vertex, Random], Query]] = {
    "01 root QI": lambda v, _: _person({"yob": one(v, 1)}),
    "02 root SA": lambda v, _: _person({"gpa": near(v, 2, "0.25")}),
    "03 root QI and SA": lambda v, _: _person({"yob": one(v, 1), "gpa": near(v, 2, "0.5")}),
    "04 course": lambda v, r: _person({}, Step("course", {"course": one(course_of(v, r), 0)})),
    "05 grade": lambda v, r: _person({}, Step("course", {"grade": one(course_of(v, r), 1)})),
    "06 grades in a department": _department,
    "07 root QI and course": lambda v, r: _person(
        {"yob": one(v, 1)}, Step("course", {"course": one(course_of(v, r), 0)})
    ),
    "08 book": _title,
    "09 course and book": lambda v, r: _with_book(v, r, graded=False),
    "10 course, grade and book": lambda v, r: _with_book(v, r, graded=True),
}
