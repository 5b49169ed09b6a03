"""What generalising costs: LM, NCP, height, suppressed cells, and what is left of a target's explanation.

LM: Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002. NCP: Xu et al., "Utility-based
anonymization using local recoding", KDD 2006. Height: Samarati, "Protecting respondents' identities in
microdata release", TKDE 2001. Precision: Sweeney, "Achieving k-anonymity privacy protection using
generalization and suppression", 2002. Classes and their sizes are in `classes`, what became of a
distribution in `spread`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Step, Tally
from privet.domain import Cut, Domain, Node, Value, flat
from privet.measure.classes import Ints, add_up, roomy
from privet.measure.spread import divergence, entropy_lost, evenly
from privet.recoding import Generalization, Regions

DIGITS = 12  # information that differs by less is rounding noise


@dataclass(frozen=True, eq=False)
class AttributeLoss:
    """What became of one attribute; every mean is over records."""

    name: str
    lm: float
    ncp: float
    height: float  # levels above the lowest that could be published
    highest: int  # the same, of the most general value that a record has
    precision: float  # 1 less the height as a share of the root's
    entropy: float  # share of the bits that told a record's value, non-uniform
    kl: float  # bits from the distribution that a reader would assume to the raw one
    suppressed: int  # cells published as the root of the hierarchy
    generalised: int  # how many different published values stand for several
    raw_values: int
    information: tuple[float, float] | None  # bits about the target: raw, published
    labels: tuple[Value, ...]  # as published, in leaf order, only those that a record has
    records: Ints  # with each label

    @property
    def gain_retained(self) -> float | None:
        """The share of what the attribute told about the target; None where it told nothing."""
        return retained([self])


def losses(raw: Tally, recoding: Generalization | Regions) -> tuple[AttributeLoss, ...]:
    """What became of each quasi-identifier, from the counts before and the recoding.

    A record that is not published has lost everything: it counts as if it were published as the root.
    """
    if isinstance(recoding, Generalization):
        return tuple(
            attribute_loss(column, recoding.cuts[column.name], raw.counts, raw.target) for column in raw.quasi
        )
    return tuple(_regional_loss(raw, column, recoding) for column in raw.quasi)


def attribute_loss(column: Column, cut: Cut, counts: Ints, target: Column | None) -> AttributeLoss:
    """What became of one attribute under a cut."""
    code, class_, n = joint(column, target, counts)
    by_code = np.bincount(code, weights=n, minlength=column.domain.size)
    by_node = np.add.reduceat(by_code, [node.lo for node in cut.nodes])
    found = _node_losses(column, cut.nodes, by_node, by_code)
    information = None
    if target is not None:
        label = _label_numbers(cut.nodes)[cut.positions][code]
        information = mutual_information(code, class_, n), mutual_information(label, class_, n)
    return replace(found, information=information)


def _regional_loss(raw: Tally, column: Column, recoding: Regions) -> AttributeLoss:
    """What became of one attribute where each cell has a node of its own, or none."""
    shown = recoding.shown(column)
    kept = raw.counts if recoding.kept is None else np.where(recoding.kept, raw.counts, 0)
    by_node = add_up(shown.positions, kept, len(shown.nodes))
    by_code = add_up(column.codes, raw.counts, column.domain.size)
    found = _node_losses(column, shown.nodes, by_node, by_code, suppressed=int((raw.counts - kept).sum()))
    information = None
    if raw.target is not None:
        labels = flat(tuple(dict.fromkeys(node.label for node in shown.nodes)))
        label = replace(column, domain=labels, codes=_label_numbers(shown.nodes)[shown.positions])
        information = (
            mutual_information(*joint(column, raw.target, raw.counts)),
            mutual_information(*joint(label, raw.target, kept)),
        )
    return replace(found, information=information)


def _label_numbers(nodes: Sequence[Node]) -> NDArray[np.intp]:
    """A number for each node, the same for those that read alike."""
    number = {label: at for at, label in enumerate(dict.fromkeys(node.label for node in nodes))}
    return np.array([number[node.label] for node in nodes], dtype=np.intp)


def _node_losses(
    column: Column,
    nodes: Sequence[Node],
    by_node: NDArray[Any],
    by_code: NDArray[Any],
    suppressed: int = 0,
) -> AttributeLoss:
    """The losses that follow from how many records each node has, and how many are not published."""
    domain = column.domain
    total = max(1.0, float(by_node.sum()) + suppressed)
    used = np.flatnonzero(by_node)
    # A value published as it is costs nothing, so only the others are asked: there may be a million.
    costly = [at for at in used.tolist() if nodes[at].leaves > 1 or nodes[at].children or nodes[at].interval]
    heights = Heights(domain)
    levels = {at: heights.of(nodes[at]) for at in costly}
    number = {label: at for at, label in enumerate(dict.fromkeys(nodes[at].label for at in used.tolist()))}
    of_node = np.array([number[nodes[at].label] for at in used.tolist()], dtype=np.intp)
    records = np.bincount(of_node, weights=by_node[used], minlength=len(number)).astype(np.int64)
    root = domain.root
    top = heights.of(root) if suppressed or costly else 0
    everything = 1.0 if root.leaves > 1 else 0.0  # of a single value there is nothing to lose

    def mean(cost: Callable[[int], float], of_root: float) -> float:
        return float(sum(cost(at) * by_node[at] for at in costly) + suppressed * of_root) / total

    raised = mean(lambda at: levels[at], top)
    # Of values that are published as they are, nothing is lost, whatever their distribution.
    spans = [(nodes[at].lo, nodes[at].hi) for at in used.tolist()] if costly or suppressed else []
    return AttributeLoss(
        name=column.name,
        lm=mean(lambda at: domain.loss(nodes[at]), everything),
        ncp=mean(lambda at: ncp(domain, nodes[at]), everything),
        height=raised,
        highest=max([*levels.values(), top if suppressed else 0]),
        precision=1 - raised / top if top else 1.0,
        entropy=entropy_lost(by_code, spans, by_node[used], suppressed) if spans or suppressed else 0.0,
        kl=divergence(by_code, evenly(domain.size, spans, by_node[used], suppressed))
        if spans or suppressed
        else 0.0,
        suppressed=suppressed
        + int(sum(by_node[at] for at in costly if nodes[at].leaves == root.leaves and root.leaves > 1)),
        generalised=len({nodes[at].label for at in costly if nodes[at].leaves > 1}),
        raw_values=int(np.count_nonzero(by_code)),
        information=None,
        labels=tuple(number),
        records=records,
    )


def mean_lm(found: Sequence[AttributeLoss]) -> float:
    """LM of a whole table: 0 where it says everything, 1 where it says nothing."""
    return sum(loss.lm for loss in found) / len(found) if found else 0.0


def mean_ncp(found: Sequence[AttributeLoss]) -> float:
    """NCP of a whole table, by rows and attributes."""
    return sum(loss.ncp for loss in found) / len(found) if found else 0.0


def mean_precision(found: Sequence[AttributeLoss]) -> float:
    """Precision of a whole table: 1 where it says everything, 0 where it says nothing."""
    return sum(loss.precision for loss in found) / len(found) if found else 1.0


def mean_entropy(found: Sequence[AttributeLoss]) -> float:
    """Non-uniform entropy of a whole table, each quasi-identifier against its own most."""
    return sum(loss.entropy for loss in found) / len(found) if found else 0.0


def ncp(domain: Domain, node: Node) -> float:
    """NCP of one cell: LM for numbers; for categories 0 if it is a leaf, else its share of the leaves."""
    if domain.scale is not None and node.interval is not None:
        return domain.loss(node)
    return 0.0 if node.leaves == 1 else node.leaves / domain.size


def height(domain: Domain, node: Node) -> int:
    """How many levels a node stands above the lowest that could be published."""
    return Heights(domain).of(node)


class Heights:
    """How many levels the nodes of a domain stand above the lowest that could be published.

    In a given tree, the longest way down. Below an interval that a search grows the tree is not given; it is
    taken to be the lowest binary one over the interval's values, so that an interval of 9 to 16 values stands
    4 levels high, and so does any other range that the tree does not have (a mean of some values), but never
    higher than the root. An end that is coded (">=90") is as low as it gets.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        # By identity: comparing nodes compares all below them. Each is held, so that no other has its place.
        self._known: dict[int, tuple[Node, int]] = {}

    def of(self, node: Node) -> int:
        found = self._in_tree(node)
        if found is None and not self._domain.grows(node):
            return min((node.leaves - 1).bit_length(), self._below(self._domain.root))
        return self._below(found or node)

    def _below(self, node: Node) -> int:
        if self._domain.grows(node):
            return (node.leaves - 1).bit_length()
        if not node.children:
            return 0
        if id(node) not in self._known:
            self._known[id(node)] = node, 1 + max(map(self._below, node.children))
        return self._known[id(node)][1]

    def _in_tree(self, node: Node) -> Node | None:
        """The same node with what is below it: a cut that was rebuilt from evidence does not hold that."""
        if node.children:
            return node
        here = self._domain.root
        while (here.lo, here.hi, here.label) != (node.lo, node.hi, node.label):
            child = here.child_with(node.lo)
            if child is None or child.hi < node.hi:
                return None
            here = child
        return here


