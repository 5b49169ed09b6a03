"""Two parties publish with differential privacy: as one machine does, but for the draws; nothing leaks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.odds import implausible, laplace_law
from tests.parties.noisy import (
    HOSPITAL,
    PREDICTORS,
    TABLE_5_2,
    TABLE_7_1,
    Quiet,
    hospital,
    one_table,
    plan,
    quick,
    released,
)
from tests.parties.parties import house

from privet.counts.door import Candidate
from privet.dp.budget import Account, Search
from privet.dp.diffgen import DiffGen, ExponentialChooser
from privet.dp.exact import Exact
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Numbers
from privet.dp.records import Records
from privet.dp.scores import majority, scoring
from privet.dp.splitting import Splitter
from privet.errors import InputError, PartyError, UnsupportedError
from privet.parties.noisy import joint
from privet.parties.noisy.exponentials import cut_off, weight, weights
from privet.parties.noisy.splitting import halved
from privet.parties.primitives.drawing import SLACK
from privet.parties.primitives.paillier import PrivateKey, Sizes
from privet.parties.primitives.scalar import counts_first, counts_second
from privet.parties.transport import Link, together

RARE = 1e-10  # false alarms
WAYS = [
    ("exponential", True, "halves"),
    ("noisy-max", True, "halves"),
    ("noisy-max", False, "halves"),
    ("noisy-max", False, "drawn"),
    ("exponential", False, "halves"),
]


def parts_of(columns: bool) -> list[Any]:
    return [one_table()] * 2 if columns else [one_table(TABLE_7_1[:4]), one_table(TABLE_7_1[4:])]


def counted(found: NoisyTable) -> Counter[tuple[Any, ...]]:
    rows, counts = found.rows()
    keys = zip(*(column.texts() for column in rows.values()), strict=True)
    return Counter({key: int(count) for key, count in zip(keys, counts, strict=True) if count})


def truly(found: NoisyTable, rows: Any) -> Counter[tuple[Any, ...]]:
    labels = found.apply_cut(one_table(rows))
    return Counter(zip(*(column.texts() for column in labels.values()), strict=True))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("select", "columns", "numbers"), WAYS)
def test_without_noise_both_hold_the_true_counts_and_the_same_account(
    select: str, columns: bool, numbers: str
) -> None:
    made = plan(select, columns=columns, numbers=numbers, h=3)
    with quick():
        one, other = released(made, parts_of(columns))
    assert counted(one) == truly(one, TABLE_7_1)
    assert one.cuts == other.cuts
    assert np.array_equal(one.counts, other.counts)
    assert one.charges == other.charges
    assert one.epsilon == 1
    assert len(one.steps) == 3
    chosen = {charge.mechanism for charge in one.charges if "choose" in charge.purpose}
    assert chosen == {select}
    assert one.noises == 2


@pytest.mark.parametrize("columns", [True, False])
def test_every_leaf_of_the_product_of_cuts_has_every_class(columns: bool) -> None:
    with quick():
        one, _ = released(plan("noisy-max", columns=columns, h=3), parts_of(columns), Exact)
    assert one.counts.shape == (math.prod(len(cut) for cut in one.cuts), 2)
    assert len(set(map(tuple, one.positions.tolist()))) == one.leaves


class Forced:
    """The winners that a test says, in this order."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = list(labels)

    def draw(self, offered: Sequence[Candidate], splitter: Any) -> int:
        wanted = self._labels.pop(0)
        return next(at for at, candidate in enumerate(offered) if candidate.node.label == wanted)


FIGURE_7_1 = {
    ("Professional", "Male"): (2, 0),
    ("Professional", "Female"): (3, 0),
    ("Artist", "Male"): (1, 2),
    ("Artist", "Female"): (0, 2),
}


