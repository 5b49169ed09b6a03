"""Random local recodings, and what they publish, record by record."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from privet.core import Column, Tally
from privet.domain import Node
from privet.recoding import Generalization, Regions
from privet.testing import recodings


@st.composite
def regions(draw: st.DrawFn, tally: Tally) -> Regions:
    """Every cell under some node above its values; some are suppressed, never all."""
    nodes = {column.name: _nodes(draw, column) for column in tally.quasi}
    positions = {}
    for column in tally.quasi:
        chosen = []
        for code in column.codes.tolist():
            above = [at for at, node in enumerate(nodes[column.name]) if node.lo <= code < node.hi]
            chosen.append(draw(st.sampled_from(above)))
        positions[column.name] = np.array(chosen, dtype=np.intp)
    kept = draw(st.none() | st.lists(st.booleans(), min_size=tally.cells, max_size=tally.cells))
    return Regions(nodes, positions, None if kept is None or not any(kept) else np.array(kept))


def _nodes(draw: st.DrawFn, column: Column) -> tuple[Node, ...]:
    """The nodes of the tree, and some ranges that it does not have, as means of groups have them."""
    made = list(column.domain.root.walk())
    size = column.domain.size
    for at in range(draw(st.integers(0, 2))):
        lo = draw(st.integers(0, size - 1))
        made.append(Node(f"mean {at}", lo, draw(st.integers(lo + 1, size))))
    return tuple(made)


def any_recoding(tally: Tally) -> st.SearchStrategy[Generalization | Regions]:
    return recodings(tally) | regions(tally)


def shown(tally: Tally, recoding: Generalization | Regions, column: Column) -> list[tuple[int, Node | None]]:
    """For each record its raw code and the node it is published as; None: it is not published."""
    found = []
    for cell in range(tally.cells):
        code = int(column.codes[cell])
        node: Node | None
        if isinstance(recoding, Regions):
            node = recoding.nodes[column.name][int(recoding.positions[column.name][cell])]
            if recoding.kept is not None and not recoding.kept[cell]:
                node = None
        else:
            node = next(n for n in recoding.cuts[column.name].nodes if n.lo <= code < n.hi)
        found += [(code, node)] * int(tally.counts[cell])
    return found
