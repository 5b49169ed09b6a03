"""The section on columns: what each became, value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.report.claims import shown
from privet.report.markup import Content, Safe, behind, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, listing, part, percent, share, tables, whole
from privet.report.plots import Bar, bars
from privet.report.sections import Evidence
from privet.report.words import PUBLISHED, ROLE_NAMES, ROLES

BARS = 12  # values drawn for one column; the table behind has more
ROOM = 40  # characters beside a bar
REST = "…"  # how measures name the values they do not list
LINES = 1500  # values in all the tables together: the report stays one small file


def columns(evidence: Evidence) -> Safe | None:
    """A card for each column that the policy names."""
    notes = part(evidence, "attributes")
    if not notes:
        return None
    measured = part(evidence, "measures", "attributes")
    records = whole(evidence.get("records"))
    lines = min(200, max(BARS, LINES // len(notes)))
    left_out = bool(whole(evidence.get("suppressed_records")))
    cards = [
        card(name, part(notes, name), part(measured, name), records, lines, left_out=left_out)
        for name in notes
    ]
    dropped = sum(part(notes, name).get("published") == "dropped" for name in notes)
    return join(
        (
            paragraph(
                f"The policy names {counted(len(notes), 'column')}",
                f", of which {dropped:,} {'was' if dropped == 1 else 'were'} left out" if dropped else "",
                ". A column that it does not name is never published.",
            ),
            tag("div", join(cards), class_="grid"),
        )
    )


def card(
    name: str,
    note: Mapping[str, Any],
    measured: Mapping[str, Any],
    records: int | None,
    lines: int,
    *,
    left_out: bool,
) -> Safe:
    role = note.get("role")
    known = ROLES.get(str(role))
    return tag(
        "article",
        tag("h3", label(name)),
        None
        if role is None
        else paragraph(
            tag("span", ROLE_NAMES.get(str(role), shown(role)), class_="chip"), " ", known, class_="role"
        ),
        paragraph(became(note, measured, left_out=left_out)),
        loss_bar(measured),
        values(name, note, measured, records, lines),
        class_="card",
    )


def became(note: Mapping[str, Any], measured: Mapping[str, Any], *, left_out: bool) -> str:
    """One sentence on how a column is published."""
    how = str(note.get("published"))
    said = PUBLISHED.get(how, f"published as: {shown(note.get('published'))}")
    now, earlier = how_many(note, measured), whole(measured.get("raw_values"))
    hidden = share(measured.get("suppressed_share"))
    if how == "generalised" and now == 1:
        found = [pair[0] for pair in map(listing, listing(measured.get("distribution"))) if pair]
        alone = found or [each.get("label") for each in tables(note.get("values"))]
        named = f" “{label_text(alone[0])}”" if len(alone) == 1 else ""
        of = "" if earlier is None else f" of the {counted(earlier, 'original value')}"
        return f"Published as one value{named} for everybody: it tells nothing{of}."
    if now is not None and how in ("generalised", "unchanged"):
        said += f": {counted(now, 'value')}"
        said += f" for {counted(earlier, 'original one')}" if earlier is not None and earlier != now else ""
    if hidden:
        said += f"; {percent(hidden)} of its cells tell nothing" + (" or were left out" if left_out else "")
    return said[0].upper() + said[1:] + "."


def how_many(note: Mapping[str, Any], measured: Mapping[str, Any]) -> int | None:
    """The number of published values, measured or listed."""
    now = whole(measured.get("published_values"))
    return now if now is not None else len(listing(note.get("values"))) or None


def loss_bar(measured: Mapping[str, Any]) -> Safe | None:
    lost = share(measured.get("lm"))
    if lost is None:
        return None
    said = percent(lost) or ""
    return bars(
        [Bar("detail lost", lost, said, f"Detail lost (LM): {said}")], name="Detail lost", tone="loss"
    )


def values(
    name: str, note: Mapping[str, Any], measured: Mapping[str, Any], records: int | None, lines: int
) -> Safe | None:
    """The published values with how many records have each."""
    losses = {
        value.get("label"): value.get("loss") for value in tables(note.get("values")) if hashable(value)
    }
    found = [
        (pair[0], whole(pair[1])) for pair in listing(measured.get("distribution")) if len(listing(pair)) == 2
    ]
    many = whole(measured.get("published_values")) or 0
    rest = 0, 0
    if len(found) > 1 and found[-1][0] == REST and many >= len(found):
        rest = many - len(found) + 1, found.pop()[1] or 0
    if not found:
        found = [(each, None) for each in losses]
    if len(found) <= 1:
        return None
    known = [(each, number) for each, number in found if number is not None]
    of = records or sum(number for _, number in known)
    title = f"Values of “{label_text(name)}”"
    left = len(found[lines:]) + rest[0]
    return join(
        (
            bars(value_bars(known, rest, of), name=title) if known else None,
            behind(
                f"As a table ({counted(len(found) + rest[0], 'value')})",
                value_table(found[:lines], losses, of, title),
                paragraph(f"{counted(left, 'further value')} in the data.") if left else None,
            ),
        )
    )


def hashable(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("label"), (str, int, float, type(None)))


def value_bars(found: Sequence[tuple[Any, int]], rest: tuple[int, int], of: int) -> list[Bar]:
    """The most frequent values in their own order, and the others as one; `rest` are how many, how often."""
    high = max(number for _, number in found) or 1
    ranked = sorted(range(len(found)), key=lambda at: (-found[at][1], at))
    drawn = set(ranked if len(found) + (rest[0] > 0) <= BARS else ranked[: BARS - 1])
    rows = [
        value_bar(label(brief(found[at][0])), label_text(found[at][0]), found[at][1], high, of)
        for at in sorted(drawn)
    ]
    others = [number for at, (_, number) in enumerate(found) if at not in drawn]
    if others or rest[0]:
        name = f"{counted(len(others) + rest[0], 'other value')}, together"
        rows.append(value_bar(name, name, sum(others) + rest[1], high, of))
    return rows


def brief(value: Any) -> Any:
    """A long set of neighbours by its ends, for want of room; the table has more of it.

    >>> brief("{a, b}"), brief("{10001, 10002, 10003, 10004, 10005, 10006, 10007}")
    ('{a, b}', '{10001, 10002, …, 10007}')
    """
    said = str(value)
    if len(said) <= ROOM or not (said.startswith("{") and said.endswith("}")):
        return value
    items = said[1:-1].split(", ")
    return value if len(items) <= 3 else f"{{{items[0]}, {items[1]}, …, {items[-1]}}}"


def value_bar(shown_label: str, plain: str, number: int, high: int, of: int) -> Bar:
    said = f"{number:,}"
    tip = f"{plain}: {counted(number, 'record')}"
    part_of = percent(number / of) if of else None
    if part_of is not None:
        tip += f", {part_of} of all"
    return Bar(shown_label, number / high, said, tip)


def value_table(
    found: Sequence[tuple[Any, int | None]], losses: Mapping[Any, Any], of: int, title: str
) -> Safe:
    headers, numeric = ["Published value", "Records", "Share"], [1, 2]
    if losses:
        headers, numeric = [*headers, "Detail lost"], [*numeric, 3]
    rows: list[tuple[Content, ...]] = []
    for each, number in found:
        part_of = percent(number / of) if number is not None and of else None
        row: tuple[Content, ...] = (label(each), count(number) or "", part_of or "")
        if losses:
            lost = losses.get(each) if isinstance(each, (str, int, float, type(None))) else None
            row = (*row, percent(lost) or "")
        rows.append(row)
    return table(headers, rows, numeric=numeric, caption=title)
