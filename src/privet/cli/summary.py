"""A release in a few lines, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privet.cli import documents, screen, trajectories, transactions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from privet.evidence.measures import Measures
    from privet.evidence.values import ColumnNote
    from privet.release import Release


def document(release: Release, folder: Path, warnings: list[str]) -> dict[str, Any]:
    """What `--json` says of it."""
    from privet.release import private_folder

    evidence = release.evidence
    return {
        "folder": str(folder),
        "private": str(private_folder(folder)),
        **{key: evidence[key] for key in ("records", "columns", "promises", "attributes", "measures")},
        "warnings": warnings,
    }


def summary(release: Release, folder: Path) -> list[str]:
    """A release in a few lines: promises kept, what became of each column, where it lies."""
    from privet.release import private_folder
    from privet.report.numerals import counted

    evidence = release.evidence
    left_out = evidence.suppressed_records
    files = sorted(path.name for path in folder.iterdir())
    return [
        f"published {evidence.records:,} records"
        + (f" in {len(evidence.columns)} columns" if evidence.columns else "")
        + (f"; {counted(left_out, 'record was', 'records were')} left out" if left_out else ""),
        *screen.promise_lines(evidence.promises),
        *screen.choice_lines(release.private.get("choice")),
        "",
        *(became(evidence.attributes, evidence.measures) if evidence.attributes else []),
        *([] if evidence.thinning is None else ["", *trajectories.published(evidence)]),
        *([] if evidence.documents is None else ["", *documents.published(evidence)]),
        *([] if evidence.sets is None else ["", *transactions.published(evidence.sets, evidence.recoding)]),
        "",
        f"  {screen.shown(str(folder))}: {', '.join(files)}",
        f"  {screen.shown(str(private_folder(folder)))} stays with you: it holds raw values",
    ]


def became(attributes: Mapping[str, ColumnNote], measures: Measures) -> list[str]:
    """For each column, what is published of it and what share of its detail is lost."""
    rows = []
    for name, note in attributes.items():
        how, measured = note.published, (measures.attributes or {}).get(name)
        if note.values_ is not None:
            how += f" to {len(note.values_):,} values" if len(note.values_) > 1 else " to one value"
        lost = None if measured is None else measured.get("lm", measured.changed)
        rows.append((name, note.role, how, "" if lost is None else screen.share(lost)))
    return screen.table(rows, head=("column", "role", "published", "lost"))
