"""The page of `privet risk`: how exposed the people in a table are, as it stands.

It is made of figures about raw data, so it stays with the steward, and says so first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.evidence.measures import ClassSizes, Width
from privet.report import findings
from privet.report.html import page
from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, switch, table, tag
from privet.report.numerals import count, counted, decimal, part, percent, risk, share, tables, whole
from privet.report.plots import Bar, bars
from privet.report.sections import Section

STAYS = "These figures are about the raw data: this page stays with you and is not a part of a release."
COLUMNS = (
    ("distinctness", "Distinctness", "different values for each record"),
    ("separation", "Separation", "pairs of records that differ"),
    ("unique_share", "Alone", "records that no other agrees with"),
)
LINKAGE = (
    ("identity", "Right record", "the right record is picked among those that match"),
    ("pinned", "Only one matches", "only one record matches"),
    (
        "attribute",
        "Right sensitive value",
        "the most frequent sensitive value among those that match is right",
    ),
)
ESTIMATORS = {
    "zayatz": "Zayatz: the population's classes lie as the sample's",
    "pitman": "Pitman: a model of how classes grow",
    "snb": "SNB: one person and more in a class, negative binomial",
}


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what `privet.risk` returns of a table."""
    parts = (
        Section("attackers", "What three attackers find", attackers),
        Section("at-risk", "Records at risk", at_risk),
        Section("classes", "Class sizes", sizes),
        Section("population", "Unique in the population", population),
        Section("columns", "Columns that tell people apart", columns),
        Section("promises", "What limited knowledge finds", promises),
        Section("linkage", "Attacks tried", linkage),
        Section("dimensions", "How many columns identify", widths),
    )
    told = [(one, body) for one in parts if (body := one.body(found)) is not None]
    quasi = found["quasi_identifiers"]
    headline = tag(
        "header",
        paragraph("Risk report", class_="over"),
        tag("h1", "How exposed the people in a table are"),
        paragraph(
            tag("strong", f"{counted(found['unique_records'], 'record')} of {found['records']:,} stand alone")
        ),
        paragraph(STAYS, class_="warn"),
        facts((("Records", count(found["records"])), ("Known by", ", ".join(map(label_text, quasi))))),
    )
    return page("Risk report: a table as it stands", headline, told)


def sizes(found: Mapping[str, Any]) -> Safe:
    """How large the classes of the table are."""
    return findings.class_sizes(ClassSizes.read(found["classes"]))


def widths(found: Mapping[str, Any]) -> Safe | None:
    """How wide values must become, by the number of identifying columns."""
    told = found.get("dimensionality")
    return None if told is None else findings.widths(Width.read(told), told.get("by_columns", ()))


def columns_page(found: Mapping[str, Any]) -> str:
    """The whole file where there is no policy yet: only what the columns tell."""
    title = "Columns that tell people apart"
    body = columns({"columns": found})
    headline = tag(
        "header",
        paragraph("Risk report", class_="over"),
        tag("h1", "How well columns tell people apart"),
        paragraph(STAYS, class_="warn"),
        facts((("Records", count(found["records"])),)),
    )
    return page(
        "Risk report: columns", headline, [] if body is None else [(Section("columns", title, columns), body)]
    )


def chances(rows: Sequence[tuple[str, Any, str]], name: str) -> Safe | None:
    """A bar for each chance: what it is of, how high, what it means."""
    made = [
        Bar(said, height, percent(chance) or "", f"{said}: {meaning}: {risk(chance)}")
        for said, chance, meaning in rows
        if (height := share(chance)) is not None
    ]
    return bars(made, name=name) if made else None


def attackers(found: Mapping[str, Any]) -> Safe | None:
    """Prosecutor, journalist, marketer."""
    prosecutor, journalist = part(found, "prosecutor"), part(found, "journalist")
    rows = [
        ("Prosecutor, at worst", prosecutor.get("highest"), "finds the person who is easiest to find"),
        ("Prosecutor, on average", prosecutor.get("average"), "finds a person known to be in the data"),
        ("Journalist, at most", journalist.get("at_most"), "finds anybody of the population"),
        ("Journalist, on average", journalist.get("average"), "finds a published person of the population"),
        ("Marketer", part(found, "marketer").get("average"), "share of all people that is found"),
    ]
    above = whole(prosecutor.get("records_above"))
    return join(
        (
            paragraph(
                "A prosecutor looks for one person known to be in the data, a journalist for anybody, a "
                "marketer for as many as possible. Each knows every identifying value."
            ),
            chances(rows, "Chances of three attackers"),
            paragraph(
                f"{counted(above, 'record')} ({percent(prosecutor.get('share_above'))}) can be found with a "
                f"higher chance than {prosecutor.get('threshold')}, which is what the policy allows.",
                class_="warn" if above else None,
            )
            if above is not None
            else None,
        )
    )


