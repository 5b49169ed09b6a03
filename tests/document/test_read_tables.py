"""Records from tables joined by keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.naive_anatomy import SCHEMA, trees

from privet.document.described import described
from privet.document.forest import Vertex
from privet.engines.documents.tables import Keys, from_frames, to_frames
from privet.errors import InputError, PolicyError

STUDENTS = described(
    {
        "types": {
            "student": {
                "identifier": ["name"],
                "quasi": ["yob"],
                "sensitive": "gpa",
                "children": {"courses": "course"},
            },
            "course": {"quasi": ["course"], "sensitive": "grade"},
        }
    }
)
KEYS = {"student": Keys(own="sid"), "course": Keys(parent="student")}


def tables() -> dict[str, pl.DataFrame]:
    return {
        "student": pl.DataFrame(
            {"sid": ["S1", "S2"], "name": ["A", "B"], "yob": [1992, 1993], "gpa": [3.25, 2.67]}
        ),
        "course": pl.DataFrame(
            {
                "student": ["S2", "S1", "S1"],
                "course": ["CS401", "CS201", "CS202"],
                "grade": ["B", "A", None],
            }
        ),
    }


def test_joined() -> None:
    records = from_frames(STUDENTS, tables(), KEYS)
    assert records == [
        Vertex(
            "student",
            ("1992", "3.25"),
            (Vertex("course", ("CS201", "A")), Vertex("course", ("CS202", None))),
        ),
        Vertex("student", ("1993", "2.67"), (Vertex("course", ("CS401", "B")),)),
    ]
    back = to_frames(records[::-1], STUDENTS, KEYS)
    assert back["student"].columns == ["sid", "yob", "gpa"]
    assert back["student"].get_column("sid").to_list() == [1, 2]
    assert back["course"].rows() == [(1, "CS401", "B"), (2, "CS201", "A"), (2, "CS202", None)]
    assert from_frames(STUDENTS, back, KEYS) == records[::-1]


@given(st.lists(trees(), min_size=1, max_size=5))
@settings(max_examples=30, deadline=None)
def test_round_trip(records: list[Vertex]) -> None:
    keys = {kind.name: Keys("own", None if kind.name == "r" else "up") for kind in SCHEMA.kinds}
    assert from_frames(SCHEMA, to_frames(records, SCHEMA, keys), keys) == records


def change(**new: Any) -> Callable[[dict[str, pl.DataFrame]], None]:
    def do(frames: dict[str, pl.DataFrame]) -> None:
        frames.update(new)

    return do


WRONG: list[tuple[dict[str, Keys], Callable[[dict[str, pl.DataFrame]], object], str]] = [
    (KEYS, lambda t: t.pop("course"), "no table course"),
    (KEYS, lambda t: t.update(course=t["course"].drop("grade")), "table course has no column grade"),
    (KEYS, lambda t: t.update(course=t["course"].with_columns(x=1)), "does not name column x"),
    (KEYS, lambda t: t.update(student=t["student"].head(1)), "1 rows name a parent in student"),
    (KEYS, lambda t: t.update(student=pl.concat([t["student"]] * 2)), "2 rows repeat a key in sid"),
    (
        KEYS,
        lambda t: t.update(student=t["student"].with_columns(sid=pl.lit(None, pl.String))),
        "2 rows have no key",
    ),
    ({"student": Keys("sid")}, lambda _: None, "say which column names its parent"),
    ({"course": Keys(parent="student")}, lambda _: None, "say which column is its key"),
    ({**KEYS, "student": Keys("sid", "up")}, lambda _: None, "records themselves have no parent"),
]


@pytest.mark.parametrize(("keys", "wrong", "words"), WRONG)
def test_refused(keys: dict[str, Keys], wrong: Callable[[Any], object], words: str) -> None:
    frames = tables()
    wrong(frames)
    with pytest.raises(InputError, match=words) as caught:
        from_frames(STUDENTS, frames, keys)
    assert "CS401" not in str(caught.value)


def test_a_type_below_two_others() -> None:
    schema = described(
        {
            "types": {
                "r": {"quasi": ["q"], "children": {"as": "a", "cs": "c"}},
                "a": {"quasi": ["q"], "children": {"cs": "c"}},
                "c": {"quasi": ["q"]},
            }
        }
    )
    with pytest.raises(PolicyError, match="below one other type only"):
        from_frames(schema, {}, {})
