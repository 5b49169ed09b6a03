"""The questions of `init --ask`: what a hurried person types must not publish anybody."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
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


NUMBERED = 'name,"a,b",2,-id,id,a,b\n'


@pytest.fixture
def numbered(data: Path) -> str:
    rows = [
        f"Anna M{i} Muster,{'pq'[i % 2]},{20 + i % 40},k{i % 5},{i % 3},{i % 7},{'uv'[i % 2]}\n"
        for i in range(80)
    ]
    Path("numbered.csv").write_text(NUMBERED + "".join(rows))
    return "numbered.csv"


@pytest.mark.parametrize(
    ("word", "ways"),
    [
        ("-id", ['type "-id" for the column', 'type -"id" for taking off the column']),
        ("a, b", None),
        ("a,b", ['type "a,b" for', 'type "a" for', 'type "b" for']),
        ("4", ["type \"4\" for the column '4', number 3", "type \"-id\" for the column '-id', number 4"]),
        ("2", None),
    ],
)
def test_what_may_mean_two_columns_is_asked_again(word: str, ways: list[str] | None) -> None:
    """A column called 3 won over number 3 of the list, and `also: 3` read like a yes to the other."""
    places = {"a,b": 2, "4": 3, "-id": 4, "id": 5, "a": 6, "b": 7}
    if ways is None:
        assert named(word, places)
        return
    with pytest.raises(Exception, match="may mean") as unclear:
        named(word, places)
    assert all(way in str(unclear.value) for way in ways)


def test_a_column_that_is_called_a_number(
    numbered: str, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    code, roles = asked(numbered, ["2", "#2", '-"2"', "", ""], "--preset", "statistics-office-3")
    said = capsys.readouterr().out
    assert code == 0
    assert (
        "2 may mean 2 things: type \"2\" for the column '2', number 3; "
        "type \"a,b\" for the column 'a,b', number 2" in said
    )
    assert (roles["a,b"], roles["2"]) == ("identifier", "quasi")


def test_each_way_that_is_told_means_one_column() -> None:
    places = {"3": 1, "#3": 2, '"3"': 3, "'3'": 4, "-3": 5, "+3": 6, "3,4": 7, "4": 8}
    for word in ("3", "#3", '"3"', "'3'", "-3", "+3", "4", "#4"):
        try:
            named(word, places)
        except Exception as unclear:  # noqa: BLE001 - the error is asking's own
            for told in str(unclear).split("; "):
                way = told.partition("type ")[2].split(" for ")[0]
                if "[" not in way:
                    assert len(named(way, places)) == 1, (word, way)


def test_a_file_in_the_way_is_told_before_the_first_question(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("policy.toml").write_text("")
    assert main(["init", str(data), "--ask"]) == 2
    said = capsys.readouterr()
    assert "policy.toml: there is a file already; say --overwrite to replace it" in said.err
    assert "The columns" not in said.out


@pytest.mark.skipif(sys.platform == "win32", reason="no terminal of this kind")
@pytest.mark.parametrize("before", [[], [b"\n", b"\n", b"\n"], [b"half a na"]])
def test_ctrl_c_on_a_terminal_ends_the_questions_at_once(before: list[bytes], data: Path) -> None:
    """polars hears Ctrl-C too, and in such a way that a read went on until Enter."""
    code, said = _typed_and_stopped(["init", str(data), "--ask"], before)
    assert code == 130, said
    assert "nothing was written" in said
    assert not Path("policy.toml").exists()


def _typed_and_stopped(words: list[str], before: Sequence[bytes]) -> tuple[int | None, str]:
    """What a command that asks says on a terminal, and how it ends when Ctrl-C follows these keys."""
    import pty

    child, terminal = pty.fork()
    if not child:
        os.execv(sys.executable, [sys.executable, "-m", "privet.cli", *words])
    said = bytearray()

    def heard_until(mark: bytes, seconds: float) -> None:
        end = time.monotonic() + seconds
        while mark not in said and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 1 << 16)
                except OSError:
                    return
                if not piece:
                    return
                said.extend(piece)

    try:
        heard_until(b"takes one off: ", 60)
        for keys in before:
            os.write(terminal, keys)
            heard_until(b"never said", 1)
        os.write(terminal, b"\x03")
        heard_until(b"nothing was written", 60)
        for _ in range(600):  # on a busy machine Python takes its time to end
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                child = 0
                return os.waitstatus_to_exitcode(status), said.decode("utf-8", "replace")
            time.sleep(0.1)
        return None, said.decode("utf-8", "replace")
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(terminal)


def test_no_header_reaches_the_terminal_raw(
    data: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ESC ] 0 ; ... BEL` sets the title of the window, and may forge questions."""
    evil = "\x1b]0;evil\x07zip"
    Path("evil.csv").write_text(f"sex,age,{evil}\n" + "".join(f"F,{20 + i},5{i:04}\n" for i in range(80)))
    asked("evil.csv", ["nosuch", "-nosuch", f"{evil},{evil}", "x"])
    said = "".join(capsys.readouterr())
    assert "evil" in said
    assert "\x1b" not in said


def test_a_stdin_that_was_closed_answers_nothing(data: Path) -> None:
    words = f"{sys.executable} -m privet.cli init {data} --ask <&-"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, "nobody answers" in done.stderr) == (2, True), done
    assert not Path("policy.toml").exists()
