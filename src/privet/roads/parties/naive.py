"""What the parties of a contract would lose if each published for itself: generalise first, then integrate.

Split by people that is private and needlessly lossy (Mohammed 2012, tables 5.3 and 5.4); split by columns it
is not private at all, and not offered. It is for comparison only: everything lies on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from privet.domain import Node
from privet.engine import Engine
from privet.errors import InputError, UnsatisfiableError
from privet.parties.contract import Contract
from privet.parties.words import Split
from privet.roads.stations import columns_needed, in_frame, settle


@dataclass(frozen=True)
class Apart:
    """By party what it would publish alone; None where it could publish nothing."""

    tables: Mapping[str, Any] = field(repr=False)
    loss: Fraction | None  # of all rows that would be published; None where there are none

    @property
    def nothing(self) -> tuple[str, ...]:
        return tuple(party for party, table in self.tables.items() if table is None)


def published_apart(contract: Contract, sources: Sequence[Any], engine: Engine[Any]) -> Apart:
    """Every party searches its own rows under the contract's terms, with the contract's values."""
    if contract.split is not Split.PEOPLE:
        raise InputError("each party for itself: only where people are split; of columns it is not private")
    terms, policy = contract.terms(), contract.policy
    tables: dict[str, Any] = {}
    for party, source in zip(contract.parties, sources, strict=True):
        read = engine.read(source, settle(source, policy.form), columns_needed(policy))
        tallied = engine.tally(read, terms)
        try:
            finding = policy.algorithm.search(tallied.tally, terms)
        except UnsatisfiableError:
            tables[party] = None
            continue
        tables[party] = in_frame(engine, engine.apply(tallied, terms, finding.recoding))
    there = [table for table in tables.values() if table is not None]
    rows = sum(table.height for table in there)
    total = sum((lost(table, contract) * table.height for table in there), Fraction(0))
    return Apart(tables, total / rows if rows else None)


def lost(table: Any, contract: Contract) -> Fraction:
    """LM: how much of a column a published value stands for, on average over rows and quasi-identifiers."""
    found = Fraction(0)
    quasi = [attribute.name for attribute in contract.policy.quasi]
    for name in quasi:
        domain = contract.domains[name]
        wide = {node.label: node.leaves - 1 for node in _nodes(domain.root)}
        labels = table.get_column(name).to_list()
        found += Fraction(sum(wide[label] for label in labels), len(labels) * max(1, domain.size - 1))
    return found / len(quasi)


def _nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, the finest of equal names last."""
    yield node
    for child in node.children:
        yield from _nodes(child)