@pytest.mark.parametrize("columns", [True, False])
def test_figure_7_1_by_forced_winners(columns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec 05, 4.1: Any_Job, then Any_Sex; the counts come out of scalar products, or of both."""
    monkeypatch.setattr(joint, "_choice", lambda *_: Forced(["Any_Job", "Any_Sex"]))
    with quick():
        one, _ = released(plan("exponential", columns=columns), parts_of(columns))
    rows, counts = one.rows(zeros=True)
    found: dict[tuple[Any, Any], list[int]] = {}
    for job, sex, count in zip(rows["Job"].texts(), rows["Sex"].texts(), counts.tolist(), strict=True):
        found.setdefault((job, sex), []).append(count)
    assert {key: tuple(both) for key, both in found.items()} == FIGURE_7_1
    alone = _alone(["Any_Job", "Any_Sex"])
    assert counted(one) == counted(alone), "as one machine does under the same winners"
    assert [[node.label for node in cut] for cut in one.cuts] == [
        [node.label for node in cut] for cut in alone.cuts
    ]


def _alone(winners: list[str]) -> NoisyTable:
    """DiffGen on one machine, without noise, under forced winners."""

    class Choosing(ExponentialChooser):
        def _drawn(self, offered: Sequence[Candidate]) -> int:
            return Forced([winners.pop(0)]).draw(offered, None)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privet.dp.diffgen.ExponentialChooser", Choosing)
        return DiffGen(epsilon=Fraction(1), h=2).release(one_table(), Quiet())


@pytest.mark.parametrize("columns", [True, False])
def test_what_each_sees_is_the_count_and_the_others_noise(
    columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 05, 4.1: noises -3 and 5 on a count of 2 give 4; what travels looks like neither."""
    monkeypatch.setattr(joint, "_choice", lambda *_: Forced(["Any_Job", "Any_Sex"]))
    noise = {0: -3, 1: 5}
    one = house(2)
    seen = {}
    with quick():

        def part(link: Link) -> NoisyTable:
            class Mine(Quiet):
                def laplace(self, scale: Fraction, size: int) -> Any:
                    return np.full(size, noise[link.me], dtype=np.int64)

            made, mine = plan("exponential", columns=columns), parts_of(columns)[link.me]
            return joint.release(joint.paired(link, made, mine), made, mine, Mine())

        found, other = together(one, [part] * 2)
    for link in one.links:
        (raw,) = [payload for _, kind, payload in link.traffic.transcript if kind == "noisy"]
        seen[link.me] = np.frombuffer(raw, dtype="<i8").reshape(found.counts.shape)
    first = [at for at, row in enumerate(found.positions.tolist()) if row[:2] == [0, 0]]
    assert found.counts[first].sum() == 4 * len(first) // len(first) + 2, (
        "two classes: 2 - 3 + 5 and 0 - 3 + 5"
    )
    assert np.array_equal(found.counts, other.counts)
    true = found.counts - 2
    for me in (0, 1):
        # What it received and what itself showed add up; its own noise off leaves the other's only.
        assert np.array_equal(seen[me] + seen[1 - me], found.counts)
        view = found.counts - noise[me]
        assert np.array_equal(view, true + noise[1 - me])
        if columns:
            assert not np.array_equal(seen[me], true + noise[1 - me]), "covered by chance"
            assert np.abs(seen[me]).max() > 2**40


def test_both_say_what_they_hold_before_either_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec 05, T11: who would choose its noise by what the other showed is noticed."""
    monkeypatch.setattr(joint, "_choice", lambda *_: Forced(["Any_Job", "Any_Sex"]))
    honest = Link.send_words

    def later(self: Link, to: int, kind: str, words: Any) -> None:
        honest(self, to, kind, words + np.uint64(1) if kind == "noisy" and self.me == 1 else words)

    monkeypatch.setattr(Link, "send_words", later)
    with quick(), pytest.raises(PartyError, match=r"(north|south): shows other numbers"):
        released(plan("exponential", columns=False), parts_of(False))


# Distributions, by enumeration.


def neighbours(rows: Sequence[Any]) -> list[list[Any]]:
    return [[row for place, row in enumerate(rows) if place != at] for at in range(len(rows))]


def scores_of(rows: Sequence[Any]) -> list[int]:
    """The root's candidates: Any_Job, Any_Sex, and Salary split at 31."""
    coded = one_table(rows)
    found = []
    for at, predictor in enumerate(PREDICTORS):
        root = predictor.domain.root
        edges = [(c.lo, c.hi) for c in root.children] or [(0, 13), (13, 81)]
        ((codes, by_class),) = Records(coded).histograms([at])
        inside = [by_class[(codes >= lo) & (codes < hi)].sum(axis=0) for lo, hi in edges]
        found.append(int(majority(np.array(inside))))
    return found


def test_scores_of_table_7_1() -> None:
    assert scores_of(TABLE_7_1) == [9, 6, 7]  # spec 05, 4.4


