"""Documents through the whole road: what leaves keeps its promise, tells the truth, has the form it had."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests import pages
from tests.document.forests import SCHEMA, collections
from tests.tries import seldom

import privet as pv
from privet.assess import compare, explain, risk
from privet.core import Role
from privet.document.anatomy import Anatomize
from privet.document.anatomy_rules import Rule
from privet.document.clustree import ClusTree, CToff
from privet.document.described import described
from privet.document.edits import DocumentEdits
from privet.document.forest import Forest, Vertex
from privet.document.measures import lm, sensitive_counts
from privet.document.promises import AnatomyDiversity, DocumentAnonymity, DocumentDiversity, PMPrivacy
from privet.document.schema import Kind
from privet.document.settings import TreeAnatomy
from privet.document.style import Style
from privet.engines.documents.shape import Shape, Writer
from privet.errors import (
    InputError,
    InternalError,
    PolicyError,
    TamperedError,
    UnsatisfiableError,
    UnsupportedError,
)
from privet.evidence import folder as ev
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.readings import Absent
from privet.report import html
from privet.roads import engine_of
from privet.roads.documents import relaxed as document_relaxed
from privet.roads.documents.data import collected
from privet.roads.documents.notes import Watch, held, levels
from privet.roads.documents.shape import DocumentShape
from privet.samples.collections import COLLECTIONS
from privet.verification import verify

SHAPE = DocumentShape(SCHEMA)
RULE = PMPrivacy((Rule("A", 1, Fraction(1, 2), "grade"), Rule("*", 2, Fraction(1, 2), "price")))
WAYS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "ctoff": ((DocumentDiversity(2),), CToff()),
    "greedy": ((DocumentDiversity(2),), CToff(mapping="greedy", weights="members", absorb=True)),
    "clustree": ((DocumentDiversity(2),), ClusTree()),
    "k-anonymity": ((DocumentAnonymity(3), DocumentDiversity(2)), CToff()),
    "t-t": ((AnatomyDiversity(2),), TreeAnatomy()),
    "v-v": ((AnatomyDiversity(2),), TreeAnatomy(style=Style.VERTICES)),
    "rules t-t": ((AnatomyDiversity(2), RULE), TreeAnatomy(order="assignment")),
    "rules v-v": ((AnatomyDiversity(2), RULE), TreeAnatomy(style=Style.VERTICES, absorb_leftovers=True)),
}


def policy_of(way: str) -> Policy:
    models, algorithm = WAYS[way]
    return Policy(SHAPE.attributes, models, algorithm, kind="documents", shape=SHAPE, absent=Absent.ALLOWED)


def objects(records: Sequence[Vertex]) -> list[Any]:
    writer = Writer(SCHEMA, Shape())
    return [{"name": f"N{at}", **writer.json(record)} for at, record in enumerate(records)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(records=collections(3, 8))
def test_random_forests_leave_checked_and_true(
    way: str, records: list[Vertex], tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = objects(records)
    try:
        release = pv.publish(raw, policy_of(way))
    except UnsatisfiableError:
        assume(False)
    assert all(verdict.holds for _, verdict in release.verdicts)
    folder = release.write(tmp_path_factory.mktemp("made") / "out")
    assert verify(folder).holds
    found = compare(raw, folder)
    truth = found["truth"]
    assert truth["true"] == truth.get("groups", truth.get("looked_at"))
    assert "N0" not in (folder / "data.json").read_text()
    assert found["records"]["before"] == len(records)
    before, after = found["vertices"]["before"], found["vertices"]["after"]
    assert before == sum(1 for record in records for _ in record.walk()) >= after
    if "lm" in found["loss"]:
        claimed = release.evidence["measures"]
        assert found["loss"]["lm"] == pytest.approx(claimed["loss"]["lm"], abs=1e-8)
        for name, one in found["attributes"].items():
            assert one["lm"] == pytest.approx(claimed["attributes"][name]["lm"], abs=1e-8)


# Samples, in every form that there is.


def sample(tmp_path: Path, name: str = "transcripts", rows: int = 40) -> tuple[list[Any], Policy]:
    del tmp_path
    one = COLLECTIONS[name]
    return list(one.generate(rows, 0)), Policy.loads(one.policy(l=2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_sample_has_a_policy_that_can_be_kept(name: str) -> None:
    raw, policy = sample(Path(), name)
    for one in (policy, Policy.loads(COLLECTIONS[name].policy(l=2, algorithm="tree-anatomy"))):
        release = pv.publish(raw, one)
        assert release.evidence["records"] >= 20
        assert Policy.loads(one.dumps()).to_document() == one.to_document()


def shape_of_json(value: Any) -> Any:
    """Which keys stand where, and of what type sensitive values are."""
    if isinstance(value, dict):
        return {key: shape_of_json(inner) for key, inner in value.items()}
    return shape_of_json(value[0]) if isinstance(value, list) and value else type(value).__name__


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".jsonl.gz"])
def test_what_leaves_has_the_form_of_what_came(ending: str, tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    source = tmp_path / f"raw{ending}"
    text = json.dumps(raw) if ending == ".json" else "".join(json.dumps(one) + "\n" for one in raw)
    source.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    folder = pv.publish(source, policy).write(tmp_path / "out")
    data = (folder / f"data{ending}").read_bytes()
    text = (gzip.decompress(data) if ending.endswith("gz") else data).decode()
    made = json.loads(text) if ending == ".json" else [json.loads(line) for line in text.splitlines()]
    assert set(made[0]) <= {"major", "yob", "gpa", "courses"}
    assert isinstance(made[0]["gpa"], float)
    assert set(made[0]["courses"][0]) <= {"course", "grade", "books"}
    assert verify(folder).holds


@pytest.mark.parametrize(
    ("algorithm", "to"),
    seldom(
        product(["ctoff", "tree-anatomy"], ["json", "jsonl.gz", "xml"]),
        [("ctoff", "xml"), ("ctoff", "jsonl.gz"), ("tree-anatomy", "json")],
    ),
)
def test_another_form_can_be_asked_for(algorithm: str, to: str, tmp_path: Path) -> None:
    raw, _ = sample(tmp_path)
    policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=2, algorithm=algorithm))
    folder = pv.publish(raw, policy, output=to).write(tmp_path / "out")
    assert verify(folder).holds
    if algorithm == "ctoff":
        assert (folder / f"data.{to}").is_file()
        again = pv.publish(folder / f"data.{to}", replace_shape(policy), output="json").evidence["records"]
        assert again == ev.read(folder)["records"]


def replace_shape(policy: Policy) -> Policy:
    """What is published already needs no hierarchy to be published again."""
    shape = policy.shape.published()
    shape = replace(shape, schema=replace(shape.schema, record=policy.shape.schema.record))
    return replace(policy, shape=shape, attributes=shape.attributes)


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    with pytest.raises(InputError, match="the format to write is one of json, jsonl, xml"):
        pv.publish(raw, policy, output="parquet")


KEYED = """
policy = 1
kind = "documents"
[documents]
record = { type = "patient" }
keys = { patient = { own = "pid" }, visit = { own = "vid", parent = "pid" } }
[documents.types.patient]
quasi = ["born"]
sensitive = "blood"
children = { visits = "visit" }
[documents.types.visit]
quasi = ["year"]
sensitive = "illness"
"""
PROMISES = {
    "ctoff": '[[models]]\ntype = "document-l-diversity"\nl = 2\n[algorithm]\ntype = "ctoff"\n',
    "t-t": '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[algorithm]\ntype = "tree-anatomy"\n',
}
PROMISES["v-v"] = PROMISES["t-t"] + 'style = "v-v"\n'


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", PROMISES)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_joined_by_keys(way: str, ending: str, tmp_path: Path) -> None:
    source = tmp_path / "tables"
    source.mkdir()
    people = pl.DataFrame(
        {
            "pid": [f"secret{n}" for n in range(8)],
            "born": [str(1950 + n % 3) for n in range(8)],
            "blood": [("A", "B", "0", "AB")[n % 4] for n in range(8)],
        }
    )
    visits = pl.DataFrame(
        {
            "vid": [f"v{n}" for n in range(16)],
            "pid": [f"secret{n % 8}" for n in range(16)],
            "year": [str(2000 + n % 2) for n in range(16)],
            "illness": [("flu", "cold", "hiv", "gout", "ache")[n % 5] for n in range(16)],
        }
    )
    for name, frame in (("patient", people), ("visit", visits)):
        path = source / f"{name}.{ending}"
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    policy = Policy.loads(KEYED + PROMISES[way])
    folder = pv.publish(source, policy).write(tmp_path / "out")
    names = {path.name for path in folder.iterdir() if path.name.startswith("data.")}
    assert {f"data.patient.{ending}", f"data.visit.{ending}"} <= names
    assert verify(folder).holds
    assert b"secret" not in b"".join(path.read_bytes() for path in folder.iterdir())
    found = compare(source, folder)
    assert found["truth"]["true"] == found["truth"].get("groups", found["records"]["after"])
    by_frames = pv.publish({"patient": people, "visit": visits}, policy)
    assert by_frames.evidence["records"] > 0


# A second look.


def published(tmp_path: Path, algorithm: str = "ctoff") -> Path:
    """A release of its own for each test; it is made once in a session, and copied."""
    once = tmp_path.parent / f"released-{algorithm}"
    if not once.exists():
        raw, _ = sample(tmp_path)
        policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=2, algorithm=algorithm))
        pv.publish(raw, policy).write(once)
    shutil.copytree(f"{once}.private", tmp_path / "out.private")
    return Path(shutil.copytree(once, tmp_path / "out"))


def renewed(folder: Path) -> None:
    """Whoever forges data forges its digest, too."""
    evidence = json.loads((folder / "evidence.json").read_text())
    evidence["files"] = {name: ev.digest(folder / name) for name in evidence["files"]}
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def changed(folder: Path, change: Any) -> None:
    made = json.loads((folder / "data.json").read_text())
    change(made)
    (folder / "data.json").write_text(json.dumps(made))
    renewed(folder)


def test_a_record_that_is_left_out_is_missed(tmp_path: Path) -> None:
    folder = published(tmp_path)
    changed(folder, lambda made: made.pop())
    found = verify(folder)
    assert not found.holds
    assert any("records" in complaint for complaint in found.complaints)
    assert any(not verdict.holds for _, verdict in found.verdicts)


def test_a_label_that_stands_out_is_found(tmp_path: Path) -> None:
    folder = published(tmp_path)
    changed(folder, lambda made: made[0].update(yob="1986x"))
    found = verify(folder)
    assert not found.holds
    assert any(not verdict.holds for _, verdict in found.verdicts)


@pytest.mark.parametrize("algorithm", ["ctoff", "tree-anatomy"])
def test_an_identifier_in_a_release_is_refused(algorithm: str, tmp_path: Path) -> None:
    folder = published(tmp_path, algorithm)

    def named(made: Any) -> None:
        (made if algorithm == "ctoff" else made["groups"][0]["qi_trees"])[0]["id"] = "S000001"

    changed(folder, named)
    with pytest.raises(TamperedError, match="the data cannot be read"):
        verify(folder)


def test_a_sensitive_value_with_its_owner_is_found(tmp_path: Path) -> None:
    folder = published(tmp_path, "tree-anatomy")

    def joined(made: Any) -> None:
        group = made["groups"][0]
        group["qi_trees"][0]["gpa"] = group["sa_trees"][0]["gpa"]

    changed(folder, joined)
    assert not verify(folder).holds


def test_a_publication_cannot_say_another_l_of_itself(tmp_path: Path) -> None:
    folder = published(tmp_path, "tree-anatomy")
    changed(folder, lambda made: made.update(l=9))
    assert "l: the data says another one than the policy" in verify(folder).complaints


def test_evidence_lacks_nothing(tmp_path: Path) -> None:
    folder = published(tmp_path)
    evidence = json.loads((folder / "evidence.json").read_text())
    del evidence["documents"]
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    with pytest.raises(TamperedError, match="is missing"):
        verify(folder)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("algorithm", ["ctoff", "tree-anatomy"])
@pytest.mark.parametrize("claim", ["vertices", "levels", "classes", "records"])
def test_every_number_must_come_out_again(claim: str, algorithm: str, tmp_path: Path) -> None:
    folder = published(tmp_path, algorithm)
    evidence = json.loads((folder / "evidence.json").read_text())
    if claim == "vertices":
        evidence["documents"]["vertices"]["after"] += 1
    elif claim == "levels":
        evidence["documents"]["levels"][1]["after"] += 1
    elif claim == "classes":
        evidence["measures"]["classes" if algorithm == "ctoff" else "groups"]["count"] += 1
    else:
        evidence["records"] += 1
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    named = "groups" if claim == "classes" and algorithm != "ctoff" else claim
    complaints = verify(folder).complaints  # the report says another number too
    assert any("other numbers" in complaint and named in complaint for complaint in complaints)


def test_who_is_whose_stays_at_home(tmp_path: Path) -> None:
    folder = published(tmp_path, "tree-anatomy")
    private = json.loads((tmp_path / "out.private" / "steward.json").read_text())
    assert (
        len(private["links"]["qi"])
        == len(private["links"]["sa"])
        == ev.read(folder)["measures"]["groups"]["count"]
    )
    assert "links" not in (folder / "evidence.json").read_text() + (folder / "policy.toml").read_text()


def test_hierarchies_stay_at_home(tmp_path: Path) -> None:
    folder = published(tmp_path)
    public = Policy.load(folder / "policy.toml")
    assert all(a.hierarchy is None and a.role is not Role.IDENTIFIER for a in public.attributes)
    assert "tree" in (tmp_path / "out.private" / "steward.json").read_text()


def test_compare_needs_the_notes_and_the_same_data(tmp_path: Path) -> None:
    raw, _ = sample(tmp_path)
    folder = published(tmp_path)
    with pytest.raises(InputError, match="39 records, the release was made from 40"):
        compare(raw[1:], folder)
    (tmp_path / "out.private").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="the steward's notes are missing"):
        compare(raw, folder)
    assert explain(folder)["private_notes"] is False


def test_a_lie_is_found(tmp_path: Path) -> None:
    raw, _ = sample(tmp_path)
    folder = published(tmp_path)
    changed(folder, lambda made: made[0].update(gpa=0.01))
    truth = compare(raw, folder)["truth"]
    assert truth["true"] == truth["looked_at"] - 1


def test_risk_rises_with_what_is_known(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    root, shape, tree = risk(raw, policy)["knowledge"]
    assert root["classes"] <= shape["classes"] <= tree["classes"] == 40
    assert root["unique_records"] < tree["unique_records"] == 40


def test_check_on_raw_data_says_what_is_broken(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    ((_, verdict),) = pv.check(raw, policy)
    assert (verdict.achieved["k"], verdict.at_risk) == (1, 40)
    models, algorithm = WAYS["rules t-t"]
    anatomy = replace(policy, models=models, algorithm=algorithm)
    diversity, rules = (verdict for _, verdict in pv.check(raw, anatomy))
    assert not diversity.holds
    assert rules.achieved["p"] == 1
    assert not rules.holds


def test_alike_records_need_no_change() -> None:
    raw = [{"name": str(n), "gpa": str(n % 4), "year": "1993", "club": "golf"} for n in range(8)]
    assert all(verdict.holds for _, verdict in pv.check(raw, policy_of("ctoff")))
    assert pv.publish(raw, policy_of("ctoff")).evidence["measures"]["loss"]["lm"] == 0


def test_the_order_of_the_source_does_not_show(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    first, second = (
        [record.values for record in pv.publish(came, policy).records()]  # type: ignore[attr-defined]
        for came in (raw, raw[::-1])
    )
    assert first == second


def test_frames_of_a_release(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    release = pv.publish(raw, policy)
    assert release.to_polars().height == release.evidence["records"]
    assert set(release.to_frames()) == {"student", "course", "book"}  # type: ignore[attr-defined]
    halves = pv.publish(raw, Policy.loads(COLLECTIONS["transcripts"].policy(algorithm="tree-anatomy")))
    assert halves.to_polars().height == halves.evidence["records"]


def test_nothing_of_an_earlier_release_is_used_again(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    folder = published(tmp_path)
    with pytest.raises(UnsupportedError, match="without --like"):
        pv.publish(raw, policy, like=folder)


# Policies.

GOOD = KEYED + PROMISES["ctoff"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('sensitive = "blood"', 'sensitive = ["blood", "gene"]', "at most one field is sensitive"),
        ('sensitive = "blood"', "sensitive = 7", "types.patient.sensitive: is a list of names of fields"),
        ('quasi = ["born"]', 'quasi = ["born"]\nrole = 1', "documents: types.patient: role: unknown key"),
        ('"visit" }\n', '"visit" }\n[documents.attributes.no]\nbuckets = {}\n', "attributes.no: no type has"),
        ('record = { type = "patient" }', 'record = { type = "nobody" }', "which is not described"),
        ('record = { type = "patient" }', 'record = "patient"', "documents: record: says type, json and xml"),
        ('record = { type = "patient" }', 'undeclared = "keep"', "undeclared: it is one of refuse, drop"),
        ('record = { type = "patient" }', 'doctype = "yes"', "doctype: is true or false"),
        ("visit = { own", "vist = { own", "keys.vist: type is one of patient, visit"),
        ('children = { visits = "visit" }', 'weight = "much"', "weight: is a number"),
        ('children = { visits = "visit" }', 'children = ["visit"]', "names a type for each key"),
        ('type = "ctoff"', 'type = "ctoff"\nmapping = "best"', "mapping: it is one of lsap, greedy"),
        ('type = "ctoff"', 'type = "top-down"', "top-down is for table"),
        ('type = "ctoff"', 'type = "tree-anatomy"', "is about trees that are published whole"),
        ('type = "document-l-diversity"', 'type = "anatomy-l-diversity"', "use tree-anatomy for it"),
        ("l = 2", "l = 1", "l is at least 2"),
        ("[[models]]", '[attributes]\nborn = "quasi"\n[[models]]', "fields are described in [documents]"),
    ],
)  # fmt: skip
def test_a_wrong_policy_is_answered_with_its_place(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(PolicyError) as error:
        Policy.loads(GOOD.replace(old, new, 1))
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ('{ value = "hiv", m = 1 }', "rules: p is missing"),
        ('{ value = "hiv", m = 1, p = 0.5 }', 'write "0.5" in quotes'),
        ('{ value = "hiv", m = 0, p = "1/2" }', "m is a whole number of at least 1"),
        ('{ value = "hiv", m = 1, p = "3/2" }', "p is above 0 and at most 1"),
        ('{ value = "hiv", m = 1, p = "1/2", attribute = "mood" }', "attribute is one of patient.blood"),
        ('"hiv"', "rules: is a table with value, m, p, attribute"),
    ],
)
def test_a_wrong_rule_is_answered_with_its_place(rule: str, complaint: str) -> None:
    text = KEYED + f'[[models]]\ntype = "pm-privacy"\nrules = [{rule}]\n' + PROMISES["t-t"]
    with pytest.raises(PolicyError) as error:
        Policy.loads(text)
    assert complaint in str(error.value)


def test_a_policy_reads_as_it_is_written() -> None:
    rule = '{ value = "hiv", m = 1, p = "1/2", attribute = "illness" }'
    rules = f'[[models]]\ntype = "pm-privacy"\nrules = [{rule}]\n'
    policy = Policy.loads(KEYED + rules + PROMISES["v-v"])
    again = Policy.loads(policy.dumps())
    assert again == policy
    assert again.models[0].rules == (Rule("hiv", 1, Fraction(1, 2), "illness"),)  # type: ignore[attr-defined]


# What evidence says.


@settings(max_examples=40, deadline=None)
@given(records=collections(1, 6))
def test_sensitive_values_are_counted_alike_in_trees_and_arrays(records: list[Vertex]) -> None:
    watch = Watch(SCHEMA)
    assert list(watch(records)) == records
    naive = sensitive_counts(SCHEMA, records)
    assert {name: +counts for name, counts in watch.held.items()} == naive
    assert {name: +counts for name, counts in held(Forest.of(SCHEMA, records)).items()} == naive
    assert watch.vertices == sum(1 for record in records for _ in record.walk())


def test_labelled_buckets_leave_as_labels(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)

    def labelled(kind: Kind) -> Kind:
        fields = (replace(f, buckets=f.buckets and replace(f.buckets, labelled=True)) for f in kind.fields)
        return replace(kind, fields=tuple(fields))

    kinds = tuple(map(labelled, policy.shape.schema.kinds))
    shape = replace(policy.shape, schema=replace(policy.shape.schema, kinds=kinds))
    release = pv.publish(raw, replace(policy, shape=shape, attributes=shape.attributes))
    folder = release.write(tmp_path / "out")
    assert {one["gpa"][0] for one in json.loads((folder / "data.json").read_text())} == {"["}
    assert verify(folder).holds
    found = compare(raw, folder)
    assert found["truth"]["true"] == found["truth"]["looked_at"]
    assert found["divergence"] == release.evidence["documents"]["divergence"]
    with pytest.raises(PolicyError, match="publishes sensitive values as they are"):
        Policy.loads(replace(policy, shape=shape, models=WAYS["t-t"][0], algorithm=WAYS["t-t"][1]).dumps())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", ["ctoff", "tree-anatomy"])
def test_every_field_of_evidence_is_in_the_reference(way: str, tmp_path: Path) -> None:
    text = (pages.HERE / "docs/reference/evidence.md").read_text(encoding="utf-8")
    raw, _ = sample(tmp_path)
    policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=2, algorithm=way))
    folder = pv.publish(raw, policy).write(tmp_path / "out")
    evidence = json.loads((folder / "evidence.json").read_text())
    named = {attribute.name for attribute in policy.attributes} | set(evidence["files"])
    made = {*evidence["algorithm"], "l", "k"}
    assert not [key for key in pages.keys_of(evidence) - named - made if f"`{key}`" not in text]


def test_a_class_is_drawn_without_a_value(tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    evidence = pv.publish(raw, policy).evidence
    assert evidence.documents is not None
    drawn = evidence["documents"]["drawn"]
    assert 1 < len(drawn["vertices"]) <= 40
    assert all(one["parent"] < at for at, one in enumerate(drawn["vertices"]) if at)
    assert all(one["sensitive"]["different"] == 2 for one in drawn["vertices"])
    values = {course["course"] for one in raw for course in one["courses"]}
    labels = {each["label"] for one in drawn["vertices"] for each in one["labels"] if "label" in each}
    assert labels
    assert not labels & values
    page = html.render(evidence)
    assert "A published class as a tree" in page
    assert all(f"“{label}”" in page for label in labels if label != "*")
    nothing = Evidence.read({**evidence, "documents": {**evidence.documents, "drawn": None}})
    assert "A published class as a tree" not in html.render(nothing)


# What a search does wrong does not leave.


@dataclass(frozen=True, kw_only=True)
class Careless(CToff):
    """Puts people together without looking at sensitive values, or not at all."""

    alone: bool = False

    def cluster(self, forest: Forest, size: int, **how: Any) -> DocumentEdits:
        return super().cluster(forest, 1 if self.alone else size, **{**how, "diverse": False})


@pytest.mark.parametrize("alone", [True, False])
def test_a_careless_search_is_caught_and_nothing_leaves(alone: bool, tmp_path: Path) -> None:
    raw, policy = sample(tmp_path)
    with pytest.raises(InternalError, match="ctoff broke document-l-diversity"):
        pv.publish(raw, replace(policy, algorithm=Careless(alone=alone)))  # type: ignore[arg-type]


def test_a_careless_grouping_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raw, _ = sample(tmp_path)
    policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=3, algorithm="tree-anatomy"))
    monkeypatch.setattr(TreeAnatomy, "search", lambda *_: Anatomize(2))
    with pytest.raises(InternalError, match="tree-anatomy broke anatomy-l-diversity"):
        pv.publish(raw, policy)


def test_rules_that_the_search_forgot_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raw, _ = sample(tmp_path)
    policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=2, algorithm="tree-anatomy"))
    models: Any = (*policy.models, PMPrivacy((Rule("*", 1, Fraction(1, 2), "grade"),)))
    monkeypatch.setattr(TreeAnatomy, "search", lambda *_: Anatomize(2))
    with pytest.raises(InternalError, match="broke pm-privacy"):
        pv.publish(raw, replace(policy, models=models))


def test_rules_on_raw_data_count_as_they_say() -> None:
    def person(gpa: str, *grades: str) -> dict[str, Any]:
        courses = [{"course": "M1", "grade": grade} for grade in grades]
        return {"gpa": gpa, "year": "1993", "club": "golf", "courses": courses}

    raw = [person("0", "A", "A"), person("1", "B", "C"), person("2", "A", "B")]
    for m, share in ((1, Fraction(2, 3)), (2, Fraction(1, 3)), (3, Fraction(0))):
        for p in (share or Fraction(1, 9), Fraction(1, 9)):
            rules: Any = PMPrivacy((Rule("A", m, p, "grade"),))
            policy = replace(policy_of("t-t"), models=(*policy_of("t-t").models, rules))
            (_, _), (_, verdict) = pv.check(raw, policy)
            assert verdict.achieved["p"] == share
            assert verdict.holds == (share <= p)
            assert verdict.at_risk == (0 if share <= p else 3)


def test_types_are_told_below_those_they_stand_in() -> None:
    schema = described(
        {
            "types": {
                "r": {"quasi": ["q"], "children": {"bs": "b", "as": "a"}},
                "a": {"quasi": ["q"], "children": {"cs": "c"}},
                "b": {"quasi": ["q"], "children": {"cs": "c", "ds": "d"}},
                "c": {"quasi": ["q"]},
                "d": {"quasi": ["q"]},
            }
        }
    )
    raw = Counter({(0, "r"): 2, (1, "b"): 3, (1, "a"): 4, (2, "c"): 5})
    found = levels(schema, raw, {(0, "r"): 1, (2, "c"): 5})
    assert [(one["level"], one["type"], one["before"], one["after"]) for one in found] == [
        (0, "r", 2, 1),
        (1, "b", 3, 0),
        (2, "c", 5, 5),
        (1, "a", 4, 0),
    ]


@pytest.mark.parametrize("way", ["t-t", "v-v"])
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(records=collections(3, 8))
def test_a_group_is_drawn_as_the_shape_that_all_its_trees_have(way: str, records: list[Vertex]) -> None:
    try:
        release = pv.publish(objects(records), policy_of(way))
    except UnsatisfiableError:
        assume(False)
    drawn = release.evidence["documents"]["drawn"]
    publication = release.publication()  # type: ignore[attr-defined]
    assert drawn["style"] == way
    shapes = [sorted(vertex.type for vertex in group.qi[0].walk()) for group in publication.groups]
    assert max(len(shape) for shape in shapes) == len(drawn["vertices"])  # the richest that fits
    assert sorted(one["type"] for one in drawn["vertices"]) in shapes
    for at, one in enumerate(drawn["vertices"]):
        assert one.get("parent", -1) < at
        assert all("label" not in each for each in one["labels"])
        if "sensitive" in one:
            assert one["sensitive"]["different"] == drawn["records"] == 2  # all differ in groups of l
    assert [at for at, one in enumerate(drawn["vertices"]) if "parent" not in one] == [0]


def test_what_one_step_less_buys_is_what_the_search_finds_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_relaxed, "TRIED", 40)  # work grows with the square of their number
    raw = list(COLLECTIONS["transcripts"].generate(60, 0))
    policy = Policy.loads(COLLECTIONS["transcripts"].policy(l=3))
    (found,) = pv.publish(raw, policy).private["relaxations"]
    assert found["tried"] == document_relaxed.TRIED < 60
    some = document_relaxed.drawn(
        collected(raw, policy, engine_of("embedded")).arranged(policy).forest, found["tried"]
    )
    assert len(some) == found["tried"]
    for l, when in ((3, "now"), (2, "then")):
        lost = float(lm(some, policy.algorithm.cluster(some, l), weighted=False))  # type: ignore[attr-defined]
        assert found["lm"][when] == pytest.approx(lost, abs=1e-8)
    assert found["changes"] == [{"model": "document-l-diversity", "parameter": "l", "from": "3", "to": "2"}]
    models: Any = (DocumentAnonymity(4), DocumentDiversity(3))
    anonymous = replace(policy, models=models)
    (found,) = document_relaxed.whole_trees(some, anonymous)
    assert [(one["parameter"], one["from"]) for one in found["changes"]] == [("k", "4")]
