"""A contract drafted from a policy: once people have said what only they can say, it is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parties.hospitals import contract

from privet.cli import main
from privet.errors import PolicyError
from privet.evidence.signing import PrivateKey
from privet.node.house import made
from privet.parties.contract import Contract
from privet.parties.proposal import proposed
from privet.parties.words import Split

KEYS = {name: PrivateKey.make(name).public for name in ("A", "B", "C")}


def test_a_draft_says_what_is_missing_and_is_a_contract_when_it_is_said(tmp_path: Path) -> None:
    agreed = contract()
    text = proposed(agreed.policy, ["A", "B", "C"], KEYS, Split.PEOPLE)
    path = tmp_path / "contract.toml"
    path.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Contract.load(path)
    assert [one.partition(": all")[0].rpartition("public.")[2] for one in caught.value.complaints] == [
        "Transfuse: give one of range and values",
        "Surgery: give one of range and values",
    ]
    path.write_text(
        text.replace("[public.Transfuse]", '[public.Transfuse]\nvalues = ["Y", "N"]').replace(
            "[public.Surgery]", '[public.Surgery]\nvalues = ["Transgender", "Plastic", "Urology", "Vascular"]'
        )
    )
    found = Contract.load(path)
    assert found.keys == KEYS
    assert found.policy.to_document() == agreed.policy.to_document()


def test_by_columns_owners_are_left_to_say(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    path.write_text(proposed(contract().policy, ["A", "B"], {}, Split.COLUMNS))
    with pytest.raises(PolicyError) as caught:
        Contract.load(path)
    assert "public.Surgery" in str(caught.value)


def test_the_command_knows_its_peers_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "node", name="A", url="https://127.0.0.1:1")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'policy = 1\n[attributes]\nage = { role = "quasi" }\n[[models]]\ntype = "k-anonymity"\nk = 2\n'
    )
    words = [
        "joint",
        "propose",
        str(policy),
        "--node",
        str(tmp_path / "node"),
        "-o",
        str(tmp_path / "c.toml"),
    ]
    assert main([*words, "--with", "B"]) == 2
    assert "--with B: has sent no invitation" in capsys.readouterr().err
    assert main([*words, "--split", "rows"]) == 2
    assert main(words) == 0
    assert (tmp_path / "c.toml").is_file()
