"""What people and programs see: lines, tables and progress, or one JSON document.

Colours and progress appear on a terminal only; text from outside (names of columns and files) is
shown with its control characters escaped, so that it cannot steer the terminal.
"""

from __future__ import annotations

import errno
import io
import json as notation
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from privet.errors import InputError

if TYPE_CHECKING:
    from privet.evidence.values import Promise

STAGES = {
    "read": "reading",
    "tally": "counting",
    "search": "searching",
    "apply": "recoding",
    "check": "checking again",
    "measure": "measuring",
    "classify": "training a classifier",
    "attack": "attacking",
    "write": "writing",
}
MANY, FEW = 12, 4  # numbers of one promise: so many are too many for a line, and so many are shown then
ABOUT = {"paths": "of paths", "beside": "beside the path"}  # what a promise is about, where that is said
STYLES = {"good": "32", "bad": "31;1", "warn": "33", "strong": "1", "faint": "2"}


def coloured(stream: TextIO) -> bool:
    """Colours only where somebody sees them and has not asked for none (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    if not coloured(stream or sys.stdout):
        return text
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def shown(text: str) -> str:
    """On one line, whatever stands in it.

    >>> "chr(10)" in shown("chr(10)"), chr(10) in shown(chr(10))
    (True, False)
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


CLOSED = os.strerror(errno.EPIPE)


class UnreadError(Exception):
    """Nobody reads what is said, or it has no room; an error of its own, because click hides a broken pipe
    and because a full disk behind our words is not one behind the work.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def say(*lines: str) -> None:
    with heard():
        for line in lines:
            sys.stdout.write(line + "\n")


def finish() -> None:
    """Everything that was said has been heard."""
    with heard():
        sys.stdout.flush()


@contextmanager
def heard() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadError(error.strerror or type(error).__name__) from None


class Stdout:
    """Stdout for data: all of it arrives, or it is an error of its own, apart from those of what is read."""

    def write(self, data: bytes) -> int:
        if (
            getattr(sys.stdout, "name", "") == os.devnull
        ):  # put there by us, since it was closed when we began
            raise UnreadError(os.strerror(errno.EBADF))
        with heard():
            return sys.stdout.buffer.write(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        finish()


@contextmanager
def buffered() -> Iterator[None]:
    """Where Python was told not to buffer, a stream takes what fits and the rest would be lost unsaid."""
    words = sys.stdout
    if not isinstance(getattr(words, "buffer", None), io.RawIOBase):
        yield
        return
    whole = io.BufferedWriter(words.buffer)
    sys.stdout = io.TextIOWrapper(whole, words.encoding, words.errors, line_buffering=True)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # told already, and silenced
            sys.stdout.detach()
            whole.detach()
        sys.stdout = words


def listened() -> None:
    """Somebody hears what only stdout gets: before work whose result is nothing but what is said."""
    if getattr(sys.stdout, "name", None) == os.devnull:  # it was closed before we began
        raise UnreadError(os.strerror(errno.EBADF))


def silenced(stream: TextIO | None = None) -> None:
    """Whoever read our output has seen enough, or it has no room; Python must not complain at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def warn(*lines: str) -> None:
    """Something the steward must know, that does not stop the work."""
    for line in lines:
        _aside(f"{paint('warning:', 'warn', sys.stderr)} {shown(line)}\n")


def problems(*lines: str) -> None:
    """One line for each."""
    for line in lines:
        _aside(f"{paint('error:', 'bad', sys.stderr)} {shown(line)}\n")


def _aside(line: str) -> None:
    with suppress(OSError, ValueError):  # where both go to one place, words stand in the order they were said
        sys.stdout.flush()
    sys.stderr.write(line)


def answer(document: Mapping[str, Any]) -> None:
    """The one document of `--json`."""
    # Where a letter cannot be shown it is escaped as JSON does it, not as Python would.
    wide = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    say(notation.dumps(document, ensure_ascii=not wide, indent=1, default=_exact))


def fail(code: str, complaints: Sequence[str], ended: int, *, json: bool) -> None:
    finish()
    if json:
        answer({"error": code, "complaints": list(complaints), "exit": ended})
    else:
        problems(*complaints)


def _exact(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):  # a number of numpy's
        return value.item()
    return str(value)


def table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = ()) -> list[str]:
    """Columns side by side, two spaces in; numbers stand right."""
    every = [list(head), *map(list, rows)] if head else list(map(list, rows))
    if not every:
        return []
    shown_rows = [[shown(cell) for cell in row] for row in every]
    widths = [max(len(row[at]) for row in shown_rows) for at in range(len(every[0]))]
    right = [
        all(_numeric(row[at]) for row in shown_rows[bool(head) :] if row[at]) for at in range(len(widths))
    ]
    lines = []
    for row in shown_rows:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    if head:
        lines[0] = paint(lines[0], "faint")
    return lines


def _numeric(cell: str) -> bool:
    """A number, one that is only bounded, or the dash that stands for none."""
    return cell == "-" or cell.removeprefix("-").removeprefix("below ").removeprefix("above ")[:1].isdigit()


def share(value: float | Fraction) -> str:
    """A share as people read it; only nothing is 0, and only everything is 100.

    >>> share(Fraction(1, 5)), share(0.0004), share(0.9999)
    ('20.0 %', '0.04 %', '99.99 %')
    """
    percent = float(value) * 100
    if 0 < percent < 0.01 or 99.99 < percent < 100:
        return "below 0.01 %" if percent < 1 else "above 99.99 %"
    return f"{percent:.2f} %" if 0 < percent < 0.1 or 99.9 < percent < 100 else f"{percent:.1f} %"


