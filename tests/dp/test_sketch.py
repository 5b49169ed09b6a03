"""The same data under a second name is noticed, other data is not, and nobody without the key can tell."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from privet.dp.coded import Dictionary
from privet.dp.ledger import Ledger
from privet.dp.sketch import Sketch, _mixed, _sampled, _words
from privet.dp.store import Line
from privet.errors import BudgetError

KEY = b"k" * 32
Table = dict[str, list[str | None]]


def table(seed: int, rows: int = 800) -> Table:
    draw = np.random.default_rng(seed)
    return {
        "age": [str(n) for n in draw.integers(18, 90, rows)],
        "zip": [f"{n:05}" for n in draw.integers(0, 400, rows)],
        "job": [str(n) for n in draw.choice(["cook", "smith", "clerk"], rows)],
        "pay": [str(n) for n in draw.integers(0, 4000, rows)],
    }


def sketch(data: Mapping[str, list[str | None]], key: bytes = KEY) -> Sketch:
    columns = {name: Dictionary.of(values) for name, values in data.items()}
    return Sketch.of({name: (one.values, one.codes) for name, one in columns.items()}, key)


def shuffled(data: Table, seed: int = 3) -> Table:
    order = np.random.default_rng(seed).permutation(len(data["age"]))
    return {name: [values[at] for at in order] for name, values in data.items()}


def changed(data: Table, share: float) -> Table:
    """So many records have another value in every column."""
    draw = np.random.default_rng(9)
    some = draw.random(len(data["age"])) < share
    return {
        name: [f"{value}x" if other else value for value, other in zip(values, some, strict=True)]
        for name, values in data.items()
    }


SAME = {
    "itself": lambda t: t,
    "in another order": shuffled,
    "columns renamed and turned round": lambda t: {f"other {n}": t[n] for n in reversed(t)},
    "less one column": lambda t: {n: v for n, v in t.items() if n != "zip"},
    "one column alone": lambda t: {"pay": t["pay"]},
    "one record changed": lambda t: {n: [*v[1:], "999"] for n, v in t.items()},
    "half of the records": lambda t: {n: v[: len(v) // 2] for n, v in t.items()},
    "twice as many": lambda t: {n: v + o for (n, v), o in zip(t.items(), table(77).values(), strict=True)},
    "a fifth changed, shuffled": lambda t: shuffled(changed(t, 0.2)),
    "a fifth changed, less one column": lambda t: {n: v for n, v in changed(t, 0.2).items() if n != "job"},
}


@pytest.mark.parametrize("how", SAME)
def test_the_same_data_is_noticed(how: str) -> None:
    one, two = sketch(table(1)), sketch(SAME[how](table(1)))  # type: ignore[no-untyped-call]
    assert one.resembles(two)
    assert two.resembles(one)


@pytest.mark.parametrize("seed", range(2, 12))
def test_other_people_are_not(seed: int) -> None:
    assert sketch(table(1)).resembles(sketch(table(seed))) is None


def test_other_people_with_few_combinations_are_not_mistaken() -> None:
    """The worst case: as many records as combinations; a quarter of those that are alone coincide."""
    mistaken = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        one, two = (
            sketch({name: [f"{name}{n}" for n in draw.integers(0, 7, 343)] for name in "abc"})
            for _ in range(2)
        )
        assert len(one.samples[0]) == 96
        mistaken += one.resembles(two) is not None
    assert mistaken == 0


def naive_sample(data: Table) -> list[str]:
    """The definition: the lowest digests of the records that are there once."""

    def word(value: str | None) -> int:
        return int(_words([value], KEY)[0])

    digests = [sum(map(word, row)) % 2**64 for row in zip(*data.values(), strict=True)]
    alone = [digest for digest in digests if digests.count(digest) == 1]
    return sorted(f"{int(_mixed(np.array([d], dtype=np.uint64))[0]):016x}" for d in alone)[:96]


@pytest.mark.parametrize("near", [1, 7, 4096])
def test_a_sample_is_the_naive_one(near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.dp.sketch.NEAR", near)
    data = table(4, rows=300)
    data = {"age": data["age"], "job": data["job"]}
    found = sketch(data).samples[0]
    assert list(found) == naive_sample(data)


def test_a_record_that_is_there_twice_is_not_sampled_however_the_lowest_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the lowest digests are cut off, one of two equal ones may lie on either side."""
    draw = np.random.default_rng(8)
    digests = draw.permutation(np.repeat(draw.integers(0, 2**63, 60), draw.integers(1, 3, 60)))
    words = digests.astype(np.uint64)
    alone = [word for word in words if (words == word).sum() == 1]
    lowest = sorted(int(_mixed(np.array([word]))[0]) for word in alone)
    monkeypatch.setattr("privet.dp.sketch.FEWEST", 1)
    for samples in (1, 5, 12):
        monkeypatch.setattr("privet.dp.sketch.SAMPLES", samples)
        for near in range(1, len(words) + 2):
            monkeypatch.setattr("privet.dp.sketch.NEAR", near)
            assert [int(word, 16) for word in _sampled(words.__getitem__, len(words))] == lowest[:samples], (
                samples,
                near,
            )


def test_small_tables_and_columns_of_few_values_say_nothing() -> None:
    few: Table = {"sex": ["f", "m"] * 50, "ill": ["yes", "no", "no", "no"] * 25}
    assert sketch(few) == Sketch((), ())
    assert sketch({"a": [], "b": []}) == Sketch((), ())
    assert sketch({}) == Sketch((), ())
    assert sketch({"a": [None, "", "x"] * 4}) == Sketch((), ())


def test_a_null_is_not_an_empty_text() -> None:
    values: list[str | None] = [str(n) for n in range(40)]
    assert sketch({"a": [*values, None]}) != sketch({"a": [*values, ""]})


def test_without_the_key_nothing_can_be_compared() -> None:
    one, two = sketch(table(1)), sketch(table(1), secrets.token_bytes(32))
    assert one.resembles(two) is None
    assert "cook" not in repr(one)


def test_a_ledger_refuses_a_second_name_until_somebody_states_a_reason(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    columns = {name: Dictionary.of(values) for name, values in table(1).items()}
    data = ledger.sketch({name: (one.values, one.codes) for name, one in columns.items()})
    first, second = (ledger.open(name, Fraction(1)) for name in ("first", "second"))
    half = Fraction(1, 2)
    first.reserve("a", half, purpose="p", data=data)
    first.reserve("b", half, purpose="p", data=data)  # its own name, again
    assert sum(line.kind == "data" for line in lines(ledger)) == 1  # noted once
    with pytest.raises(BudgetError, match="looks like the data of first") as refused:
        second.reserve("c", half, purpose="p", data=data)
    assert "privet ledger distinct" in str(refused.value)
    assert second.left == 1
    with pytest.raises(BudgetError, match="reason"):
        ledger.declare_distinct("second", "first", " ")
    ledger.declare_distinct("second", "first", "two hospitals")
    second.reserve("c", half, purpose="p", data=data)
    third = ledger.open("third", Fraction(1))
    with pytest.raises(BudgetError, match="looks like"):
        third.reserve("d", half, purpose="p", data=data)
    third.reserve("d", half, purpose="p", data=sketch(table(5)))
    ledger.audit()


def lines(ledger: Ledger) -> list[Line]:
    with ledger._store.read() as page:
        return list(page.lines())
