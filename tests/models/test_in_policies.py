"""Every class-based promise as a line in a policy file, and on the whole road."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.policy.notation import describe
from privet.registry import BUILT_IN, installed
from privet.report.words import kept, wording

HEAD = """
policy = 1

[attributes]
job = { role = "quasi", hierarchy = { type = "tree", tree = { Any = JOBS } } }
age = { role = "quasi", hierarchy = { type = "intervals", width = [10, 20] } }
ill = { role = "sensitive" }
pay = { role = "sensitive" }
wish = { role = "sensitive" }

""".replace("JOBS", '{ Artist = ["Dancer", "Writer"], Desk = ["Clerk", "Boss"] }')
ILL = 'sensitive = ["ill"]'
TREE = 'tree = { Any = { Virus = ["HIV", "flu"], cough = [] } }'
LINES = {
    "distinct": 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill", "pay"]',
    "entropy": 'type = "entropy-l-diversity"\nl = 2\nsensitive = ["ill"]',
    "recursive": 'type = "recursive-l-diversity"\nc = 3\nl = 2\nsensitive = ["ill"]',
    "variational": 'type = "t-closeness"\nt = "0.3"\nsensitive = ["ill"]\ndistance = "variational"',
    "equal": 'type = "t-closeness"\nt = "0.3"\nsensitive = ["ill", "pay"]\ndistance = "equal"',
    "kl": 'type = "t-closeness"\nt = "0.3"\nsensitive = ["ill"]\ndistance = "kl"',
    "numbers": 'type = "t-closeness"\nt = "0.2"\nsensitive = ["pay"]\ndistance = "ordered"',
    "order": f'type = "t-closeness"\nt = "0.2"\n{ILL}\ndistance = "ordered"\norder = ["HIV", "flu", "cough"]',
    "tree": f'type = "t-closeness"\nt = "0.2"\nsensitive = ["ill"]\ndistance = "hierarchical"\n{TREE}',
    "beta": 'type = "beta-likeness"\nbeta = 1\nsensitive = ["ill"]',
    "enhanced": 'type = "enhanced-beta-likeness"\nbeta = "1"\nsensitive = ["ill"]',
    "delta": 'type = "delta-disclosure"\ndelta = "1.5"\nsensitive = ["ill"]',
    "p-sensitive": 'type = "p-sensitive-k-anonymity"\np = 2\nk = 4\nsensitive = ["ill", "pay"]',
    "personalised": f'type = "personalised-privacy"\nat_most = "1/2"\n{ILL}\nguard = "wish"\n{TREE}',
    "average": 'type = "average-risk"\nat_most = "20%"',
    "maximum": 'type = "maximum-risk"\nat_most = "0.3"',
    "at risk": 'type = "records-at-risk"\nabove = "1/5"\nat_most = "10%"',
    "unique": 'type = "sample-uniqueness"\nat_most = 0',
    "population": 'type = "population-uniqueness"\nat_most = "1/1000"\nfraction = "1%"',
}


def policy(lines: str) -> pv.Policy:
    return pv.Policy.loads(f"{HEAD}\n[[models]]\n{lines}\n")


def people(rows: int = 240) -> pl.DataFrame:
    jobs, ills = ["Dancer", "Writer", "Clerk", "Boss"], ["flu", "cough", "HIV", "flu", None]
    return pl.DataFrame(
        {
            "job": [jobs[at * 7 % 11 % 4] for at in range(rows)],
            "age": [20 + at * 13 % 57 for at in range(rows)],
            "ill": [(ills[at * 5 % 23 % 5] or "cough") for at in range(rows)],
            "pay": [1000 * (1 + at * 3 % 17 % 6) for at in range(rows)],
            "wish": [(None, "Virus", "HIV")[at % 5 % 3] for at in range(rows)],
        }
    )


def test_every_type_is_here() -> None:
    ours = {describe(policy(lines).models[0])["type"] for lines in LINES.values()}
    # Promises about how a release is made, and about documents: tests/roads.
    elsewhere = {
        name
        for name, target in installed("models").items()
        if target.load().spent or "table" not in target.load().kinds
    }
    assert ours == set(BUILT_IN["models"]) - elsewhere - {
        "lkc-privacy", "k-anonymity", "confidence-bounding", "alpha-k-anonymity",
        "k-map", "delta-presence",  # tests/roads/test_population.py
        "safe-harbor",  # tests/models/test_safeharbor.py
    }  # fmt: skip


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_written_and_read_again(lines: str) -> None:
    first = policy(lines)
    again = pv.Policy.loads(first.dumps())
    assert again.models == first.models
    assert again.dumps() == first.dumps()
    json.dumps(describe(first.models[0]))


NOT_MONOTONE = ("personalised", "population")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "lines", [v for k, v in LINES.items() if k not in NOT_MONOTONE], ids=lambda v: v[8:40]
)
def test_published_verified_and_reported(lines: str, tmp_path: Path) -> None:
    rules, table = policy(lines), people()
    release = pv.publish(table, rules)
    ((_, verdict),) = pv.check(release.to_polars(), rules)
    assert verdict.holds
    (promise,) = release.evidence["promises"]
    assert promise["holds"]
    assert kept(promise)
    assert all("not stated" not in claim.found for claim in wording(promise, ("job", "age")).claims)
    folder = release.write(tmp_path / "out")
    assert pv.verify(folder).holds
    assert "not stated" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "lines", [LINES["equal"], LINES["entropy"], LINES["distinct"]], ids=["t", "entropy", "l"]
)
def test_the_result_is_locally_maximal(lines: str) -> None:
    """The generic path of the search: every refused split would break the promise."""
    release = pv.publish(people(), policy(lines))
    steps = release.evidence["steps"]
    name = policy(lines).models[0].name
    assert {step["refused"] for step in steps if "refused" in step} <= {name}
    assert any("refused" not in step for step in steps)


def test_several_promises_together() -> None:
    several = "\n[[models]]\n".join([LINES["p-sensitive"], LINES["equal"], LINES["average"], LINES["order"]])
    release = pv.publish(people(), policy(several))
    assert [promise["holds"] for promise in release.evidence["promises"]] == [True] * 4


def test_what_is_not_monotone_is_checked_but_not_searched_for() -> None:
    rules = policy(LINES["personalised"])
    ((_, verdict),) = pv.check(people(), rules)
    assert not verdict.holds
    with pytest.raises(PolicyError, match="promises that generalising keeps, not personalised-privacy"):
        policy(LINES["personalised"] + '\n[algorithm]\ntype = "top-down"')


def test_wildcards_are_refused_on_the_road() -> None:
    rules = pv.Policy.loads(
        HEAD.replace("policy = 1", 'policy = 1\nnulls = "wildcard"') + "[[models]]\n" + LINES["equal"]
    )
    with pytest.raises(UnsupportedError, match="t-closeness and nulls"):
        pv.publish(people(), rules)


def test_what_no_recoding_reaches_is_said_with_what_could_be() -> None:
    with pytest.raises(
        UnsatisfiableError,
        match=r"y \(l = 4\) cannot be kept; the nearest feasible is distinct-l-diversity \(l = 3\)",
    ):
        pv.publish(people(), policy('type = "distinct-l-diversity"\nl = 4\nsensitive = ["ill"]'))
    with pytest.raises(UnsatisfiableError, match=r"maximum-risk: 1/1000 cannot be kept; .* is 1/240"):
        pv.publish(people(), policy('type = "maximum-risk"\nat_most = "0.001"'))


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (
            'type = "distinct-l-diversity"\nl = 2\nsensitive = ["job"]',
            r"models\[0\]: sensitive.job: no attribute",
        ),
        ('type = "distinct-l-diversity"\nl = 2\nsensitive = "ill"', "sensitive: is a list"),
        ('type = "distinct-l-diversity"\nl = 2', "sensitive is missing"),
        ('type = "entropy-l-diversity"\nl = 2.5\nsensitive = ["ill"]', "l: is a whole number"),
        ('type = "t-closeness"\nt = "1/5"\nsensitive = ["ill"]', "distance is missing"),
        (
            'type = "t-closeness"\nt = "1/5"\nsensitive = ["ill"]\ndistance = "far"',
            "one of variational, kl",
        ),
        (LINES["personalised"].replace('"wish"', '"age"'), r"models\[0\]: guard.age: no attribute"),
        (
            LINES["tree"].replace("Any = {", "Any = { flu = [],"),
            "tree: 1 labels stand in more",
        ),
        (LINES["tree"].partition("tree =")[0] + "tree = 3", "tree: "),
    ],
)
def test_a_wrong_line_is_answered_with_its_place(lines: str, complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        policy(lines)


def test_with_suppression_allowed_nobody_is_told_a_bound_that_suppressing_would_undo() -> None:
    """Dropping two of five in eight keeps a half; one in ten of eight is nobody."""
    rules = (
        "policy = 1\n[attributes]\n"
        'age = { role = "quasi", hierarchy = { type = "intervals", width = [2] } }\n'
        'ill = "sensitive"\n[[models]]\ntype = "alpha-k-anonymity"\nk = 2\nalpha = "1/2"\n'
        'sensitive = { ill = ["HIV"] }\n[algorithm]\ntype = "optimal"\nsuppression = "SHARE"\n'
    )
    people = pl.DataFrame({"age": range(30, 38), "ill": ["HIV"] * 5 + ["flu", "cold", "ache"]})
    with pytest.raises(UnsatisfiableError, match="within the suppression limit; raise the limit") as told:
        pv.publish(people, pv.Policy.loads(rules.replace("SHARE", "1/8")))
    assert "with nobody suppressed" in str(told.value)
    assert pv.publish(people, pv.Policy.loads(rules.replace("SHARE", "1/2"))).to_polars().height >= 4
    with pytest.raises(UnsatisfiableError, match="the smallest feasible is 5/8"):
        pv.publish(people, pv.Policy.loads(rules.replace("SHARE", "0")))
