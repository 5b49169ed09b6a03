"""The page where each column gets its role, with all that there is to see of it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from fastapi.responses import JSONResponse, Response

from privet import registry
from privet.core import Form
from privet.declared import TABLE
from privet.errors import InputError
from privet.registry import find
from privet.report.markup import Safe, label_text, tag
from privet.report.plots import Bar, bars, pct
from privet.report.words import ROLES as MEANING
from privet.roads.stations import in_frame
from privet.roads.tables.separation import telling
from privet.studio import edits
from privet.studio import sets as of_sets
from privet.studio.jobs import spoken
from privet.studio.later import MOMENT, begun, now
from privet.studio.pages import Asked, Pages
from privet.studio.places import by_place_and_time
from privet.studio.seen import Column
from privet.studio.shape import DOCUMENTS, TRAJECTORIES, Document, undecided

OFFERED = ("identifier", "quasi", "sensitive", "target", "other", edits.LEFT_OUT)
SAID = {
    "identifier": "Identifier",
    "quasi": "Quasi-identifier",
    "sensitive": "Sensitive",
    "target": "Target",
    "other": "Other",
    edits.LEFT_OUT: "Leave out",
}
LEFT_OUT_SAID = "not named in the policy, so it never leaves"
PATH_KEYS = ("form", "path", "person", "place", "time", "lat", "lon", "slot", "grid", "clash")
PATH_COLUMNS = ("path", "person", "place", "time", "lat", "lon")
PATH_SAID = {
    "form": "How paths are written",
    "path": "Column of whole paths",
    "person": "Column of the person",
    "place": "Column of the place",
    "time": "Column of the time",
    "lat": "Column of the latitude",
    "lon": "Column of the longitude",
    "slot": "Times are rounded to",
    "grid": "Places are rounded to, metres",
    "clash": "Two places at one time",
}
PATH_FORMS = ("column", "visits", "readings", "points")
SET_KEYS = ("form", "set", "person", "item", "separator")
SHOWN = 100  # columns on a page
MOST_TOGETHER = 200_000  # records in which combinations are looked for


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/columns", show)
    pages.get("/columns/together", together)
    pages.get("/columns/together/state", together_state)
    pages.post("/columns/role", role)
    pages.post("/columns/guesses", guesses)
    pages.post("/columns/rows", rows)
    pages.post("/columns/values", values)
    pages.post("/columns/field", field_role)
    pages.post("/columns/paths", paths)
    pages.post("/columns/sets", sets)
    pages.get("/columns/map", mapped)


def show(asked: Asked) -> Response:
    look, document = asked.look, asked.project.document()
    page = asked.number("page") if asked.get("page") else 1
    some = look.columns[(page - 1) * SHOWN : page * SHOWN]
    return asked.page(
        "columns.html",
        here="columns",
        title="Columns",
        look=look,
        waiting=len(list(undecided(document))),
        all=len(_chosen(document)) + len(_fields(document)),
        roles=[(role, SAID[role], MEANING.get(role, LEFT_OUT_SAID)) for role in OFFERED],
        field_roles=[(role, SAID[role]) for role in OFFERED if role in edits.FIELD_ROLES],
        chosen=_chosen(document),
        left_out=edits.LEFT_OUT,
        public=_public(document),
        fields=_fields(document),
        whose=document.get("rows") or (f"person:{document['person']}" if "person" in document else ""),
        paths=_paths(document),
        path_said=PATH_SAID,
        path_forms=PATH_FORMS,
        sets=_sets(document),
        idle=_idle(document),
        shaped=_shaped(document),
        items=None if look.items is None else commonest(look.items.common, look.items.records, "items"),
        columns=some,
        page=page,
        before=(page - 1) * SHOWN,
        pages=-(-len(look.columns) // SHOWN),
        drawn={one.name: drawn(one, look.records) for one in some},
    )


def _idle(document: Document) -> list[str]:
    """What [form] says of text files, which does not concern documents: they say it themselves."""
    return sorted(set(document.get("form", {})) - {"format"}) if document.get("kind") == DOCUMENTS else []


def _public(document: Document) -> dict[str, str]:
    """Of columns whose values the policy has to list, as noise asks of what is predicted: those it lists."""
    search = document.get("algorithm", {}).get("type")
    made = registry.installed("algorithms").get(search)
    if made is None or not made.load().public_domains:
        return {}
    return {
        name: "\n".join(map(str, said.get("values", ())))
        for name, said in document.get("attributes", {}).items()
        if said.get("role") == "target"
    }


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


def _sets(document: Document) -> list[tuple[str, Any]]:
    said = document.get("transactions")
    return [] if said is None else [(key, said.get(key, "")) for key in SET_KEYS]


def _shaped(document: Document) -> set[str]:
    """The columns that paths or sets are read from."""
    said = {**document.get("trajectories", {}), **document.get("transactions", {})}
    return {str(said[key]) for key in (*PATH_COLUMNS, *of_sets.NAMED) if key in said}


def drawn(column: Column, records: int) -> Safe:
    """The distribution: a histogram of numbers, or the commonest values."""
    if column.bins:
        return histogram(column)
    if column.common and column.common[0][1] == 1:
        return tag("p", "every value stands once", class_="none")
    return commonest(column.common, records, f"values of {label_text(column.name)}")


def commonest(common: Sequence[tuple[str, int]], records: int, what: str) -> Safe:
    """How often the commonest of something stand there."""
    most = max((many for _, many in common), default=1)
    shown = [
        Bar(
            label_text(value),
            many / most,
            f"{many:,}",
            f"{label_text(value)}: {many:,} of {records:,} records",
        )
        for value, many in common
    ]
    return bars(shown, name=f"The commonest {what}")


def histogram(column: Column) -> Safe:
    """Records by number, as columns side by side."""
    most = max(one.records for one in column.bins) or 1
    width = 1 / len(column.bins)
    shapes = [
        tag(
            "g",
            tag("title", f"{column.span(one)}: {one.records:,} records"),
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
    name = f"How the {column.type} of {label_text(column.name)} lie"
    return tag(
        "div",
        tag("svg", *shapes, width="100%", height=90, role="group", aria_label=name),
        tag(
            "p",
            *(tag("span", end) for end in column.ends),
            class_="ends",
        ),
        class_="histogram",
    )


def together(asked: Asked) -> Response:
    """What columns tell people apart, alone and two or three together; of a large table in a sample of it."""
    return asked.page(
        "together.html",
        here="columns",
        title="What columns single out",
        found=now(_together(asked), MOMENT, "columns/together/state", "looking at columns together"),
        look=asked.look,
        typed=spoken(["privet", "risk", asked.project.given]),
    )


def _together(asked: Asked) -> Future[dict[str, Any]]:
    look, source = asked.look, asked.project.given
    if look.kind != TABLE or look.drafted is None:
        raise InputError("columns of a table are looked at together")
    form = look.drafted.form
    return asked.studio.looks.remembered(
        "together", lambda: begun(lambda: singled_out(source, form, look.records))
    )


def singled_out(source: str, form: Form, records: int) -> dict[str, Any]:
    """What columns single out, looked for in every so many records of a large table."""
    engine = find("engines", "embedded")()
    every = -(-records // MOST_TOGETHER)
    if every == 1:
        return telling(source, form=form, engine=engine)
    some = in_frame(engine, engine.read(source, form)).gather_every(every)
    return telling(some, form=form, engine=engine)


def together_state(asked: Asked) -> Response:
    """Is it there? For the page that waits."""
    return JSONResponse(
        {"running": not _together(asked).done(), "said": "looking at columns together", "of": None}
    )


def role(asked: Asked) -> Response:
    """One click: what a column is."""
    name, said = asked.get("column"), asked.get("role")
    column = asked.look.column(name)
    drafted = {} if column is None else column.hierarchy
    known = () if column is None or column.of_path else (name,)
    before = asked.studio.before  # hierarchies of columns that had another role meanwhile

    def change(document: Document) -> None:
        place = (asked.project.given, name)
        stood = document.get("attributes", {}).get(name, {}).get("hierarchy")
        if isinstance(stood, dict):
            before[place] = stood
        edits.set_role(document, name, said, before.get(place, drafted), known)

    asked.project.edit(change)
    page = {"page": asked.number("page")} if asked.get("page") else {}
    return asked.go("columns", anchor=asked.get("anchor"), **page)


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


def values(asked: Asked) -> Response:
    """All values that a column could have: for noise, which must not read them off the data."""
    name, said = asked.get("column"), [line.strip() for line in asked.get("values").splitlines()]
    asked.project.edit(lambda document: edits.set_values(document, name, [one for one in said if one]))
    return asked.go("columns", anchor=asked.get("anchor"))


def field_role(asked: Asked) -> Response:
    """One click: what a field of documents is."""
    kind, name, said = asked.get("type"), asked.get("field"), asked.get("role")
    asked.project.edit(lambda document: edits.set_field_role(document, kind, name, said))
    return asked.go("columns", anchor=asked.get("anchor"))


def sets(asked: Asked) -> Response:
    """Where the sets of items are."""
    said = {key: asked.get(key) for key in SET_KEYS}
    asked.project.edit(lambda document: edits.set_sets(document, said))
    return asked.go("columns")


def mapped(asked: Asked) -> Response:
    """Where and when people are, before anything is published: places by times, as the data has them."""
    if asked.look.kind != TRAJECTORIES:
        raise InputError("places by times are there for trajectories")
    drawn = by_place_and_time(asked.project.given, asked.project.document(), asked.project.folder)
    return asked.page("map.html", here="columns", title="Places by times", drawn=drawn)


def paths(asked: Asked) -> Response:
    """Where the paths of trajectories are."""
    said = {key: asked.get(key) for key in PATH_KEYS}
    asked.project.edit(lambda document: edits.set_paths(document, said))
    return asked.go("columns")
