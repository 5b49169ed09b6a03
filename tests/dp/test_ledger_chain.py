"""The ledger is tamper-evident: chained, audited before it spends, witnessed, and upgraded in one step."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.dp import form1

from privet.dp.chained import link
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge
from privet.dp.store import Line
from privet.dp.store_sqlite import SqlitePage, SqliteStore
from privet.dp.upgrade import upgrade
from privet.errors import BudgetError, InputError, PrivetError, TamperedError

TENTH = Fraction(1, 10)
WHEN = "2026-01-01T00:00:00+00:00"


def laplace(epsilon: Fraction, group: str | None = None) -> Charge:
    return Charge("count", "discrete-laplace", epsilon, group)


def filled(path: Path) -> Ledger:
    """Two data sets, three releases: released, reserved, booked."""
    ledger = Ledger(path)
    ward = ledger.open("ward", Fraction(2))
    ward.spend("one", laplace(TENTH), laplace(TENTH, "g"), purpose="p").release("sha256:1")
    ward.reserve("two", Fraction(1, 2), purpose="p", per_person=2).spend(laplace(TENTH))
    other = ledger.open("other", Fraction(1), currency="rho")
    other.book("three", rho=Fraction(1, 8), purpose="p", tool="opendp 0.14", mechanism="gaussian")
    ledger.amend("ward", Fraction(5, 2), "the board")
    return ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return filled(tmp_path / "ledger.sqlite")


@contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """The file without its triggers, as somebody with a text editor and patience has it."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")  # a forger is in a hurry
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    try:
        yield db
        db.commit()
    finally:
        db.close()


def refused(path: Path) -> TamperedError:
    """Neither read nor spent from."""
    with pytest.raises(TamperedError) as found:
        Ledger(path, create=False).audit()
    with pytest.raises(TamperedError):
        Ledger(path, create=False).open("ward", Fraction(5, 2)).reserve("more", TENTH, purpose="p")
    with pytest.raises(TamperedError):
        Ledger(path, create=False).balances()
    return found.value


Change: TypeAlias = str


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET body = replace(body, '\"1/2\"', '\"1/9\"') WHERE kind = 'reserve'",
        "UPDATE entries SET at = '2020-01-01T00:00:00+00:00' WHERE number = 2",
        "UPDATE entries SET kind = 'release' WHERE kind = 'spend'",
        "UPDATE entries SET chain = 'x' WHERE number = 3",
        "DELETE FROM entries WHERE number = 4",
        "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
        "DELETE FROM entries WHERE kind = 'reserve'",
        "DELETE FROM entries",
        "UPDATE head SET number = number + 1",
        "UPDATE head SET chain = 'x'",
        "DELETE FROM head",
        "INSERT INTO entries SELECT max(number) + 1, at, kind, body, chain FROM entries",
        "UPDATE header SET key = x'00'",  # data would look new
        "UPDATE header SET id = 'another'",
        "DELETE FROM header",
        "UPDATE entries SET number = 100 - number",
    ],
)
def test_whatever_is_changed_is_noticed_before_anything_is_spent(change: Change, ledger: Ledger) -> None:
    with unguarded(ledger.path) as db:
        assert db.execute(change).rowcount >= 0
    refused(ledger.path)


