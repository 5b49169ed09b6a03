"""The ledger: what has been spent of each data set's privacy, on disk, for good.

The budget belongs to a **data set**, not to a run: two releases of one table add up. A release goes

    reserve  ──►  spend, spend, ...  ──►  release
    its whole epsilon     item by item, each before its noise     once, with the digest of what leaves

and each arrow is one durable transaction. A process that is killed anywhere leaves its reservation
behind, which counts in full and for ever: noise may have been seen. There is no refund, and no way to
use the name of a release again, so a second attempt pays again.

The file is SQLite (schema in `book`). Writers wait for each other, so several processes can share it; the
sum is taken inside the transaction that adds to it, in fractions.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Literal

from privet.dp.book import Book
from privet.dp.spend import Charge, Spend, Tab, checked, cost, overdraft
from privet.errors import BudgetError, InputError, TamperedError


@dataclass(frozen=True)
class Entry:
    """One release as the ledger knows it."""

    release: str
    dataset: str
    purpose: str
    epsilon: Fraction  # reserved for its items, which count for one record
    per_person: int  # how many records one person may have
    source: str  # where its noise comes from, name and version
    at: datetime
    state: Literal["reserved", "released"]
    released_at: datetime | None
    digest: str | None  # of what left
    spends: tuple[Spend, ...]

    @property
    def charged(self) -> Fraction:
        """What it took off the budget: the budget is a person's."""
        return self.epsilon * self.per_person


@dataclass(frozen=True)
class Balance:
    """One data set: its budget, what is gone and what is left."""

    dataset: str
    budget: Fraction
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """Not below zero even if the budget was lowered after it was spent."""
        return max(Fraction(0), self.budget - self.spent)


