"""The auditor knows persons: every promise about them with every search, judged naively on what leaves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.contract.pairs import TREE, every, example, policy_of, table_of
from tests.contract.test_pairs import CLAIMED
from tests.models.naive_persons import Row, breaks, classes, people
from tests.sweep import covering

import privet as pv
from privet.errors import PolicyError, UnsatisfiableError

VARIANTS: dict[str, dict[str, Any]] = {
    **{name: {} for name in every("models") if name != "safe-harbor"},
    "t-closeness kl": {"distance": "kl"},
    "t-closeness ordered": {"distance": "ordered", "order": ["a", "b", "c", "d"]},
    "t-closeness hierarchical": {"distance": "hierarchical", "tree": TREE},
    "t-closeness costs": {"distance": "costs", "costs": {"a": {"b": "1/4", "c": "2/3"}, "c": {"d": "1/2"}}},
    "lkc-privacy l": {"l": 2, "c": "3/4", "k": 3},
    "k-anonymity dropping": {"k": 4},
}
REFUSED = {"by-construction", "differential-privacy", "population-uniqueness"}
SIZES = {"k-anonymity", "maximum-risk"}  # kept whatever classes merge, of persons too
OF_PERSONS = {  # what each search keeps where persons are counted
    "top-down": CLAIMED["top-down"],
    "optimal": CLAIMED["optimal"] - REFUSED,
    "auto": CLAIMED["auto"] - REFUSED,
    "samarati": SIZES,
    "incognito": SIZES,
    "mondrian": SIZES,
    "local": SIZES,
    "suppression": SIZES,
}
DROPPING = {"optimal": "1/4", "samarati": "1/4", "incognito": "1/4"}


def asked(variant: str, algorithm: str, *, across: bool = False, **more: Any) -> pv.Policy:
    """The policy of a pair, about persons; every row says which it was, so that it can be found again."""
    name, _, way = variant.partition(" ")
    chosen: dict[str, Any] = example("algorithms", algorithm, **more)
    if way == "dropping" and algorithm in DROPPING:
        chosen["suppression"] = DROPPING[algorithm]
    document = policy_of(["k-anonymity"], "optimal").to_document()
    document["models"] = [example("models", name, **VARIANTS[variant])]
    if name == "personalised-privacy":
        document["attributes"]["guard"] = {"role": "sensitive"}
    if name in {"k-map", "delta-presence"}:
        document["attributes"]["study"] = {"role": "sensitive"}
        document["publish_only"] = {"study": ["yes"]}
    document["algorithm"] = chosen
    document["person"] = "pid"
    document["attributes"] |= {"pid": {"role": "identifier"}, "row": {"role": "other"}}
    if across:
        document["across"] = True
    return pv.Policy.from_document(document, base=None)  # type: ignore[arg-type]


def visits(seed: int, rows: int = 40) -> pl.DataFrame:
    """A random table in which most people have several rows; a person's rows are alike now and then."""
    chance, made = Random(seed), table_of(seed, rows)
    who = [f"p{chance.randrange(rows // 2)}" for _ in range(rows)]
    if seed % 2:  # nearly everything of a person is in one class, as with forty people of five rows each
        made = made.with_columns(pl.Series("age", [20 + int(one[1:]) % 7 for one in who]))
    return made.with_columns(pl.Series("pid", who), pl.Series("row", [f"r{at}" for at in range(rows)]))


def rows_of(table: pl.DataFrame) -> list[Row]:
    return [
        Row(row["pid"], (row["age"], row["hours"]), row["ill"], row["guard"], row["study"])
        for row in table.iter_rows(named=True)
    ]


def covers(label: str, value: int) -> bool:
    ends = re.fullmatch(r"\[(\d+)-(\d+)[)\]]", label)
    if label == "*":
        return True
    if ends is None:
        return label == str(value)
    return int(ends[1]) <= value < int(ends[2]) or (label.endswith("]") and value == int(ends[2]))


def left(release: pv.Release, raw: pl.DataFrame) -> list[Row]:
    """What leaves, with whose it is; those of the population who stay are counted where they would stand."""
    whose = {row["row"]: row for row in raw.iter_rows(named=True)}
    found = [
        Row(
            whose[row["row"]]["pid"],
            (str(row["age"]), str(row["hours"])),
            row["ill"],
            whose[row["row"]]["guard"],
            whose[row["row"]]["study"],
        )
        for row in release.to_polars().iter_rows(named=True)
    ]
    if not release.policy.publish_only:
        return found
    shown = sorted({row.known for row in found})
    for row in raw.filter(pl.col("study") != "yes").iter_rows(named=True):
        known = next((k for k in shown if covers(k[0], row["age"]) and covers(k[1], row["hours"])), None)
        if known is not None:
            found.append(Row(row["pid"], known, row["ill"], row["guard"], row["study"]))
    return found


