"""The section on columns: what each became, value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.evidence.measures import ColumnLoss
from privet.evidence.part import Label
from privet.evidence.values import ColumnNote, Evidence
from privet.report.markup import Content, Safe, behind, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, percent, share
from privet.report.plots import Bar, bars
from privet.report.words import PUBLISHED, ROLE_NAMES, ROLES

BARS = 12  # values drawn for one column; the table behind has more
ROOM = 40  # characters beside a bar
REST = "…"  # how measures name the values they do not list
UNMEASURED = ColumnLoss()
LINES = 1500  # values in all the tables together: the report stays one small file


def columns(evidence: Evidence) -> Safe | None:
    """A card for each column that the policy names."""
    notes = evidence.attributes
    if not notes:
        return None
    measured = evidence.measures.attributes or {}
    lines = min(200, max(BARS, LINES // len(notes)))
    left_out = bool(evidence.suppressed_records)
    cards = [
        card(name, note, measured.get(name, UNMEASURED), evidence.records, lines, left_out=left_out)
        for name, note in notes.items()
    ]
    dropped = sum(note.published == "dropped" for note in notes.values())
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
    note: ColumnNote,
    measured: ColumnLoss,
    records: int,
    lines: int,
    *,
    left_out: bool,
) -> Safe:
    named = tag("span", ROLE_NAMES.get(note.role, note.role), class_="chip")
    return tag(
        "article",
        tag("h3", label(name)),
        paragraph(named, " ", ROLES.get(note.role), class_="role"),
        paragraph(became(note, measured, left_out=left_out)),
        loss_bar(measured),
        values(name, note, measured, records, lines),
        class_="card",
    )


def became(note: ColumnNote, measured: ColumnLoss, *, left_out: bool) -> str:
    """One sentence on how a column is published."""
    how = note.published
    said = PUBLISHED.get(how, f"published as: {label_text(how)}")
    now, earlier = how_many(note, measured), measured.raw_values
    hidden = share(measured.suppressed_share)
    if how == "generalised" and now == 1:
        found = [value for value, _ in measured.distribution or ()]
        alone = found or [each.label for each in note.values_ or ()]
        named = f" “{label_text(alone[0])}”" if len(alone) == 1 else ""
        of = "" if earlier is None else f" of the {counted(earlier, 'original value')}"
        return f"Published as one value{named} for everybody: it tells nothing{of}."
    if now is not None and how in ("generalised", "unchanged"):
        said += f": {counted(now, 'value')}"
        said += f" for {counted(earlier, 'original one')}" if earlier is not None and earlier != now else ""
    if hidden:
        said += f"; {percent(hidden)} of its cells tell nothing" + (" or were left out" if left_out else "")
    return said[0].upper() + said[1:] + "."


def how_many(note: ColumnNote, measured: ColumnLoss) -> int | None:
    """The number of published values, measured or listed."""
    now = measured.published_values
    return now if now is not None else len(note.values_ or ()) or None


def loss_bar(measured: ColumnLoss) -> Safe | None:
    lost = share(measured.lm)
    if lost is None:
        return None
    said = percent(lost) or ""
    return bars(
        [Bar("detail lost", lost, said, f"Detail lost (LM): {said}")], name="Detail lost", tone="loss"
    )


def values(name: str, note: ColumnNote, measured: ColumnLoss, records: int, lines: int) -> Safe | None:
    """The published values with how many records have each."""
    losses = {value.label: value.loss for value in note.values_ or ()}
    known = list(measured.distribution or ())
    many = measured.published_values or 0
    rest = 0, 0
    if len(known) > 1 and known[-1][0] == REST and many >= len(known):
        rest = many - len(known) + 1, known.pop()[1]
    found: list[tuple[Label, int | None]] = [*known] or [(each, None) for each in losses]
    if len(found) <= 1:
        return None
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


def value_bars(found: Sequence[tuple[Label, int]], rest: tuple[int, int], of: int) -> list[Bar]:
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
    found: Sequence[tuple[Label, int | None]], losses: Mapping[Label, float], of: int, title: str
) -> Safe:
    headers, numeric = ["Published value", "Records", "Share"], [1, 2]
    if losses:
        headers, numeric = [*headers, "Detail lost"], [*numeric, 3]
    rows: list[tuple[Content, ...]] = []
    for each, number in found:
        part_of = percent(number / of) if number is not None and of else None
        row: tuple[Content, ...] = (label(each), count(number) or "", part_of or "")
        if losses:
            row = (*row, percent(losses.get(each)) or "")
        rows.append(row)
    return table(headers, rows, numeric=numeric, caption=title)
