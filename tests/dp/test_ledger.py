"""The ledger: exact sums, no overdraft whoever else spends, nothing rewritten, foreign files refused."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.dp.ledger import Ledger
from privet.dp.spend import Charge, Running, Tab, cost
from privet.dp.store_sqlite import SqliteStore
from privet.errors import BudgetError, InputError

TENTH = Fraction(1, 10)

epsilons = st.builds(Fraction, st.integers(1, 60), st.integers(1, 20))
charges = st.lists(
    st.builds(
        Charge,
        purpose=st.just("p"),
        mechanism=st.just("m"),
        epsilon=epsilons,
        group=st.sampled_from([None, None, "a", "b", "c"]),
    ),
    max_size=8,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def laplace(epsilon: Fraction, group: str | None = None) -> Charge:
    return Charge("count", "discrete-laplace", epsilon, group)


# What charges cost


def naive_cost(items: list[Charge]) -> Fraction:
    """The definition: alone, each for itself; a group, as much as its dearest member."""
    total = Fraction(0)
    for item in items:
        if item.group is None:
            total += item.epsilon
    for group in {item.group for item in items if item.group is not None}:
        total += max(item.epsilon for item in items if item.group == group)
    return total


@settings(max_examples=60)
@given(charges)
def test_sequential_charges_add_up_and_groups_cost_their_largest(items: list[Charge]) -> None:
    assert cost(items) == naive_cost(items)
    assert cost(reversed(items)) == cost(items)
    running = Running()
    for number, item in enumerate(items):
        assert running.more(item) == naive_cost(items[: number + 1]) - naive_cost(items[:number])
        running.add(item)
    assert running.total == cost(items)


@settings(max_examples=60)
@given(charges, epsilons)
def test_a_tab_takes_what_fits_and_nothing_else(items: list[Charge], epsilon: Fraction) -> None:
    tab = Tab(epsilon)
    taken: list[Charge] = []
    for item in items:
        if naive_cost([*taken, item]) <= epsilon:
            tab.spend(item)
            taken.append(item)
        else:
            before = tab.charges
            with pytest.raises(BudgetError) as refused:
                tab.spend(item)
            assert tab.charges == before
            assert refused.value.left == tab.left
            assert refused.value.asked is not None
            assert refused.value.asked > tab.left
    assert tab.charges == tuple(taken)
    assert tab.left == epsilon - naive_cost(taken) >= 0


def test_ten_tenths_are_one_and_no_eleventh() -> None:
    tab = Tab(Fraction(1))
    for _ in range(10):
        tab.spend(laplace(TENTH))
    assert tab.left == 0
    with pytest.raises(BudgetError, match="epsilon 1/10 was asked for, and 0 of 1 is left"):
        tab.spend(laplace(TENTH))


@pytest.mark.parametrize("wrong", [0.1, 1.0, 0, -1, Fraction(-1, 2), True, "1/2", None, float("nan")])
def test_an_epsilon_is_exact_and_positive(wrong: object, ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="epsilon"):
        laplace(wrong)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="budget"):
        ledger.open("d", wrong)  # type: ignore[arg-type]
    account = ledger.open("d", Fraction(1))
    with pytest.raises(BudgetError, match="epsilon"):
        account.reserve("r", wrong, purpose="p")  # type: ignore[arg-type]
    assert ledger.releases() == ()


# One release


def test_a_release_is_itemised(ledger: Ledger) -> None:
    account = ledger.open("admissions", Fraction(1))
    paid = account.reserve("spring", Fraction(3, 5), purpose="for the office", source="exact 1")
    paid.spend(Charge("first split of Age", "exponential", TENTH))
    paid.spend(laplace(TENTH, "left"), laplace(TENTH, "left"))
    assert (paid.spent, paid.left) == (Fraction(1, 5), Fraction(2, 5))
    (entry,) = ledger.releases("admissions")
    assert (entry.state, entry.digest, entry.source) == ("reserved", None, "exact 1")
    paid.spend(laplace(paid.left))
    paid.release("sha256:1")
    (entry,) = ledger.releases("admissions")
    assert (entry.state, entry.digest, entry.epsilon) == ("released", "sha256:1", Fraction(3, 5))
    assert entry.released_at is not None
    assert entry.released_at >= entry.spends[-1].at >= entry.at
    assert entry.spends == ledger.entries("admissions")
    assert [(s.purpose, s.epsilon, s.group) for s in entry.spends] == [
        ("first split of Age", TENTH, None),
        ("count", TENTH, "left"),
        ("count", TENTH, "left"),
        ("count", Fraction(2, 5), None),
    ]
    assert {(s.dataset, s.release) for s in entry.spends} == {("admissions", "spring")}
    assert account.left == Fraction(2, 5)
    ledger.audit()


def test_two_releases_of_one_data_set_add_up_and_another_data_set_does_not(ledger: Ledger) -> None:
    account = ledger.open("a", Fraction(1))
    account.spend("one", laplace(Fraction(2, 3)), purpose="p")
    ledger.open("b", Fraction(1)).spend("other", laplace(Fraction(1)), purpose="p")
    with pytest.raises(BudgetError) as refused:
        account.spend("two", laplace(Fraction(1, 2)), purpose="p")
    assert (refused.value.asked, refused.value.left) == (Fraction(1, 2), Fraction(1, 3))
    assert "epsilon 1/2 was asked for, and 1/3 of 1 is left" in str(refused.value)
    account.spend("three", laplace(Fraction(1, 3)), purpose="p")
    assert account.left == 0
    one = Fraction(1)
    assert [(b.dataset, b.spent) for b in ledger.balances()] == [("a", one), ("b", one)]


def test_a_person_with_several_records_pays_for_each(ledger: Ledger) -> None:
    account = ledger.open("stays", Fraction(1))
    paid = account.reserve("r", TENTH, purpose="p", per_person=4)
    assert paid.left == TENTH  # what mechanisms may use for one record
    assert account.left == Fraction(3, 5)
    (entry,) = ledger.releases()
    assert (entry.epsilon, entry.per_person, entry.charged) == (TENTH, 4, Fraction(2, 5))
    with pytest.raises(BudgetError, match="epsilon 7/10 was asked for, and 3/5 of 1 is left"):
        account.spend("s", laplace(TENTH), purpose="p", per_person=7)
    for wrong in (0, -1, True, Fraction(1, 2)):
        with pytest.raises(BudgetError, match="records per person"):
            account.reserve("t", TENTH, purpose="p", per_person=wrong)  # type: ignore[arg-type]
    ledger.audit()


def test_a_spend_is_on_disk_when_it_returns(ledger: Ledger) -> None:
    paid = ledger.open("d", Fraction(1)).reserve("r", Fraction(1), purpose="p")
    paid.spend(laplace(TENTH))
    assert Ledger(ledger.path, create=False).entries("d")[0].epsilon == TENTH


def test_what_does_not_fit_is_not_written(ledger: Ledger) -> None:
    paid = ledger.open("d", Fraction(1)).reserve("r", Fraction(1, 2), purpose="p")
    with pytest.raises(BudgetError):
        paid.spend(laplace(Fraction(1, 2)), laplace(TENTH))
    assert ledger.entries() == ()
    assert paid.left == Fraction(1, 2)


def test_a_copy_of_a_reservation_shares_its_epsilon(ledger: Ledger) -> None:
    """As after a fork: what is left is what the disk says."""
    from copy import deepcopy

    paid = ledger.open("d", Fraction(1)).reserve("r", Fraction(1, 2), purpose="p")
    twin = deepcopy(paid)
    paid.spend(laplace(Fraction(1, 2)))
    with pytest.raises(BudgetError):
        twin.spend(laplace(TENTH))


def test_nothing_leaves_twice_or_unpaid_and_nothing_is_spent_afterwards(ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(1))
    paid = account.reserve("r", Fraction(1, 2), purpose="p")
    with pytest.raises(BudgetError, match="nothing was spent"):
        paid.release("x")
    paid.spend(laplace(TENTH))
    paid.release("x")
    with pytest.raises(BudgetError, match="already released"):
        paid.release("y")
    with pytest.raises(BudgetError, match="already released"):
        paid.spend(laplace(TENTH))
    with pytest.raises(BudgetError, match="in the ledger already"):
        account.reserve("r", TENTH, purpose="p")


def test_a_release_given_up_is_not_given_back(ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(1))
    account.reserve("r", Fraction(3, 4), purpose="p")  # and the process dies here
    assert account.left == Fraction(1, 4)
    with pytest.raises(BudgetError, match="in the ledger already"):
        account.reserve("r", Fraction(1, 4), purpose="p")


# Budgets


def test_a_budget_is_agreed_on_and_changed_on_the_record(ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(1))
    ledger.open("d", Fraction(1))
    with pytest.raises(BudgetError, match="its budget is 1, not 2"):
        ledger.open("d", Fraction(2))
    with pytest.raises(BudgetError, match="reason"):
        ledger.amend("d", Fraction(2), " ")
    with pytest.raises(BudgetError, match="no such data set"):
        ledger.amend("e", Fraction(2), "because")
    ledger.amend("d", Fraction(2), "the board said so")
    account.spend("r", laplace(Fraction(3, 2)), purpose="p")
    ledger.amend("d", Fraction(1), "the board regrets it")
    assert account.left == 0
    with pytest.raises(BudgetError, match="0 of 1 is left"):
        account.spend("s", laplace(Fraction(1, 1000)), purpose="p")
    ledger.audit()


@pytest.mark.parametrize("blank", ["", "  "])
def test_everything_has_a_name(blank: str, ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="name"):
        ledger.open(blank, Fraction(1))
    account = ledger.open("d", Fraction(1))
    with pytest.raises(BudgetError, match="names"):
        account.reserve(blank, TENTH, purpose="p")
    with pytest.raises(BudgetError, match="names"):
        account.reserve("r", TENTH, purpose=blank)
    assert account.left == 1


def test_a_fingerprint_needs_the_key(ledger: Ledger, tmp_path: Path) -> None:
    name = ledger.fingerprint([b"one,", b"two"])
    assert name == Ledger(ledger.path).fingerprint([b"one,two"])
    assert name != ledger.fingerprint([b"one,twp"])
    assert name != Ledger(tmp_path / "other.sqlite").fingerprint([b"one,two"])


# Exact sums through the disk, and several processes


@settings(max_examples=12, deadline=None)
@given(amounts=st.lists(epsilons, max_size=6), budget=epsilons)
def test_sums_on_disk_are_exact(
    amounts: list[Fraction], budget: Fraction, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("sums") / "ledger.sqlite")
    account = ledger.open("d", budget)
    spent = Fraction(0)
    for number, epsilon in enumerate(amounts):
        if spent + epsilon <= budget:
            account.spend(str(number), laplace(epsilon), purpose="p")
            spent += epsilon
        else:
            with pytest.raises(BudgetError):
                account.spend(str(number), laplace(epsilon), purpose="p")
    assert ledger.balance("d").spent == cost(ledger.entries("d")) == spent
    assert account.left == budget - spent


SPEND_UNTIL_REFUSED = """
import sys
from fractions import Fraction
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge
from privet.errors import BudgetError
account = Ledger(sys.argv[1]).open("shared", Fraction(7, 5))
for number in range(100):
    try:
        account.spend(f"{sys.argv[2]}/{number}", Charge("p", "m", Fraction(1, 10)), purpose="p")
    except BudgetError:
        break
