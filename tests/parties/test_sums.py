"""Adding up what nobody shows: ring, pairwise masks, shares; and computing on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.parties import house, run, run_each

from privet.errors import UnsupportedError
from privet.parties.primitives import securesum
from privet.parties.primitives.around import Around
from privet.parties.primitives.randomness import Stream, fresh
from privet.parties.primitives.replicated import Feeding, Shared, Three
from privet.parties.primitives.securesum import Pairwise, Ring
from privet.parties.primitives.sharing import joined, shared
from privet.parties.primitives.shuffle import by_chance, handed_in, shuffled
from privet.parties.transport import Link, together

WAYS: dict[str, Callable[[Link], securesum.SecureSum]] = {"ring": Ring, "pairwise": Pairwise}

# Spec 03, 4.3: what each party counts at the root of table 5.2, and the totals that the leader must obtain.
TABLE = {
    "root": ((3, 4, 4), (1, 1, 0)),
    "Blue-collar": ((2, 2, 2), (1, 1, 0)),
    "White-collar": ((1, 2, 2), (0, 0, 0)),
    "M": ((2, 3, 2), (1, 1, 0)),
    "F": ((1, 1, 2), (0, 0, 0)),
    "[1-60)": ((3, 4, 2), (1, 1, 0)),
    "[60-99)": ((0, 0, 2), (0, 0, 0)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_totals_of_the_specs_table(way: Callable[[Link], securesum.SecureSum]) -> None:
    columns = np.array([part for both in TABLE.values() for part in both], dtype=np.uint32)
    first, *rest = run(3, lambda link: way(link).total(columns[:, link.me].copy()))
    assert first.tolist() == [11, 2, 6, 2, 5, 0, 7, 2, 4, 0, 9, 2, 2, 0]
    assert rest == [None, None]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@given(
    columns=st.integers(3, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 2**40), min_size=n, max_size=n), min_size=1, max_size=5)
    )
)
@settings(max_examples=15)
def test_a_total_is_the_sum(way: Callable[[Link], securesum.SecureSum], columns: list[list[int]]) -> None:
    table = np.array(columns, dtype=np.uint64)
    found = run(table.shape[1], lambda link: way(link).total(table[:, link.me].copy()))
    assert found[0].tolist() == [sum(row) for row in columns]


def test_a_modulus_equal_to_the_sum_would_say_nothing() -> None:
    # Spec 08, 4.3: 3 + 3 + 4 modulo 10 is 0; the modulus must be above every total.
    tenfold = 256 // 10
    values = [3 * tenfold, 3 * tenfold, 256 - 6 * tenfold]
    found = run(3, lambda link: Ring(link).total(np.array([values[link.me]], dtype=np.uint8)))
    assert found[0].tolist() == [0]
    found = run(3, lambda link: Ring(link).total(np.array([values[link.me]], dtype=np.uint16)))
    assert found[0].tolist() == [256]


def test_the_ring_adds_as_in_the_specs_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    # Spec 08, 4.3, in bytes instead of hundreds: masks and values that wrap around.
    monkeypatch.setattr(securesum, "fresh", lambda count, dtype: np.array([253], dtype=dtype))
    one = house(4)
    values = [8, 5, 3, 10]
    order = Around(one.links[0]).order
    assert order[0] == 0
    assert sorted(order) == [0, 1, 2, 3]

    def part(link: Link) -> Any:
        return Ring(link).total(np.array([values[order.index(link.me)]], dtype=np.uint8))

    found = together(one, [part] * 4)
    assert found[0].tolist() == [26]
    heard = [one.links[at].traffic.transcript[0][2][0] for at in (*order[1:], 0)]
    assert heard == [5, 10, 13, 23]


def test_the_ring_is_drawn_anew_for_every_session() -> None:
    assert len({tuple(Around(house(5).links[0]).order) for _ in range(60)}) > 12  # of 24, by chance


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_two_parties_are_refused(way: Callable[[Link], securesum.SecureSum]) -> None:
    with pytest.raises(UnsupportedError, match="three parties or more"):
        run(2, lambda link: way(link).total(np.zeros(1, dtype=np.uint32)))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_forwarded_is_uniform(way: Callable[[Link], securesum.SecureSum]) -> None:
    """Chi-square over 256 bins of one byte; false alarm one in a million. The masks are the system's."""
    values = np.full(60_000, 7, dtype=np.uint8)
    one = house(3)
    together(one, [lambda link: way(link).total(values.copy())] * 3)
    kinds = {"ring", "masked"}
    said = [part for link in one.links for _, kind, part in link.traffic.transcript if kind in kinds]
    assert said
    for payload in said:
        seen = np.bincount(np.frombuffer(payload, dtype=np.uint8), minlength=256)
        expected = len(payload) / 256
        assert ((seen - expected) ** 2 / expected).sum() < 370  # chi-square of 255 degrees, p = 1e-6


