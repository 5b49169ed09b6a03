"""Learn which way the names of columns lean (src/privet/drafts/likely.tsv), and say how well, table by table.

    python -m bench.likely            how often the score is right on tables it was not learned from
    python -m bench.likely --write    learn from every table that is not kept aside, and write the weights

`columns.tsv` holds what it learns from: one line per column of real tables, in their order, with the table,
the name, how its values look (privet.drafts.likely.looks) and what a person says it is. No value of any table
is in it. `words.txt` holds words whose side is clear without a table. Tables that share a third of their
columns are judged together, so that no table is judged by what its twin taught.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from privet.drafts import likely
from privet.drafts.lexicon import PERHAPS_SENSITIVE, QUASI, SENSITIVE

COLUMNS, WORDS = Path(__file__).with_name("columns.tsv"), Path(__file__).with_name("words.txt")
SIDES = {"sensitive": 1.0, "quasi": -1.0}
FOLDS = 5
ALIKE = 1 / 3
RIDGE = 0.7
WORD = 0.7  # a word beside a column of a table
SHARED = 3  # names that have a beginning, an ending or an inside, at least
SMALL = 0.2  # weights that say nothing are left out
TYPICAL = 12  # columns of a table; those of wider ones count for less each


@dataclass(frozen=True)
class Column:
    """One column of a labelled table."""

    table: str
    name: str
    look: tuple[str, ...]
    role: str

    @property
    def pieces(self) -> list[str]:
        return [*likely.pieces(self.name), *self.look]


def columns() -> list[Column]:
    lines = COLUMNS.read_text("utf-8").splitlines()
    return [
        Column(table, name, tuple(filter(None, look.split(","))), role)
        for table, name, look, role in (line.split("\t") for line in lines)
    ]


def words() -> Iterator[tuple[str, float]]:
    for line in WORDS.read_text("utf-8").splitlines():
        side, _, said = line.partition(":")
        for word in said.split():
            yield word, SIDES[side.split()[0]]
    for lexicon, sign in ((SENSITIVE, 1.0), (QUASI, -1.0), (PERHAPS_SENSITIVE, 1.0)):
        for word in lexicon.said:
            yield word.strip("-"), sign


def learned(known: Sequence[Column]) -> dict[str, float]:
    """Weights of pieces, by logistic regression with a ridge."""
    width = {table: len(list(each)) for table, each in groupby(known, key=lambda one: one.table)}
    rows = [(one.pieces, SIDES[one.role], (TYPICAL / width[one.table]) ** 0.3) for one in known]
    rows += [(likely.pieces(word), side, WORD) for word, side in words()]
    number: dict[str, int] = {}
    at, to = [], []
    names = Counter(piece for pieces in {tuple(pieces) for pieces, _, _ in rows} for piece in pieces)
    for row, (pieces, _, _) in enumerate(rows):
        for piece in pieces:
            if "-" in piece and names[piece] < SHARED:
                continue
            at.append(row)
            to.append(number.setdefault(piece, len(number)))
    matrix = sparse.csr_matrix((np.ones(len(at)), (at, to)), shape=(len(rows), len(number)))
    weights = _regression(matrix, np.array([side for _, side, _ in rows]), np.array([w for *_, w in rows]))
    said = {piece: float(weights[place]) for piece, place in number.items() if abs(weights[place]) >= SMALL}
    return {"always": float(weights[-1]), **said}


def _regression(
    matrix: sparse.csr_matrix, side: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = side * (matrix @ w[:-1] + w[-1])
        pull = -weight * side / (1 + np.exp(np.clip(margin, -50, 50)))
        ridge = RIDGE * w[:-1]
        value = weight @ np.logaddexp(0, -margin) + ridge @ w[:-1] / 2
        return float(value), np.append(matrix.T @ pull + ridge, pull.sum())

    found = optimize.minimize(loss, np.zeros(matrix.shape[1] + 1), jac=True, method="L-BFGS-B")
    weights: NDArray[np.float64] = found.x
    return weights


def scored(weights: dict[str, float], some: Sequence[Column]) -> list[float]:
    return [weights["always"] + sum(weights.get(piece, 0.0) for piece in one.pieces) for one in some]


def company(known: Sequence[Column], scores: Sequence[float]) -> NDArray[np.float64]:
    """What `likely.beside` weighs, column by column: own score, others, next ones, series."""
    said = []
    for _, each in groupby(zip(known, scores, strict=True), key=lambda pair: pair[0].table):
        table = list(each)
        said += likely.company([score for _, score in table], [one.name for one, _ in table])
    return np.array(said)


def neighbours(known: Sequence[Column], scores: Sequence[float]) -> dict[str, float]:
    side = np.array([SIDES[one.role] for one in known])
    weights = _regression(sparse.csr_matrix(company(known, scores)), side, np.ones(len(side)))
    return dict(zip(likely.COMPANY, map(float, weights), strict=True))


def families(some: Sequence[Column]) -> dict[str, str]:
    """Tables by the first of those that share many of their columns."""
    own = {
        table: {one.name.lower() for one in each} for table, each in groupby(some, key=lambda one: one.table)
    }
    family: dict[str, str] = {}
    for table, names in own.items():
        twins = [first for first in family if len(names & own[first]) > ALIKE * len(names | own[first])]
        family[table] = family[twins[0]] if twins else table
        for twin in twins[1:]:  # which join two families
            family |= {t: family[table] for t, first in family.items() if first == family[twin]}
    return family


def folds(known: Sequence[Column]) -> NDArray[np.int64]:
    family = families(known)
    order = {first: at for at, first in enumerate(dict.fromkeys(family.values()))}
    place = np.random.default_rng(19).permutation(len(order))
    return np.array([place[order[family[one.table]]] % FOLDS for one in known])


def judged(known: Sequence[Column]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The scores of each fifth of the tables by what the others taught: alone, and in their company."""
    fold, alone = folds(known), np.zeros(len(known))
    for one in range(FOLDS):
        taught = learned([column for column, of in zip(known, fold, strict=True) if of != one])
        alone[fold == one] = scored(taught, [c for c, of in zip(known, fold, strict=True) if of == one])
    together, moved = company(known, alone.tolist()), np.zeros(len(known))
    side = np.array([SIDES[one.role] for one in known])
    for one in range(FOLDS):
        rest = fold != one
        weights = _regression(sparse.csr_matrix(together[rest]), side[rest], np.ones(rest.sum()))
        moved[~rest] = together[~rest] @ weights[:-1] + weights[-1]
    return alone, moved


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    said = options.parse_args(arguments)
    known = [one for one in columns() if one.role in SIDES and one.look]
    alone, moved = judged(known)
    side = np.array([SIDES[one.role] for one in known])
    tables = len({one.table for one in known})
    print(
        f"{tables} tables, {len(known)} columns, each judged by tables unlike its own: "
        f"{np.mean(np.sign(alone) == side):.1%} right alone, {np.mean(np.sign(moved) == side):.1%} in their "
        f"company; all sensitive {np.mean(side > 0):.1%}"
    )
    if said.write:
        weights = {**learned(known), **neighbours(known, alone.tolist())}
        lines = sorted(f"{piece}\t{weight:.2f}" for piece, weight in weights.items())
        likely.WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{len(lines)} weights written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
