"""Noisy releases: what leaves, what is paid and when, what verify finds, and what is refused for nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import pages
from tests.roads import noisy

import privet as pv
from privet.dp import settings
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge, cost
from privet.errors import (
    BudgetError,
    HierarchyError,
    InputError,
    MissingExtraError,
    PolicyError,
    UnsupportedError,
)
from privet.evidence import folder as ev
from privet.models.differential import DifferentialPrivacy
from privet.policy.values import Purse
from privet.roads.noisy.comparison import apply_cut
from privet.roads.noisy.road import coded

ALGORITHMS = {
    "diffgen": noisy.DIFFGEN,
    "bought": '\n[algorithm]\ntype = "diffgen"\nnoise = "exact"\nbuy_h = "1/50"\n'
    'marginals = "1/10"\nclass_totals = "1/5"\n',
    "counts": noisy.DIFFGEN + 'output = "counts"\nconsistency = "raw"\nscore = "information-gain"\n',
    "fixed": noisy.DIFFGEN + 'counts = "fixed"\nrecords_per_person = 3\nconsistency = "clamp"\n',
    "opendp": noisy.DIFFGEN.replace('noise = "exact"', 'noise = "opendp"'),
}
FLAT = """
policy = 1
[attributes]
job = { role = "quasi", hierarchy = { type = "tree", tree = { Any = ["cook", "smith", "clerk"] } } }
age = { role = "quasi", hierarchy = { type = "intervals", edges = [18, 30, 50, 65] } }
ill = { role = "target", values = ["yes", "no"] }
"""


def publish(folder: Path, text: str, data: Any = None) -> Any:
    if not (folder / "ledger.sqlite").exists():
        noisy.ledger(folder)
    return pv.publish(noisy.table() if data is None else data, noisy.policy(folder, text))


def spent(folder: Path) -> Fraction:
    return Ledger(folder / "ledger.sqlite", create=False).balance("ward").spent


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_release_is_paid_entered_and_adds_up(name: str, tmp_path: Path) -> None:
    release = publish(tmp_path, noisy.ATTRIBUTES + noisy.MODEL + ALGORITHMS[name])
    book = Ledger(tmp_path / "ledger.sqlite")
    times = 3 if name == "fixed" else 1
    (entry,) = book.releases()
    assert (entry.state, entry.epsilon, entry.charged) == ("reserved", Fraction(1, 2), Fraction(times, 2))
    folder = release.write(tmp_path / "out")
    (entry,) = book.releases()
    assert (entry.state, entry.digest) == ("released", f"sha256:{ev.digest(folder / 'evidence.json')}")
    found = pv.verify(folder)
    assert found.holds, found.complaints
    assert [claim["checked"] for claim in found.made] == [False]
    paid = json.loads((folder / "evidence.json").read_text("utf-8"))["ledger"]
    charges = [
        Charge(s["purpose"], s["mechanism"], Fraction(s["epsilon"]), s["group"]) for s in paid["spends"]
    ]
    assert [(c.purpose, c.epsilon, c.group) for c in charges] == [
        (s.purpose, s.epsilon, s.group) for s in entry.spends
    ]
    assert cost(charges) == cost(entry.spends) == Fraction(paid["spent"])
    assert entry.epsilon is not None
    assert cost(charges) < entry.epsilon if name == "fixed" else cost(charges) == entry.epsilon
    assert paid["release"] == entry.release
    assert paid["noise"] == entry.source
    assert ("opendp" in entry.source) == (name == "opendp")
    book.audit()
    with pytest.raises(BudgetError, match="already released"):
        release.write(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_records_are_the_counts_and_near_the_truth(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, budget=100)
    release = publish(tmp_path, noisy.TEXT.replace('epsilon = "1/2"', "epsilon = 60"))
    folder = release.write(tmp_path / "out")
    data, counts = pl.read_csv(folder / "data.csv"), pl.read_csv(folder / "counts.csv")
    assert data.columns == ["job", "age", "pay", "codes", "ill"]
    assert data.height == counts["count"].sum() == release.evidence["records"]
    assert release.to_polars().height == data.height
    found = pv.compare(noisy.table(), folder)
    assert found["records"]["raw"] == noisy.ROWS
    assert found["counts"]["total"] < 0.1 * noisy.ROWS  # so much epsilon leaves hardly any noise
    assert all(moved < 0.1 for moved in found["columns"].values())
    assert found["counts"] == pv.compare(noisy.table(), release)["counts"]
    with pytest.raises(UnsupportedError, match="nobody's own"):
        pv.compare(noisy.table(), folder, classify=True)


def test_the_comparison_is_the_naive_one(tmp_path: Path) -> None:
    release = publish(tmp_path, noisy.TEXT)
    folder = release.write(tmp_path / "out")
    known = settings.public(release.policy)
    raw = noisy.table()
    labels = apply_cut(coded(raw, known), known, ev.read(folder)).with_columns(pl.all().cast(pl.String))
    true: dict[tuple[str, ...], int] = {}
    for row in labels.iter_rows():
        true[row] = true.get(row, 0) + 1
    noisy_counts = {
        tuple(map(str, row[:-1])): row[-1] for row in pl.read_csv(folder / "counts.csv").iter_rows()
    }
    off = [abs(noisy_counts.get(key, 0) - true.get(key, 0)) for key in {*true, *noisy_counts}]
    found = pv.compare(raw, folder)["counts"]
    assert (found["total"], found["largest"]) == (sum(off), max(off))


def test_a_cut_covers_raw_values_as_the_policy_says(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, budget=100)
    release = publish(tmp_path, noisy.TEXT.replace('epsilon = "1/2"', "epsilon = 60"))
    known = settings.public(release.policy)
    raw = noisy.table()
    labels = apply_cut(coded(raw, known), known, release.evidence).with_columns(pl.all().cast(pl.String))
    above = {
        "cook": {"cook", "Hand", "Any"},
        "smith": {"smith", "Hand", "Any"},
        "clerk": {"clerk", "Desk", "Any"},
    }
    items = {"11": {"11", "1*", "**"}, "12": {"12", "1*", "**"}, "21": {"21", "2*", "**"}, "": {"NONE", "**"}}
    for value, label in zip(raw["job"], labels["job"], strict=True):
        assert label in above[value]
    for value, label in zip(raw["codes"], labels["codes"], strict=True):
        parts = set(label.split("|"))
        assert all(parts & items[item] for item in value.split("|"))
        assert all(any(part in items[item] for item in value.split("|")) for part in parts)
    for value, label in zip(raw["age"], labels["age"], strict=True):
        low, _, high = label.strip("[)").partition("-")
        assert int(low) <= value < int(high or int(low) + 1)


def test_the_plain_table_takes_the_same_road(tmp_path: Path) -> None:
    text = FLAT + noisy.MODEL + '[algorithm]\ntype = "noisy-contingency"\nnoise = "exact"\n'
    folder = publish(tmp_path, text).write(tmp_path / "out")
    assert pv.verify(folder).holds
    counts = pl.read_csv(folder / "counts.csv")
    assert set(counts["age"]) <= {"[18-30)", "[30-50)", "[50-65)"}
    assert len(ev.read(folder)["ledger"]["spends"]) == 1


def test_nothing_public_tells_how_many_records_there_are_or_a_value(tmp_path: Path) -> None:
    release = publish(tmp_path, noisy.ATTRIBUTES + noisy.MODEL + ALGORITHMS["bought"])
    folder = release.write(tmp_path / "out")
    public = {p.name: p.read_text("utf-8") for p in folder.iterdir()}
    for name, text in public.items():
        assert noisy.CANARY not in text, name
        told = re.search(rf"(?<![0-9a-fA-F]){noisy.ROWS}(?![0-9a-fA-F])", text)  # digests may hold the digits
        assert told is None or str(noisy.ROWS) == str(release.evidence["records"]), name
        assert f"{noisy.ROWS:,}" not in text or release.evidence["records"] == noisy.ROWS, name
        assert "ledger.sqlite" not in text, name
    assert "risk" not in release.measures
    assert "score" not in json.dumps(release.evidence.to_dict()["steps"])
    assert not {"at", "seconds", "time"} & set(release.evidence["ledger"]["spends"][0])
    assert noisy.CANARY not in repr(release)
    assert "at most this sure" in public["report.html"]
    assert "Each column by itself" in public["report.html"]
    assert "Every payment" in public["report.html"]


# What verify finds.

Change = Callable[[dict[str, Any], Path], None]


def in_ledger(**said: Any) -> Change:
    return lambda evidence, _: evidence["ledger"].update(said)


def cheaper(evidence: dict[str, Any], _: Path) -> None:
    evidence["ledger"]["spends"][-1]["epsilon"] = "1/100"


def other_label(_: dict[str, Any], folder: Path) -> None:
    for name in ("data.csv", "counts.csv"):
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace(",no", ",other"), "utf-8")


def one_more(_: dict[str, Any], folder: Path) -> None:
    with (folder / "data.csv").open("a") as file:
        file.write((folder / "data.csv").read_text("utf-8").splitlines()[1] + "\n")


def half_a_cut(evidence: dict[str, Any], _: Path) -> None:
    evidence["attributes"]["age"]["values"] = [{"label": "[18-40)", "loss": 0.5, "interval": ["18", "40"]}]


def other_promise(evidence: dict[str, Any], _: Path) -> None:
    evidence["promises"][0]["checked"] = True


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release to forge copies of."""
    place = tmp_path_factory.mktemp("honest")
    return Path(publish(place, noisy.TEXT).write(place / "out"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (in_ledger(spent="1/4"), "add up to 1/2, and it says 1/4"),
        (in_ledger(epsilon="1/4"), "another epsilon"),
        (cheaper, "the policy promises 1/2"),
        (other_label, "ill: 1 values that the evidence does not list"),
        (one_more, "records are not the counts"),
        (half_a_cut, "age: its values do not cover"),
        (other_promise, "promises are not those"),
        (lambda evidence, _: evidence.update(records=7), "speaks of 7 records"),
    ],
)
def test_verify_finds_what_does_not_add_up(change: Change, said: str, honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest, tmp_path / "out"))
    evidence = ev.read(folder).to_dict()
    change(evidence, folder)
    evidence["files"] = {name: ev.digest(folder / name) for name in evidence["files"]}  # a thorough forger
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    found = pv.verify(folder)
    assert not found.holds
    assert said in "\n".join(found.complaints)


