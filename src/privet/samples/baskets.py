"""Baskets of a corner shop that does not exist: items by department, and habits that a miner finds."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privet.samples.plans import Planned
from privet.samples.size import check_size

if TYPE_CHECKING:
    import polars as pl

SHELVES: Mapping[str, Sequence[str]] = {
    "dairy": ("milk", "butter", "cheese", "yoghurt", "cream"),
    "bakery": ("bread", "rolls", "cake", "croissant"),
    "produce": ("apples", "bananas", "carrots", "onions", "lettuce", "tomatoes"),
    "drinks": ("beer", "wine", "juice", "water", "coffee", "tea"),
    "snacks": ("crisps", "chocolate", "nuts", "biscuits"),
    "baby": ("nappies", "baby food", "wipes"),
    "pharmacy": ("aspirin", "plasters", "pregnancy test", "cough syrup"),
}
# What is bought, what is bought with it, and how often.
HABITS = (
    ("bread", "butter", 0.5),
    ("beer", "crisps", 0.6),
    ("nappies", "wipes", 0.7),
    ("nappies", "beer", 0.35),
    ("coffee", "milk", 0.55),
    ("wine", "cheese", 0.5),
    ("pregnancy test", "chocolate", 0.5),
    ("cough syrup", "tea", 0.6),
)


REGIONS = ("north", "east", "south", "west")


PLACES: Mapping[str, object] = {
    "type": "tree",
    "tree": {"anywhere": {"upper": ["north", "east"], "lower": ["south", "west"]}},
}


@dataclass(frozen=True, slots=True)
class SetPlan:
    """The columns of a sample with one set of items for each person, and a promise that suits them."""

    purpose: str
    columns: Mapping[str, Planned]
    m: int
    k: int

    def named(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def policy(
        self, *, l: int | None = None, k: int | None = None, c: str | None = None, score: str = ""
    ) -> str:
        """The policy as TOML; `l` is how many items somebody may know, `c` and `score` say nothing here."""
        del c, score
        lines = [
            "policy = 1",
            'kind = "transactions"',
            f"purpose = {json.dumps(self.purpose)}",
            "",
            "[transactions]",
            'form = "column"                               # one row for each person',
            'set = "items"                                 # whose items stand in one column',
            'separator = ";"',
            "",
            "[transactions.hierarchy]",
            'type = "tree"',
            "",
            "[transactions.hierarchy.tree.anything]",
            *(f"{shelf} = {json.dumps(list(items))}" for shelf, items in SHELVES.items()),
            "",
            "[attributes]",
            'customer = { role = "identifier" }',
            f'region = {{ role = "quasi", hierarchy = {inline(PLACES)} }}',
            "",
            "[[models]]",
            'type = "km-anonymity"                 # who knows the region and m items finds k records',
            f"m = {self.m if l is None else l}",
            f"k = {self.k if k is None else k}",
        ]
        return "\n".join(lines) + "\n"


def inline(value: object) -> str:
    """A small tree on one line of TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {inline(below)}" for key, below in value.items()) + " }"
    return json.dumps(value)


PLAN = SetPlan(
    "what a corner shop sells together",
    {"customer": Planned("identifier"), "region": Planned("quasi", PLACES), "items": Planned("other")},
    2,
    5,
)


def baskets(rows: int, seed: int) -> pl.DataFrame:
    """One row for each customer: a number, a region, and the items between semicolons."""
    import polars as pl  # noqa: PLC0415 - a sample's name and policy load nothing

    check_size(rows, seed)
    chance = random.Random(seed + 1)
    return pl.DataFrame(
        {
            "customer": [str(100_000 + at) for at in range(rows)],
            "region": [chance.choice(REGIONS) for _ in range(rows)],
            "items": [";".join(basket) for basket in records(rows, seed)],
        }
    )


def records(rows: int, seed: int) -> list[list[str]]:
    """So many baskets."""
    chance = random.Random(seed)
    shelves = list(SHELVES)
    found = []
    for _ in range(rows):
        basket: set[str] = set()
        for _ in range(1 + min(int(chance.expovariate(0.45)), 9)):
            shelf = chance.choices(shelves, (6, 5, 6, 5, 3, 1, 1))[0]
            items = SHELVES[shelf]
            basket.add(chance.choices(items, [1 / (at + 1) for at in range(len(items))])[0])
        for cause, effect, often in HABITS:
            if cause in basket and chance.random() < often:
                basket.add(effect)
        found.append(sorted(basket))
    return found
