"""A policy in a release is written in one way, and both checkers ask for it. Issue 13, line 11."""

from __future__ import annotations

import re
import shutil
import tomllib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from tests.forge import every, grammar
from tests.forge.forging import changed, evidence, seal
from tests.forge.test_verifier import module

import privet as pv
from privet.errors import PrivetError


@cache
def words() -> dict[str, str]:
    """What the checker of one file knows, by part."""
    found: dict[str, str] = {}
    for _, kind in module().KINDS.values():
        entries = f"{module().WORDS}{kind}".replace("\n    ", " ").replace("; ", "\n").splitlines()
        said: dict[str, str] = {}
        for entry in entries:
            names, _, kinds = entry.partition(":")
            part, _, ways = names.partition(" ")
            said |= {f"{part} {way}".strip(): kinds.strip() for way in ways.split(",")}
        spoken = {name: one for name, one in said.items() if name in {"loss", "labels", "score"}}
        for name, kinds in said.items():
            pairs = (
                [word.split("=") for word in kinds.split()]
                if name.startswith(("search ", "promise "))
                else []
            )
            found[name] = " ".join(f"{key}={spoken.get(one, one)}" for key, one in pairs)
    return found


def test_it_knows_the_words_of_every_search_and_promise() -> None:
    """A search, a promise or a setting that is new here is told to the checker of one file, too."""
    derived = dict(line.split(":", 1) for line in grammar.lines())
    known = {name: said for name, said in words().items() if name.startswith(("search ", "promise "))}
    assert known == {name: said.strip() for name, said in derived.items()}


def some(kind: Any, place: Path, seed: int = 0) -> Path:
    for at in range(seed, seed + 40):
        try:
            (place / str(at)).mkdir(parents=True)
            return Path(kind(Random(at), place / str(at)).write(place / f"out{at}"))
        except PrivetError:
            continue
    raise AssertionError("no release")


