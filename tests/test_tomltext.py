"""Every file that people write in TOML is refused in one sentence, however hostile it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import privet as pv
from privet.disclose.audit import config
from privet.errors import PolicyError
from privet.parties import contract
from privet.roads.sources import description

READERS: dict[str, Callable[[Path], object]] = {
    "policy": pv.Policy.load,
    "contract": contract.Contract.load,
    "audit": config.AuditConfig.load,
    "sources": description.load,
}
HOSTILE = {
    "deep lists": "a = " + "[" * 100_000 + "]" * 100_000,
    "deep tables": "a = " + "{b = " * 100_000 + "1" + "}" * 100_000,
    "a huge number": "a = " + "1" * 10_000,
    "no TOML": "a = = b",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_text_is_refused_with_its_place(reader: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "written.toml"
    path.write_text(HOSTILE[what])
    with pytest.raises(PolicyError, match=r"written\.toml") as refusal:
        READERS[reader](path)
    assert len(str(refusal.value)) < 300
