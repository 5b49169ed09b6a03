"""Entropy l-diversity by a chain of generalisations whose choice is safe too (Algorithm 4.5).

The first diverse generalisation is not released if another table, that looks the same further up the chain,
would have had to go up there: then this one goes up too, to keep it company.

`permutation` goes up wherever *some* arrangement of a group's values would violate diversity one level below.
Then all tables that look alike where it ends are treated alike, so the adversary learns nothing from the
choice: the disclosure set is the whole instance set. `rotation` looks at cyclic shifts only, as the source
prints it. It is UNSAFE (tests/disclose/test_safe_lattice.py has the smallest case) and stays for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.disclose.safe.chain import Groups, Lattice, Node_, chained
from privet.disclose.safe.predicates import NEAR, diverse, entropies
from privet.domain import Cut
from privet.errors import PolicyError, UnsupportedError, one_of
from privet.recoding import Generalization

RULES = ("permutation", "rotation", "naive")
UNSAFE = ("rotation", "naive")

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """Which member of the chain is released, and why none before it; None: nothing is."""

    index: int | None
    rule: str
    chain: tuple[Node_, ...] = field(default=(), repr=False)
    why: tuple[str, ...] = ()  # one sentence for each earlier candidate; no value, no person

    @property
    def safe(self) -> bool:
        """Is the choice itself safe, whoever knows the rule?"""
        return self.rule not in UNSAFE


def choose(
    chain: Sequence[Groups], sensitive: Codes, counts: Codes, l: int, rule: str = "permutation"
) -> int | None:
    """The index in the chain; groups, value and count are given for each cell of the table."""
    refuse_wrong(l, rule)
    first = next((i for i, groups in enumerate(chain) if all_diverse(groups, sensitive, counts, l)), None)
    if first is None or rule == "naive":
        return first
    if rule == "rotation" and (counts != 1).any():
        raise UnsupportedError("the rotation rule needs people one by one, in a public order")
    for j in range(len(chain) - 1, first, -1):
        delayed = (
            delay_permutation(chain[j], chain[j - 1], sensitive, counts, l)
            if rule == "permutation"
            else delay_rotation(chain[j], chain[j - 1], sensitive, l)
        )
        if delayed:
            return j
    return first


def refuse_wrong(l: int, rule: str) -> None:
    if l < 1:
        raise PolicyError(f"l is 1 or more, not {l}")
    if rule not in RULES:
        raise PolicyError(one_of("rule", RULES, rule))


def all_diverse(groups: Groups, sensitive: Codes, counts: Codes, l: int) -> bool:
    """Is every group's bag entropy l-diverse?"""
    owner, _, held = _bags(groups, sensitive, counts)
    return _none_below(owner, held, l)


def delay_permutation(groups: Groups, finer: Groups, sensitive: Codes, counts: Codes, l: int) -> bool:
    """Would some arrangement of a group's values break diversity in one of its parts?

    The most concentrated values that the smallest part could get: the commonest until it is full. A smaller
    part can always be made more certain than a larger one.
    """
    smallest, parts = _parts(groups, finer, counts)
    owner, _, held = _bags(groups, sensitive, counts)
    order = np.lexsort((-held, owner))
    owner, held = owner[order], held[order]
    start = np.searchsorted(owner, owner)  # where the entries of the same group begin
    before = np.cumsum(held) - held
    before -= before[start]
    taken = np.clip(smallest[owner] - before, 0, held)
    kept = (taken > 0) & (parts[owner] > 1)
    return not _none_below(owner[kept], taken[kept], l)


def delay_rotation(groups: Groups, finer: Groups, sensitive: Codes, l: int) -> bool:
    """Would some cyclic shift of a group's values break diversity in one of its parts? Cells are people."""
    for group in range(int(groups.max(initial=-1)) + 1):
        people = np.flatnonzero(groups == group)
        ones = np.ones(len(people), dtype=np.int64)
        for shift in range(len(people)):
            if not all_diverse(finer[people], np.roll(sensitive[people], shift), ones, l):
                return True
    return False


