"""One small text of ours in its place: a single step needs no plan, and so no folder to keep one in."""

from __future__ import annotations

from pathlib import Path

from privet.placing import system
from privet.placing.staging import note, told


def rewritten(path: Path, text: str, *, patience: float | None = None) -> None:
    """A text over what stands in its place, whole or not at all, and for nobody else's eyes.

    The folder is there. What a killed run left half written, the next one writes over. It stands when it is
    on the disk, or after `patience` seconds where somebody waits: what others write can hold a disk up long.
    """
    fresh = path.with_name(f".{path.name}.new")
    try:
        with system.alone_in(path.parent):
            try:
                system.emptied(fresh)
                fresh.write_text(text, encoding="utf-8", newline="\n")
                if patience is None:
                    system.on_disk(fresh)
                else:
                    system.nearly_on_disk(fresh, patience)
                fresh.replace(path)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise told(error, path) from None
    note(path)
