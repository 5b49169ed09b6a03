"""Order tells nothing: the same records in another order leave as the same bytes, of every kind of data.

Whoever has a register in the order of the raw file would otherwise read every person off the release.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.contract.pairs import every, policy_of, table_of
from tests.contract.test_pairs import CLAIMED, SPLIT
from tests.document.forests import collections
from tests.forge.forging import refused, seal
from tests.roads import noisy
from tests.roads.test_documents import WAYS, objects
from tests.roads.test_documents import policy_of as documents_policy
from tests.roads.test_trajectories import policy as paths_policy
from tests.roads.test_transactions import HIDE, KNOWN, records
from tests.roads.test_transactions import policy as sets_policy
from tests.sweep import covering

import privet as pv
from privet.core import Form
from privet.declared import Order
from privet.domain import Node
from privet.engines.frames import in_order, is_in_order
from privet.engines.trajectories.frames import coded
from privet.errors import PolicyError, UnsatisfiableError
from privet.evidence.notes import ORDER_KEPT
from privet.recoding import Perturbation, Regions
from privet.roads import engine_of
from privet.verification import verify

RELEASING = [name for name in every("algorithms") if CLAIMED[name]]
# What these publish is drawn anew each time: they are tried for their order alone.
DRAWN = {"anatomy", "bucketisation", "coincident", "condensation", "noise", "pram", "rank-swap", "sampling"}
RELAXED = {"type": "mondrian", "relaxed": True}
VISITS = 'form = "visits"\nperson = "id"\nplace = "place"\ntime = "time"'


def written(
    source: Any, policy: pv.Policy, folder: Path, engine: str = "embedded", **how: Any
) -> dict[str, bytes]:
    """The data of a release as it lies in its folder, which verifies."""
    pv.publish(source, policy, engine=engine, **how).write(folder)
    found = verify(folder, engine=engine)
    assert found.holds, found.complaints
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith(("data", "buck"))
    }


def shuffled(rows: Sequence[Any], seed: int = 1) -> list[Any]:
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    return mixed


def mixed_frame(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=7)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


# Tables.


# Two tables for one attribute are made in this process, whatever the engine.
EITHER = [
    pair for pair in product(RELEASING, ["embedded", "plain"]) if pair[1] != "plain" or pair[0] not in SPLIT
]


@pytest.mark.parametrize(("algorithm", "engine"), covering(EITHER, 6))
def test_a_table_in_another_order_leaves_as_the_same_bytes(
    algorithm: str, engine: str, tmp_path: Path
) -> None:
    promise = next(n for n in ("k-anonymity", *sorted(CLAIMED[algorithm])) if n in CLAIMED[algorithm])
    policy = policy_of([promise], algorithm, town={"role": "other"})
    frame = table_of(3, rows=80)
    made = []
    for at, one in enumerate((frame, frame.reverse(), mixed_frame(frame))):
        one.write_csv(tmp_path / f"raw{at}.csv")
        made.append(written(tmp_path / f"raw{at}.csv", policy, tmp_path / f"out{at}", engine))
    if algorithm not in DRAWN:
        assert made[0] == made[1] == made[2]
    for data in made:
        body = data["data.csv"].decode().splitlines()[1:]
        if algorithm not in SPLIT:
            assert rows_of(body) == sorted(rows_of(body))


def rows_of(lines: Sequence[str]) -> list[list[tuple[bool, str]]]:
    """What rows are sorted by, said once more: texts from left to right, what is missing last."""
    assert not any('"' in line and '""' not in line for line in lines)
    return [[(not field, field) for field in line.replace('""', "").split(",")] for line in lines]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("algorithm", ["top-down", "mondrian", "optimal"])
def test_both_engines_write_the_same_bytes(algorithm: str, tmp_path: Path) -> None:
    policy = policy_of(["k-anonymity"], algorithm, town={"role": "other"})
    mixed_frame(table_of(5, rows=90)).write_csv(tmp_path / "raw.csv")
    ours = written(tmp_path / "raw.csv", policy, tmp_path / "embedded")
    assert ours == written(tmp_path / "raw.csv", policy, tmp_path / "plain", "plain")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("output", ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow"])
def test_every_format_leaves_in_order(output: str, tmp_path: Path) -> None:
    policy = policy_of(["k-anonymity"], "top-down", town={"role": "other"})
    frame = table_of(4, rows=70)
    first = written(frame, policy, tmp_path / "a", output=output)
    assert first == written(mixed_frame(frame), policy, tmp_path / "b", output=output)


def test_lines_of_json_have_their_keys_in_the_order_of_the_policy(tmp_path: Path) -> None:
    """The first line's keys would tell who came first."""
    policy = policy_of(["k-anonymity"], "top-down")
    rows = table_of(2, rows=40).to_dicts()
    made = []
    for at, some in enumerate((rows, [dict(reversed(row.items())) for row in reversed(rows)])):
        path = tmp_path / f"raw{at}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
        made += [written(path, policy, tmp_path / f"{one}{at}", one) for one in ("embedded", "plain")]
    assert made[0] == made[2]
    assert made[1] == made[3]


