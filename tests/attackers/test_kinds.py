"""Attacks on paths, sets and documents; and what the suite says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.attackers.weak import scene, table, terms
from tests.contract.pairs import easy, policy_of, table_of

import privet as pv
from privet import registry
from privet.attackers.attack import Attack, Judged
from privet.attackers.foreign import HINT, PYTHON
from privet.attackers.linkage import Linkage
from privet.attackers.suite import chosen
from privet.cli.outcome import run
from privet.errors import InputError, OptionError
from privet.report.attacked import render

Sampled = Callable[[str, int], tuple[Path, pv.Policy]]


@pytest.fixture
def sampled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Sampled:
    """A sample's file and its policy."""

    def make(name: str, rows: int) -> tuple[Path, pv.Policy]:
        ending = "json" if name == "transcripts" else "csv"
        data, policy = tmp_path / f"{name}.{ending}", tmp_path / f"{name}.toml"
        assert run(["sample", name, "-o", str(data), "--policy", str(policy), "--rows", str(rows)]) == 0
        capsys.readouterr()
        return data, pv.Policy.load(policy)

    return make


# Paths, sets, documents.


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "attack", "rows"),
    [
        ("trips-city", "path-linkage", 500),
        ("baskets", "path-linkage", 500),
        ("transcripts", "tree-linkage", 150),
        pytest.param("transcripts", "tree-linkage", 500, marks=pytest.mark.slow),
    ],
)
def test_other_kinds_stay_within_their_promise(
    sampled: Sampled, tmp_path: Path, name: str, attack: str, rows: int
) -> None:
    data, policy = sampled(name, rows)
    release = pv.publish(data, policy)
    folder = release.write(tmp_path / "out")
    found = pv.attack(folder, raw=data)
    assert {one.attack for one in found.outcomes} == {attack}
    assert found.holds
    covered = [one.judged is Judged.WITHIN for one in found.outcomes]
    # Of paths three visits are promised something, and a fourth is not.
    assert covered == ([True] * 3 + [False] if name == "trips-city" else [True] * len(covered))
    assert pv.attack(release).outcomes == found.outcomes  # before it leaves, the same
    assert {name for name, _ in found.not_tried} == set(registry.BUILT_IN["attacks"]) - {attack}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("trips-city", 300),
        ("baskets", 300),
        ("transcripts", 100),
        pytest.param("transcripts", 300, marks=pytest.mark.slow),
    ],
)
def test_other_kinds_that_leave_as_they_are_do_not(
    sampled: Sampled, tmp_path: Path, name: str, rows: int
) -> None:
    """The raw data in the place of the published: one person who stands alone is enough."""
    data, policy = sampled(name, rows)
    folder = pv.publish(data, policy).write(tmp_path / "out")
    published = next(folder.glob("data.*"))
    if name == "baskets":
        lines = data.read_text().splitlines()
        head = published.read_text().splitlines()[0]
        frame = pl.read_csv("\n".join(lines).encode()).select(head.split(","))
        published.write_text(frame.write_csv())
    elif name == "trips-city":
        pl.read_csv(data).select(pl.read_csv(published).columns).write_csv(published)
    else:
        trees = json.loads(published.read_text())
        first = trees[0]
        key = next(key for key, value in first.items() if isinstance(value, str))
        trees[0] = {**first, key: "nobody else's"}
        published.write_text(json.dumps(trees))
    found = pv.attack(folder, trials=3000)
    assert found.beyond


# The suite.


def test_every_attack_says_what_it_is() -> None:
    for name, attack in chosen():
        assert isinstance(attack, Attack)
        assert attack.name == name
        assert attack.assumes
        assert set(attack.needs) <= {"raw", "known", "several"}
        assert attack.kinds
        assert type(attack).__doc__


