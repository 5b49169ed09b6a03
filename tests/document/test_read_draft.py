"""A first schema from the data, and schemas from their description."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from tests.document.test_read_xml import JSON, XML

from privet.core import Role
from privet.document.described import described
from privet.drafts import documents as road_draft
from privet.drafts.documents import drafted
from privet.engines.documents import draft as drafting
from privet.engines.documents.draft import draft
from privet.engines.documents.files import Documents, write
from privet.engines.documents.xmltext import elements
from privet.errors import InputError, PolicyError
from privet.roads.documents.shape import DocumentShape
from privet.samples import encounters, transcripts


def test_both_forms_are_drafted_alike(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(JSON)
    (tmp_path / "a.xml").write_text(XML)
    for name in ("a.json", "a.xml"):
        found = draft(tmp_path / name)
        assert found.records == 1
        assert [(t.name, t.vertices) for t in found.types] == [
            ("student", 1),
            ("course", 2),
            ("evaluation", 3),
            ("book", 1),
        ]
        assert [f.name for f in found.types[0].fields] == ["major", "yob", "gpa"]
        schema = described(found.plain())
        assert all(f.role is Role.UNDECIDED for kind in schema.kinds for f in kind.fields)
        assert len(list(next(iter(Documents(tmp_path / name, schema))).walk())) == 7
        course = found.types[1]
        assert [(c.type, c.fewest, c.most, c.mean) for c in course.children] == [
            ("evaluation", 1, 2, 1.5),
            ("book", 0, 1, 0.5),
        ]


def _asked(field: str, values: Collection[str], there: int) -> tuple[Role, str] | None:
    return (Role.QUASI, "asked") if field == "yob" else None


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("a.json", list(transcripts.transcripts(30, 1))),
        ("a.jsonl", list(transcripts.transcripts_years(30, 1))),
        ("b.json", list(encounters.encounters(60, 1))),
    ],
)
def test_samples_are_drafted_and_read(name: str, records: list[Any], tmp_path: Path) -> None:
    text = "\n".join(map(json.dumps, records)) if name.endswith("l") else json.dumps(records)
    (tmp_path / name).write_text(text)
    found = draft(tmp_path / name, guess=_asked)
    read = list(Documents(tmp_path / name, described(found.plain())))
    assert len(read) == len(records) == found.records
    assert sum(t.vertices for t in found.types) == sum(1 for record in read for _ in record.walk())
    root = {f.name: f for f in found.types[0].fields}
    assert root["id"].guess is Role.IDENTIFIER
    assert root["id"].distinct == len(records)
    if "yob" in root:
        assert (root["yob"].guess, root["yob"].because, root["yob"].numbers) == (Role.QUASI, "asked", True)


def test_odd_shapes(tmp_path: Path) -> None:
    text = '[{"a": [1, 2], "b": {"c": {"d": 1}}, "e": {"$oid": "x"}}, {"a": [3], "b": {"c": {"d": 2}}}]'
    (tmp_path / "a.json").write_text(text)
    found = draft(tmp_path / "a.json")
    assert [(t.name, t.vertices, [f.name for f in t.fields]) for t in found.types] == [
        ("record", 2, ["e"]),
        ("a", 3, ["value"]),
        ("b", 2, []),
        ("c", 2, ["d"]),
    ]
    (tmp_path / "b.xml").write_text(
        '<all><p><name><n value="x"/></name><t>1</t><t>2</t><o k="1">own</o></p>'
        '<p><name><n value="y"/></name></p></all>'
    )
    found = draft(tmp_path / "b.xml")
    assert [(t.name, [f.name for f in t.fields]) for t in found.types] == [
        ("p", []),
        ("name", ["n"]),
        ("t", ["value"]),
        ("o", ["value", "k"]),
    ]
    assert len(list(Documents(tmp_path / "b.xml", described(found.plain())))) == 2


def test_a_name_that_stands_at_two_places(tmp_path: Path) -> None:
    """As in PubMed: the same list of ids below an article and below its references."""
    ids = '<Ids><Id kind="a">1</Id><Id kind="b">2</Id></Ids>'
    path = tmp_path / "a.xml"
    path.write_text(f'<all><art t="x">{ids}<ref n="1">{ids}</ref><ref n="2">{ids}</ref></art></all>')
    found = draft(path)
    assert [t.name for t in found.types] == ["art", "Id", "ref", "ref-Id"]
    assert [(c.key, c.type) for c in found.types[2].children] == [("Ids/Id", "ref-Id")]
    schema = described(found.plain())
    documents = Documents(path, schema)
    read = list(documents)
    assert len(list(read[0].walk())) == 1 + 2 + 2 * 3
    write(read, tmp_path / "b.xml", schema, documents.shape)
    assert list(Documents(tmp_path / "b.xml", schema)) == read
    assert (tmp_path / "b.xml").read_text().count("<Ids>") == 3


def test_a_draft_holds_no_values(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"town": "Zanzibar"}]')
    assert "Zanzibar" not in repr(draft(tmp_path / "a.json"))
    (tmp_path / "b.json").write_text('[{"town": 1}, 3]')
    with pytest.raises(InputError, match="record 2 is not an object"):
        draft(tmp_path / "b.json")


def test_wrong_descriptions_are_answered_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        described(
            {
                "typos": {},
                "types": {"a": {"quasi": ["q"], "saa": "s"}},
                "attributes": {"q": {"hierarchy": {"type": "no"}}, "z": {}, "s": {"bucket": 1}},
            }
        )
    said = str(caught.value)
    for words in (
        "typos: unknown key",
        "types.a: saa",
        "attributes.q: type is one of",
        "attributes.z: no type",
    ):
        assert words in said
    with pytest.raises(PolicyError, match="say edges, or from, to and width"):
        described({"types": {"a": {"sensitive": "s"}}, "attributes": {"s": {"buckets": {"from": 1}}}})


def test_two_types_may_share_the_name_of_a_field() -> None:
    schema = described(
        {
            "types": {"a": {"sensitive": "v", "children": {"bs": "b"}}, "b": {"sensitive": "v"}},
            "attributes": {"b.v": {"buckets": {"edges": [0, 1]}}},
        }
    )
    assert schema.kind("a").fields[0].buckets is None
    assert schema.kind("b").fields[0].buckets is not None


def test_the_words_of_the_literature_are_read_and_ours_are_written() -> None:
    ours = {"t": {"identifier": ["i"], "quasi": ["q"], "sensitive": "s", "other": ["o"]}}
    theirs = {"t": {"drop": ["i"], "qi": ["q"], "sa": "s", "keep": ["o"]}}
    assert described({"types": theirs}) == described({"types": ours})
    shape = DocumentShape.from_policy({"types": theirs}, base=Path())
    assert shape.to_policy()["types"] == ours
    with pytest.raises(PolicyError, match="qi and quasi are the same list; say it once, as quasi"):
        described({"types": {"t": {"qi": ["q"], "quasi": ["p"]}}})
    with pytest.raises(PolicyError, match=r"types\.t\.qi: is a list of names"):
        DocumentShape.from_policy({"types": {"t": {"qi": 7}}}, base=Path())


def test_a_draft_of_xml_says_that_a_document_type_is_named(tmp_path: Path) -> None:
    plain = "<people><person><town>A</town></person></people>"
    (tmp_path / "a.xml").write_text(f'<!DOCTYPE people SYSTEM "p.dtd">{plain}')
    (tmp_path / "b.xml").write_text(plain)
    said = {name: drafted(tmp_path / name).dumps() for name in ("a.xml", "b.xml")}
    assert "\ndoctype = true " in said["a.xml"]
    assert "doctype" not in said["b.xml"]
    (tmp_path / "c.xml").write_text(
        '<!DOCTYPE people SYSTEM "p.dtd"><people><person>M&uuml;ller</person></people>'
    )
    with pytest.raises(InputError, match=r"line 1, column \d+: an entity is used that the file does not"):
        draft(tmp_path / "c.xml", doctype=True)
    with pytest.raises(InputError, match="or say doctype = true under"):
        draft(tmp_path / "a.xml")


def test_a_type_without_fields_has_nothing_to_decide(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"in": {"deep": [{"x": 1}, {"x": 2}]}}]')
    text = drafted(tmp_path / "a.json").dumps()
    assert 'quasi = ["value"]  # it has no field of its own; this one stays empty' in text
    schema = described(draft(tmp_path / "a.json").plain())
    documents = Documents(tmp_path / "a.json", schema)
    read = list(documents)
    write(read, tmp_path / "b.json", schema, documents.shape)
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads((tmp_path / "a.json").read_text())


def test_more_values_than_are_looked_at_are_not_said_to_be_all_different(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, "LOOKED_AT", 30)
    monkeypatch.setattr(road_draft, "LOOKED_AT", 30)
    (tmp_path / "a.json").write_text(json.dumps([{"code": f"c{n}", "few": f"d{n % 25}"} for n in range(40)]))
    (tmp_path / "b.json").write_text(json.dumps([{"code": f"c{n}"} for n in range(25)]))
    code, few = draft(tmp_path / "a.json").types[0].fields
    assert (code.distinct, code.guess, few.distinct) == (30, None, 25)
    assert "(30 or more different values)" in drafted(tmp_path / "a.json").dumps()
    assert draft(tmp_path / "b.json").types[0].fields[0].guess is Role.IDENTIFIER


@pytest.mark.parametrize("many", [1, 70])  # in the first piece of a file, or in a later one
def test_an_entity_in_an_attribute_is_not_lost_unseen(tmp_path: Path, many: int) -> None:
    head = '<!DOCTYPE a SYSTEM "p.dtd"><a>' + '<b c="R&amp;D &#228; &lt;"/><!-- a &comment; -->\n' * 70 * many
    (tmp_path / "a.xml").write_text(f"{head}</a>")
    read = list(elements(tmp_path / "a.xml", "/a/b", doctype=True))
    assert {element.attributes["c"] for element in read} == {"R&D ä <"}
    (tmp_path / "a.xml").write_text(f"{head}<b c='x' d=\"M&uuml;ller\"/></a>")
    with pytest.raises(InputError, match=f"line {70 * many + 1}, column .*an entity is used"):
        list(elements(tmp_path / "a.xml", "/a/b", doctype=True))


def test_fields_of_documents_are_judged_by_what_stands_there(tmp_path: Path) -> None:
    """Links and sentences, of which few came twice, were "in doubt", and so was one name among many flags."""
    records = [
        {
            "link": f"https://example.org/{min(number, 43)}",
            "story": f"came in the morning of day {min(number, 43)} and was sent home at noon",
            "flag": "call daughter Mary Johnson" if number == 7 else "ok",
            "sex": "mf"[number % 2],
        }
        for number in range(46)
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    found = drafted(tmp_path / "a.json").found.types[0].fields
    assert {f.name: f.guess for f in found} == {
        "link": Role.IDENTIFIER,
        "story": Role.IDENTIFIER,
        "flag": Role.IDENTIFIER,
        "sex": Role.QUASI,
    }


@pytest.mark.parametrize("key", ["Wera Kolt{}", "{}", "w{}@example.org", "MRN00{}"])
def test_objects_whose_keys_are_data_are_refused(key: str, tmp_path: Path) -> None:
    """The draft named a type after every person."""
    held = {key.format(number + 100): {"age": number, "sex": "f"} for number in range(60)}
    for content in (held, {"people": held}):
        (tmp_path / "a.json").write_text(json.dumps([content]))
        with pytest.raises(InputError, match="different keys, which look like data") as refused:
            draft(tmp_path / "a.json")
        assert key.format(100) not in str(refused.value)
