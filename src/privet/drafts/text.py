"""A draft as text: every column with a guess, nothing decided.

Every role in it is "undecided" and no promise has numbers, so that publishing refuses until somebody has
thought. It holds names and counts, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import tomli_w

from privet import notebook
from privet.core import Form, Role
from privet.domain import Value
from privet.drafts.files import Offer
from privet.drafts.found import short
from privet.drafts.guess import Guess
from privet.engines.text import listed

ROLES = """\
# What each column is. Columns that are not named here are never published.
#   identifier  names a person: dropped, or disguised: publish = "pseudonym", "hash", "mask" or "shift"
#   quasi       others may know it about a person: generalised along its hierarchy as far as needed
#   sensitive   what nobody may learn about a person: published as it is, protected by the promise
#   target      what the recipient wants to predict: published as it is; one at most
#   other       published as it is, because nobody could know it and nobody minds
# Behind each "#" stands a guess. In doubt between quasi and other, it is quasi."""

AUTO = """\
type = "auto"                                 # tries what can keep the promise, takes what loses least
# purpose =                                   # "general", "counts" or "classification" (of a target)"""

PATHS = """\
# Where the paths are: a guess from names and a few values. The columns named here have no role below.
#   form = "column" (path), "visits" or "readings" (person, place, time; readings also slot), or
#   "points" (person, lat, lon, time, slot, grid)"""

UNFILLED = {  # what the form "points" also needs, and nobody can guess
    "slot": 'the length of a slot of time, such as "15 min"',
    "grid": "the size of a cell, in metres",
}

PATH_PROMISES = """\
# What is promised: at least one. Privacy parameters have no default: decide, and take the "#" away.
#
# [[models]]
# type = "lkc-privacy"
# l =                                         # how many visits of a person an adversary may know
# k =                                         # how many records have any such visits in common, at least
# c =                                         # what share of them may be sensitive: a fraction in quotes
# sensitive = { COLUMN = ["VALUE"] }          # or { COLUMN = "every" }
#
# [[models]]
# type = "k-anonymity"                        # the same for who knows all visits, without sensitive values
# k ="""

PROMISES = """\
# What is promised: at least one. Privacy parameters have no default: decide, and take the "#" away.
#
# [[models]]
# type = "lkc-privacy"
# l =                                         # how many values of a person an adversary may know
# k =                                         # how many records every such knowledge matches, at least
# c =                                         # what share of them may be sensitive: a fraction in quotes
# sensitive = { COLUMN = ["VALUE"] }          # or { COLUMN = "every" }
#
# [[models]]
# type = "k-anonymity"
# k =                                         # how many records agree in all quasi-identifiers, at least
#
# [[models]]
# type = "differential-privacy"               # noise instead of groups; with algorithm "diffgen"
# epsilon =                                   # what one release spends, in quotes, of a budget that
#                                             # `privet ledger open` sets once, before the first release"""


