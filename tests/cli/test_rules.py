"""`privet rules` and sets on the command line: mine, hide, downgrade, bad input, nothing written."""

from __future__ import annotations

import csv
import ctypes
import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.tries import seldom

from privet.cli import main
from privet.samples.baskets import records


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "baskets.txt"
    path.write_text("".join(",".join(one) + "\n" for one in records(400, 0)), encoding="utf-8")
    return path


def said(arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    import shlex

    ended = main(shlex.split(arguments))
    shown = capsys.readouterr()
    return ended, shown.out, shown.err


def test_rules_of_raw_data_are_counted_and_not_shown(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended, out, _ = said("rules mine baskets.txt --support 2% --confidence 1/2", capsys)
    assert ended == 0
    assert "rules" in out
    assert "=>" not in out
    assert "beer" not in out
    ended, out, _ = said("rules mine baskets.txt --support 2% --confidence 1/2 -o rules.csv --json", capsys)
    rows = list(csv.DictReader(Path("rules.csv").read_text(encoding="utf-8").splitlines()))
    assert json.loads(out)["rules"] == len(rows)
    assert all(float(row["confidence"]) >= 0.5 and int(row["support"]) >= 8 for row in rows)


@pytest.mark.parametrize(
    "method", seldom(["border", "items", "exact", "transactions"], ["exact", "transactions"])
)
def test_hidden_and_verified(method: str, lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = 'rules hide baskets.txt --rule "beer => crisps" --support 8 --confidence 1/2 -o out'
    assert said(f"{ask} --method {method}", capsys)[0] == 0
    assert said("verify out", capsys)[0] == 0
    ended, out, _ = said("rules mine out --support 8 --confidence 1/2 --json", capsys)
    assert ended == 0
    assert ["beer", "crisps"] not in [row[:2] for row in json.loads(out)["listed"]]
    assert said("explain out", capsys)[0] == 0
    assert said("compare baskets.txt out", capsys)[0] == 0


def test_itemsets_are_hidden_from_who_mines_with_the_confidence_that_was_said(
    lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for share in ("1/4", "1"):
        mined = json.loads(said(f"rules mine baskets.txt --support 8 --confidence {share} --json", capsys)[1])
        ask = f'rules hide baskets.txt --rule "beer, crisps" --support 8 --confidence {share} --json'
        ended, out, _ = said(f"{ask} -o out --overwrite", capsys)
        assert ended == 0
        counted = json.loads(out)["sets"]
        assert Fraction(str(counted["mined"]["confidence"])) == Fraction(share)
        assert counted["effects"]["visible"] == mined["rules"]
        assert said("verify out", capsys)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ('hide baskets.txt --rule "beer => z" --support 8 -o out', "the data has no item 'z'"),
        ('hide baskets.txt --rule "beer => crisps" --support 999999999999999999999 -o out', "is at most"),
        ('hide baskets.txt --rule "a => b => c" --support 8 -o out', "a rule has one =>"),
        ('hide baskets.txt --rule "=> b" --support 8 -o out', "a rule is written as"),
        ('hide baskets.txt --rule "beer" --support 0 -o out', "support"),
        ('hide baskets.txt --rule "beer" --support few -o out', "--support"),
        ('hide baskets.txt --rule "beer" -o out', "--support: say from how many"),
        ('hide baskets.txt --rule "beer => wine" --support 8 --confidence 2 -o out', "confidence"),
        (
            'hide baskets.txt --rule "beer" --support 8 --method magic -o out',
            "--method: it is one of border, items",
        ),
        ('hide baskets.txt --rule "beer" --support 8 --by luck -o out', "--by: it is one of support, confi"),
        ('hide baskets.txt --rule "beer" --support ٣ -o out', "--support: is an exact number such as"),
        ('hide baskets.txt --rule "beer" --support nan -o out', "--support: is an exact number such as"),
        ('hide gone.txt --rule "beer" --support 8 -o out', "no such file"),
        ("mine baskets.txt --support 2 --set items", "items"),
        ("downgrade baskets.txt --class none --at-most 1/20 -o out", "baskets.txt: line 2 has"),
    ],
)
def test_bad_input_writes_nothing(
    arguments: str, complaint: str, lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, _, err = said(f"rules {arguments}", capsys)
    assert ended == 2
    assert complaint in err
    assert sorted(path.name for path in Path().iterdir()) == ["baskets.txt"]


def test_downgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{at % 2},{at % 3},{'yes' if at % 2 else 'no'}" for at in range(200)]
    Path("t.csv").write_text("a,b,secret\n" + "\n".join(rows) + "\n", encoding="utf-8")
    ended, out, _ = said("rules downgrade t.csv --class secret --at-most 1/10 -o less.csv --json", capsys)
    found = json.loads(out)
    assert ended == 0
    assert found["accuracy_before"] == 1
    assert found["accuracy_after"] <= found["majority"] + 0.1
    assert Path("less.csv").read_text(encoding="utf-8").count("*") == found["suppressed_cells"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,b\nc\na,b,c\n", {"form": "baskets", "separator": ","}),
        ("1 2 3\n4\n", {"form": "baskets", "separator": " "}),
        ("customer,items\n1,a;b\n2,c;d\n", {"form": "column", "set": "items", "separator": ";"}),
        ("visitor,page\n1,home\n1,shop\n", {"form": "items", "person": "visitor", "item": "page"}),
    ],
)
def test_init_drafts_sets_and_promises_nothing(
    content: str,
    found: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("raw.csv").write_text(content, encoding="utf-8")
    ended, out, _ = said("init raw.csv --kind transactions -o p.toml --json", capsys)
    assert ended == 0
    assert json.loads(out)["transactions"] == found
    assert said("publish raw.csv p.toml -o out", capsys)[0] == 2
    with Path("p.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[models]]\ntype = "km-anonymity"\nm = 1\nk = 1\n')
    assert said("publish raw.csv p.toml -o out", capsys)[0] == 0


def test_risk_of_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said("sample baskets -o b.csv --rows 300 --policy p.toml", capsys)[0] == 0
    ended, out, _ = said("risk b.csv p.toml", capsys)
    assert ended == 0
    assert "BROKEN  km-anonymity (m = 2, k = 5)" in out
    found = json.loads(said("risk b.csv p.toml --json", capsys)[1])
    alone = [one["alone"] for one in found["linkage"]]
    assert alone[-1] > alone[0]  # the more is known, the more are found: the Netflix lesson
    assert said("check b.csv p.toml", capsys)[0] == 1
    assert said("publish b.csv p.toml -o out", capsys)[0] == 0
    assert json.loads(said("compare b.csv out --json", capsys)[1])["levels"]["after"][0][-1]["rare"] == 0


def test_a_solver_that_talks_does_not_stand_in_the_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """HiGHS writes a line of its own to standard output on this one, past Python."""
    data = tmp_path / "baskets.txt"
    data.write_text("a b d\nb\nc d\nc d\na b c d\n", encoding="utf-8")
    asked = ["--separator", " ", "--rule", "a => b, d", "--support", "2", "--confidence", "3/5"]
    out = str(tmp_path / "out")
    assert main(["rules", "hide", str(data), *asked, "--method", "exact", "-o", out, "--json"]) == 0
    ctypes.CDLL(None).fflush(None)
    assert json.loads(capfd.readouterr().out)["folder"] == out
