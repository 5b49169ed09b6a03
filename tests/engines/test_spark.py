"""The engine `spark` against a real Spark Connect server: Sail, which needs no JVM."""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha512
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import privet as pv
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.spark import jobs, sources, spread, staging
from privet.engines.spark.staging import Staging
from privet.errors import InputError, UnsupportedError
from privet.testing import check_engine

pytestmark = pytest.mark.services

HERE = Path(__file__).resolve().parents[2]
SAIL = os.environ.get("PRIVET_SPARK", "sail") == "sail"
PEOPLE = pl.DataFrame(
    {
        "who": [f"p{n}" for n in range(60)],
        "age": [str(30 + n % 6) for n in range(60)],
        "sex": ["F" if n % 2 else "M" for n in range(60)],
        "ill": ["flu" if n % 3 else "HIV" for n in range(60)],
    }
)
RULES = """
policy = 1
rows = "persons"
[attributes]
who = { role = "identifier" }
age = { role = "quasi", hierarchy = { type = "intervals", width = [2, 6] } }
sex = { role = "quasi" }
ill = { role = "sensitive" }
[[models]]
type = "k-anonymity"
k = 5
[algorithm]
type = "top-down"
"""


SERVER = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(*server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def spark(session: Any, tmp_path: Path) -> pv.Spark:
    return pv.Spark(session, staging=tmp_path / "staging")


def rules(text: str = RULES) -> pv.Policy:
    return pv.Policy.loads(text)


def published(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "data.parquet" / "part-*.parquet")


def test_contract(spark: pv.Spark) -> None:
    check_engine(spark, examples=12 if SAIL else 3)  # Spark takes a second for what Sail does in a blink


def test_the_page_says_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of docs/howto/publish-on-spark.md that needs nobody's cluster."""
    from privet.cli import main

    pytest.importorskip("pysail", reason="the extra `sail` is not installed")
    monkeypatch.chdir(tmp_path)
    page = (HERE / "docs/howto/publish-on-spark.md").read_text(encoding="utf-8")
    commands = [line for line in page.splitlines() if line.startswith("privet ") and "cluster:" not in line]
    assert len(commands) == 7
    for command in commands:
        broken = command.startswith("privet check")  # the raw table keeps no promise
        assert main(shlex.split(command)[1:]) == (1 if broken else 0), command


def test_a_program_that_has_no_file() -> None:
    """`python -c`, or a worker of a test: pyspark takes these for its own tests and ends them."""
    pytest.importorskip("pysail", reason="the extra `sail` is not installed")
    program = "from privet.engines.spark.session import session_of as s; print(s('sail').range(3).count())"
    program += "; import __main__; assert not hasattr(__main__, '__file__')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr[-2000:]


# Sources


def test_a_frame_of_the_session(session: Any, spark: pv.Spark, tmp_path: Path) -> None:
    frame = session.createDataFrame(PEOPLE.to_arrow())
    pv.publish(frame, rules(), engine=spark).write(tmp_path / "out")
    expected = pv.publish(PEOPLE, rules()).to_polars()
    assert published(tmp_path / "out").equals(expected)


def test_a_table_of_the_catalogue(session: Any, spark: pv.Spark) -> None:
    session.createDataFrame(PEOPLE.to_arrow()).createOrReplaceTempView("people")
    release = pv.publish("table:people", rules(), engine=spark)
    assert release.evidence.records == 60
    assert release.to_polars().equals(pv.publish(PEOPLE, rules()).to_polars())


def test_text_that_only_the_cluster_sees(spark: pv.Spark, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    PEOPLE[:40].with_columns(sex=pl.lit("")).write_csv(folder / "a.csv", quote_style="always")
    PEOPLE[40:].write_csv(folder / "b.csv")
    found = spark.read(f"file://{folder}", Form("csv"))
    assert spark.rows(found) == 60
    assert set(spark.distinct(found, "sex")) == {None, "F", "M"}, "an empty text is a missing one there"
    (folder / "c.csv").write_text("who,age,sex,ill\np,30,F,flu,and more\n")
    with pytest.raises(InputError, match="Spark: "):
        spark.read(f"file://{folder}", Form("csv"))
    with pytest.raises(UnsupportedError, match="UTF-8"):
        spark.read(f"file://{folder}", Form("csv", encoding="latin-1"))


def test_a_folder_is_read_as_embedded_reads_it(spark: pv.Spark, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    for number, part in enumerate((PEOPLE[:7], PEOPLE[7:40], PEOPLE[40:])):
        part.write_csv(folder / f"{number}.csv")
    here = pv.publish(folder, rules()).to_polars()
    assert pv.publish(folder, rules(), engine=spark).to_polars().equals(here)


def test_a_database_needs_a_query(spark: pv.Spark) -> None:
    with pytest.raises(InputError, match="needs a query"):
        spark.read("jdbc:postgresql://nobody/none", Form())


def test_check_risk_compare_and_explain(spark: pv.Spark, tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "raw.parquet")
    raw = tmp_path / "raw.parquet"
    pv.publish(raw, rules(), engine=spark).write(tmp_path / "out")
    assert pv.check(raw, rules(), engine=spark) == pv.check(raw, rules())
    assert pv.risk(raw, rules(), engine=spark).to_dict() == pv.risk(raw, rules()).to_dict()
    there = pv.compare(raw, tmp_path / "out", engine=spark).to_dict()
    assert there == pv.compare(raw, tmp_path / "out").to_dict()
    assert pv.explain(tmp_path / "out", engine=spark).to_dict() == pv.explain(tmp_path / "out").to_dict()


# The rules that hold on every engine


def test_equal_values_are_equal(spark: pv.Spark, tmp_path: Path) -> None:
    table = PEOPLE.with_columns(
        age=pl.when(pl.int_range(60) % 4 == 0).then(pl.col("age") + ".0").otherwise("age")
    )
    table = table.with_columns(
        sex=pl.when(pl.int_range(60) % 4 == 0).then(pl.lit("e\u0301")).otherwise(pl.lit("é"))
    )
    table.write_csv(tmp_path / "raw.csv")
    text = RULES.replace("k = 5", "k = 8").replace("width = [2, 6]", "width = [1, 6]")
    here = pv.publish(tmp_path / "raw.csv", rules(text)).to_polars()
    there = pv.publish(tmp_path / "raw.csv", rules(text), engine=spark).to_polars()
    assert there.equals(here.cast(there.schema))
    assert there["sex"].n_unique() == 1, "one spelling leaves"


def test_an_identifier_that_repeats_is_refused(spark: pv.Spark) -> None:
    table = PEOPLE.with_columns(
        who=pl.when(pl.int_range(60) < 3).then(pl.Series(["7", "7.0", "07"] * 20)).otherwise("who")
    )
    text = RULES.replace('rows = "persons"', "")
    with pytest.raises(pv.PersonError, match="2 of 60 records share it"):
        pv.publish(table, rules(text), engine=spark)
    assert spark.repeated(spark.read(table, Form()), "who") == Embedded().repeated(
        Embedded().read(table, Form()), "who"
    )


def test_persons_are_counted(spark: pv.Spark, tmp_path: Path) -> None:
    table = PEOPLE.with_columns(who=pl.Series([f"p{n // 3}" for n in range(60)]))
    text = RULES.replace('rows = "persons"', 'person = "who"').replace("k = 5", "k = 3")
    pv.publish(table, rules(text), engine=spark, output="parquet").write(tmp_path / "there")
    pv.publish(table, rules(text), output="parquet").write(tmp_path / "here")
    assert published(tmp_path / "there").equals(pl.read_parquet(tmp_path / "here/data.parquet"))
    assert "who" not in published(tmp_path / "there").columns
    assert pv.verify(tmp_path / "there", engine=spark).holds


def test_only_some_rows_leave(spark: pv.Spark) -> None:
    table = PEOPLE.with_columns(here=pl.Series(["1", "1.0", "0"] * 20))
    text = RULES.replace("[[models]]", 'here = { role = "sensitive" }\n[[models]]', 1).replace(
        'type = "k-anonymity"\nk = 5', 'type = "k-map"\nk = 5\nsubset = "here"\nvalues = ["1"]'
    )
    said = rules(text.replace("policy = 1", 'policy = 1\npublish_only = { here = ["1"] }'))
    here = pv.publish(table, said).to_polars()
    assert here.height == 40
    assert pv.publish(table, said, engine=spark).to_polars().equals(here)


def test_disguised_identifiers(spark: pv.Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVET_KEY", "a key that is long enough to be one of thirty-two bytes")
    table = PEOPLE.with_columns(seen=pl.Series([f"2024-01-{1 + n % 28:02d}" for n in range(60)]))
    text = RULES.replace(
        'who = { role = "identifier" }',
        'who = { role = "identifier", publish = "hash", key_env = "PRIVET_KEY" }',
    )
    text = text.replace(
        "[[models]]",
        'seen = { role = "identifier", publish = "shift", by = "who", days = 30, key_env = "PRIVET_KEY" }\n'
        "[[models]]",
        1,
    )
    here = pv.publish(table, rules(text)).to_polars()
    assert pv.publish(table, rules(text), engine=spark).to_polars().equals(here)


def test_the_order_of_rows_tells_nothing(spark: pv.Spark) -> None:
    first = pv.publish(PEOPLE, rules(), engine=spark).to_polars()
    for seed in (1, 2):
        other = PEOPLE.sample(fraction=1, shuffle=True, seed=seed)
        assert pv.publish(other, rules(), engine=spark).to_polars().equals(first)


def test_what_looks_like_a_formula_is_said(spark: pv.Spark, tmp_path: Path) -> None:
    table = PEOPLE.with_columns(note=pl.Series(["=1+1", "-3", "plain"] * 20))
    text = RULES.replace("[[models]]", 'note = { role = "other" }\n[[models]]', 1)
    release = pv.publish(table, rules(text), engine=spark, output="csv")
    assert any("note: 1 value begins like a formula" in said for said in release.evidence.cautions)
    release.write(tmp_path / "out")
    assert pv.verify(tmp_path / "out", engine=spark).holds
    assert pv.verify(tmp_path / "out").holds


def test_the_next_batch(spark: pv.Spark, tmp_path: Path) -> None:
    for name, algorithm in (("cuts", "top-down"), ("boxes", "mondrian")):
        text = RULES.replace("top-down", algorithm)
        pv.publish(PEOPLE, rules(text), engine=spark).write(tmp_path / name)
        again = pv.publish(PEOPLE, rules(text), engine=spark, like=tmp_path / name).to_polars()
        assert Counter(again.rows()) == Counter(published(tmp_path / name).rows())


# What is refused, and what fails


def test_what_cannot_run_there_is_named_before_any_work(spark: pv.Spark) -> None:
    def work(*_: Any) -> None:
        pytest.fail("work began")

    diverse = 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]'
    halves = RULES.replace("top-down", "anatomy").replace('type = "k-anonymity"\nk = 5', diverse)
    spark.read = work  # type: ignore[method-assign,assignment]
    for text, word in ((halves, "anatomy"), ('order = "kept"\n' + RULES, 'order = "kept"')):
        for ask in (pv.publish, pv.check, pv.risk):
            with pytest.raises(UnsupportedError, match=word):
                ask(PEOPLE, rules(text), engine=spark)


def test_limits_are_stated(session: Any, tmp_path: Path) -> None:
    few = pv.Spark(session, staging=tmp_path, values=5)
    with pytest.raises(UnsupportedError, match="more than 5 distinct values"):
        pv.publish(PEOPLE, rules(), engine=few)
    few = pv.Spark(session, staging=tmp_path, cells=5)
    with pytest.raises(UnsupportedError, match="more than 5 different combinations"):
        pv.check(PEOPLE, rules(), engine=few)
    with pytest.raises(UnsupportedError, match="more than 5 different combinations"):
        pv.publish(PEOPLE, rules(RULES.replace("top-down", "local")), engine=few)
    few = pv.Spark(session, staging=tmp_path, cells=1)
    with pytest.raises(UnsupportedError, match="more than 1 answers"):  # what leaves is more
        pv.publish(PEOPLE, rules(), engine=few)
    one_by_one = RULES.replace("top-down", "mondrian").replace("[algorithm]", "[algorithm]\nrelaxed = true")
    with pytest.raises(UnsupportedError, match="relaxed = true parts equal values one by one"):
        pv.publish(PEOPLE, rules(one_by_one), engine=pv.Spark(session, staging=tmp_path, cells=5))


def test_parts_that_are_not_alike(spark: pv.Spark, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    PEOPLE.write_parquet(folder / "0.parquet")
    PEOPLE.drop("ill").write_parquet(folder / "1.parquet")
    for engine, said in ((spark, "has other columns"), (Embedded(), "the policy names column 'ill'")):
        with pytest.raises(InputError, match=rf"1\.parquet: {said}"):
            pv.publish(folder, rules(), engine=engine)
    (folder / "1.parquet").write_bytes(b"PAR1 nothing")
    for engine in (spark, Embedded()):
        with pytest.raises(InputError, match=r"1\.parquet: this cannot be read as parquet"):
            pv.publish(folder, rules(), engine=engine)
    whole = (folder / "0.parquet").read_bytes()
    (folder / "1.parquet").write_bytes(whole[:200] + b"\xff" * 300 + whole[500:])  # its footer is fine
    with pytest.raises(InputError):
        pv.publish(folder, rules(), engine=spark)


def test_a_source_that_changes_meanwhile(
    spark: pv.Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = tmp_path / "raw.parquet"
    PEOPLE.write_parquet(raw)
    meant = pv.Spark.apply

    def later(self: pv.Spark, *asked: Any) -> Any:
        PEOPLE.with_columns(age=pl.lit("99")).write_parquet(raw)
        return meant(self, *asked)

    monkeypatch.setattr(pv.Spark, "apply", later)
    with pytest.raises(InputError, match="was changed"):
        pv.publish(raw, rules(RULES.replace("k = 5", "k = 15")), engine=spark)


def test_no_error_quotes_the_data(spark: pv.Spark, tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("who,age,sex,ill\nCANARY,1,F,flu\nCANARY,2,F\n")
    with pytest.raises(InputError) as found:
        spark.read(f"file://{tmp_path}/raw.csv", Form("csv")).count()
    assert "CANARY" not in str(found.value)


def test_what_is_checked_is_what_was_written(
    spark: pv.Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One record of a file is made unique: the plan keeps the promise, the file does not."""
    meant = Staging.written

    def other(self: Staging, frame: Any) -> Path:
        folder = meant(self, frame)
        part = folder / "part-00000.parquet"
        table = pl.read_parquet(part)
        first = pl.int_range(table.height) == 0
        table.with_columns(sex=pl.when(first).then(pl.lit("X")).otherwise("sex")).write_parquet(part)
        return folder

    monkeypatch.setattr(Staging, "written", other)
    with pytest.raises(pv.InternalError, match="broke k-anonymity"):
        pv.publish(PEOPLE, rules(), engine=spark).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@contextmanager
def a_server(program: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Sail in a process of its own, and where it listens."""
    pytest.importorskip("pysail", reason="the extra `sail` is not installed")
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            host, port = server.stdout.readline().split()
            yield server, f"sc://{host}:{port}"
        finally:
            server.kill()


def refused(address: str, tmp_path: Path, what: str = "writing the parts") -> None:
    """What fails while its parts are written leaves nothing, in its place or beside it."""
    notes = [sha512(str(n).encode()).hexdigest() * 3 for n in range(60)]  # no writer packs these well
    noted = PEOPLE.with_columns(note=pl.Series(notes))
    noted.write_parquet(tmp_path / "raw.parquet")
    text = RULES.replace("[[models]]", 'note = { role = "other" }\n[[models]]', 1)
    engine = pv.Spark(master=address, staging=tmp_path / "staging")
    engine._session.client.set_retry_policies([])  # Spark would wait for a dead server for minutes
    with pytest.raises(InputError, match=f"Spark: {what} failed"):
        pv.publish(tmp_path / "raw.parquet", rules(text), engine=engine).write(tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} <= {"raw.parquet", "staging"}
    assert "out" not in [path.name for path in tmp_path.rglob("*")]


def test_a_server_that_dies_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the count and the last part."""
    meant = Staging.written
    with a_server(SERVER) as (server, address):

        def killed(self: Staging, frame: Any) -> Path:
            server.kill()
            server.wait()
            return meant(self, frame)

        monkeypatch.setattr(Staging, "written", killed)
        refused(address, tmp_path)


@pytest.mark.parametrize("question", range(1, 16, 2))
def test_a_server_that_dies_at_any_question_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: int
) -> None:
    """Killed just before the first, third, fifth … thing that is asked of it."""
    PEOPLE.write_parquet(tmp_path / "raw.parquet")
    asked = 0
    with a_server(SERVER) as (server, address):
        engine = pv.Spark(master=address, staging=tmp_path / "staging")
        engine._session.client.set_retry_policies([])
        meant = jobs.told

        def killing(what: str) -> Any:
            nonlocal asked
            asked += 1
            if asked == question:
                server.kill()
                server.wait()
            return meant(what)

        for module in (jobs, sources, spread, staging):
            monkeypatch.setattr(module, "told", killing)
        with pytest.raises(InputError, match=r"^Spark: "):
            pv.publish(tmp_path / "raw.parquet", rules(), engine=engine).write(tmp_path / "out")
    assert asked >= question, "there are so many questions"
    assert "out" not in [path.name for path in tmp_path.rglob("*")]


def test_a_server_that_dies_in_mid_job_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Killed when the first file of the parts is there; whoever is quicker, no part of a release is left."""
    table = pl.concat([PEOPLE] * 2000)
    table.write_parquet(tmp_path / "raw.parquet", row_group_size=2000)
    staged = tmp_path / "staging"
    with a_server(SERVER) as (server, address):
        engine = pv.Spark(master=address, staging=staged)
        engine._session.client.set_retry_policies([])
        ended = threading.Event()

        def kill() -> None:
            while not ended.is_set() and not any(staged.glob("*/parts-*/*")):
                time.sleep(0.001)
            server.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            pv.publish(tmp_path / "raw.parquet", rules(), engine=engine).write(tmp_path / "out")
        except InputError as error:
            assert str(error).startswith("Spark: ")  # noqa: PT017 - either is right
            assert not (tmp_path / "out").exists()
            assert not (tmp_path / "out.private").exists()
        else:
            assert pv.verify(tmp_path / "out").holds
        finally:
            ended.set()
            killer.join()


GONE = """
import os, sys
from privet.engines.spark.session import session_of
session_of(sys.argv[1]).range(3).count()
os.kill(int(sys.argv[2]), 9)
"""


@pytest.mark.slow  # for a minute it does nothing but wait
def test_who_has_lost_its_server_ends_all_the_same(tmp_path: Path) -> None:
    """pyspark's own goodbye waits ten minutes and more for an answer."""
    with a_server(SERVER) as (server, address):
        words = [sys.executable, "-c", GONE, address, str(server.pid)]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
    assert done.returncode == 0, done.stderr[-2000:]


LOST = """
import sys
from pathlib import Path
import privet as pv
from privet.engines.spark.staging import Staging
from privet.errors import InputError
raw, rules, out, staging = sys.argv[1:]
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.sql.shuffle.partitions", 3).getOrCreate()
meant = Staging.written
def lost(self, frame):
    session.sparkContext._gateway.proc.kill()  # the process that drives and works, in local mode
    session.sparkContext._gateway.proc.wait()
    return meant(self, frame)
Staging.written = lost
try:
    engine = pv.Spark(session, staging=staging)
    pv.publish(raw, pv.Policy.load(rules), engine=engine).write(out)
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(SAIL, reason="about the process of Spark itself: make test-spark")
def test_spark_that_dies_leaves_nothing(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "raw.parquet")
    (tmp_path / "rules.toml").write_text(RULES)
    places = [tmp_path / name for name in ("raw.parquet", "rules.toml", "out", "staging")]
    done = subprocess.run(
        [sys.executable, "-c", LOST, *map(str, places)], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("Spark: "), done.stderr[-2000:]
    assert "out" not in [path.name for path in tmp_path.rglob("*")]


WORKERS = """
import os, signal, sys, threading, time
from pathlib import Path
import privet as pv
from privet.errors import InputError
raw, rules, out, staging, failures = sys.argv[1:]
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
builder = builder.config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", 4)
builder = builder.config("spark.task.maxFailures", failures).config("spark.ui.showConsoleProgress", "false")
session = builder.config("spark.log.level", "OFF").getOrCreate()
driver = str(session.sparkContext._gateway.proc.pid)
tracker = session.sparkContext._jsc.sc().statusTracker()
def workers():
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\\0")
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
        except (OSError, IndexError):
            continue
        if parent == driver and any(b"CoarseGrainedExecutorBackend" in word for word in words):
            yield int(entry.name)
killed, ended = 0, threading.Event()
def kill():
    global killed
    while not ended.is_set() and not any(Path(staging).glob("*/parts-*/**/*.parquet")):
        time.sleep(0.002)
    while not ended.is_set() and not (killed and int(failures) > 1):
        if int(failures) > 1 or any(one.numRunningTasks() for one in tracker.getExecutorInfos()):
            for pid in list(workers())[: 1 if int(failures) > 1 else 2]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
        time.sleep(0.01)
killer = threading.Thread(target=kill)
killer.start()
try:
    engine = pv.Spark(session, staging=staging)
    pv.publish(raw, pv.Policy.load(rules), engine=engine).write(out)
except InputError as error:
    print("failed", error, flush=True)
else:
    print("released after", killed, flush=True)
ended.set()
killer.join()
session.stop()
"""


@pytest.mark.skipif(SAIL, reason="about workers of Spark itself: make test-spark")
@pytest.mark.parametrize("failures", [4, 1], ids=["recovers", "fails"])
def test_a_worker_that_is_killed_in_mid_job(tmp_path: Path, failures: int) -> None:
    """Spark does its work again, up to as often as a task may fail; beyond that nothing is left."""
    pl.concat([PEOPLE] * 4000).write_parquet(tmp_path / "raw.parquet", row_group_size=20_000)
    (tmp_path / "rules.toml").write_text(RULES)
    places = [tmp_path / name for name in ("raw.parquet", "rules.toml", "out", "staging")]
    done = subprocess.run(
        [sys.executable, "-c", WORKERS, *map(str, places), str(failures)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if failures > 1:
        assert done.stdout.startswith("released after 1"), done.stdout + done.stderr[-2000:]
        assert pv.verify(tmp_path / "out").complaints == ()
    else:
        assert done.stdout.startswith("failed Spark: "), done.stdout + done.stderr[-2000:]
        assert {path.name for path in tmp_path.iterdir()} <= {"raw.parquet", "rules.toml", "staging"}
        assert not any((tmp_path / "staging").iterdir())


@pytest.mark.parametrize(("room", "what"), [(500, "counting"), (2500, "writing the parts")])
def test_a_full_disk_leaves_nothing(tmp_path: Path, room: int, what: str) -> None:
    """Larger files cannot be written, which is what a worker sees of a full disk."""
    full = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + SERVER.replace(
        "print(", "resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))\nprint("
    )
    with a_server(full.replace("ROOM", str(room))) as (_, address):
        refused(address, tmp_path, what)


def test_who_stops_us_does_not_wait_for_a_server_that_was_stopped_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last question was asked again for 69 seconds, and goodbye was said without an end."""
    policies: list[list[Any]] = []
    given_up: list[Any] = []

    class Client:
        def set_retry_policies(self, given: list[Any]) -> None:
            policies.append(given)

        def _on_exit(self) -> None:
            """What pyspark does when the process ends."""

    client = Client()
    monkeypatch.setattr(jobs, "_ASKED", [])
    monkeypatch.setattr(atexit, "unregister", given_up.append)
    jobs.impatient(client, 6)
    with pytest.raises(KeyboardInterrupt), jobs.told("counting"):
        raise KeyboardInterrupt
    assert [one.max_retries for one in policies[0]] == [0]
    assert policies[-1] == []
    assert given_up == [client._on_exit]
