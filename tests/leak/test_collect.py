"""Canaries in answers: what a respondent says is heard nowhere but in the answer that the plan lets out."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path

import pytest

from privet.cli import main
from privet.collect import AnswerLedger, Plan, answer
from privet.errors import PrivetError

CANARY = "zqx" + "jkv"  # in two halves: a traceback quotes the lines of this file
NUMBER = "482" + "71"

PLAN = """
collect = 1
[columns.pay]
type = "number"
low = 0
high = 1000
mechanism = "laplace"
epsilon = 1
[columns.job]
type = "category"
values = ["cook", "nurse"]
mechanism = "k-randomised-response"
epsilon = 1
"""

BAD = {
    "unknown-value.csv": f"pay,job\n5,{CANARY}\n",
    "too-large.csv": f"pay,job\n{NUMBER},cook\n",
    "no-number.csv": f"pay,job\n{CANARY},cook\n",
    "too-many-cells.csv": f"pay,job\n5,cook,{CANARY}\n",
    "no-end.csv": f'pay,job\n5,"{CANARY}\n',
    "no-object.jsonl": f'["{CANARY}"]\n',
    "unknown-value.jsonl": json.dumps({"pay": int(NUMBER), "job": CANARY}) + "\n",
    "no-json.jsonl": f"{{{CANARY}\n",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["perturb", "reconstruct", "train"])
@pytest.mark.parametrize("json_", [False, True])
def test_no_complaint_says_an_answer(
    tmp_path: Path, name: str, command: str, json_: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "collect.toml").write_text(PLAN)
    (tmp_path / name).write_text(BAD[name])
    words = [
        "collect",
        command,
        str(tmp_path / "collect.toml"),
        str(tmp_path / name),
        "-o",
        str(tmp_path / "out"),
    ]
    words += ["--label", "job"] if command == "train" else []
    code = main([*words, *(["--json"] if json_ else [])])
    heard = "".join(capfd.readouterr())
    assert code == 2
    assert heard
    assert CANARY not in heard
    assert NUMBER not in heard
    assert not (tmp_path / "out").exists()


def test_columns_that_are_not_asked_leave_no_trace(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "collect.toml").write_text(PLAN)
    (tmp_path / "in.csv").write_text(f"name,pay,job\n{CANARY},5,cook\n" * 1 + f'"{CANARY},\n",7,nurse\n')
    words = ["collect", "perturb", str(tmp_path / "collect.toml"), str(tmp_path / "in.csv")]
    assert main([*words, "-o", str(tmp_path / "out.csv")]) == 0
    assert CANARY not in "".join(capfd.readouterr()) + (tmp_path / "out.csv").read_text()
    assert main(["collect", "init", str(tmp_path / "in.csv"), "-o", str(tmp_path / "draft.toml")]) == 0
    assert CANARY not in "".join(capfd.readouterr()) + (tmp_path / "draft.toml").read_text()


def test_errors_of_the_client_carry_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = tmp_path / "collect.toml"
    plan.write_text(PLAN)
    ledger = AnswerLedger(tmp_path / "mine.json")
    with caplog.at_level(logging.DEBUG):
        for bad in (
            {"pay": int(NUMBER), "job": CANARY},
            {"pay": CANARY, "job": NUMBER},
            {"pay": [CANARY], "job": {}},
        ):
            with pytest.raises(PrivetError) as caught:
                answer(Plan.load(plan), bad, ledger=ledger)
            heard = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
            assert CANARY not in heard
            assert NUMBER not in heard
    assert not ledger.path.exists()
