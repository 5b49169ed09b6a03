"""JSON in and out: arrays, lines, MongoDB's export; and everything that must be refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.anatomised import PATIENTS
from tests.document.naive_anatomy import SCHEMA, trees

from privet.document.described import described
from privet.document.forest import Vertex
from privet.document.schema import DEEPEST
from privet.engines.documents import jsontext
from privet.engines.documents.files import Documents, write
from privet.engines.documents.jsontext import CHUNK, NESTED, place_of_records, records, steps
from privet.engines.documents.shape import Shape
from privet.errors import InputError, PolicyError

PERSON = described(
    {
        "types": {
            "person": {
                "identifier": ["id"],
                "quasi": ["born", "town"],
                "sensitive": "income",
                "other": ["note"],
                "children": {"jobs": "job", "hobbies": "hobby", "home": "home"},
            },
            "job": {"quasi": ["title"], "sensitive": "salary"},
            "hobby": {"quasi": ["value"]},
            "home": {"quasi": ["street"]},
        }
    }
)


def read(folder: Path, text: str | bytes, schema: Any = PERSON, name: str = "in.json", **how: Any) -> Any:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    documents = Documents(path, schema, **how)
    return list(documents), documents.shape


def again(folder: Path, vertices: list[Vertex], schema: Any, shape: Shape, name: str = "out.json") -> str:
    path = folder / name
    assert write(vertices, path, schema, shape) == len(vertices)
    return path.read_text(encoding="utf-8")


PEOPLE: list[dict[str, Any]] = [
    {
        "id": 1,
        "born": 1980,
        "town": "Łódź",
        "income": 10.50,
        "note": True,
        "jobs": [{"title": "nurse", "salary": "low"}, {"title": "cook"}],
        "hobbies": ["chess", "golf"],
        "home": {"street": 'a "b"\\\n'},
    },
    {"id": 2, "born": 1975, "town": None, "income": 45.0, "note": False},
]
READ = [
    Vertex(
        "person",
        ("1980", "Łódź", "10.5", "true"),
        (
            Vertex("job", ("nurse", "low")),
            Vertex("job", ("cook", None)),
            Vertex("hobby", ("chess",)),
            Vertex("hobby", ("golf",)),
            Vertex("home", ('a "b"\\\n',)),
        ),
    ),
    Vertex("person", ("1975", None, "45.0", "false")),
]


def without_ids() -> list[dict[str, Any]]:
    return [{key: value for key, value in person.items() if key != "id"} for person in PEOPLE]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (json.dumps(PEOPLE), "$[*]"),
        ("\ufeff" + json.dumps(PEOPLE, indent=2), "$[*]"),
        ("\n".join(map(json.dumps, PEOPLE)), "$"),
        ("  ".join(map(json.dumps, PEOPLE)), "$"),
        (json.dumps({"people": PEOPLE}), "$['people'][*]"),
    ],
)
def test_forms(text: str, place: str, tmp_path: Path) -> None:
    vertices, shape = read(tmp_path, text)
    assert vertices == READ
    assert shape.place == place
    written = again(tmp_path, vertices, PERSON, shape)
    back, _ = read(tmp_path, written)
    assert back == READ
    if place == "$[*]":
        assert json.loads(written) == without_ids()
    elif place == "$":
        assert [json.loads(line) for line in written.splitlines()] == without_ids()
    else:
        assert json.loads(written) == {"people": without_ids()}
    assert "45.0" in written


def test_lines_by_ending_and_gzip(tmp_path: Path) -> None:
    text = "\n".join(map(json.dumps, PEOPLE)).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
    documents = Documents(tmp_path / "a.jsonl.gz", PERSON)
    assert list(documents) == READ
    write(READ, tmp_path / "b.jsonl.gz", PERSON, documents.shape)
    assert list(Documents(tmp_path / "b.jsonl.gz", PERSON)) == READ


def test_a_place_deep_inside(tmp_path: Path) -> None:
    text = json.dumps({"meta": [[1, {"a": []}]], "data": {"v.1": [{"people": PEOPLE}, {"people": PEOPLE}]}})
    path = tmp_path / "a.json"
    path.write_text(text)
    assert len(list(records(path, "$.data['v.1'][*].people[*]"))) == 4
    assert place_of_records(path) == "$"
    with pytest.raises(InputError, match=r"not one record at \$.nothing"):
        list(records(path, "$.nothing[*]"))
    for wrong in ("people", "$people", "$.a[0]", "$."):
        with pytest.raises(InputError, match="a path reads like"):
            steps(wrong)


MONGO = """
{"_id": {"$oid": "5f1d7f0e8b0c9a1b2c3d4e5f"}, "born": {"$date": "1980-01-02T00:00:00Z"},
 "visits": {"$numberInt": "3"}, "income": {"$numberDecimal": "10.50"},
 "seen": {"$date": {"$numberLong": "-1"}}, "old": {"$date": 86400000},
 "big": {"$numberLong": "9007199254740993"}}
