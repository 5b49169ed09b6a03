"""Days and months that a text says, in any language, and numbers that are dates under another name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

import polars as pl
import pytest

from privet.drafts.accept import Answers, accept
from privet.drafts.days import written
from privet.drafts.draft import draft
from privet.policy.presets import Preset
from privet.policy.values import Policy
from privet.readings import Rows
from privet.roads import publish

N = 300


def left_of(name: str, values: list[str]) -> set[str]:
    """What leaves of a column under safe harbor."""
    table = pl.DataFrame({"sex": (["F", "M"] * N)[:N], name: values})
    accepted = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS))
    published = publish(table, Policy.loads(accepted.text)).to_polars()
    return set(published.get_column(name).drop_nulls()) if name in published.columns else set()


@pytest.mark.parametrize(
    "value",
    [
        *(
            "2017-04-24",
            "2017/4/24",
            "24.04.2017",
            "24. 04. 2017",
            "4/24/17",
            "20170424",
            "seen 2017-04-24T08:00",
        ),
        *("Apr 24 2017", "24 Apr 2017", "12th of March", "March 2019", "mid June 2020", "5 maja 2019"),
        *("5 Eylül 2019", "5 květen 2019", "1. März", "12 de marzo", "3 мая 2018", "2019年5月3日", "5월 3일"),
        *(
            "1 lipca 2016",
            "Christmas 2018",
            "Easter Monday 2020",
            "d\u2019abril 2019",
            "5 augusti",
            "IIb (Mar 2019)",
            "pos 4/5/2019",
        ),
    ],
)
def test_a_day_or_a_month_is_found(value: str) -> None:
    assert written(value)


@pytest.mark.parametrize(
    "value",
    [
        *("2017", "12 out of 20", "may 10 mg", "10-20-30", "1.2.2013.4", "stage 3/4", "120/80", "mars bar 2"),
        *(
            "3 dec",
            "Model 2019",
            "5 sets of 10",
            "12 mar",
            "1/2",
            "May",
            "Augusta",
            "v1.2.13",
            "555-0199",
            "",
        ),
    ],
)
def test_what_says_no_day_is_left_alone(value: str) -> None:
    assert not written(value)


def day(random: Random) -> date:
    return date(2015, 1, 1) + timedelta(days=random.randrange(2900))


NUMBERS: dict[str, Callable[[date, Random], str]] = {
    "fecha_ingreso": lambda d, _: d.strftime("%y%m%d"),
    "FecIngreso2": lambda d, _: str((d - date(1899, 12, 30)).days),
    "death": lambda d, r: f"{(d - date(1970, 1, 1)).days * 86400 + r.random() * 86400:.3f}",
    "dob": lambda d, _: str(d.toordinal() + 1721424.5),
    "onset": lambda d, _: str(d.toordinal() + 1721424.5),
    "visit": lambda d, r: f"{(d - date(1899, 12, 30)).days + r.random():.4f}",
    "Entlassung": lambda d, _: str(d.month),
    "дата": lambda d, _: str(d.month),
    "dischMo": lambda d, _: str((d.year - 1960) * 12 + d.month),
    "Visitdate": lambda d, _: str((d.year - 1960) * 12 + d.month - 1),
    "smoke": lambda d, r: r.choice(["yes", "no", "none"]),
    "relapse": lambda d, r: r.choice(["yes", "no"]),
    "transplant": lambda d, _: str(d.year),
}
ONE = {"smoke": "2017-04-24", "relapse": "Apr 24 2017", "transplant": "2017-04-24"}


@pytest.mark.parametrize("name", NUMBERS)
def test_safe_harbor_lets_no_day_and_no_month_leave(name: str) -> None:
    random = Random(1)
    values = [NUMBERS[name](day(random), random) for _ in range(N)]
    if name in ONE:
        values[7] = ONE[name]
    assert left_of(name, values) == set()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("momage", ["eighty-one", "ninety five", "forty"]),
        ("region", ["0360*", "0361*", "0590*"]),
        ("hsa", ["036XX", "059XX", "102XX"]),
        ("dest", ["Reno", "Tulsa", "Madison"]),
        *(
            (name, ["Acme Widgets Inc", "Siemens AG", "Boeing"])
            for name in ("company", "firma", "emp", "organization", "firm", "works_at", "workplc", "empresa")
        ),
        ("x7", [f"{43 + at / 977:.5f}" for at in range(N)]),
    ],
)
def test_ages_in_words_and_places_and_employers_by_other_names_go(name: str, values: list[str]) -> None:
    assert left_of(name, (values * N)[:N]) == set()


@pytest.mark.parametrize(
    "name", ["dobm", "dobd", "dod_d", "bdmm", "месяц", "月", "miesiac", "giorno", "mese_nascita", "admit_dag"]
)
def test_numbers_of_months_and_days_go_in_any_language(name: str) -> None:
    assert left_of(name, [str(1 + at % (12 if name.endswith("mm") else 28)) for at in range(N)]) == set()


@pytest.mark.parametrize("values", [["T1", "T2", "T3"], ["I kwartał", "II kwartał"], ["I/2019", "II/2019"]])
def test_quarters_go_as_others_write_them(values: list[str]) -> None:
    assert left_of("when", (values * N)[:N]) == set()


@pytest.mark.parametrize("name", ["anni", "longevity", "V3"])
def test_old_ages_are_one_group_whatever_stands_beside_them(name: str) -> None:
    random = Random(2)
    values = [str(int(random.triangular(18, 104, 70))) for _ in range(N)]
    left = left_of(name, [*values[:-3], *(["999"] * 3 if name == "V3" else values[-3:])])
    assert left
    assert {value for value in left if value.isdigit() and int(value) > 89} == set()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", [str(20_000 + 7 * at) for at in range(N)]),
        ("visits", ["1", "2", "3", "4", "7", "12"]),
        ("bilirubin", [f"{at / 7:.3f}" for at in range(N)]),
        ("treatment", ["placebo", "verum 10 mg", "verum 20 mg"]),
        ("stage", ["1", "2", "3a", "3b"]),
    ],
)
def test_what_says_no_date_stays(name: str, values: list[str]) -> None:
    assert left_of(name, (values * N)[:N])


@pytest.mark.parametrize(
    "name", ["bdate", "d_o_b", "bth_yr", "Jahrgang", "födelseår", "生年", "momdob", "dob"]
)
def test_no_range_of_years_tells_a_high_age(name: str) -> None:
    values = [f"{year}-{year + 4}" for year in range(1915, 2005, 5)]
    assert {one for one in left_of(name, (values * N)[:N]) if one < "1936"} == set()


def test_days_as_fractions_of_a_year_leave_as_years_however_old_somebody_is() -> None:
    """The oldest years stood a level higher than the others, and the whole table was refused."""
    random = Random(3)
    left = left_of("dob", [f"{random.uniform(1915, 2005):.2f}" for _ in range(N)])
    assert {one for one in left if not one.startswith(("<", "["))} == set()
    assert len(left) > 60


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fyq", ["FY14Q1", "FY15Q3"]),
        ("months_since_2000", [str(at) for at in range(100, 200)]),
        ("employed_by", ["Acme Inc", "Walmart", "Boeing"]),
        ("born_in", ["Reno", "Tulsa", "Boise"]),
        ("fsa", ["K1A", "M5V", "H2X"]),
        ("outward", ["SW1A", "M1", "LS2"]),
        ("cohort", ["1915-1919", "1920-1924", "1990-1994"]),
        ("decade", ["1910s", "1950s", "1990s"]),
        *(
            ("note_1", ["ok", "late", one])
            for one in ("aged 94", "born 1921", "age 97", "ring Bongani Mkhize")
        ),
        *(
            ("c1", ["ok", "late", one])
            for one in ("Ausweis C01X00T47", "DNI 12345678Z", "VIN 1HGCM82633A004352")
        ),
        ("c2", ["ok", "late", "P.O. Box 12"]),
    ],
)
def test_what_a_second_stranger_saw_leave(name: str, values: list[str]) -> None:
    assert left_of(name, (values * N)[:N]) == set()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cohort", ["2001-2005", "2006-2010"]),
        ("months_since_diagnosis", ["1", "2", "3", "7"]),
        ("dose", ["aged cheese", "10 mg"]),
        ("stage", ["IIa", "IIIb", "IV"]),
        ("icd", ["J45.0", "E11.9", "I10"]),
        ("arm", ["A", "B"]),
        ("result", ["nie wieder", "positiv"]),
    ],
)
def test_ordinary_columns_of_a_clinic_stay(name: str, values: list[str]) -> None:
    assert left_of(name, (values * N)[:N])
