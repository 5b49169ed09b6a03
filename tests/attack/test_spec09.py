"""Spec 09, section 5.5: the attack demonstrations, with the commands that carry them out.

Linkage of tables 20.1 and 20.2 before and after, homogeneity of table 20.3, skewness of 1 in 100, and what
a few known ratings of a sparse table tell.
"""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import privet as pv
from privet.assess import link
from privet.cli import main
from privet.errors import UnsatisfiableError

PATIENTS = """\
row,SSN,Age,ZIP,Disease
1,012-345-6789,24,10598,HIV
2,823-627-9231,37,90210,Hepatitis C
3,987-654-3210,26,10547,HIV
4,382-827-8264,38,90345,Hepatitis C
5,847-872-7276,36,89119,Diabetes
6,422-061-0089,25,02139,HIV
"""
VOTERS = """\
Name,Age,ZIP
Mary A.,38,90345
John S.,36,89119
Ann L.,31,02139
Jack M.,57,10562
Joy M.,26,10547
Victor B.,46,90345
Peter P.,25,02139
Diana X.,24,10598
William W.,37,90210
Sue G.,26,10547
"""
POLICY = """\
policy = 1
rows = "persons"
order = "kept"                                # so that the test can follow the rows
[attributes]
SSN = "identifier"
Age = { role = "quasi", hierarchy = { type = "csv", path = "age.csv" } }
ZIP = { role = "quasi", hierarchy = { type = "csv", path = "zip.csv" } }
Disease = "sensitive"
[[models]]
type = "k-anonymity"
k = 3
[algorithm]
type = "samarati"
"""
AGES = "".join(
    f"{age};{ten};{twenty};any\n"
    for ten, twenty, ages in (
        ("(20,30]", "(20,40]", (24, 25, 26)),
        ("(30,40]", "(20,40]", (31, 36, 37, 38)),
        ("(40,50]", "(40,60]", (46,)),
        ("(50,60]", "(40,60]", (57,)),
    )
    for age in ages
)
ZIPS = """\
10547;NY;N.E. US;ALL
10562;NY;N.E. US;ALL
10598;NY;N.E. US;ALL
02139;MA;N.E. US;ALL
90210;CA;W. US;ALL
90345;CA;W. US;ALL
89119;NV;W. US;ALL
"""


@pytest.fixture(autouse=True)
def _tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"20.1.csv": PATIENTS, "20.2.csv": VOTERS, "k3.toml": POLICY, "age.csv": AGES, "zip.csv": ZIPS}
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")


