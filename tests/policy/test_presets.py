"""Presets: each held to its own text, and an accepted draft to the preset that was named."""

from __future__ import annotations

import random
import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from privet.core import Role
from privet.drafts.accept import Answers, accept
from privet.drafts.draft import draft
from privet.engines import packed
from privet.errors import InputError, UnsupportedError
from privet.models.alphak import AlphaKAnonymity
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.models.risk import MaximumRisk
from privet.models.safeharbor import SafeHarbor
from privet.policy.presets import Preset, names
from privet.policy.values import Policy
from privet.readings import Rows
from privet.release import Release
from privet.roads import publish
from privet.verification import verify


@cache
def people(records: int = 250) -> pl.DataFrame:
    chance = random.Random(7)
    first, last = ["Anna", "Peter", "Olga", "Carlos"], ["Smith", "Müller", "Garcia", "Ivanov"]
    return pl.DataFrame(
        {
            "name": [f"{chance.choice(last)}, {chance.choice(first)}" for _ in range(records)],
            "dob": [
                (date(1925, 1, 1) + timedelta(days=chance.randrange(30000))).isoformat()
                for _ in range(records)
            ],
            "age": [str(chance.randrange(0, 100)) for _ in range(records)],
            "zip": [chance.choice(["53715", "53703", "03601", "90210", "55601"]) for _ in range(records)],
            "city": [chance.choice(["Berlin", "Madison"]) for _ in range(records)],
            "state": [chance.choice(["WI", "NH", "CA"]) for _ in range(records)],
            "sex": [chance.choice("MF") for _ in range(records)],
            "birth_month": [str(chance.randrange(1, 13)) for _ in range(records)],
            "admitted": [f"{chance.randrange(1, 29)}.{chance.randrange(1, 13)}.2023" for _ in range(records)],
            "diagnosis": [chance.choice(["J45", "E11", "I10", "B20"]) for _ in range(records)],
            "hiv": [chance.choice(["no"] * 9 + ["yes"]) for _ in range(records)],
        }
    )


def few() -> pl.DataFrame:
    """Fewer columns, so that a search takes no time."""
    return people().drop("dob", "birth_month", "city", "admitted")


def of(preset: str) -> pl.DataFrame:
    return people() if preset == "hipaa-safe-harbor" else few()


def accepted(preset: str, frame: pl.DataFrame | None = None) -> Policy:
    rows = Answers(rows=Rows.PERSONS)  # names repeat
    made = accept(draft(of(preset) if frame is None else frame), Preset.find(preset), rows)
    return Policy.loads(made.text)


@cache
def released(preset: str) -> Release:
    return publish(of(preset), accepted(preset))


@pytest.mark.parametrize("name", names())
def test_every_preset_says_its_source_and_what_it_does_not_promise(name: str) -> None:
    preset = Preset.find(name)
    assert preset.title
    assert re.search(r"[0-9]{4}|CFR", preset.source)
    assert len(preset.not_promised) >= 3
    text = accept(draft(people()), preset).text
    assert preset.source in text
    assert all(line in text for line in preset.not_promised)
    assert "undecided" not in text


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", names())
def test_a_release_under_every_preset_verifies_and_names_nobody(name: str, tmp_path: Path) -> None:
    release = released(name)
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert not {"name"} & set(release.to_polars().columns)
    everything = "".join(path.read_text(errors="replace") for path in folder.iterdir())
    assert not [value for value in people()["name"] if value in everything]


@pytest.mark.parametrize(
    ("name", "smallest"),
    [
        ("statistics-office-3", 3),
        ("statistics-office-5", 5),
        ("statistics-office-10", 10),
        ("ema-0070", 12),
        ("hipaa-expert", 20),
    ],
)
def test_classes_are_as_large_as_the_text_says(name: str, smallest: int) -> None:
    """Counted once more on what leaves, by polars alone."""
    policy = accepted(name)
    quasi = [attribute.name for attribute in policy.quasi]
    made = released(name).to_polars().with_columns(pl.all().cast(pl.String))
    assert made.group_by(quasi).len()["len"].min() >= smallest
    assert str(smallest) in Preset.find(name).promise or str(smallest - 1) in Preset.find(name).promise


