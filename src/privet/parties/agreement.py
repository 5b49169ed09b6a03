"""What every document has that parties sign: names, keys and a digest.

There are three kinds: a `contract` for one release, `mining` for frequent itemsets, a `database` that stays
where its rows are and answers questions.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from privet import equality, tomltext
from privet.errors import PolicyError
from privet.parties import names

Made = TypeVar("Made")


class Agreement(Protocol):
    """What parties have signed."""

    @property
    def parties(self) -> tuple[str, ...]: ...

    @property
    def keys(self) -> Mapping[str, str]:
        """By party its public key, in base 64."""

    @property
    def purpose(self) -> str: ...

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of what was agreed on, however its file is written."""


def digest_of(document: Mapping[str, Any]) -> bytes:
    """The digest of a document as `to_document` makes it: keys where it has them, not as a file had them.

    What is left of a file's order is meaning: of columns, of a tree's branches and of protected values
    parties speak by number, so whoever has them in another order has not agreed on the same.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def read(path: Path) -> dict[str, Any]:
    """The document in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(f"{path}: no such file") from None
    except (ValueError, IsADirectoryError):
        raise PolicyError(f"{path}: this is not a TOML file") from None
    return tomltext.document(text, f"{path}: this is not a TOML file")


def _named(said: Any) -> Any:
    """What a file says, with names as they are compared everywhere: é is one letter, however composed."""
    if isinstance(said, list):
        return [_named(one) for one in said]
    if not isinstance(said, Mapping):
        return said
    found = {equality.name(name): _named(one) for name, one in said.items()}
    if len(found) < len(said):
        raise PolicyError("two names of a table are the same letters, composed differently; keep one")
    return found


def loaded(path: Path, made: Callable[[Mapping[str, Any]], Made]) -> Made:
    """What a file says, made into what it is; complaints name the file."""
    document = read(path)
    try:
        return made(_named(document))
    except PolicyError as error:
        raise error.at(str(path)) from None


def wrong_names(parties: Sequence[Any], what: str = "parties") -> list[str]:
    """What is wrong with what parties are called, and with how many there are."""
    if len(parties) > names.MOST:
        return [f"{what}: {names.MOST} at most, not {len(parties):,}: every two of them talk to each other"]
    if not all(map(names.is_name, parties)):
        return [f"{what}: each is {names.RULE}, of one alphabet and in composed form (NFKC)"]
    if len(set(parties)) < len(parties):
        return [f"{what}: each has a name of its own"]
    return [
        f"{what}: {one} and {other} look alike: a reader takes one for the other; rename one of them"
        for one, other in names.alike(parties)
    ]


def wrong_keys(keys: Mapping[str, str], parties: Sequence[str]) -> list[str]:
    """What is wrong with the parties' public keys."""
    complaints = [f"keys.{party}: no such party" for party in keys if party not in parties]
    complaints += [
        f"keys.{party}: a public key is 32 bytes in base 64; `privet key make` shows it"
        for party, key in keys.items()
        if not _is_key(key)
    ]
    if keys and set(keys) != set(parties):
        complaints.append("keys: of every party, or of none")
    if len(set(keys.values())) < len(keys):
        complaints.append("keys: each party has a key of its own")
    return complaints


def keys_of(document: Mapping[str, Any], complaints: list[str]) -> dict[str, str]:
    """The table of keys, or a complaint about it."""
    keys = document.get("keys", {})
    if not isinstance(keys, Mapping) or not all(isinstance(key, str) for key in keys.values()):
        complaints.append("keys: a table of parties and their public keys; `privet key make` makes one")
        return {}
    return dict(keys)


def _is_key(text: str) -> bool:
    try:
        return len(b64decode(text, validate=True)) == 32
    except ValueError:
        return False
