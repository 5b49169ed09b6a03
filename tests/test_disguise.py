from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet import disguise
from privet.disguise import CROCKFORD, STARS, Hash, Key, Mask, Pseudonym, Shift, parse
from privet.domain import Value
from privet.errors import InputError, InternalError, PolicyError

SECRET = b"correct horse battery staple"
CANARY = "Canary-7731"
values = st.lists(st.one_of(st.none(), st.text("abé日 ", max_size=5)), max_size=8)
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the key file never changes


@pytest.fixture
def key(tmp_path: Path) -> Key:
    (tmp_path / "key").write_bytes(SECRET + b"\n")
    return Key(file=Path("key"), base=tmp_path)


def derived(purpose: bytes, text: str) -> bytes:
    """The definition, once more."""
    subkey = hmac.new(SECRET, b"privet/1/" + purpose, hashlib.sha256).digest()
    return hmac.new(subkey, text.encode(), hashlib.sha256).digest()


def test_a_key_is_read_late_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Key(file=tmp_path / CANARY)  # no complaint yet
    assert CANARY not in repr(missing)
    assert CANARY not in repr(Hash(missing))
    with pytest.raises(PolicyError, match="cannot be read"):
        missing.secret()
    monkeypatch.delenv("PRIVET_KEY", raising=False)
    with pytest.raises(PolicyError, match="not set"):
        Key(env="PRIVET_KEY").secret()
    monkeypatch.setenv("PRIVET_KEY", "x" * 15)
    with pytest.raises(PolicyError, match="at least 16 bytes") as raised:
        Key(env="PRIVET_KEY").secret()
    assert "xxx" not in str(raised.value)
    monkeypatch.setenv("PRIVET_KEY", "x" * 16)
    assert Key(env="PRIVET_KEY").secret() == b"x" * 16
    for file, env in ((None, None), (Path("a"), "B")):
        with pytest.raises(PolicyError, match="give one of them"):
            Key(file, env)


def test_a_line_end_is_no_part_of_the_key(key: Key) -> None:
    assert key.secret() == SECRET


@given(values, st.integers(0, 3), st.integers(0, 3))
def test_masks_tell_no_length(texts: list[Value], first: int, last: int) -> None:
    for text, covered in zip(texts, Mask(first=first, last=last).cover(texts), strict=True):
        if text is None:
            assert covered is None
        elif len(text) > first + last:
            assert covered == "".join(text[at] for at in range(first)) + STARS + text[len(text) - last :]
            assert len(covered) == first + len(STARS) + last
        else:
            assert covered == STARS


@shared
@given(values)
def test_hashes_and_pseudonyms_agree_with_their_definition(key: Key, texts: list[Value]) -> None:
    assert Hash(key).cover(texts) == [None if t is None else derived(b"hash", t).hex() for t in texts]
    for text, code in zip(texts, Pseudonym(key).cover(texts), strict=True):
        if text is None:
            assert code is None
        else:
            assert code is not None
            assert code.startswith("P-")
            assert len(code) == 14
            last = int.from_bytes(derived(b"pseudonym", text), "big") % 2**60
            assert sum(CROCKFORD.index(c) << 5 * at for at, c in enumerate(code[2:])) == last


def test_known_answers(key: Key) -> None:
    """Frozen: whoever published with an earlier version must get the same codes again."""
    assert Pseudonym(key).cover(["Ada", None, "Ada", "Bob"]) == [
        "P-B679Y3CNBXWY",
        None,
        "P-B679Y3CNBXWY",
        "P-M9MCTREB4QZW",
    ]
    assert Hash(key).cover(["Ada"]) == ["73a5822f0d61ee80fce5c88a8309c2e82248d6a799a569f808a2e0dadb5ba01b"]


def test_the_alphabet_is_crockfords() -> None:
    assert len(set(CROCKFORD)) == 32
    assert not set("ILOU") & set(CROCKFORD)
    assert set(CROCKFORD) < set(base64.b32encode(bytes(range(256))).decode()) | set("0189")


def test_another_key_gives_other_codes(key: Key, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"another sixteen bytes")
    other = Key(file=tmp_path / "other")
    for make in (Hash, Pseudonym):
        assert make(key).cover(["Ada"]) != make(other).cover(["Ada"])


def test_colliding_pseudonyms_are_never_published(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disguise, "_code", lambda _: "P-0")
    assert Pseudonym(key).cover(["Ada", "Ada"]) == ["P-0", "P-0"]
    with pytest.raises(InternalError, match="same pseudonym") as raised:
        Pseudonym(key).cover([CANARY, "Ada"])
    assert CANARY not in str(raised.value)


