"""The section on sets: what is left of them, what hiding did beside hiding, what few known items find."""

from __future__ import annotations

from collections.abc import Sequence

from privet.report.markup import Safe, join, label_text, paragraph, table
from privet.report.numerals import count, listing, part, percent, tables
from privet.report.sections import Evidence

SIZES = (
    ("Items in all records", "cells"),
    ("Different items", "different"),
    ("Longest record", "longest"),
    ("Records without an item", "empty"),
)
EFFECTS = (
    ("Rules seen before", "visible"),
    ("Sensitive rules that are still seen (hiding failures)", "failures"),
    ("Innocent rules lost", "lost"),
    ("Rules gone with a hidden itemset", "implied"),
    ("Ghost rules, not seen before", "ghosts"),
    ("Items deleted", "cells"),
    ("Records removed", "removed"),
)


def kept(evidence: Evidence) -> Safe | None:
    """Items and rules, before and after."""
    sets = part(evidence, "sets")
    if not sets:
        return None
    before, after = part(sets, "before"), part(sets, "after")
    rows = [(said, count(before.get(key)) or "", count(after.get(key)) or "") for said, key in SIZES]
    parts = [
        paragraph(
            f"By {label_text(evidence.get('recoding'))}; of what the items said "
            f"{percent(sets.get('loss')) or 'an unknown share'} is lost."
        ),
        table(("", "Original data", "Published"), rows, numeric=(1, 2), caption="What is left of the sets"),
        hidden(evidence),
    ]
    parts += [known(tables(one)) for one in listing(sets.get("levels"))]
    return join(one for one in parts if one is not None)


def hidden(evidence: Evidence) -> Safe | None:
    """What hiding cost; rules are counted, and none is named here."""
    effects = part(evidence, "sets", "effects")
    if not effects:
        return None
    rows = [(said, count(effects.get(key)) or "") for said, key in EFFECTS]
    return join(
        (
            paragraph(
                "A rule is seen if its support and its confidence reach what the recipient mines with. Rules "
                "that were to be hidden are neither lost nor ghosts."
            ),
            table(("", "Number"), rows, numeric=(1,), caption="What hiding did beside hiding"),
        )
    )


def known(levels: Sequence[object]) -> Safe | None:
    """By how many items somebody knows."""
    rows = [
        (count(one.get("known")) or "", count(one.get("itemsets")) or "", count(one.get("smallest")) or "")
        for one in tables(levels)
    ]
    if not rows:
        return None
    return table(
        ("Items known", "Itemsets that occur", "Records of the rarest"),
        rows,
        numeric=(0, 1, 2),
        caption="What somebody finds who knows a few items",
    )
