"""One piece of a peer's work, timed; run by the Python of the peers' own environment.

Nothing of privet is imported here: the environment has the peers and what they need, and no more.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")  # the peers' own, about their dependencies


def mondrian(table: Any, quasi: list[str], sensitive: str, k: int, _: Path) -> Callable[[], int]:
    anonypy: Any = import_module("anonypy")

    frame = table.copy()
    for name in quasi:
        if name != "age":
            frame[name] = frame[name].astype("category")
    search = anonypy.Preserver(frame, quasi, sensitive)
    return lambda: len(search.anonymize_k_anonymity(k=k))


def full_domain(table: Any, quasi: list[str], _: str, k: int, folder: Path) -> Callable[[], int]:
    import pandas as pd

    anonymity: Any = import_module("anjana.anonymity")
    ladders = {}
    for name in quasi:
        levels = pd.read_csv(folder / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
        ladders[name] = {at: levels[at].to_numpy() for at in levels.columns}
    frame = table.astype(str)
    return lambda: len(anonymity.k_anonymity(frame, [], quasi, k, 5, ladders))


def check(table: Any, quasi: list[str], sensitive: str, _k: int, _: Path) -> Callable[[], int]:
    anonymity: Any = import_module("pycanon.anonymity")

    def every() -> int:
        anonymity.k_anonymity(table, quasi)
        for measure in (
            anonymity.alpha_k_anonymity,
            anonymity.l_diversity,
            anonymity.entropy_l_diversity,
            anonymity.recursive_c_l_diversity,
            anonymity.basic_beta_likeness,
            anonymity.enhanced_beta_likeness,
            anonymity.delta_disclosure,
            anonymity.t_closeness,
        ):
            measure(table, quasi, [sensitive])
        return len(table)

    return every


WORK = {"mondrian": mondrian, "full-domain": full_domain, "check": check}


def main() -> None:
    import pandas as pd

    what, data, folder, k, sensitive, *quasi = sys.argv[1:]
    table = pd.read_csv(data)
    work = WORK[what](table, quasi, sensitive, int(k), Path(folder))
    begun = time.process_time()
    rows = work()
    print(json.dumps({"seconds": time.process_time() - begun, "rows": rows}))


if __name__ == "__main__":
    main()
