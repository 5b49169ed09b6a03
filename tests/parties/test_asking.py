"""Questions to a virtual database: which rows match, what is let through, and what nobody sees."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.federation import DISEASES, NAMES, contract, document, frames, parts
from tests.parties.parties import run_each

from privet.cli import main
from privet.errors import InputError, PartyError, PolicyError, UnsupportedError
from privet.parties import agreements
from privet.parties.primitives import union as unions
from privet.parties.transport import InProcess, Session
from privet.parties.virtual import answering
from privet.parties.virtual.answering import answered
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.growing import Grown
from privet.parties.virtual.memory import DAMAGED, TRIES, Memory
from privet.parties.virtual.table import LocalTable
from privet.registry import find
from privet.roads.parties.rehearsing import VirtualDatabase, make_database

ENGINE = find("engines", "embedded")()


@pytest.fixture(scope="module")
def made() -> VirtualDatabase:
    return make_database(contract(), frames(), ENGINE, record=True)


def ask(made: VirtualDatabase, *conditions: str, **more: Any) -> Any:
    return made.ask(Question.parsed(conditions, made.contract, **more))[0]


@pytest.mark.parametrize(
    ("conditions", "rows"),
    [(["age = 27"], 3), (["age between 50 and 56"], 6), (["age = 22", "zip = 40"], 3), (["age = 45"], 0),
     (["zip = 31"], 6), ([], 12), (["age in 27, 55"], 9), (["age >= 50"], 6), (["age <= 24"], 3),
     (["age >= 22", "age <= 23"], 3)],
)  # fmt: skip
def test_the_specs_questions(made: VirtualDatabase, conditions: list[str], rows: int) -> None:
    """Spec 08, 4.7, and others by hand."""
    assert len(ask(made, *conditions).rows) == rows


def test_the_rows_are_those_of_the_groups(made: VirtualDatabase) -> None:
    found = ask(made, "age = 27")
    assert found.columns == ("age", "zip", "disease")
    assert Counter(found.rows) == Counter([("26..29", "43..48", s) for s in ("Cancer", "Asthma", "Flu")])
    assert (found.matched, found.domain, found.suppressed) == (3, 4, 0)
    whole = ask(made)
    assert Counter(row[-1] for row in whole.rows) == Counter(s for f in frames() for s in f["disease"])


def test_certain_rows_only(made: VirtualDatabase) -> None:
    assert len(ask(made, "age between 20 and 30", certain=True).rows) == 6
    assert len(ask(made, "age between 22 and 30", certain=True).rows) == 3
    assert not ask(made, "age = 27", certain=True).rows


def test_a_group_of_which_fewer_than_k_match_is_left_out(made: VirtualDatabase) -> None:
    """Flu: two of LL, one of LR and RL, two of RR."""
    found = ask(made, "disease = Flu")
    assert Counter(row[0] for row in found.rows) == {"21..24": 2, "47..61": 2}
    assert (found.matched, found.suppressed) == (6, 2)


def test_whole_groups_and_refusals() -> None:
    whole = make_database(contract(guard="whole-class", sites=2), frames(), ENGINE)
    assert len(ask(whole, "disease = Cancer").rows) == 6, "of every group with a match, all rows"
    assert len(ask(whole, "disease = Cancer", "age >= 45").rows) == 3
    refusing = make_database(contract(guard="refuse"), frames(), ENGINE)
    with pytest.raises(InputError, match='guard = "refuse"'):
        ask(refusing, "disease = Flu")
    assert len(ask(refusing, "age = 27").rows) == 3


def test_a_fixed_number_of_decoys_and_too_many() -> None:
    fixed = make_database(contract(loss=None, decoys=9), frames(), ENGINE)
    assert ask(fixed, "age = 27").decoys == 9
    wide = {"disease": {"values": list(DISEASES)}, "ward": {"range": [0, 99_999]}, "bed": {"range": [0, 99]}}
    tables = [frame.with_columns(ward=pl.lit(7), bed=pl.lit(8)) for frame in frames()]
    strict = make_database(contract(sensitive=wide), tables, ENGINE)
    with pytest.raises(UnsupportedError, match="agree on more loss"):
        ask(strict)


@given(data=st.data())
@settings(max_examples=15)
def test_an_answer_is_what_all_rows_in_one_place_would_answer(data: Any) -> None:
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 2)), min_size=6, max_size=25)
    )
    whose = [0, 1, 2, *(data.draw(st.integers(0, 2)) for _ in rows[3:])]
    agreed = DatabaseContract.from_document(
        document(quasi={"a": {"range": [0, 9]}, "b": {"range": [0, 4]}}, sensitive={"s": {"range": [0, 2]}})
    )
    tables = [
        pl.DataFrame(
            [row for row, of in zip(rows, whose, strict=True) if of == site], ["a", "b", "s"], orient="row"
        )
        for site in range(3)
    ]
    made = make_database(agreed, tables, ENGINE)
    low, high = sorted((data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))))
    conditions = [f"a between {low} and {high}"]
    sensitive = data.draw(st.none() | st.integers(0, 2))
    if sensitive is not None:
        conditions.append(f"s = {sensitive}")
    found = ask(made, *conditions)
    pooled: Counter[tuple[str, ...]] = Counter()
    for table in made.tables:  # what nobody has: all parts in one place
        for leaf, (code,) in zip(table.leaf.tolist(), table.sensitive.tolist(), strict=True):
            fits = table.low[leaf, 0] <= high and table.high[leaf, 0] >= low
            if fits and sensitive in {None, code}:
                pooled[(*table.label(leaf, agreed), str(code))] += 1
    groups: Counter[tuple[str, ...]] = Counter()
    for row, count in pooled.items():
        groups[row[:2]] += count
    want = Counter({row: count for row, count in pooled.items() if groups[row[:2]] >= 2})
    assert Counter(found.rows) == want
    assert found.matched == pooled.total()


def test_nobody_receives_what_is_not_on_the_list() -> None:
    """Canaries: names that stay where they are, and every message is of a kind that the list has."""
    made = make_database(contract(), frames(), ENGINE, record=True)
    question = Question.parsed(["age = 27"], made.contract)
    _, travelled = made.ask(question)
    for traffic in (*made.made.traffic.values(), *travelled.traffic.values()):
        said = b"".join(payload for _, _, payload in traffic.transcript)
        assert b"CANARY" not in said
        assert not [sick for sick in DISEASES if sick.encode() in said]
    kinds = {kind for traffic in travelled.traffic.values() for _, kind, _ in traffic.transcript}
    around = {"value", "largest", "items", "bag"}
    assert kinds == {"question", "known", "ready", *around, "held", "key", "promise", "objection", "seals"}


def test_a_bag_on_its_way_has_decoys_and_no_order() -> None:
    made = make_database(contract(), frames(), ENGINE, record=True)
    _, travelled = made.ask(Question.parsed([], made.contract))
    sizes = []
    for traffic in travelled.traffic.values():
        bags = [np.frombuffer(p, dtype=np.uint64) for _, kind, p in traffic.transcript if kind == "bag"]
        assert len(bags[1]) == 12
        sizes.append(len(bags[0]))
    assert max(sizes) > 12, "with decoys"


def forgotten(one: Memory) -> Memory:
    """A site that has lost what it heard, and not who it is."""
    return Memory(secret=one._secret)


def bags(travelled: Any) -> int:
    return sum(kind == "bag" for one in travelled.traffic.values() for _, kind, _ in one.transcript)


def test_no_row_is_united_twice_whatever_is_asked() -> None:
    """Of the same rows with other decoys, whatever comes from a neighbour every time is its own."""
    made = make_database(contract(), frames(), ENGINE, record=True)
    questions = [Question.parsed(words, made.contract) for words in (["age = 27"], ["age <= 30"], [])]
    assert [bags(made.ask(question)[1]) for question in questions] == [6, 6, 6], "two of each site"
    for question in (*questions, Question.parsed(["disease = Flu", "age >= 25"], made.contract)):
        again, travelled = made.ask(question)
        assert bags(travelled) == 0
        assert again.decoys == 0
        fresh = replace(made, memories=tuple(Memory() for _ in made.tables))
        assert again.rows == fresh.ask(question)[0].rows


def test_a_site_that_has_forgotten_is_told_and_nothing_is_united_again() -> None:
    made = make_database(contract(), frames(), ENGINE, record=True)
    question = Question.parsed(["age <= 30"], made.contract)
    answer, _ = made.ask(question)
    for lost in ({1}, {0, 2}, {0}):
        memories = tuple(forgotten(one) if at in lost else one for at, one in enumerate(made.memories))
        again, travelled = replace(made, memories=memories).ask(question)
        assert again.rows == answer.rows
        assert bags(travelled) == 0
        assert all(one.knows(range(2)).all() for one in memories)


def test_who_was_told_again_tells_others_again() -> None:
    made = make_database(contract(), frames(), ENGINE)
    question = Question.parsed([], made.contract)
    want, memories = made.ask(question)[0].rows, list(made.memories)
    for lost in (1, 0, 2, 1):  # one after the other; whoever tells was told itself
        memories[lost] = forgotten(memories[lost])
        assert replace(made, memories=tuple(memories)).ask(question)[0].rows == want
    for lost in (0, 2):
        memories[lost] = forgotten(memories[lost])
    assert replace(made, memories=tuple(memories)).ask(question)[0].rows == want


@pytest.mark.parametrize("united", [False, True])
@pytest.mark.parametrize("guess", ["their rows", "other rows"])
def test_rows_that_were_never_united_are_refused_whether_or_not_they_are_ours(
    united: bool, guess: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a site guesses, as often as it likes, and who objects has said what it does not have."""
    made = make_database(contract(), frames(), ENGINE)
    question = Question.parsed([], made.contract)
    if united:  # seals of other rows are no seals of these
        made.ask(question)
    rows: dict[int, list[int]] = {box: [] for box in range(len(made.tables[0].sizes))}
    for table in made.tables:
        for leaf, (code,) in zip(table.leaf.tolist(), table.sensitive.tolist(), strict=True):
            rows[leaf].append(code)
    seals = {} if guess == "their rows" else dict(made.memories[0]._seals)
    if guess == "other rows":
        rows = {box: [(code + 1) % 4 for code in codes] for box, codes in rows.items()}
    monkeypatch.setattr(answering, "_refuse_damaged", lambda *_: None)  # its own program is another
    memories = (Memory(rows, seals=seals), *map(forgotten, made.memories[1:]))
    with pytest.raises(PartyError, match="north: recalls rows that we never united with it"):
        replace(made, memories=memories).ask(question)
    assert not any(one.knows(list(rows)).any() for one in memories[1:]), "nothing of it is believed"