"""


def test_many_processes_never_overdraw_and_lose_nothing(tmp_path: Path) -> None:
    """They also race for making the file. Fourteen tenths fit in 7/5, and fourteen are there afterwards."""
    path = tmp_path / "ledger.sqlite"
    command = [sys.executable, "-c", SPEND_UNTIL_REFUSED, str(path)]
    workers = [subprocess.Popen([*command, str(who)]) for who in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    ledger = Ledger(path, create=False)
    assert len(ledger.entries("shared")) == 14
    assert ledger.balance("shared").left == 0
    ledger.audit()


# The file


@pytest.mark.parametrize("table", ["header", "entries", "head"])
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {0}",
        "UPDATE {0} SET number = number + 2",
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}",
    ],
)
def test_what_is_written_stays(table: str, change: str, ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(1))
    account.spend("r", laplace(TENTH), purpose="p").release("x")
    db = sqlite3.connect(ledger.path)
    before = db.execute(f"SELECT * FROM {table}").fetchall()
    assert before
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        db.execute(change.format(table))
    assert db.execute(f"SELECT * FROM {table}").fetchall() == before
    db.close()


def test_whoever_comes_second_does_not_begin_it_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It saw an empty file, waited for the lock, and meanwhile somebody made the ledger."""
    ledger.open("d", Fraction(1))
    really = SqliteStore._is_new
    stale = iter([True])
    monkeypatch.setattr(SqliteStore, "_is_new", staticmethod(lambda db: next(stale, None) or really(db)))
    assert Ledger(ledger.path).balance("d").budget == 1
    assert next(stale, None) is None  # it was asked


