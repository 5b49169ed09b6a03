"""One respondent: light to load, JSON in and out, and a ledger that repeats instead of drawing again."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.collect import naive

from privet.collect import AnswerLedger, Plan, answer
from privet.errors import BudgetError, InputError

AGE = {"type": "number", "low": 0, "high": 1000, "mechanism": "laplace", "epsilon": 1}
JOB = {"type": "category", "values": ["a", "b", "c"], "mechanism": "unary", "epsilon": "1/2"}
OPEN = {"type": "category", "values": ["m", "w"], "mechanism": "as-is"}
PLAN = naive.plan_of(age=AGE, job=JOB, sex=OPEN)
TRUE = {"age": 41, "job": "a", "sex": "w"}


def test_the_client_loads_nothing_heavy() -> None:
    code = (
        "import sys; from privet.collect import answer, Plan, AnswerLedger; "
        f"answer({PLAN.form()!r}, {TRUE!r}); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "polars", "typer", "rich", "scipy", "hypothesis"}


def test_json_in_json_out() -> None:
    sent = answer(json.loads(json.dumps(PLAN.form())), json.loads(json.dumps(TRUE)))
    assert json.loads(json.dumps(sent)) == sent
    assert sent["plan"] == PLAN.digest
    assert list(sent["answers"]) == ["age", "job", "sex"]
    assert sent["answers"]["sex"] == "w"
    for name, text in sent["answers"].items():
        PLAN.columns[name].output(text)


def test_every_complaint_at_once_and_no_answer_in_any() -> None:
    canary = "zqx" + "jkv"
    with pytest.raises(InputError) as caught:
        answer(PLAN, {"age": 48271, "job": canary, "sex": None, canary[:4]: canary})
    assert list(caught.value.complaints) == [
        "zqxj: unknown key; known are age, job, sex",
        "age: is not between 0 and 1000",
        "job: is not one of the 3 values of the plan",
        "sex: no answer, and the plan does not say what stands for none",
    ]
    assert canary not in str(caught.value)
    assert "48271" not in str(caught.value)
    with pytest.raises(InputError, match="answers are an object"):
        answer(PLAN, ["age"])  # type: ignore[arg-type]


# The ledger.


def test_a_repeated_question_is_repeated_and_costs_nothing(tmp_path: Path) -> None:
    ledger = AnswerLedger(tmp_path / "mine.json")
    first = answer(PLAN, TRUE, ledger=ledger)
    for _ in range(20):
        assert answer(PLAN, TRUE, ledger=AnswerLedger(ledger.path)) == first
    spent = ledger.spent()
    assert spent["spent"] == "1.5"
    assert [(q["column"], q["answers"], q["rounds"]) for q in spent["questions"]] == [
        ("age", 1, 21),
        ("job", 1, 21),
    ]
    answer(PLAN, {**TRUE, "age": 42}, ledger=ledger)
    assert ledger.spent()["spent"] == "2.5"
    assert answer(PLAN, TRUE, ledger=ledger) == first  # and the old answer still stands


def test_another_domain_or_mechanism_is_another_question_and_is_paid_for(tmp_path: Path) -> None:
    """A collector who asks the same again in other words gains a fresh draw, and the budget sees it."""
    ledger = AnswerLedger(tmp_path / "mine.json", budget=Fraction(3))
    plan = naive.plan_of(age=AGE)
    for high in (1000, 1001, 1002):
        answer(naive.plan_of(age={**AGE, "high": high}), {"age": 40}, ledger=ledger)
    with pytest.raises(BudgetError) as caught:
        answer(naive.plan_of(age={**AGE, "high": 1003}), {"age": 40}, ledger=ledger)
    assert (caught.value.asked, caught.value.left) == (Fraction(1), Fraction(0))
    assert "nothing was given" in str(caught.value)
    answer(plan, {"age": 40}, ledger=ledger)  # what was given may be repeated


def test_a_plan_cannot_raise_the_budget_that_was_set(tmp_path: Path) -> None:
    document = {"collect": 1, "budget": 1, "columns": {"age": AGE}}
    ledger = AnswerLedger(tmp_path / "mine.json")
    answer(Plan.from_document(document), {"age": 1}, ledger=ledger)
    generous = Plan.from_document({**document, "budget": 100})
    with pytest.raises(BudgetError):
        answer(generous, {"age": 2}, ledger=ledger)
    assert ledger.spent()["budget"] == 1


def test_a_plan_without_a_budget_does_not_free_the_next_one(tmp_path: Path) -> None:
    document = {"collect": 1, "columns": {"age": AGE}}
    ledger = AnswerLedger(tmp_path / "mine.json")
    answer(Plan.from_document(document), {"age": 42}, ledger=ledger)
    assert ledger.spent()["budget"] is None
    strict = Plan.from_document({**document, "budget": 1})
    with pytest.raises(BudgetError, match="the budget is"):
        answer(strict, {"age": 43}, ledger=ledger)


def test_a_budget_refuses_what_has_no_epsilon(tmp_path: Path) -> None:
    noisy = naive.plan_of(
        age={"type": "number", "low": 0, "high": 9, "mechanism": "uniform", "half_width": 2}
    )
    with pytest.raises(BudgetError, match="age has no finite epsilon"):
        answer(noisy, {"age": 1}, ledger=AnswerLedger(tmp_path / "a.json", budget=Fraction(9)))
    assert not (tmp_path / "a.json").exists()
    free = AnswerLedger(tmp_path / "b.json")
    answer(noisy, {"age": 1}, ledger=free)
    assert free.spent()["without_epsilon"] == 1


def test_only_its_owner_may_read_it_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    ledger = AnswerLedger(tmp_path / "deep" / "mine.json")
    answer(PLAN, TRUE, ledger=ledger)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert sorted(path.name for path in ledger.path.parent.iterdir()) == [".mine.json.lock", "mine.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"ledger": 2, "questions": {}}',
        '{"ledger": 1, "questions": []}',
        '{"ledger": 1, "questions": {"x": {}}}',
        '{"ledger": 1, "questions": {}, "budget": "much"}',
        (
            '{"ledger": 1, "questions": {"x": {"column": "a", "mechanism": "m", "epsilon": "?", '
            '"answers": {}, "rounds": 1}}}'
        ),
        "[" * 100_000,
    ],
)
def test_a_damaged_ledger_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="this is not a respondent's ledger, or it is damaged"):
        answer(PLAN, TRUE, ledger=AnswerLedger(path))
    assert path.read_text(encoding="utf-8") == text


def test_an_answer_that_was_changed_in_the_file_does_not_leave(tmp_path: Path) -> None:
    ledger = AnswerLedger(tmp_path / "mine.json")
    answer(naive.plan_of(job=JOB), {"job": "a"}, ledger=ledger)
    document = json.loads(ledger.path.read_text())
    (told,) = document["questions"].values()
    told["answers"]["0"] = "my secret"
    ledger.path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="is not an answer that this plan's mechanism gives"):
        answer(naive.plan_of(job=JOB), {"job": "a"}, ledger=ledger)


def test_a_full_disk_gives_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = AnswerLedger(tmp_path / "mine.json")
    answer(PLAN, TRUE, ledger=ledger)
    before = ledger.path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        answer(PLAN, {**TRUE, "age": 99}, ledger=ledger)
    assert ledger.path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine.json.lock", "mine.json"]


def _answered(path: Path, queue: Any) -> None:
    queue.put(answer(PLAN, TRUE, ledger=AnswerLedger(path))["answers"]["age"])


def test_two_processes_draw_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    running = [context.Process(target=_answered, args=(tmp_path / "mine.json", queue)) for _ in range(2)]
    for process in running:
        process.start()
    found = {queue.get(timeout=60) for _ in running}
    for process in running:
        process.join(timeout=60)
    assert len(found) == 1
    assert AnswerLedger(tmp_path / "mine.json").spent()["questions"][0]["rounds"] == 2
