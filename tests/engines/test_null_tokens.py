"""A release must read back as the table that was checked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from privet.core import Form
from privet.engines import files
from privet.errors import InputError


def test_a_text_like_a_null_token_is_not_written(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["NA", "b"], "c": ["x", None]})
    with pytest.raises(InputError, match="'a' holds a text that is also a null token"):
        files.write(frame, tmp_path / "data.csv", Form(format="csv", nulls=("NA",)))
    assert not (tmp_path / "data.csv").exists()


def test_empty_text_and_null_stay_two_things(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["", None, "b"], "c": ["x", "y", "z"]})
    form = Form(format="csv", delimiter=",")
    files.write(frame, tmp_path / "data.csv", form)
    assert files.read(tmp_path / "data.csv", form).equals(frame)