def test_a_memory_that_somebody_has_changed_is_noticed_by_its_owner() -> None:
    made = make_database(contract(), frames(), ENGINE)
    question = Question.parsed([], made.contract)
    made.ask(question)
    was = made.memories[1]
    others = dict(was._rows)  # rows of other sites, which this one cannot know to be wrong by its own
    table = made.tables[1]
    mine = Counter(table.sensitive[table.leaf == 0, 0].tolist())
    theirs = list((Counter(others[0]) - mine).elements())
    others[0] = sorted([*mine.elements(), *((code + 1) % 4 for code in theirs)])
    for rows in ({0: [1]}, {0: [-1, 1, 2]}, {0: [4, 1, 2]}, {box: [3, 3, 3] for box in range(4)}, others):
        changed = Memory(rows, secret=was._secret, seals=dict(was._seals))
        with pytest.raises(PartyError, match=re.escape(f"south: {DAMAGED}")):
            replace(made, memories=(made.memories[0], changed, made.memories[2])).ask(question)
    unsealed = Memory(dict(was._rows), secret=was._secret)
    with pytest.raises(PartyError, match="south: what was answered before"):
        replace(made, memories=(made.memories[0], unsealed, made.memories[2])).ask(question)


def lying_leader(monkeypatch: pytest.MonkeyPatch, liar: int, row: int) -> None:
    """A site that always leads, sends no decoys, and passes on another row than came back to it."""
    honest = unions._united

    def united(around: Any, items: Any, domain: int, decoys: int, *more: Any, leads: bool) -> Any:
        if not leads:
            return honest(around, items, domain, decoys, *more, leads=False)
        unions._send(around, items)
        result = sorted(unions._received(around, domain).tolist())
        theirs = sorted(set((Counter(result) - Counter(items.tolist())).elements()))
        false = theirs[row % len(theirs)]
        other = false // len(DISEASES) * len(DISEASES) + (false + 1) % len(DISEASES)  # of the same group
        changed = sorted(other if one == false else one for one in result)
        unions._send(around, np.array(changed, dtype=np.int64))
        unions._received(around, domain)
        return changed, False

    monkeypatch.setattr(unions, "_united", united)
    monkeypatch.setattr(unions, "elected", lambda around: around._link.me == liar)


