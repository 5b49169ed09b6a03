"""Adult with ARX's hierarchies, where the folder is; and a table of the same form for machines without it."""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Mapping
from pathlib import Path

from tests.pages import HERE

NAME = "PRIVET_ARX"  # the folder `data` of the ARX repository
LEVELS = {  # levels of each hierarchy as ARX has them: 12,960 nodes
    "sex": 2,
    "age": 5,
    "race": 2,
    "marital-status": 3,
    "education": 4,
    "native-country": 3,
    "workclass": 3,
    "occupation": 3,
    "salary-class": 2,
}
LEAVES = {"sex": 2, "race": 5, "marital-status": 7, "education": 16, "native-country": 41, "workclass": 8,
          "occupation": 14, "salary-class": 2}  # fmt: skip


def arx() -> Path | None:
    """The folder with ARX's example, if this machine has it."""
    said = os.environ.get(NAME)
    places = [Path(said)] if said else [HERE.parent / "shared" / "data" / "arx" / "example"]
    return next((place for place in places if (place / "adult.csv.gz").is_file()), None)


def real(folder: Path, into: Path) -> tuple[Path, Mapping[str, Path]]:
    """ARX's own table, unpacked, and its hierarchies."""
    data = into / "adult.csv"
    data.write_bytes(gzip.decompress((folder / "adult.csv.gz").read_bytes()))
    return data, {name: folder / f"adult_hierarchy_{name}.csv" for name in LEVELS}


def drawn(into: Path, rows: int = 3000) -> tuple[Path, Mapping[str, Path]]:
    """A table with the same columns, and hierarchies with the same numbers of levels."""
    values = {name: [f"{name}-{at}" for at in range(many)] for name, many in LEAVES.items()}
    values["age"] = [str(at) for at in range(1, 101)]
    trees = {}
    for name, some in values.items():
        lines = []
        for at, value in enumerate(some):
            groups = [f"{name} {at // 2**level}.{level}" for level in range(1, LEVELS[name] - 1)]
            if name == "age":
                groups = [f"{at // wide * wide}-{at // wide * wide + wide - 1}" for wide in (5, 10, 20)]
            lines.append(";".join((value, *groups, "*")))
        trees[name] = into / f"hierarchy_{name}.csv"
        trees[name].write_text("\n".join(lines) + "\n", encoding="utf-8")
    chance = random.Random(18)
    data = into / "adultlike.csv"
    lines = [";".join(LEVELS)]
    for _ in range(rows):
        lines.append(
            ";".join(some[int(len(some) * chance.random() ** 3)] for some in (values[n] for n in LEVELS))
        )
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return data, trees
