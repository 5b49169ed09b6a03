"""Who made a release together, and what each party saw on the way: a table, by party."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.joint import PartyNote
from privet.evidence.values import Evidence
from privet.report.markup import Content, Safe, behind, facts, join, label, paragraph, table, tag

SPLIT = {
    "people": "each party has all columns of its own persons",
    "columns": "each party has some columns of the same persons",
}
REVEAL = {
    "decisions": "decisions only: nobody saw a count or a score of anybody",
    "counts": "the first party saw counts of groups, all parties together",
    "scores": "every party saw the best score of each other",
}
NOISY = "what was drawn, and counts that carry the noise of whoever shows them"


def taken_part(evidence: Evidence) -> Safe | None:
    """The parties, what each of them saw, and what they could learn together."""
    note = evidence.joint
    if note is None:
        return None
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
            if note.rehearsed
            else None,
            facts(
                (
                    ("Table", SPLIT.get(note.split, note.split)),
                    (
                        "Shown while searching",
                        REVEAL.get(note.reveal, note.reveal) if note.select is None else NOISY,
                    ),
                    *(
                        (who, said)
                        for who, said in (
                            ("To a reader of the release", note.outsider),
                            ("To the other party", note.insider),
                        )
                        if said is not None
                    ),
                    ("Contract", note.contract),
                    ("Run", note.session),
                )
            ),
            seen(note.parties),
            tag("h3", "If they put their notes together"),
            tag("ul", *(tag("li", one) for one in note.together)),
            behind("Keys and certificates", known_by(note.parties)),
        )
    )


def seen(parties: Sequence[PartyNote]) -> Safe:
    """A row for each thing that somebody saw, a column for each party."""
    every = dict.fromkeys([one for party in parties for one in party.saw])
    rows: list[tuple[Content, ...]] = [
        (what, *("saw it" if what in party.saw else "no" for party in parties)) for what in every
    ]
    headers = ("What", *(party.name for party in parties))
    return table(headers, rows, caption="What each party saw")


def known_by(parties: Sequence[PartyNote]) -> Safe:
    rows: list[tuple[Content, ...]] = [
        (
            label(party.name),
            "none" if party.key is None else party.key,
            "none" if party.certificate is None else party.certificate,
        )
        for party in parties
    ]
    return table(
        ("Party", "Public key", "SHA-256 of its certificate"), rows, caption="What parties are known by"
    )
