"""Rows that were signed for, and marks by which they are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.parties import federation, hospitals, test_loan
from tests.parties.test_mining import DOCUMENT
from tests.parties.test_signing import KEYS, contract

from privet.errors import InputError, PartyError, PrivetError
from privet.parties import rows
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.signing import beside, bound, sign, signed
from privet.parties.transport import InProcess, Link, Session, together
from privet.registry import find
from privet.roads.parties.database import make_together
from privet.roads.parties.itemsets import mine_together
from privet.roads.parties.party import take_part


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


ENGINE = find("engines", "embedded")()
Road = Callable[[Link, Path, rows.Rows], object]


def baskets(folder: Path, names: Sequence[str]) -> list[Path]:
    found = []
    for at, name in enumerate(names):
        path = folder / f"{name}.baskets.csv"
        path.write_text(
            "id,item\n" + "".join(f"{7 * at + one},{'bread' if one % 2 else 'milk'}\n" for one in range(5))
        )
        found.append(path)
    return found


def roads(folder: Path) -> dict[str, tuple[Sequence[str], list[Path], Road]]:
    """By kind of contract its parties, their files, and what each of them does."""
    people, columns = hospitals.contract(), Contract.from_document(test_loan.document(), base=Path())
    mining = MiningContract.from_document({**DOCUMENT, "parties": ["A", "B", "C"]})
    database = federation.contract()
    return {
        "people": (people.parties, hospitals.parts(folder),
                   lambda link, file, told: take_part(link, people, file, ENGINE, rows=told)),
        "columns": (columns.parties, test_loan.parts(folder),
                    lambda link, file, told: take_part(link, columns, file, ENGINE, rows=told)),
        "mining": (mining.parties, baskets(folder, mining.parties),
                   lambda link, file, told: mine_together(link, mining, file, ENGINE, told)),
        "database": (database.parties, [Path(one) for one in federation.parts(folder).values()],
                     lambda link, file, told: make_together(link, database, file, ENGINE, told)),
    }  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["people", "columns", "mining", "database"])
def test_what_is_opened_is_told_before_and_after_and_never_where_rows_are_wrong(
    kind: str, tmp_path: Path
) -> None:
    names, files, road = roads(tmp_path)[kind]
    seen: dict[str, list[object]] = {name: [] for name in names}

    def part(link: Link) -> object:
        note = seen[link.name(link.me)]
        told = rows.Rows(opening=lambda: note.append("opening"), opened=note.append)
        return road(link, files[link.me], told)

    def run() -> list[object]:
        session = Session(bytes(16), bytes(32), tuple(names))
        return together(InProcess(session, patience=20), [part] * len(names))

    run()
    results = {one[-1] for one in seen.values()}
    assert len(results) == 1, "the same at all"
    assert all(len(one) == (1 if kind == "database" else 2) and one[0] == "opening" for one in seen.values())
    if kind != "database":
        first = dict(seen)
        seen.update({name: [] for name in names})
        run()
        assert seen == first, "the same rows make it again, to the byte"
    # One has a value that was not agreed on: nobody has seen anything, and it may be corrected.
    seen.update({name: [] for name in names})
    head, *lines = files[-1].read_text().splitlines()
    files[-1].write_text(
        "\n".join([head, *(",".join("nonsense" for _ in one.split(",")) for one in lines)]) + "\n"
    )
    with pytest.raises(PrivetError):
        run()
    assert not any(seen.values())


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
