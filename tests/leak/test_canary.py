"""Canaries: values planted in the data that must not be heard anywhere but in the data that is published.

Every column holds one. A quasi-identifier's and an identifier's are never published; a sensitive, target
or other column's stand in the published data, and nowhere else.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import sqlite3
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import privet as pv
from privet.cli import main
from privet.core import Form
from privet.disguise import Key, Mask, Pseudonym, Shift
from privet.domain import Cut
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.errors import PrivetError
from privet.hierarchy import Dates, Flat, Intervals, Prefix, Tree
from privet.models.alphak import AlphaKAnonymity
from privet.verification import verify

CANARY = "zqx" + "jkv"  # in two halves: a traceback quotes the lines of this file
NUMBER = "482" + "71"  # the canary of numbers, inside its interval
DATE = "1977-" + "07-17"
RAW_ONLY = {
    "name": f"{CANARY}-name",
    "job": f"{CANARY}-job",
    "code": f"x{CANARY}9",
    "free": f"{CANARY}-free",
    "unnamed": f"{CANARY}-unnamed",
    "pay": NUMBER,
    "born": DATE,
}
PUBLISHED = {name: f"{CANARY}-{name}" for name in ("ill", "good", "note")}
HEARD = (CANARY, NUMBER, DATE)

POLICY = """
policy = 1
purpose = "a test"

[attributes]
name = {{ role = "identifier" }}
job = {{ role = "quasi", hierarchy = {{ type = "csv", path = "job.csv" }} }}
code = {{ role = "quasi", hierarchy = {{ type = "prefix", keep = [1] }} }}
free = {{ role = "quasi", hierarchy = {{ type = "flat" }} }}
pay = {{ role = "quasi", hierarchy = {{ type = "intervals", width = [10000, 100000] }} }}
born = {{ role = "quasi", hierarchy = {{ type = "dates", levels = ["year", "decade"] }} }}
ill = {{ role = "sensitive" }}
good = {{ role = "target" }}
note = {{ role = "other" }}

[[models]]
type = "lkc-privacy"
l = 2
k = {k}
c = "{c}"
sensitive = {{ ill = ["HIV"] }}

[[models]]
type = "alpha-k-anonymity"
alpha = "9/10"
k = 2
sensitive = ["ill"]
"""


def table() -> dict[str, list[str | None]]:
    rows = 24
    made: dict[str, list[str | None]] = {
        "name": [f"{RAW_ONLY['name']}-{at}" for at in range(rows)],
        "job": [RAW_ONLY["job"] if at == 3 else f"job{at % 3}" for at in range(rows)],
        "code": [RAW_ONLY["code"] if at == 3 else f"x{at % 4}plain" for at in range(rows)],
        "free": [RAW_ONLY["free"] if at == 3 else f"free{at % 2}" for at in range(rows)],
        "pay": [NUMBER if at == 3 else str(40000 + 100 * (at % 5)) for at in range(rows)],
        "born": [DATE if at == 3 else f"1975-0{1 + at % 9}-02" for at in range(rows)],
        "ill": [PUBLISHED["ill"] if at == 5 else ("HIV", "flu", "cold")[at % 3] for at in range(rows)],
        "good": [PUBLISHED["good"] if at == 5 else ("Y", "N")[at % 2] for at in range(rows)],
        "note": [None if at == 4 else f"{PUBLISHED['note']}-{at}" for at in range(rows)],
        "unnamed": [f"{RAW_ONLY['unnamed']}-{at}" for at in range(rows)],
    }
    return made


JOBS = f"""
job0;some;*
job1;some;*
job2;some;*
{CANARY}-job;some;*
job3;none;*
job4;none;*
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame(table()).write_csv(path)
    (tmp_path / "job.csv").write_text(JOBS, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY.format(k=2, c="3/4"), encoding="utf-8")
    return path


@pytest.fixture
def policy(data: Path) -> pv.Policy:
    return pv.Policy.load(data.parent / "policy.toml")


def silent_about(*texts: str, but: tuple[str, ...] = ()) -> None:
    for text in texts:
        for canary in HEARD:
            if canary in text and canary not in but:
                at = text.index(canary)
                pytest.fail(f"a canary sings: …{text[max(0, at - 60) : at + 40]}…")


