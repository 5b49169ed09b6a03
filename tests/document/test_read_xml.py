"""XML in and out, and everything that must be refused."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from privet.document.described import described
from privet.document.forest import Vertex
from privet.engines.documents.files import Documents, write
from privet.engines.documents.xmltext import CHUNK, NESTED, Element, elements, steps
from privet.errors import InputError

E0 = {
    "record": {"type": "student", "json": "$.students[*]", "xml": "/students/student"},
    "types": {
        "student": {
            "identifier": ["id"],
            "quasi": ["major", "yob"],
            "sensitive": "gpa",
            "children": {"courses": "course"},
        },
        "course": {
            "quasi": ["course"],
            "sensitive": "grade",
            "children": {"evaluations": "evaluation", "books": "book"},
        },
        "evaluation": {"quasi": ["instructor"], "sensitive": "score"},
        "book": {"quasi": ["title"], "sensitive": "price"},
    },
    "attributes": {"course": {"xml_name": "id"}},
}
STUDENTS = described(E0)
JSON = """{"students": [
  {"major": "Computer Science", "yob": "1993", "gpa": 3.81, "courses": [
    {"course": "CS201", "grade": "A", "evaluations": [
      {"instructor": "Prof. Levi", "score": 8}, {"instructor": "TA1", "score": 7}]},
    {"course": "CS306", "grade": "A-", "evaluations": [
      {"instructor": "Prof. Saygin", "score": 9}],
     "books": [{"title": "Intro to Databases", "price": 45.0}]}]}]}
"""
XML = """<students>
  <student major="Computer Science" yob="1993" gpa="3.81">
    <courses>
      <course id="CS201" grade="A">
        <evaluation instructor="Prof. Levi" score="8"/>
        <evaluation instructor="TA1" score="7"/>
      </course>
      <course id="CS306" grade="A-">
        <evaluation instructor="Prof. Saygin" score="9"/>
        <book title="Intro to Databases" price="45.0"/>
      </course>
    </courses>
  </student>
