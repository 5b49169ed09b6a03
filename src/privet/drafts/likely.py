"""What a column mostly is, by the pieces of its name and the look of its values: a score that was learned.

What others may know about a person is a short list: looks, family, home, work, schooling, dates. What they
may not know has no end: every study measures and asks something else. So a list of words leaves most of the
second open, and columns of real tables that a person labelled say here which way a name leans (logistic
regression on words, beginnings and endings; `bench/likely.py` learns it, `likely.tsv` is what it found, to be
read by people too). It chooses between sensitive and quasi: no score takes a column out of the identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from operator import mul
from pathlib import Path

from privet.drafts.answers import answers
from privet.drafts.column import Seen
from privet.drafts.lexicon import taken_apart

WEIGHTS = Path(__file__).with_name("likely.tsv")
BEGIN = (2, 3, 4, 5)  # letters of a beginning or an ending
INSIDE = (3, 4)
READABLE = 3  # letters of a part of a word that somebody recognises
SERIES = 4  # columns of one stem with numbers behind it: questions of a sheet, tests, visits
FAR = 4.0  # no neighbour counts for more
COMPANY = ("own score", "other columns", "next columns", "in a series", "beside always")
FEW, SOME, MORE = (2, 7, 20, 100), "has up to {} values", "has many values"


def pieces(name: str) -> list[str]:
    """Words of a name, their beginnings and endings; numbers behind them as one mark.

    >>> pieces("q12"), [one for one in pieces("educ_mother") if len(one) < 4]
    (['q', 'q#'], ['ed-', '-uc', 'mo-', '-er'])
    """
    found: dict[str, None] = {}
    for word in taken_apart(name):
        bare = word.rstrip("0123456789")
        if not bare:
            continue
        found[bare] = None
        if bare != word:
            found[f"{bare}#"] = None
        for size in BEGIN:
            if len(bare) > size:
                found[f"{bare[:size]}-"] = None
                found[f"-{bare[-size:]}"] = None
        for size in INSIDE:
            found |= dict.fromkeys(f"-{bare[at : at + size]}-" for at in range(1, len(bare) - size))
    return list(found)


def looks(seen: Seen) -> list[str]:
    """How the values look, in a few words."""
    kind = (
        ("is a flag" if seen.flag or len(seen.values) == 1 else None)
        or ("is a date" if seen.dated else None)
        or ("is measured" if seen.measured else None)
        or ("is a number" if seen.numeric else None)
        or ("is a code" if seen.coded else "is text")
    )
    many = next((SOME.format(few) for few in FEW if len(seen.values) <= few), MORE)
    said = ["is an answer"] if seen.texts and answers(seen.looked[:20]) else []
    return [kind, many, *said]


def score(name: str, look: Iterable[str]) -> float:
    """Above 0: columns called like this are mostly sensitive; below, others mostly may know them."""
    weights = _weights()
    return weights["always"] + sum(weights.get(one, 0.0) for one in (*pieces(name), *look))


def named(name: str) -> float:
    """What the name alone adds; near 0 where no part of it has been seen on either side."""
    weights = _weights()
    return sum(weights.get(one, 0.0) for one in pieces(name))


def beside(scores: Sequence[float | None], names: Sequence[str]) -> list[float | None]:
    """The scores of one table as each other's company moves them; None is a column that says nothing.

    Measurements stand beside measurements, and answers in a row: what a name leaves open its neighbours tell.
    """
    weights = _weights()
    known = [(score, name) for score, name in zip(scores, names, strict=True) if score is not None]
    moved = iter(company([score for score, _ in known], [name for _, name in known]))
    return [
        None if score is None else sum(map(mul, map(weights.__getitem__, COMPANY), (*next(moved), 1.0)))
        for score in scores
    ]


def company(scores: Sequence[float], names: Sequence[str]) -> list[tuple[float, float, float, float]]:
    """Of each column its score, the others' on average, that of the next ones, and if it is of a series."""
    bounded = [max(-FAR, min(FAR, score)) for score in scores]
    total, last = sum(bounded), len(bounded) - 1
    said = []
    for at, (score, series) in enumerate(zip(scores, _series(names), strict=True)):
        near = [bounded[place] for place in (at - 1, at + 1) if 0 <= place <= last]
        others = (total - bounded[at]) / last if last else 0.0
        said.append((score, others, sum(near) / len(near) if near else 0.0, float(series)))
    return said


def because(name: str) -> str:
    """The word or part of a name that speaks most for sensitive; nothing where none does."""
    weights = _weights()
    readable = [one for one in pieces(name) if len(one.strip("-")) >= READABLE or not one.count("-")]
    best = max(readable, key=lambda one: weights.get(one, 0.0), default="")
    return best if weights.get(best, 0.0) > 0 else ""


def _series(names: Sequence[str]) -> list[bool]:
    """Does a name stand in a series of its stem with other numbers?"""
    stems = [_stem(name) for name in names]
    return [bool(stem) and stems.count(stem) >= SERIES for stem in stems]


def _stem(name: str) -> str:
    """What a name is without its numbers; nothing where it has none."""
    stem = re.sub(r"[0-9]+", "#", name.lower())
    return stem if "#" in stem and any(map(str.isalpha, stem)) else ""


@cache
def _weights() -> dict[str, float]:
    lines = WEIGHTS.read_text("utf-8").splitlines()
    return {piece: float(weight) for piece, _, weight in (line.partition("\t") for line in lines)}