@pytest.fixture(autouse=True)
def _overheard(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Whatever is logged or printed during a test is silent about the canaries."""
    caplog.set_level(logging.DEBUG)
    yield
    out = capfd.readouterr()
    silent_about(caplog.text, out.out, out.err)


def error_texts(error: BaseException) -> list[str]:
    """All that a log or a tracker would show of an exception."""
    return [str(error), repr(error), "".join(traceback.format_exception(error)), repr(error.args)]


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_the_release_is_silent(
    data: Path,
    policy: pv.Policy,
    engine: str,
) -> None:
    told: list[str] = []
    release = pv.publish(
        data, policy, engine=engine, progress=lambda *args, **named: told.append(repr((args, named)))
    )
    folder = release.write(data.parent / "out")
    assert told
    silent_about(*told, repr(release), str(release), repr(release.evidence), repr(release.verdicts))
    published = (folder / "data.csv").read_text(encoding="utf-8")
    for raw in RAW_ONLY.values():
        assert raw not in published
    for text in PUBLISHED.values():
        assert text in published
    for path in folder.iterdir():
        if path.name != "data.csv":
            silent_about(path.read_text(encoding="utf-8"))
    found = verify(folder)
    assert found.holds
    silent_about(repr(found))
    assert CANARY in (data.parent / "out.private" / "steward.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", [Embedded(), Plain()], ids=["embedded", "plain"])
def test_reprs_are_silent(data: Path, policy: pv.Policy, engine: Any) -> None:
    frame = engine.read(data, policy.form)
    tallied = engine.tally(frame, policy)
    tally = tallied.tally
    silent_about(repr(tallied), repr(tallied.rows))
    silent_about(repr(policy), str(policy), repr(frame), repr(tally), str(tally), repr(tally.topmost()))
    for column in (*tally.quasi, *tally.sensitive, tally.target):
        silent_about(repr(column), repr(column.domain), repr(column.domain.root))
        silent_about(repr(Cut(column.domain, (column.domain.root,))))
    for attribute in policy.attributes:
        silent_about(repr(attribute), repr(attribute.hierarchy))
    finding = policy.algorithm.search(tally, policy)
    silent_about(repr(finding.recoding))


def test_no_trap_of_a_debugger_is_laid(data: Path, policy: pv.Policy) -> None:
    """Errors hold no data in their fields either: trackers show those too."""
    broken = replace(policy, models=(pv.KAnonymity(k=1000),))
    with pytest.raises(PrivetError) as caught:
        pv.publish(data, broken)
    silent_about(repr(vars(caught.value)))


# Errors: each way to fail, with a canary at the place of the fault.


def text_file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


HEADER = "name,job,code,free,pay,born,ill,good,note"
GOOD = "a,job0,x1,f,40000,1975-01-02,flu,Y,n"
ROW = ",".join([CANARY] * 9)
BAD_FILES: Mapping[str, Callable[[Path], Path]] = {
    "ragged": text_file("a.csv", f"{HEADER}\n{GOOD}\n{CANARY},{CANARY}\n"),
    "too many fields": text_file("a.csv", f"{HEADER}\n{ROW},{CANARY}\n"),
    "open quote": text_file("a.csv", f'{HEADER}\n{GOOD}\n"{CANARY},b\n'),
    "text after quote": text_file("a.csv", f'{HEADER}\n"{CANARY}"x,{GOOD[2:]}\n'),
    "stray quote": text_file("a.csv", f'{HEADER}\ncan"{CANARY},{GOOD[2:]}\n'),
    "wrong encoding": text_file(
        "a.csv", f"{HEADER}\n{GOOD}\n".encode() + CANARY.encode() + b"\xff" + GOOD.encode()
    ),
    "binary": text_file("a.csv", CANARY.encode() + b"\x00\x01" * 50),
    "no header": text_file("a.csv", f"b,c\n{CANARY},{CANARY}\n"),
    "huge field": text_file("a.csv", f"{HEADER}\n{GOOD}{CANARY * 40_000}\n"),
    "header only": text_file("a.csv", f"{HEADER}\n"),
    "no gzip": text_file("a.csv.gz", CANARY),
    "broken gzip": text_file("a.csv.gz", gzip.compress(f"{HEADER}\n{ROW}\n".encode() * 99)[:-30]),
    "uncovered": text_file("a.csv", f"{HEADER}\n{ROW}\n"),
    "uncovered number": text_file("a.csv", f"{HEADER}\n{GOOD.replace('40000', CANARY)}\n"),
    "uncovered date": text_file("a.csv", f"{HEADER}\n{GOOD.replace('1975-01-02', CANARY)}\n"),
    "no json": text_file("a.jsonl", f'{{"name": "{CANARY}"\n'),
    "mixed json": text_file("a.jsonl", f'{{"name": true}}\n{{"name": {NUMBER}}}\n'),
    "nested json": text_file("a.jsonl", f'{{"name": ["{CANARY}"]}}\n'),
    "other json": text_file("a.jsonl", f'{{"other": "{CANARY}"}}\n'),
    "no parquet": text_file("a.parquet", CANARY),
    "no arrow": text_file("a.arrow", CANARY),
    "too few": text_file("a.csv", f"{HEADER}\n{GOOD.replace('flu', CANARY)}\n"),
}


@pytest.mark.parametrize("engine", ["embedded", "plain"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_errors_about_files_are_silent(
    data: Path,
    policy: pv.Policy,
    name: str,
    engine: str,
) -> None:
    source = BAD_FILES[name](data.parent)
    with pytest.raises(PrivetError) as caught:
        pv.publish(source, policy, engine=engine)
    silent_about(*error_texts(caught.value))


def _tall() -> pl.DataFrame:
    return pl.DataFrame(table())


def _shifted(policy: pv.Policy) -> pv.Policy:
    made = tuple(
        pv.Attribute("note", pv.Role.IDENTIFIER, None, Shift(Key(env="PRIVET_TEST_KEY"), 9), "name")
        if a.name == "note"
        else a
        for a in policy.attributes
    )
    return replace(policy, attributes=made)


def _like(data: Path, policy: pv.Policy, batch: pl.DataFrame) -> None:
    coarse = replace(policy, models=(pv.KAnonymity(k=8),))
    folder = pv.publish(data, coarse).write(data.parent / "earlier")
    pv.publish(batch, coarse, like=folder)


def _wrong_table(data: Path, policy: pv.Policy) -> None:
    engine = Embedded()
    frame, other = engine.read(data, policy.form), engine.read(data, policy.form)
    tally = engine.tally(frame, policy).tally
    engine.apply(engine.tally(other, policy), policy, policy.algorithm.search(tally, policy).recoding)


def _sqlite(data: Path, policy: pv.Policy, query: str) -> None:
    with contextlib.closing(sqlite3.connect(data.parent / "a.db")) as connection:
        connection.execute("create table if not exists t (name text, pay real)")
        connection.execute("insert into t values (?, ?)", [CANARY, NUMBER])
        connection.commit()
    pv.publish(f"sqlite:///{data.parent / 'a.db'}", replace(policy, form=Form(query=query)))


FAILURES: Mapping[str, Callable[[Path, pv.Policy], object]] = {
    "unsatisfiable k": lambda d, p: pv.publish(d, replace(p, models=(pv.KAnonymity(k=99),))),
    "unsatisfiable c": lambda d, p: pv.publish(
        d, replace(p, models=(AlphaKAnonymity(alpha=Fraction(1, 99), k=1, sensitive=["ill"]),))
    ),
    "unseen value": lambda d, p: _like(d, p, _tall().with_columns(pay=pl.lit(CANARY))),
    "unseen number": lambda d, p: _like(d, p, _tall().with_columns(pay=pl.lit(f"4{NUMBER}"))),
    "broken by the batch": lambda d, p: _like(d, p, _tall().head(4)),
    "not dates": lambda d, p: pv.publish(d, _shifted(p)),
    "missing column": lambda _, p: pv.publish(_tall().drop("job"), p),
    "no records": lambda _, p: pv.publish(_tall().head(0), p),
    "no table": lambda _, p: pv.publish([[CANARY]], p),
    "another table's recoding": _wrong_table,
    "broken query": lambda d, p: _sqlite(d, p, f"select * from t where name = '{CANARY}' and"),
    "query without columns": lambda d, p: _sqlite(d, p, "select name from t"),
    "query without records": lambda d, p: _sqlite(d, p, "select * from t where name = 'nobody'"),
    "query that writes": lambda d, p: _sqlite(d, p, f"insert into t values ('{CANARY}', 1)"),
    "query with doubled names": lambda d, p: _sqlite(d, p, "select name, pay as name from t"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_errors_on_the_road_are_silent(
    data: Path,
    policy: pv.Policy,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PRIVET_TEST_KEY", "k" * 32)
    with pytest.raises(PrivetError) as caught:
        FAILURES[name](data, policy)
    silent_about(*error_texts(caught.value), repr(vars(caught.value)))


@pytest.mark.parametrize(
    "hierarchy",
    [
        Tree.of({"*": ["a"]}),
        Intervals(),
        Intervals(edges=(0, 9)),
        Prefix(keep=(2,)),
        Dates(),
        Dates(format="%d.%m.%Y"),
    ],
    ids=lambda h: f"{h.name}",
)
def test_hierarchies_are_silent_about_what_they_cannot_place(hierarchy: Any) -> None:
    with pytest.raises(PrivetError) as caught:
        hierarchy.domain([f"{CANARY}*", f"{NUMBER}{CANARY}*"])
    silent_about(*error_texts(caught.value), repr(vars(caught.value)))
    domain = Flat().domain([CANARY, NUMBER])
    silent_about(repr(domain), repr(domain.root))


def test_disguises_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVET_TEST_KEY", f"{CANARY}-key-of-32-characters-long")
    key = Key(env="PRIVET_TEST_KEY")
    silent_about(repr(key), repr(Mask(last=2)), repr(Pseudonym(key)), repr(Shift(key)))
    with pytest.raises(PrivetError) as caught:
        Shift(key).cover([CANARY], [CANARY])
    silent_about(*error_texts(caught.value))


def test_a_tampered_release_is_told_without_values(data: Path, policy: pv.Policy) -> None:
    folder = pv.publish(data, policy).write(data.parent / "out")
    frame = pl.read_csv(folder / "data.csv", infer_schema=False)
    frame.with_columns(pl.Series("job", [f"{CANARY} {at}" for at in range(24)])).write_csv(
        folder / "data.csv"
    )
    found = verify(folder)
    assert not found.holds
    silent_about(repr(found), *found.complaints)
    (folder / "data.csv").write_text(frame.write_csv() + f"{CANARY},{CANARY}\n")
    with pytest.raises(PrivetError) as caught:
        verify(folder)
    silent_about(*error_texts(caught.value))


# The command line speaks to the steward, and to logs of nightly runs.


@pytest.mark.one_in(3)
@pytest.mark.parametrize("json_", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("command", ["check", "publish", "risk", "verify", "explain", "compare"])
def test_commands_are_silent(
    data: Path,
    policy: pv.Policy,
    command: str,
    json_: bool,
) -> None:
    folder, written = pv.publish(data, policy).write(data.parent / "out"), str(data.parent / "policy.toml")
    args = {
        "check": ["check", str(data), written],
        "publish": ["publish", str(data), written, "-o", str(data.parent / "new")],
        "risk": ["risk", str(data), written],
        "verify": ["verify", str(folder)],
        "explain": ["explain", str(folder)],
        "compare": ["compare", str(data), str(folder)],
    }[command]
    assert main([*args, *(["--json"] if json_ else [])]) in {0, 1}


@pytest.mark.parametrize("name", ["ragged", "uncovered", "wrong encoding", "huge field", "too few"])
def test_commands_fail_silently(data: Path, name: str) -> None:
    source = BAD_FILES[name](data.parent)
    code = main(["publish", str(source), str(data.parent / "policy.toml"), "-o", str(data.parent / "new")])
    assert code in {1, 2}
    assert not (data.parent / "new").exists()


def test_the_test_hears() -> None:
    with pytest.raises(pytest.fail.Exception, match="a canary sings"):
        silent_about("all is well", json.dumps({"x": f"a {CANARY}"}))