@pytest.mark.parametrize("k", [3, 5, 10])
def test_no_rare_value_dominates_in_a_statistics_office(k: int) -> None:
    policy = accepted(f"statistics-office-{k}")
    (model,) = policy.models
    assert isinstance(model, AlphaKAnonymity)
    assert (model.k, model.alpha) == (k, Fraction(4, 5))
    quasi = [attribute.name for attribute in policy.quasi]
    made = released(f"statistics-office-{k}").to_polars().with_columns(pl.all().cast(pl.String))
    for column, value in (("hiv", "yes"), *(("diagnosis", code) for code in ("J45", "E11", "I10", "B20"))):
        share = made.group_by(quasi).agg((pl.col(column) == value).mean().alias("share"))["share"].max()
        assert isinstance(share, float)
        assert share <= 0.8


def test_values_that_most_have_are_named_as_unprotected() -> None:
    made = accept(draft(people()), Preset.find("statistics-office-5"))
    assert any(line.startswith("hiv:") for line in made.told)
    (model,) = Policy.loads(made.text).models
    assert isinstance(model, AlphaKAnonymity)
    assert {(t.attribute, t.value) for t in model.bounds if t.attribute == "hiv"} == {("hiv", "yes")}


def test_thresholds_are_those_of_the_texts() -> None:
    (ema,), (expert,), (lkc,) = (accepted(n).models for n in ("ema-0070", "hipaa-expert", "lkc-research"))
    assert isinstance(ema, MaximumRisk)
    assert isinstance(expert, MaximumRisk)
    assert isinstance(lkc, LKC)
    assert ema.at_most == Fraction(9, 100)
    assert expert.at_most == Fraction(1, 20)
    assert (lkc.l, lkc.k, lkc.c) == (4, 20, Fraction(1, 2))


def test_safe_harbour_column_by_column() -> None:
    policy = accepted("hipaa-safe-harbor")
    (model,) = policy.models
    assert isinstance(model, SafeHarbor)
    assert set(model.dates) == {"dob", "admitted"}
    assert (model.areas, model.ages) == (("zip",), ("age",))
    roles = {attribute.name: attribute.role for attribute in policy.attributes}
    dropped = {name for name, role in roles.items() if role is Role.IDENTIFIER}
    assert dropped == {"name", "city", "birth_month"}  # (A), (B) and (C) of the rule
    made = released("hipaa-safe-harbor").to_polars()
    assert set(made["admitted"]) == {"2023"}
    assert set(made["zip"]) == {"537**", "902**", "000**"}
    assert not {str(age) for age in range(90, 100)} & set(made["age"])
    assert set(made["age"]) == {age if int(age) < 90 else ">=90" for age in people()["age"]}
    assert all(re.fullmatch(r"<?[0-9]{4}", label) for label in made["dob"])
    oldest = datetime.now(tz=UTC).year - 89
    assert min(label for label in made["dob"] if label.isdigit()) >= str(oldest)
    assert set(made["state"]) == {"WI", "NH", "CA"}


