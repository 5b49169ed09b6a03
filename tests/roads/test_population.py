"""A population is read, some of it leaves: what is checked on whom, and what a release can show."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.cli.outcome import run
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.errors import InputError, PolicyError, UnsatisfiableError, UnsupportedError

ROWS = 240
RAW = pl.DataFrame(
    {
        "age": [20 + at * 7 % 40 for at in range(ROWS)],
        "sex": ["mf"[at * at % 3 % 2] for at in range(ROWS)],
        "ill": [["flu", "HIV", "cold"][at % 3] for at in range(ROWS)],
        "in_study": [["canaryyes", "no", "no", None][at * 5 % 7 % 4] for at in range(ROWS)],
    }
)
ATTRIBUTES = """
[attributes]
age = { role = "quasi" }
sex = { role = "quasi" }
ill = { role = "sensitive" }
in_study = { role = "sensitive" }
"""
ONLY = 'publish_only = { in_study = ["canaryyes"] }\n'
K_MAP = '[[models]]\ntype = "k-map"\nk = 9\nsubset = "in_study"\nvalues = ["canaryyes"]\n'
DELTA = (
    '[[models]]\ntype = "delta-presence"\nlow = "1/10"\nhigh = "1/2"\nsubset = "in_study"\n'
    'values = ["canaryyes"]\n'
)
K = '[[models]]\ntype = "k-anonymity"\nk = 4\n'


def policy(models: str, *, only: str = ONLY, rest: str = "") -> pv.Policy:
    return pv.Policy.loads(f"policy = 1\n{only}{ATTRIBUTES}{models}{rest}")


def everybody(release: pv.Release) -> pl.DataFrame:
    """The whole population as the release generalises it, from the steward's notes."""
    labels = {
        name: {pair["raw"]: pair["published"] for pair in pairs}
        for name, pairs in release.private["published_as"].items()
    }
    return RAW.with_columns(
        pl.Series(name, [labels[name][str(value)] for value in RAW[name]]) for name in ("age", "sex")
    )


def test_each_promise_is_kept_by_those_it_is_about() -> None:
    release = pv.publish(RAW, policy(K_MAP + DELTA + K))
    left = release.to_polars()
    assert left.columns == ["age", "sex", "ill"]
    study = RAW.filter(pl.col("in_study") == "canaryyes")
    assert left["ill"].sort().to_list() == study["ill"].sort().to_list()  # these rows, in whatever order
    whole = everybody(release)
    people = Counter(whole.select("age", "sex").iter_rows())
    shown = Counter(left.select("age", "sex").iter_rows())
    assert min(people[one] for one in shown) >= 9
    assert all(Fraction(1, 10) <= Fraction(shown[one], people[one]) <= Fraction(1, 2) for one in people)
    assert min(shown.values()) >= 4
    k_map, delta, k = release.evidence["promises"]
    assert k_map["achieved"] == {"k": min(people[one] for one in shown)}
    assert Fraction(delta["achieved"]["high"]) == max(Fraction(shown[one], n) for one, n in people.items())
    assert k["achieved"] == {"k": min(shown.values())}
    assert (release.evidence["records"], release.evidence["population"]) == (left.height, ROWS)
    assert release.evidence["suppressed_records"] == 0
    assert release.evidence["attributes"]["in_study"] == {"role": "sensitive", "published": "dropped"}


def test_without_the_promise_about_the_study_its_classes_may_be_small() -> None:
    """k-map is about the population: the same policy with k-anonymity for the rows that leave loses more."""
    alone = pv.publish(RAW, policy(K_MAP))
    both = pv.publish(RAW, policy(K_MAP + K))
    smallest = [min(Counter(r.to_polars().select("age", "sex").iter_rows()).values()) for r in (alone, both)]
    assert smallest[0] < 4 <= smallest[1]


