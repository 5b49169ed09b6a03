"""The questions of `privet init --ask`: few, and each with the answer that privet would give.

Naming a column only ever adds it, so that what was taken for an identifier stays one whatever else is typed;
taking one off needs a minus, and is said back. Nobody is asked for ever: after a few answers that cannot be
understood, or at the end of input, nothing is written.
"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click
import typer

from privet.cli import screen
from privet.errors import InputError, one_of

if TYPE_CHECKING:
    from privet.drafts.accept import Answers
    from privet.drafts.text import Draft

T = TypeVar("T")

HEARS = 0.2  # seconds until a signal is heard, at the most
NOBODY = "--ask: nobody answers; nothing was written"
TRIES = 3  # answers to one question that cannot be understood
HOW = "  Enter if that is all; else name more of them, with commas; -NAME takes one off"
HOW_OTHER = "  Enter if so; else -NAME for one that must not leave"


@dataclass(frozen=True)
class Question:
    """What is asked of the columns of one role, and what becomes of one that is taken off."""

    role: str
    means: str
    off: str
    said_back: str


QUESTIONS = (
    Question("identifier", "name a person and are left out", "quasi", "is not left out: it may leave"),
    Question("sensitive", "are what nobody may learn about a person", "quasi", "is generalised instead"),
    Question("quasi", "may be known to others, and are generalised", "other", "leaves as it is"),
    Question("other", "tell nothing about anybody, and leave as they are", "identifier", "is left out"),
)


class _UnclearError(Exception):
    """An answer that cannot be understood; the question is asked again."""


def answers(drafted: Draft) -> Answers:
    """Roles in a question for each of them, and one for each token that may mean "missing"."""
    from privet.core import Role
    from privet.drafts.accept import Answers

    roles = {name: _settled(said) for name, said, _ in drafted.told() if name not in drafted.of_paths}
    places = {name: place for place, (name, _, _) in enumerate(drafted.told(), start=1)}
    screen.say("The columns; answer with their names or numbers:")
    screen.say(*(f"  {place:>3}  {screen.shown(name)}" for name, place in places.items() if name in roles))
    settled: set[str] = set()
    for question in QUESTIONS:
        there = [name for name, role in roles.items() if role == question.role]
        if question.role == "other" and not there:
            continue
        changed = _corrected(question, there, roles, places, settled)
        settled |= {name for name in there if name not in changed}
        settled |= {name for name, role in changed.items() if role == question.role}
        roles |= changed
    missing: dict[str, tuple[str, ...]] = {}
    for offer in drafted.offers:
        asked = f"{offer.column}: does {offer.token!r}, in {offer.records:,} records, mean missing? [y/N]"
        if _again(asked, _yes_or_no):
            missing[offer.column] = (*missing.get(offer.column, ()), offer.token)
    return Answers({name: Role(role) for name, role in roles.items()}, missing)


def preset() -> str:
    """The promise; there is no answer that privet would give."""
    from privet.policy.presets import Preset, names

    screen.say("What is promised? Nobody chooses that for you:")
    known = list(names())
    screen.say(*(f"  {name:22} {Preset.find(name).title}" for name in known))

    def chosen(said: str) -> str:
        if said in known:
            return said
        if not said:
            raise _UnclearError(
                "a preset is a promise that somebody has written down before, and no answer is taken for "
                f"one; type one of {', '.join(known)}"
            )
        raise _UnclearError(one_of("a preset", known, said))

    return _again("preset", chosen)


def _again(question: str, understood: Callable[[str], T]) -> T:
    """The answer to a question, which is asked again a few times where it cannot be understood."""
    if sys.stdin is None:  # it was closed when we began
        raise InputError(NOBODY)
    _wakes_on_ctrl_c()
    for left in reversed(range(TRIES)):
        try:
            said: str = typer.prompt(
                _waited(screen.shown(question)), default="", show_default=False, prompt_suffix=""
            )
        except click.Abort:
            raise InputError(NOBODY) from None
        try:
            return understood(said.strip())
        except _UnclearError as unclear:
            if not left:
                raise InputError(
                    f"--ask: {unclear}", f"--ask: {TRIES} answers were not understood; nothing was written"
                ) from None
            screen.say(f"  {screen.shown(str(unclear))}")
    raise AssertionError


def _waited(question: str) -> str:
    """What is left to ask once somebody has typed a line: nothing, on a terminal.

    A Ctrl-C in the moment before the system begins to read a line is heard by nobody until the line ends. So
    the question is asked here, and reading begins when there is a line; until then every signal is heard.
    """
    asked = f"{question}: "
    if sys.platform == "win32" or not sys.stdin.isatty():
        return asked
    with screen.heard():
        sys.stdout.write(asked)
        sys.stdout.flush()
    while not select.select([sys.stdin], [], [], HEARS)[0]:
        pass
    return ""


def _wakes_on_ctrl_c() -> None:
    """Since polars listens to Ctrl-C as well, the system would go on reading a line; here reading ends."""
    if sys.platform != "win32":
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003 - it has no name for it


def _yes_or_no(said: str) -> bool:
    if said.lower() in {"", "n", "no"}:
        return False
    if said.lower() in {"y", "yes"}:
        return True
    raise _UnclearError("answer y or n")


def _settled(said: str) -> str:
    return "sensitive" if said == "target" else said


def _corrected(
    question: Question,
    there: Sequence[str],
    roles: Mapping[str, str],
    places: Mapping[str, int],
    settled: set[str],
) -> dict[str, str]:
    """The roles that an answer changes: those that are named have the role, those with a minus lose it."""

    def understood(said: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, off in named(said, {name: places[name] for name in roles}):
            if name in found:
                raise _UnclearError(f"{name!r} stands twice in this answer")
            if off and name not in there:
                raise _UnclearError(f"{name!r} is none of these, so it cannot be taken off")
            if not off and name in settled:
                raise _UnclearError(
                    f"{name!r} is settled ({roles[name]}); to change that, begin again and say -NAME there"
                )
            if not off and question.role == "other" and name not in there:
                raise _UnclearError(f"{name!r} is not one of these; naming a column here frees none")
            found[name] = question.off if off else question.role
        return found

    screen.say(f"These columns {question.means}: {', '.join(map(screen.shown, there)) or 'none'}")
    changed = _again(HOW_OTHER if question.role == "other" else HOW, understood)
    for name, role in changed.items():
        if name in there and role != question.role:
            screen.say(f"  taken off: {screen.shown(name)} {question.said_back}")
        elif name not in there:
            screen.say(f"  also: {screen.shown(name)}")
    return changed


def named(said: str, places: Mapping[str, int]) -> list[tuple[str, bool]]:
    """The columns of an answer, each with whether it has a minus: by name, in quotes or not, or by number.

    A comma may be part of a name: the longest stretch between commas that is a name is one. What may mean
    two columns means none.

    >>> named('+Name, Vorname, -age, 1, #1', {"sex": 1, "age": 2, "Name, Vorname": 3})
    [('Name, Vorname', False), ('age', True), ('sex', False), ('sex', False)]
    """
    pieces, found, at = said.split(","), list[tuple[str, bool]](), 0
    while at < len(pieces):
        for end in range(len(pieces), at, -1):
            word = ",".join(pieces[at:end]).strip()
            if meant := _meant(word, places):
                each = [_meant(piece.strip(), places) for piece in pieces[at:end]]
                if end - at > 1 and all(each):
                    meant = list(dict.fromkeys([*meant, *(one for some in each for one in some)]))
                if len(meant) > 1:
                    raise _UnclearError(_unclear(word, meant, places))
                found += meant
                at = end
                break
        else:
            if word := pieces[at].strip():
                raise _UnclearError(_unknown(word, places))
            at += 1
    return found


def _meant(word: str, places: Mapping[str, int]) -> list[tuple[str, bool]]:
    """Every column that a word may mean, each with whether it has a minus."""
    found: dict[tuple[str, bool], None] = {}
    for sign, rest in (("", word), (word[:1], word[1:].strip())):
        if sign not in {"", "+", "-"} or not rest:
            continue
        for name in (rest, _unquoted(rest)):
            if name in places:
                found[name, sign == "-"] = None
        for name, place in places.items():
            if rest in {str(place), f"#{place}"}:
                found[name, sign == "-"] = None
    return list(found)


def _unclear(word: str, meant: Sequence[tuple[str, bool]], places: Mapping[str, int]) -> str:
    """Which columns a word may mean, and how to name each so that it is no other."""
    told: list[str] = []
    for name, off in meant:
        sign, place = "-" if off else "", places[name]
        ways = [f"{sign}{way}" for way in (f'"{name}"', f"'{name}'", f"#{place}")]
        sure = next((way for way in ways if _meant(way, places) == [(name, off)]), ways[0])
        told.append(f"type {sure} for {'taking off ' if off else ''}the column {name!r}, number {place}")
    return f"{word} may mean {len(meant)} things: {'; '.join(told)}"


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word


def _unknown(word: str, places: Mapping[str, int]) -> str:
    bare = _unquoted(word.lstrip("+-").strip())
    if not bare:
        return "which one? -NAME takes one off, and Enter leaves them as they are"
    return one_of("a column", list(places), bare)
