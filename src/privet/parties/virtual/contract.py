"""What sites agree on before they make a virtual database: columns, promises, and what may be asked.

    database = 1
    parties = ["north", "south", "west"]  # the sites; the first one leads
    researchers = ["university"]          # who else may ask; a site may ask anyway
    k = 10                                # every group has so many records
    sites = 2                             # of so many sites; 1: of any
    diversity = "distinct"                # or "entropy", or "recursive" with c = "3"
    halving = "strict"                    # regions of more than 2k records are split; "mondrian": 2k or more
    ties = "ordered"                      # or "shuffle"
    boxes = "tight"                       # or "cut"
    sum = "pairwise"                      # or "ring"
    loss = "1/20"                         # of privacy in an answer, at most; or decoys = 100
    exposure = "both"                     # of a "set" of rows, or of an "item"; "counted": to who counts
    guard = "suppress"                    # of sensitive values in questions; or "whole-class", "refuse"

    [quasi.age]                           # in this order; what could occur, said by nobody's data
    range = [17, 90]

    [sensitive.disease]                   # published as they are
    values = ["Flu", "Cancer"]

    [keys]                                # by party its public key; may be left out while drafting
    north = "…"

Columns that are not named stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Self

from privet.domain import Domain, Value, flat
from privet.errors import PolicyError, UnsupportedError, one_of, unknown_key
from privet.hierarchy.numbers import fraction
from privet.parties.agreement import digest_of, keys_of, loaded, wrong_keys, wrong_names
from privet.parties.virtual.exposure import Exposure
from privet.parties.virtual.rules import Boxes, Diversity, Halving, Rules, Ties
from privet.parties.words import OBJECTED, SAME_ROWS, Adding, listed, twice

VERSION = 1
KEYS = (
    "database", "purpose", "parties", "researchers", "k", "sites", "diversity", "c", "halving", "ties",
    "boxes", "sum", "loss", "decoys", "exposure", "guard", "quasi", "sensitive", "keys",
)  # fmt: skip
ROOM = 1 << 40  # tuples of sensitive values that could occur

EXTREMES = (
    "the smallest and largest values of every region in all columns, all sites together; of the site before "
    "it on the ring, values on the way to them"
)
CUTS = "where each region is cut, how many records lie at the cut, and whether a cut was taken back"
SIZES = "how many records each group has in the end, all sites together"
ANSWERS = (
    "every question, all rows of the groups that it asks for, and once of each group a bag of rows and "
    "decoys on their way (again where an answer breaks off, three times at most)"
)
LEFT_OUT = (
    "where a site that leads an answer leaves out some of several equal rows, against the rules: whether a "
    "single other site has more of them than were left, and not which; that group is then never answered"
)
REGIONS = (
    "how many records each region has and how many lie up to each value that is tried for its median, all "
    "sites together; also of cuts that are taken back"
)
NEIGHBOURS = (
    "the two neighbours of a site on the ring, which is drawn anew for every run: its extremes, ties and "
    "rows of an answer"
)


class Guard(Enum):
    """What becomes of a question that names sensitive values, and so would select parts of groups."""

    SUPPRESS = "suppress"  # groups of fewer than k matching rows are left out
    WHOLE_CLASS = "whole-class"  # groups with a matching row are answered whole
    REFUSE = "refuse"


WORDS: tuple[tuple[str, str, type[Enum], Enum], ...] = (
    ("diversity", "diversity", Diversity, Diversity.DISTINCT),
    ("halving", "halving", Halving, Halving.STRICT),
    ("ties", "ties", Ties, Ties.ORDERED),
    ("boxes", "boxes", Boxes, Boxes.TIGHT),
    ("sum", "adding", Adding, Adding.PAIRWISE),
    ("exposure", "exposure", Exposure, Exposure.BOTH),
    ("guard", "guard", Guard, Guard.SUPPRESS),
)


@dataclass(frozen=True)
class DatabaseContract:
    """What all sites agree on before any of them looks at data."""

    parties: tuple[str, ...]
    rules: Rules
    quasi: Mapping[str, tuple[Value, ...]] = field(repr=False)  # what could occur, in the agreed order
    sensitive: Mapping[str, tuple[Value, ...]] = field(repr=False)
    loss: Fraction | None = None
    decoys: int | None = None
    exposure: Exposure = Exposure.BOTH
    guard: Guard = Guard.SUPPRESS
    adding: Adding = Adding.PAIRWISE
    researchers: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    purpose: str = ""

    def __post_init__(self) -> None:
        complaints = [*wrong_names(self.parties), *wrong_keys(self.keys, self.parties)]
        complaints += wrong_names(self.researchers, "researchers")
        complaints += [
            complaint
            for wrong, complaint in (
                (
                    len(self.parties) < 3,
                    "parties: three or more; of two, each could take its own rows off any answer",
                ),
                (
                    set(self.parties) & set(self.researchers),
                    "researchers: a site may ask without being named",
                ),
                (self.rules.sites > len(self.parties), "sites: no more than there are parties"),
                (not self.quasi, "quasi: a table of columns, for example [quasi.age] range = [17, 90]"),
                (
                    any(None in values for values in self.quasi.values()),
                    "quasi: what is missing has no place in an order: leave such rows out, or name a value",
                ),
                (set(self.quasi) & set(self.sensitive), "sensitive: a column has one role"),
                ((self.loss is None) == (self.decoys is None), "loss or decoys: one of them"),
                (self.loss is not None and not 0 < self.loss <= 1, 'loss: a share such as "1/20"'),
                (
                    self.guard is Guard.SUPPRESS and self.rules.sites > 1 and bool(self.sensitive),
                    (
                        'guard: "whole-class" or "refuse" where sites is above 1: of parts of groups nobody '
                        "may know whose they are"
                    ),
                ),
                (
                    prod(map(len, self.sensitive.values())) > ROOM,
                    "sensitive: too many values to draw decoys of",
                ),
            )
            if wrong
        ]
        if complaints:
            raise PolicyError(*complaints)

    @classmethod
    def load(cls, path: Path) -> Self:
        return loaded(path, cls.from_document)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        complaints = [unknown_key(KEYS, key) for key in document if key not in KEYS]
        if document.get("database") != VERSION:
            complaints.append(f"the first line must be `database = {VERSION}`")
        said: dict[str, Any] = {"keys": keys_of(document, complaints)}
        for key in ("parties", "researchers"):
            names = document.get(key, [])
            if not isinstance(names, list) or (key == "parties" and not names):
                complaints.append(f'{key}: a list of names, for example ["north", "south", "west"]')
                names = []
            said[key] = tuple(names)
        for key, field_, kind, usual in WORDS:
            given = document.get(key, usual.value)
            if given not in [one.value for one in kind]:
                complaints.append(one_of(key, [one.value for one in kind], given))
            else:
                said[field_] = kind(given)
        for key in ("quasi", "sensitive"):
            said[key] = _columns(key, document.get(key, {}), complaints)
        for key in ("loss", "c"):
            said[key] = _fraction(key, document.get(key), complaints)
        decoys = said["decoys"] = document.get("decoys")
        if decoys is not None and (type(decoys) is not int or not 0 <= decoys < 1 << 20):
            complaints.append("decoys: a whole number of rows, 0 or more")
        numbers = [document.get("k"), document.get("sites", 1)]
        if not all(type(number) is int and 0 < number < 1 << 31 for number in numbers):
            complaints.append("k and sites: whole numbers above 0; k has no default")
        if complaints:
            raise PolicyError(*complaints)
        how = [said.pop(field_) for field_ in ("diversity", "c", "halving", "ties", "boxes")]
        try:
            rules = Rules(numbers[0], numbers[1], *how)
        except UnsupportedError as error:
            raise PolicyError(*error.complaints) from None
        return cls(rules=rules, purpose=str(document.get("purpose", "")), **said)

    def to_document(self) -> dict[str, Any]:
        """As a file would say it."""
        rules = self.rules
        said = {
            "database": VERSION,
            "purpose": self.purpose,
            "parties": list(self.parties),
            "researchers": list(self.researchers),
            "k": rules.k,
            "sites": rules.sites,
            "diversity": rules.diversity.value,
            "c": None if rules.c is None else str(rules.c),
            "halving": rules.halving.value,
            "ties": rules.ties.value,
            "boxes": rules.boxes.value,
            "sum": self.adding.value,
            "loss": None if self.loss is None else str(self.loss),
            "decoys": self.decoys,
            "exposure": self.exposure.value,
            "guard": self.guard.value,
            "quasi": {name: _listing(values) for name, values in self.quasi.items()},
            "sensitive": {name: _listing(values) for name, values in self.sensitive.items()},
            "keys": dict(sorted(self.keys.items())),
        }
        return {key: value for key, value in said.items() if value is not None}

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of what was agreed on, however its file is written; in this order of columns."""
        return digest_of(self.to_document())

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The values of every column, in the agreed order."""
        return {name: flat(values) for name, values in (*self.quasi.items(), *self.sensitive.items())}

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(map(len, self.quasi.values()))

    @property
    def learned(self) -> dict[str, tuple[str, ...]]:
        """By site what it comes to know beside the answers, in plain words."""
        everybody = [EXTREMES, CUTS, SIZES, ANSWERS, OBJECTED, LEFT_OUT]
        everybody += [SAME_ROWS] if self.keys else []
        if self.rules.asks_sizes:
            everybody.append("how many records the sites have in each half of a cut, without names")
        leads = [*everybody, REGIONS]
        if self.rules.sites > 1 and not self.rules.asks_sizes:
            leads.append("how many sites have records in each half of a cut")
        return {party: tuple(everybody if at else leads) for at, party in enumerate(self.parties)}

    @property
    def coalitions(self) -> tuple[str, ...]:
        """Who could learn more by putting their notes together."""
        said = [NEIGHBOURS]
        if self.adding is Adding.RING:
            said.append("the same two: the counts of the site between them")
        else:
            said.append("all sites but one, the first among them: the counts of that one")
        return tuple(said)


def _listing(values: tuple[Value, ...]) -> dict[str, Any]:
    there = [value for value in values if value is not None]
    return {"values": there, **({"null": True} if len(there) < len(values) else {})}


def _columns(key: str, given: Any, complaints: list[str]) -> dict[str, tuple[Value, ...]]:
    if not isinstance(given, Mapping):
        complaints.append(f"{key}: a table of columns, for example [{key}.age] range = [17, 90]")
        return {}
    found = {}
    for name, table in given.items():
        try:
            found[name] = listed(table)
        except PolicyError as error:
            complaints += [f"{key}.{name}: {complaint}" for complaint in error.complaints]
            continue
        complaints += [f"{key}.{name}: {wrong}" for wrong in twice(found[name])]
    return found


def _fraction(key: str, given: Any, complaints: list[str]) -> Fraction | None:
    if given is None:
        return None
    try:
        return fraction(given if isinstance(given, str) else "no number")
    except ValueError:
        complaints.append(f'{key}: a quoted fraction such as "1/20"')
        return None
