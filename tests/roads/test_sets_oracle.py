"""Random policies about sets, published and read back by another reader: every promise counted by hand."""

from __future__ import annotations

import csv
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.tries import seldom

import privet as pv
from privet.errors import InputError, UnsatisfiableError

Record: TypeAlias = tuple[tuple[str, ...], frozenset[str]]  # quasi-identifiers, items
BESIDE = {
    "town": 'town = { role = "quasi", hierarchy = { type = "tree", tree = { any = ["x", "y", "z"] } } }\n',
    "age": 'age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 20] } }\n',
}


def tree_of(chance: random.Random, items: list[str], depth: int, numbers: Any) -> str:
    """A random tree above items, as TOML."""
    if len(items) <= 2 or not depth:
        return "[" + ", ".join(f'"{item}"' for item in items) + "]"
    cut = chance.randint(1, len(items) - 1)
    halves = [tree_of(chance, part, depth - 1, numbers) for part in (items[:cut], items[cut:])]
    return "{ " + ", ".join(f"N{next(numbers)} = {half}" for half in halves) + " }"


def read_back(folder: Path, form: str, quasi: list[str]) -> list[Record]:
    """A release as a recipient without privet reads it."""
    (data,) = folder.glob("data.*")
    if form == "baskets":
        lines = data.read_text(encoding="utf-8").split("\n")[:-1]
        return [((), frozenset(filter(None, line.split(",")))) for line in lines]
    with data.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if form == "column":
        return [
            (tuple(row[name] for name in quasi), frozenset(filter(None, row["items"].split(";"))))
            for row in rows
        ]
    found: dict[str, tuple[tuple[str, ...], set[str]]] = {}
    for row in rows:
        beside = tuple(row[name] for name in quasi)
        seen = found.setdefault(row["id"], (beside, set()))
        assert seen[0] == beside
        seen[1].update(filter(None, [row["items"]]))  # who has none has a row without one
    return [(beside, frozenset(items)) for beside, items in found.values()]


def fewest(records: list[Record], m: int, *, beside: bool) -> int:
    """In how few records the rarest thing is that somebody may know."""
    many: Counter[Any] = Counter()
    for quasi, items in records:
        for size in range(0 if beside else 1, m + 1):
            many.update((quasi, known) for known in combinations(sorted(items), size))
    return min(many.values(), default=10**9)