def at_risk(found: Mapping[str, Any]) -> Safe | None:
    """How many records can be found with more than some usual chances."""
    rows = [
        Bar(
            f"above {one.get('above')}",
            height,
            percent(one.get("share")) or "",
            f"{counted(whole(one.get('records')) or 0, 'record')} with a chance above {one.get('above')}",
        )
        for one in tables(found.get("records_at_risk"))
        if (height := share(one.get("share"))) is not None
    ]
    return bars(rows, name="Records that can be found with more than a chance") if rows else None


def population(found: Mapping[str, Any]) -> Safe | None:
    """Estimates of how many people are unique in the population."""
    told = part(found, "population")
    estimates = part(told, "estimates")
    if not estimates:
        return None
    chosen = str(told.get("chosen"))
    rows, missing = [], []
    for name in estimates:
        one, said = part(estimates, name), ESTIMATORS.get(name, name)
        height = share(one.get("share"))
        if height is None:
            missing.append(name)
            continue
        shown = f"{percent(height)}{' ✓' if name == chosen else ''}"
        rows.append(
            Bar(name, height, shown, f"{said}: {decimal(one.get('uniques'))} people, {percent(height)}")
        )
    return join(
        (
            paragraph(
                f"If the table is a random sample of {count(told.get('people'))} people (a fraction of "
                f"{told.get('fraction')}), so many of them are unique, by three estimators. For this "
                f"fraction {chosen} (✓) is to be believed."
            ),
            bars(rows, name="Unique people by estimator") if rows else None,
            paragraph(f"No parameters fit: {', '.join(missing)}.") if missing else None,
        )
    )


def columns(found: Mapping[str, Any]) -> Safe | None:
    """Columns and small combinations, ranked."""
    told = part(found, "columns")
    single, together = tables(told.get("single")), tables(told.get("together"))
    if not single:
        return None
    views = [
        (
            name,
            bars(
                [
                    Bar(
                        named(one),
                        height,
                        percent(height) or "",
                        f"{named(one)}: {meaning} {percent(height)}",
                    )
                    for one in [*single, *together]
                    if (height := share(one.get(key))) is not None
                ],
                name=f"{name} of columns and combinations",
            ),
        )
        for key, name, meaning in COLUMNS
    ]
    return join(
        (
            paragraph(
                "Distinctness is different values for each record, separation the share of pairs of records "
                "that differ. A column or combination near 100% identifies people, whatever its role."
            ),
            switch("columns", *views),
            behind(
                "As a table",
                table(
                    ("Columns", "Role", "Values", "Distinct", "Pairs told apart", "Records alone"),
                    [
                        (
                            join([label(name) for name in one.get("columns") or ()], " + "),
                            str(one.get("role") or ""),
                            count(one.get("values")),
                            *(percent(one.get(key)) for key, _, _ in COLUMNS),
                        )
                        for one in [*single, *together]
                    ],
                    numeric=(2, 3, 4, 5),
                    caption="Columns that tell people apart",
                ),
            ),
        )
    )


def named(one: Mapping[str, Any]) -> str:
    return " + ".join(label_text(name) for name in one.get("columns") or ())


def promises(found: Mapping[str, Any]) -> Safe | None:
    """For each promise and number of known values: how many groups break it, and who is in them."""
    made = []
    for promise in tables(found.get("promises")):
        levels = tables(promise.get("levels"))
        rows = [
            Bar(
                f"{counted(whole(level.get('known')) or 0, 'value')} known",
                height,
                percent(height) or "",
                f"{counted(whole(level.get('at_risk')) or 0, 'record')} in {level.get('violating'):,} groups "
                f"that break it, the smallest of {level.get('smallest'):,}",
            )
            for level in levels
            if (height := share(level.get("share"))) is not None
        ]
        if rows:
            made += [
                tag("h3", str(promise.get("model"))),
                bars(rows, name=f"{promise.get('model')}: records at risk by known values"),
            ]
    if not made:
        return None
    said = "Records that stand in a group which breaks the promise, by how many values somebody knows."
    return join((paragraph(said), *made))


def linkage(found: Mapping[str, Any]) -> Safe | None:
    """Attacks on random people, by how many of their values are known."""
    tried = tables(found.get("linkage"))
    if not tried:
        return None
    views = [
        (
            name,
            chances(
                [(f"{counted(one['known'], 'value')} known", one.get(key), meaning) for one in tried],
                f"{name} by known values",
            ),
        )
        for key, name, meaning in LINKAGE
    ]
    return join(
        (
            paragraph(
                f"Attacks on {count(tried[0].get('trials'))} random people of whom so many values were "
                "known. Who knows nothing names the right sensitive value with a chance of "
                f"{percent(tried[0].get('guess'))}."
            ),
            switch("linkage", *views),
        )
    )
