"""Several views of the same people: how often more views restore privacy, and how fast tables are drawn.

Zhang (2010), section 6.5: intervals on one attribute are published until all together violate 0.5-privacy;
then intervals within them are looked for that restore it. About 50 % were restored by one view with four
attributes, about 60 % by one or two (figures 6.3 and 6.4). Four UCI heart-disease tables were used there.

Here it is the one of Cleveland, out of the wheel of Orange. That file says whether vessels are narrowed, not
how badly, so that the level of disease is made of two columns: 0 where none is narrowed, else one more than
the number of major vessels coloured. Where the wheel cannot be fetched, tables of the same sizes are drawn,
with integer attributes of the same ranges, and levels of disease that depend on them.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from bench.curves import Chart, Series
from bench.fetch import fetched
from bench.outcome import Cell, Outcome, Table, rated
from privet.disclose.sources.gamma import Confidence, Decision, assess
from privet.disclose.sources.prepare import components
from privet.disclose.sources.restoring import Refinement, by_size, restore
from privet.disclose.sources.sampling import BATCH, Sampler
from privet.disclose.sources.views import Register, View, interval
from privet.domain import Value
from privet.errors import InputError

GAMMA = Fraction(1, 2)
SURE = Confidence(Fraction(1, 10), Fraction(19, 20))  # where there is too much to count
WHEEL = "orange3==3.40.0"
TABLE = {
    "Orange/datasets/heart_disease.tab": "954e44e3d93a97682b5466c7ea166e16f376f8dd93deef5855f511734e4d6224"
}
SIZES = (303, 294, 123, 200)  # Cleveland, Hungary, Switzerland, Long Beach
RANGES = {"age": (29, 77), "rest SBP": (90, 200), "cholesterol": (120, 420), "max HR": (70, 202)}
WIDTHS = {"3.5-7 %": (0.035, 0.07), "2-4 %": (0.02, 0.04)}
STEPS = 2_000  # of exact counting
TRIALS = 150  # sets of views looked at in one run: what is not found by then counts as not restored
PAIRED = 16  # views of which pairs are tried
VIEWS = 40  # a run that publishes so many without a violation is given up
MOST = 30  # seconds at most for 10,000 draws for 200 people


@dataclass(frozen=True)
class People:
    """A table: the public attributes, and the level of disease."""

    register: Register
    base: tuple[Value, ...]

    @classmethod
    def fetched(cls) -> People:
        """The patients of Cleveland."""
        (path,) = fetched(WHEEL, TABLE).values()
        with path.open(encoding="utf-8", newline="") as file:
            head, _, _, *rows = csv.reader(file, delimiter="\t")
        held = {name: [row[at] for row in rows] for at, name in enumerate(head)}
        coloured = [0 if text == "?" else int(text) for text in held["major vessels colored"]]
        narrowed = [text == "1" for text in held["diameter narrowing"]]
        level = [str(many + 1 if sick else 0) for sick, many in zip(narrowed, coloured, strict=True)]
        columns = {name: tuple(held[name]) for name in RANGES}
        return cls(Register(tuple(map(str, range(len(rows)))), columns), tuple(level))

    def known_by(self, attributes: int) -> People:
        """The same people, of whom only so many attributes are public."""
        columns = dict(list(self.register.columns.items())[:attributes])
        return People(Register(self.register.keys, columns), self.base)

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> People:
        many = int(rng.choice(SIZES))
        sickness = rng.normal(size=many)
        columns: dict[str, tuple[Value, ...]] = {}
        for name, (low, high) in RANGES.items():
            pull = -0.4 if name == "max HR" else 0.3
            shape = 0.5 + 0.17 * (pull * sickness + np.sqrt(1 - pull**2) * rng.normal(size=many))
            columns[name] = tuple(
                map(str, np.clip(np.rint(low + (high - low) * shape), low, high).astype(int))
            )
        level = np.digitize(sickness, np.quantile(sickness, [0.54, 0.72, 0.84, 0.95]))
        keys = tuple(map(str, range(many)))
        return cls(Register(keys, columns), tuple(map(str, level)))

    def view(self, rng: np.random.Generator, width: tuple[float, float]) -> View | None:
        """An interval on one attribute, or None where it is empty or not private by itself."""
        name = str(rng.choice(list(self.register.columns)))
        numbers = [number for number in self.register.numbers[name] or () if number is not None]
        low, high = float(min(numbers)), float(max(numbers))
        start = round(float(rng.uniform(low, high)))
        end = start + round(float(rng.uniform(*width)) * (high - low))
        people = [at for at, number in enumerate(numbers) if start <= number <= end]
        if not people:
            return None
        where = interval(name, Decimal(start), Decimal(end))
        found = View.of(people, [self.base[at] for at in people], name, where)
        return found if found.largest <= GAMMA * len(people) else None


@dataclass(frozen=True)
class Attempt:
    """Views that were published until all together violated, and how many more restored it: 0 for none."""

    views: int
    counted: bool  # was the violation found by counting, or by drawing?
    more: int


def attempt(rng: np.random.Generator, people: People, width: tuple[float, float]) -> Attempt | None:
    """One run; None where so many views together violate nothing, or it cannot be told."""
    out: list[View] = []
    for _ in range(VIEWS * 20):
        fresh = people.view(rng, width)
        if fresh is None or any(fresh.people == view.people for view in out):
            continue
        out.append(fresh)
        judged = assess(out, GAMMA, confidence=SURE, steps=STEPS, rng=rng)
        if judged.decision is Decision.UNDECIDED or len(out) > VIEWS:
            return None
        if judged.decision is Decision.NOT_PRIVATE:
            break
    else:
        return None
    how: dict[str, Any] = {"trials": TRIALS, "steps": STEPS}
    found = restore(people.register, people.base, out, GAMMA, most=1, **how)
    if not found.found:
        # All pairs are too many: those of the smallest views with somebody in them who is exposed.
        def near(candidates: Iterable[Refinement]) -> list[Refinement]:
            return by_size(one for one in candidates if one.people & judged.exposed)[:PAIRED]

        found = restore(people.register, people.base, out, GAMMA, most=2, order=near, **how)
    return Attempt(len(out), all(part.method == "exact" for part in judged.parts), len(found.views))


def restored(runs: int, widths: Sequence[str], base: People | None) -> tuple[Table, dict[str, Chart]]:
    """Shares by number of attributes; without a base table, each run draws one."""
    heads = {
        "width": "",
        "attributes": "d",
        "runs": "d",
        "ended": "d",
        "counted": "d",
        "views": ".1f",
        "one %": ".0f",
        "one or two %": ".0f",
    }
    rows: list[list[Cell]] = []
    series: list[Series] = []
    for name in widths:
        one, two = [], []
        for attributes in (1, 2, 3, 4):
            rng = np.random.default_rng([attributes, len(name)])
            tried = [
                attempt(rng, (base or People.drawn(rng)).known_by(attributes), WIDTHS[name])
                for _ in range(runs)
            ]
            ends = [end for end in tried if end is not None]
            many = max(len(ends), 1)
            by_one = 100 * sum(end.more == 1 for end in ends) / many
            by_two = 100 * sum(end.more in {1, 2} for end in ends) / many
            views = sum(end.views for end in ends) / many
            counted = sum(end.counted for end in ends)
            rows.append([name, attributes, runs, len(ends), counted, views, by_one, by_two])
            one.append((float(attributes), by_one))
            two.append((float(attributes), by_two))
        series += [Series(f"{name}, one view", one), Series(f"{name}, one or two", two, dashed=True)]
    chart = Chart("Privacy restored (figures 6.3, 6.4)", "attributes", "% of runs", series)
    return Table("privacy restored", heads, rows), {"restored": chart}


def crossing(people: int, views: int, seed: int = 0) -> list[View]:
    """Views of 10 % to 30 % of the people, on four attributes that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    base = rng.choice(list("abcde"), people, p=np.array([16, 8, 5, 4, 2]) / 35)
    places = [rng.permutation(people) for _ in range(4)]
    found = []
    for number in range(views):
        wide = int(rng.integers(people // 10, 3 * people // 10))
        low = int(rng.integers(0, people - wide))
        chosen = np.flatnonzero((places[number % 4] >= low) & (places[number % 4] < low + wide))
        found.append(View.of(chosen.tolist(), base[chosen].tolist()))
    return found


def speed(cases: Sequence[tuple[int, int]], draws: int = 10_000) -> Table:
    heads = {
        "people": "d",
        "views": "d",
        "in views": "d",
        "draws": "d",
        "s": ".1f",
        "worth": ".0f",
        "target": "",
    }
    rows: list[list[Cell]] = []
    for people, views in cases:
        rng = np.random.default_rng(1)
        part = max(components(crossing(people, views)), key=lambda one: one.people)
        begun = time.perf_counter()
        sampler = Sampler(part)
        weights = np.concatenate([sampler.draw(BATCH, rng).log_weights for _ in range(-(-draws // BATCH))])
        spent = time.perf_counter() - begun
        even = np.exp(weights - weights.max())
        worth = float(even.sum() ** 2 / (even**2).sum())
        rows.append([people, views, part.people, len(weights), spent, worth, rated(spent, MOST, " s")])
    return Table("drawing tables (worth: so many draws of equal weight)", heads, rows)


def run(*, full: bool) -> Outcome:
    try:
        base, whose = People.fetched(), "The patients of Cleveland (UCI), levels of disease from two columns."
    except InputError:
        base, whose = None, "Drawn tables of the sizes and ranges of UCI's: the wheel cannot be fetched."
    runs = 25 if full else 3
    table, charts = restored(runs, list(WIDTHS) if full else ["2-4 %"], base)
    return Outcome(
        "sources",
        "Several views of the same people",
        "Zhang (2010), section 6.5: one more view restores about 50 %, one or two about 60 %, with four "
        "attributes; a rising curve. Gamma is 1/2.",
        (table, speed([(200, 8), (200, 12)] if full else [(200, 8)])),
        notes=(
            whose,
            f"A violation is decided by counting up to {STEPS:,} steps, beyond that by drawing tables.",
            f"Drawing is within {SURE.epsilon} with confidence {SURE.theta}. Not every run violates.",
            f"Restored is decided by counting; {TRIALS:,} single views and pairs of {PAIRED} are tried.",
            "So the shares are lower bounds.",
        ),
        charts=charts,
    )
