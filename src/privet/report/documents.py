"""The sections on documents: what is left at each depth, and one published class drawn as a tree.

A class is drawn without a value of anybody: labels that were generalised to, how much they lose, and how
many different sensitive values stand behind each vertex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, table
from privet.report.numerals import count, counted, decimal, part, percent, tables, whole
from privet.report.plots import Bar, bars, line, mark, picture, shape, words
from privet.report.sections import Evidence

STEP, INDENT = 28, 22  # how far apart lines and levels of a drawn tree are


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
                "cut, with all below them."
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
                        (f"Divergence of {label_text(name)}", decimal(apart.get(name)) or "nothing is left")
                        for name in apart
                    ),
                )
            ),
        )
    )


def tree(evidence: Evidence) -> Safe | None:
    """One class, as every one of its records is published."""
    found = part(evidence, "documents", "drawn")
    vertices = tables(found.get("vertices"))
    if not vertices:
        return None
    records = counted(whole(found.get("records")) or 0, "record")
    level: list[int] = []
    marks: list[Safe] = []
    lines: list[Safe] = []
    for at, one in enumerate(vertices):
        parent = whole(one.get("parent"))
        known = parent is not None and parent < at
        level.append(level[parent] + 1 if known and parent is not None else 0)
        x, y = 12 + INDENT * level[at], STEP // 2 + STEP * at
        if known and parent is not None:
            up = 12 + INDENT * level[parent]
            lines.append(line(str(up), str(STEP // 2 + STEP * parent), str(up), str(y), "axis"))
            lines.append(line(str(up), str(y), str(x), str(y), "axis"))
        said = told(one)
        marks.append(mark(said, shape("done", str(x), str(y)), first=not at))
        marks.append(words(str(x + 12), str(y), said, "start", dy=4))
    return join(
        (
            paragraph(
                f"{records} are published as this one tree; they differ in sensitive values only. A field "
                "without a label is published as it is."
            ),
            picture(
                "class-tree",
                "A published class as a tree",
                "A line for each vertex, below its parent and further in.",
                *lines,
                *marks,
                height=STEP * len(vertices),
                class_="trees",
            ),
            behind("As a table", listed(vertices, level)),
        )
    )


def told(one: Mapping[str, Any]) -> str:
    """A vertex in a few words."""
    parts = [label_text(one.get("type")) + ":"]
    for each in tables(one.get("labels")):
        name = label_text(each.get("field"))
        if "label" in each:
            parts.append(f"{name} = “{label_text(each.get('label'))}” ({percent(each.get('loss'))} lost)")
        else:
            parts.append(name)
    sensitive = part(one, "sensitive")
    if sensitive:
        different = counted(whole(sensitive.get("different")) or 0, "different value")
        parts.append(f"| {label_text(sensitive.get('field'))}: {different}")
    return " ".join(parts)


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
