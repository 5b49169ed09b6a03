"""Two parties that compute on secrets, and a table of two split by people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties import hospitals
from tests.parties.noisy import quick
from tests.parties.parties import house, run, run_each
from tests.parties.test_joint_release import pooled
from tests.parties.test_people import (
    canaries,
    found_together,
    given_trees,
    kept_secretly,
    random_tally,
    splits_into,
)

import privet as pv
from privet.counts.door import Score
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.models.lkc import LKC
from privet.parties.learned import learned
from privet.parties.people import PeopleCounts
from privet.parties.primitives.paired import Two
from privet.parties.primitives.replicated import Shared
from privet.parties.transport import Link, together
from privet.parties.words import Adding, Reveal
from privet.rehearsal import rehearse
from privet.relational.topdown import TopDown
from privet.testing.adding import parts_of
from privet.testing.contracts import policy_for
from privet.testing.strategies import models, tallies


@pytest.fixture(autouse=True)
def cheap(request: pytest.FixtureRequest) -> Iterator[None]:
    """First transfers in the clear, but where whole messages are searched."""
    if request.node.name in {"test_no_count_but_the_total_travels", "test_a_joint_release_of_two"}:
        yield
        return
    with quick():
        yield


WAY = (Reveal.DECISIONS, Adding.PAIRWISE)
COUNT = 40


def numbers(seed: int, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, np.iinfo(dtype).max, COUNT, dtype=dtype, endpoint=True) for _ in range(2)]


def as_bits(two: Two, words: Any) -> Shared:
    """Bits that only the sum of both parties' words knows: the lowest ones, XORed."""
    return two.feed(words & words.dtype.type(1))


def test_every_verb_says_of_secrets_what_it_says_of_numbers() -> None:
    a, b = numbers(1, np.uint64), numbers(2, np.uint64)
    small = numbers(3, np.uint32)
    table = np.arange(8, dtype=np.uint64) ** 3

    def part(link: Link) -> dict[str, list[int]]:
        two, me = Two(link), link.me
        x, y, bits = two.feed(a[me]), two.feed(b[me]), as_bits(two, a[me])
        other = as_bits(two, b[me])
        found = {
            "sum": two.open(x + y),
            "known": two.open(x - two.known(np.full(COUNT, 7, dtype=np.uint64))),
            "product": two.open(two.product(x, y)),
            "negative": two.open(two.negative(x), bits=True),
            "narrow": two.open(two.negative(two.feed(small[me])), bits=True),
            "both": two.open(two.both(bits, other), bits=True),
            "flipped": two.open(two.flipped(bits), bits=True),
            "any": two.open(two.any(bits), bits=True),
            "none": two.open(two.any(two.known(np.zeros(5, dtype=np.uint64))), bits=True),
            "nothing": two.open(two.any(two.known(np.zeros(0, dtype=np.uint64))), bits=True),
            "rows": two.open(two.any_of_rows(bits, 8), bits=True),
            "looked up": two.open(two.looked_up(x, table)),
        }
        return {name: one.tolist() for name, one in found.items()}

    first, second = run(2, part)
    assert first == second
    x, y = a[0] + a[1], b[0] + b[1]
    bit, other = (a[0] ^ a[1]) & np.uint64(1), (b[0] ^ b[1]) & np.uint64(1)
    expected: dict[str, Any] = {
        "sum": x + y,
        "known": x - np.uint64(7),
        "product": x * y,
        "negative": x >> np.uint64(63),
        "narrow": (small[0] + small[1]) >> np.uint32(31),
        "both": bit & other,
        "flipped": bit ^ np.uint64(1),
        "any": np.array([bit.any()], dtype=np.uint64),
        "none": np.zeros(1, dtype=np.uint64),
        "nothing": np.zeros(1, dtype=np.uint64),
        "rows": bit.reshape(8, 5).any(axis=1).astype(np.uint64),
        "looked up": table[(x & np.uint64(7)).astype(np.intp)],
    }
    assert first == {name: one.tolist() for name, one in expected.items()}


def test_a_table_at_every_place_and_of_several_sizes() -> None:
    def part(link: Link) -> list[list[int]]:
        two, found = Two(link), []
        for room in (4, 8, 32):
            table = np.arange(100, 100 + room, dtype=np.uint64)
            places = np.arange(room, dtype=np.uint64) * np.uint64(3 if link.me else 1)
            found.append(two.open(two.looked_up(two.feed(places), table)).tolist())
        return found

    assert run(2, part)[0] == [[100 + 4 * at % room for at in range(room)] for room in (4, 8, 32)]


