"""A policy as it may be handed out, and one that was received: it names no file.

A policy at home may name files: a hierarchy, a key, a ledger, stops. In a release none of them is needed to
check it, where they lie is nobody else's business, and a policy from a stranger that names one would make the
receiver read it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import tomli_w

from privet.errors import PolicyError
from privet.policy.values import Policy

KEYS = ("key_file", "key_env")  # where a secret lies
PLACES = {"trajectories": ("stops",)}  # of a kind's own table: what names a file
HIERARCHIES = ("hierarchy", "zones")  # tables in which `path` names a file


def dumps(policy: Policy) -> str:
    """The text of a policy in a release: without what names a file or a secret."""
    document = policy.to_document()
    document.pop("ledger", None)
    for attribute in document.get("attributes", {}).values():
        for key in KEYS:
            attribute.pop(key, None)
    for kind, keys in PLACES.items():
        for key in keys:
            document.get(kind, {}).pop(key, None)
    return tomli_w.dumps(document)


def load(path: Path) -> Policy:
    """The policy of a release; refused before anything that it names is opened."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PolicyError(f"{path}: no such file; this is not a whole release") from None
    except (ValueError, RecursionError):
        raise PolicyError(f"{path}: this is not TOML") from None
    try:
        named = files_of(document)
        return _refused(named) if named else Policy.from_document(document, base=path.parent)
    except RecursionError:
        raise PolicyError(f"{path}: tables stand too deep in each other") from None
    except PolicyError as error:
        raise error.at(str(path)) from None


def spelling(path: Path, policy: Policy) -> list[str]:
    """A file that says more than its policy: remarks, blanks, another order of keys."""
    if path.read_text(encoding="utf-8") == dumps(policy):
        return []
    return [f"{path.name} holds more than the policy (remarks?), or is not written as privet writes it"]


def _refused(named: list[str]) -> NoReturn:
    raise PolicyError(*(f"{place}: a policy in a release names no file" for place in named))


def files_of(document: Mapping[str, Any]) -> list[str]:
    """The places of a policy's document that name a file or a secret."""
    found = ["ledger"] if "ledger" in document else []
    for kind, keys in PLACES.items():
        table = document.get(kind)
        found += [f"{kind}.{key}" for key in keys if isinstance(table, Mapping) and key in table]
    models = document.get("models")
    for at, model in enumerate(models if isinstance(models, list) else ()):
        if isinstance(model, Mapping) and "path" in model:
            found.append(f"models[{at}].path")
    return [*found, *_inside(document, "", arranged=False)]


def _inside(value: Any, place: str, *, arranged: bool) -> Iterator[str]:
    """Keys and files of hierarchies, however deep; `arranged`: inside a hierarchy."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            here = f"{place}.{key}" if place else str(key)
            here = here if len(here) <= 120 and here.isprintable() else "a long place"
            if isinstance(one, str) and (key in KEYS or (arranged and key == "path")):
                yield here
            # The labels of a tree are keys too: only the table itself may have a path.
            inner = key in HIERARCHIES
            yield from _inside(one, here, arranged=inner)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _inside(one, f"{place}[{at}]", arranged=arranged)