def under_safe_harbour(name: str, values: list[str]) -> list[str] | None:
    """The labels of a column that leave beside another one; None where it goes."""
    rows = [values[at % len(values)] for at in range(60)]
    table = pl.DataFrame({name: rows, "sex": ["F", "M"] * 30})
    answers = Answers(rows=Rows.PERSONS)
    text = accept(draft(table), Preset.find("hipaa-safe-harbor"), answers).text
    made = publish(table, Policy.loads(text)).to_polars()
    return sorted(set(made[name])) if name in made.columns else None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", ["34", "102", "90+", "97"]),  # one text turned the rule off
        ("age_text", ["84 years", "100 years"]),
        ("PatientAge", ["063Y", "101Y"]),
        ("AGE_GRP", ["85-89", "90-94", "95+"]),
        ("zip", ["3601", "53715"]),  # 360* is four digits of 03601, and 036 a small area
        ("zip", ["537 15", "NH 03601", "K1A 0B1"]),
        ("zipf", ["53715.0", "3601.0"]),
        ("seen", ["01/24", "11/25", "03/24"]),
        ("quarter", ["2023Q1", "2023Q2", "2024Q1"]),
        ("iso_week", ["2023-W26", "2023-W30", "2024-W01"]),
        ("week", ["1", "17", "52"]),
        ("weekday", ["Tue", "Mon", "Sun"]),
        ("long", ["Monday 20 November 2023", "Tuesday 11 March 2025"]),
        ("sasdate", ["22425", "21848", "21003"]),
        ("loc", ["Salem, MA", "Derry, NH"]),
        ("MSA", ["Boston-Cambridge", "Chicago-Naperville"]),
        ("school", ["Lincoln High", "King Elem"]),
        ("congr_dist", ["MA-05", "MA-07"]),
        ("PLZ", ["10115", "53715"]),  # 101** is no area of the rule
        ("code postal", ["10115", "53715"]),
        ("kod pocztowy", ["10-115", "53-715"]),
        ("zz", ["W35 0EE", "B41 1ZH"]),
        *((name, ["Ansbach", "Fürth"]) for name in ("Kreis", "powiat", "comté", "provincia", "区")),
        ("admit_ms", ["1633870614000.0", "1636276707000.0"]),
        ("seen", ["1649462401", "1638316802"]),
        ("adm_serial", ["44660", "44531"]),
        ("Contact", ["Dr. Wera Kolt"]),
        ("attack", ["9/11", "none", "other"]),
        *(
            (name, ["Nord", "Ost", "West"])
            for name in (
                *("hh/subcounty", "sub-county", "admin2", "admin3", "ward", "wardno", "barangay", "taluka"),
                *("tehsil", "woreda", "lga", "beat", "precinct", "parish", "commune", "municipality"),
                *("borough", "tract", "block"),
            )
        ),
        ("employer", ["Kolt Works", "Nord Mills"]),
        ("flag", ["ok", "ok", "ok", "call daughter Mary Johnson"]),
    ],
)
def test_safe_harbour_publishes_nothing_that_it_cannot_make_coarse(name: str, values: list[str]) -> None:
    assert under_safe_harbour(name, values) is None


@pytest.mark.parametrize(
    ("name", "values", "labels"),
    [
        ("YOB", ["1921", "1992"], ["1992", "<{}"]),
        ("byear", ["1921", "1992"], ["1992", "<{}"]),
        ("geb. am", ["04.01.1910", "05.04.1978"], ["1978", "<{}"]),
        ("Doğum Tarihi", ["15.03.1910", "20.03.1978"], ["1978", "<{}"]),
        ("HIV test date", ["2024-05-02", "2023-01-01"], ["2023", "2024"]),
        *((name, ["47", "102"], ["47", ">=90"]) for name in ("yrs", "years_old", "pt_years_old", "yo")),
        ("ageatdeath", ["47", "102"], ["47", ">=90"]),
        ("dose_age", ["71.5", "99.9"], [">=90", "[71-72)"]),
        ("age", ["30.84462696783025", "91.2"], [">=90", "[30-31)"]),
        ("zip_income", ["53715", "03601"], ["000**", "537**"]),
        ("dobth", ["1921.4", "1963.895"], ["<{}", "[1963-1964)"]),
        ("zz", ["1921.4", "1963.895"], ["<{}", "[1963-1964)"]),
        *(
            (name, ["47", "102"], ["47", ">=90"])
            for name in ("年龄", "العمر", "возраст", "ηλικία", "उम्र", "나이")
        ),
        *((name, ["47", "102"], ["47", ">=90"]) for name in ("年齢", "ålder", "életkor", "vârstă", "tuổi")),
    ],
)
def test_safe_harbour_is_about_what_a_column_says_whatever_its_role(
    name: str, values: list[str], labels: list[str]
) -> None:
    oldest = datetime.now(tz=UTC).year - 89
    assert under_safe_harbour(name, values) == [label.format(oldest) for label in labels]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "AGEP",
            "ageyears",
            "agedx",
            "dxage",
            "ageadm",
            "patage",
            "momage",
            "deathage",
            "onsetage",
            "ageofonset",
        ),
        *(
            "agemonths",
            "hage",
            "fage",
            "childage",
            "firstage",
            "respage",
            "MIAGECALC",
            "deathageyrs",
            "arrestagedx",
        ),
        *("old", "Sterbealter", "Patientenalter", "edadpaciente", "leeftijdjaren"),
    ],
)
def test_ages_under_a_word_that_another_has_grown_onto_are_one_group_above_89(name: str) -> None:
    """A stranger's `AGEP` left with 103 beside an `age` that was capped, and nothing was said."""
    for values in (["40", "47", "102", "1200"], ["97", "47"]):
        made = under_safe_harbour(name, values)
        assert made is not None
        assert set(made) <= {"40", "47", ">=90"}
    assert under_safe_harbour(name, ["60-69", "90-94"]) is None


