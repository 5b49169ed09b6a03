"""The page of evidence as JSON holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evidence.values import Evidence
from privet.report import html


def render(evidence: Mapping[str, Any], *parts: Any) -> str:
    return html.render(Evidence.read(evidence), *parts)
