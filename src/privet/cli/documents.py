"""How findings about documents are told on a terminal, and how a policy for them is drafted."""

from __future__ import annotations

import gzip
import json as notation
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli import screen
from privet.cli.screen import share

if TYPE_CHECKING:
    from privet.evidence.values import Evidence

LINKED = {
    "quasi": "all quasi-identifiers of a person",
    "one sensitive": "these, and one sensitive value",
}
KNOWN = {
    "root": "the root's values",
    "shape": "these, and how the tree branches",
    "tree": "every quasi-identifier in the tree",
}


def published(evidence: Evidence) -> Iterator[str]:
    """What is left of the trees, depth by depth."""
    if evidence.documents is not None:
        yield from _levels(evidence.documents.levels)
    lost = evidence.measures.loss
    if lost is not None and lost.suppression_accuracy is not None:
        yield f"  {share(lost.suppression_accuracy)} of a person's vertices are published, on average"


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
    if found["warnings"]:
        yield ""
        yield "what the promise will meet"
        yield from (f"  {screen.shown(warning)}" for warning in found["warnings"])


def linked(found: Mapping[str, Any]) -> Iterator[str]:
    """How surely sensitive values of a release in halves are somebody's, and what follows for a person."""
    yield f"{found['records']:,} people in {found['groups']:,} groups, in two halves ({found['style']})"
    yield ""
    yield from screen.table(
        [
            (LINKED[one["known"]], share(Fraction(one["worst"])), share(one["average"]))
            for one in found["linked"]
        ],
        head=("somebody knows", "sure of another value, at worst", "on average"),
    )
    if "person" in found:
        yield ""
        yield from _person(found["person"])


def _person(found: Mapping[str, Any]) -> Iterator[str]:
    fit = f"{found['fit']:,} people fit" if found["fit"] != 1 else "1 person fits"
    yield f"{fit} the quasi-identifiers that are known"
    if not found["conclusions"]:
        yield "  none of them has a sensitive value left"
        return
    named = any("value" in one for one in found["conclusions"])
    yield from screen.table(
        [
            (
                one["path"],
                *(("null" if one["value"] is None else one["value"],) if named else ()),
                share(Fraction(one["before"])),
                share(Fraction(one["now"])),
            )
            for one in found["conclusions"]
        ],
        head=(
            "has somewhere" if named else "has the surest value of",
            *(("value",) if named else ()),
            "by quasi-identifiers",
            "by all that is known",
        ),
    )
    if not named:
        yield "  --show-values says which values these are"


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
        many = found["suppressed_records"]
        yield (
            f"{many:,} records found no partner and are left out"
            if many > 1
            else ("1 record found no partner and is left out")
        )
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
    if found["private_notes"]:
        yield ""
        yield from _relaxed(found["relaxations"], found["records"] + (found["suppressed_records"] or 0))


def _relaxed(found: Any, records: int) -> Iterator[str]:
    """What one step less would buy, as it was tried when the release was made."""
    if not found:
        yield "what one step less would buy: with less than 2 alike, nothing is promised"
        return
    tried = found[0]["tried"]
    on = "" if tried == records else f", tried on {tried:,} of the records"
    measure = "lm" if "lm" in found[0] else "kept"
    yield f"what one step less would buy{on}"
    yield from screen.table(
        [
            (
                "; ".join(
                    f"{change['model']} {change['parameter']} {change['from']} to {change['to']}"
                    for change in one["changes"]
                ),
                share(one[measure]["now"]),
                share(one[measure]["then"]),
            )
            for one in found
        ],
        head=("if the policy said", *(("lost now", "then") if measure == "lm" else ("left now", "then"))),
    )


def init(data: str, output: Path, kind: str | None, *, overwrite: bool, json: bool) -> int:
    """Draft a policy for documents."""
    from privet.cli.options import whole
    from privet.drafts.documents import drafted

    with screen.working(json=json) as progress:
        progress("read", 0)
        made = drafted(Path(data), kind)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(made.dumps(), encoding="utf-8")
    if json:
        screen.answer({"policy": str(output), **made.to_dict()})
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
    from privet.engines.documents.files import format_of
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
    from privet.document.described import described
    from privet.engines.documents.bind import JsonBinder
    from privet.engines.documents.files import write
    from privet.engines.documents.shape import Shape
    from privet.engines.documents.xmltext import Frame, steps
    from privet.roads.documents.data import as_read

    types = {
        name: {
            **type_,
            "identifier": [],
            "other": [*type_.get("identifier", ()), *type_.get("other", ())],
        }
        for name, type_ in said["types"].items()
    }
    schema = described({"record": said["record"], "types": types})
    way = steps(said["record"]["xml"])[:-1]
    binder = JsonBinder(schema, Shape(), target.name)
    shape = Shape("xml", said["record"]["xml"], frame=Frame(way, [{} for _ in way]))
    write((binder.record(as_read(record)) for record in records), target, schema, shape)
