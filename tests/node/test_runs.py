"""A node's runs, without a network: what is refused before anybody hears of it, and what a restart finds."""

from __future__ import annotations

import errno
import json
import time
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import polars as pl
import pytest
import tomli_w
from tests.node.nodes import NAMES, contract_of, houses, tables
from tests.parties import federation
from tests.parties import test_noisy_contract as spending
from tests.parties.test_mining import DOCUMENT

from privet.core import Form, Purse
from privet.dp.ledger import Ledger
from privet.errors import InputError, PartyError
from privet.evidence.signing import PrivateKey
from privet.node import runs as starting
from privet.node.ending import has_ended
from privet.node.house import House
from privet.node.notes import NOTHING, Noted
from privet.node.questions import keep
from privet.node.runs import Runs
from privet.node.source import content, mark, values
from privet.parties import agreements, rows
from privet.parties.contract import Contract
from privet.parties.rows import Rows
from privet.parties.signing import sign
from privet.parties.virtual.answering import Answer
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


def test_an_answer_that_nobody_fetches_goes_with_the_patience_and_with_the_next_start(tmp_path: Path) -> None:
    """A node that was killed between handing an answer out and removing it had it ever after."""
    house = replace(houses(tmp_path)["B"], patience=0.05)
    answer = Answer((("26..29", "Flu"),), ("age", "disease"), 1, 0, 1)
    keep(house, SESSION, answer)
    until = time.monotonic() + 30
    while list(house.answers.glob("*")):
        assert time.monotonic() < until
        time.sleep(0.01)
    keep(replace(house, patience=600), SESSION, answer)
    assert len(list(house.answers.glob("*"))) == 1
    Runs(house)
    assert not list(house.answers.glob("*"))


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
    monkeypatch.setattr(starting, "write", full)
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


def test_rows_of_a_file_are_known_in_any_order_and_however_they_are_written(tmp_path: Path) -> None:
    place = tmp_path / "rows.csv"

    def known(text: str, form: Form = Form()) -> bytes:  # noqa: B008 - frozen
        place.write_bytes(text.encode())
        return values(place, form)

    usual = known("a,b\n1,x\n2,\n2,z\n")
    for same in (
        "a,b\r\n1,x\r\n2,\r\n2,z\r\n",
        "a,b\n2,z\n1,x\n2,",
        'b,a\n"x",1\n,2\nz,2\n',
        "a;b\n1;x\n2;\n2;z\n",
    ):
        assert known(same) == usual
    for other in (
        "a,b\n1,x\n2,z\n",
        "a,b\n1,x\n2,\n2,y\n",
        "a,c\n1,x\n2,\n2,z\n",
        "a,b\n1,x\n2,z\n2,\n1,x\n",
    ):
        assert known(other) != usual
    assert known("a,b\n1,x\n2,\n2,z\n", Form(nulls=("", "x"))) == usual, "what means missing is a reading"
    assert known('a,b\n"1,2",3\n') != known('a,b\n1,"2,3"\n')
    assert known('a,b\n"1\n2",3\n') != known('a,b\n1,"\n23"\n')
    assert known("\0\1") == content(place), "what cannot be read is known by its bytes"
    frame = pl.DataFrame({"a": [1, 2, 2], "b": ["x", None, "z"]})
    assert values(frame, Form()) == usual, "out of a database, too"


def test_rows_of_a_database_are_known_in_any_order_and_by_this_node_only(tmp_path: Path) -> None:
    rows = pl.DataFrame({"a": ["1", "2", "2"], "b": ["x", None, "z"]})
    assert content(rows) == content(rows.reverse())
    assert content(rows) != content(rows.head(2))
    for value in (UUID(int=7), [1, 2], {"x": 1}, b"\xff", timedelta(1)):  # what no file of text holds
        odd = pl.DataFrame([(1, value), (2, None)], schema=["a", "b"], orient="row")
        assert content(odd) == content(odd.reverse()) != content(odd.head(1))
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
    mine = rows.mark(house.key(), agreements.load(contract), values(Path(data), Form())).hex()
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


def noted(house: House, **changes: object) -> Runs:
    """The node, started after the run in its notes ended in another way."""
    place = house.runs / f"{SESSION}.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | changes))
    return Runs(house)


