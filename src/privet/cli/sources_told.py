"""What `privet sources` found, in words and as a document: counts and chances, no person, no value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli import screen

if TYPE_CHECKING:
    from privet.disclose.sources.gamma import Assessment
    from privet.roads.sources.description import Sources


def document(given: Sources, found: Assessment) -> dict[str, Any]:
    """Counts and chances; no person, no value."""
    worst = found.worst
    return {
        "decision": found.decision.value,
        "gamma": found.gamma,
        "people": found.people,
        "register": len(given.register.keys),
        "views": sum(len(part.part.views) for part in found.parts),
        "releases": len(given.releases),
        "recognised": given.recognised,
        "by_order": given.by_order,
        "instances": found.instances,
        "log10_instances": None
        if found.log_instances is None
        else round(found.log_instances / 2.302585093, 3),
        "worst": worst.worst,
        "exposed": len(found.exposed),
        "tolerated": sum(part.tolerated for part in found.parts),
        "components": [
            {
                "people": part.part.people,
                "views": len(part.part.views),
                "decision": part.decision.value,
                "method": part.method,
                "instances": part.instances,
                "worst": part.worst,
                "half_width": part.half,
                "exposed": len(part.exposed),
                "draws": part.draws,
                "effective_draws": round(part.effective, 1),
            }
            for part in found.parts
        ],
    }


def told(given: Sources, found: Assessment) -> Iterator[str]:
    counts = document(given, found)
    views, people = counts["views"], counts["people"]
    yield f"{views:,} views of {people:,} people, {len(given.register.keys) - people:,} more in no view"
    if given.releases:
        how = (
            "made from the same source, by their private notes"
            if given.recognised
            else ("not known to be of the same source: private notes are missing")
        )
        yield f"{len(given.releases):,} releases, {how}"
    if given.by_order:
        yield (
            f"of {given.by_order:,} of them the classes overlap, and it is taken to be known who is in which "
            "(by the order of the records)"
        )
    yield f"possible tables: {_many(counts)}"
    worst = found.worst
    around = f" give or take {worst.half:.3f}" if worst.method == "sampled" else ""
    yield f"the surest guess is right with chance {_chance(worst.worst)}{around}; allowed is {found.gamma}"
    sampled = [part for part in found.parts if part.method == "sampled"]
    if sampled:
        draws = sum(part.draws for part in sampled)
        worth = sum(part.effective for part in sampled)
        which = f"{len(sampled):,} of {len(found.parts):,} parts"
        yield f"{which} sampled: {draws:,} draws, worth {worth:,.0f} even ones"
    mark = {"private": "good", "not private": "bad", "undecided": "warn"}[found.decision.value]
    said = {
        "private": "holds: nobody's chance of any value is above gamma",
        "not private": f"BROKEN: {_persons(len(found.exposed))} a chance above gamma",
        "undecided": "UNDECIDED: too many tables to count, and too uneven to sample",
    }[found.decision.value]
    near = counts["tolerated"]
    more = (
        f" by more than epsilon ({near:,} people within it)"
        if near and found.decision.value == "private"
        else ""
    )
    yield screen.paint(said + more, mark)


def _persons(many: int) -> str:
    return "1 person has" if many == 1 else f"{many:,} people have"


def _chance(worst: Fraction | float) -> str:
    return f"{worst} ({screen.share(worst)})" if isinstance(worst, Fraction) else f"{worst:.3f}"


def _many(counts: Mapping[str, Any]) -> str:
    exact, size = counts["instances"], counts["log10_instances"]
    if exact is not None and exact < 10**12:
        return f"{exact:,}"
    return "not known" if size is None else f"about 10^{size:.1f}"


def named(given: Sources, found: Assessment) -> Iterator[str]:
    for part in found.parts:
        if not part.exposed:  # or undecided, and then nothing is known of anybody
            continue
        for members, shares in zip(part.part.classes, part.shares, strict=True):
            for person in sorted(set(members) & part.exposed):
                at = max(range(len(shares)), key=lambda i: shares[i])
                value = part.part.values[at]
                yield screen.shown(f"  {given.register.keys[person]}: {value}, chance {_chance(shares[at])}")


def columns_of(view: Any) -> list[str]:
    return sorted({one.attribute for one in view.where or ()})


def restored(
    given: Sources, found: Any, output: Path | None, *, most: int, show_values: bool
) -> Iterator[str]:
    before, after = document(given, found.before), found.after and document(given, found.after)
    if found.before.decision.value == "private":
        yield "the views are private as they are; nothing is needed"
        return
    if found.certain:
        yield f"not possible: {_persons(found.certain)} a value that is certain, and no view takes that back"
        return
    if after is None and found.parts > most:
        yield (
            f"not found: {found.parts:,} parts that share nobody are above gamma, and each needs a view of "
            f"its own; --most {found.parts} allows that"
        )
        return
    if after is None:
        searched = "" if found.complete else "; the search was stopped, there may be some"
        yield (
            f"not found: no {most} or fewer of {found.candidates:,} candidate views bring every chance "
            f"back under gamma{searched}"
        )
        yield f"sets of views tried: {found.tried:,}"
        return
    yield f"found: {len(found.views):,} more views"
    for view in found.views:
        which = f" ({', '.join(columns_of(view))})" if columns_of(view) else ""
        shown = (
            f": {view.name}: {', '.join(f'{value} x {n}' for value, n in view.counts)}" if show_values else ""
        )
        yield screen.shown(f"  a view of {len(view.people):,} people{which}{shown}")
    yield f"possible tables: {_many(before)} before, {_many(after)} after: less is left to doubt in total"
    worst = (found.before.worst.worst, found.after.worst.worst)
    yield f"the surest guess: {_chance(worst[0])} before, {_chance(worst[1])} after"
    yield f"written to {screen.shown(str(output))}" if output else "-o FILE writes them"
