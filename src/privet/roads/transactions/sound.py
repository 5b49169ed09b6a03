"""What can be said of a release beside its promises: do its numbers add up, and is each set written once?

What the raw data was nobody can count from a release. But what was there before, what went and what is left
are bound to each other, and a steward who says otherwise of one of them is found out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form
from privet.engine import Engine
from privet.engines.transactions import frames, lines
from privet.engines.transactions.frames import ItemFrame
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.roads.stations import needed
from privet.roads.transactions.check import shape_of
from privet.roads.transactions.shape import Layout

ROUNDED = 1e-9


def accounts(evidence: Evidence) -> Iterator[str]:
    """Numbers of the evidence that contradict each other."""
    said = needed(evidence.sets, "sets")
    before, after = said.before, said.after
    gone = evidence.suppressed_records or 0
    if before.records != after.records + gone:
        yield (
            f"sets: before has {before.records} records, after {after.records}, and {gone} are said to be "
            "suppressed"
        )
    if not 0 <= said.suppressed <= before.cells or after.cells > before.cells:
        yield f"sets: {before.cells} items before, {after.cells} after, {said.suppressed} suppressed"
    share = said.suppressed / max(before.cells, 1)
    if "generalisation" not in evidence.recoding:
        if before.cells - after.cells != said.suppressed:
            yield (
                f"sets: {before.cells} items before and {after.cells} after, but {said.suppressed} are said "
                "to be suppressed"
            )
        if abs(said.loss - share) > ROUNDED:
            yield f"sets: loss is {said.loss}, and {said.suppressed} of {before.cells} items are {share:.9f}"
    elif not share - ROUNDED <= said.loss <= 1:
        yield f"sets: loss is {said.loss}; it is from the share that is suppressed, {share:.9f}, to 1"
    if said.effects is not None:
        if (said.effects.removed, said.effects.cells) != (gone, before.cells - after.cells):
            yield "sets: effects: removed and cells are not what went between before and after"
        if said.effects.failures:
            yield f"sets: effects: {said.effects.failures} failures, and every promise holds"


def otherwise_written(
    data: Path, form: Form, final: ItemFrame, policy: Policy, engine: Engine[Any]
) -> Iterator[str]:
    """Sets that are written in another way than publishing does: an item twice, or an empty one.

    They read the same here, but a recipient who counts separators counts something else.
    """
    shape, sets = shape_of(policy), final.baskets
    if shape.form is Layout.BASKETS:
        same = lines.text_of(data, form) == lines.as_text(sets, shape.separator)
    elif shape.form is Layout.COLUMN:
        column = str(shape.set)
        there = frames.table(data, form, [column], column, engine).get_column(column)
        listed = frames.as_lists(sets)
        if isinstance(there.dtype, pl.List):
            same = there.cast(pl.List(pl.String)).equals(listed)
        else:
            same = there.cast(pl.String).fill_null("").equals(listed.list.join(shape.separator))
    else:
        columns = [str(shape.person), str(shape.item)]
        frame = frames.table(data, form, columns, None, engine).select(pl.all().cast(pl.String))
        empty = int((sets.lengths == 0).sum())
        trimmed = frame.select(pl.all().str.strip_chars())
        spelt = set(frame.get_column(columns[1]).unique().drop_nulls().to_list()) - {""} <= set(sets.items)
        same = frame.height == sets.cells + empty and frame.equals(trimmed) and spelt
    if not same:
        yield (
            "the sets are not written as publishing writes them: an item stands twice in one, an empty item, "
            "blanks around one, equal items in two spellings, or items in another order"
        )
