"""What a draft takes a column for: names first, by header and by content; in doubt, an identifier."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.core import Role
from privet.drafts import recognisers
from privet.drafts.guess import Guess, guess
from privet.drafts.lexicon import IDENTIFIERS, QUASI, SENSITIVE, taken_apart
from privet.drafts.together import settled

GIVEN = ["Jürgen", "Anna", "Peter", "Fatma", "Thi", "Carlos", "Ingrid", "Olga", "Mehmet", "Sophie"]
FAMILY = ["Kowalczyk", "Müller", "Smith", "Yilmaz", "Nguyen", "Garcia", "Hansen", "Ivanov", "Rossi", "Dubois"]
PEOPLE = [f"{family}, {given}" for family in FAMILY for given in GIVEN]


def role(name: str, values: list[str], records: int = 4000, blanks: int = 0) -> Role:
    return guess(name, values, records, blanks=blanks).role


def test_a_name_is_never_published_however_often_it_stands_there() -> None:
    """100 different values in 4,000 rows were quasi, and published."""
    assert role("Name", PEOPLE) is Role.IDENTIFIER
    assert role("customer", PEOPLE) is Role.IDENTIFIER  # by content
    assert role("Name", ["Anna Smith", "Peter Hansen"]) is Role.IDENTIFIER
    assert role("col7", GIVEN) is Role.IDENTIFIER
    assert role("treated by", PEOPLE[:12], 900) is Role.IDENTIFIER  # other people are people


@pytest.mark.parametrize(
    "name",
    [
        *(
            "first_name",
            "nameFirst",
            "name.first",
            "LAST NAME",
            "Nachname",
            "prénom",
            "apellidos",
            "nickname",
        ),
        *(
            "c_case_number",
            "docket",
            "e-mail",
            "Telefon",
            "street address",
            "IBAN",
            "SSN",
            "url",
            "longitude",
        ),
        *(
            "lat",
            "notes",
            "comments",
            "patient_id",
            "playerID",
            "MRN",
            "rownames",
            "Versichertennummer",
            "ip",
        ),
        "passport no",
    ],
)
def test_names_of_columns_that_name_people(name: str) -> None:
    assert role(name, [f"x{i % 100}y" for i in range(100)]) is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("kind", "values"),
    {
        "e-mail addresses": [f"p{i}@example.org" for i in range(40)],
        "web addresses": [f"https://example.org/{i}" for i in range(40)],
        "network addresses": [f"10.0.0.{i}" for i in range(40)],
        "UUIDs": [f"{i:08x}-0000-4000-8000-00000000000{i % 10}" for i in range(40)],
        "coordinates": [f"52.52{i:02}, 13.40{i:02}" for i in range(40)],
        "telephone numbers": [f"+49 30 90182{i:02}" for i in range(40)],
        "long numbers, such as accounts and registers have": [
            str(10_000_000_001 + 17 * i) for i in range(40)
        ],
    }.items(),
)
def test_content_has_a_form_whatever_the_column_is_called(kind: str, values: list[str]) -> None:
    found = guess("x", values, 4000)
    assert (found.role, found.reason) == (Role.IDENTIFIER, f"looks like {kind}")


NUMBERS = [str(n) for n in range(1001, 1961, 8)]  # of 120 people, five records each


@pytest.mark.parametrize(
    "name",
    [
        *(
            "userid",
            "patientid",
            "SUBJID",
            "usubjid",
            "hhid",
            "famid",
            "studentid",
            "empno",
            "custno",
            "PTID",
        ),
        *("idno", "idcode", "pidnum", "nsid", "childid", "momid", "loanid", "claimno", "pupilNR", "recordid"),
        *("Subject", "subject", "student", "patient", "participant", "respond", "proband", "indiv", "family"),
        *("household", "teacher", "doctor", "worker", "nr", "subject_code", "person1", "obs", "case"),
    ],
)
def test_numbers_of_people_name_them_in_several_records_each(name: str) -> None:
    """Panels and repeated measures: such columns were taken for something that others may know."""
    assert role(name, NUMBERS, 600) is Role.IDENTIFIER
    assert (
        role(name, [f"{number}.0" for number in NUMBERS], 600) is Role.IDENTIFIER
    )  # by pandas, beside blanks


def test_few_subjects_are_people_and_few_members_of_a_family_are_a_number() -> None:
    assert role("Subject", list("ABCDEFGHIJ"), 40) is Role.IDENTIFIER
    assert role("patient", ["1", "2", "3", "4"], 12) is Role.IDENTIFIER
    assert role("family", list("123456789")) is Role.QUASI
    assert role("student", ["0", "1"]) is Role.QUASI
    assert role("subject", ["history", "physics", "arts"]) is Role.QUASI
    assert role("father", ["78.5", "70.0", "69.2", "71.1"]) is Role.QUASI
    assert role("paid", NUMBERS, 600) is Role.SENSITIVE


def test_check_digits_say_which_register_it_is() -> None:
    pytest.importorskip("stdnum")
    ibans = ["DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606"]
    assert recognisers.recognised(ibans) == "IBANs"
    cards = ["4111111111111111", "5500005555555559", "340000000000009"]
    assert recognisers.recognised(cards) == "card numbers"
    assert recognisers.recognised(["85073003328", "02070803628"]) is not None  # PESEL


def test_without_the_libraries_long_numbers_are_identifiers_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recognisers, "_check", lambda _: None)
    monkeypatch.setattr(recognisers, "_phones", lambda: None)
    assert role("x", ["85073003328", "02070803628", "44051401359"]) is Role.IDENTIFIER


def test_what_nobody_can_explain_is_an_identifier() -> None:
    assert role("zz", [f"w{i}q" for i in range(500)], 5000) is Role.IDENTIFIER  # many texts
    assert (
        role("zz", [str(7 * i) for i in range(995)], 1000) is Role.IDENTIFIER
    )  # nearly everybody's own number
    assert role("zz", [f"{i:03}" for i in range(205)], 934) is Role.IDENTIFIER  # families by their number
    assert role("zz", ["a", "b", "c"]) is Role.QUASI
    assert role("zz", [f"{i / 7:.4f}" for i in range(990)], 1000) is Role.QUASI  # measured


def test_uniqueness_counts_records_that_have_a_value() -> None:
    """A register that few are in looked rare, because blank rows counted."""
    numbers = [str(9100 + 13 * i) for i in range(90)]
    assert guess("zz", numbers, 90, blanks=3910).role is Role.IDENTIFIER
    assert guess("zz", ["yes"], 40, blanks=960).role is not Role.OTHER  # who has it is what it says
    assert guess("zz", ["yes"], 1000).role is Role.OTHER
    assert guess("has HIV", ["yes"], 40, blanks=960).role is Role.SENSITIVE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("religious", Role.SENSITIVE),
        ("religion", Role.SENSITIVE),
        ("religiousness", Role.SENSITIVE),
        ("c_charge_degree", Role.SENSITIVE),
        ("class_of_worker", Role.QUASI),
        ("MaritalStatus", Role.QUASI),
        ("MonthlyIncome", Role.SENSITIVE),
        ("hospital_name", Role.QUASI),
        ("sex", Role.QUASI),
        ("Familienstand", Role.QUASI),
        ("Gehalt", Role.SENSITIVE),
        ("has_email_address", Role.QUASI),
    ],
)
def test_stems_and_the_words_around_them(name: str, expected: Role) -> None:
    values = ["0", "1"] if name.startswith("has") else ["a", "b", "c"]
    assert role(name, values) is expected


def test_parts_of_dates_are_no_amounts() -> None:
    assert role("deathYear", [str(y) for y in range(1950, 2000)]) is Role.QUASI
    assert role("two_year_recid", ["0", "1"]) is Role.SENSITIVE
    assert role("c_offense_date", [f"2013-0{i}-0{i}" for i in range(1, 9)]) is Role.QUASI
    assert role("sent", ["5/19/2006 0:00:00", "12/1/2006 0:00:00"] * 3) is Role.QUASI


def test_one_target_at_most() -> None:
    made = settled([guess("outcome", ["a", "b"], 100), guess("churn", ["a", "b"], 100)])
    assert [one.role for one in made] == [Role.SENSITIVE, Role.TARGET]


def test_the_time_of_a_study_of_survival_is_no_time_of_day() -> None:
    alone = settled([guess("time", ["1", "2", "3"], 100)])
    beside = settled([guess("time", ["1", "2", "3"], 100), guess("status", ["1", "2"], 100)])
    assert [one.role for one in alone] == [Role.QUASI]
    assert beside[0].role is Role.SENSITIVE


def test_free_text_goes_even_under_a_sensitive_name() -> None:
    texts = [f"the patient number {i} came in the morning and complained of pain" for i in range(90)]
    assert role("diagnosis_text", texts, 100) is Role.IDENTIFIER
    assert role("story", texts, 100) is Role.IDENTIFIER


def test_words_are_taken_apart_alike() -> None:
    assert taken_apart("firstName") == taken_apart("FIRST_NAME") == taken_apart("first.name")
    assert IDENTIFIERS.speak("nameFirst")
    assert not IDENTIFIERS.speak("idea")
    assert not SENSITIVE.speak("page")
    assert QUASI.speak("Age")
    assert not QUASI.speak("agent")


def test_a_guess_holds_no_value() -> None:
    found: Guess = guess("Name", PEOPLE, 4000)
    assert not [value for value in PEOPLE if value in found.reason]


def test_groups_that_share_a_word_with_names_are_not_people() -> None:
    assert guess("race", ["black", "white", "other"], 189).role is Role.QUASI
    assert guess("race", ["White", "Black", "King", "Walker"], 189).role is Role.QUASI
    assert guess("floor", ["tile", "wood", "marble"], 189).role is Role.QUASI
    assert guess("doctor", ["Smith", "Jones", "Nguyen"], 189).role is Role.IDENTIFIER
    assert guess("spouse", ["Ann Lee", "Bob King", "John Smith"], 189).role is Role.IDENTIFIER


def test_where_a_secret_thing_happened_is_a_place() -> None:
    """`deathCity` of a real table left unchanged, as sensitive: 2,686 cities that anybody can look up."""
    cities = [
        f"{first}{last}" for first in ("Spring", "River", "Oak", "Lake") for last in ("field", "ton", "dale")
    ]
    assert role("deathCity", cities, 2000) is Role.QUASI
    assert role("country_of_death", ["France", "Ireland", "Peru"], 2000) is Role.QUASI
    assert role("deathState", cities, 2000) is Role.QUASI
    assert role("disease_state", ["early", "late", "none"], 2000) is Role.SENSITIVE
    assert role("death", ["yes", "no"], 2000) is Role.SENSITIVE


@given(st.lists(st.booleans(), max_size=40))
def test_most_is_nine_of_ten_and_nobody_asks_on_where_it_is_settled(likely: list[bool]) -> None:
    asked: list[bool] = []

    def looks(one: bool) -> bool:
        asked.append(one)
        return one

    assert recognisers._most(likely, looks) == (sum(likely) >= recognisers.MOST * len(likely))
    assert asked.count(False) <= len(likely) // 10 + 1


FIRST, LAST = (
    ["Žä", "Bą", "Ołę", "Tšu", "Wé", "Qui", "Nwá", "Xiǎ", "Dïo", "Fjö"],
    ["kas", "rytė", "mba", "ng", "lak"],
)
UNKNOWN = [one + other for one in FIRST for other in LAST]


@pytest.mark.parametrize(
    "name",
    [
        *("driver", "nurse", "tenant", "defendant", "witness", "Bewohner", "Kunde", "contestant", "voter"),
        *("claimant", "therapist", "spouse", "child", "sold_by", "who", "kto", "v1", "code"),
    ],
)
def test_names_that_no_list_knows_are_identifiers_however_often_they_repeat(name: str) -> None:
    """Fifty of them in 3,000 rows were quasi, and a class of three was one person's own rows."""
    assert role(name, UNKNOWN, 3000) is Role.IDENTIFIER


