"""Promises that a search cannot keep: whatever the data, or on these.

A policy with a search and a promise that it can never keep is refused when it is made; what no recoding of
a table can reach is asked of the table with every quasi-identifier fully generalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from privet.core import Nulls, PrivacyModel, Role, Tally, Terms
from privet.counts.door import Counts
from privet.counts.memory import counted
from privet.errors import UnsatisfiableError
from privet.models.classcheck import ClassCheck
from privet.models.linkage import LinkageCheck

OF_PERSONS = "shares of persons"  # who has a value in one class only has it in the union of both
WILDCARD = 'nulls = "wildcard"'  # such a null stands in several classes, and merging them is not a union


def about_each_class(model: PrivacyModel, quasi: Sequence[str], *, persons: bool = False) -> bool:
    """Is the promise about each class over all quasi-identifiers by itself? `persons`: they are counted."""
    if isinstance(model, ClassCheck):
        return True
    if isinstance(model, LinkageCheck):
        bound = model.linkage()
        if persons and bound.l is not None and bound.binding:
            return False  # unions of classes count too: a share of persons may be larger there
        named = [name for name in quasi if bound.quasi is None or name in bound.quasi]
        return len(named) == len(quasi) == bound.knowledge(named)
    return False


def fewest(model: PrivacyModel, quasi: Sequence[str]) -> int:
    """How many persons every class over all quasi-identifiers has at least, if a promise says so."""
    if isinstance(model, LinkageCheck):
        bound = model.linkage()
        named = [name for name in quasi if bound.quasi is None or name in bound.quasi]
        return bound.k if len(named) == len(quasi) == bound.knowledge(named) else 1
    return (model.class_size or 1) if isinstance(model, ClassCheck) else 1


def prunes(algorithm: str, policy: Terms) -> list[str]:
    """Complaints of a search that never looks above or below a node which it has ruled out."""
    wrong = broken_by_merging(policy.models, policy.nulls)
    if wrong or (policy.person is not None and not only_sizes(policy.models)):
        return unpruned(algorithm, wrong or [OF_PERSONS])
    return []


def splits(algorithm: str, models: Sequence[PrivacyModel]) -> list[str]:
    """Complaints of a search that makes a table finer, step by step, and asks after each."""
    wrong = broken_by_merging(models, Nulls.VALUE)
    return unpruned(algorithm, wrong) if wrong else []


def unpruned(algorithm: str, wrong: Sequence[str]) -> list[str]:
    """The complaint about promises that a search which prunes would judge wrongly."""
    return [
        (
            f"{algorithm} prunes, so it needs promises that generalising keeps, not {', '.join(wrong)}; "
            "use optimal, which looks at every node"
        )
    ]


def merges(
    algorithm: str,
    models: Sequence[PrivacyModel],
    nulls: Nulls,
    quasi: Sequence[str] | None,
    *,
    persons: bool = False,
) -> list[str]:
    """Complaints of a search that merges classes and looks at each by itself."""
    wrong = broken_by_merging(models, nulls) or ([OF_PERSONS] if persons and not only_sizes(models) else [])
    if wrong:
        return [f"{algorithm} needs promises that merging classes keeps, not {', '.join(wrong)}; use optimal"]
    return by_class(algorithm, models, quasi, persons=persons)


def by_class(
    algorithm: str, models: Sequence[PrivacyModel], quasi: Sequence[str] | None, *, persons: bool = False
) -> list[str]:
    """Complaints of a search that looks at each class by itself; `quasi` None: about everybody's rows."""
    if quasi is None:
        return apart(algorithm, [m for m in models if m.population])
    return apart(algorithm, [m for m in models if not about_each_class(m, quasi, persons=persons)])


def only_sizes(models: Sequence[PrivacyModel]) -> bool:
    """Are promises about nothing but the number of persons? Only that is kept whatever classes merge."""
    return all(isinstance(model, LinkageCheck) and not model.linkage().binding for model in models)


def apart(algorithm: str, whole: Sequence[PrivacyModel]) -> list[str]:
    """The complaint of a search that looks at each class by itself about promises that do not."""
    if not whole:
        return []
    return [
        (
            f"{algorithm} needs promises about each class by itself; "
            f"{', '.join(model.name for model in whole)} is about more: use optimal or top-down"
        )
    ]


def quasi_of(policy: Terms) -> list[str] | None:
    """The quasi-identifiers that classes are over; None where a search would see other promises."""
    if policy.publish_only:  # promises about everybody are then put around those about the rows that leave
        return None
    return [a.name for a in policy.attributes if a.role in {Role.QUASI, Role.UNDECIDED}]


def broken_by_merging(models: Sequence[PrivacyModel], nulls: Nulls) -> list[str]:
    """What merging classes may break; a promise that is spent is not about classes and refused elsewhere."""
    wrong = [model.name for model in models if not model.monotone and not model.spent]
    return wrong or ([WILDCARD] if nulls is Nulls.WILDCARD else [])


def refuse_beyond_reach(data: Tally | Counts, models: Sequence[PrivacyModel]) -> None:
    """Say which promises even the coarsest table breaks, and what could be promised instead."""
    if complaints := counted(data).beyond_reach(models):
        raise UnsatisfiableError(*complaints, "this is so even with every quasi-identifier fully generalised")


WHOLE = (
    "classes that break a promise were dropped as a whole here: leaving out a few of their records "
    "beforehand may be enough"
)


def raise_unsatisfiable(
    data: Tally | Counts, models: Sequence[PrivacyModel], *, may_go: int = 0, needed: int | None = None
) -> NoReturn:
    """Say what no node of the lattice reaches, and what could be reached; `may_go` records may be suppressed.

    `needed`: so many would have to be, at the highest levels, of each class as few as possible; None where
    only whole classes were tried.

    Where some may, what the coarsest table breaks with everybody in it says nothing of what is feasible.
    """
    if not may_go:
        refuse_beyond_reach(data, models)
    raise UnsatisfiableError(
        "no node of the lattice keeps every promise within the suppression limit; raise the limit of "
        f"{may_go} records, or allow higher levels",
        WHOLE if needed is None else f"at the highest levels {needed} records would have to be dropped",
        *(f"with nobody suppressed: {said}" for said in counted(data).beyond_reach(models)),
    )
