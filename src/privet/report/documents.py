"""The sections on documents: what is left at each depth, and one published class drawn as a tree.

A class is drawn without a value of anybody: labels that were generalised to, how much they lose, and how
many different sensitive values stand behind each vertex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.document.choice import WAYS
from privet.report.markup import Content, Safe, behind, facts, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, decimal, part, percent, tables, whole
from privet.report.plots import Bar, bars
from privet.report.sections import Evidence


def depths(evidence: Evidence) -> Safe | None:
    """What is gone, by depth and type, and how sensitive values have shifted."""
    found = part(evidence, "documents")
    levels = tables(found.get("levels"))
    if not levels:
        return None
    rows, drawn = [], []
    for one in levels:
        before, after = whole(one.get("before")) or 0, whole(one.get("after")) or 0
        gone = (before - after) / before if before else 0.0
        name = f"{label_text(one.get('type'))}, level {whole(one.get('level')) or 0}"
        said = percent(gone) or ""
        drawn.append(Bar(name, gone, said, f"{name}: {said} of the vertices are gone"))
        rows.append((name, count(before) or "", count(after) or "", percent(gone) or ""))
    apart = part(found, "divergence")
    return join(
        (
            paragraph(
                "A record is a tree. Vertices without a counterpart in the other trees of their class are "
                "cut, with all below them. The bars show how many are gone."
            ),
            bars(drawn, name="Vertices gone, by depth", tone="loss"),
            behind(
                "As a table",
                table(
                    ("Vertices", "Original data", "Published", "Gone"),
                    rows,
                    numeric=(1, 2, 3),
                    caption="Vertices by depth",
                ),
            ),
            facts(
                (
                    (
                        "Vertices of a person that are left, on average",
                        percent(part(evidence, "measures", "loss").get("suppression_accuracy")),
                    ),
                    *(
                        (f"Shift of {label_text(name)}, nats", decimal(apart.get(name)) or "nothing is left")
                        for name in apart
                    ),
                )
            ),
            paragraph(
                tag(
                    "small",
                    "A shift says how far the shares of a field's published values lie from the original "
                    "ones (Kullback-Leibler divergence): 0 is no difference.",
                )
            )
            if apart
            else None,
        )
    )


def tree(evidence: Evidence) -> Safe | None:
    """One class, as every one of its records is published."""
    found = part(evidence, "documents", "drawn")
    vertices = tables(found.get("vertices"))
    if not vertices:
        return None
    level: list[int] = []
    above: list[int | None] = []
    for at, one in enumerate(vertices):
        parent = whole(one.get("parent"))
        above.append(parent if parent is not None and parent < at else None)
        level.append(0 if above[at] is None else level[above[at] or 0] + 1)
    return join(
        (
            paragraph(about_tree(found)),
            drawn_tree(vertices, above),
            behind("As a table", listed(vertices, level)),
        )
    )


def about_tree(found: Mapping[str, Any]) -> str:
    """What the drawn tree stands for."""
    many = whole(found.get("records")) or 0
    style = found.get("style")
    if style is None:
        return (
            f"{counted(many, 'record')} are published as this one tree; they differ in sensitive values only."
            " A field without a label is published as it is."
        )
    shape = f"The trees of {counted(many, 'person', 'people')} in one group all have this shape. "
    if style == "t-t":
        return shape + (
            "Their quasi-identifiers stand as they are in one list of trees, their sensitive values in "
            "another, and nothing says which two belong together."
        )
    return shape + (
        "Their quasi-identifiers stand as they are, and each vertex names a bag with the sensitive values of "
        "all of them; nothing says whose is which."
    )


def choice(evidence: Evidence) -> Safe | None:
    """Which way of publishing is for what, and which was taken."""
    if not part(evidence, "documents"):
        return None
    taken = evidence.get("recoding")
    rows = [
        (f"{way.name}{' (this release)' if way.recoding == taken else ''}", way.choose, way.resists, way.not_)
        for way in WAYS
    ]
    return table(("Way", "Choose it for", "It resists", "But"), rows, caption="Ways to publish documents")


def drawn_tree(vertices: Sequence[Mapping[str, Any]], above: Sequence[int | None]) -> Safe:
    """Lists in lists, which break their lines on a narrow screen; children are ready before their parent."""
    below: list[list[Safe]] = [[] for _ in vertices]
    roots: list[Safe] = []
    for at in reversed(range(len(vertices))):
        inner = tag("ul", *reversed(below[at])) if below[at] else None
        parent = above[at]
        (roots if parent is None else below[parent]).append(tag("li", *told(vertices[at]), inner))
    return tag("ul", *reversed(roots), class_="tree", aria_label="A published class as a tree")


def told(one: Mapping[str, Any]) -> list[Content]:
    """A vertex in a few words."""
    parts: list[Content] = [tag("strong", label(one.get("type")))]
    for each in tables(one.get("labels")):
        parts += [" · ", label(each.get("field"))]
        if "label" in each:
            lost = percent(each.get("loss"))
            named = tag("bdi", f"“{label_text(each.get('label'))}”")
            parts += [" = ", named, tag("small", f" {lost} lost") if lost else None]
    sensitive = part(one, "sensitive")
    if sensitive:
        different = counted(whole(sensitive.get("different")) or 0, "different value")
        parts += [tag("small", " · ", label(sensitive.get("field")), f": {different}")]
    return parts


def listed(vertices: Sequence[Mapping[str, Any]], level: Sequence[int]) -> Safe:
    rows = [
        (
            str(level[at]),
            label(one.get("type")),
            ", ".join(
                f"{label_text(each.get('field'))}: {label_text(each.get('label', 'as it is'))}"
                for each in tables(one.get("labels"))
            ),
            count(part(one, "sensitive").get("different")) or "",
        )
        for at, one in enumerate(vertices)
    ]
    return table(
        ("Level", "Vertex", "Labels", "Different sensitive values"), rows, numeric=(0, 3), caption="The class"
    )