@pytest.mark.parametrize("digits", [1, 2, 4, 9])
def test_the_joint_exponential_mechanism_spends_no_more_than_a_step(digits: int) -> None:
    """Every pair of neighbours, exactly: weights as both parties make them, and the draw's own error.

    To a reader and to the other party alike: the winner is all that either sees of a choice.
    """
    step = Fraction(1, 10)
    d = Fraction(1, 2**64)
    allowed = Fraction(weight(step, 40), 10**40) * (1 + Fraction(1, 10**39))
    if cut_off(digits) >= step:
        made = plan("exponential", columns=True, digits=digits)
        with pytest.raises(UnsupportedError, match="cost more than a step"), Sizes.for_tests(512):
            made.refuse(one_table())
        return
    temperature = 2 / (step - cut_off(digits))
    for rows in neighbours(TABLE_7_1):
        for a, b in ((TABLE_7_1, rows), (rows, TABLE_7_1)):
            here, there = (weights(scores_of(some), temperature, digits) for some in (a, b))
            for one, other in zip(here, there, strict=True):
                worst = Fraction(one, sum(here)) * (1 + d) / (Fraction(other, sum(there)) * (1 - d))
                assert worst <= allowed


def test_weights_that_are_cut_off_without_paying_for_it_would_spend_more() -> None:
    """Spec 05, 2.4: the refuted way: one digit at the full epsilon' breaks it for some scores."""
    step, allowed = Fraction(1, 50), math.exp(1 / 50)
    worst = max(
        (one / (one + other)) / (more / (more + another))
        for u, v in product(range(30), repeat=2)
        for one, other in [weights([u, v], 2 / step, 1)]
        for more, another in [weights([u + 1, v], 2 / step, 1), weights([u, v + 1], 2 / step, 1)]
    )
    assert worst > allowed


def test_taylor_weights_spend_no_more_than_a_step() -> None:
    """Across people: every pair of neighbours of table 7.1, by exact fractions."""
    made = plan("exponential", columns=False, epsilon=Fraction(1), h=2)
    step = Fraction(1, 8)
    polynomial = made.polynomial(scoring(made.asked.score, 2), step)
    allowed, d = Fraction(weight(step, 40), 10**40), Fraction(1, 2**64)
    for rows in neighbours(TABLE_7_1):
        for a, b in ((TABLE_7_1, rows), (rows, TABLE_7_1)):
            here, there = ([polynomial.of(u) for u in scores_of(some)] for some in (a, b))
            for one, other in zip(here, there, strict=True):
                worst = Fraction(one, sum(here)) * (1 + d) / (Fraction(other, sum(there)) * (1 - d))
                assert worst <= allowed
    assert Fraction(polynomial.p, polynomial.q) <= step / 2 - SLACK