def test_masks_are_fresh_for_every_entry_and_sum() -> None:
    one = house(3)

    def part(link: Link) -> Any:
        way = Ring(link)
        return [way.total(np.zeros(50, dtype=np.uint64)) for _ in range(2)]

    together(one, [part] * 3)
    first, second = (np.frombuffer(p, dtype=np.uint64) for _, _, p in one.links[1].traffic.transcript)
    assert len({*first.tolist(), *second.tolist()}) == 100


@given(st.lists(st.integers(0, 2**32 - 1), max_size=8), st.integers(2, 6))
def test_shares_add_up_and_all_but_one_do_not_tell(secret: list[int], holders: int) -> None:
    words = np.array(secret, dtype=np.uint32)
    shares = shared(words, holders)
    assert joined(shares).tolist() == secret
    again = shared(words, holders)
    if len(secret) > 3:
        assert all(a.tolist() != b.tolist() for a, b in zip(shares, again, strict=True))


def three_and(rest: Callable[[Feeding], Any], do: Callable[[Three], Any]) -> Callable[[Link], Any]:
    return lambda link: do(Three(link)) if link.me < 3 else rest(Feeding(link))


NUMBERS = st.lists(
    st.tuples(st.integers(-(2**20), 2**20), st.integers(-(2**9), 2**9)), min_size=1, max_size=9
)


@given(pairs=NUMBERS, parties=st.integers(3, 5), wide=st.booleans())
@settings(max_examples=20)
def test_products_and_signs_are_those_of_the_sums(pairs: list[Any], parties: int, wide: bool) -> None:
    dtype: Any = np.uint64 if wide else np.uint32
    a = np.array([p[0] for p in pairs]).astype(dtype)
    b = np.array([p[1] for p in pairs]).astype(dtype)
    split = [shared(a, parties), shared(b, parties)]

    def do(three: Three) -> Any:
        x, y = three.feed(split[0][three.me]), three.feed(split[1][three.me])
        sign = three.negative(x - y)
        return (
            three.open(three.product(x, y)),
            three.open(sign, bits=True),
            three.open(three.any(sign), bits=True),
        )

    def rest(feeding: Feeding) -> None:
        me = feeding._link.me
        feeding.feed(split[0][me])
        feeding.feed(split[1][me])

    found = run(parties, three_and(rest, do))
    for product, sign, some in found[:3]:
        assert product.tolist() == (a * b).tolist()
        assert sign.tolist() == [int(x < y) for x, y in pairs]
        assert some.tolist() == [int(any(x < y for x, y in pairs))]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 129, 200])
@pytest.mark.parametrize("at", [None, 0, -1])
def test_any_finds_a_single_bit_wherever_it_stands(count: int, at: int | None) -> None:
    bits = np.zeros(count, dtype=np.uint32)
    if at is not None and count:
        bits[at] = 1

    def do(link: Link) -> Any:
        three = Three(link)
        return three.open(three.any(three.known(bits)), bits=True).tolist()

    assert run(3, do) == [[0 if at is None or not count else 1]] * 3