def test_what_is_not_tried_is_said_by_name_with_what_it_needs() -> None:
    release = pv.publish(table_of(0), policy_of(["k-anonymity"], "top-down"))
    why = dict(pv.attack(release).not_tried)
    assert why["order"] == why["minimality"] == "it needs the raw data: --raw"
    assert why["composition"] == "it needs several releases of the same people"
    assert why["tracker"] == "it is about query gateways, not tables"


def test_an_attack_whose_library_is_missing_does_not_stop_the_others() -> None:
    code = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "from tests.contract.pairs import policy_of, table_of\n"
        "import privet as pv\n"
        "found = pv.attack(pv.publish(table_of(0), policy_of(['k-anonymity'], 'top-down')))\n"
        "print(dict(found.not_tried)['tracker'], len(found.outcomes) > 3)"
    )
    here = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=here)
    assert done.stdout.strip() == "SQL for audited queries needs an extra: pip install 'privet[audit]' True"


def test_an_attack_that_is_none_is_refused() -> None:
    release = pv.publish(table_of(0), policy_of(["k-anonymity"], "top-down"))
    with pytest.raises(OptionError, match="attack is one of 21 words, not 'linkag'; did you mean linkage"):
        pv.attack(release, only=["linkag"])
    with pytest.raises(InputError, match="name a release"):
        pv.attack()
    with pytest.raises(InputError, match="trials"):
        pv.attack(release, trials=0)
    with pytest.raises(InputError, match="no such folder"):
        pv.attack("nowhere")


