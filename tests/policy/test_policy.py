"""Policies on disk: read, written, read again; and every complaint at once."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.core import Form
from privet.disguise import Hash, Key, Mask, Pseudonym, Shift
from privet.errors import PolicyError
from privet.hierarchy import Auto, Dates, Flat, Intervals, Prefix, Tree
from privet.models.template import EVERY
from privet.policy.notation import exact
from privet.relational.topdown import Score, Splits, TopDown
from privet.testing import shares

HOSPITAL = """
policy = 1
kind = "table"
purpose = "yearly extract for the statistics office"
nulls = "wildcard"

[attributes]
name   = { role = "identifier" }
ssn    = { role = "identifier", publish = "mask", last = 2 }
seen   = { role = "identifier", publish = "shift", by = "name", days = 30, key_env = "SECRET" }
age    = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 20] } }
zip    = { role = "quasi", hierarchy = { type = "prefix", keep = [3, 1] } }
job    = { role = "quasi", hierarchy = { type = "csv", path = "job.csv" } }
born   = "quasi"
income = "target"
surgery = { role = "sensitive" }
note   = "other"

[[models]]
type = "lkc-privacy"
l = 4
k = 20
c = "1/5"
sensitive = { surgery = ["Transgender"] }

[[models]]
type = "confidence-bounding"
sensitive = { surgery = { Transgender = "10%", Plastic = "0.25" } }
quasi = ["age", "zip"]

[algorithm]
type = "top-down"
score = "discernibility"
splits = "best-valid"

