"""Other Python packages beside privet, on the same rows: anonypy, anjana and pyCANON.

They live in an environment of their own, made at the first run in bench/data/peers from the package
registry; where that cannot be, or one of them does not run, the line says why and the rest goes on.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import polars as pl

from bench import lattice
from bench.child import ChildError, answered
from bench.outcome import Cell, Outcome, Table
from privet.core import Attribute, Form, PrivacyModel, Role, Terms
from privet.engines.embedded import Embedded, Frame
from privet.models.alphak import AlphaKAnonymity
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.tcloseness import Distance, TCloseness
from privet.relational.mondrian import Choice, Mondrian
from privet.relational.optimal import Optimal

HERE = Path(__file__).resolve().parent
PLACE = HERE / "data" / "peers"
PEERS = ("anonypy", "anjana", "pycanon")
CHILD = HERE / "peers_child.py"
K = 10
SHORT = 2_000  # rows, where not all are asked for: the peers take a minute for all
QUASI = [name for name in lattice.COLUMNS if name != lattice.SENSITIVE]


def environment(
    place: Path = PLACE, imports: tuple[str, ...] = PEERS, packages: tuple[str, ...] = PEERS
) -> tuple[Path | None, str]:
    """The Python of the peers, or why there is none."""
    python = place / "bin" / "python"
    try:
        if not python.is_file():
            subprocess.run(
                [sys.executable, "-m", "venv", str(place)], check=True, capture_output=True, text=True
            )
        ready = subprocess.run(
            [str(python), "-c", f"import {', '.join(imports)}"], capture_output=True, check=False
        )
        if ready.returncode:
            pip = [str(python), "-m", "pip", "install", "--quiet", *packages]
            subprocess.run(pip, check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        return None, f"the peers cannot be installed: {said[-1] if said else error}"
    return python, ""


def run(*, full: bool = False) -> Outcome:
    table = lattice.records()
    table = table if full else table.head(SHORT)
    python, missing = environment()
    rows: list[list[Cell]] = []
    notes = [missing] if missing else []
    found: dict[str, dict[str, Any]] = {}  # what a peer said, who may be beaten twice
    with TemporaryDirectory(prefix="privet-bench-") as scratch:
        data = Path(scratch) / "adult.csv"
        table.write_csv(data)
        for what, peer, ours, quality in contests(table):
            seconds = _best(ours)
            if python is not None and peer not in found:
                work = what.split(",")[0]
                arguments = [work, data, lattice.folder(), K, lattice.SENSITIVE, *QUASI]
                try:
                    found[peer] = answered([str(python), "-I", str(CHILD), *map(str, arguments)])[1]
                except ChildError as error:
                    found[peer] = {}
                    notes.append(f"{peer} did not come to its end: {str(error).strip().splitlines()[-1]}")
            theirs, lost = (found.get(peer, {}).get(name) for name in ("seconds", "ncp"))
            own = None if quality is None else quality()
            rows.append(
                [
                    *(what, peer, seconds, theirs, None if theirs is None else theirs / seconds),
                    *(own, lost, None if lost is None or not own else lost / own),
                ]
            )
    return Outcome(
        "peers",
        "beside other Python packages",
        f"{table.height:,} rows of Adult, {len(QUASI)} quasi-identifiers, k = {K}; seconds of the processor, "
        "without reading. privet counts the rows anew each time, and for searches recodes them. NCP: the "
        "share of an attribute's other values that a label could mean; a suppressed record could mean any.",
        (
            Table(
                "side by side",
                {
                    "work": "",
                    "peer": "",
                    "privet s": ".3f",
                    "peer s": ".2f",
                    "times faster": ".0f",
                    "privet NCP": ".4f",
                    "peer NCP": ".4f",
                    "times the loss": ".2f",
                },
                rows,
            ),
        ),
        tuple(notes),
    )


Contest: TypeAlias = tuple[str, str, Callable[[], Any], Callable[[], float] | None]


def contests(table: pl.DataFrame) -> list[Contest]:
    """What is done, by whom, the same done by privet, and what that loses."""
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
    best = Mondrian(choice=Choice.BEST)
    optimal = Optimal(suppression=Fraction(5, 100))

    def policy(search: Any) -> Terms:
        attributes = [Attribute(name, Role.QUASI, lattice.tree(name)) for name in QUASI]
        return Terms(
            (*attributes, Attribute(lattice.SENSITIVE, Role.SENSITIVE)),
            (KAnonymity(k=K),),
            search,
            form=Form(),
        )

    def searched(search: Any) -> Callable[[], Any]:
        rules = policy(search)

        def work() -> Any:
            tallied = engine.tally(frame, rules)
            return engine.apply(tallied, rules, search.search(tallied.tally, rules).recoding)

        return work

    def lost(search: Any) -> Callable[[], float]:
        rules = policy(search)

        def work() -> float:
            tally = engine.tally(frame, rules).tally
            return lattice.ncp(tally, search.search(tally, rules).recoding)

        return work

    def checked() -> Any:
        tally = engine.tally_published(frame, policy(Mondrian()))
        return [model.check(tally) for model in models]

    return [
        ("mondrian", "anonypy", searched(Mondrian()), lost(Mondrian())),
        ("mondrian, best cuts", "anonypy", searched(best), lost(best)),
        ("full-domain", "anjana", searched(optimal), lost(optimal)),
        ("check", "pycanon", checked, None),
    ]


def _best(work: Callable[[], Any], runs: int = 3) -> float:
    """The fewest seconds of the processor, over all its threads."""
    seconds = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        work()
        seconds = min(seconds, time.process_time() - begun)
    return seconds
