"""What is answered about data and releases: values with fields, one class for each question and kind.

Each is a mapping too, by the names that `--json` uses, and `to_dict()` is what it prints. None decides about
a release, and none repeats a value of the data unless the caller asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from dataclasses import dataclass as _dataclass
from typing import Any, Self, TypeVar, dataclass_transform

from privet import notebook
from privet.errors import InternalError
from privet.evidence.part import Part

A = TypeVar("A", bound="Answer")
Table = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=True)
def answer(made: type[A]) -> type[A]:
    """Make a class of fields an answer; a field with a default may be missing."""
    return _dataclass(init=False, eq=False, kw_only=True, repr=False)(made)


class Answer(Part):
    """A value with fields that is a mapping by the names of `--json`."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """The answer that these fields are, in their order."""
        known = {one.name: one.default is MISSING for one in fields(cls)}  # type: ignore[arg-type]
        wrong = [*(set(found) - set(known)), *(name for name in known if known[name] and name not in found)]
        if wrong:
            raise InternalError(f"{cls.__name__}: {', '.join(sorted(wrong))}")
        made = cls(**found)
        object.__setattr__(made, "_keys", tuple(found))
        return made

    def __repr__(self) -> str:
        """The numbers and words of it; tables and lists by how much they hold."""
        told = ", ".join(f"{key}={_brief(self[key])}" for key in self)
        return f"{type(self).__name__}({told})"


def _brief(value: Any) -> str:
    if isinstance(value, (Mapping, list, tuple)):
        return f"<{len(value)}>"
    return repr(value)


@answer
class TableRisk(Answer):
    """How exposed the people in a table are, as it stands."""

    records: int
    quasi_identifiers: list[str]
    unique_records: int
    unique_share: float
    classes: Table
    prosecutor: Table
    journalist: Table
    marketer: Table
    records_at_risk: Rows
    population: Table | None
    dimensionality: Table | None
    columns: Table
    promises: Rows
    linkage: Rows
    algorithm_aware: Table | None


@answer
class PathRisk(Answer):
    """How exposed people are who may be known by some of their visits."""

    kind: str
    records: int
    visits: int
    points: int
    places: int
    times: int
    longest: int
    empty: int
    unique_paths: int
    promises: Rows
    mixed: Table | None = None
    linkage: Rows


@answer
class DocumentRisk(Answer):
    """How many trees are alone, for somebody who knows the root, the shape, or all of it."""

    kind: str
    records: int
    vertices: int
    knowledge: Rows
    outlook: Rows
    warnings: list[str]


@answer
class SetRisk(Answer):
    """How exposed people are who may be known by some of their items, and how well rules are hidden."""

    kind: str
    records: int
    cells: int
    different: int
    longest: int
    empty: int
    unique: int
    levels: Sequence[Rows]
    promises: Rows
    linkage: Rows


@answer
class TableComparison(Answer):
    """What was lost between a table and its release, and what risk is left."""

    records: int
    classes: Table
    risk: Table
    loss: Table
    dimensionality: Table | None
    steps: Table
    attributes: Table
    worst_classes: Table
    recoding: Table | None = None
    classification: Table | None = None

    def _repr_html_(self) -> str:
        drawn = notebook.bars((name, found.get("lm")) for name, found in self.attributes.items())
        more = [("lost by column (LM)", drawn)] if drawn else []
        return notebook.card(type(self).__name__, [*self.items(), *more])


@answer
class BucketComparison(Answer):
    """The same of two linked tables, where every value leaves as it is."""

    kind: str
    records: int
    classes: Table
    risk: Table
    loss: Table
    attributes: Table


@answer
class NoisyComparison(Answer):
    """How far noisy counts are from the true ones; these numbers carry no noise and must not leave."""

    kind: str
    warning: str
    records: Table
    counts: Table
    columns: Table


@answer
class PathComparison(Answer):
    """What was lost between paths and their release, counted again on both."""

    kind: str
    before: Table
    after: Table
    patterns: Table
    coarser: Table
    curve: Sequence[Sequence[int]]
    trials: Rows
    unique_paths: Table
    linkage: Rows | None = None


@answer
class DocumentComparison(Answer):
    """Whether a release of trees tells the truth, what it lost, and how well it answers questions."""

    kind: str
    records: Table
    vertices: Table
    truth: Table
    risk: Table | None = None
    loss: Table
    attributes: Table
    levels: Rows
    divergence: Table
    queries: Table


@answer
class SetComparison(Answer):
    """What was lost between sets and their release, counted again on both."""

    kind: str
    before: Table
    after: Table
    item_loss: float | None
    levels: Table
    rules: Table | None = None
    linkage: Table


@answer
class TableExplanation(Answer):
    """Why a table's release lost so much, and what one step less would buy."""

    records: int
    lm: float | None
    logged: bool
    attributes: Rows
    promises: Rows
    tightest: Rows
    relaxations: Rows | None
    reasons: list[str]
    choice: Table | None
    private_notes: bool