[form]
delimiter = ";"
nulls = ["", "NA"]
"""


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    (tmp_path / "job.csv").write_text("cook;service;*\nwaiter;service;*\n")
    path = tmp_path / "hospital.toml"
    path.write_text(HOSPITAL)
    return path


def test_a_policy_is_read(hospital: Path) -> None:
    policy = pv.Policy.load(hospital)
    assert policy.purpose == "yearly extract for the statistics office"
    assert policy.nulls is pv.Nulls.WILDCARD
    assert policy.form == Form(delimiter=";", nulls=("", "NA"))
    assert policy.algorithm == TopDown(score=Score.DISCERNIBILITY, splits=Splits.BEST_VALID)
    assert policy.models == (
        pv.LKC(l=4, k=20, c=Fraction(1, 5), sensitive={"surgery": ["Transgender"]}),
        pv.ConfidenceBounding(
            sensitive={"surgery": {"Transgender": Fraction(1, 10), "Plastic": Fraction(1, 4)}},
            quasi=("age", "zip"),
        ),
    )
    by_name = {attribute.name: attribute for attribute in policy.attributes}
    assert list(by_name) == ["name", "ssn", "seen", "age", "zip", "job", "born", "income", "surgery", "note"]
    assert by_name["age"].hierarchy == Intervals(width=(5, 10, 20))
    assert by_name["job"].hierarchy == Tree.of({"*": {"service": ["cook", "waiter"]}})
    assert by_name["born"].hierarchy == Auto()
    assert by_name["ssn"].disguise == Mask(last=2)
    assert (by_name["seen"].disguise, by_name["seen"].person) == (Shift(Key(env="SECRET"), 30), "name")
    assert not by_name["name"].published


def test_a_policy_survives_being_written(hospital: Path) -> None:
    policy = pv.Policy.load(hospital)
    again = pv.Policy.loads(policy.dumps())
    assert again == policy
    assert again.dumps() == policy.dumps()
    assert "job.csv" not in policy.dumps()  # the tree itself: the folder alone must be enough


key = Key(env="PRIVET_KEY")
attributes = st.one_of(
    st.builds(
        pv.Attribute,
        st.just("x"),
        st.just(pv.Role.QUASI),
        st.sampled_from(
            [
                Auto(),
                Flat(),
                Intervals(),
                Intervals(width=(5, 10)),
                Intervals(edges=((0, 9, 18), (0, 18)), raw=False),
                Intervals(low=0, top=90),
                Prefix(keep=(3, 1)),
                Dates(levels=("month", "year")),
                Dates(format="%d.%m.%Y"),
                Tree.of({"*": {"A": ["a", "b"], "B": {"C": ["c"]}, "d é": None}}),
            ]
        ),
    ),
    st.builds(
        pv.Attribute,
        st.just("x"),
        st.just(pv.Role.IDENTIFIER),
        st.none(),
        st.sampled_from([None, Mask(first=1), Hash(key), Pseudonym(Key(file=Path("key.txt")))]),
    ),
    st.builds(pv.Attribute, st.just("x"), st.sampled_from([pv.Role.TARGET, pv.Role.OTHER])),
)
values = st.none() | st.just(EVERY) | st.text(max_size=5)
sensitive = st.one_of(
    st.dictionaries(st.just("s"), st.lists(values, unique=True, min_size=1, max_size=3), min_size=1),
    st.dictionaries(st.just("s"), st.dictionaries(values, shares(), min_size=1, max_size=3), min_size=1),
    st.just(("s",)),
    st.just({"s": (EVERY,)}),
)
small = st.integers(1, 10**9)
promises = st.one_of(
    st.builds(pv.KAnonymity, k=small),
    st.builds(pv.LKC, l=small, k=small, c=shares(), sensitive=sensitive),
    st.builds(pv.AlphaKAnonymity, alpha=shares(), k=small, sensitive=sensitive),
)


@settings(max_examples=100)
@given(st.data())
def test_every_policy_survives_being_written(data: st.DataObject) -> None:
    names = data.draw(
        st.lists(
            st.text(min_size=1, max_size=6).filter(lambda n: n not in {"s", "q"}), unique=True, max_size=4
        )
    )
    named = [replace(data.draw(attributes), name=name) for name in names]
    targets = [a for a in named if a.role is pv.Role.TARGET]
    policy = pv.Policy(
        attributes=(
            pv.Attribute("s", pv.Role.SENSITIVE),
            pv.Attribute("q", pv.Role.QUASI, Auto()),
            *(a for a in named if a not in targets[1:]),
        ),
        models=tuple(data.draw(st.lists(promises, min_size=1, max_size=2))),
        algorithm=TopDown(data.draw(st.none() | st.sampled_from(Score)), data.draw(st.sampled_from(Splits))),
        purpose=data.draw(st.text(max_size=9)),
        nulls=data.draw(st.sampled_from(pv.Nulls)),
        form=Form(
            delimiter=data.draw(st.sampled_from([None, ";"])),
            nulls=data.draw(st.sampled_from([("",), ("NA", "?")])),
        ),
    )
    tomllib.loads(policy.dumps())
    assert pv.Policy.loads(policy.dumps()) == policy


def protecting(written: str) -> pv.LKC:
    text = minimal(models=f'type = "lkc-privacy"\nl = 1\nk = 1\nc = "1/2"\nsensitive = {written}')
    (model,) = pv.Policy.loads(text).models
    assert isinstance(model, pv.LKC)
    return model


def test_ways_to_write_what_is_protected() -> None:
    every = protecting('["ill"]')
    assert every == protecting('{ ill = "every" }') == protecting("{ ill = [{ every = true }] }")
    assert protecting('{ ill = ["a", 7, true] }').sensitive == {"ill": ("a", "7", "true")}
    own = protecting('{ ill = [{ value = "a", at_most = "1/5" }, { null = true, at_most = "10%" }] }')
    assert own.sensitive == {"ill": {"a": Fraction(1, 5), None: Fraction(1, 10)}}


@pytest.mark.parametrize(
    "item",
    [
        "{}",
        "{ null = false }",
        '{ value = "a", null = true }',
        '{ at_most = "1/2" }',
        '{ value = "a", most = "1/2" }',
    ],
)
def test_ways_not_to_write_it(item: str) -> None:
    with pytest.raises(PolicyError, match=r"models\[0\]: sensitive: ill"):
        protecting(f"{{ ill = [{item}] }}")
    with pytest.raises(PolicyError, match="either every item has its at_most, or none"):
        protecting('{ ill = ["a", { null = true, at_most = "1/2" }] }')


# Every complaint at once, each with its place and its fix.

WRONG = """
policy = 2
kind = "tables"
nulls = "maybe"
colour = "blue"

[attributes]
age = { role = "qid" }
zip = { role = "quasi", hierarchy = { type = "prefx" } }
job = { role = "quasi", hierarchy = { type = "csv", path = "nowhere.csv" } }
name = { role = "identifier", publish = "rot13" }
born = { role = "other", hierarchy = { type = "flat" } }
town = { rule = "quasi" }
note = { role = "other", publish = "mask" }
seen = { role = "identifier", publish = "mask", frist = 2 }

[[models]]
type = "lkc-privacy"
l = 0.5
k = "many"
c = 0.2
sensitive = { surgery = 7 }

[[models]]
type = "k-anonimity"
k = 2

[[models]]
type = "k-anonymity"

[[models]]
k = 3

[algorithm]
type = "top-down"
score = "beauty"

