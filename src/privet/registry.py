"""What is installed: what privet brings, and what plug-ins add by entry point.

A plug-in names its class in its own pyproject.toml,

    [project.entry-points."privet.models"]
    my-model = "plugin.mymodel:MyModel"

and it is one line in a policy file. Nothing is imported before it is asked for by name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from privet.errors import PolicyError, one_of

BUILT_IN: dict[str, dict[str, str]] = {
    "models": {
        "lkc-privacy": "privet.models.lkc:LKC",
        "k-anonymity": "privet.models.kanonymity:KAnonymity",
        "confidence-bounding": "privet.models.confidence:ConfidenceBounding",
        "alpha-k-anonymity": "privet.models.alphak:AlphaKAnonymity",
        "p-sensitive-k-anonymity": "privet.models.psensitive:PSensitiveKAnonymity",
        "distinct-l-diversity": "privet.models.ldiversity:DistinctLDiversity",
        "entropy-l-diversity": "privet.models.ldiversity:EntropyLDiversity",
        "recursive-l-diversity": "privet.models.ldiversity:RecursiveLDiversity",
        "t-closeness": "privet.models.tcloseness:TCloseness",
        "beta-likeness": "privet.models.likeness:BetaLikeness",
        "enhanced-beta-likeness": "privet.models.likeness:EnhancedBetaLikeness",
        "delta-disclosure": "privet.models.disclosure:DeltaDisclosure",
        "personalised-privacy": "privet.models.personal:PersonalisedPrivacy",
        "average-risk": "privet.models.risk:AverageRisk",
        "maximum-risk": "privet.models.risk:MaximumRisk",
        "records-at-risk": "privet.models.risk:RecordsAtRisk",
        "by-construction": "privet.models.construction:ByConstruction",
        "anatomy-l-diversity": "privet.document.promises:AnatomyDiversity",
        "document-k-anonymity": "privet.document.promises:DocumentAnonymity",
        "document-l-diversity": "privet.document.promises:DocumentDiversity",
        "pm-privacy": "privet.document.promises:PMPrivacy",
        "delta-presence": "privet.models.presence:DeltaPresence",
        "differential-privacy": "privet.models.differential:DifferentialPrivacy",
        "hidden-rule": "privet.rules.hidden:HiddenRule",
        "km-anonymity": "privet.rules.known:KMAnonymity",
        "k-map": "privet.models.presence:KMap",
        "safe-harbor": "privet.models.safeharbor:SafeHarbor",
        "sample-uniqueness": "privet.models.risk:SampleUniqueness",
        "population-uniqueness": "privet.models.risk:PopulationUniqueness",
    },
    "algorithms": {
        "anatomy": "privet.relational.anatomy:Anatomy",
        "auto": "privet.relational.auto:AutoSearch",
        "bucketisation": "privet.relational.bucketisation:Bucketisation",
        "clustree": "privet.document.clustree:ClusTree",
        "coincident": "privet.relational.coincident:Coincident",
        "condensation": "privet.relational.condensation:Condensation",
        "ctoff": "privet.document.clustree:CToff",
        "diffgen": "privet.dp.settings:DiffGenSettings",
        "by-promise": "privet.rules.bypromise:ByPromise",
        "generalise-items": "privet.rules.searches:GeneraliseItems",
        "hide-border": "privet.rules.searches:HideBorder",
        "hide-exact": "privet.rules.searches:HideExact",
        "hide-items": "privet.rules.searches:HideItems",
        "hide-transactions": "privet.rules.searches:HideTransactions",
        "suppress-items": "privet.rules.searches:SuppressItems",
        "suppress-items-locally": "privet.rules.searches:SuppressItemsLocally",
        "incognito": "privet.relational.incognito:Incognito",
        "local": "privet.relational.local:Local",
        "microaggregation": "privet.relational.microaggregation:Microaggregation",
        "mondrian": "privet.relational.mondrian:Mondrian",
        "noisy-contingency": "privet.dp.settings:ContingencySettings",
        "optimal": "privet.relational.optimal:Optimal",
        "pram": "privet.relational.perturb:Pram",
        "rank-swap": "privet.relational.perturb:RankSwap",
        "samarati": "privet.relational.samarati:Samarati",
        "safe-lattice": "privet.disclose.safe.algorithm:SafeLattice",
        "sampling": "privet.relational.perturb:Sampling",
        "suppression": "privet.relational.suppression:Suppression",
        "lightest": "privet.trajectory.searches:LightestPaths",
        "suppress-points": "privet.trajectory.searches:SuppressPoints",
        "suppress-points-locally": "privet.trajectory.searches:SuppressPointsLocally",
        "top-down": "privet.relational.topdown:TopDown",
        "tree-anatomy": "privet.document.settings:TreeAnatomy",
    },
    # kinds of data that are not tables, by the table of a policy that describes them
    "shapes": {
        "documents": "privet.roads.documents.shape:DocumentShape",
        "trajectories": "privet.roads.trajectories.shape:Trajectories",
        "transactions": "privet.roads.transactions.shape:Transactions",
    },
    "roads": {
        "anatomy": "privet.roads.tables.anatomy:AnatomyRoad",
        "diffgen": "privet.roads.noisy.road:NoisyRoad",
        "documents": "privet.roads.documents.road:DocumentRoad",
        "table": "privet.roads.tables.road:TableRoad",
        "trajectories": "privet.roads.trajectories.road:TrajectoryRoad",
        "transactions": "privet.roads.transactions.road:TransactionRoad",
        "tree-anatomy": "privet.roads.documents.anatomy:TreeAnatomyRoad",
    },
    # attackers of releases, each with its assumption
    "attacks": {
        "anonymeter": "privet.attackers.foreign:Anonymeter",
        "attribute-inference": "privet.attackers.inference:Inference",
        "averaging": "privet.attackers.averaging:Averaging",
        "composition": "privet.attackers.composition:Composition",
        "definetti": "privet.attackers.definetti:DeFinetti",
        "downcoding": "privet.attackers.downcoding:Downcoding",
        "homogeneity": "privet.attackers.homogeneity:Homogeneity",
        "several-rows": "privet.attackers.severalrows:SeveralRows",
        "integers": "privet.attackers.integers:Integers",
        "linkage": "privet.attackers.linkage:Linkage",
        "membership": "privet.attackers.membership:Membership",
        "minimality": "privet.attackers.minimality:Minimality",
        "order": "privet.attackers.order:Order",
        "path-linkage": "privet.attackers.paths:PathLinkage",
        "presence": "privet.attackers.presence:Presence",
        "register": "privet.attackers.register:Register",
        "similarity": "privet.attackers.similarity:Similarity",
        "singling-out": "privet.attackers.singling:SinglingOut",
        "skewness": "privet.attackers.skewness:Skewness",
        "tracker": "privet.attackers.tracker:Tracker",
        "tree-linkage": "privet.attackers.trees:TreeLinkage",
    },
    # who reads what a column is called in full, before it leaves with the column
    "labels": {
        "telling": "privet.drafts.telling:Labels",
    },
    "engines": {
        "embedded": "privet.engines.embedded:Embedded",
        "plain": "privet.engines.plain:Plain",
        "spark": "privet.engines.spark.engine:Spark",
    },
}


@dataclass(frozen=True, slots=True)
class Installed:
    """Something that can be named in a policy or on the command line."""

    kind: str
    name: str
    target: str  # module:Class
    plugin: bool

    def load(self) -> Any:
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        return " ".join((self.load().__doc__ or "").split("\n\n")[0].split())


def _places() -> tuple[tuple[str, int], ...]:
    """Where packages are looked for, and when something last came or went there."""

    def changed(place: str) -> int:
        try:
            return Path(place or ".").stat().st_mtime_ns
        except OSError:
            return 0

    return tuple((place, changed(place)) for place in sys.path)


@lru_cache(maxsize=32)
def _plugins(kind: str, places: tuple[tuple[str, int], ...]) -> Mapping[str, str]:  # noqa: ARG001 - when to look anew
    """What other packages bring; every package's metadata is read for it."""
    return {point.name: point.value for point in entry_points(group=f"privet.{kind}")}


def installed(kind: str) -> dict[str, Installed]:
    """Everything of one kind, by name; what is built in cannot be replaced by a plug-in."""
    found = {
        name: Installed(kind, name, target, plugin=True) for name, target in _plugins(kind, _places()).items()
    }
    found.update(
        {name: Installed(kind, name, target, plugin=False) for name, target in BUILT_IN[kind].items()}
    )
    return dict(sorted(found.items()))


def known(kind: str, name: object) -> bool:
    """Is there a thing of that name? Built-ins first: plug-ins are found in every package's metadata."""
    return isinstance(name, str) and (name in BUILT_IN[kind] or name in installed(kind))


def find(kind: str, name: object) -> Any:
    """The class of that name, or a complaint that lists what there is."""
    if isinstance(name, str) and name in BUILT_IN[kind]:
        return Installed(kind, name, BUILT_IN[kind][name], plugin=False).load()
    there = installed(kind)
    if not isinstance(name, str) or name not in there:
        raise PolicyError(one_of("type", list(there), name))
    return there[name].load()
