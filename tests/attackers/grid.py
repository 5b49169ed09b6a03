"""Attack against promise: what every attack on tables gets, by promise, on one sample.

`python -m tests.attackers.grid` prints the table of docs/explain/attacks.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

import privet as pv
from privet.attackers.attack import Judged, Outcome
from privet.samples import SAMPLES

SECRET = "surgery"
PROMISES: dict[str, dict[str, Any]] = {
    "k-anonymity": {"type": "k-anonymity", "k": 5},
    "LKC": {"type": "lkc-privacy", "l": 2, "k": 5, "c": "1/2", "sensitive": [SECRET]},
    "distinct l": {"type": "distinct-l-diversity", "l": 3, "sensitive": [SECRET]},
    "entropy l": {"type": "entropy-l-diversity", "l": 3, "sensitive": [SECRET]},
    "t-closeness": {"type": "t-closeness", "t": "1/4", "sensitive": [SECRET], "distance": "equal"},
    "beta-likeness": {"type": "beta-likeness", "beta": 1, "sensitive": [SECRET]},
}
ROWS = {  # what an attack is after, as its goal says it
    "linkage, the record, all values known": ("linkage", "the record of a person of whom 5"),
    "linkage, the record, two known": ("linkage", "the record of a person of whom 2"),
    "register": ("register", "the record"),
    "homogeneity": ("homogeneity", SECRET),
    "skewness": ("skewness", SECRET),
    "singling out": ("singling-out", "sentence"),
    "downcoding": ("downcoding", "end of its range"),
    "minimality": ("minimality", SECRET),
}


def attacked(promise: dict[str, Any], rows: int) -> list[Outcome]:
    """Everything that applies, on a release that keeps this promise."""
    sample = SAMPLES["patients"]
    raw = pl.DataFrame(sample.generate(rows=rows, seed=0))
    policy = pv.Policy.loads(sample.policy())
    (model,) = pv.Policy.from_document(
        {
            "policy": 1,
            "attributes": {SECRET: {"role": "sensitive"}, "age": {"role": "quasi"}},
            "models": [promise],
            "algorithm": {"type": "top-down"},
        },
        base=None,  # type: ignore[arg-type]
    ).models
    release = pv.publish(raw, replace(policy, models=(model,)))
    people = raw.select("job", "sex", "age", "zip")
    names = {attack for attack, _ in ROWS.values()}
    return list(pv.attack(release, raw=raw, known=people, only=sorted(names)).outcomes)


def cell(outcomes: list[Outcome], attack: str, goal: str) -> Outcome | None:
    return next((one for one in outcomes if one.attack == attack and goal in one.goal), None)


def shown(one: Outcome | None) -> str:
    """How often it succeeds, guessing in brackets; where it is bounded, the worst case and its bound."""
    if one is None:
        return "not tried"
    got = f"{one.rate:.0%} ({one.baseline:.0%})"
    if one.judged is Judged.NOT_COVERED:
        return got
    return f"{got}; **{'' if one.worst is None else f'{one.worst:.0%} '}of {one.allowed:.0%}**"


def main(rows: int = 1000) -> None:
    found = {name: attacked(promise, rows) for name, promise in PROMISES.items()}
    print("| attack |", " | ".join(PROMISES), "|")
    print("|---|" + "---|" * len(PROMISES))
    for row, (attack, goal) in ROWS.items():
        print("|", row, "|", " | ".join(shown(cell(found[name], attack, goal)) for name in PROMISES), "|")


if __name__ == "__main__":
    main()
