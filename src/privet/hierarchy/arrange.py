"""From the groups above each value to a domain: the builder that hierarchies made by a rule share.

Whatever the rule (intervals, prefixes, months), it says for every value which groups stand above it,
widest first. Values that share a group stand side by side, so each group becomes a range of codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from privet.domain import ANY, Domain, Node, Scale, Value, flat
from privet.errors import HierarchyError


class Group(NamedTuple):
    """What a value may be published as."""

    label: str
    interval: tuple[Decimal, Decimal] | None = None


Path: TypeAlias = tuple[Group, ...]  # from just below the root down to the value itself


def arrange(
    rows: Sequence[tuple[str, Path]],
    *,
    null: bool,
    scale: Scale | None = None,
    lift: bool = False,
    ranged: bool = False,
) -> Domain:
    """The domain of values in leaf order, each with its path; null comes last, below the root.

    A path may end above its value: then the last group is the most that is ever published, and it has
    no children. `lift`: a single group that covers everything is the root itself. `ranged`: groups follow
    each other as a calendar does, so that the first and the last of several say which they are.

    >>> groups = (Group("5**"), Group("53*"))
    >>> domain = arrange([("531", (*groups, Group("531"))), ("532", (*groups, Group("532")))], null=False)
    >>> [node.label for node in domain.root.walk()]
    ['*', '5**', '53*', '531', '532']
    """
    values: tuple[Value, ...] = tuple(value for value, _ in rows)
    if not rows:
        return flat((None,) if null else ())
    top = _below([path for _, path in rows], 0, len(rows), 0)
    if null:
        if top:
            root = Node(ANY, 0, len(rows) + 1, (*top, Node(None, len(rows), len(rows) + 1)))
        else:
            root = Node(ANY, 0, len(rows) + 1)
        return Domain((*values, None), root, scale, ranged)
    root = top[0] if lift and len(top) == 1 else Node(ANY, 0, len(rows), top)
    return Domain(values, root, scale, ranged)


def _below(paths: Sequence[Path], lo: int, hi: int, depth: int) -> tuple[Node, ...]:
    """The nodes at one depth under a group that covers `[lo, hi)`."""
    if any(len(path) == depth for path in paths[lo:hi]):
        return ()  # a value that reads like its group says no more than the group does
    nodes = []
    while lo < hi:
        group = paths[lo][depth]
        end = lo + 1
        while end < hi and paths[end][depth] == group:
            end += 1
        nodes.append(Node(group.label, lo, end, _below(paths, lo, end, depth + 1), group.interval))
        lo = end
    return tuple(nodes)


def distinct(values: Iterable[Value]) -> tuple[list[str], bool]:
    """Each value once without null, and whether there is a null."""
    seen = dict.fromkeys(values)
    return [value for value in seen if value is not None], None in seen


def refuse(*reasons: tuple[int, str, str], of: int) -> None:
    """Raise, saying how many of the values have no place in a hierarchy and what to do; never which.

    A reason is a count, what is wrong with so many values, and the fix.
    """
    complaints = [
        f"{count} of {of} {'value is' if of == 1 else 'values are'} {wrong}; "
        f"run with --show-values to see them, or {fix}"
        for count, wrong, fix in reasons
        if count
    ]
    if complaints:
        raise HierarchyError(*complaints, missing=sum(count for count, _, _ in reasons))
