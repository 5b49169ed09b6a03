"""The same input gives the same answer, byte by byte, with one thread and with many, several side by side.

Aside from what must differ: the time of a release, and what was drawn (noise, who shares a bucket, the order
of paths).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.placing.kinds import prepared
from tests.placing.nursery import MORE, THEN, Nursery

from privet.report.numerals import moment

KINDS = ("table", "trajectories", "documents", "baskets")
TIME = re.compile(
    rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\"< ]*"
    rb"|\d{4}-\d\d-\d\d \d\d:\d\d[^\"< ]*"
    rb"|\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC"  # on pages, for people
)
SECONDS = re.compile(rb'"seconds": [0-9.e-]+')
DIGEST = re.compile(rb"[0-9a-f]{64}")  # of files that say a time


THREADS = ("1", "4")
LOADED = (
    *("privet.assess", "privet.attackers.suite", "privet.attackers.tracker", "privet.exploration"),
    *("privet.cli.publish", "privet.cli.risk", "privet.drafts.recognisers", "privet.verification"),
    *("privet.roads.tables.exposure", "privet.roads.trajectories.exposure", "privet.samples", "ijson"),
    *("sqlglot", "phonenumbers", "stdnum"),
)
SOAK = ("1", "2", "3", "4", "8", "16") * 2


@pytest.fixture(scope="module")
def two() -> Iterator[list[Nursery]]:
    """One with one thread, one with many; their texts are hashed differently, too."""
    yield from crowd(THREADS)


@pytest.fixture(scope="module")
def twelve() -> Iterator[list[Nursery]]:
    yield from crowd(SOAK)


def crowd(threads: Sequence[str]) -> Iterator[list[Nursery]]:
    made = [
        Nursery(
            POLARS_MAX_THREADS=many,
            OPENBLAS_NUM_THREADS=many,
            PYTHONHASHSEED=str(at + 1),
            **{MORE: " ".join(LOADED)},
        )
        for at, many in enumerate(threads)
    ]
    yield made
    for one in made:
        one.close()


def lines(kind: str, publish: list[str], *, soak: bool) -> list[list[str]]:
    """What is asked of this kind of data, in this order; in words what was asked in JSON, of tables only."""
    data = publish[1]
    words = soak or kind == "table"
    more = {
        "table": [
            ["risk", data, "policy.toml", "-o", "risk.html"],
            ["compare", data, "out", "-o", "compare.html"],
            [
                "explore",
                data,
                "policy.toml",
                "--k",
                "2,4",
                "--algorithms",
                "mondrian,optimal,local",
                "--json",
            ],
            ["sample", "census", "-o", "census.csv", "--rows", "50"],
        ],
        "trajectories": [["sequences", "out"]],
    }
    return [
        publish,
        ["verify", "out"],
        *([["check", data, "policy.toml"]] if words else []),
        ["check", data, "policy.toml", "--json"],
        ["risk", data, "policy.toml"],
        ["explain", "out"],
        *([["compare", data, "out"]] if words else []),
        ["compare", data, "out", "--json"],
        ["init", data, "-o", "draft.toml"],
        ["attack", "out", "--raw", data],
        *more.get(kind, []),
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_command_says_the_same(two: list[Nursery], kind: str, tmp_path: Path) -> None:
    all_say_the_same(two, kind, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_dozen_say_the_same_at_once(twelve: list[Nursery], kind: str, tmp_path: Path) -> None:
    for turn in range(3):
        all_say_the_same(twelve, kind, tmp_path / str(turn))


def all_say_the_same(crowd: list[Nursery], kind: str, place: Path) -> None:
    folders = [place / str(at) for at in range(len(crowd))]
    publish, *_ = [prepared(folder, kind) for folder in folders]
    asked = lines(kind, publish, soak=len(crowd) == len(SOAK))
    words = [word for line in asked for word in (*line, THEN)]
    for one, folder in zip(crowd, folders, strict=True):
        one.start(folder, *words)
    ended = [one.ended() for one in crowd]
    assert ended == [1] * len(crowd), (folders[0] / "said").read_text()  # the raw data keeps no promise
    told = [contents(folder, kind) for folder in folders]
    assert len({tuple(one) for one in told}) == 1
    for name in told[0]:
        assert len({one[name] for one in told}) == 1, f"{name} differs"
    assert told[0]["said"].count(b"\nexit ") == len(asked)


def test_a_moment_is_no_difference() -> None:
    """Else two runs differ when a minute ends between them, as one in a busy hour did."""
    shown = [str(moment(f"2026-11-17T10:{clock}+00:00")) for clock in ("30:59", "31:00")]
    assert shown[0] != shown[1]
    assert len({TIME.sub(b"time", text.encode()) for text in shown}) == 1


def contents(folder: Path, kind: str) -> dict[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = DIGEST.sub(b"digest", SECONDS.sub(b"", TIME.sub(b"time", path.read_bytes())))
            if kind in {"trajectories", "documents"} and path.stem == "data":  # their order is drawn
                text = b"\n".join(sorted(line.rstrip(b",") for line in text.split(b"\n")))
            found[str(path.relative_to(folder))] = text
    return found
