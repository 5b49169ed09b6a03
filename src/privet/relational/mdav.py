"""MDAV: groups of at least k points that lie near each other (maximum distance to average vector).

Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation",
DMKD 2005. The point farthest from the centre takes its k - 1 nearest with it, then the point farthest
from that one does, and so on; the last 2k - 1 or fewer stay together.

Every round looks at every point that is left, so the time grows with the square of their number. Large
sets are therefore cut first, by medians of the widest dimension, into blocks that are grouped each for
itself: beyond one block the time is linear.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from privet import native

Points = NDArray[np.float64]  # a row for each point
Groups = NDArray[np.int64]  # the group of each point

BLOCK = 32_768  # points that are grouped together


def mdav(points: Points, k: int, block: int = BLOCK) -> Groups:
    """The group of each point, numbered from 0; every group has at least k points, if there are k."""
    parts = list(_blocks(points, max(block, 2 * k)))
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        found = list(beside.map(lambda part: _one_block(points[part], k), parts))
    group_of = np.empty(len(points), dtype=np.int64)
    begin = 0
    for part, groups in zip(parts, found, strict=True):
        group_of[part] = groups + begin
        begin += int(groups.max(initial=-1)) + 1
    return group_of


def standardised(points: Points) -> Points:
    """Each dimension with mean 0 and deviation 1, so that none counts for its unit; constants become 0."""
    spread = points.std(axis=0)
    return np.asarray((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _blocks(points: Points, most: int) -> list[NDArray[np.intp]]:
    """Rows cut by medians until no part has more than `most`; each part keeps half of its parent."""
    waiting, done = [np.arange(len(points))], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        here = points[rows]
        widest = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
        order = np.argsort(here[:, widest], kind="stable")
        waiting += [np.sort(rows[order[len(rows) // 2 :]]), np.sort(rows[order[: len(rows) // 2]])]
    return done


def _one_block(points: Points, k: int) -> Groups:
    if native.library() is not None and len(points):
        group_of = np.empty(len(points), dtype=np.int64)
        packed = np.ascontiguousarray(points)
        if native.call("privet_mdav_groups", packed, *packed.shape, k, group_of) >= 0:
            return group_of
    return _in_python(points, k)


def _in_python(points: Points, k: int) -> Groups:
    """The same rounds with numpy, where nothing is compiled."""
    group_of = np.full(len(points), -1, dtype=np.int64)
    left, total, groups = np.arange(len(points)), points.sum(axis=0), 0

    def gaps(of: Points) -> Points:
        return np.asarray(np.square(points[left] - of).sum(axis=1))

    def gather(of: Points) -> None:
        nonlocal left, total, groups
        near = left[np.argsort(gaps(of), kind="stable")[:k]]
        group_of[near] = groups
        total = total - points[near].sum(axis=0)
        left, groups = left[group_of[left] < 0], groups + 1

    while len(left) >= 2 * k:
        first, many = points[left[np.argmax(gaps(total / len(left)))]], len(left) >= 3 * k
        gather(first)
        if many:
            gather(points[left[np.argmax(gaps(first))]])
    group_of[left] = groups
    return group_of
