"""Every kind of release, published with chance held still: the digests of all that it says.

    python -m tests.frozen digests.json              write them
    python -m tests.frozen digests.json --compare    say what is not as it was

For whoever changes how things are built and wants every byte to stay: run it before and after. With the
sources of another commit first on PYTHONPATH it freezes that one.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
from tests.contract import pairs
from tests.contract.test_pairs import CLAIMED
from tests.roads import noisy
from tests.roads.test_documents import KEYED, PROMISES
from tests.roads.test_noisy import ALGORITHMS as NOISY
from tests.roads.test_trajectories import GPS, POINTS, TABLE_4_1
from tests.roads.test_trajectories import policy as path_policy

import privet as pv
from privet.errors import PrivetError
from privet.samples import SAMPLES
from privet.samples.collections import COLLECTIONS

KEYED_TABLES = {
    "patient": pl.DataFrame(
        {
            "pid": [f"p{n}" for n in range(8)],
            "born": [str(1950 + n % 3) for n in range(8)],
            "blood": [("A", "B", "0", "AB")[n % 4] for n in range(8)],
        }
    ),
    "visit": pl.DataFrame(
        {
            "vid": [f"v{n}" for n in range(16)],
            "pid": [f"p{n % 8}" for n in range(16)],
            "year": [str(2000 + n % 2) for n in range(16)],
            "illness": [("flu", "cold", "hiv", "gout", "ache")[n % 5] for n in range(16)],
        }
    ),
}
Made = tuple[Any, Any, dict[str, Any]]
Case = Callable[[Path], Made]  # where things may lie: source, policy, options
MADE = re.compile(rb'("made": "|<dd>)[^"<]*(2[0-9]{3}-|[0-9]{1,2} \w+ 2[0-9]{3})[^"<]*')
REPORT = re.compile(rb'"(report|removed)\.html": "[0-9a-f]{64}"')
SECONDS = re.compile(r'"seconds": [0-9.e-]+')


@contextmanager
def stillness() -> Iterator[None]:
    """The operating system's chance, the same every time."""
    numbers = count()

    def still(size: int) -> bytes:
        return hashlib.shake_128(str(next(numbers)).encode()).digest(size)

    true = random._urandom  # type: ignore[attr-defined]
    random._urandom = still  # type: ignore[attr-defined]
    try:
        yield
    finally:
        random._urandom = true  # type: ignore[attr-defined]


def cases(*, documents: int = 60) -> Iterator[tuple[str, Case]]:
    """Every case by its name, with so many documents; nothing is made before it is asked for."""
    for algorithm, models in CLAIMED.items():
        for model in sorted(models):
            yield f"{model} by {algorithm}", partial(_pair, model, algorithm, None)
        for model in sorted(models)[:2]:
            yield f"{model} by {algorithm}, random", partial(_pair, model, algorithm, len(model))
    for name in SAMPLES:
        yield f"sample {name}", partial(_sample, name)
    yield "like", _like
    for name in COLLECTIONS:
        for algorithm in ("ctoff", "clustree", "tree-anatomy"):
            yield f"collection {name} by {algorithm}", partial(_collection, name, algorithm, "", documents)
    yield "halves v-v", partial(_collection, "transcripts", "tree-anatomy", 'style = "v-v"\n', documents)
    for way in PROMISES:
        yield f"tables of documents, {way}", partial(_keyed, way)
    tag = 'tag = { role = "identifier" }'
    lightest = 'type = "lightest"\nsupport = 3\nloss = "visits"\ngrids = [2000]\nslots = ["1 d"]'
    beside = 'id = { role = "identifier" }\ndiagnosis = { role = "sensitive" }\nage = { role = "quasi" }'
    aged = TABLE_4_1.with_columns(age=pl.Series([20, 21, 22, 23, 40, 41, 42, 43]))
    locally = 'type = "suppress-points-locally"\nsupport = 2'
    for name, source, policy in (
        ("points", GPS, path_policy(POINTS, tag, 'type = "k-anonymity"\nk = 3')),
        ("coarser points", GPS, path_policy(POINTS, tag, 'type = "k-anonymity"\nk = 6', lightest)),
        ("beside paths", aged, path_policy(attributes=beside)),
        ("paths locally", TABLE_4_1, path_policy(algorithm=locally)),
    ):
        yield name, partial(_given, source, policy)
    yield "stops", _stops
    condensed = {"type": "condensation", "k": 3, "alpha": 3, "noise": "1/10"}
    yield "copies", partial(_given, pairs.easy(), pairs.policy_of(["by-construction"], condensed))
    for name, text in NOISY.items():
        if name != "opendp":  # its samplers cannot be held still
            yield f"noisy {name}", partial(_noisy, text)


