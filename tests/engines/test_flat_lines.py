"""JSON lines: the look in C, the look in Python and the plain engine find the same, and say it alike."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.engines.transactions import frames
from privet.errors import InputError

EMBEDDED, PLAIN = Embedded(), Plain()
ENGINES: list[Any] = [EMBEDDED, PLAIN]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def outcome(engine: Any, path: Path, columns: list[str] | None) -> object:
    """The table, or how it is refused."""
    try:
        table = engine.read(path, Form(), columns)
    except InputError as refused:
        return str(refused)
    return pl.DataFrame(engine.arrow(table)).to_dict(as_series=False)


def outcomes(path: Path, columns: list[str] | None) -> list[object]:
    """With the look in C, without it, and by the plain engine."""
    quick = outcome(EMBEDDED, path, columns)
    with pytest.MonkeyPatch.context() as without:
        without.setattr("privet.native.library", lambda: None)
        slow = outcome(EMBEDDED, path, columns)
    return [quick, slow, outcome(PLAIN, path, columns)]


# A key in any of its spellings: raw, escaped, with other letters of the same number, as a pair of surrogates.

KEYS = ["a", "b", "ab", "\u00e9", "e\u0301", "\U0001f600", '"', "\\", "/", "a\\", '":', "{", "]", "\n"]
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n"}


def spelt(key: str, chance: random.Random) -> str:
    said = ""
    for letter in key:
        units = letter.encode("utf-16-be")
        escaped = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        escaped = "".join(chance.choice([c, c.upper()]) if c in "abcdef" else c for c in escaped)
        ways = [escaped, SHORT.get(letter, letter)]
        said += chance.choice([*ways, ways[1], *([letter] if letter == "/" else [])])
    return f'"{said}"'


def thing(chance: random.Random, deep: int) -> str:
    """A record, with what may stand in it; few keys, so that one stands twice now and then."""
    keys = chance.sample(KEYS, chance.randrange(4))
    if keys and chance.random() < 0.15:
        keys.append(chance.choice(keys))
    blank = chance.choice(["", " "])
    said = [f"{spelt(key, chance)}{blank}:{value(chance, deep)}" for key in keys]
    return "{" + ",".join(said) + "}"


def value(chance: random.Random, deep: int) -> str:
    if not deep or chance.random() < 0.6:
        return chance.choice(["1", "2", "null", f"{spelt(chance.choice(KEYS), chance)}"])
    inner = [thing(chance, deep - 1) for _ in range(chance.randrange(1, 3))]
    return inner[0] if chance.random() < 0.5 else f"[{','.join(inner)}]"


def shuffled(line: str, chance: random.Random) -> str:
    """The same record with its keys in other spellings, and sometimes in another order."""
    pairs = json.loads(line, object_pairs_hook=list)
    if chance.random() < 0.3:
        chance.shuffle(pairs)

    def said(part: Any) -> str:
        if isinstance(part, list) and all(isinstance(one, tuple) for one in part):
            return "{" + ",".join(f"{spelt(name, chance)}:{said(one)}" for name, one in part) + "}"
        if isinstance(part, list):
            return f"[{','.join(map(said, part))}]"
        return spelt(part, chance) if isinstance(part, str) else json.dumps(part)

    return said(pairs)


class TwiceError(Exception):
    """Python's reader has seen a key twice in an object."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise TwiceError
    return dict(pairs)


