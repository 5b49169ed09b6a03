"""The section on sets: what is left of them, what hiding did beside hiding, what few known items find."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.sets import Effects, Level
from privet.evidence.values import Evidence
from privet.report.markup import Safe, join, label_text, paragraph, table
from privet.report.numerals import count, percent

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
    sets = evidence.sets
    if sets is None:
        return None
    rows = [
        (said, count(getattr(sets.before, key)) or "", count(getattr(sets.after, key)) or "")
        for said, key in SIZES
    ]
    parts = [
        paragraph(
            f"By {label_text(evidence.recoding)}; of what the items said "
            f"{percent(sets.loss) or 'an unknown share'} is lost."
        ),
        table(("", "Original data", "Published"), rows, numeric=(1, 2), caption="What is left of the sets"),
        hidden(sets.effects),
    ]
    parts += [known(one) for one in sets.levels]
    return join([one for one in parts if one is not None])


def hidden(effects: Effects | None) -> Safe | None:
    """What hiding cost; rules are counted, and none is named here."""
    if effects is None:
        return None
    rows = [(said, count(getattr(effects, key)) or "") for said, key in EFFECTS]
    return join(
        (
            paragraph(
                "A rule is seen if its support and its confidence reach what the recipient mines with. Rules "
                "that were to be hidden are neither lost nor ghosts."
            ),
            table(("", "Number"), rows, numeric=(1,), caption="What hiding did beside hiding"),
        )
    )


def known(levels: Sequence[Level]) -> Safe | None:
    """By how many items somebody knows."""
    rows = [(count(one.known) or "", count(one.itemsets) or "", count(one.smallest) or "") for one in levels]
    if not rows:
        return None
    return table(
        ("Items known", "Itemsets that occur", "Records of the rarest"),
        rows,
        numeric=(0, 1, 2),
        caption="What somebody finds who knows a few items",
    )
