"""What evidence says of sets: counted on what is published, and what hiding or suppressing cost."""

from __future__ import annotations

from privet.evidence.part import Exact, Part, part, stated, verified


@part
class SetSize(Part):
    """How much there is."""

    records: int = stated()
    cells: int = stated()  # items in all records
    different: int = stated()  # items
    longest: int = stated()
    empty: int = stated()  # records without an item


@part
class Level(Part):
    """All itemsets of one size: how many, how many records the rarest has, how many are too rare."""

    known: int = stated()
    itemsets: int = stated()
    smallest: int = stated()
    rare: int = stated()


@part
class Found(Part):
    """What somebody finds who mines the release."""

    support: int = stated()  # in records
    confidence: Exact | None = stated(default=None)
    itemsets: int = stated()
    rules: int = stated()


@part
class Effects(Part):
    """What hiding did beside hiding."""

    visible: int = stated()
    failures: int = stated()
    lost: int = stated()
    ghosts: int = stated()
    implied: int = stated()
    cells: int = stated()
    removed: int = stated()


@part
class SetsNote(Part):
    """What became of the sets."""

    before: SetSize = stated()
    after: SetSize = verified()
    levels: tuple[tuple[Level, ...], ...] = verified()  # for each promise of km-anonymity
    mined: Found | None = verified(default=None)  # where rules are hidden
    suppressed: int = stated()
    loss: float = stated()
    effects: Effects | None = stated(default=None)
