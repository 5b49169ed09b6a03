"""A table split by columns: the parties find together what one of them would find on all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.noisy import quick
from tests.parties.parties import house, run
from tests.parties.test_people import given_trees, random_tally

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.door import Score
from privet.domain import flat
from privet.errors import PartyError, UnsatisfiableError, UnsupportedError
from privet.models.kanonymity import KAnonymity
from privet.models.linkage import LinkageModel
from privet.models.lkc import LKC
from privet.parties.columns import ColumnsCounts, ColumnsCutting
from privet.parties.confidence import Asker
from privet.parties.primitives.circuits import any_sum_above, lanes_of
from privet.parties.primitives.garbling import Plain
from privet.parties.primitives.largest import secure_maximum
from privet.parties.transport import InProcess, Link, together
from privet.parties.words import Reveal
from privet.recoding import Generalization
from privet.relational.topdown import TopDown
from privet.testing.contracts import policy_for
from privet.testing.strategies import models, tallies


def of_party(tally: Tally, owner: Sequence[int], me: int, holder: int | None = None) -> Tally:
    """What a party has: of others' columns nothing, so wrong codes stand there."""

    def kept(at: int, column: Column) -> Column:
        return column if owner[at] == me else Column(column.name, column.domain, np.zeros_like(column.codes))

    sensitive = tally.sensitive
    if holder not in {None, me}:
        sensitive = tuple(Column(c.name, c.domain, np.zeros_like(c.codes)) for c in sensitive)
    quasi = tuple(kept(at, column) for at, column in enumerate(tally.quasi))
    return replace(tally, quasi=quasi, sensitive=sensitive)


def found_together(  # noqa: PLR0917
    tally: Tally,
    owner: Sequence[int],
    parties: int,
    search: TopDown,
    promises: Sequence[PrivacyModel],
    reveal: Reveal,
    one: InProcess | None = None,
    holder: int | None = None,
) -> list[Any]:
    policy = policy_for(tally, promises, search)

    def part(link: Link) -> Any:
        mine = of_party(tally, owner, link.me, holder)
        return search.search(ColumnsCounts(link, mine, owner, reveal, holder), policy)

    return together(one or house(parties, record=False), [part] * parties)


@given(data=st.data())
@settings(max_examples=60)
def test_together_they_find_what_one_finds_on_all_columns(data: Any) -> None:
    tally = given_trees(data.draw(tallies(cells=12))).by_record()
    parties = data.draw(st.integers(3, 4))
    reveal = data.draw(st.sampled_from([Reveal.DECISIONS, Reveal.SCORES]))
    if reveal is Reveal.SCORES:  # two parties with a secure maximum set up transfers first, which takes long
        parties = data.draw(st.integers(2, 4))
    check_as_one(data, tally, parties, reveal)


@given(data=st.data())
@settings(max_examples=10)
def test_two_parties_with_a_secure_maximum(data: Any) -> None:
    with quick():
        check_as_one(data, given_trees(data.draw(tallies(cells=12))).by_record(), 2, Reveal.DECISIONS)


@given(data=st.data())
@settings(max_examples=12)
def test_the_sensitive_column_with_one_party_only(data: Any) -> None:
    parties = data.draw(st.integers(2, 3))
    tally = given_trees(data.draw(tallies(cells=12))).by_record()
    with quick():
        check_as_one(data, tally, parties, Reveal.SCORES, data.draw(st.integers(0, parties - 1)))


def check_as_one(data: Any, tally: Tally, parties: int, reveal: Reveal, holder: int | None = None) -> None:
    owner = [data.draw(st.integers(0, parties - 1)) for _ in tally.quasi]
    scores = (
        [Score.DISCERNIBILITY] if tally.target is None else [Score.DISCERNIBILITY, Score.INFORMATION_GAIN]
    )
    search = TopDown(score=data.draw(st.sampled_from(scores)))
    linked = models(tally).filter(lambda m: isinstance(m, LinkageModel))
    promises = data.draw(st.lists(linked, min_size=1, max_size=2 if holder is None else 1))
    try:
        alone = search.search(tally, policy_for(tally, promises, search))
    except UnsatisfiableError:
        with pytest.raises(UnsatisfiableError):
            found_together(tally, owner, parties, search, promises, reveal, holder=holder)
        return
    for finding in found_together(tally, owner, parties, search, promises, reveal, holder=holder):
        assert isinstance(alone.recoding, Generalization)
        cuts = {name: cut.nodes for name, cut in alone.recoding.cuts.items()}
        assert {name: cut.nodes for name, cut in finding.recoding.cuts.items()} == cuts
        said = [(s.attribute, s.label, s.children, s.performed, s.reason) for s in finding.steps]
        assert said == [(s.attribute, s.label, s.children, s.performed, s.reason) for s in alone.steps]


@given(values=st.lists(st.integers(0, 2**62 - 1), min_size=3, max_size=5, unique=True))
@settings(max_examples=15)
def test_whose_number_is_the_largest(values: list[int]) -> None:
    found = run(len(values), lambda link: secure_maximum(link).whose(values[link.me]))
    assert found == [values.index(max(values))] * len(values)


