"""Other Python packages beside privet, on the same rows: anonypy, anjana and pyCANON.

They live in an environment of their own, made at the first run in bench/data/peers from the package
registry; where that cannot be, or one of them does not run, the line says why and the rest goes on.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from bench import lattice
from bench.child import ChildError, answered
from bench.outcome import Cell, Outcome, Table
from privet.core import Attribute, Form, Policy, PrivacyModel, Role
from privet.engines.embedded import Embedded, Frame
from privet.models.alphak import AlphaKAnonymity
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.tcloseness import Distance, TCloseness
from privet.relational.mondrian import Mondrian
from privet.relational.optimal import Optimal

HERE = Path(__file__).resolve().parent
PLACE = HERE / "data" / "peers"
PEERS = ("anonypy", "anjana", "pycanon")
CHILD = HERE / "peers_child.py"
K = 10
SHORT = 2_000  # rows, where not all are asked for: the peers take a minute for all
QUASI = [name for name in lattice.COLUMNS if name != lattice.SENSITIVE]


def environment() -> tuple[Path | None, str]:
    """The Python of the peers, or why there is none."""
    python = PLACE / "bin" / "python"
    try:
        if not python.is_file():
            subprocess.run(
                [sys.executable, "-m", "venv", str(PLACE)], check=True, capture_output=True, text=True
            )
        ready = subprocess.run(
            [str(python), "-c", f"import {', '.join(PEERS)}"], capture_output=True, check=False
        )
        if ready.returncode:
            pip = [str(python), "-m", "pip", "install", "--quiet", *PEERS]
            subprocess.run(pip, check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        return None, f"the peers cannot be installed: {said[-1] if said else error}"
    return python, ""


def run(*, full: bool = False) -> Outcome:
    packed = (lattice.folder() / "adult.csv.gz").read_bytes()
    table = pl.read_csv(gzip.decompress(packed), separator=";", infer_schema=False)
    table = table.select(lattice.COLUMNS)
    table = table if full else table.head(SHORT)
    python, missing = environment()
    rows: list[list[Cell]] = []
    notes = [missing] if missing else []
    with TemporaryDirectory(prefix="privet-bench-") as scratch:
        data = Path(scratch) / "adult.csv"
        table.write_csv(data)
        for what, peer, ours in contests(table):
            seconds = _best(ours)
            theirs = None
            if python is not None:
                arguments = [what, data, lattice.folder(), K, lattice.SENSITIVE, *QUASI]
                try:
                    theirs = answered([str(python), "-I", str(CHILD), *map(str, arguments)])[1]["seconds"]
                except ChildError as error:
                    notes.append(f"{peer} did not come to its end: {str(error).strip().splitlines()[-1]}")
            rows.append([what, peer, seconds, theirs, None if theirs is None else theirs / seconds])
    return Outcome(
        "peers",
        "beside other Python packages",
        f"{table.height:,} rows of Adult, {len(QUASI)} quasi-identifiers, k = {K}; seconds of the processor, "
        "without reading. privet counts the rows anew each time, and for searches recodes them.",
        (
            Table(
                "side by side",
                {"work": "", "peer": "", "privet s": ".3f", "peer s": ".2f", "times faster": ".0f"},
                rows,
            ),
        ),
        tuple(notes),
    )


def contests(table: pl.DataFrame) -> list[tuple[str, str, Callable[[], Any]]]:
    """What is done, by whom, and the same done by privet."""
    about = (lattice.SENSITIVE,)
    half = Fraction(1, 2)
    models: list[PrivacyModel] = [
        KAnonymity(k=K),
        AlphaKAnonymity(alpha=half, k=2, sensitive=about),
        DistinctLDiversity(l=2, sensitive=about),
        EntropyLDiversity(l=2, sensitive=about),
        RecursiveLDiversity(c=Fraction(2), l=2, sensitive=about),
        BetaLikeness(beta=half, sensitive=about),
        EnhancedBetaLikeness(beta=half, sensitive=about),
        DeltaDisclosure(delta=half, sensitive=about),
        TCloseness(t=half, sensitive=about, distance=Distance.EQUAL),
    ]
    engine, frame = Embedded(), Frame(table)

    def policy(search: Any) -> Policy:
        attributes = [Attribute(name, Role.QUASI, lattice.tree(name)) for name in QUASI]
        return Policy(
            (*attributes, Attribute(lattice.SENSITIVE, Role.SENSITIVE)),
            (KAnonymity(k=K),),
            search,
            form=Form(),
        )

    def searched(search: Any) -> Callable[[], Any]:
        rules = policy(search)

        def work() -> Any:
            tally = engine.tally(frame, rules)
            return engine.apply(frame, rules, search.search(tally, rules).recoding)

        return work

    def checked() -> Any:
        tally = engine.tally_published(frame, policy(Mondrian()))
        return [model.check(tally) for model in models]

    return [
        ("mondrian", "anonypy", searched(Mondrian())),
        ("full-domain", "anjana", searched(Optimal(suppression=Fraction(5, 100)))),
        ("check", "pycanon", checked),
    ]


def _best(work: Callable[[], Any], runs: int = 3) -> float:
    """The fewest seconds of the processor, over all its threads."""
    seconds = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        work()
        seconds = min(seconds, time.process_time() - begun)
    return seconds