def told(command: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(shlex.split(f"{command} --json")) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_linkage_before(capsys: pytest.CaptureFixture[str]) -> None:
    """4.1: seven of ten voters match one row; row 3 is Joy's or Sue's, every other row one person's."""
    found = told("link 20.2.csv 20.1.csv k3.toml", capsys)
    assert (found["people"], found["matched"], found["identified"]) == (10, 7, 7)
    assert found["found_out"] == {"Disease": 7}
    assert (found["records_with_one_person"], found["records_with_nobody"]) == (5, 0)
    whole = link("20.2.csv", "20.1.csv", pv.Policy.load("k3.toml"))
    names = [str(name) for name in whole.people["Name"]]
    of_row = {row: {names[at] for at in range(10) if row in whole.found.records_of(at)} for row in range(6)}
    assert of_row == {
        0: {"Diana X."},
        1: {"William W."},
        2: {"Joy M.", "Sue G."},
        3: {"Mary A."},
        4: {"John S."},
        5: {"Peter P."},
    }


def test_linkage_after_and_what_a_homogeneous_class_still_tells(capsys: pytest.CaptureFixture[str]) -> None:
    """4.3: nobody is identified in table 20.3, and yet everybody in class 1, 3, 6 has HIV."""
    assert main(shlex.split("publish 20.1.csv k3.toml -o out")) == 0
    capsys.readouterr()
    found = told("link 20.2.csv out", capsys)
    assert (found["matched"], found["identified"]) == (7, 0)
    assert found["candidates"] == {"fewest": 3, "median": 3, "most": 3}
    assert found["found_out"] == {"Disease": 4}  # Diana, Joy, Sue and Peter
    whole = link("20.2.csv", "out")
    rows = {
        str(name): {row + 1 for row in whole.found.records_of(at)}
        for at, name in enumerate(whole.people["Name"])
    }
    assert {name for name, match in rows.items() if match == {1, 3, 6}} == {
        "Diana X.",
        "Joy M.",
        "Sue G.",
        "Peter P.",
    }
    assert {name for name, match in rows.items() if match == {2, 4, 5}} == {
        "Mary A.",
        "John S.",
        "William W.",
    }
    assert {name for name, match in rows.items() if not match} == {"Ann L.", "Jack M.", "Victor B."}
    # A promise about the sensitive values says so before anything leaves.
    diverse = POLICY + '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["Disease"]\n'
    made = pv.publish("20.1.csv", pv.Policy.loads(diverse)).to_polars()
    assert made.get_column("Age").n_unique() == made.get_column("ZIP").n_unique() == 1


def test_skewness_is_seen_by_closeness_alone() -> None:
    """4.8: one in a hundred has it, in one class every other; that class is as diverse as can be."""
    frame = pl.DataFrame(
        {"town": ["x", "x", *["y"] * 198], "disease": ["HIV", "normal", "HIV", *["normal"] * 197]}
    )
    head = 'policy = 1\nrows = "persons"\n[attributes]\ntown = "quasi"\ndisease = "sensitive"\n[[models]]\n'
    diverse = pv.Policy.loads(head + 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["disease"]\n')
    assert all(verdict.holds for _, verdict in pv.check(frame, diverse))
    close = pv.Policy.loads(
        head + 'type = "t-closeness"\nt = "2/5"\nsensitive = ["disease"]\ndistance = "equal"\n'
    )
    ((_, verdict),) = pv.check(frame, close)
    assert not verdict.holds
    assert verdict.achieved["t"] == pytest.approx(0.49)


def test_a_few_known_ratings_find_a_person_in_a_sparse_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The Netflix lesson: the share of unique records rises towards 1 with the number of known ratings."""
    chance = random.Random(20)
    films = [f"film {at:03d}" for at in range(300)]
    weights = [1 / (at + 3) for at in range(300)]
    rated = [
        sorted(
            {f"{film}: {chance.randint(1, 5)}" for film in sorted(set(chance.choices(films, weights, k=40)))}
        )
        for _ in range(400)
    ]
    Path("ratings.jsonl").write_text(
        "".join(json.dumps({"r": one}) + "\n" for one in rated), encoding="utf-8"
    )
    Path("r.toml").write_text(
        'policy = 1\nkind = "transactions"\n[transactions]\nform = "column"\nset = "r"\n'
        '[[models]]\ntype = "km-anonymity"\nm = 2\nk = 5\n',
        encoding="utf-8",
    )
    found = told("risk ratings.jsonl r.toml", capsys)
    alone = [one["alone"] / one["trials"] for one in found["linkage"]]
    assert alone == sorted(alone)
    assert alone[0] < 0.1
    assert alone[3] > 0.6
    assert alone[-1] > 0.95
    assert main(shlex.split("publish ratings.jsonl r.toml -o out")) == 0
    capsys.readouterr()
    after = told("risk out/data.jsonl r.toml", capsys)
    assert [one["alone"] for one in after["linkage"]][:2] == [0, 0]


def test_more_than_a_table_has_cannot_be_promised() -> None:
    """Table 20.1 has six rows, of which three have HIV: no class of it has an entropy of more."""
    policy = POLICY.replace('type = "k-anonymity"\nk = 3', 'type = "k-anonymity"\nk = 7')
    with pytest.raises(UnsatisfiableError):
        pv.publish("20.1.csv", pv.Policy.loads(policy))