def test_frames_in_python_are_in_order_too() -> None:
    policy = policy_of(["k-anonymity"], "top-down", town={"role": "other"})
    frame = table_of(4, rows=70)
    one, other = (pv.publish(f, policy).to_polars() for f in (frame, mixed_frame(frame)))
    assert one.equals(other)
    assert is_in_order(one)


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_who_of_those_alike_is_changed_does_not_follow_their_order(engine: str, tmp_path: Path) -> None:
    """Records that were counted as one differ in a column that is not counted; a recoding parts them."""
    policy = policy_of(["k-anonymity"], "mondrian", town={"role": "other"})
    rows = [f"30,10,a,t{at % 7}\n" for at in range(12)] + ["31,10,a,t9\n", "31,20,b,t8\n"]
    where, made = engine_of(engine), []
    for lines in (rows, list(reversed(rows)), shuffled(rows)):
        path = tmp_path / "raw.csv"
        path.write_text("age,hours,ill,town\n" + "".join(lines), encoding="utf-8")
        tallied = where.tally(where.read(path, Form(), ["age", "hours", "ill", "town"]), policy)
        ages = next(c for c in tallied.tally.quasi if c.name == "age").domain
        parts = (Node("first", 0, ages.size), Node("second", 0, ages.size))
        side = np.arange(tallied.tally.records) % 2  # every other record of a cell
        same = np.zeros(tallied.tally.records, dtype=np.intp)
        hours = next(c for c in tallied.tally.quasi if c.name == "hours").domain
        recoding = Regions(
            {"age": parts, "hours": (Node("*", 0, hours.size),)}, {"age": side, "hours": same}, by_record=True
        )
        leaving = where.in_order(where.apply(tallied, policy, recoding))
        where.write(leaving, tmp_path / "out.csv", Form(format="csv"))
        made.append((tmp_path / "out.csv").read_text(encoding="utf-8"))
    assert made[0] == made[1] == made[2]
    assert made[0].count("first") == 7


@given(st.lists(st.sampled_from(["b", "a", "é", "Z", "", None]), max_size=9))
def test_values_of_paths_and_sets_are_numbered_by_their_text(values: list[str | None]) -> None:
    codes, found = coded(pl.Series(values, dtype=pl.String))
    assert found == sorted(set(values), key=lambda value: (value is None, value or ""))
    assert [found[code] for code in codes] == values


