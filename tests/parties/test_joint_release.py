"""A joint release is one like any other: the bytes of pooled rows, verified alone, signed by all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w
from tests.forge.forging import refused, seal
from tests.parties import hospitals, test_loan
from tests.parties.parties import house

import privet as pv
from privet.cli import main
from privet.errors import InputError, PartyError
from privet.evidence import signing
from privet.evidence.signing import Asked, PrivateKey
from privet.parties.contract import Contract
from privet.parties.transport import Link, together
from privet.rehearsal import rehearse
from privet.roads.parties import concluding
from privet.roads.parties.concluding import greet

KEYS = {name: PrivateKey.make(name) for name in ("A", "B", "C")}
WAYS: list[dict[str, Any]] = [
    {"reveal": "counts", "sum": "ring"},
    {"reveal": "decisions"},
    {"reveal": "decisions", "rows_at_most": 9},
]


def contract(**changes: Any) -> Contract:
    return hospitals.contract(keys={name: key.public for name, key in KEYS.items()}, **changes)


def pooled(parts: list[Path]) -> pl.DataFrame:
    return pl.concat([pl.read_csv(part, infer_schema=False) for part in parts])


def files(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_data_is_that_of_pooled_rows_to_the_byte(way: dict[str, Any], tmp_path: Path) -> None:
    parts = hospitals.parts(tmp_path)
    agreed = contract(**way)
    rehearse(agreed, parts, output=tmp_path / "out", keys=[*KEYS.values()])
    alone = pv.publish(pooled(parts), agreed.policy).write(tmp_path / "alone")
    for name in ("data.csv", "policy.toml"):
        assert (tmp_path / "out" / name).read_bytes() == (alone / name).read_bytes(), name
    found = pv.verify(tmp_path / "out", signers=Asked({key.public: name for name, key in KEYS.items()}))
    assert found.holds, found.complaints
    assert [(one.signature.signer, one.valid) for one in found.signed] == [(name, True) for name in "ABC"]


def test_across_columns_too(tmp_path: Path) -> None:
    parts = test_loan.parts(tmp_path)
    agreed = test_loan.contract()
    rehearse(agreed, parts, output=tmp_path / "out")
    first, second = (pl.read_csv(part, infer_schema=False) for part in parts)
    whole = first.join(second.drop("Class"), on="ID").select(list(agreed.domains))  # in the contract's order
    alone = pv.publish(whole, agreed.policy).write(tmp_path / "alone")
    assert (tmp_path / "out" / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()
    assert pv.verify(tmp_path / "out").holds
    assert files(tmp_path / "out")["joint"]["split"] == "columns"


def test_what_the_measures_say_is_what_one_machine_says(tmp_path: Path) -> None:
    """All that does not need the table as it was; of that which does, nothing is said."""
    parts = hospitals.parts(tmp_path)
    rehearse(contract(), parts, output=tmp_path / "out")
    joint = files(tmp_path / "out")["measures"]
    alone = files(pv.publish(pooled(parts), contract().policy).write(tmp_path / "alone"))["measures"]
    assert joint["classes"] == alone["classes"]
    assert joint["worst_classes"] == alone["worst_classes"]
    assert joint["risk"] == {"after": alone["risk"]["after"]}
    assert set(alone["loss"]) - set(joint["loss"]) == {"entropy", "kl", "gain_retained"}
    assert all(alone["loss"][name] == value for name, value in joint["loss"].items())
    for name, column in joint["attributes"].items():
        assert all(alone["attributes"][name][what] == value for what, value in column.items())
        assert "raw_values" not in column


def test_the_evidence_says_who_took_part_and_what_each_saw(tmp_path: Path) -> None:
    rehearse(
        contract(reveal="counts"),
        hospitals.parts(tmp_path),
        output=tmp_path / "out",
        keys=[*KEYS.values()],
    )
    note = files(tmp_path / "out")["joint"]
    assert note["contract"] == contract(reveal="counts").digest.hex()
    assert note["rehearsed"] is True
    assert [(party["name"], party["key"]) for party in note["parties"]] == [
        (name, key.public) for name, key in KEYS.items()
    ]
    assert len(note["parties"][0]["saw"]) > len(note["parties"][1]["saw"]), "the leader saw counts"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Who took part" in page
    assert "how large each group of a split would be" in page


def test_what_only_the_leader_saw_is_not_in_the_release(tmp_path: Path) -> None:
    rehearse(contract(reveal="counts"), hospitals.parts(tmp_path), output=tmp_path / "out")
    assert not any(step.get("score") for step in files(tmp_path / "out")["steps"])
    notes = json.loads((tmp_path / "out.private" / "steward.json").read_text(encoding="utf-8"))
    assert any(step["score"] for step in notes["steps"])
    assert notes["traffic"]["sent"] > 0
    said = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert str(notes["traffic"]["sent"]) not in said
    assert "traffic" not in files(tmp_path / "out")["joint"]


def test_a_forged_note_or_a_missing_signature_is_noticed(tmp_path: Path) -> None:
    """Field by field, where nobody signed: tests/forge/test_every_field.py."""
    out = tmp_path / "out"
    rehearse(contract(), hospitals.parts(tmp_path), output=out, keys=[*KEYS.values()])
    said = files(out)
    said["joint"]["contract"] = "0" * 64
    assert refused(seal(shutil.copytree(out, tmp_path / "forged"), said))
    signing.write(out, signing.read(out)[:2])
    found = pv.verify(out)
    assert any("says that C signed, and no signature shows it" in one for one in found.complaints)


def test_parties_that_are_not_the_signers_are_a_complaint(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rehearse(contract(), hospitals.parts(tmp_path), output=out, keys=[*KEYS.values()])
    said = files(out)
    said["joint"]["parties"][1]["name"] = "Hill"
    (out / "evidence.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    assert "joint: the evidence names other parties than those that were to sign" in pv.verify(out).complaints


def test_a_party_that_holds_another_release_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = concluding.AllSign.put

    def other(self: concluding.AllSign, folder: Path) -> None:
        if self.link.me == 1:
            (folder / "data.csv").write_text("Job\nDoctor\n")
        honest(self, folder)

    monkeypatch.setattr(concluding.AllSign, "put", other)
    with pytest.raises(PartyError, match=r"holds another release|ended the run"):
        rehearse(contract(), hospitals.parts(tmp_path), output=tmp_path / "out", keys=[*KEYS.values()])
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.private").exists()


def test_a_signature_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = signing.signature

    def wrong(files: Any, key: PrivateKey) -> Any:
        return honest({**files, "data.csv": "0" * 64} if key.name == "C" else files, key)

    monkeypatch.setattr(signing, "signature", wrong)
    with pytest.raises(PartyError, match=r"^C: its signature is not one of this release") as refusal:
        rehearse(contract(), hospitals.parts(tmp_path), output=tmp_path / "out", keys=[*KEYS.values()])
    assert concluding.PERHAPS in refusal.value.complaints  # another party may hold it, with our signature
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("keys", [["A"], ["A", "B"], ["A", "B", "C", "stranger"]])
def test_keys_of_all_or_of_none(keys: list[str], tmp_path: Path) -> None:
    made = [KEYS.get(name) or PrivateKey.make(name) for name in keys]
    with pytest.raises(InputError, match="one of each party"):
        rehearse(contract(), hospitals.parts(tmp_path), output=tmp_path / "out", keys=made)


def test_a_release_stands_already(tmp_path: Path) -> None:
    parts = hospitals.parts(tmp_path)
    rehearse(contract(), parts, output=tmp_path / "out")
    with pytest.raises(InputError, match="there is a release already"):
        rehearse(contract(), parts, output=tmp_path / "out")
    rehearse(contract(), parts, output=tmp_path / "out", overwrite=True)
    assert pv.verify(tmp_path / "out").holds


@pytest.mark.parametrize("odd", ["north", "south", "west"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"software": "privet 99"}, "another version of privet"),
        ({"clock": 10 * 86_400}, "more than a day away"),
        ({"clock": 1 << 62}, "more than a day away"),
        ({"certificate": b"x" * 32}, "certificate where we have none"),
    ],
    ids=["software", "clock", "no clock", "certificate"],
)
def test_parties_that_do_not_fit_together_are_told_at_once(
    odd: str, change: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = house(3)
    honest = Link.send

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        if kind == "hello" and self.name(self.me) == odd:
            clock, software, certificate, rows = concluding.HELLO.unpack(payload)
            payload = concluding.HELLO.pack(
                clock + change.get("clock", 0),
                change["software"].encode() if "software" in change else software,
                change.get("certificate", certificate),
                rows,
            )
        honest(self, to, kind, payload)

    monkeypatch.setattr(Link, "send", send)
    with pytest.raises(PartyError, match=f"^{odd}: .*{said}"):
        together(one, [greet] * 3)


def test_the_command_writes_a_folder_that_verifies_and_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "contract.toml"
    said = hospitals.document(keys={name: key.public for name, key in KEYS.items()})
    path.write_text(tomli_w.dumps(said))
    for name, key in KEYS.items():
        key.save(tmp_path / f"{name}.key")
    parts = [str(part) for part in hospitals.parts(tmp_path)]
    signing_with = [word for name in KEYS for word in ("--key", str(tmp_path / f"{name}.key"))]
    out = str(tmp_path / "out")
    assert main(["joint", "rehearse", str(path), *parts, "-o", out, "--pooled", *signing_with]) == 0
    assert f"the joint release is in {out}" in capsys.readouterr().out.replace("\n", "")
    assert main(["verify", out, "--signer", str(tmp_path / "B.key.pub")]) == 0
    assert "signed by B" in capsys.readouterr().out
    assert main(["explain", out]) == 0
    assert "no party has seen the counts" in capsys.readouterr().out
    shutil.rmtree(f"{out}.private")
    assert main(["explain", out]) == 0
