"""Contracts with differential privacy: what they say, what is refused, and whole releases with ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.parties.noisy import TABLE_5_2, TABLE_7_1, quick

import privet as pv
from privet.cli import main
from privet.core import Purse
from privet.dp.ledger import Ledger
from privet.errors import BudgetError, InputError, PartyError, PolicyError, PrivetError
from privet.evidence import folder as ev
from privet.evidence.signing import PrivateKey
from privet.parties.contract import Contract
from privet.parties.learned import coalitions, learned
from privet.parties.noisy.known import insider, outsider
from privet.parties.rows import Rows
from privet.parties.transport import InProcess, Link, Session, together
from privet.registry import find
from privet.rehearsal import rehearse
from privet.roads.noisy.match import matched
from privet.roads.parties.party import publish_together

JOBS = {"Any_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Writer", "Dancer"]}}
CANARY = "Q7x-canary"


def document(split: str, **changes: Any) -> dict[str, Any]:
    """Two parties, epsilon 1; by columns table 7.1, by people table 5.2."""
    tree: dict[str, Any] = JOBS
    if split == "people":
        blue = ["Janitor", "Mover", "Carpenter", "Technician"]
        tree = {"ANY_Job": {"Blue-collar": blue, "White-collar": ["Doctor", "Lawyer"]}}
    sexes = ["Male", "Female"] if split == "columns" else ["M", "F"]
    number = "Salary" if split == "columns" else "Age"
    made: dict[str, Any] = {
        "contract": 1,
        "split": split,
        "parties": ["north", "south"],
        "noisy": {"key_bits": 512},
        "policy": {
            "policy": 1,
            "attributes": {
                "Job": {"role": "quasi", "hierarchy": {"type": "tree", "tree": tree}},
                "Sex": {"role": "quasi", "hierarchy": {"type": "tree", "tree": {"Any_Sex": sexes}}},
                number: {"role": "quasi", "hierarchy": {"type": "intervals", "low": 1, "high": 99}},
                "Class": {"role": "target", "values": ["Y", "N"]},
            },
            "models": [{"type": "differential-privacy", "epsilon": 1}],
            "algorithm": {"type": "diffgen", "h": 2},
        },
    }
    if split == "columns":
        made |= {"person": "ID", "owners": {"north": ["Job"], "south": ["Sex", "Salary"]}}
    else:
        made["rows_at_most"] = 20
    return made | changes


def contract(split: str, **changes: Any) -> Contract:
    with quick():
        return Contract.from_document(document(split, **changes), base=Path())


def parts(folder: Path, split: str) -> list[Path]:
    files = [folder / "north.csv", folder / "south.csv"]
    if split == "people":
        for path, rows in zip(files, (TABLE_5_2[:5], TABLE_5_2[5:]), strict=True):
            path.write_text("Job,Sex,Age,Class\n" + "".join(",".join(row) + "\n" for row in rows))
    else:
        numbered = list(enumerate(TABLE_7_1))
        files[0].write_text("ID,Class,Job\n" + "".join(f"p{at},{row[3]},{row[0]}\n" for at, row in numbered))
        lines = [f"p{at},{row[3]},{row[1]},{row[2]}\n" for at, row in reversed(numbered)]
        files[1].write_text("ID,Class,Sex,Salary\n" + "".join(lines))
    return files


def purses(folder: Path, budget: int = 2) -> list[Purse]:
    found = []
    for name in ("north", "south"):
        purse = Purse(str(folder / f"{name}.ledger"), f"{name}-2026")
        Ledger(purse.file).open(purse.dataset, Fraction(budget))
        found.append(purse)
    return found


@pytest.fixture(autouse=True)
def cheap() -> Iterator[None]:
    with quick():
        yield


@pytest.mark.one_in(2)
@pytest.mark.parametrize("split", ["columns", "people"])
def test_a_whole_release_is_paid_at_both_signed_by_both_and_verifies(split: str, tmp_path: Path) -> None:
    keys = [PrivateKey.make(name) for name in ("north", "south")]
    agreed = contract(split, keys={key.name: key.public for key in keys})
    paying = purses(tmp_path)
    found = rehearse(agreed, parts(tmp_path, split), output=tmp_path / "out", keys=keys, purses=paying)
    assert found.folder is not None
    answer = pv.verify(found.folder)
    assert answer.holds
    evidence = ev.read(found.folder)
    assert evidence.joint is not None
    assert evidence.ledger is not None
    assert evidence.joint.outsider == outsider(agreed)
    assert evidence.joint.insider == insider(agreed)
    assert evidence.joint.select == ("exponential" if split == "columns" else "noisy-max")
    assert [party.key for party in evidence.joint.parties] == [key.public for key in keys]
    assert evidence.ledger.spent == 1
    counts = evidence.measures.counts
    assert counts is not None
    assert counts.noises == 2
    for purse in paying:
        ledger = Ledger(purse.file)
        entry, differences = matched(found.folder, ledger)
        assert differences == []
        assert entry is not None
        assert entry.state == "released"
        assert (entry.epsilon, entry.dataset) == (Fraction(1), purse.dataset)
        assert ledger.balance(purse.dataset).left == 1
        # What each paid is what the other paid.
        assert [spend.purpose for spend in entry.spends] == [one.purpose for one in evidence.ledger.spends]
    text = (found.folder / "report.html").read_text()
    assert "To a reader of the release" in text
    assert "To the other party" in text
    assert str(tmp_path) not in text + (found.folder / "evidence.json").read_text()
    assert "north-2026" not in (found.folder / "evidence.json").read_text(), "a party's own name for its data"


def test_the_two_promises_are_different_ones() -> None:
    by_people, by_columns = contract("people"), contract("columns")
    assert "2" not in insider(by_people)
    assert insider(by_people).startswith("epsilon = 1 ")
    assert insider(by_columns).endswith("it is 2"), "a change of values is a removal and an addition"
    assert "computational" in insider(by_people)
    assert "computational" in insider(by_columns)
    assert "computational" not in outsider(by_people)
    several = contract("columns", policy={**document("columns")["policy"], "algorithm": {
        "type": "diffgen", "h": 2, "records_per_person": 3}})  # fmt: skip
    assert insider(several).endswith("it is 6")
    for agreed in (by_people, by_columns):
        assert set(learned(agreed)) == {"north", "south"}
        assert any("noise alone" in said for said in learned(agreed)["north"])
        assert len(coalitions(agreed)) == 1
    assert any("class" in said for said in learned(by_columns)["south"])
    assert not any("class" in said for said in learned(by_people)["south"])


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("people", {"parties": ["a", "b", "c"]}, r"parties: two, for differential privacy"),
    ("people", {"rows_at_most": None}, r"rows_at_most: how many rows"),
    ("people", {"noisy": {"select": "best"}}, r"noisy: select"),
    ("people", {"noisy": {"key_bits": 256}}, r"noisy: key_bits"),
    ("people", {"noisy": {"digits": "9"}}, r"noisy: digits: a whole number"),
    ("people", {"noisy": {"degree": 0}}, r"noisy: degree"),
    ("people", {"noisy": {"colour": 1}}, r"noisy: .*colour"),
    ("people", {"noisy": 3}, r"noisy: is a table"),
    ("people", {"public": {"Job": {"values": ["a"]}}}, r"public: with diffgen"),
    ("people", {"reveal": "counts"}, r"reveal|parties: three or more"),
    ("columns", {"sensitive_owner": "north"}, r"sensitive_owner"),
    ("columns", {"owners": {"north": ["Job"]}}, r"nobody has Sex"),
    ("columns", {"person": None}, r"person: the column"),
]
WRONG_POLICY: list[tuple[str, dict[str, Any], str]] = [
    ("people", {"algorithm": {"type": "diffgen", "h": 2, "score": "information-gain"}}, r"score = \"max\""),
    ("people", {"algorithm": {"type": "diffgen"}}, r"h: how many rounds"),
    ("people", {"algorithm": {"type": "diffgen", "h": 2, "marginals": "1/10"}}, r"marginals"),
    (
        "people",
        {"algorithm": {"type": "diffgen", "h": 2, "selection": "monotone"}},
        r"selection: leave it out",
    ),
    ("people", {"ledger": {"file": "l", "dataset": "d"}}, r"policy.ledger: every party has its own"),
    ("people", {"algorithm": {"type": "noisy-contingency"}}, r"policy.algorithm"),
]


@pytest.mark.parametrize(("split", "changes", "match"), WRONG)
def test_what_a_contract_cannot_say(split: str, changes: dict[str, Any], match: str) -> None:
    with pytest.raises(PolicyError, match=match):
        contract(split, **changes)


@pytest.mark.parametrize(("split", "changes", "match"), WRONG_POLICY)
def test_what_its_policy_cannot_say(split: str, changes: dict[str, Any], match: str) -> None:
    made = document(split)
    made["policy"] |= changes
    with pytest.raises(PolicyError, match=match):
        Contract.from_document(made, base=Path())


def test_columns_of_sets_are_refused() -> None:
    """Spec 05, acceptance 16."""
    made = document("people")
    made["policy"]["attributes"]["Codes"] = {
        "role": "quasi",
        "hierarchy": {"type": "sets", "tree": {"*": {"1*": ["11", "12"], "2*": ["21"]}}},
    }
    with pytest.raises(PolicyError, match="columns of sets are not split together"):
        Contract.from_document(made, base=Path())


def test_terms_stand_in_the_digest_and_the_usual_ones_are_said() -> None:
    usual = contract("people", noisy={"key_bits": 512})
    said = contract(
        "people", noisy={"key_bits": 512, "select": "noisy-max", "numbers": "halves", "digits": 9}
    )
    assert usual.digest == said.digest
    other = contract("people", noisy={"key_bits": 512, "select": "exponential"})
    assert usual.digest != other.digest
    again = Contract.from_document(
        {key: value for key, value in usual.to_document().items() if value is not None}, base=Path()
    )
    assert again.digest == usual.digest


# Who could not.


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("split", ["columns", "people"])
@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("Lawyer", CANARY, r"^north: Job: .*not in its tree"),
        ("Class", "Klass", r"^north: "),
        (",Y", f",{CANARY}", r"^north: Class: .*declared classes"),
    ],
)
def test_a_party_with_other_values_is_named_and_its_values_are_not(
    split: str, old: str, new: str, match: str, tmp_path: Path
) -> None:
    files = parts(tmp_path, split)
    change(files[0], old, new)
    paying = purses(tmp_path)
    with pytest.raises(PrivetError, match=match) as caught:
        rehearse(contract(split), files, purses=paying)
    assert CANARY not in str(caught.value)
    assert all(Ledger(one.file).balance(one.dataset).left == 2 for one in paying), "refused for nothing"


def test_classes_that_differ_are_refused_for_nothing(tmp_path: Path) -> None:
    files, paying = parts(tmp_path, "columns"), purses(tmp_path)
    change(files[0], "p4,Y", "p4,N")
    with pytest.raises(PartyError, match="has another class for some person"):
        rehearse(contract("columns"), files, purses=paying)
    assert all(Ledger(one.file).balance(one.dataset).left == 2 for one in paying)


def test_identifiers_twice_none_in_common_and_numbers_that_are_words(tmp_path: Path) -> None:
    files = parts(tmp_path, "columns")
    twice = files[0].read_text() + "p0,N,Writer\n"
    cases = [
        (0, twice, r"^north: 1 identifiers stand in more than one row"),
        (0, files[0].read_text().replace("p", "q"), r"not one person that both parties have"),
        (0, files[0].read_text().replace("p3", ""), r"^north: ID: a row without an identifier"),
        (1, files[1].read_text().replace(",30", ",thirty"), r"^south: Salary: .*outside its range"),
        (1, "ID,Class,Sex\n", r"^south: "),
    ]
    for at, text, match in cases:
        kept = files[at].read_text()
        files[at].write_text(text)
        with pytest.raises(InputError, match=match):
            rehearse(contract("columns"), files)
        files[at].write_text(kept)


def test_a_party_without_rows_takes_part_by_people_and_is_refused_by_columns(tmp_path: Path) -> None:
    files = parts(tmp_path, "people")
    files[0].write_text("Job,Sex,Age,Class\n")
    rehearse(contract("people"), files)
    files = parts(tmp_path, "columns")
    files[0].write_text("ID,Class,Job\n")
    with pytest.raises(InputError, match="not one person that both parties have"):
        rehearse(contract("columns"), files)


def test_a_purse_without_enough_is_refused_before_anybody_pays(tmp_path: Path) -> None:
    paying = purses(tmp_path)
    poor = Purse(str(tmp_path / "poor.ledger"), "poor")
    Ledger(poor.file).open("poor", Fraction(1, 2))
    with pytest.raises(BudgetError, match=r"^south: poor: epsilon 1 was asked for"):
        rehearse(contract("people"), parts(tmp_path, "people"), purses=[paying[0], poor])
    assert Ledger(paying[0].file).balance("north-2026").left == 2, "the other was asked for nothing"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("split", ["columns", "people"])
def test_noise_is_not_averaged_away_by_running_again(split: str, tmp_path: Path) -> None:
    """Every run is paid at both; when one ledger has no more, another ledger at the other does not help."""
    paying, files = purses(tmp_path, budget=2), parts(tmp_path, split)
    for turn in range(2):
        rehearse(contract(split), files, output=tmp_path / f"out{turn}", purses=paying)
    with pytest.raises(BudgetError, match=r"^(north|south): .*epsilon 1 was asked for"):
        rehearse(contract(split), files, output=tmp_path / "out2", purses=paying)
    fresh = Purse(str(tmp_path / "fresh.ledger"), "fresh")
    Ledger(fresh.file).open("fresh", Fraction(9))
    for both in ([fresh, paying[1]], [paying[0], fresh]):
        with pytest.raises(BudgetError, match="epsilon 1 was asked for"):
            rehearse(contract(split), files, output=tmp_path / "out3", purses=both)
    assert Ledger(fresh.file).balance("fresh").left == 9
    assert sorted(one.name for one in tmp_path.glob("out?")) == ["out0", "out1"]
    assert [Ledger(one.file).balance(one.dataset).left for one in paying] == [0, 0]


@pytest.mark.parametrize("split", ["columns", "people"])
def test_a_run_is_noted_before_anything_is_told_and_paid_before_anything_is_drawn(
    split: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Across columns who is there, and whether classes agree, is told before it is paid: it counts."""
    said: list[str] = []
    honest = Link.send

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        if self.me == 0:
            said.append(kind)
        honest(self, to, kind, payload)

    monkeypatch.setattr(Link, "send", send)
    agreed, files, paying = contract(split), parts(tmp_path, split), purses(tmp_path)

    def part(link: Link) -> None:
        mine = link.me == 0
        told = Rows(
            opening=lambda: said.append("OPENING") if mine else None,
            paid=lambda: said.append("PAID") if mine else None,
        )
        purse = paying[link.me]
        publish_together(
            link, agreed, files[link.me], find("engines", "embedded")(), rows=told, purse=purse, signed=False
        )

    session = Session(bytes(16), agreed.digest, agreed.parties)
    together(InProcess(session), [part] * 2)
    paid = said.index("PAID")
    assert said[paid + 1 :]
    if split == "people":
        assert "OPENING" not in said
        assert set(said[:paid]) <= {"hello", "samplers"}, "nothing of any row"
    else:
        opening = said.index("OPENING")
        assert set(said[:opening]) == {"hello", "rows read"}
        assert opening < said.index("how many") < paid


