"""Random tallies, recodings and promises to test with."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.domain import Cut, Domain, Node, Value
from privet.hierarchy import Flat, Intervals
from privet.models.alphak import AlphaKAnonymity
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness
from privet.models.lkc import LKC
from privet.models.risk import AverageRisk, MaximumRisk
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Generalization

MARK = "§"  # begins every text of a quasi-identifier, so that it is recognised where it must not appear


ODD = ["", " ", "a", "A", "é", "e\u0301", "ß", "日本", "🏥", '"', "'", ",", ";", "*", "0", "-1"]
PLAIN = [Flat().domain(values) for values in (("a", "b"), ("a",), ("a", "b", None), ("a", "b", "c"), (None,))]


def texts() -> SearchStrategy[str]:
    """Short texts as data has them: spaces, quotes, delimiters, letters of many alphabets."""
    return st.sampled_from(ODD) | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4)


@st.composite
def trees(draw: DrawFn) -> Domain:
    """Random taxonomies of up to six leaves, with or without null."""
    leaves = [MARK + text for text in draw(st.lists(texts(), min_size=1, max_size=6, unique=True))]
    size, null = len(leaves), draw(st.booleans())

    def below(lo: int, hi: int) -> tuple[Node, ...]:
        if hi - lo == 1:
            return ()
        inner = draw(st.sets(st.integers(lo + 1, hi - 1), min_size=1, max_size=2))
        return tuple(node(a, b) for a, b in pairwise([lo, *sorted(inner), hi]))

    def node(lo: int, hi: int) -> Node:
        label = leaves[lo] if hi - lo == 1 else f"{MARK}[{lo}:{hi}]"
        made = Node(label, lo, hi, below(lo, hi))
        # A node with one child only is allowed, and says no less than it.
        return Node(f"{MARK}<{lo}:{hi}>", lo, hi, (made,)) if draw(st.integers(0, 9)) == 9 else made

    if not null:
        return Domain(tuple(leaves), node(0, size))
    top = below(0, size) or (Node(leaves[0], 0, 1),)
    return Domain((*leaves, None), Node("any", 0, size + 1, (*top, Node(None, size, size + 1))))


@st.composite
def numbers(draw: DrawFn) -> Domain:
    """Random numbers, whole or with a decimal, under intervals that are split at run time."""
    written = st.integers(-20, 99).map(str) | st.integers(-50, 50).map(lambda n: str(Decimal(n).scaleb(-1)))
    values: list[Value] = [*draw(st.lists(written, min_size=1, max_size=8, unique=True))]
    return Intervals().domain([*values, None] if draw(st.booleans()) else values)


@st.composite
def tallies(
    draw: DrawFn,
    *,
    quasi: int = 3,
    sensitive: int = 2,
    cells: int = 12,
    target: bool | None = None,
    nulls: Nulls | None = Nulls.VALUE,
) -> Tally:
    """Random small tallies: `q0`, `q1`… , `s0`… and perhaps a target `t`, up to so many of each.

    There are nulls, one-value columns, texts of many alphabets, and cells that agree in every column.
    `target` None: with or without; `nulls` None: either reading.
    """
    height = draw(st.integers(1, cells))

    def below(size: int) -> list[int]:
        # One draw for a whole column: drawing number by number takes most of a test's time.
        return [byte % size for byte in draw(st.binary(min_size=height, max_size=height))]

    def column(name: str, domain: Domain) -> Column:
        codes = below(domain.size)
        if domain.scale is not None:  # numbers that nobody has are no part of a domain
            values = [domain.values[code] for code in codes]
            domain = Intervals().domain(values)
            codes = [domain.codes[value] for value in values]
        return Column(name, domain, domain.column(np.array(codes, dtype=np.intp)))

    with_target = draw(st.booleans()) if target is None else target
    return Tally(
        quasi=tuple(column(f"q{at}", draw(trees() | numbers())) for at in range(draw(st.integers(1, quasi)))),
        sensitive=tuple(
            column(f"s{at}", draw(st.sampled_from(PLAIN))) for at in range(draw(st.integers(1, sensitive)))
        ),
        target=column("t", draw(st.sampled_from(PLAIN))) if with_target else None,
        counts=np.array(below(4), dtype=np.int64) + 1,
        nulls=draw(st.sampled_from(Nulls)) if nulls is None else nulls,
    )


@st.composite
def descents(draw: DrawFn, tally: Tally) -> list[Generalization]:
    """A random way down from the most general recoding: each is one split finer than the one before."""
    cuts = {column.name: [column.domain.root] for column in tally.quasi}
    domain = {column.name: column.domain for column in tally.quasi}

    def now() -> Generalization:
        return Generalization({name: Cut(domain[name], tuple(nodes)) for name, nodes in cuts.items()})

    found = [now()]
    for _ in range(draw(st.integers(0, 8))):
        ways = [
            (name, at, split)
            for name, nodes in cuts.items()
            for at, node in enumerate(nodes)
            for split in splits(domain[name], node)
        ]
        if not ways:
            break
        name, at, children = draw(st.sampled_from(ways))
        cuts[name][at : at + 1] = children
        found.append(now())
    return found


def splits(domain: Domain, node: Node) -> list[tuple[Node, ...]]:
    """Every way to replace a value of a cut: by its children, or by the two halves of an interval."""
    if node.children:
        return [node.children]
    if domain.scale is None or not domain.grows(node):
        return []
    known = domain.scale.numbers
    return [domain.split(node, at) for at in range(node.lo + 1, node.hi) if known[at - 1] < known[at]]


def recodings(tally: Tally) -> SearchStrategy[Generalization]:
    """Random cuts for every quasi-identifier of a tally."""
    return descents(tally).map(lambda walk: walk[-1])


def shares() -> SearchStrategy[Fraction]:
    """Exact shares above 0 and at most 1, among them ones whose products do not fit 64 bits."""
    made: SearchStrategy[Fraction] = st.sampled_from(
        [Fraction(1, 2), Fraction(1, 3), Fraction(1), Fraction(1, 10**18), Fraction(10**18 - 1, 10**18)]
    ) | st.fractions(Fraction(1, 20), 1, max_denominator=20)
    return made


def models(tally: Tally) -> SearchStrategy[PrivacyModel]:
    """The built-in promises with random parameters, about the sensitive attributes of a tally."""
    small = st.integers(1, 4)
    values = {c.name: st.lists(st.sampled_from([*c.domain.values, "d"]), max_size=2) for c in tally.sensitive}
    sensitive = st.fixed_dictionaries(values) | st.just(tuple(values))
    made: SearchStrategy[PrivacyModel] = st.one_of(
        st.builds(KAnonymity, k=small),
        st.builds(LKC, l=small, k=small, c=shares(), sensitive=sensitive),
        st.builds(AlphaKAnonymity, alpha=shares(), k=small, sensitive=sensitive),
    )
    return made


def class_models(tally: Tally) -> SearchStrategy[PrivacyModel]:
    """Built-in monotone promises about classes and risks, which need every record in one class."""
    small, names = st.integers(1, 4), st.just(tuple(column.name for column in tally.sensitive))
    if tally.nulls is Nulls.WILDCARD:
        return models(tally)
    made: SearchStrategy[PrivacyModel] = st.one_of(
        st.builds(DistinctLDiversity, l=small, sensitive=names),
        st.builds(EntropyLDiversity, l=small, sensitive=names),
        st.builds(RecursiveLDiversity, c=shares().map(lambda share: 4 * share), l=small, sensitive=names),
        st.builds(
            TCloseness,
            t=shares(),
            sensitive=names,
            distance=st.sampled_from([Distance.EQUAL, Distance.KL]),
        ),
        st.builds(BetaLikeness, beta=shares(), sensitive=names),
        st.builds(AverageRisk, at_most=shares()),
        st.builds(MaximumRisk, at_most=shares()),
    )
    return made