@pytest.mark.parametrize("name", ["Medico curante", "diagnosis", "outcome", "occupation", "result"])
def test_a_word_in_the_header_does_not_make_names_of_their_own_harmless(name: str) -> None:
    """399 names of doctors left unchanged, as "sensitive": the header begins as medicine does."""
    own = [f"{one} {other}" for one in UNKNOWN[:20] for other in UNKNOWN[30:]]
    assert role(name, own, len(own)) is Role.IDENTIFIER
    assert role(name, [f"C-{number:06}" for number in range(300)], 300) is Role.IDENTIFIER
    assert role(name, [f"{number} Main St" for number in range(300)], 300) is Role.IDENTIFIER


def test_an_address_among_other_values_and_sentences_among_choices() -> None:
    assert role("result", ["pos", "neg", "ask ann@example.org"], 300) is Role.IDENTIFIER
    assert role("result", ["pos", "neg", "5 mg @ night"], 300) is Role.SENSITIVE
    notes = [f"was seen again {number} times after he had been sent home" for number in range(24)]
    assert role("result", ["pos", "neg", *notes], 300) is Role.IDENTIFIER
    assert role("result", ["pos", "neg", *notes[:3]], 300) is Role.SENSITIVE


def test_what_stays_as_it_was() -> None:
    """Amounts of one length are no codes of people, and a few choices under a person's word no names."""
    assert role("income", [str(28000 + 37 * number) for number in range(51)], 51) is Role.SENSITIVE
    assert role("is_recid", ["0", "1"], 7000) is Role.SENSITIVE
    assert role("initial_listing_status", ["w", "f"], 7000) is not Role.IDENTIFIER
    assert role("member", ["gold", "silver", "none"], 300) is Role.QUASI
    assert role("mother", [str(number) for number in range(140, 190)], 300) is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("last_initial", ["A", "B", "C"]),
        ("Huisnr", ["1", "12", "7"]),
        ("house no", ["1", "12", "7"]),
        ("GP", ["Dr Green", "Dr Ōe", "Dr. Pñ"]),
        ("Zuweiser", ["Praxis Dr. Łenz", "Praxis Dr. Ü", "Dr. Æ"]),
        ("long", [f"-93.29{number}" for number in range(100, 200)]),
        ("booking", [str(7000 + number) for number in range(90)]),
        ("diagnosis", [str(10_000_000 + 7919 * number) for number in range(300)]),
    ],
)
def test_initials_doors_doctors_and_registers(name: str, values: list[str]) -> None:
    assert role(name, values, 300 if len(values) == 300 else 3000) is Role.IDENTIFIER


