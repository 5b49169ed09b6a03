"""Publish personal data without publishing people.

>>> import privet as pv
>>> pv.KAnonymity(k=5)
KAnonymity(k=5)

Names are loaded when they are first used: `import privet` itself loads no engine and no numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.assess import compare, explain, risk
    from privet.core import Attribute, Nulls, Role, Tally, Verdict
    from privet.disclose.safe.algorithm import SafeLattice
    from privet.dp.ledger import Ledger
    from privet.errors import PrivetError
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
    from privet.models.tcloseness import Distance, TCloseness
    from privet.policy.values import Policy
    from privet.publishing import check, publish
    from privet.relational.anatomy import Anatomy
    from privet.relational.coincident import Coincident
    from privet.relational.condensation import Condensation
    from privet.relational.incognito import Incognito
    from privet.relational.local import Local
    from privet.relational.microaggregation import Microaggregation
    from privet.relational.mondrian import Mondrian
    from privet.relational.optimal import Optimal
    from privet.relational.perturb import Pram, RankSwap, Sampling
    from privet.relational.samarati import Samarati
    from privet.relational.topdown import TopDown
    from privet.release import Release
    from privet.verification import verify

_HOME = {
    "AlphaKAnonymity": "privet.models.alphak",
    "Anatomy": "privet.relational.anatomy",
    "Attribute": "privet.core",
    "AverageRisk": "privet.models.risk",
    "BetaLikeness": "privet.models.likeness",
    "ByConstruction": "privet.models.construction",
    "Coincident": "privet.relational.coincident",
    "Condensation": "privet.relational.condensation",
    "ConfidenceBounding": "privet.models.confidence",
    "DeltaDisclosure": "privet.models.disclosure",
    "DeltaPresence": "privet.models.presence",
    "DifferentialPrivacy": "privet.models.differential",
    "Distance": "privet.models.tcloseness",
    "DistinctLDiversity": "privet.models.ldiversity",
    "EnhancedBetaLikeness": "privet.models.likeness",
    "EntropyLDiversity": "privet.models.ldiversity",
    "Incognito": "privet.relational.incognito",
    "KAnonymity": "privet.models.kanonymity",
    "KMap": "privet.models.presence",
    "LKC": "privet.models.lkc",
    "Ledger": "privet.dp.ledger",
    "Local": "privet.relational.local",
    "MaximumRisk": "privet.models.risk",
    "Microaggregation": "privet.relational.microaggregation",
    "Mondrian": "privet.relational.mondrian",
    "Nulls": "privet.core",
    "Optimal": "privet.relational.optimal",
    "PSensitiveKAnonymity": "privet.models.psensitive",
    "PersonalisedPrivacy": "privet.models.personal",
    "Policy": "privet.policy.values",
    "PopulationUniqueness": "privet.models.risk",
    "Pram": "privet.relational.perturb",
    "PrivetError": "privet.errors",
    "RankSwap": "privet.relational.perturb",
    "RecordsAtRisk": "privet.models.risk",
    "RecursiveLDiversity": "privet.models.ldiversity",
    "Release": "privet.release",
    "Role": "privet.core",
    "SafeLattice": "privet.disclose.safe.algorithm",
    "Samarati": "privet.relational.samarati",
    "SampleUniqueness": "privet.models.risk",
    "Sampling": "privet.relational.perturb",
    "TCloseness": "privet.models.tcloseness",
    "Tally": "privet.core",
    "TopDown": "privet.relational.topdown",
    "Verdict": "privet.core",
    "check": "privet.publishing",
    "compare": "privet.assess",
    "explain": "privet.assess",
    "publish": "privet.publishing",
    "risk": "privet.assess",
    "verify": "privet.verification",
}

__all__ = [  # noqa: RUF022 - the same order as _HOME, which a test compares
    "AlphaKAnonymity", "Anatomy", "Attribute", "AverageRisk", "BetaLikeness", "ByConstruction",
    "Coincident", "Condensation", "ConfidenceBounding", "DeltaDisclosure", "DeltaPresence",
    "DifferentialPrivacy", "Distance", "DistinctLDiversity", "EnhancedBetaLikeness", "EntropyLDiversity",
    "Incognito", "KAnonymity", "KMap", "LKC", "Ledger", "Local", "MaximumRisk", "Microaggregation",
    "Mondrian", "Nulls", "Optimal", "PSensitiveKAnonymity", "PersonalisedPrivacy", "Policy",
    "PopulationUniqueness", "Pram", "PrivetError", "RankSwap", "RecordsAtRisk", "RecursiveLDiversity",
    "Release", "Role", "SafeLattice", "Samarati", "SampleUniqueness", "Sampling", "TCloseness", "Tally",
    "TopDown", "Verdict", "check", "compare", "explain", "publish", "risk", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
