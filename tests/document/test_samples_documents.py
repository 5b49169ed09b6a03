"""People who do not exist, as trees: sizes, rules and shares, and always the same for a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from privet.document.described import described
from privet.document.forest import Forest
from privet.engines.documents.bind import JsonBinder
from privet.engines.documents.jsontext import Number
from privet.engines.documents.shape import Shape
from privet.errors import InputError
from privet.samples.encounters import encounters
from privet.samples.encounters import schema as encounter_schema
from privet.samples.transcripts import (
    COURSES,
    OBLIGATORY,
    PREREQUISITES,
    YEARS,
    hierarchies,
    schema,
    transcripts,
    transcripts_sparse,
    transcripts_years,
)

Generator = Callable[[int, int], Iterator[dict[str, Any]]]
ALL: list[tuple[Generator, Any]] = [
    (transcripts, schema()),
    (transcripts_years, schema(years=True)),
    (transcripts_sparse, schema(sparse=True)),
    (encounters, encounter_schema()),
]


def raw(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: raw(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [raw(inner) for inner in value]
    return Number(str(value)) if isinstance(value, int | float) else value


def forest(generator: Generator, plain: Any, rows: int) -> Forest:
    described_ = described(plain)
    binder = JsonBinder(described_, Shape(), "sample")
    return Forest.of(described_, (binder.record(raw(record)) for record in generator(rows, 0)))


@pytest.mark.parametrize(("generator", "plain"), ALL, ids=lambda one: getattr(one, "__name__", ""))
def test_the_same_for_a_seed(generator: Generator, plain: Any) -> None:
    assert list(generator(40, 3)) == list(generator(40, 3))
    assert list(generator(40, 3)) != list(generator(40, 4))
    assert list(generator(0, 0)) == []
    with pytest.raises(InputError):
        list(generator(-1, 0))


def test_sizes() -> None:
    assert 12_000 <= forest(transcripts, schema(), 300).vertices <= 12_600
    years = forest(transcripts_years, schema(years=True), 200)
    assert years.vertices > forest(transcripts, schema(), 200).vertices
    assert set(years.domains["year", "year"].values) == set(YEARS)
    assert 8 < forest(encounters, encounter_schema(), 500).vertices / 500 < 20


def test_every_student_follows_the_rules() -> None:
    for student in transcripts(300, 1):
        names = [course["course"] for course in student["courses"]]
        assert names[: len(OBLIGATORY)] == list(OBLIGATORY)
        assert 10 + 5 + 3 <= len(names) <= 10 + 5 + 7
        assert len(set(names)) == len(names)
        assert set(names) <= set(COURSES)
        assert 1.6 <= student["gpa"] <= 4.0
        for course in student["courses"]:
            titles = [book["title"] for book in course.get("books", [])]
            assert len(titles) <= 2
            assert len(set(titles)) == len(titles)
    births = Counter(student["yob"] for student in transcripts(300, 1))
    assert set(births.values()) == {30}


def test_what_others_build_on_is_never_late() -> None:
    usual = {course: int(course[-3]) for course in COURSES}
    late = Counter[bool]()
    for student in transcripts_years(200, 2):
        when = {
            course["course"]: YEARS.index(year["year"]) + 1
            for year in student["years"]
            for course in year["courses"]
        }
        needed = {PREREQUISITES[course] for course in when if course in PREREQUISITES}
        for course, year in when.items():
            if course in needed:
                assert year <= usual[course]
            late[year > usual[course]] += 1
    assert late[True] > 0


def test_years_hold_the_same_courses() -> None:
    for one, other in zip(transcripts(20, 5), transcripts_years(20, 5), strict=True):
        moved = [course for year in other["years"] for course in year["courses"]]
        assert sorted(map(str, moved)) == sorted(map(str, one["courses"]))


def test_sparse_is_sparse() -> None:
    students = list(transcripts_sparse(3162, 0))
    counts = [len(student["courses"]) for student in students]
    assert min(counts) <= 2
    assert 60 <= max(counts) <= 70
    taken = Counter(course["course"] for student in students for course in student["courses"])
    assert len(taken) > 4_000
    assert sum(count <= 3 for count in taken.values()) > 300
    assert max(taken.values()) > 1_000
    leaves = {
        leaf
        for masks in hierarchies(sparse=True)["course"]["*"].values()
        for ids in masks.values()
        for leaf in ids
    }
    assert set(taken) <= leaves


def test_trees_cover_the_data() -> None:
    trees = hierarchies()
    titles = {t for courses in trees["title"]["*"].values() for found in courses.values() for t in found}
    ids = {c for masks in trees["course"]["*"].values() for found in masks.values() for c in found}
    for student in islice(transcripts(50, 0), 50):
        assert str(student["yob"]) in {y for years in trees["yob"]["*"].values() for y in years}
        for course in student["courses"]:
            assert course["course"] in ids
            assert {book["title"] for book in course.get("books", [])} <= titles


def test_an_illness_shows_in_what_is_measured() -> None:
    with_: list[float] = []
    without: list[float] = []
    for patient in encounters(800, 0):
        codes = {c["code"] for e in patient["encounters"] for c in e["conditions"]}
        found = [
            o["value"]
            for e in patient["encounters"]
            for o in e.get("observations", [])
            if o["code"] == "glucose"
        ]
        (with_ if "E11" in codes else without).extend(found)
    assert sum(with_) / len(with_) > 140
    assert sum(without) / len(without) < 125


@pytest.mark.parametrize("wrong", [{"core": 13}, {"electives": (5, 3)}, {"books": 4}])
def test_impossible_studies(wrong: Any) -> None:
    with pytest.raises(InputError, match="at most 12 core courses"):
        list(transcripts(1, 0, **wrong))


def test_impossible_catalogue() -> None:
    with pytest.raises(InputError, match="at least one course"):
        list(transcripts_sparse(1, 0, courses=0))
