"""The questions of `privet init --ask`: few, and each with the answer that privet would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import typer

from privet.cli import screen
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.core import Role
    from privet.drafts.accept import Answers
    from privet.drafts.text import Draft

QUESTIONS = (
    ("identifier", "name a person and are left out"),
    ("sensitive", "are what nobody may learn about a person"),
    ("quasi", "may be known to others, and are generalised"),
)


def answers(drafted: Draft) -> Answers:
    """Roles column by column in three questions, and one for each token that may mean "missing"."""
    from privet.core import Role
    from privet.drafts.accept import Answers

    guessed = {name: _settled(said) for name, said, _ in drafted.told() if name not in drafted.of_paths}
    roles: dict[str, Role] = {}
    for role, means in QUESTIONS:
        there = [name for name, said in guessed.items() if said == role and name not in roles]
        for name in _corrected(f"These columns {means}", there, list(guessed)):
            roles[name] = Role(role)
        for name in set(there) - roles.keys():
            guessed[name] = "quasi" if role != "quasi" else "other"
    missing: dict[str, tuple[str, ...]] = {}
    for offer in drafted.offers:
        asked = f"{offer.column}: does {offer.token!r}, in {offer.records:,} records, mean missing?"
        if typer.confirm(asked, default=False):
            missing[offer.column] = (*missing.get(offer.column, ()), offer.token)
    return Answers(roles, missing)


def preset() -> str:
    """The promise; there is no answer that privet would give."""
    from privet.policy.presets import Preset, names

    screen.say("What is promised? Nobody chooses that for you:")
    screen.say(*(f"  {name:22} {Preset.find(name).title}" for name in names()))
    return _answer("preset", default=None).strip()


def _answer(question: str, *, default: str | None) -> str:
    try:
        said: str = typer.prompt(question, default=default, show_default=False)
    except click.Abort:
        raise InputError("--ask: nobody answers") from None
    return said


def _settled(said: str) -> str:
    return "sensitive" if said == "target" else said


def _corrected(means: str, there: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns as the steward has them: Enter for these, or others by name, a minus for none."""
    screen.say(f"{means}: {', '.join(map(screen.shown, there)) or 'none'}")
    said = _answer("  Enter if so, else names with commas, or - for none", default="")
    if not said.strip():
        return list(there)
    names = [] if said.strip() == "-" else [name.strip() for name in said.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"--ask: no column {', '.join(map(repr, unknown))}")
    return names
