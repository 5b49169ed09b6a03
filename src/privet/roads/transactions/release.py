"""Published sets as a release: how they are written, and what of them stays with the steward."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form
from privet.engine import Engine, suffix
from privet.engines.transactions import lines
from privet.engines.transactions.frames import as_lists
from privet.evidence import notes as ev
from privet.policy.values import Policy
from privet.release import Release
from privet.rules.baskets import Baskets


@dataclass(frozen=True, kw_only=True)
class SetRelease(Release):
    """Published sets, in the form of the data that they were made from."""

    table: pl.DataFrame | None = field(repr=False)  # none where baskets stand in lines
    baskets: Baskets = field(repr=False)
    engine: Engine[Any] = field(repr=False)
    form: Form = field(repr=False)

    def to_polars(self) -> pl.DataFrame:
        """The data as a polars frame; baskets as lists."""
        return self.table if self.table is not None else pl.DataFrame({"items": as_lists(self.baskets)})

    def write_data(self, folder: Path) -> dict[str, Any]:
        shape = self.policy.shape
        if self.table is None:
            name = "data.basket" + (".gz" if self.form.gzip else "")
            lines.write(self.baskets, folder / name, self.form, shape.separator)
            return {
                "file": name,
                **ev.form_notes(self.form),
            }
        data = f"data{suffix(self.form)}"
        self.engine.write(self.engine.read(self.table, self.form), folder / data, self.form)
        return {"file": data, **ev.form_notes(self.form)}

    def published_policy(self) -> Policy:
        """The policy without hierarchies: they hold raw values."""
        return replace(
            self.policy,
            attributes=tuple(replace(a, hierarchy=None) for a in self.policy.attributes),
            form=self.form,
            shape=self.policy.shape.published(),
        )
