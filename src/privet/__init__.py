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
    from privet.errors import PrivetError
    from privet.models.alphak import AlphaKAnonymity
    from privet.models.confidence import ConfidenceBounding
    from privet.models.disclosure import DeltaDisclosure
    from privet.models.kanonymity import KAnonymity
    from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
    from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
    from privet.models.lkc import LKC
    from privet.models.personal import PersonalisedPrivacy
    from privet.models.psensitive import PSensitiveKAnonymity
    from privet.models.risk import AverageRisk, MaximumRisk, RecordsAtRisk, SampleUniqueness
    from privet.models.tcloseness import Distance, TCloseness
    from privet.policy import Policy
    from privet.relational.topdown import TopDown
    from privet.release import Release
    from privet.road import check, publish
    from privet.verification import verify

_HOME = {
    "AlphaKAnonymity": "privet.models.alphak",
    "Attribute": "privet.core",
    "AverageRisk": "privet.models.risk",
    "BetaLikeness": "privet.models.likeness",
    "ConfidenceBounding": "privet.models.confidence",
    "DeltaDisclosure": "privet.models.disclosure",
    "Distance": "privet.models.tcloseness",
    "DistinctLDiversity": "privet.models.ldiversity",
    "EnhancedBetaLikeness": "privet.models.likeness",
    "EntropyLDiversity": "privet.models.ldiversity",
    "KAnonymity": "privet.models.kanonymity",
    "LKC": "privet.models.lkc",
    "MaximumRisk": "privet.models.risk",
    "Nulls": "privet.core",
    "PSensitiveKAnonymity": "privet.models.psensitive",
    "PersonalisedPrivacy": "privet.models.personal",
    "Policy": "privet.policy",
    "PrivetError": "privet.errors",
    "RecordsAtRisk": "privet.models.risk",
    "RecursiveLDiversity": "privet.models.ldiversity",
    "Release": "privet.release",
    "Role": "privet.core",
    "SampleUniqueness": "privet.models.risk",
    "TCloseness": "privet.models.tcloseness",
    "Tally": "privet.core",
    "TopDown": "privet.relational.topdown",
    "Verdict": "privet.core",
    "check": "privet.road",
    "compare": "privet.assess",
    "explain": "privet.assess",
    "publish": "privet.road",
    "risk": "privet.assess",
    "verify": "privet.verification",
}

__all__ = [  # noqa: RUF022 - the same order as _HOME, which a test compares
    "AlphaKAnonymity", "Attribute", "AverageRisk", "BetaLikeness", "ConfidenceBounding",
    "DeltaDisclosure", "Distance", "DistinctLDiversity", "EnhancedBetaLikeness", "EntropyLDiversity",
    "KAnonymity", "LKC", "MaximumRisk", "Nulls", "PSensitiveKAnonymity", "PersonalisedPrivacy", "Policy",
    "PrivetError", "RecordsAtRisk", "RecursiveLDiversity", "Release", "Role", "SampleUniqueness",
    "TCloseness", "Tally", "TopDown", "Verdict", "check", "compare", "explain", "publish", "risk",
    "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
