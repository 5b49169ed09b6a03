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


Work = Callable[[], Any]  # what is timed
Loss = Callable[[Any], Any]  # what its result has lost


def share(values: int, column: Any) -> float:
    """Of a column's other values, those that a label of so many could mean."""
    return (values - 1) / max(1, int(column.nunique()) - 1)


def prepared(table: Any, quasi: list[str]) -> tuple[Any, dict[str, Any]]:
    """The table as anonypy takes it, and the numbers of each column of numbers."""
    frame, numbers = table.copy(), {}
    for name in quasi:
        if table[name].dtype.kind in "if":  # from 0 on: what it writes of -1 and 2 is -1-2
            least = table[name].min()
            frame[name] = (table[name] - least).fillna(-1) + 1
            numbers[name] = frame[name].drop_duplicates()
        else:  # without commas, of which it makes its lists
            frame[name] = (table[name].astype("category").cat.codes + 1).astype(str).astype("category")
    return frame, numbers


def classes(table: Any, quasi: list[str], sensitive: str, k: int, _: Path) -> tuple[Work, Loss]:
    """Which class each row is in; what that loses is measured by whoever asked."""
    search = import_module("anonypy").mondrian.Mondrian(prepared(table, quasi)[0], quasi, sensitive)

    def of_rows(parts: Any) -> list[int]:
        found = [0] * len(table)
        for at, rows in enumerate(parts):
            for row in rows:
                found[int(row)] = at
        return found

    return lambda: search.partition(k), of_rows


def mondrian(table: Any, quasi: list[str], sensitive: str, k: int, _: Path) -> tuple[Work, Loss]:
    anonypy: Any = import_module("anonypy")
    frame, numbers = prepared(table, quasi)
    search = anonypy.Preserver(frame, quasi, sensitive)

    def width(name: str, said: str) -> float:
        if name not in numbers:
            return share(len(said.split(",")), frame[name])
        low, high = (said.split("-") * 2)[:2]
        return share(int(numbers[name].between(float(low), float(high)).sum()), frame[name])

    def lost(rows: Any) -> float:
        seen: dict[tuple[str, str], float] = {}
        total = 0.0
        for row in rows:
            for name in quasi:
                said = str(row[name][0])
                if (name, said) not in seen:
                    seen[name, said] = width(name, said)
                total += row["count"] * seen[name, said]
        return total / len(table) / len(quasi)

    return lambda: search.anonymize_k_anonymity(k=k), lost


def full_domain(table: Any, quasi: list[str], _: str, k: int, folder: Path) -> tuple[Work, Loss]:
    import pandas as pd

    anonymity: Any = import_module("anjana.anonymity")
    ladders = {}
    for name in quasi:
        levels = pd.read_csv(folder / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
        ladders[name] = {at: levels[at].to_numpy() for at in levels.columns}
    frame = table.astype(str)

    def lost(found: Any) -> float:
        total = float(len(quasi) * (len(table) - len(found)))  # a record that is gone could mean any
        for name in quasi:
            occurs = set(frame[name])
            rows = [row for row in zip(*ladders[name].values(), strict=True) if row[0] in occurs]
            for said, times in found[name].astype(str).value_counts().items():
                total += times * share(sum(said in row for row in rows), frame[name])
        return total / len(table) / len(quasi)

    return lambda: anonymity.k_anonymity(frame, [], quasi, k, 5, ladders), lost


def check(table: Any, quasi: list[str], sensitive: str, _k: int, _: Path) -> tuple[Work, Loss]:
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

    return every, lambda _: None


WORK = {"classes": classes, "mondrian": mondrian, "full-domain": full_domain, "check": check}


def main() -> None:
    import pandas as pd

    what, data, folder, k, sensitive, *quasi = sys.argv[1:]
    table = pd.read_csv(data)
    work, lost = WORK[what](table, quasi, sensitive, int(k), Path(folder))
    begun = time.process_time()
    found = work()
    seconds = time.process_time() - begun
    print(json.dumps({"seconds": seconds, "ncp": lost(found)}))


if __name__ == "__main__":
    main()
