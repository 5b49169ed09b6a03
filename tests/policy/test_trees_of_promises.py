"""The tree of a promise may stand in a file, as that of a column may; what is received names none."""

from __future__ import annotations

from pathlib import Path

import pytest

import privet as pv
from privet.errors import PolicyError
from privet.policy import handed

TEXT = """policy = 1
[attributes]
age = {{ role = "quasi" }}
ill = {{ role = "sensitive" }}
[[models]]
type = "t-closeness"
t = "1/2"
sensitive = ["ill"]
distance = "hierarchical"
{tree}
"""
INLINE = 'tree = { Any = { Virus = ["HIV", "Hepatitis"], Flu = [] } }'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ill.csv", "HIV;Virus;Any\nHepatitis;Virus;Any\nFlu;Flu;Any\n"),
        ("ill.json", '{"Any": {"Virus": ["HIV", "Hepatitis"], "Flu": null}}'),
    ],
)
def test_a_tree_is_read_from_a_file_beside_the_policy(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "p.toml").write_text(TEXT.format(tree=f'path = "{name}"'), "utf-8")
    found = pv.Policy.load(tmp_path / "p.toml")
    assert found.models[0].taxonomy == pv.Policy.loads(TEXT.format(tree=INLINE)).models[0].taxonomy
    assert "path" not in found.dumps()
    assert pv.Policy.loads(found.dumps()).models == found.models


def test_what_is_wrong_with_the_file_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"models\[0\]: path: no.csv: the hierarchy file cannot be read"):
        pv.Policy.loads(TEXT.format(tree='path = "no.csv"'), base=tmp_path)


def test_a_tree_or_a_file_not_both(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="give one of them"):
        pv.Policy.loads(TEXT.format(tree=INLINE + '\npath = "x.csv"'), base=tmp_path)


def test_a_policy_that_was_received_opens_no_file(tmp_path: Path) -> None:
    (tmp_path / "ill.csv").write_text("HIV;Any\n", "utf-8")
    (tmp_path / "policy.toml").write_text(TEXT.format(tree='path = "ill.csv"'), "utf-8")
    with pytest.raises(PolicyError, match=r"models\[0\].path: a policy in a release names no file"):
        handed.load(tmp_path / "policy.toml")
