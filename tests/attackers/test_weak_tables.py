"""Each attack on tables succeeds on a release that was made weak for it, and not on one that was not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.attackers.weak import halves, itself, scene, spans, table, terms
from tests.contract.pairs import policy_of

import privet as pv
from privet.attackers.attack import Judged, NotTriedError, Outcome
from privet.attackers.composition import Composition
from privet.attackers.definetti import DeFinetti
from privet.attackers.downcoding import Downcoding
from privet.attackers.homogeneity import Homogeneity
from privet.attackers.linkage import Linkage
from privet.attackers.minimality import Minimality
from privet.attackers.order import Order
from privet.attackers.register import Register
from privet.attackers.similarity import Similarity
from privet.attackers.singling import SinglingOut
from privet.attackers.skewness import Skewness
from privet.engines.embedded import Embedded

K3 = {"type": "k-anonymity", "k": 3}
L2 = {"type": "distinct-l-diversity", "l": 2, "sensitive": ["ill"]}


def one(outcomes: Sequence[Outcome], goal: str = "") -> Outcome:
    (found,) = [outcome for outcome in outcomes if goal in outcome.goal]
    return found


def four_by(n: int, ill: str) -> dict[str, list[str | None]]:
    """Classes of n records, one for each letter of the ages."""
    rows = range(len(ill))
    return {"age": [str(at // n) for at in rows], "hours": ["0"] * len(ill), "ill": list(ill)}


# Linkage.


def test_linkage_finds_a_person_who_stands_alone() -> None:
    rows = {"age": ["1", "2", "2", "2"], "hours": ["0"] * 4, "ill": list("aabc")}
    found = Linkage().run(scene(table(rows, terms(K3))))
    alone = one(found, "the record of a person of whom 2 values")
    assert (alone.worst, alone.allowed, alone.judged) == (1, 1 / 3, Judged.BEYOND)
    assert alone.promise == "k-anonymity"
    assert alone.rate > 0.4  # one of four is certain, the others are guessed among three
    assert alone.between[0] < 0.5 < alone.between[1]


def test_linkage_stays_at_one_in_k() -> None:
    found = Linkage().run(scene(table(four_by(3, "abcabcabc"), terms(K3)), trials=2000))
    record = one(found, "the record of a person of whom 2 values")
    assert (record.worst, record.judged) == (1 / 3, Judged.WITHIN)
    assert record.between[0] < 1 / 3 < record.between[1]
    assert record.baseline == 1 / 9


def test_linkage_by_l_values_is_judged_by_what_l_promises() -> None:
    lkc = {"type": "lkc-privacy", "l": 1, "k": 2, "c": "1/2", "sensitive": {"ill": ["a"]}}
    rows = {"age": [*"1122"], "hours": [*"1212"], "ill": [*"abba"]}
    found = Linkage().run(scene(table(rows, terms(lkc))))
    assert one(found, "the record of a person of whom one value").judged is Judged.WITHIN
    everything = one(found, "the record of a person of whom 2 values")
    assert (everything.worst, everything.judged) == (1, Judged.NOT_COVERED)
    assert one(found, "ill of a person of whom one value").judged is Judged.WITHIN
    worse = {"age": [*"1122"], "hours": [*"1212"], "ill": [*"aabb"]}
    broken = one(Linkage().run(scene(table(worse, terms(lkc)))), "ill of a person of whom one value")
    assert (broken.worst, broken.allowed, broken.judged) == (1, 0.5, Judged.BEYOND)


def test_a_null_that_may_be_anything_bounds_nobody_who_reads_it_as_it_is() -> None:
    wild = replace(policy_of([K3], "top-down"), nulls=pv.Nulls.WILDCARD)
    found = Linkage().run(scene(table({"age": ["1", None], "hours": ["0", "0"], "ill": [*"ab"]}, wild)))
    assert {outcome.judged for outcome in found} == {Judged.NOT_COVERED}


def test_a_register_finds_who_stands_alone() -> None:
    rows = {"age": [*"1222"], "hours": ["0"] * 4, "ill": [*"abbb"]}
    people = {"name": ["Ann", "Ben", "Cid"], "age": [*"129"]}
    listed = replace(scene(table(rows, terms(K3))), known=people)
    record, certain = Register().run(listed)
    assert (record.tried, record.worst, record.judged) == (2, 1, Judged.BEYOND)
    assert record.note == "1 of 3 on the list fit no record"
    assert (certain.tried, certain.succeeded, certain.judged) == (2, 2, Judged.NOT_COVERED)
    kept = replace(scene(table({**rows, "age": [*"2222"]}, terms(K3))), known=people)
    record, certain = Register().run(kept)
    assert (record.worst, record.judged, certain.succeeded) == (0.25, Judged.WITHIN, 0)


# Homogeneity, skewness, similarity.


def test_homogeneity_names_the_value_of_a_class_that_has_one_only() -> None:
    found = one(Homogeneity().run(scene(table(four_by(3, "aaabbbccc"), terms(K3)))))
    assert (found.rate, found.baseline, found.judged) == (1, 1 / 3, Judged.NOT_COVERED)
    assert "9 people" in found.note
    diverse = one(Homogeneity().run(scene(table(four_by(3, "aaabbbccc"), terms(L2)))))
    assert (diverse.worst, diverse.allowed, diverse.judged) == (1, 2 / 3, Judged.BEYOND)
    kept = one(Homogeneity().run(scene(table(four_by(3, "aababbabc"), terms(L2)))))
    assert (kept.worst, kept.judged) == (2 / 3, Judged.WITHIN)


def test_homogeneity_counts_what_people_guard() -> None:
    tree = {"any": {"x": ["a", "b"], "y": ["c", "d"]}}
    own = {
        "type": "personalised-privacy",
        "at_most": "1/2",
        "sensitive": ["ill"],
        "guard": "guard",
        "tree": tree,
    }
    rows = {**four_by(4, "abcdabca"), "guard": ["x", None, None, None, "x", None, None, None]}
    found = one(Homogeneity().run(scene(table(rows, terms(own, algorithm="optimal")))), "guards")
    assert (found.worst, found.allowed, found.tried, found.judged) == (0.75, 0.5, 2, Judged.BEYOND)
    rows["ill"] = [*"abcdabcd"]
    kept = one(Homogeneity().run(scene(table(rows, terms(own, algorithm="optimal")))), "guards")
    assert (kept.worst, kept.judged) == (0.5, Judged.WITHIN)


def test_skewness_suspects_what_is_rare_elsewhere() -> None:
    ill = "ab" * 2 + "b" * 36  # half of one class has what a twentieth of all have
    found = one(Skewness().run(scene(table(four_by(4, ill), terms(L2)))))
    assert found.note.startswith("in one class a value is 10 times")
    assert found.judged is Judged.NOT_COVERED
    assert found.worst == 0.5
    close = {"type": "t-closeness", "t": "1/5", "sensitive": ["ill"], "distance": "equal"}
    broken = one(Skewness().run(scene(table(four_by(4, ill), terms(close)))))
    assert (broken.judged, broken.promise) == (Judged.BEYOND, "t-closeness")
    assert broken.allowed == pytest.approx(0.05 + 0.2)


def test_similarity_finds_a_narrow_range() -> None:
    pay = [str(1000 + at) for at in range(5)] + [str(5000 + 900 * at) for at in range(10)]
    rows = {"age": [*"11111", *"2233445566"], "hours": ["0"] * 15, "ill": pay}
    found = one(Similarity().run(scene(table(rows, terms(L2)))))
    assert found.worst == 1
    assert "5 people" in found.note
    assert found.rate > found.baseline
    assert found.judged is Judged.NOT_COVERED
    close = {"type": "t-closeness", "t": "1/10", "sensitive": ["ill"], "distance": "equal"}
    assert one(Similarity().run(scene(table(rows, terms(close))))).judged is Judged.BEYOND
    with pytest.raises(NotTriedError, match="numbers"):
        Similarity().run(scene(table(four_by(3, "abcabc"), terms(L2))))


def test_similarity_knows_the_tree_of_a_promise() -> None:
    tree = {"any": {"x": ["a", "b"], "y": ["c", "d"]}}
    close = {
        "type": "t-closeness",
        "t": "1/9",
        "sensitive": ["ill"],
        "distance": "hierarchical",
        "tree": tree,
    }
    found = one(Similarity().run(scene(table(four_by(4, "ababcdcd"), terms(close)))))
    assert (found.worst, found.rate, found.baseline) == (1, 1, 0.5)
    assert found.judged is Judged.BEYOND


# Order.


def register(n: int = 60) -> dict[str, list[str | None]]:
    draw = random.Random(3)
    return {
        "age": [str(at // 10 % 3) for at in draw.sample(range(n), n)],
        "hours": ["0"] * n,
        "ill": [draw.choice("abcd") for _ in range(n)],
    }


def test_order_that_is_kept_is_read_off() -> None:
    raw = register()
    found = one(Order().run(scene(table(raw, terms(K3)), raw=raw)))
    assert (found.rate, found.judged) == (1, Judged.BEYOND)
    assert found.allowed is not None
    assert found.allowed < 0.4


def test_order_of_which_some_records_are_left_out_is_read_off_too() -> None:
    raw = register()
    kept = [at for at in range(60) if at % 7]
    rows = {name: [column[at] for at in kept] for name, column in raw.items()}
    found = one(Order().run(scene(table(rows, terms(K3)), raw=raw)))
    assert found.judged is Judged.BEYOND


def test_order_that_is_sorted_or_shuffled_tells_nothing() -> None:
    raw = register()
    rows = sorted(zip(*raw.values(), strict=True))
    by_label = {name: [row[at] for row in rows] for at, name in enumerate(raw)}
    found = one(Order().run(scene(table(by_label, terms(K3)), raw=raw)))
    assert (found.judged, "sorted by what it publishes, so" in found.note) == (Judged.WITHIN, True)
    # A register that is sorted like the release itself tells nothing that the release does not.
    assert one(Order().run(scene(table(by_label, terms(K3)), raw=by_label))).judged is Judged.WITHIN
    for seed in range(50):
        mixed = random.Random(seed).sample(rows, len(rows))
        shuffled = {name: [row[at] for row in mixed] for at, name in enumerate(raw)}
        assert one(Order().run(scene(table(shuffled, terms(K3)), raw=raw))).judged is Judged.WITHIN


def test_order_inside_classes_is_read_off() -> None:
    """Classes come sorted, and in each the order of the register is kept."""
    raw = register()
    people = sorted(range(60), key=lambda at: raw["age"][at] or "")
    known = {name: [column[at] for at in people] for name, column in raw.items()}
    found = one(Order().run(scene(table(known, terms(K3)), raw=known)))
    assert found.judged is Judged.BEYOND


# Composition.


def test_composition_of_two_releases_leaves_one_value() -> None:
    raw = {"age": [*"1234"], "hours": ["0"] * 4, "ill": [*"abcd"]}
    pairs = {"age": ["1-2", "1-2", "3-4", "3-4"], "hours": ["0"] * 4, "ill": [*"abcd"]}
    cross = {"age": ["2-3", "1-4", "2-3", "1-4"], "hours": ["0"] * 4, "ill": [*"bacd"]}

    def may(attribute: str, raw_: str | None) -> frozenset[str | None]:
        if attribute != "age":
            return frozenset({raw_})
        return frozenset({"1-2" if raw_ in "12" else "3-4", "2-3" if raw_ in "23" else "1-4"})  # type: ignore[operator]

    first, second = table(pairs, terms(L2), may), table(cross, terms(L2), may)
    for target in (first, second):
        assert one(Homogeneity().run(scene(target))).judged is Judged.WITHIN
    found = one(Composition().run(scene(first, second, raw=raw)))
    assert (found.rate, found.worst, found.judged) == (1, 1, Judged.NOT_COVERED)
    assert found.note == "4 people have one value left; the best single release names 50.0%"


def test_composition_with_itself_leaves_what_there_was() -> None:
    raw = {"age": [*"1122"], "hours": ["0"] * 4, "ill": [*"abcd"]}
    target = table(raw, terms(L2))
    found = one(Composition().run(scene(target, target, raw=raw)))
    assert (found.rate, found.note[:8]) == (0.5, "0 people")


# deFinetti.


Three = tuple[dict[str, list[str | None]], dict[str, list[str | None]], dict[str, list[str | None]]]


def bucketed(n: int, *, tied: float) -> Three:
    """Buckets of two people with two values; with the chance `tied` the old have gout and the young acne."""
    draw = random.Random(0)
    data: dict[str, list[str | None]] = {"age": [], "hours": [], "bucket": []}
    held: dict[str, list[str | None]] = {"bucket": [], "ill": [], "records": []}
    raw: dict[str, list[str | None]] = {"age": [], "hours": [], "ill": []}
    for bucket in range(n):
        while True:
            ages = [draw.choice(["old", "young"]) for _ in range(2)]
            usual = ["gout" if age == "old" else "acne" for age in ages]
            ill = [one if draw.random() < tied else draw.choice(["flu", "gout", "acne"]) for one in usual]
            if len(set(ill)) == 2:
                break
        data["age"] += ages
        raw["age"] += ages
        raw["ill"] += ill
        hours = [str(2 * bucket), str(2 * bucket + 1)]  # everybody has others
        raw["hours"] += hours
        data["hours"] += hours
        data["bucket"] += [str(bucket)] * 2
        held["bucket"] += [str(bucket)] * 2
        held["ill"] += sorted(ill)
        held["records"] += ["1", "1"]
    return data, held, raw


def test_definetti_learns_from_the_buckets_who_has_what() -> None:
    data, held, raw = bucketed(200, tied=0.7)
    found = one(DeFinetti().run(scene(halves(data, held, terms(L2, algorithm="anatomy")), raw=raw)))
    shown = float(found.note.removesuffix("%").rpartition(" ")[2]) / 100
    assert found.rate > max(shown, found.baseline) + 0.1
    assert found.judged is Judged.NOT_COVERED


def test_definetti_learns_nothing_where_nothing_goes_together() -> None:
    draw = random.Random(1)
    n = 200
    ill = [draw.choice("abcd") for _ in range(n)]
    data = {
        "age": [draw.choice("123") for _ in range(n)],
        "hours": ["0"] * n,
        "bucket": [str(at // 4) for at in range(n)],
    }
    held: dict[str, list[str | None]] = {"bucket": [], "ill": [], "records": []}
    for bucket in range(n // 4):
        mine = ill[4 * bucket : 4 * bucket + 4]
        for value in sorted(set(mine)):
            held["bucket"].append(str(bucket))
            held["ill"].append(value)
            held["records"].append(str(mine.count(value)))
    raw = {"age": data["age"], "hours": data["hours"], "ill": ill}
    found = one(DeFinetti().run(scene(halves(data, held, terms(L2, algorithm="anatomy")), raw=raw)))
    assert found.between[0] < 0.5


# Downcoding, singling out, minimality.


def test_downcoding_reads_values_off_tight_ranges() -> None:
    from privet.attackers.scene import Target
    from privet.evidence.values import ColumnNote

    draw = random.Random(5)
    ages = sorted(draw.sample(range(10, 95), 48))
    raw = {"age": [str(age) for age in ages], "hours": ["0"] * 48, "ill": ["a"] * 48}
    for tight in (True, False):
        labels, notes = [], {}
        for first in range(0, 48, 4):
            low, high = ages[first], ages[first + 3]
            if not tight:  # public bounds, somewhere around
                low, high = low - draw.randrange(3, 9), high + draw.randrange(3, 9)
            label = f"{low}-{high}"
            labels += [label] * 4
            notes[label] = {"label": label, "interval": [str(low), str(high + 1)], "loss": 0}

        class Told:  # only what the attack reads of evidence
            attributes: ClassVar[Any] = {
                "age": ColumnNote.read(
                    {"role": "quasi", "published": "generalised", "values": list(notes.values())}, "x"
                ),
                "hours": ColumnNote.read({"role": "quasi", "published": "unchanged"}, "x"),
            }

        weak = table({"age": labels, "hours": ["0"] * 48, "ill": ["a"] * 48}, terms(K3), spans)
        target = Target("x", "table", weak.policy, Told, weak.translation, weak.table)  # type: ignore[arg-type]
        found = one(Downcoding().run(scene(target, raw=raw)))
        if tight:
            assert found.rate == 1
            assert found.rate > found.baseline
        else:
            assert found.rate < 0.6


def test_singling_out_needs_a_record_that_differs() -> None:
    found = one(SinglingOut().run(scene(table(four_by(4, "aaababbb"), terms(K3)))))
    assert (found.rate, found.judged) == (1, Judged.NOT_COVERED)
    alike = one(SinglingOut().run(scene(table(four_by(4, "aabbaabb"), terms(K3)))))
    assert alike.rate == 0
    # With the data at hand the people are counted: somebody who was left out fits the sentence too.
    raw = four_by(4, "aaababbb")
    more = {name: [*column, column[3]] for name, column in raw.items()}
    counted = one(SinglingOut().run(scene(table(raw, terms(K3)), raw=more)))
    assert (counted.succeeded, counted.tried) == (1, 2)


JOBS = {"type": "tree", "tree": {"ANY": {"Artist": ["dancer", "writer"], "Pro": ["cook", "clerk", "judge"]}}}


@pytest.mark.parametrize(("algorithm", "learns"), [("top-down", True), ("coincident", False)])
def test_minimality_learns_from_a_search_that_follows_the_data(algorithm: str, learns: bool) -> None:
    import polars as pl

    document = {
        "policy": 1,
        "attributes": {"job": {"role": "quasi", "hierarchy": JOBS}, "ill": {"role": "sensitive"}},
        "models": [L2],
        "algorithm": {"type": algorithm},
    }
    policy = pv.Policy.from_document(document, base=None)  # type: ignore[arg-type]
    jobs = ["dancer", "writer", "cook", "clerk", "judge"]
    raw = pl.DataFrame({"job": jobs, "ill": [*"xxyzw"]})
    found = pv.attack(pv.publish(raw, policy), raw=raw, only=["minimality"])
    (outcome,) = found.outcomes
    shown = int(outcome.note.split()[3])
    if learns:
        assert outcome.worst == 1
        assert "2 people are certain" in outcome.note
        assert outcome.judged is Judged.NOT_COVERED
        assert outcome.succeeded > shown - 1
    else:
        assert outcome.judged is Judged.WITHIN
        assert outcome.promise.startswith("coincident")


def test_minimality_needs_hierarchies_that_a_folder_does_not_have(tmp_path: Path) -> None:
    import polars as pl

    document = {
        "policy": 1,
        "attributes": {"job": {"role": "quasi", "hierarchy": JOBS}, "ill": {"role": "sensitive"}},
        "models": [L2],
        "algorithm": {"type": "top-down"},
    }
    raw = pl.DataFrame({"job": ["dancer", "writer", "cook", "clerk", "judge"], "ill": [*"xxyzw"]})
    release = pv.publish(raw, pv.Policy.from_document(document, base=None))  # type: ignore[arg-type]
    found = pv.attack(release.write(tmp_path / "out"), raw=raw)
    assert "publish --attack" in dict(found.not_tried)["minimality"]
    assert found.outcomes


def test_minimality_of_an_algorithm_that_lies_is_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """An algorithm that says of itself that knowing it does not help, and lies."""
    import polars as pl

    document = {
        "policy": 1,
        "attributes": {"job": {"role": "quasi", "hierarchy": JOBS}, "ill": {"role": "sensitive"}},
        "models": [L2],
        "algorithm": {"type": "top-down"},
    }
    policy = pv.Policy.from_document(document, base=None)  # type: ignore[arg-type]
    raw = pl.DataFrame({"job": ["dancer", "writer", "cook", "clerk", "judge"], "ill": [*"xxyzw"]})
    monkeypatch.setattr(pv.TopDown, "coincident", True)
    found = pv.attack(pv.publish(raw, policy), raw=raw, only=["minimality"], engine=Embedded())
    assert found.beyond
    assert Minimality.name == found.beyond[0].attack
    assert itself("x", "y") == {"y"}
