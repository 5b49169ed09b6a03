"""What one step less would buy: the same search with a smaller l, or without rules, on some of the records.

It is tried while a release is made, since only then the records are there, and kept in the private notes. On
large collections some records stand for all: the answer is an estimate, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from privet.core import silent
from privet.document.anatomy import Anatomize
from privet.document.anatomy_measure import suppression_accuracy
from privet.document.anatomy_rules import Rules
from privet.document.forest import Forest
from privet.document.measures import lm
from privet.document.promises import AnatomyDiversity, PMPrivacy
from privet.measure.summary import tidy
from privet.policy.values import Policy

TRIED = 120  # records that a search by pairs is tried on; it takes the square of their number
TRIED_HALVES = 600


def drawn(forest: Forest, most: int) -> Forest:
    """So many records, or all of them, in their order: ties of the search go by it."""
    if len(forest) <= most:
        return forest
    chosen = Random(0).sample(range(len(forest)), most)  # which ones are tried protects nobody
    return forest.take(np.array(sorted(chosen)))


def whole_trees(forest: Forest, policy: Policy) -> list[dict[str, Any]]:
    """For trees that are published whole: LM with the size that was promised, and with one less."""
    models: list[Any] = list(policy.models)
    algorithm: Any = policy.algorithm
    size, diverse = max(model.class_size for model in models), any(model.diverse for model in models)
    if size <= 2:
        return []  # with one record less nothing is promised
    some = drawn(forest, TRIED)

    def lost(members: int) -> float:
        edits = algorithm.cluster(some, members, diverse=diverse, progress=silent)
        share: float = tidy(float(lm(some, edits, weighted=False)))
        return share

    changes = [
        _change(model, "l" if model.diverse else "k", size, size - 1)
        for model in models
        if model.class_size == size
    ]
    return [{"changes": changes, "tried": len(some), "lm": {"now": lost(size), "then": lost(size - 1)}}]


def halves(forest: Forest, policy: Policy, search: Anatomize) -> list[dict[str, Any]]:
    """For trees in halves: the share of vertices that is left, with l - 1, and without any rule."""
    some = drawn(forest, TRIED_HALVES)

    def kept(how: Anatomize) -> float:
        share: float = tidy(float(suppression_accuracy(how.search(some, silent))))
        return share

    now = kept(search)
    return [
        {"changes": changes, "tried": len(some), "kept": {"now": now, "then": kept(how)}}
        for changes, how in _eased(policy, search)
    ]


def _eased(policy: Policy, search: Anatomize) -> Iterator[tuple[list[dict[str, str]], Anatomize]]:
    models: list[Any] = list(policy.models)
    if search.l > 2:
        model = next(model for model in models if isinstance(model, AnatomyDiversity))
        yield [_change(model, "l", search.l, search.l - 1)], replace(search, l=search.l - 1)
    if search.rules.rules:
        rules = next(model for model in models if isinstance(model, PMPrivacy))
        yield [_change(rules, "rules", len(search.rules.rules), "none")], replace(search, rules=Rules())


def _change(model: Any, parameter: str, before: object, after: object) -> dict[str, str]:
    return {"model": model.name, "parameter": parameter, "from": str(before), "to": str(after)}
