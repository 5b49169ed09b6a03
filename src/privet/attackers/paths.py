"""Linkage of paths and sets: somebody knows a few visits, or a few items, and looks for who has them all.

Mohammed, Fung and Debbabi, "Walking in the crowd", CIKM 2009; Terrovitis, Mamoulis and Kalnis,
"Privacy-preserving anonymization of set-valued data", PVLDB 2008. A set is a path without times.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.promised import Bound, tightest
from privet.attackers.scene import Scene
from privet.attackers.unpacked import files
from privet.core import PrivacyModel
from privet.evidence.values import TRAJECTORIES
from privet.models.linkage import LinkageModel
from privet.roads.stations import file_of, in_frame
from privet.roads.trajectories.check import read_paths
from privet.roads.transactions.check import read_sets
from privet.rules.known import KMAnonymity
from privet.trajectory.attack import simulate
from privet.trajectory.paths import Paths
from privet.trajectory.recode import PathRecoding

TRANSACTIONS = "transactions"
MOST = 4  # things that are known at most; the promise's own number, and one beyond


class PathLinkage:
    """Who knows some of a person's visits, or items, looks for the record that has them all."""

    name: ClassVar[str] = "path-linkage"
    assumes: ClassVar[str] = "knows that a person is in the release, and any l of the visits or items there"
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = (TRAJECTORIES, TRANSACTIONS)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        paths = _paths(scene)
        if not paths.records or not paths.longest:
            raise NotTriedError("no record has anything that could be known")
        return [_tried(scene, paths, known) for known in range(1, min(MOST, paths.longest) + 1)]


def _paths(scene: Scene) -> Paths:
    target = scene.target
    policy: Any = target.policy
    with files(target) as (folder, notes):
        path = file_of(folder, notes.file)
        if target.kind == TRANSACTIONS:
            sets = read_sets(path, policy, scene.engine, form=notes.form, published=True)
            return sets.baskets.paths()
        frame = in_frame(scene.engine, scene.engine.read(path, notes.form))
        return read_paths(frame, policy, published=True).paths


def _bound(models: Sequence[PrivacyModel], known: int) -> Bound | None:
    found = []
    for model in models:
        if isinstance(model, KMAnonymity):
            found.append(Bound(Fraction(1, model.k), model.name) if known <= model.m else None)
        elif isinstance(model, LinkageModel):
            bound = model.linkage()
            fits = bound.quasi is None and (bound.l is None or known <= bound.l) and bound.k > 1
            found.append(Bound(Fraction(1, bound.k), model.name) if fits else None)
    return tightest(found)


def _tried(scene: Scene, paths: Paths, known: int) -> Outcome:
    # What is known here is known of the release itself: the strongest that such knowledge can be.
    tried = simulate(paths, PathRecoding(), known=known, targets=scene.trials, seed=scene.seed).after
    bound = _bound(scene.target.policy.models, known)
    return Outcome(
        attack=PathLinkage.name,
        goal=f"the record of a person of whom {known} {'thing is' if known == 1 else 'things are'} known",
        tried=scene.trials,
        succeeded=round(tried.identity * scene.trials),
        baseline=1 / paths.records,
        worst=float(tried.worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=f"{tried.alone} of the people tried were the only match",
    ).judge(beyond=bound is not None and bound.broken_by(tried.worst))
