"""Who made a release together, and what each of them saw on the way."""

from __future__ import annotations

from privet.evidence.part import Part, Standing, inside, part, stated, verified


@part
class PartyNote(Part):
    """One organisation that took part."""

    name: str = verified()  # as it signs
    key: str | None = verified(default=None)  # the public key that it signs with, in base 64
    certificate: str | None = stated(default=None)  # the SHA-256 of what its node showed to the others
    saw: tuple[str, ...] = stated()  # beyond the published table and its own rows

    def standing_of(self, name: str, road: str) -> Standing | None:
        """Who did not sign is named by the others only."""
        return Standing.STATED if self.key is None else super().standing_of(name, road)


@part
class JointNote(Part):
    """A release of several organisations that did not show each other their rows."""

    contract: str = stated()  # the SHA-256 of what all agreed on
    session: str = stated()  # the run, as every party's log names it
    split: str = stated()  # by people or by columns
    reveal: str = stated()  # what the parties let each other see while they searched
    rehearsed: bool | None = stated(default=None)  # all parties ran on one machine
    select: str | None = stated(default=None)  # with differential privacy: how splits were drawn together
    outsider: str | None = stated(default=None)  # what it promises against whoever sees the release alone
    insider: str | None = stated(default=None)  # and against the other party
    parties: tuple[PartyNote, ...] = inside()
    together: tuple[str, ...] = stated()  # what some of them could learn by putting their notes together


def signers(note: JointNote) -> list[tuple[str, str]]:
    """Who was to sign: every party that has a key."""
    return [(party.name, party.key) for party in note.parties if party.key is not None]
