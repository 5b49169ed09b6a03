"""A classifier that `train` has written, read again and asked.

A file is not believed: what does not fit the plan that it names is refused, so that a damaged or foreign
model does not answer with nonsense.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from privet import jsonvalue
from privet.collect.bayes import NaiveBayes
from privet.collect.channels import AsIs
from privet.collect.column import Column
from privet.collect.matrix import Floats, bins_of
from privet.collect.plan import Plan
from privet.collect.tree import Node, Tree
from privet.errors import InputError

DEEPEST = 64  # nodes above a leaf
DAMAGED = "this is not a model that `privet collect train` has written, or it is damaged"


def load(plan: Plan, path: Path) -> NaiveBayes | Tree:
    """The model in a file, for answers to this plan."""
    try:
        document = jsonvalue.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (UnicodeDecodeError, ValueError, IsADirectoryError, RecursionError):
        raise InputError(f"{path}: {DAMAGED}") from None
    try:
        return from_document(plan, document)
    except InputError as error:
        raise InputError(*(f"{path}: {one}" for one in error.complaints)) from None


def from_document(plan: Plan, document: object) -> NaiveBayes | Tree:
    """The model that a JSON document describes."""
    if not isinstance(document, Mapping) or document.get("model") not in {"naive-bayes", "tree"}:
        raise InputError(DAMAGED)
    if document.get("plan") != plan.digest:
        raise InputError("was trained on answers to another plan than this one")
    label, bins = document.get("label"), document.get("bins")
    if (
        not isinstance(label, str)
        or label not in plan.columns
        or isinstance(bins, bool)
        or not isinstance(bins, int)
        or bins < 1
    ):
        raise InputError(DAMAGED)
    known = plan.columns[label]
    if known.numeric or not isinstance(known.channel, AsIs):
        raise InputError(DAMAGED)
    others = {name: column for name, column in plan.columns.items() if name != label}
    if document["model"] == "tree":
        return Tree(known, others, bins, _node(document.get("tree"), known, others, bins, 0))
    shares = document.get("shares")
    if not isinstance(shares, Mapping) or set(shares) != set(others):
        raise InputError(DAMAGED)
    size = len(known.values)
    tables = {name: _logs(shares[name], (size, bins_of(column, bins))) for name, column in others.items()}
    return NaiveBayes(known, others, bins, _logs(document.get("classes"), (size,)), tables)


def _logs(given: object, shape: tuple[int, ...]) -> Floats:
    """Logarithms of shares, of which every one is above 0 and each row adds up to 1."""
    try:
        shares = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(DAMAGED) from None
    if shares.shape != shape or not np.isfinite(shares).all() or (shares <= 0).any():
        raise InputError(DAMAGED)
    if not np.allclose(shares.sum(axis=-1), 1, atol=1e-6):
        raise InputError(DAMAGED)
    return np.asarray(np.log(shares))


def _node(given: object, label: Column, columns: Mapping[str, Column], bins: int, depth: int) -> Node:
    if not isinstance(given, Mapping) or depth > DEEPEST:
        raise InputError(DAMAGED)
    counts: Any = given.get("counts")
    if not isinstance(counts, list) or len(counts) != len(label.values) or not all(map(_count, counts)):
        raise InputError(DAMAGED)
    if "column" not in given:
        return Node(tuple(counts))
    name, left = given["column"], given.get("left_bins")
    if name not in columns or not isinstance(left, list) or not all(map(_count, left)):
        raise InputError(DAMAGED)
    if max(left, default=0) >= bins_of(columns[name], bins):
        raise InputError(DAMAGED)
    below = (_node(given.get(side), label, columns, bins, depth + 1) for side in ("left", "right"))
    return Node(tuple(counts), name, tuple(left), *below)


def _count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < math.inf
