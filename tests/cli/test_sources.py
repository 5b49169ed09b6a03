"""`privet sources`: from files to a verdict, without a name or a value on the way out."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

Run: TypeAlias = Callable[..., Any]

REGISTER = "name,sex,age\nAlan,M,23\nBob,M,24\nClark,M,25\nDonald,M,26\nEllen,F,27\nFen,F,28\nGarcia,F,28\n"
BASE = (
    "name,condition\nAlan,Heart Disease\nBob,SARS\nClark,Viral Infection\nDonald,SARS\n"
    "Ellen,Viral Infection\nFen,SARS\nGarcia,Flu\n"
)
SOURCES = """\
sources = 1
gamma = "1/2"
sensitive = "condition"

[register]
path = "register.csv"
key = "name"

[[views]]
name = "hospital"
where = ["sex = M"]
values = ["Heart Disease", "SARS", "SARS", "Viral Infection"]

[[views]]
name = "insurer"
where = ["age >= 26", "age <= 28"]
path = "insurer.csv"

[base]
path = "base.csv"
"""
SECRET = ("Donald", "Garcia", "SARS", "Viral", "Flu")


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("register.csv", REGISTER),
        ("base.csv", BASE),
        ("insurer.csv", "condition\nFlu\nSARS\nSARS\nViral Infection\n"),
        ("sources.toml", SOURCES),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_views_are_too_much_together(privet: Run, two: Path) -> None:
    ran = privet("sources", "check", "sources.toml")
    assert ran.code == 1
    assert "possible tables: 45" in ran.out
    assert "4/5" in ran.out
    assert "1 person has a chance above gamma" in ran.out
    assert not [word for word in SECRET if word in ran.out + ran.err]
    found = privet("sources", "check", "sources.toml", "--json").answer
    assert (found["decision"], found["instances"], found["worst"], found["exposed"]) == (
        "not private",
        45,
        "4/5",
        1,
    )
    assert not [word for word in SECRET if word in json.dumps(found)]


def test_a_larger_gamma_allows_it(privet: Run, two: Path) -> None:
    ran = privet("sources", "check", "sources.toml", "--gamma", "4/5", "--json")
    assert ran.code == 0
    assert ran.answer["holds"]


def test_views_are_proposed_and_mend_it(privet: Run, two: Path) -> None:
    ran = privet("sources", "restore", "sources.toml", "-o", "more.toml")
    assert ran.code == 0
    assert "45 before, 8 after" in ran.out
    assert not [word for word in SECRET if word in ran.out + ran.err]
    more = (two / "more.toml").read_text(encoding="utf-8")
    assert len(tomllib.loads(more)["views"]) == 2
    (two / "both.toml").write_text(SOURCES + more, encoding="utf-8")
    assert privet("sources", "check", "both.toml").code == 0
    again = privet("sources", "restore", "both.toml")
    assert again.code == 0
    assert "nothing is needed" in again.out
    assert privet("sources", "restore", "sources.toml", "-o", "more.toml").code == 2  # is there already


def test_not_found_is_exit_code_one(privet: Run, two: Path) -> None:
    ran = privet("sources", "restore", "sources.toml", "--most", "1", "--json")
    assert ran.code == 1
    assert (ran.answer["restored"], ran.answer["complete"], ran.answer["views"]) == (False, True, [])


def test_names_are_for_the_stewards_terminal(privet: Run, terminal: Run, two: Path) -> None:
    assert privet("sources", "check", "sources.toml", "--show-values").code == 2
    seen = terminal("sources", "check", "sources.toml", "--show-values")
    assert "Donald: SARS, chance 4/5" in seen.out
    seen = terminal("sources", "restore", "sources.toml", "--show-values")
    assert "age >= 26 and age <= 27" in seen.out


def test_people_may_be_named(privet: Run, two: Path) -> None:
    extra = '\n[[views]]\npeople = ["Bob", "Donald"]\nvalues = ["SARS", "SARS"]\n'
    (two / "more.toml").write_text(SOURCES + extra, encoding="utf-8")
    found = privet("sources", "check", "more.toml", "--json").answer
    assert (found["worst"], found["views"]) == ("1", 3)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("sources = 1", "sources = 2", "the first line must be"),
        ('"1/2"', "0.5", "in quotes, so that it is exact"),
        ('"1/2"', '"3/2"', "gamma is an exact fraction"),
        ("sex = M", "height > 3", "one of sex, age"),
        ("sex = M", "sex is M", "a condition is an attribute"),
        ('"SARS", "SARS"', '"SARS"', "selects 4 people of the register, but it has 3 values"),
        ('"insurer.csv"', '"none.csv"', "no such file"),
        ('key = "name"', 'key = "nam"', "nam"),
        ("[[views]]\nname", "[[views]]\nnames = 1\nname", "unknown key"),
        ('"Heart Disease"', '"Asthma"', "contradict"),
        ('sensitive = "condition"', "", "sensitive: names the column"),
        ("[base]", "[basis]", "did you mean base"),
        ('path = "register.csv"', 'path = "register.csv"\nviews = "x"', "register: views: unknown key"),
        ('key = "name"', "key = 1", "register: key: names a column"),
        ('where = ["sex = M"]', 'where = "sex = M"', "where: is a list"),
        ('where = ["sex = M"]', 'where = ["age > 99"]', "selects 0 people"),
        ('where = ["sex = M"]', 'people = ["Zoe"]', "1 of 1 people of a view are not in the register"),
        ('"1/2"', '"1"', "from 0 on and below 1, not 1"),
        ('"1/2"', '"-1/2"', "from 0 on and below 1, not -1/2"),
        ('gamma = "1/2"', "", "gamma: is missing"),
    ],
)
def test_wrong_files_are_refused_with_a_reason(
    privet: Run, two: Path, old: str, new: str, complaint: str
) -> None:
    assert old in SOURCES
    text = SOURCES.replace(old, new, 1)
    if new == '"Asthma"':  # makes the two views disagree about Donald
        text = text.replace('"SARS", "SARS", "Viral Infection"', '"Asthma", "Asthma", "Asthma"', 1)
    (two / "sources.toml").write_text(text, encoding="utf-8")
    ran = privet("sources", "check", "sources.toml")
    assert ran.code == 2
    assert complaint in ran.err
    assert not [word for word in SECRET if word in ran.err]
    ran = privet("sources", "restore", "sources.toml", "-o", "more.toml")
    assert ran.code == 2
    assert not (two / "more.toml").exists()


def test_an_empty_register_is_refused(privet: Run, two: Path) -> None:
    (two / "register.csv").write_text("name,sex,age\n", encoding="utf-8")
    ran = privet("sources", "check", "sources.toml")
    assert ran.code == 2
    assert "register: " in ran.err
    assert "not one record" in ran.err


def test_who_is_certain_cannot_be_helped_and_that_is_said(privet: Run, two: Path) -> None:
    alone = '[[views]]\npeople = ["Donald"]\nvalues = ["SARS"]\n\n[base]'
    (two / "sources.toml").write_text(SOURCES.replace("[base]", alone), encoding="utf-8")
    ran = privet("sources", "restore", "sources.toml", "-o", "more.toml")
    assert ran.code == 1
    assert "not possible: 1 person has a value that is certain" in ran.out
    assert not [word for word in SECRET if word in ran.out]
    assert not (two / "more.toml").exists()
    assert privet("sources", "restore", "sources.toml", "--json").answer["certain"] == 1


def test_what_is_undecided_names_nobody(terminal: Run, two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    many = "".join(f"P{at},{'MF'[at % 2]},{20 + at % 40}\n" for at in range(400))
    (two / "register.csv").write_text("name,sex,age\n" + many, encoding="utf-8")
    lines = ["sources = 1", 'gamma = "1/2"', 'sensitive = "condition"', "[register]", 'path = "register.csv"']
    for low in range(20, 50, 3):
        people = [at for at in range(400) if low <= 20 + at % 40 <= low + 12]
        values = [f'"{"abcdefg"[at * 5 % 7]}"' for at in people]
        lines += [
            "[[views]]",
            f'where = ["age >= {low}", "age <= {low + 12}"]',
            f"values = [{', '.join(values)}]",
        ]
    (two / "sources.toml").write_text("\n".join(lines), encoding="utf-8")
    ran = terminal("sources", "check", "sources.toml", "--exact", "--show-values")
    assert ran.code == 1
    assert "UNDECIDED" in ran.out


def test_a_false_view_cannot_be_mended(privet: Run, two: Path) -> None:
    (two / "base.csv").write_text(BASE.replace("Flu", "Cold"), encoding="utf-8")
    ran = privet("sources", "restore", "sources.toml")
    assert ran.code == 2
    assert "view 2 is not true of the base table" in ran.err
    (two / "base.csv").unlink()
    text = SOURCES.partition("[base]")[0]
    (two / "sources.toml").write_text(text, encoding="utf-8")
    assert "restoring needs the true values" in privet("sources", "restore", "sources.toml").err


POLICY = """\
policy = 1

