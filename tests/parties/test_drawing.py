"""A draw by weight and a noisy maximum, as circuits: against a naive twin, and by counting every outcome."""

from __future__ import annotations

import secrets
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.odds import implausible
from tests.parties.test_garbling import plainly, secretly

from privet.parties.noisy.exponentials import Taylor, weights
from privet.parties.primitives.circuits import bits_of, lanes_of, number_of
from privet.parties.primitives.drawing import (
    SLACK,
    TRIES,
    chance_of,
    of_shares,
    random_below,
    weighed,
    wide_lanes,
    wide_numbers,
)
from privet.parties.primitives.noisymax import (
    EDGE,
    Shape,
    covered,
    loudest,
    loudest_majority,
    mask_bits,
    masked_majority,
    room_for,
)
from privet.parties.primitives.oblivious import Bits

RARE = 1e-10  # false alarms


def laid(weights: list[int], room: int) -> Bits:
    return wide_lanes(np.cumsum(weights, dtype=object).tolist(), room)


def drawn(mine: list[int], theirs: list[int], u: int, room: int, tries: int) -> int:
    """The candidate for chance u, all of it the garbler's."""
    chance = bits_of(u, room * tries)
    circuit = weighed(len(mine), len(theirs), room, tries)
    ours = np.concatenate([laid(mine, room), chance])
    yours = np.concatenate([laid(theirs, room), np.zeros_like(chance)])
    return number_of(plainly(circuit, ours, yours))


def expected(all_weights: list[int], tries: int) -> list[Fraction]:
    """The chances, worked out by hand: tries that fail, and the last one less Q."""
    q = sum(all_weights)
    room = 1 << q.bit_length()
    fails = Fraction(room - q, room)
    each = [(1 - fails**tries) / q + (fails ** (tries - 1) / room if r < room - q else 0) for r in range(q)]
    found, at = [], 0
    for weight in all_weights:
        found.append(sum(each[at : at + weight], Fraction(0)))
        at += weight
    return found


@pytest.mark.parametrize(
    ("mine", "theirs"), [([2, 1], [2]), ([], [3, 0, 2]), ([1, 0, 4], []), ([1], [1]), ([3], [4]), ([7], [0])]
)
@pytest.mark.parametrize("tries", [1, 2])
def test_every_outcome_of_a_draw_is_as_likely_as_it_should_be(
    mine: list[int], theirs: list[int], tries: int
) -> None:
    """Every bit of chance that there is, exactly: no sampling."""
    room = 3
    seen = Counter(drawn(mine, theirs, u, room, tries) for u in range(1 << (room * tries)))
    found = [Fraction(seen[at], 1 << (room * tries)) for at in range(len(mine + theirs))]
    want = expected(mine + theirs, tries)
    assert found == want
    ideal = [Fraction(weight, sum(mine + theirs)) for weight in mine + theirs]
    error = Fraction(1, 2 ** (tries - 1))
    assert all(p * (1 - error) <= f <= p * (1 + error) for f, p in zip(found, ideal, strict=True))


def test_the_error_of_a_draw_is_what_the_ledger_takes_off() -> None:
    """With all tries the chances are within 2**-64 by ratio: a choice costs less than SLACK more."""
    for some in ([2, 1, 2], [4, 1], [1, 1, 1], [545, 4034, 73]):
        want = [Fraction(one, sum(some)) for one in some]
        worst = max(abs(f / p - 1) for f, p in zip(expected(some, TRIES), want, strict=True))
        assert worst <= Fraction(1, 2 ** (TRIES - 1))
    assert Fraction(1, 2 ** (TRIES - 1)) * 4 <= SLACK < Fraction(1, 10**18)


# Spec 05, 4.3: weights e**4, e**6 at P1 and e**2 at P2.


@pytest.mark.parametrize(("digits", "want"), [(1, [545, 4034, 73]), (2, [5459, 40342, 738])])
def test_weights_of_example_7_4_3(digits: int, want: list[int]) -> None:
    assert weights([4, 6, 2], Fraction(1), digits) == want


