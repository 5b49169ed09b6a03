"""Intersection, extremes, median, union, and a polynomial at a secret point."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from statistics import median_low
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.parties import house, run, run_each

from privet.errors import InputError, PartyError, UnsupportedError
from privet.parties.noisy.exponentials import Taylor
from privet.parties.primitives import union as unions
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Rounds, answered, maximum, median, minimum
from privet.parties.primitives.intersection import PRIME, common, on_curve
from privet.parties.primitives.paillier import PrivateKey, Sizes
from privet.parties.primitives.polynomial import evaluate, let_evaluate, shifted
from privet.parties.primitives.securesum import Pairwise
from privet.parties.primitives.union import union, without
from privet.parties.transport import Link, together

# Intersection.


@given(data=st.data())
@settings(max_examples=15)
def test_all_find_the_same_persons_in_the_same_order(data: Any) -> None:
    lists = data.draw(
        st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=2, max_size=4)
    )
    found = run(len(lists), lambda link: [lists[link.me][at] for at in common(link, lists[link.me])])
    assert all(one == found[0] for one in found)
    assert set(found[0]) == set.intersection(*map(set, lists))


def test_equal_identifiers_are_one_person_however_they_are_written() -> None:
    lists = [["2", "e\u0301", "007", "2024-03-05"], ["2024-03-05T00:00Z", "7", "\u00e9", "+2.0"]]
    one, other = run(2, lambda link: [lists[link.me][at] for at in common(link, lists[link.me])])
    pairs = {("2", "+2.0"), ("e\u0301", "\u00e9"), ("2024-03-05", "2024-03-05T00:00Z")}
    assert set(zip(one, other, strict=True)) == pairs
    with pytest.raises(InputError, match="1 identifiers stand in more than one row"):
        run(2, lambda link: common(link, ["1", "1.0"]))


def test_nobody_sees_an_identifier_or_its_hash() -> None:
    lists = [["CANARY-1", "both"], ["both", "CANARY-2"]]
    one = house(2)
    together(one, [lambda link: common(link, lists[link.me])] * 2)
    said = b"".join(payload for link in one.links for _, _, payload in link.traffic.transcript)
    for name in ("CANARY-1", "CANARY-2", "both"):
        assert name.encode() not in said
        assert on_curve(name, one.session.id) not in said


def test_the_order_of_points_tells_nothing() -> None:
    """Each sees in which order the other sent those whom both know: not that of the table or of a hash."""
    names = [f"person {at}" for at in range(40)]
    known = []
    for _ in range(3):
        one = house(2)
        together(one, [lambda link: common(link, [*names, f"only {link.me}"])] * 2)
        (back,) = (load for _, kind, load in one.links[0].traffic.transcript if kind == "own")  # in its order
        (handed,) = (load for _, kind, load in one.links[1].traffic.transcript if kind == "own")
        mine, theirs = ([raw[at : at + 32] for at in range(0, len(raw), 32)] for raw in (back, handed))
        assert len(set(mine) & set(theirs)) == len(names)
        known.append([theirs.index(one) for one in mine if one in theirs])
    assert len({tuple(order) for order in known}) == 3
    for order in known:
        assert order != sorted(order)  # as where both send by the hash, or by their tables


def test_handles_are_others_in_every_run() -> None:
    seen = set()
    for _ in range(2):
        one = house(2)
        together(one, [lambda link: common(link, ["a"])] * 2)
        seen.add(one.links[0].traffic.transcript[-1][2])
    assert len(seen) == 2


def test_an_identifier_twice_is_refused_without_naming_it() -> None:
    with pytest.raises(InputError, match="1 identifiers stand in more than one row") as caught:
        run(2, lambda link: common(link, ["CANARY", "CANARY"]))
    assert "CANARY" not in str(caught.value)


def test_every_hash_is_on_the_curve() -> None:
    """Else a party could tell half of its guesses from the other half by looking at a point."""
    for at in range(50):
        u = int.from_bytes(on_curve(str(at), b""), "little")
        assert pow(u**3 + 486662 * u**2 + u, (PRIME - 1) // 2, PRIME) == 1


def test_a_point_of_small_order_is_refused() -> None:
    def wrong(link: Link) -> None:
        link.send_words(1, "how many", np.array([1], dtype=np.uint32))
        link.receive_words(1, "how many", 1, np.uint32)
        link.send(1, "points", bytes(32))
        link.receive(1, "points", 32)
        link.receive(1, "own", 32)

    with pytest.raises(PartyError, match="north: sent a point"):
        run_each([wrong, lambda link: common(link, ["a"])])


# Extremes.


@given(values=st.lists(st.none() | st.integers(-100, 100), min_size=3, max_size=5))
@settings(max_examples=25)
def test_the_largest_and_the_smallest(values: list[int | None]) -> None:
    found = run(
        len(values), lambda link: (maximum(link, values[link.me], -100), minimum(link, values[link.me], 100))
    )
    there = [value for value in values if value is not None]
    assert set(found) == {(max(there, default=-100), min(there, default=100))}


@pytest.mark.parametrize(
    ("first", "shrink", "rounds", "error"),
    [(1, "1/2", 2, 0.5), (1, "1/2", 3, 0.125), (1, "1/2", 4, 0.015625), (1, "1/4", 3, 0.015625),
     ("3/4", "1/2", 3, 0.052734375), ("1/2", "1/2", 3, 0.015625)],
)  # fmt: skip
def test_how_often_it_would_err_without_an_exact_last_round(
    first: Any, shrink: str, rounds: int, error: float
) -> None:
    how = Rounds(rounds, Fraction(first), Fraction(shrink), exact=False)
    assert float(how.error()) == error  # spec 08, 4.9
    assert Rounds(rounds, Fraction(first), Fraction(shrink)).error() == 0


@pytest.mark.slow
def test_the_error_rate_of_the_spec() -> None:
    """Spec 08, 4.9: p0 = 1, delta = 1/2, T = 3: one in eight; 8,000 runs, false alarm one in 10**6."""
    how = Rounds(3, exact=False)
    wrong = 0
    for _ in range(8_000):
        wrong += passed(0, 1_000_000, *(how.chance(at) for at in range(3))) != 1_000_000
    assert abs(wrong / 8_000 - 0.125) < 5 * (0.125 * 0.875 / 8_000) ** 0.5


def passed(value: int, mine: int | None, *chances: Fraction) -> int:
    """What one party makes of a value, round by round."""
    for chance in chances:
        held = np.array([mine or 0], dtype=np.int64)
        value = int(answered(np.array([value]), held, np.array([mine is not None]), chance)[0])
    return value


def test_a_random_answer_lies_between_and_is_never_the_truth() -> None:
    seen = {passed(5, 9, Fraction(1)) for _ in range(200)}
    assert seen == {5, 6, 7, 8}
    assert passed(9, 5, Fraction(1)) == 9
    assert passed(5, None, Fraction(0)) == 5


@given(lists=st.lists(st.lists(st.integers(0, 20), max_size=5), min_size=3, max_size=4).filter(any))
@settings(max_examples=20)
def test_the_lower_median(lists: list[list[int]]) -> None:
    everything = [value for some in lists for value in some]

    def part(link: Link) -> int:
        mine = lists[link.me]
        return median(
            link, Pairwise(link), lambda probe: sum(v <= probe for v in mine), len(everything), 0, 20
        )

    assert set(run(len(lists), part)) == {median_low(everything)}


@pytest.mark.parametrize("values", [[1, 2, 2, 2, 3, 3], [1, 1, 1, 9], [1, 2, 4]])
def test_the_median_ends_where_the_sources_bisection_does_not(values: list[int]) -> None:
    parts = [values[at::3] for at in range(3)]

    def part(link: Link) -> int:
        return median(
            link, Pairwise(link), lambda probe: sum(v <= probe for v in parts[link.me]), len(values), 0, 9
        )

    assert set(run(3, part)) == {median_low(values)}


# Union.


@given(
    lists=st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=3, max_size=5), decoys=st.integers(0, 6)
)
@settings(max_examples=20)
def test_all_items_as_often_as_they_occur(lists: list[list[int]], decoys: int) -> None:
    found = run(len(lists), lambda link: union(link, lists[link.me], 10, decoys))
    want = Counter(item for some in lists for item in some)
    assert all(Counter(one) == want for one in found)


def test_the_specs_trace_and_why_a_set_difference_is_wrong() -> None:
    """Spec 08, 4.4: a a b c d e, also where a decoy (c) is an item of another party."""
    a, b, c, d, e, k, q = range(7)
    assert without([a, a, b, c, c, d, e, k], [k, c]) == [a, a, b, c, d, e]
    assert without([a, a, b, c, d, e, k, q], [k, q]) == [a, a, b, c, d, e]
    assert sorted({a, b, c, d, e, k} - {k, c}) == [a, b, d, e]  # the wrong way loses c


A, B, C, D, E, K, Q = range(7)


@pytest.mark.parametrize(
    ("decoys", "bags", "claim", "true"),
    [
        ([K, C], ["acdk", "acdek", "aabcdek", "aabccdek"], "acd", False),
        ([K, Q], ["adkq", "adekq", "aabdekq", "aabcdekq"], "ad", True),
    ],
)
def test_the_specs_trace_around_the_ring(
    decoys: list[int], bags: list[str], claim: str, true: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 08, 4.4: four nodes, the third leads; the fourth claims what is in its bag and in the result."""
    one = house(4)
    order = Around(one.links[0]).order
    items = dict(zip(order, ([A, B], [C], [D, A], [E]), strict=True))
    monkeypatch.setattr(unions, "elected", lambda around: around.after == order[3])
    monkeypatch.setattr(unions, "below", lambda _: np.array(decoys))
    found = together(one, [lambda link: union(link, items[link.me], 7, 0)] * 4)
    assert found == [[A, A, B, C, D, E]] * 4
    heard = []
    for party in (order[3], order[0], order[1], order[2]):
        bag = next(p for _, kind, p in one.links[party].traffic.transcript if kind == "bag")
        heard.append(
            "".join("abcdekq"[item] for item in sorted(np.frombuffer(bag, dtype=np.uint64).tolist()))
        )
    assert heard == bags
    seen = {item for item in heard[0] if item in "abcde"}
    assert "".join(sorted(seen)) == claim
    assert (seen == {"d", "a"}) is true