def winners(scores: Sequence[int], epsilon: float, noises: int) -> list[float]:
    """The chances of a noisy maximum under so many noises of each candidate, by enumeration."""
    q, width = math.exp(-epsilon), 60
    one = np.array([(1 - q) / (1 + q) * q ** abs(z) for z in range(-width, width + 1)])
    law = one if noises == 1 else np.convolve(one, one)
    reach = (len(law) - 1) // 2
    upto = np.cumsum(law)  # P(z <= at - reach)

    def at_most(number: int) -> float:
        return 0.0 if number < -reach else float(upto[min(number, reach) + reach])

    found = []
    for at, score in enumerate(scores):
        total = 0.0
        for z in range(-reach, reach + 1):
            value, chance = score + z, float(law[z + reach])
            for other, theirs in enumerate(scores):
                if other != at:  # of equal ones the first wins
                    chance *= at_most(value - theirs - (1 if other < at else 0))
            total += chance
        found.append(total)
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("noises", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_noisy_maximum_spends_no_more_than_a_step(noises: int, epsilon: float) -> None:
    """To the other party one noise protects, to a reader both; neighbours within exp(epsilon') for either.

    The other's noise only moves scores by numbers that it knows: all moves of -2 to 2 are tried.
    """
    moves = product(range(-2, 3), repeat=3) if noises == 1 else [(0, 0, 0)]
    before = scores_of(TABLE_7_1)
    pairs = {tuple(scores_of(rows)) for rows in neighbours(TABLE_7_1)}
    assert all(0 <= a - b <= 1 for rows in pairs for a, b in zip(before, rows, strict=True)), "monotone"
    for move in moves:
        here = winners([a + m for a, m in zip(before, move, strict=True)], epsilon, noises)
        for rows in pairs:
            there = winners([a + m for a, m in zip(rows, move, strict=True)], epsilon, noises)
            for one, other in zip(here, there, strict=True):
                assert one <= math.exp(epsilon) * other * (1 + 1e-9)
                assert other <= math.exp(epsilon) * one * (1 + 1e-9)


@pytest.mark.parametrize("noises", [1, 2])
def test_counts_spend_no_more_than_is_left(noises: int) -> None:
    """A count and one more: within exp(epsilon) for one noise (the other party) and for two (a reader)."""
    epsilon, width = 0.7, 80
    one = np.array(list(laplace_law(1 / epsilon, width).values()))
    law = one if noises == 1 else np.convolve(one, one)
    middle = len(law) // 2
    inner = law[middle - 25 : middle + 26]  # where cutting the tails off does not show
    ratio = inner[1:] / inner[:-1]
    assert ratio.max() <= math.exp(epsilon) * (1 + 1e-9)
    assert ratio.min() >= math.exp(-epsilon) * (1 - 1e-9)


def test_two_noises_have_twice_the_variance() -> None:
    """Spec 05, T3: the sum of two independent draws, and not twice one draw."""
    one = np.array(list(laplace_law(2.0, 200).values()))
    places = np.arange(-200, 201)
    alone = float((one * places**2).sum())
    both = float((np.convolve(one, one) * np.arange(-400, 401) ** 2).sum())
    assert both == pytest.approx(2 * alone)
    assert 4 * alone != pytest.approx(both)


def test_horizontal_selection_of_table_5_2() -> None:
    """Spec 05, 4.6: scores 10, 6 and 8 of both hospitals together, and neither's own."""
    made = plan("noisy-max", columns=False, h=1)
    parts = [hospital(TABLE_5_2[:5]), hospital(TABLE_5_2[5:])]
    seen: list[list[int]] = []

    class Watching(Quiet):
        def laplace(self, scale: Fraction, size: int) -> Any:
            if size == 3:  # a choice among three: the noise makes each candidate win in turn
                seen.append([size])
            return super().laplace(scale, size)

    with quick():
        one, _ = released(made, parts, Watching)
    assert len(seen) == 2
    assert [step.label for step in one.steps] == ["ANY_Job"], "10 is the most"
    sums = {}
    for at, predictor in enumerate(HOSPITAL):
        root = halved(predictor, 1).domain.root if isinstance(predictor.domain, Numbers) else None
        children = (root or predictor.domain.root).children
        counts = []
        for part in parts:
            ((codes, by_class),) = Records(part).histograms([at])
            counts.append([by_class[(codes >= c.lo) & (codes < c.hi)].sum(axis=0) for c in children])
        sums[predictor.name] = int(majority(np.array(counts[0]) + np.array(counts[1])))
    assert sums == {"Job": 10, "Sex": 6, "Age": 8}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("columns", [True, False])
def test_a_clear_winner_wins_in_the_real_protocol(columns: bool) -> None:
    """Spec 05, 4.7, with a lot of epsilon: the best of three, whose chance to lose is below 1e-12.

    Whether the chances of the others are right is counted out above and in test_drawing, draw by draw.
    """
    rows = [*TABLE_7_1] * (4 if columns else 1)
    made = plan("exponential", columns=columns, epsilon=Fraction(60 if columns else 3), h=1)
    parts = [one_table(rows)] * 2 if columns else [one_table(rows[:4]), one_table(rows[4:])]
    with quick():
        one, other = released(made, parts)
    assert [step.label for step in one.steps] == [step.label for step in other.steps]
    if columns:  # 36 against 28 and 24, times 60 / 12
        assert [step.label for step in one.steps] == ["Any_Job"]


# What travels.


def test_what_is_forwarded_is_uniform() -> None:
    """What the key's holder decrypts, and what the other keeps, tells nothing: bytes of equal chances."""
    regions, groups = [at % 40 for at in range(60)], [at % 3 for at in range(60)]
    with Sizes.for_tests(512):
        key = PrivateKey.fresh(512)
        seen, kept = [], []
        for _ in range(6):
            mine, theirs = together(
                house(2),
                [
                    lambda link: counts_first(link, 1, key, regions, 40, 3),
                    lambda link: counts_second(link, 0, groups, 40, 3),
                ],
            )
            seen += [one for row in mine for one in row]
            kept += [-one for row in theirs for one in row]
    bits = 6 + 40 + 1  # of a mask
    for numbers in (seen, kept):
        high = [one >> (bits - 4) for one in numbers]
        low = [one & 15 for one in numbers]
        for digits in (high, low):
            law: dict[Any, float] = dict.fromkeys(range(16), 1 / 16)
            assert implausible(digits, law, RARE) == []
    assert implausible([0] * len(seen), dict.fromkeys(range(16), 1 / 16), RARE) != []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("select", "columns", "numbers"), WAYS)
