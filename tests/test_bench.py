"""The benchmarks run and have the shape that they promise; no test looks at a clock."""

import csv
import gzip
import json
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)


def census(rows: int) -> Any:
    from bench.sweep import Subject

    from privet.samples import SAMPLES
    from privet.samples.plans import Plan

    plan = SAMPLES["census"].plan
    assert isinstance(plan, Plan)
    return Subject(plan, SAMPLES["census"].generate(rows, seed=1))


@pytest.mark.usefixtures("_bench")
def test_the_list_names_every_benchmark() -> None:
    from bench.__main__ import BENCHMARKS

    run = [sys.executable, "-m", "bench", "--list"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(BENCHMARKS)
    assert done.stderr == ""


def test_an_unknown_name_is_refused_with_what_there_is() -> None:
    run = [sys.executable, "-m", "bench", "sped"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no benchmark sped; there are speed, scaling" in done.stderr


@pytest.mark.usefixtures("_bench")
def test_every_benchmark_that_is_listed_exists() -> None:
    from importlib import import_module

    from bench.__main__ import BENCHMARKS

    for home, _ in BENCHMARKS.values():
        module, function = home.split(":")
        assert callable(getattr(import_module(module), function))


@pytest.mark.usefixtures("_bench")
def test_stages_are_those_of_the_road(tmp_path: Path) -> None:
    from bench.stages import ROAD, staged

    from privet.policy.values import Policy
    from privet.samples import SAMPLES

    sample = SAMPLES["census"]
    data = tmp_path / "census.csv"
    sample.generate(300, seed=1).write_csv(data)
    seconds = staged(data, Policy.loads(sample.policy(l=2, k=5, c="1")), tmp_path / "out")
    assert tuple(seconds) == ROAD
    assert all(spent > 0 for spent in seconds.values())
    assert (tmp_path / "out" / "data.csv").is_file()


@pytest.mark.usefixtures("_bench")
def test_paths_have_stages_of_their_own(tmp_path: Path) -> None:
    from bench.trajectories import ROAD, Case, staged

    from privet.samples import trips

    data = tmp_path / "trips.csv"
    trips.city(400, 1).write_csv(data)
    said = staged(data, Case("city", 400, 2, k=5, support="1/50"), tmp_path)
    assert tuple(said["seconds"]) == ROAD
    assert all(spent > 0 for spent in said["seconds"].values())
    assert 0 <= said["lost"] <= 1
    assert (tmp_path / "release" / "data.csv").read_text(encoding="utf-8").startswith("path,status")


@pytest.mark.usefixtures("_bench")
def test_a_command_s_cost_is_its_own_and_not_ours() -> None:
    from bench.child import timed

    held = bytearray(300_000_000)
    held[::4096] = b"x" * len(held[::4096])  # touched, so that it counts
    cost, said = timed([sys.executable, "-c", "print(7)"])
    assert said == "7\n"
    assert cost.cpu > 0
    assert 1_000_000 < cost.peak < 200_000_000 < len(held)


@pytest.mark.usefixtures("_bench")
def test_a_command_that_fails_is_an_error() -> None:
    from bench.child import ChildError, timed

    with pytest.raises(ChildError, match="ended with 3"):
        timed([sys.executable, "-c", "raise SystemExit(3)"])


@pytest.mark.usefixtures("_bench")
def test_a_sweep_marks_what_cannot_be_kept_in_table_document_and_curve(tmp_path: Path) -> None:
    from bench.experiments import discernibility_curves

    outcome = discernibility_curves(census(600), ks=(20, 60), cs=("10%", "30%"))
    shown = "\n".join(outcome.lines())
    assert "infeasible" in shown
    written = outcome.write(tmp_path)
    names = [path.name for path in written if path.suffix != ".csv"]
    assert names == ["discernibility.json", "figure-3.6a.svg", "figure-3.6b.svg"]
    series = [path for path in written if path.suffix == ".csv"]
    assert len(series) == 3  # every table as rows, too
    rows = list(csv.reader(series[0].read_text(encoding="utf-8").splitlines()))
    assert [row[0] for row in rows] == ["K", "20", "60"]
    document = json.loads(written[0].read_text(encoding="utf-8"))
    by_k, by_c, _ = document["tables"]
    assert [row["K"] for row in by_k["rows"]] == [20, 60]
    assert all(0 < row["L 2"] <= row["L 13"] <= 1 for row in by_k["rows"])
    assert by_c["rows"][0]["L 2"] == "infeasible"
    drawing = ET.fromstring((tmp_path / "figure-3.6b.svg").read_text(encoding="utf-8"))
    titles = [title.text for title in drawing.iter("{http://www.w3.org/2000/svg}title")]
    assert "L 2, 10: infeasible" in titles
    assert not any(element.tag.endswith("script") for element in drawing.iter())


@pytest.mark.usefixtures("_bench")
@pytest.mark.skipif(find_spec("sklearn") is None, reason="classification error needs scikit-learn")
def test_errors_are_shares_and_infeasible_points_are_none() -> None:
    from bench.experiments import bounds
    from bench.sweep import Setting

    subject = census(600)
    assert subject.error(Setting(2, 20, "5%")) is None
    error = subject.error(Setting(2, 20, "1"))
    be, ue = bounds(subject)
    assert error is not None
    assert all(0 < share < 1 for share in (error, be, ue))


@pytest.mark.usefixtures("_bench")
def test_ties_by_column_hold_only_inside() -> None:
    from bench.sweep import Setting, ties_by_column

    setting = Setting(2, 20, "1/2", "discernibility")
    subject = census(2_000)
    before = subject.ratio(setting)
    with ties_by_column(subject) as other:
        assert other.ratio(setting) != before
    assert subject.afresh().ratio(setting) == before


@pytest.mark.usefixtures("_bench")
def test_peers_that_cannot_be_installed_are_skipped_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bench import lattice, peers

    place = tmp_path / "arx"
    place.mkdir()
    rows = [
        "Male;39;White;Single;Bachelors;US;State;Clerk;low",
        "Female;40;Black;Single;Masters;US;State;Cook;low",
    ]
    text = "\n".join([";".join(lattice.COLUMNS), *(rows * 30)])
    (place / "adult.csv.gz").write_bytes(gzip.compress(text.encode()))
    for at, name in enumerate(lattice.COLUMNS):
        found = sorted({row.split(";")[at] for row in rows})
        (place / f"adult_hierarchy_{name}.csv").write_text("\n".join(f"{value};*" for value in found))
    monkeypatch.setenv("PRIVET_ARX", str(place))

    def offline(*_: object, **__: object) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(subprocess, "run", offline)
    outcome = peers.run()
    assert outcome.notes == ("the peers cannot be installed: no network here",)
    assert list(dict.fromkeys(row[1] for row in outcome.tables[0].rows)) == list(peers.PEERS)
    for row in outcome.tables[0].rows:
        assert isinstance(row[2], float)
        assert row[2] > 0
        assert row[3:5] == [None, None]
        assert row[6:] == [None, None]
    losses = [row[5] for row in outcome.tables[0].rows]
    assert losses[-1] is None  # nothing is lost by checking
    assert all(isinstance(lost, float) and 0 <= lost <= 1 for lost in losses[:-1])


@pytest.mark.usefixtures("_bench")
def test_policies_of_large_tables_are_policies(tmp_path: Path) -> None:
    from bench.growing import MONDRIAN, OPTIMAL, QUASI, policy

    from privet.policy.values import Policy

    ladder = tmp_path / "sex.csv"
    ladder.write_text("Male;*\nFemale;*\n")
    (tmp_path / "p.toml").write_text(policy(("sex", "marital-status"), 5, OPTIMAL, {"sex": ladder}))
    loaded = Policy.load(tmp_path / "p.toml")
    assert [attribute.name for attribute in loaded.quasi] == ["sex", "marital-status"]
    assert loaded.algorithm.name == "optimal"
    made = Policy.loads(policy(QUASI, 10, MONDRIAN, {}, others=("income",)))
    assert len(made.quasi) == 8


@pytest.mark.usefixtures("_bench")
def test_every_node_of_a_small_lattice_is_looked_at() -> None:
    from bench.boxes import boxed, every_node
    from tests.tables import tally_of

    from privet.hierarchy import Tree

    tree = Tree.of({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    tally = tally_of({"x": list("aabbccdd"), "y": list("abcdabcd")}, hierarchies={"x": tree, "y": tree})
    found = every_node(tally)
    assert len(found) == 9
    assert {(one.height, one.smallest, one.paid) for one in found} >= {(0, 1, 8), (4, 8, 64)}
    assert boxed(tally, 2, relaxed=False) <= 32


@pytest.mark.usefixtures("_bench")
def test_a_suppressed_record_loses_everything() -> None:
    import numpy as np
    from bench.lattice import ncp
    from tests.tables import tally_of

    from privet.domain import Node
    from privet.recoding import Regions

    tally = tally_of({"x": ["1", "2", "3"]})
    domain = tally.quasi[0].domain
    leaves = tuple(Node(value, code, code + 1) for code, value in enumerate(domain.values))
    nodes = {"x": (*leaves, domain.root)}
    kept = Regions(nodes, {"x": np.array([0, 1, 2])}, np.array([True, True, False]))
    assert ncp(tally, kept) == pytest.approx(1 / 3)
    assert ncp(tally, Regions(nodes, {"x": np.array([0, 3, 3])})) == pytest.approx(2 / 3)


@pytest.mark.usefixtures("_bench")
def test_accuracy_is_measured_with_the_noise_that_a_policy_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import diffgen
    from tests.dp.small import TABLE_6_1, table

    from privet.dp.diffgen import DiffGen
    from privet.dp.exact import Exact
    from privet.dp.settings import DiffGenSettings

    asked: list[str] = []

    def production(which: str) -> Exact:
        asked.append(which)
        return Exact()

    monkeypatch.setattr(diffgen, "production", production)
    small = table(TABLE_6_1)
    trial = diffgen.Trial(small, small)
    assert 0 <= trial.accuracy(DiffGen(epsilon=Fraction(50), h=2)) <= 1
    assert asked == [DiffGenSettings().noise.value] == ["opendp"]
    assert DiffGenSettings() == diffgen.DEFAULT


@pytest.mark.slow
@pytest.mark.usefixtures("_bench")
@pytest.mark.parametrize("rows", [300, pytest.param(600, marks=pytest.mark.slow)])
def test_auto_loses_less_than_every_other_search(rows: int) -> None:
    from bench import chosen

    from privet.samples import SAMPLES

    found = chosen.measured(SAMPLES["census"].generate(rows, seed=1), rows=str(rows))
    lost = [row[2] for row in found.tables[0].rows]
    assert [row[0] for row in found.tables[0].rows] == [name for name, _ in chosen.SEARCHES]
    assert lost[0] == min(number for number in lost if isinstance(number, float))


@pytest.mark.usefixtures("_bench")
def test_the_cost_model_predicts_what_was_measured() -> None:
    """Every line of docs/explain/scale.md that has a prediction: worked out again, and within 30 %."""
    from bench.spark_cost import Line, counted, off, ordered

    page = (ROOT / "docs/explain/scale.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]

    def number(cell: str) -> float:
        return float(cell.split(maxsplit=1)[0].replace(",", ""))

    seconds = [row for row in rows if len(row) >= 6 and row[1].endswith(" s") and row[-2].endswith(" s")]
    (fitted,) = (list(map(number, row[1:])) for row in seconds if len(row) == 7)
    bent = Line.bent((1_000_000, fitted[0]), (3_000_000, fitted[1]), (10_000_000, fitted[2]))
    predictions = [[bent.at(50_000_000), *fitted[3:]]]
    times = [row for row in seconds if len(row) == 6]
    assert len(times) >= 8
    for search, one, three, *rest in times:
        merged = bent.merged if "Sail" in search else 0.0
        line = Line.through((1_000_000, number(one)), (3_000_000, number(three)), merged)
        predictions.append([line.at(10_000_000), *map(number, rest)])
    for meant, foretold, found, said in predictions:
        assert meant == pytest.approx(foretold, rel=0.02)
        assert off(foretold, found) <= 0.30
        assert round(100 * off(foretold, found)) == pytest.approx(said, abs=1)
    sizes = [row for row in rows if len(row) == 6 and row[3].endswith(" MB")]
    assert len(sizes) >= 4
    for records, _, job, predicted, measured, _ in sizes:
        many = int(number(records))
        model = ordered(many, 9) if "order" in job else counted(1, 174, 100_000, many)
        assert model / 1e6 == pytest.approx(number(predicted), rel=0.02)
        assert off(number(predicted), number(measured)) <= 0.30


@pytest.mark.usefixtures("_bench")
def test_the_most_rows_are_tried_where_they_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import spark

    made: list[int] = []
    ran: list[int | None] = []

    def measured(*_: object, pool: int | None) -> dict[str, object]:
        ran.append(pool)
        return {}

    monkeypatch.setattr(spark, "people", lambda _folder, many: made.append(many))
    monkeypatch.setattr(spark, "measured", measured)
    monkeypatch.setattr(spark, "note", lambda *_: None)
    monkeypatch.setattr(spark, "HUGE", 1_000)  # so that every disk has room
    monkeypatch.setattr(spark, "free_memory", lambda: spark.POOL)
    assert "up to 12 GB" in next(spark.huge({}, tmp_path))
    assert (made, ran) == ([], [])
    monkeypatch.setattr(spark, "free_memory", lambda: 3 * spark.POOL)
    known: spark.Known = {}
    for _ in range(2):  # noted, and not tried again
        assert list(spark.huge(known, tmp_path)) == []
    assert (made, ran) == ([1_000], [spark.POOL])


@pytest.mark.usefixtures("_bench")
def test_what_the_model_says_for_more_is_the_model() -> None:
    """The table for 10^9 and 10^11 records on 100 workers of four cores."""
    from bench.spark_cost import Line, asked, ordered

    page = (ROOT / "docs/explain/scale.md").read_text(encoding="utf-8")
    cells = {
        row[0]: row[1:]
        for row in ([cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines())
        if row
    }
    for column, records in enumerate((10**9, 10**11)):
        runs = [float(cell.removesuffix(" s")) for cell in cells["fitted to the first three"][:3]]
        sail = Line.bent((1_000_000, runs[0]), (3_000_000, runs[1]), (10_000_000, runs[2]))
        spark = Line(0, 20e-6)
        said = cells["processor time, Sail / Spark"][column].replace(" h", "").split(" / ")
        # 400 cores are 200 times as many as those that were measured, and sort as many times less each.
        assert sail.hours(records, share=1 / 200) == pytest.approx(float(said[0]), rel=0.05)
        assert spark.hours(records) == pytest.approx(float(said[1]), rel=0.05)
        moved = cells["shuffled into canonical order, p = 9"][column]
        assert ordered(records, 9) == float(moved.split()[0]) * {"GB": 1e9, "TB": 1e12}[moved.split()[1]]
    assert f"{asked(30, 400, 100_000, 10**9) / 1e9:.0f} GB" in page
