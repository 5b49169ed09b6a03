"""The questions of `init --ask`: what a hurried person types must not publish anybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pytest
from tests.policy.test_presets import few

from privet.cli import main
from privet.cli.asking import named
from privet.policy.values import Policy

Asked = Callable[..., tuple[int, dict[str, str]]]
HEADER = '"Name, Vorname",age,sex,diagnosis,unit\n'


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    few().write_csv(tmp_path / "people.csv")
    rows = [f'"Muster{i}, Anna",{20 + i % 40},{"fm"[i % 2]},flu{i % 3},mg\n' for i in range(80)]
    (tmp_path / "comma.csv").write_text(HEADER + "".join(rows))
    return Path("people.csv")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Run init --ask with these answers, and then the end of input; the roles in the policy."""

    def run(data: Path | str, answers: Sequence[str], *more: str) -> tuple[int, dict[str, str]]:
        waiting = iter(answers)

        def prompt(*_: object, **__: object) -> str:
            for answer in waiting:
                return answer
            raise click.Abort

        monkeypatch.setattr("typer.prompt", prompt)
        code = main(["init", str(data), "--ask", *more])
        policy = Path("policy.toml")
        roles = {a.name: a.role.value for a in Policy.load(policy).attributes} if policy.exists() else {}
        return code, roles

    return run


def test_naming_one_column_leaves_the_others_identifiers(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer replaced the list: whoever named the one that was forgotten published all names."""
    code, roles = asked(data, ["state", "", "", "ema-0070"])
    said = capsys.readouterr().out
    assert code == 0
    assert roles["state"] == roles["name"] == "identifier"
    assert roles["diagnosis"] == "sensitive"
    assert "These columns name a person and are left out: name" in said
    assert "also: state" in said


def test_the_table_at_the_end_shows_what_was_decided(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, ["-name, state", "", ""], "--preset", "ema-0070")[1]["name"] == "quasi"
    said = capsys.readouterr().out
    assert "taken off: name is not left out" in said
    table = {line.split()[0]: line.split()[1] for line in said.splitlines() if len(line.split()) > 1}
    assert (table["name"], table["state"]) == ("quasi", "identifier")
    assert "identifier?" not in said


def test_what_is_settled_is_not_freed_by_naming_it_later(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    code, roles = asked(data, ["", "name", "", "diagnosis", "", "ema-0070"])
    assert code == 0
    assert (roles["name"], roles["diagnosis"]) == ("identifier", "sensitive")
    assert "'name' is settled (identifier)" in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["-Name, Vorname", '-"Name, Vorname"', "-1", "-'Name, Vorname', age"])
def test_a_header_with_a_comma_can_be_typed(answer: str, data: Path, asked: Asked) -> None:
    code, roles = asked("comma.csv", [answer, "", "", ""], "--preset", "statistics-office-3")
    assert (code, roles["Name, Vorname"]) == (0, "quasi")


def test_what_tells_nothing_is_asked_about_too(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    """One doctor, one ward: a column of one value left as it was, and nobody was asked."""
    code, roles = asked("comma.csv", ["", "", "-age", "-unit", "statistics-office-3"])
    assert code == 0
    assert (roles["unit"], roles["age"]) == ("identifier", "other")
    said = capsys.readouterr().out
    assert "leave as they are: age, unit" in said
    assert "taken off: unit is left out" in said


def test_naming_at_the_last_question_frees_no_column(data: Path, asked: Asked) -> None:
    code, roles = asked("comma.csv", ["", "", "", "sex", "", "statistics-office-3"])
    assert (code, roles["sex"]) == (0, "quasi")


@pytest.mark.parametrize(
    ("before", "wrong", "after", "said"),
    [
        ([], "stat", ["", "", ""], "did you mean state?"),
        (["", "", ""], "statistic-office-5", [], "; did you mean "),
        (["", "", ""], "", [], "a promise that somebody has written down before"),
        ([""], "-", ["", ""], "which one?"),
        ([""], "-state", ["", ""], "is none of these"),
    ],
)
def test_a_wrong_answer_is_asked_again(  # noqa: PLR0917 - cases and fixtures
    before: list[str],
    wrong: str,
    after: list[str],
    said: str,
    data: Path,
    asked: Asked,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(data, [*before, wrong, *after, "ema-0070"])[0] == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("answers", [["nobody"] * 3, [""] * 6, [], ["", ""], ["", "", "", "k"]])
def test_three_wrong_answers_or_none_write_nothing(
    answers: list[str], data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, answers) == (2, {})
    assert "nothing was written" in capsys.readouterr().err


def test_a_preset_that_is_none_is_told_before_the_questions(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, [], "--preset", "ema-70")[0] == 2
    assert "did you mean ema-0070?" in capsys.readouterr().err


def test_asking_about_tokens(data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.csv").write_text(
        "age,x\n" + "".join(f"{20 + i % 9},{i % 2}\n" for i in range(60)) + "9999,1\n9999,0\n"
    )
    assert asked("b.csv", ["", "", "", "perhaps", "y"], "--preset", "statistics-office-3")[0] == 0
    assert Policy.load("policy.toml").form.missing == {"age": ("9999",)}
    assert "answer y or n" in capsys.readouterr().out


def test_a_column_may_be_called_as_an_answer_is_written() -> None:
    places = {"-x": 1, "2": 2, "a": 3}
    assert named("-x, --x, 2, 3, -2", places) == [
        ("-x", False),
        ("-x", True),
        ("2", False),
        ("a", False),
        ("2", True),
    ]
