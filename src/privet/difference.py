"""What differs between two releases: their policies, what each column became, promises, loss, records.

Both are read as they lie there; whether they are what they say is for `verify`. Only what is published is
compared, so that whoever has both releases could have found all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from privet.evidence import folder as ev
from privet.evidence.values import ColumnNote, Evidence
from privet.policy import handed
from privet.roads.answers import Answer, Rows, Table, answer

LOSSES = ("lm", "ncp", "discernibility")


@answer
class Difference(Answer):
    """Two releases side by side; what is equal in both is not in the lists."""

    old: str
    new: str
    same_data: bool  # are the published files the same, byte by byte?
    records: Table
    policy: Rows  # place, old, new
    columns: Rows  # what each column became
    promises: Rows
    loss: Rows
    files: Rows


def difference(old: str | Path, new: str | Path) -> Difference:
    """What differs between two release folders."""
    one, other = Path(old), Path(new)
    before, after = ev.read(one), ev.read(other)
    files = list(_files(before, after))
    data = {*ev.named(_data(before)), *ev.named(_data(after))}
    return Difference.of(
        {
            "old": one.name,
            "new": other.name,
            "same_data": not any(row["file"] in data for row in files),
            "records": {
                "old": before.records,
                "new": after.records,
                "suppressed_old": before.suppressed_records or 0,
                "suppressed_new": after.suppressed_records or 0,
            },
            "policy": list(_policies(one, other)),
            "columns": list(_columns(before, after)),
            "promises": list(_promises(before, after)),
            "loss": list(_losses(before, after)),
            "files": files,
        }
    )


def _policies(old: Path, new: Path) -> Iterator[dict[str, Any]]:
    """What was decided otherwise. Trees are published down to the cut: that they differ, the cuts say."""
    first, second = (handed.load(folder / ev.POLICY).to_document() for folder in (old, new))
    yield from (row for row in changes(first, second) if ".hierarchy.tree" not in row["place"])


def _data(evidence: Evidence) -> Any:
    return evidence.data  # `ev.read` refuses evidence without


def changes(old: Any, new: Any, place: str = "") -> Iterator[dict[str, Any]]:
    """Every place of two documents where they differ; None where one of them says nothing.

    >>> list(changes({"k": 5, "l": {"a": 1}}, {"k": 10, "l": {"a": 1}}))
    [{'place': 'k', 'old': 5, 'new': 10}]
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from changes(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif _tables(old) and _tables(new):
        for at in range(max(len(old), len(new))):
            first, second = (one[at] if at < len(one) else None for one in (old, new))
            yield from changes(first, second, f"{place}[{at}]")
    elif old != new:
        yield {"place": place, "old": old, "new": new}


def _tables(said: Any) -> bool:
    return isinstance(said, (list, tuple)) and any(isinstance(one, Mapping) for one in said)


def _columns(old: Evidence, new: Evidence) -> Iterator[dict[str, Any]]:
    """Columns that became something else: role, how it is published, the labels of its cut."""
    for name in dict.fromkeys((*old.attributes, *new.attributes)):
        one, other = old.attributes.get(name), new.attributes.get(name)
        first, second = _labels(one), _labels(other)
        said = {
            "column": name,
            "old": _became(one),
            "new": _became(other),
            "labels_gone": [label for label in first if label not in second],
            "labels_new": [label for label in second if label not in first],
        }
        if said["old"] != said["new"] or first != second:
            yield said


def _became(note: ColumnNote | None) -> str | None:
    return None if note is None else f"{note.role}, {note.published}"


def _labels(note: ColumnNote | None) -> list[Any]:
    return [] if note is None or note.values_ is None else [value["label"] for value in note.values_]


def _promises(old: Evidence, new: Evidence) -> Iterator[dict[str, Any]]:
    """Every promise of either, with what was found; one of the same type stands beside its like."""
    for kind in dict.fromkeys(promise.type for promise in (*old.promises, *new.promises)):
        pairs = [[p for p in one.promises if p.type == kind] for one in (old, new)]
        for at in range(max(map(len, pairs))):
            first, second = (_found(one, at) for one in pairs)
            yield {"type": kind, "old": first, "new": second}


def _found(promises: Sequence[Any], at: int) -> dict[str, Any] | None:
    if at >= len(promises):
        return None
    one = promises[at]
    model = {key: value for key, value in one.model.items() if key not in {"type", "sensitive"}}
    return {"model": model, "achieved": dict(one.achieved), "holds": one.holds}


def _losses(old: Evidence, new: Evidence) -> Iterator[dict[str, Any]]:
    """The loss of the whole, and of each column."""
    for name in LOSSES:
        pair = [_number(one.measures.loss, name) for one in (old, new)]
        if any(value is not None for value in pair):
            yield {"measure": name, "column": None, "old": pair[0], "new": pair[1]}
    columns = [one.measures.attributes or {} for one in (old, new)]
    for name in dict.fromkeys((*columns[0], *columns[1])):
        pair = [_number(one.get(name), "lm") for one in columns]
        if any(value is not None for value in pair):
            yield {"measure": "lm", "column": name, "old": pair[0], "new": pair[1]}


def _number(part: Any, name: str) -> Any:
    return None if part is None else part.get(name)


def _files(old: Evidence, new: Evidence) -> Iterator[dict[str, Any]]:
    """Files that only one has, or that are not the same; the report and the policy say so in words."""
    first, second = old.files or {}, new.files or {}
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name):
            yield {"file": name, "old": name in first, "new": name in second}
