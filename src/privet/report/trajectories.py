"""The sections on paths: what survived, where and when people still are, how the search went, a map.

Everything shown stands in the release: of suppressed points only numbers are known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privet.evidence.paths import Heat, StopNote, TrialNote
from privet.evidence.values import Evidence
from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, percent
from privet.report.plots import above, legend, line, mark, pct, picture, shape, words
from privet.report.sections import Section

ROUTES = 30
DRAWN = 12  # shapes along one line of the loss curve


def kept(evidence: Evidence) -> Safe | None:
    """Visits, points and routes, before and after."""
    before, after = evidence.measures.before, evidence.measures.after
    patterns, thinning = evidence.measures.patterns, evidence.thinning
    if before is None or after is None or patterns is None:
        return None
    rows = [
        (said, count(getattr(before, key)) or "", count(getattr(after, key)) or "")
        for said, key in (
            ("Visits", "visits"),
            ("Points: a place at a time", "points"),
            ("Places", "places"),
            ("Times", "times"),
            ("Records without a visit", "empty"),
        )
    ]
    rows.append(
        (
            f"Routes of at least {count(patterns.support)} records",
            count(patterns.before) or "",
            count(patterns.surviving) or "",
        )
    )
    return join(
        (
            paragraph(
                "A route is a sequence of points that enough records contain and that no longer one of this "
                "kind contains. Where points were removed from every path, the support of a route that "
                "survives is its true one."
            ),
            table(("", "Original data", "Published"), rows, numeric=(1, 2), caption="What was kept"),
            facts(
                (
                    ("Routes lost", percent(patterns.lost)),
                    ("Routes when the release is mined anew", count(patterns.remined)),
                    ("Surviving routes with their true support", count(patterns.true_support)),
                    ("Places published", label_text(None if thinning is None else thinning.place)),
                    ("Times published", label_text(None if thinning is None else thinning.time)),
                )
            ),
            None if thinning is None else trials(thinning.trials),
            sequences(evidence),
        )
    )


def trials(tried: Sequence[TrialNote]) -> Safe | None:
    """What else was tried, where there was a choice."""
    if not tried:
        return None
    rows = [
        (
            label_text(one.place),
            label_text(one.time),
            label_text(one.way),
            count(one.removed) or "",
            percent(one.lost) or "",
            percent(one.lost_visits) or "",
        )
        for one in tried
    ]
    heads = ("Places", "Times", "Removal", "Points removed", "Routes lost", "Visits lost")
    return behind(
        f"{counted(len(rows), 'combination')} tried",
        table(heads, rows, numeric=(3, 4, 5), caption="What was tried"),
    )


def sequences(evidence: Evidence) -> Safe | None:
    """The routes of the release that most records have."""
    if evidence.paths is None:
        return None
    found = evidence.paths.frequent
    rows = [
        (join([label(point) for point in one.sequence], " → "), count(one.support) or "")
        for one in found.listed[:ROUTES]
    ]
    if not rows:
        return None
    of = found.sequences
    return join(
        (
            tag("h3", "Frequent routes in the release"),
            table(("Route", "Records"), rows, numeric=(1,), caption="Frequent routes"),
            paragraph(f"The {len(rows):,} with the most records, of {of:,}.") if of > len(rows) else None,
        )
    )


ROW, TOP = 20, 24  # of a map of places and times: the height of a place, and what is above the first


def squares(found: Heat, what: str = "record") -> list[Safe]:
    """A square for each place and time: the more, the stronger."""
    times = found.times
    highest = max((n for numbers in found.counts for n in numbers), default=0) or 1
    wide = 1 / len(times)
    parts: list[Safe] = []
    for at, (place, numbers) in enumerate(zip(found.places, found.counts, strict=True)):
        y = TOP + ROW * at
        parts.append(words("0", str(y + 14), short(place), "end", dx=-8))
        for slot, number in enumerate(numbers):
            if number:
                square = tag(
                    "rect",
                    x=pct(slot * wide),
                    y=y,
                    width=pct(wide * 0.94),
                    height=ROW - 2,
                    class_="fill",
                    fill_opacity=round(0.12 + 0.88 * (number / highest) ** 0.5, 3),
                )
                tip = f"{label_text(place)} at {label_text(times[slot])}: {counted(number, what)}"
                parts.append(mark(tip, square, first=not at and not slot))
    return parts


def below(times: Sequence[str], bottom: int) -> list[Safe]:
    """The axis of times."""
    every, wide = -(-len(times) // 12), 1 / len(times)
    return [
        *(
            words(pct((slot + 0.47) * wide), str(bottom + 40), short(times[slot]))
            for slot in range(0, len(times), every)
        ),
        words("50%", str(bottom + 58), "time"),
    ]


def as_table(found: Heat, caption: str) -> Safe:
    rows = [
        (label(place), *(f"{n:,}" if n else "" for n in numbers))
        for place, numbers in zip(found.places, found.counts, strict=True)
    ]
    heads = ("Place", *map(label_text, found.times))
    return behind("As a table", table(heads, rows, numeric=range(1, len(heads)), caption=caption))


def heat(evidence: Evidence) -> Safe | None:
    """Places by times: who is still there, and how many points went in each slot."""
    found = None if evidence.paths is None else evidence.paths.heat
    if found is None or not found.places:
        return None
    times, gone = found.times, None if evidence.thinning is None else evidence.thinning.suppressed
    removed = () if gone is None else gone.by_time
    wide, bottom = 1 / len(times), TOP + ROW * len(found.places)
    parts = squares(found)
    if any(removed):
        parts.append(words("0", str(bottom + 18), "removed", "end", dx=-8))
        for slot, number in enumerate(removed):
            if number:
                middle = pct((slot + 0.47) * wide)
                tip = f"at {label_text(times[slot])}: {counted(number, 'point')} removed"
                parts.append(mark(tip, shape("refused", middle, str(bottom + 13)), first=False))
    parts += below(times, bottom)
    said = "How many records were at each of the busiest places at each time, as published"
    return join(
        (
            paragraph(
                "The stronger the colour, the more records. Only what is published is shown; a cross stands "
                "where points were removed, so many in that slot of time. Which ones they were stays with "
                "the steward."
            ),
            None
            if gone is None
            else facts(
                (
                    ("Points removed", count(gone.points)),
                    ("of them from every path", count(gone.everywhere)),
                    ("at times that are not in the release", count(gone.elsewhere)),
                )
            ),
            picture("heat", "Places and times", said, *parts, height=bottom + 66, class_="left names"),
            legend(("refused", "points were removed here")) if any(removed) else None,
            as_table(found, "Places by times"),
        )
    )


def removed(found: Heat) -> Safe | None:
    """Places by times, as they were: how many records lost their visit. For the steward alone."""
    if not found.places:
        return None
    bottom = TOP + ROW * len(found.places)
    parts = [*squares(found, "visit"), *below(found.times, bottom)]
    said = "How many records lost their visit, at the places that lost most, by time"
    return join(
        (
            paragraph(
                "The stronger the colour, the more records lost a visit there and then. These are raw places "
                "and times, which are not in the release: this page stays with you."
            ),
            picture("removed", "Visits removed", said, *parts, height=bottom + 66, class_="left names"),
            as_table(found, "Visits removed, places by times"),
        )
    )


def short(said: Any) -> str:
    text = label_text(said)
    return text if len(text) <= 14 else text[:13] + "…"


def curve(evidence: Evidence) -> Safe | None:
    """How violations and routes went down with every point that was removed."""
    marks = () if evidence.thinning is None else evidence.thinning.curve
    if len(marks) < 2:
        return None
    base = 180
    last = marks[-1][0] or 1
    parts = [
        line("0", "0", "100%", "0", "grid"),
        above("left, of what there was"),
        words("0", "0", "100%", "end", dx=-12, dy=4),
        line("0", str(base), "100%", str(base), "axis"),
        words("0", str(base), "0", "end", dx=-8, dy=4),
        words("0", str(base), "0", dy=18),
        words("100%", str(base), f"{last:,}", dy=18),
        words("50%", str(base), "points removed", dy=38),
    ]
    for column, name, form in ((1, "violating sequences", "before"), (2, "routes", "after")):
        parts += line_of(marks, column, base, last)
        every = -(-len(marks) // DRAWN)  # the others have a number, and no shape: they would hide the line
        parts += [
            mark(
                f"{one[0]:,} points removed: {one[column]:,} {name} left",
                shape(
                    form if at % every == 0 or at == len(marks) - 1 else "unseen",
                    pct(one[0] / last),
                    high(marks, column, at, base),
                ),
                first=not at and column == 1,
            )
            for at, one in enumerate(marks)
        ]
    rows = [(f"{at:,}", f"{bad:,}", f"{good:,}") for at, bad, good in marks]
    return join(
        (
            paragraph(
                "Each removal solves violating sequences and may cost routes. The search ended when no "
                "violating sequence was left."
            ),
            picture(
                "loss-curve",
                "Violating sequences and routes left",
                "Shares of what there was at first, by how many points were removed",
                *parts,
                height=base + 46,
                class_="left tall",
            ),
            legend(("before", "violating sequences left"), ("after", "routes left")),
            behind(
                "As a table",
                table(
                    ("Points removed", "Violating sequences left", "Routes left"),
                    rows,
                    numeric=(0, 1, 2),
                    caption="The loss curve",
                ),
            ),
        )
    )


def high(marks: Sequence[Sequence[int]], column: int, at: int, base: int) -> str:
    return f"{base * (1 - marks[at][column] / (marks[0][column] or 1)):.1f}"


def line_of(marks: Sequence[Sequence[int]], column: int, base: int, last: int) -> list[Safe]:
    return [
        line(
            pct(marks[at][0] / last),
            high(marks, column, at, base),
            pct(marks[at + 1][0] / last),
            high(marks, column, at + 1, base),
            "path" if column == 1 else "stair",
        )
        for at in range(len(marks) - 1)
    ]


def places(evidence: Evidence) -> Safe | None:
    """A map of the places of the release, where a list of stops says where they are."""
    drawn = located(evidence.stops or ())
    said = "Places of the release; the larger the circle, the more visits. North is up."
    return None if drawn is None else join((paragraph(said), drawn))


def located(there: Sequence[StopNote]) -> Safe | None:
    """Places where they are; the more visits, the larger."""
    if not there:
        return None
    south, north = min(stop.lat for stop in there), max(stop.lat for stop in there)
    west, east = min(stop.lon for stop in there), max(stop.lon for stop in there)
    most = max(stop.visits for stop in there) or 1
    tall = 360
    parts = []
    for at, stop in enumerate(there):
        x = 0.04 + 0.92 * ((stop.lon - west) / (east - west) if east > west else 0.5)
        y = 20 + (tall - 40) * (1 - (stop.lat - south) / (north - south) if north > south else 0.5)
        dot = tag("circle", r=round(3 + 9 * (stop.visits / most) ** 0.5, 1), class_="after", fill_opacity=0.7)
        tip = f"{label_text(stop.name)}: {counted(stop.visits, 'visit')}"
        parts.append(mark(tip, tag("svg", dot, x=pct(x), y=f"{y:.1f}", class_="at"), first=at == 0))
    rows = [(label(stop.name), count(stop.visits) or "") for stop in there]
    return join(
        (
            picture(
                "map",
                "Map of places",
                "Where the places are; the larger the circle, the more visits",
                *parts,
                height=tall,
                class_="wide",
            ),
            behind("As a table", table(("Place", "Visits"), rows, numeric=(1,), caption="Places on the map")),
        )
    )


def for_steward(lost: Heat) -> tuple[Section[Evidence], ...]:
    """A page of its own beside the private notes; `lost`: visits by raw places and times."""
    return (
        Section("removed", "Which points were removed", lambda _: removed(lost)),
        Section("loss-curve", "What each removal solved and cost", curve),
    )