def _bags(groups: Groups, sensitive: Codes, counts: Codes) -> tuple[Groups, Codes, Codes]:
    """One entry for each group and value: the group, the value, how many people."""
    room = int(sensitive.max(initial=0)) + 1
    keys, which = np.unique(groups * room + sensitive, return_inverse=True)
    held = np.bincount(which, weights=counts, minlength=len(keys)).astype(np.int64)
    return keys // room, keys % room, held


def _parts(groups: Groups, finer: Groups, counts: Codes) -> tuple[Codes, Codes]:
    """For each group, the people of its smallest part, and how many parts it has."""
    many = int(groups.max(initial=-1)) + 1
    size = np.bincount(finer, weights=counts).astype(np.int64)
    owner = np.zeros(len(size), dtype=np.int64)
    owner[finer] = groups
    smallest = np.full(many, np.iinfo(np.int64).max)
    np.minimum.at(smallest, owner, size)
    return smallest, np.bincount(owner, minlength=many)


def _none_below(owner: Groups, held: Codes, l: int) -> bool:
    """Are all these bags diverse? By floats where they are clear, exactly where they are near."""
    if not len(owner):
        return True
    _, place = np.unique(owner, return_inverse=True)
    groups = int(place.max()) + 1
    size = np.bincount(place, weights=held, minlength=groups)
    gap = entropies(place, held, groups) - np.log(l)
    slack = NEAR * (1 + np.log(size))
    if (gap < -slack).any():
        return False
    near = np.flatnonzero(np.abs(gap) <= slack)
    if not len(near):
        return True
    bags: dict[int, list[int]] = {at: [] for at in near.tolist()}
    for at, many in zip(place.tolist(), held.tolist(), strict=True):
        if at in bags:
            bags[at].append(many)
    return all(diverse(bag, l) for bag in {tuple(sorted(bag)) for bag in bags.values()})


def safe_lattice(tally: Tally, l: int, *, sensitive: str, rule: str = "permutation") -> Choice:
    """Which generalisation of a table is released, by its tally and a chain over its hierarchies."""
    refuse_wrong(l, rule)
    lattice = Lattice.of(tally)
    nodes = lattice.chain(l)
    chain = chained(lattice, nodes)
    column = next((one for one in tally.sensitive if one.name == sensitive), None)
    if column is None:
        raise PolicyError(one_of("the sensitive attribute", [c.name for c in tally.sensitive], sensitive))
    values, counts = column.codes.astype(np.int64), tally.counts
    index = choose(chain, values, counts, l, rule)
    return Choice(index, rule, nodes, reasons(chain, values, counts, l, index))


def reasons(
    chain: Sequence[Groups], sensitive: Codes, counts: Codes, l: int, index: int | None
) -> tuple[str, ...]:
    """Why each candidate before the chosen one was passed over; for the steward, without any value."""
    found = []
    for i, groups in enumerate(chain[:index]):
        if all_diverse(groups, sensitive, counts, l):
            found.append(
                f"candidate {i + 1} is diverse on this table, but a table that looks the same further up "
                f"is not; "
                "releasing it would tell the two apart"
            )
        else:
            found.append(f"candidate {i + 1} has a group that is not entropy {l}-diverse")
    return tuple(found)


def recoding(tally: Tally, choice: Choice) -> Generalization | None:
    """The cuts of the chosen candidate, for the common road; None where nothing is released."""
    if choice.index is None:
        return None
    lattice = Lattice.of(tally)
    node = choice.chain[choice.index]
    cuts: dict[str, Any] = {
        column.name: Cut(column.domain, levels.nodes[level])
        for column, levels, level in zip(tally.quasi, lattice.columns, node, strict=True)
    }
    return Generalization(cuts)