"""


def test_mongodb(tmp_path: Path) -> None:
    schema = described(
        {
            "types": {
                "person": {
                    "identifier": ["_id"],
                    "quasi": ["born", "visits", "seen", "old", "big"],
                    "sensitive": "income",
                }
            }
        }
    )
    vertices, shape = read(tmp_path, MONGO, schema)
    assert vertices[0].values == (
        "1980-01-02T00:00:00Z",
        "3",
        "1969-12-31T23:59:59.999Z",
        "1970-01-02T00:00:00.000Z",
        "9007199254740993",
        "10.50",
    )
    expected = json.loads(MONGO)
    del expected["_id"]
    assert json.loads(again(tmp_path, vertices, schema, shape)) == expected
    # A generalised label is neither a date nor a number, and is written as the text it is.
    labels = [Vertex("person", ("198*", "[0-5)", "*", "*", "*", "10.50"))]
    written = json.loads(again(tmp_path, labels, schema, shape))
    assert (written["born"], written["visits"], written["seen"]) == ("198*", "[0-5)", "*")
    wrong = '{"born": {"$date": {"$numberLong": "99999999999999999999"}}}'
    with pytest.raises(InputError, match="out of range"):
        read(tmp_path, wrong, schema)
    with pytest.raises(InputError, match="holds an object"):
        read(tmp_path, '{"born": {"$binary": {"base64": "", "subType": "00"}}}', schema)


def test_object_ids_can_be_kept(tmp_path: Path) -> None:
    schema = described({"types": {"person": {"quasi": ["key"]}}})
    text = '{"key": {"$oid": "5f1d7f0e8b0c9a1b2c3d4e5f"}}'
    vertices, shape = read(tmp_path, text, schema)
    assert json.loads(again(tmp_path, vertices, schema, shape)) == json.loads(text)
    assert json.loads(again(tmp_path, [Vertex("person", ("5f*",))], schema, shape)) == {"key": "5f*"}


@given(st.lists(trees(), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_round_trip(vertices: list[Vertex]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for name in ("a.json", "a.xml"):
            shape = Shape("xml", "/all/r") if name.endswith("xml") else Shape()
            shape.frame.way, shape.frame.declared = ("all",), [{}]
            path = Path(folder) / name
            write(vertices, path, SCHEMA, shape)
            assert list(Documents(path, SCHEMA)) == vertices


SECRET = "Zanzibar"
WRONG = [
    ("", "the file is empty"),
    (" \n ", "line 2, column 2: this is not JSON: the file ends too soon"),
    ("[]", "not one record"),
    ('[{"born": 1},\n {"born" 2}]', "line 2, column 11: this is not JSON: no colon"),
    ('[{"born": 1}', "line 1, column 13: this is not JSON: the file ends too soon"),
    (f'[{{"town": "{SECRET}}}]', "this is not JSON: the file ends too soon"),
    (f'[{{"town": {SECRET}}}]', "line 1, column 11: this is not JSON: an unexpected character"),
    ('[{"born": 01}]', "line 1, column 13"),
    ('[{"born": tru}]', "line 1, column 14: this is not JSON: an unknown word"),
    (b'[{"town": "\xff"}]', "line 1, column 12: this is not JSON: bytes that are not UTF-8"),
    ("[" * 10_000, f"record 1: nested deeper than {NESTED} brackets"),
    ('[{"x": ' + "[" * 10_000, f"record 1: nested deeper than {NESTED} brackets"),
    ('{"x": ' + "[" * 10_000, "nested deeper"),
    (f'[{{"born": {"9" * 5000}}}]', "2,000 digits without an end"),
    ('[{"born": 1}, 7]', "record 2 is a number; every record is an object of one root type"),
    ('[{"born": 1}, [1]]', "record 2 is a list"),
    (f'[{{"{SECRET[:3]}": 1}}]', "record 1: type person: Zan: the policy does not name this field"),
    ('[{"income": [1, 2]}]', "field income has more than one value; a vertex has one sensitive value"),
    ('[{"income": 1, "income": 2}]', "field income has more than one value; a vertex has one"),
    ('[{"born": [1, 2]}]', "field born has more than one value; describe"),
    ('[{"born": {"day": 1}}]', "field born holds an object"),
    ('[{"jobs": ["cook"]}]', "children jobs hold a bare value"),
    ('[{"jobs": [[]]}]', "children jobs hold a list"),
    ('[{"jobs": [], "jobs": []}]', "children jobs are there twice"),
    ('[{"jobs": [{"title": "a", "pay": 3}]}]', "record 1: type job: pay"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_refused(text: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_place_of_a_fault_in_a_large_file(tmp_path: Path) -> None:
    lines = ['{"born": 1, "town": "ééé"},'] * 20_000
    lines[15_000] = '{"born": 1, "town": "ééé" x},'
    with pytest.raises(InputError, match="line 15002, column 27: this is not JSON"):
        read(tmp_path, "[\n" + "\n".join(lines) + "\n{}]")


def test_records_are_handed_on_before_a_later_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" + '{"born": 1},' * 20_000 + "x]")
    stream = iter(Documents(path, PERSON))
    assert next(stream).values[0] == "1"
    with pytest.raises(InputError):
        list(stream)


def test_a_long_file_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a record is handed on, little more than the text up to it has been read."""
    path = tmp_path / "a.jsonl"
    record = '{"born": 1, "town": "somewhere", "jobs": [{"title": "cook"}]}\n'
    path.write_text(record * 12_000)
    read_so_far = 0

    def watched(of: Path) -> Iterator[bytes]:
        nonlocal read_so_far
        with of.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                read_so_far += len(chunk)
                yield chunk

    monkeypatch.setattr(jsontext, "_pieces", watched)
    for number, _ in enumerate(Documents(path, PERSON), 1):
        assert read_so_far <= number * len(record) + 2 * CHUNK
    assert read_so_far == 12_000 * len(record)


