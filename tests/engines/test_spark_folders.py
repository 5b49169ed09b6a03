"""Files and folders as people leave them: the cluster reads of them what the embedded engine reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.engines.test_spark import SAIL
from tests.engines.test_spark_same import figures

import privet as pv
from privet.errors import InputError, PrivetError
from privet.hierarchy import Auto

pytestmark = pytest.mark.services

RULES = pv.Policy(
    attributes=(
        pv.Attribute("age", pv.Role.QUASI, Auto()),
        pv.Attribute("sex", pv.Role.QUASI, Auto()),
        pv.Attribute("é", pv.Role.OTHER),
        pv.Attribute("ill", pv.Role.SENSITIVE),
    ),
    models=(pv.KAnonymity(k=3),),
    algorithm=pv.TopDown(),
)


def people(seed: int, rows: int = 40) -> pl.DataFrame:
    drawn = Random(seed)
    return pl.DataFrame(
        {
            "age": [drawn.choice([20, 30, 40]) for _ in range(rows)],
            "sex": [drawn.choice("FM") for _ in range(rows)],
            "é": [drawn.choice(["x", None]) for _ in range(rows)],
            "ill": [drawn.choice(["flu", "cold"]) for _ in range(rows)],
        }
    )


def two(folder: Path) -> Path:
    """A folder of two parts."""
    folder.mkdir()
    people(1).write_parquet(folder / "a.parquet")
    people(2).write_parquet(folder / "b.parquet")
    return folder


def named(name: str) -> Callable[[Path], Path]:
    """A file of this name, and others beside it that a pattern of this name would stand for."""

    def made(root: Path) -> Path:
        for number, other in enumerate(("ax.parquet", "a1.parquet", "1.parquet")):
            people(10 + number).write_parquet(root / other)
        people(1).write_parquet(root / name)
        return root / name

    return made


def within(name: str) -> Callable[[Path], Path]:
    def made(root: Path) -> Path:
        for other in ("ax", "a1", "1"):
            two(root / other)
        return two(root / name)

    return made


def linked(root: Path) -> Path:
    folder, elsewhere = two(root / "raw"), root / "elsewhere"
    elsewhere.mkdir()
    people(3).write_parquet(elsewhere / "kept here")
    (folder / "c.parquet").symlink_to(elsewhere / "kept here")
    (root / "way").symlink_to(folder)
    return root / "way"


def hidden(root: Path) -> Path:
    folder = two(root / "raw")
    people(3).write_parquet(folder / "_c.parquet")
    people(4).write_parquet(folder / ".d.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_sex=F").mkdir()
    people(5).write_parquet(folder / "_sex=F/e.parquet")
    people(6).drop("ill").write_parquet(folder / "_common_metadata")
    return folder


def in_another_order(root: Path) -> Path:
    folder = two(root / "raw")
    people(3).select("ill", "é", "sex", "age").write_parquet(folder / "c.parquet")
    return folder


def composed_otherwise(root: Path) -> Path:
    folder = two(root / "raw")
    people(3).rename({"é": "e\u0301"}).write_parquet(folder / "c.parquet")
    return folder


def with_more(root: Path) -> Path:
    """Columns that nobody names, in some parts and of several types."""
    folder = two(root / "raw")
    people(3).with_columns(more=1).write_parquet(folder / "c.parquet")
    people(4).with_columns(more=pl.lit("text"), AGE=pl.lit([1])).write_parquet(folder / "d.parquet")
    return folder


def empty(root: Path) -> Path:
    folder = two(root / "raw")
    for name in ("0.parquet", "z.parquet"):
        people(3)[:0].write_parquet(folder / name)
    return folder


def texts(root: Path) -> Path:
    folder = root / "raw"
    folder.mkdir()
    people(1).write_csv(folder / "1.csv", include_bom=True)
    folder.joinpath("2.csv").write_text(people(2).write_csv().replace("20", "20.0").replace("\n", "\r\n"))
    people(3).select("ill", "é", "sex", "age").write_csv(folder / "3.csv")
    people(4)[:0].write_csv(folder / "4.csv")
    return folder


def partitioned(root: Path) -> Path:
    for sex in "FM":
        (root / f"raw/sex={sex}").mkdir(parents=True)
        people(1).drop("sex").write_parquet(root / f"raw/sex={sex}/a.parquet")
    return root / "raw"


def of_other_type(root: Path) -> Path:
    folder = two(root / "raw")
    people(3).with_columns(pl.col("age").cast(pl.Int32)).write_parquet(folder / "c.parquet")
    return folder


def in_a_zone_by_number(root: Path) -> Path:
    """A zone that polars panics at."""
    pa = pytest.importorskip("pyarrow")
    moments = pa.array([0] * 40, pa.timestamp("us", "+05:30"))
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.Table.from_pydict({**people(1).to_dict(as_series=False), "seen": moments}), root / "raw.parquet"
    )
    return root / "raw.parquet"


LAID: dict[str, Callable[[Path], Path]] = {
    **{
        f"file {name}": named(name)
        for name in ("a*.parquet", "a[1x].parquet", "{a1,1}.parquet", "\\1.parquet")
    },
    **{f"file {name}": named(name) for name in ("_a.parquet", ".a.parquet", "s=F # %20:ü.parquet")},
    **{f"folder {name}": within(name) for name in ("a?", "{a1,1}", "sex=F", "_a", "s p%20")},
    "linked": linked,
    "hidden": hidden,
    "in another order": in_another_order,
    "composed otherwise": composed_otherwise,
    "with more": with_more,
    "empty parts": empty,
    "texts": texts,
}
NOT_READ: dict[str, Callable[[Path], Path]] = {
    "partitioned": partitioned,
    "of other type": of_other_type,
    "in a zone by number": in_a_zone_by_number,
}


@pytest.mark.parametrize("name", LAID)
def test_read_as_elsewhere(session: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "root").mkdir()
    source, spark = LAID[name](tmp_path / "root"), pv.Spark(session, staging=tmp_path / "staging")
    pv.publish(source, RULES, output="parquet").write(tmp_path / "here")
    pv.publish(source, RULES, engine=spark, output="parquet").write(tmp_path / "there")
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")
    assert there.equals(here.cast(there.schema))
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    assert pv.verify(tmp_path / "there").complaints == ()
    if name.startswith("file "):
        assert there.height == 40, "and of no other file"


@pytest.mark.parametrize("name", NOT_READ)
def test_refused_as_elsewhere(
    session: Any, tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "root").mkdir()
    source = NOT_READ[name](tmp_path / "root")
    for engine in ("embedded", pv.Spark(session, staging=tmp_path / "staging")):
        with pytest.raises(InputError):
            pv.publish(source, RULES, engine=engine)
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["out[1]", "{a,b}", "x?"])
def test_a_place_that_would_be_a_pattern_is_refused(session: Any, tmp_path: Path, name: str) -> None:
    """What lies there would be looked for elsewhere."""
    with pytest.raises(InputError, match="for a pattern; choose another folder"):
        pv.publish(people(1), RULES, engine=pv.Spark(session, staging=tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def append(folder: Path) -> None:
    people(3).write_parquet(folder / "c.parquet")


def remove(folder: Path) -> None:
    (folder / "b.parquet").unlink()


def exchange(folder: Path) -> None:
    """As many records, and no value that was not there."""
    people(4).write_parquet(folder / ".new")
    (folder / ".new").replace(folder / "b.parquet")


def forget(folder: Path) -> None:
    """Spark fills what is missing with nulls."""
    people(2).drop("é").write_parquet(folder / "b.parquet")


@pytest.mark.parametrize("station", ["counted", "apply", "settled"])
@pytest.mark.parametrize("change", [append, remove, exchange, forget])
def test_a_folder_that_changes_meanwhile(
    session: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    station: str,
) -> None:
    """The records are read three times: those that leave must be those that were counted."""
    folder, meant = two(tmp_path / "raw"), getattr(pv.Spark, station)
    done: list[str] = []

    def later(self: pv.Spark, *asked: Any) -> Any:
        if not done:
            change(folder)
        done.append(station)
        return meant(self, *asked)

    monkeypatch.setattr(pv.Spark, station, later)
    with pytest.raises(InputError, match=r"the source was changed|Spark: .* failed"):
        pv.publish(folder, RULES, engine=pv.Spark(session, staging=tmp_path / "staging"))
    assert done == [station]


@pytest.mark.skipif(not SAIL, reason="Spark itself draws once for a frame")
def test_a_frame_that_is_another_each_time(session: Any, tmp_path: Path) -> None:
    """Drawn anew for every job: no record leaves that evidence does not speak of."""
    from pyspark.sql import functions as f

    frame = session.range(3000).select(
        f.expr("floor(rand() * 3) * 10").alias("age"),
        f.lit("F").alias("sex"),
        f.lit("x").alias("é"),
        f.lit("flu").alias("ill"),
    )
    with pytest.raises(PrivetError, match="changed"):
        pv.publish(frame, RULES, engine=pv.Spark(session, staging=tmp_path / "staging"))
