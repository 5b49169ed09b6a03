"""How findings about documents are told on a terminal, and how a policy for them is drafted."""

from __future__ import annotations

import gzip
import json as notation
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from privet.cli import screen
from privet.cli.screen import share

KNOWN = {
    "root": "the root's values",
    "shape": "these, and how the tree branches",
    "tree": "every quasi-identifier in the tree",
}


def published(evidence: Mapping[str, Any]) -> Iterator[str]:
    """What is left of the trees, depth by depth."""
    found = evidence["documents"]
    yield from _levels(found["levels"])
    kept = evidence["measures"]["loss"].get("suppression_accuracy")
    if kept is not None:
        yield f"  {share(kept)} of a person's vertices are published, on average"


def _levels(levels: Any) -> list[str]:
    return screen.table(
        [
            (
                f"{'  ' * one['level']}{one['type']}",
                f"{one['before']:,}",
                f"{one['after']:,}",
                share(1 - one["after"] / one["before"]) if one["before"] else "",
            )
            for one in levels
        ],
        head=("vertices", "raw", "published", "gone"),
    )


def risk(found: Mapping[str, Any]) -> Iterator[str]:
    """How many trees are alone, by what somebody knows of them."""
    yield f"{found['records']:,} records with {found['vertices']:,} vertices"
    yield ""
    yield from screen.table(
        [
            (
                KNOWN[one["known"]],
                f"{one['classes']:,}",
                f"{one['unique_records']:,}",
                share(one["highest"]),
                share(one["average"]),
            )
            for one in found["knowledge"]
        ],
        head=("somebody knows", "classes", "alone", "found, at worst", "on average"),
    )
    warnings = [one["warning"] for one in found["outlook"] if one["warning"]]
    if warnings:
        yield ""
        yield "what the promise will meet"
        yield from (f"  {screen.shown(warning)}" for warning in warnings)


def compare(found: Mapping[str, Any]) -> Iterator[str]:
    """Truth, loss and answers."""
    records, truth = found["records"], found["truth"]
    yield f"{records['after']:,} of {records['before']:,} records are published"
    if "groups" in truth:
        yield f"  {truth['true']:,} of {truth['groups']:,} groups come from people of their own" + (
            f"; {truth['undecided']:,} were not found out" if truth["undecided"] else ""
        )
    else:
        looked = f"{truth['true']:,} of {truth['looked_at']:,}"
        yield f"  {looked} that were looked at are true versions of an original"
    yield ""
    yield from _levels(found["levels"])
    if found["attributes"]:
        yield ""
        yield from screen.table(
            [(name, share(one["lm"])) for name, one in found["attributes"].items()],
            head=("field", "lost (LM)"),
        )
    yield ""
    asked = found["queries"]
    rows = [
        (f"answers to {asked['asked']:,} random counts, right by", share(asked["clipped"])),
        *(
            (f"divergence of {name}", "nothing is left" if apart is None else f"{apart:.4f}")
            for name, apart in found["divergence"].items()
        ),
    ]
    if "lm" in found["loss"]:
        rows.insert(0, ("detail lost on average (LM)", share(found["loss"]["lm"])))
    else:
        rows.insert(0, ("vertices of a person that are left", share(found["loss"]["suppression_accuracy"])))
    yield from screen.table(rows)


def explain(found: Mapping[str, Any]) -> Iterator[str]:
    """Where the loss is, and what forced it."""
    if found["lm"] is not None:
        yield f"{share(found['lm'])} of the detail is lost on average, in {found['records']:,} records"
    if found["suppressed_records"]:
        yield f"{found['suppressed_records']:,} records found no partner and are left out"
    if found["attributes"]:
        yield from screen.table(
            [
                (one["attribute"], share(one["lm"]), share(one["cut"]), share(max(one["lm"] - one["cut"], 0)))
                for one in found["attributes"]
            ],
            head=("field", "lost", "because vertices are gone", "because labels are general"),
        )
    yield ""
    yield from _levels(found["levels"])
    yield ""
    if not found["private_notes"]:
        yield "what forced it: unknown here, the private notes do not lie beside the release"
    elif found["reasons"]:
        yield "what forced it"
        yield from (f"  {screen.shown(reason)}" for reason in found["reasons"])
    else:
        yield "what forced it: no sensitive value stands out; trees are as unlike as they are"


