"""Anatomy: buckets with different sensitive values, so that two tables can leave instead of one.

Xiao and Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006. Values of quasi-identifiers
leave as they are, and so do sensitive values; what does not leave is which belongs to which. Whoever finds
a person's bucket sees l different sensitive values, each equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Column, Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.recoding import Perturbation
from privet.relational.coded import refuse_coded
from privet.relational.randomness import generator

DIVERSITIES = (DistinctLDiversity, EntropyLDiversity)  # what dealing unlike values keeps


@dataclass(frozen=True, slots=True)
class Anatomy(Algorithm):
    """Two linked tables: quasi-identifiers with a bucket, and buckets with their sensitive values.

    It serves distinct and entropy l-diversity of one sensitive attribute. Who shares a bucket is left to
    chance: a rule that is known could be followed backwards.
    """

    name: ClassVar[str] = "anatomy"
    why_records: ClassVar[str] = (
        "its groups are made of records with different values, and the rows of one person could fill one; "
        "give each person one row, or use top-down or optimal"
    )
    road: ClassVar[str | None] = "anatomy"

    def complaints(self, policy: Terms) -> list[str]:
        return [f"algorithm: {wrong}" for wrong in self._unkept(policy.models)]

    def _unkept(self, models: Sequence[PrivacyModel]) -> list[str]:
        """What buckets of different values do not keep, whatever the data."""
        others = [model.name for model in models if not isinstance(model, DIVERSITIES)]
        if len(others) == len(models):
            return [f"{self.name} makes l-diverse buckets: the policy needs l-diversity"]
        if others:
            return [
                (
                    f"{self.name} deals for distinct and entropy l-diversity, not for {', '.join(others)}; "
                    "bucketisation keeps every promise about sensitive values"
                )
            ]
        return []

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        if complaints := self._unkept(policy.models):
            raise UnsupportedError(*complaints)
        l = max(m.l for m in policy.models if isinstance(m, DIVERSITIES))
        sensitive = need_split(self.name, tally)
        refuse_coded(self.name, tally)
        least = int(np.ceil(l))
        order = generator().permutation(tally.records)
        found = buckets(np.repeat(sensitive.codes, tally.counts).astype(np.intp), least, order)
        labels = tuple(str(at + 1) for at in range(int(found.max()) + 1))
        return Finding(Perturbation({sensitive.name: labels}, {sensitive.name: found}))


def need_split(algorithm: str, tally: Tally) -> Column:
    """The one sensitive attribute that is split off, or a complaint."""
    if len(tally.sensitive) != 1:
        raise UnsupportedError(f"{algorithm} serves one sensitive attribute, not {len(tally.sensitive)}")
    return tally.sensitive[0]


def buckets(sensitive: NDArray[np.intp], l: int, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The bucket of each record: at least l records in each, no two with the same sensitive value.

    n // l buckets are dealt round and round, value by value. A value that at most n // l records have
    comes by no bucket twice, and each bucket is visited at least l times. `order` decides who of the
    records with one value comes first.
    """
    many = len(sensitive) // l
    often = np.bincount(sensitive).max(initial=0)
    if not many or often > many:
        raise UnsatisfiableError(
            f"one sensitive value has {often} of {len(sensitive)} records; "
            f"for l = {l} it may have {many} at most"
        )
    by_value = order[np.argsort(sensitive[order], kind="stable")]
    found = np.empty(len(sensitive), dtype=np.intp)
    found[by_value] = np.arange(len(sensitive)) % many
    return found