@answer
class PathExplanation(Answer):
    """Why points had to go, round by round where the steward's notes lie beside the release."""

    kind: str
    records: int
    patterns: Table
    suppressed: Table
    coarser: Table
    curve: Sequence[Sequence[int]]
    trials: Rows
    tightest: Sequence[Rows]
    private_notes: bool
    causes: Table
    relaxations: Rows
    rounds: Rows


@answer
class DocumentExplanation(Answer):
    """Where the loss is, by field and depth, and which sensitive values forced it."""

    kind: str
    records: int
    suppressed_records: int | None
    lm: float | None
    attributes: Rows
    levels: Rows
    private_notes: bool
    reasons: list[str]
    relaxations: Rows


@answer
class SetExplanation(Answer):
    """Why items had to go, and what went with them where the steward's notes lie beside the release."""

    kind: str
    records: int
    recoding: str
    promises: Rows
    sets: Table
    private_notes: bool
    margins: Rows
    deleted: Rows
    generalised: int
    lost: list[str] | None = None
    ghosts: list[str] | None = None
    knows: int | None = None


@answer
class Run(Answer):
    """One search with its parameters: what it risks and loses, or why there is no such release."""

    name: str
    algorithm: Table
    k: int | None
    suppression: str | None
    seconds: float
    refused: str | None = None
    risk: Table | None = None
    loss: Table | None = None
    utility: Table | None = None
    classes: int | None = None
    suppressed_records: int | None = None
    notes: list[str] | None = None
    frontier: bool | None = None
    dominated_by: list[str] | None = None


@answer
class Exploration(Answer):
    """Several searches side by side, and which of them none dominates."""

    records: int
    risk: str
    loss: str
    before: Table
    runs: list[Run]
    frontier: list[str]
    best: list[str]  # three that lose least under the policy's own promise, or of all

    def _repr_html_(self) -> str:
        name = "discernibility_ratio" if self.loss == "discernibility" else self.loss
        made = [run for run in self.runs if run.risk is not None and run.loss is not None]
        placed = [
            (run.name, float(run.loss[name]), float(run.risk[self.risk]), run.name in self.best)
            for run in made
            if run.loss is not None and run.risk is not None and run.loss[name] is not None
        ]
        drawn = notebook.points(placed, f"lost ({self.loss})", f"{self.risk} risk")
        rows = [(run.name, run.loss, run.risk, run.utility or {}) for run in made if run.name in self.best]
        best = notebook.grid(("least lost", "loss", "risk", "utility"), rows)
        told = [("records", self.records), ("runs", len(self.runs)), ("risk and loss", drawn), ("best", best)]
        return notebook.card(type(self).__name__, told)


@answer
class Planned(Answer):
    """What epsilons would buy: how many counts, and how far off each would be."""

    algorithm: str
    records: int | None
    epsilon: str
    epsilon_of_a_person: str
    records_per_person: int
    plans: Rows
    h: int | None = None
    sets: Any = None
    suggested: Mapping[str, int] | None = None