@pytest.mark.parametrize(
    "name",
    ["tumor_stage", "tumorstage", "percentage", "dosage", "mileage", "village_size", "pctusage", "message"],
)
def test_what_only_ends_in_age_is_none(name: str) -> None:
    table = pl.DataFrame({name: list(range(100)) * 3, "sex": ["F", "M"] * 150})
    made = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS))
    (model,) = Policy.loads(made.text).models
    assert isinstance(model, SafeHarbor)
    assert model.ages == ()


MONTHS = [str(month) for month in range(1, 13)]
DAYS = [str(day) for day in range(1, 32)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(
            (name, MONTHS)
            for name in (
                *(
                    "BMONTH",
                    "ADMMON",
                    "DSCHMON",
                    "mnth",
                    "dx_mo",
                    "VMONTH",
                    "INTMONTH",
                    "imonth",
                    "mob",
                    "MM",
                    "monthadm",
                ),
                *("death", "discharge", "onset", "birth"),
            )
        ),
        *(
            (name, DAYS)
            for name in ("bday", "dd", "admday", "dischday", "discharge", "death", "collected", "when")
        ),
        *((name, MONTHS) for name in ("wk", "epiweek")),
        ("bqtr", ["1", "2", "3", "4"]),
        ("visit", ["Q1", "Q2", "Q3", "Q4"]),
        ("visit", ["1Q19", "2Q19", "4Q20"]),
        ("visit", ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"]),
        *((name, ["Winter", "Fall", "Spring", "Summer"]) for name in ("death", "onset", "dos", "enrolled")),
        ("half", ["1997-H2", "1998-H1"]),
        ("seen", ["Jan97", "05MAR", "Dec98"]),
        *(
            (name, [str(month) for month in range(640, 700)]) for name in ("tx", "onset", "death")
        ),  # since 1960
    ],
)
def test_parts_of_dates_go_however_they_are_abbreviated(name: str, values: list[str]) -> None:
    assert under_safe_harbour(name, values) is None


def test_a_part_of_a_date_with_two_values_goes_too() -> None:
    assert under_safe_harbour("birth_month", ["3", "11"]) is None


@pytest.mark.parametrize(
    "name",
    [
        *(
            "post_code",
            "pcode",
            "CNTYFIPS",
            "GEOID",
            "pc",
            "zcode",
            "mailcode",
            "geo",
            "region",
            "countyfips",
            "fipscode",
        ),
        *("insee", "cnty", "county_cd", "z"),
    ],
)
@pytest.mark.parametrize("many", [3, 60])
def test_no_five_digits_of_a_place_leave(name: str, many: int) -> None:
    codes = [str(10_001 + 1_327 * at) for at in range(many)]
    made = under_safe_harbour(name, codes)
    assert made is None or all(re.fullmatch(r"[0-9]{3}\*\*", label) for label in made)


def test_counties_go_wherever_they_stand_and_states_by_number_stay() -> None:
    assert under_safe_harbour("z", ["Kane", "Clark", "Dane County"]) is None
    assert under_safe_harbour("GEOID", ["17031", "55025", "27053"]) is None  # 170** is no area of the rule
    assert under_safe_harbour("statefips", ["17", "55", "27"]) == ["17", "27", "55"]
    assert under_safe_harbour("cpt_code", ["99213", "99214", "99395"]) is not None


