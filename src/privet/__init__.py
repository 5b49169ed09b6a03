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
    from privet.models.kanonymity import KAnonymity
    from privet.models.lkc import LKC
    from privet.policy import Policy
    from privet.relational.topdown import TopDown
    from privet.release import Release
    from privet.road import check, publish
    from privet.verification import verify

_HOME = {
    "AlphaKAnonymity": "privet.models.alphak",
    "Attribute": "privet.core",
    "ConfidenceBounding": "privet.models.confidence",
    "KAnonymity": "privet.models.kanonymity",
    "LKC": "privet.models.lkc",
    "Nulls": "privet.core",
    "Policy": "privet.policy",
    "PrivetError": "privet.errors",
    "Release": "privet.release",
    "Role": "privet.core",
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
    "AlphaKAnonymity", "Attribute", "ConfidenceBounding", "KAnonymity", "LKC", "Nulls", "Policy",
    "PrivetError", "Release", "Role", "Tally", "TopDown", "Verdict", "check", "compare",
    "explain", "publish", "risk", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