class Ledger:
    """A ledger file. Holds no open connection, so it may be shared by threads and forks.

    >>> from tempfile import mkdtemp
    >>> ledger = Ledger(Path(mkdtemp()) / "ledger.sqlite")
    >>> account = ledger.open("admissions-2026", budget=Fraction(1))
    >>> paid = account.reserve("spring", Fraction(3, 5), purpose="for the statistics office")
    >>> paid.spend(Charge("count by ward", "discrete-laplace", Fraction(3, 5)))
    >>> paid.release(digest="sha256:...")
    >>> str(account.left)
    '2/5'
    >>> account.reserve("summer", Fraction(1, 2), purpose="again")
    Traceback (most recent call last):
    privet.errors.BudgetError: admissions-2026: epsilon 1/2 was asked for, and 2/5 of 1 is left; ...
    """

    def __init__(self, path: str | PathLike[str], *, create: bool = True) -> None:
        self.path = Path(path)
        self._book = Book(self.path, create=create)

    def open(self, dataset: str, budget: Fraction) -> Account:
        """The account of a data set; the first to open it sets its budget, and everybody else agrees."""
        budget = checked(budget, "a budget")
        if not dataset.strip():
            raise BudgetError("a data set has a name in the ledger, the same one for every release")
        with self._book.write() as db:
            standing = _budget(db, dataset)
            if standing is None:
                _set_budget(db, dataset, budget, "opened")
            elif standing != budget:
                raise BudgetError(
                    f"{dataset}: its budget is {standing}, not {budget}; "
                    f"say {standing}, or change it on the record with Ledger.amend"
                )
        return Account(self, dataset)

    def amend(self, dataset: str, budget: Fraction, reason: str) -> None:
        """Change a budget from now on. The old one, the time and the reason stay in the ledger."""
        budget = checked(budget, "a budget")
        if not reason.strip():
            raise BudgetError(f"{dataset}: a budget is changed for a reason that stands in the ledger")
        with self._book.write() as db:
            if _budget(db, dataset) is None:
                raise BudgetError(f"{dataset}: no such data set in this ledger; open it first")
            _set_budget(db, dataset, budget, reason)

    def balances(self) -> tuple[Balance, ...]:
        """Every data set in the ledger, by name."""
        with self._book.read() as db:
            names = [name for (name,) in db.execute("SELECT DISTINCT dataset FROM budgets ORDER BY dataset")]
            return tuple(_balance(db, name) for name in names)

    def balance(self, dataset: str) -> Balance:
        with self._book.read() as db:
            return _balance(db, dataset)

    def releases(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Every release of a data set (or of all), in the order of reserving, with its items."""
        spends: dict[str, list[Spend]] = {}
        with self._book.read() as db:
            for spend in _spends(db, dataset=dataset):
                spends.setdefault(spend.release, []).append(spend)
            rows = db.execute(
                "SELECT release, dataset, purpose, epsilon, per_person, source, "
                "reservations.at, releases.at, digest FROM reservations LEFT JOIN releases USING (release) "
                "WHERE dataset = coalesce(?, dataset) ORDER BY reservations.number",
                (dataset,),
            ).fetchall()
        return tuple(
            Entry(
                release=release,
                dataset=name,
                purpose=purpose,
                epsilon=_exact(epsilon),
                per_person=per_person,
                source=source,
                at=datetime.fromisoformat(at),
                state="reserved" if left_at is None else "released",
                released_at=None if left_at is None else datetime.fromisoformat(left_at),
                digest=digest,
                spends=tuple(spends.get(release, ())),
            )
            for release, name, purpose, epsilon, per_person, source, at, left_at, digest in rows
        )

    def entries(self, dataset: str | None = None) -> tuple[Spend, ...]:
        """Every item that was spent on a data set (or on all), in the order of writing."""
        with self._book.read() as db:
            return tuple(_spends(db, dataset=dataset))

    def fingerprint(self, chunks: Iterable[bytes]) -> str:
        """A name for a data set that nobody has named: a digest under this ledger's own secret key.

        Keyed, so that a published name does not let anybody test a guess of the data. Prefer a name that a
        person chose: data that changes by one record has another fingerprint, and so a budget of its own.
        """
        digest = hmac.new(self._book.key(), digestmod="sha256")
        for chunk in chunks:
            digest.update(chunk)
        return f"data-{digest.hexdigest()[:32]}"

    def audit(self) -> None:
        """Add everything up again from the entries alone; raises with every place that does not add up."""
        wrong: list[str] = []
        for entry in self.releases():
            spent = cost(entry.spends)
            if spent > entry.epsilon:
                wrong.append(f"release {entry.release}: spent {spent} of reserved {entry.epsilon}")
            if entry.released_at is not None and not entry.spends:
                wrong.append(f"release {entry.release}: left without a spend")
        with self._book.read() as db:
            for balance in self.balances():
                budgets = db.execute("SELECT epsilon FROM budgets WHERE dataset = ?", (balance.dataset,))
                highest = max(_exact(epsilon) for (epsilon,) in budgets)
                if balance.spent > highest:
                    wrong.append(
                        f"{balance.dataset}: {balance.spent} reserved, never more than {highest} allowed"
                    )
            orphans = db.execute(
                "SELECT count(*) FROM reservations WHERE dataset NOT IN (SELECT dataset FROM budgets)"
            )
            if orphans.fetchone()[0]:
                wrong.append("a reservation for a data set that was never opened")
        if wrong:
            raise TamperedError(*(f"{self.path.name}: {complaint}" for complaint in wrong))


@dataclass(frozen=True)
class Account:
    """One data set's side of a ledger. Reads are fresh each time: other processes spend as well."""

    ledger: Ledger
    dataset: str

    @property
    def left(self) -> Fraction:
        return self.ledger.balance(self.dataset).left

    def reserve(
        self, release: str, epsilon: Fraction, *, purpose: str, source: str = "", per_person: int = 1
    ) -> Reservation:
        """Take a release's whole epsilon off the budget, durably, before anything of it is drawn.

        Mechanisms protect a record, the budget protects a person: with `per_person` records of one person
        in the data at most, a release takes that many times its epsilon.
        """
        return self._reserve(release, checked(epsilon), purpose, source, per_person, ())

    def spend(
        self, release: str, *charges: Charge, purpose: str, source: str = "", per_person: int = 1
    ) -> Reservation:
        """Reserve exactly what these charges cost together, and spend it, in one step."""
        if not charges:
            raise BudgetError(f"{release}: nothing to spend on")
        return self._reserve(release, cost(charges), purpose, source, per_person, charges)

    def _reserve(  # noqa: PLR0917  (the two above, whose arguments have names)
        self,
        release: str,
        epsilon: Fraction,
        purpose: str,
        source: str,
        per_person: int,
        charges: tuple[Charge, ...],
    ) -> Reservation:
        if not release.strip() or not purpose.strip():
            raise BudgetError("a reservation names its release and its purpose")
        if type(per_person) is not int or per_person < 1:
            raise BudgetError(f"{release}: records per person are a whole number from 1")
        with self.ledger._book.write() as db:  # noqa: SLF001  (an account is the ledger's other half)
            if db.execute("SELECT 1 FROM reservations WHERE release = ?", (release,)).fetchone():
                raise BudgetError(
                    f"{release}: this release is in the ledger already, and what it reserved is gone; "
                    "a new attempt is a new release with a name of its own"
                )
            balance = _balance(db, self.dataset)
            if epsilon * per_person > balance.left:
                raise overdraft(self.dataset, epsilon * per_person, balance.left, balance.budget)
            db.execute(
                "INSERT INTO reservations (at, release, dataset, purpose, epsilon, per_person, source) "
                "VALUES (?,?,?,?,?,?,?)",
                (_now(), release, self.dataset, purpose, str(epsilon), per_person, source),
            )
            _write_spends(db, release, charges)
        return Reservation(self.ledger, release, epsilon, charges)


class Reservation(Tab):
    """What one release may spend. Made by one process, spent by it, and never given back."""

    def __init__(
        self, ledger: Ledger, release: str, epsilon: Fraction, charges: Iterable[Charge] = ()
    ) -> None:
        super().__init__(epsilon, charges)
        self._ledger = ledger
        self.name = release

    def spend(self, *charges: Charge) -> None:
        """Write the charges to disk; when this returns, their noise may be drawn."""
        if not charges:
            return
        with self._ledger._book.write() as db:  # noqa: SLF001
            self._still_open(db)
            self._charges = list(_spends(db, release=self.name))  # a fork of us may have spent meanwhile
            super().spend(*charges)
            _write_spends(db, self.name, charges)

    def release(self, digest: str) -> None:
        """The data may leave now, once. Call with everything written and nothing yet in its public place."""
        if not digest.strip():
            raise BudgetError(f"{self.name}: a release has a digest")
        if not self.charges:
            raise BudgetError(f"{self.name}: nothing was spent, so nothing private can leave")
        with self._ledger._book.write() as db:  # noqa: SLF001
            self._still_open(db)
            db.execute(
                "INSERT INTO releases (release, at, digest) VALUES (?,?,?)", (self.name, _now(), digest)
            )

    def _still_open(self, db: sqlite3.Connection) -> None:
        if db.execute("SELECT 1 FROM releases WHERE release = ?", (self.name,)).fetchone():
            raise BudgetError(
                f"{self.name}: already released; another release needs a reservation of its own"
            )


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _exact(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError("the ledger holds an amount that is no number; restore it from a copy") from None


def _budget(db: sqlite3.Connection, dataset: str) -> Fraction | None:
    """The budget that stands: the last one written."""
    row = db.execute(
        "SELECT epsilon FROM budgets WHERE dataset = ? ORDER BY number DESC LIMIT 1", (dataset,)
    ).fetchone()
    return None if row is None else _exact(row[0])


def _set_budget(db: sqlite3.Connection, dataset: str, budget: Fraction, reason: str) -> None:
    db.execute(
        "INSERT INTO budgets (at, dataset, epsilon, reason) VALUES (?,?,?,?)",
        (_now(), dataset, str(budget), reason),
    )


def _balance(db: sqlite3.Connection, dataset: str) -> Balance:
    budget = _budget(db, dataset)
    if budget is None:
        raise BudgetError(f"{dataset}: no such data set in this ledger; open it first")
    amounts = db.execute("SELECT epsilon, per_person FROM reservations WHERE dataset = ?", (dataset,))
    spent = sum((_exact(epsilon) * times for epsilon, times in amounts), Fraction(0))
    return Balance(dataset, budget, spent)


def _spends(
    db: sqlite3.Connection, *, dataset: str | None = None, release: str | None = None
) -> Iterator[Spend]:
    rows = db.execute(
        "SELECT spends.purpose, mechanism, spends.epsilon, parallel, spends.number, spends.at, "
        "dataset, release FROM spends JOIN reservations USING (release) "
        "WHERE dataset = coalesce(?, dataset) AND release = coalesce(?, release) ORDER BY spends.number",
        (dataset, release),
    ).fetchall()
    for purpose, mechanism, epsilon, group, number, at, of, by in rows:
        when = datetime.fromisoformat(at)
        yield Spend(
            purpose, mechanism, _exact(epsilon), group, number=number, at=when, dataset=of, release=by
        )


def _write_spends(db: sqlite3.Connection, release: str, charges: Iterable[Charge]) -> None:
    db.executemany(
        "INSERT INTO spends (at, release, purpose, mechanism, epsilon, parallel) VALUES (?,?,?,?,?,?)",
        [(_now(), release, c.purpose, c.mechanism, str(c.epsilon), c.group) for c in charges],
    )
