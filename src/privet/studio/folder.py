"""The folder of a project: what lies in it, where a file that arrives is put, and that nothing leads out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from privet.errors import InputError
from privet.evidence import folder as ev
from privet.placing import followed, rewritten

DATA, TREES, RELEASES = "data", "hierarchies", "releases"
ELSEWHERE = "received"  # before the name of a release that does not lie in the project
LONGEST = 160  # bytes of a file's name
PATIENCE = 0.05  # seconds that a click waits for the disk
_NAME = re.compile(r"[^\w.\- ]+")


@dataclass
class Folder:
    """A folder, made when something is first put into it, for nobody else to look at."""

    folder: Path
    received: tuple[Path, ...] = ()  # releases that lie elsewhere, to be looked at

    def inside(self, name: str) -> Path:
        """A file of this folder by its name; whatever leads out of it is refused."""
        try:
            found = (self.folder / name).resolve()
            there = found.is_relative_to(self.folder.resolve()) and found.is_file()
        except (OSError, ValueError):  # no file has such a name
            there = False
        if not there:
            raise InputError("there is no such file in this project")
        return found

    def room_for(self, folder: str, name: str) -> Path:
        """Where a file that arrives is put: under its own name without anything that leads elsewhere."""
        plain = _NAME.sub("_", Path(name.replace("\\", "/")).name).strip(" .")
        if not plain:
            raise InputError("this file has no name")
        plain = plain if len(plain.encode()) <= LONGEST else f"{plain[:40]}{Path(plain).suffix[:12]}"
        self._refuse_outside(self.folder / folder)
        place = self.folder / folder / plain
        number = 2
        while place.exists():
            place = self.folder / folder / f"{number}-{plain}"
            number += 1
        _private(place.parent)
        return place

    def files(self) -> list[str]:
        """What could be opened here, besides what is ours."""
        if not self.folder.is_dir():
            return []
        found = [*self.folder.iterdir(), *(self.folder / DATA).glob("*")]
        return sorted(
            str(path.relative_to(self.folder))
            for path in found
            if path.is_file() and path.suffix != ".toml" and not path.name.startswith(".")
        )

    def releases(self) -> list[Path]:
        """The releases of this project, as they are listed."""
        return list(self.named().values())

    def named(self) -> dict[str, Path]:
        """The releases of this project by name, the newest first; before them those that lie elsewhere.

        One that lies elsewhere has a name that no folder here can have: a stranger's "release-1" is not ours.
        """
        found = [
            path
            for path in (self.folder / RELEASES).glob("*")
            if not (path.name.startswith(".") or path.is_symlink()) and (path / ev.FILE).is_file()
        ]
        ours = sorted(found, key=lambda path: (path / ev.FILE).stat().st_mtime, reverse=True)
        places = {path.resolve() for path in found}
        theirs = [path for path in self.received if path.resolve() not in places]
        return {f"{ELSEWHERE}/{path.name}": path for path in theirs} | {path.name: path for path in ours}

    def release(self, name: str) -> Path:
        """A release of this project by its name."""
        known = self.named()
        if name not in known:
            raise InputError("there is no such release in this project")
        return known[name]

    def next_release(self, meant: Collection[str] = ()) -> Path:
        """A folder for the next release; `meant`: names that others are about to take."""
        self._refuse_outside(self.folder / RELEASES)
        taken = {path.name for path in (self.folder / RELEASES).glob("*")} | set(meant)
        number = 1
        while taken & {f"release-{number}", f"release-{number}.private"}:
            number += 1
        return self.folder / RELEASES / f"release-{number}"

    def put(self, path: Path, text: str) -> None:
        """A file of the folder, whole or not at all."""
        _private(path.parent)
        path = followed(path)
        self._refuse_outside(path)
        rewritten(path, text, patience=PATIENCE)  # for nobody else: trees hold values of the data

    def _refuse_outside(self, path: Path) -> None:
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise InputError(f"{path.name}: a link leads out of the project, and nothing is written there")


def _private(folder: Path) -> None:
    """Make a folder that is not there, and those above it, for nobody else; others stay as they are."""
    if folder.is_dir():
        return
    _private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)  # at no moment for others
    folder.chmod(0o700)  # whatever the umask


def stem(path: Path) -> str:
    """A file's name without its endings."""
    name = path.name
    while (suffix := Path(name).suffix) and re.fullmatch(r"\.[A-Za-z0-9]{1,8}", suffix):
        name = name.removesuffix(suffix)
    return name or path.name
