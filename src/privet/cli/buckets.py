"""Releases in two tables, on the screen: values leave as they are, whose is which does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privet.cli import screen
from privet.cli.screen import share


def compare(found: Mapping[str, Any]) -> Iterator[str]:
    """What was lost: only how sensitive values go with the others."""
    held, error = found["classes"], found["loss"]["query_error"]
    yield f"{found['records']:,} records in {held['count']:,} buckets,"
    yield f"the smallest of {held['smallest']:,} records, the largest of {held['largest']:,}"
    yield ""
    yield from screen.table(
        [
            ("quasi-identifiers", "as they are: a record can be found as easily as in the raw data"),
            ("sensitive values", "by bucket: whose is which does not leave"),
            ("error of a random count of both, median", "-" if error is None else share(error)),
        ]
    )
