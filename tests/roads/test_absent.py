"""A protected value that does not occur is refused, on every road. Issue 13, line 2."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.equality.test_key import naive

import privet as pv
from privet.cli import main
from privet.cli.absent import near
from privet.errors import AbsentError, PolicyError
from privet.roads import Foresees, engine_of, road_of
from privet.verification import verify

TABLE = pl.DataFrame({"age": ["a"] * 4, "ill": ["HIV", "HIV", "HIV", "flu"]})
MODELS = {
    "lkc": 'type = "lkc-privacy"\nl = 1\nk = 2\nc = "1/2"\nsensitive = { ill = ["Hiv"] }',
    "bound": 'type = "lkc-privacy"\nl = 1\nk = 2\nc = "1/2"\nsensitive = { ill = { Hiv = "1/3" } }',
    "alpha-k": 'type = "alpha-k-anonymity"\nalpha = "1/2"\nk = 2\nsensitive = { ill = ["Hiv", "flu"] }',
    "confidence": 'type = "confidence-bounding"\nsensitive = { ill = { Hiv = "1/2" } }',
    "null": 'type = "lkc-privacy"\nl = 1\nk = 2\nc = "1"\nsensitive = { ill = [{ null = true }] }',
}


def policy(model: str = MODELS["lkc"], top: str = "") -> pv.Policy:
    return pv.Policy.loads(
        f'policy = 1\n{top}\n[attributes]\nage = "quasi"\nill = "sensitive"\n[[models]]\n{model}\n'
    )


@pytest.mark.parametrize("model", MODELS)
def test_refused_when_published_and_when_checked(model: str) -> None:
    for act in (pv.publish, pv.check):
        with pytest.raises(
            AbsentError, match=r"models\[0\]: sensitive\.ill: .* does not occur .*, 2 different"
        ) as e:
            act(TABLE, policy(MODELS[model]))
        assert "HIV" not in str(e.value), "no value of the data in a message"
        assert len(e.value.complaints) == 1, "what does occur is no complaint"


def test_allowed_leaves_a_remark_everywhere(tmp_path: Path) -> None:
    said = policy(top='absent = "allowed"')
    assert pv.Policy.loads(said.dumps()) == said
    release = pv.publish(TABLE, said)
    folder = release.write(tmp_path / "out")
    remark = "the protected value 'Hiv' of ill does not occur in the data"
    assert any(remark in note for note in json.loads((folder / "evidence.json").read_text("utf-8"))["notes"])
    page = (folder / "report.html").read_text("utf-8").replace("&#x27;", "'").replace("&#39;", "'")
    assert remark in page
    assert any(remark in warning for warning in release.private["warnings"]), "publish says it on the screen"
    assert verify(folder).holds
    road = road_of(said)
    assert isinstance(road, Foresees)
    assert remark in road.foreseen(TABLE, said, engine=engine_of("embedded"))[1][0]


def test_a_value_that_occurs_leaves_no_remark() -> None:
    said = policy(MODELS["lkc"].replace("Hiv", "flu"), top='absent = "allowed"')
    assert not [note for note in pv.publish(TABLE, said).evidence["notes"] if "occur" in note]


def test_near_values_are_named_for_the_steward() -> None:
    def read(data: Any) -> list[str]:
        return near(data, policy(), engine_of("embedded"))

    assert read(TABLE) == ["ill: Hiv: HIV"]
    assert read(TABLE.with_columns(ill=pl.lit("x"))) == ["ill: Hiv: nothing is near"]


def test_only_two_words_are_known() -> None:
    with pytest.raises(PolicyError, match="absent"):
        policy(top='absent = "yes"')
    with pytest.raises(PolicyError, match="absent"):
        pv.Policy(policy().attributes, policy().models, absent="yes")  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["7", "7.0", "e\u0301", "Hiv", None]), min_size=1, max_size=6),
    st.lists(st.sampled_from(["7", "7e0", "\u00e9", "HIV"]), min_size=1, max_size=3, unique=True),
)
def test_refused_exactly_where_no_equal_value_occurs(values: list[str | None], asked: list[str]) -> None:
    data = pl.DataFrame({"age": ["a"] * len(values), "ill": values}, schema_overrides={"ill": pl.String})
    model = pv.model("lkc-privacy", l=1, k=1, c=Fraction(1), sensitive={"ill": asked})
    said = pv.Policy(policy().attributes, (model,))
    missing = [one for one in asked if naive(one) not in {naive(value) for value in values}]
    if not missing:
        pv.check(data, said)
        return
    with pytest.raises(AbsentError) as error:
        pv.check(data, said)
    assert len(error.value.complaints) == len(missing)


def test_presence_names_values_too() -> None:
    data = TABLE.with_columns(inside=pl.Series(["yes", "no", "yes", "no"]))
    said = pv.Policy.loads(
        'policy = 1\npublish_only = { inside = ["yes", "Yes"] }\n[attributes]\nage = "quasi"\n'
        'ill = "sensitive"\ninside = "sensitive"\n'
        '[[models]]\ntype = "k-map"\nk = 2\nsubset = "inside"\nvalues = ["yes", "Yes"]\n'
    )
    with pytest.raises(AbsentError, match=r"values\.inside: 'Yes' does not occur"):
        pv.publish(data, said)


def test_paths() -> None:
    said = pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n[trajectories]\nform = "column"\npath = "path"\n'
        '[attributes]\nill = "sensitive"\n[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\nc = "1/2"\n'
        'sensitive = { ill = ["Hiv"] }\n[algorithm]\ntype = "suppress-points"\n'
    )
    data = TABLE.select(pl.lit("a1 b2").alias("path"), "ill")
    for act in (pv.publish, pv.check):
        with pytest.raises(AbsentError, match="2 different values do"):
            act(data, said)


def test_rules_about_documents(tmp_path: Path) -> None:
    source = tmp_path / "raw.json"
    source.write_text(json.dumps([{"age": 1, "ill": ill} for ill in ("HIV", "flu", "cold", "pox")]))
    said = """
