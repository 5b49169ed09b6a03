"""One ledger for a department: the same rules in PostgreSQL as in a file (`make test-services`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.dp.test_ledger import SPEND_UNTIL_REFUSED
from tests.engines.test_postgres import url as server
from tests.roads import noisy

import privet as pv
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge
from privet.dp.store_postgres import SCHEMA, PostgresStore
from privet.errors import BudgetError, InputError, TamperedError
from privet.policy.values import Purse

pytestmark = pytest.mark.services
url = server  # the fixture, under its own name
TENTH = Fraction(1, 10)


@pytest.fixture
def place(url: str) -> Iterator[str]:
    import psycopg

    yield url
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def laplace(epsilon: Fraction) -> Charge:
    return Charge("count", "discrete-laplace", epsilon)


def test_a_release_is_reserved_spent_and_entered(place: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such ledger; privet ledger open makes it"):
        Ledger(place, create=False)
    ledger = Ledger(place)
    account = ledger.open("ward", Fraction(1))
    paid = account.reserve("spring", Fraction(3, 5), purpose="p")
    paid.spend(laplace(TENTH))
    paid.spend(laplace(Fraction(1, 2)))
    paid.release("sha256:1")
    with pytest.raises(BudgetError, match="epsilon 1/2 was asked for, and 2/5 of 1 is left"):
        account.reserve("summer", Fraction(1, 2), purpose="p")
    again = Ledger(place, create=False)
    (entry,) = again.releases("ward")
    assert (entry.state, entry.digest, len(entry.spends)) == ("released", "sha256:1", 2)
    assert again.balance("ward").left == Fraction(2, 5)
    again.audit()
    ledger.appoint(tmp_path / "seen")
    account.spend("autumn", laplace(TENTH), purpose="p")
    assert (tmp_path / "seen").read_text().splitlines()[-1] == "{} {}".format(*ledger.head())
    assert "hush-hush" not in ledger.place


def test_many_processes_never_overdraw_and_lose_nothing(place: str) -> None:
    """They also race for making the tables."""
    command = [sys.executable, "-c", SPEND_UNTIL_REFUSED, place]
    workers = [subprocess.Popen([*command, str(who)]) for who in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    ledger = Ledger(place, create=False)
    assert len(ledger.entries("shared")) == 14
    assert ledger.balance("shared").left == 0
    ledger.audit()


@pytest.mark.parametrize("_round", range(10))
def test_whoever_waited_for_the_maker_of_the_tables_sees_them(place: str, _round: int) -> None:
    """The server answers about names from what it remembers, and it was asked when there was nothing."""
    with ThreadPoolExecutor(8) as crowd:
        made = [crowd.submit(PostgresStore, place, create=True) for _ in range(8)]
    assert {one.result().place for one in made} == {made[0].result().place}
    Ledger(place, create=False).audit()


CHANGES = {
    "an amount": "UPDATE entries SET body = replace(body, '1/10', '1/99')",
    "the end": "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
    "the head": "UPDATE head SET number = number + 2",
    "the key": "UPDATE header SET key = '\\x00'",
    "everything": "TRUNCATE entries",
}


@pytest.mark.parametrize("what", CHANGES)
def test_triggers_refuse_changes_and_the_chain_tells_of_them(place: str, what: str) -> None:
    import psycopg

    ledger = Ledger(place)
    account = ledger.open("ward", Fraction(1))
    account.spend("spring", laplace(TENTH), purpose="p").release("sha256:1")
    with psycopg.connect(place, autocommit=True) as db:
        db.execute(f"SET search_path = {SCHEMA}")
        with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
            db.execute(CHANGES[what])
        ledger.audit()
        for table in ("header", "entries", "head"):
            db.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        db.execute(CHANGES[what])
    with pytest.raises(TamperedError):
        ledger.audit()
    with pytest.raises(TamperedError):
        account.reserve("more", TENTH, purpose="p")


def test_a_commit_that_does_not_arrive_spends_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is lost in the middle: all of a transaction, or nothing."""
    import psycopg

    from privet.dp.store_postgres import PostgresPage

    ledger = Ledger(place)
    paid = ledger.open("ward", Fraction(1)).reserve("spring", Fraction(1, 2), purpose="p")
    append = PostgresPage.append

    def cut(page: PostgresPage, line: object) -> None:
        append(page, line)  # type: ignore[arg-type]
        with psycopg.connect(place, autocommit=True) as db:
            theirs = page._db.info.backend_pid
            db.execute("select pg_terminate_backend(%s)", (theirs,))
        append(page, line)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(PostgresPage, "append", cut)
        with pytest.raises(InputError, match="nothing was released"):
            paid.spend(laplace(TENTH))
    assert ledger.entries() == ()
    paid.spend(laplace(TENTH))
    assert len(ledger.entries()) == 1


def test_a_locked_ledger_says_so(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    account = Ledger(place).open("ward", Fraction(1))
    monkeypatch.setattr("privet.dp.store_postgres.PATIENCE", 1.0)
    with psycopg.connect(place) as db:
        db.execute(f"SELECT number FROM {SCHEMA}.head FOR UPDATE")  # as another writer does
        with pytest.raises(InputError, match="another process keeps this ledger locked"):
            account.reserve("r", TENTH, purpose="p")
        assert account.left == 1  # reading goes on


def test_a_publisher_needs_no_more_than_the_page_says(place: str) -> None:
    import psycopg

    Ledger(place).open("ward", Fraction(1))
    with psycopg.connect(place, autocommit=True) as db:
        db.execute("CREATE ROLE publisher LOGIN")
        db.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO publisher")
        db.execute(f"GRANT SELECT, INSERT ON {SCHEMA}.entries TO publisher")
        db.execute(f"GRANT SELECT ON {SCHEMA}.header TO publisher")
        db.execute(f"GRANT SELECT, UPDATE ON {SCHEMA}.head TO publisher")
        try:
            theirs = Ledger(place.replace("steward:hush-hush", "publisher"), create=False)
            theirs.open("ward", Fraction(1)).spend("one", laplace(TENTH), purpose="p").release("sha256:1")
            theirs.audit()
        finally:
            db.execute("DROP OWNED BY publisher")
            db.execute("DROP ROLE publisher")


def test_every_commit_waits_for_the_disk(place: str) -> None:
    with PostgresStore(place, create=True).write() as page:
        assert page._db.execute("SHOW synchronous_commit").fetchone()[0] == "on"


def test_a_table_is_published_from_a_shared_ledger(place: str, tmp_path: Path) -> None:
    Ledger(place).open("ward", Fraction(1))
    policy = replace(pv.Policy.loads(noisy.TEXT), ledger=Purse(place, "ward"))
    folder = pv.publish(noisy.table(300), policy).write(tmp_path / "out")
    assert pv.verify(folder).holds
    assert Ledger(place).releases()[0].state == "released"
    texts = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file())
    assert "hush-hush" not in texts
    named = noisy.TEXT + f'[ledger]\nfile = "{place}"\ndataset = "ward"\n'
    assert pv.Policy.loads(named).ledger == Purse(place, "ward")


def test_no_server_is_said_without_the_password() -> None:
    with pytest.raises(InputError, match=r"postgresql://127\.0\.0\.1:1/ledger: the ledger cannot") as caught:
        Ledger("postgresql://steward:hush-hush@127.0.0.1:1/ledger")
    assert "hush-hush" not in str(caught.value)