def test_an_x_to_many_digits_is_a_place() -> None:
    assert role("x", [f"13.37{number}" for number in range(100, 160)], 3000) is Role.IDENTIFIER
    assert role("x", [f"{number}.5" for number in range(60)], 3000) is Role.QUASI


@pytest.mark.parametrize("name", ["dx", "dx1", "Hauptdiagnose", "Patologia", "Uitkering", "Bakiye"])
def test_more_words_for_what_nobody_may_learn(name: str) -> None:
    assert role(name, ["a", "b", "c"], 300) is Role.SENSITIVE


def test_one_enormous_value_is_no_burden() -> None:
    """Looked at from every character on, a hundred thousand of them took minutes."""
    assert role("result", ["pos", "neg", "a" * 200_000 + " @"], 300) is Role.SENSITIVE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Hospitalist", "Dr. Wera Kolt"),
        ("v1", "Maria Fernandez"),
        ("Contact_Email", "wera@example.org"),
        ("Site", "(212) 555-0143"),
        ("Source_File", "discharge_wera_2021.pdf"),
        ("home", "https://example.org/wera"),
        ("remark", "Pt was seen again by the night staff"),
        ("lab", "R7 Kolt-Wera"),
        ("approver", "E17"),
        ("case_number", "4711"),
        ("patient_id", "12"),
    ],
)
def test_one_value_in_every_record_may_name_somebody(name: str, value: str) -> None:
    """It was "other" whatever it said, and left unchanged under every preset."""
    assert role(name, [value], 500) is Role.IDENTIFIER
    if name not in {"lab", "case_number", "remark"}:
        assert role(name, [value], 40, blanks=460) is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "value"),
    [("country", "PL"), ("year", "2023"), ("unit", "mg"), ("zz", "Yes"), ("n", "7"), ("dx", "E11")],
)
def test_one_value_that_names_nobody_stays(name: str, value: str) -> None:
    assert role(name, [value], 500) in {Role.OTHER, Role.QUASI}