def twice_at(lines: list[str]) -> int | None:
    """The first line in which an object has a key twice."""
    for at, line in enumerate(lines, start=1):
        try:
            json.loads(line, object_pairs_hook=once)
        except TwiceError:
            return at
    return None


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_a_key_that_stands_twice_is_found_however_it_is_spelt(folder: Path, seed: int) -> None:
    """Keys that Python had judged were compared by their bytes in the lines that followed."""
    chance = random.Random(seed)
    kinds = [thing(chance, chance.choice([0, 0, 2])) for _ in range(chance.randrange(1, 4))]
    lines = []
    for _ in range(chance.randrange(1, 9)):
        line = chance.choice(kinds)
        lines.append(shuffled(line, chance) if chance.random() < 0.5 else line)
        kinds[chance.randrange(len(kinds))] = lines[-1]
        if chance.random() < 0.2:
            kinds.append(thing(chance, chance.choice([0, 2])))
    lines = [f'{line[:-1]}{"," if len(line) > 2 else ""}"id":{at}}}' for at, line in enumerate(lines)]
    path = folder / "spelt.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    quick, slow, plain = outcomes(path, ["id"])
    expected = twice_at(lines)
    for said in (quick, slow, plain):
        found = isinstance(said, str) and "stands twice" in said
        assert found is (expected is not None)
        if isinstance(said, str) and expected is not None:
            assert f": line {expected}: the key " in said
    ids = {"id": list(range(len(lines)))}
    assert quick == slow == plain
    assert expected is not None or quick == ids or "how Unicode composes" in str(quick)


@pytest.mark.parametrize(
    "lines",
    [
        ['{"\\u0061":1,"b":2}', '{"\\u0061":1,"a":2}'],
        ['{"a":1,"\\u0062":2}', '{"\\u0062":1}', '{"a":1,"\\u0061":2}'],
        ['{"b":1,"z":{"a":1},"a":2}', '{"b":1,"z":{},"a":1,"a":2}'],
        ['{"b":1,"z":[{"a":1},{"a":1}]}', '{"b":1,"z":[{"a":1,"a":1}]}'],
    ],
)
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_keys_of_a_judged_line_are_keys_of_that_line_only(
    lines: list[str], engine: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=f"line {len(lines)}: the key 'a' stands twice"):
        engine.read(path, Form(), ["b"])


TOO_LARGE, WORD = "column 'b' holds a number beyond 1.8e308", "column 'b' holds NaN or Infinity"
TOO_LONG, NESTED = "column 'b' holds a whole number beyond 2^127", "column 'b' holds lists or objects"
TOO_DEEP = "column 'b' holds lists or objects more than 64 deep"
LONG = [10**39, 2**127, -(2**127) - 1, 2**128, 10**400, 10**400 * -7]
NO_VALUES = [
    *((said, TOO_LARGE) for said in ("1e400", "-1e999", "1.7976931348623159e308", "1" * 310 + ".5")),
    *((said, TOO_LARGE) for said in ('[{"x":1e400}]', "[[-1E+4000]]")),
    *((said, WORD) for said in ("NaN", "Infinity", "-Infinity", '{"x":[NaN]}')),
    *((str(number), TOO_LONG) for number in LONG),
    ("9" * 5000, TOO_LONG),
    ("[" * 64 + "]" * 64, TOO_DEEP),
    ('{"x":' * 900 + "1" + "}" * 900, TOO_DEEP),
]


@pytest.mark.parametrize("among", ["1", "0.5", '"a text"', "null", "true", "[1]"])
@pytest.mark.parametrize(("said", "words"), NO_VALUES, ids=[said[:24] for said, _ in NO_VALUES])
@pytest.mark.parametrize("wanted", [None, ["a"]])
def test_what_no_reader_may_take_for_a_value_is_refused_with_its_place(
    wanted: list[str] | None, said: str, words: str, among: str, tmp_path: Path
) -> None:
    """The plain engine published Infinity, and the other did not say where it stands."""
    path = tmp_path / "a.jsonl"
    rows = [f'{{"a":1,"b":{among}}}'] * 3
    rows[1:1] = [f'{{"a":1,"b":{said}}}', ""]
    path.write_text("\n".join(rows))
    if among == "[1]" and wanted is None:
        words, place = NESTED, "line 1"
    else:
        place = "line 2"
    for found in outcomes(path, wanted):
        assert str(found).startswith(f"{path}: {place}: {words}")


