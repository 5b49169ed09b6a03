"""Small forests for hypothesis: three levels, few values, so that ties and clashes abound."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.schema import Buckets, Field, Kind, Schema
from privet.hierarchy import Tree

COURSES = Tree.of({"*": {"CS": {"CS2": ["CS201", "CS204"], "CS3": ["CS301", "CS303"]}, "MATH": ["M1", "M2"]}})
BOOKS = Tree.of({"*": {"b": ["b1", "b2"], "c": {"c0": ["c1"]}}})
YEARS = Tree.of({"*": {"199x": ["1993", "1994"], "200x": ["2000"]}})
SCHEMA = Schema(
    "student",
    (
        Kind(
            "student",
            (
                Field("name", Role.IDENTIFIER),
                Field("gpa", Role.SENSITIVE, buckets=Buckets.of_width(Decimal(0), Decimal(4), Decimal(1))),
                Field("year", Role.QUASI, YEARS),
                Field("club", Role.QUASI, Tree.of({"any": ["chess", "golf"]})),
            ),
            (("courses", "course"), ("years", "stay")),
        ),
        Kind(
            "course",
            (Field("course", Role.QUASI, COURSES), Field("grade", Role.SENSITIVE), Field("room", Role.OTHER)),
            (("books", "book"),),
        ),
        Kind("book", (Field("title", Role.QUASI, BOOKS), Field("price", Role.SENSITIVE))),
        Kind("stay", (Field("place", Role.QUASI, Tree.of({"all": ["here"]})),), (("courses", "course"),)),
    ),
)


def books() -> st.SearchStrategy[Vertex]:
    return st.builds(
        lambda title, price: Vertex("book", (title, price)),
        st.sampled_from(BOOKS.leaves),
        st.sampled_from(["1", "2", "3", None]),
    )


def courses(most: int) -> st.SearchStrategy[Vertex]:
    return st.builds(
        lambda course, grade, room, below: Vertex("course", (course, grade, room), tuple(below)),
        st.sampled_from(COURSES.leaves),
        st.sampled_from(["A", "B", "C", "D", "E"]),
        st.sampled_from(["r1", None]),
        st.lists(books(), max_size=most),
    )


def stays() -> st.SearchStrategy[Vertex]:
    return st.builds(lambda below: Vertex("stay", ("here",), tuple(below)), st.lists(courses(1), max_size=2))


def students(most: int = 3) -> st.SearchStrategy[Vertex]:
    return st.builds(
        lambda gpa, year, club, below: Vertex("student", (gpa, year, club), tuple(below)),
        st.sampled_from(["0.2", "1.5", "1.7", "2", "3.9", "4"]),
        st.sampled_from(YEARS.leaves),
        st.sampled_from(["chess", "golf"]),
        st.lists(st.one_of(courses(2), courses(2), courses(2), stays()), max_size=most),
    )


def collections(smallest: int = 2, largest: int = 7, most: int = 3) -> st.SearchStrategy[list[Vertex]]:
    return st.lists(students(most), min_size=smallest, max_size=largest)
