"""Hiding: spec 09, section 4.13, and hundreds of random databases against the naive definitions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.rules import naive
from tests.tries import seldom

from privet import native
from privet.errors import InputError, PolicyError, UnsatisfiableError
from privet.rules import exact
from privet.rules.audit import Recount
from privet.rules.baskets import Baskets
from privet.rules.deleting import delete_items
from privet.rules.effects import effects
from privet.rules.goals import By, goals, innocent_border
from privet.rules.hidden import HiddenRule, Sensitive, resolved
from privet.rules.mining import mine
from privet.rules.rule import Rule, Thresholds, sides
from privet.rules.transactions import remove_transactions

GOLDEN = Baskets.of(s.split() for s in ["a b c", "a b c", "a b", "a c d", "b c d", "a b d", "c d", "a d"])
SEEN = Thresholds(Fraction(3), Fraction(3, 5))
ODD = (39, 57, 71, 105, 154, 171, 186, 200, 237, 244)  # seeds of databases that lose much of their border


def promise(
    text: str, support: Fraction = Fraction(3), share: Fraction | None = Fraction(3, 5)
) -> HiddenRule:
    left, right = sides(text)
    if not left:
        return HiddenRule(itemset=right, support=support)
    return HiddenRule(antecedent=left, consequent=right, support=support, confidence=share)


def said(rules: frozenset[Rule]) -> set[str]:
    return {
        "=>".join("".join(GOLDEN.items[i] for i in side) for side in (r.antecedent, r.consequent))
        for r in rules
    }


def test_golden_mining() -> None:
    found = mine(GOLDEN, SEEN)
    assert {"".join(GOLDEN.items[i] for i in one): many for one, many in found.support.items()} == {
        "a": 6,
        "b": 5,
        "c": 5,
        "d": 5,
        "ab": 4,
        "ac": 3,
        "ad": 3,
        "bc": 3,
        "cd": 3,
    }
    assert said(found.rules) == {"a=>b", "b=>a", "c=>a", "d=>a", "b=>c", "c=>b", "c=>d", "d=>c"}
    assert found.confidence(Rule((1,), (0,))) == Fraction(4, 5)


@pytest.mark.parametrize(
    ("sensitive", "removed", "lost", "ghosts"),
    [
        (["a => b", "b => a"], [3, 6], {"d=>a"}, {"a=>c"}),
        (["b => a"], [3, 6], {"a=>b", "d=>a"}, {"a=>c"}),
        (["c => d"], [7], {"d=>c"}, set()),
    ],
)
def test_golden_heuristic(sensitive: list[str], removed: list[int], lost: set[str], ghosts: set[str]) -> None:
    asked = resolved(GOLDEN, [promise(one) for one in sensitive])
    before = mine(GOLDEN, SEEN)
    kept = remove_transactions(GOLDEN, asked, before)
    assert (np.flatnonzero(~kept) + 1).tolist() == removed
    found = effects(before, GOLDEN, GOLDEN.only(np.flatnonzero(kept)), asked)
    assert (said(found.failures), said(found.lost), said(found.ghosts)) == (set(), lost, ghosts)


def test_golden_border() -> None:
    asked = resolved(GOLDEN, [promise("a => b"), promise("b => a")])
    before = mine(GOLDEN, SEEN)
    aims = goals(GOLDEN, asked, By.SUPPORT)
    elements = {"".join(GOLDEN.items[i] for i in one) for one in innocent_border(before, aims)}
    assert elements == {"ac", "ad", "bc", "cd"}
    cells = delete_items(GOLDEN, aims, before, border=True)
    assert [(record + 1, GOLDEN.items[item]) for record, item in cells] == [(3, "b"), (6, "b")]
    found = effects(before, GOLDEN, GOLDEN.without(cells), asked)
    assert not found.failures | found.lost | found.ghosts
    assert found.cells == 2


def test_golden_exact() -> None:
    asked = resolved(GOLDEN, [promise("a => b"), promise("b => a")])
    before = mine(GOLDEN, SEEN)
    found = exact.solve(GOLDEN, goals(GOLDEN, asked, By.SUPPORT), before)
    assert [(record + 1, GOLDEN.items[item]) for record, item in found.deletions] == [(3, "b"), (6, "b")]
    assert found.lost == ()


@pytest.mark.parametrize("seed", seldom(range(60), range(20)))
@pytest.mark.parametrize("library", [True, False])
def test_mining_is_what_the_definition_says(
    seed: int, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    records = naive.database(chance, chance.randint(1, 14), chance.randint(1, 6), chance.uniform(0.2, 0.8))
    if not library:
        monkeypatch.setattr(native, "library", lambda: None)
    least, share = chance.randint(1, 5), Fraction(chance.randint(1, 6), 6)
    baskets = Baskets.of(records)
    found = mine(baskets, Thresholds(Fraction(least), share))
    labels = baskets.items
    assert {frozenset(labels[i] for i in one): n for one, n in found.support.items()} == naive.frequent(
        records, least
    )
    seen = {
        (frozenset(labels[i] for i in r.antecedent), frozenset(labels[i] for i in r.consequent))
        for r in found.rules
    }
    assert seen == naive.rules(records, least, share)


@pytest.mark.parametrize("seed", seldom(range(120), range(30)))
def test_no_method_leaves_a_sensitive_rule(seed: int) -> None:
    """Heuristics, border and exact, by support and by confidence, with counts and with shares."""
    chance = random.Random(1000 + seed)
    records = naive.database(chance, chance.randint(4, 16), chance.randint(3, 6), chance.uniform(0.3, 0.8))
    baskets = Baskets.of(records)
    least, share = Fraction(chance.randint(1, 4)), Fraction(chance.randint(1, 6), 6)
    if chance.random() < 0.4:
        least = Fraction(chance.randint(1, 9), 20)
    thresholds = Thresholds(least, share)
    before = mine(baskets, thresholds)
    candidates = sorted(before.rules)
    if not candidates:
        return
    asked = [Sensitive(rule, thresholds) for rule in chance.sample(candidates, min(3, len(candidates)))]
    if chance.random() < 0.5:
        asked[0] = Sensitive(Rule((), asked[0].itemset), Thresholds(least))
    kept = np.flatnonzero(remove_transactions(baskets, asked, before))
    releases = [baskets.only(kept)]
    for by in By:
        aims = goals(baskets, asked, by)
        releases += [baskets.without(delete_items(baskets, aims, before, border=b)) for b in (True, False)]
        releases.append(baskets.without(exact.solve(baskets, aims, before).deletions))
    for release in releases:
        sets = [frozenset(release.items[i] for i in one) for one in release.tuples()]
        lowest = thresholds.least(len(sets))
        for one in asked:
            left, right = ([baskets.items[i] for i in side] for side in one.rule)
            if left:
                assert not naive.visible(sets, left, right, lowest, share)
            else:
                assert naive.support(sets, right) < lowest
            assert Recount(release).support((*left, *right)) == naive.support(sets, (*left, *right))


@pytest.mark.parametrize("seed", seldom(range(120), range(40)))
def test_both_heuristics_choose_as_the_spec_says(seed: int) -> None:
    """Record by record and item by item, ties too: weights are compared without rounding."""
    chance = random.Random(seed)
    records = naive.database(chance, chance.randint(5, 16), chance.randint(3, 5), chance.uniform(0.4, 0.8))
    baskets = Baskets.of(records)
    least, share = chance.randint(1, 4), Fraction(chance.randint(1, 6), 6)
    thresholds = Thresholds(Fraction(least), share)
    before = mine(baskets, thresholds)
    asked = [
        Sensitive(rule, thresholds) for rule in chance.sample(sorted(before.rules), min(3, len(before.rules)))
    ]
    named = [
        (
            frozenset(baskets.items[i] for i in one.rule.antecedent),
            frozenset(baskets.items[i] for i in one.rule.consequent),
        )
        for one in asked
    ]
    kept = remove_transactions(baskets, asked, before)
    assert np.flatnonzero(~kept).tolist() == sorted(naive.removed(records, named, least, share))
    cells = delete_items(baskets, goals(baskets, asked, By.SUPPORT), before, border=True)
    plain = [(*both, Fraction(0)) for both in named]
    assert [(at, baskets.items[i]) for at, i in cells] == naive.deleted(records, plain, least)


@pytest.mark.parametrize("by", By)
@pytest.mark.parametrize("seed", seldom([*range(20), *ODD], [*range(5), *ODD]))
def test_the_border_is_weighed_as_the_spec_says_while_it_is_lost(seed: int, by: By) -> None:
    """Several rules that cost elements of the border: from then on a record that lost an item before, and
    those beside it, weigh what they weigh then.
    """
    chance = random.Random(seed)
    records = naive.database(chance, chance.randint(15, 32), 5, chance.uniform(0.5, 0.8))
    baskets = Baskets.of(records)
    least, share = chance.randint(3, 8), Fraction(chance.randint(1, 6), 6)
    thresholds = Thresholds(Fraction(least), share)
    before = mine(baskets, thresholds)
    asked = [
        Sensitive(rule, thresholds) for rule in chance.sample(sorted(before.rules), min(4, len(before.rules)))
    ]
    aims = goals(baskets, asked, by)
    named = [
        (
            frozenset(baskets.items[i] for i in goal.sensitive.rule.antecedent),
            frozenset(baskets.items[i] for i in goal.sensitive.rule.consequent),
            share if goal.by is By.CONFIDENCE else Fraction(0),
        )
        for goal in aims
    ]
    cells = delete_items(baskets, aims, before, border=True)
    assert [(at, baskets.items[i]) for at, i in cells] == naive.deleted(records, named, least)


@pytest.mark.parametrize("by", list(By))
@pytest.mark.parametrize("seed", seldom(range(60), range(20)))
def test_exact_is_as_good_as_brute_force(seed: int, by: By) -> None:
    chance = random.Random(seed)
    records = naive.database(chance, chance.randint(4, 6), 4, chance.uniform(0.5, 0.75))
    baskets = Baskets.of(records)
    least, share = chance.randint(2, 3), Fraction(chance.randint(1, 5), 5)
    thresholds = Thresholds(Fraction(least), share)
    before = mine(baskets, thresholds)
    rules = [rule for rule in sorted(before.rules) if len(rule.itemset) < 4]
    long = [one for one in before.support if 2 <= len(one) <= 3]
    if not long:
        return
    asked = [Sensitive(rule, thresholds) for rule in chance.sample(rules, min(2, len(rules)))]
    asked[chance.randint(0, 1) :] = [Sensitive(Rule((), chance.choice(long)), Thresholds(Fraction(least)))]
    aims = goals(baskets, asked, by)
    found = exact.solve(baskets, aims, before)
    named = [
        (
            frozenset(baskets.items[i] for i in aim.sensitive.rule.antecedent),
            frozenset(baskets.items[i] for i in aim.sensitive.rule.consequent),
            share if aim.by is By.CONFIDENCE else Fraction(0),
        )
        for aim in aims
    ]
    assert (len(found.lost), len(found.deletions)) == naive.best(records, named, least)


@pytest.mark.parametrize("seed", seldom(range(40), range(12)))
def test_border_and_heuristic_are_never_better_than_the_optimum(seed: int) -> None:
    chance = random.Random(seed)
    records = naive.database(chance, 12, 5, 0.6)
    baskets = Baskets.of(records)
    thresholds = Thresholds(Fraction(3))
    before = mine(baskets, thresholds)
    long = [one for one in before.support if len(one) == 2]
    asked = [Sensitive(Rule((), one), thresholds) for one in chance.sample(long, min(2, len(long)))]
    if not asked:
        return
    aims = goals(baskets, asked, By.SUPPORT)
    best = exact.solve(baskets, aims, before)
    for border in (True, False):
        cells = delete_items(baskets, aims, before, border=border)
        made = baskets.without(cells)
        lost = sum(made.support(one) < 3 for one in innocent_border(before, aims))
        assert (lost, len(cells)) >= (len(best.lost), len(best.deletions))


@pytest.mark.parametrize("seed", range(40))
def test_effects_are_the_difference_of_two_minings(seed: int) -> None:
    chance = random.Random(seed)
    records = naive.database(chance, 10, 4, 0.6)
    baskets = Baskets.of(records)
    before = mine(baskets, SEEN)
    made = baskets.without(
        (at, i) for at, one in enumerate(baskets.tuples()) for i in one if chance.random() < 0.2
    )
    rule = next(iter(sorted(before.rules)), None)
    asked = [] if rule is None else [Sensitive(rule, SEEN)]
    found = effects(before, baskets, made, asked)
    was = naive.rules(records, 3, Fraction(3, 5))
    sets = [frozenset(baskets.items[i] for i in one) for one in made.tuples()]
    now = naive.rules(sets, 3, Fraction(3, 5))
    hidden = set() if rule is None else {tuple(frozenset(baskets.items[i] for i in s) for s in rule)}
    assert len(found.lost) == len(was - now - hidden)
    assert len(found.ghosts) == len(now - was - hidden)
    assert len(found.failures) == len(hidden & now)
    assert found.cells == sum(map(len, records)) - sum(map(len, sets))


def test_a_rule_that_does_not_occur_is_refused() -> None:
    with pytest.raises(InputError, match=r"hide\[0\]: the data has no item 'z'"):
        resolved(GOLDEN, [promise("a => z")])
    lonely = Baskets.of([["a"], ["b"]])
    with pytest.raises(InputError, match="no record has all of its items"):
        resolved(lonely, [promise("a => b")])
    with pytest.raises(InputError, match="is there already"):
        resolved(GOLDEN, [promise("a => b"), promise("a => b")])


@pytest.mark.parametrize(
    "wrong",
    [
        {"support": Fraction(0), "itemset": ("a",)},
        {"support": Fraction(-1), "itemset": ("a",)},
        {"support": Fraction(3, 2), "itemset": ("a",)},
        {"support": Fraction(3)},
        {"support": Fraction(3), "antecedent": ("a",)},
        {"support": Fraction(3), "antecedent": ("a",), "consequent": ("a",)},
        {"support": Fraction(3), "itemset": ("a",), "consequent": ("b",)},
        {"support": Fraction(3), "itemset": ("a",), "confidence": Fraction(1, 2)},
        {"support": Fraction(3), "antecedent": ("a",), "consequent": ("b",), "confidence": Fraction(0)},
        {"support": Fraction(3), "antecedent": ("a",), "consequent": ("b",), "confidence": Fraction(2)},
    ],
)
def test_a_wrong_promise_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        HiddenRule(**wrong)  # type: ignore[arg-type]


def test_long_denominators_stay_exact() -> None:
    """A confidence a hair above or below 2/3 decides, where floats and 64 bits would not."""
    tiny = Fraction(1, 10**30)
    baskets = Baskets.of([["a", "b"], ["a", "b"], ["a"]])
    for share, stays in ((Fraction(2, 3) + tiny, 3), (Fraction(2, 3) - tiny, 2)):
        thresholds = Thresholds(Fraction(1), share)
        asked = [Sensitive(Rule((0,), (1,)), thresholds)]
        kept = remove_transactions(baskets, asked, mine(baskets, thresholds))
        assert int(kept.sum()) == stays


def test_what_support_1_hides_is_in_no_record() -> None:
    thresholds = Thresholds(Fraction(1))
    asked = [Sensitive(Rule((), (0,)), thresholds)]
    before = mine(GOLDEN, thresholds)
    for border in (True, False):
        made = GOLDEN.without(delete_items(GOLDEN, goals(GOLDEN, asked, By.SUPPORT), before, border=border))
        assert not made.support((0,))
    assert int(remove_transactions(GOLDEN, asked, before).sum()) == 2


def test_an_answer_of_the_solver_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.optimize

    from privet.errors import InternalError

    real = scipy.optimize.milp

    def lying(*given: object, **named: object) -> object:
        found = real(*given, **named)
        found.x = np.zeros_like(found.x)
        return found

    monkeypatch.setattr(scipy.optimize, "milp", lying)
    asked = resolved(GOLDEN, [promise("a => b")])
    with pytest.raises(InternalError):
        exact.solve(GOLDEN, goals(GOLDEN, asked, By.SUPPORT), mine(GOLDEN, SEEN))


def test_time_that_runs_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.optimize

    from privet.errors import UnsupportedError

    class Late:
        status = 1

    monkeypatch.setattr(scipy.optimize, "milp", lambda *_, **__: Late())
    asked = resolved(GOLDEN, [promise("a => b")])
    with pytest.raises(UnsupportedError, match="ran out of time"):
        exact.solve(GOLDEN, goals(GOLDEN, asked, By.SUPPORT), mine(GOLDEN, SEEN), 1)
    assert UnsatisfiableError.code != UnsupportedError.code


@pytest.mark.parametrize(
    ("share", "records", "least"),
    [
        ("1/100", 950, 10),
        ("1/100", 1000, 10),
        ("1/100", 1001, 11),
        ("1/2", 7, 4),
        ("1/3", 3, 1),
        ("1/9", 1, 1),
    ],
)
def test_a_share_of_records_is_rounded_up(share: str, records: int, least: int) -> None:
    """A support of 9 records of 950 is below one percent: it is not seen."""
    thresholds = Thresholds(Fraction(share))
    assert thresholds.least(records) == least
    assert thresholds.sees(support=least, antecedent=least, records=records)
    assert not thresholds.sees(support=least - 1, antecedent=least, records=records)
