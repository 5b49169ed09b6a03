import gzip
import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from privet.errors import InputError
from privet.samples.adult import COLUMNS, read_adult

CANARY = "Zanzibar-Quokka"
LINE = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, <=50K"
)
GAPPY = LINE.replace("State-gov", "?").replace("Adm-clerical", "?").replace("<=50K", ">50K")
TRAIN = f"{LINE}\n{GAPPY}\n\n"
TEST = f"|1x3 Cross validator\n{LINE.replace('39', '25').replace('State-gov', 'Private')}.\n\n"


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "adult.data"
    path.write_text(TRAIN)
    return path


@pytest.fixture
def test_part(tmp_path: Path) -> Path:
    path = tmp_path / "adult.test.gz"
    path.write_bytes(gzip.compress(TEST.encode()))
    return path


def test_the_complete_records_of_both_files_are_read(train: Path, test_part: Path) -> None:
    table = read_adult([train, test_part])
    assert tuple(table.columns) == COLUMNS
    assert table["age"].to_list() == [39, 25]
    assert table["income"].to_list() == ["<=50K", "<=50K"]
    assert table["workclass"].to_list() == ["State-gov", "Private"]
    assert table.schema["fnlwgt"] == pl.Int64


def test_a_question_mark_is_a_missing_value(train: Path) -> None:
    table = read_adult(train, complete=False)
    assert table["workclass"].to_list() == ["State-gov", None]
    assert table["income"].to_list() == ["<=50K", ">50K"]
    assert read_adult(str(train)).height == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{LINE}\n{LINE}, {CANARY}\n", "line 2: needs 15 fields, not 16"),
        (f"{TEST}{CANARY}\n", "line 4: needs 15 fields, not 1"),
        (f"{LINE}\n\n{LINE.replace('39', CANARY)}\n", "line 3: age needs a whole number"),
        (f"{LINE.replace('40', '40.5')}\n", "line 1: hours-per-week needs a whole number"),
        (f"{LINE}\n{LINE.replace('<=50K', CANARY)}\n", "line 2: income is one of <=50K, >50K"),
        (f"{LINE.replace('<=50K', '?')}\n", "line 1: income is one of <=50K, >50K"),
        ("|1x3 Cross validator\n\n", "no records"),
        (f"{LINE}\n{CANARY} é\n", "not plain text"),
    ],
)
def test_anything_else_is_refused_with_its_place_and_without_its_content(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "adult.data"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_adult(path, complete=False)
    assert complaint in str(caught.value)
    assert str(path) in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path, test_part: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(FileNotFoundError\)"):
        read_adult(tmp_path / "nowhere")
    whole = test_part.read_bytes()
    for broken in (whole[:-20], whole[:20] + bytes(30)):
        test_part.write_bytes(broken)
        with pytest.raises(InputError, match="cannot be read"):
            read_adult(test_part)


def test_no_file_at_all_is_an_input_error() -> None:
    with pytest.raises(InputError, match="at least one file"):
        read_adult([])


# --- the benchmarks' copy -------------------------------------------------------------------------


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return importlib.import_module("bench.adult")


@pytest.fixture
def small(tmp_path: Path) -> pl.DataFrame:
    path = tmp_path / "adult.data"
    people = zip((20, 30, 40), "xyz", strict=True)
    lines = [LINE.replace("39", str(age)).replace("Adm-clerical", job) for age, job in people]
    path.write_text("\n".join(lines))
    return read_adult(path)


def test_a_blow_up_starts_with_the_records_themselves(
    bench: Any, small: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "load", lambda: small)
    assert bench.blow_up(2).equals(small.head(2))
    assert bench.blow_up(3_000).head(3).equals(small)
    assert bench.blow_up(3_000).schema == small.schema


def test_a_variation_draws_from_the_domain_and_leaves_marital_status_and_income(
    bench: Any, small: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "load", lambda: small)
    monkeypatch.setattr(bench, "CHUNK", 1_000)
    varied = bench.blow_up(30_000, seed=4)[3:]
    origin = pl.concat([small] * 10_000)[: varied.height]
    assert varied.select("marital-status", "income").equals(origin.select("marital-status", "income"))
    # Half of the sets have an attribute, and two of its three values are others: a third changes.
    for column in ("age", "occupation"):
        assert set(varied[column]) == set(small[column])
        changed = (varied[column] != origin[column]).to_list().count(True)
        assert changed / varied.height == pytest.approx(1 / 3, abs=0.02)


def test_a_written_blow_up_reads_back_the_same(
    bench: Any, small: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "load", lambda: small)
    monkeypatch.setattr(bench, "CHUNK", 10)
    bench.write_blow_up(tmp_path / "big.csv", 47, seed=2)
    assert pl.read_csv(tmp_path / "big.csv").equals(bench.blow_up(47, seed=2))


def test_files_that_are_not_the_published_ones_are_refused(
    bench: Any, train: Path, test_part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_ADULT", str(train.parent))
    with pytest.raises(InputError, match="SHA-256 differs"):
        bench.files()


def test_a_folder_without_the_files_is_refused(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVET_ADULT", str(tmp_path))
    with pytest.raises(InputError, match=r"adult\.data and adult\.test"):
        bench.files()
