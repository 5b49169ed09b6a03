"""Who has agreed to a contract."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.parties.hospitals import document

from privet.cli import main
from privet.errors import InputError, PolicyError
from privet.evidence.signing import PrivateKey
from privet.parties import signing
from privet.parties.contract import Contract
from privet.parties.signing import beside, sign, signed, speaks
from privet.parties.transport import SPEAKS

KEYS = {name: PrivateKey.make(name) for name in ("A", "B", "C")}


def contract(**changes: Any) -> Contract:
    keys = {name: key.public for name, key in KEYS.items()}
    return Contract.from_document(document(**{"keys": keys} | changes), base=Path())


def test_each_signs_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    assert signed(contract(), path) == {"A": False, "B": False, "C": False}
    for name in ("B", "A"):
        assert sign(contract(), path, KEYS[name]) == name
    assert signed(contract(), path) == {"A": True, "B": True, "C": False}
    assert [one.name for one in tmp_path.iterdir()] == ["contract.toml.signatures.json"]


def test_signatures_that_were_made_at_the_same_time_are_collected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desks = {name: tmp_path / name / "contract.toml" for name in KEYS}
    keys = {name: key.public for name, key in KEYS.items()}
    for name, path in desks.items():
        path.parent.mkdir()
        path.write_text(tomli_w.dumps(document(keys=keys)))
        sign(contract(), path, KEYS[name], "ab" * 32 if name == "C" else "")
    assert signing.collect(contract(), desks["A"], [beside(desks["C"])]) == ["A", "C"]
    words = ["joint", "sign", str(desks["A"]), "--collect", str(beside(desks["B"]))]
    assert main(words) == 0
    assert capsys.readouterr().out == "collected: signed by A, B, C\n"
    assert signed(contract(), desks["A"]) == dict.fromkeys("ABC", True)
    assert signing.bound(contract(), desks["A"]) == {"C": "ab" * 32}
    # What is not under this contract, or is of nobody, changes nothing.
    was = beside(desks["A"]).read_bytes()
    said = json.loads(beside(desks["B"]).read_text())
    for changes, told in (
        ({"contract": "0" * 64}, "under another contract"),
        ({"protocol": SPEAKS - 1}, "for another protocol"),
        ({"signatures": said["signatures"] | {"D": "x"}}, "none under this contract"),
        ({"signatures": {"B": said["signatures"]["B"][::-1]}}, "none under this contract"),
        ({"rows": {"B": "cd" * 32}}, "none under this contract"),
    ):
        (tmp_path / "other.json").write_text(json.dumps(said | changes))
        with pytest.raises(InputError, match=told):
            signing.collect(contract(), desks["A"], [tmp_path / "other.json"])
    sign(contract(), desks["C"], KEYS["C"])
    with pytest.raises(InputError, match="C has signed here for other rows"):
        signing.collect(contract(), desks["A"], [beside(desks["C"])])
    with pytest.raises(InputError, match="no such file"):
        signing.collect(contract(), desks["A"], [tmp_path / "none.json"])
    assert beside(desks["A"]).read_bytes() == was
    assert main(["joint", "sign", str(desks["A"])]) == 2
    assert main([*words, "--data", "x.csv"]) == 2


@pytest.mark.parametrize("who", ["D", "B"])
def test_a_mark_of_rows_for_which_nobody_has_signed_is_refused(who: str, tmp_path: Path) -> None:
    """D is no party; B is one, and has not signed. Whoever reads the file takes it for somebody's word."""
    path, other = tmp_path / "contract.toml", tmp_path / "other.toml"
    sign(contract(), path, KEYS["A"], "ab" * 32)
    sign(contract(), other, KEYS["C"])
    place = beside(path)
    said = json.loads(place.read_text())
    said["rows"][who] = "cd" * 32
    place.write_text(json.dumps(said))
    was = place.read_bytes()
    told = (
        r"contract\.toml\.signatures\.json: has a mark of rows .* nobody .* signed; delete it and sign again"
    )
    for look in (
        lambda: signed(contract(), path),
        lambda: signing.bound(contract(), path),
        lambda: sign(contract(), path, KEYS["C"]),
        lambda: signing.collect(contract(), other, [place]),
        lambda: signing.collect(contract(), path, [beside(other)]),
    ):
        with pytest.raises(InputError, match=told):
            look()
    assert place.read_bytes() == was
    assert signed(contract(), other) == {"A": False, "B": False, "C": True}
    assert signed(contract(reveal="counts"), path) == dict.fromkeys("ABC", False), "of another contract"