def test_what_is_like_a_part_of_a_date_and_none_stays() -> None:
    assert under_safe_harbour("income_group", ["Q1", "Q2", "Q3", "Q4"]) is not None
    assert under_safe_harbour("visit", [str(n) for n in range(1, 9)]) is not None
    assert under_safe_harbour("chemo", [str(n) for n in range(1, 9)]) is not None
    assert under_safe_harbour("months_followed", MONTHS) is not None
    assert under_safe_harbour("injury", ["Fall", "Burn", "Cut"]) is not None
    assert under_safe_harbour("RaceMom", [str(n) for n in range(9)]) is not None
    assert under_safe_harbour("job_contractor", ["0", "1"]) is not None


@pytest.mark.parametrize(
    "label",
    [
        *("How old were you on your last birthday?", "Respondent: how old are you?", "Years since birth"),
        *(
            "Lebensalter",
            "Wie alt sind Sie?",
            "Cu\u00e1ntos a\u00f1os tiene usted?",
            "Patientenalter",
            "\u60a8\u4eca\u5e74\u591a\u5927",
            "How many years have you lived",
        ),
    ],
)
def test_a_label_that_asks_how_old_somebody_is_speaks_of_ages(label: str, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"q3": [40, 95, 103] * 20, "q1": ["m", "w"] * 30})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), column_labels={"q3": label, "q1": "Geschlecht"})
    drafted = draft(tmp_path / "a.sav")
    text = accept(drafted, Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)).text
    (model,) = Policy.loads(text).models
    assert isinstance(model, SafeHarbor)
    assert model.ages == ("q3",)


