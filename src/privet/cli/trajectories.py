"""How findings about paths are told on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from privet.cli import screen
from privet.cli.screen import share

if TYPE_CHECKING:
    from privet.evidence.values import Evidence

KNOWLEDGE = {"points": "places and times", "places": "places only", "times": "times only"}


def published(evidence: Evidence) -> Iterator[str]:
    """What a release of paths kept, in a few lines."""
    before, after = evidence.measures.before, evidence.measures.after
    patterns, thinning = evidence.measures.patterns, evidence.thinning
    if before is not None and after is not None and patterns is not None:
        yield from screen.table(
            [
                ("visits", f"{before.visits:,}", f"{after.visits:,}"),
                ("points (place and time)", f"{before.points:,}", f"{after.points:,}"),
                ("records without a visit", f"{before.empty:,}", f"{after.empty:,}"),
                (
                    f"routes of at least {patterns.support:,} records",
                    f"{patterns.before:,}",
                    f"{patterns.surviving:,}",
                ),
            ],
            head=("", "raw", "published"),
        )
    if thinning is not None and thinning.trials:
        yield f"  lightest: places {thinning.place}, times {thinning.time}"
    if evidence.mixed is not None:
        yield f"  note: {screen.shown(evidence.mixed.warning)}"


def risk(found: Mapping[str, Any]) -> Iterator[str]:
    """What somebody finds who knows a few visits."""
    yield f"{found['records']:,} records with {found['visits']:,} visits to {found['points']:,} points"
    yield f"  {found['unique_paths']:,} have a path that nobody else has"
    for promise in found["promises"]:
        for knowledge, levels in promise["knowledge"].items():
            yield ""
            known = KNOWLEDGE[knowledge]
            yield f"{screen.shown(promise['model'])}: what an adversary finds who knows {known}"
            if "skipped" in levels:
                yield f"  not looked at: {levels['skipped']}"
                continue
            yield from screen.table(
                [
                    (
                        str(one["known"]),
                        f"{one['sequences']:,}",
                        f"{one['violating']:,}",
                        f"{one['smallest']:,}",
                        share(one["share"]),
                    )
                    for one in levels["levels"]
                ],
                head=("known", "sequences", "breaking it", "smallest", "largest share"),
            )
            for one in levels.get("listed", ()):
                yield f"    {screen.shown(' → '.join(one['known']))}: {one['records']:,} records"
    if "mixed" in found:
        yield ""
        yield f"note: {screen.shown(found['mixed']['warning'])}"
    yield ""
    yield from attacks(found["linkage"], ("before",))


def attacks(tried: list[Mapping[str, Any]], sides: tuple[str, ...]) -> Iterator[str]:
    """Simulated linkage: how often the right record was found."""
    if not tried:
        return
    yield f"attacks on {tried[0]['trials']:,} random people of whom so many things were known"
    names = {"before": "raw", "after": "published"}
    sensitive = list(tried[0]["before"]["attribute"])
    head = ["known", "of"]
    for side in sides:
        of = f", {names[side]}" if len(sides) > 1 else ""
        head += [f"right record{of}", f"only one matches{of}", *(f"right {name}{of}" for name in sensitive)]
    rows = []
    for one in tried:
        row = [str(one["known"]), KNOWLEDGE[one["knowledge"]]]
        for side in sides:
            row += [share(one[side]["identity"]), f"{one[side]['alone']:,}"]
            row += [share(one[side]["attribute"][name]) for name in sensitive]
        rows.append(row)
    yield from screen.table(rows, head=head)


def compare(found: Mapping[str, Any]) -> Iterator[str]:
    """What a release of paths lost."""
    before, after, patterns = found["before"], found["after"], found["patterns"]
    rows = [
        (name, f"{before[key]:,}", f"{after[key]:,}")
        for name, key in (
            ("records", "records"),
            ("visits", "visits"),
            ("points (place and time)", "points"),
            ("places", "places"),
            ("times", "times"),
            ("longest path", "longest"),
            ("records without a visit", "empty"),
        )
    ]
    rows.append(
        (
            "paths that nobody else has",
            f"{found['unique_paths']['before']:,}",
            f"{found['unique_paths']['after']:,}",
        )
    )
    yield from screen.table(rows, head=("", "raw", "published"))
    yield ""
    yield from routes(patterns)
    yield ""
    yield from curve(found["curve"])
    if found["trials"]:
        yield ""
        yield from trials(found["trials"])
    if "linkage" in found:
        yield ""
        yield from attacks(found["linkage"], ("before", "after"))


def routes(patterns: Mapping[str, Any]) -> Iterator[str]:
    """What became of the routes of the raw data."""
    of = f"of {patterns['before']:,} routes of at least {patterns['support']:,} records"
    if "surviving" not in patterns:
        yield f"{of} nobody can say which survive: places or times are coarser, and the"
        yield "private notes that say what stands for what do not lie beside the release"
        return
    yield f"{of} {patterns['surviving']:,} survive: {share(patterns['lost'])} lost"
    if "true_support" in patterns:
        yield f"  {patterns['true_support']:,} of them with their true support"
    if "lost_visits" in patterns:
        yield f"  of what the visits said {share(patterns['lost_visits'])} is lost"
    yield f"  mined anew, the release has {patterns['remined']:,} such routes"
    yield from screen.table(
        [(length, f"{was:,}", f"{left:,}") for length, (was, left) in patterns["by_length"].items()],
        head=("points of a route", "raw", "published"),
    )


def curve(marks: list[list[int]]) -> Iterator[str]:
    """The loss curve in about ten lines."""
    step = max(1, -(-len(marks) // 10))
    some = [*marks[:-1:step], marks[-1]]
    yield "how the search went"
    yield from screen.table(
        [(f"{at:,}", f"{bad:,}", f"{good:,}") for at, bad, good in some],
        head=("points removed", "violating sequences left", "routes left"),
    )


def trials(tried: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "what was tried"
    yield from screen.table(
        [
            (
                one["place"],
                one["time"],
                one["way"],
                f"{one['removed']:,}",
                share(one["lost"]),
                share(one["lost_visits"]),
            )
            for one in tried
        ],
        head=("places", "times", "removal", "points removed", "routes lost", "visits lost"),
    )


def explain(found: Mapping[str, Any]) -> Iterator[str]:
    """Why points had to go."""
    patterns, gone = found["patterns"], found["suppressed"]
    yield (
        f"{gone['points']:,} points were removed, {gone['everywhere']:,} of them everywhere; "
        f"{patterns['surviving']:,} of {patterns['before']:,} routes survive"
    )
    yield ""
    yield from curve(found["curve"])
    if not found["private_notes"]:
        yield ""
        yield "what forced it: unknown here, the private notes do not lie beside the release"
        return
    yield ""
    yield "what forced it: minimal violating sequences of the raw data"
    yield from screen.table(
        [(length, f"{one['too_few']:,}", f"{one['too_alike']:,}") for length, one in found["causes"].items()],
        head=("points", "too few records", "too much alike"),
    )
    if found["relaxations"]:
        yield ""
        yield "what a smaller l would cost"
        yield from screen.table(
            [(str(one["l"]), f"{one['removed']:,}", f"{one['surviving']:,}") for one in found["relaxations"]],
            head=("l", "points removed", "routes left"),
        )
    for one in found["rounds"]:
        yield ""
        yield from told_round(one)
    if found["trials"]:
        yield ""
        yield from trials(found["trials"])


def told_round(one: Mapping[str, Any]) -> Iterator[str]:
    """The table that the search had before it."""
    yield f"round {one['round']}: {one['violations']:,} violating sequences, {one['points']:,} points in them"
    yield from screen.table(
        [
            (
                c["point"],
                f"{c['gain']:,}",
                f"{c['loss']:,}",
                c["score"],
                "removed" if c["point"] == one["removed"] else "",
            )
            for c in one["candidates"]
        ],
        head=("point", "solves", "costs routes", "score", ""),
    )
