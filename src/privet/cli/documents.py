"""How findings about documents are told on a terminal, and how a policy for them is drafted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privet.cli import screen
from privet.cli.screen import share

KNOWN = {
    "root": "the root's values",
    "shape": "these, and how the tree branches",
    "tree": "every quasi-identifier in the tree",
}


def published(evidence: Mapping[str, Any]) -> Iterator[str]:
    """What is left of the trees, depth by depth."""
    found = evidence["documents"]
    yield from _levels(found["levels"])
    kept = evidence["measures"]["loss"].get("suppression_accuracy")
    if kept is not None:
        yield f"  {share(kept)} of a person's vertices are published, on average"


def _levels(levels: Any) -> list[str]:
    return screen.table(
        [
            (
                f"{'  ' * one['level']}{one['type']}",
                f"{one['before']:,}",
                f"{one['after']:,}",
                share(1 - one["after"] / one["before"]) if one["before"] else "",
            )
            for one in levels
        ],
        head=("vertices", "raw", "published", "gone"),
    )


def risk(found: Mapping[str, Any]) -> Iterator[str]:
    """How many trees are alone, by what somebody knows of them."""
    yield f"{found['records']:,} records with {found['vertices']:,} vertices"
    yield ""
    yield from screen.table(
        [
            (
                KNOWN[one["known"]],
                f"{one['classes']:,}",
                f"{one['unique_records']:,}",
                share(one["highest"]),
                share(one["average"]),
            )
            for one in found["knowledge"]
        ],
        head=("somebody knows", "classes", "alone", "found, at worst", "on average"),
    )
    warnings = [one["warning"] for one in found["outlook"] if one["warning"]]
    if warnings:
        yield ""
        yield "what the promise will meet"
        yield from (f"  {screen.shown(warning)}" for warning in warnings)


def compare(found: Mapping[str, Any]) -> Iterator[str]:
    """Truth, loss and answers."""
    records, truth = found["records"], found["truth"]
    yield f"{records['after']:,} of {records['before']:,} records are published"
    if "groups" in truth:
        yield f"  {truth['true']:,} of {truth['groups']:,} groups come from people of their own" + (
            f"; {truth['undecided']:,} were not found out" if truth["undecided"] else ""
        )
    else:
        yield f"  {truth['true']:,} of {truth['looked_at']:,} that were looked at are true versions of an original"
    yield ""
    yield from _levels(found["levels"])
    if found["attributes"]:
        yield ""
        yield from screen.table(
            [(name, share(one["lm"])) for name, one in found["attributes"].items()],
            head=("field", "lost (LM)"),
        )
    yield ""
    asked = found["queries"]
    rows = [
        (f"answers to {asked['asked']:,} random counts, right by", share(asked["clipped"])),
        *(
            (f"divergence of {name}", "nothing is left" if apart is None else f"{apart:.4f}")
            for name, apart in found["divergence"].items()
        ),
    ]
    if "lm" in found["loss"]:
        rows.insert(0, ("detail lost on average (LM)", share(found["loss"]["lm"])))
    else:
        rows.insert(0, ("vertices of a person that are left", share(found["loss"]["suppression_accuracy"])))
    yield from screen.table(rows)


def explain(found: Mapping[str, Any]) -> Iterator[str]:
    """Where the loss is, and what forced it."""
    if found["lm"] is not None:
        yield f"{share(found['lm'])} of the detail is lost on average, in {found['records']:,} records"
    if found["suppressed_records"]:
        yield f"{found['suppressed_records']:,} records found no partner and are left out"
    if found["attributes"]:
        yield from screen.table(
            [
                (one["attribute"], share(one["lm"]), share(one["cut"]), share(max(one["lm"] - one["cut"], 0)))
                for one in found["attributes"]
            ],
            head=("field", "lost", "because vertices are gone", "because labels are general"),
        )
    yield ""
    yield from _levels(found["levels"])
    yield ""
    if not found["private_notes"]:
        yield "what forced it: unknown here, the private notes do not lie beside the release"
    elif found["reasons"]:
        yield "what forced it"
        yield from (f"  {screen.shown(reason)}" for reason in found["reasons"])
    else:
        yield "what forced it: no sensitive value stands out; trees are as unlike as they are"
