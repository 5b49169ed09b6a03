"""The boxes of an earlier release on the next batch: as before, or refused, never wider."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.core import Attribute, Role
from privet.declared import Order
from privet.errors import BrokenPromiseError, UnsupportedError
from privet.hierarchy import Flat, Intervals, Tree
from privet.relational.local import Local
from privet.relational.microaggregation import Microaggregation
from privet.relational.mondrian import Cuts, Mondrian, Output
from privet.relational.optimal import Optimal
from privet.relational.reuse_boxes import located

JOBS = Tree.of({"any": {"craft": ["cook", "smith"], "care": ["nurse", "carer"]}})
AGES = ["21", "22", "25", "25", "31", "33", "38", "38", "44", "47", "52", None]
WORK = [
    "cook",
    "smith",
    "cook",
    "nurse",
    "carer",
    "nurse",
    "smith",
    "cook",
    "carer",
    "nurse",
    "cook",
    "smith",
]
TABLE = pl.DataFrame({"age": AGES * 2, "job": WORK + WORK[::-1], "ill": ["flu", "cold", "flu"] * 8})


def policy(algorithm: Any, k: int = 2) -> pv.Policy:
    return pv.Policy(
        attributes=(
            Attribute("age", Role.QUASI, Intervals()),
            Attribute("job", Role.QUASI, JOBS),
            Attribute("ill", Role.SENSITIVE),
        ),
        models=(pv.KAnonymity(k=k),),
        algorithm=algorithm,
    )


BOXED = {
    "mondrian": Mondrian(),
    "hierarchy": Mondrian(cuts=Cuts.HIERARCHY),
    "local": Local(),
    "optimal": Optimal(suppression=Fraction(1, 4)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("algorithm", BOXED.values(), ids=BOXED)
@settings(max_examples=5)
@given(picked=st.lists(st.integers(0, 23), min_size=1, max_size=40), k=st.integers(1, 3))
def test_every_record_reads_as_a_class_of_the_earlier_release(
    algorithm: Any, picked: list[int], k: int
) -> None:
    rules = replace(policy(algorithm, k), order=Order.KEPT)  # to see what became of each record
    with TemporaryDirectory() as made:
        first = pv.publish(TABLE, rules)
        folder = first.write(Path(made) / "out")
        try:
            release = pv.publish(TABLE[picked], rules, like=folder)
        except (BrokenPromiseError, UnsupportedError):
            return  # the fresh check, or suppressed before and too many of them now
        earlier = first.to_polars()
        assert set(release.to_polars().select("age", "job").rows()) <= set(
            earlier.select("age", "job").rows()
        )
        assert all(verdict.holds for _, verdict in release.verdicts)
        if isinstance(algorithm, Mondrian):  # these boxes do not overlap: each record reads as it did
            assert release.to_polars().equals(earlier[picked], null_equal=True)
        assert pv.verify(release.write(Path(made) / "again")).holds


def written(folder: Path, algorithm: Any, k: int = 2) -> Path:
    return pv.publish(TABLE, policy(algorithm, k)).write(folder / "out")


def test_a_record_in_no_box_is_refused_not_taken_in(tmp_path: Path) -> None:
    folder = written(tmp_path, Mondrian())
    older = pl.concat([TABLE, pl.DataFrame({"age": ["999"], "job": ["cook"], "ill": ["flu"]})])
    with pytest.raises(UnsupportedError, match="1 of 25 records are in no box"):
        pv.publish(older, policy(Mondrian()), like=folder)


def test_a_record_in_no_box_goes_where_the_policy_lets_it(tmp_path: Path) -> None:
    rules = policy(Optimal(suppression=Fraction(1, 4)), 3)
    first = pv.publish(TABLE, rules)
    assert first.evidence["recoding"] == "regions"
    folder = first.write(tmp_path / "out")
    again = pv.publish(TABLE, rules, like=folder)
    assert again.evidence["suppressed_records"] == first.evidence["suppressed_records"] > 0
    assert again.to_polars().equals(first.to_polars(), null_equal=True)
    strict = policy(Optimal(), 3)
    with pytest.raises(UnsupportedError, match="in no box"):
        pv.publish(TABLE, strict, like=folder)


@pytest.mark.parametrize("algorithm", [Mondrian(output=Output.MEANS), Microaggregation()])
def test_means_are_not_ranges(algorithm: Any, tmp_path: Path) -> None:
    rules = pv.Policy(
        attributes=(Attribute("age", Role.QUASI, Intervals()), Attribute("ill", Role.SENSITIVE)),
        models=(pv.KAnonymity(k=2),),
        algorithm=algorithm,
    )
    table = TABLE.select("age", "ill").drop_nulls()
    folder = pv.publish(table, rules).write(tmp_path / "out")
    with pytest.raises(UnsupportedError, match="not ranges of values"):
        pv.publish(table, rules, like=folder)


def test_a_range_of_categories_takes_in_no_new_one(tmp_path: Path) -> None:
    rules = pv.Policy(
        attributes=(Attribute("job", Role.QUASI, Flat()), Attribute("ill", Role.SENSITIVE)),
        models=(pv.KAnonymity(k=8),),
        algorithm=Mondrian(),
    )
    table = TABLE.select("job", "ill")
    folder = pv.publish(table, rules).write(tmp_path / "out")
    new = pl.concat([table, pl.DataFrame({"job": ["judge"], "ill": ["flu"]})])
    with pytest.raises(UnsupportedError, match="1 of 25 records"):
        pv.publish(new, rules, like=folder)


@given(data=st.data())
def test_boxes_are_found_as_one_by_one(data: st.DataObject) -> None:
    cells, boxes = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    bits = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=3, max_size=3)
    meant = [np.array(data.draw(bits)) for _ in range(2)]
    codes = [
        np.array(data.draw(st.lists(st.integers(0, 3), min_size=cells, max_size=cells))) for _ in range(2)
    ]
    drawn = st.tuples(st.integers(0, 2), st.integers(0, 2))
    rows = np.array(sorted(data.draw(st.sets(drawn, min_size=1, max_size=boxes))))
    for cell, box in enumerate(located(codes, rows, meant).tolist()):
        holding = [
            (sum(float(m[label].sum() / 4) for m, label in zip(meant, row, strict=True)), at)
            for at, row in enumerate(rows.tolist())
            if all(m[label][c[cell]] for m, label, c in zip(meant, row, codes, strict=True))
        ]
        assert box == (min(holding)[1] if holding else -1)