def promise_lines(promises: Sequence[Promise]) -> list[str]:
    """Each promise with what was found, as evidence notes it."""
    lines = []
    for promise in promises:
        mark = paint("holds ", "good") if promise.holds else paint("BROKEN", "bad")
        if not promise.shown:
            mark = paint("made  ", "warn")  # about how the release was made: nobody can check it
        # What names values of the data, or takes many lines, is in the policy for those who want it.
        hidden = {"type", "sensitive", "tree", "order", "costs", "rules"}
        model = {key: value for key, value in promise.model.items() if key not in hidden}
        asked = ", ".join(f"{key} = {_numbers(value, key)}" for key, value in model.items())
        numbers = [f"{key} = {_numbers(value, key)}" for key, value in promise.achieved.items()]
        if len(numbers) > MANY:  # a bound for each of hundreds of values: the evidence has them all
            numbers = [*numbers[:FEW], f"and {len(numbers) - FEW:,} more in the evidence"]
        found = ", ".join(numbers)
        asked = f" ({asked})" if asked else ""
        verb = "found" if promise.shown else "not checked; says"
        if promise.checked_with is not None:  # by who made it, on people who are not in the release
            verb = f"only the {shown(promise.checked_with)} shows it; says"
        about = "" if promise.about is None else f", {shown(ABOUT.get(promise.about, promise.about))}"
        line = f"  {mark}  {shown(promise.type)}{shown(asked)}{about}: {verb} {shown(found)}"
        if promise.holds is False:
            line += f"; {promise.at_risk:,} records at risk in {promise.broken:,} groups"
        lines.append(line)
    return lines


def choice_lines(choice: Mapping[str, Any] | None) -> list[str]:
    """What `auto` chose, what else it tried, and what each would have lost."""
    if not choice:
        return []
    from privet.evidence.values import ChoiceNote
    from privet.report.choices import compared, measure_of

    note = ChoiceNote.read(choice)
    (best, lost, _), *others = compared(note)
    lines = [f"  chosen  {shown(best)}: {measure_of(note)} {share(lost or 0.0)}"]
    for name, loss, _ in others:
        lines.append(f"  tried   {shown(name)}: {'not possible' if loss is None else share(loss)}")
    return lines


def _numbers(value: object, name: str = "") -> str:
    if name.startswith("epsilon"):  # no share of anything
        return str(value)
    if isinstance(value, str) and "/" in value and value.replace("/", "").isdigit():
        number = Fraction(value)
        if number.denominator >= 10**4 and 10**6 % number.denominator == 0:  # six decimals
            return f"{float(number):.6f}"
        return f"{value} ({share(number)})" if number <= 1 else f"{value} ({float(number):.3g})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def beside_sample(output: Path, policy: Path | None) -> list[str]:
    """What to say after a sample was written: its policy, and how to go on."""
    said = [] if policy is None else [f"wrote a policy that fits them: {shown(str(policy))}"]
    known = policy or "POLICY"
    steps = [
        (command("privet check", output, known), "what the raw data achieves"),
        (command("privet publish", output, known, "-o", "out"), "a release that keeps the policy"),
    ]
    if policy is None:
        steps.insert(0, (command("privet init", output), "drafts a policy"))
    return [*said, *next_steps(*steps)]


def command(*words: object) -> str:
    """A command as it is typed, with quotes where a name needs them.

    >>> command("privet check", Path("my data.csv"), "policy.toml")
    "privet check 'my data.csv' policy.toml"
    """
    first, *names = map(str, words)
    return " ".join([first, *(name if name.startswith("-") else shlex.quote(name) for name in names)])


def next_steps(*steps: tuple[str, str]) -> list[str]:
    """Commands to go on with, each with its reason."""
    width = max(len(command) for command, _ in steps)
    return ["", "next:", *(f"  {shown(command):<{width}}  {paint(why, 'faint')}" for command, why in steps)]


class Stages:
    """Progress as a spinner: what is being done, and how far it has come."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, of: int | None = None) -> None:
        if stage != self._stage:
            self._stage = stage
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(STAGES.get(stage, stage), total=of, count="")
        count = "" if not done else f"{done:,}" if of is None else f"{done:,} of {of:,}"
        self._progress.update(self._task, completed=done, total=of, count=count)


def lines(stage: str, done: int, of: int | None = None) -> None:
    """Progress for a program that waits: a JSON object a line on stderr, never a value."""
    sys.stderr.write(notation.dumps({"stage": stage, "done": done, "of": of}) + "\n")
    sys.stderr.flush()


@contextmanager
def working(*, json: bool) -> Iterator[Any]:
    """Progress for long work, on a terminal; for a program that asks (`PRIVET_PROGRESS=lines`), line by
    line; for everybody else, silence.
    """
    if os.environ.get("PRIVET_PROGRESS") == "lines":
        yield lines
        return
    if json or not sys.stderr.isatty():
        from privet.core import silent

        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Stages(progress)


def refuse_hidden_terminal(*, json: bool) -> None:
    """Raw values are shown on the steward's own terminal only: a pipe or a log is no place for them."""
    if json or not sys.stdout.isatty():
        raise InputError(
            "--show-values: shows raw values, so it works on a terminal only, not in a pipe, a file or --json"
        )
