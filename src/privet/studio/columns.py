"""The page where each column gets its role, with all that there is to see of it."""

from __future__ import annotations

from typing import Any

from fastapi.responses import Response

from privet.registry import find
from privet.report.markup import Safe, label_text, tag
from privet.report.plots import Bar, bars, pct
from privet.report.words import ROLES as MEANING
from privet.roads.tables.separation import telling
from privet.studio import edits
from privet.studio.seen import Column
from privet.studio.pages import Asked, Pages
from privet.studio.project import Document

OFFERED = ("identifier", "quasi", "sensitive", "target", "other")
SAID = {
    "identifier": "Identifier",
    "quasi": "Quasi-identifier",
    "sensitive": "Sensitive",
    "target": "Target",
    "other": "Other",
}
PATH_KEYS = ("form", "path", "person", "place", "time", "lat", "lon", "slot", "grid", "clash")
MOST_TOGETHER = 200_000  # records up to which combinations are looked at while one waits


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/columns", show)
    pages.get("/columns/together", together)
    pages.post("/columns/role", role)
    pages.post("/columns/guesses", guesses)
    pages.post("/columns/rows", rows)
    pages.post("/columns/field", field_role)
    pages.post("/columns/paths", paths)


def show(asked: Asked) -> Response:
    look, document = asked.look, asked.project.document()
    return asked.page(
        "columns.html",
        here="columns",
        title="Columns",
        look=look,
        roles=[(role, SAID[role], MEANING[role]) for role in OFFERED],
        field_roles=[(role, SAID[role]) for role in OFFERED if role != "target"],
        chosen=_chosen(document),
        fields=_fields(document),
        whose=document.get("rows") or (f"person:{document['person']}" if "person" in document else ""),
        paths=_paths(document),
        drawn={one.name: drawn(one, look.records) for one in look.columns},
    )


def _chosen(document: Document) -> dict[str, str]:
    return {name: str(said.get("role", "")) for name, said in document.get("attributes", {}).items()}


def _fields(document: Document) -> dict[tuple[str, str], str]:
    return {
        (kind, name): role
        for kind, said in document.get("documents", {}).get("types", {}).items()
        for role in edits.FIELD_ROLES
        for name in edits.listed(said.get(role))
    }


def _paths(document: Document) -> list[tuple[str, Any]]:
    said = document.get("trajectories")
    return [] if said is None else [(key, said.get(key, "")) for key in PATH_KEYS]


def drawn(column: Column, records: int) -> Safe:
    """The distribution: a histogram of numbers, or the commonest values."""
    if column.bins:
        return histogram(column)
    if column.common and column.common[0][1] == 1:
        return tag("p", "every value stands once", class_="none")
    most = max((many for _, many in column.common), default=1)
    shown = [
        Bar(
            label_text(value),
            many / most,
            f"{many:,}",
            f"{label_text(value)}: {many:,} of {records:,} records",
        )
        for value, many in column.common
    ]
    return bars(shown, name=f"The commonest values of {label_text(column.name)}")


def histogram(column: Column) -> Safe:
    """Records by number, as columns side by side."""
    most = max(one.records for one in column.bins) or 1
    width = 1 / len(column.bins)
    shapes = [
        tag(
            "g",
            tag("title", f"{one.low:g} to {one.high:g}: {one.records:,} records"),
            tag("rect", x=pct(at * width), y="0", width=pct(width), height="100%", class_="reach"),
            tag(
                "rect",
                x=pct(at * width),
                y=pct(1 - one.records / most),
                width=pct(width),
                height=pct(one.records / most),
                class_="fill column",
            ),
            class_="mark",
            tabindex=-1 if at else 0,
            role="img",
        )
        for at, one in enumerate(column.bins)
    ]
    name = f"How the numbers of {label_text(column.name)} lie"
    return tag(
        "div",
        tag("svg", *shapes, width="100%", height=90, role="group", aria_label=name),
        tag(
            "p",
            tag("span", f"{column.bins[0].low:g}"),
            tag("span", f"{column.bins[-1].high:g}"),
            class_="ends",
        ),
        class_="histogram",
    )


def together(asked: Asked) -> Response:
    """What columns tell people apart, alone and two or three together."""
    look = asked.look
    found = None
    if look.kind == "table" and look.drafted is not None and look.records <= MOST_TOGETHER:
        found = telling(asked.project.given, form=look.drafted.form, engine=find("engines", "embedded")())
    return asked.page(
        "together.html", here="columns", title="What columns single out", found=found, look=look
    )


def role(asked: Asked) -> Response:
    """One click: what a column is."""
    name, said = asked.get("column"), asked.get("role")
    column = asked.look.column(name)
    drafted = {} if column is None else column.hierarchy
    asked.project.edit(lambda document: edits.set_role(document, name, said, drafted))
    return asked.go("columns", anchor=asked.get("anchor"))


def guesses(asked: Asked) -> Response:
    """Take the guess wherever nothing is decided yet."""
    look = asked.look

    def change(document: Document) -> None:
        for column in look.columns:
            if _chosen(document).get(column.name) == "undecided":
                edits.set_role(document, column.name, column.guess, column.hierarchy)
        for (kind, name), role in _fields(document).items():
            if role == "undecided":
                guess = next((f.guess for f in look.fields if (f.type, f.name) == (kind, name)), "quasi")
                edits.set_field_role(document, kind, name, guess)

    asked.project.edit(change)
    return asked.go("columns")


def rows(asked: Asked) -> Response:
    """Whose rows are."""
    asked.project.edit(lambda document: edits.set_rows(document, asked.get("rows")))
    return asked.go("columns")


def field_role(asked: Asked) -> Response:
    """One click: what a field of documents is."""
    kind, name, said = asked.get("type"), asked.get("field"), asked.get("role")
    asked.project.edit(lambda document: edits.set_field_role(document, kind, name, said))
    return asked.go("columns", anchor=asked.get("anchor"))


def paths(asked: Asked) -> Response:
    """Where the paths of trajectories are."""
    said = {key: asked.get(key) for key in PATH_KEYS}
    asked.project.edit(lambda document: edits.set_paths(document, said))
    return asked.go("columns")
