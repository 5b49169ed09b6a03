"""The whole way: contract, parties, protocol, one table; and what nobody else saw of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.hospitals import ROWS, TABLE_5_4, contract, document, parts
from tests.parties.parties import house

from privet import publish
from privet.errors import (
    AbsentError,
    InputError,
    PartyError,
    PersonError,
    PolicyError,
    PrivetError,
    UnsatisfiableError,
)
from privet.parties.assembly import _packed, _unpacked, assembled
from privet.parties.contract import Contract
from privet.parties.primitives.replicated import Three
from privet.parties.transport import Link, together
from privet.rehearsal import rehearse
from privet.relational.specialize import Ruling

WAYS: list[dict[str, Any]] = [
    {"reveal": "counts", "sum": "ring"},
    {"reveal": "counts", "sum": "pairwise"},
    {"reveal": "decisions"},
    {"reveal": "decisions", "rows_at_most": 9},
]


def lines(table: pl.DataFrame) -> list[str]:
    return sorted(table.write_csv(include_header=False).splitlines())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_table_5_4_to_the_byte(way: dict[str, Any], tmp_path: Path) -> None:
    found = rehearse(contract(short=True, **way), parts(tmp_path, short=True), pooled=True)
    assert lines(found.table) == sorted(TABLE_5_4.splitlines())
    assert found.as_pooled is True
    assert all(verdict.holds for _, verdict in found.verdicts)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_sources_table_is_not_where_the_algorithm_stops(way: dict[str, Any], tmp_path: Path) -> None:
    """Refuted in spec 03, 4.2: with the full tree of jobs, Non-Technical is split once more."""
    found = rehearse(contract(**way), parts(tmp_path), pooled=True)
    made = [(step.label, step.performed) for step in found.steps]
    assert [label for label, done in made if done] == [
        "ANY_Job", "[1-99)", "[1-60)", "Blue-collar", "Non-Technical", "ANY_Sex", "White-collar",
    ]  # fmt: skip
    assert {label for label, done in made if not done} == {"Technical", "Professional"}
    assert found.table.get_column("Job").value_counts().sort("Job").rows() == [
        ("Janitor", 2), ("Mover", 2), ("Professional", 5), ("Technical", 2),
    ]  # fmt: skip
    assert found.as_pooled is True


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("k", [12, 2**31 + 1, 2**63 + 5, 2**64 - 1, 2**64 + 2, 10**30])
@pytest.mark.parametrize("parties", ["ABC", "AB"])
def test_a_k_that_no_table_keeps_is_refused_however_large(k: int, parties: str, tmp_path: Path) -> None:
    """Secrets are numbers of 64 bits: one that is larger must not be taken for what is left of it."""
    said = document(parties=tuple(parties), reveal="decisions")
    said["policy"]["models"][0]["k"] = k
    with pytest.raises(UnsatisfiableError, match="cannot be kept by the records of all parties together"):
        rehearse(Contract.from_document(said, base=Path()), parts(tmp_path)[: len(parties)])


def test_no_party_is_asked_to_hand_in_more_rows_than_there_is_memory_for() -> None:
    with pytest.raises(PolicyError, match="rows_at_most: 10,000,000 at most"):
        Contract.from_document(document(rows_at_most=2**31 - 1), base=Path())


def test_table_5_4_is_not_2_anonymous(tmp_path: Path) -> None:
    found = rehearse(contract(short=True), parts(tmp_path, short=True))
    classes = found.table.group_by("Job", "Sex", "Age").len()
    assert classes.get_column("len").min() == 1


def test_each_alone_loses_more_and_two_rows_of_table_5_3_need_local_recoding(tmp_path: Path) -> None:
    """Spec 03, 4.2: rows 1-4 and 7-11 of the naive table are reproduced, 5 and 6 are refuted."""
    made = document(short=True)
    made["policy"]["absent"] = "allowed"  # one hospital has no such patient
    policy = Contract.from_document(made, base=tmp_path).policy
    alone = [publish(path, policy).to_polars() for path in parts(tmp_path, short=True)]
    said = [lines(table.select("Job", "Sex", "Age")) for table in alone]
    assert said[0] == ["ANY_Job,ANY_Sex,[30-60)"] * 3
    assert said[1] == sorted(["Professional,ANY_Sex,[1-60)"] * 2 + ["Non-Technical,ANY_Sex,[1-60)"] * 2)
    assert said[2] == sorted(["Professional,M,[1-60)"] * 2 + ["Technical,F,[60-99)"] * 2)


@given(data=st.data())
@settings(max_examples=25)
def test_however_the_rows_are_split(data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    n = data.draw(st.integers(3, 6))
    names = tuple("ABCDEF"[:n])
    rows = [line.split(",")[1] for line in ROWS.splitlines()]
    order = data.draw(st.permutations(rows))
    # Every party has a row; the rest go anywhere.
    split = dict(zip(order[:n], names, strict=True))
    split |= {row: data.draw(st.sampled_from(names)) for row in order[n:]}
    way = data.draw(st.sampled_from(WAYS))
    folder = tmp_path_factory.mktemp("split")
    found = rehearse(contract(short=True, parties=names, **way), parts(folder, short=True, split=split))
    assert lines(found.table) == sorted(TABLE_5_4.splitlines())


def test_what_travels_is_counted(tmp_path: Path) -> None:
    files = parts(tmp_path)
    seen = {way["reveal"]: rehearse(contract(**way), files) for way in WAYS}
    for found in seen.values():
        sent = sum(traffic.sent for traffic in found.traffic.values())
        assert sent == sum(traffic.received for traffic in found.traffic.values()) == found.bytes
        assert 0 < found.rounds <= sum(traffic.messages for traffic in found.traffic.values())
        assert found.seconds_apart > found.rounds * 0.02
        assert set(found.learned) == {"A", "B", "C"}
    assert seen["counts"].bytes < seen["decisions"].bytes
    assert len(seen["counts"].learned["A"]) > len(seen["counts"].learned["B"])
    assert seen["decisions"].learned["A"] == seen["decisions"].learned["B"]


# Who could not.


def test_a_promise_that_cannot_be_kept_is_refused_by_all(tmp_path: Path) -> None:
    document = contract().to_document()
    document["policy"]["models"][0]["k"] = 12
    for reveal in ("counts", "decisions"):
        impossible = Contract.from_document(document | {"reveal": reveal}, base=tmp_path)
        with pytest.raises(UnsatisfiableError, match=r"lkc-privacy: cannot be kept"):
            rehearse(impossible, parts(tmp_path))


def test_a_party_without_rows_is_named(tmp_path: Path) -> None:
    files = parts(tmp_path)
    files[1].write_text("Job,Sex,Age,Transfuse,Surgery\n")
    with pytest.raises(InputError, match=r"^B: .*not one record"):
        rehearse(contract(), files)


def test_a_party_with_other_values_is_named_and_its_values_are_not(tmp_path: Path) -> None:
    files = parts(tmp_path)
    for column, name in enumerate(("Job", "Sex", "Age", "Transfuse", "Surgery")):
        row = ["Janitor", "M", "[1-30)", "Y", "Plastic"]
        row[column] = "CANARY"
        text = files[2].read_text()
        files[2].write_text(text + ",".join(row) + "\n")
        with pytest.raises(PrivetError, match=rf"^C: attributes.{name}: 1 of ") as caught:
            rehearse(contract(), files)
        assert "CANARY" not in str(caught.value)
        assert "--show-values" not in str(caught.value), "no such option of these commands"
        files[2].write_text(text)


def test_a_party_with_other_columns_is_named(tmp_path: Path) -> None:
    files = parts(tmp_path)
    files[0].write_text("Job,Sex\nJanitor,M\n")
    with pytest.raises(InputError, match=r"^A: "):
        rehearse(contract(), files)


def test_more_rows_than_agreed_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^[BC]: there are more rows than the 3 that the contract"):
        rehearse(contract(rows_at_most=3), parts(tmp_path))


def test_one_table_for_each_party(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"3 parties .* 2 tables"):
        rehearse(contract(), parts(tmp_path)[:2])


def test_a_search_that_breaks_a_promise_does_not_become_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every party checks what is about to leave, with code that the search does not share."""
    monkeypatch.setattr("privet.relational.topdown.KeepsPromises.rule", lambda *_: (Ruling.PERFORM, ""))
    for way in WAYS:
        with pytest.raises(PartyError, match=r"breaks lkc-privacy: a party .* or the search is at fault"):
            rehearse(contract(**way), parts(tmp_path))


