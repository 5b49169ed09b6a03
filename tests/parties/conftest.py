"""What tests of several parties ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.parties.noisy import quick


@pytest.fixture
def quickly() -> Iterator[None]:
    """First transfers in the clear, which are half of a run: for tests that are not about what travels."""
    with quick():
        yield
