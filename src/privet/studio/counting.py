"""The counts that promises are asked of: counted on every record, and kept while data and roles are the same.

What is promised does not change what was counted, so another k is answered without reading the data again.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from typing import Any

from privet.core import Tally
from privet.declared import TABLE
from privet.policy.values import Policy
from privet.publishing import check
from privet.registry import find
from privet.roads import Verdicts
from privet.roads.tables.road import as_it_stands, judged
from privet.studio.later import begun
from privet.studio.project import Project

NOT_COUNTED = {"models", "algorithm", "purpose", "ledger"}  # parts of a policy that change no count


class Counts:
    """The last counts of a table, as promises see it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._soon: Future[Tally] | None = None

    def verdicts(self, project: Project, policy: Policy) -> Verdicts:
        """What the data achieves of a policy, as it stands; the same as `privet check` finds."""
        if policy.kind != TABLE or policy.algorithm.road is not None:
            return check(project.given, policy)
        return judged(self._counted(project, policy), policy)

    def _counted(self, project: Project, policy: Policy) -> Tally:
        said = {part: what for part, what in policy.to_document().items() if part not in NOT_COUNTED}
        said["attributes"] = [  # how a value is generalised changes no count of what stands there
            (name, {key: what for key, what in one.items() if key != "hierarchy"})
            for name, one in said["attributes"].items()
        ]
        key = (project.signature(), project.selected(), json.dumps(said, sort_keys=True, default=str))
        with self._lock:
            failed = self._soon is not None and self._soon.done() and self._soon.exception() is not None
            if self._soon is None or failed or key != self._key:
                source, engine = project.given, find("engines", "embedded")()
                self._key = key
                self._soon = begun(lambda: as_it_stands(source, policy, engine=engine))
            soon = self._soon
        return soon.result()
