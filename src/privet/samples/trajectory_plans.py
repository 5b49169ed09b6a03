"""Plans of samples that are paths, and the ready policies that say so. Plain text, as in `plans`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from privet.samples.plans import Planned


@dataclass(frozen=True, slots=True)
class PathPlan:
    """The columns of a sample with one path for each person, and a promise that suits them."""

    purpose: str
    columns: Mapping[str, Planned]
    sensitive: Mapping[str, tuple[str, ...]]
    l: int
    k: int
    c: str
    support: str
    path: str = field(default="path")

    def named(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def policy(
        self,
        *,
        l: int | None = None,
        k: int | None = None,
        c: str | None = None,
        score: str = "gain-per-loss",
    ) -> str:
        """The policy as TOML. What is not given is taken from the plan: a sample is nobody's data."""
        usual = {"information-gain": "gain-per-loss"}  # what a table's policy would say
        (attribute,) = self.sensitive
        lines = [
            "policy = 1",
            'kind = "trajectories"',
            f"purpose = {json.dumps(self.purpose)}",
            "",
            "[trajectories]",
            'form = "column"                               # one row for each person',
            f"path = {json.dumps(self.path)}",
            "",
            "[attributes]",
            *(
                f"{name} = {{ role = {json.dumps(column.role)} }}"
                for name, column in self.columns.items()
                if name != self.path
            ),
            "",
            "[[models]]",
            'type = "lkc-privacy"',
            f"l = {self.l if l is None else l}",
            f"k = {self.k if k is None else k}",
            f"c = {json.dumps(self.c if c is None else c)}",
            f"sensitive = {{ {attribute} = {json.dumps(list(self.sensitive[attribute]))} }}",
            "",
            "[algorithm]",
            'type = "suppress-points"',
            f"support = {json.dumps(self.support)}",
            f"score = {json.dumps(usual.get(score, score))}",
        ]
        return "\n".join(lines) + "\n"


def _trips(purpose: str, person: str, *, k: int, c: str) -> PathPlan:
    return PathPlan(
        purpose=purpose,
        columns={person: Planned("identifier"), "path": Planned("path"), "status": Planned("sensitive")},
        sensitive={"status": ("On welfare",)},
        l=3,
        k=k,
        c=c,
        support="1/100",
    )


CITY = _trips("where citizens go in a day, for the planning office", "citizen", k=30, c="3/5")
METRO = _trips("trips through the metro, for those who plan its trains", "card", k=30, c="3/5")
