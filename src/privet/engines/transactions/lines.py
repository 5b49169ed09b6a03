"""Files with one basket on each line, as market-basket data is usually handed around; no header.

Items stand between commas (quotes as in CSV), or between any other single character; with a space as
separator between any blanks. An empty field is not an item, an empty line is a record without items.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from privet.core import Form
from privet.engines.text import LONGEST_FIELD, is_utf8
from privet.errors import InputError
from privet.rules.baskets import Baskets


def read(path: Path, form: Form, separator: str) -> Baskets:
    """The baskets of a file."""
    codes: dict[str, int] = {}
    owner: list[int] = []
    item: list[int] = []
    records = 0
    try:
        with opened(path, form) as file:
            for row in _rows(file, separator):
                for field in row:
                    if label := field.strip():
                        if len(label) > LONGEST_FIELD:
                            raise InputError(
                                f"{path}: line {records + 1}: an item is longer than {LONGEST_FIELD}"
                            )
                        if "\0" in label:
                            raise InputError(f"{path}: this is not a text file (it holds NUL bytes)")
                        owner.append(records)
                        item.append(codes.setdefault(label, len(codes)))
                records += 1
    except (UnicodeError, LookupError):
        raise InputError(f"{path}: not text in {form.encoding}; say --encoding") from None
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            f"{path}: line {records + 1}: a quote that does not end, or a damaged file"
        ) from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder") from None
    if not records:
        raise InputError(f"{path}: the data has not one record")
    labels = sorted(codes)
    order = np.zeros(len(codes), dtype=np.int64)
    order[[codes[label] for label in labels]] = np.arange(len(labels))
    numbers = order[np.array(item, np.int64)]
    return Baskets.gathered(labels, np.array(owner, np.int64), numbers, records).spelt()


def write(baskets: Baskets, path: Path, form: Form, separator: str) -> None:
    """One line for each record, items in alphabetical order."""
    words = separator.isspace() and separator != "\t"
    odd = [item for item in baskets.items if item != item.strip() or (words and len(item.split()) != 1)]
    if odd:
        raise InputError(
            f"{len(odd)} items hold the separator {separator!r}; say another in transactions.separator"
        )
    fresh = gzip.open if form.gzip else open
    with fresh(path, "wt", encoding=form.encoding, newline="") as file:
        _put(baskets, file, separator, words=words)


def _put(baskets: Baskets, file: IO[str], separator: str, *, words: bool) -> None:
    labels = np.array(baskets.items, dtype=object)
    if words:
        file.writelines(separator.join(labels[list(row)]) + "\n" for row in baskets.tuples())
    else:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        # csv quotes a lone empty field, and a reader would take it for an item that is not there.
        writer.writerows(labels[list(row)].tolist() for row in baskets.tuples())


def as_text(baskets: Baskets, separator: str) -> str:
    """What `write` writes."""
    file = io.StringIO(newline="")
    _put(baskets, file, separator, words=separator.isspace() and separator != "\t")
    return file.getvalue()


def text_of(path: Path, form: Form) -> str:
    """What a file holds; ends of lines as they are."""
    with opened(path, form) as file:
        return file.read()


def opened(path: Path, form: Form) -> IO[str]:
    """A text file, packed or not; a byte order mark before the first item is none of it."""
    encoding = "utf-8-sig" if is_utf8(form.encoding) else form.encoding
    if path.suffix == ".gz" or form.gzip:
        return io.TextIOWrapper(gzip.open(path), encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _rows(file: IO[str], separator: str) -> Iterator[list[str]]:
    if separator.isspace() and separator != "\t":
        return (line.split() for line in file)
    return csv.reader(file, delimiter=separator, strict=True)
