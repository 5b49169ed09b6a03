"""What one respondent has given over all rounds, on the respondent's own device.

Somebody who answers the same question every month with fresh noise is found by averaging. So the answer to
a question is drawn once for each true value and repeated after that (memoised, as in RAPPOR), and what all
draws cost together is kept under a budget: a question whose mechanism or domain was changed is another
question, and is paid for again. The answer is on disk before it leaves.

The file says which true values had an answer. It stays with the respondent like a diary, readable by nobody
else.

Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014.

Leaks: a changed answer tells that the true value has changed; an unchanged one, that it probably has not.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet import jsonvalue
from privet.collect.channels import AsIs, Take
from privet.collect.column import Column
from privet.collect.numerals import exact, written
from privet.collect.plan import Plan, canonical
from privet.errors import BudgetError, InputError, PolicyError

VERSION = 1


class AnswerLedger:
    """One respondent's file. A budget that is set once stays, whatever later plans say."""

    def __init__(self, path: str | Path, *, budget: Fraction | None = None) -> None:
        given = Path(path)
        self.path = given.resolve() if given.is_symlink() else given  # two names of one ledger are one ledger
        self._budget = budget

    def answers(self, plan: Plan, codes: Mapping[str, int], *, take: Take = os.urandom) -> dict[str, str]:
        """The answers of one round. New ones are drawn and written down first, all or none of them."""
        with self._locked():
            document = self._read()
            if document.get("budget") is None:  # a plan without one does not free those that come later
                budget = self._budget if self._budget is not None else plan.budget
                document["budget"] = None if budget is None else written(budget)
            before, found = _cost(document), {}
            for name, column in sorted(plan.columns.items()):
                if isinstance(column.channel, AsIs):
                    found[name] = column.output_text(codes[name])
                    continue
                told = _question(document, column)
                if told["epsilon"] != (None if column.epsilon is None else written(column.epsilon)):
                    raise self._damaged()  # it would be paid for with less than it costs
                key = str(codes[name])
                if key not in told["answers"]:
                    drawn = column.channel.draw(codes[name], take)
                    told["answers"][key] = column.output_text(drawn)
                column.output(told["answers"][key])  # a damaged file must not become an answer
                found[name] = told["answers"][key]
                told["rounds"] += 1
            self._refuse_overdraft(document, before)
            self._write(document)
        return found

    def spent(self) -> dict[str, Any]:
        """What was given, question by question, and what it has cost."""
        document = self._read()
        questions = [
            {
                "column": told["column"],
                "mechanism": told["mechanism"],
                "epsilon": told["epsilon"],
                "answers": len(told["answers"]),
                "rounds": told["rounds"],
            }
            for told in document["questions"].values()
        ]
        return {
            "budget": document.get("budget"),
            "spent": written(_cost(document)),
            "without_epsilon": sum(one["answers"] for one in questions if one["epsilon"] is None),
            "questions": questions,
        }

    def _refuse_overdraft(self, document: Mapping[str, Any], before: Fraction) -> None:
        if document["budget"] is None:
            return
        budget, cost = exact(document["budget"]), _cost(document)
        unbounded = [told["column"] for told in document["questions"].values() if told["epsilon"] is None]
        if unbounded:
            raise BudgetError(
                f"{self.path.name}: {', '.join(unbounded)} has no finite epsilon, so no budget can hold it; "
                "nothing was given"
            )
        if cost > max(budget, before):  # what was given before is repeated, whatever the budget says
            raise BudgetError(
                f"{self.path.name}: these answers would bring epsilon from {written(before)} to "
                f"{written(cost)}, and the budget is {written(budget)}; nothing was given",
                asked=cost - before,
                left=max(budget - before, Fraction(0)),
            )

    def _read(self) -> dict[str, Any]:
        try:
            document = jsonvalue.loads(self.path.read_text(encoding="utf-8"))
            canonical(document).encode()
        except FileNotFoundError:
            return {"ledger": VERSION, "questions": {}}
        except (
            ValueError,
            IsADirectoryError,
            RecursionError,
        ):  # not text, not JSON, a key twice, half a letter
            document = None
        if not _whole(document):
            raise self._damaged()
        return dict(document)

    def _damaged(self) -> InputError:
        return InputError(f"{self.path}: this is not a respondent's ledger, or it is damaged")

    def _write(self, document: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(canonical(document).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        finally:
            fresh.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time: two that both draw would send two answers to one question."""
        try:
            import fcntl  # noqa: PLC0415 - where there is none, one device has one respondent
        except ImportError:
            yield
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _question(document: dict[str, Any], column: Column) -> dict[str, Any]:
    """A question is its name, its values and its mechanism: if one of them changes, it is another."""
    questions: dict[str, Any] = document["questions"]
    asked = canonical({column.name: column.document()})
    fresh: dict[str, Any] = {
        "column": column.name,
        "mechanism": column.mechanism,
        "epsilon": None if column.epsilon is None else written(column.epsilon),
        "answers": {},
        "rounds": 0,
    }
    return dict.setdefault(questions, asked, fresh)


def _cost(document: Mapping[str, Any]) -> Fraction:
    """Epsilons add up over everything that was drawn; what has none is counted by `spent` by itself."""
    return sum(
        (
            exact(told["epsilon"]) * len(told["answers"])
            for told in document["questions"].values()
            if told["epsilon"] is not None
        ),
        Fraction(0),
    )


def _says(asked: str, told: Mapping[str, Any]) -> bool:
    """Is what a ledger says of a question what the question says of itself?"""
    try:
        document: Any = jsonvalue.loads(asked)
    except (ValueError, RecursionError):
        return False
    if not isinstance(document, dict) or list(document) != [told["column"]]:
        return False
    (about,) = document.values()
    if not isinstance(about, dict) or about.get("mechanism") != told["mechanism"]:
        return False
    return "epsilon" not in about or about["epsilon"] == told["epsilon"]


def _whole(document: object) -> bool:
    """Is this a ledger that we have written?"""
    if not isinstance(document, dict) or document.get("ledger") != VERSION:
        return False
    questions = document.get("questions")
    if not isinstance(questions, dict):
        return False
    for asked, told in questions.items():
        if not isinstance(told, dict) or set(told) != {"column", "mechanism", "epsilon", "answers", "rounds"}:
            return False
        answers = told["answers"]
        if not isinstance(answers, dict) or not all(isinstance(text, str) for text in answers.values()):
            return False
        if not all(key.isascii() and key.isdecimal() for key in answers):
            return False
        rounds: Any = told["rounds"]
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0:
            return False
        if not _says(asked, told):
            return False
    amounts = [document.get("budget"), *(told["epsilon"] for told in questions.values())]
    try:
        # What is not above 0 would give back what other answers have cost.
        return all(exact(amount) > 0 for amount in amounts if amount is not None)
    except PolicyError:
        return False
