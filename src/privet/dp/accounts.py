"""The rules of a ledger, once: whether a line may follow the lines before it, and what they add up to.

Writing a line and auditing a ledger go the same way: `enter` takes a line or refuses it. A ledger is as it
should be if every line of it is taken in order, so nothing that a writer would refuse can stand in it: no
amount below zero, no release of a data set that was never opened, no spend without a reservation, no
reservation beyond the budget of its day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from privet.dp.entries import FIELDS, Balance, Currency, Entry
from privet.dp.sketch import Sketch
from privet.dp.spend import Charge, Running, Spend, overdraft
from privet.dp.zcdp import rho_of_epsilon
from privet.errors import BudgetError, InternalError
from privet.hierarchy.numbers import fraction

LONGEST = 4096  # bits of a sum, above or below the line: amounts that share no denominator grow without end


@dataclass
class _Dataset:
    currency: Currency
    budget: Fraction
    sketches: list[Sketch] = field(default_factory=list)
    distinct: set[str] = field(default_factory=set)  # data sets that somebody declared to be other people
    epsilon: Fraction | None = Fraction(0)  # of all releases together; None once one has no pure epsilon
    rho: Fraction = Fraction(0)


class Accounts:
    """What the lines of a ledger add up to so far."""

    def __init__(self) -> None:
        self._datasets: dict[str, _Dataset] = {}
        self._entries: dict[str, Entry] = {}
        self._spends: dict[str, list[Spend]] = {}
        self._running: dict[str, Running] = {}
        self.lines = 0
        self.witness: str | None = None  # the file that is told of every line

    # what is asked

    @property
    def datasets(self) -> list[str]:
        return sorted(self._datasets)

    def knows(self, dataset: str) -> bool:
        return dataset in self._datasets

    def budget(self, dataset: str) -> tuple[Currency, Fraction]:
        found = self._dataset(dataset)
        return found.currency, found.budget

    def balance(self, dataset: str) -> Balance:
        found = self._dataset(dataset)
        spent = found.rho if found.currency == "rho" else found.epsilon
        if spent is None:
            raise InternalError("a mechanism without pure epsilon was booked on a budget in epsilon")
        return Balance(dataset, found.currency, found.budget, spent, found.epsilon, found.rho)

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Every release of a data set, or of all, in the order of reserving."""
        return tuple(
            replace(entry, spends=tuple(self._spends[name]))
            for name, entry in self._entries.items()
            if dataset in {None, entry.dataset}
        )

    def spends(self, dataset: str | None = None) -> tuple[Spend, ...]:
        """Every item, in the order of writing."""
        found = [
            spend
            for name, items in self._spends.items()
            if dataset in {None, self._entries[name].dataset}
            for spend in items
        ]
        return tuple(sorted(found, key=lambda spend: spend.number))

    def spends_of(self, release: str) -> tuple[Spend, ...]:
        return tuple(self._spends[release])

    def lookalike(self, dataset: str, sketch: Sketch) -> tuple[str, str] | None:
        """Another data set with the same data that nobody declared to be distinct, and what is the same."""
        declared = self._dataset(dataset).distinct
        for name, other in sorted(self._datasets.items()):
            if name == dataset or name in declared:
                continue
            for known in other.sketches:
                if (same := sketch.resembles(known)) is not None:
                    return name, same
        return None

    def knows_data(self, dataset: str, sketch: Sketch) -> bool:
        return sketch in self._dataset(dataset).sketches

    # what is written

    def enter(self, kind: str, body: Mapping[str, Any], at: str) -> None:
        """Take the next line, or refuse it and stay as before."""
        fields = FIELDS.get(kind)
        if fields is None:
            raise BudgetError(f"a line of no known kind: {kind!r}")
        if set(body) != set(fields) or any(type(body[name]) not in types for name, types in fields.items()):
            raise BudgetError(f"a line of kind {kind} that does not say what such a line says")
        try:
            when = datetime.fromisoformat(at)
        except ValueError:
            raise BudgetError("a line without its time") from None
        rules: dict[str, Callable[[Mapping[str, Any], datetime], None]] = {
            "budget": self._budget,
            "reserve": self._reserve,
            "spend": self._spend,
            "release": self._release,
            "book": self._book,
            "data": self._data,
            "distinct": self._distinct,
            "witness": self._witness,
            "upgrade": self._upgrade,
        }
        rules[kind](body, when)
        self.lines += 1

    def _budget(self, body: Mapping[str, Any], _: datetime) -> None:
        name, currency, amount = body["dataset"], body["currency"], _amount(body["amount"], "a budget")
        if not name.strip():
            raise BudgetError("a data set has a name in the ledger, the same one for every release")
        if currency not in {"epsilon", "rho"}:
            raise BudgetError(f"{name}: a budget is in epsilon or in rho")
        if not body["reason"].strip():
            raise BudgetError(f"{name}: a budget is changed for a reason that stands in the ledger")
        known = self._datasets.get(name)
        if known is None:
            self._datasets[name] = _Dataset(currency, amount)
            return
        if currency == "epsilon" and known.epsilon is None:
            raise BudgetError(f"{name}: a mechanism without pure epsilon was booked; its budget stays in rho")
        known.currency, known.budget = currency, amount

    def _reserve(self, body: Mapping[str, Any], at: datetime) -> None:
        said = {name: body[name] for name in ("release", "dataset", "purpose", "per_person", "source")}
        self._add(Entry.reserved(epsilon=_amount(body["epsilon"], "epsilon"), at=at, **said))

    def _book(self, body: Mapping[str, Any], at: datetime) -> None:
        epsilon = None if body["epsilon"] is None else _amount(body["epsilon"], "epsilon")
        rho = _amount(body["rho"], "rho")
        if epsilon is not None and rho != rho_of_epsilon(epsilon):
            raise BudgetError(f"{body['release']}: an epsilon and a rho that do not belong together")
        if not body["source"].strip() or not body["mechanism"].strip():
            raise BudgetError(f"{body['release']}: a booking names the tool and its mechanism")
        entry = Entry(
            release=body["release"],
            dataset=body["dataset"],
            purpose=body["purpose"],
            epsilon=epsilon,
            per_person=body["per_person"],
            source=f"{body['source']}, {body['mechanism']}",
            at=at,
            state="booked",
            rho=rho,
            digest=body["digest"],
        )
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        """Take a release's whole price off the budget."""
        if not entry.release.strip() or not entry.purpose.strip():
            raise BudgetError("a reservation names its release and its purpose")
        if entry.per_person < 1:
            raise BudgetError(f"{entry.release}: records per person are a whole number from 1")
        if entry.release in self._entries:
            raise BudgetError(
                f"{entry.release}: this release is in the ledger already, and what it reserved is gone; "
                "a new attempt is a new release with a name of its own"
            )
        self.refuse_overdraft(entry)
        dataset, charged = self._dataset(entry.dataset), entry.charged
        epsilon = None if charged is None or dataset.epsilon is None else dataset.epsilon + charged
        rho = dataset.rho + entry.person_rho
        if any(_bits(total) > LONGEST for total in (epsilon or Fraction(0), rho)):
            raise BudgetError(
                f"{entry.release}: with this amount the data set's sum has more than {LONGEST:,} bits; "
                "say a number with fewer digits"
            )
        self._entries[entry.release] = entry
        self._spends[entry.release] = []
        self._running[entry.release] = Running()
        dataset.epsilon, dataset.rho = epsilon, rho

    def refuse_overdraft(self, entry: Entry) -> None:
        """Raise where a data set's budget has no room for this, or no price in its currency."""
        balance = self.balance(entry.dataset)
        price = entry.price(balance.currency)
        if price is None:
            raise BudgetError(
                f"{entry.dataset}: its budget is in pure epsilon, in which {entry.source} has no price; "
                "change it to rho on the record: privet ledger amend … --rho RHO --reason …"
            )
        if price > balance.left:
            raise overdraft(entry.dataset, price, balance.left, balance.budget, balance.currency)

    def _spend(self, body: Mapping[str, Any], at: datetime) -> None:
        entry = self._reserved(body["release"])
        spend = Spend(
            body["purpose"],
            body["mechanism"],
            _amount(body["epsilon"], "epsilon"),
            body["group"],
            number=self.lines + 1,
            at=at,
            dataset=entry.dataset,
            release=entry.release,
        )
        reserved, running = entry.epsilon or Fraction(0), self._running[entry.release]
        more = running.more(spend)
        if running.total + more > reserved:
            raise overdraft("this release", more, reserved - running.total, reserved)
        running.add(spend)
        self._spends[entry.release].append(spend)

    def _release(self, body: Mapping[str, Any], at: datetime) -> None:
        entry = self._reserved(body["release"])
        if not body["digest"].strip():
            raise BudgetError(f"{entry.release}: a release has a digest")
        if not self._spends[entry.release]:
            raise BudgetError(f"{entry.release}: nothing was spent, so nothing private can leave")
        self._entries[entry.release] = replace(entry, state="released", released_at=at, digest=body["digest"])

    def _data(self, body: Mapping[str, Any], _: datetime) -> None:
        columns, samples = body["columns"], body["samples"]
        lists = (columns, *samples)
        if not all(isinstance(one, list) and all(isinstance(part, str) for part in one) for one in lists):
            raise BudgetError(f"{body['dataset']}: fingerprints are texts")
        sketch = Sketch(tuple(columns), tuple(tuple(sample) for sample in samples))
        self._dataset(body["dataset"]).sketches.append(sketch)

    def _distinct(self, body: Mapping[str, Any], _: datetime) -> None:
        name, other = body["dataset"], body["other"]
        if name == other:
            raise BudgetError(f"{name}: a data set is the same as itself")
        if not body["reason"].strip():
            raise BudgetError(f"{name}: that these are other people has a reason, which stands in the ledger")
        self._dataset(name).distinct.add(other)
        self._dataset(other).distinct.add(name)

    def _witness(self, body: Mapping[str, Any], _: datetime) -> None:
        self.witness = body["file"] or None

    def _upgrade(self, body: Mapping[str, Any], _: datetime) -> None:
        if body["form"] != 1 or body["lines"] != self.lines:
            raise BudgetError("an upgrade is of all the lines before it")

    def _dataset(self, name: str) -> _Dataset:
        if name not in self._datasets:
            raise BudgetError(f"{name}: no such data set in this ledger; open it first")
        return self._datasets[name]

    def _reserved(self, release: str) -> Entry:
        entry = self._entries.get(release)
        if entry is None:
            raise BudgetError(f"{release}: nothing was reserved for it")
        if entry.state != "reserved":
            raise BudgetError(f"{release}: already released; another release needs a reservation of its own")
        return entry


def amounts(charge: Charge) -> dict[str, Any]:
    """A charge as a line says it."""
    return {
        "purpose": charge.purpose,
        "mechanism": charge.mechanism,
        "epsilon": str(charge.epsilon),
        "group": charge.group,
    }


def _bits(amount: Fraction) -> int:
    return max(amount.numerator.bit_length(), amount.denominator.bit_length())


def _amount(text: str, what: str) -> Fraction:
    """A positive exact number in its one spelling: lowest terms, no signs, no exponents."""
    try:
        found = fraction(text)
    except ValueError:
        raise BudgetError(f"{what} is a number") from None
    if found <= 0:
        raise BudgetError(f"{what} is above 0")
    if str(found) != text:
        raise BudgetError(f"{what} is written in lowest terms")
    return found