@pytest.mark.parametrize(
    "value",
    [
        *(
            "call daughter Mary Johnson",
            "Mr Wero Kolt (room 12)",
            "asthma - brother Wero Kolt too",
            "told Susan Miller",
        ),
        *(
            "none per mom Wera 917-555-0123",
            "Frau Kolt aus Ulm hat geholfen",
            "voir Mme Durand",
            "Pt Mary asked",
        ),
        *(
            "Rückruf 06570 70499",
            "ask +49 30 901820",
            "see www.example.org/a",
            "SSN 123-45-6789",
            "mrs smith",
        ),
        *(
            "card 4111 1111 1111 1111",
            "GB82 WEST 1234 5698 7654 32 please",
            "ask Pani Kowalska",
            "Mary Johnson",
        ),
    ],
)
@pytest.mark.parametrize("name", ["ward", "diagnosis", "outcome", "zz", "Allergies"])
def test_a_single_value_that_names_somebody_is_one_too_many(name: str, value: str) -> None:
    """One such value among three choices left, as it was or in the label of a set."""
    if (name, value) == ("ward", "Mary Johnson"):
        return  # wards are called after people
    assert role(name, ["A", "B", "C", value], 3000) is Role.IDENTIFIER
    found = guess(name, ["A", "B", "C", value], 3000)
    assert value not in found.reason


