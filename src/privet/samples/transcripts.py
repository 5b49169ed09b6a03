"""Students who never studied: a transcript with courses, and the books bought for them.

Shaped like the synthetic data of Ozalp (2017), section 2.4, which says its sizes and rules and not its
numbers: every student takes all obligatory courses, some of the core pool and a few electives; a grade
follows the student's average and the kind of the course; up to two books are bought for a course.

    transcripts         student (major, yob | gpa) → course (id | grade) → book (title | price)
    transcripts-years   the same with the college year between student and course
    transcripts-sparse  student (yob | gpa) → course (id | grade), 5,000 courses, many taken by very few
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from privet.errors import InputError
from privet.samples.draw import Floats, Ints, bell, generator, pick, spread, tenths, whole

Record: TypeAlias = dict[str, Any]

BLOCK = 2_048  # students drawn at once: memory stays the same however many there are
MAJOR = "Computer Science"
OBLIGATORY = tuple(
    "CS201 CS204 CS300 CS301 CS302 CS303 CS305 CS306 MATH101 MATH203".split()  # noqa: SIM905 - reads as a list
)
CORE = tuple("CS307 CS308 CS310 CS401 CS402 CS404 CS405 CS406 EE202 EE310 MATH204 MATH306".split())  # noqa: SIM905
ELECTIVE = tuple(
    (  # noqa: SIM905
        "CS408 CS411 CS412 CS415 CS418 CS419 CS425 CS432 CS437 CS442 CS445 CS449 EE302 EE311 EE407 EE410 "
        "EE417 IE301 IE302 IE401 IE403 MATH301 MATH401 MATH402 BIO301"
    ).split()
)
COURSES = OBLIGATORY + CORE + ELECTIVE
PREREQUISITES = {  # course: what must be taken before it
    **dict.fromkeys(("CS204", "CS300", "CS302"), "CS201"),
    **dict.fromkeys(("CS301", "CS305", "CS306", "CS307", "CS308", "CS310"), "CS204"),
    **dict.fromkeys(("CS401", "CS404", "CS412", "CS415"), "CS300"),
    **dict.fromkeys(("CS411", "CS437", "CS445"), "CS306"),
    **dict.fromkeys(("MATH203", "MATH204", "MATH301", "MATH306"), "MATH101"),
    **dict.fromkeys(("EE302", "EE311", "EE407", "EE410", "EE417"), "EE202"),
}
GRADES = ("A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "F")
POINTS = (4.0, 3.7, 3.3, 3.0, 2.7, 2.3, 2.0, 1.7, 1.3, 1.0, 0.0)
YEARS = ("freshman", "sophomore", "junior", "senior")
TITLES = ("{} in Theory", "{} in Practice", "Problems in {}")
BIRTHS = range(1986, 1996)
AVERAGE, DEVIATION, LOWEST, HIGHEST = 2.95, 0.45, 1.6, 4.0


def transcripts(
    rows: int, seed: int, *, core: int = 5, electives: tuple[int, int] = (3, 7), books: int = 2
) -> Iterator[Record]:
    """About 41 vertices a student: 1,000 students are the data set that the paper calls syntheticS."""
    for student, taken in _students(rows, seed, core, electives, books):
        yield {**student, "courses": [course for _, course in taken]}


def transcripts_years(
    rows: int, seed: int, *, core: int = 5, electives: tuple[int, int] = (3, 7), books: int = 2
) -> Iterator[Record]:
    """The same courses below the college year they were taken in: syntheticT."""
    for student, taken in _students(rows, seed, core, electives, books):
        years: dict[int, list[Record]] = {}
        for year, course in taken:
            years.setdefault(year, []).append(course)
        below = [{"year": YEARS[year], "courses": years[year]} for year in sorted(years)]
        yield {**student, "years": below}


def _students(
    rows: int, seed: int, core: int, electives: tuple[int, int], books: int
) -> Iterator[tuple[Record, list[tuple[int, Record]]]]:
    """Each student with the courses in the order of the catalogue, and the year of each."""
    if not (
        0 <= core <= len(CORE) and 0 <= electives[0] <= electives[1] <= len(ELECTIVE) and 0 <= books <= 3
    ):
        raise InputError(f"at most {len(CORE)} core courses, {len(ELECTIVE)} electives and 3 books a course")
    rng = generator(rows, seed)
    base = 20 + 100 * rng.random(len(COURSES))  # what books for a course cost
    births = np.arange(rows) % len(BIRTHS)  # equal numbers graduate each year
    births = births[rng.random(rows).argsort()]
    for begin in range(0, rows, BLOCK):
        size = min(BLOCK, rows - begin)
        gpa = _average(rng, size)
        taken = _taken(rng, size, core, electives)
        grade = _grade(rng, gpa, taken)
        bought = np.minimum((rng.random(taken.shape) * (books + 1)).astype(np.int64), books)
        order = rng.random((*taken.shape, len(TITLES))).argsort(axis=2)  # which titles, if any
        price = np.round(base[None, :, None] * (0.4 + 0.7 * rng.random(order.shape)), 2)
        year = _year(rng, taken)
        for row in range(size):
            student = {
                "id": f"S{begin + row:06d}",
                "major": MAJOR,
                "yob": BIRTHS[births[begin + row]],
                "gpa": float(gpa[row]),
            }
            courses = []
            for at in np.flatnonzero(taken[row]):
                name = COURSES[at]
                course: Record = {"course": name, "grade": GRADES[grade[row, at]]}
                if bought[row, at]:
                    course["books"] = [
                        {"title": TITLES[title].format(name), "price": float(price[row, at, title])}
                        for title in order[row, at, : bought[row, at]]
                    ]
                courses.append((int(year[row, at]), course))
            yield student, courses


def _average(rng: np.random.Generator, size: int) -> Floats:
    return np.clip(AVERAGE + DEVIATION * bell(rng, size), LOWEST, HIGHEST).round(2).astype(np.float64)


def _taken(rng: np.random.Generator, size: int, core: int, electives: tuple[int, int]) -> Ints:
    """Which courses each student takes, as a table of zeros and ones."""
    low, high = electives
    wanted = np.minimum(low + (rng.random(size) * (high - low + 1)).astype(np.int64), high)
    from_core = rng.random((size, len(CORE))).argsort(axis=1).argsort(axis=1) < core
    chosen = rng.random((size, len(ELECTIVE))).argsort(axis=1).argsort(axis=1) < wanted[:, None]
    return np.hstack([np.ones((size, len(OBLIGATORY)), bool), from_core, chosen]).astype(np.int8)


def _grade(rng: np.random.Generator, gpa: Floats, taken: Ints) -> Ints:
    """The grade nearest to the student's average: obligatory courses go a little better than others."""
    kind = np.where(np.arange(len(COURSES)) < len(OBLIGATORY), 0.2, -0.1)
    luck = bell(rng, taken.size).reshape(taken.shape)
    points = gpa[:, None] + kind + 0.5 * luck
    nearest: Ints = np.abs(points[:, :, None] - np.array(POINTS)).argmin(axis=2)
    return nearest