def test_records_as_deep_as_allowed(tmp_path: Path) -> None:
    schema = described({"types": {"t": {"quasi": ["q"], "children": {"below": "t"}}}})

    def nested(levels: int) -> str:
        return '{"below": ' * (levels - 1) + '{"q": 1}' + "}" * (levels - 1)

    vertices, _ = read(tmp_path, nested(DEEPEST), schema)
    assert sum(1 for _ in vertices[0].walk()) == DEEPEST
    with pytest.raises(InputError, match=f"deeper than {DEEPEST} levels"):
        read(tmp_path, nested(DEEPEST + 1), schema)


def test_undeclared_fields_can_be_dropped(tmp_path: Path) -> None:
    vertices, _ = read(tmp_path, '[{"born": 1, "extra": {"a": [1]}}]', drop_undeclared=True)
    assert vertices == [Vertex("person", ("1", None, None, None))]


def test_two_keys_of_one_type() -> None:
    schema = described(
        {"types": {"r": {"quasi": ["q"], "children": {"a": "c", "b": "c"}}, "c": {"quasi": ["q"]}}}
    )
    with pytest.raises(PolicyError, match="two keys have children of one type"):
        list(Documents(Path("nowhere.jsonl"), schema))


@pytest.mark.parametrize("name", ["nowhere.json", "nowhere.xml"])
def test_no_such_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(Documents(tmp_path / name, PATIENTS))


def test_unknown_endings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format is one of json, jsonl, xml"):
        list(Documents(tmp_path / "a.docx", PATIENTS))
    with pytest.raises(InputError, match="format is one of json, jsonl, xml"):
        list(Documents(tmp_path / "a.docx", PATIENTS, kind="word"))