@pytest.mark.parametrize(("r", "candidate"), [(0, 0), (544, 0), (545, 1), (4578, 1), (4579, 2), (4651, 2)])
def test_boundaries_of_example_7_4_4(r: int, candidate: int) -> None:
    """Strictly below: with `R <= L`, as the source prints it, 545 would be the first candidate's."""
    assert drawn([545, 4034], [73], r, 13, 1) == candidate


def test_exhaustive_outcomes_of_example_7_4_4() -> None:
    """R through all of Z_4652 (spec 05, 4.3): 545, 4034 and 73; the source's rule gives 546, 4034, 72."""
    upto = laid([545, 4034, 73], 13)

    def rule(r: int, strict: bool) -> int:
        sums = [545, 4579, 4652]
        return next(at for at, upper in enumerate(sums) if (r < upper if strict else r <= upper))

    assert Counter(rule(r, True) for r in range(4652)) == {0: 545, 1: 4034, 2: 73}
    assert Counter(rule(r, False) for r in range(4652)) == {0: 546, 1: 4034, 2: 72}
    assert Counter(rule(r, False) for r in range(4653)) == {0: 546, 1: 4034, 2: 73}
    circuit = weighed(3, 0, 13, 1)
    for r in [*range(0, 4652, 97), 544, 545, 4578, 4579, 4651]:
        found = plainly(circuit, np.concatenate([upto, bits_of(r, 13)]), np.zeros(13, dtype=bool))
        assert number_of(found) == rule(r, True)


@given(data=st.data())
@settings(max_examples=80)
def test_shares_are_drawn_as_the_weights_that_they_are(data: Any) -> None:
    """Two shares modulo N give what the weights themselves give, for the same chance."""
    modulus = data.draw(st.integers(40, 200))
    some = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any))
    room = sum(some).bit_length() + data.draw(st.integers(0, 1))
    shares = [data.draw(st.integers(0, modulus - 1)) for _ in some]
    others = [(weight - share) % modulus for weight, share in zip(some, shares, strict=True)]
    u = data.draw(st.integers(0, 2 ** (room * 3) - 1))
    v = data.draw(st.integers(0, 2 ** (room * 3) - 1))
    wide = modulus.bit_length()
    ours = np.concatenate([wide_lanes(shares, wide), bits_of(v, room * 3)])
    yours = np.concatenate([wide_lanes(others, wide), bits_of(u ^ v, room * 3)])
    found = number_of(plainly(of_shares(len(some), modulus, room, 3), ours, yours))
    assert found == drawn(some, [], u, room, 3)


def test_many_draws_are_plausible() -> None:
    """With chance of the operating system, against the exponential mechanism itself."""
    some = [1568, 1349, 1419]  # spec 05, 4.4
    room = sum(some).bit_length()
    law: dict[Any, float] = {at: one / sum(some) for at, one in enumerate(some)}
    circuit = weighed(1, 2, room)
    seen = []
    for _ in range(400):
        ours = np.concatenate([laid(some[:1], room), chance_of(room)])
        yours = np.concatenate([laid(some[1:], room), chance_of(room)])
        seen.append(number_of(plainly(circuit, ours, yours)))
    assert implausible(seen, law, RARE) == []
    assert implausible([0] * 400, law, RARE) != [], "a test that cannot fail"


def test_many_draws_of_shares_are_plausible() -> None:
    """Spec 05, 4.6: weights of degree 4 of scores 10, 6 and 8, as shares that are drawn anew each time."""
    made = Taylor(5, 100, 4)
    some = [made.of(u) for u in (10, 6, 8)]
    modulus, room = (1 << 61) - 1, sum(some).bit_length()
    law: dict[Any, float] = {at: one / sum(some) for at, one in enumerate(some)}
    assert list(law.values()) == pytest.approx([0.367135, 0.300631, 0.332234], abs=1e-6)
    circuit = of_shares(3, modulus, room, 12)  # 12 tries: an error of 2**-11
    seen = []
    for _ in range(150):
        shares = [secrets.randbelow(modulus) for _ in some]
        others = [(weight - share) % modulus for weight, share in zip(some, shares, strict=True)]
        u, v = (np.frombuffer(secrets.token_bytes(12 * room), dtype=np.uint8) % 2 == 1 for _ in range(2))
        ours, yours = (
            np.concatenate([wide_lanes(part, 61), chance]) for part, chance in ((shares, u), (others, v))
        )
        seen.append(number_of(plainly(circuit, ours, yours)))
    assert implausible(seen, law, RARE) == []


