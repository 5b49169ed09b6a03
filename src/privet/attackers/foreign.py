"""anonymeter: attackers that nobody here wrote, against the same release.

Giomi, Boenisch, Wehmeyer and Tasnádi, "A unified framework for quantifying privacy risk in synthetic data",
PoPETs 2023. They single out by predicates, link by nearest neighbours and infer by nearest neighbours, on
records as they stand; so the raw records are generalised to the labels of the release first. anonymeter pins
numpy below 2, which privet does not run with: it gets an environment, and a process, of its own.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.scene import Scene
from privet.core import Role
from privet.domain import Value
from privet.evidence.values import TABLES

PYTHON = "PRIVET_ANONYMETER"  # the Python of an environment that has it
HINT = f"it needs anonymeter (PyPI) in an environment of its own: {PYTHON}=ENV/bin/python"
ROWS = 5_000
SECONDS = 600
PROGRAM = Path(__file__).with_name("_anonymeter.py")


class Anonymeter:
    """Attackers of another team, anonymeter's: singling out, linkability and inference."""

    name: ClassVar[str] = "anonymeter"
    assumes: ClassVar[str] = "has the release, and some columns of a person's record, generalised alike"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        python = os.environ.get(PYTHON) or (sys.executable if find_spec("anonymeter") else None)
        if python is None:
            raise NotTriedError(HINT)
        table, policy = scene.target.shown, scene.target.policy
        names = [
            a.name for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET) if a.name in table.rows
        ]
        secrets = [bag.attribute for bag in table.bags]
        if len(table.quasi) < 2 or not secrets:
            raise NotTriedError("it needs two quasi-identifiers and a sensitive attribute")
        ours = {name: table.rows[name][:ROWS] for name in names}
        theirs = translated(scene, names)
        asked = {
            "quasi": list(table.quasi),
            "secrets": secrets,
            "attacks": min(scene.trials, len(next(iter(theirs.values()))) // 2 or 1, 300),
            "seed": scene.seed,
        }
        return [_outcome(one) for one in _run(python, ours, theirs, asked)]


def translated(scene: Scene, names: Sequence[str]) -> dict[str, list[Value]]:
    """The raw records under the labels that stand for them; where several may, under the first."""
    rows, translation = scene.rows or {}, scene.target.translation
    if translation is None:
        raise NotTriedError("the release does not say what its labels stand for")
    found: dict[str, list[Value]] = {}
    for name in names:
        if name not in scene.target.shown.quasi:
            found[name] = list(rows[name][:ROWS])
            continue
        labels: dict[Value, Value] = {}
        for raw in set(rows[name][:ROWS]):
            fitting = sorted(translation(name, raw), key=lambda label: (label is None, label or ""))
            labels[raw] = fitting[0] if fitting else raw
        found[name] = [labels[raw] for raw in rows[name][:ROWS]]
    return found


def _run(
    python: str,
    ours: Mapping[str, Sequence[Value]],
    theirs: Mapping[str, Sequence[Value]],
    asked: dict[str, Any],
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("released", ours), ("raw", theirs)):
            with (Path(folder) / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                write = csv.writer(file)
                write.writerow(rows)
                write.writerows(
                    zip(*([value or "" for value in column] for column in rows.values()), strict=True)
                )
        (Path(folder) / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - a Python that the steward names
            [python, "-I", str(PROGRAM), folder], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if done.returncode:
            raise NotTriedError(f"anonymeter did not run (exit code {done.returncode}); {HINT}")
        found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
        return found


def _outcome(one: Mapping[str, Any]) -> Outcome:
    """Their counts in our words; no promise speaks of nearest neighbours."""
    return Outcome(
        attack=Anonymeter.name,
        goal=str(one["goal"]),
        tried=int(one["tried"]),
        succeeded=int(one["succeeded"]),
        baseline=float(one["baseline"]),
        note=str(one["note"]),
    ).judge()
