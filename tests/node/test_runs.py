"""A node's runs, without a network: what is refused before anybody hears of it, and what a restart finds."""

from __future__ import annotations

import errno
import json
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.node.nodes import contract_of, houses, tables
from tests.parties import federation

from privet.errors import InputError, PartyError
from privet.evidence.signing import PrivateKey
from privet.node import runs as running
from privet.node.house import House
from privet.node.notes import Noted
from privet.node.runs import Runs
from privet.node.source import content, mark
from privet.parties import agreements, rows
from privet.parties.contract import Contract
from privet.parties.signing import sign
from privet.roads.parties.concluding import PERHAPS

SESSION = "ab" * 16


def test_a_run_that_its_leader_does_not_begin_ends_in_time(tmp_path: Path) -> None:
    known = houses(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = Runs(replace(known["B"], patience=0.05))
    runs.start(path, tables(tmp_path)["B"], None)
    until = time.monotonic() + 30
    while (found := runs.every()[0]).state != "failed" and time.monotonic() < until:
        time.sleep(0.01)
    assert found.why == "A: has not begun in 0.05 seconds; nothing is published"
    assert runs.join(bytes.fromhex(SESSION), found.contract, "A") == 404, "it is over"


def test_only_the_party_that_leads_is_joined_and_a_known_session_never_again(tmp_path: Path) -> None:
    known = houses(tmp_path)
    path = contract_of(tmp_path / "c", known)
    (known["B"].runs / f"{SESSION}.json").write_text(
        json.dumps(Noted("0" * 64, ("A", "B"), "failed", SESSION).to_document())
    )
    runs = Runs(known["B"])
    noted = runs.start(path, tables(tmp_path)["B"], None)
    assert runs.join(bytes(16), noted.contract, "C") == 403
    assert runs.join(bytes.fromhex(SESSION), noted.contract, "A") == 410
    assert runs.join(bytes(16), "0" * 64, "A") == 404
    with pytest.raises(InputError, match="running already"):
        runs.start(path, tables(tmp_path)["B"], None)
    assert runs.give_up(noted.contract)
    assert not runs.give_up(noted.contract)


def test_a_node_that_was_stopped_in_the_middle_says_so_and_cleans_up(tmp_path: Path) -> None:
    house = houses(tmp_path, ("A",))["A"]
    note = house.runs / f"{SESSION}.json"
    note.write_text(json.dumps(Noted("0" * 64, ("A", "B"), "running", SESSION).to_document()))
    left = house.releases / f".{SESSION}.abcdefgh"
    (left / "new" / SESSION).mkdir(parents=True)
    (left / "lock").touch()
    (found,) = Runs(house).every()
    assert found.state == "failed"
    assert "stopped in the middle" in found.why
    assert not list(house.releases.iterdir())
    assert json.loads(note.read_text())["state"] == "failed"


def test_a_node_that_cannot_write_its_notes_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = houses(tmp_path)
    path, data = contract_of(tmp_path / "c", known), tables(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    runs = {name: Runs(known[name]) for name in "AB"}
    noted = runs["B"].start(path, data["B"], None)
    monkeypatch.setattr(running, "write", full)
    with pytest.raises(InputError, match="is the disk full"):
        runs["A"].start(path, data["A"], None)
    assert runs["B"].join(bytes(16), noted.contract, "A") == 507
    for one in runs.values():
        assert [run.state for run in one.every()] == ["failed"], "nothing runs on"
    monkeypatch.undo()
    assert runs["B"].start(path, data["B"], None).state == "waiting", "when there is room it works"
    runs["B"].give_up(noted.contract)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"contract": 1, "more": 2, "parties": []}'])
def test_damaged_notes_are_not_guessed_at(text: str, tmp_path: Path) -> None:
    house = houses(tmp_path, ("A",))["A"]
    (house.runs / "x.json").write_text(text)
    with pytest.raises(InputError, match="these notes are damaged"):
        Runs(house)


def test_the_same_rows_under_another_contract_are_refused_unless_forced(tmp_path: Path) -> None:
    """Spec 03, H14: one release of one data set is assumed."""
    known = houses(tmp_path)
    data = tables(tmp_path)
    first, second = contract_of(tmp_path / "c", known), contract_of(tmp_path / "d", known, rows_at_most=9)
    runs = Runs(known["B"])
    noted = runs.start(first, data["B"], None)
    assert runs.give_up(noted.contract)
    runs.start(second, data["B"], None)  # the first was not published
    assert runs.give_up(Contract.load(second).digest.hex())
    done = replace(noted, state="done", session=SESSION, release=SESSION)
    (known["B"].runs / f"{SESSION}.json").write_text(json.dumps(done.to_document()))
    runs = Runs(known["B"])
    with pytest.raises(InputError, match=r"published under another contract already .*--again") as caught:
        runs.start(second, data["B"], None)
    assert "B.csv" not in str(caught.value)
    for path, file, again in ((first, "B", False), (second, "B", True)):  # the same; or forced
        assert runs.start(path, data[file], None, again=again).rows == noted.rows
        assert runs.give_up(Contract.load(path).digest.hex())
    assert runs.start(second, data["C"], None).rows != noted.rows, "other rows"
    assert not [one for one in known["B"].folder.rglob("*.json") if data["B"] in one.read_text()]


def test_rows_of_a_database_are_known_in_any_order_and_by_this_node_only(tmp_path: Path) -> None:
    rows = pl.DataFrame({"a": ["1", "2", "2"], "b": ["x", None, "z"]})
    assert content(rows) == content(rows.reverse())
    assert content(rows) != content(rows.head(2))
    assert mark(content(rows), b"s") != mark(content(rows), b"t")


def test_what_a_node_does_not_run(tmp_path: Path) -> None:
    known = houses(tmp_path)
    data = tables(tmp_path)
    signed = contract_of(tmp_path / "signed", known)
    runs = Runs(known["A"])
    unsigned = contract_of(tmp_path / "unsigned", known, signed=False)
    with pytest.raises(InputError, match="not signed by A, B, C"):
        runs.start(unsigned, data["A"], None)
    changed = contract_of(tmp_path / "changed", known)
    changed.write_text(changed.read_text().replace("k = 2", "k = 1"))
    with pytest.raises(InputError, match="or changed since"):
        runs.start(changed, data["A"], None)
    with pytest.raises(InputError, match="which data"):
        runs.start(signed, None, None)
    with pytest.raises(InputError, match="only of a database"):
        runs.start(signed, data["A"], "select 1")
    elsewhere = houses(tmp_path / "elsewhere", ("D",))["D"]
    with pytest.raises(InputError, match="this node is D, which is not a party"):
        Runs(elsewhere).start(signed, data["A"], None)
    (known["A"].folder / "peers" / "C.toml").unlink()
    with pytest.raises(InputError, match="C has sent no invitation"):
        runs.start(signed, data["A"], None)
    known["A"].accept(tmp_path / "C.invitation.toml")
    other = replace(known["C"].me(), key=PrivateKey.make("C").public)
    (known["A"].folder / "peers" / "C.toml").write_text(other.to_text())
    with pytest.raises(InputError, match=r"keys\.C: is another key than the one that we know of C"):
        Runs(House.load(known["A"].folder)).start(signed, data["A"], None)


def published(house: House, contract: Path, data: str, marks: dict[str, str]) -> Runs:
    """The node, started after it published these rows under a contract; the others' had these marks."""
    runs = Runs(house)
    noted = runs.start(contract, data, None)
    runs.give_up(noted.contract)
    mine = rows.mark(house.key(), agreements.load(contract), content(Path(data))).hex()
    done = replace(noted, state="done", session=SESSION, release=SESSION, marks=marks | {house.name: mine})
    (house.runs / f"{SESSION}.json").write_text(json.dumps(done.to_document()))
    return Runs(house)


def test_other_rows_under_a_contract_that_was_published_are_refused_unless_forced(tmp_path: Path) -> None:
    """Who has the tables of both runs can take one from the other."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = published(known["B"], path, data["B"], {"A": "a1", "C": "c1"})
    digest = Contract.load(path).digest.hex()
    runs.start(path, data["B"], None)
    told = runs._live[digest].rows
    told.heard({"A": bytes.fromhex("a1"), "B": told.mine, "C": bytes.fromhex("c1")})
    with pytest.raises(PartyError, match=r"C: has other rows than when this contract was run before"):
        told.heard({"A": bytes.fromhex("a1"), "B": told.mine, "C": bytes.fromhex("c2")})
    with pytest.raises(PartyError, match=r"A: has other rows"):
        told.heard({"A": rows.NONE, "B": told.mine, "C": bytes.fromhex("c1")})
    assert runs.give_up(digest)
    Path(data["B"]).write_text(Path(data["B"]).read_text().rpartition("\n")[0].rpartition("\n")[0] + "\n")
    with pytest.raises(InputError, match=r"B: has other rows than when .*--again"):
        runs.start(path, data["B"], None)
    runs.start(path, data["B"], None, again=True)
    runs._live[digest].rows.heard({"A": bytes.fromhex("a2")})
    assert runs.give_up(digest)


def test_a_peer_that_says_the_same_rows_and_puts_in_others_has_no_signature(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = published(known["B"], path, data["B"], {"A": "a1", "C": "c1"})
    digest = Contract.load(path).digest.hex()
    before, made = known["B"].releases / SESSION, tmp_path / "made"
    for folder in (before, made):
        folder.mkdir()
        (folder / "data.csv").write_text("Job\nANY_Job\n")
    for again in (False, True):
        runs.start(path, data["B"], None, again=again)
        live = runs._live[digest]
        runs._refuse_other(live, made)
        (made / "data.csv").write_text("Job\nJanitor\n")
        if again:
            runs._refuse_other(live, made)
        else:
            with pytest.raises(PartyError, match="made another result") as caught:
                runs._refuse_other(live, made)
            assert "Janitor" not in str(caught.value)
        (made / "data.csv").write_text("Job\nANY_Job\n")
        assert runs.give_up(digest)


def test_what_another_party_may_hold_counts_as_published(tmp_path: Path) -> None:
    """While signatures travel one party may have all of them, and the next not yet."""
    known, data = houses(tmp_path), tables(tmp_path)
    first, second = contract_of(tmp_path / "c", known), contract_of(tmp_path / "d", known, rows_at_most=9)
    published(known["B"], first, data["B"], {"C": "c1"})
    place = known["B"].runs / f"{SESSION}.json"
    noted = json.loads(place.read_text())
    for why, refused in ((f"A: is gone; {PERHAPS}", True), ("A: is gone", False)):
        place.write_text(json.dumps(noted | {"state": "failed", "release": "", "why": why}))
        runs = Runs(known["B"])
        if refused:
            with pytest.raises(InputError, match="published under another contract already"):
                runs.start(second, data["B"], None)
            assert runs._published(Contract.load(first))
        else:
            assert runs.start(second, data["B"], None).state == "waiting"
            assert runs.give_up(Contract.load(second).digest.hex())


def test_a_virtual_database_of_the_same_rows_is_not_made_again_unless_forced(tmp_path: Path) -> None:
    """Its groups would be united anew, and so be told apart by and by."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known, of=federation.document, parties=list(known))
    runs = published(known["B"], path, data["B"], {})
    with pytest.raises(InputError, match=r"a virtual database of these rows was made already: .*--again"):
        runs.start(path, data["B"], None)
    assert runs.start(path, data["B"], None, again=True).state == "waiting"
    assert runs.give_up(agreements.load(path).digest.hex())


def test_rows_are_those_that_were_signed_for(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    agreed = Contract.load(path)
    key = known["B"].key()
    sign(agreed, path, key, rows.mark(key, agreed, content(Path(data["B"]))).hex())
    runs = Runs(known["B"])
    runs.start(path, data["B"], None)
    assert runs.give_up(agreed.digest.hex())
    with pytest.raises(InputError, match="not the rows that were signed for"):
        runs.start(path, data["C"], None, again=True)
    # At the others: who puts in something else than it signed for is named.
    one = Runs(known["C"])
    one.start(path, data["C"], None)
    told = one._live[agreed.digest.hex()].rows
    with pytest.raises(PartyError, match="B: has other rows than those that it has signed for"):
        told.heard({"A": b"a" * 32, "B": b"b" * 32, "C": told.mine})
    assert one.give_up(agreed.digest.hex())


def test_a_file_that_changes_after_the_run_was_started_is_not_put_in(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = Runs(known["B"])
    digest = runs.start(path, data["B"], None).contract
    live = runs._live[digest]
    runs._refuse_changed(live)
    with Path(data["B"]).open("a") as file:
        file.write("\n")
    with pytest.raises(PartyError, match="B: the data were changed after the run was started"):
        runs._refuse_changed(live)
    Path(data["B"]).unlink()
    with pytest.raises(InputError, match="no such file any more"):
        runs._refuse_changed(live)
    assert runs.give_up(digest)


def test_one_key_under_two_names_is_refused(tmp_path: Path) -> None:
    """Two of three parties that are one organisation read everything of the third."""
    known = houses(tmp_path)
    (tmp_path / "twin").mkdir()
    twin = houses(tmp_path / "twin", ("D",))["D"].me()
    invitation = tmp_path / "D.toml"
    invitation.write_text(replace(twin, key=known["B"].key().public).to_text())
    for name in ("A", "B"):
        with pytest.raises(InputError, match="D signs with the key of B"):
            known[name].accept(invitation)
    invitation.write_text(twin.to_text())
    assert known["A"].accept(invitation).name == "D"
