"""What knowing the algorithm gives away, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from privet.cli import screen
from privet.cli.screen import share
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.policy.values import Policy


def refuse_other_kinds(policy: Policy) -> None:
    """The attack is known for tables."""
    if policy.kind != "table":
        raise InputError(f"--algorithm-aware: is tried with tables, not with {policy.kind}")
    if policy.algorithm.public_domains:
        raise InputError("--algorithm-aware: differential privacy holds whoever knows the algorithm")


def told(found: Mapping[str, Any]) -> Iterator[str]:
    """Whether the algorithm is coincident, and the attack on a small example where it is not."""
    name, how = screen.shown(found["algorithm"]), screen.shown(found["how"])
    if found["always"]:
        yield f"{name}: whoever knows it learns no more than the release shows ({how})"
        return
    if found["always"] is False:
        yield screen.paint(f"{name} is not coincident: whoever knows it may learn more than is shown", "warn")
    else:
        yield f"{name}: it is not known to be safe from somebody who knows it"
    yield f"  {_here(found)} ({how})"
    yield from _example(found["example"])
    yield "  the algorithms coincident, safe-lattice and anatomy do not have this weakness"


def _here(found: Mapping[str, Any]) -> str:
    """The attack on the table at hand."""
    if found["coincident"] is False:
        return (
            f"this table: somebody's chance moves by {share(found['farthest'])}; the values of "
            f"{found['certain']:,} people are certain, though their class shows several"
        )
    return "this table: nothing is learnt" if found["coincident"] else "this table: it cannot be told"


def _example(shown: Mapping[str, Any]) -> Iterator[str]:
    chance = f"a value with a chance of {shown['shown']}"
    if shown["by"] is None:
        yield (
            f"  as in a table of {shown['people']} patients: a group shows {chance}; who knows that the "
            f"first safe grouping is released knows it with {shown['known']}"
        )
        return
    yield (
        f"  {screen.shown(shown['by'])} on a table of {shown['people']} people, two of whom share a value: "
        f"their class shows {chance}; who knows the algorithm knows it with {shown['known']}"
    )
