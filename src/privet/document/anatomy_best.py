"""How `native/anatomy.c` is called; its plain twin is `anatomy_merge.best`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.document.anatomy_merge import Group, Grove, Ints
from privet.document.style import Style


def counts(grove: Grove, types: int) -> Ints:
    """How many vertices of each type each record has: no merge can match more."""
    owner = np.repeat(np.arange(len(grove.sizes)), grove.sizes)
    flat = np.bincount(owner * types + grove.kinds, minlength=len(grove.sizes) * types)
    return flat.astype(np.int32).reshape(len(grove.sizes), types)


def best(
    group: Group,
    grove: Grove,
    candidates: NDArray[np.int64],
    weights: tuple[float, NDArray[np.float64]],
    per_type: Ints,
) -> tuple[int, Ints] | None:
    """The candidate whose merge costs least and its alignment; the earliest of equals, None if none fits."""
    begins, below = group.children
    rules = grove.limits
    match = np.empty(len(group), dtype=np.int32)
    types = per_type.shape[1]
    found = native.call(
        "privet_anatomy_best",
        *(np.ascontiguousarray(a, dtype=np.int32) for a in (group.kinds, group.keys)),
        begins,
        below,
        len(group),
        len(group.members),
        *(np.ascontiguousarray(a, dtype=np.int32) for a in (grove.kinds, grove.keys)),
        grove.begins,
        grove.members,
        np.ascontiguousarray(grove.roots, dtype=np.int64),
        np.ascontiguousarray(grove.sizes, dtype=np.int64),
        per_type,
        np.bincount(group.kinds, minlength=types).astype(np.int32),
        types,
        candidates,
        len(candidates),
        *(rules.ruled, rules.begins, rules.m, rules.mu, rules.eta),
        rules.keyed,
        int(grove.style is Style.VERTICES),
        weights[1],
        np.array([weights[0]], dtype=np.float64),
        int(grove.sizes.max(initial=0)),
        match,
    )
    if found == -2:
        raise MemoryError
    return None if found < 0 else (int(found), match)


def available(candidates: Sequence[int] | NDArray[np.int64]) -> bool:
    return len(candidates) > 0 and native.library() is not None
