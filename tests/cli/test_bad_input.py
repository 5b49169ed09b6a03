"""Bad input: exit code 2, one clear line for each problem, no traceback, nothing written, no data shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

Run: TypeAlias = Callable[..., Any]  # the fixtures that run a command

CANARY = "CANARY7391"
POLICY = """\
policy = 1
[attributes]
name = "identifier"
job = { role = "quasi", hierarchy = { type = "tree", tree = { ANY = ["cook", "nurse"] } } }
age = { role = "quasi", hierarchy = { type = "intervals" } }
illness = "sensitive"
[[models]]
type = "k-anonymity"
k = 2
"""
GOOD = f"name,job,age,illness\n{CANARY},cook,31,flu\nb,nurse,32,{CANARY}\nc,cook,33,flu\nd,nurse,34,cold\n"


def write(text: str | bytes) -> Callable[[Path], object]:
    raw = text.encode() if isinstance(text, str) else text
    return lambda path: path.write_bytes(raw)


BAD_DATA: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "wrong delimiter": (write(GOOD), ("--delimiter", ";"), "is ';' the delimiter"),
    "delimiter of two characters": (write(GOOD), ("--delimiter", "||"), "--delimiter"),
    "ragged rows": (write(GOOD + f"{CANARY},cook\n" + f"e,{CANARY},35,flu,x\n"), (), "line 6 has 2 fields"),
    "wrong encoding": (
        write((GOOD + f"e,cook,35,gr\u00fcn {CANARY}\n").encode("latin-1")),
        (),
        "line 6 is not utf-8",
    ),
    "no such encoding": (write(GOOD), ("--encoding", "utf-99"), "there is no encoding 'utf-99'"),
    "missing column": (write(GOOD.replace("age", "years")), (), "column 'age', the data does not have it"),
    "unknown value in a hierarchy": (write(GOOD + f"e,{CANARY},35,flu\n"), (), "attributes.job: 1 of 3"),
    "words among numbers": (write(GOOD + f"e,cook,{CANARY},flu\n"), (), "attributes.age: 1 of 5"),
    "empty file": (write(""), (), "the file is empty"),
    "header only": (write("name,job,age,illness\n"), (), "not one record"),
    "binary garbage": (write(bytes(range(256)) * 50), (), "not a text file"),
    "huge field": (write(GOOD + f"e,cook,35,{CANARY * 20_000}\n"), (), "column 'illness' has a field of"),
    "open quote": (write(GOOD + f'e,"cook,35,{CANARY}\n'), (), "data.csv"),
    "no such file": (lambda path: None, (), "no such file"),
    "a folder": (lambda path: path.mkdir(), (), "data.csv"),
    "no such format": (write(GOOD), ("--format", "docx"), "format is one of"),
    "not parquet": (write(GOOD), ("--format", "parquet"), "cannot be read as parquet"),
    "not gzip": (write(GOOD), (), "really"),
}


NEEDS_A_HIERARCHY = {"unknown value in a hierarchy", "words among numbers"}  # raw values need none
TAKEN_AS_IT_IS = NEEDS_A_HIERARCHY | {"wrong delimiter", "missing column", "wrong encoding"}  # by a draft
CASES = [
    (verb, name)
    for verb, fine in (
        ("publish", set[str]()),
        ("check", NEEDS_A_HIERARCHY),
        ("risk", NEEDS_A_HIERARCHY),
        ("init", TAKEN_AS_IT_IS),
    )
    for name in BAD_DATA
    if name not in fine
]


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_bad_data_is_refused_in_clear_lines(privet: Run, tmp_path: Path, verb: str, name: str) -> None:
    make, options, said = BAD_DATA[name]
    data = tmp_path / ("data.csv.gz" if name == "not gzip" else "data.csv")
    make(data)
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    args = {
        "publish": ["publish", data, policy, "-o", tmp_path / "out"],
        "init": ["init", data, "-o", tmp_path / "draft.toml"],
    }.get(verb, [verb, data, policy])
    before = sorted(tmp_path.iterdir())
    ran = privet(*args, *options)
    assert ran.code == 2
    assert said in ran.err
    assert all(line.startswith("error: ") for line in ran.problems)
    assert ran.out == ""
    for trace in ("Traceback", "internal error", CANARY):
        assert trace not in ran.err
    assert sorted(tmp_path.iterdir()) == before


def test_every_ragged_line_is_named(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(GOOD + "x\n" * 8)
    (tmp_path / "policy.toml").write_text(POLICY)
    ran = privet("publish", tmp_path / "data.csv", tmp_path / "policy.toml", "-o", tmp_path / "out")
    assert len(ran.problems) == 6
    assert "and 3 more lines like these" in ran.err


BAD_POLICIES: dict[str, tuple[str | bytes | None, str]] = {
    "no such file": (None, "no such file"),
    "not TOML": ("policy = \n", "p.toml"),
    "no text": (b"\xff\xfe\x00", "not a text file"),
    "typo in a role": (POLICY.replace('"sensitive"', '"sensitiv"'), "attributes.illness: role"),
    "typo in a key": (POLICY.replace("k = 2", "kk = 2"), "did you mean k?"),
    "typo in a model": (POLICY.replace("k-anonymity", "k-anonimity"), "models[0]: type is one of"),
    "typo in a hierarchy": (POLICY.replace('"intervals"', '"interval"'), "attributes.age: hierarchy"),
    "no version": (POLICY.replace("policy = 1", ""), "the first line must be"),
    "missing parameter": (POLICY.replace("k = 2", ""), "k is missing"),
    "float for a share": (
        POLICY.replace(
            'type = "k-anonymity"', 'type = "alpha-k-anonymity"\nalpha = 0.5\nsensitive = ["illness"]'
        ),
        "in quotes",
    ),
    "undecided": (
        POLICY.replace('"sensitive"', '"undecided"'),
        "attributes.illness: the role is still undecided",
    ),
}


@pytest.mark.parametrize("name", BAD_POLICIES)
@pytest.mark.parametrize("verb", ["publish", "check", "risk"])
def test_a_wrong_policy_is_refused_in_clear_lines(privet: Run, tmp_path: Path, name: str, verb: str) -> None:
    text, said = BAD_POLICIES[name]
    (tmp_path / "data.csv").write_text(GOOD)
    policy = tmp_path / "p.toml"
    if text is not None:
        policy.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = sorted(tmp_path.iterdir())
    out = ["-o", tmp_path / "out"] if verb == "publish" else []
    ran = privet(verb, tmp_path / "data.csv", policy, *out)
    assert ran.code == 2
    assert said in ran.err
    assert all(line.startswith(f"error: {policy}") for line in ran.problems)
    assert "Traceback" not in ran.err
    assert CANARY not in ran.err
    assert sorted(tmp_path.iterdir()) == before


def test_all_complaints_come_at_once(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(GOOD)
    wrong = (
        POLICY.replace('"sensitive"', '"sensitiv"').replace("k = 2", "kk = 2").replace('"tree", ', '"tre", ')
    )
    (tmp_path / "p.toml").write_text(wrong)
    ran = privet("check", tmp_path / "data.csv", tmp_path / "p.toml")
    assert len(ran.problems) >= 4


def test_a_promise_that_cannot_be_kept_ends_with_one(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(GOOD)
    (tmp_path / "p.toml").write_text(POLICY.replace("k = 2", "k = 20"))
    ran = privet("publish", tmp_path / "data.csv", tmp_path / "p.toml", "-o", tmp_path / "out")
    assert ran.code == 1
    assert "the largest feasible k is 4" in ran.err
    assert not (tmp_path / "out").exists()


def test_errors_are_one_document_for_programs(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("")
    (tmp_path / "p.toml").write_text(POLICY)
    ran = privet("publish", tmp_path / "data.csv", tmp_path / "p.toml", "-o", tmp_path / "out", "--json")
    assert ran.code == 2
    assert ran.err == ""
    assert ran.answer == {
        "error": "input",
        "complaints": [f"{tmp_path / 'data.csv'}: the file is empty"],
        "exit": 2,
    }
    usage = privet("publish", "--json")
    assert usage.code == 2
    assert usage.answer["error"] == "usage"


@pytest.mark.parametrize(
    "args",
    [
        ("publish",),
        ("publish", "a.csv"),
        ("publish", "a.csv", "p.toml"),
        ("publsh", "a.csv"),
        ("check", "a.csv", "p.toml", "--rows"),
        ("sample", "patients", "-o", "x.csv", "--rows", "many"),
        ("sample", "patients", "-o", "x.csv", "--rows", "-1"),
        ("sample", "patients", "-o", "x.xyz"),
        ("sample", "unicorns", "-o", "x.csv"),
        ("explore", "a.csv", "p.toml"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(
    privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = privet(*args)
    assert ran.code == 2
    assert len(ran.problems) == 1
    assert ran.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", [ValueError, EOFError])  # click takes an end of file for a stop
def test_a_fault_of_ours_is_said_without_quoting_data(
    privet: Run, place: Path, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    def broken(*_args: object, **_keywords: object) -> None:
        raise fault(CANARY)

    monkeypatch.setattr("privet.roads.publish", broken)
    monkeypatch.delenv("PRIVET_DEBUG", raising=False)
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    assert ran.code == 3
    assert len(list(filter(None, ran.problems))) == 1  # click begins a line after an end of file
    assert f"internal error: {fault.__name__}" in ran.err
    assert "please report" in ran.err
    assert CANARY not in ran.err
    monkeypatch.setenv("PRIVET_DEBUG", "1")
    with pytest.raises(fault, match=CANARY):
        privet("publish", "patients.csv", "hospital.toml", "-o", "out")


def test_a_place_that_cannot_be_written_is_one_line(privet: Run, place: Path) -> None:
    (place / "file").write_text("x")
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", place / "file" / "out")
    assert ran.code == 2
    assert len(ran.problems) == 1
    assert "file" in ran.err


def test_column_names_cannot_steer_the_terminal(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text('"a\x1b[2Jb","c\nd"\n1,2\n')
    (tmp_path / "p.toml").write_text(
        'policy = 1\n[attributes]\n"a\\u001b[2Jb" = "undecided"\n"c\\nd" = "undecided"\n'
    )
    data = tmp_path / "data.csv"
    for args in (["check", data, tmp_path / "p.toml"], ["init", data, "-o", tmp_path / "d.toml"]):
        ran = privet(*args)
        assert "\x1b" not in ran.out + ran.err
        assert all(line.startswith(("error: ", "warning: ")) for line in ran.problems)


def test_canaries_stay_inside(privet: Run, place: Path, table: pl.DataFrame) -> None:
    """Raw values of a flat hierarchy that is suppressed: no command may say them."""
    rows = table.height
    marked = table.with_columns(
        pl.Series("job", [f"{CANARY}{i}" for i in range(rows)]),
        pl.Series("name", [f"{CANARY}N{i}" for i in range(rows)]),
    )
    marked.write_csv(place / "marked.csv")
    text = (place / "hospital.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("job")]
    lines.insert(lines.index("[attributes]") + 1, 'job = { role = "quasi", hierarchy = { type = "flat" } }')
    (place / "marked.toml").write_text("\n".join(lines))
    said = [
        privet(*args, *json_)
        for args in (
            ("publish", "marked.csv", "marked.toml", "-o", "out", "--overwrite"),
            ("check", "marked.csv", "marked.toml"),
            ("risk", "marked.csv", "marked.toml"),
            ("compare", "marked.csv", "out"),
            ("explain", "out"),
            ("verify", "out"),
            ("init", "marked.csv", "-o", "draft.toml", "--overwrite"),
        )
        for json_ in ((), ("--json",))
    ]
    assert all(ran.code in {0, 1} for ran in said)
    assert all(CANARY not in ran.out + ran.err for ran in said)
    public = [*(place / "out").iterdir(), place / "draft.toml"]
    assert all(CANARY.encode() not in path.read_bytes() for path in public)
    assert json.loads((place / "out.private" / "steward.json").read_text())["private"] == 1
