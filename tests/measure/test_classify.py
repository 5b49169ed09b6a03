import builtins
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.assess import compare
from privet.domain import Value
from privet.errors import InputError, MissingExtraError
from privet.measure import classify as trees
from privet.measure.classify import classify
from privet.policy.values import Policy
from privet.roads import publish
from privet.samples import SAMPLES
from privet.samples.adult import read_adult

# Not loaded to be collected: that takes each worker most of a second.
pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="the extra `classify` is not installed")


@pytest.fixture(autouse=True)
def small_forest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No forest is asserted to be a good one, and a tenth of it takes a tenth of the time."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(trees, "TREES", 4)


def table(n: int = 900) -> dict[str, list[Value]]:
    """The target follows age; job helps nobody; blood is sensitive and tells a little."""
    rng = np.random.default_rng(7)
    age = rng.integers(18, 90, n)
    rich = age > 50
    blood = np.where(rng.random(n) < 0.7, rich, ~rich)
    return {
        "age": [str(a) for a in age],
        "job": [str(job) for job in rng.choice(["cook", "clerk", "smith"], n)],
        "blood": ["A" if b else "B" for b in blood],
        "rich": ["yes" if r else "no" for r in rich],
    }


def test_errors_are_ordered_as_the_information_is() -> None:
    raw = table()
    rough: dict[str, list[Value]] = {
        **raw,
        "age": ["[18-40)" if int(a or 0) < 40 else "[40-90)" for a in raw["age"]],
    }
    found = classify(raw, rough, target="rich", quasi=["age", "job"], seed=1)
    assert found.be < 0.01
    assert found.be < found.ce < found.ue
    assert found.cost == found.ce - found.be
    assert found.benefit == found.ue - found.ce
    assert (found.train, found.test) == (600, 300)
    assert set(found.to_dict()) == {"ce", "be", "ue", "train", "test", "cost", "benefit", "learners"}
    assert len(found.learners) == 4
    assert found.learners["decision tree"] == {"ce": found.ce, "be": found.be, "ue": found.ue}
    assert all(0 <= error <= 1 for errors in found.learners.values() for error in errors.values())


def test_a_release_without_any_detail_is_as_good_as_none() -> None:
    raw = table()
    hidden: dict[str, list[Value]] = {**raw, "age": ["*"] * 900, "job": ["*"] * 900}
    found = classify(raw, hidden, target="rich", quasi=["age", "job"], seed=1)
    assert found.ce == found.ue
    assert found.benefit == 0


def test_sensitive_columns_are_predictors() -> None:
    raw = table()
    with_blood = classify(raw, raw, target="rich", quasi=["age", "job"], seed=1).ue
    bare = {name: column for name, column in raw.items() if name != "blood"}
    without = classify(bare, bare, target="rich", quasi=["age", "job"], seed=1).ue
    assert with_blood < 0.4 < without


def test_the_split_is_the_seeds_and_nothing_elses() -> None:
    raw = table()
    one, same = (classify(raw, raw, target="rich", quasi=["age"], seed=1) for _ in range(2))
    assert one == same
    assert any(one != classify(raw, raw, target="rich", quasi=["age"], seed=s) for s in (2, 3, 4))


def test_raw_numbers_are_numbers_and_categories_are_not() -> None:
    assert [trees._place(v) for v in ("7", "-1.5", "[30-60)", "[-5..0)", ">=90", "<18", "1e3")] == [
        7, -1.5, 30, -5, 90, 17, 1000,
    ]  # fmt: skip
    assert [trees._place(v) for v in (None, "", "x", "2024-03", "2024-03-05", "7 kg", "*")] == [None] * 7
    train = np.arange(4)
    assert len(trees._encoded(["1", "2", None, "3"], train)) == 1
    assert np.isnan(trees._encoded(["1", "2", None, "3"], train)[0][2])
    assert len(trees._encoded(["a", "b", None, "b"], train)) == 3
    assert trees._encoded(["a"] * 4, train) == []
    assert trees._encoded([None] * 4, train) == []


def test_rare_categories_share_no_column() -> None:
    column: list[Value] = [str(chr(0x4E00 + at)) for at in range(200)]
    assert len(trees._encoded(column, np.arange(200))) == trees.WIDEST


def test_nulls_do_not_stop_it() -> None:
    raw = table()
    raw["age"][::7] = [None] * len(raw["age"][::7])
    raw["job"][::5] = [None] * len(raw["job"][::5])
    assert classify(raw, raw, target="rich", quasi=["age"], seed=1).be < 0.2


def test_the_order_and_the_number_of_published_rows_do_not_matter() -> None:
    """A release is sorted, and may lack records: each table is divided by itself."""
    raw = table()
    order = sorted(range(len(raw["rich"])), key=lambda at: [str(raw[name][at]) for name in raw])
    sorted_ = {name: [column[at] for at in order] for name, column in raw.items()}
    found = classify(raw, sorted_, target="rich", quasi=["age", "job"], seed=1)
    assert abs(found.cost) < 0.05
    fewer = {name: column[: len(column) // 2] for name, column in sorted_.items()}
    assert classify(raw, fewer, target="rich", quasi=["age", "job"], seed=1).be == found.be


def test_tables_that_do_not_fit_are_refused() -> None:
    raw = table()
    with pytest.raises(InputError, match="target"):
        classify(raw, {"age": raw["age"]}, target="rich", quasi=[], seed=1)
    with pytest.raises(InputError, match="two records"):
        classify(table(1), table(1), target="rich", quasi=[], seed=1)


def test_without_the_extra_it_says_which_one(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"privet\[classify\]"):
        classify(table(), table(), target="rich", quasi=[], seed=1)


def test_many_records_are_drawn_from() -> None:
    chosen = trees.chosen_rows(10, seed=1, most=4)
    assert len(set(chosen.tolist())) == 4
    assert sorted(trees.chosen_rows(10, seed=1).tolist()) == list(range(10))


@pytest.mark.slow
def test_errors_on_adult_are_near_those_of_the_source() -> None:
    """Mohammed (2012), figure 3.5a: BE 14.7 %, UE 24.5 %; for L = 2, CE - BE is below one point."""
    folder = Path(__file__).parents[2].with_name("shared") / "data" / "adult"
    if not folder.is_dir():
        pytest.skip("the Adult files are not here")
    adult = read_adult([folder / "adult.data.gz", folder / "adult.test.gz"])
    release = publish(adult, Policy.loads(SAMPLES["census"].policy(l=2, k=20, c="1/5")))
    found = [compare(adult, release, classify=True, seed=seed)["classification"] for seed in range(3)]
    be, ue, ce = (float(np.mean([run[name] for run in found])) for name in ("be", "ue", "ce"))
    assert be == pytest.approx(0.147, abs=0.005)
    assert ue == pytest.approx(0.248, abs=0.008)
    assert 0 < ce - be < 0.015
    assert ue - ce > 0.08
