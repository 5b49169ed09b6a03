"""Which modules a release passes through: `python -m tests.walk DATA POLICY [DIR]` lists them.

A module is *touched* when one of its functions, methods or comprehensions is run, in any thread, between
loading the policy and the release (or, with DIR, the written folder). Loading a module is not: what stands at
its top runs once, whoever asks for it. Two modules *call back and forth* when each calls the other during one
walk; calls that pass through a library count as calls of the module behind it. The first walk of a process
is not counted, so that what is remembered is remembered.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import privet
from privet.evidence.signing import Signatories

HOUSE = Path(privet.__file__).parent


@dataclass
class Walk:
    """The modules that were touched, and who called whom."""

    modules: set[str] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)

    @property
    def back_and_forth(self) -> list[tuple[str, str]]:
        return sorted((one, other) for one, other in self.calls if one < other and (other, one) in self.calls)

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """What `sys.setprofile` calls, hundreds of thousands of times."""
        if event != "call":
            return
        callee = _module(frame)
        if callee is None or frame.f_code.co_name == "<module>":
            return
        self.modules.add(callee)
        above = frame.f_back
        while above is not None and _module(above) is None:
            above = above.f_back
        if above is not None and above.f_code.co_name != "<module>":
            self.calls.add((str(_module(above)), callee))


def _module(frame: FrameType) -> str | None:
    return _named(frame.f_code.co_filename)


@cache
def _named(file: str) -> str | None:
    return file[len(str(HOUSE)) + 1 : -len(".py")] if file.startswith(f"{HOUSE}/") else None


@contextmanager
def watched() -> Iterator[Walk]:
    """Everything that is run within this block."""
    walk, before = Walk(), sys.getprofile()
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        yield walk
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def walked(data: Path, policy: Path, *, write: bool, sign: Signatories | None = None) -> Walk:
    """A release of `data`, the second of this process."""
    _released(data, policy, write=write, sign=sign)
    with watched() as walk:
        _released(data, policy, write=write, sign=sign)
    return walk


def _released(data: Path, policy: Path, *, write: bool, sign: Signatories | None) -> None:
    release = privet.publish(data, privet.Policy.load(policy))
    if write:
        with TemporaryDirectory() as folder:
            release.write(Path(folder) / "out", sign=sign)


if __name__ == "__main__":
    found = walked(Path(sys.argv[1]), Path(sys.argv[2]), write=len(sys.argv) > 3)
    print(*sorted(found.modules), sep="\n")
    print(f"{len(found.modules)} modules; back and forth: {found.back_and_forth or 'none'}")
