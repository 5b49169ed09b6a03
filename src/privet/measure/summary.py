"""The measures that go into every release's evidence."""

from __future__ import annotations

from typing import Any

from privet.core import Recoding, Tally


def measures(raw: Tally, published: Tally, recoding: Recoding) -> dict[str, Any]:
    return {}
