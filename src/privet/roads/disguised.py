"""Columns that a policy publishes in disguise: does what lies there look like it?

Whether a hash is the hash of anybody's name only the holder of the key can tell. But a name in a column that
is said to be masked is a name that has left, and anybody can see that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.core import Disguise
from privet.engine import Engine
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.roads.stations import data_file


def complaints(folder: Path, evidence: Evidence, policy: Policy, engine: Engine[Any]) -> list[str]:
    """A complaint for each column with values that its disguise never makes."""
    worn = {a.name: a.disguise for a in policy.attributes if a.disguise is not None}
    there = [name for name in evidence.columns if name in worn]
    if not there:
        return []
    data, form = data_file(folder, evidence)
    table = engine.read(data, form, there, empty=True)
    found = []
    for name in there:
        if bare := _bare(worn[name], engine.distinct(table, name)):
            many = "1 value is" if bare == 1 else f"{bare} values are"
            found.append(f'column {name!r}: {many} not what publish = "{worn[name].name}" makes of a value')
    return found


def _bare(disguise: Disguise, values: list[str | None]) -> int:
    return sum(value is not None and not disguise.fits(value) for value in values)
