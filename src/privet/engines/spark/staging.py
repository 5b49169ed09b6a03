"""A folder that this process and every worker can see: for what is about to leave, and for what is looked up.

What is written there is not a release: it goes with the run, or with the next where this one was killed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from platform import node
from shutil import copyfile, rmtree
from typing import Any

from privet import parts
from privet.engine import SUFFIX
from privet.engines.spark.jobs import told
from privet.engines.spark.spread import Spread
from privet.errors import InputError, InternalError
from privet.placing import scratch

SMALL = 1 << 20  # bytes of a table that travels with a question; a larger one is read from a file
_LETTERS = "*?[]{}\\"  # of names that a cluster takes for patterns
MOMENTS = "spark.sql.parquet.outputTimestampType"
ENDING = SUFFIX["parquet"]
RECORDS = 5_000_000  # of a part, where the cluster does not say how many
UNSEEN = "the cluster wrote its parts where this process does not see them: say staging"


class Staging:
    """Fresh names in one folder, which is made when the first is asked for."""

    def __init__(self, folder: Path | None) -> None:
        self._asked, self._numbers = folder, count()
        self._made: Path | None = None
        self._dealt: bool | None = None

    def fresh(self, word: str) -> Path:
        """A name that nothing has yet."""
        if self._made is None:
            self._made = self._folder()
        return self._made / f"{word}-{next(self._numbers)}"

    def _folder(self) -> Path:
        if is_pattern(self._asked or Path(tempfile.gettempdir())):
            raise InputError(
                f"{self._asked or tempfile.gettempdir()}: a cluster takes a name with one of {_LETTERS} for "
                "a pattern; choose another folder"
            )
        if self._asked is None:
            return scratch(self, "privet-spark")
        self._asked.mkdir(exist_ok=True, parents=True)
        # By machine: the locks of a disk that several share may hold for each alone.
        return scratch(self, f"staging-{node()}", self._asked)

    def owns(self, folder: Path) -> bool:
        """Does this lie here?"""
        return self._made is not None and self._made in folder.parents

    def drop(self, folder: Path) -> None:
        """What nobody will ask for again; only what lies here."""
        if self.owns(folder):
            rmtree(folder, ignore_errors=True)

    def gathered(self, every: Sequence[Path]) -> Path:
        """Files under names that are no patterns and not hidden, in a folder that holds nothing else."""
        folder = self.fresh("gathered")
        folder.mkdir()
        for number, path in enumerate(every):
            made = folder / parts.name(number, ENDING)
            try:
                made.symlink_to(path.absolute())
            except OSError:  # a disk without links
                copyfile(path, made)
        return folder

    def sent(self, session: Any, table: Any, *, typed: bool = False) -> Any:
        """A pyarrow table as a frame of the cluster; `typed`: its times of day of no zone stay that."""
        if (
            not typed and table.num_rows and table.nbytes <= SMALL
        ):  # of one without a row no cluster guesses the columns
            with told("sending a table"):
                return session.createDataFrame(table)
        folder = self.fresh("sent")
        folder.mkdir()
        _write(table, folder / parts.name(0, ENDING))
        with told("reading a table that was sent"):
            return session.read.parquet(str(folder))

    def deals(self, session: Any) -> bool:
        """Does this cluster deal rows out among its files, whatever their order?

        Spark calls a file by the partition that it holds (part-00000-…), and rows stand in their order.
        """
        if self._dealt is None:
            tried = self.fresh("tried")
            with told("writing a part"):
                session.range(1).write.parquet(str(tried))
            if not tried.is_dir():
                raise InternalError(UNSEEN)
            self._dealt = not all(one.name.startswith("part-") for one in parts.listed(tried))
            self.drop(tried)
        return self._dealt

    def written(self, table: Spread) -> Path:
        """A table as a folder of Parquet parts, which stand in its order."""
        if table.part is None:
            return self._parts("parts", table.frame.toDF(*table.names), "writing the parts")
        beside = table.part
        while beside.lower() in {name.lower() for name in table.names}:
            beside += "_"
        return self._parts("parts", table.frame.toDF(*table.names, beside), "writing the parts", beside)

    def counted(self, frame: Any) -> Path:
        """Counts that are asked about again, in the same form."""
        return self._parts("counted", frame, "counting")

    def _parts(self, word: str, frame: Any, what: str, by: str | None = None) -> Path:
        folder = self.fresh(word)
        with _as_moments(frame.sparkSession, what), told(what):  # who is stopped is told first
            writer = frame.write.mode("error")
            (writer if by is None else writer.partitionBy(by)).parquet(str(folder))
            if not folder.is_dir() and not (nothing := frame.limit(1).toArrow()).num_rows:
                # Sail writes no part where there is no record, and so no columns either.
                folder.mkdir()
                _write(nothing if by is None else nothing.drop_columns(by), folder / parts.name(0, ENDING))
                by = None
        if by is not None:
            _gathered(folder, by)
        numbered(folder, ENDING)
        return folder


def is_pattern(path: Path) -> bool:
    """Would a cluster take this name for a pattern, which stands for other files?"""
    return bool(set(_LETTERS) & set(str(path.absolute())))


@contextmanager
def _as_moments(session: Any, what: str) -> Iterator[None]:
    """A session that writes moments as such: Spark's own choice (INT96) has no zone, and ends in 2262."""
    with told(what):
        before = session.conf.get(MOMENTS, None)
        session.conf.set(MOMENTS, "TIMESTAMP_MICROS")
    try:
        yield
    except Exception:  # who is stopped asks no more
        with suppress(InputError):  # what failed first is what is said
            _set(session, before, what)
        raise
    _set(session, before, what)


def _set(session: Any, moments: str | None, what: str) -> None:
    with told(what):
        if moments is None:
            session.conf.unset(MOMENTS)
        else:
            session.conf.set(MOMENTS, moments)


def _write(table: Any, path: Path) -> None:
    import polars as pl  # noqa: PLC0415 - only where a table is large, or empty

    from privet.engines import parquet  # noqa: PLC0415 - knows polars

    parquet.write(pl.DataFrame(table), path)


def _gathered(folder: Path, by: str) -> None:
    """What a cluster wrote into a folder for each part, as files of one folder."""
    if not folder.is_dir():
        raise InternalError(UNSEEN)
    found = {path: path.name.removeprefix(f"{by}=") for path in folder.iterdir() if path.is_dir()}
    for path, number in found.items():
        inside = parts.listed(path)
        if len(inside) != 1 or not number.isdecimal():
            raise InternalError("the cluster wrote a part in several files, or none")
        inside[0].rename(folder / parts.name(int(number), ENDING))
        rmtree(path)


def numbered(folder: Path, ending: str) -> None:
    """Give the files that Spark wrote the names of parts, and drop its notes beside them."""
    if not folder.is_dir():
        raise InternalError(UNSEEN)
    data = parts.listed(folder)
    for path in folder.iterdir():
        if path not in data:
            path.unlink()
    for number, path in enumerate(data):
        path.rename(folder / parts.name(number, ending))


def linked(folder: Path, target: Path) -> None:
    """The same parts in another folder, too; copied only where that is on another disk."""
    target.mkdir()
    for part in parts.listed(folder):
        try:
            os.link(part, target / part.name)
        except OSError:
            copyfile(part, target / part.name)


def each(folder: Path, target: Path, ending: str, made: Callable[[Path, Path], None]) -> None:
    """Another folder of as many parts, each made of one of these."""
    target.mkdir()
    for number, path in enumerate(parts.listed(folder)):
        made(path, target / parts.name(number, ending))
