"""The report of `privet explore`: every run as a point between risk and loss, and the frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from privet.report.html import page
from privet.report.markup import Safe, facts, join, paragraph, table, tag
from privet.report.numerals import amount, count, counted, percent, risk, share, tables
from privet.report.plots import Axis, Bar, above, bars, legend, line, mark, pct, picture, shape, words
from privet.report.sections import Section

RISKS = {"highest": "highest risk", "average": "average risk", "unique": "records that are alone"}
LOSSES = {"lm": "LM", "ncp": "NCP", "discernibility": "discernibility, of the worst possible"}

NUMBERS = (
    "Risk is the chance of picking the right record of a person whose identifying values are all known: for "
    "the person most exposed, and on average. Alone are records that nobody else's record resembles. LM and "
    "NCP say how much detail was given up, from 0% to 100%; discernibility is the sum of the squares of the "
    "class sizes, less is better. Suppressed are records that were left out."
)


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what `privet.explore` returns."""
    parts = (
        Section("frontier", "Risk against loss", frontier),
        Section("felt", "What recipients feel", felt),
        Section("runs", "Every run", runs),
        Section("refused", "What could not be done", refused),
    )
    told = [(part, body) for part in parts if (body := part.body(found)) is not None]
    best = [str(name) for name in found["frontier"]]
    made = [run for run in tables(found["runs"]) if "refused" not in run]
    headline = tag(
        "header",
        paragraph("Privacy report", class_="over"),
        tag("h1", "Several ways to publish one table"),
        paragraph(tag("strong", f"{len(best)} of {counted(len(made), 'run')} lie on the frontier")),
        facts((("Records", count(found["records"])), ("Judged by", _judged_by(found)))),
    )
    return page("Privacy report: several ways to publish", headline, told)


def _judged_by(found: Mapping[str, Any]) -> str:
    return f"{RISKS[found['risk']]} and {LOSSES[found['loss']]}"


def lost(found: Mapping[str, Any], run: Mapping[str, Any]) -> float | None:
    """The loss that runs are judged by, as a share."""
    name = "discernibility_ratio" if found["loss"] == "discernibility" else found["loss"]
    return share(run["loss"].get(name))


def frontier(found: Mapping[str, Any]) -> Safe | None:
    """The plot, and what it says in words."""
    placed = [run for run in tables(found["runs"]) if "frontier" in run and lost(found, run) is not None]
    if not placed:
        return None
    number = {name: at + 1 for at, name in enumerate(found["frontier"])}
    return join(
        (
            paragraph(
                "To the left less is lost, further down less is risked. A run on the frontier is beaten in "
                "one of the two only by giving up some of the other; every other run is dominated: one on "
                "the frontier risks no more and loses no more."
            ),
            legend(("after", "on the frontier"), ("before", "dominated")),
            plot(found, placed, number),
            table(
                ("", "Run", RISKS[found["risk"]].capitalize(), LOSSES[found["loss"]]),
                [
                    (
                        str(number[run["name"]]),
                        run["name"],
                        risk(run["risk"][found["risk"]]),
                        _shown(lost(found, run)),
                    )
                    for run in sorted(placed, key=lambda run: number.get(run["name"], 0))
                    if run["name"] in number
                ],
                numeric=(2, 3),
                caption="The frontier, the least risk first",
            ),
        )
    )


