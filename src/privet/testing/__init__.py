"""Contracts of models, algorithms, engines and counts, for us and plug-ins; and random tallies to test with.

    from privet.testing import check_model

    def test_contract() -> None:
        check_model(MyModel(k=3))

Functions, not base classes: a test calls one and it raises AssertionError where the contract is broken.
Needs the extra `testing`; nothing in the package itself imports this room.
"""

from privet.errors import MissingExtraError

try:
    import hypothesis  # noqa: F401 - an optional extra, asked for here so that the answer is one line
except ImportError:
    raise MissingExtraError("privet.testing", "testing") from None

from privet.testing.contracts import ModelFor, check_algorithm, check_engine, check_model, policy_for
from privet.testing.counting import check_counts, check_leaves
from privet.testing.strategies import (
    MARK,
    class_models,
    descents,
    models,
    numbers,
    recodings,
    shares,
    splits,
    tallies,
    texts,
    trees,
)

__all__ = [
    "MARK",
    "ModelFor",
    "check_algorithm",
    "check_counts",
    "check_engine",
    "check_leaves",
    "check_model",
    "class_models",
    "descents",
    "models",
    "numbers",
    "policy_for",
    "recodings",
    "shares",
    "splits",
    "tallies",
    "texts",
    "trees",
]
