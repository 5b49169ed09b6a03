"""The counts that promises are asked of: counted on every record, and kept while data and roles are the same.

What is promised does not change what was counted, so another k is answered without reading the data again.
Numbers are exact, or they are not there yet: they are counted beside the pages, for as long as anybody asks
the same, and no longer than a page can wait for them. However many tabs ask, each gets its number in the end.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from privet import effort
from privet.core import Tally, Verdicts
from privet.declared import TABLE
from privet.policy.values import Policy
from privet.registry import find
from privet.roads import check
from privet.roads.tables.road import as_it_stands, judged
from privet.studio.later import Work, begun, now
from privet.studio.project import Project

NOT_COUNTED = {"models", "algorithm", "purpose", "ledger"}  # parts of a policy that change no count
LONGEST = 10.0  # seconds that numbers beside a promise are counted for
AT_ONCE = 2  # questions that are counted side by side; the others wait for their turn
GONE = 90.0  # seconds after which a tab that asks no more is closed: one that nobody sees asks once a minute
FRESH = 60.0  # seconds after which data that changes without a sign is counted again for who asks
KEPT = 256  # answers that are remembered


class DroppedError(Exception):
    """Nobody asks this any more; whoever does after all is counted for anew."""


def _now() -> datetime:
    return datetime.now(tz=UTC)


@dataclass(eq=False)
class Question:
    """What some tabs want to know, until they want to know something else."""

    key: Any
    work: Callable[[], Verdicts] = field(repr=False)
    dropped: threading.Event = field(repr=False)
    soon: Work[Verdicts] = field(default_factory=Work, repr=False)
    tabs: set[str] = field(default_factory=set)
    asked: float = field(default_factory=time.monotonic)  # for the last time
    read: datetime = field(default_factory=_now)  # when its data was, or began to be


class Counts:
    """The last counts of a table, as promises see it, and the questions that are asked of them.

    Tabs that ask the same share one question, and none drops another's: questions wait in a row.
    """

    def __init__(self, longest: float = LONGEST) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._soon: Work[Tally] | None = None
        self._questions: dict[Any, Question] = {}
        self._of_tab: dict[str, Question] = {}
        self._row: deque[Question] = deque()
        self._busy = 0
        self._turn, self._since = 0, time.monotonic()
        self._read = _now()  # of the counts
        self.longest = longest

    def verdicts(self, project: Project, policy: Policy, asker: str = "") -> Work[Verdicts]:
        """What the data achieves of a policy, as it stands; the same as `privet check` finds, now or soon.

        The next question of the same asker takes the place of this one. StoppedError: it would take too long.
        """
        said = json.dumps(policy.to_document(), default=str)
        with self._lock:
            key = (project.signature(), project.selected(), self._turned(project), said)
            known = self._of_tab.pop(asker, None)
            if known is not None and known.key != key:
                self._left(known, asker)
            found = self._questions.pop(key, None)
            if found is None or _failed(found.soon):
                dropped = threading.Event()
                work, read = self._work(project, policy, dropped)
                found = Question(key, work, dropped, read=read)
                self._row.append(found)
                self._served()
            found.tabs.add(asker)
            found.asked = time.monotonic()
            self._questions[key] = self._of_tab[asker] = found  # at the end: asked last
            self._forgotten()
            return found.soon

    def read_at(self, asker: str) -> datetime | None:
        """When the data was read of which this asker's last question is answered."""
        with self._lock:
            found = self._of_tab.get(asker)
            return None if found is None else found.read

    def _turned(self, project: Project) -> int:
        """A number that is another one once data that gives no sign of changes has to be counted again."""
        if not project.is_silent:
            return 0
        under_way = [one.soon for one in self._questions.values()] + ([self._soon] if self._soon else [])
        if time.monotonic() - self._since > FRESH and all(soon.done() for soon in under_way):
            self._turn, self._since = self._turn + 1, time.monotonic()
        return self._turn

    def _left(self, question: Question, asker: str) -> None:
        """A tab wants to know something else; what nobody wants to know any more is dropped."""
        question.tabs.discard(asker)
        if not question.tabs and not question.soon.done():
            question.dropped.set()
            self._questions.pop(question.key, None)

    def _forgotten(self) -> None:
        """Answers are not kept without end, nor are tabs that were closed long ago."""
        done = [key for key, one in self._questions.items() if one.soon.done()]
        for key in done[: max(0, len(self._questions) - KEPT)]:
            for tab in self._questions.pop(key).tabs:
                self._of_tab.pop(tab, None)

    def _served(self) -> None:
        if self._busy < AT_ONCE:
            self._busy += 1
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        """Answer one question after the other, until none is left."""
        while (question := self._next()) is not None:
            try:
                question.soon.set_result(question.work())
            except BaseException as error:  # noqa: BLE001 - whoever asks gets it
                question.soon.set_exception(DroppedError() if question.dropped.is_set() else error)

    def _next(self) -> Question | None:
        with self._lock:
            while self._row:
                question = self._row.popleft()
                if not question.dropped.is_set() and time.monotonic() - question.asked <= GONE:
                    return question
                if self._questions.get(question.key) is question:
                    del self._questions[question.key]
                question.soon.set_exception(DroppedError())
            self._busy -= 1
            return None

    def _work(
        self, project: Project, policy: Policy, dropped: threading.Event
    ) -> tuple[Callable[[], Verdicts], datetime]:
        if policy.kind != TABLE or policy.algorithm.road is not None:
            source = project.given
            return lambda: self._bounded(dropped, lambda: check(source, policy)), _now()
        counted = self._counted(project, policy)
        return lambda: self._judged(counted, policy, dropped), self._read

    def _judged(self, counted: Work[Tally], policy: Policy, dropped: threading.Event) -> Verdicts:
        tally = now(counted, None, "", "")
        return self._bounded(dropped, lambda: judged(tally, policy))

    def _bounded(self, dropped: threading.Event, work: Callable[[], Verdicts]) -> Verdicts:
        until = time.monotonic() + self.longest
        with effort.while_wanted(lambda: dropped.is_set() or time.monotonic() > until):
            effort.between()()
            return work()

    def _counted(self, project: Project, policy: Policy) -> Work[Tally]:
        said = {part: what for part, what in policy.to_document().items() if part not in NOT_COUNTED}
        said["attributes"] = [  # how a value is generalised changes no count of what stands there
            (name, {key: what for key, what in one.items() if key != "hierarchy"})
            for name, one in said["attributes"].items()
        ]
        text = json.dumps(said, sort_keys=True, default=str)
        key = (project.signature(), project.selected(), self._turn, text)
        if self._soon is None or _failed(self._soon) or key != self._key:
            source, engine = project.given, find("engines", "embedded")()
            self._key, self._read = key, _now()
            self._soon = begun(lambda: as_it_stands(source, policy, engine=engine))
        return self._soon


def _failed(soon: Work[Any]) -> bool:
    """Did it end without a result? Then it is tried again, but for what was given up as too long."""
    return soon.in_vain and not isinstance(soon.exception(), effort.StoppedError)