# What is refused, and that it costs nothing.


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('epsilon = "1/2"', "epsilon = 0", "epsilon: above 0"),
        ('epsilon = "1/2"', "epsilon = -1", "epsilon: above 0"),
        ('epsilon = "1/2"', "epsilon = 0.5", 'epsilon: write "0.5" in quotes'),
        ("low = 18, ", "", "attributes.age: hierarchy: give low and high"),
        (
            'hierarchy = { type = "intervals", low = 18, high = 65 }',
            'hierarchy = { type = "auto" }',
            "attributes.age",
        ),
        (', values = ["yes", "no", "perhaps"]', "", "attributes.ill: list all its values"),
        ('role = "target", values = ["yes", "no", "perhaps"]', 'role = "sensitive"', "no column as it is"),
        (
            'role = "identifier"',
            'role = "identifier", publish = "mask"',
            "attributes.name: diffgen publishes no",
        ),
        ("h = 5", "h = 0", "h: a whole number of rounds"),
        ("h = 5", 'h = 5\nbuy_h = "1/9"', "h, buy_h: give one"),
        ("h = 5", 'h = 5\nconsistency = "raw"', 'say output = "counts"'),
        ("h = 5", "h = 5\nrecords_per_person = 0", "records_per_person"),
        (
            "\n[algorithm]",
            '\n[[models]]\ntype = "k-anonymity"\nk = 2\n[algorithm]',
            "cannot promise k-anonymity",
        ),
        ("\n[algorithm]", noisy.MODEL + "\n[algorithm]", "one release has one epsilon"),
        ('type = "diffgen"\nnoise = "exact"\nh = 5', 'type = "top-down"', "top-down does not"),
        ('"1*" = ["11", "12"]', '"1*" = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]', "9 children"),
        ('unit = "0.5"', 'unit = "0.4"', "a whole number of units apart"),
    ],
)
def test_a_wrong_policy_is_refused_when_it_is_read(old: str, new: str, said: str) -> None:
    assert noisy.TEXT.count(old) == 1
    with pytest.raises(PolicyError) as refusal:
        pv.Policy.loads(noisy.TEXT.replace(old, new))
    assert said in str(refusal.value)


