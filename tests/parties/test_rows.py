"""Rows that were signed for, and marks by which they are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.parties.test_signing import KEYS, contract

from privet.errors import InputError, PartyError
from privet.parties import rows
from privet.parties.signing import beside, bound, sign, signed


def test_a_mark_is_of_one_key_one_contract_and_the_same_rows() -> None:
    one = rows.mark(KEYS["A"], contract(), b"rows")
    assert one == rows.mark(KEYS["A"], contract(), b"rows")
    others = [
        rows.mark(KEYS["B"], contract(), b"rows"),
        rows.mark(KEYS["A"], contract(rows_at_most=50), b"rows"),
        rows.mark(KEYS["A"], contract(), b"rows2"),
    ]
    assert len({one, *others}) == 4
    assert {len(mark) for mark in others} == {rows.SIZE}


def test_a_mark_is_under_the_signature(tmp_path: Path) -> None:
    """Whoever takes it away, or puts another there, has no signature left."""
    path = tmp_path / "contract.toml"
    mark = rows.mark(KEYS["A"], contract(), b"rows").hex()
    for key in KEYS.values():
        sign(contract(), path, key, mark if key is KEYS["A"] else "")
    assert signed(contract(), path) == dict.fromkeys("ABC", True)
    assert bound(contract(), path) == {"A": mark}
    said = json.loads(beside(path).read_text())
    for changed in ({}, {"A": "0" * 64}, {"A": mark, "B": mark}):
        beside(path).write_text(json.dumps(said | {"rows": changed}))
        assert not all(signed(contract(), path).values())
        assert bound(contract(), path) == {
            name: one for name, one in changed.items() if one == mark and name == "A"
        }
    beside(path).write_text(json.dumps(said | {"rows": ["A"]}))
    with pytest.raises(InputError, match="not a file of signatures"):
        signed(contract(), path)
    beside(path).write_text(json.dumps(said))
    sign(contract(), path, KEYS["A"])
    assert bound(contract(), path) == {}, "signed again, for whichever rows"
    assert signed(contract(), path) == dict.fromkeys("ABC", True)


def test_what_is_heard_is_remembered_once_it_is_right() -> None:
    noted: list[object] = []
    told = rows.Rows(b"m" * 32, {"B": (b"b" * 32).hex()}, ({"C": (b"c" * 32).hex()},), noted.append)
    with pytest.raises(PartyError, match="B: has other rows than those that it has signed for"):
        told.heard({"A": b"m" * 32, "B": b"x" * 32, "C": b"c" * 32})
    with pytest.raises(PartyError, match="C: has other rows than when this contract was run before"):
        told.heard({"A": b"m" * 32, "B": b"b" * 32, "C": b"x" * 32})
    assert noted == []
    told.heard({"A": b"m" * 32, "B": b"b" * 32, "C": b"c" * 32})
    assert noted == [{"A": (b"m" * 32).hex(), "B": (b"b" * 32).hex(), "C": (b"c" * 32).hex()}]
    rows.UNTOLD.heard({"A": rows.NONE})
