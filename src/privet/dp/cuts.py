"""A cut as evidence notes it, and back: what a recipient needs to generalise records of their own alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privet.domain import Node, Value, plain
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Numbers, Predictor, PublicDomain
from privet.errors import InputError
from privet.hierarchy.numbers import decimal


def loss(domain: PublicDomain, node: Node) -> float:
    """LM of one cell: 0 for a value that says everything, 1 for one that says nothing."""
    if node.leaves == domain.size:
        return 1.0 if domain.size > 1 else 0.0
    if isinstance(domain, Numbers) and node.interval is not None and domain.numbers.interval is not None:
        (low, high), (bottom, top) = node.interval, domain.numbers.interval
        return 0.0 if node.leaves == 1 and not domain.edges else float((high - low) / (top - bottom))
    return (node.leaves - 1) / (domain.size - 1)


def noted(domain: PublicDomain, cut: Sequence[Node]) -> list[dict[str, Any]]:
    """The nodes of a cut, as evidence lists the values of a column."""
    found = []
    for node in cut:
        value: dict[str, Any] = {"label": node.label, "loss": round(loss(domain, node), 9)}
        if node.interval is not None:
            value["interval"] = [plain(bound) for bound in node.interval]
        if node.leaves == domain.size > 1:
            value["root"] = True
        found.append(value)
    return found


def read(predictor: Predictor, values: Sequence[Mapping[str, Any]]) -> tuple[Node, ...]:
    """The nodes that evidence lists; refused where they are not a cut of the domain."""
    domain = predictor.domain
    if isinstance(domain, Numbers):
        nodes = tuple(_interval(predictor.name, domain, value) for value in values)
    else:
        known = {node.label: node for node in domain.root.walk()}
        if any(value["label"] not in known for value in values):
            raise InputError(f"{predictor.name}: a value that its tree does not have")
        nodes = tuple(known[value["label"]] for value in values)
    at = 0
    for node in nodes:
        if node.lo != at:
            break
        at = node.hi
    if at != domain.size or any(n.label != v["label"] for n, v in zip(nodes, values, strict=True)):
        raise InputError(f"{predictor.name}: its values do not cover its domain, each part once")
    return nodes


def empty_table(
    predictors: Sequence[Predictor], cuts: Sequence[tuple[Node, ...]], target: str, classes: Sequence[Value]
) -> NoisyTable:
    """Cuts without counts: enough to generalise other records by."""
    return NoisyTable(
        predictors=tuple(predictors),
        cuts=tuple(cuts),
        node_sets={},
        positions=np.zeros((0, len(predictors)), dtype=np.int64),
        target=target,
        classes=tuple(classes),
        counts=np.zeros((0, len(classes)), dtype=np.int64),
        scale=Fraction(1),  # of no noise
        charges=(),
    )


def _interval(name: str, domain: Numbers, value: Mapping[str, Any]) -> Node:
    if value.get("interval") is None and domain.null:
        return domain.root.children[1] if value["label"] is None else domain.root
    if value.get("interval") is None:
        raise InputError(f"{name}: a published value without its interval")
    low, high = (decimal(bound) for bound in value["interval"])
    top = domain.at(domain.points)
    lo = int(domain.codes([plain(low)])[0])
    hi = domain.points if high == top else int(domain.codes([plain(high)])[0])
    if not 0 <= lo < hi or domain.at(lo) != low or domain.at(hi) != high:
        raise InputError(f"{name}: an interval that its range does not have")
    return domain.node(lo, hi)