def test_the_file_is_its_owners(ledger: Ledger) -> None:
    assert stat.S_IMODE(ledger.path.stat().st_mode) & 0o077 == 0


def test_a_listing_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.sqlite: no such ledger"):
        Ledger(tmp_path / "none.sqlite", create=False)
    with pytest.raises(InputError, match="no folder"):
        Ledger(tmp_path / "nowhere" / "ledger.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_vanishes_is_not_begun_anew(ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(1))
    ledger.path.unlink()
    with pytest.raises(InputError, match="no such ledger"):
        account.reserve("r", TENTH, purpose="p")
    assert not ledger.path.exists()


@pytest.mark.parametrize("create", [True, False])
def test_other_files_are_refused_and_left_as_they_are(tmp_path: Path, create: bool) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("remember the milk\n" * 200)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE spends (number INTEGER)")
    db.close()
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(InputError, match=f"{path.name}: not a ledger of privet"):
            Ledger(path, create=create)
        assert path.read_bytes() == before


def test_a_later_version_is_refused(ledger: Ledger) -> None:
    with sqlite3.connect(ledger.path) as db:
        db.execute("PRAGMA user_version = 3")
    db.close()
    with pytest.raises(InputError, match="another version"):
        Ledger(ledger.path)


def test_a_damaged_ledger_is_refused(ledger: Ledger) -> None:
    account = ledger.open("d", Fraction(50))
    for number in range(8):
        account.spend(str(number), *[laplace(TENTH)] * 40, purpose="p" * 50)
    whole = ledger.path.read_bytes()
    page = 4096
    # everything after the header page and the tables' roots is overwritten, or the end is missing
    for damaged in (
        whole[: 2 * page] + b"\xff" * (len(whole) - 2 * page),
        whole[: len(whole) // 2 // page * page],
    ):
        ledger.path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"ledger\.sqlite: this ledger is damaged; restore it"):
            Ledger(ledger.path).audit()


def test_a_locked_ledger_says_so(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.dp.store_sqlite.PATIENCE", 0.01)
    account = ledger.open("d", Fraction(1))
    db = sqlite3.connect(ledger.path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="another process keeps this ledger locked"):
        account.reserve("r", TENTH, purpose="p")
    assert account.left == 1  # reading goes on
    db.execute("ROLLBACK")
    db.close()
    account.reserve("r", TENTH, purpose="p")


def test_a_full_disk_spends_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite is told that the file may not grow: to it the same as a disk without room."""
    account = ledger.open("d", Fraction(1))
    paid = account.reserve("r", TENTH, purpose="p")
    connect = SqliteStore.connect

    @contextmanager
    def full(store: SqliteStore) -> Iterator[sqlite3.Connection]:
        with connect(store) as db:
            db.execute("PRAGMA max_page_count = 1")
            yield db

    monkeypatch.setattr(SqliteStore, "connect", full)
    with pytest.raises(InputError, match="no room on the disk"):
        paid.spend(Charge("p" * 100_000, "m", TENTH))
    monkeypatch.undo()
    assert ledger.entries() == ()
