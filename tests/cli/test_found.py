"""What fuzzing found, so that it stays found: each of these ended with "a fault in privet", or not at all."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.pairs import policy_of, table_of

import privet as pv

Run = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table_of(1, rows=60).write_csv("raw.csv")
    written("k-anonymity", "mondrian")
    return tmp_path


def written(promise: str, algorithm: str, *more: str, **attributes: Any) -> None:
    Path("policy.toml").write_text(policy_of([promise, *more], algorithm, **attributes).dumps(), "utf-8")


def refused(ran: Any, *said: str, code: int = 2) -> None:
    assert ran.code == code, ran.err
    for word in said:
        assert word in ran.err
    for trace in ("Traceback", "internal error", "panicked", "fault in privet"):
        assert trace not in ran.err


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_damaged_gzip(here: Path, privet: Run, engine: str) -> None:
    whole = gzip.compress(Path("raw.csv").read_bytes())
    for at in (len(whole) // 3, len(whole) // 2, len(whole) - 30):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        Path("bad.csv.gz").write_bytes(damaged)
        refused(privet("check", "bad.csv.gz", "policy.toml", "--engine", engine), "bad.csv.gz")
        refused(privet("init", "bad.csv.gz", "-o", "draft.toml"), "bad.csv.gz")


@pytest.mark.parametrize("encoding", ["idna", "undefined", "punycode", "base64", "no-such"])
def test_codecs_that_are_not_for_files(here: Path, privet: Run, encoding: str) -> None:
    for verb in (["check"], ["publish", "-o", "out"]):
        refused(privet(verb[0], "raw.csv", "policy.toml", *verb[1:], "--encoding", encoding))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "null",
        lambda text: "\x00",
        lambda text: "[" * 100_000,
        lambda text: json.dumps(json.loads(text) | {"published_as": 3}),
        lambda text: json.dumps(json.loads(text) | {"steps": True}),
        lambda text: json.dumps(json.loads(text) | {"relaxations": [{}]}),
        lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "digest"}),
    ],
)
def test_damaged_notes(here: Path, privet: Run, damage: Callable[[str], str]) -> None:
    assert privet("publish", "raw.csv", "policy.toml", "-o", "out").code == 0
    notes = Path("out.private/steward.json")
    notes.write_text(damage(notes.read_text("utf-8")), "utf-8")
    for words in (("explain", "out"), ("compare", "raw.csv", "out")):
        refused(privet(*words), "these notes are damaged")
    assert privet("verify", "out").code == 0  # which needs no notes
    notes.unlink()
    assert privet("explain", "out").code == 0


@pytest.mark.parametrize("algorithm", ["pram", "rank-swap"])
@pytest.mark.parametrize("column", ["age", "hours"])
def test_a_column_in_which_nobody_has_a_value(here: Path, privet: Run, algorithm: str, column: str) -> None:
    table = table_of(1, rows=60)
    table.with_columns(pl.lit(None, dtype=table[column].dtype).alias(column)).write_csv("raw.csv")
    written("by-construction", algorithm)
    assert privet("publish", "raw.csv", "policy.toml", "-o", "out").code == 0
    assert pl.read_csv("out/data.csv")[column].null_count() == 60


@pytest.mark.parametrize("to", ["csv", "tsv", "jsonl"])
def test_bytes_and_durations_have_no_text(here: Path, privet: Run, to: str) -> None:
    table = table_of(1, rows=60).with_columns(
        pl.Series("blob", [b"\xff\x00"] * 60), pl.Series("wait", [1] * 60, dtype=pl.Duration)
    )
    table.write_parquet("raw.parquet")
    for name in ("blob", "wait"):
        for role in ("other", "sensitive"):
            written("k-anonymity", "mondrian", **{name: {"role": role}})
            words = ("publish", "raw.parquet", "policy.toml", "-o", "out", "--to", to)
            ran = privet(*words)
            refused(ran, f"column '{name}' holds bytes or durations")
            assert not Path("out").exists()


def test_numbers_that_are_not_finite_are_not_made_null(here: Path, privet: Run) -> None:
    numbers = pl.Series("x", [float("nan"), float("inf"), 1.5] * 20)
    table_of(1, rows=60).with_columns(numbers).write_parquet("raw.parquet")
    written("k-anonymity", "mondrian", x={"role": "other"})
    words = ("publish", "raw.parquet", "policy.toml", "-o", "out", "--overwrite", "--to")
    refused(privet(*words, "jsonl"), "column 'x' holds numbers that are not finite")
    assert privet(*words, "parquet").code == 0
    assert pl.read_parquet("out/data.parquet")["x"].null_count() == 0


@pytest.mark.parametrize("promise", ["k-anonymity", "distinct-l-diversity"])
def test_condensation_beside_a_promise_that_can_be_checked(here: Path, privet: Run, promise: str) -> None:
    written("by-construction", "condensation", promise)
    ran = privet("publish", "raw.csv", "policy.toml", "-o", "out")
    refused(ran, f"{promise}: condensation works by chance", code=1)


def test_local_suppression_that_leaves_out_everybody_with_the_protected_value() -> None:
    paths = pl.DataFrame(
        {
            "id": ["1", "2", "3", "4"],
            "path": ["a1", "a1", "b2", "c3"],
            "ill": ["no", "no", "yes", "yes"],
        }
    )
    policy = pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n'
        '[trajectories]\nform = "column"\npath = "path"\nempty = "drop"\n'
        '[attributes]\nid = { role = "identifier" }\nill = { role = "sensitive" }\n'
        '[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\nc = "2/3"\nsensitive = { ill = ["yes"] }\n'
        '[algorithm]\ntype = "suppress-points-locally"\n'
    )
    assert pv.publish(paths, policy).to_polars()["path"].to_list() == ["a1", "a1"]


def test_mondrian_ends_on_a_wide_column(tmp_path: Path) -> None:
    """Thousands of different numbers, halved once, and not once for every box."""
    draw = np.random.default_rng(3)
    rows = 6_000
    table = pl.DataFrame(
        {
            "age": draw.integers(0, 10**6, rows),
            "hours": draw.integers(0, 10**6, rows),
            "ill": draw.choice(["a", "b"], rows),
        }
    )
    policy = policy_of(["k-anonymity"], "mondrian")
    policy = pv.Policy.loads(
        policy.dumps().replace("relaxed = false", 'relaxed = false\noutput = "hierarchy"')
    )
    began = time.process_time()
    pv.publish(table, policy)
    assert time.process_time() - began < 60  # seconds of work; it took hours


def test_a_key_that_stands_twice_would_say_another_thing_to_another_reader(here: Path, privet: Run) -> None:
    assert privet("publish", "raw.csv", "policy.toml", "-o", "out").code == 0
    evidence = Path("out/evidence.json")
    text = evidence.read_text("utf-8")
    evidence.write_text(text.replace("{", '{"records": 1, ', 1), "utf-8")
    refused(privet("verify", "out"), "evidence.json: this is not JSON", code=1)


def test_sets_that_nobody_can_write_out_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.errors import UnsupportedError
    from privet.roads.transactions import check
    from privet.rules.baskets import Baskets

    owner, item = np.zeros(4, np.int64), np.arange(4)
    baskets = Baskets.gathered(["a", "b", "c", "d"], owner, item, 1)
    monkeypatch.setattr(check, "MOST", 9)
    with pytest.raises(UnsupportedError, match="itemsets"):
        check.refuse_endless(baskets, 2)
    check.refuse_endless(baskets, 1)