[form]
delimitr = ";"
"""

COMPLAINTS = [
    "policy = 1",
    "colour: unknown key",
    "kind",
    "nulls: it is one of value, wildcard, not 'maybe'",
    "form: delimitr: unknown key; did you mean delimiter?",
    "attributes.age: role: it is one of identifier, quasi, sensitive, target, other",
    "attributes.zip: hierarchy: type is one of",
    "attributes.job: hierarchy: path: nowhere.csv",
    "attributes.name: publish is one of pseudonym, hash, mask, shift, not 'rot13'",
    "attributes.born: hierarchy: only a quasi-identifier",
    "attributes.town: needs a role",
    "attributes.note: publish: only an identifier",
    "attributes.seen: frist: unknown key; did you mean first?",
    "models[0]: l: is a whole number",
    "models[0]: k: is a whole number",
    'models[0]: c: write "0.2" in quotes',
    "models[0]: sensitive: surgery is a list",
    "models[1]: type is one of",
    "models[2]: k is missing",
    "models[3]: needs a type",
    "algorithm: score: it is one of information-gain, discernibility, gain-per-loss, not 'beauty'",
]


def test_every_complaint_at_once_with_place_and_fix() -> None:
    with pytest.raises(PolicyError) as caught:
        pv.Policy.loads(WRONG, place="hospital.toml")
    said = caught.value.complaints
    assert all(complaint.startswith("hospital.toml: ") for complaint in said)
    missed = [words for words in COMPLAINTS if not any(words in complaint for complaint in said)]
    assert not missed, said
    assert all("\n" not in complaint for complaint in said)


def minimal(
    *, attributes_: str = 'age = "quasi"\nill = "sensitive"', models: str = 'type = "k-anonymity"\nk = 2'
) -> str:
    return f"policy = 1\n[attributes]\n{attributes_}\n[[models]]\n{models}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (minimal(attributes_='ill = "sensitive"'), "no quasi-identifier"),
        (minimal(attributes_='a = "quasi"\nb = "target"\nc = "target"'), "one target at most, not b, c"),
        (
            minimal(models='type = "lkc-privacy"\nl = 1\nk = 1\nc = "1/2"\nsensitive = { age = ["x"] }'),
            "sensitive.age",
        ),
        (
            minimal(models='type = "lkc-privacy"\nl = 1\nk = 1\nc = "1/2"\nsensitive = { zip = ["x"] }'),
            "sensitive.zip",
        ),
        (
            minimal(
                models='type = "confidence-bounding"\nsensitive = { ill = { x = "1/2" } }\nquasi = ["zip"]'
            ),
            "quasi: no attribute 'zip'",
        ),
        (minimal(models='type = "k-anonymity"\nk = 0'), "k is a whole number from 1 on"),
        (minimal(models='type = "k-anonymity"\nk = true'), "whole number"),
        ("policy = 1\n", "attributes: names every column"),
        ("policy = 1\n[attributes]\na = 'quasi'\n", "models: at least one promise"),
        ("policy = ", "policy: "),
        (
            minimal(attributes_='seen = { role = "identifier", publish = "shift", by = "who" }\na = "quasi"'),
            "'who'",
        ),
    ],
)
def test_what_is_wrong_together(text: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        pv.Policy.loads(text)
    assert words in str(caught.value)


def test_no_policy_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="privet init"):
        pv.Policy.load(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="not a text file"):
        pv.Policy.load(tmp_path / "binary.toml")
    with pytest.raises(PolicyError, match="not a text file"):
        pv.Policy.load(tmp_path)


def test_a_secret_under_a_wrong_key_is_not_repeated() -> None:
    secret = 'n = { role = "identifier", publish = "hash", key = "hush-hush-hush" }'
    with pytest.raises(PolicyError) as caught:
        pv.Policy.loads(minimal(attributes_=f'a = "quasi"\n{secret}'))
    assert "hush" not in str(caught.value)


# Numbers that a guarantee depends on are exact.


@pytest.mark.parametrize(
    ("given_", "meant"),
    [("1/5", Fraction(1, 5)), ("0.2", Fraction(1, 5)), ("20%", Fraction(1, 5)), (1, Fraction(1)),
     (" 1/3 ", Fraction(1, 3)), ("0.1", Fraction(1, 10)), ("1e-18", Fraction(1, 10**18)),
     ("12.5 %", Fraction(1, 8))],
)  # fmt: skip
def test_exact_numbers(given_: object, meant: Fraction) -> None:
    assert exact(given_) == meant


@pytest.mark.parametrize(
    "given_", [0.2, 1.0, float("nan"), True, None, "a fifth", "1/0", "", [1], "nan", "inf"]
)
def test_what_is_not_exact_is_refused(given_: object) -> None:
    with pytest.raises(PolicyError):
        exact(given_)


@settings(max_examples=60)
@given(shares())
def test_a_share_is_written_and_read_exactly(share: Fraction) -> None:
    text = minimal(models=f'type = "lkc-privacy"\nl = 1\nk = 1\nc = "{share}"\nsensitive = ["ill"]')
    (model,) = pv.Policy.loads(text).models
    assert isinstance(model, pv.LKC)
    assert model.c == share