def init(data: str, output: Path, kind: str | None, *, overwrite: bool, json: bool) -> int:
    """Draft a policy for documents."""
    from privet.cli.options import whole
    from privet.roads.document_draft import drafted

    with screen.working(json=json) as progress:
        progress("read", 0)
        made = drafted(Path(data), kind)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(made.dumps(), encoding="utf-8")
    if json:
        screen.answer({"policy": str(output), **made.to_document()})
        return 0
    types = made.found.types
    screen.say(
        f"drafted {screen.shown(str(output))} for {made.records:,} records "
        f"with {len(types)} type{'s' if len(types) > 1 else ''} of vertices",
        *screen.table(made.rows(), head=("field", "there", "guess", "because")),
        *screen.next_steps(
            (f"edit {output}", "decide every field, and promise something"),
            (f"privet check {data} {output}", "what the raw data achieves"),
            (f"privet publish {data} {output} -o out", "a release that keeps the promise"),
        ),
    )
    return 0


def sample(
    name: str, output: Path, rows: int, seed: int, policy: Path | None, *, overwrite: bool, json: bool
) -> int:
    """Write a collection of documents, and a policy that fits."""
    from contextlib import nullcontext

    from privet.cli.options import whole
    from privet.document.files import format_of
    from privet.samples.collections import COLLECTIONS

    one = COLLECTIONS[name]
    kind = format_of(output)
    also = nullcontext(None) if policy is None else whole(policy, overwrite=overwrite)
    with whole(output, overwrite=overwrite) as fresh, also as beside:
        if beside is not None:
            beside.write_text(one.policy(), encoding="utf-8")
        _write(one.generate(rows, seed), fresh, kind, one.documents())
    if json:
        said = None if policy is None else str(policy)
        screen.answer({"sample": name, "file": str(output), "policy": said, "records": rows})
        return 0
    screen.say(f"wrote {rows:,} records: {screen.shown(str(output))}")
    screen.say(*screen.beside_sample(output, policy))
    return 0


def _write(records: Iterator[dict[str, Any]], target: Path, kind: str, said: Mapping[str, Any]) -> None:
    if kind == "xml":
        _write_xml(records, target, said)
        return
    opened: Any = gzip.open if target.suffix == ".gz" else open
    with opened(target, "wt", encoding="utf-8") as out:
        between, end = ("", "\n") if kind == "jsonl" else ("[\n", "\n]\n")
        for record in records:
            out.write(between + notation.dumps(record, ensure_ascii=False))
            between = "\n" if kind == "jsonl" else ",\n"
        out.write(end)


def _write_xml(records: Iterator[dict[str, Any]], target: Path, said: Mapping[str, Any]) -> None:
    """Fields as attributes; identifiers too, since this is raw data."""
    from privet.document.bind import JsonBinder
    from privet.document.described import described
    from privet.document.files import write
    from privet.document.shape import Shape
    from privet.document.xmltext import Frame, steps
    from privet.roads.document_data import as_read

    types = {
        name: {**type_, "drop": [], "keep": [*type_.get("drop", ()), *type_.get("keep", ())]}
        for name, type_ in said["types"].items()
    }
    schema = described({"record": said["record"], "types": types})
    way = steps(said["record"]["xml"])[:-1]
    binder = JsonBinder(schema, Shape(), target.name)
    shape = Shape("xml", said["record"]["xml"], frame=Frame(way, [{} for _ in way]))
    write((binder.record(as_read(record)) for record in records), target, schema, shape)
