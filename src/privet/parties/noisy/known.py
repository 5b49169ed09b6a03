"""What each of two parties learns of a release with differential privacy, and what it promises to whom."""

from __future__ import annotations

from typing import Protocol

from privet.dp.settings import DiffGenSettings, epsilon_of
from privet.parties.noisy.terms import NoisyTerms
from privet.parties.words import Split
from privet.policy.values import Policy

SPLITS = "which value is split next, drawn by chance and paid for, as the published table shows"
NOISY = (
    "every published count with the other party's noise alone, of the same epsilon: a party takes its own "
    "noise off"
)
MATCHED = "how many persons each party has, and which of them both have"
TARGETS = (
    "of every person that both have, the class, which both have anyway; if they differ, that they do, and "
    "nothing is paid or published"
)
PLACES = "where the other party would split its numbers, drawn by chance and paid for"
TOGETHER = "there are only two; both together have all rows, and nothing is left to protect"


class Agreed(Protocol):
    """What is read of a contract."""

    @property
    def parties(self) -> tuple[str, ...]: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def split(self) -> Split: ...
    @property
    def noisy(self) -> NoisyTerms | None: ...


def learned(contract: Agreed) -> dict[str, tuple[str, ...]]:
    """By party what it comes to know, beyond the published table and its own rows."""
    said: tuple[str, ...] = (SPLITS, NOISY)
    if contract.split is Split.COLUMNS:
        said = (MATCHED, TARGETS, SPLITS, PLACES, NOISY)
    return dict.fromkeys(contract.parties, said)


def outsider(contract: Agreed) -> str:
    """The promise to everybody who has the release alone."""
    epsilon = epsilon_of(contract.policy)
    return (
        f"epsilon = {epsilon} for one record added or removed, at most; every count has the noise of both "
        "parties, and either noise alone pays for it"
    )


def insider(contract: Agreed) -> str:
    """The promise to the other party, which sees more."""
    epsilon, per = epsilon_of(contract.policy), _per_person(contract.policy)
    person = epsilon * per
    known = (
        f"epsilon = {epsilon} for one record"
        if per == 1
        else f"epsilon = {epsilon} for a record, {person} for a person"
    )
    if contract.split is Split.PEOPLE:
        return (
            f"{known} of the other party's, added or removed, for whoever cannot break the encryption "
            "(computational), since the other party's own noise protects it"
        )
    return (
        f"{known} (computational), but who is in the table and of which class both know: for a change of one "
        f"person's values, which is all that is hidden, it is {2 * person}"
    )


def _per_person(policy: Policy) -> int:
    settings = policy.algorithm
    return settings.records_per_person if isinstance(settings, DiffGenSettings) else 1


def spent(policy: Policy) -> str:
    """What a run that failed after the budget was reserved has to say."""
    epsilon = epsilon_of(policy) * _per_person(policy)
    return (
        f"epsilon {epsilon} stays spent in this party's ledger: what was drawn may have been seen; a second "
        "attempt pays again"
    )