def test_the_naive_union_shows_the_first_party_to_the_next() -> None:
    one = house(3)
    found = together(one, [lambda link: unions.naive(link, [link.me, 5], 10)] * 3)
    assert found == [[0, 1, 2, 5, 5, 5]] * 3
    heard = one.links[Around(one.links[0]).after].traffic.transcript
    bag = next(np.frombuffer(p, dtype=np.uint64) for _, kind, p in heard if kind == "bag")
    assert sorted(bag.tolist()) == [0, 5]


def test_a_missing_decoy_is_noticed() -> None:
    assert without([1, 2], [3]) is None


def test_the_successor_does_not_know_which_are_the_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unions, "elected", lambda around: around.begins)
    sizes = set()
    for _ in range(40):
        one = house(3)
        together(one, [lambda link: union(link, [7], 10, 5)] * 3)
        heard = one.links[Around(one.links[0]).after].traffic.transcript
        bag, result = (np.frombuffer(p, dtype=np.uint64) for _, kind, p in heard if kind == "bag")
        assert result.tolist() == [7, 7, 7]
        sizes.add(len(bag))
    assert sizes <= set(range(6, 12))  # its item and five to ten decoys
    assert len(sizes) > 1


def test_all_send_alike_whoever_leads() -> None:
    """Who leads is nowhere to be seen: as many messages of each kind from everybody to its successor."""
    one = house(4)
    together(one, [lambda link: union(link, [link.me], 10, 3)] * 4)
    kinds = [Counter(kind for _, kind, _ in link.traffic.transcript) for link in one.links]
    assert all(kind == kinds[0] for kind in kinds)
    assert kinds[0]["bag"] == 2
    senders = [
        {name for name, kind, _ in link.traffic.transcript if kind in {"items", "bag"}} for link in one.links
    ]
    assert all(len(some) == 1 for some in senders)


