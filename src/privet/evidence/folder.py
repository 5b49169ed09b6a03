"""Evidence on disk: one writer, and one reader that refuses what it cannot read.

Whoever sends a folder may have written anything into it, so a file is read only up to a size, no key may
stand twice, and what is missing or of another type is said with its place and never with what stands there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from privet import jsonvalue, parts
from privet.errors import TamperedError
from privet.evidence import sealed
from privet.evidence.values import VERSION, DataNote, Evidence
from privet.parts import digest as digest  # noqa: PLC0414 - known from here, too

FILE = "evidence.json"
POLICY, REPORT = "policy.toml", "report.html"
SIGNATURES = ("signatures.json",)  # beside the release: what is signed cannot hold its own signature


def dumps(evidence: Evidence) -> str:
    """The text of the file."""
    return json.dumps(evidence.to_dict(), indent=1, ensure_ascii=False) + "\n"


def write(path: Path, evidence: Evidence) -> None:
    path.write_text(dumps(evidence), encoding="utf-8")


def read(folder: Path, unknown: list[str] | None = None) -> Evidence:
    """The evidence of a release folder; places that this version does not know are added to `unknown`."""
    path = folder / FILE
    found = _parsed(folder, path)
    if not isinstance(found, dict) or type(found.get("evidence")) is not int or found["evidence"] != VERSION:
        raise TamperedError(f"{path}: this is not evidence of version {VERSION}; a newer privet may read it")
    try:
        evidence = Evidence.read(found, unknown=unknown)
    except TamperedError as error:
        raise TamperedError(*(f"{path}: {complaint}" for complaint in error.complaints)) from None
    except RecursionError:
        raise TamperedError(f"{path}: tables or lists stand too deep in each other") from None
    if evidence.data is None or evidence.files is None:
        missing = "data" if evidence.data is None else "files"
        raise TamperedError(f"{path}: {missing}: is missing")
    if not isinstance(evidence.algorithm.get("type"), str):  # whatever is asked of a release begins with it
        raise TamperedError(f"{path}: algorithm.type: is a text")
    return evidence


def _parsed(folder: Path, path: Path) -> Any:
    if not path.is_symlink() and not path.exists():
        raise TamperedError(f"{folder}: no {FILE}; this is not a release folder")
    sealed.regular(path)
    try:
        return jsonvalue.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise TamperedError(f"{path}: this is not JSON") from None


def spelling(folder: Path, evidence: Evidence) -> list[str]:
    """A file that says more than was read of it: by blanks, by the order of keys, by how a number is said."""
    if (folder / FILE).read_text(encoding="utf-8") == dumps(evidence):
        return []
    return [f"{FILE} holds more than the evidence, or is not written as privet writes it"]


def named(data: DataNote) -> list[str]:
    """The data files of a release, as its evidence names them."""
    tables = (data.tables or {}).values()
    return list(dict.fromkeys(n for n in (data.file, data.buckets, data.counts, *tables) if n is not None))


def names(folder: Path) -> set[str]:
    """What a release folder consists of: by its evidence, or as all do where nobody can read it."""
    try:
        data = read(folder).data
    except TamperedError:
        data = None
    files = named(data) if data is not None else [path.name for path in folder.glob("data.*")]
    return {FILE, POLICY, REPORT, *SIGNATURES, *files}


def file_complaints(folder: Path, evidence: Evidence) -> list[str]:
    """Every file that is missing, changed, or not part of the release."""
    files, data = evidence.files, evidence.data
    if files is None or data is None:
        raise TamperedError(f"{folder / FILE}: no digests")
    complaints = []
    for name, said in files.items():
        path = folder / name
        whole = name == data.file and data.parts is not None  # then it is a folder
        if path.parent != folder or not (path.is_dir() if whole else path.is_file()):
            complaints.append(f"{sealed.said(name)} is missing")
        elif whole and not _all_there(path, data.parts):
            complaints.append(f"{sealed.said(name)} has other parts than the evidence says")
        elif digest(path) != said:
            complaints.append(f"{sealed.said(name)} is not the file that the evidence was made for")
    part = {*named(data), POLICY, REPORT}
    there = {path.name for path in folder.iterdir()} - {FILE, *SIGNATURES}
    complaints += [f"{sealed.said(name)} has no digest in the evidence" for name in sorted(part - set(files))]
    beside = sorted((there | set(files)) - part)
    complaints += [f"{sealed.said(name)} is not part of the release" for name in beside]
    return complaints


def _all_there(folder: Path, many: int | None) -> bool:
    """Has a folder so many parts, numbered without a gap?"""
    names = [part.name for part in folder.iterdir()]
    return len(names) == many and parts.gapless(names)
