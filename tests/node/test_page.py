"""The how-to is followed at three desks, from its own text: every command of it, between real nodes."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests import pages
from tests.node.nodes import SECONDS, free_port

import privet as pv
from privet.cli import main

pytestmark = pytest.mark.services

PAGE = pages.HERE / "docs" / "howto" / "run-a-node.md"
DESKS = ("north", "south", "west")
PORTS = dict(zip(("8471", "8472", "8473"), DESKS, strict=True))


def here(text: str, ports: dict[str, int]) -> str:
    """At ports that nobody else has."""
    return re.sub(r"127.0.0.1:(\d+)", lambda m: f"127.0.0.1:{ports[PORTS[m[1]]]}", text)


def said(folder: Path, command: str) -> tuple[int, str]:
    """As a steward types it: the exit code, and what is said."""
    told = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = main(shlex.split(command, comments=True)[1:])
    return code, told.getvalue()


def section(number: str) -> Iterator[pages.Block]:
    """The blocks under a heading of the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith("## ")]
    begin = next(at for at in heads if lines[at].startswith(f"## {number}."))
    end = next((at for at in heads if at > begin), len(lines))
    return (block for block in pages.blocks(PAGE) if begin < block.line < end)


def test_the_page_is_followed_at_three_desks(tmp_path: Path) -> None:
    ports = {name: free_port() for name in DESKS}
    for block in [one for number in "123" for one in section(number)]:
        if block.file:
            (tmp_path / block.file).write_text(block.body)
        if block.language == "console":
            for command, _ in pages.commands(block.body):
                code, told = said(tmp_path, here(command, ports))
                assert code == 0, f"{command}: {told}"
    for name in DESKS[1:]:  # "South and west do the same with the other two"
        for other in set(DESKS) - {name}:
            assert (
                said(tmp_path, f"privet node invite --node {name} --accept {other}.invitation.toml")[0] == 0
            )
    (block,) = section("4")
    assert block.language == "sh"
    serve, status, run, fetch, verify = block.body.splitlines()
    assert [line.split()[1:3] for line in (serve, status, run, fetch)] == [
        ["node", "serve"], ["node", "status"], ["joint", "run"], ["joint", "fetch"],
    ]  # fmt: skip

    def at(name: str, line: str) -> str:
        return line.replace("north", name).replace(" -o joint ", f" -o joint-{name} ")

    def started(line: str) -> list[subprocess.Popen[bytes]]:
        found = []
        for name in DESKS:
            words = shlex.split(at(name, line), comments=True)[1:]
            with (tmp_path / f"{name}-{words[1]}.log").open("wb") as log:
                found.append(
                    subprocess.Popen(
                        [sys.executable, "-m", "privet.cli", *words], cwd=tmp_path, stdout=log, stderr=log
                    )
                )
        return found

    serving = started(serve)
    try:
        until = time.monotonic() + SECONDS
        while any(said(tmp_path, at(name, status))[0] for name in DESKS):
            assert time.monotonic() < until, "the nodes do not answer each other"
        for name, one in zip(DESKS, started(run), strict=True):
            assert one.wait(timeout=SECONDS) == 0, (tmp_path / f"{name}-run.log").read_text()
        for name in DESKS:
            code, told = said(tmp_path, at(name, fetch))
            assert code == 0, told
            code, told = said(tmp_path, verify.replace("verify joint ", f"verify joint-{name} "))
            assert code == 0, told
    finally:
        for one in serving:
            one.kill()
            one.wait(timeout=SECONDS)
    whole = pl.concat([pl.read_csv(tmp_path / f"{name}.csv", infer_schema=False) for name in DESKS])
    alone = pv.publish(whole, pv.Policy.load(tmp_path / "policy.toml")).write(tmp_path / "alone")
    for name in DESKS:
        assert (tmp_path / f"joint-{name}" / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()
