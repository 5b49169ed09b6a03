"""Run in an environment of its own, which has anonymeter and not privet: reads two tables, prints counts."""

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    import pandas as pd  # noqa: PLC0415 - of the other environment
    from anonymeter.evaluators import (  # noqa: PLC0415
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    warnings.simplefilter("ignore")
    asked = json.loads((folder / "asked.json").read_text(encoding="utf-8"))
    raw, released = (
        pd.read_csv(folder / name, dtype=str, keep_default_na=False).astype(object)
        for name in ("raw.csv", "released.csv")
    )
    quasi, many = asked["quasi"], asked["attacks"]
    half = len(quasi) // 2
    made: list[tuple[str, Callable[[], Any]]] = [
        (
            "a predicate that singles one person out",
            lambda: SinglingOutEvaluator(
                ori=raw, syn=released, n_attacks=many, max_attempts=20_000, seed=asked["seed"]
            ).evaluate(mode="multivariate"),
        ),
        (
            "two halves of a person's record, linked",
            lambda: LinkabilityEvaluator(
                ori=raw, syn=released, aux_cols=(quasi[:half], quasi[half:]), n_attacks=many, n_neighbors=1
            ).evaluate(n_jobs=1),
        ),
    ]

    def inferred(secret: str) -> Any:
        return InferenceEvaluator(
            ori=raw, syn=released, aux_cols=quasi, secret=secret, n_attacks=many
        ).evaluate(n_jobs=1)

    made += [
        (f"{secret} of a person, by the nearest record", partial(inferred, secret))
        for secret in asked["secrets"]
    ]
    found = []
    for goal, run in made:
        try:
            results = run().results()
        except Exception as error:  # noqa: BLE001 - one evaluator that fails must not hide the others
            sys.stderr.write(f"{goal}: {type(error).__name__}\n")
            continue
        tried = int(results.n_attacks_ori)
        found.append(
            {
                "goal": goal,
                "tried": max(tried, 1),
                "succeeded": min(int(results.n_success), max(tried, 1)),
                "baseline": int(results.n_baseline) / max(int(results.n_attacks_baseline), 1),
                "note": "anonymeter's own guessing is the baseline",
            }
        )
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
