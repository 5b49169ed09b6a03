"""How high labels stand: looked up in leaf order, and the same as walking the whole tree for each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Domain, Node
from privet.hierarchy import Dates, Intervals, Prefix, Tree
from privet.measure.utility import height

DOMAINS = (
    Tree.of({"*": {"x": {"u": ["a", "b"], "v": ["c"]}, "y": ["d", "e"]}}).domain([]),
    Intervals(width=(5, 10)).domain([str(n) for n in range(0, 40, 3)]),
    Intervals().domain([str(n) for n in range(20)]),
    Prefix(keep=(3, 1)).domain([f"{n:04d}" for n in range(0, 5000, 257)]),
    Dates().domain(["2020-01-01", "2020-02-03", "2021-05-06", "2023-05-07"]),
)


def walked(domain: Domain, node: Node) -> int:
    """The definition: the longest way down, each time from the top."""

    def below(here: Node) -> int:
        if domain.grows(here):
            return (here.leaves - 1).bit_length()
        return 1 + max(map(below, here.children)) if here.children else 0

    same = (n for n in domain.root.walk() if (n.lo, n.hi, n.label) == (node.lo, node.hi, node.label))
    found = node if node.children else next(same, None)
    if found is None and not domain.grows(node):
        return min((node.leaves - 1).bit_length(), below(domain.root))
    return below(found or node)


@given(st.sampled_from(DOMAINS), st.data())
def test_a_label_stands_as_high_as_its_tree_says(domain: Domain, data: st.DataObject) -> None:
    known = data.draw(st.sampled_from(list(domain.root.walk())))
    assert height(domain, known) == walked(domain, known)
    bare = Node(known.label, known.lo, known.hi, interval=known.interval)  # as evidence has it
    assert height(domain, bare) == walked(domain, bare)
    lo = data.draw(st.integers(0, domain.size - 1))
    odd = Node("odd", lo, data.draw(st.integers(lo + 1, domain.size)))  # a range that no tree has
    assert height(domain, odd) == walked(domain, odd)


@given(st.sampled_from(DOMAINS), st.data())
def test_the_child_that_holds_a_code_is_found(domain: Domain, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(list(domain.root.walk())))
    code = data.draw(st.integers(0, domain.size))
    expected = [child for child in node.children if child.lo <= code < child.hi]
    assert node.child_with(code) == (expected[0] if expected else None)
