"""Adult split by people among three and two, and by columns among two: seconds, bytes and rounds.

Each way runs once with all parties in one process, and once more with every message arriving as late as
between houses 20 ms and 50 Mbit/s apart; and one of them as three real nodes over loopback. Every run is
compared with the table that all rows in one place give.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from bench import joint_nodes
from bench.adult import load
from bench.outcome import Cell, Outcome, Table
from privet.parties.contract import Contract
from privet.rehearsal import FAR, rehearse
from privet.samples import SAMPLES

EIGHT = ("age", "workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
MARITAL = (
    "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married",
    "Separated", "Widowed",
)  # fmt: skip
PARTIES = ("north", "south", "west")


def contract(reveal: str, score: str, c: str, parties: tuple[str, ...] = PARTIES, **more: Any) -> Contract:
    """LKC-privacy with L = 4 and K = 20 over eight quasi-identifiers."""
    policy: dict[str, Any] = tomllib.loads(SAMPLES["census"].policy(l=4, k=20, c=c, score=score))
    kept = (*EIGHT, "marital-status", "income")
    policy["attributes"] = {name: policy["attributes"][name] for name in kept}
    policy["attributes"]["age"]["hierarchy"] = {"type": "intervals", "width": [5, 10, 20]}
    document = {
        "contract": 1,
        "split": "people",
        "parties": list(parties),
        "reveal": reveal,
        **more,
        "public": {
            "age": {"range": [17, 90]},
            "marital-status": {"values": list(MARITAL)},
            "income": {"values": ["<=50K", ">50K"]},
        },
        "policy": policy,
    }
    return Contract.from_document(document, base=Path())


def columns_contract(reveal: str) -> Contract:
    """The same table split by columns between two: the first has the sensitive column."""
    people = contract("counts", "information-gain", "1/5").to_document()
    people |= {
        "split": "columns",
        "parties": ["immigration", "taxation"],
        "reveal": reveal,
        "person": "person",
        "sensitive_owner": "immigration",
        "owners": {
            "immigration": ["age", "education", "relationship", "race", "sex", "native-country"],
            "taxation": ["workclass", "occupation"],
        },
    }
    return Contract.from_document({k: v for k, v in people.items() if v is not None}, base=Path())


def ways(table: pl.DataFrame, *, full: bool) -> Iterator[tuple[str, str, Contract, list[pl.DataFrame]]]:
    """What is run, the issue's target for it, the contract, and each party's rows."""
    for reveal in ("scores", "decisions"):
        agreed = columns_contract(reveal)
        numbered = table.with_row_index("person")
        parts = [
            numbered.select("person", "income", *agreed.owners["immigration"], "marital-status"),
            numbered.select("person", "income", *agreed.owners["taxation"]).reverse(),
        ]
        yield f"columns, 2 parties, {reveal}", "60 s, 50 MB" if reveal == "decisions" else "", agreed, parts
    three = [table.gather_every(3, at) for at in range(3)]
    gain = "information-gain"
    yield "people, 3 parties, counts, ring", "30 s", contract("counts", gain, "1/5", sum="ring"), three
    yield "people, 3 parties, counts, pairwise", "30 s", contract("counts", gain, "1/5"), three
    yield "people, 3 parties, decisions", "300 s", contract("decisions", gain, "1/5"), three
    if full:  # more is left to split: the longer runs
        yield "people, 3 parties, counts, C=4/5", "30 s", contract("counts", gain, "4/5"), three
        yield "people, 3 parties, decisions, C=4/5", "300 s", contract("decisions", gain, "4/5"), three
    two = [table.gather_every(2, at) for at in range(2)]
    yield "people, 2 parties, decisions", "", contract("decisions", gain, "1/5", ("north", "south")), two


def run(*, full: bool) -> Outcome:
    """All rows of Adult's training half, or a tenth of them."""
    table = load().head(30_162 if full else 3_000)
    rows: list[list[Cell]] = []
    for what, target, agreed, parts in ways(table, full=full):
        near = rehearse(agreed, parts, pooled=True)
        far = rehearse(agreed, parts, distance=FAR)
        by_party = " + ".join(f"{traffic.sent / 1e6:.1f}" for traffic in near.traffic.values())
        made = sum(step.performed for step in near.steps)
        same = "yes" if near.as_pooled else "NO"
        rows.append(
            [
                what,
                near.seconds,
                near.bytes / 1e6,
                by_party,
                near.rounds,
                far.seconds,
                made,
                same,
                target,
            ]
        )
    with TemporaryDirectory() as made_here:
        seconds, same_bytes = joint_nodes.timed(
            Path(made_here), contract("decisions", "information-gain", "1/5"), table
        )
    rows.append(
        ["the same as 3 nodes, HTTPS on loopback", seconds, None, None, None, None, None,
         "yes" if same_bytes else "NO", ""]
    )  # fmt: skip
    heads = {
        "way": "", "s": ".1f", "MB": ".1f", "MB by party": "", "rounds": ",", "s far": ".1f",
        "splits": "", "as pooled": "", "target": "",
    }  # fmt: skip
    busy = os.getloadavg()[0]
    return Outcome(
        "joint",
        f"Joint releases of Adult, {table.height:,} rows, 8 quasi-identifiers, L = 4, K = 20",
        "Against the same policy on all rows in one place: it must be the same. Far: 20 ms, 50 Mbit/s.",
        (Table("one run each", heads, rows),),
        (
            f"the machine's load was {busy:.1f} at the end: times of a busy machine are not the protocol's",
            "of one process the processors are shared by all parties, who would have one each",
        ),
    )