def test_large_tables_whose_rows_seldom_repeat_are_counted_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privet.engines.frames.SAMPLE", 1000)
    rows = 2500  # above the size from which equal records are not merged
    frame = pl.DataFrame(
        {
            "age": [at * 7919 % 99_991 for at in range(rows)],
            "hours": [at * 31 % 97 for at in range(rows)],
            "ill": ["ab"[at % 2] for at in range(rows)],
        }
    )
    policy = policy_of(["k-anonymity"], RELAXED)
    assert written(frame, policy, tmp_path / "a") == written(mixed_frame(frame), policy, tmp_path / "b")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["b", "a", "é", "Z", "", None]), st.sampled_from([None, 1.5, 10.0, 2.0])),
        max_size=12,
    )
)
def test_the_order_is_that_of_texts_with_null_last(rows: list[tuple[str | None, float | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Float64}, orient="row")

    def key(row: Any) -> Any:
        return [(value is None, "" if value is None else str(value)) for value in row]

    expected = sorted(rows, key=key)
    assert in_order(frame).rows() == expected
    assert is_in_order(frame) == (rows == expected)
    enum = frame.with_columns(pl.col("a").cast(pl.Enum(["b", "é", "", "Z", "a"])))
    assert in_order(enum).rows() == expected


# Paths.


def visits(seed: int) -> pl.DataFrame:
    drawn = random.Random(seed)
    rows = []
    for person in range(24):
        ill, times = drawn.choice(["AIDS", "Flu", "Flu"]), sorted(drawn.sample(range(6), 3))
        rows += [(f"p{person}", drawn.choice("abc"), time, ill) for time in times]
    return pl.DataFrame(rows, schema=["id", "place", "time", "diagnosis"], orient="row")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("search", ["suppress-points", "suppress-points-locally"])
def test_visits_in_another_order_leave_as_the_same_bytes(search: str, tmp_path: Path) -> None:
    policy = paths_policy(
        VISITS, 'diagnosis = { role = "sensitive" }', algorithm=f'type = "{search}"\nsupport = 2'
    )
    made = [
        written(one, policy, tmp_path / f"out{at}")
        for at, one in enumerate((visits(3), mixed_frame(visits(3)), visits(3).reverse()))
    ]
    assert made[0] == made[1] == made[2]
    assert b"p7" not in made[0]["data.csv"]


def test_path_columns_in_another_order_leave_as_the_same_bytes(tmp_path: Path) -> None:
    policy = paths_policy()
    frame = pl.DataFrame(
        {
            "id": [str(at) for at in range(16)],
            "path": ["b2 d3 c4", "d3 c4 f6", "b2 c5 c7", "d3 c7 e8"] * 4,
            "diagnosis": ["AIDS", "Flu", "Fever", "Flu"] * 3 + ["Flu"] * 4,
        }
    )
    made = [
        written(one, policy, tmp_path / f"out{at}")
        for at, one in enumerate((frame, frame.reverse(), mixed_frame(frame)))
    ]
    assert made[0] == made[1] == made[2]


# Sets.

SETS: dict[str, tuple[str, str]] = {
    "hide-items": ('form = "baskets"', HIDE),
    "hide-border": ('form = "baskets"', HIDE),
    "hide-transactions": ('form = "baskets"', HIDE),
    "suppress-items": ('form = "baskets"', KNOWN),
    "suppress-items-locally": ('form = "baskets"', KNOWN),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("search", SETS)
def test_baskets_in_another_order_leave_as_the_same_bytes(search: str, tmp_path: Path) -> None:
    shape, promise = SETS[search]
    policy = sets_policy(shape, promise, f'type = "{search}"')
    sets = [sorted(one) for one in records()]
    made = [
        written(one, policy, tmp_path / f"out{at}")
        for at, one in enumerate((sets, list(reversed(sets)), shuffled(sets)))
    ]
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize(
    "shape",
    ['form = "column"\nset = "items"\nseparator = ";"', 'form = "items"\nperson = "who"\nitem = "item"'],
)
def test_sets_in_tables_in_another_order_leave_as_the_same_bytes(shape: str, tmp_path: Path) -> None:
    policy = sets_policy(shape, HIDE, 'type = "hide-items"')
    sets = [sorted(one) for one in records()]
    if "column" in shape:
        frame = pl.DataFrame({"items": [";".join(one) for one in sets]})
    else:
        rows = [(f"p{at}", item) for at, one in enumerate(sets) for item in one]
        frame = pl.DataFrame(rows, schema=["who", "item"], orient="row")
    made = [
        written(one, policy, tmp_path / f"out{at}")
        for at, one in enumerate((frame, frame.reverse(), mixed_frame(frame)))
    ]
    assert made[0] == made[1] == made[2]


# Documents.


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees=collections(4, 8), seed=st.integers(0, 99))
def test_documents_in_another_order_leave_as_the_same_bytes(
    way: str, trees: list[Any], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = objects(trees)
    folder = tmp_path_factory.mktemp("made")
    try:
        first = written(raw, documents_policy(way), folder / "a")
    except UnsatisfiableError:
        assume(False)
    mixed = [siblings_mixed(tree, random.Random(seed + at)) for at, tree in enumerate(shuffled(raw, seed))]
    other = written(mixed, documents_policy(way), folder / "b")
    assert {name: len(data) for name, data in first.items()} == {n: len(d) for n, d in other.items()}
    if not ambiguous(first):
        assert first == other


def siblings_mixed(tree: Any, chance: random.Random) -> Any:
    """The same tree, with the children of every vertex in another order."""
    if isinstance(tree, list):
        return chance.sample([siblings_mixed(one, chance) for one in tree], len(tree))
    if isinstance(tree, dict):
        return {name: siblings_mixed(value, chance) for name, value in tree.items()}
    return tree


@pytest.mark.parametrize("way", ["ctoff", "clustree"])
@pytest.mark.parametrize("promise", ['k-anonymity"\nk', 'l-diversity"\nl'])
def test_siblings_that_look_alike_do_not_stand_as_they_came(way: str, promise: str, tmp_path: Path) -> None:
    """Whoever knows which course was taken first would read off its grade."""
    policy = pv.Policy.loads(
        'policy = 1\nkind = "documents"\n[documents.record]\ntype = "student"\n[documents.types.student]\n'
        'quasi = ["year"]\nchildren = { courses = "course" }\n[documents.types.course]\nquasi = ["course"]\n'
        f'sensitive = "grade"\n[[models]]\ntype = "document-{promise} = 2\n[algorithm]\ntype = "{way}"\n'
    )
    grades = ["AB", "CA", "BB", "AC"]
    made = [
        [
            {
                "year": "1990",
                "courses": [{"course": "c", "grade": grade} for grade in (one[::-1] if turn else one)],
            }
            for one in grades
        ]
        for turn in (False, True)
    ]
    first, other = (written(raw, policy, tmp_path / str(at)) for at, raw in enumerate(made))
    assert first == other


def ambiguous(data: dict[str, bytes]) -> bool:
    """Siblings that look alike in one half may stand in any order: chance decides."""
    return any(b"groups" in one for one in data.values())


# The order may be kept, if the policy says so; and everybody is told.


def kept(policy: pv.Policy) -> pv.Policy:
    return replace(policy, order=Order.KEPT)


def test_a_kept_order_is_kept_and_said_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from privet.cli import main

    policy = policy_of(["k-anonymity"], "top-down", town={"role": "other"})
    frame = mixed_frame(table_of(4, rows=50))
    frame.write_csv(tmp_path / "raw.csv")
    (tmp_path / "policy.toml").write_text(kept(policy).dumps(), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["publish", str(tmp_path / "raw.csv"), str(tmp_path / "policy.toml"), "-o", str(out)]) == 0
    assert "order in which they came" in " ".join(capsys.readouterr().err.split())
    assert pl.read_csv(out / "data.csv").get_column("town").to_list() == frame.get_column("town").to_list()
    assert "order in which they came" in (out / "report.html").read_text(encoding="utf-8")
    assert ORDER_KEPT in json.loads((out / "evidence.json").read_text(encoding="utf-8"))["cautions"]
    assert main(["verify", str(out)]) == 0
    assert "order in which they came" in " ".join(capsys.readouterr().out.split())


def test_a_release_that_is_not_sorted_does_not_verify(tmp_path: Path) -> None:
    policy = policy_of(["k-anonymity"], "top-down", town={"role": "other"})
    folder = pv.publish(table_of(4, rows=50), policy).write(tmp_path / "out")
    head, *rows = lines_of(folder / "data.csv")
    (folder / "data.csv").write_text("".join([head, *reversed(rows)]), encoding="utf-8")
    assert any("canonical order" in complaint for complaint in verify(folder).complaints)


def test_what_is_kept_and_not_said_does_not_verify(tmp_path: Path) -> None:
    policy = policy_of(["k-anonymity"], "top-down", town={"role": "other"})
    folder = pv.publish(mixed_frame(table_of(4, rows=50)), kept(policy)).write(tmp_path / "out")
    evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    evidence["cautions"].remove(ORDER_KEPT)
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    assert any("not said" in complaint for complaint in verify(folder).complaints)


SORTED_KINDS: dict[str, Callable[[], tuple[Any, pv.Policy]]] = {
    "visits": lambda: (visits(3), paths_policy(VISITS, 'diagnosis = { role = "sensitive" }')),
    "baskets": lambda: (
        [sorted(o) for o in records()],
        sets_policy('form = "baskets"', HIDE, 'type = "hide-items"'),
    ),
}


@pytest.mark.parametrize("kind", SORTED_KINDS)
def test_other_kinds_that_are_not_sorted_do_not_verify(kind: str, tmp_path: Path) -> None:
    source, policy = SORTED_KINDS[kind]()
    folder = pv.publish(source, policy).write(tmp_path / "out")
    data = next(path for path in folder.iterdir() if path.name.startswith("data"))
    lines = lines_of(data)
    at = 0 if kind == "baskets" else 1
    data.write_text("".join([*lines[:at], *reversed(lines[at:])]), encoding="utf-8")
    assert any("canonical order" in complaint for complaint in verify(folder).complaints)
    again = pv.publish(source, kept(policy)).write(tmp_path / "kept")
    assert verify(again).holds
    assert ORDER_KEPT in json.loads((again / "evidence.json").read_text(encoding="utf-8"))["cautions"]


def test_an_unknown_word_for_the_order_is_refused() -> None:
    policy = policy_of(["k-anonymity"], "top-down")
    with pytest.raises(PolicyError, match=r"order: .*canonical, kept"):
        pv.Policy.loads(policy.dumps().replace('order = "canonical"', 'order = "as it was"'))
    with pytest.raises(PolicyError, match="order"):
        replace(policy, order="as it was")  # type: ignore[arg-type]
    assert replace(policy, order="kept").order is Order.KEPT  # type: ignore[arg-type]
    assert Perturbation.by_record  # what is drawn for each record is placed by the same rule


@pytest.mark.parametrize("output", ["records", "counts"])
def test_noisy_rows_leave_in_order_and_no_other_verifies(output: str, tmp_path: Path) -> None:
    noisy.ledger(tmp_path, 99)
    text = noisy.TEXT.replace("h = 5", f'h = 5\noutput = "{output}"').replace('"1/2"', '"50"')  # hardly noise
    out = pv.publish(noisy.table(300), noisy.policy(tmp_path, text)).write(tmp_path / "out")
    files = sorted(path for path in out.iterdir() if path.name.startswith(("data", "counts")))
    assert len(files) == (2 if output == "records" else 1)
    assert verify(out).holds
    for path in files:
        head, *rows = lines_of(path)
        known = [row.split(",")[:5] for row in rows]
        assert known == sorted(known)
        assert known[0] != known[-1]
        path.write_text("".join([head, *rows[::-1]]), encoding="utf-8")
        assert any("canonical order" in one for one in verify(seal(out)).complaints)
        path.write_text("".join([head, *rows]), encoding="utf-8")
        assert not refused(seal(out))
