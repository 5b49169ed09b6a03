"""Files with one basket on each line, as market-basket data is usually handed around; no header.

Items stand between commas (quotes as in CSV), or between any other single character; with a space as
separator between any blanks. An empty field is not an item, an empty line is a record without items.
"""

from __future__ import annotations

import csv
import gzip
import io
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
                            raise InputError(f"{path}: this is no text file (it holds NUL bytes)")
                        owner.append(records)
                        item.append(codes.setdefault(label, len(codes)))
                records += 1
    except (UnicodeDecodeError, LookupError):
        raise InputError(f"{path}: not text in {form.encoding}; say --encoding") from None
    except (csv.Error, EOFError, gzip.BadGzipFile):
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
    return Baskets.gathered(labels, np.array(owner, np.int64), order[np.array(item, np.int64)], records)


def write(baskets: Baskets, path: Path, form: Form, separator: str) -> None:
    """One line for each record, items in alphabetical order."""
    words = separator.isspace() and separator != "\t"
    odd = [item for item in baskets.items if item != item.strip() or (words and len(item.split()) != 1)]
    if odd:
        raise InputError(
            f"{len(odd)} items hold the separator {separator!r}; say another in transactions.separator"
        )
    labels = np.array(baskets.items, dtype=object)
    fresh = gzip.open if form.gzip else open
    with fresh(path, "wt", encoding=form.encoding, newline="") as file:
        if words:
            file.writelines(separator.join(labels[list(row)]) + "\n" for row in baskets.tuples())
        else:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            # csv quotes a lone empty field, and a reader would take it for an item that is not there.
            writer.writerows(labels[list(row)].tolist() for row in baskets.tuples())


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