@pytest.mark.parametrize(
    "value",
    [
        *(
            "Sr. Developer",
            "MR head scan",
            "Prof-specialty",
            "Prof. degree",
            "Dr. Pepper",
            "Spouse Or Girlfriend",
        ),
        *(
            "2021-03-04 10:20:30",
            "01.02.2003-04.05.2006",
            "1001-2000 / 2001-3000",
            "05-09 years",
            "told wife",
        ),
        *("Never Married", "Poss by Convic Felo", "Other Relative", "Contact Sport", "call on Monday"),
    ],
)
def test_what_only_looks_like_a_person_is_none(value: str) -> None:
    assert role("zz", ["A", "B", "C", value], 3000) is Role.QUASI


def test_sentences_in_a_record_or_two_among_choices() -> None:
    said = "the old lady next door has helped"
    many = {"yes, but less than in the year before": 900}
    assert guess("q3", ["yes", "no", said], 3000, counted=lambda _: {said: 1}).role is Role.IDENTIFIER
    assert guess("q3", ["yes", "no", *many], 3000, counted=lambda _: many).role is Role.QUASI


def test_labels_of_variables_are_read_like_headers() -> None:
    kinds = [f"{one}{other}" for one in "abcdef" for other in "klmn"]
    assert guess("q3", ["x y", "z"], 300, label="Sonstiges, offen").role is Role.IDENTIFIER
    assert (
        guess("q4", ["0", "1"], 300, label="DX PEPTIC ULCER IN 1971, 1: EVER, 0: NEVER").role
        is Role.SENSITIVE
    )
    assert guess("q5", kinds, 60, label="Interviewer").role is Role.IDENTIFIER
    assert guess("q6", ["a", "b"], 60, label="Geschlecht").role is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("CCNumber", [f"55456{number:03}00000000.0" for number in range(100)]),
        ("zz", [f"5.54{number}E+15" for number in range(100, 200)]),
        ("CVV2", [str(number) for number in range(100, 200)]),
        ("x.loc", ["142.5", "90.0", "85.0"]),
        ("loc_y", ["142.5", "90.0", "85.0"]),
        ("HN", ["61", "2", "48"]),
        ("entered_by", ["wkolt", "afnord"]),
        ("team_lead", ["wera.k", "afnord"]),
        ("attending", ["wkolt", "afnord"]),
        ("arrest_number", [str(number) for number in range(1, 900)]),
        ("Invoice No.", [str(number) for number in range(1, 900)]),
        ("ticket", [f"A/5 {number}" for number in range(2000, 2900)]),
    ],
)
def test_cards_doors_staff_and_numbers_of_entries(name: str, values: list[str]) -> None:
    assert role(name, values, 1500) is Role.IDENTIFIER


