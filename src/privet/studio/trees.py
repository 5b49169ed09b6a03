"""The pages of hierarchies: how values of quasi-identifiers are generalised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import JSONResponse, Response

from privet.core import Hierarchy
from privet.domain import Node
from privet.errors import HierarchyError, InputError, PrivetError
from privet.hierarchy import parse
from privet.hierarchy.dates import LEVELS, Dates
from privet.hierarchy.numbers import read as number
from privet.hierarchy.tree import Branch, Tree
from privet.report.markup import label_text
from privet.studio import branches, cuts, edits
from privet.studio.columns import drawn
from privet.studio.coverage import Standing, quasi, soon, values_of
from privet.studio.folder import TREES
from privet.studio.later import MOMENT, now
from privet.studio.look import Look
from privet.studio.outline import MOST, NOTHING, Outline, Part
from privet.studio.pages import Asked, Pages, attached
from privet.studio.seen import Column
from privet.studio.shape import Document
from privet.studio.typed import whole

SHOWN = 200  # values without a place that a page lists
LARGEST_BEGUN = 2000  # values that are put below a root to be drawn by hand
SIMPLE = ("flat", "auto", "prefix", "dates", "intervals")
PLACES = "looking for the place of every value"
NOT_QUASI = "only a quasi-identifier has a hierarchy"
CLIMBED = 6  # values whose steps are shown
KINDS = {
    "csv": "tree",
    "tree": "tree",
    "intervals": "ranges of numbers",
    "prefix": "first characters",
    "flat": "kept or hidden",
    "auto": "by the values' look",
}


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/hierarchies", show)
    pages.get("/hierarchies/state", state)
    pages.get("/hierarchy", one)
    pages.ask("/hierarchy/find", one)
    pages.get("/hierarchy/csv", export)
    pages.post("/hierarchy/simple", simple)
    pages.post("/hierarchy/edges", edges)
    pages.post("/hierarchy/import", bring)
    pages.post("/hierarchy/begin", begin)
    pages.post("/hierarchy/tree", tree)


def show(asked: Asked) -> Response:
    standing = now(soon(asked), MOMENT, "hierarchies/state", PLACES)
    return asked.page(
        "hierarchies.html",
        here="hierarchies",
        title="Hierarchies",
        standing=standing,
        kinds=KINDS,
        ways={one.name: _example(asked, one) for one in standing},
    )


def _example(asked: Asked, standing: Standing) -> list[str]:
    """The steps of the commonest value that has some."""
    found = climbed(asked, standing.spec, asked.look.column(standing.name))
    return max(found, key=len, default=[])


def state(asked: Asked) -> Response:
    """Is that known? For the page that waits."""
    return JSONResponse({"running": not soon(asked).done(), "said": PLACES, "of": None})


def one(asked: Asked) -> Response:
    """The editor of one hierarchy."""
    name = asked.get("column")
    spec = quasi(asked).get(name)
    if spec is None:
        raise InputError(NOT_QUASI)
    patience = None if asked.form else MOMENT  # what was searched for is not asked again
    (standing,) = now(soon(asked), patience, f"hierarchies/state?{urlencode({'column': name})}", PLACES)
    column = asked.look.column(name)
    outline = _outline(asked, name) if not standing.complaint else None
    part = None if outline is None else _part(asked, outline)
    groups = [] if outline is None else outline.groups
    return asked.page(
        "hierarchy.html",
        here="hierarchies",
        title=f"Hierarchy of {name}",
        standing=standing,
        kinds=KINDS,
        settings=_settings(standing.spec),
        levels=tuple(LEVELS),
        ways=climbed(asked, spec, column),
        part=part,
        find=asked.get("find").strip(),
        items=name == edits.ITEMS,
        groups=groups if len(groups) <= MOST or part is None else part.groups,
        every_group=len(groups) <= MOST,
        largest=LARGEST_BEGUN,
        shown=SHOWN,
        column=column,
        drawn=None if column is None else drawn(column, asked.look.records),
        sliders=cuts.sliders(standing.spec, column),
    )


def _outline(asked: Asked, name: str) -> Outline | None:
    """The tree of a column with its numbers; None: it has no tree."""
    root = _root(_parsed(asked, name))
    return None if root is None else _outlined(asked, asked.look, name, root)


def _outlined(asked: Asked, look: Look, name: str, root: Branch) -> Outline:
    column = look.column(name)
    return asked.studio.outlines.of(root, NOTHING if column is None else column.every, look.records)


def _part(asked: Asked, outline: Outline) -> Part:
    if asked.get("find").strip():
        return outline.search(asked.get("find"))
    at, first = (whole(asked.get(key) or "0", key) for key in ("at", "first"))
    return outline.part(at, first)


def climbed(asked: Asked, spec: Mapping[str, Any], column: Column | None) -> list[list[str]]:
    """A few common values, each with what it becomes step by step; none where that cannot be said."""
    if column is None:
        return []
    some = [value for value, _ in column.common[:CLIMBED]]
    try:
        hierarchy = parse(spec, base=asked.project.folder)
        if isinstance(hierarchy, Tree):  # of which there may be many thousand nodes
            outline = asked.studio.outlines.of(hierarchy.root, column.every, asked.look.records)
            ways = outline.ways(some)
        else:
            ways = {str(way[0]): way for way in _up(hierarchy.domain(some).root, ()) if len(way) > 1}
    except PrivetError:
        return []
    return [[label_text(label) for label in ways[value]] for value in some if value in ways]


def _up(node: Node, above: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    here = above if above and above[0] == node.label else (node.label, *above)
    if not node.children:
        yield here
    for child in node.children:
        yield from _up(child, here)


def _parsed(asked: Asked, name: str) -> Hierarchy:
    return parse(quasi(asked).get(name, {"type": "auto"}), base=asked.project.folder)


def _root(hierarchy: Hierarchy) -> Branch | None:
    return hierarchy.root if isinstance(hierarchy, Tree) else None


def _settings(spec: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in spec.items() if key not in {"type", "tree", "repeat"}}


def _saved(asked: Asked, name: str, spec: Mapping[str, Any]) -> Response:
    parse(spec, base=asked.project.folder)  # complains before anything is written
    asked.project.edit(lambda document: edits.set_hierarchy(document, name, spec))
    return asked.go("hierarchy", column=name)


def simple(asked: Asked) -> Response:
    """A hierarchy by rule."""
    name, kind = asked.get("column"), asked.get("kind")
    if kind not in SIMPLE:
        raise InputError("there is no such hierarchy")
    spec: dict[str, Any] = {"type": kind}
    if kind == "prefix":
        spec["keep"] = [whole(word, "keep") for word in re.findall(r"[0-9]+", asked.get("keep"))]
    if kind == "dates":
        said = " ".join(asked.form.get("levels", ())).lower()
        spec["levels"] = re.findall(r"[a-z]+", said) or ["month", "year"]
        spec |= {"format": asked.get("format")} if asked.get("format") else {}
    if kind == "intervals":
        widths = [cuts.exact(word) for word in re.findall(r"[0-9.]+", asked.get("width"))]
        spec |= {"width": widths} if widths else {}
        ends = {key: cuts.exact(asked.get(key).strip()) for key in ("low", "high") if asked.get(key).strip()}
        stood = quasi(asked).get(name, {})
        if not widths or any(stood.get(key) != end for key, end in ends.items()):  # else they stood there
            spec |= ends
    return _saved(asked, name, spec)


def edges(asked: Asked) -> Response:
    """Cuts that were set over the histogram: ranges of numbers, or spans of days."""
    name, found = asked.get("column"), asked.look.column(asked.get("column"))
    if found is None or not found.bins:
        raise InputError("this column is neither one of numbers nor one of dates")
    given = asked.form.get("edge", ())
    if not found.dated:
        return _saved(asked, name, cuts.ranges(found, given))
    values = [str(value) for value in values_of(asked, [name]).get(name, ()) if value is not None]
    dates = parse(found.hierarchy, base=asked.project.folder)
    spans = cuts.spans(values, given, dates if isinstance(dates, Dates) else Dates())
    return _kept(asked, name, Tree(spans))


def bring(asked: Asked) -> Response:
    """A tree that somebody has already, as rows `leaf;parent;…;*`."""
    name, text = asked.get("column"), asked.get("rows")
    try:
        made = Tree.from_csv(text)
    except HierarchyError as error:
        raise InputError(*error.complaints) from None
    return _kept(asked, name, made)


def begin(asked: Asked) -> Response:
    """A tree to be drawn by hand: all values below the root."""
    name = asked.get("column")
    values = _in_order(str(one) for one in values_of(asked, [name]).get(name, ()) if one is not None)
    if len(values) > LARGEST_BEGUN:
        raise InputError(
            f"{len(values):,} values are too many to be drawn by hand, which is done up to "
            f"{LARGEST_BEGUN:,}: take a rule, or bring the tree as rows"
        )
    return _kept(asked, name, Tree(branches.added(Branch("*"), values)))


def _in_order(values: Iterable[str]) -> list[str]:
    """Numbers by their size, then whatever else there is by its letters.

    >>> _in_order(["10.3", "b", "9", "a"])
    ['9', '10.3', 'a', 'b']
    """
    known = {value: number(value) for value in values}
    numbers = [(size, value) for value, size in known.items() if size is not None]
    return [value for _, value in sorted(numbers)] + sorted(v for v, size in known.items() if size is None)


def _kept(asked: Asked, name: str, made: Tree) -> Response:
    """A tree in the place of whatever stood there."""
    _redrawn(asked, name, lambda spec: replace(made, null=spec.get("null") is True))
    return asked.go("hierarchy", "", column=name)


def _redrawn(asked: Asked, name: str, draw: Callable[[Mapping[str, Any]], Tree]) -> None:
    """The tree as a file of the project, which the policy names.

    `draw` makes it of the hierarchy that stands there. All of it is one edit of the project, from reading
    to writing, so that nobody else's edit falls in between and is lost.
    """

    def change(document: Document) -> None:
        every = edits.quasi(document)
        if name not in every:
            raise InputError(NOT_QUASI)
        text, said = branches.kept(draw(every[name]))  # refused before anything is written
        plain = re.sub(r"[^\w\-]+", "_", name)[:60] or "column"
        stood = str(every[name].get("path", ""))
        ours = re.fullmatch(rf"{TREES}/([0-9]+-)?{re.escape(plain)}\.csv", stood) is not None
        path = asked.project.folder / (stood if ours else f"{TREES}/{plain}.csv")
        if path.exists() and not (ours and _alone(document, name, stood)):
            path = asked.project.room_for(TREES, f"{plain}.csv")
        asked.project.written(path, text)
        spec = {**said, "path": f"{TREES}/{path.name}"}
        edits.set_hierarchy(document, name, spec)

    asked.project.edit(change)


def _alone(document: Document, name: str, path: str) -> bool:
    """Is there no other quasi-identifier that names this file? Then it may be written anew."""
    besides = deepcopy(document)
    edits.set_hierarchy(besides, name, {"type": "flat"})
    return path not in [spec.get("path") for spec in edits.quasi(besides).values()]


def tree(asked: Asked) -> Response:
    """One edit of a tree."""
    name, what = asked.get("column"), asked.get("what")
    label, new = asked.get("label"), asked.get("new")
    chosen = asked.form.get("node", [])
    act: dict[str, Callable[[Branch], Branch]] = {
        "rename": lambda root: branches.renamed(root, label or "".join(chosen[:1]), new),
        "merge": lambda root: branches.merged(root, chosen, new),
        "split": lambda root: branches.split(root, *_some(chosen)),
        "move": lambda root: branches.moved(root, _some(chosen), asked.get("under")),
        "cover": lambda root: branches.added(root, Tree(root).uncovered(values)),
    }
    if what not in act:
        raise InputError("a tree can be renamed, merged, split, moved and completed")
    look = asked.look  # with the values: read before others have to wait
    values = values_of(asked, [name]).get(name, []) if what == "cover" else []
    place: dict[str, int] = {}

    def draw(spec: Mapping[str, Any]) -> Tree:
        stood = parse(spec, base=asked.project.folder)
        if not isinstance(stood, Tree):
            raise InputError("this column has no tree yet")
        made = act[what](stood.root)
        place.update(_place(asked, _outlined(asked, look, name, stood.root), made))
        new_name = {label or "".join(chosen[:1]): " ".join(new.split())} if what == "rename" else {}
        there = {node.label for node in made.walk()}
        repeat = [(new_name.get(one, one), times) for one, times in stood.repeat]
        return Tree(made, stood.null, tuple((one, times) for one, times in repeat if one in there))

    _redrawn(asked, name, draw)
    return asked.go("hierarchy", "", column=name, **place)


def _place(asked: Asked, before: Outline, made: Branch) -> dict[str, int]:
    """Where the page was in the tree, as numbers of the tree that was made."""
    at, first = (whole(asked.get(key) or "0", key) for key in ("at", "first"))
    if not at:
        return {"first": first} if first else {}
    known = {node.label: number for number, node in enumerate(made.walk())}
    for one in reversed(before.way(before.there(at))):  # a node that is gone: the next one above it
        if (label := before.label(one)) in known:
            return {"at": known[label], "first": first}
        if (new := " ".join(asked.get("new").split())) in known:
            return {"at": known[new], "first": first}
    return {}


def _some(chosen: list[str]) -> list[str]:
    if not chosen:
        raise InputError("choose a node first")
    return chosen


def export(asked: Asked) -> Response:
    """A tree as rows, for a spreadsheet or another project."""
    name = asked.get("column")
    found = _parsed(asked, name)
    if not isinstance(found, Tree):
        raise InputError("this column has no tree")
    plain = re.sub(r"[^\w\-]+", "_", name)[:60] or "column"
    return Response(
        branches.rows(found.root, dict(found.repeat)),
        media_type="text/csv; charset=utf-8",
        headers=attached(f"{plain}.csv"),
    )