def rechained(db: sqlite3.Connection, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """A thorough forger: the lines changed, and every digest made anew, so that the chain holds."""
    page = SqlitePage(db, "ledger.sqlite")
    lines = [{"at": line.at, "kind": line.kind, "body": json.loads(line.body)} for line in page.lines()]
    change(lines)
    db.execute("DELETE FROM entries")
    before = page.header().root
    for number, line in enumerate(lines, 1):
        made = Line(number, line["at"], line["kind"], json.dumps(line["body"]), "")
        before = link(before, made)
        db.execute("INSERT INTO entries VALUES (?,?,?,?,?)", (number, made.at, made.kind, made.body, before))
    db.execute("UPDATE head SET number = ?, chain = ?", (len(lines), before))


def line(kind: str, **body: Any) -> dict[str, Any]:
    return {"at": WHEN, "kind": kind, "body": body}


def reserve(**other: Any) -> dict[str, Any]:
    body = {
        "release": "x",
        "dataset": "ward",
        "purpose": "p",
        "epsilon": "1/10",
        "per_person": 1,
        "source": "",
    }
    return line("reserve", **(body | other))


def book(**other: Any) -> dict[str, Any]:
    body = {"release": "x", "dataset": "other", "purpose": "p", "source": "t", "mechanism": "m"}
    return line("book", **(body | {"epsilon": None, "rho": "1/9", "per_person": 1, "digest": None} | other))


FOREIGN = {
    "a refund": reserve(epsilon="-1"),
    "nothing": reserve(epsilon="0"),
    "another spelling": reserve(epsilon="2/20"),
    "no number": reserve(epsilon="much"),
    "an absurd number": reserve(epsilon="1e99999999"),
    "a number that is not a text": reserve(epsilon=1),
    "nobody": reserve(per_person=0),
    "less than nobody": reserve(per_person=-2),
    "half a person": reserve(per_person=0.5),
    "a data set that was never opened": reserve(dataset="nowhere"),
    "a release twice": reserve(release="one"),
    "more than there is": reserve(epsilon="3"),
    "no purpose": reserve(purpose=" "),
    "one word too many": reserve(note="x"),
    "a kind that nobody knows": line("refund", release="one", epsilon="1"),
    "a time that is none": {**reserve(), "at": "yesterday"},
    "a spend without a reservation": line(
        "spend", release="none", purpose="p", mechanism="m", epsilon="1/10", group=None
    ),
    "a negative spend": line("spend", release="two", purpose="p", mechanism="m", epsilon="-1/10", group=None),
    "a spend beyond its reservation": line(
        "spend", release="two", purpose="p", mechanism="m", epsilon="1/2", group=None
    ),
    "a spend after the release": line(
        "spend", release="one", purpose="p", mechanism="m", epsilon="1/100", group="g"
    ),
    "a second release": line("release", release="one", digest="sha256:2"),
    "a release of a booking": line("release", release="three", digest="sha256:2"),
    "a negative budget": line("budget", dataset="ward", currency="epsilon", amount="-1", reason="r"),
    "a budget in another currency": line("budget", dataset="ward", currency="euro", amount="1", reason="r"),
    "a budget without a reason": line("budget", dataset="ward", currency="epsilon", amount="9", reason=""),
    "back to epsilon after Gaussian noise": line(
        "budget", dataset="other", currency="epsilon", amount="9", reason="r"
    ),
    "a negative booking": book(rho="-1/9"),
    "a booking at half price": book(epsilon="1", rho="1/4"),
    "Gaussian noise on a pure budget": book(dataset="ward"),
    "an upgrade of other lines": line("upgrade", form=1, lines=1),
    "no body": {"at": WHEN, "kind": "reserve", "body": ["x"]},
}


@pytest.mark.parametrize("which", FOREIGN)
def test_a_line_that_a_writer_would_refuse_is_refused_in_the_ledger(which: str, ledger: Ledger) -> None:
    """The chain holds: only the rules tell."""
    with unguarded(ledger.path) as db:
        rechained(db, lambda lines: lines.append(FOREIGN[which]))
    assert "cannot follow those before it" in str(refused(ledger.path))


def test_the_forger_of_these_tests_can_write_a_chain_that_holds(ledger: Ledger) -> None:
    """Else the tests above would show nothing: a line that is in order is taken."""
    with unguarded(ledger.path) as db:
        rechained(db, lambda lines: lines.append(reserve()))
    assert Ledger(ledger.path).releases()[-1].release == "x"


def test_a_ledger_that_was_refused_is_not_kept_locked(ledger: Ledger) -> None:
    with unguarded(ledger.path) as db:
        db.execute("UPDATE entries SET body = cast(x'ff' AS TEXT) WHERE number = 1")
    with pytest.raises(InputError, match="damaged") as refusal:
        Ledger(ledger.path, create=False).audit()
    with unguarded(ledger.path) as db:  # while whoever answers for it still holds the refusal
        db.execute("DELETE FROM entries")
    assert refusal.tb is not None


# The adversary in bulk: bytes, fields and rows changed at random.


def balances(path: Path) -> dict[str, tuple[Any, ...]] | None:
    """What the ledger says is left, or None where it refuses; whatever else happens is a fault."""
    try:
        found = Ledger(path, create=False)
        found.audit()
        return {b.dataset: (b.currency, b.budget, b.spent, b.rho) for b in found.balances()}
    except PrivetError:
        return None


def tamper(path: Path, draw: random.Random) -> None:
    """One change at random, with or without what keeps the file in order."""
    if draw.random() < 0.4:
        raw = bytearray(path.read_bytes())
        match draw.randrange(4):
            case 0:
                for _ in range(draw.choice([1, 1, 2, 8, 64])):
                    raw[draw.randrange(len(raw))] = draw.randrange(256)
            case 1:
                del raw[draw.randrange(len(raw)) :]
            case 2:
                at = draw.randrange(len(raw))
                raw[at : at + 16] = draw.randbytes(16)
            case _:
                old, new = draw.choice(
                    [(b"1/10", b"1/99"), (b"1/2", b"1/7"), (b"spend", b"spemd"), (b'"2"', b'"9"')]
                )
                raw = raw.replace(old, new, draw.choice([1, -1]))
        path.write_bytes(raw)
        return
    with unguarded(path) as db:
        rows = db.execute("SELECT number, at, kind, body, chain FROM entries").fetchall()
        number = draw.choice(rows)[0]
        match draw.randrange(6):
            case 0:
                db.execute("DELETE FROM entries WHERE number = ?", (number,))
            case 1:
                other = draw.choice(rows)
                column = draw.choice(["at", "kind", "body", "chain"])
                value = other[["number", "at", "kind", "body", "chain"].index(column)]
                db.execute(f"UPDATE entries SET {column} = ? WHERE number = ?", (value, number))
            case 2:
                body = next(row[3] for row in rows if row[0] == number)
                digits = [at for at, letter in enumerate(body) if letter.isdigit()]
                if digits:
                    at = draw.choice(digits)
                    body = body[:at] + str(draw.randrange(10)) + body[at + 1 :]
                db.execute("UPDATE entries SET body = ? WHERE number = ?", (body, number))
            case 3:
                last = draw.randrange(len(rows))
                db.execute("DELETE FROM entries WHERE number > ?", (last,))
            case 4:
                db.execute(draw.choice(["UPDATE head SET number = number - 1", "DELETE FROM head"]))
            case _:
                one, two = draw.choice(rows)[0], draw.choice(rows)[0]
                db.execute("UPDATE entries SET number = -1 WHERE number = ?", (one,))
                if one != two:
                    db.execute("UPDATE entries SET number = ? WHERE number = ?", (one, two))
                    db.execute("UPDATE entries SET number = ? WHERE number = -1", (two,))


def storm(folder: Path, times: int, seed: int) -> int:
    """How many of so many tamperings were noticed; none that was not changed what is left."""
    whole = filled(folder / "whole.sqlite").path
    expected, noticed = balances(whole), 0
    assert expected is not None
    path, draw = folder / "changed.sqlite", random.Random(seed)
    for number in range(times):
        shutil.copyfile(whole, path)
        tamper(path, draw)
        found = balances(path)
        assert found in (None, expected), f"seed {seed}, tampering {number}"
        noticed += found is None
    return noticed


def test_no_tampering_changes_what_is_left(tmp_path: Path) -> None:
    assert storm(tmp_path, times=240, seed=14) > 160


@pytest.mark.slow
def test_thousands_of_tamperings(tmp_path: Path) -> None:
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert storm(folder, times=1000, seed=seed) > 600


# The witness.


def test_an_old_copy_that_is_put_back_is_noticed_by_the_witness(ledger: Ledger, tmp_path: Path) -> None:
    seen = tmp_path / "elsewhere"
    ledger.appoint(seen)
    shutil.copyfile(ledger.path, tmp_path / "backup")
    account = ledger.open("ward", Fraction(5, 2))
    account.reserve("more", Fraction(1, 2), purpose="p").spend(laplace(TENTH))
    assert seen.read_text().splitlines()[-1] == "{} {}".format(*ledger.head())
    shutil.copyfile(tmp_path / "backup", ledger.path)
    assert "older than what its witness saw" in str(refused(ledger.path))


def test_a_chain_made_anew_is_noticed_by_the_witness(ledger: Ledger, tmp_path: Path) -> None:
    ledger.appoint(tmp_path / "elsewhere")
    with unguarded(ledger.path) as db:
        rechained(db, lambda lines: lines[1]["body"].update(epsilon="1/10"))
    refused(ledger.path)


def test_a_head_kept_on_paper_tells_as_much(ledger: Ledger, tmp_path: Path) -> None:
    number, chain = ledger.head()
    assert ledger.saw(number, chain)
    shutil.copyfile(ledger.path, tmp_path / "backup")
    ledger.open("third", Fraction(1))
    later = ledger.head()
    assert later != (number, chain)
    assert ledger.saw(number, chain)
    assert ledger.saw(*later)
    shutil.copyfile(tmp_path / "backup", ledger.path)
    ledger.audit()  # whole in itself: this is why there is a witness
    assert not ledger.saw(*later)
    assert not ledger.saw(number, "0" * 64)


def test_a_witness_that_is_gone_or_cannot_be_written_stops_everything(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    ledger.appoint(folder / "seen")
    shutil.rmtree(folder)
    refused(ledger.path)
    folder.mkdir()
    (folder / "seen").touch()  # the owner says so
    ledger.audit()
    account = ledger.open("ward", Fraction(5, 2))
    paid = account.reserve("more", TENTH, purpose="p")
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="cannot be written; what was entered counts"):
        paid.spend(laplace(TENTH))
    with pytest.raises(InputError, match="cannot be written there"):
        Ledger(tmp_path / "new.sqlite").appoint(folder / "seen")


def test_a_copy_from_before_a_witness_was_replaced_still_has_one(ledger: Ledger, tmp_path: Path) -> None:
    ledger.appoint(tmp_path / "first")
    shutil.copyfile(ledger.path, tmp_path / "backup")
    ledger.appoint(tmp_path / "second")
    ledger.open("ward", Fraction(5, 2)).reserve("more", TENTH, purpose="p")
    shutil.copyfile(tmp_path / "backup", ledger.path)
    assert "older than what its witness saw" in str(refused(ledger.path))


def test_a_witness_without_room_holds_back_nothing_that_is_paid_for(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    ledger.appoint(folder / "seen")
    paid = ledger.open("ward", Fraction(5, 2)).reserve("more", TENTH, purpose="p")
    paid.spend(laplace(TENTH))
    shutil.rmtree(folder)
    paid.release("sha256:1")
    assert "could not be told that more has left" in str(paid.remark)
    folder.mkdir()
    (folder / "seen").touch()
    assert next(one for one in ledger.releases("ward") if one.release == "more").state == "released"


def test_amounts_that_share_no_denominator_do_not_grow_without_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    account = ledger.open("q", Fraction(1), currency="rho")
    book = partial(account.book, purpose="p", tool="t", mechanism="laplace")
    book("a", epsilon=Fraction(1, 10**500 + 1))
    with pytest.raises(BudgetError, match="say a number with fewer digits"):
        book("b", epsilon=Fraction(1, 10**500 + 3))
    book("c", epsilon=TENTH)
    assert len(str(ledger.balance("q").spent)) < 4_300


def test_a_witness_of_another_ledger_is_not_appointed(ledger: Ledger, tmp_path: Path) -> None:
    ledger.appoint(tmp_path / "seen")
    with pytest.raises(TamperedError, match="or another one"):
        filled(tmp_path / "other.sqlite").appoint(tmp_path / "seen")


def test_the_witness_is_told_after_the_commit_and_before_it_returns(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.appoint(tmp_path / "seen")
    account = ledger.open("ward", Fraction(5, 2))
    told: list[int] = []

    def note(_self: Any, number: int, _chain: str) -> None:
        with SqliteStore(ledger.path, create=False).read() as page:
            assert page.head()[0] == number  # committed: another connection sees it
        told.append(number)

    monkeypatch.setattr("privet.witness.Witness.note", note)
    paid = account.reserve("more", TENTH, purpose="p")
    paid.spend(laplace(TENTH))
    paid.release("sha256:3")
    assert len(told) == 3


# Kills, full disks and neighbours.


def test_every_connection_asks_for_the_strictest_durability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after a commit must not bring the money back; mutation testing found this unguarded."""
    asked: list[tuple[int, str]] = []
    connect = SqliteStore.connect

    @contextmanager
    def watched(store: SqliteStore) -> Iterator[sqlite3.Connection]:
        with connect(store) as db:
            yield db
            mode = db.execute("PRAGMA journal_mode").fetchone()[0]
            asked.append((db.execute("PRAGMA synchronous").fetchone()[0], mode))

    monkeypatch.setattr(SqliteStore, "connect", watched)
    filled(tmp_path / "ledger.sqlite")
    assert len(asked) > 5
    assert set(asked) == {(3, "delete")}  # EXTRA, with a rollback journal


FULL = """
import resource, signal, sys
from fractions import Fraction
from functools import partial
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge
from privet.errors import InputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = Ledger(sys.argv[1])
account = ledger.open("d", Fraction(1000))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
for number in range(200):
    try:
        account.spend(str(number), Charge("p" * 300, "m", Fraction(1)), purpose="p")
    except InputError as error:
        print(number, "disk" in str(error))
        break
"""


def test_a_disk_that_fills_up_keeps_what_was_spent_and_spends_no_more(tmp_path: Path) -> None:
    """Files may not grow beyond some size: what was told to be spent is there, and no half line."""
    for size in (24_000, 41_000):
        path = tmp_path / f"{size}.sqlite"
        ran = subprocess.run(
            [sys.executable, "-c", FULL, str(path), str(size)], capture_output=True, text=True, check=True
        )
        number, said = ran.stdout.split()
        assert said == "True"
        ledger = Ledger(path, create=False)
        assert ledger.balance("d").spent == int(number)
        ledger.open("d", Fraction(1000)).reserve("after", Fraction(1), purpose="there is room again")


RESERVE = """
import sys
from fractions import Fraction
from functools import partial
from privet.dp.ledger import Ledger
from privet.errors import BudgetError
ledger = Ledger(sys.argv[1])
account = ledger.open("d", Fraction(1))
sys.stdin.readline()
try:
    account.reserve(sys.argv[2], Fraction(1, 1), purpose="all of it")
    print("mine")
except BudgetError:
    print("refused")
"""


def test_of_two_that_reserve_at_once_one_gets_it(tmp_path: Path) -> None:
    for attempt in range(2):
        path = tmp_path / f"{attempt}.sqlite"
        Ledger(path).open("d", Fraction(1))
        both = [
            subprocess.Popen(
                [sys.executable, "-c", RESERVE, str(path), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in "ab"
        ]
        for one in both:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        said = sorted(one.communicate()[0].strip() for one in both)
        assert said == ["mine", "refused"]
        assert Ledger(path).balance("d").spent == 1


def test_a_spend_looks_at_everything_again_where_others_have_written(ledger: Ledger) -> None:
    """The quick way, for a ledger that is as we left it, is not taken for one that is not."""
    paid = ledger.open("ward", Fraction(5, 2)).reserve("more", TENTH, purpose="p")
    ledger.open("third", Fraction(1))
    paid.spend(laplace(TENTH / 2))
    ledger.open("fourth", Fraction(1))
    with unguarded(ledger.path) as db:
        db.execute("UPDATE entries SET body = replace(body, 'p', 'q') WHERE number = 2")
    with pytest.raises(TamperedError):
        paid.spend(laplace(TENTH / 2))


# Ledgers of an earlier privet.


def test_an_unchained_ledger_is_refused_with_the_command_that_upgrades_it(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    form1.write(path)
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(InputError, match=r"nothing is lost: privet ledger upgrade .*old\.sqlite"):
            Ledger(path, create=create)
    assert path.read_bytes() == before


def test_an_upgrade_keeps_every_line_its_time_and_the_key(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    form1.write(path)
    assert upgrade(path) == len(form1.LINES)
    assert upgrade(path) == 0  # already
    ledger = Ledger(path, create=False)
    ledger.audit()
    balance = ledger.balance("ward")
    assert (balance.budget, balance.spent, balance.left) == (Fraction(2), Fraction(3, 2), Fraction(1, 2))
    spring, summer = ledger.releases()
    assert (spring.state, spring.digest, len(spring.spends)) == ("released", "sha256:abc", 2)
    assert (summer.state, summer.charged) == ("reserved", Fraction(1))
    assert spring.at.isoformat() == "2026-01-02T10:00:00+00:00"
    with SqliteStore(path, create=False).read() as page:
        assert page.header().key == form1.KEY
        assert page.lines()[-1].kind == "upgrade"
    ledger.open("ward", Fraction(2)).spend("autumn", laplace(Fraction(1, 2)), purpose="p")
    with pytest.raises(BudgetError):
        ledger.open("ward", Fraction(2)).spend("winter", laplace(TENTH), purpose="p")


@pytest.mark.parametrize(
    "more",
    [
        ("reservations", WHEN, "x", "ward", "p", "9", 1, ""),
        ("reservations", WHEN, "x", "ward", "p", "-1", 1, ""),
        ("reservations", WHEN, "x", "nowhere", "p", "1/100", 1, ""),
        ("spends", WHEN, "spring", "p", "m", "1/4", None),
        ("spends", WHEN, "spring", "p", "m", "much", None),
        ("releases", WHEN, "summer", "sha256:x"),
    ],
)
def test_what_does_not_add_up_is_not_upgraded(more: tuple[object, ...], tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    form1.write(path, [*form1.LINES, more])
    before = path.read_bytes()
    with pytest.raises(TamperedError, match="does not add up"):
        upgrade(path)
    assert path.read_bytes() == before


def test_an_upgrade_that_is_killed_leaves_the_old_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.sqlite"
    form1.write(path)
    appended = SqlitePage.append
    left = iter(range(4))

    def killed(page: SqlitePage, one: Line) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        appended(page, one)

    with monkeypatch.context() as patch:
        patch.setattr(SqlitePage, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            upgrade(path)
    assert upgrade(path) == len(form1.LINES)
    for nothing in ("none.sqlite", os.devnull):
        with pytest.raises(InputError):
            upgrade(tmp_path / nothing)
