"""JSON from an API: an array of flat objects is a table, with a preset and without."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.cli import main
from privet.core import Form
from privet.engines import flatjson, text
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.errors import InputError
from privet.policy.values import Policy

ENGINES: list[Any] = [Embedded(), Plain()]
ASKED = ["--preset", "statistics-office-3", "--rows", "persons"]
ROWS = [
    {"name": f"Anna M{i} Muster", "age": 20 + i % 30, "sex": "fm"[i % 2], "hiv": ["pos", "neg", None][i % 3]}
    for i in range(90)
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.json").write_text(json.dumps(ROWS))
    return tmp_path


def test_a_flat_array_is_released_by_a_preset(here: Path) -> None:
    assert main(["publish", "people.json", *ASKED, "-o", "out"]) == 0
    assert main(["verify", "out"]) == 0
    released = [json.loads(line) for line in Path("out/data.jsonl").read_text().splitlines()]
    assert {frozenset(one) for one in released} == {frozenset({"age", "sex", "hiv"})}
    assert "Muster" not in Path("out/data.jsonl").read_text()
    assert main(["publish", "people.json", *ASKED, "-o", "out2", "--to", "csv"]) == 0
    assert main(["verify", "out2"]) == 0
    assert main(["publish", "people.json", *ASKED, "-o", "out3", "--engine", "plain", "--overwrite"]) == 0
    assert Path("out3/data.jsonl").read_bytes() == Path("out/data.jsonl").read_bytes()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("more", [[], ["--kind", "table"], ["--format", "json"]])
def test_it_is_drafted_as_a_table(more: list[str], here: Path) -> None:
    assert main(["init", "people.json", *more]) == 0
    assert 'kind = "table"' in Path("policy.toml").read_text()
    assert main(["init", "people.json", *more, "--accept", *ASKED, "--overwrite"]) == 0
    assert Policy.load("policy.toml").form.format == "json"
    assert main(["publish", "people.json", "policy.toml", "-o", "out"]) == 0
    assert main(["verify", "out"]) == 0
    assert main(["init", "people.json", "--kind", "documents", "--overwrite"]) == 0
    assert 'kind = "documents"' in Path("policy.toml").read_text()


@pytest.mark.parametrize(
    "raw",
    ['[{"a": [1]}]', '[{"a": {"b": 1}}]', '{"people": [{"a": 1}]}', '{"a": 1}'],
)
@pytest.mark.parametrize("command", ["publish", "init"])
def test_documents_are_told_what_to_do(
    raw: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("deep.json").write_text(raw)
    asked = ["-o", "out"] if command == "publish" else ["--accept"]
    assert main([command, "deep.json", *ASKED, *asked]) == 2
    said = capsys.readouterr().err
    assert "`privet init FILE`" in said
    assert "document-l-diversity" in said
    assert main(["init", "deep.json", "--kind", "table", "-o", "t.toml"]) == (0 if raw == '{"a": 1}' else 2)
    if raw != '{"a": 1}':
        assert "--kind documents" in capsys.readouterr().err


def test_xml_is_no_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.xml").write_text("<r><p><n>1</n></p></r>")
    assert main(["init", "a.xml", "--kind", "table"]) == 2
    assert "XML holds documents" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize(
    "raw",
    [
        '[{"a": "x, ]}", "b": 1}, {"a": "\\"}{[\\\\", "b": 2}]',
        '\ufeff [ {"a": "x, ]}",\r\n "b": 1}\n,\n{"b": 2, "a": "\\"}{[\\\\"} ] \n',
        '{"a": "x, ]}", "b": 1}\n{"a": "\\"}{[\\\\", "b": 2}\n',
        '{"a": "x, ]}",\n "b": 1}{"a": "\\"}{[\\\\", "b": 2}',
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_both_engines_read_records_however_they_stand(
    packed: bool, raw: str, engine: Any, tmp_path: Path
) -> None:
    path = tmp_path / ("a.json.gz" if packed else "a.json")
    path.write_bytes(gzip.compress(raw.encode()) if packed else raw.encode())
    table = engine.read(path, Form(), ["a", "b"])
    assert set(engine.distinct(table, "a")) == {"x, ]}", '"}{[\\'}
    assert set(engine.distinct(table, "b")) == {"1", "2"}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize(
    "raw",
    [
        *("[]", "[", '[{"a": 1}', '[{"a": 1},]', '[{"a": 1} {"a": 2}]', '[{"a": 1}] x', '[{"a": 1}, 2]'),
        *('[{"a": NaN}]', '[{"a": [1]}]', '[{"a": {"b": 1}}]', "7", '"x"', "[" * 100_000, '{"a":' * 100_000),
        *('[{"a": "secret}]', '[{"a": secret}]', '[{"a" 1}]', '[{a: "secret"}]', "[,]"),
        '[{"a": 1},,{"a": 2}]',
    ],
)
def test_what_is_no_flat_json_is_refused_by_both(raw: str, engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(raw)
    with pytest.raises(InputError) as refused:
        engine.read(path, Form())
    assert "secret" not in str(refused.value)


def test_many_records_take_little_room_and_time(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    raw = json.dumps([{"a": "x" * 60, "b": i} for i in range(100_000)]).encode()
    began = time.process_time()
    tracemalloc.start()
    text.flat_lines(path, raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(raw)
    assert time.process_time() - began < 5
    assert Embedded().rows(Embedded().read(_written(path, raw), Form())) == 100_000


def _written(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


TWO_MEANINGS = [
    ('{"s":"M","v":1,"v":2}', "record 2: the key 'v' stands twice"),
    ('{"s":"M","v":1,"v":null}', "record 2: the key 'v' stands twice"),
    ('{"s":"M","v":1, "\\u0076" : 1}', "record 2: the key 'v' stands twice"),
    ('{"s":"secret\\ud800","v":1}', "record 2: column 's' holds half of a pair"),
    ('{"s":"\\uDC00","v":1}', "record 2: column 's' holds half of a pair"),
    ('{"s":"\\ud83d\\ud83d\\ude00","v":1}', "record 2: column 's' holds half of a pair"),
    ('{"s":"M","v\\udfff":1,"v":1}', "record 2: a key holds half of a pair"),
    ('{"s":"M","v":9007199254740993}', "column 'v' holds whole numbers beyond 2^53"),
    ('{"s":"M","v":-9007199254740993}', "column 'v' holds whole numbers beyond 2^53"),
    ('{"s":"M","\\u0076":12345678901234567890123}', "column 'v' holds whole numbers beyond 2^53"),
]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(("record", "said"), TWO_MEANINGS)
def test_what_says_two_things_is_refused_with_its_place(  # noqa: PLR0917 - cases and fixtures
    record: str,
    said: str,
    lines: bool,
    built: bool,
    engine: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two values the first was taken, half a pair became a NUL, a long number the nearest double."""
    if not built:
        monkeypatch.setattr("privet.native.library", lambda: None)
    rows = ['{"s":"F","v":0.5}', record, '{"s":"F","v":1}']
    path = tmp_path / ("a.jsonl" if lines else "a.json")
    path.write_text("\n".join(rows) if lines else f"[{','.join(rows)}]")
    with pytest.raises(InputError) as refused:
        engine.read(path, Form())
    assert (said.replace("record", "line") if lines else said) in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("built", [True, False])