def test_a_peer_that_says_the_same_rows_and_puts_in_others_is_found_out_once(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    digest = Contract.load(path).digest.hex()
    runs = published(known["B"], path, data["B"], {"A": "a1", "C": "c1"})
    first = mark(sha256(b"Job\nANY_Job\n").digest(), known["B"].secret())
    runs = noted(known["B"], result=first)
    for again in (False, True):
        runs.start(path, data["B"], None, again=again)
        live = runs._live[digest]
        live.noted = replace(live.noted, session="cd" * 16, opened=True)
        runs.runner.opened(live, b"Job\nANY_Job\n")
        assert live.noted.result == first
        if again:
            runs.runner.opened(live, b"Job\nJanitor\n")
        else:
            with pytest.raises(PartyError, match="made another result") as caught:
                runs.runner.opened(live, b"Job\nJanitor\n")
            assert "Janitor" not in str(caught.value)
        runs.give_up(digest)
    runs = Runs(known["B"])  # which finds both results in its notes
    with pytest.raises(InputError, match=r"made two results under this contract.*--again"):
        runs.start(path, data["B"], None)
    runs.start(path, data["B"], None, again=True)
    assert runs.give_up(digest)


def test_what_another_party_may_hold_counts_as_published(tmp_path: Path) -> None:
    """While signatures travel one party may have all of them, and the next not yet."""
    known, data = houses(tmp_path), tables(tmp_path)
    first, second = contract_of(tmp_path / "c", known), contract_of(tmp_path / "d", known, rows_at_most=9)
    published(known["B"], first, data["B"], {"C": "c1"})
    opened = {"state": "failed", "release": "", "opened": True, "result": "r1"}
    for changes, how in (({"signed": True}, "published"), ({}, "opened among the parties")):
        runs = noted(known["B"], **{**opened, "signed": False, **changes})
        with pytest.raises(InputError, match=f"these rows were {how} under another contract already"):
            runs.start(second, data["B"], None)
        assert runs._seen(Contract.load(first))
        runs.start(first, data["B"], None)  # the same rows of the same contract
        assert runs.give_up(Contract.load(first).digest.hex())
        with pytest.raises(InputError, match="B: has other rows than when"):
            runs.start(first, data["C"], None)
    runs = noted(known["B"], result="")  # it broke off, and what others saw is not known here: once
    runs.start(first, data["B"], None)
    assert runs.give_up(Contract.load(first).digest.hex())
    twice = json.loads((known["B"].runs / f"{SESSION}.json").read_text()) | {"session": "ef" * 16}
    (known["B"].runs / f"{'ef' * 16}.json").write_text(json.dumps(twice))
    with pytest.raises(InputError, match=r"broken off more than once when its search had begun.*--again"):
        Runs(known["B"]).start(first, data["B"], None)
    (known["B"].runs / f"{'ef' * 16}.json").unlink()
    runs = noted(known["B"], opened=False)
    for path in (second, first):
        assert runs.start(path, data["B"], None).state == "waiting", "nobody has seen anything"
        assert runs.give_up(Contract.load(path).digest.hex())


def test_after_one_accident_and_one_result_a_run_is_still_held_to_both(tmp_path: Path) -> None:
    """Counted together they would leave `--again` only, which is held to nothing."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    digest = Contract.load(path).digest.hex()
    runs = published(known["B"], path, data["B"], {"A": "a1", "C": "c1"})
    first = mark(sha256(b"Job\nANY_Job\n").digest(), known["B"].secret())
    noted(known["B"], state="failed", release="", opened=True, result=first)
    accident = json.loads((known["B"].runs / f"{SESSION}.json").read_text())
    accident |= {"session": "ef" * 16, "result": ""}
    (known["B"].runs / f"{'ef' * 16}.json").write_text(json.dumps(accident))
    runs = Runs(known["B"])
    runs.start(path, data["B"], None)
    live = runs._live[digest]
    with pytest.raises(PartyError, match="C: has other rows"):
        live.rows.heard({"A": bytes.fromhex("a1"), "B": live.rows.mine, "C": bytes.fromhex("c2")})
    live.noted = replace(live.noted, session="cd" * 16, opened=True)
    with pytest.raises(PartyError, match="made another result"):
        runs.runner.opened(live, b"Job\nJanitor\n")
    assert runs.give_up(digest)
    with pytest.raises(InputError, match="made two results"):
        Runs(known["B"]).start(path, data["B"], None)


def test_who_stops_a_noisy_run_before_it_is_paid_does_not_come_back_with_other_rows(tmp_path: Path) -> None:
    """Whether classes agree is told first, for nothing: changed one by one they would all be known."""
    two = ("north", "south")
    known = houses(tmp_path, two)
    agreed = spending.document("columns")
    del agreed["noisy"]
    path = contract_of(tmp_path / "c", known, of=lambda **more: {**agreed, **more})
    data = spending.parts(tmp_path, "columns")[1]
    purse = Purse(str(tmp_path / "south.ledger"), "south")
    Ledger(purse.file).open(purse.dataset, Fraction(1))
    digest = Contract.load(path).digest.hex()
    house = known["south"]
    mine = rows.mark(house.key(), Contract.load(path), values(data, Form())).hex()
    stopped = Noted(
        digest, two, "failed", SESSION, "north: is gone", opened=True, marks={"north": "a1", "south": mine}
    )

    def begins(*notes: Noted, other: bool = False) -> Rows:
        for at, one in enumerate(notes):
            session = f"{at:032x}"
            (house.runs / f"{session}.json").write_text(
                json.dumps(replace(one, session=session).to_document())
            )
        runs = Runs(house)
        if other:
            text = data.read_text()
            data.write_text(text.replace("p3,N", "p3,Y"))
        try:
            runs.start(path, str(data), None, (purse.file, purse.dataset))
        finally:
            if other:
                data.write_text(text)
        told = runs._live[digest].rows
        assert runs.give_up(digest)
        return told

    told = begins(stopped)
    told.heard({"north": bytes.fromhex("a1"), "south": told.mine})
    with pytest.raises(PartyError, match="north: has other rows than when this contract was run before"):
        told.heard({"north": bytes.fromhex("a2"), "south": told.mine})
    with pytest.raises(InputError, match=r"south: has other rows than when .*--again"):
        begins(stopped, other=True)
    with pytest.raises(InputError, match=r"broken off more than once when its search had begun.*--again"):
        begins(stopped, stopped)
    paid = replace(stopped, paid=True)
    told = begins(paid, paid, other=True)  # then the ledger counts
    told.heard({"north": bytes.fromhex("a2"), "south": told.mine})


def test_a_node_that_is_stopped_when_its_signature_is_out_says_where_the_release_is(tmp_path: Path) -> None:
    house = houses(tmp_path, ("A",))["A"]
    note = house.runs / f"{SESSION}.json"
    said = Noted("0" * 64, ("A", "B"), "running", SESSION, opened=True, result="r", signed=True)
    note.write_text(json.dumps(said.to_document()))
    (found,) = Runs(house).every()
    assert found.left
    assert found.why == f"the node was stopped in the middle; {PERHAPS}"
    over = said.failed(f"A: the node's folder: No space left on device; {NOTHING}")
    assert over.why == f"A: the node's folder: No space left on device; {PERHAPS}"
    for why in (f"B: is gone; {PERHAPS}", "B: is gone; nothing is published"):
        assert said.failed(why).why == f"B: is gone; {PERHAPS}"
    assert replace(said, signed=False).failed("x; nothing is published").why == "x; nothing is published"


def test_rows_that_were_mined_are_not_mined_under_another_contract_unless_forced(tmp_path: Path) -> None:
    """Of two lists of counts with one person between them, the difference is that person."""
    known = houses(tmp_path)
    data = tmp_path / "B.csv"
    data.write_text("id,item\n1,bread\n2,milk\n")
    first, second = (
        contract_of(
            tmp_path / name,
            known,
            of=lambda **more: {**DOCUMENT, "parties": list(NAMES), **more},
            purpose=name,
        )
        for name in "cd"
    )
    runs = published(known["B"], first, str(data), {"A": "a1", "C": "c1"})
    with pytest.raises(InputError, match=r"published under another contract already .*--again"):
        runs.start(second, str(data), None)
    runs.start(second, str(data), None, again=True)
    assert runs.give_up(agreements.load(second).digest.hex())
    data.write_text("id,item\n1,bread\n")
    with pytest.raises(InputError, match=r"B: has other rows than when .*--again"):
        runs.start(first, str(data), None)


def test_a_party_that_refuses_to_start_ends_the_waiting_of_others(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = Runs(known["B"])
    digest = runs.start(path, data["B"], None).contract
    runs.refused(digest, "D")
    assert runs.every()[-1].state == "waiting", "not a party"
    runs.refused(digest, "C")
    told = "its own node refuses to start this contract, and has told its steward why; nothing is published"
    assert [(one.state, one.why) for one in runs.every()] == [("failed", f"C: {told}")]
    assert runs.start(path, data["B"], None).why == f"C: {told}", "nor does who starts a moment later"
    runs.refusals.forgotten(digest, "C")
    assert runs.start(path, data["B"], None).state == "waiting"
    assert runs.give_up(digest)


def test_a_node_whose_own_data_cannot_be_read_tells_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed is typed again, at once; what stands in node.toml needs somebody who mends it."""
    known, told = houses(tmp_path), []
    path = contract_of(tmp_path / "c", known)
    place = tmp_path / "rows.sqlite"
    source = {"source": f"sqlite:///{place}", "query": "SELECT * FROM patients"}
    form = tmp_path / "B" / "node.toml"
    form.write_text(form.read_text() + tomli_w.dumps({"data": source}))
    runs = Runs(House.load(tmp_path / "B"))
    monkeypatch.setattr(runs.refusals, "tell", lambda contract: told.append(contract.digest))
    for _ in range(2):
        with pytest.raises(InputError):
            runs.start(path, None, None)
        place.touch()  # a database without that table
    assert told == [agreements.load(path).digest] * 2
    with pytest.raises(InputError, match="no such file"):
        runs.start(path, str(tmp_path / "mistyped.csv"), None)
    assert len(told) == 2


def test_nor_does_who_leads_wait_for_the_turn_of_the_one_that_refuses(tmp_path: Path) -> None:
    """It asks B first, which has ended by then; it waited for B with all its patience."""

    class NotStarted:
        def call(self, *_: object, **__: object) -> tuple[int, None]:
            return 404, None

    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = Runs(known["B"])
    digest = runs.start(path, data["B"], None).contract
    live, callers = runs._live[digest], dict.fromkeys("BC", NotStarted())
    runs.refusals.heard(digest, "C")
    with pytest.raises(PartyError, match="C: its own node refuses to start this contract"):
        runs.runner.gather(live, bytes(16), callers)  # type: ignore[arg-type] # no more of a caller is asked for
    assert runs.give_up(digest)


def test_who_has_heard_of_an_end_names_the_cause_and_not_the_messenger() -> None:
    """A told B that C is the cause; of B, C is heard, and not A."""
    for why, named in (
        (has_ended(NAMES, "A", "C"), "C"),
        (has_ended(NAMES, "A", None), "A"),
        (has_ended(NAMES, "A", "A"), "A"),
        (has_ended(NAMES, "A", "Z"), "A"),
        ("C: said nothing for 5 seconds", "C"),
        ("ended by our own steward", ""),
    ):
        assert Noted("0" * 64, NAMES, why=why).named == named, why


def test_a_virtual_database_of_the_same_rows_is_not_made_again_unless_forced(tmp_path: Path) -> None:
    """Its groups would be united anew, and so be told apart by and by."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known, of=federation.document, parties=list(known))
    runs = published(known["B"], path, data["B"], {})
    with pytest.raises(InputError, match=r"a virtual database of these rows was made already: .*--again"):
        runs.start(path, data["B"], None)
    assert runs.start(path, data["B"], None, again=True).state == "waiting"
    assert runs.give_up(agreements.load(path).digest.hex())


def test_nor_is_one_searched_for_without_end(tmp_path: Path) -> None:
    """No row is shown, but counts are, of whatever a party that lies has put in this time."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known, of=federation.document, parties=list(known))
    published(known["B"], path, data["B"], {})
    runs = noted(known["B"], state="failed", release="", opened=True)
    assert runs.start(path, data["B"], None).state == "waiting", "one may be an accident"
    assert runs.give_up(agreements.load(path).digest.hex())
    twice = json.loads((known["B"].runs / f"{SESSION}.json").read_text()) | {"session": "ef" * 16}
    (known["B"].runs / f"{'ef' * 16}.json").write_text(json.dumps(twice))
    runs = Runs(known["B"])
    with pytest.raises(InputError, match=r"broken off more than once when its search had begun.*--again"):
        runs.start(path, data["B"], None)
    assert runs.start(path, data["B"], None, again=True).state == "waiting"
    assert runs.give_up(agreements.load(path).digest.hex())


def test_rows_are_those_that_were_signed_for(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    agreed = Contract.load(path)
    key = known["B"].key()
    sign(agreed, path, key, rows.mark(key, agreed, values(Path(data["B"]), Form())).hex())
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
    runs.runner.refuse_changed(live)
    with Path(data["B"]).open("a") as file:
        file.write("\n")
    with pytest.raises(PartyError, match="B: the data were changed after the run was started"):
        runs.runner.refuse_changed(live)
    Path(data["B"]).unlink()
    with pytest.raises(InputError, match="no such file any more"):
        runs.runner.refuse_changed(live)
    assert runs.give_up(digest)


def test_a_file_that_changes_while_it_is_looked_at_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was marked and what would be put in could be two."""
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)

    def looked(source: Path, form: Form) -> bytes:
        source.write_text(source.read_text() + "\n")
        return values(source, form)

    monkeypatch.setattr(starting, "values", looked)
    with pytest.raises(InputError, match="being changed just now"):
        Runs(known["B"]).start(path, data["B"], None)


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
