"""Encryption that adds, and the products that two parties make with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import gmpy2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.parties import house, run_each

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives.paillier import (
    LEAST,
    SMALLER,
    Packing,
    PrivateKey,
    PublicKey,
    Roots,
    Sizes,
    signed,
)
from privet.parties.primitives.scalar import counts_first, counts_second, product_first, product_second
from privet.parties.transport import Link, together

SMALL = 256


@pytest.fixture(autouse=True)
def _small_keys() -> Iterator[None]:
    with Sizes.for_tests(SMALL):
        yield


@cache
def key() -> PrivateKey:
    return PrivateKey.fresh(SMALL)


@given(a=st.integers(0, 2**200), b=st.integers(0, 2**200), k=st.integers(-50, 50))
@settings(max_examples=30)
def test_sums_and_multiples_under_encryption(a: int, b: int, k: int) -> None:
    mine = key()
    n = int(mine.public.n)
    x, y = mine.public.encrypt(a), mine.public.encrypt(b)
    assert mine.decrypt(x) == a
    assert mine.decrypt(x + y) == (a + b) % n
    assert mine.decrypt(x * k) == a * k % n
    assert mine.decrypt(x + (-b)) == (a - b) % n
    assert signed(mine.decrypt(x + (-b)), mine.public) == a - b
    assert mine.decrypt(mine.public.opened(mine.public.sealed(x))) == a


def test_two_encryptions_of_one_number_differ_and_sealing_changes_them_again() -> None:
    public = key().public
    x = public.encrypt(7)
    assert x.value != public.encrypt(7).value
    assert public.sealed(x) != public.sealed(x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("prime", "factors"), [(23, (2, 11)), (31, (2, 3, 5)), (263, (2, 131)), (769, (2, 3))]
)
def test_chance_by_a_list_of_powers_is_every_power_of_the_prime_once(prime: int, factors: Any) -> None:
    roots = Roots(gmpy2.mpz(prime), factors)
    found = sorted(int(roots.to_power(exponent)) for exponent in range(prime - 1))
    assert found == sorted({pow(x, prime, prime**2) for x in range(1, prime)})
    drawn = Counter(int(roots.draw()) for _ in range(200 * (prime - 1)))
    expected = 200.0
    chi = sum((drawn[one] - expected) ** 2 / expected for one in found)
    assert chi < prime - 1 + 6 * (2 * (prime - 1)) ** 0.5


def test_a_fresh_key_knows_the_factors_and_encrypts_as_one_that_does_not() -> None:
    mine = PrivateKey.fresh(SMALL)
    assert mine._factors is not None
    for prime, factors in zip((mine._p, mine._q), mine._factors, strict=True):
        left = prime - 1
        for factor in factors:
            assert gmpy2.is_prime(factor)
            while left % factor == 0:
                left //= factor
        assert left == 1, "all of them"
        assert max(factors).bit_length() == SMALL // 2 - SMALLER, "p - 1 is not smooth"
        assert prime.bit_length() == SMALL // 2
    plain = PrivateKey(mine._p, mine._q)
    length = mine.public.length
    for maker in (mine, plain):
        sent = maker.sent([7, 7])
        one, other = sent[:length], sent[length:]
        assert one != other
        assert [mine.decrypt(mine.public.opened(raw)) for raw in (one, other)] == [7, 7]


def test_what_is_put_over_a_number_is_every_power_of_n_as_often() -> None:
    """Of a key as small as can be counted: the list of powers draws what r^N draws, all of it and no more."""
    p, q = gmpy2.mpz(23), gmpy2.mpz(29)
    with Sizes.for_tests(8):
        mine = PrivateKey(p, q, ((2, 11), (2, 7)))
    n = int(p * q)
    powers = sorted({pow(r, n, n * n) for r in range(1, n) if r % 23 and r % 29})
    assert len(powers) == 22 * 28
    drawn = Counter(int(mine._chance()) for _ in range(40 * len(powers)))
    assert sorted(drawn) == powers
    chi = sum((many - 40.0) ** 2 / 40 for many in drawn.values())
    assert abs(chi - len(powers)) < 6 * (2 * len(powers)) ** 0.5


def test_small_keys_are_refused_outside_tests() -> None:
    Sizes.least = LEAST
    with pytest.raises(UnsupportedError, match="2048 bits at least"):
        PrivateKey.fresh(1024)
    with pytest.raises(UnsupportedError, match="2048 bits at least"):
        PublicKey(key.__wrapped__().public.n)


def test_a_usual_key_has_3072_bits() -> None:
    Sizes.least = LEAST
    mine = PrivateKey.fresh()
    assert mine.public.n.bit_length() == 3072
    assert mine.decrypt(mine.public.encrypt(5) + mine.public.encrypt(6)) == 11
    assert "secret" in repr(mine)


@pytest.mark.parametrize("wrong", [b"\0" * 64, b"\xff" * 65])
def test_what_is_not_a_ciphertext_is_refused(wrong: bytes) -> None:
    with pytest.raises(PartyError, match="not one under this key"):
        key().public.opened(wrong)


def test_other_keys_are_refused() -> None:
    theirs = PrivateKey.fresh(SMALL)
    with pytest.raises(UnsupportedError):
        key().decrypt(theirs.public.encrypt(1))
    with pytest.raises(UnsupportedError):
        key().public.encrypt(1) + theirs.public.encrypt(1)


@given(st.lists(st.integers(0, 2**20), max_size=4))
def test_packed_numbers_are_unpacked(numbers: list[int]) -> None:
    packing = Packing.of(key().public, 2**20, 8)
    assert packing.unpacked(packing.packed(numbers), len(numbers)) == numbers


def test_what_does_not_fit_is_not_packed() -> None:
    packing = Packing(8, 2)
    for wrong in ([1, 2, 3], [256], [-1]):
        with pytest.raises(UnsupportedError):
            packing.packed(wrong)


# Spec 05, 4.1: table 7.2, the leaf (Professional, Male, [18-99]).
Z1 = (0, 0, 0, 0, 1, 1, 1, 0, 1, 1)
Z2 = (1, 1, 1, 0, 0, 0, 1, 0, 1, 0)


def product(first: Sequence[int], second: Sequence[int]) -> tuple[int, int, int]:
    mine, (theirs, public) = run_each(
        [lambda link: product_first(link, 1, key(), first), lambda link: product_second(link, 0, second)]
    )
    return mine, theirs, int(public.n)


def test_the_product_of_table_7_2() -> None:
    c1, c2, n = product(Z1, Z2)
    assert (c1 + c2) % n == 2
    # Spec 05, 4.1: with noises -3 and 5 the published value is 4.
    assert signed((c1 - 3 + c2 + 5) % n, key().public) == 4


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 3)), min_size=1, max_size=8))
@settings(max_examples=10)
def test_summands_add_up_to_the_product(pairs: list[tuple[int, int]]) -> None:
    c1, c2, n = product([a for a, _ in pairs], [b for _, b in pairs])
    assert (c1 + c2 - sum(a * b for a, b in pairs)) % n == 0


def test_shares_are_not_the_product_itself() -> None:
    shares = {product(Z1, Z2)[0] for _ in range(5)}
    assert len(shares) == 5
    assert all(share > 2**100 for share in shares)


# Jobs: Professional 0, Artist 1; sexes: Male 0, Female 1; spec 05, 4.1, all leaves.
JOBS = (1, 1, 1, 1, 0, 0, 0, 1, 0, 0)
SEXES = (0, 0, 0, 1, 1, 1, 0, 1, 0, 1)


def counts(first: Sequence[int], second: Sequence[int], wide: int, groups: int) -> list[list[int]]:
    a, b = run_each(
        [
            lambda link: counts_first(link, 1, key(), first, wide, groups),
            lambda link: counts_second(link, 0, second, wide, groups),
        ]
    )
    return [[x + y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def test_packed_counts_of_all_leaves() -> None:
    assert counts(JOBS, SEXES, 2, 2) == [[2, 3], [3, 2]]  # by sex: Professional, Artist


@given(data=st.data())
@settings(max_examples=10)
def test_packed_counts_are_the_counts(data: Any) -> None:
    wide, groups = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, wide - 1), st.integers(0, groups - 1)), min_size=1, max_size=8)
    )
    want = [[rows.count((region, group)) for region in range(wide)] for group in range(groups)]
    assert counts([a for a, _ in rows], [b for _, b in rows], wide, groups) == want


@pytest.mark.parametrize("block", [1, 3, 10, 11])
def test_packed_counts_travel_in_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for all ciphertexts at once: a party that says nothing for long is taken to be gone."""
    monkeypatch.setattr("privet.parties.primitives.scalar.BLOCK", block)
    assert counts(JOBS, SEXES, 2, 2) == [[2, 3], [3, 2]]


def test_the_first_reads_masked_counts_only() -> None:
    def first(link: Link) -> Any:
        return counts_first(link, 1, key(), JOBS, 2, 2)

    one = house(2)
    masked, _ = together(one, [first, lambda link: counts_second(link, 0, SEXES, 2, 2)])
    assert all(number > 2**20 for group in masked for number in group)