@pytest.mark.parametrize("said", ['{"x":1}', "{}", "[1]", "[]", '["a text"]', "[[]]"])
@pytest.mark.parametrize("among", ['"a text"', "1", "null", "true", "0.5"])
def test_lists_and_objects_beside_single_values_are_refused_with_their_place(
    among: str, said: str, tmp_path: Path
) -> None:
    """Beside texts they left as the text of their JSON."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a":1,"b":{among}}}\n\n{{"b":{said},"a":1}}\n{{"a":1}}\n')
    assert len({str(found) for found in outcomes(path, ["b"])}) == 1
    for found in outcomes(path, ["a", "b"]):
        assert str(found).startswith(f"{path}: line 3: {NESTED}")
    for found in outcomes(path, ["a"]):
        assert found == {"a": [1, 1, 1]}
    for engine in ENGINES:
        whole = path.with_suffix(".json")
        whole.write_text(f'[{{"a":1,"b":{among}}},\n{{"b":{said},"a":1}}]')
        with pytest.raises(InputError, match="record 2 holds lists or objects"):
            engine.read(whole, Form(), ["a"])


@pytest.mark.parametrize("kind", ["[1]\n[{}]", "1\ntrue", "1\n{}", '{"x":1}\n{"x":true}'])
@pytest.mark.parametrize("number", ["9007199254740993", "0.1234567890123456789", str(-(2**127))])
def test_a_column_that_nobody_wants_may_have_values_of_any_types(
    number: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    one, other = kind.split("\n")
    path.write_text(f'{{"\\u0061":{number},"z":{one},"t":"\\ud83d\\ude00"}}\n{{"z":{other},"t":"\u00e9"}}\n')
    expected = {"t": ["\U0001f600", "\u00e9"], "a": [json.loads(number), None]}
    assert outcomes(path, ["t", "a"]) == [expected] * 3
    missing = f"{path}: the policy names column 'x', the data does not have it"
    assert outcomes(path, ["x"]) == [missing] * 3


@pytest.mark.parametrize("blank", ["\x0b", "\x0c", "\u00a0", "\u2028", "\x1c"])
def test_what_json_takes_for_no_blank_is_none(blank: str, tmp_path: Path) -> None:
    for text in (f'{{"a":1}}\n{blank}\n{{"a":2}}\n', f'{{"a":1}}{blank}\n', f'{blank}{{"a":1}}'):
        for name in ("a.jsonl", "a.json"):
            (tmp_path / name).write_text(text, encoding="utf-8")
            for found in outcomes(tmp_path / name, None):
                assert isinstance(found, str)


def test_records_without_a_key_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n{}\n")
    for found in outcomes(path, None):
        assert str(found) == f"{path}: no line has a key: there is no column"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a":1,"s":["x"],"s":["y"]}', "the key 's' stands twice"),
        ('{"a":1,"s":["\\ud800"]}', "column 's' holds half of a pair"),
        ('{"a":1,"s":' + '{"x":' * 900 + "1" + "}" * 901, "column 's' holds lists or objects more than 64"),
    ],
)
def test_sets_of_items_are_looked_at_as_well(line: str, words: str, tmp_path: Path) -> None:
    """The last of these ended the process."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a":1,"s":["x"]}}\n{line}\n')
    with pytest.raises(InputError, match=f"line 2: {words}"):
        frames.table(path, Form(), ["a", "s"], "s", EMBEDDED)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\t", "\0"])
def test_a_text_has_no_line_break_in_it(end: str, tmp_path: Path) -> None:
    """In an array it was read as a blank."""
    path = tmp_path / "a.json"
    path.write_bytes(f'[{{"a":"one","b":1}},{{"a":"two{end}words","b":2}}]'.encode())
    for found in outcomes(path, None):
        assert str(found).startswith(f"{path}: record ")
