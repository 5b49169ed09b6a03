"""A first policy for documents that nobody has described yet: paths, types, candidates for roles.

A draft guesses and decides nothing: every field is undecided, so that publishing refuses until somebody has
thought. It holds names and counts, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import tomli_w

from privet import notebook
from privet.core import Role
from privet.drafts import lexicon
from privet.drafts.guess import guess
from privet.engines import text
from privet.engines.documents import jsontext
from privet.engines.documents.draft import LOOKED_AT, Draft, DraftField, DraftType, draft
from privet.engines.documents.files import FORMATS
from privet.errors import InputError, MissingExtraError

ROLES = """\
# What each field is. Fields that are in no list are never published, and stop the road unless
# `undeclared = "drop"` stands under [documents]. Move every field out of `undecided` into
#   identifier  names a person: it is not published
#   quasi       others may know it about a person: generalised along its hierarchy, as far as needed
#   sensitive   what nobody may learn about a person: published as it is; one for each type at most
#   other       published as it is, because nobody could know it and nobody minds
# Behind each "#" stands a guess. To drop a list of children with all that is below, take its key out of
# `children`, name it under `identifier`, and delete its types."""

PROMISES = """\
# Hierarchies of quasi-identifiers, and buckets of sensitive numbers, as type.field:
# [documents.attributes]
# "TYPE.FIELD" = { hierarchy = { type = "intervals", width = [5, 10, 20] } }  # numbers need widths here
# "TYPE.FIELD" = { hierarchy = { type = "auto" } }                             # dates and codes
# "TYPE.FIELD" = { buckets = { from = 0, to = 100, width = 10 } }
#
# What is promised: at least one. Privacy parameters have no default: decide, and take the "#" away.
#
# [[models]]
# type = "document-l-diversity"
# l =                                         # how many records are alike, and values differ at a vertex
#
# or, with trees in two halves whose quasi-identifiers stay exact: type = "anatomy-l-diversity" above, and
# [algorithm]
# type = "tree-anatomy" """


