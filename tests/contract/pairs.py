"""An example of every registered model and algorithm, and policies that put them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from random import Random
from typing import Any

import polars as pl

import privet as pv
from privet import registry

Table = Mapping[str, Any]

TREE = {"any": {"x": ["a", "b"], "y": ["c", "d"]}}
STUDY = {"subset": "study", "values": ["yes"]}

# What a policy says of each model. One without an entry is tried with no parameters at all.
MODELS: Mapping[str, Table] = {
    "k-anonymity": {"k": 3},
    "lkc-privacy": {"l": 1, "k": 2, "c": "9/10", "sensitive": {"ill": ["a"]}},
    "confidence-bounding": {"sensitive": {"ill": {"a": "9/10"}}},
    "alpha-k-anonymity": {"alpha": "9/10", "k": 2, "sensitive": ["ill"]},
    "p-sensitive-k-anonymity": {"p": 2, "k": 3, "sensitive": ["ill"]},
    "distinct-l-diversity": {"l": 2, "sensitive": ["ill"]},
    "entropy-l-diversity": {"l": 2, "sensitive": ["ill"]},
    "recursive-l-diversity": {"c": 3, "l": 2, "sensitive": ["ill"]},
    "t-closeness": {"t": "1/2", "sensitive": ["ill"], "distance": "equal"},
    "beta-likeness": {"beta": 2, "sensitive": ["ill"]},
    "enhanced-beta-likeness": {"beta": 2, "sensitive": ["ill"]},
    "delta-disclosure": {"delta": 3, "sensitive": ["ill"]},
    "personalised-privacy": {"at_most": "9/10", "sensitive": ["ill"], "guard": "guard", "tree": TREE},
    "average-risk": {"at_most": "1/3"},
    "maximum-risk": {"at_most": "1/3"},
    "records-at-risk": {"above": "1/3", "at_most": "1/10"},
    "safe-harbor": {"ages": ["age"]},
    "sample-uniqueness": {"at_most": "1/10"},
    "population-uniqueness": {"at_most": "1/10", "fraction": "1/5"},
    "k-map": {"k": 3, **STUDY},
    "delta-presence": {"low": 0, "high": "9/10", **STUDY},
    "differential-privacy": {"epsilon": 1},
}
# Of algorithms, only what has no default.
ALGORITHMS: Mapping[str, Table] = {
    "condensation": {"k": 3},
    "pram": {"keep": "1/2"},
    "rank-swap": {"within": "1/4"},
    "sampling": {"share": "3/4"},
}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"type": "intervals"}},
    "hours": {"role": "quasi", "hierarchy": {"type": "intervals"}},
    "ill": {"role": "sensitive"},
}


@cache
def installed(kind: str) -> dict[str, registry.Installed]:
    """What there is; asked once, since plug-ins are looked for in every package."""
    return registry.installed(kind)


def every(kind: str) -> list[str]:
    """The names of what is built in and serves tables."""
    return [name for name, one in installed(kind).items() if not one.plugin and "table" in kinds(kind, name)]


def kinds(kind: str, name: str) -> tuple[str, ...]:
    found: tuple[str, ...] = installed(kind)[name].load().kinds
    return found


def example(kind: str, name: str, **more: Any) -> dict[str, Any]:
    """The table of a policy that names it."""
    said = (MODELS if kind == "models" else ALGORITHMS).get(name, {})
    return {"type": name, **said, **more}


def lacks(kind: str, name: str) -> list[str]:
    """The keys that have no default and no example here."""
    made = installed(kind)[name].load()
    needed = {
        f.name for f in fields(made) if f.init and f.default is MISSING and f.default_factory is MISSING
    }
    return sorted(needed - set(example(kind, name)))


def policy_of(models: Iterable[str | Table], algorithm: str | Table, **columns: Any) -> pv.Policy:
    """A policy for the tables below; models bring the columns that they speak of."""
    promised = [example("models", m) if isinstance(m, str) else dict(m) for m in models]
    attributes: dict[str, Any] = {**COLUMNS, **columns}
    document: dict[str, Any] = {"policy": 1, "attributes": attributes, "models": promised}
    for model in promised:
        if "guard" in model:
            attributes["guard"] = {"role": "sensitive"}
        if "subset" in model:
            attributes["study"] = {"role": "sensitive"}
            document["publish_only"] = {"study": model["values"]}
    document["algorithm"] = (
        example("algorithms", algorithm) if isinstance(algorithm, str) else dict(algorithm)
    )
    return pv.Policy.from_document(document, base=None)  # type: ignore[arg-type]


def easy() -> pl.DataFrame:
    """Four classes of twelve records, alike in everything else: it keeps most promises as it stands."""
    rows = range(48)
    return pl.DataFrame(
        {
            "age": [30 + at % 2 for at in rows],
            "hours": [20 + at // 2 % 2 for at in rows],
            "ill": ["abcd"[at // 4 % 4] for at in rows],
            "pay": ["lmh"[at // 4 % 3] for at in rows],
            "guard": [["a", None, "x"][at // 16] for at in rows],
            "study": ["yes" if at // 4 % 2 else "no" for at in rows],
            "town": ["AB"[at % 2] for at in rows],
        }
    )


def table_of(seed: int, rows: int = 40) -> pl.DataFrame:
    """A random table, with classes of many sizes and values of several kinds."""
    chance = Random(seed)
    spread = chance.choice([4, 12, 40])
    return pl.DataFrame(
        {
            "age": [20 + chance.randrange(spread) for _ in range(rows)],
            "hours": [chance.randrange(5) * 10 for _ in range(rows)],
            "ill": ["abcd"[at % 4] for at in chance.sample(range(rows), rows)],
            "pay": ["lmh"[chance.randrange(3)] for _ in range(rows)],
            "guard": chance.choices([None, "x", "a", "any"], [6, 1, 1, 0], k=rows),
            "study": chance.choices(["yes", "no"], k=rows),
            "town": ["ABC"[chance.randrange(3)] for _ in range(rows)],
        }
    )
