"""Trees from JSON to JSON: `python -m bench.documents DATA NAME METHOD L PART DIR` notes the seconds.

Ozalp (2017), figure 2.6, on 1,000 transcripts: CToff took 2 to 4 minutes, ClusTree 10 to 15 times as long.
What a part costs: clustering in parts compares a record with its part only, so the loss is set against
that of comparing everybody with everybody.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.child import answered, module, scratch
from bench.outcome import Cell, Outcome, Table, rated
from bench.stages import Clock
from privet.document.audit import audit
from privet.document.clustree import ClusTree, CToff
from privet.document.described import described
from privet.document.edits import published
from privet.document.forest import Forest
from privet.document.measures import divergence, lm, sensitive_counts, suppression
from privet.document.schema import Schema
from privet.engines.documents.files import Documents, write
from privet.samples import transcripts

ROAD = ("read", "cluster", "check", "write")
GENERATORS: Mapping[str, Callable[[int, int], Iterator[transcripts.Record]]] = {
    "transcripts": transcripts.transcripts,
    "transcripts-years": transcripts.transcripts_years,
    "transcripts-sparse": transcripts.transcripts_sparse,
}
CTOFF, CLUSTREE, HUGE = 10, 60, 30 * 60  # seconds at most
NEAR = 0.05  # a part may lose so much more


@dataclass(frozen=True, slots=True)
class Case:
    """One run: which records, how many, clustered how."""

    method: str
    mapping: str
    l: int
    rows: int = 1_000
    name: str = "transcripts"
    part: int = 0
    most: float | None = None  # seconds for reading, clustering, checking and writing


def schema_of(name: str) -> Schema:
    """The sample's schema with its hierarchies."""
    sparse, years = name == "transcripts-sparse", name == "transcripts-years"
    plain = {**transcripts.schema(years=years, sparse=sparse)}
    trees = dict(transcripts.hierarchies(sparse=sparse))
    if years:
        trees["year"] = {"*": list(transcripts.YEARS)}
    attributes: dict[str, Mapping[str, Any]] = {**plain["attributes"]}
    attributes |= {field: {"hierarchy": {"type": "tree", "tree": tree}} for field, tree in trees.items()}
    return described({**plain, "attributes": attributes})


def generated(name: str, rows: int, folder: Path) -> Path:
    """So many sample records as a JSON array, written one at a time."""
    path = folder / "records.json"
    with path.open("w", encoding="utf-8") as out:
        records = map(json.dumps, GENERATORS[name](rows, 0))
        out.write(f"[{next(records)}")
        out.writelines(f",\n{record}" for record in records)
        out.write("]\n")
    return path


def run(*, full: bool) -> Outcome:
    both = ("lsap", "greedy")
    methods = [Case("ctoff", way, 3, most=CTOFF if way == "lsap" else None) for way in both]
    methods += [Case("clustree", way, 3, most=CLUSTREE if way == "lsap" else None) for way in both]
    if full:
        methods += [Case(m, w, l) for l in (2, 4, 5) for m in ("ctoff", "clustree") for w in both]
        methods += [Case("ctoff", "lsap", l, 3_162, "transcripts-sparse") for l in (2, 3, 4)]
        methods += [Case("ctoff", "lsap", l, 1_000, "transcripts-years") for l in (2, 3, 4)]
    sample = 5_000 if full else 2_000
    parts = [Case("ctoff", "lsap", 3, sample, part=part) for part in (0, CToff().part, 500)]
    growing = [
        Case("ctoff", "lsap", 3, rows, part=CToff().part) for rows in ((10_000, 30_000) if full else (5_000,))
    ]
    if full:
        growing.append(Case("ctoff", "lsap", 3, 100_000, part=CToff().part, most=HUGE))
    return measured(methods, parts, growing)


def measured(methods: Sequence[Case], parts: Sequence[Case], growing: Sequence[Case]) -> Outcome:
    heads = {
        **dict.fromkeys(("records of", "records", "method", "mapping", "l", "part"), ""),
        "LM": ".4f",
        "KL": ".4f",
        "records gone": ".0f",
        "vertices gone": ".1%",
        **{f"{stage} s": ".2f" for stage in ROAD},
        "all s": ".2f",
        "MB": ".0f",
        "target": "",
    }
    in_parts = [row(case) for case in parts]
    whole = float(str(in_parts[0][6])) if in_parts else 0.0
    share = [
        [line[5], line[6], _more(line[6], whole), rated(_more(line[6], whole), NEAR, "")] for line in in_parts
    ]
    return Outcome(
        "documents",
        "Several trees become one: JSON to JSON",
        "Stages in a process of their own, from the file with raw records to the file that leaves, with its "
        "check by the auditor; `all` is the sum. KL is the mean over the sensitive attributes.",
        (
            Table("methods", heads, [row(case) for case in methods]),
            Table("parts: everybody with everybody first", heads, in_parts),
            Table("what parts lose", {"part": "", "LM": ".4f", "more": ".1%", "target": ""}, share),
            Table("growing", heads, [row(case) for case in growing]),
        ),
    )


def _more(lost: Cell, whole: float) -> float:
    return float(str(lost)) / whole - 1 if whole else 0.0


def row(case: Case) -> list[Cell]:
    with scratch() as folder:
        data = generated(case.name, case.rows, folder)
        cost, said = answered(
            module("documents", data, case.name, f"{case.method}-{case.mapping}", case.l, case.part, folder)
        )
    seconds = [said["seconds"][stage] for stage in ROAD]
    return [
        case.name,
        f"{case.rows:,}",
        case.method,
        case.mapping,
        str(case.l),
        f"{case.part:,}" if case.part else "all",
        said["lm"],
        said["kl"],
        said["records"],
        said["vertices"],
        *seconds,
        sum(seconds),
        cost.peak / 1e6,
        rated(sum(seconds), case.most, " s") if case.most else "",
    ]


def staged(data: Path, case: Case, folder: Path) -> dict[str, Any]:
    """The seconds of every stage, and what came out."""
    clock = Clock()
    clock.seconds = dict.fromkeys(ROAD, 0.0)
    clock("read", 0)
    documents = Documents(data, schema_of(case.name))
    forest = Forest.of(documents.schema, documents)
    clock("cluster", 0)
    method = {"ctoff": CToff, "clustree": ClusTree}[case.method](mapping=case.mapping, part=case.part)  # type: ignore[arg-type]
    edits = method.cluster(forest, case.l)
    clock("check", 0)
    verdict = audit(documents.schema, published(forest, edits, diverse=case.l), case.l)
    if not verdict.holds:
        raise SystemExit("the release does not keep its promise")
    clock("write", 0)
    write(published(forest, edits, diverse=case.l), folder / "out.json", documents.schema, documents.shape)
    seconds = clock.stop()
    now = sensitive_counts(documents.schema, published(forest, edits, diverse=case.l))
    apart = divergence(now, sensitive_counts(documents.schema, forest)).values()
    gone = suppression(forest, edits)
    return {
        "seconds": seconds,
        "lm": float(lm(forest, edits)),
        "kl": sum(apart) / len(apart),
        "records": gone["records"].gone,
        "vertices": float(gone["vertices"].ratio),
    }


if __name__ == "__main__":
    source, sample, way, size, part, target = sys.argv[1:]
    method, mapping = way.split("-")
    said = staged(Path(source), Case(method, mapping, int(size), name=sample, part=int(part)), Path(target))
    print(json.dumps(said))