OTHERWISE = {  # kind, what stands there, and what is written instead
    "a key of an attribute": ("table", 'role = "sensitive"\n', 'role = "sensitive"\nremark = "Ann"\n'),
    "a disguise nobody asked for": ("table", 'role = "sensitive"\n', 'role = "sensitive"\nfirst = 3\n'),
    "a key of the form": ("table", 'encoding = "utf-8"\n', 'encoding = "utf-8"\ntrim = true\n'),
    "an unknown key of the form": ("table", 'encoding = "utf-8"\n', 'encoding = "utf-8"\nremark = "Ann"\n'),
    "a key of a type": ("json", 'sensitive = "gpa"\n', 'sensitive = "gpa"\nremark = "Ann"\n'),
    "a key of a hierarchy": ("table", 'type = "intervals"\n', 'type = "intervals"\nremark = "Ann"\n'),
    "keys in another order": (
        "table",
        'kind = "table"\nnulls = "value"\n',
        'nulls = "value"\nkind = "table"\n',
    ),
    "a key that need not be said": (
        "table",
        'order = "canonical"\n',
        'order = "canonical"\nrows = "unsaid"\n',
    ),
    "a key left out": ("table", 'nulls = "value"\n', ""),
    "another quote": ("table", 'nulls = "value"', "nulls = 'value'"),
    "an escape": ("table", 'nulls = "value"', 'nulls = "\\u0076alue"'),
    "another number": ("table", "policy = 1\n", "policy = 0x1\n"),
    "a list in a line": ("table", 'nulls = [\n    "",\n]', 'nulls = [""]'),
    "a table in a line": ("table", "[attributes.ill]\nrole = ", "[attributes]\nill.role = "),
    "a blank line": ("table", 'nulls = "value"\n', 'nulls = "value"\n\n'),
    "a remark": ("table", 'nulls = "value"\n', 'nulls = "value" # Ann\n'),
    "a remark on a line of its own": ("table", 'nulls = "value"\n', '# Ann\nnulls = "value"\n'),
    "a table that is empty": ("table", "[algorithm]\n", "[algorithm]\nweights = {}\n"),
    "a long text for missing": ("table", '    "",\n', f'    "{"x" * 65}",\n'),
    "a text for missing that nobody sees": ("table", '    "",\n', '    "\\u0007",\n'),
    "an encoding of several spellings": ("table", '"utf-8"', '"unicode-escape"'),
    "the same with another hyphen": ("table", '"utf-8"', '"raw_unicode_escape"'),
    "a letter between fields": ("table", 'delimiter = ","', 'delimiter = "a"'),
    "a setting of another search": ("table", "[algorithm]\n", "[algorithm]\nmode = 'cells'\n"),
    "a setting of an order": ("json", 'infeasible = "skip"\n', 'infeasible = "skip"\nstrict = true\n'),
    "a table of another kind": (
        "table",
        "[algorithm]\n",
        '[transactions]\nform = "baskets"\n\n[algorithm]\n',
    ),
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {
        kind: some(every.KINDS[kind], tmp_path_factory.mktemp(kind), seed=3) for kind in ("table", "json")
    }
    assert all(every.both(out)[:2] == ("accepted", 0) for out in found.values())
    return found


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_is_written_otherwise_is_seen_by_both(
    what: str, releases: dict[str, Path], tmp_path: Path
) -> None:
    kind, old, new = OTHERWISE[what]
    out = Path(shutil.copytree(releases[kind], tmp_path / "out"))
    assert old in (out / "policy.toml").read_text("utf-8")
    said, code, _ = every.both(changed(out, "policy.toml", lambda text: text.replace(old, new, 1)))
    assert said != "accepted"
    assert code == 1


RICH = """
policy = 1
rows = "persons"
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", AGE } }
zip = { role = "quasi", hierarchy = { type = "prefix", keep = [3, 1], hide = ["036"] } }
day = { role = "quasi", hierarchy = { type = "dates", levels = ["month", "year"] } }
job = { role = "quasi", hierarchy = { type = "tree", tree = { any = TREE } } }
ill = "sensitive"
[[models]]
type = "alpha-k-anonymity"
alpha = "1/2"
k = 2
sensitive = { ill = ["x"] }
[algorithm]
type = "optimal"
suppression = "1/5"
weights = { age = 2 }
levels = { zip = [0, 2] }
"""
WIDE = "width = [5, 10], origin = 1, top = 55"
COLOURS = '{ white = ["a", "b"], blue = ["c", "d"] }'


def rich(place: Path, age: str = WIDE, tree: str = COLOURS) -> Path:
    import polars as pl

    table = pl.DataFrame(
        {
            "age": [str(20 + at % 8) for at in range(48)],
            "zip": ["02138", "02139"] * 24,
            "day": [f"2020-01-1{at % 3}" for at in range(48)],
            "job": ["a", "b", "c", "d"] * 12,
            "ill": ["x", "y", "z"] * 16,
        }
    )
    policy = pv.Policy.loads(RICH.replace("AGE", age).replace("TREE", tree))
    return Path(pv.publish(table, policy).write(place / "out"))


IMPOSSIBLE = {  # what a policy says of a hierarchy or a search, and what no policy says instead
    "a width below 0": ("width = [5, 10]", "width = [-5, 10]"),
    "the widest first": ("width = [5, 10]", "width = [10, 5]"),
    "a width that is no multiple": ("width = [5, 10]", "width = [5, 12]"),
    "a number with a point that needs none": ("width = [5, 10]", 'width = ["5.0", 10]'),
    "an origin that need not be said": ("origin = 1", "origin = 0"),
    "ends of both kinds": ("origin = 1, top = 55", "low = 0, high = 100"),
    "a step beside a width": ("origin = 1, top = 55", "step = 5"),
    "edges beside a width": ("origin = 1, top = 55", "edges = [0, 50, 100]"),
    "prefixes out of order": ("keep = [3, 1]", "keep = [1, 3]"),
    "a prefix of nothing": ("keep = [3, 1]", "keep = [3, 0]"),
    "the beginning of nothing": ('hide = ["036"]', 'hide = [""]'),
    "levels out of order": ('["month", "year"]', '["year", "month"]'),
    "days without a year": ('["month", "year"]', '["month", "year"], format = "%d.%m."'),
    "a label twice": ('blue = ["c", "d"]', 'blue = ["c", "b"]'),
    "a label without text": ('blue = ["c", "d"]', 'blue = ["c", "d", ""]'),
    "a label with nothing below": ('blue = ["c", "d"]', "blue = []"),
    "two roots": (f"any = {COLOURS}", f'other = ["e"], any = {COLOURS}'),
    "a tree in a list": (COLOURS, '[{ white = ["a", "b"] }, { blue = ["c", "d"] }]'),
    "a share in other words": ('"1/5"', '"2/10"'),
    "a share as a decimal": ('"1/5"', '"0.2"'),
    "a bound in other words": ('"1/2"', '"2/4"'),
    "the highest level first": ("zip = [0, 2]", "zip = [2, 0]"),
    "a level that need not be said": ("levels = { zip = [0, 2] }", "levels = {}"),
    "a weight of another search": ("weights = { age = 2 }", 'weights = "members"'),
    "a setting of another search": ("weights = { age = 2 }", 'mode = "cells"'),
    "a setting that nobody has": ("weights = { age = 2 }", 'remark = "Ann"'),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = rich(tmp_path_factory.mktemp("rich"))
    assert every.both(out)[:2] == ("accepted", 0)
    return out


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_no_policy_says_is_seen_by_both_whatever_the_evidence_says(
    what: str, honest: Path, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(honest, tmp_path / "out"))
    old, new = IMPOSSIBLE[what]
    document = tomllib.loads((out / "policy.toml").read_text("utf-8"))
    wanted = RICH.replace("AGE", WIDE).replace("TREE", COLOURS)
    assert wanted.count(old) == 1
    forged = tomllib.loads(wanted.replace(old, new, 1))
    for name, attribute in forged["attributes"].items():
        if "hierarchy" in attribute:
            document["attributes"][name]["hierarchy"] = attribute["hierarchy"]
    document["models"] = forged["models"]
    document["algorithm"] = {**document["algorithm"], **forged["algorithm"]}
    for key in {"weights", "levels"} - set(forged["algorithm"]):
        del document["algorithm"][key]
    (out / "policy.toml").write_text(tomli_w.dumps(document), "utf-8")
    said = evidence(out)
    said["algorithm"] = document["algorithm"]
    seal(out, said)
    told, code, words = every.both(out)
    assert told == "wrong", words
    assert code == 1, words


AGES = [
    "width = [5, 10, 20]", "edges = [0, 18, 30, 50, 100]", "low = 0, high = 100", "step = '2.5'",
    "edges = [[0, 18, 30, 50, 100], [0, 30, 100]], bottom = 25", "bottom = 21, top = 55",
    "width = ['2.5', 5]",
]  # fmt: skip
JOBS = [
    '["a", "b", "c", "d"]',
    '{ w = { x = ["a"], y = ["b"] }, v = { z = ["c", "d"] } }',
    '["a", { u = ["b", "c"] }, "d"]',
    '[{ u = ["a", "b"] }, { v = { y = ["c"], z = ["d"] } }]',
]


@pytest.mark.parametrize(
    ("age", "tree"), [*((age, COLOURS) for age in AGES), *((WIDE, tree) for tree in JOBS)]
)
def test_hierarchies_as_people_write_them_are_none_to_object_to(age: str, tree: str, tmp_path: Path) -> None:
    assert every.both(rich(tmp_path, age, tree))[:2] == ("accepted", 0)


def test_formulas_that_are_said_to_be_escaped_are(tmp_path: Path) -> None:
    import polars as pl

    table = pl.DataFrame({"a": ["1", "2"] * 4, "s": ["=1+1", "-2.5", "@x", "-"] * 2})
    text = 'policy = 1\nformulas = "escaped"\n[attributes]\na = "quasi"\ns = "other"\n'
    policy = pv.Policy.loads(f'{text}[[models]]\ntype = "k-anonymity"\nk = 2\n')
    out = Path(pv.publish(table, policy).write(tmp_path / "out"))
    assert every.both(out)[:2] == ("accepted", 0)
    assert every.both(changed(out, "data.csv", lambda text: text.replace("'=", "=", 1)))[:2] == ("wrong", 1)


def test_nothing_between_two_commas_is_missing_only_where_the_policy_says_so(tmp_path: Path) -> None:
    import polars as pl

    text = 'policy = 1\n[attributes]\na = "quasi"\ns = "other"\n[[models]]\n'
    text += 'type = "k-anonymity"\nk = 2\n'
    table = pl.DataFrame({"a": ["1", "2"] * 4, "s": ["x", None] * 4})
    out = Path(pv.publish(table, pv.Policy.loads(text)).write(tmp_path / "out"))
    assert every.both(out)[:2] == ("accepted", 0)
    for new in ("nulls = []", 'nulls = [\n    "NA",\n]'):
        before = (out / "policy.toml").read_text("utf-8")
        (out / "policy.toml").write_text(before.replace('nulls = [\n    "",\n]', new), "utf-8")
        said = evidence(out)
        said["data"]["nulls"] = tomllib.loads(new)["nulls"]
        seal(out, said)
        assert every.both(out)[:2] == ("wrong", 1)
        (out / "policy.toml").write_text(before, "utf-8")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["table", "paths", "json", "halves", "sets", "visits", "buckets"])
def test_every_value_changed_and_every_key_added(kind: str, share: int, tmp_path: Path) -> None:
    """Something else is said, or more; whether the evidence still fits only one of them looks at."""
    out = some(every.KINDS[kind], tmp_path)
    text = (out / "policy.toml").read_text("utf-8")
    lines = text.splitlines(keepends=True)
    forged = []
    for at, line in enumerate(lines):
        if line.startswith("["):
            forged.append([*lines[: at + 1], 'remark = "Ann"\n', *lines[at + 1 :]])
        elif found := re.fullmatch(r'(\S+ = )(".*"|\d+|true|false)\n', line):
            forged += [[*lines[:at], *lines[at + 1 :]], [*lines[:at], f"{found[1]}-7\n", *lines[at + 1 :]]]
            forged.append([*lines[:at], f'{found[1]}"Ann"\n', *lines[at + 1 :]])
    for one in forged[len(kind) % share :: share]:  # of each kind others
        (out / "policy.toml").write_text("".join(one), "utf-8")
        seal(out)
        said, code, words = every.both(out)
        assert said != "wrong" or code != 0, ("".join(one), words)
        assert said != "accepted" or code != 1, ("".join(one), words)


NAMES = st.text(max_size=6)
LEAVES = st.one_of(NAMES, st.integers(-(2**40), 2**40), st.booleans(), st.floats(allow_nan=False))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_it_writes_toml_as_privet_does(table: dict[str, Any]) -> None:
    text = tomli_w.dumps(table)
    assert module().toml(tomllib.loads(text)) == text


def test_names_and_purposes_may_be_anything(tmp_path: Path) -> None:
    import polars as pl

    name = 'a "b"\t\\é.[c] \x7f'
    table = pl.DataFrame({name: ["1", "2"] * 3, "s": ["x"] * 6})
    quasi = pv.Attribute(name, pv.Role.QUASI)
    said = pv.Policy(
        (quasi, pv.Attribute("s", pv.Role.OTHER)), (pv.KAnonymity(k=2),), purpose="a\tb\nc\x01 '\""
    )
    assert every.both(Path(pv.publish(table, said).write(tmp_path / "out")))[:2] == ("accepted", 0)
