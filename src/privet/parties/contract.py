"""The contract: one document that all parties have read, and whose digest stands in every message.

    contract = 1
    split = "people"                      # same columns, other persons
    parties = ["north", "south", "west"]  # in this order; the first one leads
    reveal = "decisions"                  # or "counts": the leader sees counts of groups
    sum = "pairwise"                      # or "ring"; where counts are revealed
    rows_at_most = 20000                  # hides how many rows each party has; may be left out

    [public.age]                          # what could occur, said by nobody's data
    range = [17, 90]

    person = "id"                         # with split = "columns": the column by which rows are matched
    sensitive_owner = "south"             # and the one that has the sensitive columns; else all have them
    [keys]                                # by party its public key; may be left out while drafting
    north = "…"

    [owners]                              # who has which quasi-identifiers; the target is known to all
    north = ["job"]
    south = ["sex", "age"]


    [policy]                              # as in a policy file
    ...

    [noisy]                               # with algorithm = diffgen: see `privet.parties.noisy.terms`

Everything that could occur in a column is said here, because the parties must number values alike, and a
list of values that occur would be something of somebody's data. A hierarchy that is a tree says it itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from privet import equality
from privet.core import Attribute, Nulls, Role, Terms
from privet.counts.door import Score
from privet.declared import TABLE
from privet.domain import Domain, Value, flat
from privet.dp.settings import DiffGenSettings
from privet.errors import HierarchyError, PolicyError, one_of, unknown_key
from privet.hierarchy import Tree
from privet.models.linkage import LinkageModel
from privet.parties.agreement import digest_of, keys_of, loaded, wrong_keys, wrong_names
from privet.parties.noisy.terms import NoisyTerms
from privet.parties.words import Adding, Declared, Reveal, Split, listed, twice
from privet.policy.values import Policy
from privet.readings import Absent
from privet.relational.topdown import TopDown

VERSION = 1
ROWS = 10_000_000  # that a party can be asked to hand in, empty ones among them
KEYS = (
    "contract", "purpose", "split", "parties", "reveal", "sum", "rows_at_most", "person", "owners",
    "sensitive_owner", "keys", "public", "noisy",
    "policy",
)  # fmt: skip
ELSEWHERE = (
    "the files that a contract names lie in its own folder: it was perhaps written by somebody else; a tree "
    "can stand in the contract itself"
)


@dataclass(frozen=True)
class Contract:
    """What all parties agree on before any of them looks at data."""

    parties: tuple[str, ...]
    policy: Policy
    public: Mapping[str, tuple[Value, ...]] = field(repr=False)  # all that could occur, by column
    split: Split = Split.PEOPLE
    reveal: Reveal = Reveal.DECISIONS
    adding: Adding = Adding.PAIRWISE
    rows_at_most: int | None = None  # every party hands in so many rows, empty ones among them
    person: str | None = None  # the column by which the rows of one person are matched
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by party its quasi-identifiers
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # by party its public key, in base 64
    sensitive_owner: str | None = None  # the one party that has the sensitive columns; None: all have them
    purpose: str = ""
    noisy: NoisyTerms | None = None  # with differential privacy: how it is drawn together

    def __post_init__(self) -> None:
        if self.noisy is None and isinstance(self.policy.algorithm, DiffGenSettings):
            object.__setattr__(self, "noisy", NoisyTerms.usual(self.split))
        if complaints := [
            *self._wrong_parties(),
            *wrong_keys(self.keys, self.parties),
            *(self._wrong_policy() if self.noisy is None else self._wrong_noisy(self.noisy)),
            *(self._wrong_columns() if self.noisy is None else ()),
            *self._unknown_protected(),
            *self._wrong_split(),
        ]:
            raise PolicyError(*complaints)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        path = Path(path)
        return loaded(path, lambda document: cls.from_document(document, base=path.parent))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, base: Path) -> Self:
        complaints: list[str] = [unknown_key(KEYS, key) for key in document if key not in KEYS]
        if document.get("contract") != VERSION:
            complaints.append(f"the first line must be `contract = {VERSION}`")
        if not isinstance(document.get("policy"), Mapping):
            raise PolicyError(*complaints, "policy: a table, which says what a policy file says")
        if "split" not in document:
            complaints.append(one_of("split", [s.value for s in Split], None))
        parties = document.get("parties")
        if not isinstance(parties, list):
            complaints.append('parties: a list of names, for example ["north", "south", "west"]')
            parties = []
        said: dict[str, Any] = {}
        elsewhere = [f"policy: {place}: {ELSEWHERE}" for place in _elsewhere(document["policy"], base)]
        if elsewhere:
            raise PolicyError(*complaints, *elsewhere)
        try:
            said["policy"] = Policy.from_document(document["policy"], base=base)
        except PolicyError as error:
            complaints += [f"policy: {complaint}" for complaint in error.complaints]
        for key, field_, kind, usual in (
            ("split", "split", Split, Split.PEOPLE),
            ("reveal", "reveal", Reveal, Reveal.DECISIONS),
            ("sum", "adding", Adding, Adding.PAIRWISE),
        ):
            given = document.get(key, usual.value)
            if given not in [one.value for one in kind]:
                complaints.append(one_of(key, [one.value for one in kind], given))
            else:
                said[field_] = kind(given)
        public = document.get("public", {})
        if not isinstance(public, Mapping):
            complaints.append("public: a table of columns, for example [public.age] range = [17, 90]")
            public = {}
        said["public"] = {}
        for name, table in public.items():
            try:
                said["public"][name] = listed(table)
            except PolicyError as error:
                complaints += [f"public.{name}: {complaint}" for complaint in error.complaints]
        owners = document.get("owners", {})
        if not isinstance(owners, Mapping) or not all(
            isinstance(names, list) and all(isinstance(name, str) for name in names)
            for names in owners.values()
        ):
            complaints.append('owners: a table of parties and their columns, for example north = ["job"]')
            owners = {}
        said["owners"] = {party: tuple(map(equality.name, names)) for party, names in owners.items()}
        said["keys"] = keys_of(document, complaints)
        person = document.get("person")
        said["person"] = equality.name(person) if isinstance(person, str) else person
        said["sensitive_owner"] = document.get("sensitive_owner")
        rows = document.get("rows_at_most")
        if rows is not None and (type(rows) is not int or not 0 < rows < 1 << 31):
            complaints.append("rows_at_most: a whole number of rows above 0")
        said["rows_at_most"] = rows
        if "noisy" in document and "split" in said:
            try:
                said["noisy"] = NoisyTerms.from_document(document["noisy"], said["split"])
            except PolicyError as error:
                complaints += [f"noisy: {complaint}" for complaint in error.complaints]
        if complaints:
            raise PolicyError(*complaints)
        return cls(parties=tuple(parties), purpose=str(document.get("purpose", "")), **said)

    def to_document(self) -> dict[str, Any]:
        """The contract with every file that the policy names read into it."""
        return {
            "contract": VERSION,
            "purpose": self.purpose,
            "split": self.split.value,
            "parties": list(self.parties),
            "reveal": self.reveal.value,
            "sum": self.adding.value,
            "rows_at_most": self.rows_at_most,
            "person": self.person,
            "sensitive_owner": self.sensitive_owner,
            "keys": dict(sorted(self.keys.items())),
            "owners": {party: list(names) for party, names in sorted(self.owners.items())},
            "public": {name: {"values": list(values)} for name, values in sorted(self.public.items())},
            "policy": self.policy.to_document(),
            **({} if self.noisy is None else {"noisy": self.noisy.to_document()}),
        }

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of what was agreed on, however its file is written."""
        return digest_of(self.to_document())

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The values of every published column, in an order that all parties have."""
        return {a.name: self._domain(a) for a in self.policy.attributes if a.published}

    def terms(self) -> Terms:
        """The policy's terms, where every quasi-identifier has the agreed values."""
        return self.policy.asking(
            attributes=tuple(
                Attribute(a.name, a.role, Declared(self.domains[a.name])) if a.role is Role.QUASI else a
                for a in self.policy.attributes
            )
        )

    def _domain(self, attribute: Attribute) -> Domain:
        hierarchy = attribute.hierarchy
        listed = self.public.get(attribute.name)
        if attribute.role is not Role.QUASI or hierarchy is None:
            return flat(listed or ())
        if listed is None and isinstance(hierarchy, Tree):
            listed = (*hierarchy.leaves, *((None,) if hierarchy.null else ()))
        return hierarchy.domain(sorted(listed or (), key=lambda value: (value is None, str(value))))

    # What can be wrong.

    def _wrong_parties(self) -> list[str]:
        complaints = wrong_names(self.parties)
        if self.noisy is None and (self.rows_at_most or 0) > ROWS:
            complaints.append(
                f"rows_at_most: {ROWS:,} at most: every party hands in so many rows, whatever it has"
            )
        if len(self.parties) < 2:
            complaints.append("parties: two or more")
        elif len(self.parties) < 3 and self.split is Split.PEOPLE:
            if self.reveal is not Reveal.DECISIONS:
                complaints.append(
                    "parties: three or more where counts of people are shown; of two, each could take its "
                    'own counts off the joint ones and know the other\'s: say reveal = "decisions"'
                )
            if self.rows_at_most is not None and self.noisy is None:
                complaints.append("rows_at_most: of two parties each knows how many rows the other has")
        return complaints

    def _wrong_noisy(self, noisy: NoisyTerms) -> list[str]:
        complaints = noisy.wrong(self.policy, self.split, len(self.parties), self.rows_at_most)
        if self.public:
            complaints.append("public: with diffgen the policy itself says what could occur; leave it out")
        if self.sensitive_owner is not None:
            complaints.append("sensitive_owner: diffgen has no sensitive columns; leave it out")
        return complaints

    def _wrong_policy(self) -> list[str]:
        policy = self.policy
        complaints = []
        if policy.kind != TABLE:
            complaints.append(
                f'policy.kind: "table", not {policy.kind!r}: only tables are searched together yet'
            )
        if not isinstance(policy.algorithm, TopDown):
            complaints.append(
                f'policy.algorithm: type = "top-down", not {policy.algorithm.name!r}: of the others no party '
                "may know the counts"
            )
        elif policy.algorithm.tries > 1:
            complaints.append(
                "policy.algorithm: tries = 1: which of several searches loses least is a histogram that no "
                "party may see"
            )
        elif policy.algorithm.score is Score.GAIN_PER_LOSS and self.reveal is not Reveal.COUNTS:
            complaints.append(
                'policy.algorithm: score = "gain-per-loss" needs the size of the smallest group; use '
                'another, or, of people, reveal = "counts"'
            )
        complaints += [
            f"policy.models: {model.name} is not a bound on linkage; lkc-privacy, k-anonymity and "
            "confidence bounds can be kept together"
            for model in policy.models
            if not isinstance(model, LinkageModel)
        ]
        if policy.nulls is not Nulls.VALUE:
            complaints.append('policy.nulls: "value"')
        if policy.person is not None or policy.across:
            complaints.append(
                "policy.person: rows are counted together, not persons: give each person one row first"
            )
        if policy.publish_only:
            complaints.append("policy.publish_only: every party publishes all of its rows")
        complaints += [
            f"policy.attributes.{a.name}: a disguised identifier is not published together"
            for a in policy.attributes
            if a.disguise is not None
        ]
        return complaints

    def _wrong_columns(self) -> list[str]:
        named = {a.name: a for a in self.policy.attributes if a.published}
        complaints = [
            f"public.{name}: the policy publishes no such column" for name in self.public if name not in named
        ]
        for name, attribute in named.items():
            tree = isinstance(attribute.hierarchy, Tree)
            if name not in self.public and not tree:
                complaints.append(
                    f'public.{name}: all that could occur, as range = [0, 99] or values = ["a", "b"]'
                )
                continue
            try:
                domain = self._domain(attribute)
            except HierarchyError as error:
                complaints += [f"public.{name}: {complaint}" for complaint in error.complaints]
                continue
            if attribute.role is not Role.OTHER and not tree:  # a tree may keep two spellings apart
                complaints += [f"public.{name}: {wrong}" for wrong in twice(self.public.get(name, ()))]
            if domain.scale is not None and domain.scale.grown and attribute.role is Role.QUASI:
                complaints.append(
                    f"policy.attributes.{name}: intervals need width or edges: where to split is otherwise "
                    "chosen by counts of single values, which nobody may see, and of a split that is never "
                    "made the others would know the place"
                )
        return complaints

    def _unknown_protected(self) -> list[str]:
        """What is protected and cannot occur is a slip of the pen, and would protect nobody."""
        if self.policy.absent is Absent.ALLOWED:
            return []
        known = {name: set(map(equality.key, values)) for name, values in self.public.items()}
        return [
            f"policy.models[{at}]: {place}.{name}: {'null' if value is None else repr(value)} is not among "
            f'the values of public.{name}; correct it, or say absent = "allowed" in the policy'
            for at, model in enumerate(self.policy.models)
            for place, name, value in model.guarded()
            if name in known and equality.key(value) not in known[name]
        ]

    def _wrong_split(self) -> list[str]:
        """What only one way of splitting a table asks for."""
        if self.split is Split.PEOPLE:
            return [
                complaint
                for wrong, complaint in (
                    (self.reveal is Reveal.SCORES, 'reveal: "decisions" or "counts" where people are split'),
                    (
                        self.owners,
                        'owners: only with split = "columns"; of people every party has all columns',
                    ),
                    (self.sensitive_owner is not None, 'sensitive_owner: only with split = "columns"'),
                    (self.person is not None, 'person: only with split = "columns"'),
                )
                if wrong
            ]
        complaints = []
        if self.reveal is Reveal.COUNTS:
            complaints.append('reveal: "decisions" or "scores" where columns are split')
        if self.rows_at_most is not None:
            complaints.append('rows_at_most: only with split = "people"')
        if not isinstance(self.person, str) or any(
            a.name == self.person and a.published for a in self.policy.attributes
        ):
            complaints.append("person: the column by which rows are matched; it is not published")
        if self.sensitive_owner not in (None, *self.parties):
            complaints.append("sensitive_owner: one of the parties")
        complaints += [f"owners.{party}: no such party" for party in self.owners if party not in self.parties]
        owned = [name for names in self.owners.values() for name in names]
        quasi = [a.name for a in self.policy.quasi]
        complaints += [
            f"owners: {name} has more than one owner" for name in sorted(set(owned)) if owned.count(name) > 1
        ]
        complaints += [f"owners: nobody has {name}" for name in quasi if name not in owned]
        complaints += [
            f"owners: {name} is not one of the policy's quasi-identifiers"
            for name in owned
            if name not in quasi
        ]
        complaints += [
            f"policy.attributes.{a.name}: a column that one party has, published as it is, would be "
            "shown to the others by person; leave it out"
            for a in self.policy.with_role(Role.OTHER)
        ]
        return complaints


def _elsewhere(table: object, base: Path, place: str = "") -> Iterator[str]:
    """Where a policy names a file that is not in the contract's folder."""
    if isinstance(table, list):
        for at, one in enumerate(table):
            yield from _elsewhere(one, base, f"{place}[{at}]")
    elif isinstance(table, Mapping):
        for name, one in table.items():
            here = f"{place}.{name}" if place else str(name)
            if name == "path" and isinstance(one, str):
                if not (base / one).resolve().is_relative_to(base.resolve()):
                    yield here
            elif name != "tree":  # there names are labels
                yield from _elsewhere(one, base, here)
