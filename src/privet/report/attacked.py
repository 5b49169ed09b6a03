"""The page of `privet attack`: what every attacker got, against guessing and against what is promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from privet.report.html import page
from privet.report.markup import Safe, facts, join, paragraph, table, tag
from privet.report.numerals import counted, percent, tables
from privet.report.plots import Bar, bars
from privet.report.sections import Section

STAYS = "These figures compare with the raw data: this page stays with you and is not a part of a release."
SAID = {
    "beyond": "More than the promise allows",
    "within": "No more than the promise allows",
    "not covered": "The promise says nothing about it",
}
MEANING = (
    "Each attack is tried by itself. Success is the share of tries that were right, with the interval that "
    "holds the true rate in 95 of 100 cases; guessing is what succeeds without the release; at worst is the "
    "chance for the person to whom it does most, counted and not tried. What is allowed bounds that worst "
    "case, of the values that the promise protects; where nothing was counted, it bounds the success. A "
    "promise that says nothing about an attack does not become false by it, and does not protect from it."
)


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what `privet.attack` returns as a table."""
    parts = tuple(
        Section(verdict.replace(" ", "-"), title, partial(outcomes, verdict=verdict))
        for verdict, title in SAID.items()
    )
    last = Section("not-tried", "What was not tried", not_tried)
    told = [(one, body) for one in (*parts, last) if (body := one.body(found)) is not None]
    beyond = sum(one["verdict"] == "beyond" for one in tables(found["outcomes"]))
    said = "No attack got more than the promise allows"
    if beyond:
        said = f"{counted(beyond, 'attack')} got more than the promise allows"
    headline = tag(
        "header",
        paragraph("Attack report", class_="over"),
        tag("h1", "What attackers got"),
        paragraph(tag("strong", said)),
        paragraph(STAYS, class_="warn") if found["with_raw"] else None,
        paragraph(MEANING),
        facts((("Releases", ", ".join(found["releases"])), ("Kind", str(found["kind"])))),
    )
    return page("Attack report", headline, told)


def outcomes(found: Mapping[str, Any], verdict: str) -> Safe | None:
    """Every attack with this verdict: a bar for its success, and a table of its numbers."""
    ones = [one for one in tables(found["outcomes"]) if one["verdict"] == verdict]
    if not ones:
        return None
    assumptions = {one["attack"]: found["assumptions"].get(one["attack"], "") for one in ones}
    return join(
        (
            bars(
                [
                    Bar(
                        f"{one['attack']}: {one['goal']}",
                        one["rate"],
                        percent(one["rate"]) or "",
                        f"{one['succeeded']:,} of {one['tried']:,}; guessing {percent(one['baseline'])}"
                        + (f"; {one['note']}" if one["note"] else ""),
                    )
                    for one in ones
                ],
                name=SAID[verdict],
            ),
            table(
                ("Attack", "Goal", "Success", "Between", "Guessing", "At worst", "Allowed", "By"),
                [_row(one) for one in ones],
                numeric=(2, 3, 4, 5, 6),
                caption=SAID[verdict],
            ),
            *(
                paragraph(tag("strong", name), f": the attacker {said}.")
                for name, said in assumptions.items()
            ),
            *_notes(ones),
        )
    )


def _row(one: Mapping[str, Any]) -> Sequence[str | None]:
    return (
        str(one["attack"]),
        str(one["goal"]),
        percent(one["rate"]),
        f"{percent(one['low'])} to {percent(one['high'])}",
        percent(one["baseline"]),
        "" if one["worst"] is None else percent(one["worst"]),
        "" if one["allowed"] is None else percent(one["allowed"]),
        str(one["promise"] or ""),
    )


def _notes(ones: Sequence[Mapping[str, Any]]) -> list[Safe]:
    return [paragraph(f"{one['attack']}: {one['note']}.") for one in ones if one["note"]]


def not_tried(found: Mapping[str, Any]) -> Safe | None:
    """Which attacks were not tried, and why."""
    rows = [(str(one["attack"]), str(one["why"])) for one in tables(found["not_tried"])]
    return table(("Attack", "Why not"), rows, caption="What was not tried") if rows else None
