"""How a run ends: the exit code, and what is said about a failure. Never a value from the data."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from privet.cli import SAID_WHEN_STOPPED, screen
from privet.cli.app import commands
from privet.cli.completion import ASKED, answered
from privet.cli.stopping import stoppable
from privet.errors import BrokenPromiseError, InternalError, PrivetError, TamperedError, UnsatisfiableError
from privet.placing import Placed, noted

HOLDS, BROKEN, USAGE, FAULT, HUNG_UP, STOPPED, UNREAD, TERMINATED = 0, 1, 2, 3, 129, 130, 141, 143
BROKEN_KINDS = (BrokenPromiseError, TamperedError, UnsatisfiableError)
DEBUG = "PRIVET_DEBUG"  # for developers: shows tracebacks, which may quote data


def run(args: Sequence[str]) -> int:
    """Run a command line and say how it ended; raises nothing but what a debugging developer asked for."""
    with noted() as placed, screen.buffered():
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError):  # a stream of somebody's own, which need not be able to do this
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            ended = _ended(args, placed)
            sys.stdout.flush()
        except (OSError, screen.UnreadError) as error:  # of our own words: all else was answered below
            ended = _unheard(error, placed)
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        screen.silenced(sys.stderr)
    return ended


def _ended(args: Sequence[str], placed: Placed) -> int:
    json = "--json" in args
    try:
        if ASKED in os.environ:
            return answered(os.environ[ASKED])
        with stoppable(), warnings.catch_warnings():
            if DEBUG not in os.environ:
                warnings.simplefilter("ignore")  # what libraries warn of may quote data
            ended = commands().main(list(args), prog_name="privet", standalone_mode=False)
            screen.finish()
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(error.format_message() + "\n")
        return USAGE
    except click.ClickException as error:
        return _failed(json, "usage", _usage(error), USAGE)
    except PrivetError as error:
        return _failed(json, error.code, error.complaints, _code(error))
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # a file that ended too soon; nobody has stopped anything
            if DEBUG in os.environ:
                raise error.__cause__ from None
            return _failed(json, "internal", [_unexpected(error.__cause__, placed)], FAULT)
        ended = STOPPED
    except (BrokenPipeError, screen.UnreadError) as error:
        return _unheard(error, placed)
    except MemoryError:
        return _failed(json, "memory", ["there is not enough memory for this"], FAULT)
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _failed(json, "file", [f"{place}{error.strerror or type(error).__name__}"], USAGE)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # of a help, which click says itself
            return _unheard(error.__context__, placed)
        ended = error.code
    except BaseException as error:  # a panic inside polars is no Exception
        if DEBUG in os.environ:
            raise
        return _failed(json, "internal", [_unexpected(error, placed)], FAULT)
    if ended in {HUNG_UP, STOPPED, TERMINATED}:
        said = f"stopped; written before that: {_list(placed)}" if placed else SAID_WHEN_STOPPED
        return _failed(json, "stopped", [said], int(ended))
    return ended if isinstance(ended, int) else HOLDS


def _unheard(error: Exception, placed: Placed) -> int:
    """Nobody reads the answer, or it has no room: the code says what became of the work."""
    screen.silenced()
    why = error.reason if isinstance(error, screen.UnreadError) else error.strerror  # type: ignore[attr-defined]
    with suppress(OSError, ValueError):
        if placed:
            screen.warn(f"the answer could not be written ({why}); this stands: {_list(placed)}")
            return HOLDS
        if not isinstance(error, BrokenPipeError) and why != screen.CLOSED:
            screen.problems(f"the answer could not be written: {why}")
            return USAGE
    return HOLDS if placed else UNREAD


def _list(placed: Placed) -> str:
    return ", ".join(str(place) for place in placed)


def _code(error: PrivetError) -> int:
    if isinstance(error, InternalError):
        return FAULT
    return BROKEN if isinstance(error, BROKEN_KINDS) else USAGE


def _failed(json: bool, code: str, complaints: Sequence[str], ended: int) -> int:  # noqa: FBT001 - private
    try:
        screen.fail(code, complaints, ended, json=json)
        screen.finish()
    except (OSError, screen.UnreadError):  # stdout has no room for it: the code says it, and stderr
        screen.silenced()
        with suppress(OSError, ValueError):
            screen.problems(*complaints)
    return ended


def _usage(error: click.ClickException) -> list[str]:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "privet"
    # Both click and typer may ask "Did you mean …?", in the same words.
    said = re.sub(r"( Did you mean [^?]*\?)\1", r"\1", error.format_message())
    return [f"{said.rstrip('.')}; `{path} --help` shows how"]


def _unexpected(error: BaseException, placed: Placed) -> str:
    """What happened and where in our code, without the error's own sentence: it may quote data."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "privet" in Path(frame.filename).parts]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    stands = f"this stands: {_list(placed)}" if placed else "nothing was released"
    return (
        f"internal error: {type(error).__name__}{where}; {stands}; this is a fault in privet, "
        f"please report it ({DEBUG}=1 shows a traceback, which may quote data)"
    )
