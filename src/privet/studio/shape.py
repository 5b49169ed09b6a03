"""A policy while it is being decided: the shape that pages edit, before the whole is a policy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from privet import tomltext
from privet.core import Form
from privet.errors import InputError, PrivetError
from privet.policy.notation import fill

Document: TypeAlias = dict[str, Any]
POLICY = "policy.toml"
TRAJECTORIES, TRANSACTIONS, DOCUMENTS = "trajectories", "transactions", "documents"  # kinds besides tables
TABLES = ("attributes", "form", "algorithm", "documents", "trajectories", "transactions")
TEXTS = ("kind", "person", "rows", "purpose", "nulls")  # of a policy


@dataclass(frozen=True)
class Taken:
    """What data is taken for: a kind, and of sets where they are."""

    kind: str
    said: str = ""  # the table [transactions] as text, so that values of this compare
    form: str = ""  # the table [form] as text: what is missing, and how numbers are written

    @property
    def where(self) -> Document | None:
        return tomllib.loads(self.said) if self.said else None

    @property
    def own(self) -> Form | None:
        """The form that the policy says; None: it says none, or one for which it is refused."""
        if not self.form:
            return None
        try:
            found: Form = fill(Form, tomllib.loads(self.form))
        except PrivetError:
            return None
        return found

    @property
    def is_encoded(self) -> bool:
        """Does the policy say how the file is encoded? Then nobody guesses: it is published as it says."""
        return "encoding" in tomllib.loads(self.form)

    def read_as(self, query: str | None) -> Form:
        """How the file is written as far as the policy says it; the rest is for a draft to guess."""
        own = self.own or Form()
        plain = Form()
        return replace(
            own, query=query or own.query, nulls=plain.nulls, missing=plain.missing, numbers=plain.numbers
        )

    def formed(self, guessed: Form) -> Form:
        """The form of the data as it was guessed, with what the policy says of its values."""
        own = self.own
        if own is None:
            return guessed
        return replace(guessed, nulls=own.nulls, missing=own.missing, numbers=own.numbers)


def shaped(text: str) -> Document:
    """A policy whose parts have the shape that pages edit; whether it is one already is another question."""
    found = dict(tomltext.document(text, POLICY))
    tables = {key: found[key] for key in TABLES if key in found}
    if isinstance(documents := found.get("documents"), dict) and "types" in documents:
        tables["types"] = documents["types"]
    for key in ("attributes", "types"):
        below = tables.get(key)
        tables |= {f"{key}.{name}": one for name, one in below.items()} if isinstance(below, dict) else {}
    tables |= {
        f"{name}.hierarchy": one["hierarchy"]
        for name, one in tables.items()
        if name.startswith("attributes.") and isinstance(one, dict) and "hierarchy" in one
    }
    models = found.get("models", [])
    tables |= {f"models.{at}": one for at, one in enumerate(models if isinstance(models, list) else [None])}
    wrong = [f"{POLICY}: {key}: this is a table" for key, one in tables.items() if not isinstance(one, dict)]
    wrong += [f"{POLICY}: {key}: this is a text" for key in TEXTS if not isinstance(found.get(key, ""), str)]
    if wrong:
        raise InputError(*wrong)
    return found


def trees(said: object) -> Iterator[str]:
    """The files of trees that a policy names: of columns, of fields of documents, of the items of sets."""
    for key, below in said.items() if isinstance(said, dict) else ():
        if key == "hierarchy" and isinstance(below, dict) and isinstance(below.get("path"), str):
            yield below["path"]
        yield from trees(below)


def undecided(document: Document) -> Iterator[str]:
    """The columns and fields that nobody has decided about."""
    for name, said in document.get("attributes", {}).items():
        if isinstance(said, dict) and said.get("role") == "undecided":
            yield name
    for kind, said in document.get("documents", {}).get("types", {}).items():
        yield from (f"{kind}.{name}" for name in said.get("undecided", ()))