</students>
"""


def read(folder: Path, text: str | bytes, schema: Any = STUDENTS, name: str = "a.xml", **how: Any) -> Any:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    documents = Documents(path, schema, **how)
    return list(documents), documents.shape


def again(folder: Path, vertices: list[Vertex], schema: Any, shape: Any) -> str:
    path = folder / "out.xml"
    write(vertices, path, schema, shape)
    return path.read_text(encoding="utf-8")


def test_e0_both_forms_are_one_tree(tmp_path: Path) -> None:
    from_json, _ = read(tmp_path, JSON, name="a.json")
    from_xml, shape = read(tmp_path, XML)
    assert from_json == from_xml
    vertices = list(from_xml[0].walk())
    assert len(vertices) == 7
    assert sum(len(STUDENTS.kind(v.type).quasi) for v in vertices) == 8
    written = again(tmp_path, from_xml, STUDENTS, shape)
    assert written.split("\n", 1)[1] == XML
    assert read(tmp_path, written)[0] == from_xml


def test_e0_json_round_trip(tmp_path: Path) -> None:
    import json

    vertices, shape = read(tmp_path, JSON, name="a.json")
    path = tmp_path / "out.json"
    write(vertices, path, STUDENTS, shape)
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(JSON)


PLAIN = described(
    {
        "types": {
            "person": {
                "quasi": ["born", "town"],
                "sensitive": "ill",
                "children": {"jobs": "job", "tags": "tag"},
            },
            "job": {"quasi": ["title"]},
            "tag": {"quasi": ["value"]},
        }
    }
)


@pytest.mark.parametrize(
    "record",
    [
        '<person born="1980" ill="x&amp;y"><town>Łódź &lt;3</town></person>',
        "<person><born>1980</born>\n<town> Łódź &lt;3\n</town><ill>x&amp;y</ill></person>",
        '<person><born value="1980"/><town value="Łódź &lt;3"/><ill value="x&amp;y"/></person>',
        '<person born="1980" town="Łódź &lt;3" ill="x&amp;y" xmlns:z="urn:z"/>',
    ],
)
def test_fields(record: str, tmp_path: Path) -> None:
    text = f'<all xmlns="urn:people">{record}{record}</all>'
    vertices, shape = read(tmp_path, text, PLAIN)
    assert vertices == [Vertex("person", ("1980", "Łódź <3", "x&y"))] * 2
    assert shape.place == "/all/person"
    written = again(tmp_path, vertices, PLAIN, shape)
    assert '<all xmlns="urn:people">' in written
    assert written.count("xmlns:z") == record.count("xmlns:z") * 2
    back, other = read(tmp_path, written, PLAIN)
    assert back == vertices
    assert other.fields == shape.fields


@pytest.mark.parametrize(
    "inside",
    [
        '<jobs><job title="a"/><job title="b"/></jobs>',
        '<job title="a"/><job title="b"/>',
        '<jobs title="a"/><jobs title="b"/>',
    ],
)
def test_children(inside: str, tmp_path: Path) -> None:
    vertices, shape = read(tmp_path, f"<all><person>{inside}</person></all>", PLAIN)
    jobs = (Vertex("job", ("a",)), Vertex("job", ("b",)))
    assert vertices == [Vertex("person", (None, None, None), jobs)]
    written = again(tmp_path, vertices, PLAIN, shape)
    assert (
        "".join(line.strip() for line in written.splitlines()[1:]) == f"<all><person>{inside}</person></all>"
    )


def test_bare_values_and_empty_elements(tmp_path: Path) -> None:
    text = "<all><person><born/><tag>x</tag><tag>y</tag><jobs/></person></all>"
    vertices, shape = read(tmp_path, text, PLAIN)
    assert vertices[0].values == (None, None, None)
    assert vertices[0].children == (Vertex("tag", ("x",)), Vertex("tag", ("y",)))
    assert read(tmp_path, again(tmp_path, vertices, PLAIN, shape), PLAIN)[0] == vertices


SECRET = "Zanzibar"
BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
]>
<all><person>&lol2;</person></all>"""
WRONG = [
    ("", "the file is empty"),
    ("   ", "line 1, column 4: this is not XML: no element found"),
    ("<all/>", "not one record"),
    ("<all>\n <person></all>", "line 2, column 12: this is not XML: mismatched tag"),
    (f"<all>\n<person town='{SECRET}>", "this is not XML"),
    (b"<all><person town='\xff'/></all>", "line 1, column 20: this is not XML"),
    (BOMB, "line 2, column 16: a document type is declared"),
    ('<!DOCTYPE all SYSTEM "file:///etc/passwd"><all><person/></all>', "a document type is declared"),
    ("<all><person>&unknown;</person></all>", "undefined entity"),
    ("<all>" * 10_000, f"nested deeper than {NESTED} elements"),
    ("<all><person/>\n<firm/></all>", "line 2, column 1: element firm stands beside the records"),
    ('<all><person pay="3"/></all>', "record 1, line 1: type person: pay: the policy does not name"),
    ('<all><person>\n<job pay="3"/></person></all>', "record 1, line 2: type job: pay"),
    (
        "<all><person><ill>a</ill><ill>b</ill></person></all>",
        "field ill has more than one value; a vertex has",
    ),
    ('<all><person ill="a"><ill>b</ill></person></all>', "field ill has more than one value"),
    ("<all><person><born><year/></born></person></all>", "field born holds elements"),
    ('<all><person><born unit="y">3</born></person></all>', "born/unit: the policy does not name"),
    (f"<all><person>{SECRET}</person></all>", "there is text beside the elements"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_refused(text: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, PLAIN)
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_name_of_a_document_type_can_be_accepted(tmp_path: Path) -> None:
    text = '<!DOCTYPE all PUBLIC "-//X//Y" "http://localhost:1/x.dtd"><all><person born="1"/></all>'
    vertices, _ = read(tmp_path, text, PLAIN, doctype=True)
    assert len(vertices) == 1
    with pytest.raises(InputError, match="a document type is declared"):
        read(tmp_path, BOMB, PLAIN, doctype=True)


def test_other_elements_around_are_passed_over(tmp_path: Path) -> None:
    schema = described({**E0, "record": {"type": "student", "xml": "/export/students/student"}})
    text = f"<export><meta><x/></meta>{XML}</export>"
    assert len(read(tmp_path, text, schema)[0]) == 1


@pytest.mark.parametrize("wrong", ["students", "/a//b", "/"])
def test_wrong_places(wrong: str) -> None:
    with pytest.raises(InputError, match="a path reads like"):
        steps(wrong)


def test_a_long_file_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    record = '<person born="1"><jobs><job title="cook"/></jobs></person>\n'
    path.write_text("<all>" + record * 9_000 + "</all>")
    gc.collect()
    before = sum(isinstance(thing, Element) for thing in gc.get_objects())  # of tests that failed on purpose
    alive = 0
    for number, _ in enumerate(Documents(path, PLAIN)):
        if number % 2_000 == 1_999:
            alive = max(alive, sum(isinstance(thing, Element) for thing in gc.get_objects()))
    assert 0 < alive - before <= 3 * (CHUNK // len(record) + 2)


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis", "hex"])
def test_an_encoding_that_cannot_be_read(tmp_path: Path, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><students><student yob="1993"/></students>'
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(InputError, match="names an encoding that cannot be read; save it as UTF-8"):
        list(elements(tmp_path / "a.xml", "/students/student"))
    other = text.replace(encoding, "iso-8859-1").replace("1993", "é")
    (tmp_path / "b.xml").write_bytes(other.encode("latin-1"))
    (read,) = elements(tmp_path / "b.xml", "/students/student")
    assert read.attributes == {"yob": "é"}