@given(
    rows=st.integers(1, 5).flatmap(
        lambda wide: st.lists(
            st.lists(st.integers(0, 1), min_size=wide, max_size=wide), min_size=1, max_size=5
        )
    )
)
@settings(max_examples=20)
def test_any_of_each_row(rows: list[list[int]]) -> None:
    bits = np.array(rows, dtype=np.uint64).reshape(-1)

    def do(link: Link) -> Any:
        three = Three(link)
        return three.open(three.any_of_rows(three.known(bits), len(rows)), bits=True).tolist()

    assert run(3, do) == [[int(any(row)) for row in rows]] * 3


@given(st.lists(st.integers(0, 15), min_size=1, max_size=6))
@settings(max_examples=15)
def test_a_table_is_looked_up_at_secret_places(places: list[int]) -> None:
    table = np.arange(16, dtype=np.uint64) ** 3 + 5
    parts = shared(np.array(places, dtype=np.uint64), 3)

    def do(link: Link) -> Any:
        three = Three(link)
        return three.open(three.looked_up(three.feed(parts[link.me]), table)).tolist()

    assert run(3, do) == [[p**3 + 5 for p in places]] * 3


@given(counts=st.lists(st.integers(0, 5), min_size=3, max_size=5))
@settings(max_examples=15)
def test_shuffled_rows_are_the_same_rows(counts: list[int]) -> None:
    rows = [np.arange(2 * n, dtype=np.uint64) + 100 * at for at, n in enumerate(counts)]

    def part(link: Link) -> Any:
        if link.me >= 3:
            Feeding(link)
            return handed_in(link, None, rows[link.me], counts, 2)
        three = Three(link)
        given_in = handed_in(link, three, by_chance(rows[link.me], 2), counts, 2)
        assert isinstance(given_in, Shared)
        return three.open(shuffled(three, given_in, 2)).reshape(-1, 2).tolist()

    found = run(len(counts), part)
    want = sorted(row for mine in rows for row in mine.reshape(-1, 2).tolist())
    assert sorted(found[0]) == want
    assert found[0] == found[1] == found[2]


def test_a_second_shuffle_is_in_another_order() -> None:
    rows = np.arange(40, dtype=np.uint64)

    def part(link: Link) -> Any:
        three = Three(link)
        return [three.open(shuffled(three, three.known(rows), 1)).tolist() for _ in range(2)]

    for first, second in run(3, part):
        assert sorted(first) == sorted(second) == rows.tolist()
        assert first != second


@pytest.mark.slow
def test_every_order_is_as_likely_as_any_other() -> None:
    """Six orders of three rows, one from each party; chi-square, false alarm one in a million."""
    seen: dict[tuple[int, ...], int] = {}

    def part(link: Link) -> Any:
        three = Three(link)
        given_in = handed_in(link, three, np.array([link.me], dtype=np.uint64), [1, 1, 1], 1)
        assert given_in is not None
        return tuple(three.open(shuffled(three, given_in, 1)).tolist())

    for _ in range(900):
        order = run(3, part)[0]
        seen[order] = seen.get(order, 0) + 1
    assert sum((seen.get(o, 0) - 150) ** 2 / 150 for o in seen) + (6 - len(seen)) * 150 < 38


def test_a_stream_below_a_bound_keeps_to_it() -> None:
    stream = Stream(bytes(32))
    found = stream.below(10, 5_000)
    assert set(found.tolist()) == set(range(10))
    assert sorted(stream.permutation(7).tolist()) == list(range(7))
    assert len(set(fresh(100, np.uint64).tolist())) == 100


def test_only_three_compute() -> None:
    with pytest.raises(UnsupportedError, match="three parties"):
        run_each([Three, Three])
