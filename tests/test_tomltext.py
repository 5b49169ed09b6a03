"""Every file that people write in TOML is refused in one sentence, however hostile it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.disclose.audit import config
from privet.errors import PolicyError
from privet.parties import contract
from privet.roads.sources import description
from privet.tomltext import document, written

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


WORDS = st.text(max_size=8)
PLAIN = st.one_of(WORDS, st.integers(-(2**40), 2**40), st.booleans(), st.floats(allow_nan=False))
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=5))
def test_what_is_written_says_the_same(said: dict[str, Any]) -> None:
    found = document(written(said), "here")
    assert found == said
    for key, value in said.items():
        if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
            assert list(found[key]) == list(value)  # columns are published in this order


def test_a_written_document_is_short() -> None:
    said = {"attributes": {f"c{n}": {"role": "quasi", "hierarchy": {"type": "flat"}} for n in range(9)}}
    assert len(written(said).splitlines()) == 10