# 18 is the one that notices a promise of several that is forgotten (tests/mutation).
@pytest.mark.parametrize("seed", seldom(range(24), [*range(4), 18]))
def test_known_items_are_in_k_records_for_a_stranger_too(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    items = [f"i{at}" for at in range(chance.randint(2, 9))]
    weights = [1 / (at + 1) ** chance.choice([0.2, 1, 2]) for at in range(len(items))]
    quasi = [["town"], ["town", "age"], []][seed % 3]
    form = ["column", "items", "baskets"][seed // 3 % 3] if not quasi else ["column", "items"][seed // 3 % 2]
    empty = [] if form == "items" else [0, 0]
    raw = tmp_path / "raw.csv"
    rows: list[tuple[str, str, str, list[str]]] = []
    for at in range(chance.randint(5, 60)):
        size = chance.choice([1, 1, 2, 2, 3, 4, len(items), *empty])
        mine = sorted(set(chance.choices(items, weights, k=size)))
        rows.append((f"p{at}", chance.choice("xyz"), str(chance.randint(20, 60)), mine))
    with raw.open("w", newline="", encoding="utf-8") as file:
        written = csv.writer(file, lineterminator="\n")
        if form != "baskets":
            written.writerow(["id", "town", "age", "items"])
        for who, town, age, mine in rows:
            if form == "baskets":
                file.write(",".join(mine) + "\n")
            elif form == "column":
                written.writerow([who, town, age, ";".join(mine)])
            else:
                written.writerows([who, town, age, item] for item in mine)
    shape = {
        "baskets": "",
        "column": 'set = "items"\n',
        "items": 'person = "id"\nitem = "items"\n',
    }[form]
    generalised = chance.random() < 0.5
    tree = (
        f'hierarchy = {{ type = "tree", tree = {{ ALL = {tree_of(chance, items, 2, iter(range(99)))} }} }}\n'
    )
    promises = [(chance.randint(1, 3), chance.randint(2, 6))]
    if not generalised and chance.random() < 0.4:
        promises.append((chance.randint(1, 3), chance.randint(2, 6)))
    text = f'policy = 1\nkind = "transactions"\n[transactions]\nform = "{form}"\n{shape}'
    text += (tree if generalised else "") + ("" if form == "baskets" else "[attributes]\n")
    text += 'id = { role = "identifier" }\n' if form == "column" else ""
    text += "".join(BESIDE[name] for name in quasi)
    text += "".join(f'[[models]]\ntype = "km-anonymity"\nm = {m}\nk = {k}\n' for m, k in promises)
    search = chance.choice(["suppress-items", "suppress-items-locally"])
    text += f'[algorithm]\ntype = "{"generalise-items" if generalised else search}"\n'
    text += 'at_most = "1/2"\n' if generalised and chance.random() < 0.5 else ""
    try:
        folder = pv.publish(raw, pv.Policy.loads(text)).write(tmp_path / "out")
    except UnsatisfiableError:
        return
    found = read_back(folder, form, quasi)
    for m, k in promises:
        assert fewest(found, m, beside=bool(quasi)) >= k
    assert len(found) == len(rows)
    assert pv.verify(folder).holds


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(30))
def test_no_rule_of_the_list_is_seen_by_a_stranger(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    items = [chr(97 + at) for at in range(chance.randint(2, 7))]
    share = chance.choice([0.4, 0.6, 0.8])
    raw = [{item for item in items if chance.random() < share} for _ in range(chance.randint(3, 40))]
    data = tmp_path / "raw.csv"
    data.write_text("".join(",".join(sorted(one)) + "\n" for one in raw), encoding="utf-8")
    asked: list[tuple[list[str], list[str], Fraction, Fraction | None]] = []
    text = 'policy = 1\nkind = "transactions"\norder = "kept"\n[transactions]\nform = "baskets"\n'
    for _ in range(chance.randint(1, 3)):
        named = chance.sample(items, chance.randint(2, min(3, len(items))))
        least = Fraction(chance.randint(1, 9), chance.choice([1, 10]))
        sure = chance.choice([None, Fraction(1, 3), Fraction(3, 5), Fraction(1)])
        cut = chance.randint(0, len(named) - 1)
        sure = sure if cut else None
        asked.append((named[:cut], named[cut:], least, sure))
        sides = f"antecedent = {named[:cut]}\nconsequent = {named[cut:]}\n" if cut else f"itemset = {named}\n"
        text += "[[hide]]\n" + sides.replace("'", '"') + f'support = "{least}"\n'
        text += "" if sure is None else f'confidence = "{sure}"\n'
    search = ["hide-transactions", "hide-items", "hide-border", "hide-exact", "by-promise"][seed % 5]
    text += f'[algorithm]\ntype = "{search}"\n'
    if search not in {"hide-transactions", "by-promise"}:
        text += f'by = "{chance.choice(["support", "confidence", "either"])}"\n'
    try:
        folder = pv.publish(data, pv.Policy.loads(text)).write(tmp_path / "out")
    except (InputError, UnsatisfiableError):  # a rule that no record has, or stands twice; all records go
        return
    left = [items for _, items in read_back(folder, "baskets", [])]

    def support(named: list[str]) -> int:
        return sum(1 for one in left if one.issuperset(named))

    for before, after, least, sure in asked:
        both = support([*before, *after])
        needed = int(least) if least.denominator == 1 else max(1, ceil(least * len(left)))
        seen = both >= needed and (sure is None or Fraction(both, support(before)) >= sure)
        assert not seen, (search, before, after)
    if search == "hide-transactions":
        assert not Counter(left) - Counter(map(frozenset, raw))
    else:
        assert all(one <= whole for one, whole in zip(left, raw, strict=True))
    assert pv.verify(folder).holds
