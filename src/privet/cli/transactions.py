"""How findings about sets are told on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from privet.cli import screen
from privet.cli.screen import share

if TYPE_CHECKING:
    from privet.evidence.sets import SetsNote

SIZES = (
    ("records", "records"),
    ("items in all records", "cells"),
    ("different items", "different"),
    ("longest record", "longest"),
    ("records without an item", "empty"),
)
EFFECTS = (
    ("rules seen before", "visible"),
    ("sensitive rules that are still seen", "failures"),
    ("innocent rules lost", "lost"),
    ("rules gone with a hidden itemset", "implied"),
    ("ghost rules, not seen before", "ghosts"),
    ("items deleted", "cells"),
    ("records removed", "removed"),
)


def published(sets: SetsNote, recoding: str) -> Iterator[str]:
    """What a release of sets kept, in a few lines."""
    yield from screen.table(
        [(name, f"{sets.before[key]:,}", f"{sets.after[key]:,}") for name, key in SIZES],
        head=("", "raw", "published"),
    )
    yield f"  {recoding}: {share(sets.loss)} of what the items said is lost"
    if sets.effects is not None:
        yield ""
        yield from side_effects(sets.effects)


def side_effects(effects: Mapping[str, int]) -> Iterator[str]:
    yield from screen.table([(name, f"{effects[key]:,}") for name, key in EFFECTS])


def levels(found: Any) -> Iterator[str]:
    """By how many items are known: how many itemsets there are, and how many too few records have."""
    for promise in found:
        yield from screen.table(
            [
                (str(one["known"]), f"{one['itemsets']:,}", f"{one['rare']:,}", f"{one['smallest']:,}")
                for one in promise
            ],
            head=("items known", "itemsets", "in too few records", "smallest"),
        )


def risk(found: Mapping[str, Any]) -> Iterator[str]:
    """What somebody finds who knows a few items."""
    from privet.evidence.values import Promise

    yield f"{found['records']:,} records with {found['cells']:,} items, {found['different']:,} different ones"
    yield f"  {found['unique']:,} have a set that nobody else has"
    yield from screen.promise_lines([Promise.read(one) for one in found["promises"]])
    yield ""
    yield from levels(found["levels"])
    yield from linkage(found["linkage"])


def linkage(tried: list[Mapping[str, Any]]) -> Iterator[str]:
    if not tried:
        return
    yield f"attacks on {tried[0]['trials']:,} random people of whom so many items were known"
    yield from screen.table(
        [(str(one["known"]), share(one["alone"] / one["trials"]), share(one["identity"])) for one in tried],
        head=("known", "only one record matches", "right record"),
    )


def compare(found: Mapping[str, Any]) -> Iterator[str]:
    """What a release of sets lost."""
    before, after = found["before"], found["after"]
    rows = (*SIZES, ("sets that nobody else has", "unique"))
    yield from screen.table(
        [(name, f"{before[key]:,}", f"{after[key]:,}") for name, key in rows], head=("", "raw", "published")
    )
    yield f"  {share(found['item_loss'])} of what the items said is lost"
    if "rules" in found:
        rules = found["rules"]
        said = "" if rules["confidence"] is None else f" and confidence {rules['confidence']}"
        yield ""
        yield f"rules of support {rules['support']}{said}, without those that were to be hidden"
        yield from screen.table(
            [
                ("raw", f"{rules['before']:,}"),
                ("published", f"{rules['after']:,}"),
                ("lost", f"{rules['lost']:,}"),
                ("ghosts", f"{rules['ghosts']:,}"),
            ]
        )
    for side, name in (("before", "raw"), ("after", "published")):
        if found["levels"][side]:
            yield ""
            yield f"{name}: what is known of a person"
            yield from levels(found["levels"][side])
    for side, name in (("before", "raw"), ("after", "published")):
        yield ""
        yield f"{name}:"
        yield from linkage(found["linkage"].get(side, []))


def explain(found: Mapping[str, Any]) -> Iterator[str]:
    """Why items had to go."""
    sets = found["sets"]
    yield f"{found['recoding']}: {share(sets['loss'])} of what the items said is lost"
    if "effects" in sets:
        yield from side_effects(sets["effects"])
    yield ""
    yield from levels(sets["levels"])
    if not found["private_notes"]:
        yield "what forced it: unknown here, the private notes do not lie beside the release"
        return
    if found["margins"]:
        yield "what each rule was, and what it had to fall below"
        yield from screen.table(
            [
                (
                    one["rule"],
                    f"{one['support']:,}",
                    f"{one['least']:,}",
                    "-" if one["confidence"] is None else share(one["confidence"]),
                    "-" if one["at_least"] is None else share(one["at_least"]),
                )
                for one in found["margins"]
            ],
            head=("rule", "support was", "seen from", "confidence was", "seen from"),
        )
        yield "  a higher threshold for the rule that is furthest above it saves most"
    if found["generalised"]:
        yield f"  {found['generalised']:,} items are published as something more general"
    if found["deleted"]:
        yield "items that went from most records"
        yield from screen.table(
            [(one["item"], f"{one['records']:,}") for one in found["deleted"]], head=("item", "records")
        )
    for key, said in (("lost", "rules lost"), ("ghosts", "ghost rules")):
        for one in found.get(key, ()):
            yield screen.shown(f"  {said}: {one}")
    if found.get("knows") and found["knows"] > 1:
        yield f"  a smaller m than {found['knows']}, or a smaller k, leaves more"