policy = 1
kind = "documents"
{top}
[documents]
record = {{ type = "person" }}
[documents.types.person]
quasi = ["age"]
sensitive = "ill"
[[models]]
type = "anatomy-l-diversity"
l = 2
[[models]]
type = "pm-privacy"
rules = [{{ value = "Hiv", m = 1, p = "1/2"{where} }}]
[algorithm]
type = "tree-anatomy"
"""
    for where in ("", ', attribute = "ill"', ', attribute = "person.ill"'):
        for act in (pv.publish, pv.check):
            with pytest.raises(AbsentError, match=r"models\[1\]: rules.*'Hiv' does not occur in the data, 4"):
                act(source, pv.Policy.loads(said.format(top="", where=where)))
    release = pv.publish(source, pv.Policy.loads(said.format(top='absent = "allowed"', where="")))
    assert any("'Hiv' of * does not occur" in note for note in release.evidence["notes"])
    folder = release.write(tmp_path / "out")
    assert any("'Hiv' of * does not occur in what is published" in one for one in verify(folder).remarks)


@pytest.mark.parametrize("search", ["top-down", "bucketisation", "lightest"])
def test_whoever_receives_it_is_told_by_both_checkers(
    search: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what is published: there a value may be missing because all who had it were left out."""
    from privet.verifier import verify as alone

    model = 'type = "lkc-privacy"\nl = 1\nk = 1\nc = "3/4"\nsensitive = { ill = ["Hiv", "flu"] }'
    ways = {
        "top-down": (model, 'age = "quasi"', ""),
        "bucketisation": (model, 'age = "quasi"', ""),
        "lightest": (model, "", '[trajectories]\nform = "column"\npath = "age"\n'),
    }
    promise, known, shape = ways[search]
    top = 'kind = "trajectories"\n' * bool(shape)
    data = TABLE.with_columns(age=pl.lit("a1 b2")) if shape else TABLE
    said = pv.Policy.loads(
        f'policy = 1\nabsent = "allowed"\n{top}{shape}[attributes]\n{known}\nill = "sensitive"\n'
        f"[[models]]\n{promise}\n"
        f'[algorithm]\ntype = "{search}"\n'
    )
    folder = pv.publish(data, said).write(tmp_path / "out")
    found = verify(folder)
    assert found.holds
    assert len(found.unseen) == 1
    assert found.unseen[0] in found.remarks
    assert "'Hiv' of ill does not occur in what is published" in found.unseen[0]
    assert main(["verify", str(folder)]) == 0
    assert "all hold, though 1 protected value does not occur" in capsys.readouterr().out
    code, lines = alone.verdict(folder)
    assert code == 0
    assert lines[-1] == "protected values that do not occur, of which a promise says nothing: 1"


def test_a_value_whose_people_were_all_left_out(tmp_path: Path) -> None:
    data = pl.DataFrame({"age": ["a", "a", "a", "b"], "ill": ["flu", "cold", "cold", "Hiv"]})
    said = pv.Policy.loads(
        policy(MODELS["lkc"].replace('c = "1/2"', 'c = "1"')).dumps().partition("[algorithm]")[0]
        + '[algorithm]\ntype = "optimal"\nsuppression = "1/2"\nlevels = { age = 0 }\n'
    )
    release = pv.publish(data, said)
    assert not [note for note in release.evidence["notes"] if "occur" in note], "the steward's data has it"
    assert "whoever had it was left out" in verify(release.write(tmp_path / "out")).unseen[0]
