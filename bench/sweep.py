"""One table searched under many settings: counted once, every result checked again as it would leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias
from unittest.mock import patch

import numpy as np
import polars as pl

from privet.core import Role
from privet.counts.memory import OpenCutting
from privet.domain import Value
from privet.engines.embedded import Embedded, Frame
from privet.errors import InternalError, UnsatisfiableError
from privet.measure.attack import Rows
from privet.measure.classes import class_sizes, discernibility_ratio
from privet.measure.classify import Classification, classify
from privet.policy.values import Policy
from privet.recoding import Generalization, Recoding
from privet.roads.stations import judge
from privet.samples.plans import Plan

Labels: TypeAlias = tuple[tuple[str, tuple[Value, ...]], ...]
SEED = 0  # of the one split into training and test records


@dataclass(frozen=True, slots=True)
class Setting:
    l: int
    k: int
    c: str  # exact, as in a policy
    score: str = "information-gain"
    protected: tuple[str, ...] | None = None  # None: the sensitive values that the plan names


class Subject:
    """A table and its plan, ready to be searched again and again."""

    def __init__(self, plan: Plan, table: pl.DataFrame) -> None:
        self.plan = plan
        self.records = table.height
        policy = self._policy(Setting(1, 1, "1"))
        published = [attribute.name for attribute in policy.attributes if attribute.published]
        (target,) = policy.with_role(Role.TARGET)
        self._target = target.name
        self._engine = Embedded()
        self._frame = Frame(table.select(published))
        self._tallied = self._engine.tally(self._frame, policy)
        self._tally = self._tallied.tally
        self._raw = texts(table.select(published))
        self._found: dict[Setting, Recoding | None] = {}
        self._classified: dict[tuple[Labels, frozenset[str]], Classification] = {}

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.plan.named("quasi")

    def found(self, setting: Setting) -> Recoding | None:
        """The recoding under a setting; None where not even the most general table keeps the promise."""
        if setting not in self._found:
            policy = self._policy(setting)
            try:
                self._found[setting] = policy.algorithm.search(self._tally, policy).recoding
            except UnsatisfiableError:
                self._found[setting] = None
        return self._found[setting]

    def ratio(self, setting: Setting) -> float | None:
        """DR of the published table."""
        recoding = self.found(setting)
        if recoding is None:
            return None
        published = self._tally.recoded(recoding)
        if not all(verdict.holds for _, verdict in judge(published, self._policy(setting))):
            raise InternalError("a sweep met a recoding that breaks its promise")
        return discernibility_ratio(class_sizes(published))

    def loss(self, setting: Setting) -> float | None:
        """LM: how much of a column a published value stands for, on average over rows and columns."""
        recoding = self.found(setting)
        if not isinstance(recoding, Generalization):
            return None
        found = []
        for column in self._tally.quasi:
            rows = np.bincount(column.codes, self._tally.counts, column.domain.size)
            wide = (
                rows[node.lo : node.hi].sum() * (node.leaves - 1) for node in recoding.cuts[column.name].nodes
            )
            found.append(sum(wide) / rows.sum() / max(1, column.domain.size - 1))
        return float(np.mean(found))

    def error(self, setting: Setting, *, without: Collection[str] = ()) -> float | None:
        """CE; `without` leaves columns out of what may be predicted from."""
        found = self.classified(setting, without=without)
        return None if found is None else found.ce

    def classified(self, setting: Setting, *, without: Collection[str] = ()) -> Classification | None:
        """CE of the published table, with BE and UE of the raw one."""
        recoding = self.found(setting)
        if recoding is None:
            return None
        key = recoding_key(recoding), frozenset(without)
        if key not in self._classified:
            published = self.published(setting)
            if published is None:
                raise InternalError("what was found can be published")
            self._classified[key] = self._classify(published.drop(without))
        return self._classified[key]

    def published(self, setting: Setting) -> pl.DataFrame | None:
        """The table under a setting, as it would leave."""
        recoding = self.found(setting)
        if recoding is None:
            return None
        return self._engine.arrow(self._engine.apply(self._tallied, self._policy(setting), recoding))

    def error_of(self, published: pl.DataFrame) -> float:
        """CE of any table of these columns."""
        return self._classify(published).ce

    def _classify(self, published: pl.DataFrame) -> Classification:
        rows = texts(published)
        return classify(self._raw, rows, target=self._target, quasi=self.quasi, seed=SEED)

    def afresh(self) -> Subject:
        """The same table, nothing searched yet."""
        other = copy(self)
        other._found, other._classified = {}, {}  # noqa: SLF001 - its own kind
        return other

    def _policy(self, setting: Setting) -> Policy:
        plan = self.plan
        if setting.protected is not None:
            (attribute,) = plan.sensitive
            plan = replace(plan, sensitive={attribute: setting.protected})
        return Policy.loads(plan.policy(l=setting.l, k=setting.k, c=setting.c, score=setting.score))


def recoding_key(recoding: Recoding) -> Labels:
    """What two settings have in common when they publish the same table."""
    if not isinstance(recoding, Generalization):
        raise InternalError("a sweep is of searches that recode values")
    return tuple((name, cut.labels) for name, cut in recoding.cuts.items())


def texts(table: pl.DataFrame) -> Rows:
    """Every column as text, as measures read it."""
    return {name: table.get_column(name).cast(pl.String).to_list() for name in table.columns}


@contextmanager
def ties_by_column(subject: Subject) -> Iterator[Subject]:
    """Equal costs fall to the first column, not to the larger reduction, as in spec 01, 5.3."""
    with patch.object(OpenCutting, "_reductions", lambda _, __, tied: [0.0] * len(tied)):
        yield subject.afresh()
