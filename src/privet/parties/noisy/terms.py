"""What a contract says of a release with differential privacy, beside its policy.

[noisy]                     # all of it may be left out
select = "noisy-max"        # how the next split is drawn; or "exponential"
key_bits = 3072             # of Paillier keys
digits = 9                  # across columns, exponential: decimal places of a weight
numbers = "halves"          # across people: an interval is split in the middle; "drawn": where chance says
degree = 47                 # across people, exponential: of the polynomial; so near to exp as it is
places = 6                  # and the decimal places of its rate; else a simple fraction
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from privet.dp.diffgen import Selection
from privet.dp.publicdomain import ItemSets
from privet.dp.scores import SplitScore
from privet.dp.settings import DiffGenSettings, public
from privet.errors import PolicyError, one_of, unknown_key
from privet.parties.words import Split
from privet.policy.values import Policy

KEYS = ("select", "key_bits", "digits", "numbers", "degree", "places")
LARGEST = 16_384  # bits of a key
MOST_ROWS = 1 << 24  # of one party


class Select(Enum):
    """How the next split is drawn."""

    EXPONENTIAL = "exponential"  # the exponential mechanism, as in the source
    NOISY_MAX = "noisy-max"  # the best one under both parties' noise


class Numbers(Enum):
    """Where an interval is split, where nobody knows the counts."""

    HALVES = "halves"  # in the middle: public, and free
    DRAWN = "drawn"  # where a draw over all places says, paid for


@dataclass(frozen=True)
class NoisyTerms:
    """All of it public, and fixed before anybody looks at data."""

    select: Select
    key_bits: int = 3072
    digits: int = 9
    numbers: Numbers = Numbers.HALVES
    degree: int | None = None
    places: int | None = None

    def __post_init__(self) -> None:
        from privet.parties.primitives.paillier import Sizes  # noqa: PLC0415 - only who encrypts needs it

        complaints = []
        if not Sizes.least <= self.key_bits <= LARGEST or self.key_bits % 2:
            complaints.append(f"key_bits: an even number from {Sizes.least:,} to {LARGEST:,}")
        for name, number, most in (
            ("digits", self.digits, 100),
            ("degree", self.degree, 2000),
            ("places", self.places, 100),
        ):
            if number is not None and not 1 <= number <= most:
                complaints.append(f"{name}: a whole number from 1 to {most:,}")
        if complaints:
            raise PolicyError(*complaints)

    @classmethod
    def usual(cls, split: Split) -> Self:
        return cls(Select.EXPONENTIAL if split is Split.COLUMNS else Select.NOISY_MAX)

    @classmethod
    def from_document(cls, table: object, split: Split) -> Self:
        if not isinstance(table, Mapping):
            raise PolicyError('is a table, for example select = "noisy-max"')
        complaints = [unknown_key(KEYS, key) for key in table if key not in KEYS]
        said: dict[str, Any] = {"select": cls.usual(split).select}
        for name, kind in (("select", Select), ("numbers", Numbers)):
            if name in table:
                if table[name] not in [one.value for one in kind]:
                    complaints.append(one_of(name, [one.value for one in kind], table[name]))
                else:
                    said[name] = kind(table[name])
        for name in ("key_bits", "digits", "degree", "places"):
            if name in table:
                if type(table[name]) is not int:
                    complaints.append(f"{name}: a whole number")
                said[name] = table[name]
        if complaints:
            raise PolicyError(*complaints)
        return cls(**said)

    def to_document(self) -> dict[str, Any]:
        said = {
            "select": self.select.value,
            "key_bits": self.key_bits,
            "digits": self.digits,
            "numbers": self.numbers.value,
            "degree": self.degree,
            "places": self.places,
        }
        return {key: value for key, value in said.items() if value is not None}

    def wrong(self, policy: Policy, split: Split, parties: int, rows_at_most: int | None) -> list[str]:
        """What two parties cannot do together that one machine can."""
        complaints = []
        if parties != 2:
            complaints.append(
                "parties: two, for differential privacy: the protocols of a noisy release are made for two"
            )
        if split is Split.PEOPLE and (rows_at_most is None or rows_at_most > MOST_ROWS):
            complaints.append(
                f"rows_at_most: how many rows a party may have, {MOST_ROWS:,} at most; circuits are as wide, "
                "and nobody learns how many there are"
            )
        settings = policy.algorithm
        if not isinstance(settings, DiffGenSettings):
            return [*complaints, "policy.algorithm: diffgen"]
        return complaints + self._wrong_policy(policy, settings, split)

    def _wrong_policy(self, policy: Policy, settings: DiffGenSettings, split: Split) -> list[str]:
        complaints = [f"policy.{one}" for one in settings.complaints(policy)]
        if complaints:
            return complaints
        place = "policy.algorithm"
        if policy.person is not None or policy.across or policy.publish_only:
            complaints.append(
                "policy.person, policy.publish_only: every row is counted; say records_per_person where a "
                "person may have several"
            )
        if settings.h is None:
            complaints.append(f"{place}: h: how many rounds; it is agreed on, not bought")
        if settings.marginals or settings.class_totals:
            complaints.append(f"{place}: marginals, class_totals: are not bought together; leave them out")
        sets = [p.name for p in public(policy).predictors if isinstance(p.domain, ItemSets)]
        complaints += [
            f"policy.attributes.{name}: columns of sets are not split together; leave it out" for name in sets
        ]
        if policy.ledger is not None:
            complaints.append(
                "policy.ledger: every party has its own: [ledger] in node.toml, or --ledger and --dataset"
            )
        if split is Split.PEOPLE and settings.score is not SplitScore.MAX:
            complaints.append(
                f'{place}: score = "max" where people are split: no circuit here has logarithms'
            )
        if self.select is Select.NOISY_MAX and settings.selection is Selection.MONOTONE:
            complaints.append(
                f'{place}: selection: leave it out with select = "noisy-max", which knows a score that '
                "records can only raise"
            )
        return complaints
