"""What can go wrong, as a family.

PrivetError
├── InputError             the data cannot be read as what it claims to be; says where
├── AbsentError            a value that the policy protects does not occur; says how many do
├── PersonError            an identifier repeats, and the policy does not say whose the rows are
├── PolicyError            the policy is wrong; says every place and its fix
├── HierarchyError         a hierarchy is malformed, or does not cover the data; names the attribute
├── UnsupportedError       this algorithm, model or engine cannot do that; names both
├── OptionError            a call was given an option that it does not have; names the near one
├── MissingExtraError      an optional library is not installed; says which extra brings it
├── UnsatisfiableError     no recoding keeps every promise; says what the nearest feasible one is
├── BudgetError            a ledger of differential privacy refuses; says what was asked and what is left
├── TamperedError          a release folder is not what its evidence says it is
├── BrokenPromiseError     a table or release does not keep its policy
├── PartyError             a peer is gone, late, or broke the protocol; nothing is published
└── InternalError          a promise of our own code was broken; nothing was released; please report

A message has the place, the rule and the fix, on one line for each complaint. It never carries a
value from the data: names of columns, counts, line numbers and what the policy itself says are all
that may appear. `tests/leak` plants canaries to keep it so.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import ClassVar


class PrivetError(Exception):
    """Anything privet refuses to do. `code` is stable and has a page in docs/reference/errors.md."""

    code: ClassVar[str] = "error"

    def __init__(self, *complaints: str) -> None:
        super().__init__("\n".join(complaints))
        self.complaints: tuple[str, ...] = complaints


class InputError(PrivetError):
    """The data cannot be read as what it claims to be."""

    code = "input"


class AbsentError(InputError):
    """A value that the policy protects does not occur in the data, so its promise would protect nobody."""

    code = "absent"


class PersonError(InputError):
    """An identifier repeats, so a person may have several rows; the policy does not say whose they are."""

    code = "person"


class PolicyError(PrivetError):
    """The policy is wrong. One complaint for each wrong place, all at once."""

    code = "policy"

    def at(self, place: str) -> PolicyError:
        """Name the place in front of every complaint."""
        return PolicyError(*(f"{place}: {complaint}" for complaint in self.complaints))


class HierarchyError(PrivetError):
    """A hierarchy is malformed or does not cover the data."""

    code = "hierarchy"

    def __init__(self, *complaints: str, missing: int = 0) -> None:
        super().__init__(*complaints)
        self.missing = missing  # how many values have no place


class UnsupportedError(PrivetError):
    """A combination that cannot work; the message names both halves."""

    code = "unsupported"


class OptionError(PrivetError, TypeError):
    """A call was given an option that it does not have for this kind of data."""

    code = "option"


class MissingExtraError(PrivetError):
    """An optional library is not installed."""

    code = "missing-extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'privet[{extra}]'")
        self.extra = extra


class UnsatisfiableError(PrivetError):
    """Not even the most general table keeps the promise."""

    code = "unsatisfiable"


class BudgetError(PrivetError):
    """More differential privacy was asked for than is left, or a promise to the ledger was not kept."""

    code = "budget"

    def __init__(self, *complaints: str, asked: Fraction | None = None, left: Fraction | None = None) -> None:
        super().__init__(*complaints)
        self.asked = asked
        self.left = left


class TamperedError(PrivetError):
    """A release folder is not what its evidence says it is."""

    code = "tampered"


class BrokenPromiseError(PrivetError):
    """A table does not keep its policy."""

    code = "broken-promise"


class PartyError(PrivetError):
    """Another organisation is gone or late, or does not keep to the protocol. Nothing is published."""

    code = "party"

    def by(self, party: str) -> PartyError:
        """Name the party in front of every complaint."""
        return PartyError(*(f"{party}: {complaint}" for complaint in self.complaints))


class InternalError(PrivetError):
    """A promise of our own code was broken; nothing was released."""

    code = "internal"

    def __init__(self, *complaints: str) -> None:
        super().__init__(*complaints, "this is a fault in privet and nothing was released; please report it")


FEW_WORDS = 12  # so many can be read at a glance
LONGEST = 200  # characters of a value in a message


def one_of(what: str, allowed: Sequence[str], given: object) -> str:
    """The sentence for a word that is not in the vocabulary; of a long one only what may have been meant.

    >>> one_of("role", ["quasi", "sensitive"], "sensitiv")
    "role is one of quasi, sensitive, not 'sensitiv'; did you mean sensitive?"
    """
    near = _near(allowed, given) if isinstance(given, str) else []
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    known = ", ".join(allowed) if len(allowed) <= FEW_WORDS or not near else f"{len(allowed)} words"
    return f"{what} is one of {known}, not {shown(given)}{meant}"


def shown(given: object) -> str:
    """What a policy or a call says in a place, short enough for a line.

    >>> shown("a"), shown(10**5000)
    ("'a'", 'a value of type int')
    """
    try:
        text = repr(given)
    except Exception:  # noqa: BLE001 - whatever a stranger's own value does when it is asked
        text = ""
    return text if 0 < len(text) <= LONGEST else f"a value of type {type(given).__name__}"


def _near(allowed: Sequence[str], given: str) -> list[str]:
    """Words that hold what was said, or are nearly it."""
    said = given.strip().lower().replace("_", "-").replace(" ", "-")
    holding = [word for word in allowed if len(said) > 2 and said in word]
    return holding[:4] or get_close_matches(said, allowed, n=3, cutoff=0.7)


def unknown_key(allowed: Sequence[str], given: str) -> str:
    """The sentence for a key that nobody reads. The key's value is not shown: it may be a secret."""
    return f"{given}: unknown key; {_meant(allowed, given)}"


def unknown_option(allowed: Sequence[str], given: str) -> str:
    """The sentence for an option that a call does not have."""
    return f"{given}: unknown option; {_meant(allowed, given)}"


def _meant(allowed: Sequence[str], given: str) -> str:
    near = get_close_matches(given, allowed, n=1)
    known = f"known are {', '.join(allowed)}" if allowed else "remove it"
    return f"did you mean {near[0]}?" if near else known
