"""`privet joint`: what it says, and that it says nothing of the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.parties.hospitals import document, parts

from privet.cli import main


def contract(folder: Path, **changes: Any) -> Path:
    path = folder / "contract.toml"
    path.write_text(tomli_w.dumps(document(**changes)))
    return path


def test_show_says_what_each_would_learn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["joint", "show", str(contract(tmp_path, reveal="counts", sum="ring"))]) == 0
    said = capsys.readouterr().out
    assert "lkc-privacy (l = 2, k = 2, c = 1/2)" in said
    assert "A, which leads, also:" in said
    assert "the two neighbours of a party" in said


def test_show_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["joint", "show", str(contract(tmp_path)), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["digest"]) == 64
    assert found["parties"] == ["A", "B", "C"]


def test_rehearse_writes_the_joint_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "joint"
    files = [str(path) for path in parts(tmp_path)]
    assert (
        main(["joint", "rehearse", str(contract(tmp_path)), *files, "--pooled", "--json", "-o", str(out)])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == 11
    assert found["as_pooled"] is True
    assert found["bytes"] == sum(party["sent"] for party in found["parties"].values())
    assert all(promise["holds"] for promise in found["promises"])
    assert len((out / "data.csv").read_text().splitlines()) == 12
    assert found["folder"] == str(out)
    assert main(["joint", "rehearse", str(contract(tmp_path)), *files, "-o", str(out)]) == 2, (
        "it is there already"
    )


def test_a_wrong_contract_is_answered_with_every_complaint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = document(parties=("A", "B"))
    wrong["policy"]["algorithm"] = {"type": "optimal"}
    del wrong["public"]["Surgery"]
    wrong["reveals"] = "counts"
    path = tmp_path / "contract.toml"
    path.write_text(tomli_w.dumps(wrong))
    assert main(["joint", "show", str(path)]) == 2
    said = capsys.readouterr().err
    assert "did you mean reveal?" in said
    del wrong["reveals"]
    wrong["reveal"] = "counts"
    path.write_text(tomli_w.dumps(wrong))
    assert main(["joint", "show", str(path)]) == 2
    said = capsys.readouterr().err
    for part in ("parties: three or more", 'type = "top-down"', "public.Surgery: all that could occur"):
        assert part in said


@pytest.mark.parametrize(
    ("text", "said"),
    [("contract = 1", "policy: a table"), ("contract = ", "not a TOML file"), (None, "no such file")],
)
def test_what_is_not_a_contract(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "contract.toml"
    if text is not None:
        path.write_text(text)
    assert main(["joint", "show", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_no_value_of_the_data_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = parts(tmp_path)
    files[1].write_text(files[1].read_text() + "CANARY,M,[1-30),Y,Plastic\n")
    assert main(["joint", "rehearse", str(contract(tmp_path)), *map(str, files)]) == 2
    said = capsys.readouterr()
    assert "B: " in said.err
    assert "CANARY" not in said.err + said.out