def test_items_of_another_domain_are_refused() -> None:
    with pytest.raises(UnsupportedError):
        run(3, lambda link: union(link, [11], 10, 0))


def test_each_can_be_drawn_as_leader() -> None:
    seen = set()
    for _ in range(60):
        leads = run(3, lambda link: unions.elected(Around(link)))
        assert sum(leads) == 1
        seen.add(leads.index(True))
        if len(seen) == 3:
            return
    raise AssertionError(f"after 60 lots only {seen} were drawn")


# A polynomial at a secret point.


@given(
    coefficients=st.lists(st.integers(0, 10**6), min_size=1, max_size=4),
    at=st.lists(st.integers(-1000, 10**6), min_size=1, max_size=3),
)
@settings(max_examples=10)
def test_polynomials_at_secret_points(coefficients: list[int], at: list[int]) -> None:
    with Sizes.for_tests(256):
        key = PrivateKey.fresh(256)
        found = run_each(
            [
                lambda link: evaluate(link, 1, key, at, len(coefficients) - 1),
                lambda link: let_evaluate(link, 0, key.public, [coefficients] * len(at)),
            ]
        )
    n = int(key.public.n)
    assert found[0] == [sum(q * one**i for i, q in enumerate(coefficients)) % n for one in at]


@given(u=st.integers(0, 60), alpha=st.integers(0, 2**70), beta=st.integers(0, 2**100))
def test_shares_of_a_weight_add_up(u: int, alpha: int, beta: int) -> None:
    """Spec 05, 3.3.1: beta + Q(alpha_2) = V(u), whatever the masks."""
    n = (1 << 255) - 19
    q = Taylor(5, 100, 4).coefficients
    polynomial = shifted(q, (u - alpha) % n, beta, n)
    value = sum(one * pow(alpha, i, n) for i, one in enumerate(polynomial))
    assert (beta + value) % n == sum(one * u**i for i, one in enumerate(q)) % n
