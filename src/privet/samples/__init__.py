"""Sample data: tables of people who do not exist, each with a policy that fits it.

Importing this loads neither numpy nor polars; generating does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from privet.errors import InputError, one_of
from privet.samples import plans
from privet.samples import trajectory_plans as journeys
from privet.samples.baskets import PLAN as BASKETS
from privet.samples.baskets import SetPlan
from privet.samples.plans import Plan
from privet.samples.trajectory_plans import PathPlan

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SAMPLES", "Sample", "sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A table that can be generated in any size, always the same for the same seed."""

    name: str
    description: str
    plan: Plan | PathPlan | SetPlan = field(repr=False)
    source: str = field(repr=False)  # the module that generates it, named and not imported
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def generate(self, rows: int, seed: int) -> pl.DataFrame:
        """Raises InputError for a negative size or seed."""
        module, function = self.source.split(":")
        table: pl.DataFrame = getattr(import_module(module), function)(rows, seed, **self.options)
        return table

    def policy(
        self,
        *,
        l: int | None = None,
        k: int | None = None,
        c: str | None = None,
        score: str = "information-gain",
    ) -> str:
        """A ready policy as TOML; a parameter that is not given is one that suits the sample."""
        return self.plan.policy(l=l, k=k, c=c, score=score)


SAMPLES: Mapping[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample(
            "patients",
            "hospital patients in 9 columns: who was operated on, and who needed blood",
            plans.PATIENTS,
            "privet.samples.patients:patients",
            {"columns": "demo"},
        ),
        Sample(
            "transfusions",
            "blood transfusion records in 64 columns, 41 of them quasi-identifiers",
            plans.TRANSFUSIONS,
            "privet.samples.patients:patients",
        ),
        Sample(
            "census",
            "a census in the 15 columns of the Adult data, with its shares and dependencies",
            plans.CENSUS,
            "privet.samples.census:census",
        ),
        Sample(
            "trips-city",
            "a day of citizens through 26 blocks of a city, hour by hour, one path each",
            journeys.CITY,
            "privet.samples.trips:city",
        ),
        Sample(
            "trips-metro",
            "an hour of passengers through 65 stations of a metro, one path each",
            journeys.METRO,
            "privet.samples.trips:metro",
        ),
        Sample(
            "baskets",
            "the baskets of a corner shop, a set of items for each customer",
            BASKETS,
            "privet.samples.baskets:baskets",
        ),
    )
}


def sample(name: str, rows: int = 5_000, seed: int = 0) -> pl.DataFrame | list[dict[str, Any]]:
    """Sample data by its name: a table, or a list of documents; the same for the same size and seed.

    `SAMPLES[name].policy()` is a policy that fits it, as text; `privet sample` writes both to files.
    """
    from privet.samples.collections import COLLECTIONS  # noqa: PLC0415 - only for documents

    if name in COLLECTIONS:
        return list(COLLECTIONS[name].generate(rows, seed))
    if name not in SAMPLES:
        raise InputError(one_of("sample", [*SAMPLES, *COLLECTIONS], name))
    return SAMPLES[name].generate(rows, seed)
