"""What a comparison of a noisy release says, for the steward's own eyes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privet.cli import screen
from privet.cli.screen import share


def told(found: Mapping[str, Any]) -> Iterator[str]:
    """The errors of the counts, and how far each column was moved."""
    counts, records = found["counts"], found["records"]
    yield f"{records['published']:,} records were published for {records['raw']:,} raw ones"
    yield ""
    yield from screen.table(
        [
            ("counts that could be published", f"{counts['cells']:,}"),
            ("a count is off on average by", f"{counts['error']:,.1f}"),
            ("what its noise makes one expect", f"{counts['expected']:,.1f}"),
            ("the most that one is off", f"{counts['largest']:,}"),
        ]
    )
    yield ""
    yield from screen.table(
        [(name, share(moved)) for name, moved in found["columns"].items()],
        head=("column", "share of its records that noise moved"),
    )
