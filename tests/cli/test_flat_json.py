"""JSON from an API: an array of flat objects is a table, with a preset and without."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from privet.cli import main
from privet.core import Form
from privet.engines import text
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
        '{"a": "x, ]}",\n "b": 1, "b": 7}{"a": "\\"}{[\\\\", "b": 2}',
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
    raw = json.dumps([{"a": "x" * 60, "b": i} for i in range(40_000)]).encode()
    began = time.process_time()
    tracemalloc.start()
    text.flat_lines(path, raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(raw)
    assert time.process_time() - began < 5
    assert Embedded().rows(Embedded().read(_written(path, raw), Form())) == 40_000


def _written(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path
