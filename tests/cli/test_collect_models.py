"""`privet collect classify`, and answers in Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.test_collect import Run, survey  # noqa: F401 - a fixture

from privet.engines import streamed


@pytest.mark.one_in(2)
@pytest.mark.parametrize("extra", [(), ("--model", "tree"), ("--strategy", "global")])
@pytest.mark.usefixtures("survey")
def test_a_saved_classifier_says_what_it_said_when_it_was_trained(
    privet: Run, extra: tuple[str, ...]
) -> None:
    privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv")
    made = privet(
        *("collect", "train", "collect.toml", "sent.csv", "--label", "member", "--test", "survey.csv"),
        *("-o", "model.json", "--json", *extra),
    ).answer
    told = privet(
        "collect", "classify", "collect.toml", "model.json", "survey.csv", "-o", "classes.csv", "--json"
    ).answer
    assert told["records"] == 3_000
    with Path("survey.csv").open(newline="") as one, Path("classes.csv").open(newline="") as two:
        truth = [row["member"] for row in csv.DictReader(one)]
        said = [row["member"] for row in csv.DictReader(two)]
    right = sum(a == b for a, b in zip(truth, said, strict=True)) / 3_000
    assert right == pytest.approx(made["test"]["accuracy"])
    assert told["classes"] == {value: said.count(value) for value in told["classes"]}
    pl.read_csv("survey.csv").drop("member").write_parquet("new.parquet")  # the class is not asked for
    assert privet("collect", "classify", "collect.toml", "model.json", "new.parquet").out.split()[1:] == said


def _changed(**new: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(new)


def refused(privet: Run, *given: str) -> str:
    done = privet(*given)
    assert done.code == 2
    return str(done.err)


BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "another plan": _changed(plan="0" * 16),
    "another label": _changed(label="age"),
    "no label": _changed(label=None),
    "another model": _changed(model="forest"),
    "no bins": _changed(bins=0),
    "true bins": _changed(bins=True),
    "fewer bins": _changed(bins=3),
    "shares of another column": lambda document: document["shares"].pop("age"),
    "a share of 0": lambda document: document["shares"]["age"][0].__setitem__(0, 0.0),
    "shares above 1": lambda document: document["shares"]["age"][0].__setitem__(0, 2.0),
    "a share that is not a number": lambda document: document["shares"]["age"][0].__setitem__(0, "x"),
    "classes of another number": _changed(classes=[1.0]),
}


@pytest.mark.usefixtures("survey")
def test_a_model_that_does_not_fit_is_refused(privet: Run) -> None:
    privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv")
    privet("collect", "train", "collect.toml", "sent.csv", "--label", "member", "-o", "model.json")
    for why, change in BROKEN.items():
        document = json.loads(Path("model.json").read_text())
        change(document)
        Path("other.json").write_text(json.dumps(document))
        done = refused(
            privet, "collect", "classify", "collect.toml", "other.json", "survey.csv", "-o", "x.csv"
        )
        assert "other.json" in done, why
        assert not Path("x.csv").exists()
    Path("other.json").write_text("[")
    refused(privet, "collect", "classify", "collect.toml", "other.json", "survey.csv")
    refused(privet, "collect", "classify", "collect.toml", "nowhere.json", "survey.csv")


@pytest.mark.usefixtures("survey")
def test_a_tree_that_does_not_fit_is_refused(privet: Run) -> None:
    privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv")
    privet(
        *("collect", "train", "collect.toml", "sent.csv", "--label", "member", "--model", "tree"),
        *("-o", "model.json"),
    )
    for key, value in (
        ("counts", [1]),
        ("column", "name"),
        ("left_bins", [99]),
        ("left", None),
        ("right", 3),
    ):
        document = json.loads(Path("model.json").read_text())
        assert key in document["tree"]
        document["tree"][key] = value
        Path("other.json").write_text(json.dumps(document))
        refused(privet, "collect", "classify", "collect.toml", "other.json", "survey.csv")


@pytest.mark.usefixtures("survey")
def test_parquet_is_read_as_csv_is(privet: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "ROWS", 700)  # several times, and not evenly
    whole = pl.read_csv("survey.csv")
    whole.write_parquet("survey.parquet")
    done = privet("collect", "perturb", "collect.toml", "survey.parquet", "-o", "sent.csv", "--json").answer
    assert done["records"] == 3_000
    assert done["dropped"] == ["name"]
    sent = pl.read_csv("sent.csv", infer_schema=False)
    assert sent.get_column("member").to_list() == whole.get_column("member").to_list()  # sent as it is
    sent.write_parquet("sent.parquet")
    found = [
        privet("collect", "reconstruct", "collect.toml", name, "--json").answer
        for name in ("sent.csv", "sent.parquet")
    ]
    assert found[0] == found[1]
    sent.with_columns(pl.col("income").cast(pl.Float64)).write_parquet("sent.parquet")  # 4.0 is its 4
    assert privet("collect", "reconstruct", "collect.toml", "sent.parquet", "--json").answer == found[0]


@pytest.mark.usefixtures("survey")
def test_parquet_that_cannot_be_read_is_refused(privet: Run) -> None:
    Path("bad.parquet").write_bytes(b"PAR1 my secret PAR1")
    pl.DataFrame({"age": [[1, 2]]}).write_parquet("lists.parquet")
    for name in ("bad.parquet", "lists.parquet", "nowhere.parquet"):
        done = refused(privet, "collect", "perturb", "collect.toml", name, "-o", "x.csv")
        assert name in done
        assert "secret" not in done
        assert not Path("x.csv").exists()
    done = refused(privet, "collect", "perturb", "collect.toml", "-", "--format", "parquet")
    assert "a pipe has none" in done
