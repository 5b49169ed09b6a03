"""A promise of one's own: every group has at least `n` different sensitive values."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import privet as pv
from privet.core import PrivacyModel
from privet.samples import SAMPLES
from privet.testing import check_model


@dataclass(frozen=True, slots=True)
class DistinctValues(PrivacyModel):
    n: int
    sensitive: str

    name: ClassVar[str] = "distinct-values"
    monotone: ClassVar[bool] = True  # merging groups can only add values

    def check(self, tally: pv.Tally) -> pv.Verdict:
        found: defaultdict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        secret = next(column for column in tally.sensitive if column.name == self.sensitive)
        groups = zip(*(column.codes.tolist() for column in tally.quasi), strict=True)
        for group, value, n in zip(groups, secret.codes.tolist(), tally.counts.tolist(), strict=True):
            found[group].append((value, n))
        distinct = {group: len({value for value, _ in cells}) for group, cells in found.items()}
        few = [group for group, values in distinct.items() if values < self.n]
        at_risk = sum(n for group in few for _, n in found[group])
        return pv.Verdict({"n": min(distinct.values())}, broken=len(few), at_risk=at_risk)

    def nearest(self, tally: pv.Tally) -> Self:
        return replace(self, n=min(self.n, int(self.check(tally).achieved["n"])))


check_model(DistinctValues(n=2, sensitive="s0"), examples=30)  # the contract that the built-in models keep
policy = replace(pv.Policy.loads(SAMPLES["patients"].policy()), models=(DistinctValues(4, "surgery"),))
release = pv.publish(SAMPLES["patients"].generate(rows=1_000, seed=0), policy)
print(*(f"{model}: {dict(verdict.achieved)}" for model, verdict in release.verdicts))