def _given(source: Any, policy: Any, _: Path) -> Made:
    return source, policy, {}


def _pair(model: str, algorithm: str, seed: int | None, _: Path) -> Made:
    table = pairs.easy() if seed is None else pairs.table_of(seed + len(algorithm))
    return table, pairs.policy_of([model], algorithm), {}


def _sample(name: str, folder: Path) -> Made:
    sample = SAMPLES[name]
    return _csv(folder, sample.generate(400, 0)), pv.Policy.loads(sample.policy()), {}


def _collection(name: str, algorithm: str, more: str, rows: int, _: Path) -> Made:
    collection = COLLECTIONS[name]
    policy = pv.Policy.loads(collection.policy(l=2, algorithm=algorithm) + more)
    return list(collection.generate(rows=rows, seed=0)), policy, {}


def _keyed(way: str, _: Path) -> Made:
    return KEYED_TABLES, pv.Policy.loads(KEYED + PROMISES[way]), {}


def _csv(folder: Path, table: pl.DataFrame) -> Path:
    table.write_csv(folder / "raw.csv")
    return folder / "raw.csv"


def _noisy(text: str, folder: Path) -> Made:
    noisy.ledger(folder)
    return noisy.table(), noisy.policy(folder, noisy.ATTRIBUTES + noisy.MODEL + text), {}


def _stops(folder: Path) -> Made:
    stops = "".join(f"{place},Stop {place},{45 + at / 100},-73.{at}\n" for at, place in enumerate("bcdefz"))
    (folder / "stops.txt").write_text(f"stop_id,stop_name,stop_lat,stop_lon\n{stops}", "utf-8")
    shape = 'form = "column"\npath = "path"\nstops = "stops.txt"'
    (folder / "policy.toml").write_text(path_policy(shape).dumps(), "utf-8")
    return TABLE_4_1, pv.Policy.load(folder / "policy.toml"), {}


def _like(folder: Path) -> Made:
    sample = SAMPLES["patients"]
    policy = pv.Policy.loads(sample.policy())
    pv.publish(sample.generate(400, 0), policy).write(folder / "earlier")
    evidence = folder / "earlier" / "evidence.json"
    evidence.write_bytes(_normal(evidence, str(folder)))  # its digest is part of the next one
    return sample.generate(400, 0), policy, {"like": folder / "earlier"}


def frozen(case: Case) -> dict[str, str]:
    """The digest of each file of a release, and of what is said of it afterwards."""
    with tempfile.TemporaryDirectory() as made, stillness():
        folder = Path(made)
        source, policy, options = case(folder)
        try:
            release = pv.publish(source, policy, **options)
        except PrivetError as error:
            return {"refused": _digest(repr(error.complaints).replace(made, "").encode())}
        out = release.write(folder / "out")
        found = {
            f"{place.name}/{path.name}": _digest(_normal(path, made))
            for place in (out, folder / "out.private")
            for path in sorted(place.iterdir())
        }
        asked: dict[str, Callable[[], Any]] = {
            "risk": lambda: pv.risk(source, policy),
            "compare": lambda: pv.compare(source, out),
            "compare in memory": lambda: pv.compare(source, release),
            "explain": lambda: pv.explain(out),
            "verify": lambda: _verified(out),
        }
        for name, ask in asked.items():
            try:
                told = ask()
            except PrivetError as error:
                told = {"refused": list(error.complaints)}
            whole = told.to_dict() if hasattr(told, "to_dict") else told
            text = SECONDS.sub("", json.dumps(whole)).replace(made, "")
            found[name] = _digest(text.encode())
        return found


def _verified(folder: Path) -> dict[str, Any]:
    found = pv.verify(folder)
    return {"holds": found.holds, "complaints": list(found.complaints), "made": len(found.made)}


def _normal(path: Path, made: str) -> bytes:
    return REPORT.sub(rb'"\1.html": ""', MADE.sub(rb"\1", path.read_bytes())).replace(made.encode(), b"")


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def main(target: str, how: str = "") -> int:
    every = {}
    for name, case in cases():
        every[name] = frozen(case)
    if how != "--compare":
        Path(target).write_text(json.dumps(every, indent=1), encoding="utf-8")
        print(f"{len(every)} releases, {sum(map(len, every.values()))} digests")
        return 0
    before = json.loads(Path(target).read_text(encoding="utf-8"))
    wrong = [
        f"{name}: {part}"
        for name in sorted({*before, *every})
        for part in sorted({*before.get(name, {}), *every.get(name, {})})
        if before.get(name, {}).get(part) != every.get(name, {}).get(part)
    ]
    print("\n".join(wrong) or f"{len(every)} releases are as they were")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