def test_nothing_of_the_counts_is_in_a_transcript(select: str, columns: bool, numbers: str) -> None:
    """Every value that a party receives has a reason; counts planted as canaries are in none of them."""
    made = plan(select, columns=columns, numbers=numbers, h=2)
    parts = parts_of(columns)
    within = house(2)
    with Sizes.for_tests(512):  # with real transfers
        one, _ = released(made, parts, Exact, within)
    reasons = {
        "ot common": "a public key", "ot keys": "public keys", "ot columns": "covered by streams",
        "ot offsets": "covered by a key that was not chosen", "labels": "chance", "tables": "ciphertexts",
        "decoding": "which label is which of a result", "result": "what both learn: a candidate, or alike",
        "place": "drawn and paid for", "key length": "public", "key": "public",
        "key proof": "roots of numbers that nobody chose",
        "regions": "ciphertexts", "counts": "masked sums, encrypted",
        "powers": "ciphertexts of a mask's powers", "evaluated": "a share, encrypted",
        "noisy digest": "a digest under a nonce", "nonce": "chance", "noisy": "noisy; across columns masked",
    }  # fmt: skip
    exact = [Records(made.prepared(part)).leaves(_grid(made, part, one)) for part in parts]
    for link in within.links:
        other = exact[1 - link.me]
        for _, kind, payload in link.traffic.transcript:
            assert kind in reasons, f"{kind}: not on the list of what may be received"
            # Across people a count may be told with noise of nothing: that is drawn, and paid for.
            if other.any() and (columns or kind != "noisy"):
                assert other.astype("<i8").tobytes() not in payload
        result = [payload for _, kind, payload in link.traffic.transcript if kind == "result"]
        most = 7 if numbers == "drawn" else 3  # bits of an index: of a candidate, or of a place
        assert all(len(payload) <= most for payload in result), "and whether classes are the same"


def _grid(made: joint.Plan, part: Any, found: NoisyTable) -> Any:
    search = Search(Quiet(), Account(Fraction(1)), Fraction(1, 10), Fraction(1))
    score = scoring(made.asked.score, 2)
    splitter = Splitter(made.prepared(part), score, search, made.asked.threshold, None)
    splitter.cuts = [list(cut) for cut in found.cuts]
    return splitter.leaves.grid(splitter.begins())


# Who could not.


def test_classes_that_differ_are_noticed_and_nothing_else_is_told() -> None:
    rows = [*TABLE_7_1[:-1], ("Lawyer", "Female", "44", "N")]
    with quick(), pytest.raises(PartyError, match="has another class for some person"):
        released(plan("exponential", columns=True), [one_table(), one_table(rows)])


def test_more_rows_than_agreed_are_refused_for_nothing() -> None:
    with Sizes.for_tests(512), pytest.raises(InputError, match="more rows than the 20"):
        plan("noisy-max", columns=False).refuse(one_table(TABLE_7_1 * 3))


def test_weights_that_do_not_fit_the_key_are_refused_with_a_way_out() -> None:
    """Spec 05, 3.3.2 and acceptance 4: or the shares would not add up to the weights."""
    with Sizes.for_tests(512):
        made = plan("exponential", columns=False, degree=80)
        with pytest.raises(UnsupportedError, match=r"need [\d,]+ bits .*noisy-max"):
            made.refuse(one_table())
        plan("exponential", columns=False, degree=20).refuse(one_table())


@pytest.mark.parametrize(
    ("epsilon", "select", "columns", "said"),
    [
        ("1/1000000000000000", "noisy-max", True, "more noise than any table"),
        ("1/1000000000000000000000", "noisy-max", False, "more noise than any table"),
        ("1/1000000000000000000000", "exponential", False, "more noise than any table"),
        ("100000", "exponential", True, "noisy-max"),
    ],
)
def test_an_epsilon_beyond_all_reason_is_refused_before_it_is_paid(
    epsilon: str, select: str, columns: bool, said: str
) -> None:
    made = plan(select, columns=columns, epsilon=Fraction(epsilon), h=1)
    with pytest.raises(UnsupportedError, match=said):
        made.refuse(parts_of(columns)[0])


