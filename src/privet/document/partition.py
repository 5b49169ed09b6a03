"""Large collections in parts: like records are clustered among themselves, so time grows with n, not n².

A record is compared with others of its part only. Parts are cut from an order in which neighbours
have like roots and about as many vertices. Whoever is left over in a
part goes with the left-overs of the others into a last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.document.edits import DocumentEdits, TreeClass
from privet.document.forest import Forest
from privet.document.taxonomy import taxonomy

Cluster = Callable[[Forest], DocumentEdits]


def alike(forest: Forest) -> NDArray[np.int64]:
    """Records by the labels of their roots in leaf order, then by how many vertices they have.

    Inside a part a partner of like size is soon found; one whose root reads alike as well is rare, so roots
    come first, and among their fields those with few different values.
    """
    kind = forest.schema.kind(forest.schema.root)
    columns = [forest.codes[forest.roots, kind.position(f.name)] for f in kind.quasi]
    columns.sort(key=lambda codes: len(np.unique(codes)))
    return np.lexsort([np.arange(len(forest)), forest.sizes(), *reversed(columns)])


def in_parts(
    forest: Forest, cluster: Cluster, size: int, part: int, *, threads: int, progress: Progress = silent
) -> DocumentEdits:
    """Cluster parts of about `part` records each, `threads` at a time, which does not change the result."""
    order = alike(forest)
    classes: list[TreeClass] = []
    left: list[int] = []
    done = 0
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for chosen, edits in zip(cut := _cut(order, part), pool.map(_on(forest, cluster), cut), strict=True):
            classes += [moved(forest, group, chosen) for group in edits.classes]
            left += chosen[list(edits.suppressed)].tolist()
            done += len(chosen)
            progress("grouping records", done, len(forest))
    suppressed = left
    if len(left) >= size:
        again = np.array(sorted(left), dtype=np.int64)
        again = again[alike(forest.take(again))]
        suppressed = []
        for chosen in _cut(again, part):
            edits = cluster(forest.take(chosen))
            classes += [moved(forest, group, chosen) for group in edits.classes]
            suppressed += chosen[list(edits.suppressed)].tolist()
    return DocumentEdits(taxonomy(forest), tuple(classes), tuple(sorted(suppressed)))


def _on(forest: Forest, cluster: Cluster) -> Callable[[NDArray[np.int64]], DocumentEdits]:
    return lambda chosen: cluster(forest.take(chosen))


def _cut(order: NDArray[np.int64], part: int) -> Sequence[NDArray[np.int64]]:
    """Consecutive parts, as equal as they can be."""
    return np.array_split(order, max(1, -(-len(order) // part)))


def moved(forest: Forest, group: TreeClass, chosen: NDArray[np.integer[Any]]) -> TreeClass:
    """A class of some records as one of the whole forest; hierarchies are numbered alike in both."""
    members = chosen[list(group.members)]
    lengths = forest.sizes()[chosen]
    begins = np.concatenate(([0], np.cumsum(lengths)))[list(group.members)]
    aligned = (group.rep.aligned - begins + forest.starts[members]).astype(np.int32)
    return TreeClass(tuple(members.tolist()), replace(group.rep, aligned=aligned))
