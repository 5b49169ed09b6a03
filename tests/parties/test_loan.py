"""Table 5.1 of Mohammed 2012 (spec 03, 4.1 and 4.4): a loan company and a bank, the whole way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from privet.errors import InputError, PartyError, PolicyError, PrivetError, UnsatisfiableError
from privet.parties.contract import Contract
from privet.parties.learned import learned
from privet.parties.transport import Link
from privet.rehearsal import rehearse

ROWS = """\
1,N,Writer,Male,30
2,N,Dancer,Male,25
3,Y,Writer,Male,35
4,N,Dancer,Female,37
5,Y,Engineer,Female,65
6,Y,Engineer,Female,35
7,Y,Engineer,Male,30
8,N,Dancer,Female,44
9,Y,Lawyer,Male,44
10,Y,Lawyer,Female,44
"""
JOBS = {"ANY_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Writer", "Dancer"]}}


def document(l: int = 2, k: int = 2, **changes: Any) -> dict[str, Any]:
    """Salary's tree is the split that the search would grow first: at 30, which isolates record 2."""
    return {
        "contract": 1,
        "split": "columns",
        "parties": ["loan", "bank"],
        "reveal": "scores",
        "person": "ID",
        "owners": {"loan": ["Job"], "bank": ["Sex", "SalaryK"]},
        "public": {"Class": {"values": ["Y", "N"]}, "SalaryK": {"range": [1, 99]}},
        "policy": {
            "policy": 1,
            "attributes": {
                "Job": {"role": "quasi", "hierarchy": {"type": "tree", "tree": JOBS}},
                "Sex": {
                    "role": "quasi",
                    "hierarchy": {"type": "tree", "tree": {"ANY_Sex": ["Male", "Female"]}},
                },
                "SalaryK": {"role": "quasi", "hierarchy": {"type": "intervals", "edges": [1, 30, 100]}},
                "Class": {"role": "target"},
            },
            "models": [{"type": "lkc-privacy", "l": l, "k": k, "c": "1", "sensitive": {}}],
            "algorithm": {"type": "top-down", "score": "information-gain"},
        },
        **changes,
    }


def parts(folder: Path, third: bool = False) -> list[Path]:
    columns = {
        "loan": [0, 1, 2],
        "bank": [0, 1, 3] if third else [0, 1, 3, 4],
        **({"tax": [0, 1, 4]} if third else {}),
    }
    names = ["ID", "Class", "Job", "Sex", "SalaryK"]
    rows = [line.split(",") for line in ROWS.splitlines()]
    found = []
    for at, (party, kept) in enumerate(columns.items()):
        mine = rows if at == 0 else rows[::-1]  # in another order: rows are matched by person
        extra = [[f"{90 + at}", "Y", "Lawyer", "Male", "44"]]  # somebody whom only one party knows
        path = folder / f"{party}.csv"
        lines = [[names[c] for c in kept], *([row[c] for c in kept] for row in [*mine, *extra])]
        path.write_text("\n".join(map(",".join, lines)) + "\n")
        found.append(path)
    return found


def contract(l: int = 2, k: int = 2, **changes: Any) -> Contract:
    return Contract.from_document(document(l, k, **changes), base=Path())


GOLDEN = {
    (2, 2): ["ANY_Job", "Artist", "Professional"],
    (3, 2): ["ANY_Job", "Artist", "Professional"],
    (2, 3): ["ANY_Job"],
    (1, 2): ["ANY_Job", "Artist", "Professional", "ANY_Sex"],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("l", "k", "reveal"), [*((l, k, "scores") for l, k in GOLDEN), (1, 2, "decisions"), (2, 3, "decisions")]
)
def test_the_sequences_of_the_spec(l: int, k: int, reveal: str, tmp_path: Path) -> None:
    found = rehearse(contract(l, k, reveal=reveal), parts(tmp_path), pooled=True)
    assert [step.label for step in found.steps if step.performed] == GOLDEN[l, k]
    assert found.as_pooled is True
    assert found.table.height == 10
    assert found.table.columns == ["Job", "Sex", "SalaryK", "Class"]


def test_three_parties(tmp_path: Path) -> None:
    changes = {
        "parties": ["loan", "bank", "tax"],
        "owners": {"loan": ["Job"], "bank": ["Sex"], "tax": ["SalaryK"]},
        "reveal": "decisions",
    }
    found = rehearse(contract(1, 2, **changes), parts(tmp_path, third=True), pooled=True)
    assert sorted(step.label or "" for step in found.steps if step.performed) == sorted(GOLDEN[1, 2])
    assert found.as_pooled is True


