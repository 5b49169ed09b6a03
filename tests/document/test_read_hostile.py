"""Documents that would lose a person, count one value as two, or end in a fault of ours."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tries import seldom

import privet as pv
from privet.assess import compare, explain, risk
from privet.document.forest import Vertex
from privet.document.schema import DEEPEST
from privet.engines.documents import jsontext
from privet.engines.documents.shape import dumps
from privet.engines.documents.surrogates import Halves
from privet.errors import InputError, PrivetError
from privet.policy.values import Policy
from privet.roads import engine_of
from privet.roads.documents.data import collected
from privet.verification import verify

WAYS = {
    "ctoff": "document-l-diversity",
    "clustree": "document-l-diversity",
    "tree-anatomy": "anatomy-l-diversity",
}
BARE = '[documents.types.p]\nsensitive = "s"\n'
PERSON = '[documents.types.p]\nquasi = ["a"]\nsensitive = "s"\n'


def policy(types: str, search: str = "ctoff") -> Policy:
    return Policy.loads(
        'policy = 1\nkind = "documents"\n[documents.record]\ntype = "p"\njson = "$[*]"\nxml = "/ps/p"\n'
        f'{types}[[models]]\ntype = "{WAYS[search]}"\nl = 2\n[algorithm]\ntype = "{search}"\n'
    )


def read(path: Path, types: str = PERSON) -> list[Vertex]:
    return list(collected(path, policy(types), engine_of("embedded")).forest)


# Blank and missing.


@pytest.mark.parametrize(
    "blank", ['<p a="1" s=""/>', '<p a="1" s=" "/>', '<p a="1"><s value=""/></p>', '<p a="1"><s/></p>']
)
def test_blank_in_xml_is_missing_however_it_is_written(blank: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.xml"
    path.write_text(f'<ps>{blank}<p a="1"/></ps>', encoding="utf-8")
    one, other = read(path)
    assert one == other
    assert one.values == ("1", None)


def test_blank_and_missing_are_not_two_sensitive_values(tmp_path: Path) -> None:
    path = tmp_path / "raw.xml"
    path.write_text('<ps><p a="1" s=""/><p a="1"/></ps>', encoding="utf-8")
    with pytest.raises(PrivetError):  # one value in a class of two is not l = 2
        pv.publish(path, policy(PERSON))


# Characters that cannot be written.


@pytest.mark.parametrize("text", [r"\ud800", r"x\udc00", r"\ud83d \ude00", r"\ud83d\ud83d\ude00", r"\uD83D"])
def test_halves_of_surrogate_pairs_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(f'[{{"a": "1", "s": "{text}"}}]', encoding="utf-8")
    with pytest.raises(InputError, match="surrogates"):
        read(path)
    with pytest.raises(InputError, match="surrogates"):
        collected(json.loads(path.read_text()), policy(PERSON), engine_of("embedded"))


def test_whole_pairs_and_escaped_backslashes_are_text(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(r'[{"a": "\ud83d\ude00", "s": "\\ud800"}]', encoding="utf-8")
    assert read(path)[0].values == ("😀", "\\ud800")


@given(
    st.lists(st.sampled_from([r"\ud83d", r"\ude00", r"\\", "u", r"\n", "d800", r"\u0041", "é"]), max_size=12),
    st.integers(1, 7),
)
def test_halves_are_found_wherever_a_piece_ends(parts: list[str], size: int) -> None:
    raw = "".join(parts).encode()
    halves = Halves()
    found = any(halves.seen_in(raw[at : at + size]) for at in range(0, len(raw), size)) or halves.open
    read_as = json.loads(f'"{"".join(parts)}"')
    assert found == any(0xD800 <= ord(one) < 0xE000 for one in read_as)


@pytest.mark.parametrize("text", ["\x00", "a\x0bb", "\ufffe", "", " "])
def test_what_xml_cannot_write_is_refused_in_plain_words(text: str, tmp_path: Path) -> None:
    raw = [{"a": "1", "s": text if at % 2 else "y"} for at in range(6)]
    with pytest.raises(InputError, match="XML"):
        pv.publish(raw, policy(PERSON), output="xml")
    release = pv.publish(raw, policy(PERSON), output="json")
    assert verify(release.write(tmp_path / "out")).holds


# Nobody is lost.


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": "1"}] {"a": "2"}',
        '[{"a": "1"}] [{"a": "2"}]',
        '[{"a": "1"}]\n"x"',
        '{"people": [{"a": "1"}]}\n{"people": [{"a": "2"}]}',
    ],
)
def test_concatenated_documents_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(text, encoding="utf-8")
    place = "$.people[*]" if "people" in text else "$[*]"
    with pytest.raises(InputError, match="another document"):
        list(jsontext.records(path, place))


@pytest.mark.parametrize("text", ['{"g": [{"p": {"a": "1"}}, {"p": [{"a": "2"}]}]}', '{"g": [{"p": 7}]}'])
def test_who_does_not_stand_where_the_path_says_is_not_lost(text: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="would be lost"):
        list(jsontext.records(path, "$.g[*].p[*]"))


def test_lists_that_are_missing_hold_nobody(tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text('{"g": [{"p": null}, {"q": 1}, {"p": [{"a": "2"}]}]}', encoding="utf-8")
    assert len(list(jsontext.records(path, "$.g[*].p[*]"))) == 1


def test_lines_of_records_may_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_text('{"a": "1"}\n{"a": "2"} {"a": "3"}\n', encoding="utf-8")
    assert len(read(path)) == 3


def test_xml_after_the_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "raw.xml"
    path.write_text('<ps><p a="1"/></ps><ps><p a="2"/></ps>', encoding="utf-8")
    with pytest.raises(InputError, match="not XML"):
        read(path)


# Shapes of records.


def nested(levels: int, at: int) -> dict[str, Any]:
    made: dict[str, Any] = {"a": str(at % 2), "s": "xyz"[at % 3]}
    for _ in range(levels - 1):
        made = {"a": "0", "s": "xyz"[at % 3], "r": [made]}
    return made


@pytest.mark.parametrize(
    ("search", "output"),
    seldom(
        product(WAYS, ["json", "jsonl", "xml"]),
        [("ctoff", "xml"), ("clustree", "jsonl"), ("tree-anatomy", "json")],
    ),
)
def test_records_as_deep_as_the_limit_go_the_whole_road(search: str, output: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.json"
    path.write_text(dumps([nested(DEEPEST, at) for at in range(6)]), encoding="utf-8")
    types = PERSON + 'children = { r = "p" }\n'
    folder = pv.publish(path, policy(types, search), output=output).write(tmp_path / "out")
    assert verify(folder).holds
    path.write_text(dumps([nested(DEEPEST + 1, at) for at in range(6)]), encoding="utf-8")
    with pytest.raises(InputError, match=f"deeper than {DEEPEST} levels"):
        pv.publish(path, policy(types, search))


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=4) | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=12,
    )
)
def test_json_is_written_as_the_standard_library_writes_it(value: Any) -> None:
    assert dumps(value) == json.dumps(value, ensure_ascii=False)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("search", WAYS)
@pytest.mark.parametrize(
    "types",
    [
        BARE,
        f'{BARE}children = {{ r = "c" }}\n[documents.types.c]\nquasi = ["b"]\n',
        f'{BARE}children = {{ r = "c" }}\n[documents.types.c]\nsensitive = "t"\n',
    ],
)
def test_a_record_type_without_quasi_identifiers_goes_the_whole_road(
    types: str, search: str, tmp_path: Path
) -> None:
    below = [{"b": "1"}] if "quasi" in types else [{"t": "u"}, {"t": "v"}]
    raw = [
        {"s": "xyz"[at % 3], **({"r": below[: 1 + at % 2]} if "children" in types else {})} for at in range(9)
    ]
    if '"t"' in types:
        raw = [{"s": "xyz"[at % 3], "r": [{"t": "uvw"[at % 3]}]} for at in range(9)]
    release = pv.publish(raw, policy(types, search))
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    for asked in (compare(raw, folder), explain(folder), risk(raw, policy(types, search))):
        assert asked
    assert release.to_polars().height
