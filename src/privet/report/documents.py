"""The sections on documents: what is left at each depth, and one published class drawn as a tree.

A class is drawn without a value of anybody: labels that were generalised to, how much they lose, and how
many different sensitive values stand behind each vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.document.choice import WAYS
from privet.evidence.documents import Drawn, DrawnVertex
from privet.evidence.values import Evidence
from privet.report.markup import Content, Safe, behind, facts, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, decimal, percent
from privet.report.plots import Bar, bars


def depths(evidence: Evidence) -> Safe | None:
    """What is gone, by depth and type, and how sensitive values have shifted."""
    found, loss = evidence.documents, evidence.measures.loss
    if found is None or not found.levels:
        return None
    rows, drawn = [], []
    for one in found.levels:
        gone = (one.before - one.after) / one.before if one.before else 0.0
        name = f"{label_text(one.type)}, level {one.level}"
        said = percent(gone) or ""
        drawn.append(Bar(name, gone, said, f"{name}: {said} of the vertices are gone"))
        rows.append((name, count(one.before) or "", count(one.after) or "", percent(gone) or ""))
    apart = found.divergence
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
                        None if loss is None else percent(loss.suppression_accuracy),
                    ),
                    *(
                        (f"Shift of {label_text(name)}, nats", decimal(far) or "nothing is left")
                        for name, far in apart.items()
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
    found = None if evidence.documents is None else evidence.documents.drawn
    if found is None or not found.vertices:
        return None
    vertices = found.vertices
    level: list[int] = []
    above: list[int | None] = []
    for at, one in enumerate(vertices):
        above.append(one.parent if one.parent is not None and 0 <= one.parent < at else None)
        level.append(0 if above[at] is None else level[above[at] or 0] + 1)
    return join(
        (
            paragraph(about_tree(found)),
            drawn_tree(vertices, above),
            behind("As a table", listed(vertices, level)),
        )
    )


def about_tree(found: Drawn) -> str:
    """What the drawn tree stands for."""
    many = found.records
    if found.style is None:
        return (
            f"{counted(many, 'record')} are published as this one tree; they differ in sensitive values only."
            " A field without a label is published as it is."
        )
    shape = f"The trees of {counted(many, 'person', 'people')} in one group all have this shape. "
    if found.style == "t-t":
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
    if evidence.documents is None:
        return None
    taken = evidence.recoding
    rows = [
        (f"{way.name}{' (this release)' if way.recoding == taken else ''}", way.choose, way.resists, way.not_)
        for way in WAYS
    ]
    return table(("Way", "Choose it for", "It resists", "But"), rows, caption="Ways to publish documents")


def drawn_tree(vertices: Sequence[DrawnVertex], above: Sequence[int | None]) -> Safe:
    """Lists in lists, which break their lines on a narrow screen; children are ready before their parent."""
    below: list[list[Safe]] = [[] for _ in vertices]
    roots: list[Safe] = []
    for at in reversed(range(len(vertices))):
        inner = tag("ul", *reversed(below[at])) if below[at] else None
        parent = above[at]
        (roots if parent is None else below[parent]).append(tag("li", *told(vertices[at]), inner))
    return tag("ul", *reversed(roots), class_="tree", aria_label="A published class as a tree")


def told(one: DrawnVertex) -> list[Content]:
    """A vertex in a few words."""
    parts: list[Content] = [tag("strong", label(one.type))]
    for each in one.labels:
        parts += [" · ", label(each.field)]
        if "label" in each:  # null is a label, too
            lost = percent(each.loss)
            named = tag("bdi", f"“{label_text(each.label)}”")
            parts += [" = ", named, tag("small", f" {lost} lost") if lost else None]
    if one.sensitive is not None:
        different = counted(one.sensitive.different, "different value")
        parts += [tag("small", " · ", label(one.sensitive.field), f": {different}")]
    return parts


def listed(vertices: Sequence[DrawnVertex], level: Sequence[int]) -> Safe:
    rows = [
        (
            str(level[at]),
            label(one.type),
            ", ".join(
                f"{label_text(each.field)}: {label_text(each.get('label', 'as it is'))}"
                for each in one.labels
            ),
            "" if one.sensitive is None else f"{one.sensitive.different:,}",
        )
        for at, one in enumerate(vertices)
    ]
    return table(
        ("Level", "Vertex", "Labels", "Different sensitive values"), rows, numeric=(0, 3), caption="The class"
    )
