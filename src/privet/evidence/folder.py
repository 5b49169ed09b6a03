"""Evidence on disk: one writer, and one reader that refuses what it cannot read.

Whoever sends a folder may have written anything into it, so a file is read only up to a size, no key may
stand twice, and what is missing or of another type is said with its place and never with what stands there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from privet.errors import TamperedError
from privet.evidence.values import VERSION, Evidence

FILE = "evidence.json"
LARGEST = 256 * 2**20  # bytes; labels of a large table take a few million


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    return evidence


def _parsed(folder: Path, path: Path) -> Any:
    if not path.is_file():  # nor a pipe, which would keep us waiting
        if path.exists():
            raise TamperedError(f"{path}: this is not JSON")
        raise TamperedError(f"{folder}: no {FILE}; this is not a release folder")
    if path.stat().st_size > LARGEST:
        raise TamperedError(f"{path}: evidence has at most {LARGEST:,} bytes")
    try:
        return json.loads(
            path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_refuse_constant
        )
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise TamperedError(f"{path}: this is not JSON") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table; one key with two values would say another thing to another reader."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def file_complaints(folder: Path, evidence: Evidence) -> list[str]:
    """Every file that is missing, changed, or not part of the release."""
    files = evidence.files
    if files is None:
        raise TamperedError(f"{folder / 'evidence.json'}: no digests")
    complaints = []
    for name, said in files.items():
        path = folder / name
        if path.parent != folder or not path.is_file():
            complaints.append(f"{name} is missing")
        elif digest(path) != said:
            complaints.append(f"{name} is not the file that the evidence was made for")
    there = {path.name for path in folder.iterdir()}
    complaints += [f"{name} is not part of the release" for name in sorted(there - set(files) - {FILE})]
    return complaints