def test_counts_of_entries_and_numbers_of_groups_name_nobody() -> None:
    numbers = [str(number) for number in range(30)]
    assert role("number of accounts", numbers, 900) is not Role.IDENTIFIER
    assert role("claim number", ["1", "2", "3"], 900) is not Role.IDENTIFIER
    assert role("teamId", [str(1610612737 + number) for number in range(30)], 900) is Role.QUASI
    assert (
        role("Company", [f"Works {chr(65 + n % 26)}{chr(65 + n // 26)}" for n in range(90)], 900)
        is Role.QUASI
    )


@pytest.mark.parametrize(
    "name",
    [
        *(
            "health",
            "pepticulcer",
            "weakheart",
            "nervousbreak",
            "hbp",
            "ivdrug",
            "VIH",
            "hormon",
            "sysbp",
            "a1c",
            "chf",
        ),
        *(
            "dyslexie",
            "Tan\u0131",
            "التشخيص",
            "Диагноз",
            "病名",
            "Διάγνωση",
            "रोग",
            "Dg.",
            "Motivo de consulta",
            "birthcontrol",
        ),
        *("Kredyt", "reject", "unem78", "月薪", "зарплата"),
    ],
)
def test_health_and_money_in_more_words_and_languages(name: str) -> None:
    assert role(name, ["0", "1"]) is Role.SENSITIVE


def test_amounts_and_diagnoses_by_their_form() -> None:
    assert role("brut", [f"{number} 345,67 €" for number in range(1, 250)], 250) is Role.SENSITIVE
    assert role("lwage", [f"{number}.25" for number in range(99)], 900) is Role.SENSITIVE
    assert role("zinc", [f"{number}.25" for number in range(99)], 900) is Role.QUASI
    assert role("cid", ["I10", "E11", "J45"], 900) is Role.SENSITIVE
    assert role("zz", ["I10", "E11.9", "J45.0"], 900) is Role.SENSITIVE
    assert role("cabin", ["C23", "B96", "E12"], 900) is Role.QUASI
    assert role("zz", ["C23", "B96", "E12"], 900) is Role.QUASI  # nobody says that these are diagnoses


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "geb.",
            [f"{d}.{m}.1969" for d in range(10, 29) for m in range(10, 13)]
            + [f"1969-0{m}-01" for m in range(1, 9)],
        ),
        ("dob", [f"Sep {d} 19{y}" for d in range(10, 29) for y in range(30, 33)]),
        ("zip4", [f"10020-{number}" for number in range(1000, 1060)]),
        ("CP", [str(number) for number in range(32000, 32060)]),
        ("postcode", [f"W{number} 0EE" for number in range(10, 70)]),
        ("StateFull", [f"Land{chr(65 + n % 26)}{chr(65 + n // 26)}" for n in range(50)]),
        ("Miejscowość", [f"Las{chr(65 + n % 26)}{chr(65 + n // 26)}" for n in range(50)]),
        ("sport", [f"ball{chr(65 + n % 26)}" for n in range(26)]),
        ("occ", [f"maker of {chr(65 + n % 26)}" for n in range(26)]),
    ],
)
def test_what_a_small_file_need_not_lose(name: str, values: list[str]) -> None:
    assert (
        role(name, values, len(values) * 5 if name in {"StateFull", "sport", "occ"} else len(values))
        is Role.QUASI
    )


def test_of_a_tumour_beside_one() -> None:
    beside = settled([guess("grade", ["2", "3"], 100), guess("chemo", ["no", "yes"], 100)])
    alone = settled([guess("grade", ["2", "3"], 100), guess("sex", ["f", "m"], 100)])
    assert [beside[0].role, alone[0].role] == [Role.SENSITIVE, Role.QUASI]


