"""The generated census against the real Adult data: 45,222 complete records, figures in percent."""

import polars as pl
import pytest

from privet.errors import InputError
from privet.samples.census import EDUCATIONS, census
from privet.samples.taxonomies import ADULT, leaves

REAL_SHARES = {
    "workclass": {"Private": 73.7, "Self-emp-not-inc": 8.4, "Local-gov": 6.9, "Self-emp-inc": 3.6},
    "education": {"HS-grad": 32.7, "Some-college": 21.9, "Bachelors": 16.7, "Masters": 5.6, "Doctorate": 1.2},
    "marital-status": {"Married-civ-spouse": 46.6, "Never-married": 32.3, "Divorced": 13.9, "Separated": 3.1},
    "occupation": {
        "Craft-repair": 13.3,
        "Prof-specialty": 13.3,
        "Exec-managerial": 13.2,
        "Adm-clerical": 12.3,
    },
    "relationship": {
        "Husband": 41.3,
        "Not-in-family": 25.9,
        "Own-child": 14.7,
        "Unmarried": 10.6,
        "Wife": 4.6,
    },
    "race": {"White": 86.0, "Black": 9.4, "Asian-Pac-Islander": 2.9},
    "sex": {"Male": 67.5, "Female": 32.5},
    "native-country": {"United-States": 91.3, "Mexico": 2.0},
    "income": {"<=50K": 75.2, ">50K": 24.8},
}
REAL_MEANS = {"age": 38.5, "education-num": 10.1, "hours-per-week": 40.9}
REAL_RANGES = {
    "age": (17, 90),
    "education-num": (1, 16),
    "fnlwgt": (13_492, 1_490_400),
    "hours-per-week": (1, 99),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
}
REAL_RICH = {  # how many of them earn more than 50K
    "marital-status": {"Married-civ-spouse": 45, "Never-married": 5, "Divorced": 10},
    "education": {"HS-grad": 16, "Bachelors": 42, "Masters": 55, "11th": 6},
    "occupation": {"Exec-managerial": 48, "Prof-specialty": 45, "Other-service": 4, "Craft-repair": 23},
    "sex": {"Male": 31, "Female": 11},
    "workclass": {"Private": 22, "Federal-gov": 39, "Self-emp-not-inc": 28},
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return census(60_000, seed=7)


def share(column: pl.Series, value: str | int) -> float:
    return 100 * column.to_list().count(value) / len(column)


def test_the_columns_are_those_of_the_published_files(table: pl.DataFrame) -> None:
    assert table.columns == [
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
        *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
        "income",
    ]
    assert table.height == 60_000
    assert table.null_count().sum_horizontal().item() == 0


@pytest.mark.parametrize("column", REAL_SHARES)
def test_shares_are_within_two_points_of_the_real_ones(table: pl.DataFrame, column: str) -> None:
    for value, real in REAL_SHARES[column].items():
        assert share(table[column], value) == pytest.approx(real, abs=2), value


@pytest.mark.parametrize("column", REAL_MEANS)
def test_means_are_near_the_real_ones(table: pl.DataFrame, column: str) -> None:
    assert table[column].mean() == pytest.approx(REAL_MEANS[column], rel=0.03)


@pytest.mark.parametrize("column", REAL_RANGES)
def test_numbers_stay_in_the_real_range(table: pl.DataFrame, column: str) -> None:
    low, high = REAL_RANGES[column]
    assert table[column].is_between(low, high).all()


@pytest.mark.parametrize("column", REAL_RICH)
def test_income_depends_on_circumstances_as_in_the_real_data(table: pl.DataFrame, column: str) -> None:
    for value, real in REAL_RICH[column].items():
        rich = share(table.filter(pl.col(column) == value)["income"], ">50K")
        assert rich == pytest.approx(real, abs=6), value


def test_capital_is_rare_and_follows_income(table: pl.DataFrame) -> None:
    assert share(table["capital-gain"], 0) == pytest.approx(91.6, abs=1.5)
    assert share(table["capital-loss"], 0) == pytest.approx(95.3, abs=1.5)
    gains = table.filter(pl.col("capital-gain") > 0)
    assert share(gains["income"], ">50K") > 50


def test_education_determines_its_number(table: pl.DataFrame) -> None:
    pairs = table.select("education", "education-num").unique()
    assert dict(pairs.rows()) == {name: number for number, name in enumerate(EDUCATIONS, start=1)}


def test_only_the_married_are_husbands_and_wives(table: pl.DataFrame) -> None:
    spouses = table.filter(pl.col("relationship").is_in(["Husband", "Wife"]))
    assert set(spouses["marital-status"]) == {"Married-civ-spouse", "Married-AF-spouse"}
    assert set(spouses.select("relationship", "sex").unique().rows()) == {
        ("Husband", "Male"),
        ("Wife", "Female"),
    }


def test_sex_tells_as_much_about_divorce_as_in_the_real_data(table: pl.DataFrame) -> None:
    """P(Divorced | Female) is what keeps Sex general on the real data at C = 20 %: 25.8 there."""
    assert share(table.filter(pl.col("sex") == "Female")["marital-status"], "Divorced") == pytest.approx(
        25.8, abs=2
    )


@pytest.mark.parametrize("column", ADULT)
def test_the_trees_cover_every_value(table: pl.DataFrame, column: str) -> None:
    assert set(table[column]) <= set(leaves(ADULT[column]))


def test_the_same_seed_and_size_give_the_same_rows() -> None:
    assert census(1_000, seed=5).equals(census(1_000, seed=5))
    assert not census(1_000, seed=5).equals(census(1_000, seed=6))


def test_these_rows_stay_what_they_are() -> None:
    """Across processes, machines and releases: others may have written down results on them."""
    assert census(3, seed=1).row(0) == (
        *(64, "Private", 46422, "HS-grad", 9, "Married-civ-spouse", "Sales", "Husband", "Asian-Pac-Islander"),
        *("Male", 0, 0, 40, "United-States", ">50K"),
    )


def test_no_rows_are_a_table_too() -> None:
    assert census(0, seed=1).schema == census(1, seed=1).schema
    assert census(0, seed=1).height == 0


@pytest.mark.parametrize(("rows", "seed"), [(-1, 0), (1, -1)])
def test_a_negative_size_or_seed_is_refused(rows: int, seed: int) -> None:
    with pytest.raises(InputError, match="rows >= 0 and seed >= 0"):
        census(rows, seed)
