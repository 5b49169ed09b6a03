"""The lattice as a whole agrees with looking at every node by itself, and with the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, Role
from privet.hierarchy.tree import Tree
from privet.models.kanonymity import KAnonymity
from privet.policy.values import Policy
from privet.relational.lattice import Lattice
from privet.relational.optimal import Optimal
from privet.studio.nodes import BREAKS, KEEPS, UNKNOWN, Walk, of_tally

CITY = Tree.of({"*": {"D": ["Bonn", "Berlin"], "F": ["Paris", "Lyon"]}})
SEX = Tree.of({"*": ["M", "F"]})
ROWS = st.lists(
    st.tuples(st.sampled_from(["Bonn", "Berlin", "Paris", "Lyon"]), st.sampled_from("MF")),
    min_size=4,
    max_size=30,
)
NAMED: dict[str, list[Callable[[str], str]]] = {
    "city": [lambda v: v, lambda v: "D" if v in {"Bonn", "Berlin"} else "F", lambda _: "*"],
    "sex": [lambda v: v, lambda _: "*"],
}


def policy(k: int) -> Policy:
    return Policy(
        (Attribute("city", Role.QUASI, CITY), Attribute("sex", Role.QUASI, SEX)),
        (KAnonymity(k=k),),
        Optimal(),
    )


@settings(max_examples=40)
@given(ROWS, st.integers(1, 5))
def test_every_node_is_judged_as_its_definition_says(rows: list[tuple[str, str]], k: int) -> None:
    table = {"city": [row[0] for row in rows], "sex": [row[1] for row in rows]}
    tally = tally_of(table, hierarchies={"city": CITY, "sex": SEX})
    found = of_tally(tally, policy(k))
    assert found.top == (2, 1)
    for at, node in enumerate(product(range(3), range(2))):
        lift = [NAMED[name][level] for name, level in zip(("city", "sex"), node, strict=True)]
        classes = Counter(tuple(f(v) for f, v in zip(lift, row, strict=True)) for row in rows)
        holds = min(classes.values()) >= k
        assert (found.keeps[at] == KEEPS) == holds
        said = found.node(node)
        assert said["holds"] == holds
        if holds:
            assert said["classes"] == len(classes)
            assert said["smallest"] == min(classes.values())
            assert abs(said["loss"] - found.loss[at]) < 1e-4
    kept = [at for at in range(len(found.loss)) if found.keeps[at] == KEEPS]
    if kept:
        best = Optimal().solve(tally, (KAnonymity(k=k),))
        assert abs(best.loss - min(found.loss[at] for at in kept)) < 1e-9


def test_what_nobody_has_looked_at_says_so() -> None:
    tally = tally_of({"city": ["Bonn"] * 5, "sex": ["M"] * 5}, hierarchies={"city": CITY, "sex": SEX})
    found = of_tally(tally, policy(2), patience=0)
    assert set(found.keeps.tolist()) <= {UNKNOWN, KEEPS, BREAKS}
    assert UNKNOWN in found.keeps
    assert Lattice.of(tally).size == len(found.keeps)


def test_who_is_told_to_stop_shows_what_is_known() -> None:
    tally = tally_of({"city": ["Bonn"] * 5, "sex": ["M"] * 5}, hierarchies={"city": CITY, "sex": SEX})
    walk = Walk()
    assert UNKNOWN not in of_tally(tally, policy(2), walk=walk).keeps
    assert walk.size == Lattice.of(tally).size
    walk.stop.set()
    found = of_tally(tally, policy(2), walk=walk)
    assert set(found.keeps.tolist()) == {UNKNOWN}
    assert found.looked == 0
