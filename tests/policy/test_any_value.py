"""Every value that users make, with anything in every field: refused by our own errors, or it can be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet as pv
from privet.document.anatomy_rules import Rule
from privet.document.described import described

NOT_SAID = {"Policy", "Release", "Tally", "Verdict"}  # made of the others, or made by us
TREE = {"*": ["flu", "cold"]}
GUARDED = {"sensitive": ("ill",)}
JOBS = pv.Tree.of({"*": ["a", "b"]})
SCHEMA = described(
    {
        "record": {"type": "student", "json": "$[*]"},
        "types": {"student": {"quasi": ["yob"], "sensitive": "gpa"}},
    }
)
NEEDED: dict[str, dict[str, Any]] = {
    "AlphaKAnonymity": {"alpha": Fraction(1, 2), "k": 2, **GUARDED},
    "AnatomyDiversity": {"l": 2},
    "Attribute": {"name": "age", "role": "quasi"},
    "AverageRisk": {"at_most": Fraction(1, 5)},
    "BetaLikeness": {"beta": Fraction(1), **GUARDED},
    "Condensation": {"k": 2},
    "ConfidenceBounding": {"sensitive": {"ill": {"flu": Fraction(1, 3)}}},
    "DeltaDisclosure": {"delta": Fraction(1), **GUARDED},
    "DeltaPresence": {"low": Fraction(0), "high": Fraction(1, 2), "subset": "in", "values": ("yes",)},
    "DiffGenSettings": {"h": 2},
    "DifferentialPrivacy": {"epsilon": Fraction(1)},
    "DistinctLDiversity": {"l": 2, **GUARDED},
    "DocumentAnonymity": {"k": 2},
    "DocumentDiversity": {"l": 2},
    "DocumentShape": {"schema": SCHEMA},
    "EnhancedBetaLikeness": {"beta": Fraction(1), **GUARDED},
    "EntropyLDiversity": {"l": 2, **GUARDED},
    "Hash": {"key": pv.Key(env="K")},
    "HiddenRule": {"support": Fraction(2), "itemset": ("a", "b")},
    "KAnonymity": {"k": 2},
    "KMAnonymity": {"m": 2, "k": 2},
    "KMap": {"k": 2, "subset": "in", "values": ("yes",)},
    "Key": {"env": "K"},
    "LKC": {"l": 2, "k": 2, "c": Fraction(1, 2), **GUARDED},
    "MaximumRisk": {"at_most": Fraction(1, 5)},
    "PMPrivacy": {"rules": (Rule("flu", 1, Fraction(1, 3)),)},
    "PSensitiveKAnonymity": {"p": 2, "k": 3, **GUARDED},
    "PersonalisedPrivacy": {"at_most": Fraction(1, 2), "sensitive": ("ill",), "guard": "in", "tree": TREE},
    "PopulationUniqueness": {"at_most": Fraction(1, 2), "fraction": Fraction(1, 10)},
    "Pram": {"keep": Fraction(1, 2)},
    "Prefix": {"keep": (3, 1)},
    "Pseudonym": {"key": pv.Key(env="K")},
    "Purse": {"file": "l.sqlite", "dataset": "d"},
    "RankSwap": {"within": Fraction(1, 2)},
    "RecordsAtRisk": {"above": Fraction(1, 5), "at_most": Fraction(1, 20)},
    "RecursiveLDiversity": {"c": Fraction(2), "l": 2, **GUARDED},
    "SampleUniqueness": {"at_most": Fraction(1, 10)},
    "Sampling": {"share": Fraction(1, 2)},
    "Sets": {"tree": JOBS},
    "Shift": {"key": pv.Key(env="K")},
    "TCloseness": {"t": Fraction(1, 5), "distance": "equal", **GUARDED},
    "Trajectories": {"form": "column", "path": "path"},
    "Transactions": {"form": "column", "set": "set"},
    "Tree": {"root": JOBS.root},
}
ODD: list[Any] = [
    *(None, True, False, 0, 1, 2, -1, 10**30, 10**5000, 0.5, 1.0, 1e308, float("nan"), float("inf")),
    *(Fraction(1, 2), Fraction(3, 2), Fraction(0), Fraction(-1), Fraction(1, 10**5000)),
    *(Decimal("0.5"), Decimal("nan")),
    *(np.int64(2), np.float64(0.5), np.bool_(True), np.str_("x"), np.zeros(2)),
    *("", "x", "1/2", "ill", "age", "\ud800", "\x00", "y" * 5000, b"x", Path("x"), "column", "points", "set"),
    *([], (), ["ill"], ("ill", "ill"), ["age"], (1,), [None], [[0, 5], [0]], (5, 10), ("month",), {"ill"}),
    *({}, {"ill": ["flu"]}, {"ill": []}, {"ill": "flu"}, {"ill": {"flu": Fraction(1, 3)}}),
    *({"ill": {"flu": 0.3}}, {"ill": {1: Fraction(1, 2)}}, {"ill": [None]}, {"age": 1}, {"age": -1}, TREE),
    *({"age": 1e400}, {"no": 1}, {1: 2}),
    *({"age": (0, 1)}, {"age": True}, {"age": 10**400}),
    *(object(), len, pv.Flat(), pv.Flat, pv.KAnonymity(k=2), pv.Mask(), pv.Key(env="K"), JOBS),
]  # fmt: skip


AGE = pv.Attribute("age", "quasi", pv.Intervals(low=0, high=100))  # type: ignore[arg-type]
ILL = pv.Attribute("ill", "sensitive")  # type: ignore[arg-type]
IN = pv.Attribute("in", "sensitive")  # type: ignore[arg-type]
TWO = pv.KAnonymity(k=2)
COUNTED = replace(AGE, hierarchy=pv.Intervals(low=0, high=100, unit=1))
CLASS = pv.Attribute("class", "target", values=("a", "b"))  # type: ignore[arg-type]
SPENT = pv.DifferentialPrivacy(epsilon=Fraction(1))
PATHS = pv.Trajectories(form="column", path="path")  # type: ignore[arg-type]
BASKETS = pv.Transactions(form="column", set="set")  # type: ignore[arg-type]
STUDENTS = pv.DocumentShape(SCHEMA)
ITEMS = (pv.KMAnonymity(m=2, k=2),)


def policy_of(value: Any) -> pv.Policy:
    """A policy that says the value."""
    kind = type(value).__name__
    table: dict[str, Any] = {"attributes": (AGE, ILL, IN), "models": (TWO,)}
    if isinstance(value, pv.Attribute):
        return pv.Policy((replace(AGE, name="other"), value), (TWO,))
    if isinstance(value, pv.Key):
        value = pv.Hash(value)
    if isinstance(value, (pv.Hash, pv.Pseudonym, pv.Mask)):
        return pv.Policy((AGE, pv.Attribute("who", pv.Role.IDENTIFIER, None, value)), (TWO,))
    if isinstance(value, pv.Shift):
        who = pv.Attribute("who", pv.Role.IDENTIFIER)
        return pv.Policy((AGE, who, pv.Attribute("day", pv.Role.IDENTIFIER, None, value, "who")), (TWO,))
    if isinstance(value, pv.Form):
        return pv.Policy(**table, form=value)
    if isinstance(value, pv.Purse):
        return pv.Policy((COUNTED, CLASS), (SPENT,), pv.DiffGenSettings(h=2), ledger=value)
    if isinstance(value, pv.Sets):
        return pv.Policy((replace(AGE, hierarchy=value), CLASS), (SPENT,), pv.DiffGenSettings(h=2))
    if hasattr(value, "domain"):
        return pv.Policy((replace(AGE, hierarchy=value), ILL), (TWO,))
    for shape, models in ((PATHS, (TWO,)), (BASKETS, ITEMS), (STUDENTS, (pv.DocumentDiversity(l=2),))):
        attributes = (ILL,) if shape is PATHS else ()
        said: dict[str, Any] = {"attributes": attributes, "models": models, "kind": shape.name}
        if isinstance(value, type(shape)):
            return pv.Policy(**said, shape=value)
        if hasattr(value, "monotone") and shape.name in value.kinds and "table" not in value.kinds:
            about = (pv.AnatomyDiversity(l=2), value) if kind == "PMPrivacy" else (value,)
            anatomy = pv.TreeAnatomy() if kind in {"AnatomyDiversity", "PMPrivacy"} else None
            return pv.Policy((), about, anatomy, kind=shape.name, shape=shape)  # type: ignore[arg-type]
        if hasattr(value, "spends") and shape.name in value.kinds and "table" not in value.kinds:
            if kind.startswith("Hide"):
                said["models"] = (pv.HiddenRule(support=Fraction(2), itemset=("a", "b")),)
            if kind == "TreeAnatomy":
                said["models"] = (pv.AnatomyDiversity(l=2),)
            return pv.Policy(**said, shape=shape, algorithm=value)
    if hasattr(value, "monotone"):
        if value.population:
            table["publish_only"] = {"in": ("yes",)}
        if value.spent and kind != "ByConstruction":
            return pv.Policy((COUNTED, CLASS), (value,), pv.DiffGenSettings(h=2))
        if kind == "ByConstruction":
            return pv.Policy((AGE, ILL), (value,), pv.Sampling(share=Fraction(1, 2)))
        return pv.Policy(**{**table, "models": (value,)})
    promises: dict[str, Any] = {
        **dict.fromkeys(("Pram", "RankSwap", "Sampling", "Condensation"), pv.ByConstruction()),
        **dict.fromkeys(("Anatomy", "Bucketisation"), pv.DistinctLDiversity(l=2, sensitive=("ill",))),
        "SafeLattice": pv.EntropyLDiversity(l=2, sensitive=("ill",)),
    }
    if value.spends == "differential-privacy":
        return pv.Policy((COUNTED, CLASS), (SPENT,), value)
    return pv.Policy((AGE, ILL), (promises.get(kind, TWO),), value)


MADE = [name for name in pv.__all__ if is_dataclass(getattr(pv, name)) and name not in NOT_SAID]


def attempt(make: Callable[..., Any], *given: Any, **said: Any) -> Any:
    """What is made, or None where it is refused; whatever else Python raises is a failure."""
    try:
        return make(*given, **said)
    except pv.PrivetError as error:
        why = str(error)
    assert why
    return None


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", MADE)
def test_anything_in_any_field_is_refused_or_can_be_said(name: str) -> None:
    made: Any = getattr(pv, name)
    usual = NEEDED.get(name, {})
    policy_of(made(**usual))
    for field in fields(made):
        for odd in ODD if field.init else ():
            value = attempt(made, **{**usual, field.name: odd})
            policy = None if value is None else attempt(policy_of, value)
            if policy is not None:
                text = policy.dumps()
                again = pv.Policy.loads(text)
                assert (again, again.dumps()) == (policy, text), (field.name, odd)
                assert text.encode()


@pytest.mark.parametrize("field", [f.name for f in fields(pv.Policy) if f.init])
def test_anything_in_a_policy_is_refused_or_can_be_said(field: str) -> None:
    usual = pv.Policy((AGE, ILL), (TWO,))
    for odd in ODD:
        policy = attempt(replace, usual, **{field: odd})
        if policy is not None:
            assert pv.Policy.loads(policy.dumps()) == policy, odd