def with_sensitive(l: int, k: int, c: str, **changes: Any) -> Contract:
    """Salaries as secrets of the bank: nobody may be sure of one above c."""
    made = document(l, k, sensitive_owner="bank", **changes)
    made["owners"] = {"loan": ["Job"], "bank": ["Sex"]}
    attributes = made["policy"]["attributes"]
    attributes["SalaryK"] = {"role": "sensitive"}
    made["policy"]["models"] = [
        {"type": "lkc-privacy", "l": l, "k": k, "c": c, "sensitive": {"SalaryK": ["44", "30"]}}
    ]
    return Contract.from_document(made, base=Path())


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("c", ["1/3", "1/2", "2/3", "1"])
def test_secrets_of_the_bank_alone(c: str, tmp_path: Path) -> None:
    files = parts(tmp_path)
    found = rehearse(with_sensitive(2, 2, c), files, pooled=True, record=True)
    assert found.as_pooled is True
    assert found.table.height == 10
    heard = [kind for _, kind, _ in found.traffic["loan"].transcript]
    assert "published" in heard
    loan = pl.read_csv(files[0])
    assert "SalaryK" not in loan.columns


@pytest.mark.usefixtures("quickly")
def test_a_branch_that_nobody_has_with_secrets_of_the_bank(tmp_path: Path) -> None:
    """The search goes on below it as on one machine: an empty group keeps every promise."""
    files = parts(tmp_path)
    kept = pl.read_csv(files[0]).filter(~pl.col("Job").is_in(["Writer", "Dancer"]))
    kept.write_csv(files[0])
    found = rehearse(with_sensitive(2, 1, "1"), files, pooled=True)
    assert found.as_pooled is True
    assert "Artist" in [step.label for step in found.steps if step.performed]


@pytest.mark.usefixtures("quickly")
def test_a_holder_that_publishes_something_else_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Link.broadcast_words

    def wrong(self: Link, kind: str, words: Any) -> None:
        changed = words.copy()
        if kind == "published":
            changed[:1] += 1  # the first row's job
        honest(self, kind, changed)

    monkeypatch.setattr(Link, "broadcast_words", wrong)
    with pytest.raises(PartyError, match=r"^bank: published other rows"):
        rehearse(with_sensitive(2, 2, "1"), parts(tmp_path))


