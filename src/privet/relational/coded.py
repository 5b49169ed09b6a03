"""Values that a policy never tells apart: top and bottom coding, or intervals instead of raw numbers.

They are leaves of a hierarchy that stand for several values. A search along hierarchies keeps them whole by
itself; whatever publishes values as they are must look.
"""

from __future__ import annotations

from collections.abc import Iterator

from privet.core import Tally
from privet.domain import Domain, Node
from privet.errors import UnsupportedError


def finest(domain: Domain) -> tuple[Node, ...]:
    """The finest nodes that may be published: each value by itself, but coded ones together."""
    return tuple(_below(domain, domain.root))


def _below(domain: Domain, node: Node) -> Iterator[Node]:
    if node.children:
        for child in node.children:
            yield from _below(domain, child)
    elif _is_coded(domain, node):
        yield node
    else:
        yield from (Node(domain.values[at], at, at + 1) for at in range(node.lo, node.hi))


def _is_coded(domain: Domain, node: Node) -> bool:
    return not node.children and node.leaves > 1 and not domain.grows(node)


def codes(domain: Domain) -> bool:
    """Are some values of this hierarchy never told apart?"""
    return any(_is_coded(domain, node) for node in domain.root.walk())


def refuse_coded(algorithm: str, tally: Tally) -> None:
    """Refuse columns whose values may not all be told apart, for an algorithm that tells them."""
    wrong = [column.name for column in tally.quasi if codes(column.domain)]
    if wrong:
        raise UnsupportedError(
            f"{algorithm} publishes single values, and the hierarchy of {', '.join(wrong)} keeps some "
            "together (top, bottom, raw = false); use an algorithm that generalises along hierarchies"
        )
