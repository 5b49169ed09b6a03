"""Full-domain generalisation by its definition: every node of the lattice, every class, every record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from privet.core import PrivacyModel, Tally
from privet.domain import Cut, Domain, Node
from privet.models.classcheck import ClassCheck
from privet.models.classes import Classes
from privet.models.linkage import LinkageCheck
from privet.recoding import Generalization


def levels(domain: Domain) -> list[Cut]:
    """The cut at every depth, the deepest first; intervals that a search grows are halved."""
    root = [domain.root]
    found = [root]
    while True:
        below = [child for node in found[-1] for child in children(domain, node) or [node]]
        if len(below) == len(found[-1]) and all(a is b for a, b in zip(below, found[-1], strict=True)):
            return [Cut(domain, tuple(nodes)) for nodes in reversed(found)]
        found.append(below)


def children(domain: Domain, node: Node) -> list[Node]:
    if node.children or domain.scale is None or not domain.grows(node):
        return list(node.children)
    known = domain.scale.numbers
    places = [at for at in range(node.lo + 1, node.hi) if known[at - 1] < known[at]]
    return list(domain.split(node, places[len(places) // 2], roundly=True)) if places else []


@dataclass(frozen=True, eq=False)
class Found:
    """A node, the cells that are left after suppression, and whether that keeps every promise."""

    levels: tuple[int, ...]
    cuts: dict[str, Cut]
    kept: NDArray[np.bool_]
    holds: bool
    suppressed: int


def nodes(tally: Tally, models: Sequence[PrivacyModel], limit: int) -> Iterator[Found]:
    """Every node: classes that break a promise go, and what is left is looked at again."""
    ladders = [levels(column.domain) for column in tally.quasi]
    for at in product(*(range(len(ladder)) for ladder in ladders)):
        cuts = {c.name: ladder[i] for c, ladder, i in zip(tally.quasi, ladders, at, strict=True)}
        published = tally.recoded(Generalization(cuts))
        kept = np.ones(tally.cells, dtype=bool)
        while True:
            gone = breaking(published.where(kept), models)
            if not gone.any():
                break
            kept[np.flatnonzero(kept)[gone]] = False
            if not kept.any():
                break
        suppressed = int(tally.counts[~kept].sum())
        holds = bool(kept.any()) and suppressed <= limit
        holds = holds and all(model.check(published.where(kept)).holds for model in models)
        yield Found(at, cuts, kept, holds, suppressed)


def knows_all(model: LinkageCheck, tally: Tally) -> bool:
    """Is the promise about classes? With fewer known values groups overlap, and no class is to blame."""
    columns = model.linkage().columns(tally)
    return len(columns) == len(tally.quasi) == model.linkage().knowledge(columns)


def breaking(tally: Tally, models: Sequence[PrivacyModel]) -> NDArray[np.bool_]:
    """The cells in classes that break a promise about classes."""
    classes = Classes.of(tally, "test")
    gone = np.zeros(len(classes.size), dtype=bool)
    for model in models:
        if isinstance(model, ClassCheck):
            for name in model.sensitive:
                gone |= model.read(classes.histogram(tally, name)).bad
        elif isinstance(model, LinkageCheck) and knows_all(model, tally):
            for number in range(len(gone)):
                gone[number] |= not model.check(tally.where(classes.of_cell == number)).holds
    return np.asarray(gone[classes.of_cell])


def lm(tally: Tally, node: Found, weights: dict[str, float]) -> float:
    """LM by records and attributes; a suppressed record loses all."""
    total = sum(weights.get(column.name, 1) for column in tally.quasi)
    lost = 0.0
    for column in tally.quasi:
        cut = node.cuts[column.name]
        for cell in range(tally.cells):
            here = cut.nodes[int(cut.positions[int(column.codes[cell])])]
            each = column.domain.loss(here) if node.kept[cell] else 1.0
            lost += weights.get(column.name, 1) / total * each * int(tally.counts[cell])
    return lost / tally.records


def discernibility(tally: Tally, node: Found) -> float:
    n = tally.records
    sizes = kept_sizes(tally, node)
    return (sum(size**2 for size in sizes) + node.suppressed * n) / n**2


def kept_sizes(tally: Tally, node: Found) -> list[int]:
    published = tally.recoded(Generalization(node.cuts)).where(node.kept)
    return [int(size) for size in Classes.of(published, "test").size]
