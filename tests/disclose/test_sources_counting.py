"""Several views together: E1 to E7 of spec 13, and exact counting against looking at every table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.sources import (
    ALAN,
    BOB,
    CLARK,
    DONALD,
    ELEVEN,
    ELLEN,
    FEN,
    FLU,
    GARCIA,
    HALF,
    HD,
    JESSICA,
    MISLEADING,
    SARS,
    SEVEN,
    VI,
    every_table,
    register,
    share,
    view,
    views,
)

from privet.disclose.sources.completion import NodeLimitError, completed
from privet.disclose.sources.counting import count
from privet.disclose.sources.gamma import Decision, assess
from privet.disclose.sources.prepare import component, components
from privet.disclose.sources.views import Comparison, Register, View, counted
from privet.domain import Value
from privet.errors import InputError, PolicyError

F = Fraction


@pytest.mark.parametrize(
    ("names", "people", "instances", "donald", "worst", "private"),
    [
        ("A", 4, 12, HALF, HALF, True),
        ("AB", 7, 45, F(4, 5), F(4, 5), False),
        ("ABC", 7, 18, F(2, 3), F(2, 3), False),
        ("ABD", 7, 18, F(2, 3), F(2, 3), False),
        ("ABCD", 7, 8, HALF, HALF, True),
    ],
)
def test_seven_employees(  # noqa: PLR0917 - a line of the table
    names: str, people: int, instances: int, donald: Fraction, worst: Fraction, private: bool
) -> None:
    found = assess(views(names, SEVEN), HALF)
    assert (found.people, found.instances) == (people, instances)
    assert found.chance(DONALD, SARS) == donald
    assert found.worst.worst == worst
    assert found.decision is (Decision.PRIVATE if private else Decision.NOT_PRIVATE)
    assert (DONALD in found.exposed) == bool(found.exposed) == (not private)


def test_everybodys_chances() -> None:
    found = assess(views("A", SEVEN), HALF)
    assert [found.chance(ALAN, value) for value in (HD, SARS, VI, FLU)] == [F(1, 4), HALF, F(1, 4), 0]
    assert found.chance(ELLEN, SARS) is None  # in no view
    found = assess(views("AB", SEVEN), HALF)
    for person in (ALAN, BOB, CLARK):
        assert [found.chance(person, v) for v in (HD, SARS, VI)] == [F(1, 3), F(2, 5), F(4, 15)]
    for person in (ELLEN, FEN, GARCIA):
        assert [found.chance(person, v) for v in (FLU, SARS, VI)] == [F(1, 3), F(2, 5), F(4, 15)]
    found = assess(views("ABCD", SEVEN), HALF)
    assert {found.chance(p, v) for p in range(7) for v in (HD, SARS, VI, FLU)} == {0, HALF}


def test_the_printed_count_of_four_tables_is_eight() -> None:
    tables = list(every_table(views("ABCD", SEVEN)))
    assert len(tables) == 8
    assert sum(table[DONALD] == SARS for table in tables) == 4
    # Table 6.4 is possible when only A is out.
    assert {ALAN: SARS, BOB: HD, CLARK: VI, DONALD: SARS} in list(every_table(views("A", SEVEN)))


@pytest.mark.parametrize(
    ("names", "parts", "instances", "donald", "private"),
    [
        ("ABE", 2, 540, F(4, 5), False),
        ("ABEF", 1, 243, F(8, 9), False),
        ("ABEFC", 1, 90, F(4, 5), False),  # the source says that this restores privacy
        ("ABEFD", 1, 90, F(4, 5), False),  # and this
        ("ABECD", 2, 96, HALF, True),
        ("ABEFCD", 1, 36, F(2, 3), False),
    ],
)
def test_eleven_employees(names: str, parts: int, instances: int, donald: Fraction, private: bool) -> None:
    found = assess(views(names, ELEVEN), HALF)
    assert (len(found.parts), found.instances) == (parts, instances)
    assert found.chance(DONALD, SARS) == donald
    assert (found.decision is Decision.PRIVATE) == private


@pytest.mark.parametrize(
    ("names", "instances", "donald", "private"),
    [
        ("ABE", 540, F(4, 5), False),
        ("ABEF", 162, F(2, 3), False),
        ("ABEFC", 72, HALF, True),
        ("ABEFD", 72, HALF, True),
    ],
)
def test_the_sources_claim_holds_if_jessica_has_sars(
    names: str, instances: int, donald: Fraction, private: bool
) -> None:
    base = (*ELEVEN[:JESSICA], SARS, *ELEVEN[JESSICA + 1 :])
    found = assess(views(names, base), HALF)
    assert found.instances == instances
    assert found.chance(DONALD, SARS) == donald
    assert (found.decision is Decision.PRIVATE) == private


def test_the_misleading_case() -> None:
    """E3: the same views of another table; what is decided must be the same."""
    for name in "AB":
        assert view(name, MISLEADING).counts == view(name, SEVEN).counts
    found = assess(views("AB", MISLEADING), HALF)
    assert found.decision is Decision.NOT_PRIVATE
    assert found.chance(DONALD, SARS) == F(4, 5)
    mended = assess(views("ABDG", MISLEADING), HALF)
    assert mended.instances == 8
    assert (mended.chance(DONALD, SARS), mended.chance(DONALD, VI)) == (HALF, HALF)
    assert mended.decision is Decision.PRIVATE
    assert view("C", MISLEADING).counts == counted([HD, VI])  # 6.10B is not true here
    # An adversary who knows that C, narrower, would have been preferred rules out where it would have done.
    left = []
    for table in every_table(views("ABDG", MISLEADING)):
        other = [table[person] for person in range(7)]
        if assess(views("ABDC", other), HALF).decision is not Decision.PRIVATE:
            left.append(table)
    assert len(left) == 6
    assert (share(left, CLARK, HD), share(left, DONALD, SARS)) == (F(2, 3), F(2, 3))


def family(k: int) -> tuple[list[View], list[Value]]:
    """E4: k views that share one person."""
    base: list[Value] = []
    for i in range(1, k + 1):
        base += ["s1", "s2", f"s{i + 2}"]
    base.append("s1")
    found = [[3 * i, 3 * i + 1, 3 * i + 2, 3 * k] for i in range(k)]
    return [View.of(people, [base[at] for at in people]) for people in found], base


@pytest.mark.parametrize(
    ("k", "instances", "chance"), [(1, 12, F(1, 2)), (2, 45, F(4, 5)), (3, 243, F(8, 9))]
)
def test_k_views_that_share_a_person(k: int, instances: int, chance: Fraction) -> None:
    given, _ = family(k)
    found = assess(given, HALF)
    assert (found.instances, found.chance(3 * k, "s1")) == (instances, chance)


def test_a_corner_of_the_linear_system_need_not_be_whole() -> None:
    """E6: half of everything would fit, but no table gives person 2 the value 0."""
    given = [View.of(people, ["1", "0", "0"]) for people in ([0, 1, 2], [1, 2, 3], [0, 1, 3])]
    (part,) = components(given)
    found = count(part)
    assert found is not None
    assert found.instances == 1
    assert assess(given, HALF).chance(1, "1") == 1
    at = next(at for at, members in enumerate(part.classes) if members == (1,))
    sizes, residual = part.sizes.copy(), part.margins.copy()
    sizes[at] -= 1
    residual[:, part.values.index("0")] -= 1  # person 2 is in all three views
    half = np.full((len(sizes), 2), 0.5) * (sizes > 0)[:, None]
    assert (part.member @ half == residual).all()  # the linear system is content
    assert completed(part.member, sizes, residual) is None
    assert completed(part.member, part.sizes, part.margins) is not None


@pytest.mark.parametrize(
    ("bag", "gamma", "private"),
    [("aabb", HALF, True), ("aab", HALF, False), ("aab", F(2, 3), True), ("aab", F(65, 100), False)],
)
def test_one_view_is_recursively_diverse(bag: str, gamma: Fraction, private: bool) -> None:
    """E7, Theorem 16: not strict."""
    given = View.of(range(len(bag)), bag)
    found = assess([given], gamma)
    assert (found.decision is Decision.PRIVATE) == private
    largest, others = given.largest, len(bag) - given.largest
    assert private == (largest <= gamma / (1 - gamma) * others)


@st.composite
def disclosures(draw: st.DrawFn, people: int = 7) -> list[View]:
    many = draw(st.integers(2, people))
    base = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=many, max_size=many))
    chosen = draw(st.lists(st.frozensets(st.integers(0, many - 1), min_size=1), min_size=1, max_size=4))
    return [View.of(some, [base[at] for at in some]) for some in chosen]


@settings(max_examples=150, deadline=None)
@given(disclosures())
def test_counting_is_looking_at_every_table(given_: list[View]) -> None:
    tables = list(every_table(given_))
    found = assess(given_, HALF)
    assert found.instances == len(tables)
    for person in {person for one in given_ for person in one.people}:
        for value in ("a", "b", None):
            assert found.chance(person, value) == share(tables, person, value)
    exposed = {
        p for one in given_ for p in one.people if max(share(tables, p, v) for v in ("a", "b", None)) > HALF
    }
    assert found.exposed == exposed


@settings(max_examples=150, deadline=None)
@given(disclosures(people=6), st.data())
def test_completing_is_looking_for_a_table(given_: list[View], data: st.DataObject) -> None:
    """Also for margins that no table has."""
    for part in components(given_):
        residual = part.margins.copy()
        if data.draw(st.booleans()) and len(part.values) > 1:
            at = data.draw(st.integers(0, len(part.views) - 1))
            residual[at] = np.roll(residual[at], 1)
        changed = [
            View(one.people, tuple((v, int(n)) for v, n in zip(part.values, row, strict=True) if n), one.name)
            for one, row in zip(part.views, residual, strict=True)
        ]
        found = completed(part.member, part.sizes, residual)
        assert (found is not None) == any(True for _ in every_table(changed))
        if found is not None:
            assert (found >= 0).all()
            assert (found.sum(axis=1) == part.sizes).all()
            assert (part.member @ found == residual).all()


def test_a_search_that_nobody_finishes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    whole = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name.startswith("scipy"):
            raise ImportError
        return whole(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    part = component(views("AB", SEVEN))
    with pytest.raises(NodeLimitError):
        completed(part.member, part.sizes, part.margins, nodes=0)


def test_an_integer_solver_helps_out() -> None:
    pytest.importorskip("scipy")
    part = component(views("ABCD", SEVEN))
    found = completed(part.member, part.sizes, part.margins, nodes=0)
    assert found is not None
    assert (part.member @ found == part.margins).all()


def test_too_much_to_count_is_not_counted() -> None:
    (part,) = components(views("AB", SEVEN))
    assert count(part, steps=3) is None
    found = assess(views("AB", SEVEN), HALF, steps=3)
    assert found.decision is Decision.UNDECIDED
    assert found.instances is None


def test_contradictions_are_refused() -> None:
    with pytest.raises(InputError, match="contradict"):
        assess([View.of([0, 1], "ab"), View.of([0, 1], "aa")], HALF)
    with pytest.raises(InputError, match="contradict"):
        assess([View.of([0, 1], "ab"), View.of([1, 2], "cd")], HALF)


def test_views_and_registers_are_checked() -> None:
    with pytest.raises(InputError, match="selects 2 people of the register, but it has 3 values"):
        View.of([0, 1], "abc", "mine")
    with pytest.raises(InputError, match="selects nobody"):
        View.of([], "")
    with pytest.raises(InputError, match="1 keys"):
        Register(("a", "a"), {})
    with pytest.raises(InputError, match="one of sex, age"):
        register(7).selected([Comparison.parse("zip = 1")])
    with pytest.raises(InputError, match="1 of 2 people"):
        register(7).named(["Alan", "Zoe"])
    with pytest.raises(InputError, match="age >= 26"):
        Comparison.parse("age")
    with pytest.raises(PolicyError, match="gamma is an exact fraction"):
        assess(views("A", SEVEN), 0.5)  # type: ignore[arg-type]


def test_numbers_are_compared_as_numbers_and_nothing_is_known_of_null() -> None:
    people = Register(("a", "b", "c", "d"), {"n": ("9", "10", None, "11.0"), "t": ("9", "10", "x", None)})
    assert people.selected([Comparison.parse("n > 9")]) == {1, 3}
    assert people.selected([Comparison.parse("n = 11")]) == {3}
    assert people.selected([Comparison.parse("n < 10")]) == {0}
    assert people.selected([Comparison.parse("t > 9")]) == {2}  # one is not a number, so all are text
    assert people.selected([]) == {0, 1, 2, 3}


def test_nothing_shows_a_value() -> None:
    given = views("AB", SEVEN)
    found = assess(given, HALF)
    shown = repr(given) + repr(found) + repr(register(7)) + repr(components(given))
    for secret in (SARS, VI, "Donald", "frozenset"):
        assert secret not in shown
