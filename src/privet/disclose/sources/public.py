"""Restoring privacy by a public rule (section 6.6): experimental.

An adversary who knows that somebody restores privacy learns from whether, and from how, it was done. So:
whether to act depends on the published views alone, never on the base table (it is done also where it would
not be needed, because the views only mislead); and what to publish comes from a list of conditions that is
ranked from the published views alone. The list is published from its beginning, each view with its true
values, until all that is published is gamma-private. When to stop is a function of what everybody has seen by
then, so the choice says nothing that the views do not say.

What remains: a view on the list may turn out to make matters worse, and it is out then. Where somebody has
become certain, or the list ends, the answer is that privacy was not restored, with every view that was
published. The rule covers an adversary who knows the rule, not one who knows more about the people than the
register.

From Python only: an experiment that no command offers, so that nobody relies on it unread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.disclose.sources.counting import STEPS, count
from privet.disclose.sources.gamma import Assessment, Decision, assess
from privet.disclose.sources.prepare import components
from privet.disclose.sources.restoring import Refinement, by_size, refinements, refuse_false
from privet.disclose.sources.views import Register, View
from privet.domain import Value
from privet.errors import UnsupportedError

TABLES = 2_000  # possible tables that a ranking looks at


@dataclass(frozen=True)
class Published:
    """The views that the rule published, in order, and what they come to."""

    before: Assessment
    after: Assessment
    views: tuple[View, ...]

    @property
    def restored(self) -> bool:
        return self.after.decision is Decision.PRIVATE


def ranked(
    register: Register,
    views: Sequence[View],
    gamma: Fraction,
    *,
    order: Callable[[Iterable[Refinement]], list[Refinement]] = by_size,
    tables: int = TABLES,
) -> list[Refinement]:
    """Conditions, best first: in how many possible tables would the view's true values restore privacy?

    Reads nothing but the register and the published views. Among equals, `order` decides.
    """
    possible = list(possible_tables(views, tables))
    candidates = order(refinements(register, views))
    # The same values come out of many tables, and need judging once.
    merit = []
    for candidate in candidates:
        known: dict[tuple[tuple[Value, int], ...], bool] = {}
        good = 0
        for table in possible:
            view = View.of(candidate.people, (table[person] for person in candidate.people))
            if view.counts not in known:
                known[view.counts] = assess([*views, view], gamma).decision is Decision.PRIVATE
            good += known[view.counts]
        merit.append(good)
    best = sorted(range(len(candidates)), key=lambda at: (-merit[at], at))
    return [candidates[at] for at in best]


def publish_by_rule(
    register: Register,
    base: Sequence[Value],
    views: Sequence[View],
    gamma: Fraction,
    *,
    most: int = 2,
    tables: int = TABLES,
) -> Published:
    """Act on the published views: nothing if they are private, else at most `most` views of the public
    list.
    """
    refuse_false(base, views)
    before = after = assess(views, gamma)
    fresh: list[View] = []
    while after.decision is Decision.NOT_PRIVATE and len(fresh) < most and after.worst.worst < 1:
        # The list is made anew from all that is out by now; that too is public.
        candidates = ranked(register, [*views, *fresh], gamma, tables=tables)
        if not candidates:
            break
        fresh.append(candidates[0].view(register, base))
        after = assess([*views, *fresh], gamma)
    return Published(before, after, tuple(fresh))


def possible_tables(views: Sequence[View], most: int) -> Iterator[dict[int, Value]]:
    """Every table that agrees with the views; refused where there are more than `most`."""
    many = 1
    parts = components(views)
    for part in parts:
        found = count(part, steps=STEPS)
        many *= most + 1 if found is None else found.instances
        if many > most:
            raise UnsupportedError(
                f"restoring by a public rule looks at every possible table, and there are more than {most:,}"
            )
    people = sorted({person for view in views for person in view.people})
    of_person = {person: [at for at, view in enumerate(views) if person in view.people] for person in people}
    left = [dict(view.counts) for view in views]

    def fill(at: int, table: dict[int, Value]) -> Iterator[dict[int, Value]]:
        if at == len(people):
            yield dict(table)
            return
        mine = of_person[people[at]]
        for value in list(left[mine[0]]):
            if all(left[view].get(value, 0) for view in mine):
                for view in mine:
                    left[view][value] -= 1
                yield from fill(at + 1, {**table, people[at]: value})
                for view in mine:
                    left[view][value] += 1

    yield from fill(0, {})
