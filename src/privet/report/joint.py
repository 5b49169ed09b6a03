"""Who made a release together, and what each party saw on the way: a table, by party."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.report.markup import Content, Safe, behind, facts, join, label, paragraph, table, tag
from privet.report.numerals import listing, part, tables

SPLIT = {
    "people": "each party has all columns of its own persons",
    "columns": "each party has some columns of the same persons",
}
REVEAL = {
    "decisions": "decisions only: nobody saw a count or a score of anybody",
    "counts": "the first party saw counts of groups, all parties together",
    "scores": "every party saw the best score of each other",
}


def taken_part(evidence: Mapping[str, Any]) -> Safe | None:
    """The parties, what each of them saw, and what they could learn together."""
    note = part(evidence, "joint")
    parties = tables(note.get("parties"))
    if not parties:
        return None
    together = [str(one) for one in listing(note.get("together"))]
    return join(
        (
            paragraph(
                "Several organisations made this release together. None of them showed its rows to another: "
                "they computed on numbers that mean nothing to whoever has one part of them. What each of "
                "them came to know on the way, beyond this table and its own rows, stands here; that is what "
                "they agreed on, and nobody can check it from the release."
            ),
            paragraph(
                tag("strong", "A rehearsal: "), "all parties ran on one machine, with the real protocol."
            )
            if note.get("rehearsed")
            else None,
            facts(
                (
                    ("Table", SPLIT.get(str(note.get("split")), str(note.get("split")))),
                    ("Shown while searching", REVEAL.get(str(note.get("reveal")), str(note.get("reveal")))),
                    ("Contract", str(note.get("contract"))),
                    ("Run", str(note.get("session"))),
                )
            ),
            seen(parties),
            tag("h3", "If they put their notes together"),
            tag("ul", *(tag("li", one) for one in together)),
            behind("Keys and certificates", known_by(parties)),
        )
    )


def seen(parties: list[Mapping[str, Any]]) -> Safe:
    """A row for each thing that somebody saw, a column for each party."""
    every = dict.fromkeys(str(one) for party in parties for one in listing(party.get("saw")))
    rows: list[tuple[Content, ...]] = [
        (what, *("saw it" if what in listing(party.get("saw")) else "no" for party in parties))
        for what in every
    ]
    headers = ("What", *(str(party.get("name")) for party in parties))
    return table(headers, rows, caption="What each party saw")


def known_by(parties: list[Mapping[str, Any]]) -> Safe:
    rows: list[tuple[Content, ...]] = [
        (
            label(party.get("name")),
            "none" if party.get("key") is None else str(party.get("key")),
            "none" if party.get("certificate") is None else str(party.get("certificate")),
        )
        for party in parties
    ]
    return table(
        ("Party", "Public key", "SHA-256 of its certificate"), rows, caption="What parties are known by"
    )
