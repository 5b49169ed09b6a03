"""The pages of hierarchies: how values of quasi-identifiers are generalised, and which have no place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi.responses import Response

from privet.core import Hierarchy
from privet.errors import HierarchyError, InputError, PrivetError
from privet.hierarchy import parse
from privet.hierarchy.tree import Branch, Tree
from privet.registry import find
from privet.roads.documents.data import distinct
from privet.studio import branches, edits
from privet.studio.columns import drawn
from privet.studio.pages import Asked, Pages
from privet.studio.project import TREES

SHOWN = 200  # values without a place that a page lists
LARGEST_TREE = 2000  # nodes that a page draws
SIMPLE = {
    "flat": "keep a value or hide it; nothing between",
    "auto": "by what the values look like",
    "prefix": "the first characters: keep = [3, 1] keeps three, then one",
    "dates": 'day, month, year: levels = ["month", "year"]',
    "intervals": "ranges of numbers, grown by the search or with edges of your own",
}


@dataclass(frozen=True)
class Standing:
    """A quasi-identifier's hierarchy, and how much it covers."""

    name: str
    type: str
    spec: Mapping[str, Any]
    uncovered: tuple[str, ...]
    different: int
    complaint: str = ""


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/hierarchies", show)
    pages.get("/hierarchy", one)
    pages.get("/hierarchy/csv", export)
    pages.post("/hierarchy/simple", simple)
    pages.post("/hierarchy/edges", edges)
    pages.post("/hierarchy/import", bring)
    pages.post("/hierarchy/begin", begin)
    pages.post("/hierarchy/tree", tree)


def show(asked: Asked) -> Response:
    return asked.page(
        "hierarchies.html", here="hierarchies", title="Hierarchies", standing=list(_standing(asked))
    )


def _quasi(asked: Asked) -> dict[str, dict[str, Any]]:
    """The hierarchies of the quasi-identifiers."""
    return edits.quasi(asked.project.document())


def _standing(asked: Asked) -> Iterator[Standing]:
    known = _values(asked, list(_quasi(asked)))
    for name, spec in _quasi(asked).items():
        yield _looked(asked, name, spec, known.get(name))


def _values(asked: Asked, names: list[str]) -> dict[str, list[Any]]:
    """The different values of columns, as the policy reads them; those of fields once the policy is one."""
    if not names:
        return {}
    if asked.look.drafted is not None:
        return asked.studio.looks.values(asked.project, names)
    try:
        found = distinct(asked.project.given, asked.project.policy(), find("engines", "embedded")())
    except PrivetError:
        return {}
    return {name: list(found[name]) for name in names if name in found}


def _looked(asked: Asked, name: str, spec: Mapping[str, Any], values: list[Any] | None) -> Standing:
    kind = str(spec.get("type", "auto"))
    if values is None:
        return Standing(name, kind, spec, (), 0, "what it covers is said when the policy is complete")
    many = len([value for value in values if value is not None])
    try:
        hierarchy = parse(spec, base=asked.project.folder)
        return Standing(name, kind, spec, tuple(hierarchy.uncovered(values)), many)
    except PrivetError as error:
        return Standing(name, kind, spec, (), many, error.complaints[0])


def one(asked: Asked) -> Response:
    """The editor of one hierarchy."""
    name = asked.get("column")
    spec = _quasi(asked).get(name)
    if spec is None:
        raise InputError("only a quasi-identifier has a hierarchy")
    standing = _looked(asked, name, spec, _values(asked, [name]).get(name))
    column = asked.look.column(name)
    root = _root(_parsed(asked, name)) if not standing.complaint else None
    return asked.page(
        "hierarchy.html",
        here="hierarchies",
        title=f"Hierarchy of {name}",
        standing=standing,
        settings=_settings(standing.spec),
        kinds=SIMPLE,
        root=root,
        nodes=0 if root is None else sum(1 for _ in root.walk()),
        largest=LARGEST_TREE,
        groups=[] if root is None else [node.label for node in root.walk() if node.children],
        shown=SHOWN,
        column=column,
        drawn=None if column is None else drawn(column, asked.look.records),
        edges=_edges(standing.spec, column),
    )


def _parsed(asked: Asked, name: str) -> Hierarchy:
    return parse(_quasi(asked).get(name, {"type": "auto"}), base=asked.project.folder)


def _root(hierarchy: Hierarchy) -> Branch | None:
    return hierarchy.root if isinstance(hierarchy, Tree) else None


def _settings(spec: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in spec.items() if key not in {"type", "tree"}}


