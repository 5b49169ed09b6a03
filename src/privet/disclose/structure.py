"""Is a sequence of partitions symmetric? Only then may an algorithm merge along it.

Interleaving (Zhang 2010, definition 23) is necessary and easy to check, and does not suffice: spec 12,
example E7. Symmetry does: for any two people of one group some relabelling of people exchanges them and
changes no partition up to that level.

From Python only: for whoever brings a sequence of partitions of their own. The algorithm `coincident` builds
sequences that are symmetric by construction, and asks nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from privet.disclose.inherent import Partition


def is_interleaved(levels: Sequence[Partition]) -> bool:
    """Do any two groups of an earlier level that meet a group of a later one meet all of them alike?

    Looking at neighbouring levels only is not enough (example E6).
    """
    for at, later in enumerate(levels):
        for earlier in levels[:at]:
            meets = {group: tuple(len({*group} & {*other}) for other in later) for group in earlier}
            for other in range(len(later)):
                if len({vector for vector in meets.values() if vector[other]}) > 1:
                    return False
    return True


def is_symmetric(levels: Sequence[Partition]) -> bool:
    """Can any two people of a group be exchanged without changing this level's groups or any below?

    For small structures, or for one unit that is repeated: relabellings are searched for.
    """
    for at, level in enumerate(levels):
        for group in level:
            first = group[0]
            # Exchanging with one member is enough: relabellings can be done one after the other.
            if not all(_exchangeable(levels[: at + 1], first, other) for other in group[1:]):
                return False
    return True


def _exchangeable(levels: Sequence[Partition], one: int, other: int) -> bool:
    people = sorted(person for group in levels[-1] for person in group)
    of = [{person: at for at, group in enumerate(level) for person in group} for level in levels]

    def fits(image: dict[int, int], person: int, at: int) -> bool:
        if of[-1][person] != of[-1][at]:  # everybody stays in the own group of the last level
            return False
        # Groups are mapped onto groups: two people share one exactly where their images do.
        return all(
            (level[person] == level[known]) == (level[at] == level[place])
            for level in of[:-1]
            for known, place in image.items()
        )

    def extended(image: dict[int, int], left: Sequence[int]) -> Iterator[dict[int, int]]:
        if not left:
            yield image
            return
        person, taken = left[0], set(image.values())
        for at in people:
            if at not in taken and fits(image, person, at):
                yield from extended({**image, person: at}, left[1:])

    if not fits({}, one, other):
        return False
    rest = [person for person in people if person != one]
    return next(extended({one: other}, rest), None) is not None