@pytest.mark.parametrize("row", range(4))
def test_a_leader_that_changes_a_row_does_not_see_whose_it_was(
    row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other site ends at the same place and says the same; and gives it no second go."""
    made = make_database(contract(), frames(), ENGINE)
    question = Question.parsed(["age <= 30"], made.contract)
    lying_leader(monkeypatch, 0, row)
    session = Session(bytes([row]) * 16, made.contract.digest, made.contract.parties)
    house = InProcess(session, patience=2, record=True)
    ended: list[str] = [""] * 3

    def part(at: int) -> None:
        try:
            answered(house.links[at], made.contract, made.tables[at], question, made.memories[at])
        except PartyError as error:
            ended[at] = str(error)

    threads = [threading.Thread(target=part, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "not those that the parties handed in; whose they are is told to nobody" in ended[1]
    assert ended[1] == ended[2], "who misses a row is not to be seen"
    last = [one.traffic.transcript[-1][:2] for one in house.links[1:]]
    assert {kind for _, kind in last} == {"objection"}
    monkeypatch.undo()
    with pytest.raises(
        PartyError, match=r"(somebody has changed what came out|does not unite these rows now)"
    ):
        made.ask(question)
    assert len(made.ask(Question.parsed(["age >= 50"], made.contract))[0].rows) == 6, (
        "of other groups it does"
    )


def test_two_who_ask_at_once_do_not_use_up_the_tries() -> None:
    """Sites that begin with different questions refuse each other's; nothing was shown, nothing counts."""
    made = make_database(contract(), frames(), ENGINE)
    everything, some = Question.parsed([], made.contract), Question.parsed(["age <= 30"], made.contract)
    boxes = list(range(4))
    for at in range(2 * TRIES):
        other = made.memories[at % 3]
        assert other.reserved(boxes[:2]) == "", "it has begun with another question"
        with pytest.raises(PartyError, match=r"(is being answered; ask again|does not unite these rows now)"):
            made.ask(some if at % 2 else everything)
        other.end(boxes[:2])
    assert all(one._tries == {} for one in made.memories)
    assert not any(one._under_way for one in made.memories)
    assert len(made.ask(everything)[0].rows) == 12


def test_what_does_not_end_is_not_tried_without_end() -> None:
    kept: list[bytes] = []
    memory = Memory(save=kept.append)
    for _ in range(TRIES):
        assert memory.reserved([1, 2]) == ""
        memory.begin([1, 2])
        assert "is being answered; ask again" in memory.reserved([2, 3])
        memory.end([1, 2])
    assert "3 times and did not end" in Memory.from_bytes(kept[-1]).reserved([2])
    memory.learn([1, 2], np.array([2, 1, 2]), np.array([7, 8, 5]))
    assert [found.tolist() for found in Memory.from_bytes(kept[-1]).rows([2])] == [[2, 2], [5, 7]]
    assert "ask again" in memory.reserved([2])
    seals = b'{"rows": {}, "tries": {}, "seals": {"1": {"north": "xyz"}}}'
    for damaged in (b"", b"{}", b"[]", kept[-1][:-5], b'{"rows": {"x": [1]}, "tries": {}}', seals):
        with pytest.raises(InputError, match=re.escape(DAMAGED)):
            Memory.from_bytes(damaged)


def test_a_site_that_hands_in_other_rows_than_were_counted() -> None:
    made = make_database(contract(), frames(), ENGINE)
    table = made.tables[1]
    fewer = replace(table, leaf=table.leaf[:-1], sensitive=table.sensitive[:-1])
    changed = replace(made, tables=(made.tables[0], fewer, made.tables[2]))
    with pytest.raises(PartyError, match="other rows were handed in than were counted"):
        changed.ask(Question.parsed([], made.contract))


def test_a_site_without_the_question_ends_the_answer(made: VirtualDatabase) -> None:
    one = Question.parsed(["age = 27"], made.contract)
    other = Question.parsed([], made.contract)
    asked = [one, one, other]

    def part(link: Any) -> Any:
        return answered(link, made.contract, made.tables[link.me], asked[link.me], Memory())

    with pytest.raises(PartyError, match="was asked something else"):
        run_each([part] * 3)
    made_anew = make_database(contract(k=3), frames(), ENGINE)
    tables = [*made.tables[:2], made_anew.tables[2]]
    with pytest.raises(PartyError, match="has another database"):
        run_each([lambda link: answered(link, made.contract, tables[link.me], one, Memory())] * 3)


# What is written down.


def test_a_table_is_kept_and_read_again(made: VirtualDatabase) -> None:
    table = made.tables[0]
    again = LocalTable.from_bytes(table.to_bytes(), made.contract)
    assert all(
        np.array_equal(getattr(again, name), getattr(table, name))
        for name in ("low", "high", "sizes", "leaf", "sensitive")
    )
    for damaged in (b"", b"{}", table.to_bytes()[:-9], b'{"low": 1}'):
        with pytest.raises(InputError, match="damaged"):
            LocalTable.from_bytes(damaged, made.contract)
    assert made.tables[1].boxes(made.contract) == table.boxes(made.contract)
    assert table.boxes(made.contract).splitlines()[:2] == ["age,zip,records", "21..24,12..41,3"]


def test_the_order_of_kept_rows_is_by_chance() -> None:
    seen = set()
    zero = np.zeros((1, 1), dtype=np.int64)
    grown = Grown(zero, zero, np.array([9]), np.zeros(9, dtype=np.int64), ("",))
    for _ in range(40):
        seen.add(tuple(LocalTable.of(grown, np.arange(9).reshape(9, 1)).sensitive[:, 0].tolist()))
    assert len(seen) > 30


@pytest.mark.parametrize(
    ("condition", "said"),
    [("age", "COLUMN = VALUE"), ("agee = 5", "the column is one of age, zip, disease"),
     ("age = 200", "does not list"), ("age between 30 and 20", "empty"), ("age between 3", "does not list"),
     ("disease in Flu, Plague", "does not list")],
)  # fmt: skip
def test_conditions_that_are_none(condition: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Question.parsed([condition], contract())


def test_questions_as_they_travel() -> None:
    agreed = contract()
    question = Question.parsed(["age in 20, 25", "disease = Flu"], agreed, certain=True)
    assert Question.from_document(json.loads(json.dumps(question.to_document())), agreed) == question
    hostile: list[Any] = [
        None, [], {}, {"where": []}, {"where": {"age": [[0, 99]]}, "certain": False},
        {"where": {"name": [[0, 0]]}, "certain": False}, {"where": {"age": [[5, 1]]}, "certain": False},
        {"where": {"age": [[-1, 1]]}, "certain": False}, {"where": {"age": [["x", 1]]}, "certain": False},
        {"where": {"age": 3}, "certain": False}, {"where": {"age": [[0, 0]] * 101}, "certain": False},
    ]  # fmt: skip
    for said in hostile:
        with pytest.raises(InputError):
            Question.from_document(said, agreed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"parties": ["a", "b"]}, "three or more"), ({"k": None}, "k has no default"), ({"k": "2"}, "whole"),
     ({"sites": 4, "guard": "refuse"}, "no more than there are parties"), ({"sites": 2}, "whole-class"),
     ({"loss": None}, "loss or decoys"), ({"decoys": 3}, "loss or decoys"), ({"loss": 0.5}, "quoted"),
     ({"loss": "2"}, "loss: a share"), ({"quasi": {}}, "quasi: a table"), ({"quasi": 3}, "quasi: a table"),
     ({"quasi": {"age": {"range": [1, 2], "null": True}}}, "no place in an order"),
     ({"quasi": {"disease": {"range": [1, 2]}}}, "one role"), ({"database": 2}, "database = 1"),
     ({"halving": "half"}, "halving is one of"), ({"more": 1}, "more"),
     ({"researchers": ["north"]}, "without being named"),
     ({"researchers": "north"}, "researchers: a list"), ({"diversity": "recursive"}, "c: above 0"),
     ({"keys": {"north": "x"}}, "32 bytes"), ({"decoys": -1}, "decoys"),
     ({"quasi": {"age": {}}}, r"quasi\.age")],
)  # fmt: skip
def test_contracts_that_are_none(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        contract(**changes)


def test_a_contract_says_the_same_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "database.toml"
    path.write_text(tomli_w.dumps(document(sensitive={"disease": {"values": list(DISEASES), "null": True}})))
    agreed = agreements.load(path)
    assert isinstance(agreed, DatabaseContract)
    again = DatabaseContract.from_document(json.loads(json.dumps(agreed.to_document())))
    assert (again, again.digest) == (agreed, agreed.digest)
    swapped = document(quasi={"zip": {"range": [10, 49]}, "age": {"range": [17, 90]}})
    assert DatabaseContract.from_document(swapped).digest != contract().digest, (
        "their order is agreed on, too"
    )
    assert (
        agreements.saw(agreed)["north"][: len(agreements.saw(agreed)["south"])]
        == agreements.saw(agreed)["south"]
    )


# From the command line.


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, list[str]]:
    path = tmp_path / "database.toml"
    path.write_text(tomli_w.dumps(document()))
    return str(path), list(parts(tmp_path).values())


