"""What the engine `spark` publishes is what `embedded` does: the same rows, the same figures."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import privet as pv
from privet.evidence import folder as ev
from privet.hierarchy import Auto
from privet.relational.suppression import Mode

pytestmark = pytest.mark.services

OWN = ("made", "data", "files")  # of a folder: when, where, and the digests that follow from it

SEARCHES: dict[str, pv.Algorithm] = {
    "top-down": pv.TopDown(),
    "optimal": pv.Optimal(),
    "optimal-suppressing": pv.Optimal(suppression=Fraction(1, 10)),
    "mondrian": pv.Mondrian(),
    "samarati": pv.Samarati(),
    "incognito": pv.Incognito(),
    "local": pv.Local(),
    "suppression": pv.Suppression(mode=Mode.CELLS),
    "microaggregation": pv.Microaggregation(),
    "coincident": pv.Coincident(),
    "auto": pv.AutoSearch(),
}


def people(rows: int, seed: int) -> pl.DataFrame:
    """Random records with nulls, letters of several alphabets, decimals, dates, moments and numbers."""
    mixed = random.Random(seed)

    def some(values: list[Any], lacking: float = 0.05) -> list[Any]:
        return [None if mixed.random() < lacking else mixed.choice(values) for _ in range(rows)]

    days = [dt.date(1950, 1, 1) + dt.timedelta(days=700 * n) for n in range(12)]
    return pl.DataFrame(
        {
            "job": some(["Koch", "médecin", "médecin", "教師", "инженер", "=1+1", 'a,b;c"d', ""]),
            "age": some(list(range(20, 60))),
            "pay": pl.Series(some([Decimal(n) / 4 for n in range(4000, 4012)]), dtype=pl.Decimal(12, 2)),
            "born": some(days),
            "height": some([1.5, 1.75, 2.0, 0.1, 1e20, -0.0]),
            "seen": some([dt.datetime(2024, 3, 5, 1, n) for n in range(4)]),  # noqa: DTZ001 - of no zone
            "ill": some(["flu", "HIV", "Grippe é", None]),
            "note.of": [f"note {mixed.randrange(50)}" for _ in range(rows)],
            "gone": some([dt.datetime(2024, 3, 5, n, tzinfo=dt.UTC) for n in range(4)]),
            "weight": some([70.25, 1e-7, 3.0]),
        }
    )


def policy(algorithm: pv.Algorithm) -> pv.Policy:
    quasi: tuple[str, ...] = ("job", "age", "pay", "born", "height", "seen")
    if isinstance(algorithm, pv.Microaggregation):
        quasi = ("age", "pay")
    if isinstance(algorithm, (pv.Samarati, pv.Local)):
        quasi = ("job", "age", "born", "height")  # the others make it slow, and are tried already
    return pv.Policy(
        attributes=(
            *(pv.Attribute(name, pv.Role.QUASI, Auto()) for name in quasi),
            pv.Attribute("ill", pv.Role.SENSITIVE),
            pv.Attribute("note.of", pv.Role.OTHER),
            pv.Attribute("gone", pv.Role.OTHER),
            pv.Attribute("weight", pv.Role.OTHER),
        ),
        models=(pv.KAnonymity(k=4),),
        algorithm=algorithm,
    )


def moments_alike(frame: pl.DataFrame) -> pl.DataFrame:
    """A cluster has moments in one zone and to the microsecond."""
    made = [one for one in frame if isinstance(one.dtype, pl.Datetime)]
    utc = [(one.dt.convert_time_zone("UTC") if one.dtype.time_zone else one) for one in made]  # type: ignore[attr-defined]
    return frame.with_columns(one.dt.cast_time_unit("us") for one in utc)


@contextmanager
def in_zone(session: Any, zone: str) -> Iterator[None]:
    """A session that writes moments as they are at some place."""
    name = "spark.sql.session.timeZone"
    before = session.conf.get(name)
    session.conf.set(name, zone)
    try:
        yield
    finally:
        session.conf.set(name, before)


def figures(folder: Path) -> dict[str, Any]:
    found = ev.read(folder).to_dict()
    return {name: value for name, value in found.items() if name not in OWN}


@pytest.mark.parametrize("name", SEARCHES)
def test_same_rows_and_figures(session: Any, tmp_path: Path, name: str) -> None:
    table, rules = people(200, seed=len(name)), policy(SEARCHES[name])
    if name == "microaggregation":
        table = table.drop_nulls(["age", "pay"])
    table.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path)
    pv.publish(tmp_path / "raw.parquet", rules).write(tmp_path / "here")
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark).write(tmp_path / "there")
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")
    assert there.equals(here.cast(there.schema)), "the same rows in the same order"
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    for engine in ("embedded", spark):
        found = pv.verify(tmp_path / "there", engine=engine)
        assert found.holds, found.complaints


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("seed", [2099, 2101])
def test_a_frame_is_published_as_what_it_holds(session: Any, tmp_path: Path, seed: int, zone: str) -> None:
    """`createDataFrame` takes a time of no zone for a moment at the session's place: the frame holds those.

    So a release of the frame is one of its moments, in UTC, and differs from one of the table that it was
    made of; whoever wants times of no zone keeps them in Parquet, or sets spark.sql.timestampType.
    """
    table, rules = people(200, seed), policy(SEARCHES["mondrian"])
    with in_zone(session, zone):
        frame = session.createDataFrame(table.to_arrow())
        held = moments_alike(pl.DataFrame(frame.toArrow()))
        pv.publish(frame, rules, engine=pv.Spark(session, staging=tmp_path)).write(tmp_path / "there")
    pv.publish(held, rules, output="parquet").write(tmp_path / "here")
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = moments_alike(pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet"))
    assert there.equals(here.cast(there.schema))
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    assert pv.verify(tmp_path / "there").complaints == ()
    hours = {"UTC": 0, "America/New_York": 5}[zone]
    meant = table["seen"].dt.offset_by(f"{hours}h").dt.replace_time_zone("UTC")
    assert held["seen"].equals(meant)


def spelt(rows: int, seed: int) -> pl.DataFrame:
    """Records whose sensitive values are written in several ways."""
    mixed = random.Random(seed)
    ways = ["7", "7.0", "7e0", "0.0", "-0.0", "\u00e9", "e\u0301", "2024-03-05", "2024-03-05 00:00", None]
    floats = [0.0, -0.0, 2.5, float("nan"), float("inf"), float("-inf"), 1e300, None]
    return pl.DataFrame(
        {
            "age": [mixed.choice("abc") for _ in range(rows)],
            "ill": [mixed.choice(ways) for _ in range(rows)],
            "pay": pl.Series([mixed.choice(floats) for _ in range(rows)], dtype=pl.Float64),
            "few": pl.Series([mixed.choice(floats[:4]) for _ in range(rows)], dtype=pl.Float32),
        }
    )


@pytest.mark.parametrize("search", [pv.TopDown(), pv.Mondrian()], ids=lambda one: one.name)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_equal_sensitive_values_leave_in_one_spelling(
    session: Any, tmp_path: Path, search: pv.Algorithm, ending: str
) -> None:
    """In the column's own type; a reader of texts found another t-closeness than was promised."""
    table, source = spelt(80, seed=3), tmp_path / f"raw.{ending}"
    if ending == "parquet":
        table.write_parquet(source)
    else:
        table.write_csv(source)
    rules = pv.Policy(
        attributes=(
            pv.Attribute("age", pv.Role.QUASI),
            *(pv.Attribute(name, pv.Role.SENSITIVE) for name in ("ill", "pay", "few")),
        ),
        models=(pv.KAnonymity(k=2),),
        algorithm=search,
    )
    spark = pv.Spark(session, staging=tmp_path)
    pv.publish(source, rules).write(tmp_path / "here")
    pv.publish(source, rules, engine=spark).write(tmp_path / "there")
    parts = sorted((tmp_path / "there" / f"data.{ending}").iterdir())
    if ending == "parquet":
        here = pl.read_parquet(tmp_path / "here/data.parquet")
        there = pl.concat(pl.read_parquet(part) for part in parts)
        assert there.schema == here.schema
        assert there.cast(pl.String).equals(here.cast(pl.String))
    else:
        heads = [part.read_bytes().partition(b"\n") for part in parts]
        whole = heads[0][0] + b"\n" + b"".join(rest for _, _, rest in heads)
        assert whole == (tmp_path / "here/data.csv").read_bytes()
        there = pl.read_csv(parts[0], infer_schema=False)
    texts = {text for name in ("ill", "pay", "few") for text in there[name].cast(pl.String)}
    assert "0.0" in texts
    assert not texts & {"-0.0", "7.0", "7e0", "2024-03-05 00:00"}
    assert pv.verify(tmp_path / "there", engine=spark).holds


def test_values_that_are_perturbed_and_others_do_not_meet(session: Any, tmp_path: Path) -> None:
    """What is drawn for one column, and a disguise or a spelling of another, had one name on the cluster."""
    table = spelt(40, seed=4).select(pl.int_range(40).cast(pl.String).alias("who"), "ill", "age")
    rules = pv.Policy.loads(
        'policy = 1\n[attributes]\nwho = { role = "identifier", publish = "mask" }\n'
        'ill = "sensitive"\nage = "quasi"\n[[models]]\ntype = "by-construction"\n'
        '[algorithm]\ntype = "rank-swap"\nwithin = "1/4"\n'
    )
    made = pv.publish(table, rules, engine=pv.Spark(session, staging=tmp_path)).to_polars()
    assert set(made["who"]) == {"****"}
    assert sorted(made["age"]) == sorted(table["age"])
    assert made["ill"].drop_nulls().n_unique() == 4
