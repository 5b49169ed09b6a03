"""`privet diff`: what differs between two releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json, release_folder

Old = Annotated[Path, typer.Argument(metavar="OLD", help=ARGUMENTS["OLD"])]
New = Annotated[Path, typer.Argument(metavar="NEW", help=ARGUMENTS["NEW"])]
SHOWN = 8  # labels of a column that a line lists


def diff(old: Old, new: New, *, json: Json = False) -> int:
    """What differs between two releases: policy, what columns became, promises, loss, records.

    Both are read as they lie there, and only what is published is compared; whether each is what it says,
    `privet verify` finds out. Mind that who has two releases of the same people can combine them.

    Example:
      privet diff out out2

    Next: `privet sources check` says what both tell together; hand out one of them only.

    """
    from privet.difference import difference

    found = difference(release_folder(old), release_folder(new))
    if json:
        screen.answer(found)
        return 0
    screen.say(*_told(found))
    return 0


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    records = found["records"]
    yield screen.shown(f"{found['old']}: {_records(records, 'old')}")
    yield screen.shown(f"{found['new']}: {_records(records, 'new')}")
    if found["same_data"]:
        yield "the published data is the same, byte by byte"
    yield from _section(
        "policy",
        [(row["place"], _value(row["old"]), _value(row["new"])) for row in found["policy"]],
        ("where", "old", "new"),
    )
    yield from _section(
        "columns that became something else",
        [
            (
                row["column"],
                row["old"] or "-",
                row["new"] or "-",
                _labels(row["labels_gone"], row["labels_new"]),
            )
            for row in found["columns"]
        ],
        ("column", "old", "new", "published values"),
    )
    yield from _section(
        "promises",
        [(row["type"], _promise(row["old"]), _promise(row["new"])) for row in found["promises"]],
        ("promise", "old", "new"),
    )
    changed = [row for row in found["loss"] if row["old"] != row["new"]]
    yield from _section(
        "loss",
        [(_measured(row), _amount(row, "old"), _amount(row, "new")) for row in changed],
        ("measure", "old", "new"),
    )


def _records(records: Mapping[str, int], which: str) -> str:
    left = records[f"suppressed_{which}"]
    return f"{records[which]:,} records" + (f", {left:,} left out" if left else "")


def _section(title: str, rows: list[tuple[str, ...]], head: tuple[str, ...]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from screen.table(rows, head=head)


def _value(said: Any) -> str:
    return (
        "-" if said is None else ", ".join(map(str, said)) if isinstance(said, (list, tuple)) else str(said)
    )


def _labels(gone: list[Any], new: list[Any]) -> str:
    def few(labels: list[Any], sign: str) -> str:
        shown = ", ".join("null" if label is None else str(label) for label in labels[:SHOWN])
        more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
        return f"{sign} {shown}{more}" if labels else ""

    return "; ".join(part for part in (few(gone, "gone:"), few(new, "new:")) if part)


def _promise(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "-"
    asked = ", ".join(f"{key} = {value}" for key, value in one["model"].items())
    found = ", ".join(f"{key} = {value}" for key, value in one["achieved"].items())
    return f"{asked}: found {found}" if asked else f"found {found}"


def _measured(row: Mapping[str, Any]) -> str:
    return row["measure"] if row["column"] is None else f"lm of {row['column']}"


def _amount(row: Mapping[str, Any], which: str) -> str:
    value = row[which]
    if value is None:
        return "-"
    return f"{value:,}" if row["measure"] == "discernibility" else screen.share(value)