@shared
@given(
    st.lists(st.tuples(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.sampled_from("abcdef")), max_size=9),
    st.integers(1, 400),
)
def test_all_dates_of_a_person_move_alike(key: Key, records: list[tuple[date, str]], days: int) -> None:
    moved = Shift(key, days=days).cover([day.isoformat() for day, _ in records], [who for _, who in records])
    by: dict[str, set[int]] = {}
    for (day, who), text in zip(records, moved, strict=True):
        by.setdefault(who, set()).add((date.fromisoformat(str(text)) - day).days)
    for offsets in by.values():
        (offset,) = offsets
        assert offset != 0
        assert abs(offset) <= days


def test_every_offset_but_zero_occurs(key: Key) -> None:
    people = [str(number) for number in range(400)]
    moved = Shift(key, days=3).cover(["2024-03-10"] * 400, people)
    assert set(moved) == {f"2024-03-{day:02}" for day in (7, 8, 9, 11, 12, 13)}


def test_shift_keeps_nulls_and_the_time_of_day(key: Key) -> None:
    moved = Shift(key, days=1).cover(["2024-03-05T10:11:12Z", None, None], ["Ada", "Ada", None])
    assert moved[0] in ("2024-03-04T10:11:12Z", "2024-03-06T10:11:12Z")
    assert moved[1:] == [None, None]


def test_shift_counts_what_it_cannot_move(key: Key) -> None:
    dates: list[Value] = [CANARY, "2024-02-30", "2024-03-05", "2024-03-05 x", "0001-01-01", "9999-12-31"]
    with pytest.raises(InputError) as raised:
        Shift(key, days=1).cover([*dates, *dates[-2:]], ["a", "a", None, "a", "a", "a", "b", "b"])
    assert CANARY not in str(raised.value)
    # Whichever way a person moves, one of the two ends of the calendar is in the way.
    assert raised.value.complaints[0].startswith("1 dates belong to no person")
    assert raised.value.complaints[1].startswith("5 values are not ISO dates")
    with pytest.raises(PolicyError, match="by: say whose dates"):
        Shift(key).cover(["2024-03-05"])


@pytest.mark.parametrize("days", [0, -1, True, 1.5])
def test_shift_needs_days(key: Key, days: int) -> None:
    with pytest.raises(PolicyError, match="days"):
        Shift(key, days=days)


def test_input_is_left_alone(key: Key) -> None:
    texts: list[Value] = ["2024-03-05", None]
    people: list[Value] = ["Ada", "Bob"]
    for cover in (Mask(), Hash(key), Pseudonym(key), Shift(key)):
        cover.cover(texts, people)
    assert (texts, people) == (["2024-03-05", None], ["Ada", "Bob"])


def test_forms(tmp_path: Path) -> None:
    default = Key(env="PRIVET_KEY")
    assert parse({"publish": "hash"}) == Hash(default)
    assert parse({"role": "identifier", "publish": "pseudonym", "key_env": "MINE"}) == Pseudonym(
        Key(env="MINE")
    )
    assert parse({"publish": "mask", "first": 1, "last": 2}) == Mask(first=1, last=2)
    shift = parse({"publish": "shift", "key_file": "k", "days": 30, "by": "patient"}, base=tmp_path)
    assert shift == Shift(Key(file=Path("k")), days=30)
    (tmp_path / "k").write_bytes(SECRET)
    assert isinstance(shift, Shift)
    assert shift.key.secret() == SECRET


@pytest.mark.parametrize(
    "made", [Mask(first=1), Hash(Key(env="A")), Pseudonym(Key(file=Path("k"))), Shift(Key(env="A"), days=9)]
)
def test_a_policy_file_brings_it_back(made: Mask | Hash | Pseudonym | Shift) -> None:
    assert parse(made.to_policy()) == made


@pytest.mark.parametrize(
    ("spec", "complaints"),
    [
        ({}, ["publish is one of pseudonym, hash, mask, shift, not None"]),
        (
            {"publish": "hsah"},
            ["publish is one of pseudonym, hash, mask, shift, not 'hsah'; did you mean hash?"],
        ),
        (
            {"publish": "hash", "key": CANARY},
            ["key: a key never stands in a policy; give key_file or key_env"],
        ),
        ({"publish": "hash", "keyfile": CANARY}, ["keyfile: unknown key; did you mean key_file?"]),
        (
            {"publish": "mask", "frist": 1, "last": -1},
            [
                "frist: unknown key; did you mean first?",
                "first, last: how many characters are kept, 0 or more",
            ],
        ),
        ({"publish": "hash", "key_file": "a", "key_env": "B"}, ["key_file, key_env: give one of them"]),
        (
            {"publish": "shift", "key_env": 3, "days": 0},
            [
                "key_env: text, and not empty",
                "days: how far dates are shifted at most, 1 or more",
            ],
        ),
    ],
    ids=str,
)
def test_every_complaint_and_no_secret(spec: dict[str, object], complaints: list[str]) -> None:
    with pytest.raises(PolicyError) as raised:
        parse(spec)
    assert list(raised.value.complaints) == complaints
