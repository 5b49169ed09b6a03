"""A table split by people: the parties find together what one of them would find on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.parties import house

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.door import Candidate, Score
from privet.domain import Domain, Node, flat
from privet.errors import PartyError, UnsatisfiableError, UnsupportedError
from privet.models.linkage import LinkageModel
from privet.models.lkc import LKC
from privet.parties import shown
from privet.parties.people import PeopleCounts
from privet.parties.primitives import securesum
from privet.parties.primitives.randomness import Stream
from privet.parties.secret import SecretCutting
from privet.parties.transport import Link, together
from privet.parties.words import Adding, Reveal
from privet.recoding import Generalization
from privet.relational.topdown import TopDown
from privet.testing.adding import joined, parts_of
from privet.testing.contracts import policy_for
from privet.testing.strategies import models, tallies

WAYS = [(Reveal.COUNTS, Adding.RING), (Reveal.COUNTS, Adding.PAIRWISE), (Reveal.DECISIONS, Adding.PAIRWISE)]


def given_trees(tally: Tally) -> Tally:
    """The same without intervals that are grown by counts of single values: a contract refuses them."""

    def fixed(column: Column) -> Column:
        domain = column.domain
        if domain.scale is None or not domain.scale.grown:
            return column
        return Column(column.name, Domain(domain.values, domain.root), column.codes)

    return replace(tally, quasi=tuple(map(fixed, tally.quasi)))


def splits_into(draw: Any, tally: Tally, parties: int) -> list[Tally]:
    of_cell = draw(st.lists(st.integers(0, parties - 1), min_size=tally.cells, max_size=tally.cells))
    parts = parts_of(tally, of_cell)
    empty = tally.where(np.zeros(tally.cells, dtype=bool))
    return [*parts, *[empty] * (parties - len(parts))]


def found_together(
    parts: Sequence[Tally], search: TopDown, promises: Sequence[PrivacyModel], way: tuple[Reveal, Adding]
) -> list[Any]:
    policy = policy_for(parts[0], promises, search)

    def part(link: Link) -> Any:
        return search.search(PeopleCounts(link, parts[link.me], *way), policy)

    return together(house(len(parts), record=False), [part] * len(parts))


def random_tally(seed: int, quasi: int = 2) -> Tally:
    """Forty persons, quasi-identifiers of two levels, a target and a sensitive column."""
    rng = np.random.default_rng(seed)
    low = Node("low", 0, 2, (Node("a", 0, 1), Node("b", 1, 2)))
    high = Node("high", 2, 4, (Node("c", 2, 3), Node("d", 3, 4)))
    tree = Node("*", 0, 4, (low, high))
    domain = Domain(("a", "b", "c", "d"), tree)

    def column(name: str, wide: int, of: Domain) -> Column:
        return Column(name, of, rng.integers(0, wide, 40).astype(np.uint8))

    three = flat(("u", "v", "w"))
    return Tally(
        tuple(column("pqrs"[at], 4, domain) for at in range(quasi)),
        (column("s", 3, three),),
        column("t", 2, flat(("x", "y"))),
        np.ones(40, dtype=np.int64),
        Nulls.VALUE,
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("score", [Score.INFORMATION_GAIN, Score.DISCERNIBILITY])
@pytest.mark.parametrize("seed", range(12))
def test_secret_scores_rank_as_shown_ones(seed: int, score: Score) -> None:
    """Tables on which many splits are made, so that every comparison matters."""
    tally = random_tally(seed, quasi=3)
    promise = LKC(l=1 + seed % 3, k=1 + seed % 2, c=Fraction(1), sensitive={})
    search = TopDown(score=score)
    alone = search.search(tally, policy_for(tally, [promise], search))
    assert sum(step.performed for step in alone.steps) > 2
    parts = parts_of(tally, [(7 * at + seed) % 3 for at in range(tally.cells)])
    for finding in found_together(parts, search, [promise], (Reveal.DECISIONS, Adding.PAIRWISE)):
        said = [(s.attribute, s.label, s.performed) for s in finding.steps]
        assert said == [(s.attribute, s.label, s.performed) for s in alone.steps]


def kept_secretly(model: PrivacyModel) -> bool:
    return isinstance(model, LinkageModel) and all(
        template.at_most.denominator < 2**31 for template in model.linkage().templates
    )


@given(data=st.data())
@settings(max_examples=120)
def test_together_they_find_what_one_finds_on_all_rows(data: Any) -> None:
    tally = given_trees(data.draw(tallies(cells=16)))
    parties = data.draw(st.integers(3, 5))
    parts = splits_into(data.draw, tally, parties)
    way = data.draw(st.sampled_from(WAYS))
    scores = [Score.DISCERNIBILITY] if tally.target is None else list(Score)
    if way[0] is Reveal.DECISIONS:
        scores = [score for score in scores if score is not Score.GAIN_PER_LOSS]
    search = TopDown(score=data.draw(st.sampled_from(scores)))
    promises = data.draw(st.lists(models(tally).filter(kept_secretly), min_size=1, max_size=2))
    try:
        alone = search.search(joined(parts), policy_for(tally, promises, search))
    except UnsatisfiableError:
        with pytest.raises(UnsatisfiableError):
            found_together(parts, search, promises, way)
        return
    everybody = found_together(parts, search, promises, way)
    for finding in everybody:
        assert isinstance(alone.recoding, Generalization)
        cuts = {name: cut.nodes for name, cut in alone.recoding.cuts.items()}
        assert {name: cut.nodes for name, cut in finding.recoding.cuts.items()} == cuts
        said = [(s.attribute, s.label, s.children, s.performed) for s in finding.steps]
        assert said == [(s.attribute, s.label, s.children, s.performed) for s in alone.steps]


# What the others see.

CANARIES = ((0x5EC2E701, 0x13371337, 0x0BADF00D), (0x0DDBA115, 0x1CEB00DA, 0x0FACADE5))


def canaries() -> list[Tally]:
    """Three parties that all have the same records, each in a number that is found again in bytes."""
    column = Column("q", flat(("a", "b")), np.array([0, 1], dtype=np.uint8))
    target = Column("t", flat(("x", "y")), np.array([0, 1], dtype=np.uint8))
    sensitive = Column("s", flat(("u", "v")), np.array([0, 1], dtype=np.uint8))
    return [
        Tally((column,), (sensitive,), target, np.array([a, b], dtype=np.int64) >> 4, Nulls.VALUE)
        for a, b in zip(*CANARIES, strict=True)
    ]


def transcripts(way: tuple[Reveal, Adding]) -> list[bytes]:
    parts = canaries()
    one = house(3)
    search = TopDown(score=Score.DISCERNIBILITY if way[0] is Reveal.DECISIONS else Score.INFORMATION_GAIN)
    policy = policy_for(parts[0], [LKC(l=1, k=2, c=Fraction(1), sensitive={"s": ["u"]})], search)
    together(one, [lambda link: search.search(PeopleCounts(link, parts[link.me], *way), policy)] * 3)
    return [b"".join(payload for _, _, payload in link.traffic.transcript) for link in one.links]


def seen(said: list[bytes], *, of: int) -> bool:
    """Is a count of this party in what the others received, in four bytes or eight?"""
    counts = canaries()[of].counts.tolist()
    return any(
        int(count).to_bytes(4, "little") in text
        for count in (*counts, sum(counts))
        for at, text in enumerate(said)
        if at != of
    )


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_no_count_of_a_party_is_in_what_the_others_receive(way: tuple[Reveal, Adding]) -> None:
    said = transcripts(way)
    assert not any(seen(said, of=party) for party in range(3))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_without_masks_the_search_would_find_them(
    way: tuple[Reveal, Adding], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "draw", lambda _, count, dtype: np.zeros(count, dtype=dtype))
    monkeypatch.setattr(securesum, "fresh", lambda count, dtype: np.zeros(count, dtype=dtype))
    said = transcripts(way)
    assert any(seen(said, of=party) for party in range(3))


def test_totals_are_seen_by_the_leader_only_and_by_nobody_where_only_decisions_are_told() -> None:
    totals = np.sum([part.counts for part in canaries()], axis=0).tolist()

    def inside(text: bytes) -> bool:
        return any(int(total).to_bytes(4, "little") in text for total in totals)

    # A pairwise sum is added up at the leader, so no message holds it either.
    assert not any(map(inside, transcripts((Reveal.COUNTS, Adding.PAIRWISE))))
    assert not any(map(inside, transcripts((Reveal.DECISIONS, Adding.PAIRWISE))))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_messages_are_as_long_whoever_has_the_rows(way: tuple[Reveal, Adding]) -> None:
    """Counters have their place by what all know: a party without records sends as much as one with all."""
    tally = canaries()[0]
    empty = tally.where(np.zeros(2, dtype=bool))
    search = TopDown(score=Score.DISCERNIBILITY)
    policy = policy_for(tally, [LKC(l=1, k=2, c=Fraction(1), sensitive={"s": ["u"]})], search)
    lengths = []
    for parts in ([tally, empty, empty], [empty, empty, tally], [tally, tally, tally]):
        one = house(3)

        def part(link: Link, parts: Sequence[Tally] = parts) -> Any:
            return search.search(PeopleCounts(link, parts[link.me], *way), policy)

        together(one, [part] * 3)
        lengths.append([[(k, len(p)) for _, k, p in link.traffic.transcript] for link in one.links])
    assert lengths[0] == lengths[1] == lengths[2]


def test_a_leader_that_asks_about_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = canaries()
    search = TopDown(score=Score.INFORMATION_GAIN)
    honest = shown.Asking._asked

    def curious(self: shown.Asking, what: int, candidates: Sequence[Candidate], mine: Any) -> Any:
        return honest(self, what, [replace(c, position=c.position + 1) for c in candidates], mine)

    monkeypatch.setattr(shown.Asking, "_asked", curious)
    with pytest.raises(PartyError, match="north: asks about a candidate that this search does not have"):
        found_together(parts, search, [LKC(l=1, k=2, c=Fraction(1), sensitive={"s": ["u"]})], WAYS[1])


def test_gain_per_loss_is_not_made_in_secret() -> None:
    search = TopDown(score=Score.GAIN_PER_LOSS)
    with pytest.raises(UnsupportedError, match='reveal = "counts"'):
        found_together(canaries(), search, [LKC(l=1, k=2, c=Fraction(1), sensitive={"s": ["u"]})], WAYS[2])


@pytest.mark.parametrize("score", [Score.INFORMATION_GAIN, Score.DISCERNIBILITY])
def test_a_split_of_which_no_part_occurs_is_a_partys_fault(
    score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = SecretCutting.split

    def nowhere(self: SecretCutting, candidate: Candidate) -> list[int]:
        three = self._three
        with patch.object(three, "open", lambda secret, bits=False: np.zeros(len(secret), dtype=np.uint64)):
            return honest(self, candidate)

    monkeypatch.setattr(SecretCutting, "split", nowhere)
    parts = parts_of(random_tally(1), [at % 3 for at in range(40)])
    promise = LKC(l=1, k=1, c=Fraction(1), sensitive={})
    with pytest.raises(PartyError, match="our own records say that it cannot be"):
        found_together(parts, TopDown(score=score), [promise], (Reveal.DECISIONS, Adding.PAIRWISE))
