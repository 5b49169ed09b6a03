"""What parties agree on before they mine together: which items there are, and from when on a set is frequent.

    mining = 1
    split = "people"                      # other persons; or "columns": other items of the same persons
    parties = ["north", "south", "west"]
    support = "1/10"                      # the share of all persons that have all of a set's items
    person = "id"                         # whose row it is
    item = "item"                         # which item the person has; one row for each
    items = ["bread", "milk", "tea"]      # all that could occur, said by nobody's data

    [owners]                              # with split = "columns": which party has which items
    north = ["bread"]
    south = ["milk", "tea"]

    [keys]                                # by party its public key; may be left out while drafting
    north = "…"

Trust, Leaks: as `mining` says; `learned` says it in plain words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from privet import equality
from privet.errors import PolicyError, one_of, unknown_key
from privet.hierarchy.numbers import fraction
from privet.parties.agreement import digest_of, keys_of, loaded, wrong_keys, wrong_names
from privet.parties.primitives.replicated import COMPUTING
from privet.parties.words import SAME_ROWS, Split, twice

VERSION = 1
KEYS = ("mining", "purpose", "split", "parties", "support", "person", "item", "items", "owners", "keys")
MANY = 10_000  # items; every one is asked about


@dataclass(frozen=True)
class MiningContract:
    """What all parties agree on before any of them looks at data."""

    parties: tuple[str, ...]
    split: Split
    support: Fraction
    person: str
    item: str
    items: tuple[str, ...] = field(repr=False)
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # by party its public key, in base 64
    purpose: str = ""

    def __post_init__(self) -> None:
        complaints = [*wrong_names(self.parties), *wrong_keys(self.keys, self.parties)]
        if self.split is Split.PEOPLE and len(self.parties) < 3:
            complaints.append(
                "parties: three or more where people are split; of two, each could take its own supports off"
            )
        if self.split is Split.COLUMNS and len(self.parties) != 2:
            complaints.append("parties: two where items are split")
        if not 0 < self.support <= 1:
            complaints.append('support: a share above 0 and at most 1, such as "1/10"')
        if not self.items or len(set(self.items)) < len(self.items) or len(self.items) > MANY:
            complaints.append(f"items: each once, at least one and at most {MANY:,}")
        complaints += [f"items: {wrong}" for wrong in twice(self.items)]
        complaints += self._wrong_owners()
        if complaints:
            raise PolicyError(*complaints)

    def _wrong_owners(self) -> list[str]:
        if self.split is Split.PEOPLE:
            return ['owners: only with split = "columns"'] if self.owners else []
        owned = [item for items in self.owners.values() for item in items]
        return [
            complaint
            for wrong, complaint in (
                (set(self.owners) - set(self.parties), "owners: names somebody who is not a party"),
                (sorted(owned) != sorted(self.items), "owners: every item has one owner"),
            )
            if wrong
        ]

    @classmethod
    def load(cls, path: Path) -> Self:
        return loaded(path, cls.from_document)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        complaints = [unknown_key(KEYS, key) for key in document if key not in KEYS]
        if document.get("mining") != VERSION:
            complaints.append(f"the first line must be `mining = {VERSION}`")
        if document.get("split") not in [one.value for one in Split]:
            complaints.append(one_of("split", [one.value for one in Split], document.get("split")))
        lists = [key for key in ("parties", "items") if not _texts(document.get(key))]
        complaints += [f"{key}: a list of names" for key in lists]
        columns = [key for key in ("person", "item") if not isinstance(document.get(key), str)]
        complaints += [f"{key}: the name of a column" for key in columns]
        owners = document.get("owners", {})
        if not isinstance(owners, Mapping) or not all(map(_texts, owners.values())):
            complaints.append('owners: a table of parties and their items, for example north = ["bread"]')
        try:
            said = document.get("support")
            support = fraction(said) if isinstance(said, str) else Fraction(0)
        except ValueError:
            support = Fraction(0)
        keys = keys_of(document, complaints)
        if not support:
            complaints.append('support: a quoted fraction such as "1/10"')
        if complaints:
            raise PolicyError(*complaints)
        return cls(
            parties=tuple(document["parties"]),
            split=Split(document["split"]),
            support=support,
            person=equality.name(document["person"]),
            item=equality.name(document["item"]),
            items=tuple(document["items"]),
            owners={party: tuple(items) for party, items in owners.items()},
            keys=keys,
            purpose=str(document.get("purpose", "")),
        )

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of what was agreed on, however its file is written."""
        return digest_of(
            {
                "mining": VERSION,
                "purpose": self.purpose,
                "split": self.split.value,
                "parties": list(self.parties),
                "support": str(self.support),
                "person": self.person,
                "item": self.item,
                "items": list(self.items),
                "owners": {party: list(items) for party, items in sorted(self.owners.items())},
                "keys": dict(sorted(self.keys.items())),
            }
        )

    @property
    def learned(self) -> tuple[str, ...]:
        """What every party comes to know, in plain words."""
        more = (SAME_ROWS,) if self.keys else ()
        if self.split is Split.PEOPLE:
            return (
                "which sets of items are frequent with all parties together, and how often each occurs",
                "how many persons all parties have together",
                *more,
            )
        return (
            "which sets of items are frequent and how often each occurs, also of the other's items alone",
            "how many persons each party has, and which of its own the other has too",
            *more,
        )

    @property
    def coalitions(self) -> tuple[str, ...]:
        """Who could learn more by putting their notes together."""
        if self.split is Split.PEOPLE:
            three = ", ".join(self.parties[:COMPUTING])
            return (f"any two of {three}: every support of every party, since they hold all of its shares",)
        return ("there are only two, and neither learns more than is said above",)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