def test_two_parties_draw_what_the_plain_circuit_draws() -> None:
    rng = np.random.default_rng(5)
    runs, want = [], []
    for mine, theirs in (([545, 4034], [73]), ([], [5, 9]), ([12], [])):
        room = sum(mine + theirs).bit_length()
        u, v = (rng.integers(0, 2, TRIES * room) == 1 for _ in range(2))
        ours, yours = np.concatenate([laid(mine, room), u]), np.concatenate([laid(theirs, room), v])
        circuit = weighed(len(mine), len(theirs), room)
        runs.append((circuit, ours, yours))
        want.append(number_of(plainly(circuit, ours, yours)))
    modulus = 1009
    shares = [700, 900]
    others = [(weight - share) % modulus for weight, share in zip([30, 50], shares, strict=True)]
    circuit = of_shares(2, modulus, 7)
    u, v = (rng.integers(0, 2, TRIES * 7) == 1 for _ in range(2))
    ours = np.concatenate([wide_lanes(shares, 10), u])
    yours = np.concatenate([wide_lanes(others, 10), v])
    runs.append((circuit, ours, yours))
    want.append(number_of(plainly(circuit, ours, yours)))
    for (garbler, evaluator), expected_ in zip(secretly(runs), want, strict=True):
        assert number_of(garbler) == number_of(evaluator) == expected_


@given(numbers=st.lists(st.integers(0, 2**90 - 1), min_size=1, max_size=5))
def test_wide_numbers_are_the_same_again(numbers: list[int]) -> None:
    assert wide_numbers(wide_lanes(numbers, 90), 90) == numbers


def test_a_number_below_one_is_nought() -> None:
    def circuit(machine: Any, ours: Any, yours: Any) -> Any:
        return random_below(machine, ours, yours, 2)

    assert {number_of(plainly(circuit, bits_of(1, 3), bits_of(u, 6))) for u in range(64)} == {0}


# Noisy maximum.


@given(data=st.data())
@settings(max_examples=80)
def test_a_noisy_maximum_of_joint_counts(data: Any) -> None:
    """Against numpy: counts added, majorities, both noises, the first of the largest."""
    count, fan, classes = (data.draw(st.integers(1, most)) for most in (5, 3, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shape = Shape(count, fan, classes, 8)
    mine, theirs = (rng.integers(0, 9, (count, fan, classes)) for _ in range(2))
    scores = (mine + theirs).max(axis=2).sum(axis=1)
    here, there = (rng.integers(-9, 9, count) for _ in range(2))
    room = room_for(2, 255)
    ours = np.concatenate([shape.laid(mine), lanes_of(covered(here, 2), room)])
    yours = np.concatenate([shape.laid(theirs), lanes_of(covered(there, 2), room)])
    found = number_of(plainly(loudest_majority(shape, room), ours, yours))
    assert found == int(np.argmax(scores + here + there))
    # The same scores, known to one party.
    ours = lanes_of(covered(here, 2) + scores, room)
    assert number_of(plainly(loudest(count, room), ours, lanes_of(covered(there, 2), room))) == found
    # And masked, for weights.
    masks = [int(one) for one in rng.integers(0, 2**60, count)]
    wide = mask_bits(shape)
    out = plainly(
        masked_majority(shape),
        np.concatenate([shape.laid(mine), wide_lanes(masks, wide)]),
        shape.laid(theirs),
    )
    want = [(int(u) - mask) % 2 ** (wide + 1) for u, mask in zip(scores, masks, strict=True)]
    assert wide_numbers(out, wide + 1) == want


def test_of_equal_ones_the_first() -> None:
    room = room_for(1, 9)
    for numbers in product(range(3), repeat=4):
        said = lanes_of(list(numbers), room)
        assert number_of(plainly(loudest(4, room), said, np.zeros_like(said))) == int(np.argmax(numbers))


def test_noise_beyond_its_edge_does_not_run_over() -> None:
    room = room_for(3, 100)
    far = covered(np.array([10**9, -(10**9)]), 3)
    assert far.tolist() == [2 * EDGE * 3, 0]
    assert 2 * int(far.max()) + 100 < 1 << room