def test_what_a_rehearsal_of_it_cannot_do(tmp_path: Path) -> None:
    files, agreed = parts(tmp_path, "people"), contract("people")
    with pytest.raises(InputError, match="paid for: give each party's ledger"):
        rehearse(agreed, files, output=tmp_path / "out")
    with pytest.raises(InputError, match="drawn anew"):
        rehearse(agreed, files, pooled=True)
    with pytest.raises(InputError, match="of each party"):
        rehearse(agreed, files, purses=purses(tmp_path)[:1])
    assert not (tmp_path / "out").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("split", ["columns", "people"])
def test_a_party_that_stops_leaves_nothing_published_and_says_what_stays_spent(
    split: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, agreed = parts(tmp_path, split), contract(split)
    paying = purses(tmp_path, 40)
    honest = Link.send
    kinds = ["hello", "samplers", "labels", "tables", "noisy digest", "noisy", "release"]
    spent = 0
    for fatal in kinds:

        def send(self: Link, to: int, kind: str, payload: bytes, fatal: str = fatal) -> None:
            if kind == fatal and self.me == 0:
                raise PartyError("north: is gone")
            honest(self, to, kind, payload)

        monkeypatch.setattr(Link, "send", send)
        with pytest.raises(PartyError) as caught:
            rehearse(agreed, files, purses=paying, output=tmp_path / "out")
        monkeypatch.setattr(Link, "send", honest)
        assert not (tmp_path / "out").exists()
        # Across columns the first circuit compares classes, which is free.
        drawn = kinds.index(fatal) >= kinds.index("labels" if split == "people" else "noisy digest")
        spent += drawn
        assert Ledger(paying[0].file).balance("north-2026").left == 40 - spent, fatal
        if drawn and fatal != "release":  # there the signing says it
            assert any("stays spent" in one for one in caught.value.complaints), fatal
    assert rehearse(agreed, files, purses=paying, output=tmp_path / "out").folder is not None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("split", ["columns", "people"])
def test_garbage_is_refused_wherever_it_is_sent(
    split: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that is shorter, replayed or of another kind ends the run; one of chance never publishes."""
    files, agreed = parts(tmp_path, split), contract(split)
    honest = Link.send

    def short(self: Link, to: int, kind: str, payload: bytes) -> None:
        honest(self, to, kind, payload[:-1] if kind == fatal and self.me == 0 else payload)

    def other(self: Link, to: int, kind: str, payload: bytes) -> None:
        honest(self, to, "garbage" if kind == fatal and self.me == 0 else kind, payload)

    def again(self: Link, to: int, kind: str, payload: bytes) -> None:
        honest(self, to, kind, payload)
        if kind == fatal and self.me == 0:
            self._said[to] -= 1
            honest(self, to, kind, payload)

    for fatal, way, match in (  # noqa: B007 - the three ways read it
        ("samplers", other, "another kind"),
        ("labels", short, "bytes of"),
        ("tables", again, "replayed"),
        ("noisy digest", short, "bytes of"),
        ("noisy", other, "another kind"),
    ):
        monkeypatch.setattr(Link, "send", way)
        with pytest.raises(PartyError, match=match):
            rehearse(agreed, files)


# The command line.


def test_the_commands_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "contract.toml"
    made = deepcopy(document("columns"))
    path.write_text(tomli_w.dumps(made))
    assert main(["joint", "show", str(path)]) == 0
    said = capsys.readouterr().out
    assert "against whoever sees the release alone: epsilon = 1" in said
    assert "against the other party: epsilon = 1" in said
    assert main(["joint", "show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["insider"].endswith("it is 2")
    files = [str(one) for one in parts(tmp_path, "columns")]
    for name in ("n", "s"):
        assert main(["ledger", "open", str(tmp_path / name), "--dataset", name, "--budget", "1"]) == 0
    paying = [
        "--ledger",
        str(tmp_path / "n"),
        "--dataset",
        "n",
        "--ledger",
        str(tmp_path / "s"),
        "--dataset",
        "s",
    ]
    out = tmp_path / "out"
    assert main(["joint", "rehearse", str(path), *files, "-o", str(out), *paying]) == 0
    assert main(["verify", str(out)]) == 0
    assert main(["ledger", "match", str(out), "--ledger", str(tmp_path / "s")]) == 0
    capsys.readouterr()
    again = ["joint", "rehearse", str(path), *files, "-o", str(tmp_path / "more"), *paying]
    assert main(again) != 0
    assert "north: n: epsilon 1 was asked for, and 0 of 1 is left" in capsys.readouterr().err
    assert main([*again[:-2]]) == 2
    assert "as many of the one as of the other" in capsys.readouterr().err