def shared_salaries() -> Contract:
    """All parties have everybody's salary."""
    made = with_sensitive(2, 2, "1").to_document()
    return Contract.from_document({**made, "sensitive_owner": None}, base=Path())


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(
    ("column", "was", "instead"), [("Class", "3,Y", "3,N"), ("SalaryK", "Female,65", "Female,66")]
)
def test_parties_that_disagree_about_a_person_notice_it_before_they_search(
    column: str, was: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    honest = Link.send

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        said.append(kind)
        honest(self, to, kind, payload)

    files, agreed = parts(tmp_path), contract()
    if column == "SalaryK":
        loan = pl.read_csv(files[0]).join(pl.read_csv(files[1]).select("ID", "SalaryK"), on="ID")
        loan.write_csv(files[0])
        agreed = shared_salaries()
    assert rehearse(agreed, files, pooled=True).as_pooled is True
    files[1].write_text(files[1].read_text().replace(was, instead))
    monkeypatch.setattr(Link, "send", send)
    with pytest.raises(PartyError, match=rf"^(loan|bank): has another .*{column}.* for some person"):
        rehearse(agreed, files)
    assert "handles" in said
    assert not {"root", "score", "breaks", "parts"} & set(said)


@pytest.mark.usefixtures("quickly")
def test_of_three_parties_the_third_may_be_the_one_that_differs(tmp_path: Path) -> None:
    files = parts(tmp_path, third=True)
    files[2].write_text(files[2].read_text().replace("3,Y", "3,N"))
    owners = {"loan": ["Job"], "bank": ["Sex"], "tax": ["SalaryK"]}
    agreed = contract(parties=["loan", "bank", "tax"], owners=owners)
    with pytest.raises(PartyError, match=r"^(loan|tax): has another Class for some person"):
        rehearse(agreed, files)
    (one, *_) = learned(agreed).values()
    assert any("which of one's own each other party has too" in said for said in one)


def test_no_identifier_and_no_salary_travels(tmp_path: Path) -> None:
    files = parts(tmp_path)
    for file in files:
        text = pl.read_csv(file).with_columns(pl.format("CANARY-{}", "ID").alias("ID"))
        text.write_csv(file)
    found = rehearse(contract(), files, record=True)
    said = b"".join(payload for t in found.traffic.values() for _, _, payload in t.transcript)
    assert b"CANARY" not in said
    assert "CANARY" not in found.table.write_csv()


def test_identifiers_twice_or_disjoint_or_missing_are_told_apart(tmp_path: Path) -> None:
    files = parts(tmp_path)
    whole = files[0].read_text()
    files[0].write_text(whole + "1,N,Writer\n")
    with pytest.raises(InputError, match=r"^loan: 1 identifiers stand in more than one row"):
        rehearse(contract(), files)
    files[0].write_text(whole + ",N,Writer\n")
    with pytest.raises(InputError, match=r"^loan: ID: a row without an identifier"):
        rehearse(contract(), files)
    files[0].write_text("ID,Class,Job\nnobody,N,Writer\n")
    with pytest.raises(UnsatisfiableError, match=r"not one person that all parties know$"):
        rehearse(contract(), files)
    files[0].write_text("ID,Class,Job\n1,N,Astronaut\n")
    with pytest.raises(PrivetError, match=r"^loan: attributes.Job: 1 of 1 value is not among") as caught:
        rehearse(contract(), files)
    assert "Astronaut" not in str(caught.value)


@pytest.mark.usefixtures("quickly")
def test_identifiers_are_the_same_by_the_rule_for_values(tmp_path: Path) -> None:
    """Numbers by value, text after NFC; what is one person at a party by that rule is there twice."""
    files = parts(tmp_path)
    whole = files[0].read_text()
    for was, loan, bank in (("2", "2.0", "2"), ("3", "+3", "3e0"), ("4", "\u00e9", "e\u0301")):
        files[0].write_text(files[0].read_text().replace(f"\n{was},", f"\n{loan},"))
        files[1].write_text(files[1].read_text().replace(f"\n{was},", f"\n{bank},"))
    found = rehearse(contract(), files, pooled=True)
    assert (found.table.height, found.as_pooled) == (10, True)
    files[0].write_text(whole + "1.0,N,Writer\n")
    with pytest.raises(InputError, match=r"^loan: 1 identifiers stand in more than one row"):
        rehearse(contract(), files)


@pytest.mark.usefixtures("quickly")
def test_labels_follow_what_could_occur(tmp_path: Path) -> None:
    """Nobody knows what nobody has; all rows in one place with the contract's values give the same table."""
    made = document(1, 1)
    made["public"]["SalaryK"] = {"range": [-5, 99]}
    hierarchy = {"type": "intervals", "width": [10], "raw": False}
    made["policy"]["attributes"]["SalaryK"]["hierarchy"] = hierarchy
    found = rehearse(Contract.from_document(made, base=Path()), parts(tmp_path), pooled=True)
    assert "[40..50)" in found.table["SalaryK"]
    assert (found.as_pooled, found.as_listed) == (False, True)


def searched(**how: Any) -> dict[str, Any]:
    policy: dict[str, Any] = document()["policy"]
    return {**policy, "algorithm": {**policy["algorithm"], **how}}


def grown() -> dict[str, Any]:
    policy: dict[str, Any] = document()["policy"]
    salary = {"role": "quasi", "hierarchy": {"type": "intervals"}}
    return {**policy, "attributes": {**policy["attributes"], "SalaryK": salary}}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "two owners": ({"owners": {"loan": ["Job", "Sex"], "bank": ["Sex", "SalaryK"]}}, "Sex has more than one"),
    "no owner": ({"owners": {"loan": ["Job"], "bank": ["Sex"]}}, "nobody has SalaryK"),
    "not quasi": ({"owners": {"loan": ["Job", "Class"], "bank": ["Sex", "SalaryK"]}}, "Class is not one of"),
    "no such party": ({"owners": {"me": ["Job"], "bank": ["Sex", "SalaryK"]}}, "owners.me: no such party"),
    "no person": ({"person": None}, "person: the column by which rows are matched"),
    "a published person": ({"person": "Job"}, "it is not published"),
    "counts": ({"reveal": "counts"}, "where columns are split"),
    "alone": ({"parties": ["bank"]}, "two or more"),
    "padded": ({"rows_at_most": 4}, "rows_at_most: only"),
    "unknown": ({"split": "rows"}, "split is one of people, columns"),
    "no such holder": ({"sensitive_owner": "me"}, "sensitive_owner: one of the parties"),
    "several searches": ({"policy": searched(tries=2)}, "tries = 1"),
    "a score of sizes": ({"policy": searched(score="gain-per-loss")}, "gain-per-loss"),
    "grown intervals": ({"policy": grown()}, "intervals need width or edges"),
    "no table": ({"owners": ["Job"]}, "owners: a table of parties"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_contract_says_what_is_wrong(wrong: str) -> None:
    changes, said = WRONG[wrong]
    with pytest.raises(PolicyError, match=said):
        contract(**changes)


def test_the_digest_is_of_what_was_agreed_on(tmp_path: Path) -> None:
    assert contract().digest == contract().digest
    assert contract().digest != contract(k=3).digest
    assert contract().digest != contract(parties=["bank", "loan"]).digest
    again = Contract.from_document(contract().to_document() | {"person": "ID"}, base=tmp_path)
    assert again.digest == contract().digest
