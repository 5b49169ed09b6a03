"""Trips that nobody took: citizens through the blocks of a city, passengers through a metro.

Shaped like City80K and Metro100K of Mohammed (2012), section 4.4, which says their sizes and not how they
were made. Both have an identifier, a path, and a status of five values of which one is sensitive.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.errors import InputError
from privet.samples.draw import generator, pick, words

STATUSES = ("Employed", "Student", "Retired", "At home", "On welfare")
SENSITIVE = "On welfare"
ARROW = " → "

LINES = (
    (  # green
        *(
            "Angrignon",
            "Monk",
            "Jolicoeur",
            "Verdun",
            "De l'Église",
            "LaSalle",
            "Charlevoix",
            "Lionel-Groulx",
        ),
        *("Atwater", "Guy-Concordia", "Peel", "McGill", "Place-des-Arts", "Saint-Laurent", "Berri-UQAM"),
        *("Beaudry", "Papineau", "Frontenac", "Préfontaine", "Joliette", "Pie-IX", "Viau", "Assomption"),
        *("Cadillac", "Langelier", "Radisson", "Honoré-Beaugrand"),
    ),
    (  # orange
        *("Côte-Vertu", "Du Collège", "De la Savane", "Namur", "Plamondon", "Côte-Sainte-Catherine"),
        *("Snowdon", "Villa-Maria", "Vendôme", "Place-Saint-Henri", "Lionel-Groulx", "Georges-Vanier"),
        *(
            "Lucien-L'Allier",
            "Bonaventure",
            "Square-Victoria",
            "Place-d'Armes",
            "Champ-de-Mars",
            "Berri-UQAM",
        ),
        *("Sherbrooke", "Mont-Royal", "Laurier", "Rosemont", "Beaubien", "Jean-Talon", "Jarry", "Crémazie"),
        *("Sauvé", "Henri-Bourassa"),
    ),
    ("Berri-UQAM", "Jean-Drapeau", "Longueuil"),  # yellow
    (  # blue
        *("Snowdon", "Côte-des-Neiges", "Université-de-Montréal", "Édouard-Montpetit", "Outremont", "Acadie"),
        *("Parc", "De Castelnau", "Jean-Talon", "Fabre", "D'Iberville", "Saint-Michel"),
    ),
)
STATIONS = tuple(dict.fromkeys(station for line in LINES for station in line))


def city(
    rows: int,
    seed: int,
    *,
    routes: int = 125,
    blocks: int = 26,
    hours: int = 24,
    stops: int = 12,
    visited: float = 2 / 3,
) -> pl.DataFrame:
    """Citizens who follow one of a few routes and skip some of its stops: City80K with 80,000 rows.

    A route has as many distinct hours as stops, each at a random block; the n-th route is 1/n as popular
    as the first.
    """
    if not (routes >= 1 and 1 <= blocks <= 26 and 1 <= stops <= min(hours, 30) and 0 < visited <= 1):
        raise InputError("a city has at least one route, 1 to 26 blocks, and no more stops than hours")
    rng = generator(rows, seed)
    hour = np.sort(rng.random((routes, hours)).argsort(axis=1)[:, :stops], axis=1)
    block = (rng.random((routes, stops)) * blocks).astype(np.int64)
    labels = np.array([f"{chr(ord('a') + b)}{h}" for b in range(blocks) for h in range(hours)], dtype=object)
    point = block * hours + hour
    route = pick(rng, rows, [1 / rank for rank in range(1, routes + 1)])
    there = np.zeros(rows, dtype=np.int64)  # a bit for each stop
    for stop in range(stops):
        there |= (rng.random(rows) < visited).astype(np.int64) << stop
    there[there == 0] = 1  # whoever would not go anywhere goes to the first stop
    distinct, which = np.unique(route.astype(np.int64) << stops | there, return_inverse=True)
    goes = distinct[:, None] >> np.arange(stops) & 1 == 1
    owner = np.repeat(np.arange(len(distinct)), goes.sum(axis=1))
    said = joined(owner, pl.Series(labels[point[distinct >> stops][goes]], dtype=pl.String))
    return people("citizen", said.gather(pl.Series(which)), rng, rows)


def metro(
    rows: int,
    seed: int,
    *,
    minutes: int = 60,
    headway: int = 10,
    hop: int = 2,
    busiest: int = 20,
    usual: int = 8,
) -> pl.DataFrame:
    """Passengers of a metro of 65 stations: Metro100K with 100,000 rows.

    Gravity trips by the shortest way, most of them about `usual` stations long, trains every `headway`
    minutes and most passengers about minute `busiest`. What lies beyond the last minute is cut off.
    """
    if min(minutes, headway, hop) < 1:
        raise InputError("a metro needs minutes, headway and hop of at least 1")
    rng = generator(rows, seed)
    popular = 1 / (1 + rng.random(len(STATIONS)).argsort().argsort())
    ways = shortest()
    pull = [popular[way[0]] * popular[way[-1]] * np.exp(-(((len(way) - usual) / 3) ** 2)) for way in ways]
    departures = range(0, minutes, headway)
    crowd = [np.exp(-(((at - busiest) / 15) ** 2)) for at in departures]
    trip = pick(rng, rows, pull).astype(np.int64) * len(departures) + pick(rng, rows, crowd)
    distinct, which = np.unique(trip, return_inverse=True)
    texts = [
        ARROW.join(
            f"{STATIONS[station]}@{at}"
            for station, at in zip(ways[number // len(departures)], range(begin, minutes, hop), strict=False)
        )
        for number, begin in ((int(one), departures[int(one) % len(departures)]) for one in distinct)
    ]
    return people("card", words(texts, which), rng, rows)


def shortest() -> list[tuple[int, ...]]:
    """The way from every station to every other, with the fewest stations."""
    near: dict[int, list[int]] = {at: [] for at in range(len(STATIONS))}
    for line in LINES:
        for one, other in pairwise(STATIONS.index(station) for station in line):
            near[one].append(other)
            near[other].append(one)
    found = []
    for origin in near:
        way: dict[int, tuple[int, ...]] = {origin: (origin,)}
        line_up = deque([origin])
        while line_up:
            here = line_up.popleft()
            for there in near[here]:
                if there not in way:
                    way[there] = (*way[here], there)
                    line_up.append(there)
        found += [way[goal] for goal in near if goal != origin]
    return found


def joined(owner: NDArray[np.int64], labels: pl.Series) -> pl.Series:
    """The points of each path as one text; owners are numbered from 0 and come in order."""
    return (
        pl.DataFrame({"owner": owner, "label": labels})
        .group_by("owner", maintain_order=True)
        .agg(pl.col("label").str.join(ARROW))
        .get_column("label")
    )


def people(name: str, path: pl.Series, rng: np.random.Generator, rows: int) -> pl.DataFrame:
    status = words(STATUSES, pick(rng, rows, [1] * len(STATUSES)))
    return pl.DataFrame({name: np.arange(1, rows + 1), "path": path.alias("path"), "status": status})