@dataclass(frozen=True)
class DocumentDraft:
    """A policy that is not one yet."""

    place: str
    found: Draft

    @property
    def records(self) -> int:
        return self.found.records

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Every field, for people: its path, how often it is there, a guess and the reason."""
        return [
            (f"{type_.name}.{f.name}", f"{f.there:,}", _role(f), _reason(f))
            for type_ in self.found.types
            for f in type_.fields
        ]

    def _repr_html_(self) -> str:
        """Every field with its guess; no value."""
        fields = notebook.grid(("field", "there", "guess", "why"), self.rows())
        return notebook.card(
            "DocumentDraft", [("of", self.place), ("records", self.records), ("fields", fields)]
        )

    def to_dict(self) -> dict[str, Any]:
        """The guesses for programs."""
        return {
            "kind": "documents",
            "records": self.found.records,
            "format": self.found.format,
            "place": self.found.place,
            "types": [
                {
                    "type": type_.name,
                    "path": type_.path,
                    "vertices": type_.vertices,
                    "fields": [
                        {"name": f.name, "there": f.there, "guess": _role(f), "reason": _reason(f)}
                        for f in type_.fields
                    ],
                    "children": [
                        {
                            "key": c.key,
                            "type": c.type,
                            "fewest": c.fewest,
                            "most": c.most,
                            "mean": round(c.mean, 3),
                        }
                        for c in type_.children
                    ],
                }
                for type_ in self.found.types
            ],
        }

    def dumps(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        plain = self.found.plain()
        software = f"privet {version('privet')}"
        yield f"# Drafted by {software} from {json.dumps(self.place)}: {self.records:,} records"
        yield "# Nothing is decided yet, so `privet publish` refuses: decide every field, promise something."
        yield "policy = 1"
        yield 'kind = "documents"'
        yield 'purpose = ""                                  # what the release is for'
        yield ""
        if self.found.doctype:
            yield "[documents]"
            yield "doctype = true                                # the file names one; entities are refused"
            yield ""
        yield "[documents.record]                            # where the records are, and what they are"
        yield from (f"{key} = {json.dumps(value)}" for key, value in plain["record"].items())
        yield ""
        yield ROLES
        for type_ in self.found.types:
            yield ""
            yield from self._type(type_, plain["types"][type_.name])
        if plain["attributes"]:
            yield ""
            yield tomli_w.dumps({"documents": {"attributes": plain["attributes"]}}).rstrip()
        yield ""
        yield PROMISES

    def _type(self, type_: DraftType, said: dict[str, Any]) -> Iterator[str]:
        where = f"{type_.vertices:,} of them at {json.dumps(type_.path)}"
        yield f"[documents.types.{_key(type_.name)}]  # {where}"
        if type_.fields:
            yield "undecided = ["
            yield from (f"    {json.dumps(f.name)},  # {_role(f)} {_reason(f)}" for f in type_.fields)
            yield "]"
        else:
            yield f"quasi = {json.dumps(said['quasi'])}  # it has no field of its own; this one stays empty"
        if type_.children:
            yield ""
            yield f"[documents.types.{_key(type_.name)}.children]"
        for c in type_.children:
            many = f"{c.fewest} to {c.most:,} in each, {c.mean:.1f} on average"
            yield f"{_key(c.key)} = {json.dumps(c.type)}  # {many}"


def drafted(path: Path, kind: str | None = None) -> DocumentDraft:
    """Look at every record of a file, one at a time; names of document types are accepted here."""
    return DocumentDraft(str(path), draft(path, kind, of_field, doctype=True))


def looks_nested(data: str, kind: str | None = None) -> bool:
    """Is this a file of documents rather than a table? JSON is, when a record holds another."""
    path = Path(data)
    if text.is_url(data) or not path.is_file():
        return False
    name = path.with_suffix("") if path.suffix == ".gz" else path
    form = kind or FORMATS.get(name.suffix.lower())
    if form not in FORMATS.values():
        return False
    if form == "xml":
        return True
    try:
        place = jsontext.LINES if form == "jsonl" else jsontext.place_of_records(path)
        if place not in {jsontext.LINES, jsontext.ARRAY}:
            return True  # records below a key of one object
        first = list(islice(jsontext.records(path, place), 100))
    except MissingExtraError:
        if form == "jsonl":
            return False
        raise
    except InputError:
        return False  # whoever reads it as a table says what is wrong
    if form == "json" and len(first) == 1 and place == jsontext.LINES:
        return True  # one object is no table of persons
    return any(
        isinstance(value, (dict, list)) for one in first if isinstance(one, dict) for value in one.values()
    )


def not_by_preset(data: str) -> InputError:
    """What to do with documents, for which there are no presets."""
    return InputError(
        f"{data}: its records hold lists or objects, and presets are for tables and trajectories: draft a "
        "policy for documents with `privet init FILE`, decide its fields and promise document-l-diversity "
        "with an l of your own in it; or write the records as flat lines, one value for each column"
    )


def _role(f: DraftField) -> str:
    guess = f.guess or Role.QUASI
    return f"{(Role.SENSITIVE if guess is Role.TARGET else guess).value}?"  # trees have no target


def _reason(f: DraftField) -> str:
    more = " or more" if f.distinct == LOOKED_AT else ""
    values = f"{f.distinct:,}{more} different value{'s' if f.distinct != 1 else ''}"
    values += ", all numbers" if f.numbers else ""
    return f"{f.because or 'in doubt, others may know it'} ({values})"


def _key(name: str) -> str:
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def from_name(name: str) -> tuple[Role, str] | None:
    """What a name alone says, for data that is not a table; of a path all parts count ("name.first")."""
    if lexicon.numbered(name) or lexicon.an_entry(name):
        return Role.IDENTIFIER, "the name speaks of the number of a person or of an entry"
    if lexicon.STAFF.speak(name):
        return Role.IDENTIFIER, "the name speaks of a person who works there"
    for role, words, reason in (
        (Role.SENSITIVE, lexicon.SENSITIVE, "the name speaks of health, money, belief or judgement"),
        (Role.IDENTIFIER, lexicon.IDENTIFIERS, "the name speaks of one person"),
        (Role.TARGET, lexicon.TARGETS, "the name speaks of something to predict"),
        (Role.QUASI, lexicon.QUASI, "others may know this about a person"),
    ):
        if words.speak(name):
            return role, reason
    return None


def of_field(name: str, values: Collection[str] = (), there: int = 0) -> tuple[Role, str] | None:
    """What a field of a document may be: by its name, and where its values name somebody, by them."""
    said = from_name(name)
    if not values or (said is not None and said[0] is Role.IDENTIFIER):
        return said
    found = guess(name, sorted(values), max(there, len(values)))
    if found.role is Role.IDENTIFIER or (said is None and found.role is Role.SENSITIVE):
        return found.role, found.reason.rpartition(" (")[0] or found.reason
    return said
