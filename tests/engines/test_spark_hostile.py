"""Values and columns that nobody expects: read as the embedded engine does, or refused by name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.engines.test_spark_same import figures, in_zone, moments_alike

import privet as pv
from privet.errors import InputError, UnsupportedError
from privet.hierarchy import Auto

pytestmark = pytest.mark.services

ROWS, EDGE = 60, float("inf")
NAN, LOST = float("nan"), ["\u2028", "\ufeffa", "a\x00b", "a\x00c", "\r\n", "\U0001f600", "\uffff", "a"]
SPRING = [dt.datetime(2024, 3, 31, 0, n, 5, 120000, tzinfo=dt.UTC) for n in (0, 30, 59)]


def some(values: list[Any], kind: Any = None) -> pl.Series:
    """The values in any order, each about as often."""
    drawn = Random(len(values))
    return pl.Series([drawn.choice(values) for _ in range(ROWS)], dtype=kind)


# By name: columns that are quasi-identifiers, and columns that leave as they are.
TABLES: dict[str, tuple[dict[str, pl.Series], dict[str, pl.Series]]] = {
    "floats": (
        {"x": some([1e16, 1e15, 123456789.123, 1e-5, 0.001, 5e-324, 1.7976931348623157e308, -0.0, 0.0])},
        {"o": some([NAN, -0.0, 0.0, EDGE, None]), "single": some([0.1, 16777217.0, 1e-30], pl.Float32)},
    ),
    "no numbers": ({"x": some([NAN, EDGE, -EDGE, 2.5, None])}, {}),
    "one": ({"x": some(["1", "1.0", "01", "1e0", "+1", " 1"])}, {"o": some(["1", "1.0", "01"])}),
    "letters": (
        {
            "x": some(["é", "e\u0301", "ﬁ", "fi", "A\u030a", "\u212b"]),
            "y": some(["ß", "ss", "\u0130", "i", "\u0131", "i "]),
        },
        {"o": some(["é", "e\u0301"])},
    ),
    "signs": ({"x": some(LOST)}, {"o": some(LOST)}),
    "nothing": (
        {"x": some(["", None, " ", "\t", "null", "None", "NaN", "NA"])},
        {"o": some([None], pl.String)},
    ),
    "whole": (
        {
            "x": some([2**64 - 1, 2**63, 5], pl.UInt64),
            "y": some([-(2**63), 2**63 - 1]),
            "b": some([True, None]),
        },
        {
            "o": some([10, 9, -1, None, 100]),
            "small": some([255, 0], pl.UInt8),
            "p": some([True, False, None]),
        },
    ),
    "decimals": (
        {"x": some([Decimal("1.50"), Decimal("-0.00"), Decimal("9" * 30 + ".99")], pl.Decimal(38, 2))},
        {
            "o": some([Decimal("10.5"), Decimal("9.5"), None], pl.Decimal(10, 1)),
            "raw": some([b"\x00\xff", b""]),
        },
    ),
    "days": (
        {"x": some([dt.date(1, 1, 1), dt.date(1582, 10, 14), dt.date(9999, 12, 31), None])},
        {"o": some([dt.date(999, 1, 1), dt.date(10, 1, 1)])},
    ),
    "moments": (
        {"x": some(SPRING).dt.convert_time_zone("Europe/Berlin")},
        {
            "o": some(SPRING).dt.convert_time_zone("America/New_York"),
            "ns": some(SPRING).dt.cast_time_unit("ns"),
        },
    ),
    "unknown to clusters": (
        {"x": some([dt.time(1, 2, 3), dt.time(4, 5)]), "c": some(["u", "v"], pl.Categorical)},
        {"o": some([2**100, 5], pl.Int128), "e": some(["u", "v"], pl.Enum(["v", "u"]))},
    ),
    "names": (
        {name: some([1, 2]) for name in ("a.b", "a`b", "a b", "c0", "k0", "n", "key", "box", "known", "é")},
        {name: some([3, 4]) for name in ("w0", "x;y", "{x}", "$x", "'q'", '"d"')},
    ),
}


def policy(quasi: dict[str, Any], other: dict[str, Any]) -> pv.Policy:
    return pv.Policy(
        attributes=(
            *(pv.Attribute(name, pv.Role.QUASI, Auto()) for name in quasi),
            *(pv.Attribute(name, pv.Role.OTHER) for name in other),
            pv.Attribute("ill", pv.Role.SENSITIVE),
        ),
        models=(pv.KAnonymity(k=3),),
        algorithm=pv.Mondrian() if len(quasi) > 3 else pv.TopDown(),
    )


@pytest.mark.parametrize("name", TABLES)
def test_read_as_elsewhere(session: Any, tmp_path: Path, name: str) -> None:
    quasi, other = TABLES[name]
    rules, spark = policy(quasi, other), pv.Spark(session, staging=tmp_path / "staging")
    frame = pl.DataFrame({**quasi, **other, "ill": some(["1", "1.0", "é", "e\u0301", None])})
    if name == "moments":
        frame = moments_alike(frame).with_columns(pl.col("ns").dt.cast_time_unit("ns"))
    (tmp_path / "raw").mkdir()
    for number, part in enumerate((frame[:50], frame[:0], frame[50:])):
        part.write_parquet(tmp_path / f"raw/part-{number}.parquet")
    pv.publish(frame, rules, output="parquet").write(tmp_path / "here")
    pv.publish(tmp_path / "raw", rules, engine=spark).write(tmp_path / "there")
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")
    as_texts = pl.exclude("raw").cast(pl.String)
    assert moments_alike(here).with_columns(as_texts).equals(moments_alike(there).with_columns(as_texts))
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    for engine in ("embedded", spark):
        assert pv.verify(tmp_path / "there", engine=engine).complaints == ()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (some([[1, 2], []]), "lists or objects"),
        (some([[1, 2], [3, 4]], pl.Array(pl.Int64, 2)), "lists or objects"),
        (some([{"a": 1}, {"a": 2}]), "lists or objects"),
        (some([dt.timedelta(1), dt.timedelta(0, 5)]), "durations"),
    ],
)
def test_what_has_no_text_is_refused_by_name(
    session: Any, tmp_path: Path, column: pl.Series, said: str
) -> None:
    frame = pl.DataFrame({"x": some([1, 2]), "o": column, "ill": some(["a", "b"])})
    frame.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path / "staging")
    for quasi, other in ((["o"], []), (["x"], ["o"])):
        rules = policy(dict.fromkeys(quasi), dict.fromkeys(other))
        for source, ask in product((tmp_path / "raw.parquet", frame), (pv.publish, pv.risk)):
            with pytest.raises(InputError, match=f"'o' .*{said}.*leave it out, or"):
                ask(source, rules, engine=spark)
    rules = policy({"x": None}, {})
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark)  # a column that nobody names stands in no way


@pytest.mark.parametrize("name", ["*", "^x$"])
def test_a_column_that_would_mean_others_too_is_refused(session: Any, tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"x": some([1, 2]), name: some(["p", "q"]), "ill": some(["a", "b"])})
    frame.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path / "staging")
    for source in (tmp_path / "raw.parquet", frame):
        with pytest.raises(InputError, match="would mean other columns too"):
            pv.publish(source, policy({"x": None}, {name: None}), engine=spark)


def test_times_finer_than_a_cluster_has_are_refused(session: Any, tmp_path: Path) -> None:
    fine = pl.Series([1_700_000_000_000_000_001] * ROWS).cast(pl.Datetime("ns"))
    frame = pl.DataFrame({"x": some([1, 2]), "o": fine, "ill": some(["a", "b"])})
    with pytest.raises(UnsupportedError, match="'o' has times finer than a microsecond"):
        pv.publish(frame, policy({"x": None}, {"o": None}), engine=pv.Spark(session, staging=tmp_path))


def test_nearly_all_records_in_one_combination(session: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [1] * 5000 + [2, 3, 3, 3], "ill": ["a"] * 2500 + ["b"] * 2504})
    rules, spark = policy({"x": None}, {}), pv.Spark(session, staging=tmp_path)
    here, there = (pv.publish(frame, rules, engine=engine) for engine in ("embedded", spark))
    assert here.evidence.promises == there.evidence.promises
    assert there.to_polars().cast(pl.String).equals(here.to_polars().cast(pl.String))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Kolkata"])
def test_moments_are_told_apart_whatever_the_zone_of_the_session(
    session: Any, tmp_path: Path, zone: str
) -> None:
    """On that day Berlin goes from two to three o'clock, so half past two is none there."""
    moments = [dt.datetime(2024, 3, 31, hour, n, tzinfo=dt.UTC) for hour in (2, 3) for n in (0, 30)]
    moments += [dt.datetime(2024, 10, 27, hour, 30, 0, 1, tzinfo=dt.UTC) for hour in (0, 1)]  # one in Berlin
    ends = [dt.datetime.min, dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 999999)]  # noqa: DTZ001, DTZ901
    moments += [one.replace(tzinfo=dt.UTC) for one in ends]
    frame = pl.DataFrame({"x": some(moments), "o": some([*moments, None]), "ill": some(["a", "b"])})
    rules, spark = policy({"x": None}, {"o": None}), pv.Spark(session, staging=tmp_path / "staging")
    frame.write_parquet(tmp_path / "raw.parquet")
    with in_zone(session, zone):
        pv.publish(tmp_path / "raw.parquet", rules, engine=spark).write(tmp_path / "there")
        assert pv.verify(tmp_path / "there", engine=spark).complaints == ()
    pv.publish(tmp_path / "raw.parquet", rules).write(tmp_path / "here")
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    assert moments_alike(pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")).equals(here)
    assert here["x"].n_unique() > 4, "they leave apart"
    assert figures(tmp_path / "there") == figures(tmp_path / "here")


@pytest.mark.parametrize("output", ["csv", "tsv", "jsonl"])
def test_moments_leave_as_texts(session: Any, tmp_path: Path, output: str) -> None:
    """A writer of text may spell a moment otherwise than it is counted; then nobody could check it."""
    moments = [*SPRING, dt.datetime(2024, 3, 31, tzinfo=dt.UTC), None]
    frame = moments_alike(pl.DataFrame({"x": some(moments), "o": some(moments), "ill": some(["a", "b"])}))
    frame = frame.with_columns(naive=pl.col("o").dt.replace_time_zone(None))
    rules, spark = policy({"x": None}, {"o": None, "naive": None}), pv.Spark(session, staging=tmp_path / "s")
    frame.write_parquet(tmp_path / "raw.parquet")
    pv.publish(tmp_path / "raw.parquet", rules, output=output).write(tmp_path / "here")
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark, output=output).write(tmp_path / "there")
    parts = sorted((tmp_path / f"there/data.{output}").glob("part-*"))
    here = (tmp_path / f"here/data.{output}").read_text().splitlines()
    head = 0 if output == "jsonl" else 1
    there = [line for part in parts for line in part.read_text().splitlines()[head:]]
    assert there == here[head:]
    assert pv.verify(tmp_path / "here").complaints == ()
    for engine in ("embedded", spark):
        assert pv.verify(tmp_path / "there", engine=engine).complaints == ()


@pytest.mark.parametrize("output", ["parquet", "csv"])
def test_a_release_is_looked_at_and_written_again(session: Any, tmp_path: Path, output: str) -> None:
    frame = pl.DataFrame({"x": some([1, 2]), "ill": some(["a", "b"])})
    spark = pv.Spark(session, staging=tmp_path / "staging")
    release = pv.publish(frame, policy({"x": None}, {}), engine=spark, output=output)
    for name in ("one", "two"):
        release.write(tmp_path / name)
        assert release.to_polars().height == ROWS
        assert pv.verify(tmp_path / name).complaints == ()
