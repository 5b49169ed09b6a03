"""Published paths as a release: how they are written, and what of them stays with the steward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from privet import parts
from privet.core import Form
from privet.engine import Engine, suffix
from privet.evidence import notes as ev
from privet.evidence.paths import Heat
from privet.policy.values import Policy
from privet.release import REMOVED, Release
from privet.report import html, trajectories
from privet.roads.stations import in_frame
from privet.trajectory.grid import Grid


@dataclass(frozen=True, kw_only=True)
class TrajectoryRelease(Release):
    """Published paths, in the form of the data that they were made from."""

    table: Any = field(repr=False)  # a polars frame; or the engine's own, where it lies on a cluster
    engine: Engine[Any] = field(repr=False)
    form: Form = field(repr=False)
    grid: Grid | None = None  # of the release, where it is coarser than that of the data
    lost: Mapping[str, Any] = field(default_factory=dict, repr=False)  # visits, by raw places and times

    def to_polars(self) -> pl.DataFrame:
        """The data as a polars frame."""
        if isinstance(self.table, pl.DataFrame):
            return self.table
        frame: pl.DataFrame = in_frame(self.engine, self.table)
        return frame

    def write_data(self, folder: Path) -> dict[str, Any]:
        data = f"data{suffix(self.form)}"
        here = isinstance(self.table, pl.DataFrame)
        table = self.engine.read(self.table, self.form) if here else self.table
        self.engine.write(table, folder / data, self.form)
        several = {"parts": len(parts.listed(folder / data))} if (folder / data).is_dir() else {}
        return {"file": data, **several, **ev.form_notes(self.form)}

    def _write_private(self, folder: Path) -> None:
        """Besides the notes a page that shows where and when visits were lost: raw places and times."""
        super()._write_private(folder)
        path = folder / REMOVED
        path.touch(mode=0o600)
        shown = trajectories.for_steward(Heat.read(self.lost))
        path.write_text(html.render(self.evidence, shown), "utf-8")

    def published_policy(self) -> Policy:
        """The policy without lists of places and without hierarchies: they hold raw values."""
        return replace(
            self.policy,
            attributes=tuple(replace(a, hierarchy=None) for a in self.policy.attributes),
            form=self.form,
            shape=self.policy.shape.published(self.grid),
        )
