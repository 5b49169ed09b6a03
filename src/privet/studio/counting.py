"""The counts that promises are asked of: counted on every record, and kept while data and roles are the same.

What is promised does not change what was counted, so another k is answered without reading the data again.
Numbers are exact, or they are not there yet: they are counted beside the pages, for as long as anybody asks
the same, and no longer than a page can wait for them.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from privet import effort
from privet.core import Tally, Verdicts
from privet.declared import TABLE
from privet.policy.values import Policy
from privet.registry import find
from privet.roads import check
from privet.roads.tables.road import as_it_stands, judged
from privet.studio.later import begun
from privet.studio.project import Project

NOT_COUNTED = {"models", "algorithm", "purpose", "ledger"}  # parts of a policy that change no count
LONGEST = 10.0  # seconds that numbers beside a promise are counted for
ASKING = 8  # tabs whose questions are counted side by side


@dataclass
class Question:
    """What one tab wants to know, until it wants to know something else."""

    key: Any
    soon: Future[Verdicts] = field(repr=False)
    dropped: threading.Event = field(repr=False)


class Counts:
    """The last counts of a table, as promises see it, and the questions that are asked of them."""

    def __init__(self, longest: float = LONGEST) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._soon: Future[Tally] | None = None
        self._asked: dict[str, Question] = {}
        self.longest = longest

    def verdicts(self, project: Project, policy: Policy, asker: str = "") -> Future[Verdicts]:
        """What the data achieves of a policy, as it stands; the same as `privet check` finds, now or soon.

        The next question of the same asker drops this one. StoppedError: it would take too long.
        """
        key = (project.signature(), project.selected(), json.dumps(policy.to_document(), default=str))
        with self._lock:
            known = self._asked.get(asker)
            if known is not None and known.key == key and not _failed(known.soon):
                return known.soon
            if known is not None:
                known.dropped.set()
            dropped = threading.Event()
            self._asked.pop(asker, None)
            work = self._work(project, policy, dropped)
            self._asked[asker] = Question(key, begun(work), dropped)
            for old in list(self._asked)[:-ASKING]:
                self._asked.pop(old).dropped.set()
            return self._asked[asker].soon

    def _work(self, project: Project, policy: Policy, dropped: threading.Event) -> Callable[[], Verdicts]:
        if policy.kind != TABLE or policy.algorithm.road is not None:
            source = project.given
            return lambda: self._bounded(dropped, lambda: check(source, policy))
        counted = self._counted(project, policy)
        return lambda: self._judged(counted, policy, dropped)

    def _judged(self, counted: Future[Tally], policy: Policy, dropped: threading.Event) -> Verdicts:
        tally = counted.result()
        return self._bounded(dropped, lambda: judged(tally, policy))

    def _bounded(self, dropped: threading.Event, work: Callable[[], Verdicts]) -> Verdicts:
        until = time.monotonic() + self.longest
        with effort.while_wanted(lambda: dropped.is_set() or time.monotonic() > until):
            effort.between()()
            return work()

    def _counted(self, project: Project, policy: Policy) -> Future[Tally]:
        said = {part: what for part, what in policy.to_document().items() if part not in NOT_COUNTED}
        said["attributes"] = [  # how a value is generalised changes no count of what stands there
            (name, {key: what for key, what in one.items() if key != "hierarchy"})
            for name, one in said["attributes"].items()
        ]
        key = (project.signature(), project.selected(), json.dumps(said, sort_keys=True, default=str))
        if self._soon is None or _failed(self._soon) or key != self._key:
            source, engine = project.given, find("engines", "embedded")()
            self._key = key
            self._soon = begun(lambda: as_it_stands(source, policy, engine=engine))
        return self._soon


def _failed(soon: Future[Any]) -> bool:
    """Did it end without a result? Then it is tried again, but for what was given up as too long."""
    if not soon.done():
        return False
    return soon.exception() is not None and not isinstance(soon.exception(), effort.StoppedError)
