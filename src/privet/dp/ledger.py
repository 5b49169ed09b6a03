"""The ledger: what has been spent of each data set's privacy, on disk, for good.

The budget belongs to a **data set**, not to a run: two releases of one table add up. A release goes

    reserve  ──►  spend, spend, ...  ──►  release
    its whole epsilon     item by item, each before its noise     once, with the digest of what leaves

and each arrow is one durable transaction. A process that is killed anywhere leaves its reservation
behind, which counts in full and for ever: noise may have been seen. There is no refund, and no way to
use the name of a release again, so a second attempt pays again.

Lines are chained by digests (`witness.linked`), kept in a store (a file, or a PostgreSQL database), and
every line is audited again before anything is reserved (`accounts`). Who can write the store can
write a whole new chain: only the head, kept elsewhere, tells it from the old one.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path

from privet.dp.accounts import Accounts, amounts
from privet.dp.chained import Known, Seen, Writer, audited, opened
from privet.dp.entries import Balance, Currency, Entry
from privet.dp.sketch import Cells, Coded, Sketch, Times
from privet.dp.spend import Charge, Spend, Tab, checked, cost
from privet.dp.store import Page
from privet.dp.zcdp import rho_of_epsilon
from privet.errors import BudgetError, InputError, UnsupportedError
from privet.witness import Witness

__all__ = ["Account", "Balance", "Entry", "Ledger", "Reservation"]


class _UnwitnessedError(InputError):
    """What was entered stands in the ledger, and its witness could not be told."""


class Ledger:
    """A ledger. Holds no open connection, so it may be shared by threads and forks.

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

    def __init__(self, where: str | PathLike[str], *, create: bool = True) -> None:
        self._store = opened(where, create=create)

    @property
    def place(self) -> str:
        """Where it is, for people: no password in it."""
        return self._store.place

    @property
    def path(self) -> Path:
        """The file of a ledger that is one."""
        if self._store.path is None:
            raise UnsupportedError(f"{self.place}: this ledger is not a file")
        return self._store.path

    def open(self, dataset: str, budget: Fraction, *, currency: Currency = "epsilon") -> Account:
        """The account of a data set; the first to open it sets its budget, and everybody else agrees."""
        budget = checked(budget, "a budget")
        with self.writing() as writer:
            if not writer.accounts.knows(dataset):
                writer.enter(
                    "budget", dataset=dataset, currency=currency, amount=str(budget), reason="opened"
                )
            elif writer.accounts.budget(dataset) != (currency, budget):
                kept, standing = writer.accounts.budget(dataset)
                in_rho = " of rho" if kept == "rho" else ""
                raise BudgetError(
                    f"{dataset}: its budget is {standing}{in_rho}, not {budget}; "
                    f"say {standing}, or change it on the record with Ledger.amend"
                )
        return Account(self, dataset)

    def amend(self, dataset: str, budget: Fraction, reason: str, *, currency: Currency | None = None) -> None:
        """Change a budget from now on. The old one, the time and the reason stay in the ledger."""
        budget = checked(budget, "a budget")
        with self.writing() as writer:
            kept, _ = writer.accounts.budget(dataset)  # refuses where nobody has opened it
            writer.enter(
                "budget", dataset=dataset, currency=currency or kept, amount=str(budget), reason=reason
            )

    def declare_distinct(self, dataset: str, other: str, reason: str) -> None:
        """State on the record that two data sets with the same looks are about other people."""
        with self.writing() as writer:
            writer.enter("distinct", dataset=dataset, other=other, reason=reason)

    def balances(self) -> tuple[Balance, ...]:
        """Every data set in the ledger, by name."""
        accounts = self.accounts()
        return tuple(accounts.balance(name) for name in accounts.datasets)

    def balance(self, dataset: str) -> Balance:
        return self.accounts().balance(dataset)

    def releases(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Every release of a data set (or of all), in the order of reserving, with its items."""
        return self.accounts().entries(dataset)

    def entries(self, dataset: str | None = None) -> tuple[Spend, ...]:
        """Every item that was spent on a data set (or on all), in the order of writing."""
        return self.accounts().spends(dataset)

    def fingerprint(self, chunks: Iterable[bytes]) -> str:
        """A name for a data set that nobody has named: a digest under this ledger's own secret key.

        Keyed, so that a published name does not let anybody test a guess of the data. Prefer a name that a
        person chose: data that changes by one record has another fingerprint, and so a budget of its own.
        """
        digest = hmac.new(self._key(), digestmod="sha256")
        for chunk in chunks:
            digest.update(chunk)
        return f"data-{digest.hexdigest()[:32]}"

    def sketch(self, table: Mapping[str, Coded]) -> Sketch:
        """Fingerprints of a table under this ledger's key, by which the same data is noticed."""
        return Sketch.of(table, self._key())

    def sketch_of_cells(self, table: Mapping[str, Times], cells: Cells) -> Sketch:
        """The same of a table that is counted elsewhere."""
        return Sketch.of_cells(table, cells, self._key())

    def audit(self) -> None:
        """Add everything up again from the lines alone; raises where one was changed, lost or put back."""
        self.accounts()

    def accounts(self) -> Accounts:
        """What the ledger adds up to now; audited, and compared with its witness."""
        with self._store.read() as page:
            accounts = audited(page, self.place).accounts
            self._vouched(page, accounts)
        return accounts

    def head(self) -> tuple[int, str]:
        """How many lines there are and the digest of the last: to be kept where this ledger is not."""
        with self._store.read() as page:
            return audited(page, self.place).head

    def saw(self, number: int, chain: str) -> bool:
        """Is that a head which this ledger once had? Not so if an older copy of it was put back."""
        with self._store.read() as page:
            audited(page, self.place)
            return Seen(self.place, page).chain_at(number) == chain

    def appoint(self, witness: str | PathLike[str]) -> None:
        """From now on that file, best on another disk, is told of every line, and asked before each."""
        file = str(Path(witness).absolute())
        with self._store.read() as page:  # what it has seen of this ledger already, it must still see
            audited(page, self.place)
            if Path(file).exists():
                Witness(Path(file), "ledger").vouch(Seen(self.place, page))
        with self.writing() as writer:
            writer.enter("witness", file=file)
            try:
                Path(file).touch(mode=0o600)
            except OSError:
                raise InputError(f"{file}: a witness cannot be written there") from None

    @contextmanager
    def writing(self, known: Known | None = None) -> Iterator[Writer]:
        """A transaction on a ledger that was audited whole, or that is just as we left it."""
        with self._store.write() as page:
            if known is None or page.head() != known.head:
                known = audited(page, self.place)
                self._vouched(page, known.accounts)
            began, writer, before = known.head, Writer(page, known), known.accounts.witness
            yield writer
        # Told after the commit: a witness never knows of a line that is not there. And before anything is
        # done that the line pays for. One that is replaced hears of that: a copy of the ledger from before
        # still asks it.
        if known.head != began:
            for witness in dict.fromkeys(one for one in (before, known.accounts.witness) if one is not None):
                self._told(Path(witness), known.head)

    def _told(self, witness: Path, head: tuple[int, str]) -> None:
        try:
            Witness(witness, "ledger").note(*head)
        except OSError:
            raise _UnwitnessedError(
                f"{witness}: the witness of {self.place} cannot be written; what was entered counts, "
                "and nothing was drawn for it"
            ) from None

    def _vouched(self, page: Page, accounts: Accounts) -> None:
        if accounts.witness is not None:
            Witness(Path(accounts.witness), "ledger").vouch(Seen(self.place, page))

    def _key(self) -> bytes:
        with self._store.read() as page:
            return page.header().key


@dataclass(frozen=True)
class Account:
    """One data set's side of a ledger. Reads are fresh each time: other processes spend as well."""

    ledger: Ledger
    dataset: str

    @property
    def left(self) -> Fraction:
        return self.ledger.balance(self.dataset).left

    def refuse_overdraft(self, epsilon: Fraction, per_person: int) -> None:
        """Say early that there is no room; a reservation looks again, for others spend as well."""
        asked = Entry.reserved(
            epsilon=checked(epsilon),
            at=datetime.now(UTC),
            release="",
            dataset=self.dataset,
            purpose="",
            per_person=per_person,
            source="",
        )
        self.ledger.accounts().refuse_overdraft(asked)

    def reserve(
        self,
        release: str,
        epsilon: Fraction,
        *,
        purpose: str,
        source: str = "",
        per_person: int = 1,
        data: Sketch | None = None,
    ) -> Reservation:
        """Take a release's whole epsilon off the budget, durably, before anything of it is drawn.

        Mechanisms protect a record, the budget protects a person: with `per_person` records of one person
        in the data at most, a release takes that many times its epsilon. `data` are the fingerprints of what
        is released: the same data under another name is refused.
        """
        return self._reserve(release, checked(epsilon), purpose, source, per_person, (), data)

    def spend(
        self, release: str, *charges: Charge, purpose: str, source: str = "", per_person: int = 1
    ) -> Reservation:
        """Reserve exactly what these charges cost together, and spend it, in one step."""
        if not charges:
            raise BudgetError(f"{release}: nothing to spend on")
        return self._reserve(release, cost(charges), purpose, source, per_person, charges, None)

    def book(
        self,
        release: str,
        *,
        epsilon: Fraction | None = None,
        rho: Fraction | None = None,
        purpose: str,
        tool: str,
        mechanism: str,
        per_person: int = 1,
        digest: str | None = None,
    ) -> None:
        """Enter what another tool spends on this data: an epsilon, or a rho such as Gaussian noise has."""
        if (epsilon is None) == (rho is None):
            raise BudgetError(f"{release}: a booking has an epsilon or a rho, one of them")
        if epsilon is not None:
            epsilon = checked(epsilon)
            rho = rho_of_epsilon(epsilon)
        rho = checked(rho, "rho")
        with self.ledger.writing() as writer:
            writer.enter(
                "book",
                release=release,
                dataset=self.dataset,
                purpose=purpose,
                source=tool,
                mechanism=mechanism,
                epsilon=None if epsilon is None else str(epsilon),
                rho=str(rho),
                per_person=_people(release, per_person),
                digest=digest,
            )

    def _reserve(  # noqa: PLR0917  (the two above, whose arguments have names)
        self,
        release: str,
        epsilon: Fraction,
        purpose: str,
        source: str,
        per_person: int,
        charges: tuple[Charge, ...],
        data: Sketch | None,
    ) -> Reservation:
        with self.ledger.writing() as writer:
            if data is not None:
                self._noticed(writer, data)
            writer.enter(
                "reserve",
                release=release,
                dataset=self.dataset,
                purpose=purpose,
                epsilon=str(epsilon),
                per_person=_people(release, per_person),
                source=source,
            )
            for charge in charges:
                writer.enter("spend", release=release, **amounts(charge))
        return Reservation(self.ledger, release, epsilon, writer.known)

    def _noticed(self, writer: Writer, data: Sketch) -> None:
        """Refuse what another data set has already; note what is new."""
        if (found := writer.accounts.lookalike(self.dataset, data)) is not None:
            other, same = found
            raise BudgetError(
                f"{self.dataset}: this looks like the data of {other} ({same}); a person has one budget. "
                f"Publish it as {other}, or state on the record why these are other people: "
                f"privet ledger distinct LEDGER --dataset {self.dataset} --other {other} --reason …"
            )
        if (data.columns or data.samples) and not writer.accounts.knows_data(self.dataset, data):
            writer.enter(
                "data",
                dataset=self.dataset,
                columns=list(data.columns),
                samples=[list(sample) for sample in data.samples],
            )


class Reservation(Tab):
    """What one release may spend. Made by one process, spent by it, and never given back."""

    def __init__(self, ledger: Ledger, release: str, epsilon: Fraction, left: Known) -> None:
        super().__init__(epsilon, left.accounts.spends_of(release))
        self._ledger = ledger
        self._left: Known | None = left  # the ledger as we left it; others may have written since
        self.name = release
        self.remark: str | None = None  # what turned up when it left

    @property
    def place(self) -> str:
        """Where the ledger is, for people."""
        return self._ledger.place

    def spend(self, *charges: Charge) -> None:
        """Write the charges to disk; when this returns, their noise may be drawn."""
        if not charges:
            return
        with self._writing() as writer:
            for charge in charges:
                writer.enter("spend", release=self.name, **amounts(charge))

    def release(self, digest: str) -> None:
        """The data may leave now, once. Call with everything written and nothing yet in its public place.

        All of it is paid for and its payments are witnessed, so a witness that cannot be told of this last
        line does not hold the release back: `remark` says it.
        """
        try:
            with self._writing() as writer:
                writer.enter("release", release=self.name, digest=digest)
        except _UnwitnessedError:
            self.remark = (
                f"{self.place}: its witness could not be told that {self.name} has left; its payments were "
                "witnessed. Make room for the witness before the next release"
            )

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        known, self._left = self._left, None  # after a refusal it is read anew
        with self._ledger.writing(known) as writer:
            yield writer
        self._left = writer.known
        self._charges = list(writer.known.accounts.spends_of(self.name))


def _people(release: str, per_person: object) -> int:
    if type(per_person) is not int or per_person < 1:
        raise BudgetError(f"{release}: records per person are a whole number from 1")
    return per_person
