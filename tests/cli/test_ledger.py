"""`privet ledger`, `privet plan`, and `privet publish` with a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from tests.dp import form1
from tests.roads import noisy

from privet.dp.exact import Exact

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    noisy.table(600).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(noisy.TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WARD = ("ledger.sqlite", "--dataset", "ward")
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
    (ward_now,) = shown["datasets"]
    assert [ward_now[key] for key in ("dataset", "budget", "spent", "left")] == ["ward", "3/5", "1/2", "1/10"]
    assert [ward_now[key] for key in ("currency", "epsilon", "rho")] == ["epsilon", "1/2", "1/8"]
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
    few = ("--epsilon", "1/10", "--epsilon", "1", "--h", "4", "--h", "10")  # of all that is usually tried
    found = privet("plan", "policy.toml", "--records", "600", *few, "--json").answer
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


# The ledger as it is kept: issue 14, lines 6 and 7.


def opened(privet: Run, *words: str) -> None:
    assert privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "2", *words).code == 0


def test_a_release_is_matched_with_the_entry_that_paid(privet: Run, ward: Path) -> None:
    opened(privet)
    privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    found = privet("ledger", "match", "out")  # the notes beside it say which ledger
    assert found.code == 0
    assert "every payment and every file is as the ledger saw it leave" in found.out
    assert privet("ledger", "match", "out", "--ledger", "ledger.sqlite", "--json").answer["matches"] is True
    with (ward / "out" / "data.csv").open("a") as file:
        file.write("x\n")
    changed = privet("ledger", "match", "out")
    assert changed.code == 1
    assert "data.csv is not the file" in changed.err


def test_a_forgery_has_no_entry_or_another(privet: Run, ward: Path) -> None:
    opened(privet)
    privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    whole = json.loads((ward / "out" / "evidence.json").read_text("utf-8"))
    for change, said in (
        (lambda e: e["ledger"].update(release="another"), "no entry of this release"),
        (lambda e: e["ledger"].update(dataset="another"), "another data set"),
        (lambda e: e["ledger"].update(epsilon="1/3"), "another epsilon"),
        (lambda e: e["ledger"]["spends"].pop(), "other payments"),
        (lambda e: e.update(records=1), "not what the ledger saw leave"),
    ):
        evidence = json.loads(json.dumps(whole))
        change(evidence)  # type: ignore[no-untyped-call]
        (ward / "out" / "evidence.json").write_text(json.dumps(evidence), "utf-8")
        ran = privet("ledger", "match", "out", "--json")
        assert (ran.code, ran.answer["matches"]) == (1, False)
        assert any(said in complaint for complaint in ran.answer["complaints"])
    whole["ledger"]["spends"] = [{}]  # not evidence any more, says its reader
    (ward / "out" / "evidence.json").write_text(json.dumps(whole), "utf-8")
    ran = privet("ledger", "match", "out")
    assert (ran.code, "ledger.spends" in ran.err) == (1, True)


def test_a_witness_on_the_command_line(privet: Run, ward: Path) -> None:
    opened(privet)
    head = privet("ledger", "witness", "ledger.sqlite").out.strip()
    assert head.startswith("1:")
    kept = privet("ledger", "witness", "ledger.sqlite", "--keep", "seen", "--json").answer
    assert kept["entries"] == 2
    before = (ward / "ledger.sqlite").read_bytes()
    privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)
    assert privet("ledger", "witness", "ledger.sqlite", "--seen", head).code == 0
    later = privet("ledger", "witness", "ledger.sqlite").out.strip()
    (ward / "ledger.sqlite").write_bytes(before)
    back = privet("publish", "people.csv", "policy.toml", "-o", "out2", *PAID)
    assert back.code == 1
    assert "older than what its witness saw" in back.err
    assert not (ward / "out2").exists()
    assert privet("ledger", "show", "ledger.sqlite").code == 1
    assert privet("ledger", "witness", "ledger.sqlite", "--seen", later).code == 1


def test_the_same_data_under_a_second_name_needs_a_reason(privet: Run, ward: Path) -> None:
    opened(privet)
    privet("ledger", "open", "ledger.sqlite", "--dataset", "again", "--budget", "9")
    assert privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID).code == 0
    second = ("--ledger", "ledger.sqlite", "--dataset", "again")
    refused = privet("publish", "people.csv", "policy.toml", "-o", "out2", *second)
    assert refused.code == 2
    assert "this looks like the data of ward" in refused.err
    assert noisy.CANARY not in refused.err
    shown = privet("ledger", "show", "ledger.sqlite", "--dataset", "again", "--json").answer
    assert shown["datasets"][0]["spent"] == "0"
    kept = (ward / "ledger.sqlite").read_bytes()  # fingerprints, and no value that they are of
    assert b'"samples":[["' in kept
    assert not [value for value in (noisy.CANARY, "cook", "smith", "11|12") if value.encode() in kept]
    words = ("--dataset", "again", "--other", "ward", "--reason", "another year of the same ward")
    assert privet("ledger", "distinct", "ledger.sqlite", *words).code == 0
    assert privet("publish", "people.csv", "policy.toml", "-o", "out2", *second).code == 0


def test_gaussian_noise_of_another_tool_is_booked_in_rho(privet: Run, ward: Path) -> None:
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--rho", "1/2")
    words = ("--release", "june", "--purpose", "mean", "--tool", "opendp 0.14", "--mechanism", "gaussian")
    gaussian = ("--sigma", "40", "--sensitivity", "10")
    booked = privet("ledger", "book", "ledger.sqlite", "--dataset", "ward", *words, *gaussian, "--json")
    assert booked.answer["datasets"][0] == {
        "dataset": "ward",
        "currency": "rho",
        "budget": "1/2",
        "spent": "1/32",
        "left": "15/32",
        "epsilon": None,
        "rho": "1/32",
    }
    made = privet("publish", "people.csv", "policy.toml", "-o", "out", *PAID)  # epsilon 1/2 costs 1/8
    assert made.code == 0
    shown = privet("ledger", "show", "ledger.sqlite", "--delta", "1e-6")
    assert "rho 1/2" in shown.out
    assert "5/32" in shown.out
    assert "3.095" in shown.out  # 5/32 + 2 sqrt(5/32 ln 10^6) = 3.0947..., rounded up
    much = ("--release", "july", *words[2:], "--rho", "1")
    refused = privet("ledger", "book", "ledger.sqlite", "--dataset", "ward", *much)
    assert refused.code == 2
    assert "rho 1 was asked for, and 11/32 of 1/2 is left" in refused.err


def test_gaussian_noise_has_no_price_in_pure_epsilon(privet: Run, ward: Path) -> None:
    opened(privet)
    words = ("--dataset", "ward", "--release", "june", "--purpose", "mean", "--tool", "t", "--mechanism", "g")
    refused = privet("ledger", "book", "ledger.sqlite", *words, "--rho", "1/8")
    assert refused.code == 2
    assert "--rho RHO --reason" in refused.err
    pure = privet("ledger", "book", "ledger.sqlite", *words, "--epsilon", "1/2", "--records-per-person", "2")
    assert pure.code == 0
    amended = ("--dataset", "ward", "--rho", "1", "--reason", "Gaussian noise is coming")
    assert privet("ledger", "amend", "ledger.sqlite", *amended).code == 0
    words = ("--dataset", "ward", "--release", "july", "--purpose", "mean", "--tool", "t", "--mechanism", "g")
    assert privet("ledger", "book", "ledger.sqlite", *words, "--rho", "1/4").code == 0
    shown = privet("ledger", "show", "ledger.sqlite", "--json").answer["datasets"][0]
    assert (shown["spent"], shown["epsilon"]) == ("3/4", None)  # (2 * 1/2)^2 / 2, and 1/4
    back = privet("ledger", "amend", "ledger.sqlite", "--dataset", "ward", "--budget", "9", "--reason", "x")
    assert back.code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("open", "l", "--dataset", "d"), "give one of them"),
        (("open", "l", "--dataset", "d", "--budget", "1", "--rho", "1"), "give one of them"),
        (("open", "l", "--dataset", "d", "--rho", "0"), "--rho: a budget is above 0"),
        (("witness", "ledger.sqlite", "--seen", "x"), "NUMBER:DIGEST"),
        (("witness", "none.sqlite"), "no such ledger"),
        (("match", "nowhere"), "no such folder"),
        (("match", "."), "no private notes"),
        (("upgrade", "none.sqlite"), "no such ledger"),
        (("upgrade", "people.csv"), "not a ledger of privet"),
        (("distinct", *WARD, "--other", "ward", "--reason", "x"), "itself"),
        (("distinct", *WARD, "--other", "no", "--reason", "x"), "no such data"),
        (("show", "ledger.sqlite", "--delta", "2"), "delta is between 0 and 1"),
    ],
)
def test_what_is_asked_wrongly_is_told_so(privet: Run, ward: Path, words: Any, said: str) -> None:
    opened(privet)
    ran = privet("ledger", *words)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "price",
    [(), ("--rho", "1", "--epsilon", "1"), ("--sigma", "1"), ("--sigma", "0", "--sensitivity", "1")],
)
def test_a_booking_has_one_price(privet: Run, ward: Path, price: tuple[str, ...]) -> None:
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--rho", "9")
    words = ("--dataset", "ward", "--release", "r", "--purpose", "p", "--tool", "t", "--mechanism", "m")
    assert privet("ledger", "book", "ledger.sqlite", *words, *price).code == 2
    assert privet("ledger", "show", "ledger.sqlite", "--json").answer["releases"] == []


def test_an_earlier_ledger_is_upgraded_by_the_command_that_is_named(privet: Run, ward: Path) -> None:
    form1.write(ward / "old.sqlite")
    refused = privet("ledger", "show", "old.sqlite")
    assert refused.code == 2
    command = refused.err.rpartition("privet ")[2].split()
    assert command[:2] == ["ledger", "upgrade"]
    done = privet(*command)
    assert done.code == 0
    assert "7 lines were chained" in done.out
    shown = privet("ledger", "show", "old.sqlite", "--json").answer["datasets"]
    assert [(one["budget"], one["spent"]) for one in shown] == [("2", "3/2")]
    assert "already" in privet(*command).out


def test_a_plan_knows_what_splits_of_sets_drop(privet: Run, ward: Path) -> None:
    few = ("--epsilon", "1/10", "--epsilon", "2", "--h", "4", "--h", "10")
    found = privet("plan", "policy.toml", "--records", "300", *few, "--json").answer
    by = {(one["epsilon"], one["h"]): one for one in found["plans"]}
    assert found["sets"] == ["codes"]
    assert by["1/10", 10]["dropped"] > 0.5 > by["2", 4]["dropped"]
    one = by["1/10", 10]
    assert one["total_error"] == pytest.approx(one["counts"] * one["error"] + 300 * one["dropped"], rel=0.01)
    assert one["noise"] == pytest.approx(one["total_error"] / 300, abs=1e-3)
    told = privet("plan", "policy.toml", "--records", "300", "--h", "10").out
    assert "dropped" in told.splitlines()[2]
    without = privet("plan", "policy.toml", "--h", "10")
    assert "say --records to see how many" in without.out
    assert "dropped" not in privet("plan", "policy.toml", "--h", "10", "--json").answer["plans"][0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("records", [(), ("--records", "3000")])
def test_a_plan_draws_its_curves(privet: Run, ward: Path, records: tuple[str, ...]) -> None:
    drawn = privet("plan", "policy.toml", *records, "-o", "plan.html")
    assert drawn.code == 0
    text = (ward / "plan.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert not re.search(r'(?:src|href)="(?!#)', text)  # nothing is fetched
    assert text.count('class="mark"') == 5 * 9  # a point for each epsilon and h
    for epsilon in ("1/10", "1/4", "1/2", "1", "2"):
        assert f">epsilon {epsilon}</text>" in text
    heights = [float(y) for y in re.findall(r'<text x="88%" y="([0-9.-]+)"[^>]*>epsilon', text)]
    assert len(heights) == 5
    assert all(b - a > 14.8 for a, b in pairwise(sorted(heights)))  # no name on another
    assert ("Rounds to choose" in text) == bool(records)
    assert privet("plan", "policy.toml", "--h", "3", "-o", "plan.html").code == 2
    assert privet("plan", "policy.toml", "--h", "3", "-o", "plan.html", "--overwrite").code == 0


def test_a_plan_without_rounds_has_a_page_without_a_curve(privet: Run, ward: Path) -> None:
    text = noisy.TEXT.replace('type = "diffgen"\nnoise = "exact"\nh = 5', 'type = "noisy-contingency"')
    lines = [line for line in text.splitlines() if not line.startswith(("codes", "pay"))]
    (ward / "policy.toml").write_text("\n".join(lines), encoding="utf-8")
    assert privet("plan", "policy.toml", "-o", "plan.html").code == 0
    assert "plan-plot" not in (ward / "plan.html").read_text("utf-8")
