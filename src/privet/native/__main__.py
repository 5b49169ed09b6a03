"""`python -m privet.native`: build the compiled loops with whatever C compiler there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from privet.native import HERE, SOURCES, place


def compilers() -> Iterator[list[str]]:
    """The C compilers of this machine; the last is a wheel that brings one (`pip install ziglang`)."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            yield [name]
    if find_spec("ziglang") is not None:
        yield [sys.executable, "-m", "ziglang", "cc"]


def build() -> str:
    """Build the library; what happened, in one line."""
    target = place()
    if target.is_file():
        return "the compiled loops are there"
    for compiler in compilers():
        for tuned in (["-march=native"], []):  # not every compiler knows this machine
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder) / target.name
                command = [*compiler, "-O3", *tuned, "-std=c11", "-fPIC", "-shared", "-o", str(made)]
                done = subprocess.run([*command, *map(str, SOURCES)], capture_output=True, check=False)  # noqa: S603 - our own sources
                if done.returncode == 0:
                    for old in HERE.glob("_loops-*.so"):
                        old.unlink()
                    shutil.copy(made, target.with_suffix(".new"))
                    target.with_suffix(".new").replace(target)
                    return f"built the compiled loops with {Path(compiler[0]).name}"
    return "no C compiler here: the slower loops serve (pip install ziglang brings one)"


def main() -> int:
    """Building is a favour: without the library everything works, only slower."""
    try:
        said = build()
    except OSError as error:
        said = f"could not build the compiled loops ({type(error).__name__}); the slower ones serve"
    sys.stdout.write(f"privet.native: {said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
