"""How a run ends: the exit code, and what is said about a failure. Never a value from the data."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click

from privet.cli import SAID_WHEN_STOPPED, screen
from privet.cli.app import commands
from privet.cli.completion import ASKED, answered
from privet.errors import BrokenPromiseError, InternalError, PrivetError, TamperedError, UnsatisfiableError

HOLDS, BROKEN, USAGE, FAULT, STOPPED, UNREAD, TERMINATED = 0, 1, 2, 3, 130, 141, 143
BROKEN_KINDS = (BrokenPromiseError, TamperedError, UnsatisfiableError)
DEBUG = "PRIVET_DEBUG"  # for developers: shows tracebacks, which may quote data


def run(args: Sequence[str]) -> int:
    """Run a command line and say how it ended; raises nothing but what a debugging developer asked for."""
    json = "--json" in args
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a stream of somebody's own, which need not be able to do this
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        if ASKED in os.environ:
            return answered(os.environ[ASKED])
        with _terminated_politely(), warnings.catch_warnings():
            if DEBUG not in os.environ:
                warnings.simplefilter("ignore")  # what libraries warn of may quote data
            ended = commands().main(list(args), prog_name="privet", standalone_mode=False)
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(error.format_message() + "\n")
        return USAGE
    except click.ClickException as error:
        return _failed(json, "usage", _usage(error), USAGE)
    except PrivetError as error:
        return _failed(json, error.code, error.complaints, _code(error))
    except (KeyboardInterrupt, click.Abort):
        ended = STOPPED
    except (BrokenPipeError, screen.UnreadError):
        # Whoever read our output has seen enough; Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except MemoryError:
        return _failed(json, "memory", ["there is not enough memory for this"], FAULT)
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _failed(json, "file", [f"{place}{error.strerror or type(error).__name__}"], USAGE)
    except SystemExit as error:
        ended = error.code
    except BaseException as error:  # a panic inside polars is no Exception
        if DEBUG in os.environ:
            raise
        return _failed(json, "internal", [_unexpected(error)], FAULT)
    if ended in {STOPPED, TERMINATED}:
        return _failed(json, "stopped", [SAID_WHEN_STOPPED], int(ended))
    return ended if isinstance(ended, int) else HOLDS


def _code(error: PrivetError) -> int:
    if isinstance(error, InternalError):
        return FAULT
    return BROKEN if isinstance(error, BROKEN_KINDS) else USAGE


def _failed(json: bool, code: str, complaints: Sequence[str], ended: int) -> int:  # noqa: FBT001 - private
    screen.fail(code, complaints, ended, json=json)
    return ended


def _usage(error: click.ClickException) -> list[str]:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "privet"
    # Both click and typer may ask "Did you mean …?", in the same words.
    said = re.sub(r"( Did you mean [^?]*\?)\1", r"\1", error.format_message())
    return [f"{said.rstrip('.')}; `{path} --help` shows how"]


def _unexpected(error: BaseException) -> str:
    """What happened and where in our code, without the error's own sentence: it may quote data."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "privet" in Path(frame.filename).parts]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return (
        f"internal error: {type(error).__name__}{where}; nothing was released; this is a fault in privet, "
        f"please report it ({DEBUG}=1 shows a traceback, which may quote data)"
    )


@contextmanager
def _terminated_politely() -> Iterator[None]:
    """A polite kill ends the run as Ctrl-C does, so that half-written folders are removed."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread hears signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
