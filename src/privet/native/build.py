"""Build the compiled loops with whatever C compiler there is. Standard library only: packaging uses it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = tuple(sorted(HERE.glob("*.c")))
HEADERS = tuple(sorted(HERE.glob("*.h")))
HEADER = HERE / "loops.h"


def place() -> Path:
    """Where the library of these very sources lies, or would lie."""
    text = b"".join(source.read_bytes() for source in (*HEADERS, *SOURCES))
    return HERE / f"_loops-{hashlib.sha256(text).hexdigest()[:12]}.so"


def compilers() -> Iterator[list[str]]:
    """The C compilers of this machine; the last is a wheel that brings one (`pip install ziglang`)."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            yield [name]
    yield from crossing()


def crossing() -> Iterator[list[str]]:
    """The compiler that builds for other machines too."""
    if find_spec("ziglang") is not None:
        yield [sys.executable, "-m", "ziglang", "cc"]


def build(*, here_only: bool = True, target: str | None = None, into: Path | None = None) -> str | None:
    """Build the library; which compiler did it, or None.

    `here_only`: tuned for this very processor. `target`: for another machine, as zig names it. `into`: where
    it is laid, beside the sources unless said.
    """
    path = place() if into is None else into / place().name
    for compiler in compilers() if target is None else crossing():
        for tuned in [["-march=native"], []] if here_only else [[]]:  # not every compiler knows the processor
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder) / path.name
                options = [*tuned, *([] if target is None else ["-target", target])]
                position = [] if "windows" in (target or sys.platform) else ["-fPIC"]
                command = [
                    *compiler,
                    "-O3",
                    "-g0",
                    *options,
                    "-std=c11",
                    *position,
                    "-shared",
                    "-o",
                    str(made),
                ]
                done = subprocess.run([*command, *map(str, SOURCES)], capture_output=True, check=False)  # noqa: S603 - our own sources
                if done.returncode == 0:
                    for old in path.parent.glob("_loops-*.so"):
                        old.unlink()
                    shutil.copy(made, path.with_suffix(".new"))
                    path.with_suffix(".new").replace(path)
                    return Path(compiler[0]).name
    return None
