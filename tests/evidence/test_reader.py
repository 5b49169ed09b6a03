"""One reader: what it reads it writes the same, and what it cannot read it refuses by place and rule."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.frozen import cases, stillness

import privet as pv
from privet.errors import TamperedError
from privet.evidence import folder, sealed
from privet.evidence.part import Part, Standing
from privet.evidence.values import ColumnNote, Evidence

KINDS = {
    "table": "sample patients",
    "perturbed": "by-construction by pram",
    "population": "k-map by top-down",
    "regions": "k-anonymity by local",
    "chosen": "k-anonymity by auto",
    "anatomy": "distinct-l-diversity by anatomy",
    "like": "like",
    "trajectories": "sample trips-city",
    "points": "coarser points",
    "mixed": "beside paths",
    "proof": "paths locally",
    "stops": "stops",
    "copies": "copies",
    "tables of documents": "tables of documents, t-t",
    "documents": "collection transcripts by ctoff",
    "tree-anatomy": "collection transcripts by tree-anatomy",
    "diffgen": "noisy bought",
}


SETS = {
    "hidden rules": '[[hide]]\nantecedent = ["a"]\nconsequent = ["b"]\nsupport = 5\nconfidence = "1/2"\n',
    "known items": '[[models]]\ntype = "km-anonymity"\nm = 2\nk = 3\n',
}


class Released(Mapping[str, Path]):
    """A release of every kind, each written when it is first asked for."""

    def __init__(self, place: Callable[[str], Path]) -> None:
        self._place, self._every, self._found = place, dict(cases(documents=16)), dict[str, Path]()

    def __getitem__(self, kind: str) -> Path:
        if kind not in self._found:
            self._found[kind] = self._sets(kind) if kind in SETS else self._other(kind)
        return self._found[kind]

    def __iter__(self) -> Iterator[str]:
        return iter((*KINDS, *SETS))

    def __len__(self) -> int:
        return len(KINDS) + len(SETS)

    def _other(self, kind: str) -> Path:
        place = self._place(kind)
        with stillness():
            source, policy, options = self._every[KINDS[kind]](place)
            return pv.publish(source, policy, **options).write(place / "out")

    def _sets(self, kind: str) -> Path:
        place = self._place("sets")
        (place / "raw.csv").write_text("a,b,c\n" * 6 + "a,b\n" * 4 + "c,d\n" * 3 + "a,d\n", "utf-8")
        text = f'policy = 1\nkind = "transactions"\n[transactions]\nform = "baskets"\n{SETS[kind]}'
        return pv.publish(place / "raw.csv", pv.Policy.loads(text)).write(place / "out")


MADE: list[Released] = []  # shared with the tests that forge them, in a room of their own


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    if not MADE:
        MADE.append(Released(tmp_path_factory.mktemp))
    return MADE[0]


def parsed(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "evidence.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", [*KINDS, *SETS])
def test_what_was_read_is_written_byte_by_byte(kind: str, released: Released) -> None:
    unknown: list[str] = []
    found = folder.read(released[kind], unknown)
    assert folder.dumps(found) == (released[kind] / "evidence.json").read_text(encoding="utf-8")
    assert not unknown
    assert found == parsed(released[kind]) == found.to_dict()


def parts(value: Any) -> Iterator[Part]:
    if isinstance(value, Part):
        yield value
        for one in value.values():
            yield from parts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from parts(one)
    elif isinstance(value, tuple):
        for one in value:
            yield from parts(one)


def test_every_field_occurs_somewhere(released: Released) -> None:
    """A field that no kind of release has would be one that nobody tests."""
    seen: dict[type[Part], set[str]] = {}
    for place in released.values():
        for one in parts(folder.read(place)):
            seen.setdefault(type(one), set()).update(one)
    never = {
        f"{made.__name__}.{one.name}"
        for made, keys in seen.items()
        for one in fields(made)  # type: ignore[arg-type]
        if one.name.removesuffix("_") not in keys
    }
    # Of sensitive numbers; where somebody signs, which tests/forge/test_signatures.py does; of several
    # organisations, which tests/parties/test_joint_release.py forges field by field and
    # tests/parties/test_noisy_contract.py looks at where they add noise; and where a cluster wrote, which
    # tests/engines/test_parts.py looks at.
    assert never == {
        "WorstClass.ordered", "Evidence.signers", "Evidence.joint", "DataNote.parts", "NoisyCounts.noises",
    }  # fmt: skip


def test_every_field_says_whether_it_is_checked(released: Released) -> None:
    for kind, place in released.items():
        found = folder.read(place).every_standing()
        assert Standing.CHECKED in found.values(), kind
        assert found["records"] is Standing.CHECKED
        assert found["software"] is Standing.STATED
        assert found["data.file"] is Standing.READING
        tops = {name.split(".")[0] for name in found}
        empty = {key for key, value in parsed(place).items() if value in ([], {})}
        assert tops | empty == set(parsed(place)), "a field of the file without a standing"


def leaves(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*way, key))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from leaves(one, (*way, at))
    yield way


def changed(whole: Any, way: tuple[Any, ...], to: Any) -> Any:
    if not way:
        return to
    made = dict(whole) if isinstance(whole, dict) else list(whole)
    made[way[0]] = changed(whole[way[0]], way[1:], to)
    return made


FREE = {"algorithm", "model"}  # as the policy says them: any table


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", [*KINDS, *SETS])
def test_what_is_of_another_type_is_refused_by_its_place(kind: str, released: Released) -> None:
    whole, tried = parsed(released[kind]), 0
    for way in list(leaves(whole)):
        if FREE & set(way[:-1]):
            continue
        odd: Any = ["canary"] if not isinstance(old := looked(whole, way), list) else "canary"
        with pytest.raises(TamperedError) as refused:
            Evidence.read(changed(whole, way, odd))
        (said,) = refused.value.complaints
        assert "canary" not in said
        assert said.startswith(str(way[0]) if way else "evidence"), (way, said, old)
        tried += 1
    assert tried > 50


def looked(whole: Any, way: tuple[Any, ...]) -> Any:
    for one in way:
        whole = whole[one]
    return whole


@pytest.mark.parametrize("kind", [*KINDS, *SETS])
def test_a_field_that_is_missing_is_said(kind: str, released: Released) -> None:
    whole = parsed(released[kind])
    needed = {one.name for one in fields(Evidence) if "default" in repr(one) and one.default is not None}
    for key in set(whole) & needed:
        with pytest.raises(TamperedError, match=f"^{key}: is missing"):
            Evidence.read({name: value for name, value in whole.items() if name != key})


def test_what_nobody_knows_is_named_and_not_kept(released: Released) -> None:
    whole = parsed(released["table"])
    whole["certified"] = "by nobody"
    whole["measures"]["loss"]["secret\n"] = 1
    unknown: list[str] = []
    found = Evidence.read(whole, unknown=unknown)
    assert unknown == ["measures.loss.…", "certified"]
    assert "certified" not in found
    with pytest.raises(KeyError):
        found["certified"]


HOSTILE = {
    "not json": b"{",
    "not text": b"\xff\xfe",
    "a list": b"[]",
    "another version": b'{"evidence": 2}',
    "a version that is none": b'{"evidence": true}',
    "a key twice": b'{"evidence": 1, "evidence": 1}',
    "no number": b'{"evidence": 1, "records": NaN}',
    "deep": b"[" * 200_000,
    "a number without end": b'{"evidence": ' + b"1" * 10_000 + b"}",
    "nothing else": b'{"evidence": 1}',
}


def nested(depth: int) -> Any:
    made: Any = 1
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("measures", "loss", "lm"), 10**310),  # which no float holds: it failed where it was shown
        (("promises", 0, "achieved"), {"k": "1/00"}),
        (("purpose",), "\ud800"),  # which no file and no screen holds
        (("data", "nulls"), ["\udfff"]),
        (("algorithm",), {"type": "top-down", "\ud800": 1}),
        (("algorithm",), {"type": "top-down", "deep": nested(480)}),
    ],
)
def test_what_would_fail_later_is_refused_by_the_reader(
    place: tuple[Any, ...], value: Any, released: Released, tmp_path: Path
) -> None:
    found = parsed(released["table"])
    at: Any = found
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    (tmp_path / "evidence.json").write_text(json.dumps(found))
    with pytest.raises(TamperedError):
        folder.read(tmp_path)


def test_a_recoding_that_nobody_knows_is_not_a_fault_of_ours(released: Released, tmp_path: Path) -> None:
    shutil.copytree(released["table"], tmp_path / "out")
    found = parsed(released["table"])
    noted = next(name for name, one in found["attributes"].items() if "recoding" in one)
    found["attributes"][noted]["recoding"] = "sideways"
    (tmp_path / "out" / "evidence.json").write_text(json.dumps(found))
    with pytest.raises(TamperedError, match="recoding: is one of unchanged, full-domain, global, local"):
        pv.compare(released["table"].parent / "raw.csv", tmp_path / "out")


def test_buckets_without_a_measure_are_not_a_fault_of_ours(released: Released, tmp_path: Path) -> None:
    shutil.copytree(released["anatomy"], tmp_path / "out")
    found = parsed(released["anatomy"])
    raw = pl.DataFrame({name: ["1"] * found["records"] for name in found["attributes"]})
    del found["measures"]["loss"]
    (tmp_path / "out" / "evidence.json").write_text(json.dumps(found))
    with pytest.raises(TamperedError, match=r"measures\.loss: is missing"):
        pv.compare(raw, tmp_path / "out")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "evidence.json").write_bytes(text)
    with pytest.raises(TamperedError):
        folder.read(tmp_path)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "evidence.json").open("wb") as file:
        file.truncate(sealed.SMALL["evidence.json"] + 1)  # it takes no room on the disk
    with pytest.raises(TamperedError, match="at most"):
        folder.read(tmp_path)


def test_what_is_not_written_yet_is_no_evidence_of_a_folder(released: Released, tmp_path: Path) -> None:
    for part in ("data", "files"):
        whole = {key: value for key, value in parsed(released["table"]).items() if key != part}
        (tmp_path / "evidence.json").write_text(json.dumps(whole), encoding="utf-8")
        with pytest.raises(TamperedError, match=f"{part}: is missing"):
            folder.read(tmp_path)


@pytest.mark.parametrize("version", [0, 2, True, "1", 1.0])
def test_another_version_is_refused_whatever_else_it_says(
    version: Any, released: Released, tmp_path: Path
) -> None:
    whole = {**parsed(released["table"]), "evidence": version}
    (tmp_path / "evidence.json").write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(TamperedError, match="not evidence of version 1"):
        folder.read(tmp_path)


def test_verify_complains_of_what_nobody_knows(released: Released) -> None:
    path = released["table"] / "evidence.json"
    before = path.read_text(encoding="utf-8")
    path.write_text(json.dumps({**json.loads(before), "certified": "by nobody"}), encoding="utf-8")
    try:
        (said,) = pv.verify(released["table"]).complaints
    finally:
        path.write_text(before, encoding="utf-8")
    assert said.startswith("evidence.json: certified: ")


@pytest.mark.parametrize("place", ["values", "interval"])
def test_what_is_left_out_is_not_null(place: str) -> None:
    """Readers ask whether it is there; a null that is there would fail wherever it is shown."""
    value: dict[str, Any] = {"label": "a", "loss": 0.5, "interval": ["1", "2"]}
    note: dict[str, Any] = {"role": "quasi", "published": "generalised", "values": [value]}
    assert ColumnNote.read(note).to_dict() == note
    del (note if place == "values" else value)[place]
    assert ColumnNote.read(note).to_dict() == note
    (note if place == "values" else value)[place] = None
    with pytest.raises(TamperedError, match=f"{place}: is left out where there is nothing, not null"):
        ColumnNote.read(note)
