"""A folder with a small table and its policy, to publish from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.placing.kinds import prepared


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    prepared(folder, "table")
    monkeypatch.chdir(folder)
    return folder
