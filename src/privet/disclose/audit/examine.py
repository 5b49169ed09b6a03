"""What a log gives away, looked at with plain code that the auditors do not use.

A log allows no more than what an adversary thinks possible who knows every answer and every denial, so
whoever is free in the log is free for the adversary. Each function says how near it came, and what is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from privet.disclose.audit.decision import Decision
from privet.disclose.audit.exact import Members

Found = tuple[str, str | None]
LARGE = 300  # people with histories of their own; beyond, a proof at the centre takes the place of programs
ROUNDING = 1e-6  # of the width: what a linear program may be off


def examine_max(facts: Sequence[tuple[Members, Decision]], low: Fraction | None = None) -> Found:
    """Determined is who alone can reach a known maximum, and who can be no higher than `low`.

    >>> from privet.disclose.audit.decision import Constraint
    >>> five = Decision(Fraction(5), Constraint("=", Fraction(5)))
    >>> examine_max([(np.array([0, 1]), five)])
    ('a logged maximum can be reached by no fewer than 2 people', None)
    >>> three = Decision(Fraction(3), Constraint("=", Fraction(3)))
    >>> examine_max([(np.array([0, 1]), five), (np.array([1, 2]), three)])[1]
    'a logged maximum can be reached by one person only: that person is determined'
    """
    most: dict[int, Fraction] = {}
    known: list[tuple[Members, Fraction]] = []
    for members, decision in facts:
        made = decision.constraint
        value = decision.answer if made is None else made.value
        if value is None:
            continue
        for person in members.tolist():
            if person not in most or value < most[person]:
                most[person] = value
        if made is None or made.relation == "=":
            known.append((members, value))
    if low is not None and any(value <= low for value in most.values()):
        return "", "somebody can be no higher than the public lower bound: that person is determined"
    if not known:
        return "no maximum is known", None
    fewest = min(sum(most[person] == value for person in members.tolist()) for members, value in known)
    if fewest == 0:
        return "the log contradicts itself", "the log contradicts itself"
    if fewest == 1:
        return "", "a logged maximum can be reached by one person only: that person is determined"
    return f"a logged maximum can be reached by no fewer than {fewest} people", None


def examine_sum(
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    width: Fraction,
    facts: Sequence[tuple[Members, Decision]],
) -> Found:
    """How far everybody can still move inside what is known; the least of it must be the width."""
    from privet.disclose.audit.certify import Standard, certified, interior  # noqa: PLC0415 - scipy is an extra
    from privet.disclose.audit.polytope import Polytope, Scale  # noqa: PLC0415 - as above
    from privet.disclose.audit.solver import UndecidedError  # noqa: PLC0415 - as above

    n = len(low)
    scale = Scale(tuple(low), width)
    polytope = Polytope(np.array([float((b - a) / width) for a, b in zip(low, high, strict=True)]))
    for members, decision in facts:
        made = decision.constraint
        if made is None:
            continue
        value = scale.inward(members, made.value)
        if made.relation == "=":
            polytope.equal.append((members, value))
        else:
            polytope.bound(members, 1.0 if made.relation == "<=" else -1.0, value)
    each = polytope.alike().first
    try:
        if len(each) > LARGE:
            problem = Standard.of(polytope)
            if certified(problem, interior(problem)):
                return "everybody is proved to keep the width", None
        narrowest = np.inf
        for person in each.tolist():
            goal = np.zeros(n)
            goal[person] = 1.0
            least, most = polytope.extent(goal)
            narrowest = min(narrowest, most - least)
    except UndecidedError:
        return "the log contradicts itself", "the log contradicts itself, or no program could tell"
    if narrowest < 1 - ROUNDING:
        return "", "somebody is known within less than the width"
    return f"everybody can still be anywhere within {narrowest:.2f} widths or more", None


def examine_whole(
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    width: Fraction,
    grid: Fraction,
    facts: Sequence[tuple[Members, Decision]],
) -> Found:
    """The same where everybody knows that values are multiples of the grid: whole states must show it.

    Integer programs propose the least and the largest that somebody can have; each proposal is checked in
    exact arithmetic, so that nobody is taken for free by mistake.
    """
    from privet.disclose.audit.solver import propose  # noqa: PLC0415 - scipy is an extra

    base = [ceil(edge / grid) for edge in low]
    room = [floor(edge / grid) - at for edge, at in zip(high, base, strict=True)]
    known = [(members, decision.constraint) for members, decision in facts if decision.constraint is not None]
    pattern = np.zeros((len(known), len(base)), dtype=np.int64)
    values = []
    for at, (members, made) in enumerate(known):
        pattern[at, members] = 1
        values.append(int(made.value / grid) - sum(base[one] for one in members.tolist()))
    relation = [made.relation for _, made in known]
    # One variable for each kind of people, and one for the person who is looked at.
    sizes = {value: at for at, value in enumerate(sorted(set(room)))}
    whole = np.vstack([pattern, [[sizes[value] for value in room]]])
    _, first, counts = np.unique(whole, axis=1, return_index=True, return_counts=True)
    narrowest = None
    for kind, person in enumerate(first.tolist()):
        rows = pattern[:, np.append(first, person)]
        most = [int(count) * room[at] for count, at in zip(counts, first.tolist(), strict=True)] + [
            room[person]
        ]
        most[kind] -= room[person]
        found = []
        for sign in (1.0, -1.0):
            goal = np.append(np.zeros(len(first)), sign)
            equal = np.array([one == "=" for one in relation], dtype=bool)
            turned = np.array([1.0 if one == "<=" else -1.0 for one in relation])[~equal]
            right = np.array(values, dtype=float)
            state = propose(
                goal,
                rows[~equal] * turned[:, None],
                right[~equal] * turned,
                rows[equal].astype(float),
                right[equal],
                np.zeros(len(most)),
                np.array(most, dtype=float),
            )
            if state is not None and _fits(state, rows, values, relation, most):
                found.append(state[-1])
        if len(found) < 2:
            return "the log contradicts itself", "the log contradicts itself, or no program could tell"
        apart = found[1] - found[0]
        narrowest = apart if narrowest is None else min(narrowest, apart)
    if narrowest is None or narrowest * grid < width:
        return "", "somebody is known within less than the width, since values are multiples of the grid"
    return (
        f"everybody can still be anywhere within {float(narrowest * grid / width):.2f} widths or more",
        None,
    )


def _fits(
    state: Sequence[int], rows: Members, values: Sequence[int], relation: Sequence[str], most: Sequence[int]
) -> bool:
    """Is this a whole state that the log allows?"""
    if not all(0 <= value <= edge for value, edge in zip(state, most, strict=True)):
        return False
    for row, value, one in zip(rows.tolist(), values, relation, strict=True):
        total = sum(a * b for a, b in zip(row, state, strict=True))
        if not {"=": total == value, "<=": total <= value, ">=": total >= value}[one]:
            return False
    return True
