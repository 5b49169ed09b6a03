"""The table [transactions] of a policy: where in the data the sets are, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

from privet import core, hierarchy
from privet.core import Hierarchy
from privet.declared import settle
from privet.errors import PolicyError
from privet.policy.notation import Complaints, build, exact, word
from privet.policy.values import Naming, Shape, as_it_is
from privet.roads.layouts import Keys, said_twice
from privet.rules.hidden import HiddenRule
from privet.rules.rule import Thresholds
from privet.rules.searches import SetSearch, hidden_of, known_of


class Layout(Enum):
    """How sets lie in the data."""

    COLUMN = "column"  # one row for each record, the set in one column
    ITEMS = "items"  # one row for each item: whose it is, and which
    BASKETS = "baskets"  # one line for each record, items between separators, no header


NEEDS = {Layout.COLUMN: ("set",), Layout.ITEMS: ("person", "item"), Layout.BASKETS: ()}
MAY = {Layout.COLUMN: ("separator",), Layout.ITEMS: (), Layout.BASKETS: ("separator",)}
USUAL = {Layout.COLUMN: ";", Layout.BASKETS: ",", Layout.ITEMS: ""}
NAMES = ("set", "person", "item")  # of columns
ANY = ("form", "hierarchy", "support", "confidence")
KEYS = (*ANY, *NAMES, "separator")
TABLE = Keys(ANY, NEEDS, MAY)


@dataclass(frozen=True)
class Transactions(Shape):
    """Records that are sets of items: a column of sets, a row for each item, or a line for each basket."""

    form: Layout
    set: str | None = None
    person: str | None = None
    item: str | None = None
    separator: str = ""
    support: Fraction | None = None  # how the recipient is thought to mine; else as [[hide]] says
    confidence: Fraction | None = None
    hierarchy: Hierarchy | None = field(default=None, repr=False)

    name: ClassVar[str] = "transactions"
    algorithm: ClassVar[Mapping[str, Any]] = {"type": "by-promise"}
    bare: ClassVar[bool] = True

    @classmethod
    def from_policy(cls, table: Mapping[str, Any], *, base: Path) -> Self:
        if not isinstance(table, Mapping):
            raise PolicyError('is a table, for example { form = "baskets" }')
        complaints = Complaints()
        complaints.unknown(table, KEYS)
        if "form" not in table:
            said = '", "'.join(layout.value for layout in Layout)
            raise PolicyError(f'form: says how sets lie in the data: "{said}"')
        made: dict[str, Any] = {}
        with complaints.at("form"):
            made["form"] = word(Layout, table["form"])
        for key in NAMES:
            if key in table:
                if isinstance(table[key], str) and table[key]:
                    made[key] = table[key]
                else:
                    complaints.add(f"{key}: is the name of a column")
        if "separator" in table:
            with complaints.at("separator"):
                made["separator"] = _separator(table["separator"])
        for key in ("support", "confidence"):
            if key in table:
                with complaints.at(key):
                    made[key] = exact(table[key])
        if "hierarchy" in table:
            with complaints.at("hierarchy"):
                made["hierarchy"] = hierarchy.parse(table["hierarchy"], base=base)
        complaints.raise_all()
        TABLE.fitting(made["form"], table, complaints)
        complaints.raise_all()
        return cls(**made)

    def __post_init__(self) -> None:
        settle(self)
        TABLE.settled(self, NAMES)
        if self.separator and self.separator != USUAL[self.form]:
            try:
                _separator(self.separator)
            except PolicyError as error:
                raise error.at("separator") from None
        object.__setattr__(self, "separator", self.separator or USUAL[self.form])
        if self.confidence is not None and self.support is None:
            raise PolicyError("confidence: goes with a support; say both, or neither")
        if self.support is not None:
            Thresholds(self.support, self.confidence)
        if len(frozenset(self.columns)) < len(self.columns):
            raise PolicyError("person and item are two columns")

    @classmethod
    def unfolded(cls, document: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:
        """The document with every [[hide]] as the promise that it is."""
        listed = document.get("hide", [])
        rest = {key: value for key, value in document.items() if key != "hide"}
        if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
            complaints.add('hide: a list of rules, for example [[hide]] itemset = ["a", "b"] support = 50')
            return rest
        promises = []
        for at, one in enumerate(listed):
            with complaints.at(f"hide[{at}]"):
                build("models", {**one, "type": HiddenRule.name})
                promises.append({**one, "type": HiddenRule.name})
        models = document.get("models", [])
        if isinstance(models, list) and (promises or listed):
            # Where a rule is wrong that was said above; another stands for it, so that nothing is said twice.
            stand_in = {"type": HiddenRule.name, "itemset": ["-"], "support": 1}
            rest["models"] = [*models, *promises] or [stand_in]
        return rest

    @staticmethod
    def folded(document: dict[str, Any]) -> dict[str, Any]:
        """The other way: promises to hide stand under [[hide]], as people write them."""
        hidden = [one for one in document["models"] if one["type"] == HiddenRule.name]
        if not hidden:
            return document
        others = [one for one in document["models"] if one["type"] != HiddenRule.name]
        made = {key: value for key, value in document.items() if key != "models"}
        made["hide"] = [{key: value for key, value in one.items() if key != "type"} for one in hidden]
        return {**made, "models": others} if others else made

    def to_policy(self, named: Naming = as_it_is) -> dict[str, Any]:  # noqa: ARG002 - names no file
        table: dict[str, Any] = {"form": self.form.value}
        table |= {key: getattr(self, key) for key in NAMES if getattr(self, key) is not None}
        if self.separator:
            table["separator"] = self.separator
        for key in ("support", "confidence"):
            if (share := getattr(self, key)) is not None:
                table[key] = int(share) if share.denominator == 1 and key == "support" else str(share)
        if self.hierarchy is not None:
            table["hierarchy"] = self.hierarchy.to_policy()
        return table

    def complaints(self, policy: core.Terms) -> list[str]:
        found = said_twice(policy, self.columns, table=self.name, person=self.person, what="item")
        if self.form is Layout.BASKETS and policy.attributes:
            found.append("attributes: a file of baskets has no columns; leave it out")
        hides, keeps = hidden_of(policy), known_of(policy)
        if hides and policy.quasi and not keeps:
            found.append(
                "attributes: hiding rules protects no person: with quasi-identifiers beside the set promise "
                "km-anonymity, or give them another role"
            )
        if hides and self.hierarchy is not None and not keeps:
            found.append("transactions.hierarchy: hiding rules generalises nothing; leave it out")
        # Not `complaints`, which a policy asks of its algorithm only where it has attributes.
        if isinstance(policy.algorithm, SetSearch):
            found += policy.algorithm.misfits(policy)
        return found

    @property
    def whose(self) -> str | None:
        return self.person

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that sets are read from."""
        return tuple(name for key in NAMES if (name := getattr(self, key)) is not None)

    @property
    def mined_with(self) -> Thresholds | None:
        return None if self.support is None else Thresholds(self.support, self.confidence)

    def published(self) -> Transactions:
        """What a recipient needs of it: no hierarchy, which holds items that nobody has any more."""
        return replace(self, hierarchy=None)


def _separator(given: object) -> str:
    if not isinstance(given, str) or len(given) != 1 or given in '"\r\n' or not given.isascii():
        raise PolicyError(f'is one character, such as "," or ";" or " ", not {given!r}')
    return given