[attributes]
age = {{ role = "quasi", hierarchy = {{ type = "intervals", width = [{width}] }} }}
sex = {{ role = "quasi", hierarchy = {{ type = "tree", tree = {{ Any = ["M", "F"] }} }} }}
illness = {{ role = "sensitive" }}

[[models]]
type = "k-anonymity"
k = {k}

[algorithm]
type = "top-down"
score = "discernibility"
"""


@pytest.fixture
def releases(privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two releases of the same sixty people, and one of others."""
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame(
        {
            "age": list(range(60)),
            "sex": ["MF"[at // 3 % 2] for at in range(60)],
            "illness": ["abcd"[at * 7 % 11 % 4] for at in range(60)],
        }
    )
    people.write_csv("people.csv")
    people.with_columns(pl.col("illness").reverse()).write_csv("others.csv")
    for name, source, width, k in (
        ("one", "people.csv", 6, 3),
        ("two", "people.csv", 10, 3),
        ("other", "others.csv", 10, 3),
    ):
        Path("policy.toml").write_text(POLICY.format(width=width, k=k), encoding="utf-8")
        assert privet("publish", source, "policy.toml", "-o", name).code == 0
    return tmp_path


def test_releases_of_the_same_people_are_recognised_and_checked_together(privet: Run, releases: Path) -> None:
    alone = privet("sources", "check", "one", "--raw", "people.csv", "--gamma", "9/10", "--json").answer
    both = privet("sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "9/10", "--json").answer
    assert alone["people"] == both["people"] == 60
    assert both["recognised"]
    assert both["releases"] == 2
    assert both["views"] > alone["views"]
    assert both["log10_instances"] < alone["log10_instances"]  # together they say more
    ran = privet("sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "9/10")
    assert "2 releases, made from the same source, by their private notes" in ran.out


def test_releases_of_another_source_are_refused(privet: Run, releases: Path) -> None:
    ran = privet("sources", "check", "one", "other", "--raw", "people.csv", "--gamma", "1/2")
    assert ran.code == 2
    assert "digests in their private notes differ" in ran.err


def test_without_private_notes_it_is_not_recognised_but_checked(privet: Run, releases: Path) -> None:
    before = privet(
        "sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "9/10", "--json"
    ).answer
    shutil.rmtree("two.private")
    after = privet(
        "sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "9/10", "--json"
    ).answer
    assert not after["recognised"]
    assert (after["worst"], after["instances"]) == (before["worst"], before["instances"])


def test_releases_stand_in_a_file_beside_views(privet: Run, releases: Path) -> None:
    text = (
        'sources = 1\ngamma = "9/10"\nsensitive = "illness"\n[register]\npath = "people.csv"\n'
        '[[releases]]\npath = "one"\n[[releases]]\npath = "two"\n'
    )
    Path("sources.toml").write_text(text, encoding="utf-8")
    found = privet("sources", "check", "sources.toml", "--json").answer
    same = privet("sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "9/10", "--json").answer
    assert found == same


def test_a_changed_release_or_register_is_refused(privet: Run, releases: Path) -> None:
    data = releases / "two" / "data.csv"
    data.write_text(data.read_text(encoding="utf-8").replace(",a", ",b", 1), encoding="utf-8")
    ran = privet("sources", "check", "one", "two", "--raw", "people.csv", "--gamma", "1/2")
    assert ran.code == 1
    assert "not the file that the evidence was made for" in ran.err
    short = pl.read_csv("people.csv").head(59)
    short.write_csv("short.csv")
    shutil.rmtree("one.private")
    ran = privet("sources", "check", "one", "--raw", "short.csv", "--gamma", "1/2")
    assert ran.code == 2
    assert "exactly the people" in ran.err


def test_folders_need_the_source(privet: Run, releases: Path) -> None:
    assert "release folders need --raw" in privet("sources", "check", "one", "two").err
    assert "gamma: is missing" in privet("sources", "check", "one", "--raw", "people.csv").err
    assert privet("sources", "check", "one", "--raw", "people.csv", "--gamma", "x").code == 2
    assert (
        "--epsilon"
        in privet("sources", "check", "one", "--raw", "people.csv", "--gamma", "1/2", "--epsilon", "x").err
    )