def test_query_rehearsed(
    files: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, tables = files
    given_parts = [word for table in tables for word in ("--part", table)]
    assert main(["joint", "query", path, "--where", "age = 27", *given_parts]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "age,zip,disease"
    assert sorted(printed[1:]) == [f"26..29,43..48,{s}" for s in ("Asthma", "Cancer", "Flu")]
    out = tmp_path / "answer.csv"
    assert main(["joint", "query", path, "--where", "disease = Flu", *given_parts, "-o", str(out)]) == 0
    assert "2 more match and are left out" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 5
    assert main(["joint", "query", path, "--where", "age = 27", *given_parts, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matched"] == 3
    assert main(["joint", "query", path, "--where", "agee = 27", *given_parts]) == 2
    assert "agee" in capsys.readouterr().err


def test_a_virtual_database_rehearsed_and_shown(
    files: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, tables = files
    assert main(["joint", "rehearse", path, *tables]) == 0
    told = capsys.readouterr().out
    assert "12 records of 3 sites in 4 groups of 3.0 on average" in told
    assert "where each region is cut" in told
    assert "north, which leads, also" in told
    assert main(["joint", "rehearse", path, *tables, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == 4
    assert main(["joint", "rehearse", path, *tables, "--pooled"]) == 2
    assert "for releases" in capsys.readouterr().err
    assert main(["joint", "show", path]) == 0
    assert "3 parties, a virtual database, promising" in capsys.readouterr().out
    assert main(["joint", "rehearse", path, *tables[:2]]) == 2
    assert "has 3 sites" in capsys.readouterr().err


def test_a_value_that_was_not_agreed_on_is_refused_and_not_named(tmp_path: Path) -> None:
    tables = frames()
    tables[1] = tables[1].with_columns(disease=pl.lit("CANARY-plague"))
    with pytest.raises(Exception, match=r"south: attributes\.disease: 1 of 1") as caught:
        make_database(contract(), tables, ENGINE)
    assert "CANARY" not in str(caught.value)
    with pytest.raises(InputError, match="has 3 sites"):
        make_database(contract(), tables[:2], ENGINE)
    assert NAMES
