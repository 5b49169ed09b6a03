"""Damaged files may make polars panic: that is said on the screen by Rust, and is not an Exception."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import polars as pl


@contextmanager
def unpanicked() -> Iterator[None]:
    """What a panic says is not shown (it may quote the file), and it is an error like any other."""
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    kept = _silenced()
    try:
        yield
    except pl.exceptions.PanicException:
        raise ValueError from None
    finally:
        if kept is not None:
            os.dup2(kept, 2)
            os.close(kept)


def _silenced() -> int | None:
    """Standard error as the system knows it, kept aside; None where there is none."""
    try:
        kept = os.dup(2)
    except OSError:
        return None
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, 2)
    os.close(nobody)
    return kept
