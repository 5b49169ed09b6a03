"""`privet ledger`, `privet plan`, and `privet publish` with a budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from tests.roads import noisy

from privet.dp.exact import Exact

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    noisy.table(600).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(noisy.TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAID = ("--ledger", "ledger.sqlite", "--dataset", "ward")


def test_from_an_open_ledger_to_an_empty_one(privet: Run, ward: Path) -> None:
    opened = privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "0.6")
    assert (opened.code, opened.out.splitlines()[1].split()) == (0, ["ward", "3/5", "0", "3/5"])
    assert "-o out --ledger ledger.sqlite --dataset ward  spends" in opened.out
    made = privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    assert made.code == 0
    assert "made    differential-privacy (epsilon = 1/2): not checked" in made.out
    assert "privet ledger show ledger.sqlite" in made.out
    again = privet("publish", "people.csv", "policy.toml", "-o", "out2", *PAID)
    assert again.code == 2
    assert again.problems == [
        (
            "error: ward: epsilon 1/2 was asked for, and 1/10 of 3/5 is left; nothing was drawn. "
            "Ask for at most 1/10, or do without"
        )
    ]
    assert not (ward / "out2").exists()
    shown = privet("ledger", "show", "ledger.sqlite", "--json").answer
    assert shown["datasets"] == [{"dataset": "ward", "budget": "3/5", "spent": "1/2", "left": "1/10"}]
    (entry,) = shown["releases"]
    assert (entry["state"], entry["charged"], entry["purpose"]) == ("released", "1/2", "a test")
    assert sum(Fraction(s["epsilon"]) for s in entry["spends"]) == Fraction(1, 2)
    told = privet("ledger", "show", "ledger.sqlite", "--dataset", "ward").out
    assert entry["release"] in told
    verified = privet("verify", "out")
    assert verified.code == 0
    assert "nobody can check" in verified.out
    compared = privet("compare", "people.csv", "out")
    assert "published for 600 raw ones" in compared.out
    assert "must not leave" in compared.err


def test_a_budget_is_changed_on_the_record(privet: Run, ward: Path) -> None:
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "1")
    clash = privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "2")
    assert clash.code == 2
    assert "its budget is 1, not 2" in clash.err
    raised = privet(
        "ledger", "amend", "ledger.sqlite", "--dataset", "ward", "--budget", "2", "--reason", "board"
    )
    assert raised.code == 0
    assert privet("ledger", "show", "ledger.sqlite", "--json").answer["datasets"][0]["left"] == "2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ledger", "show", "none.sqlite"), "no such ledger"),
        (("ledger", "show", "people.csv"), "not a ledger of privet"),
        (("ledger", "open", "l", "--dataset", "d", "--budget", "0"), "--budget: a budget is above 0"),
        (("ledger", "open", "l", "--dataset", "d", "--budget", "-1"), "--budget: a budget is above 0"),
        (("ledger", "open", "l", "--dataset", "d", "--budget", "much"), "--budget: is an exact number"),
        (("ledger", "open", "l", "--dataset", " ", "--budget", "1"), "a data set has a name"),
        (("ledger", "amend", "l", "--dataset", "d", "--budget", "1", "--reason", "x"), "no such ledger"),
        (("publish", "people.csv", "policy.toml", "-o", "out"), "--ledger FILE --dataset NAME"),
        (("publish", "people.csv", "policy.toml", "-o", "out", "--ledger", "l"), "give both"),
        (("publish", "people.csv", "policy.toml", "-o", "out", "--explain", *PAID), "--explain: diffgen"),
        (("publish", "people.csv", "policy.toml", "-o", "people.csv/out", *PAID), "nothing can be written"),
        (("publish", "people.csv", "other.toml", "-o", "out", *PAID), "top-down spends nothing"),
        (("plan", "other.toml"), "top-down spends nothing"),
        (("plan", "policy.toml", "--epsilon", "0"), "--epsilon: above 0"),
        (("plan", "policy.toml", "--epsilon", "x"), "--epsilon: is an exact number"),
        (("risk", "people.csv", "policy.toml"), "does not ask how exposed"),
        (("check", "people.csv", "policy.toml"), "no table has it as it stands"),
    ],
)
def test_bad_words_are_refused_in_one_clear_line(privet: Run, ward: Path, words: Any, said: str) -> None:
    other = '[attributes]\njob = "quasi"\n[[models]]\ntype = "k-anonymity"\nk = 2\n'
    (ward / "other.toml").write_text(f"policy = 1\n{other}", encoding="utf-8")
    ran = privet(*words)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert noisy.CANARY not in ran.err
    assert not (ward / "out").exists()


def test_a_policy_may_name_its_ledger(privet: Run, ward: Path) -> None:
    text = noisy.TEXT.replace(
        "[attributes]", '[ledger]\nfile = "ledger.sqlite"\ndataset = "ward"\n[attributes]'
    )
    (ward / "policy.toml").write_text(text, encoding="utf-8")
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "1")
    assert privet("publish", "people.csv", "policy.toml", "-o", "out").code == 0
    assert "ledger.sqlite" not in (ward / "out" / "policy.toml").read_text("utf-8")


def test_two_paid_releases_may_leave_together(privet: Run, ward: Path) -> None:
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "9")
    privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    assert privet("publish", "people.csv", "policy.toml", "-o", "out2", *PAID).err == ""


def test_a_plan_needs_no_data_and_spends_nothing(privet: Run, ward: Path) -> None:
    (ward / "people.csv").unlink()
    found = privet("plan", "policy.toml", "--records", "600", "--json").answer
    by = {(one["epsilon"], one["h"]): one for one in found["plans"]}
    assert by["1", 10]["error"] < by["1/10", 10]["error"]
    assert by["1", 4]["counts"] < by["1", 10]["counts"]
    assert by["1", 10]["noise"] == pytest.approx(by["1", 10]["total_error"] / 600, abs=1e-3)
    suggested = found["suggested"]
    assert suggested["1/10"] <= suggested["1"]
    one = privet("plan", "policy.toml", "--epsilon", "1/2", "--h", "5")
    assert one.code == 0
    assert "nothing is spent" in one.out
    assert len([line for line in one.out.splitlines() if line.lstrip().startswith("1/2")]) == 1
    assert sorted(path.name for path in ward.iterdir()) == ["policy.toml"]


def test_a_plan_of_the_plain_table_counts_its_combinations(privet: Run, ward: Path) -> None:
    text = noisy.TEXT.replace('type = "diffgen"\nnoise = "exact"\nh = 5', 'type = "noisy-contingency"')
    lines = [line for line in text.splitlines() if not line.startswith(("codes", "pay"))]
    (ward / "policy.toml").write_text("\n".join(lines), encoding="utf-8")
    found = privet("plan", "policy.toml", "--epsilon", "1/2", "--json").answer
    assert [one["counts"] for one in found["plans"]] == [3 * 47 * 3]
    assert json.loads(json.dumps(found))["plans"][0]["error"] == pytest.approx(1.919, abs=1e-3)


def test_whoever_has_no_account_is_told_how_to_open_one(privet: Run, ward: Path) -> None:
    command = "--dataset NAME --budget EPSILON"
    planned = privet("plan", "policy.toml", "--records", "1000", "--h", "2")
    assert f"privet ledger open ledger.sqlite {command}" in planned.out
    assert "privet publish DATA policy.toml -o out --ledger ledger.sqlite --dataset NAME" in planned.out
    assert "next" not in privet("plan", "policy.toml", "--h", "2", "--json").answer
    refused = privet("publish", "people.csv", "policy.toml", "-o", "out")
    assert refused.code == 2
    assert f"privet ledger open FILE {command}" in refused.err
    named = (ward / "policy.toml").read_text() + '\n[ledger]\nfile = "l.sqlite"\ndataset = "ward"\n'
    (ward / "named.toml").write_text(named)
    assert "ledger open" not in privet("plan", "named.toml", "--h", "2").out


def test_a_draft_tells_of_the_ledger(privet: Run, ward: Path) -> None:
    privet("init", "people.csv", "-o", "draft.toml")
    assert "privet ledger open" in (ward / "draft.toml").read_text()


def test_a_table_without_a_record_is_published_verified_and_compared(
    privet: Run, ward: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Exact, "laplace", lambda _self, _scale, n: np.full(n, -10_000, dtype=np.int64))
    Path("people.csv").write_text(",".join(noisy.table(1).columns) + "\n", "utf-8")
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "1")
    made = privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    assert (made.code, made.err) == (0, "")
    assert Path("out/data.csv").read_text("utf-8").splitlines() == ["job,age,pay,codes,ill"]
    assert privet("verify", "out").code == 0
    compared = privet("compare", "people.csv", "out")
    assert compared.code == 0
    assert "0 records were published for 0 raw ones" in compared.out