def test_nor_is_a_signature_of_nobody(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    sign(contract(), path, KEYS["A"])
    said = json.loads(beside(path).read_text())
    said["signatures"]["D"] = said["signatures"]["A"]
    beside(path).write_text(json.dumps(said))
    with pytest.raises(InputError, match="none under this contract, of nobody whom it names"):
        signed(contract(), path)


def test_what_was_signed_before_a_change_is_not_collected(tmp_path: Path) -> None:
    """It was said to be signed by all, and was by one."""
    here, there = tmp_path / "contract.toml", tmp_path / "other.toml"
    for name, key in KEYS.items():
        sign(contract(), here, key, "ab" * 32 if name == "B" else "")
    changed = contract(reveal="counts")
    sign(changed, there, KEYS["B"])
    assert signing.collect(changed, here, [beside(there)]) == ["B"]
    assert signed(changed, here) == {"A": False, "B": True, "C": False}


def test_signatures_that_nobody_could_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    beside(path).write_text("[" * 200_000)
    with pytest.raises(InputError, match="not a file of signatures"):
        signed(contract(), path)


def test_a_changed_contract_is_signed_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    for key in KEYS.values():
        sign(contract(), path, key)
    for other in (contract(reveal="counts"), contract(rows_at_most=50), contract(short=True)):
        assert not any(signed(other, path).values())


def backwards(table: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(table.items()))


def test_an_order_that_has_meaning_is_signed_and_one_that_has_none_is_not() -> None:
    """Of columns, branches and protected values parties speak by number."""
    for change in ("attributes", "branches", "protected"):
        made = document()
        policy = made["policy"]
        for one in (made, other := {**made, "policy": {**policy}}):
            one["policy"]["models"] = [
                {"type": "lkc-privacy", "l": 2, "k": 2, "c": "1/2",
                 "sensitive": {"Surgery": ["Urology"], "Sex": ["M"]}}
            ]  # fmt: skip
            one["policy"]["attributes"] = {**policy["attributes"], "Sex": {"role": "sensitive"}}
            one["public"] = {**made["public"], "Sex": {"values": ["M", "F"]}}
        changed = other["policy"]
        if change == "attributes":
            changed["attributes"] = backwards(changed["attributes"])
        elif change == "branches":
            job = changed["attributes"]["Job"]
            ((top, below),) = job["hierarchy"]["tree"].items()
            tree = {"type": "tree", "tree": {top: backwards(below)}}
            changed["attributes"] = {**changed["attributes"], "Job": {**job, "hierarchy": tree}}
        else:
            changed["models"] = [
                {**changed["models"][0], "sensitive": backwards(changed["models"][0]["sensitive"])}
            ]
        agreed, otherwise, same = (
            Contract.from_document(one, base=Path())
            for one in (made, other, {**backwards(made), "public": backwards(made["public"])})
        )
        assert otherwise.digest != agreed.digest, change
        assert same.digest == agreed.digest


def test_nobody_signs_for_another(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    sign(contract(), path, KEYS["A"])
    place = beside(path)
    place.write_text(place.read_text().replace('"A"', '"B"'))
    assert not any(signed(contract(), path).values())
    with pytest.raises(InputError, match="names no party with this key"):
        sign(contract(), path, PrivateKey.make("stranger"))


def test_a_signature_is_for_one_version_of_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, agreed = tmp_path / "contract.toml", contract()
    assert speaks(path) is None
    with monkeypatch.context() as before:
        before.setattr(signing, "SPEAKS", 1)
        for key in KEYS.values():
            sign(agreed, path, key)
        assert all(signed(agreed, path).values())
    assert speaks(path) == 1
    assert not any(signed(agreed, path).values()), "what each party learns follows from the protocol"
    sign(agreed, path, KEYS["A"])
    assert speaks(path) == SPEAKS
    assert signed(agreed, path) == {"A": True, "B": False, "C": False}
    said = json.loads(beside(path).read_text())
    del said["protocol"]
    beside(path).write_text(json.dumps(said))
    assert speaks(path) == 1, "the first version did not say"


@pytest.mark.parametrize("text", ["", "[]", '{"signatures": 3}', "{}"])
def test_a_damaged_file_of_signatures(text: str, tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    beside(path).write_text(text)
    with pytest.raises(InputError, match="not a file of signatures"):
        signed(contract(), path)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"A": "short"}, "keys.A: a public key"),
        ({"Z": KEYS["A"].public}, "keys.Z: no such party"),
        (
            {"A": KEYS["A"].public, "B": KEYS["A"].public, "C": KEYS["C"].public},
            "each party has a key of its own",
        ),
        ({"A": KEYS["A"].public}, "keys: of every party, or of none"),
        ("A", "keys: a table"),
    ],
)
def test_wrong_keys(keys: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        contract(keys=keys)


def test_the_command_signs_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "contract.toml"
    path.write_text(tomli_w.dumps(document(keys={name: key.public for name, key in KEYS.items()})))
    KEYS["A"].save(tmp_path / "a.key")
    assert main(["joint", "sign", str(path), "--key", str(tmp_path / "a.key")]) == 0
    capsys.readouterr()
    assert main(["joint", "show", str(path)]) == 0
    said = capsys.readouterr().out
    assert "signed by A; not yet by B, C" in said
    assert "may not change" not in said
    data = tmp_path / "a.csv"
    data.write_text("Job\nJanitor\n")
    words = ["joint", "sign", str(path), "--key", str(tmp_path / "a.key"), "--data", str(data)]
    assert main(words) == 0
    assert "for the rows that are there now" in capsys.readouterr().out
    assert main(["joint", "show", str(path)]) == 0
    said = capsys.readouterr().out
    assert "signed by A; not yet by B, C" in said
    assert "for rows that may not change by A" in said
    text = beside(path).read_text()
    assert "Janitor" not in text
    assert sha256(data.read_bytes()).hexdigest() not in text, "a mark confirms no guess"
    assert main([*words[:-1], str(tmp_path / "none.csv")]) == 2
    assert beside(path).read_text() == text


def test_a_contract_opens_no_file_outside_its_folder_and_no_device(tmp_path: Path) -> None:
    """It comes from somebody else: `privet joint show` must not read what it names, nor wait for it."""
    folder = tmp_path / "contract"
    folder.mkdir()
    (tmp_path / "jobs.csv").write_text("Janitor;ANY\nLawyer;ANY\n")
    os.mkfifo(folder / "fifo.csv")
    (folder / "link.csv").symlink_to(tmp_path / "jobs.csv")
    made = document()
    job = made["policy"]["attributes"]["Job"]
    for path in ("/dev/zero", "../jobs.csv", str(tmp_path / "jobs.csv"), "link.csv"):
        job["hierarchy"] = {"type": "csv", "path": path}
        with pytest.raises(
            PolicyError, match=r"attributes.Job.hierarchy.path: the files .* in its own folder"
        ):
            Contract.from_document(made, base=folder)
    job["hierarchy"] = {"type": "csv", "path": "fifo.csv"}
    with pytest.raises(PolicyError, match="not an ordinary file"):
        Contract.from_document(made, base=folder)
    (folder / "jobs.csv").write_text((tmp_path / "jobs.csv").read_text())
    job["hierarchy"] = {"type": "csv", "path": "jobs.csv"}
    assert Contract.from_document(made, base=folder).domains["Job"].size == 2