def test_opened_rows_stand_in_no_partys_order_and_do_not_travel_in_the_clear() -> None:
    rows = [np.arange(12 * me, 12 * me + 12)[:, None] + 0x5EC2E700 for me in range(3)]
    one = house(3)

    def part(link: Link) -> Any:
        return assembled(link, Three(link), rows[link.me], [1 << 40]).reshape(-1).tolist()

    found = together(one, [part] * 3)
    assert found[0] == found[1] == found[2]
    assert sorted(found[0]) == np.concatenate(rows).reshape(-1).tolist()
    assert [row // 12 for row in found[0]] != sorted(row // 12 for row in found[0]), "party after party"
    for me, mine in enumerate(rows):
        for at, link in enumerate(one.links):
            said = b"".join(payload for _, _, payload in link.traffic.transcript)
            packed = [int(row) + 1 for row in mine.reshape(-1)]
            assert at == me or not any(row.to_bytes(8, "little") in said for row in packed)


@pytest.mark.parametrize("sizes", [[3, 1, 2], [1 << 40, 1 << 40, 5], [2**62, 3], [1]])
@pytest.mark.parametrize("at_most", [None, 7])
def test_rows_are_unpacked_as_they_were_packed(sizes: list[int], at_most: int | None) -> None:
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, size, 5) for size in sizes], axis=1)
    packed, width = _packed(rows, sizes, at_most)
    assert len(packed) == width * (at_most or 5)
    found = _unpacked(packed.reshape(-1, width), sizes)
    assert found is not None
    assert found.tolist() == rows.tolist()


