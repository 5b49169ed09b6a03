"""`privet explain`: why is so much lost?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from privet.cli import documents, screen, trajectories, transactions
from privet.cli.options import Engine, Folder, Json, Master, ShowValues, engine_of, release_folder
from privet.cli.screen import share


def explain(
    folder: Folder,
    *,
    engine: Engine = "embedded",
    master: Master = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Why so much was lost: which class, column and promise forced it, and what relaxing one step buys.

    Run it where the private folder still lies beside the release: it holds the search's whole log and
    what each refused step would have needed. Where a refused split would have been made is itself
    something about the data, so it is shown only with --show-values.

    Example:
      privet explain out

    Next: change one number in the policy and publish into another folder; hand out one of them only.

    """
    release_folder(folder)
    if show_values:
        screen.refuse_hidden_terminal(json=json)
    where = engine_of(engine, master)
    with screen.working(json=json) as progress:
        progress("measure", 0)
        if json:
            screen.answer(explained(folder, where))
        else:
            screen.say(*told(folder, where, show_values=show_values))
    return 0


def explained(folder: Path, engine: Any, *, show_values: bool = False) -> Any:
    """What is known of a release's loss, without raw values unless they are asked for."""
    from privet.assess import explain as found

    return found(folder, show_values=show_values, engine=engine)


def told(folder: Path, engine: Any, *, show_values: bool) -> list[str]:
    """The same in lines."""
    return list(_told(explained(folder, engine, show_values=show_values)))


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("kind") == "documents":
        yield from documents.explain(found)
        return
    if found.get("kind") == "trajectories":
        yield from trajectories.explain(found)
        return
    if found.get("kind") == "transactions":
        yield from transactions.explain(found)
        return
    if found["lm"] is not None:
        yield f"{share(found['lm'])} of the detail is lost on average, in {found['records']:,} records"
    if found.get("choice") is not None:
        yield from screen.choice_lines(found["choice"])
        yield ""
    yield from screen.table(
        [
            (
                column["attribute"],
                "" if column["lm"] is None else share(column["lm"]),
                f"{column['published_values'] or 0:,}",
                _stopped(column, logged=found["logged"]),
            )
            for column in found["attributes"]
        ],
        head=("column", "lost", "values", "why not less"),
    )
    for reason in found["reasons"]:
        yield screen.shown(f"  {reason}")
    if not found["logged"] and not found["reasons"]:
        yield "this search weighs whole tables, so no single step was refused; privet explore tries others"
    yield ""
    yield "where the promises are tight"
    for tight in found["tightest"]:
        yield from _tight(tight)
    yield ""
    yield from _relaxed(found)


def _stopped(column: Mapping[str, Any], *, logged: bool) -> str:
    refused = column["refused"]
    if not refused and not logged:
        return ""
    if not refused:
        return "" if column["published"] == "unchanged" else "its hierarchy ends here"
    which = _label(refused[0]["label"]) + (f" and {len(refused) - 1} more" if len(refused) > 1 else "")
    return f"splitting {which} would break {', '.join(column['stopped_by'])}"


def _label(label: str | None) -> str:
    return "null" if label is None else f"“{label}”"


def _tight(tight: Mapping[str, Any]) -> Iterator[str]:
    model, group, surest = tight["model"], tight["group"], tight["confidence"]
    if group is not None:
        yield screen.shown(
            f"  {model}: the smallest group has {group['size']:,} records, "
            f"known by {', '.join(group['attributes'])}{_values(group)}"
        )
    if surest is not None and surest["confidence"] not in {0, "0"}:
        yield screen.shown(
            f"  {model}: the surest guess at {surest['sensitive']} is {surest['confidence']}, "
            f"known by {', '.join(surest['attributes'])}{_values(surest)}"
        )


def _values(group: Mapping[str, Any]) -> str:
    return f" ({', '.join(map(str, group['values']))})" if group.get("values") else ""


def _relaxed(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["private_notes"]:
        yield "what relaxing would buy: unknown here, the private notes do not lie beside the release"
        return
    if not found["relaxations"]:
        yield "what relaxing would buy: nothing, no step was refused"
        return
    skipped = [one["skipped"] for one in found["relaxations"] if "skipped" in one]
    if skipped:
        yield f"what relaxing would buy: {screen.shown(skipped[0])}"
        return
    yield "what one step more would save, and what it would take"
    yield from screen.table(
        [
            (
                one["attribute"],
                f"split {_label(one['label'])}{_into(one['children'])}",
                share(one["lm_saved"]),
                "; ".join(
                    f"{change['model']} {change['parameter']} {change['from']} to {change['to']}"
                    for change in one["changes"]
                ),
            )
            for one in found["relaxations"]
        ],
        head=("column", "step", "saves (LM)", "if the policy said"),
    )


def _into(children: Any) -> str:
    if isinstance(children, int):
        return f" in {children:,}"
    return " into " + ", ".join("null" if child is None else str(child) for child in children)
