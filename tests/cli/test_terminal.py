"""Colours, progress and raw values on a terminal, and nowhere else; Ctrl-C; a quick start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.forked import Forked
from tests.tries import seldom

from privet.cli import main
from privet.cli.app import CHAPTERS
from privet.cli.screen import share, shown, table

Run: TypeAlias = Callable[..., Any]  # the fixtures that run a command

COMMANDS = (
    "demo", "init", "check", "plan", "publish", "verify", "risk", "compare", "explain", "explore",
    "attack", "sign", "verifier", "link", "sequences", "sample", "list", "completion", "studio", "diff",
)  # fmt: skip
NOUNS = (
    "ledger",
    "collect",
    "rules",
    "documents",
    "sources",
    "audit",
    "key",
    "joint",
    "node",
)  # with commands of their own


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches(privet: Run, name: str) -> None:
    ran = privet(name, "--help")
    assert ran.code == 0
    assert "Example:\n    privet " in ran.out
    assert "Next: " in ran.out
    assert "--json" in ran.out


def test_help_lists_the_commands_in_the_order_of_the_work(privet: Run) -> None:
    ran = privet("--help")
    assert ran.code == 0
    listed = [
        line.split()[0] for line in ran.out.partition("and exit.\n")[2].splitlines() if line.startswith("  ")
    ]
    assert listed == [name for _, names in CHAPTERS for name in names]  # so every command is in a chapter
    assert sorted(listed) == sorted((*COMMANDS, *NOUNS))
    assert all(f"\n{title}:\n" in ran.out for title, _ in CHAPTERS)
    assert "130" in ran.out
    nothing = privet()
    assert nothing.code == 2
    assert "The road of a release:" in nothing.err


def test_help_builds_no_command_and_a_command_builds_no_other() -> None:
    program = (
        "import sys; from privet.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(*sorted(m for m in sys.modules if m.startswith('privet.cli.')))"
    )

    def loaded(*args: str) -> set[str]:
        run = [sys.executable, "-c", program, *args]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        return {name.removeprefix("privet.cli.") for name in done.stdout.splitlines()[-1].split()}

    helped = loaded("--help")
    assert not helped & {"publish", "check", "rules", "collect", "audit", "ledger"}
    assert loaded("ledger", "--help") == helped
    assert "publish" in loaded("publish", "--help")
    assert not loaded("publish", "--help") & {"rules", "collect", "audit", "ledger"}


def test_help_loads_neither_numpy_nor_polars_nor_rich() -> None:
    program = (
        "import sys; from privet.cli import main\n"
        "assert main(['publish', '--help']) == 0\n"
        "heavy = {'numpy', 'polars', 'numba', 'rich', 'privet.core'} & set(sys.modules)\n"
        "sys.exit(f'{heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_colours_in_a_pipe_and_colours_on_a_terminal(process: Run, terminal: Run, place: Path) -> None:
    args = ("check", "patients.csv", "hospital.toml")
    piped = process(*args)
    assert "\x1b" not in piped.out + piped.err
    assert "\x1b[31;1mBROKEN" in terminal(*args).out
    assert "\x1b" not in terminal(*args, NO_COLOR="1").out
    assert "\x1b" not in terminal(*args, TERM="dumb").out


def test_progress_on_a_terminal_only(process: Run, terminal: Run, place: Path) -> None:
    args = ("publish", "patients.csv", "hospital.toml", "--overwrite", "-o", "out")
    assert "searching" in terminal(*args).out or "reading" in terminal(*args).out
    assert "searching" not in process(*args).err
    assert "reading" not in process(*args).err
    quiet = terminal(*args, "--json").out
    assert quiet.startswith("{")
    assert "reading" not in quiet


def test_uncovered_values_are_shown_on_a_terminal_when_asked(
    privet: Run, terminal: Run, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text("job,age\n" + "cook,31\nCANARY\x1b[2J,x\n" * 3)
    policy = tmp_path / "p.toml"
    policy.write_text(
        "policy = 1\n[attributes]\n"
        'job = { role = "quasi", hierarchy = { type = "tree", tree = { A = ["cook"] } } }\n'
        'age = { role = "quasi", hierarchy = { type = "intervals" } }\n'
        '[[models]]\ntype = "k-anonymity"\nk = 2\n'
    )
    args = ("publish", tmp_path / "data.csv", policy, "-o", tmp_path / "out")
    assert "CANARY" not in terminal(*args).out
    ran = terminal(*args, "--show-values")
    assert ran.code == 2
    assert "job: 1 values have no place:\n  CANARY\\x1b[2J\n" in ran.out
    assert "age: 1 values have no place:\n  x\n" in ran.out
    for more in ((), ("--json",)):
        refused = privet(*args, "--show-values", *more)
        assert refused.code == 2
        assert "terminal only" in refused.out + refused.err
        assert "CANARY" not in refused.out + refused.err
    assert not (tmp_path / "out").exists()


def test_risk_and_explain_show_values_only_on_a_terminal(privet: Run, terminal: Run, place: Path) -> None:
    privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    for args in (("risk", "patients.csv", "hospital.toml"), ("explain", "out")):
        refused = privet(*args, "--show-values")
        assert refused.code == 2
        assert "terminal only" in refused.err
        assert terminal(*args, "--show-values").code == 0
    assert "groups that break it:" in terminal("risk", "patients.csv", "hospital.toml", "--show-values").out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_work_leaves_nothing(
    place: Path, tmp_path_factory: pytest.TempPathFactory, number: signal.Signals, code: int
) -> None:
    assert main(["sample", "census", "-o", "big.csv", "--rows", "20000", "--policy", "census.toml"]) == 0
    before = sorted(place.iterdir())
    said = tmp_path_factory.mktemp("said") / "said"
    words = ["publish", "big.csv", "census.toml", "-o", "out", "--engine", "plain"]
    with said.open("wb") as file:
        running = Forked(words, stdout=file.fileno(), stderr=file.fileno())
    while not list(place.glob(".out.*")):  # its work has begun
        assert running.poll() is None, "the work was too short to be interrupted"
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(running.pid, number)
    assert running.wait() == code
    assert said.read_text() == "error: stopped; nothing was written\n"
    assert sorted(place.iterdir()) == before


def test_an_interrupted_write_leaves_nothing(
    privet: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    before = sorted(place.iterdir())
    monkeypatch.setattr("privet.release.Release._write_private", interrupted)
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    assert ran.code == 130
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize(
    "words", seldom(["verify --help", "--version", "completion bash", "list"], ["verify --help", "--version"])
)
def test_a_reader_that_has_seen_enough_hears_no_complaint(
    command: Callable[..., list[str]], words: str
) -> None:
    args = command(*words.split())
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 141


def test_text_from_outside_stays_on_its_line() -> None:
    assert shown("a\nb\x1b[31m\u202e") == "a\\nb\\x1b[31m\\u202e"
    assert shown("Größe 年") == "Größe 年"


def test_shares_are_never_rounded_to_nothing_or_everything() -> None:
    assert [share(value) for value in (0, 0.00001, 0.2, 0.99999, 1)] == [
        "0.0 %",
        "below 0.01 %",
        "20.0 %",
        "above 99.99 %",
        "100.0 %",
    ]


def test_numbers_stand_right_in_tables() -> None:
    assert table([("a", "1,000"), ("bb", "7")], head=("x", "n")) == [
        "  x       n",
        "  a   1,000",
        "  bb      7",
    ]
    assert table([("a", "-"), ("b", "12.0 %"), ("c", "below 0.01 %"), ("d", "-3")]) == [
        "  a             -",
        "  b        12.0 %",
        "  c  below 0.01 %",
        "  d            -3",
    ]
    assert table([("a", "-x"), ("b", "100")]) == ["  a  -x", "  b  100"]


def completed(command: Callable[..., list[str]], *words: str) -> list[str]:
    """What Tab offers after these words, the last of them begun."""
    asked = {
        "_PRIVET_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("privet", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(command(), env=os.environ | asked, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_tab_key_finishes_commands_options_files_and_names(command: Callable[..., list[str]]) -> None:
    assert completed(command, "pu") == ["plain,publish"]
    assert completed(command, "ledger", "o") == ["plain,open"]
    assert completed(command, "publish", "--overw") == ["plain,--overwrite"]
    assert completed(command, "publish", "pat") == ["file,pat"]
    assert completed(command, "sample", "trips-c") == ["plain,trips-city"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_every_shell(privet: Run, shell: str) -> None:
    ran = privet("completion", shell)
    assert ran.code == 0
    assert f"_PRIVET_COMPLETE={shell}_complete" in ran.out
    assert privet("completion", shell, "--json").answer["script"].strip() == ran.out.strip()


def test_another_shell_is_refused(privet: Run) -> None:
    ran = privet("completion", "tcsh")
    assert (ran.code, ran.problems) == (2, ["error: the shell is one of bash, zsh, fish, not 'tcsh'"])


def test_a_slip_of_the_pen_is_asked_about_once(privet: Run) -> None:
    assert privet("publsh").err.count("Did you mean") == 1


def test_names_with_blanks_are_quoted_in_what_comes_next(privet: Run, place: Path) -> None:
    (place / "patients.csv").rename(place / "my patients.csv")
    ran = privet("check", "my patients.csv", "hospital.toml")
    assert "privet publish 'my patients.csv' hospital.toml -o out" in ran.out