def _edges(spec: Mapping[str, Any], column: Any) -> dict[str, Any] | None:
    """Where the cuts of numbers are, for sliders over the histogram."""
    if column is None or not column.bins:
        return None
    low, high = column.bins[0].low, column.bins[-1].high
    given = spec.get("edges", ())
    flat = list(given[0]) if given and isinstance(given[0], (list, tuple)) else list(given)
    inner = [float(edge) for edge in flat if low < float(edge) < high]
    if not inner:
        inner = [round(low + (high - low) * part / 4) for part in (1, 2, 3)]
    whole = all(one.low == int(one.low) for one in column.bins)
    return {"low": low, "high": high, "inner": inner, "step": 1 if whole else (high - low) / 200}


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
        spec["keep"] = [int(word) for word in re.findall(r"[0-9]+", asked.get("keep"))]
    if kind == "dates":
        spec["levels"] = re.findall(r"[a-z]+", asked.get("levels").lower()) or ["month", "year"]
    if kind == "intervals":
        widths = [_exact(word) for word in re.findall(r"[0-9.]+", asked.get("width"))]
        spec |= {"width": widths} if widths else {}
    return _saved(asked, name, spec)


def edges(asked: Asked) -> Response:
    """Cuts of numbers that were set over the histogram."""
    name, found = asked.get("column"), asked.look.column(asked.get("column"))
    if found is None or not found.bins:
        raise InputError("this column is not one of numbers")
    inner = sorted({_exact(word) for word in asked.form.get("edge", ()) if word})
    low, high = _plain(found.bins[0].low), _plain(found.bins[-1].high)
    cuts = [low, *(edge for edge in inner if low < edge < high), high]
    return _saved(asked, name, {"type": "intervals", "edges": cuts})


def _exact(word: str) -> int | float:
    try:
        return _plain(float(word))
    except ValueError:
        raise InputError("an edge is a number") from None


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def bring(asked: Asked) -> Response:
    """A tree that somebody has already, as rows `leaf;parent;…;*`."""
    name, text = asked.get("column"), asked.get("rows").replace("\r\n", "\n")
    try:
        made = Tree.from_csv(text)
    except HierarchyError as error:
        raise InputError(*error.complaints) from None
    return _kept(asked, name, made.root)


def begin(asked: Asked) -> Response:
    """A tree to be drawn by hand: all values below the root."""
    name = asked.get("column")
    values = sorted(str(value) for value in _values(asked, [name]).get(name, ()) if value is not None)
    return _kept(asked, name, branches.added(Branch("*"), values))


def _kept(asked: Asked, name: str, root: Branch) -> Response:
    """The tree as a file of the project, which the policy names."""
    plain = re.sub(r"[^\w\-]+", "_", name)[:60] or "column"
    Tree(root)  # a label that stands twice is refused here
    path = asked.project.folder / TREES / f"{plain}.csv"
    if path.exists() and _path_of(asked, name) != f"{TREES}/{plain}.csv":
        path = asked.project.room_for(TREES, f"{plain}.csv")
    asked.project.written(path, branches.rows(root))
    return _saved(asked, name, {"type": "csv", "path": f"{TREES}/{path.name}"})


def _path_of(asked: Asked, name: str) -> str:
    return str(_quasi(asked).get(name, {}).get("path", ""))


def tree(asked: Asked) -> Response:
    """One edit of a tree."""
    name, what = asked.get("column"), asked.get("what")
    root = _root(_parsed(asked, name))
    if root is None:
        raise InputError("this column has no tree yet")
    label, new = asked.get("label"), asked.get("new")
    chosen = asked.form.get("node", [])
    act: dict[str, Callable[[], Branch]] = {
        "rename": lambda: branches.renamed(root, label or "".join(chosen[:1]), new),
        "merge": lambda: branches.merged(root, chosen, new),
        "split": lambda: _each(root, chosen, branches.split),
        "move": lambda: _each(root, chosen, lambda tree, one: branches.moved(tree, one, asked.get("under"))),
        "cover": lambda: branches.added(root, Tree(root).uncovered(_values(asked, [name]).get(name, []))),
    }
    if what not in act:
        raise InputError("a tree can be renamed, merged, split, moved and completed")
    return _kept(asked, name, act[what]())


def _each(root: Branch, chosen: list[str], change: Callable[[Branch, str], Branch]) -> Branch:
    if not chosen:
        raise InputError("choose a node first")
    for label in chosen:
        root = change(root, label)
    return root


def export(asked: Asked) -> Response:
    """A tree as rows, for a spreadsheet or another project."""
    name = asked.get("column")
    root = _root(_parsed(asked, name))
    if root is None:
        raise InputError("this column has no tree")
    plain = re.sub(r"[^\w\-]+", "_", name)[:60] or "column"
    headers = {
        "content-disposition": f'attachment; filename="{plain}.csv"'.encode("ascii", "replace").decode()
    }
    return Response(branches.rows(root), media_type="text/csv; charset=utf-8", headers=headers)