def test_whose_of_two_is_the_largest_and_no_number_travels() -> None:
    one = house(2)
    pairs = [(0x5EC2E7, 7), (7, 0x5EC2E7), (0, 1), (2**62 - 1, 2**62 - 2)]

    def part(link: Link) -> list[int]:
        side = secure_maximum(link)
        return [side.whose(pair[link.me]) for pair in pairs]

    assert together(one, [part] * 2) == [[0, 1, 1, 0]] * 2
    said = b"".join(payload for link in one.links for _, _, payload in link.traffic.transcript)
    assert (0x5EC2E7).to_bytes(8, "little") not in said


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="62 bits"):
        run(3, lambda link: secure_maximum(link).whose(2**62))


def small() -> Tally:
    domain = flat(("a", "b", "c"))
    rows = np.array([0, 0, 1, 1, 2, 2] * 2, dtype=np.uint8)
    target = Column("t", flat(("x", "y")), np.array([0, 0, 1, 1, 0, 1] * 2, dtype=np.uint8))
    return Tally((Column("p", domain, rows), Column("q", domain, rows[::-1].copy())), (), target,
                 np.ones(12, dtype=np.int64), Nulls.VALUE)  # fmt: skip


def test_scores_appear_in_plain_mode_and_not_in_secure_mode() -> None:
    """Spec 03, checklist 6."""
    search = TopDown(score=Score.INFORMATION_GAIN)
    for reveal, seen in ((Reveal.SCORES, True), (Reveal.DECISIONS, False)):
        one = house(3)
        found_together(small(), [0, 1], 3, search, [KAnonymity(k=2)], reveal, one)
        kinds = {kind for link in one.links for _, kind, _ in link.traffic.transcript}
        assert ("score" in kinds) is seen


def test_an_instruction_holds_parts_of_the_persons_of_that_value_only() -> None:
    """Spec 03, checklist 7: as many numbers as persons, each the number of a part."""
    one = house(3)
    found_together(
        small(), [0, 1], 3, TopDown(score=Score.INFORMATION_GAIN), [KAnonymity(k=1)], Reveal.SCORES, one
    )
    parts = [payload for _, kind, payload in one.links[2].traffic.transcript if kind == "parts"]
    assert [len(part) for part in parts] == [12, 12]  # both roots; below them are leaves
    assert all(set(part) <= {0, 1, 2} for part in parts)


def test_a_party_that_offers_what_is_not_its_own_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ColumnsCutting.best

    def greedy(self: ColumnsCutting, candidates: Any) -> Any:
        if self._link.me == 0:
            self._link.broadcast_words("best", np.array([1], dtype=np.uint32))  # the candidate of party 1
            self._whose = lambda mine: 0  # type: ignore[method-assign]
        return honest(self, candidates)

    monkeypatch.setattr(ColumnsCutting, "best", greedy)
    monkeypatch.setattr(ColumnsCutting, "_whose", lambda self, mine: 0)
    with pytest.raises(PartyError, match="north: offers a candidate that is not its own"):
        found_together(small(), [0, 1], 3, TopDown(), [KAnonymity(k=2)], Reveal.SCORES)


def test_gain_per_loss_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="gain-per-loss"):
        found_together(
            small(), [0, 1], 3, TopDown(score=Score.GAIN_PER_LOSS), [KAnonymity(k=2)], Reveal.SCORES
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("holder", [0, 2])
def test_confidence_is_bounded_with_the_values_elsewhere(
    seed: int, holder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    honest = Asker.broken

    def noted(self: Asker, *given: Any) -> bool:
        asked.append(honest(self, *given))
        return asked[-1]

    monkeypatch.setattr(Asker, "broken", noted)
    tally = random_tally(seed)
    promise = LKC(l=2, k=2, c=Fraction(1, 2), sensitive={"s": ["u", "v"]})
    search = TopDown(score=Score.INFORMATION_GAIN)
    alone = search.search(tally, policy_for(tally, [promise], search))
    with quick():
        found = found_together(tally, [0, 1], 3, search, [promise], Reveal.SCORES, holder=holder)
    assert asked, "somebody else than the holder has a candidate"
    for finding in found:
        assert [(s.label, s.performed) for s in finding.steps] == [
            (s.label, s.performed) for s in alone.steps
        ]
    if holder == 2:  # then every candidate is somebody else's
        assert asked == [not step.performed for step in alone.steps]


@given(data=st.data())
@settings(max_examples=40)
def test_any_sum_above_its_limit(data: Any) -> None:
    lanes = data.draw(st.integers(0, 5))
    numbers = st.lists(st.integers(0, 15), min_size=lanes, max_size=lanes)
    a, b, limits = (data.draw(numbers) for _ in range(3))  # a sum and a limit are below half of 2**6
    wrong = data.draw(st.booleans())
    circuit = any_sum_above(lanes, 6)
    less = [y - most - 1 for y, most in zip(b, limits, strict=True)]  # whoever knows the limit takes it off
    yours = np.concatenate([lanes_of(np.array(less, dtype=np.int64), 6), np.array([wrong])])
    found = circuit(Plain(), lanes_of(a, 6), yours)
    assert found.tolist() == [wrong or any(x + y > most for x, y, most in zip(a, b, limits, strict=True))]