def test_a_bit_is_chance_to_each_of_the_two() -> None:
    """Of 4,096 numbers that are all the same, each party's part of the sign is set for about half.

    Six standard deviations: a false alarm in five hundred million runs.
    """
    lanes = 4096

    def part(link: Link) -> int:
        two = Two(link)
        return int(two.negative(two.feed(np.full(lanes, 5, dtype=np.uint64))).here.sum())

    for ones in run(2, part):
        assert abs(ones - lanes / 2) < 6 * lanes**0.5 / 2


def test_what_is_found_stays_in_parts_that_tell_nothing() -> None:
    """The entry of a table and a product are not at either party."""
    table = np.full(16, 0x5EC2E7015EC2E701, dtype=np.uint64)

    def part(link: Link) -> list[int]:
        two = Two(link)
        found = two.looked_up(two.feed(np.zeros(3, dtype=np.uint64)), table)
        squared = two.product(two.feed(table[:3]), two.known(np.ones(3, dtype=np.uint64)))
        return [*found.here.tolist(), *squared.here.tolist()]

    for mine in run(2, part):
        assert not {int(table[0]), (2 * int(table[0])) % 2**64, 0} & set(mine)
        assert len(set(mine)) == 6, "fresh chance for each"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("score", [Score.INFORMATION_GAIN, Score.DISCERNIBILITY])
@pytest.mark.parametrize("seed", range(2))
def test_two_find_what_one_finds_on_all_rows(seed: int, score: Score) -> None:
    tally = random_tally(seed, quasi=3)
    promise = LKC(l=1 + seed % 3, k=1 + seed % 2, c=Fraction(2, 3), sensitive={"s": ["u"]})
    search = TopDown(score=score)
    alone = search.search(tally, policy_for(tally, [promise], search))
    parts = parts_of(tally, [(7 * at + seed) % 2 for at in range(tally.cells)])
    for finding in found_together(parts, search, [promise], WAY):
        said = [(s.attribute, s.label, s.performed) for s in finding.steps]
        assert said == [(s.attribute, s.label, s.performed) for s in alone.steps]


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=60)
def test_two_find_what_one_finds_on_any_rows(data: Any) -> None:
    tally = given_trees(data.draw(tallies(cells=16)))
    parts = splits_into(data.draw, tally, 2)
    scores = [Score.DISCERNIBILITY] if tally.target is None else [*Score][:]
    search = TopDown(score=data.draw(st.sampled_from([s for s in scores if s is not Score.GAIN_PER_LOSS])))
    promises = data.draw(st.lists(models(tally).filter(kept_secretly), min_size=1, max_size=2))
    try:
        alone = search.search(tally, policy_for(tally, promises, search))
    except UnsatisfiableError:
        with pytest.raises(UnsatisfiableError):
            found_together(parts, search, promises, WAY)
        return
    for finding in found_together(parts, search, promises, WAY):
        said = [(s.attribute, s.label, s.children, s.performed) for s in finding.steps]
        assert said == [(s.attribute, s.label, s.children, s.performed) for s in alone.steps]


def test_no_count_but_the_total_travels() -> None:
    parts = canaries()[:2]
    one = house(2)
    search = TopDown(score=Score.DISCERNIBILITY)
    policy = policy_for(parts[0], [LKC(l=1, k=2, c=Fraction(1), sensitive={"s": ["u"]})], search)
    together(one, [lambda link: search.search(PeopleCounts(link, parts[link.me], *WAY), policy)] * 2)
    for me, link in enumerate(one.links):
        theirs = parts[1 - me].counts.tolist()
        for _, kind, payload in link.traffic.transcript:
            assert not any(int(count).to_bytes(4, "little") in payload for count in theirs), kind
        said = b"".join(payload for _, _, payload in link.traffic.transcript)
        assert sum(theirs).to_bytes(4, "little") in said, (
            "the total less one's own; the search sees what is there"
        )


def test_a_joint_release_of_two(tmp_path: Path) -> None:
    agreed = hospitals.contract(parties=("A", "B"))
    parts = hospitals.parts(tmp_path, split={str(at): "AAB"[at % 3] for at in range(1, 12)})
    found = rehearse(agreed, parts, pooled=True, output=tmp_path / "out", record=True)
    assert found.as_pooled is True
    alone = pv.publish(pooled(parts), agreed.policy).write(tmp_path / "alone")
    assert (tmp_path / "out" / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()
    assert pv.verify(tmp_path / "out").holds
    assert any("the table less one's own rows" in one for one in learned(agreed)["A"])


def test_two_parties_that_would_show_counts_are_refused_with_the_reason() -> None:
    with pytest.raises(PolicyError, match=r"three or more.*know the other's"):
        hospitals.contract(parties=("A", "B"), reveal="counts")
    with pytest.raises(PolicyError, match="each knows how many rows the other has"):
        hospitals.contract(parties=("A", "B"), rows_at_most=20)


def test_three_do_not_compute_as_two() -> None:
    with pytest.raises(UnsupportedError, match="a protocol of two"):
        run_each([Two] * 3)