def test_what_says_one_thing_is_read(
    built: bool, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not built:
        monkeypatch.setattr("privet.native.library", lambda: None)
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"s":"\\ud83d\\ude00","v":0.5,"\\u00fc":"a","id":9007199254740993,"t":9007199254740993}\n'
        '{"s":"\\\\ud800","v":9007199254740994,"\\u00fc":"b","id":9007199254740995,"t":"x"}\n'
        '{"s":"\\"v\\":1,\\"v\\":","\\u00fc":null,"v":12345678901234567.5,"id":1}\n'
        '{"\\u00fc":":","s":"v","v":0.1234567890123456789,"id":2}\n'
    )
    table = engine.read(path, Form())
    assert set(engine.distinct(table, "id")) == {"9007199254740993", "9007199254740995", "1", "2"}
    assert "9007199254740993" in set(engine.distinct(table, "t"))
    assert set(engine.distinct(table, "s")) == {"\U0001f600", "\\ud800", '"v":1,"v":', "v"}
    assert set(engine.distinct(table, "\u00fc")) == {"a", "b", None, ":"}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_names_that_differ_in_how_a_letter_is_composed_are_refused_by_both(
    engine: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"\u00e9":1}\n{"e\u0301":2}\n')
    with pytest.raises(InputError, match="how Unicode composes"):
        engine.read(path, Form())


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize(
    "raw",
    ['{"a":' * 100_000, '{"a":1}{"a":2}', '{"a":"\\ud8', '{"a":"\\ud83d\\', '{"a":1,"a":', '"a":"\\', "\n\n"],
)
@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_that_are_no_json_are_refused_as_such(  # noqa: PLR0917 - cases and fixtures
    packed: bool, built: bool, raw: str, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not built:
        monkeypatch.setattr("privet.native.library", lambda: None)
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    path.write_bytes(gzip.compress(raw.encode()) if packed else raw.encode())
    with pytest.raises(InputError):
        engine.read(path, Form())


@pytest.mark.parametrize("built", [True, False])
def test_more_lines_and_keys_that_need_care_than_are_looked_at_one_by_one(
    built: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not built:
        monkeypatch.setattr("privet.native.library", lambda: None)
    rows = [f'{{"{"ab"[i % 2]}\\u00fc":{i},"v":0.5}}' for i in range(3000)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(rows))
    assert Embedded().rows(Embedded().read(path, Form())) == 3000
    path.write_text("\n".join([*rows, '{"v":12345678901234567}']))
    with pytest.raises(InputError, match="beyond 2"):
        Embedded().read(path, Form())
    path.write_text("\n".join([*rows, '{"v":1,"v":1}']))
    with pytest.raises(InputError, match="line 3001: the key 'v'"):
        Embedded().read(path, Form())
    wide = ",".join(f'"k{i}":{i}' for i in range(2500))
    path.write_text("{" + wide + "}\n{" + wide + "}\n")
    assert Embedded().rows(Embedded().read(path, Form())) == 2
    path.write_text("{" + wide + "}\n{" + wide + ',"k9":1}\n')
    with pytest.raises(InputError, match="line 2: the key 'k9'"):
        Embedded().read(path, Form())


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["a", "b", "\\u0061", "c\\\\", "\\ud800", ":", "x" * 20]),
                st.sampled_from(
                    ['"a"', "1", '":"', '"\\ud83d\\ude00"', '"\\udc00"', '"\\\\ud800"', '"\\""', "null"]
                ),
                st.sampled_from([":", " : "]),
            ),
            max_size=5,
        ),
        max_size=6,
    )
)
def test_the_quick_look_finds_what_the_slow_one_finds(records: list[list[tuple[str, str, str]]]) -> None:
    lines = ["{" + ",".join(f'"{key}"{mark}{value}' for key, value, mark in one) + "}" for one in records]
    raw = "\n".join(lines).encode()

    def said() -> str:
        try:
            flatjson.refuse_ambiguous(Path("p"), raw, "line")
        except InputError as refused:
            return str(refused)
        return ""

    quick = said()
    with pytest.MonkeyPatch.context() as without:
        without.setattr("privet.native.library", lambda: None)
        assert said() == quick