def test_what_a_release_cannot_show_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = pv.publish(RAW, policy(K_MAP + DELTA + K))
    k_map, delta, k = release.evidence["promises"]
    assert (k_map["checked"], k_map["checked_with"], delta["checked_with"]) == (False, *["population"] * 2)
    assert "checked" not in k
    folder = release.write(tmp_path / "out")
    found = pv.verify(folder)
    assert found.holds
    assert [claim["model"]["type"] for claim in found.made] == ["k-map", "delta-presence"]
    assert [model.name for model, _ in found.verdicts] == ["k-anonymity"]
    assert run(["verify", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "nobody can check" in said
    report = (folder / "report.html").read_text("utf-8")
    assert "not in the release" in report
    assert "not stated" not in report
    assert "canaryyes" not in (folder / "data.csv").read_text("utf-8")
    assert pv.Policy.load(folder / "policy.toml").publish_only == {"in_study": ("canaryyes",)}


def test_a_release_with_the_column_in_it_is_not_accepted(tmp_path: Path) -> None:
    folder = pv.publish(RAW, policy(K_MAP)).write(tmp_path / "out")
    data = pl.read_csv(folder / "data.csv").with_columns(in_study=pl.lit("canaryyes"))
    data.write_csv(folder / "data.csv")
    assert any("in_study" in complaint for complaint in pv.verify(folder).complaints)


def test_risk_and_comparison_are_of_those_who_leave(tmp_path: Path) -> None:
    rules = policy(K_MAP + K)
    study = RAW.filter(pl.col("in_study") == "canaryyes")
    found = pv.risk(RAW, rules)
    people, shown = (Counter(t.select("age", "sex").iter_rows()) for t in (RAW, study))
    assert found["records"] == study.height
    assert found["prosecutor"]["highest"] == 1 / min(shown.values())
    assert found["prosecutor"]["threshold"] == "1/4"  # k-map bounds other classes
    assert found["journalist"]["highest"] == pytest.approx(1 / min(people[one] for one in shown))
    chances = [n / people[one] for one, n in shown.items()]
    assert found["journalist"]["average"] == pytest.approx(sum(chances) / study.height)
    assert found["journalist"]["people"] == ROWS
    assert json.loads(json.dumps(found.to_dict())) == found
    release = pv.publish(RAW, rules)
    folder = release.write(tmp_path / "out")
    for given in (folder, release):
        compared = pv.compare(RAW, given)
        assert compared["records"] == study.height
        assert compared["loss"]["lm"] == pytest.approx(release.measures["loss"]["lm"], abs=1e-6)
        assert compared["loss"]["query_error"] is not None
    assert pv.explain(folder)["records"] == study.height


def test_check_says_what_the_table_achieves_as_it_stands() -> None:
    (_, k_map), (_, k) = pv.check(RAW, policy(K_MAP + K))
    people = Counter(RAW.select("age", "sex").iter_rows())
    study = RAW.filter(pl.col("in_study") == "canaryyes")
    shown = Counter(study.select("age", "sex").iter_rows())
    assert k_map.achieved == {"k": min(people[one] for one in shown)}
    assert k.achieved == {"k": min(shown.values())}


def test_both_engines_keep_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    RAW.write_csv(path)
    expected = RAW.filter(pl.col("in_study") == "canaryyes")["age"].to_list()
    for engine in (Embedded(), Plain()):
        left = engine.only(engine.read(path, Form()), {"in_study": ("canaryyes", "else")})  # type: ignore[arg-type]
        assert engine.columns(left) == ("age", "sex", "ill")  # type: ignore[arg-type]
        assert [int(age) for age in engine.arrow(left)["age"]] == expected  # type: ignore[arg-type]
    plain = pv.publish(path, policy(K_MAP + K), engine="plain").to_polars()
    assert plain.cast(pl.String).equals(pv.publish(path, policy(K_MAP + K)).to_polars().cast(pl.String))


@pytest.mark.parametrize(
    ("models", "only", "rest", "says"),
    [
        (K_MAP, "", "", "subset and values are those of publish_only"),
        (K_MAP, 'publish_only = { in_study = ["no"] }\n', "", "subset and values are those of publish_only"),
        (K, 'publish_only = { age = ["20"] }\n', "", 'no attribute with that name and role "sensitive"'),
        (K, 'publish_only = { in_study = "yes" }\n', "", "is a list of texts"),
        (K, 'publish_only = { in_study = ["a"], ill = ["flu"] }\n', "", "names one column"),
        (K, 'publish_only = ["in_study"]\n', "", "is a table of a column and its values"),
        (
            '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["in_study"]\n',
            ONLY,
            "",
            "says which rows leave",
        ),
        (
            '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]\n',
            ONLY,
            '[algorithm]\ntype = "anatomy"\n',
            "anatomy publishes every row",
        ),
    ],
)
def test_a_policy_that_does_not_agree_with_itself(models: str, only: str, rest: str, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        policy(models, only=only, rest=rest)


def test_what_drops_or_changes_people_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="none of it dropped or changed"):
        pv.publish(
            RAW,
            policy(
                '[[models]]\ntype = "by-construction"\n',
                rest='[algorithm]\ntype = "sampling"\nshare = "1/2"\n',
            ),
        )


def test_a_study_of_nobody_is_refused() -> None:
    with pytest.raises((InputError, UnsatisfiableError)):
        pv.publish(RAW.with_columns(in_study=pl.lit("no")), policy(K))


def test_what_columns_tell_needs_no_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "raw.csv"
    RAW.with_row_index("number").write_csv(path)
    assert run(["risk", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["columns"]
    assert found["single"][0]["columns"] == ["number"]
    assert found["single"][0]["distinctness"] == 1
    assert (
        found["together"][0]["columns"] == ["age", "sex", "ill"] or found["together"][0]["distinctness"] < 1
    )
    assert run(["risk", str(path)]) == 0
    said = capsys.readouterr().out
    assert "age + sex" in said
    assert "canaryyes" not in said
    rules = tmp_path / "policy.toml"
    rules.write_text(f"policy = 1\n{ATTRIBUTES}{K}", "utf-8")
    assert run(["risk", str(path), str(rules), "--fraction", "1/20"]) == 0
    assert "pitman is to be believed" in capsys.readouterr().out
    assert run(["risk", str(path), str(rules), "--fraction", "2"]) == 2
    assert run(["risk", str(path), str(rules), "--fraction", "some"]) == 2