def _year(rng: np.random.Generator, taken: Ints) -> Ints:
    """When a course is taken: in its usual year, earlier or later; what others build on is never late."""
    usual = np.array([int(course.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[0]) - 1 for course in COURSES])
    moved = pick(rng, taken.size, (0.1, 0.7, 0.2)).reshape(taken.shape) - 1
    needed = np.zeros(taken.shape, dtype=bool)
    for course, before in PREREQUISITES.items():
        needed[:, COURSES.index(before)] |= taken[:, COURSES.index(course)] > 0
    moved = np.where(needed, np.minimum(moved, 0), moved)
    return np.clip(usual + moved, 0, len(YEARS) - 1)


def transcripts_sparse(
    rows: int, seed: int, *, courses: int = 5_000, departments: int = 60, most: int = 70
) -> Iterator[Record]:
    """Students of a whole university: 3,162 of them stand in for data that nobody published.

    The n-th course is 1/n as popular as the first; some students took one or two courses, others 70.
    """
    if not (courses >= 1 and 1 <= departments <= 26 * 26 and most >= 1):
        raise InputError("at least one course and one department, and at most 676 departments")
    rng = generator(rows, seed)
    names = catalogue(courses, departments)
    popular = 1 / (1 + rng.random(courses).argsort().argsort())
    for begin in range(0, rows, BLOCK):
        size = min(BLOCK, rows - begin)
        gpa = _average(rng, size)
        birth = (rng.random(size) * len(BIRTHS)).astype(np.int64)
        shares, counts = (0, 0.08, 0.3, 0.6, 0.85, 0.95, 1), (1, 2.5, 12, 30, 45, 58, 70)
        wanted = whole(spread(rng, size, shares, counts), 1, most)
        tries = 4 * wanted + 20  # the popular ones come again and again
        drawn = pick(rng, int(tries.sum()), popular.tolist())
        luck = np.split(bell(rng, len(drawn)), np.cumsum(tries)[:-1])
        for row, some in enumerate(np.split(drawn, np.cumsum(tries)[:-1])):
            different = list(dict.fromkeys(some.tolist()))[: wanted[row]]
            points = tenths(gpa[row] + 0.5 * luck[row][: len(different)])
            nearest = np.abs(points[:, None] - np.array(POINTS)).argmin(axis=1)
            yield {
                "id": f"S{begin + row:06d}",
                "yob": BIRTHS[birth[row]],
                "gpa": float(gpa[row]),
                "courses": [
                    {"course": names[at], "grade": GRADES[grade]}
                    for at, grade in zip(different, nearest, strict=True)
                ],
            }


