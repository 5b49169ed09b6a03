"""The command line: `privet COMMAND`; one file for each command, each builds one call of the library.

Exit codes: 0 everything asked about holds; 1 a promise is broken, cannot be kept, or a release is not
what its evidence says; 2 usage or bad input; 3 a fault in privet itself; 130 stopped by Ctrl-C, 143 by
a polite kill, 129 because the terminal went away, 141 because nobody reads the answer. A release that
stands is 0 even when nobody could be told: the code says what became of the work, not of the words.

Answers go to stdout, problems (one line each) and progress to stderr. With `--json` exactly one JSON
document goes to stdout, whatever happens: the answer, or {"error": code, "complaints": [...], "exit": n}.
Nothing here imports numpy or polars before a command runs, so that help is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

SAID_WHEN_STOPPED = "stopped; nothing was written"
# Objects after which Python looks for those that nobody reaches. While modules load it looked 147 times and
# found none, in a tenth of the time that loading takes.
MANY = 50_000


def main(args: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    _streams()
    ours = args is None  # the process ends with this command
    args = sys.argv[1:] if args is None else list(args)
    try:
        if args == ["--version"]:  # the one question that needs no command
            return _version()
        from privet.cli.stopping import ends_at_once, ends_with

        if ours:
            ends_at_once()
            gc.set_threshold(MANY)
        from privet.cli.outcome import run

        ended = run(args)
    except KeyboardInterrupt:  # so early that nothing else could hear it
        from privet.cli.screen import fail

        fail("stopped", [SAID_WHEN_STOPPED], 130, json="--json" in args)
        return 130
    if ours:
        ends_with(ended)
    return ended


def _streams() -> None:
    """A stream that was closed before we began is an empty one: its number must not become a file's."""
    while (opened := os.open(os.devnull, os.O_RDWR)) < 3:  # after stdin, stdout and stderr
        pass
    os.close(opened)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - to the end


def _version() -> int:
    """What a report of a fault must say: which privet, on what, and whether its loops are compiled."""
    from importlib.metadata import version
    from platform import python_version

    from privet.native import library

    loops = "compiled loops" if library() is not None else "loops not compiled"
    try:
        sys.stdout.write(
            f"privet {version('privet')} (engine embedded: polars {version('polars')}; {loops}; "
            f"Python {python_version()})\n"
        )
        sys.stdout.flush()
    except OSError as error:
        from privet.cli.screen import silenced

        silenced()
        return 141 if isinstance(error, BrokenPipeError) else 2
    return 0