def steps(log: Sequence[Step]) -> int:
    """How many generalised values were split on the way down from the root."""
    return sum(step.performed for step in log)


def retained(found: Sequence[AttributeLoss]) -> float | None:
    """Information about the target after, as a share of before, added up over attributes."""
    pairs = [loss.information for loss in found if loss.information is not None]
    before = sum(raw for raw, _ in pairs)
    return sum(published for _, published in pairs) / before if before > 0 else None


def information(column: Column, target: Column, counts: Ints) -> float:
    """How many bits an attribute tells about the target, in this very table."""
    return mutual_information(*joint(column, target, counts))


def joint(
    column: Column, target: Column | None, counts: Ints
) -> tuple[NDArray[np.intp], NDArray[np.intp], Ints]:
    """Which value and target occur together, and how often; without a target, which value."""
    classes = 1 if target is None else target.domain.size
    key = column.codes.astype(np.int64)
    if target is not None and classes > 1:
        key *= classes
        key += target.codes
    room = column.domain.size * classes
    if room <= roomy(len(counts)):
        n = add_up(key, counts, room)
        there = np.flatnonzero(n)
        n = n[there]
    else:
        there, of_cell = np.unique(key, return_inverse=True)
        n = add_up(of_cell, counts, len(there))
    return there // classes, there % classes, n


def mutual_information(first: NDArray[Any], second: NDArray[Any], n: Ints) -> float:
    """Bits that two variables share, from the pairs that occur and how often; pairs may repeat."""
    if not len(n):
        return 0.0
    width = int(second.max()) + 1
    key = first.astype(np.int64) * width + second
    pairs = np.bincount(np.unique(key, return_inverse=True)[1], weights=n)
    total = float(n.sum())
    bits = (
        _entropy(np.bincount(first, weights=n), total)
        + _entropy(np.bincount(second, weights=n), total)
        - _entropy(pairs, total)
    )
    return max(0.0, round(bits, DIGITS)) + 0.0


def _entropy(n: NDArray[Any], total: float) -> float:
    share = n[n > 0] / total
    return float(-(share * np.log2(share)).sum())
