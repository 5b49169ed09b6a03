"""A table that is written before it is asked for is the same file, and no other table is mistaken for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from privet.core import Form, Terms
from privet.engine import Tallied
from privet.engines import embedded, files
from privet.engines.embedded import Embedded, Frame
from privet.errors import InputError, InternalError
from privet.parts import digest
from privet.policy.values import Policy
from privet.recoding import Recoding
from privet.release import claimed
from privet.roads import publish

CSV = Form(format="csv", delimiter=",")


@pytest.fixture(autouse=True)
def small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "WORTH_BEGINNING", 0)


def table(*values: str) -> Frame:
    return Frame(pl.DataFrame({"a": list(values)}))


def begun(engine: Embedded, asked: Frame, form: Form) -> None:
    with ThreadPoolExecutor(2) as beside:
        engine.ahead(asked, form, beside)


def test_what_was_begun_is_what_would_have_been_written(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    engine, asked = Embedded(staging=staging), table("x", "y")
    begun(engine, asked, CSV)
    assert len(list(staging.iterdir())) == 1
    engine.write(asked, tmp_path / "data.csv", CSV)
    Embedded().write(asked, tmp_path / "plain.csv", CSV)
    assert (tmp_path / "data.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert not list(staging.iterdir())
    assert engine.digest(tmp_path / "data.csv") == digest(tmp_path / "plain.csv")


@pytest.mark.parametrize("form", [CSV, Form(format="csv", delimiter=";")])
def test_another_table_or_another_form_is_written_afresh(tmp_path: Path, form: Form) -> None:
    engine, other = Embedded(staging=tmp_path), table("z", "z")
    asked = table("x", "y")
    begun(engine, asked, CSV)
    written = other if form == CSV else asked
    engine.write(written, tmp_path / "data.csv", form)
    Embedded().write(written, tmp_path / "plain.csv", form)
    assert (tmp_path / "data.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert engine.digest(tmp_path / "data.csv") == digest(tmp_path / "data.csv")


def test_a_digest_is_of_the_file_that_lies_there_now(tmp_path: Path) -> None:
    engine, asked, other = Embedded(staging=tmp_path), table("x", "y"), table("z", "z")
    begun(engine, asked, CSV)
    engine.write(asked, tmp_path / "data.csv", CSV)
    engine.write(other, tmp_path / "data.csv", CSV)
    assert engine.digest(tmp_path / "data.csv") == digest(tmp_path / "data.csv")


class Clumsy(Embedded):
    """Publishes everybody as they are."""

    def apply(self, tallied: Tallied, policy: Terms, recoding: Recoding) -> Frame:
        del policy, recoding
        return Frame(tallied.rows.data)


@pytest.mark.parametrize("room", [True, False])
def test_a_check_that_fails_leaves_nothing_of_what_was_begun(
    *, room: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is written while it is checked: of what breaks a promise nothing stays, and that is said."""
    written: list[Path] = []
    sound = files.write

    def write(frame: pl.DataFrame, target: Path, form: Form) -> None:
        written.append(target)
        if not room:
            raise OSError(28, "No space left on device", str(target))
        sound(frame, target, form)

    monkeypatch.setattr(files, "write", write)
    source, target = tmp_path / "people.csv", tmp_path / "out"
    source.write_text("age\n" + "".join(f"{age}\n" for age in range(40)))
    policy = Policy.loads(
        """
policy = 1
kind = "table"
attributes.age = { role = "quasi", hierarchy = { type = "intervals" } }
models = [{ type = "k-anonymity", k = 5 }]
algorithm.type = "mondrian"
"""
    )
    broken = pytest.raises(InternalError, match="mondrian broke k-anonymity")
    with broken, claimed(target, overwrite=False) as claim:
        publish(source, policy, engine=Clumsy(staging=claim.folder))
    assert [path.name for path in written] == ["ahead.csv"]
    assert list(tmp_path.iterdir()) == [source]


def test_what_cannot_be_written_is_said_when_it_is_asked_for(tmp_path: Path) -> None:
    form = Form(format="csv", delimiter=",", nulls=("NA",))
    engine, asked = Embedded(staging=tmp_path), table("x", "NA")
    begun(engine, asked, form)
    with pytest.raises(InputError, match="also a null token"):
        engine.write(asked, tmp_path / "data.csv", form)


def test_without_a_place_nothing_is_begun(tmp_path: Path) -> None:
    engine = Embedded()
    begun(engine, table("x"), CSV)
    assert not list(tmp_path.iterdir())
