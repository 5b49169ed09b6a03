"""DiffGen on a cluster: the same answers, the same draws, the same fingerprints; records stay there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.roads import noisy

import privet as pv
from privet.core import Form
from privet.dp.exact import Exact
from privet.dp.ledger import Ledger
from privet.dp.settings import epsilon_of, public
from privet.dp.sketch import Sketch
from privet.dp.spend import cost
from privet.errors import InputError
from privet.roads.noisy.road import There, coded, numbered, settings_of

pytestmark = pytest.mark.services
KEY = b"k" * 32
ALGORITHMS = {
    "diffgen": noisy.DIFFGEN,
    "bought": noisy.DIFFGEN.replace("h = 5", 'buy_h = "1/10"\nmarginals = "1/10"\nclass_totals = "1/5"'),
    "gain": noisy.DIFFGEN + 'score = "information-gain"\n',
}
PLAIN = noisy.DIFFGEN.replace("diffgen", "noisy-contingency").replace("h = 5\n", "")


@pytest.fixture
def spark(session: Any, tmp_path: Path) -> pv.Spark:
    return pv.Spark(session, staging=tmp_path / "staging")


def rows(seed: int, many: int = 400) -> pl.DataFrame:
    """As the small table, in other numbers; a null is an empty set, and one value is spelt in two ways."""
    draw = np.random.default_rng(seed)
    some = noisy.table(many).sample(many, with_replacement=True, seed=seed)
    spelt = pl.Series("age", draw.choice(["30", "30.0", "44", "18"], many))
    nothing = pl.Series(draw.random(many) < 0.1)
    return some.with_columns(spelt, codes=pl.when(~nothing).then(pl.col("codes")), pay=pl.col("pay").round(0))


def drawn(policy: pv.Policy, seed: int, frame: pl.DataFrame, there: There | None) -> Any:
    settings, noise = settings_of(policy), Exact(Random(seed))
    if there is None:
        return settings.draw(coded(frame, public(policy)), epsilon_of(policy), noise)
    return settings.draw(there.table, epsilon_of(policy), noise, live=there.live)


@pytest.mark.parametrize("name", [*ALGORITHMS, "noisy-contingency"])
def test_the_same_draws_from_what_stays_there(name: str, spark: pv.Spark, tmp_path: Path) -> None:
    text = noisy.ATTRIBUTES + noisy.MODEL + ALGORITHMS.get(name, PLAIN)
    if name == "noisy-contingency":
        text = "\n".join(line for line in text.splitlines() if not line.startswith("codes"))
    policy, frame = noisy.policy(tmp_path, text), rows(seed=len(name))
    known = public(policy)
    there = There.of(spark, spark.read(frame, Form("parquet"), known.columns), known)
    for seed in range(2):
        here, afar = (drawn(policy, seed, frame, one) for one in (None, there))
        assert np.array_equal(here.table.counts, afar.table.counts)
        assert np.array_equal(here.table.positions, afar.table.positions)
        assert here.table.cuts == afar.table.cuts
        assert here.charges == afar.charges
        assert here.marginals == afar.marginals
        assert cost(here.charges) == epsilon_of(policy)
        there = There.of(spark, spark.read(frame, Form("parquet"), known.columns), known)


def test_the_same_fingerprints(spark: pv.Spark, tmp_path: Path) -> None:
    policy, frame = noisy.policy(tmp_path), rows(seed=4, many=900)
    known = public(policy)
    there = There.of(spark, spark.read(frame, Form("parquet"), known.columns), known)
    here = {name: (one.values, one.codes) for name, one in numbered(frame, known).items()}
    assert Sketch.of_cells(there.values, there.live.cells, KEY) == Sketch.of(here, KEY)


@pytest.mark.parametrize("output", ["counts", "records"])
def test_a_release_adds_up_and_verifies_on_both_engines(output: str, spark: pv.Spark, tmp_path: Path) -> None:
    noisy.ledger(tmp_path)
    text = noisy.TEXT + f'output = "{output}"\n'
    policy, raw = noisy.policy(tmp_path, text), tmp_path / "raw.parquet"
    noisy.table(500).write_parquet(raw)
    pv.publish(raw, policy, engine=spark).write(tmp_path / "out")
    assert (tmp_path / "out/data.parquet").is_dir() == (output == "records"), "counts are one file"
    for engine in (spark, "embedded"):
        assert pv.verify(tmp_path / "out", engine=engine).complaints == ()
    here, there = (pv.compare(raw, tmp_path / "out", engine=engine) for engine in ("embedded", spark))
    assert here == there
    (entry,) = Ledger(tmp_path / "ledger.sqlite").releases()
    assert entry.state == "released"


def test_the_same_data_under_a_second_name_is_noticed_from_the_other_engine(
    spark: pv.Spark, tmp_path: Path
) -> None:
    path = noisy.ledger(tmp_path)
    policy, raw = noisy.policy(tmp_path), tmp_path / "raw.parquet"
    noisy.table(500).write_parquet(raw)
    pv.publish(raw, policy)
    Ledger(path).open("other", Fraction(3))
    assert policy.ledger is not None
    second = replace(policy, ledger=replace(policy.ledger, dataset="other"))
    with pytest.raises(pv.errors.BudgetError):
        pv.publish(raw, second, engine=spark)


def test_a_value_outside_is_refused_for_nothing(spark: pv.Spark, tmp_path: Path) -> None:
    path = noisy.ledger(tmp_path)
    frame = noisy.table(50).with_columns(pl.lit(noisy.CANARY).alias("job"))
    with pytest.raises(InputError, match="50 of 50 records") as error:
        pv.publish(frame, noisy.policy(tmp_path), engine=spark)
    assert noisy.CANARY not in str(error.value)
    assert not list(Ledger(path).releases())


def test_a_table_without_a_record_is_paid_like_any_other(spark: pv.Spark, tmp_path: Path) -> None:
    noisy.ledger(tmp_path)
    pv.publish(noisy.table(0), noisy.policy(tmp_path), engine=spark).write(tmp_path / "out")
    assert pv.verify(tmp_path / "out", engine=spark).complaints == ()
