"""Safe harbour, held to the text of 45 CFR 164.514(b)(2)(i) (B) and (C), label by label."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.core import Attribute, Column, Role, Tally
from privet.errors import PolicyError
from privet.hierarchy import Dates, Flat, Intervals, Prefix
from privet.models.safeharbor import SMALL_AREAS, SafeHarbor, coarse_age, coarse_area, coarse_date
from privet.policy.values import Policy
from privet.relational.optimal import Optimal
from privet.roads import publish


def tally(**columns: list[str | None]) -> Tally:
    made = []
    for name, values in columns.items():
        domain = Flat().domain(values)
        made.append(Column(name, domain, domain.column(np.array([domain.codes[v] for v in values]))))
    records = len(next(iter(columns.values())))
    return Tally(quasi=tuple(made), sensitive=(), target=None, counts=np.ones(records, dtype=np.int64))


def test_values_that_are_too_fine_are_counted_with_their_records() -> None:
    model = SafeHarbor(dates=("d",), areas=("z",), ages=("a",))
    verdict = model.check(
        tally(d=["1990", "1990-01-02", None], z=["537**", "537**", "53715"], a=["1", "90", "2"])
    )
    assert (verdict.holds, verdict.broken, verdict.at_risk) == (False, 3, 2)
    assert model.check(tally(d=["1990"], z=["000**"], a=[">=90"])).holds
    assert (
        SafeHarbor(ages=("a",)).check(tally(a=["89"], d=["1990-01-01"])).holds
    )  # other columns are not its own


@given(st.integers(0, 99_999), st.dates(date(1900, 1, 1), date(2026, 1, 1)), st.integers(0, 120))
def test_agrees_with_the_text_of_the_rule(code: int, day: date, age: int) -> None:
    """The rule once more, naively: three digits of areas that are large, years, and 90 or older as one."""
    zip_code = f"{code:05}"
    assert coarse_area(f"{zip_code[:3]}**") == (zip_code[:3] not in SMALL_AREAS)
    assert not coarse_area(zip_code)
    assert coarse_date(f"{day.year:04}")
    assert not coarse_date(day.isoformat())
    assert not coarse_date(day.isoformat()[:7])
    assert coarse_age(str(age)) == (age <= 89)


def test_the_areas_are_those_of_the_guidance() -> None:
    assert len(SMALL_AREAS) == len(set(SMALL_AREAS)) == 17 + 4 + 16
    assert {"205", "369", "090", "962"} <= set(SMALL_AREAS)  # since 2010; where nobody is counted
    assert {"036", "059", "063", "102", "203", "556", "692", "893"} <= set(SMALL_AREAS)


def test_columns_are_lists() -> None:
    with pytest.raises(PolicyError, match="dates: is a list"):
        SafeHarbor(dates="seen")


def test_a_release_under_the_rule_hides_what_it_names() -> None:
    days = [date(1930, 1, 1) + timedelta(days=311 * i) for i in range(100)]
    frame = pl.DataFrame(
        {
            "born": [day.isoformat() for day in days],
            "zip": [("53715", "53703", "03601", "55602")[i % 4] for i in range(100)],
            "age": [str(i) for i in range(100)],
        }
    )
    policy = Policy(
        attributes=(
            Attribute("born", Role.QUASI, Dates(levels=("year",), bottom=1937)),
            Attribute("zip", Role.QUASI, Prefix(keep=(3,), hide=SMALL_AREAS)),
            Attribute("age", Role.QUASI, Intervals(top=90)),
        ),
        models=(SafeHarbor(dates=("born",), areas=("zip",), ages=("age",)),),
        algorithm=Optimal(levels={"born": 1, "zip": 1, "age": 0}),
    )
    made = publish(frame, policy).to_polars()
    assert set(made["zip"]) == {"537**", "000**"}
    assert set(made["age"]) == {*(str(i) for i in range(90)), ">=90"}
    assert {"<1937", "1937", "2013"} <= set(made["born"])
    assert all(len(label.lstrip("<")) == 4 for label in made["born"])


@pytest.mark.parametrize("key", ["dates", "areas", "ages"])
@pytest.mark.parametrize("role", ["missing", "other", "sensitive"])
def test_a_column_that_it_cannot_look_at_is_refused(key: str, role: str) -> None:
    """A misspelt column, or one that leaves as it is, would be kept by looking at nothing."""
    columns = [Attribute("age", Role.QUASI)]
    if role != "missing":
        columns.append(Attribute("seen", Role(role)))
    with pytest.raises(PolicyError, match="no attribute 'seen' with role \"quasi\""):
        Policy(attributes=tuple(columns), models=(SafeHarbor(**{key: ("seen",)}),))
