"""The same input gives the same answer, byte by byte, with one thread and with many, several side by side.

Aside from what must differ: the time of a release, and what was drawn (noise, who shares a bucket, the order
of paths).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.placing.kinds import prepared
from tests.placing.nursery import Nursery

KINDS = ("table", "trajectories", "documents", "baskets")
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\"< ]*|\d{4}-\d\d-\d\d \d\d:\d\d[^\"< ]*")
DIGEST = re.compile(rb"[0-9a-f]{64}")  # of files that say a time


@pytest.fixture(scope="module")
def crowd() -> Iterator[list[Nursery]]:
    """Two with one thread, two with many."""
    made = [Nursery(POLARS_MAX_THREADS=many) for many in ("1", "1", "4", "4")]
    yield made
    for one in made:
        one.close()


def test_risk_says_the_same(crowd: list[Nursery], tmp_path: Path) -> None:
    walked(crowd, "table", tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_command_says_the_same(crowd: list[Nursery], kind: str, tmp_path: Path) -> None:
    walked(crowd, kind, tmp_path, 99)


def walked(crowd: list[Nursery], kind: str, tmp_path: Path, many: int) -> None:
    folders = [tmp_path / str(at) for at in range(len(crowd))]
    publish, *_ = [prepared(folder, kind) for folder in folders]
    data = publish[1]
    lines = [
        publish,
        ["verify", "out"],
        ["check", data, "policy.toml"],
        ["check", data, "policy.toml", "--json"],
        ["risk", data, "policy.toml"],
        ["explain", "out"],
        ["compare", data, "out"],
        ["compare", data, "out", "--json"],
        ["init", data, "-o", "draft.toml"],
        *([["risk", data, "policy.toml", "-o", "risk.html"]] if kind == "table" else []),
    ]
    for words in lines[:many]:
        for one, folder in zip(crowd, folders, strict=True):
            one.start(folder, *words)
        ended = [one.ended() for one in crowd]
        assert len(set(ended)) == 1, words
        assert ended[0] in {0, 1, 2}
        told = [contents(folder, kind) for folder in folders]
        assert told[0].keys() == told[1].keys()
        for name in told[0]:
            assert len({one[name] for one in told}) == 1, f"{' '.join(words)}: {name} differs"


def contents(folder: Path, kind: str) -> dict[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = DIGEST.sub(b"digest", TIME.sub(b"time", path.read_bytes()))
            if kind in {"trajectories", "documents"} and path.stem == "data":  # their order is drawn
                text = b"\n".join(sorted(line.rstrip(b",") for line in text.split(b"\n")))
            found[str(path.relative_to(folder))] = text
    return found
