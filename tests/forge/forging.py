"""What a forger does: change a release, then make everything that anybody could check fit again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import privet as pv
from privet import parts, verification
from privet.errors import PrivetError, TamperedError
from privet.evidence import folder as ev
from privet.report import html
from privet.roads import rewritten


def evidence(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    return found


def seal(folder: Path, said: dict[str, Any] | None = None, *, report: bool = True) -> Path:
    """Write evidence, a report rendered from it, and every digest anew."""
    said = evidence(folder) if said is None else said
    write(folder, said)
    if report:
        # Where it cannot be drawn, the old one stays.
        with suppress(PrivetError, ArithmeticError, LookupError, TypeError, ValueError):
            (folder / "report.html").write_text(html.render(ev.read(folder)), encoding="utf-8")
    said["files"] = {
        path.name: parts.digest(path) if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.name not in {"evidence.json", "signatures.json"} and (path.is_file() or path.is_dir())
    }
    return write(folder, said)


def write(folder: Path, said: dict[str, Any]) -> Path:
    (folder / "evidence.json").write_text(
        json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return folder


def changed(folder: Path, name: str, how: Callable[[str], str]) -> Path:
    """Another text in a file, and digests that fit it."""
    path = folder / name
    before = path.read_bytes().decode()
    after = how(before)
    assert after != before, "nothing was forged"
    path.write_bytes(after.encode())
    return seal(folder)


def refused(folder: Path, **how: Any) -> tuple[str, ...]:
    """What is said against a release; empty where it is accepted."""
    try:
        found = pv.verify(folder, **how)
    except TamperedError as error:
        return error.complaints
    if found.holds:
        return ()
    return found.complaints or ("a promise is broken",)


def unnoticed(folder: Path, said: dict[str, Any]) -> bool:
    """Does verify accept this evidence in place of the folder's own, with everything made to fit?

    Asked first without a look at the report and at how the data are written: that takes most of the time,
    and could only add a complaint. What is accepted then is asked again with all of it.
    """
    kept = {name: (folder / name).read_bytes() for name in ("evidence.json", "report.html")}
    try:
        with (
            patch.object(verification, "_drawn", return_value=([], [])),
            patch.object(rewritten, "beside", return_value=rewritten.Beside()),
        ):
            if refused(write(folder, said)):
                return False
        return not refused(seal(folder, said))
    finally:
        for name, was in kept.items():
            (folder / name).write_bytes(was)