class GoneError(Exception):
    """A party is killed."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_party_that_is_gone_at_any_stage_ends_the_run_and_the_next_one_works(
    way: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, honest = parts(tmp_path), Link.send
    whole = rehearse(contract(**way), files)
    every = whole.traffic["B"].messages
    for last in sorted({0, 1, 2, every // 3, every // 2, every - 2, every - 1}):
        left = [last]

        def send(self: Link, to: int, kind: str, payload: bytes, left: list[int] = left) -> None:
            if self.name(self.me) == "B":
                if not left[0]:
                    raise GoneError
                left[0] -= 1
            honest(self, to, kind, payload)

        monkeypatch.setattr(Link, "send", send)
        with pytest.raises(GoneError):
            rehearse(contract(**way), files)
        monkeypatch.setattr(Link, "send", honest)
    assert rehearse(contract(**way), files).table.equals(whole.table)


def test_a_policy_that_counts_persons_with_several_rows_is_refused() -> None:
    made = document()
    made["policy"]["person"] = "ID"
    made["policy"]["attributes"]["ID"] = {"role": "identifier"}
    with pytest.raises(PolicyError, match="give each person one row first"):
        Contract.from_document(made, base=Path())


def with_identifiers(folder: Path, identifiers: str) -> list[Path]:
    """A letter for every row of the three hospitals, in their order."""
    files, letters = parts(folder), iter(identifiers)
    for file in files:
        head, *rows = file.read_text().splitlines()
        file.write_text("\n".join([f"{head},ID", *(f"{row},{next(letters)}" for row in rows)]) + "\n")
    return files


def identified(**changes: Any) -> Contract:
    made = document(reveal="counts")
    made["policy"]["attributes"]["ID"] = {"role": "identifier"}
    made["policy"] |= changes
    return Contract.from_document(made, base=Path())


def test_an_identifier_that_repeats_at_one_party_is_refused_before_a_word_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `privet publish` refuses it: a group of two may be one person."""
    said = set()
    honest = Link.send

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        said.add((self.me, kind))
        honest(self, to, kind, payload)

    monkeypatch.setattr(Link, "send", send)
    files = with_identifiers(tmp_path, "abcddefghij")
    with pytest.raises(
        PersonError, match=r"^B: attributes.ID: 2 of 4 records share it(?s:.*)one row"
    ) as caught:
        rehearse(identified(), files)
    assert {kind for party, kind in said if party == 1} == {"hello"}
    with pytest.raises(PersonError) as alone:
        publish(files[1], identified().policy)
    assert alone.value.complaints[0] in str(caught.value)
    assert rehearse(identified(rows="persons"), files, pooled=True).as_pooled is True


def test_that_rows_of_several_parties_are_of_several_persons_is_said_and_a_rehearsal_can_look(
    tmp_path: Path,
) -> None:
    files = with_identifiers(tmp_path, "abcadefghij")
    rehearse(identified(), files, output=tmp_path / "out")
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert any("taken for another person" in one for one in evidence["cautions"])
    with pytest.raises(PersonError, match=r"^attributes.ID: 2 of 11 records share it"):
        rehearse(identified(), files, pooled=True)


def protecting(value: str, *, public: bool, **policy: Any) -> Contract:
    made = document(reveal="counts")
    made["policy"]["models"][0]["sensitive"] = {"Surgery": ["Transgender", value]}
    made["policy"] |= policy
    if public:
        made["public"]["Surgery"]["values"].append(value)
    return Contract.from_document(made, base=Path())


def test_a_protected_value_that_cannot_occur_is_refused_when_the_contract_is_read() -> None:
    with pytest.raises(PolicyError, match=r"models\[0\]: sensitive.Surgery: 'Urologi' is not among"):
        protecting("Urologi", public=False)
    protecting("Urologi", public=False, absent="allowed")


def test_a_protected_value_that_nobody_has_is_refused_as_alone(tmp_path: Path) -> None:
    """It is seen in the table that was opened; with absent = "allowed" the release says so."""
    files = parts(tmp_path)
    with pytest.raises(AbsentError, match=r"'Heart' does not occur in the data, 4 different") as caught:
        rehearse(protecting("Heart", public=True), files, output=tmp_path / "out")
    assert "--show-values" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    agreed = protecting("Heart", public=True, absent="allowed")
    assert rehearse(agreed, files, pooled=True, output=tmp_path / "out").as_pooled is True
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert any("'Heart' of Surgery does not occur" in note for note in evidence["notes"])