def plot(found: Mapping[str, Any], placed: Sequence[Mapping[str, Any]], number: Mapping[str, int]) -> Safe:
    """Risk upwards, loss to the right; the frontier as a staircase, its runs by number."""
    risks = {run["name"]: amount(run["risk"][found["risk"]]) or 0.0 for run in placed}
    axis, base = Axis.over(risks.values()), 300
    parts = [above(RISKS[found["risk"]], 30)]
    for tick, name in axis.ticks():
        y = f"{base * (1 - tick):.1f}"
        parts += [line("0", y, "100%", y, "grid"), words("0", y, name, "end", dx=-8, dy=4)]
    parts += [words(f"{25 * step}%", str(base), f"{25 * step}%", dy=20) for step in range(5)]
    parts.append(words("50%", str(base), f"lost ({LOSSES[found['loss']]})", dy=40))

    def where(run: Mapping[str, Any]) -> tuple[str, str]:
        return pct(lost(found, run) or 0.0), f"{base * (1 - axis.at(risks[run['name']])):.1f}"

    best = sorted((run for run in placed if run["frontier"]), key=lambda run: number[run["name"]])
    named: dict[tuple[str, str], list[str]] = {}  # runs that come to the same share a place and its name
    for one, other in pairwise(map(where, best)):
        parts += [line(*one, other[0], one[1], "path dashed"), line(other[0], one[1], *other, "path dashed")]
    for at, run in enumerate([*(run for run in placed if not run["frontier"]), *best]):
        x, y = where(run)
        risked, missing = risk(risks[run["name"]]), _shown(lost(found, run))
        tip = f"{run['name']}: {RISKS[found['risk']]} {risked}, lost {missing}"
        if run["dominated_by"]:
            tip += f"; dominated by {run['dominated_by'][0]}"
        parts.append(mark(tip, shape("after" if run["frontier"] else "before", x, y), first=at == 0))
        if run["frontier"]:
            named.setdefault((x, y), []).append(str(number[run["name"]]))
    parts += [words(x, y, ", ".join(names), "start", dx=10, dy=-8) for (x, y), names in named.items()]
    return picture(
        "frontier-plot",
        "Risk against loss",
        f"{len(placed)} runs, {len(best)} of them on the frontier; the tables below have the numbers.",
        *parts,
        height=base + 48,
        class_="left taller",
    )


FELT = (  # a name of `utility`, what its bars say, whether it is a share that is kept
    ("query_error", "Counts over random ranges are off by, in the median", False),
    ("prediction_error", "Predictions of the target that are wrong", False),
    ("marginals", "How columns lie by themselves: kept", True),
    ("pairs", "How columns lie by two: kept", True),
    ("correlations", "How columns hang together: kept", True),
)


def felt(found: Mapping[str, Any]) -> Safe | None:
    """The runs that lose least, beside each other by everything that a recipient feels."""
    by = {str(run["name"]): run for run in tables(found["runs"])}
    best = [by[name] for name in found["best"] if by[name].get("utility")]
    if not best:
        return None
    parts = [
        paragraph(
            "The runs that lose least under the policy's own promise, by what somebody feels who works with "
            "the release. Counts and predictions are made from the release as a reader would make them, with "
            "records spread evenly over what is published of them."
        )
    ]
    for name, title, good in FELT:
        rows = [
            Bar(str(run["name"]), min(1.0, value), percent(value) or "-", f"{run['name']}: {percent(value)}")
            for run in best
            if (value := amount(run["utility"].get(name))) is not None
        ]
        if rows:
            parts += [tag("h3", title), bars(rows, name=title, tone="count" if good else "loss")]
    return join(parts)


def runs(found: Mapping[str, Any]) -> Safe | None:
    """All numbers of every run."""
    made = [run for run in tables(found["runs"]) if "refused" not in run]
    if not made:
        return None
    number = {name: at + 1 for at, name in enumerate(found["frontier"])}
    told = table(
        (
            "Run",
            "Highest risk",
            "Average risk",
            "Alone",
            "LM",
            "NCP",
            "Discernibility",
            "Classes",
            "Suppressed",
            "Seconds",
            "Dominated by number",
        ),
        [
            (
                run["name"],
                percent(run["risk"]["highest"]),
                percent(run["risk"]["average"]),
                count(run["risk"]["unique_records"]),
                _shown(run["loss"]["lm"]),
                _shown(run["loss"]["ncp"]),
                count(run["loss"]["discernibility"]),
                count(run["classes"]),
                count(run["suppressed_records"]),
                f"{run['seconds']:.2f}",
                "; ".join([*_numbered(run.get("dominated_by") or (), number), *run["notes"]]),
            )
            for run in made
        ],
        numeric=range(1, 10),
        caption="Every run",
    )
    return join((paragraph(NUMBERS), tag("div", told, class_="runs")))


def refused(found: Mapping[str, Any]) -> Safe | None:
    """What was asked for and cannot be done, with the reason."""
    by: dict[str, list[str]] = {}  # runs with one reason stand together
    for run in tables(found["runs"]):
        if "refused" in run:
            by.setdefault(str(run["refused"]), []).append(str(run["name"]))
    rows = [(join(names, "; "), reason) for reason, names in by.items()]
    return table(("Run", "Why not"), rows, caption="What could not be done") if rows else None


def _numbered(names: Sequence[str], number: Mapping[str, int]) -> list[str]:
    """Runs by their number on the frontier, where names would take the room of a table."""
    return [", ".join(str(number.get(name, name)) for name in names)] if names else []


def _shown(value: Any) -> str:
    return percent(value) or "-"
