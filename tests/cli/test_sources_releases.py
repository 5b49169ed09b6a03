"""`privet sources` on releases of every form: what they say together, or why that cannot be said."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import factorial, prod
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

from privet.errors import UnsupportedError
from privet.roads.sources.releases import _evidence

Run: TypeAlias = Callable[..., Any]

POLICY = """\
policy = 1
order = "kept"
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10] } }
town.role = "quasi"
town.hierarchy = { type = "tree", tree = { Any = { North = ["a", "b"], South = ["c"] } } }
illness = { role = "sensitive" }
[[models]]
MODEL
[algorithm]
"""
DIVERSE = 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["illness"]'
BY_CONSTRUCTION = 'type = "by-construction"'
ILLNESSES = "uvwx"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "age": [20 + at * 13 % 17 for at in range(40)],
            "town": ["abc"[at * 5 % 7 % 3] for at in range(40)],
            "illness": [ILLNESSES[at * 7 % 11 % 4] for at in range(40)],
        }
    ).write_csv("people.csv")
    return tmp_path


def publish(privet: Run, name: str, algorithm: str, model: str = DIVERSE) -> None:
    Path(f"{name}.toml").write_text(POLICY.replace("MODEL", model) + algorithm, encoding="utf-8")
    ran = privet("publish", "people.csv", f"{name}.toml", "-o", name)
    assert ran.code == 0, ran.err


def check(privet: Run, *names: str) -> Any:
    return privet("sources", "check", *names, "--raw", "people.csv", "--gamma", "9/10", "--exact", "--json")


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def tables(bags: dict[Any, Counter[str]]) -> int:
    """In how many ways the values of each group can be given to its people."""
    return prod(factorial(sum(b.values())) // prod(map(factorial, b.values())) for b in bags.values())


def surest(bags: dict[Any, Counter[str]]) -> Fraction:
    return max(Fraction(max(b.values()), sum(b.values())) for b in bags.values())


def classes(name: str) -> dict[Any, Counter[str]]:
    found: dict[Any, Counter[str]] = {}
    for row in rows(f"{name}/data.csv"):
        found.setdefault((row["age"], row["town"]), Counter())[row["illness"]] += 1
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "algorithm",
    [
        'type = "top-down"\nscore = "discernibility"',
        'type = "optimal"\nsuppression = "20%"',
        'type = "mondrian"',
        'type = "mondrian"\nrelaxed = true',
        'type = "local"',
        'type = "suppression"',
        'type = "coincident"\nstart = 4',
    ],
)
def test_every_class_of_a_table_is_a_view(privet: Run, people: Path, algorithm: str) -> None:
    publish(privet, "out", algorithm)
    found = check(privet, "out").answer
    made = classes("out")
    assert (found["views"], found["instances"]) == (len(made), tables(made))
    assert Fraction(found["worst"]) == surest(made)
    assert found["people"] == sum(sum(bag.values()) for bag in made.values())


@pytest.mark.parametrize("algorithm", ["anatomy", "bucketisation"])
def test_every_bucket_is_a_view(privet: Run, people: Path, algorithm: str) -> None:
    publish(privet, "out", f'type = "{algorithm}"')
    found = check(privet, "out").answer
    made: dict[Any, Counter[str]] = {}
    for row in rows("out/buckets.csv"):
        made.setdefault(row["bucket"], Counter())[row["illness"]] += int(row["records"])
    assert (found["views"], found["instances"]) == (len(made), tables(made))
    assert Fraction(found["worst"]) == surest(made)
    # Dealt by chance, people with the same values stand in different buckets; boxes hold all of them.
    assert found["by_order"] == (algorithm == "anatomy")


def test_several_forms_are_checked_together(privet: Run, people: Path) -> None:
    """Each is fine alone; together they leave hardly a doubt."""
    publish(privet, "boxes", 'type = "mondrian"')
    publish(privet, "levels", 'type = "optimal"')
    publish(privet, "split", 'type = "anatomy"')
    alone = [check(privet, name).answer for name in ("boxes", "levels", "split")]
    assert all(one["exposed"] == 0 for one in alone)
    both = check(privet, "boxes", "split")
    assert both.code == 1
    assert both.answer["recognised"]
    assert both.answer["instances"] < min(one["instances"] for one in alone)
    three = check(privet, "boxes", "levels", "split").answer
    assert three["views"] == sum(one["views"] for one in alone)
    assert three["instances"] <= both.answer["instances"]
    said = privet("sources", "check", "boxes", "split", "--raw", "people.csv", "--gamma", "1/2").out
    assert "it is taken to be known who is in which" in said


def test_restoring_speaks_of_published_columns_and_counts_parts(privet: Run, people: Path) -> None:
    pl.read_csv("people.csv").with_columns(number=pl.int_range(40) * 1000).write_csv("people.csv")
    publish(privet, "out", 'type = "mondrian"')
    ran = privet("sources", "restore", "out", "--raw", "people.csv", "--gamma", "1/2", "--most", 1, "--json")
    assert ran.code == 1
    found = ran.answer
    assert found["parts"] > 1
    assert found["candidates"] > 0
    said = privet("sources", "restore", "out", "--raw", "people.csv", "--gamma", "1/2", "--most", 1).out
    assert f"{found['parts']} parts that share nobody are above gamma" in said
    more = privet("sources", "restore", "out", "--raw", "people.csv", "--gamma", "3/4", "--json").answer
    assert all("number" not in view["columns"] for view in more["views"])


def test_the_register_alone_does_not_place_people_in_overlapping_classes(privet: Run, people: Path) -> None:
    publish(privet, "out", 'type = "local"')
    assert check(privet, "out").answer["by_order"] == 1
    text = (
        'sources = 1\ngamma = "9/10"\nsensitive = "illness"\n[register]\npath = "register.csv"\n'
        '[[releases]]\npath = "out"\n'
    )
    Path("sources.toml").write_text(text, encoding="utf-8")
    pl.read_csv("people.csv").drop("illness").write_csv("register.csv")
    ran = privet("sources", "check", "sources.toml")
    assert ran.code == 2
    assert "so that the register does not say who is in which" in ran.err
    assert "people fit several of its" in ran.err
    # Where boxes do not overlap, a register of other bytes will do.
    bounded = POLICY.replace("width = [5, 10]", "low = 0, high = 100").replace("MODEL", DIVERSE)
    Path("boxes.toml").write_text(bounded + 'type = "mondrian"', encoding="utf-8")
    assert privet("publish", "people.csv", "boxes.toml", "-o", "boxes").code == 0
    Path("sources.toml").write_text(text.replace('"out"', '"boxes"'), encoding="utf-8")
    assert privet("sources", "check", "sources.toml", "--json").answer["by_order"] == 0


def test_without_private_notes_only_what_is_public_places_people(privet: Run, people: Path) -> None:
    publish(privet, "split", 'type = "bucketisation"')
    shutil.rmtree("split.private")
    assert not check(privet, "split").answer["recognised"]  # values leave as they are: nothing is missing
    publish(privet, "out", 'type = "local"')
    shutil.rmtree("out.private")
    ran = check(privet, "out")
    assert ran.code == 2
    assert "(--raw) and the private notes beside the release" in ran.out
    publish(privet, "towns", 'type = "optimal"\nlevels = { town = 1 }')
    assert check(privet, "towns").answer["by_order"] == 0
    shutil.rmtree("towns.private")
    ran = check(privet, "towns")
    assert ran.code == 2
    assert "towns: town: for 3 values it cannot be told from the release alone" in ran.out


def test_who_was_left_out_by_chance_cannot_be_said(privet: Run, people: Path) -> None:
    table = pl.read_csv("people.csv")
    pl.concat([table.head(3)] * 14).head(40).write_csv("people.csv")  # three kinds of people, over and over
    publish(privet, "out", 'type = "sampling"\nshare = "1/2"', BY_CONSTRUCTION)
    ran = check(privet, "out")
    assert ran.code == 2
    assert "who was left out cannot be told" in ran.out


@pytest.mark.parametrize(
    "algorithm", ['type = "pram"\nkeep = "1/2"', 'type = "rank-swap"\nwithin = "1/4"\ncolumns = ["age"]']
)
def test_values_changed_by_chance_are_no_view(privet: Run, people: Path, algorithm: str) -> None:
    publish(privet, "out", algorithm, BY_CONSTRUCTION)
    ran = check(privet, "out")
    assert ran.code == 2
    assert "changes values by chance" in ran.out


def test_other_forms_and_changed_files_are_refused(privet: Run, people: Path) -> None:
    publish(privet, "split", 'type = "anatomy"')
    held = Path("split/buckets.csv")
    held.write_text(held.read_text(encoding="utf-8").replace(",u,", ",v,", 1), encoding="utf-8")
    assert "not the file that the evidence was made for" in check(privet, "split").out
    publish(privet, "out", 'type = "mondrian"')
    ran = privet("sources", "check", "out", "--raw", "people.csv", "--sensitive", "town", "--gamma", "1/2")
    assert ran.code == 2
    evidence = json.loads(Path("out/evidence.json").read_text(encoding="utf-8"))
    Path("out/evidence.json").write_text(json.dumps(evidence | {"kind": "documents"}), encoding="utf-8")
    assert "kind: the evidence speaks of another than the policy" in check(privet, "out").out
    with pytest.raises(UnsupportedError, match="views are made of tables"):
        _evidence(Path("out"), "ill")
    pl.read_csv("people.csv").drop("town").write_csv("less.csv")
    publish(privet, "boxes", 'type = "mondrian"')
    shutil.rmtree("boxes.private")
    ran = privet("sources", "check", "boxes", "--raw", "less.csv", "--gamma", "1/2")
    assert "the register has no column town" in ran.err
    pl.read_csv("people.csv").head(39).write_csv("less.csv")
    ran = privet("sources", "check", "boxes", "--raw", "less.csv", "--gamma", "1/2")
    assert "exactly the people" in ran.err or "keep the private notes" in ran.err