PAIRS = [
    (variant, algorithm)
    for algorithm, kept in OF_PERSONS.items()
    for variant in VARIANTS
    if variant.split(" ")[0] in kept and not variant.endswith("dropping")
]


def test_the_auditor_is_not_content_with_everything() -> None:
    """Classes of one person break every promise, and that they have several rows does not help."""
    alone = [Row(f"p{at}", (at, 0), ill, "a") for at in range(4) for ill in "aab"]
    rest = [Row(f"q{at}", (9, 1), "ccd"[at % 3], None, "no") for at in range(10)]
    for variant in VARIANTS:
        model = variant.split(" ")[0]
        if model not in REFUSED:
            (made,) = asked(variant, "optimal").models
            assert breaks(made, [*alone, *rest]), variant


def content(said: pv.Policy, rows: Sequence[Row]) -> bool | None:
    found = breaks(said.models[0], rows, across=said.across)
    return None if found is None else not found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("variant", [v for v in VARIANTS if v.split(" ")[0] not in REFUSED])
def test_the_check_is_the_naive_definition(variant: str) -> None:
    """On tables as they are and on coarse ones: both verdicts occur, and both agree."""
    seen: set[bool] = set()
    said = asked(variant, "optimal")
    for seed in range(0, 12, 2):
        raw = visits(seed, 8 + 3 * (seed % 9))
        for width in (1, 10, 100):
            table = raw.with_columns(pl.col("age") // width, pl.col("hours") // width)
            ((_, verdict),) = pv.check(table, said)
            naively = content(said, rows_of(table))
            assert naively is None or verdict.holds == naively, (seed, width)
            seen.add(verdict.holds)
    assert seen == {True, False}


@pytest.mark.parametrize(("variant", "algorithm"), covering(PAIRS, 10))
def test_nothing_leaves_that_the_auditor_refuses(variant: str, algorithm: str) -> None:
    said = asked(variant, algorithm)
    for seed in range(3):
        raw = visits(seed)
        try:
            release = pv.publish(raw, said)
        except UnsatisfiableError:
            continue  # of a random table, more than it can keep may be asked
        assert content(said, left(release, raw)) is not False, seed


@pytest.mark.parametrize("algorithm", DROPPING)
def test_rows_may_be_dropped_and_persons_still_count(algorithm: str) -> None:
    """With suppression a class of too few persons goes, however many rows it has; and no more than may."""
    said, dropped = asked("k-anonymity dropping", algorithm), 0
    for seed in range(6):
        raw = visits(seed)
        release = pv.publish(raw, said)
        found = left(release, raw)
        assert min(len(people(group)) for group in classes(found)) >= 4
        gone = raw.height - len(found)
        assert gone <= raw.height // 4
        dropped += gone
    assert dropped, "something was dropped at all"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("algorithm", "how"),
    [("top-down", {}), ("optimal", {}), ("auto", {}), ("optimal", {"suppression": "1/3"})],
)
@pytest.mark.parametrize("variant", ["lkc-privacy", "lkc-privacy l"])
def test_whoever_knows_several_rows_is_kept_out_too(
    variant: str, algorithm: str, how: dict[str, Any]
) -> None:
    said, told = asked(variant, algorithm, across=True, **how), 0
    for seed in range(4):
        raw = visits(seed)
        try:
            found = left(pv.publish(raw, said), raw)
        except UnsatisfiableError:
            continue
        assert content(said, found), seed
        told += 1
    assert told


@pytest.mark.parametrize("algorithm", every("algorithms"))
def test_any_other_pair_is_refused_before_the_work_with_its_reason(algorithm: str) -> None:
    for variant in VARIANTS:
        name = variant.split(" ")[0]
        if name in OF_PERSONS.get(algorithm, ()) or name not in CLAIMED[algorithm] or name in REFUSED:
            continue  # kept; or refused of records too; or see below
        with pytest.raises(PolicyError) as refused:
            asked(variant, algorithm)
        said = " ".join(refused.value.complaints)
        assert algorithm in said
        assert re.search(r"; (use|give each person one row|leave person out)", said), said


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [("by-construction", "pram"), ("population-uniqueness", "optimal"), ("differential-privacy", "diffgen")],
)
def test_a_promise_that_means_nothing_of_persons_says_so(model: str, algorithm: str) -> None:
    assert model in REFUSED
    with pytest.raises(PolicyError, match=rf"{model}: .*; (use|give|leave)"):
        asked(model, algorithm)
