"""A short form of every benchmark and experiment; `--full` the whole, NAME only that one."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from bench.child import ChildError
from bench.outcome import OUT, Outcome, machine
from privet.errors import PrivetError

# Each is module:function, loaded when it runs.
BENCHMARKS = {
    "speed": ("bench.speed:run", "CSV to CSV against a plain copy of the file; stages, memory"),
    "scaling": ("bench.scaling:run", "time by number of rows (figure 3.7)"),
    "spark": ("bench.spark:run", "on Sail beside the embedded engine: time, memory of driver and cluster"),
    "many": ("bench.many:run", "distinct values, many columns, many cells; check and verify beside reading"),
    "wide": ("bench.wide:run", "41 quasi-identifiers, up to 6 of them known"),
    "studio": ("bench.studio:run", "clicks of the studio, on 30,000 records and a million"),
    "cold": ("bench.cold:run", "the command from a cold start"),
    "check": ("bench.check:run", "checking a promise on published rows; against pyCANON"),
    "trajectories": ("bench.trajectories:run", "paths through places and times, up to a million records"),
    "trees": ("bench.trees:run", "loss, query accuracy and KL of documents by l (figures 2.3 to 2.6)"),
    "documents": ("bench.documents:run", "trees become one tree: ClusTree, CToff, up to 100,000 records"),
    "peers": ("bench.peers:run", "Mondrian, full domain and checks beside anonypy, anjana and pyCANON"),
    "lattice": ("bench.lattice:run", "full-domain and local recoding beside ARX; Mondrian"),
    "auto": ("bench.chosen:run", "auto beside the other searches, on a draft that was accepted"),
    "genetic": ("bench.genetic:run", "many columns, beside a genetic search at equal work"),
    "least": ("bench.least:run", "how far local recoding is above lower bounds"),
    "twelve": ("bench.twelve:run", "real files, from an empty folder to a verified release"),
    "boxes": ("bench.boxes:run", "Mondrian beside full-domain generalisation; widths by number of columns"),
    "diffgen-scaling": ("bench.diffgen:scaling", "differential privacy from CSV to CSV (figure 6.6)"),
    "anatomy": ("bench.anatomy:run", "trees in two halves (t-t, v-v): 1,000 transcripts, 41,000 vertices"),
    "anatomy-figures": ("bench.halves:figures", "what anatomy of trees costs (figures 3.5 to 3.16)"),
    "safe": ("bench.safe:run", "choosing a release when the choice is known: exposure, price, time"),
    "coincident": ("bench.coincident:run", "groups safe from who knows the algorithm (figures 5.5 to 5.9)"),
    "sources": ("bench.sources:run", "several views of the same people: restored share, speed of drawing"),
    "collections": ("bench.collections:run", "real JSON and XML: FHIR patients, PubMed articles"),
    "auditing": (
        "bench.auditing:run",
        "SUM and MAX queries: time of a decision, share answered (figures 3.8, 3.9)",
    ),
    "collect": (
        "bench.collect:run",
        "perturbed answers: speed, stopping rules, bands, classifiers; pure-ldp",
    ),
    "rules": ("bench.rules:run", "hiding rules, km-anonymity; retail baskets; beside mlxtend and others"),
    "joint": ("bench.joint:run", "releases of several organisations: time, bytes, rounds, near and far"),
    "joint-noise": ("bench.joint_noise:run", "two parties with noise: time, bytes, rounds, near and far"),
    "joint-accuracy": ("bench.joint_noise:second_noise", "what a second noise costs (figure 7.2)"),
    "joint-growth": ("bench.joint_growth:run", "one joint choice and joint counts, by what they grow with"),
    "joint-error": ("bench.joint_error:run", "what joining brings, and alone costs (figures 5.4, 5.5)"),
    "virtual": ("bench.virtual:run", "a virtual database of several sites: time, loss, what is given away"),
    "blood": ("bench.experiments:blood", "error and discernibility on transfusions (figures 3.4a, 3.4b)"),
    "error": ("bench.experiments:error", "classification error on Adult (figures 3.5a, 3.5b)"),
    "discernibility": ("bench.experiments:discernibility", "discernibility on Adult (figures 3.6a, 3.6b)"),
    "diffgen": ("bench.diffgen:run", "accuracy under differential privacy (figures 6.3 to 6.5)"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--full", action="store_true", help="full sizes; takes many minutes")
    parser.add_argument("--list", action="store_true", help="what there is")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if asked.list:
        for name, (_, summary) in BENCHMARKS.items():
            print(f"{name:<15} {summary}")
        return 0
    print(", ".join(f"{what} {value}" for what, value in machine().items()))
    failed = [name for name in asked.names or BENCHMARKS if not run(name, full=asked.full)]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str, *, full: bool, folder: Path = OUT) -> bool:
    """One benchmark: printed, written, and whether it came to its end."""
    home, function = BENCHMARKS[name][0].split(":")
    begun = time.perf_counter()
    try:
        outcome: Outcome = getattr(import_module(home), function)(full=full)
    except (PrivetError, ChildError) as error:
        print(f"\n{name}: {error}", file=sys.stderr)
        return False
    print("\n".join(outcome.lines()))
    written = ", ".join(path.name for path in outcome.write(folder))
    print(f"[{time.perf_counter() - begun:.0f} s; in {folder}: {written}]", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