def test_the_same_seed_makes_the_same_choices() -> None:
    raw = table_of(0)
    release = pv.publish(raw, policy_of(["k-anonymity"], "top-down"))
    one, two, three = (pv.attack(release, raw=raw, only=["linkage"], seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == two.to_dict() != three.to_dict()


def test_what_is_returned_shows_itself() -> None:
    raw = table_of(0)
    found = pv.attack(pv.publish(raw, policy_of(["k-anonymity"], "top-down")), raw=raw, only=["linkage"])
    assert repr(found) == "Attacked(the release: 2 within, 2 not covered; 0 not tried)"
    assert "<caption>Attacked</caption>" in found._repr_html_()
    document = json.loads(json.dumps(found.to_dict()))
    assert document["holds"] is True
    assert document["outcomes"][0]["verdict"] in {"within", "not covered"}
    assert found.of("linkage") == found.outcomes


def test_no_value_of_the_data_is_repeated() -> None:
    canary = "zqx" + "jkv"
    raw = table_of(0).with_columns(pl.lit(canary).alias("ill"))
    found = pv.attack(pv.publish(raw, policy_of(["k-anonymity"], "top-down")), raw=raw)
    assert canary not in json.dumps(found.to_dict()) + repr(found.outcomes) + render(found.to_dict())


def test_a_page_says_what_is_beyond_first() -> None:
    rows = {"age": ["1", "2", "2"], "hours": ["0"] * 3, "ill": [*"abc"]}
    outcomes = Linkage().run(scene(table(rows, terms({"type": "k-anonymity", "k": 2}))))
    found: dict[str, Any] = {
        "releases": ["<out>"],
        "kind": "table",
        "with_raw": True,
        "outcomes": [one.to_dict() for one in outcomes],
        "assumptions": {"linkage": Linkage.assumes},
        "not_tried": [{"attack": "order", "why": "it needs the raw data"}],
    }
    page = render(found)
    assert "2 attacks got more than the promise allows" in page
    assert page.index("More than the promise allows") < page.index("What was not tried")
    assert "&lt;out&gt;" in page
    assert "<out>" not in page
    assert "stays with you" in page


def test_anonymeter_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    raw = table_of(0)
    release = pv.publish(raw, policy_of(["k-anonymity"], "top-down"))
    found = pv.attack(release, raw=raw, only=["anonymeter"])
    assert found.not_tried == (("anonymeter", HINT),)


def test_anonymeter_runs_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the other environment's Python, which says what it was given."""
    fake = tmp_path / "python"
    fake.write_text(
        "#!/bin/sh\n"
        f'cp "$3/raw.csv" "$3/released.csv" "$3/asked.json" "{tmp_path}"\n'
        'echo \'[{"goal": "g", "tried": 10, "succeeded": 4, "baseline": 0.2, "note": ""}]\'\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv(PYTHON, str(fake))
    raw = table_of(0)
    release = pv.publish(raw, policy_of(["k-anonymity"], "top-down"))
    (found,) = pv.attack(release, raw=raw, only=["anonymeter"]).outcomes
    assert (found.rate, found.baseline, found.judged) == (0.4, 0.2, Judged.NOT_COVERED)
    theirs, ours = (pl.read_csv(tmp_path / name) for name in ("raw.csv", "released.csv"))
    assert theirs.sort(theirs.columns).equals(ours.sort(ours.columns))  # generalised alike
    assert json.loads((tmp_path / "asked.json").read_text())["secrets"] == ["ill"]
    fake.write_text("#!/bin/sh\nexit 1\n")
    assert "did not run" in pv.attack(release, raw=raw, only=["anonymeter"]).not_tried[0][1]


@pytest.mark.slow
@pytest.mark.skipif(PYTHON not in os.environ, reason=HINT)
def test_anonymeter_itself_finds_more_in_a_weak_release() -> None:
    raw, goal = table_of(0, rows=300), "a predicate that singles one person out"
    weak, ours = (
        next(one for one in pv.attack(release, raw=raw, only=["anonymeter"]).outcomes if one.goal == goal)
        for release in (
            pv.publish(raw, policy_of([{"type": "k-anonymity", "k": k}], "top-down")) for k in (1, 5)
        )
    )
    assert weak.between[0] > 0.9
    assert ours.between[1] < weak.between[0]


# The command.


def test_the_command_ends_as_its_verdict_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw, policy = tmp_path / "raw.csv", tmp_path / "policy.toml"
    table_of(0).write_csv(raw)
    policy.write_text(policy_of([{"type": "k-anonymity", "k": 4}], "top-down").dumps())
    out = str(tmp_path / "out")
    assert run(["publish", str(raw), str(policy), "-o", out]) == 0
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert run(["attack", out, "--only", "linkage", "--only", "tracker", "-o", str(page)]) == 0
    said = capsys.readouterr().out
    assert "no attack of 4 got more than the promise allows" in said
    assert "about other kinds  tracker" in said
    assert page.read_text().startswith("<!doctype html>")
    assert run(["attack", out, "--only", "linkage", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True
    table_of(0).select("age", "hours", "ill").write_csv(Path(out) / "data.csv")
    assert run(["attack", out, "--only", "linkage"]) == 1
    assert "got more than the promise allows" in capsys.readouterr().out
    assert run(["attack", out, "-o", str(Path(out) / "page.html"), "--only", "linkage"]) == 2


def test_publish_with_attack_writes_nothing_that_is_beaten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from privet.attackers import promised

    raw, policy = tmp_path / "raw.csv", tmp_path / "policy.toml"
    easy().sort("age", "hours", "ill").write_csv(raw)
    policy.write_text(policy_of([{"type": "k-anonymity", "k": 4}], "optimal").dumps())
    out = tmp_path / "out"
    asked = ["publish", str(raw), str(policy), "-o", str(out), "--attack"]
    with monkeypatch.context() as patched:
        # A promise that nobody can keep: a record is never found.
        patched.setattr(promised, "_identity", lambda *_: promised.Bound(Fraction(1, 1000), "never"))
        assert run(asked) == 1
        said = capsys.readouterr().err
        assert "linkage: the record of a person" in said
        assert "never allows 0.10%" in said
        assert "nothing was written" in said
        assert not out.exists()
        assert not out.with_name("out.private").exists()
    assert run(asked) == 0
    assert "got more than the promise allows" in capsys.readouterr().out
    assert (out / "evidence.json").exists()
