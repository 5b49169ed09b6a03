"""How many examples hypothesis tries: by default always the same, so more than a hundred seldom tell more;
`make test-explore` tries others each time, and ten times as many as a test asks for.
"""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def tried(asked: int) -> int:
    """For `max_examples`, where a test asks for so many."""
    return min(asked, USUAL) if settings().derandomize else 10 * asked
