"""Publish personal data without publishing people.

>>> import privet as pv
>>> pv.KAnonymity(k=5)
KAnonymity(k=5)

Names are loaded when they are first used: `import privet` itself loads no engine and no numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.assess import compare, explain, link, risk
    from privet.attackers.suite import attack
    from privet.core import Algorithm, Attribute, Form, PrivacyModel, Purse, Role, Tally, Verdict
    from privet.disclose.safe.algorithm import SafeLattice
    from privet.disguise import Hash, Key, Mask, Pseudonym, Shift
    from privet.document.clustree import ClusTree, CToff
    from privet.document.promises import AnatomyDiversity, DocumentAnonymity, DocumentDiversity, PMPrivacy
    from privet.document.settings import TreeAnatomy
    from privet.dp.ledger import Ledger
    from privet.dp.settings import ContingencySettings, DiffGenSettings
    from privet.drafts.draft import draft
    from privet.engines.spark.engine import Spark
    from privet.errors import (
        AbsentError,
        BrokenPromiseError,
        BudgetError,
        HierarchyError,
        InputError,
        InternalError,
        MissingExtraError,
        OptionError,
        PartyError,
        PersonError,
        PolicyError,
        PrivetError,
        TamperedError,
        UnsatisfiableError,
        UnsupportedError,
    )
    from privet.exploration import explore
    from privet.hierarchy.auto import Auto
    from privet.hierarchy.dates import Dates
    from privet.hierarchy.flat import Flat
    from privet.hierarchy.intervals import Intervals
    from privet.hierarchy.prefix import Prefix
    from privet.hierarchy.sets import Sets
    from privet.hierarchy.tree import Tree
    from privet.models.alphak import AlphaKAnonymity
    from privet.models.confidence import ConfidenceBounding
    from privet.models.construction import ByConstruction
    from privet.models.differential import DifferentialPrivacy
    from privet.models.disclosure import DeltaDisclosure
    from privet.models.kanonymity import KAnonymity
    from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
    from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
    from privet.models.lkc import LKC
    from privet.models.personal import PersonalisedPrivacy
    from privet.models.presence import DeltaPresence, KMap
    from privet.models.psensitive import PSensitiveKAnonymity
    from privet.models.risk import (
        AverageRisk,
        MaximumRisk,
        PopulationUniqueness,
        RecordsAtRisk,
        SampleUniqueness,
    )
    from privet.models.safeharbor import SafeHarbor
    from privet.models.tcloseness import Distance, TCloseness
    from privet.models.template import EVERY
    from privet.policy.notation import algorithm, model
    from privet.policy.values import Policy
    from privet.readings import Nulls
    from privet.relational.anatomy import Anatomy
    from privet.relational.auto import AutoSearch
    from privet.relational.bucketisation import Bucketisation
    from privet.relational.coincident import Coincident
    from privet.relational.condensation import Condensation
    from privet.relational.incognito import Incognito
    from privet.relational.local import Local
    from privet.relational.microaggregation import Microaggregation
    from privet.relational.mondrian import Mondrian
    from privet.relational.optimal import Optimal
    from privet.relational.perturb import Pram, RankSwap, Sampling
    from privet.relational.samarati import Samarati
    from privet.relational.suppression import Suppression
    from privet.relational.topdown import TopDown
    from privet.release import Release
    from privet.roads import check, publish
    from privet.roads.documents.shape import DocumentShape
    from privet.roads.noisy.planning import plan
    from privet.roads.trajectories.shape import Trajectories
    from privet.roads.transactions.shape import Transactions
    from privet.rules.bypromise import ByPromise
    from privet.rules.hidden import HiddenRule
    from privet.rules.known import KMAnonymity
    from privet.rules.searches import (
        GeneraliseItems,
        HideBorder,
        HideExact,
        HideItems,
        HideTransactions,
        SuppressItems,
        SuppressItemsLocally,
    )
    from privet.samples import sample
    from privet.trajectory.searches import LightestPaths, SuppressPoints, SuppressPointsLocally
    from privet.verification import verify

_HOME = {
    "AbsentError": "privet.errors",
    "Algorithm": "privet.core",
    "AlphaKAnonymity": "privet.models.alphak",
    "Anatomy": "privet.relational.anatomy",
    "AnatomyDiversity": "privet.document.promises",
    "Attribute": "privet.core",
    "Auto": "privet.hierarchy.auto",
    "AutoSearch": "privet.relational.auto",
    "AverageRisk": "privet.models.risk",
    "BetaLikeness": "privet.models.likeness",
    "BrokenPromiseError": "privet.errors",
    "Bucketisation": "privet.relational.bucketisation",
    "BudgetError": "privet.errors",
    "ByConstruction": "privet.models.construction",
    "ByPromise": "privet.rules.bypromise",
    "CToff": "privet.document.clustree",
    "ClusTree": "privet.document.clustree",
    "Coincident": "privet.relational.coincident",
    "Condensation": "privet.relational.condensation",
    "ConfidenceBounding": "privet.models.confidence",
    "ContingencySettings": "privet.dp.settings",
    "Dates": "privet.hierarchy.dates",
    "DeltaDisclosure": "privet.models.disclosure",
    "DeltaPresence": "privet.models.presence",
    "DiffGenSettings": "privet.dp.settings",
    "DifferentialPrivacy": "privet.models.differential",
    "Distance": "privet.models.tcloseness",
    "DistinctLDiversity": "privet.models.ldiversity",
    "DocumentAnonymity": "privet.document.promises",
    "DocumentDiversity": "privet.document.promises",
    "DocumentShape": "privet.roads.documents.shape",
    "EVERY": "privet.models.template",
    "EnhancedBetaLikeness": "privet.models.likeness",
    "EntropyLDiversity": "privet.models.ldiversity",
    "Flat": "privet.hierarchy.flat",
    "Form": "privet.core",
    "GeneraliseItems": "privet.rules.searches",
    "Hash": "privet.disguise",
    "HiddenRule": "privet.rules.hidden",
    "HideBorder": "privet.rules.searches",
    "HideExact": "privet.rules.searches",
    "HideItems": "privet.rules.searches",
    "HideTransactions": "privet.rules.searches",
    "HierarchyError": "privet.errors",
    "Incognito": "privet.relational.incognito",
    "InputError": "privet.errors",
    "InternalError": "privet.errors",
    "Intervals": "privet.hierarchy.intervals",
    "KAnonymity": "privet.models.kanonymity",
    "KMAnonymity": "privet.rules.known",
    "KMap": "privet.models.presence",
    "Key": "privet.disguise",
    "LKC": "privet.models.lkc",
    "Ledger": "privet.dp.ledger",
    "LightestPaths": "privet.trajectory.searches",
    "Local": "privet.relational.local",
    "Mask": "privet.disguise",
    "MaximumRisk": "privet.models.risk",
    "Microaggregation": "privet.relational.microaggregation",
    "MissingExtraError": "privet.errors",
    "Mondrian": "privet.relational.mondrian",
    "Nulls": "privet.readings",
    "Optimal": "privet.relational.optimal",
    "OptionError": "privet.errors",
    "PMPrivacy": "privet.document.promises",
    "PSensitiveKAnonymity": "privet.models.psensitive",
    "PartyError": "privet.errors",
    "PersonError": "privet.errors",
    "PersonalisedPrivacy": "privet.models.personal",
    "Policy": "privet.policy.values",
    "PolicyError": "privet.errors",
    "PopulationUniqueness": "privet.models.risk",
    "Pram": "privet.relational.perturb",
    "Prefix": "privet.hierarchy.prefix",
    "PrivacyModel": "privet.core",
    "PrivetError": "privet.errors",
    "Pseudonym": "privet.disguise",
    "Purse": "privet.core",
    "RankSwap": "privet.relational.perturb",
    "RecordsAtRisk": "privet.models.risk",
    "RecursiveLDiversity": "privet.models.ldiversity",
    "Release": "privet.release",
    "Role": "privet.core",
    "SafeHarbor": "privet.models.safeharbor",
    "SafeLattice": "privet.disclose.safe.algorithm",
    "Samarati": "privet.relational.samarati",
    "SampleUniqueness": "privet.models.risk",
    "Sampling": "privet.relational.perturb",
    "Sets": "privet.hierarchy.sets",
    "Shift": "privet.disguise",
    "Spark": "privet.engines.spark.engine",
    "SuppressItems": "privet.rules.searches",
    "SuppressItemsLocally": "privet.rules.searches",
    "SuppressPoints": "privet.trajectory.searches",
    "SuppressPointsLocally": "privet.trajectory.searches",
    "Suppression": "privet.relational.suppression",
    "TCloseness": "privet.models.tcloseness",
    "Tally": "privet.core",
    "TamperedError": "privet.errors",
    "TopDown": "privet.relational.topdown",
    "Trajectories": "privet.roads.trajectories.shape",
    "Transactions": "privet.roads.transactions.shape",
    "Tree": "privet.hierarchy.tree",
    "TreeAnatomy": "privet.document.settings",
    "UnsatisfiableError": "privet.errors",
    "UnsupportedError": "privet.errors",
    "Verdict": "privet.core",
    "algorithm": "privet.policy.notation",
    "attack": "privet.attackers.suite",
    "check": "privet.roads",
    "compare": "privet.assess",
    "draft": "privet.drafts.draft",
    "explain": "privet.assess",
    "explore": "privet.exploration",
    "link": "privet.assess",
    "model": "privet.policy.notation",
    "plan": "privet.roads.noisy.planning",
    "publish": "privet.roads",
    "risk": "privet.assess",
    "sample": "privet.samples",
    "verify": "privet.verification",
}

__all__ = [  # noqa: RUF022 - the same order as _HOME, which a test compares
    "AbsentError", "Algorithm", "AlphaKAnonymity", "Anatomy", "AnatomyDiversity", "Attribute", "Auto",
    "AutoSearch", "AverageRisk", "BetaLikeness", "BrokenPromiseError", "Bucketisation", "BudgetError",
    "ByConstruction", "ByPromise", "CToff", "ClusTree", "Coincident", "Condensation",
    "ConfidenceBounding", "ContingencySettings", "Dates", "DeltaDisclosure", "DeltaPresence",
    "DiffGenSettings", "DifferentialPrivacy", "Distance", "DistinctLDiversity", "DocumentAnonymity",
    "DocumentDiversity", "DocumentShape", "EVERY", "EnhancedBetaLikeness", "EntropyLDiversity", "Flat",
    "Form", "GeneraliseItems", "Hash", "HiddenRule", "HideBorder", "HideExact", "HideItems",
    "HideTransactions", "HierarchyError", "Incognito", "InputError", "InternalError", "Intervals",
    "KAnonymity", "KMAnonymity", "KMap", "Key", "LKC", "Ledger", "LightestPaths", "Local", "Mask",
    "MaximumRisk", "Microaggregation", "MissingExtraError", "Mondrian", "Nulls", "Optimal",
    "OptionError", "PMPrivacy", "PSensitiveKAnonymity", "PartyError", "PersonError",
    "PersonalisedPrivacy", "Policy", "PolicyError", "PopulationUniqueness", "Pram", "Prefix",
    "PrivacyModel", "PrivetError", "Pseudonym", "Purse", "RankSwap", "RecordsAtRisk",
    "RecursiveLDiversity", "Release", "Role", "SafeHarbor", "SafeLattice", "Samarati",
    "SampleUniqueness", "Sampling", "Sets", "Shift", "Spark", "SuppressItems", "SuppressItemsLocally",
    "SuppressPoints", "SuppressPointsLocally", "Suppression", "TCloseness", "Tally", "TamperedError",
    "TopDown", "Trajectories", "Transactions", "Tree", "TreeAnatomy", "UnsatisfiableError",
    "UnsupportedError", "Verdict", "algorithm", "attack", "check", "compare", "draft", "explain",
    "explore", "link", "model", "plan", "publish", "risk", "sample", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