REGISTER = [str(20_011 + 83 * n) for n in range(600)]  # nobody's amounts, and everybody has another
ROUND = [str(20_000 + 50 * n) for n in range(600)]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Tax No",
            "health_card",
            "Health Card No",
            "payroll_no",
            "Payroll ref",
            "salary account",
            "income_ref",
        ),
        *(
            "debt_ref",
            "result_no",
            "blood_bag",
            "Lohnnr",
            "num_resultat",
            "diagnosis_no",
            "balance_no",
            "hiv_no",
        ),
        *("rating_key", "salary_slip", "claim", "votesmart", "wage no", "grade_sheet", "blood_sample"),
        *("healthcard", "tax_no", "Krankenkassennr", "n_tessera_sanitaria", "verdictref"),
    ],
)
def test_a_number_of_ones_own_is_an_identifier_whatever_secret_it_is_of(name: str) -> None:
    """`payroll_no` spoke of pay, and its numbers left as they were, one for every record."""
    assert role(name, REGISTER, 600) is Role.IDENTIFIER
    assert role(name, [f"{number}.0" for number in REGISTER], 610, blanks=90) is Role.IDENTIFIER


def test_running_numbers_beside_a_secret() -> None:
    assert role("hiv_clinic_no", [str(n) for n in range(301, 901)], 600) is Role.IDENTIFIER


@pytest.mark.parametrize(
    "name",
    [
        *(
            "income",
            "Salary 2019",
            "hhinc",
            "q11_inc",
            "sal87",
            "jovedelem",
            "基本給",
            "dochód",
            "зарплата",
            "pay",
        ),
        *(
            "total_debt",
            "account_balance",
            "loan amount",
            "medical costs",
            "credit limit",
            "platelets",
            "Gehalt",
        ),
        *(
            "card_payments",
            "card_fees",
            "Monatsgehalt",
            "basepay",
            "cost_no_ins",
            "salaire brut",
            "income (EUR)",
        ),
    ],
)
def test_amounts_that_nearly_everybody_has_to_themselves_stay_sensitive(name: str) -> None:
    assert role(name, REGISTER, 600) is Role.SENSITIVE


def test_a_label_that_speaks_of_money_is_heard() -> None:
    assert guess("v12", ROUND, 600, label="Household income").role is Role.SENSITIVE
    assert guess("v12", REGISTER, 600, label="Household income").role is Role.SENSITIVE
    assert guess("v12", REGISTER, 600, label="Household").role is Role.IDENTIFIER


def test_kinds_of_secret_things_have_codes_as_well() -> None:
    assert role("diagnosis_code", [str(4_001 + 7 * n) for n in range(90)], 2_000) is Role.SENSITIVE
    assert role("credit_card", ["0", "1", "2", "3"], 2_000) is Role.SENSITIVE
    assert role("num_meds", [str(n) for n in range(60)], 100) is not Role.IDENTIFIER
    assert role("zip_code", [str(10_001 + 7 * n) for n in range(90)], 90) is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values", "records"),
    [
        ("opensecrets", ["N00001669", "N00009638"], 4),
        ("fec", ["['S8DE00012']"], 2),
        ("lis", ["S170", "S010", "S298"], 6),
        ("thomas", ["01366", "00399", "01402", "00935", "00449"], 8),
        ("votesmart", ["53279.0", "9490.0"], 4),
        ("icpsr", [f"{1302 + 37 * n}.0" for n in range(49)], 73),
    ],
)
def test_numbers_of_registers_that_few_records_have(name: str, values: list[str], records: int) -> None:
    assert role(name, values, records, blanks=125 - records) is Role.IDENTIFIER