@pytest.mark.parametrize("kind", ["%tm", "%tq", "%th", "%tw", "%tdNN/DD/CCYY"])
def test_periods_of_stata_go_whatever_they_count(kind: str, tmp_path: Path) -> None:
    """October 1997 is 453, and left so: only the format of the variable says what it is."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"visit": [75.0, 81.0, 79.0] * 20, "q1": ["m", "w"] * 30})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), variable_format={"visit": kind})
    text = accept(
        draft(tmp_path / "a.dta"), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)
    ).text
    made = publish(tmp_path / "a.dta", Policy.loads(text)).to_polars()
    assert "visit" not in made.columns or all(
        re.fullmatch("<?[0-9]{4}", one) for one in made["visit"].unique()
    )


def test_what_is_no_part_of_a_date_stays() -> None:
    assert under_safe_harbour("birth_weight", ["2500", "3100", "4000"])
    for name, values in (
        ("eyes", ["6/6", "6/9", "6/12"]),
        ("got", ["3/5", "4/5"]),
        ("part", ["1/2", "whole"]),
        ("heart block", ["first degree", "second degree"]),
        ("employer", ["private", "public", "self-employed"]),
        ("yrs_of_service", ["10+", "12+"]),
    ):
        assert under_safe_harbour(name, values) == sorted(values)
    assert under_safe_harbour("weeks_in_care", ["3", "12", "52"])
    marriages = ["Married-civ-spouse", "Married-AF-spouse", "Never-married", "Divorced"]
    assert under_safe_harbour("marital", marriages) == sorted(marriages)
    assert under_safe_harbour("hours of work", ["10-19", "20-29"]) == ["10-19", "20-29"]
    assert under_safe_harbour("country_of_birth", ["Peru", "France"]) == ["France", "Peru"]


@pytest.mark.parametrize("name", ["diag", "death", "surgery", "event", "rx", "dx_day", "last_contact"])
@pytest.mark.parametrize("start", [11_000, 18_000, 43_000, 9_950])
def test_days_counted_from_1960_1970_or_1900_are_dates(name: str, start: int) -> None:
    """`death` of MASS Aids2 left, day by day."""
    table = pl.DataFrame({name: [start + at * 7 for at in range(150)] * 2, "sex": ["F", "M"] * 150})
    made = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS))
    roles = {attribute.name: attribute.role for attribute in Policy.loads(made.text).attributes}
    assert roles[name] is Role.IDENTIFIER


@pytest.mark.parametrize("name", ["start_salary", "surgery_cost", "admission weight", "dose"])
def test_what_is_measured_at_an_event_is_no_day(name: str) -> None:
    numbers = [3100 + at * 7 for at in range(150)] if name != "dose" else list(range(150))
    table = pl.DataFrame({name: numbers * 2, "sex": ["F", "M"] * 150})
    made = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS))
    roles = {attribute.name: attribute.role for attribute in Policy.loads(made.text).attributes}
    assert roles[name] is not Role.IDENTIFIER


def test_numbers_under_a_letter_and_a_number_may_be_ages() -> None:
    numbers = list(range(20, 120))
    table = pl.DataFrame(dict.fromkeys(("V3", "Var12", "score"), numbers * 3))
    made = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS))
    (model,) = Policy.loads(made.text).models
    assert isinstance(model, SafeHarbor)
    assert model.ages == ("V3", "Var12")


def test_each_rule_that_found_no_column_is_named() -> None:
    """Where ages were found, nothing was said of dates."""
    table = pl.DataFrame({"age": ["34", "97", "50"] * 20, "sex": ["F", "M"] * 30})
    told = accept(draft(table), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)).told
    assert [line.partition(":")[0] for line in told if line.startswith("safe harbor")] == [
        "safe harbor, dates leave as years",
        "safe harbor, postal codes leave as areas",
    ]


def test_a_time_counted_from_an_event_goes_beside_its_date() -> None:
    days = [f"1861-11-{day}" for day in range(10, 25)]
    times = [f"{day}.71{day}" for day in range(10, 25)]
    table = pl.DataFrame({"DEAD": days * 4, "tDEAD": times * 4, "tR": times * 4, "sex": ["F", "M"] * 30})
    harbor, answers = Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)
    beside = accept(draft(table), harbor, answers)
    assert {line.partition(":")[0] for line in beside.told if "event" in line} == {"tDEAD", "tR"}
    assert not [line for line in accept(draft(table.drop("DEAD")), harbor, answers).told if "event" in line]


def test_what_is_called_so_by_its_label_is_under_the_rule(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"q2": [40, 95, 50] * 20, "q1": ["m", "w"] * 30})
    labels = {"q2": "Alter in Jahren", "q1": "Geschlecht"}
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), column_labels=labels)
    text = accept(
        draft(tmp_path / "a.dta"), Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)
    ).text
    (model,) = Policy.loads(text).models
    assert isinstance(model, SafeHarbor)
    assert model.ages == ("q2",)


def test_safe_harbour_warns_where_it_finds_no_ages_or_dates(tmp_path: Path) -> None:
    harbor, answers = Preset.find("hipaa-safe-harbor"), Answers(rows=Rows.PERSONS)
    rows = "\n".join(f"{number % 60};{'MF'[number % 2]};I10" for number in range(300))
    (tmp_path / "a.csv").write_text(rows)
    told = accept(draft(tmp_path / "a.csv"), harbor, answers).told
    assert [line for line in told if line.startswith("safe harbor, ages above 89") and "no header" in line]
    (tmp_path / "b.csv").write_text("\n".join(f"{n % 97};{'MF'[n % 2]};I10" for n in range(300)))
    (model,) = Policy.loads(accept(draft(tmp_path / "b.csv"), harbor, answers).text).models
    assert isinstance(model, SafeHarbor)
    assert model.ages == ("column_1",)


def test_one_value_in_every_record_can_be_published_under_every_preset() -> None:
    table = few().with_columns(
        country=pl.lit("PL"), unit=pl.lit("mg"), dx=pl.lit("E11"), seen_by=pl.lit("Dr. Kolt")
    )
    for name in names():
        made = publish(table, accepted(name, table)).to_polars()
        assert "seen_by" not in made.columns


def test_enormous_values_are_no_burden_to_safe_harbour() -> None:
    texts = ["a" * 100_000, "b" * 100_000]
    assert under_safe_harbour("smoker", texts) == texts


def test_the_steward_hears_why_a_column_goes() -> None:
    table = pl.DataFrame({"zip": ["3601", "53715"] * 30, "sex": ["F", "M"] * 30})
    told = accept(draft(table), Preset.find("hipaa-safe-harbor")).told
    assert "zip: postal codes that are not all of five digits go; a zero may be lost" in told


def test_shares_are_of_persons_where_it_is_said_whose_a_row_is() -> None:
    """One value of ten was common among persons and rare among their rows: the promise could not be kept."""
    rows = [(f"P{who}", ["flu", "gout", "acne"][visit % 3]) for who in range(60) for visit in range(3)]
    table = pl.DataFrame(rows, schema=["patient", "diagnosis"], orient="row").with_columns(sex=pl.lit("F"))
    lkc = Preset.find("lkc-research")
    spoken = accept(draft(table), lkc, Answers(person="patient"))
    assert "diagnosis: values that most records have cannot be protected" in spoken.told
    assert not [
        one for one in accept(draft(table), lkc, Answers(rows=Rows.PERSONS)).told if "diagnosis" in one
    ]


def test_one_thing_in_several_spellings_is_said() -> None:
    table = pl.DataFrame({"diagnosis": ["HIV", "hiv", "flu", "gout"] * 20, "sex": ["F", "M"] * 40})
    alike = table.with_columns(pl.col("diagnosis").str.to_lowercase())
    said = [any("capitals or blanks" in doubt for doubt in draft(one).doubts) for one in (table, alike)]
    assert said == [True, False]


def test_without_a_sensitive_column_groups_are_promised_alone() -> None:
    frame = people().select("age", "sex", "state")
    assert accepted("statistics-office-5", frame).models == (KAnonymity(k=5),)
    (model,) = accepted("lkc-research", frame).models
    assert isinstance(model, LKC)
    assert model.k == 20


def test_the_steward_decides_otherwise() -> None:
    answers = Answers({"state": Role.IDENTIFIER, "sex": Role.OTHER}, {"age": ("99",)})
    made = Policy.loads(accept(draft(people()), Preset.find("ema-0070"), answers).text)
    roles = {attribute.name: attribute.role for attribute in made.attributes}
    assert (roles["state"], roles["sex"]) == (Role.IDENTIFIER, Role.OTHER)
    assert made.form.missing == {"age": ("99",)}


def test_an_unknown_preset_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match="statistics-office-10"):
        Preset.find("statistics-office")
    with pytest.raises(InputError, match="--preset"):
        Preset.find("../secret")


def test_a_preset_for_tables_refuses_paths() -> None:
    rows = [
        (f"u{u}", f"2024-05-01 {8 + i:02}:00:00", f"52.{u % 7}", f"13.{i}")
        for u in range(50)
        for i in range(4)
    ]
    frame = pl.DataFrame(rows, schema=["user", "timestamp", "latitude", "longitude"], orient="row")
    with pytest.raises(UnsupportedError, match="trajectories"):
        accept(draft(frame, paths=True), Preset.find("ema-0070"))


@pytest.mark.parametrize("name", names())
def test_preset_files_are_policies_without_columns(name: str) -> None:
    text = (Path(__file__).parents[2] / "src/privet/policy/presets" / f"{name}.toml").read_text()
    document = tomllib.loads(text)
    assert set(document) == {"policy", "kind", "preset", "models", "algorithm"}


def test_a_file_of_statistics_is_read_once_for_all_its_sensitive_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """192 columns were read 192 times: ten minutes."""
    pyreadstat = pytest.importorskip("pyreadstat")
    answers = {f"q{at}_income": [float(row % (3 + at)) for row in range(60)] for at in range(12)}
    frame = pl.DataFrame({"sex": ["m", "w"] * 30, **answers})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"))
    drafted = draft(tmp_path / "a.sav")
    reads = 0
    read = packed.read

    def counting(*given: object) -> pl.DataFrame:
        nonlocal reads
        reads += 1
        return read(*given)  # type: ignore[arg-type] # passed on

    monkeypatch.setattr(packed, "read", counting)
    text = accept(drafted, Preset.find("statistics-office-5"), Answers(rows=Rows.PERSONS)).text
    assert text.count('role = "sensitive"') == 12
    assert reads == 1
