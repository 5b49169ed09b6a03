"""Minimality: that the search did not release less general classes tells that those would break the promise.

Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007. What knowing the
algorithm gives is found by running it again on exchanged values (`roads.tables.minimality`); here it is used
to name everybody's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.scene import Scene
from privet.errors import HierarchyError, UnsatisfiableError
from privet.evidence.values import TABLES
from privet.roads.tables.minimality import inherently, proven

TRIES = 60  # each is a search


class Minimality:
    """Who knows the algorithm too rules out what it would have published otherwise."""

    name: ClassVar[str] = "minimality"
    assumes: ClassVar[str] = (
        "knows the algorithm and its settings, everybody's class, and all values together"
    )
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        policy = scene.target.policy
        try:
            tally = scene.engine.tally(scene.raw, policy).tally
            found = inherently(tally, policy, tries=TRIES, seed=scene.seed)
        except HierarchyError:
            raise NotTriedError(
                "a folder's policy has only what is published of its hierarchies; `publish --attack` has all"
            ) from None
        except UnsatisfiableError:
            raise NotTriedError("the algorithm finds nothing on this data now") from None
        if isinstance(found, str):
            raise NotTriedError(found)
        known, values = found
        proof = proven(policy)
        right = sum(
            _surest(dict(seen)) == values[person] for person, seen in enumerate(known.inherent) if seen
        )
        shown = sum(_surest(dict(seen)) == values[person] for person, seen in enumerate(known.apparent))
        shares = max((float(max(seen.values(), default=0)) for seen in known.apparent), default=0.0)
        worst = max((float(max(seen.values(), default=0)) for seen in known.inherent), default=0.0)
        common = max(values.count(value) for value in set(values))
        return [
            Outcome(
                attack=self.name,
                goal=f"{tally.sensitive[0].name} of a person, knowing the algorithm",
                tried=len(values),
                succeeded=right,
                baseline=common / len(values),
                worst=worst if known.exact else None,  # of a sample, the largest is mostly chance
                # Only an algorithm that says so promises that knowing it does not help.
                allowed=None if proof is None else shares,
                promise="" if proof is None else f"{policy.algorithm.name}: {proof}",
                note=f"classes alone name {shown} of {len(values)}; somebody's chance moves by "
                f"{float(known.farthest):.1%}"
                + ("" if known.exact else f", and chance explains {known.tolerance:.1%} ({known.draws} runs)")
                + f"; {known.certain} people are certain",
            ).judge(beyond=not known.coincident if proof is not None else None)
        ]


def _surest(seen: dict[object, object]) -> object:
    return max(seen, key=lambda value: float(seen[value]), default=None)  # type: ignore[arg-type] # shares are numbers