def catalogue(courses: int, departments: int) -> list[str]:
    """Course ids over departments and the levels 1 to 5, as evenly as they divide."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    prefix = [f"{letters[at // 26]}{letters[at % 26]}" for at in range(departments)]
    return [
        f"{prefix[at % departments]}{1 + at // departments % 5}{at // departments // 5:02d}"
        for at in range(courses)
    ]


def hierarchies(*, sparse: bool = False) -> Mapping[str, Any]:
    """The trees over courses, titles and majors, nested: inner nodes are keys, leaves stand in lists."""
    ids = catalogue(5_000, 60) if sparse else list(COURSES)
    course: dict[str, dict[str, list[str]]] = {}
    title: dict[str, dict[str, list[str]]] = {}
    for name in ids:
        department = name.rstrip("0123456789")
        level = name[len(department)]
        mask = f"{department}{level}{'*' * (len(name) - len(department) - 1)}"
        course.setdefault(department, {}).setdefault(mask, []).append(name)
        title.setdefault(f"{department} books", {})[f"{name} books"] = [text.format(name) for text in TITLES]
    years: dict[str, list[str]] = {}
    for year in BIRTHS:
        years.setdefault(f"[{year - year % 2}-{year - year % 2 + 1}]", []).append(str(year))
    trees: dict[str, Any] = {"course": {"*": course}, "yob": {"*": years}}
    return trees if sparse else {"major": {"*": [MAJOR]}, **trees, "title": {"*": title}}


def schema(*, years: bool = False, sparse: bool = False) -> Mapping[str, Any]:
    """What each field is, in the notation of a schema file; trees as in `hierarchies`."""
    book = {"quasi": ["title"], "sensitive": "price"}
    course = {
        "quasi": ["course"],
        "sensitive": "grade",
        **({} if sparse else {"children": {"books": "book"}}),
    }
    student: dict[str, Any] = {
        "identifier": ["id"],
        "quasi": ["yob"] if sparse else ["major", "yob"],
        "sensitive": "gpa",
    }
    types: dict[str, Any] = {"student": student}
    if years:
        student["children"] = {"years": "year"}
        types["year"] = {"quasi": ["year"], "children": {"courses": "course"}}
    else:
        student["children"] = {"courses": "course"}
    types["course"] = course
    if not sparse:
        types["book"] = book
    return {
        "record": {"type": "student", "json": "$[*]", "xml": "/students/student"},
        "types": types,
        "attributes": {
            "gpa": {"buckets": {"from": "0", "to": "4", "width": "0.25"}},
            **({} if sparse else {"price": {"buckets": {"from": "0", "to": "140", "width": "10"}}}),
        },
    }
