"""km-anonymity by generalisation: items become what stands above them in a tree, until no itemset is rare.

Apriori-based anonymisation (Terrovitis, Mamoulis and Kalnis, VLDB 2008): first no single item is rare,
then no pair, up to m items; the longer the itemsets, the fewer are left to look at. Recoding is global:
an item is replaced by the same node in every record (of its equivalence class, where quasi-identifiers
stand beside it).

Differs from the paper: of all nodes above a rare itemset those are taken that end most rare itemsets for
what they cost, several in a round; and what little is then left may be suppressed in the records that
have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.domain import Domain
from privet.equality import key
from privet.errors import HierarchyError, UnsatisfiableError
from privet.rules.baskets import Baskets, Ints, Mask, distinct
from privet.rules.rare import Rare, rare
from privet.rules.thinning import locally

AT_ONCE = 12  # in a round, one of so many nodes that would help is taken: the best, and at least one


@dataclass(frozen=True, eq=False)
class ItemTree:
    """The nodes above items as arrays; leaves come first and in leaf order."""

    labels: tuple[str, ...] = field(repr=False)
    parent: Ints = field(repr=False)  # -1 above the root
    low: Ints = field(repr=False)
    high: Ints = field(repr=False)  # leaves below: [low, high)
    leaves: int

    @classmethod
    def of(cls, domain: Domain) -> ItemTree:
        """From the domain of the items, as their hierarchy arranges it."""
        nodes = list(domain.root.walk())
        inner = [node for node in nodes if node.children or node.leaves > 1]
        if any(node.label is None for node in nodes):
            raise HierarchyError("a set has no missing items")
        number = {id(node): domain.size + at for at, node in enumerate(inner)}
        number |= {id(node): node.lo for node in nodes if id(node) not in number}
        parent = np.full(domain.size + len(inner), -1, dtype=np.int64)
        for node in inner:
            for child in node.children:
                parent[number[id(child)]] = number[id(node)]
        labels = (*map(str, domain.values), *(str(node.label) for node in inner))
        if len(set(map(key, labels))) < len(labels):
            raise HierarchyError(
                "two nodes of the items' hierarchy have one label, or equal ones; give each its own"
            )
        if any(label != label.strip() for label in labels):
            raise HierarchyError(
                "a label of the items' hierarchy has blanks around it; items are read without, so it would "
                "name none: take them away"
            )
        leaf = np.arange(domain.size)
        low = np.concatenate((leaf, [node.lo for node in inner])).astype(np.int64)
        high = np.concatenate((leaf + 1, [node.hi for node in inner])).astype(np.int64)
        return cls(labels, parent, low, high, domain.size)

    @property
    def loss(self) -> NDArray[np.float64]:
        """What a node says less than its leaves: 0 for a leaf, 1 for the root (NCP of one item)."""
        return (self.high - self.low - 1) / max(self.leaves - 1, 1)


@dataclass(frozen=True, eq=False)
class Generalised:
    """What became of every item of every record."""

    baskets: Baskets  # published: of nodes
    node: Ints = field(repr=False)  # by class and leaf: the node that stands for it
    cells: int  # items before
    suppressed: int  # of them, those that are in nothing that is published
    loss: float  # NCP: the mean of what each item lost, 1 where it was suppressed
    rounds: int


def generalise(
    baskets: Baskets,
    tree: ItemTree,
    *,
    m: int,
    k: int,
    at_most: Fraction = Fraction(0),
    classes: Ints | None = None,
    progress: Progress = silent,
) -> Generalised:
    """The items of `baskets` are the leaves of `tree`; a share `at_most` of them may be suppressed."""
    many, wide = (1 if classes is None else int(classes.max(initial=0)) + 1), len(tree.labels)
    of = np.zeros(baskets.records, dtype=np.int64) if classes is None else classes
    leaf = of[baskets.owner] * tree.leaves + baskets.members  # of each item: its class and leaf
    node = (np.arange(many)[:, None] * wide + np.arange(tree.leaves)).ravel()
    room, rounds = int(at_most * baskets.cells), 0
    if hopeless(baskets, of, k) > room:
        raise too_rare(k, classes)
    while True:
        published = node[leaf]
        names, number = occurring(published, many * wide)
        now = Baskets.gathered([tree.labels[n % wide] for n in names], baskets.owner, number, baskets.records)
        found = rare(now, m, k)
        progress("search", rounds)
        stays = np.ones(now.cells, dtype=bool)
        if len(found) and len(found.which) <= room * m:
            stays = locally(now, m, k)
        gone = suppressed(now, stays, baskets.owner, number)
        if not len(found) or (not stays.all() and int(gone.sum()) <= room):
            break
        raised = chosen(found, names, now, tree)
        if not len(raised):
            raise too_rare(k, classes)
        for one in raised.tolist():
            owner, above = divmod(one, wide)
            begin = owner * tree.leaves
            node[begin + tree.low[above] : begin + tree.high[above]] = one
        rounds += 1
    losses = np.where(gone, 1.0, tree.loss[published % wide])
    merged = labelled(now.keeping(stays))
    return Generalised(
        merged,
        node % wide,
        baskets.cells,
        int(gone.sum()),
        float(losses.mean()) if len(losses) else 0.0,
        rounds,
    )


def hopeless(baskets: Baskets, of: Ints, k: int) -> int:
    """Items of classes in which fewer than k records have any: however general, they are too rare."""
    filled = np.bincount(of, weights=baskets.lengths > 0)
    few = (filled > 0) & (filled < k)
    return int(baskets.lengths[few[of]].sum())


def too_rare(k: int, classes: Ints | None) -> UnsatisfiableError:
    within = "" if classes is None else " items within the classes of the quasi-identifiers"
    return UnsatisfiableError(
        f"k = {k} cannot be kept by generalising{within}: even the most general items are too rare; "
        "allow some items to be suppressed (at_most)"
    )


def occurring(numbers: Ints, below: int) -> tuple[Ints, Ints]:
    """The different numbers in order, and which of them each is: by a table, which spares sorting."""
    there = np.zeros(below, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def suppressed(now: Baskets, stays: Mask, owner: Ints, number: Ints) -> Mask:
    """Of each raw item, whether the node that stands for it was suppressed in its record."""
    if stays.all():
        return np.zeros(len(owner), dtype=bool)
    wide = max(len(now.items), 1)
    gone = (now.owner * wide + now.members)[~stays]
    return np.isin(owner * wide + number, gone)


def labelled(baskets: Baskets) -> Baskets:
    """The same records with items that read alike as one: a node of two classes is one label."""
    names = sorted(set(baskets.items))
    at = {name: number for number, name in enumerate(names)}
    return baskets.renamed(names, np.array([at[name] for name in baskets.items], dtype=np.int64))


def chosen(found: Rare, names: Ints, now: Baskets, tree: ItemTree) -> Ints:
    """The nodes to publish next in place of all below: those that end most rare itemsets for their price."""
    wide = len(tree.labels)

    def above(nodes: Ints) -> Ints:
        up = tree.parent[nodes % wide]
        return np.where(up < 0, -1, nodes - nodes % wide + up)

    # Each rare itemset counts once for each node that one of its items would become.
    owner = np.repeat(np.arange(len(found)), found.lengths)
    parents = above(names[found.members])
    pairs = distinct((parents * len(found) + owner)[parents >= 0])
    nodes, gain = np.unique(pairs // max(len(found), 1), return_counts=True)
    if not len(nodes):
        return nodes
    # What it costs: all items below become this node.
    cells, worth = np.zeros(len(nodes)), np.zeros(len(nodes))
    up, many = names.copy(), now.supports.astype(np.float64)
    had = many * tree.loss[names % wide]
    while (up >= 0).any():
        up = np.where(up >= 0, above(np.maximum(up, 0)), -1)
        at = np.searchsorted(nodes, up)
        at[at == len(nodes)] = 0
        there = nodes[at] == up
        np.add.at(cells, at[there], many[there])
        np.add.at(worth, at[there], had[there])
    price = np.maximum(cells * tree.loss[nodes % wide] - worth, 1e-9)
    best = nodes[np.argsort(-gain / price, kind="stable")]
    return best[: max(1, len(best) // AT_ONCE)]


def coded(baskets: Baskets, domain: Domain) -> Baskets:
    """The same records with items numbered in leaf order, those that nobody has included."""
    at = np.array([domain.code(item) for item in baskets.items], dtype=np.int64)
    return baskets.renamed([str(value) for value in domain.values], at)


def levels(tree: ItemTree, node: Sequence[int]) -> dict[str, str]:
    """For the steward: what each item is published as."""
    return {tree.labels[leaf]: tree.labels[one] for leaf, one in enumerate(node)}
