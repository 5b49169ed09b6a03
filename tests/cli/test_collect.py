"""`privet collect` as people meet it: from a draft to an estimate, by files, pipes and JSON."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

PLAN = """
collect = 1
purpose = "commuting survey"

[columns.age]
type = "number"
low = 15
high = 95
mechanism = "laplace"
epsilon = 3

[columns.income]
type = "number"
low = 0
high = 200
step = 2
mechanism = "gaussian"
sigma = 20

[columns.travels]
type = "category"
values = ["walk", "bike", "bus", "car"]
mechanism = "k-randomised-response"
epsilon = 2

[columns.member]
type = "category"
values = ["no", "yes"]
mechanism = "as-is"
"""


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chance = random.Random(1)
    with (tmp_path / "survey.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["name", "age", "income", "travels", "member"])
        for at in range(3_000):
            member = chance.random() < 0.4
            age = min(95, max(15, round(chance.gauss(60 if member else 35, 8))))
            income = min(200, max(0, round(chance.gauss(120 if member else 60, 15))))
            travels = chance.choices(["walk", "bike", "bus", "car"], [1, 2, 2, 5])[0]
            out.writerow([f"p{at}", age, income, travels, "yes" if member else "no"])
    (tmp_path / "collect.toml").write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_draft_to_an_estimate(privet: Run, survey: Path) -> None:
    drafted = privet("collect", "init", "survey.csv", "-o", "draft.toml")
    assert drafted.code == 0
    assert "5 questions to decide about" in drafted.out
    undecided = privet("collect", "show", "draft.toml")
    assert undecided.code == 2
    assert len(undecided.problems) == 5
    assert all("mechanism is one of" in line for line in undecided.problems)
    shown = privet("collect", "show", "collect.toml", "--records", 3_000)
    assert shown.code == 0
    assert "no finite epsilon: income; some answers give the true value away" in shown.out
    done = privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv")
    assert done.code == 0
    assert "perturbed 3,000 records into sent.csv" in done.out
    assert done.err == "warning: left out, since the plan does not name them: name\n"
    sent, true = (
        list(csv.DictReader(io.StringIO((survey / name).read_text()))) for name in ("sent.csv", "survey.csv")
    )
    assert list(sent[0]) == ["age", "income", "travels", "member"]
    assert [row["member"] for row in sent] == [row["member"] for row in true]
    assert sum(a["age"] == b["age"] for a, b in zip(sent, true, strict=True)) < 600
    found = privet("collect", "reconstruct", "collect.toml", "sent.csv", "-o", "page.html")
    assert found.code == 0
    assert "age: 3,000 answers, laplace" in found.out
    assert "95 % band" in found.out
    page = (survey / "page.html").read_text(encoding="utf-8")
    assert "Reconstructed: income" in page
    assert "How the iteration went" in page


def test_programs_get_json(privet: Run, survey: Path) -> None:
    drafted = privet("collect", "init", "survey.csv", "-o", "draft.toml", "--json").answer
    assert drafted == {"plan": "draft.toml", "undecided": ["name", "age", "income", "travels", "member"]}
    shown = privet("collect", "show", "collect.toml", "--json").answer
    by_name = {one["column"]: one for one in shown["columns"]}
    assert (by_name["age"]["epsilon"], by_name["income"]["epsilon"]) == (3, None)
    assert by_name["travels"]["epsilon_enumerated"] == 2
    assert shown["one_person"]["without_epsilon"] == ["income"]
    done = privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv", "--json").answer
    assert done == {"records": 3000, "dropped": ["name"], "plan": shown["digest"]}
    found = privet(
        *("collect", "reconstruct", "collect.toml", "sent.csv", "--json", "--bins", 10),
        *("--column", "income", "--pair", "income,travels"),
    ).answer
    (income,) = found["columns"]
    assert len(income["shares"]) == len(income["low"]) == len(income["labels"]) == 10
    assert abs(sum(income["shares"]) - 1) < 1e-9
    assert abs(income["mean"] - 84) < 5
    assert income["convergence"][0]["iteration"] == 0
    (pair,) = found["pairs"]
    assert (len(pair["shares"]), len(pair["shares"][0])) == (10, 4)
    assert found["privacy"][0]["column"] == "income"


@pytest.mark.parametrize("extra", [(), ("--model", "tree"), ("--model", "tree", "--strategy", "local")])
def test_a_classifier_is_trained_and_tested(privet: Run, survey: Path, extra: tuple[str, ...]) -> None:
    privet("collect", "perturb", "collect.toml", "survey.csv", "-o", "sent.csv")
    made = privet(
        *("collect", "train", "collect.toml", "sent.csv", "--label", "member", "--test", "survey.csv"),
        *("-o", "model.json", "--json", *extra),
    ).answer
    assert made["test"]["accuracy"] > 0.85
    assert made["test"]["majority"] < 0.7
    assert json.loads((survey / "model.json").read_text())["label"] == "member"
    told = privet(
        "collect", "train", "collect.toml", "sent.csv", "--label", "member", "--test", "survey.csv", *extra
    )
    assert "of 3,000 true records; the commonest class alone on" in told.out


def test_a_filter_in_a_pipe(survey: Path, command: Callable[..., list[str]]) -> None:
    true = (survey / "survey.csv").read_bytes()
    done = subprocess.run(
        command("collect", "perturb", "collect.toml"), input=true, capture_output=True, check=True
    )
    assert len(list(csv.reader(io.StringIO(done.stdout.decode())))) == 3_001
    assert done.stderr.decode() == "warning: left out, since the plan does not name them: name\n"
    head = f"{sys.executable} -m privet.cli collect perturb collect.toml - < survey.csv | head -n 2"
    cut = subprocess.run(["sh", "-c", head], capture_output=True, text=True, check=True)
    assert cut.stdout.startswith("age,income,travels,member\n")
    assert "Traceback" not in cut.stderr
    bad = subprocess.run(
        command("collect", "perturb", "collect.toml", "-"),
        input=b"age\n5\n",
        capture_output=True,
        check=False,
    )
    assert bad.returncode == 2
    assert bad.stdout == b""
    assert "standard input: the data has no column income, which the plan asks for" in bad.stderr.decode()


def test_json_lines_and_packed_files(privet: Run, survey: Path) -> None:
    one = {"age": 41, "income": 80, "travels": "bus", "member": "no"}
    (survey / "in.jsonl").write_text((json.dumps(one) + "\n") * 40, encoding="utf-8")
    assert privet("collect", "perturb", "collect.toml", "in.jsonl", "-o", "sent.jsonl").code == 0
    found = privet("collect", "reconstruct", "collect.toml", "sent.jsonl", "--json", "--confidence", 0)
    assert found.answer["records"] == 40
    assert "low" not in found.answer["columns"][0]
    with gzip.open(survey / "survey.csv.gz", "wb") as packed:
        packed.write((survey / "survey.csv").read_bytes())
    assert privet("collect", "perturb", "collect.toml", "survey.csv.gz", "-o", "b.csv").code == 0
    (survey / "broken.csv.gz").write_bytes(b"\x1f\x8b\x08nonsense")
    broken = privet("collect", "perturb", "collect.toml", "broken.csv.gz", "-o", "c.csv")
    assert broken.code == 2
    assert not (survey / "c.csv").exists()


def test_one_respondent_with_a_ledger(privet: Run, survey: Path) -> None:
    true = '{"age": 41, "income": 80, "travels": "bus", "member": "no"}'
    first = privet("collect", "answer", "collect.toml", true, "--ledger", "mine.json")
    again = privet("collect", "answer", "collect.toml", true, "--ledger", "mine.json")
    assert first.code == 0
    assert json.loads(first.out) == json.loads(again.out)
    given = privet("collect", "given", "mine.json")
    assert "epsilon spent: 5; no budget" in given.out
    assert "answers without a finite epsilon: 1" in given.out
    assert privet("collect", "given", "mine.json", "--json").answer["questions"][0]["rounds"] == 2
    assert privet("collect", "given", "none.json").problems == [
        "error: none.json: no such file; `privet collect answer --ledger` makes it"
    ]


def test_two_names_of_one_ledger_are_one_ledger(privet: Run, survey: Path) -> None:
    true = '{"age": 41, "income": 80, "travels": "bus", "member": "no"}'
    assert privet("collect", "answer", "collect.toml", true, "--ledger", "mine.json").code == 0
    Path("other.json").symlink_to("mine.json")
    assert privet("collect", "answer", "collect.toml", true, "--ledger", "other.json").code == 0
    assert Path("other.json").is_symlink()
    assert privet("collect", "given", "mine.json", "--json").answer["questions"][0]["rounds"] == 2


def test_a_ledger_with_half_a_letter_is_damaged(privet: Run, survey: Path) -> None:
    true = '{"age": 41, "income": 80, "travels": "bus", "member": "no"}'
    assert privet("collect", "answer", "collect.toml", true, "--ledger", "mine.json").code == 0
    ledger = Path("mine.json")
    ledger.write_text(ledger.read_text().replace('"travels"', '"tra\\ud800vels"'))
    done = privet("collect", "answer", "collect.toml", true, "--ledger", "mine.json")
    assert (done.code, "damaged" in done.err) == (2, True)


def test_a_closed_stdin_is_a_sentence(survey: Path, command: Callable[..., list[str]]) -> None:
    for words in (("perturb", "collect.toml", "-"), ("answer", "collect.toml")):
        call = shlex.join(command("collect", *words))
        done = subprocess.run(f"{call} <&-", shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "standard input is closed" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("perturb", "collect.toml", "survey.csv"),
        ("form", "collect.toml"),
        ("answer", "collect.toml", '{"age": 30, "income": 4, "travels": "bus", "member": "no"}'),
    ],
)
@pytest.mark.usefixtures("survey")
def test_work_that_only_stdout_would_get_is_not_done_where_it_is_closed(
    privet: Run, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    with open(os.devnull, "w", encoding="utf-8") as closed:  # noqa: PTH123 - as `main` opens it then
        monkeypatch.setattr(sys, "stdout", closed)
        done = privet("collect", *args)
    assert done.code == 2
    assert "error: the answer could not be written: Bad file descriptor" in done.err


@pytest.mark.usefixtures("survey")
def test_a_stdout_that_is_closed_before_the_start_is_said(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "privet.cli", "collect", "perturb", "collect.toml", "survey.csv"]
    done = subprocess.run(
        command, cwd=tmp_path, stderr=subprocess.PIPE, check=False, preexec_fn=lambda: os.close(1)
    )
    assert done.returncode == 2
    assert b"could not be written" in done.stderr


def test_the_help_of_answer_says_what_it_takes(privet: Run) -> None:
    assert "One JSON object, a file with it" in privet("collect", "answer", "--help").out
    assert "CSV, TSV, JSON lines" in privet("collect", "perturb", "--help").out


def test_what_clients_are_given(privet: Run, survey: Path) -> None:
    done = privet("collect", "form", "collect.toml", "-o", "form.json", "--client", "client.js")
    assert done.code == 0
    assert "privetCollect" in (survey / "client.js").read_text(encoding="utf-8")
    again = privet("collect", "show", "form.json", "--json").answer
    assert again["digest"] == json.loads((survey / "form.json").read_text())["digest"]
    refused = privet("collect", "form", "collect.toml", "-o", "form.json", "--client", "other.js")
    assert refused.code == 2
    assert not (survey / "other.js").exists()
    assert json.loads(privet("collect", "form", "collect.toml").out)["collect"] == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("perturb", "none.toml", "survey.csv"), "none.toml: no such file; `privet collect init` drafts one"),
        (("perturb", "collect.toml", "none.csv"), "none.csv: no such file"),
        (("perturb", "collect.toml", "survey.parquet"), "error: survey.parquet: no such file"),
        (("perturb", "collect.toml", "survey.csv", "--format", "xml"), "--format: is one of csv, tsv, jsonl"),
        (("perturb", "collect.toml", "survey.csv", "--json"), "--json: says what was done"),
        (
            ("perturb", "collect.toml", "bad.csv", "-o", "out"),
            "record 2: travels: is not one of the 4 values",
        ),
        (
            ("reconstruct", "collect.toml", "survey.csv"),
            "income: is not an answer that this plan's mechanism",
        ),
        (("reconstruct", "collect.toml", "survey.csv", "--column", "agee"), "the plan has no column agee"),
        (
            ("reconstruct", "collect.toml", "survey.csv", "--pair", "age"),
            "--pair: names two different columns",
        ),
        (
            ("reconstruct", "collect.toml", "survey.csv", "--stop", "late"),
            "--stop: it is one of cross-validation",
        ),
        (
            ("reconstruct", "collect.toml", "survey.csv", "--method", "fft"),
            "--method: it is one of em, bayes",
        ),
        (
            ("reconstruct", "collect.toml", "survey.csv", "--confidence", "2"),
            "--confidence: is from 0 to below 1",
        ),
        (("reconstruct", "collect.toml", "survey.csv", "--tolerance", "0"), "--tolerance: is above 0"),
        (("reconstruct", "collect.toml", "empty.csv"), "there are no answers"),
        (("train", "collect.toml", "survey.csv", "--label", "age"), "is not an answer that this plan"),
        (
            ("train", "collect.toml", "sent.csv", "--label", "travels"),
            "the class is a category that is collected",
        ),
        (("train", "collect.toml", "sent.csv", "--label", "nobody"), "the plan has no column nobody"),
        (
            ("train", "collect.toml", "sent.csv", "--label", "member", "--model", "svm"),
            "--model: it is one of",
        ),
        (
            ("train", "collect.toml", "sent.csv", "--label", "member", "--strategy", "local"),
            "local is for trees",
        ),
        (("answer", "collect.toml", "{"), "ANSWERS: line 1, column 2: this is not JSON"),
        (("answer", "collect.toml", '{"age": 500}'), "age: is not between 15 and 95"),
        (("answer", "collect.toml", '{"age": ' + "9" * 5000 + "}"), "ANSWERS: a number has too many digits"),
        (("answer", "collect.toml", '[{"travels": "' + "boat" * 99 + '"}]'), "there is no such file"),
        (("init", "none.csv"), "none.csv: no such file"),
    ],
)
def test_bad_input_is_said_clearly_and_nothing_is_written(
    privet: Run, survey: Path, args: tuple[str, ...], said: str
) -> None:
    (survey / "bad.csv").write_text(
        "age,income,travels,member\n20,3,bus,no\n20,3,boat,no\n", encoding="utf-8"
    )
    (survey / "sent.csv").write_text("age,income,travels,member\n20,4,bus,no\n", encoding="utf-8")
    (survey / "empty.csv").write_text("age,income,travels,member\n", encoding="utf-8")
    before = sorted(path.name for path in survey.iterdir())
    done = privet("collect", *args)
    assert done.code == 2
    assert said in done.err + done.out
    assert "boat" not in done.err
    assert sorted(path.name for path in survey.iterdir()) == before


def test_help_needs_no_numpy() -> None:
    code = (
        "import sys; from privet.cli import main; main(['collect', 'perturb', '--help']); "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