def test_too_many_places_are_refused() -> None:
    from tests.dp.small import table

    from privet.dp.publicdomain import Predictor

    wide = table([("5", "Y")], [Predictor("n", Numbers(0, 10_000))])
    with Sizes.for_tests(512):
        with pytest.raises(UnsupportedError, match="more than 4,096 places"):
            plan("noisy-max", columns=False, numbers="drawn").refuse(wide)
        plan("noisy-max", columns=False).refuse(wide)


def test_a_place_outside_its_interval_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Link.broadcast_words

    def wrong(self: Link, kind: str, words: Any) -> None:
        honest(self, kind, np.array([10**6], dtype=np.uint64) if kind == "place" else words)

    monkeypatch.setattr(Link, "broadcast_words", wrong)
    with quick(), pytest.raises(PartyError, match="splits an interval outside of it"):
        released(plan("noisy-max", columns=True), parts_of(True))


def test_a_key_that_is_shorter_than_agreed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = PrivateKey.fresh
    monkeypatch.setattr(PrivateKey, "fresh", lambda bits=0: honest(514))
    for select, columns in (("noisy-max", True), ("exponential", False)):
        with quick(), pytest.raises(PartyError, match="length that was agreed on"):
            released(plan(select, columns=columns), parts_of(columns))


def test_no_records_at_one_party_are_published_like_any_other() -> None:
    """A table without a record is a neighbour of one with one."""
    with quick():
        one, other = released(plan("noisy-max", columns=False), [one_table(TABLE_7_1), one_table([])])
    assert counted(one) == counted(other) == truly(one, TABLE_7_1)


@given(data=st.data())
@settings(max_examples=12)
def test_random_tables_however_they_are_split(data: Any) -> None:
    """Whatever the rows and the owners: the counts without noise are those of all rows in one place."""
    job = st.sampled_from(["Engineer", "Lawyer", "Writer", "Dancer"])
    row = st.tuples(
        job, st.sampled_from(["Male", "Female"]), st.integers(18, 98).map(str), st.sampled_from("YN")
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=15))
    columns = data.draw(st.booleans())
    owner = tuple(data.draw(st.integers(0, 1)) for _ in PREDICTORS)
    made = plan("noisy-max", columns=columns, h=data.draw(st.integers(1, 4)))
    made = joint.Plan(made.asked, made.terms, owner if columns else None, made.rows_at_most)
    cut = data.draw(st.integers(0, len(rows)))
    parts = [one_table(rows)] * 2 if columns else [one_table(rows[:cut]), one_table(rows[cut:])]
    with quick():
        one, other = released(made, parts)
    assert counted(one) == counted(other) == truly(one, rows)


class Asked(Quiet):
    """Remembers the scales of the noise that it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.scales: list[Fraction] = []

    def laplace(self, scale: Fraction, size: int) -> Any:
        self.scales.append(scale)
        return super().laplace(scale, size)


@pytest.mark.parametrize("columns", [True, False])
def test_noise_has_the_scale_that_was_paid_for(columns: bool) -> None:
    """Of a choice 1 / step, since records can only raise `max`; of counts 1 / what is left; at both."""
    asked: list[Asked] = []

    def source() -> Asked:
        asked.append(Asked())
        return asked[-1]

    with quick():
        one, _ = released(plan("noisy-max", columns=columns, h=2), parts_of(columns), source)
    paid = {charge.purpose.split(" ")[0]: charge.epsilon for charge in one.charges}
    for party in asked:
        assert party.scales == [1 / paid["choose"]] * 2 + [1 / paid["counts"]]


def test_what_weights_cost_comes_off_what_a_choice_may_spend() -> None:
    made = plan("exponential", columns=True, digits=3)
    score, step = scoring(made.asked.score, 2), Fraction(1, 10)
    choice = joint._choice(None, made, one_table(), score, step, Quiet())  # type: ignore[arg-type]
    assert choice._temperature == 2 / (step - cut_off(3))  # type: ignore[attr-defined]
    assert choice._largest == weight(10 / choice._temperature, 3)  # type: ignore[attr-defined]


def test_the_budget_ends_the_loop_and_the_rest_pays_for_the_counts() -> None:
    made = plan("noisy-max", columns=True, h=1)
    with quick():
        one, _ = released(made, parts_of(True), Exact)
    step = Fraction(1, 2 * (1 + 2))
    assert [charge.epsilon for charge in one.charges][:2] == [step, step]
    assert sum(charge.epsilon for charge in one.charges) == 1
    assert one.scale == 1 / one.charges[-1].epsilon