@dataclass(frozen=True)
class Draft:
    """A policy that is not one yet."""

    place: str
    records: int
    form: Form
    guesses: tuple[Guess, ...]
    seen: tuple[str, ...] = field(default=())  # what to look at before anything else
    paths: Mapping[str, str] | None = None  # of trajectories: where the paths may be
    offers: tuple[Offer, ...] = ()  # tokens that may mean "missing", and nobody knows
    repeated: tuple[str, ...] = ()  # columns that seem to name people, and name some of them more than once
    persons: tuple[str, ...] = ()  # of those, the ones that seem to say whose a row is
    # how many records have each value of a column, or how many persons (by another column), the commonest
    # first; asked only for an accepted policy
    counts: Callable[..., Sequence[tuple[Value, int]]] = field(
        default=lambda *_: (), repr=False, compare=False
    )

    @property
    def doubts(self) -> tuple[str, ...]:
        """What to look at before anything else, and to say whose rows are."""
        if not self.repeated:
            return self.seen
        return (*self.seen, f"{listed(self.repeated)}: values repeat, so {asked_whose(self.persons)}")

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The columns that a release leaves out, and why in a few words."""
        return [
            (one.name, short(one.reason, one.ground))
            for one in self.guesses
            if one.role is Role.IDENTIFIER and one.name not in self.of_paths
        ]

    def _repr_html_(self) -> str:
        """Every column with its guess, and what to look at; no value."""
        rows = [
            ("of", self.place),
            ("records", self.records),
            ("columns", notebook.grid(("column", "guess", "why"), self.told())),
            ("to look at", self.doubts),
        ]
        return notebook.card("Draft", rows)

    def to_dict(self) -> dict[str, Any]:
        """The guesses for programs."""
        return {
            "records": self.records,
            "form": said(self.form),
            "columns": [
                {"name": name, "guess": said, "reason": reason}
                if name in self.of_paths
                else {
                    "name": name,
                    "guess": said,
                    "reason": reason,
                    "hierarchy": guess.hierarchy.to_policy(),
                }
                for guess, (name, said, reason) in zip(self.guesses, self.told(), strict=True)
            ],
            "doubts": list(self.doubts),
            "repeated": list(self.repeated),
            "offers": [{"column": o.column, "token": o.token, "records": o.records} for o in self.offers],
            **({} if self.paths is None else {"trajectories": dict(self.paths)}),
        }

    @property
    def of_paths(self) -> dict[str, str]:
        """The columns that paths are read from, and what each of them says."""
        return {name: key for key, name in (self.paths or {}).items() if key != "form"}

    def told(self) -> list[tuple[str, str, str]]:
        """Every column, the guess, and why."""
        return [
            (guess.name, self.of_paths[guess.name], "says where the paths are; it has no role")
            if guess.name in self.of_paths
            else (guess.name, guess.role.value, guess.reason)
            for guess in self.guesses
        ]

    def dumps(self) -> str:
        """The draft as a policy file, with its guesses as comments."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        software = f"privet {version('privet')}"
        yield f"# Drafted by {software} from {json.dumps(self.place)}: {self.records:,} records"
        yield "# Nothing is decided yet, so `privet publish` refuses: decide every role, promise something."
        yield from (f"# Look: {doubt}" for doubt in self.doubts)
        yield "policy = 1"
        yield 'kind = "table"' if self.paths is None else 'kind = "trajectories"'
        yield 'purpose = ""                                  # what the release is for'
        yield 'nulls = "value"                               # or "wildcard": null matches every value'
        yield from whose(self.repeated, self.persons)
        yield ""
        yield "[form]                                        # how the file is written"
        yield from form_lines(self.form)
        yield from self._offered()
        yield ""
        if self.paths is not None:
            yield PATHS
            yield "[trajectories]"
            yield from (f"{key} = {inline(value)}" for key, value in self.paths.items())
            if self.paths.get("form") == "points":
                yield from (f"# {key} =  # {what}" for key, what in UNFILLED.items())
            yield ""
        yield ROLES
        yield "[attributes]"
        yield from (_attribute(guess) for guess in self.guesses if guess.name not in self.of_paths)
        yield ""
        yield PROMISES if self.paths is None else PATH_PROMISES
        yield ""
        yield "[algorithm]"
        yield AUTO if self.paths is None else 'type = "suppress-points"\nsupport = "1/100"'

    def _offered(self) -> Iterator[str]:
        """Tokens that may mean "missing": the steward takes a "#" away, or leaves them values."""
        for offer in self.offers:
            known = [*self.form.missing.get(offer.column, ()), offer.token]
            many = f"{offer.records:,} record{'' if offer.records == 1 else 's'}"
            instead = ", in place of the line above" if len(known) > 1 else ""
            yield f"# missing.{key_of(offer.column)} = {inline(known)}  # in {many}: missing?{instead}"


def asked_whose(persons: Sequence[str]) -> str:
    """What a steward is asked where something that names people repeats; a column only if it may say it."""
    claim = 'rows = "persons", which claims that each row is a person of its own'
    either = f'person = "{persons[0]}", whose rows with one value are one person\'s, or ' if persons else ""
    return f"a person may have several rows; say {either}{claim}"


def whose(repeated: Sequence[str], persons: Sequence[str]) -> Iterator[str]:
    """Whose rows are, to be said where something that names people repeats: publishing refuses until then."""
    if not repeated:
        return
    yield '# A person may have several rows here. Say whose they are: take one "#" away.'
    for name in persons:
        yield f"# person = {inline(name)}  # rows with the same one are one person's, who counts once"
    yield '# rows = "persons"  # each row is a person of its own, whatever repeats'


def form_lines(form: Form) -> Iterator[str]:
    """The form line by line; tokens of columns each on its own line, so that another can stand beside."""
    for key, value in said(form).items():
        if isinstance(value, Mapping):
            yield from (f"{key}.{key_of(name)} = {inline(below)}" for name, below in value.items())
        else:
            yield f"{key} = {inline(value)}"


def said(form: Form) -> dict[str, Any]:
    every = {
        "format": form.format,
        "delimiter": form.delimiter,
        "encoding": form.encoding,
        "nulls": list(form.nulls),
        "query": form.query,
        "sheet": form.sheet,
        "header": None if form.header else False,
        "trim": form.trim or None,
        "numbers": dict(form.numbers) or None,
        "missing": {name: list(tokens) for name, tokens in form.missing.items()} or None,
    }
    return {key: value for key, value in every.items() if value is not None}


def _attribute(guess: Guess) -> str:
    key = key_of(guess.name)
    rule = f"hierarchy = {inline(guess.hierarchy.to_policy())}"
    comment = f"{guess.role.value}? {guess.reason}"
    if guess.role is Role.QUASI:
        return f'{key} = {{ role = "undecided", {rule} }}  # {comment}'
    if guess.role is not Role.IDENTIFIER:
        comment += f"; if quasi: {rule}"
    return f'{key} = {{ role = "undecided" }}  # {comment}'


def key_of(name: str) -> str:
    """A name as TOML wants its keys."""
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def inline(value: object) -> str:
    match value:
        case Mapping():
            return "{ " + ", ".join(f"{key_of(key)} = {inline(below)}" for key, below in value.items()) + " }"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return "[" + ", ".join(map(inline, value)) + "]"
        case str():
            return json.dumps(value, ensure_ascii=True)
        case _:
            return str(value)
