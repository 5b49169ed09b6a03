"""The command line: `privet COMMAND`; one file for each command, each builds one call of the library.

Exit codes: 0 everything asked about holds; 1 a promise is broken, cannot be kept, or a release is not
what its evidence says; 2 usage or bad input; 3 a fault in privet itself; 130 stopped by Ctrl-C, 143 by
a polite kill, 141 because nobody reads the answer.

Answers go to stdout, problems (one line each) and progress to stderr. With `--json` exactly one JSON
document goes to stdout, whatever happens: the answer, or {"error": code, "complaints": [...], "exit": n}.
Nothing here imports numpy or polars before a command runs, so that help is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

SAID_WHEN_STOPPED = "stopped; nothing was written"


def main(args: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    args = sys.argv[1:] if args is None else list(args)
    try:
        if args == ["--version"]:  # the one question that needs no command
            return _version()
        from privet.cli.outcome import run

        return run(args)
    except KeyboardInterrupt:  # so early that nothing else could hear it
        from privet.cli.screen import fail

        fail("stopped", [SAID_WHEN_STOPPED], 130, json="--json" in args)
        return 130


def _version() -> int:
    from importlib.metadata import version

    sys.stdout.write(f"privet {version('privet')}\n")
    return 0