def test_few_records_with_something_that_no_register_gives() -> None:
    assert role("moved", ["1987", "1991", "2004"], 4, blanks=121) is Role.QUASI
    assert role("cbcl", [f"{n}.0" for n in range(20, 50)], 32, blanks=90) is Role.QUASI
    assert role("bonus_points", ["5321", "4377", "2981"], 4, blanks=121) is not Role.IDENTIFIER
    assert role("size", ["A100", "A200"], 30, blanks=95) is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("officer", ["Dalby", "Norwick"]),
        ("judge", ["Heald", "Urie"]),
        ("Mentor", ["SVM", "KLB"]),
        ("professor", ["Lindqvist", "Ode"]),
        ("teacher", ["Ottesen", "Ruud"]),
        ("enum_code", ["ENUM01", "ENUM02"]),
        ("enumerator", ["E-one", "E-two"]),
        ("Läkare", ["Ås", "Lind"]),
        ("врач", ["Орлов", "Петрова"]),
        ("Ιατρός", ["Ζήλου", "Παππάς"]),
        ("担当医", ["佐藤", "鈴木"]),
        ("担当者名", ["佐藤花子", "鈴木一郎"]),
        ("담당자", ["김민수", "이영희"]),
        ("ügyintéző", ["Kis", "Nagy"]),
        ("MEDEW", ["vdB", "JdW"]),
        ("lekarz", ["Dudek", "Lis"]),
        ("hemşire", ["Ekin", "Su"]),
        ("orvos", ["Kis", "Nagy"]),
        ("VOORL", ["J.M.", "A.B."]),
        ("prof", [str(n) for n in range(1, 95)]),
    ],
)
def test_people_who_work_there_in_more_words(name: str, values: list[str]) -> None:
    assert role(name, values, 500) is Role.IDENTIFIER


def test_what_is_said_of_people_who_work_there() -> None:
    assert role("teacher_experience", [str(n) for n in range(19)], 500) is not Role.IDENTIFIER
    assert role("mentor", ["yes", "no"], 500) is not Role.IDENTIFIER
    assert role("prof", ["nurse", "farmer", "other"], 500) is not Role.IDENTIFIER  # a profession


@pytest.mark.parametrize(
    "values",
    [
        ["Nagy É.", "Kiss G.", "Tóth B."],
        ["Иванов И.И.", "Петрова Г.Д."],
        ["A. Lind", "C. Ås", "unknown"],
        ["Παππάς Λ.", "Ζέρβα Σ."],
        ["st. sierż. Kowal", "sierż. Duda", "mł. asp. Bąk"],
        ["Sgt. Ode", "Cpt. Urie"],
        ["Insp. Ode", "Hptm. Urie"],
    ],
)
def test_surnames_beside_initials_or_ranks_whatever_the_column_is_called(values: list[str]) -> None:
    assert role("V10", values, 500) is Role.IDENTIFIER


def test_choices_that_only_look_like_initials_and_ranks() -> None:
    assert role("V10", ["Group A", "Group B", "Group C"], 500) is Role.QUASI
    assert role("brand", ["J. Ode", "H. Urie"], 500) is Role.QUASI
    assert role("V10", ["St. Anton", "E. coli", "type B"], 500) is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("irsz", [str(1_011 + 7 * n) for n in range(90)]),
        ("Postinro", [f"{100 + 7 * n:05}" for n in range(90)]),
        ("CEP", [f"01{n}-000" for n in range(310, 400)]),
        ("郵便番号", [f"{n}-0001" for n in range(100, 190)]),
        ("Pin", [str(411_001 + n) for n in range(60)]),
        ("都道府県", [f"県{chr(0x4E00 + n)}" for n in range(47)]),
        ("telepules", [f"Falu{chr(97 + n)}" for n in range(25)]),
        ("bairro", [f"Jardim {chr(97 + n)}" for n in range(25)]),
        ("municipio", ["Santos", "Silva Jardim", "Castro", "Torres"]),
        ("luogo_nascita", [f"Borgo {chr(97 + n)}" for n in range(25)]),
    ],
)
def test_places_in_more_words_are_no_names(name: str, values: list[str]) -> None:
    assert role(name, values, 600) is Role.QUASI


def test_a_pin_of_ones_own_opens_a_door() -> None:
    assert role("PIN", [f"{1_003 + 7 * n}" for n in range(577)], 600) is Role.IDENTIFIER
    assert role("PIN", [f"{100_003 + 7 * n}" for n in range(577)], 600) is Role.IDENTIFIER


def test_what_a_question_is_about_inside_its_number() -> None:
    assert role("q9_hivres", ["pos", "neg", "refused"], 600) is Role.SENSITIVE