def bad(column: str, value: Any) -> pl.DataFrame:
    table = noisy.table().with_columns(pl.all().cast(pl.String))
    return table.with_columns(
        pl.when(pl.int_range(pl.len()) == 9).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("job", f"{noisy.CANARY}"),
        ("age", "65"),
        ("age", "30.5"),
        ("age", None),
        ("pay", "0.25"),
        ("codes", "11|99"),
        ("ill", "maybe"),
    ],
)
def test_a_value_outside_its_domain_is_refused_for_nothing(column: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{column}: 1 of 3,217 records") as refusal:
        publish(tmp_path, noisy.TEXT, bad(column, value))
    assert value is None or str(value) not in str(refusal.value)
    assert spent(tmp_path) == 0
    assert not Ledger(tmp_path / "ledger.sqlite").releases()


def test_a_budget_that_is_used_up_refuses_with_the_amounts(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, budget=1)
    for number in range(2):
        publish(tmp_path, noisy.TEXT).write(tmp_path / f"out{number}")
    with pytest.raises(BudgetError, match="epsilon 1/2 was asked for, and 0 of 1 is left"):
        publish(tmp_path, noisy.TEXT, tmp_path / "no such file")  # it is not even read
    assert spent(tmp_path) == 1


def test_a_person_with_several_records_is_charged_for_all_of_them(tmp_path: Path) -> None:
    noisy.ledger(tmp_path, budget=1)
    with pytest.raises(BudgetError, match="epsilon 3/2 was asked for"):
        publish(tmp_path, noisy.TEXT.replace("h = 5", "h = 5\nrecords_per_person = 3"))
    assert spent(tmp_path) == 0


def test_what_cannot_be_done_is_refused_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy.ledger(tmp_path)
    rules, data = noisy.policy(tmp_path), noisy.table()
    with pytest.raises(PolicyError, match="--ledger FILE --dataset NAME"):
        pv.publish(data, replace(rules, ledger=None))
    with pytest.raises(BudgetError, match="no such data set"):
        pv.publish(data, replace(rules, ledger=Purse(str(tmp_path / "ledger.sqlite"), "other")))
    with pytest.raises(InputError, match="no such ledger"):
        pv.publish(data, replace(rules, ledger=Purse(str(tmp_path / "none"), "ward")))
    with pytest.raises(UnsupportedError, match="without --like"):
        pv.publish(data, rules, like=tmp_path)
    with pytest.raises(UnsupportedError, match="embedded"):
        pv.publish(data, rules, engine="plain")
    with pytest.raises(PolicyError, match="means missing"):
        pv.publish(data, replace(rules, form=replace(rules.form, nulls=("cook",))))
    with pytest.raises(UnsupportedError, match="no place for a column of sets"):
        publish(tmp_path, noisy.ATTRIBUTES + noisy.MODEL + '[algorithm]\ntype = "noisy-contingency"\n')

    def missing(_which: str) -> Any:
        raise MissingExtraError("vetted noise for differential privacy", "dp")

    monkeypatch.setattr("privet.roads.noisy.road.production", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'privet\[dp\]'"):
        pv.publish(data, rules)
    assert spent(tmp_path) == 0


def test_noise_that_could_have_been_seen_stays_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("privet.dp.settings.consistent", broken)
    with pytest.raises(MemoryError):
        publish(tmp_path, noisy.TEXT)
    assert spent(tmp_path) == Fraction(1, 2)
    assert Ledger(tmp_path / "ledger.sqlite").releases()[0].state == "reserved"


def test_a_write_that_fails_leaves_nothing_and_no_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = publish(tmp_path, noisy.TEXT)

    def full(*_: Any) -> Any:
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("privet.release.ev.write", full)
        with pytest.raises(OSError, match="no room"):
            release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert Ledger(tmp_path / "ledger.sqlite").releases()[0].state == "reserved"
    assert pv.verify(release.write(tmp_path / "out")).holds  # the same noise, entered once


def test_questions_about_the_raw_table_are_answered_in_words(tmp_path: Path) -> None:
    folder = publish(tmp_path, noisy.TEXT).write(tmp_path / "out")
    rules = noisy.policy(tmp_path)
    for ask in (
        lambda: pv.check(noisy.table(), rules),
        lambda: pv.risk(noisy.table(), rules),
        lambda: pv.explain(folder),
    ):
        with pytest.raises(UnsupportedError):
            ask()


def test_the_published_policy_is_whole_but_for_the_ledger(tmp_path: Path) -> None:
    folder = publish(tmp_path, noisy.TEXT).write(tmp_path / "out")
    again = pv.Policy.load(folder / "policy.toml")
    assert again.ledger is None
    assert replace(noisy.policy(tmp_path), ledger=None, form=again.form) == again
    assert again.form == pv.Form(format="csv", delimiter=",")
    shutil.rmtree(tmp_path / "out.private")
    assert pv.verify(folder).holds


def test_keys_that_only_public_domains_use_are_refused_elsewhere() -> None:
    text = noisy.ATTRIBUTES + '[[models]]\ntype = "k-anonymity"\nk = 2\n[ledger]\nfile = "l"\ndataset = "d"\n'
    with pytest.raises(PolicyError) as refusal:
        pv.Policy.loads(text)
    said = "\n".join(refusal.value.complaints)
    for place in (
        "ledger:",
        "attributes.codes: hierarchy:",
        "attributes.pay: hierarchy:",
        "attributes.ill: values:",
    ):
        assert place in said


def test_sets_are_no_values_to_count() -> None:
    codes = noisy.policy(Path()).attributes[4].hierarchy
    assert codes is not None
    assert codes.uncovered(["11|7", None, "7|8"]) == ["7", "8"]
    with pytest.raises(HierarchyError, match="diffgen"):
        codes.domain(["11"])


def test_an_epsilon_from_python_is_exact_too() -> None:
    assert DifferentialPrivacy(epsilon=1).epsilon == Fraction(1)  # type: ignore[arg-type]
    for wrong in (0.5, True, "1"):
        with pytest.raises(PolicyError, match="epsilon: is an exact fraction"):
            DifferentialPrivacy(epsilon=wrong)  # type: ignore[arg-type]


def test_every_field_of_its_evidence_is_in_the_reference(tmp_path: Path) -> None:
    release = publish(tmp_path, noisy.ATTRIBUTES + noisy.MODEL + ALGORITHMS["bought"])
    evidence = ev.read(release.write(tmp_path / "out"))
    named = {"name", "job", "age", "pay", "codes", "ill", *evidence["files"]}
    keys = pages.keys_of({key: part for key, part in evidence.items() if key != "algorithm"}) - named
    text = (pages.HERE / "docs" / "reference" / "evidence.md").read_text("utf-8")
    achieved = {"epsilon of a person", "type"}
    assert not [key for key in keys - achieved if f"`{key}`" not in text]


def test_the_ledger_is_told_when_all_is_written_and_nothing_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, told = publish(tmp_path, noisy.TEXT), list[str]()

    def stopped(_: Any, digest: str) -> None:
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "out.private").exists()
        (made,) = tmp_path.glob(".out.*/new/out")
        assert digest == f"sha256:{ev.digest(made / 'evidence.json')}"
        assert {path.name for path in made.iterdir()} == {*ev.read(made)["files"], "evidence.json"}
        told.append(digest)
        raise KeyboardInterrupt

    monkeypatch.setattr("privet.dp.ledger.Reservation.release", stopped)
    with pytest.raises(KeyboardInterrupt):
        release.write(tmp_path / "out")
    assert told
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]
