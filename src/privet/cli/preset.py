"""A policy out of a preset, for who writes none: what was left out, why, and what is still to be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privet.cli.options import form_of
from privet.errors import InputError, PersonError

if TYPE_CHECKING:
    from privet.drafts.accept import Answers
    from privet.drafts.text import Draft
    from privet.policy.values import Policy


@dataclass(frozen=True)
class FromPreset:
    """The policy that `init --accept` would write, and what its steward should know."""

    policy: Policy
    noticed: list[str]
    left_out: list[tuple[str, str]]  # columns, each with the reason
    whose: str  # what to say where it is not known whose the rows are; nothing if it is

    def refused(self, error: PersonError) -> PersonError:
        """The refusal of rows that nobody has claimed, in words of who has written no policy."""
        return PersonError(self.whose) if self.whose else error


def from_preset(data: str, preset: str, answers: Answers, **how: Any) -> FromPreset:
    """Draft, accept every guess, and take the promise of the preset."""
    from privet.core import Form
    from privet.drafts.accept import accept
    from privet.drafts.documents import looks_nested, not_by_preset
    from privet.drafts.draft import draft
    from privet.policy.presets import Preset

    found = Preset.find(preset)
    if looks_nested(data, how["format"]):
        raise not_by_preset(data)
    drafted = draft(
        data,
        form_of(Form(), **how),
        guess_encoding=how["encoding"] is None,
        guess_nulls=not how["null"],
        paths=None,
    )
    made = accept(drafted, found, answers)
    gone = drafted.left_out
    by_reason: dict[str, list[str]] = {}
    for name, reason in gone:
        by_reason.setdefault(reason, []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())
    noticed = [f"left out, as they may name people: {listed}"] if gone else []
    asked = drafted.doubts[len(drafted.seen) :]  # whose rows are: what refuses says it
    policy = policy_of(made.text, preset)
    without = [one.name for one in policy.attributes if one.role.value == "identifier"]
    return FromPreset(
        policy,
        [*noticed, *(one for one in made.told if one not in asked)],
        gone,
        "" if answers.person is not None else whose_rows(drafted, without),
    )


def policy_of(text: str, preset: str) -> Policy:
    """The policy; where nothing is left to generalise, in words of who has never seen one."""
    import tomllib

    from privet.core import Role
    from privet.policy.values import Policy

    said = tomllib.loads(text)
    roles = {one["role"] for one in said["attributes"].values()} if "attributes" in said else set()
    if said["kind"] != "table" or Role.QUASI.value in roles:
        return Policy.loads(text, place=preset)
    gone = sum(one["role"] == Role.IDENTIFIER.value for one in said["attributes"].values())
    raise InputError(
        f"--preset: {gone} of {len(said['attributes'])} columns are left out, as they may name people, and "
        "in none of the others is something that others may know about a person: nothing remains to "
        "generalise, so the preset would promise nothing",
        "--preset: if one of those that are left out says nothing about who it is, say so with "
        f"`privet init DATA --ask --preset {preset}` (-NAME takes it off), and publish under that policy",
    )


def whose_rows(drafted: Draft, without: Sequence[str]) -> str:
    """What is asked of who publishes with a preset, in one sentence."""
    from privet.engines.text import listed

    left_out = f"what is left out ({listed(without)})" if without else "a column that is left out"
    repeated = listed(drafted.repeated) if drafted.repeated else left_out
    named = (
        f"--person {drafted.persons[0]}, which counts rows with one value of it as one person, or "
        if drafted.persons
        else ""
    )
    return (
        f"{repeated}: values repeat, so a person may have several rows; say {named}--rows persons, which "
        "claims that each row is a person of its own"
    )
