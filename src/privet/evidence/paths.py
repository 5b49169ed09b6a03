"""What evidence says of trajectories: counted on what is published, and how it was thinned."""

from __future__ import annotations

from privet.evidence.part import Exact, Part, part, stated, verified


@part
class PathSize(Part):
    """How much there is."""

    records: int = stated()
    visits: int = stated()
    points: int = stated()
    places: int = stated()
    times: int = stated()
    longest: int = stated()
    empty: int = stated()  # records without a visit


@part
class Patterns(Part):
    """What became of the maximal frequent sequences."""

    support: int = verified()
    before: int = stated()
    surviving: int = stated()
    lost: float = stated()
    remined: int = verified()
    lost_remined: float = stated()
    true_support: int = stated()


@part
class Route(Part):
    """A frequent sequence of the release."""

    sequence: tuple[str, ...] = stated()
    support: int = stated()


@part
class Frequent(Part):
    """The maximal frequent sequences of the release: how many, and the most frequent ones."""

    support: int = stated()
    sequences: int = stated()
    listed: tuple[Route, ...] = stated()


@part
class Heat(Part):
    """Records at the busiest places, by slots of time."""

    places: tuple[str, ...] = stated()
    times: tuple[str, ...] = stated()
    counts: tuple[tuple[int, ...], ...] = stated()


@part
class OfLength(Part):
    """All sequences of one length: how many, and the nearest that one of them comes to a bound."""

    length: int = stated()
    sequences: int = stated()
    smallest: int = stated()
    largest: Exact = stated()


@part
class PathsNote(Part):
    """What is published, counted; anybody can count it again."""

    records: int = verified()
    visits: int = verified()
    points: int = verified()
    places: int = verified()
    times: int = verified()
    longest: int = verified()
    empty: int = verified()
    frequent: Frequent = verified()
    heat: Heat = verified()
    by_length: tuple[tuple[OfLength, ...], ...] = verified()


@part
class Suppressed(Part):
    """How many points went, by the slots of time that the release still has; never which."""

    points: int = stated()
    everywhere: int = stated()
    by_time: tuple[int, ...] = stated()
    elsewhere: int = stated()


@part
class TrialNote(Part):
    """One combination of levels and ways that was tried."""

    way: str = stated()
    place: str = stated()
    time: str = stated()
    removed: int = stated()
    lost: float = stated()
    lost_visits: float = stated()
    surviving: int = stated()


@part
class Prepared(Part):
    """What readings came to before anything was searched."""

    readings: int = stated()
    merged: int = stated()
    displaced: int = stated()
    clashes: int = stated()


@part
class Thinning(Part):
    """How paths were thinned."""

    place: str = stated()
    time: str = stated()
    suppressed: Suppressed = stated()
    curve: tuple[tuple[int, int, int], ...] = stated()  # removals, violations left, patterns left
    trials: tuple[TrialNote, ...] = stated()
    prepared: Prepared | None = stated(default=None)


@part
class ArgumentNote(Part):
    """Why a promise holds: every class of sequences that the release has."""

    l: int | None = stated()
    k: int = stated()
    bounds: tuple[Exact, ...] = stated()
    classes: tuple[tuple[int, int, tuple[int, ...], int], ...] = stated()


@part
class StopNote(Part):
    """Where a place is, for a map."""

    place: str = verified()
    name: str | None = stated()
    lat: float = stated()
    lon: float = stated()
    visits: int = verified()


@part
class Mixed(Part):
    """What up to l things of any kind give away; measured, not promised."""

    counted: bool = verified()
    broken: int | None = verified(default=None)
    at_risk: int | None = verified(default=None)
    warning: str = verified()
