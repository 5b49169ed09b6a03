"""Where the time goes: `python -m bench.stages DATA POLICY DIR` notes the seconds of each stage."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from privet.core import Progress, Terms
from privet.engine import Tallied
from privet.engines.embedded import Embedded, Frame
from privet.policy.values import Policy
from privet.roads import publish

ROAD = ("read", "tally", "search", "apply", "check", "measure", "write")


class Clock:
    """Progress that looks at its watch whenever the stage changes."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(ROAD, 0.0)
        self._stage: str | None = None
        self._since = 0.0

    def __call__(self, stage: str, done: int, of: int | None = None) -> None:  # noqa: ARG002 - Progress's form
        self._turn(stage)

    def stop(self) -> dict[str, float]:
        self._turn(None)
        return self.seconds

    def _turn(self, stage: str | None) -> None:
        now = time.perf_counter()
        if self._stage is not None:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now


class Announcing(Embedded):
    """Says when the tally is made: a search speaks up only after its first step."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def tally(self, table: Frame, policy: Terms) -> Tallied:
        made = super().tally(table, policy)
        self._progress("search", 0)
        return made


def staged(source: Any, policy: Policy, folder: Path) -> dict[str, float]:
    """The seconds of every stage from the source to the release folder."""
    clock = Clock()
    release = publish(source, policy, engine=Announcing(clock), progress=clock)
    clock("write", 0)
    release.write(folder)
    return clock.stop()


if __name__ == "__main__":
    data, policy_file, target = sys.argv[1:]
    print(json.dumps(staged(data, Policy.load(policy_file), Path(target))))
