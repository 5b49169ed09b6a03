"""What promises and algorithms declare of themselves, checked: every fact is there, and of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from privet.declared import AlgorithmFacts, ModelFacts, declare, missing

Kind = tuple[Callable[[Any], bool], str]

YES_OR_NO: Kind = (lambda v: type(v) is bool, "True or False")
TEXT: Kind = (lambda v: isinstance(v, str) and bool(v), "a text that is not empty")
TEXTS: Kind = (lambda v: isinstance(v, tuple) and all(isinstance(s, str) for s in v), "a tuple of texts")
KINDS: Kind = (lambda v: TEXTS[0](v) and bool(v), "a tuple of kinds of data, at least one")
MAYBE_TEXT: Kind = (lambda v: v is None or TEXT[0](v), "a text, or None")
MAYBE_TEXTS: Kind = (lambda v: v is None or TEXTS[0](v), "a tuple of texts, or None")
MAYBE_SIZE: Kind = (lambda v: v is None or (type(v) is int and v >= 1), "a whole number from 1 on, or None")
SHARE: Kind = (lambda v: isinstance(v, Fraction) and 0 <= v <= 1, "an exact share from 0 to 1")
PAIRS: Kind = (
    lambda v: isinstance(v, tuple) and all(TEXTS[0](pair) and len(pair) == 2 for pair in v),
    "a tuple of pairs: the key, and the attribute that it names",
)
ROWS: Kind = (
    lambda v: isinstance(v, Mapping) and len(v) <= 1 and all(map(TEXTS[0], v.values())),
    "a column and a tuple of what it says, or nothing",
)

OF_MODELS: Mapping[str, Kind] = {
    "name": TEXT,
    "monotone": YES_OR_NO,
    "monotone_with_suppression": YES_OR_NO,
    "kinds": KINDS,
    "spent": YES_OR_NO,
    "population": YES_OR_NO,
    "remarks": TEXTS,
    "class_size": MAYBE_SIZE,
    "protects": PAIRS,
    "known": MAYBE_TEXTS,
    "leaving": ROWS,
}
OF_ALGORITHMS: Mapping[str, Kind] = {
    "name": TEXT,
    "kinds": KINDS,
    "road": MAYBE_TEXT,
    "spends": MAYBE_TEXT,
    "public_domains": YES_OR_NO,
    "coincident": YES_OR_NO,
    "droppable": SHARE,
}


def check_model_facts(model: Any) -> None:
    """A promise declares what others ask of it; one of the first contract is given the defaults."""
    _check(model, ModelFacts, OF_MODELS)
    assert model.population == bool(model.leaving()), (
        f"{model.name}: a promise about a population says which rows leave, and no other does"
    )


def check_algorithm_facts(algorithm: Any) -> None:
    """The same of an algorithm."""
    _check(algorithm, AlgorithmFacts, OF_ALGORITHMS)
    assert callable(algorithm.complaints), f"{algorithm.name}: complaints is a method that takes a policy"


def _check(thing: Any, facts: type[Any], kinds: Mapping[str, Kind]) -> None:
    name = type(thing).__name__
    lacks = missing(thing, facts)
    assert not lacks, f"{name}: declares no {' and no '.join(lacks)}"
    for written, meant in _misspelt(thing, (*kinds, *(n for n in vars(facts) if not n.startswith("_")))):
        raise AssertionError(f"{name}: nobody asks for {written}; did you mean {meant}?")
    declare(thing, facts)
    for fact, (fits, words) in kinds.items():
        given = getattr(thing, fact)
        value = given() if callable(given) else given
        assert fits(value), f"{name}: {fact} is {words}, not {value!r}"


def _misspelt(thing: Any, facts: tuple[str, ...]) -> list[tuple[str, str]]:
    """What a class says in words that are almost those of a fact; its parameters are its own."""
    own = {field.name for field in fields(thing)} if is_dataclass(thing) else set()
    said = [n for cls in type(thing).__mro__ for n in vars(cls) if not n.startswith("_") and n not in own]
    return [
        (name, near[0])
        for name in dict.fromkeys(said)
        if name not in facts and (near := get_close_matches(name, facts, n=1, cutoff=0.85))
    ]
