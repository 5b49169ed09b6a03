"""Planning a release, when other views are out already: may this one join them, and with which companions?

From Python only: `privet sources check` and `restore` are given all views at once, the new one among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privet.disclose.sources.gamma import Assessment, assess
from privet.disclose.sources.restoring import Restoration, restore
from privet.disclose.sources.views import Register, View
from privet.domain import Value


def can_add(views: Sequence[View], fresh: View, gamma: Fraction, **how: Any) -> Assessment:
    """Everything with the new view; the decision says whether it may be published by itself."""
    return assess([*views, fresh], gamma, **how)


def companions(
    register: Register,
    base: Sequence[Value],
    views: Sequence[View],
    fresh: View,
    gamma: Fraction,
    **how: Any,
) -> Restoration:
    """Views that are safe together with the new one, although it may not be safe alone.

    They are published at the same moment, or the protection is missing in between.
    """
    return restore(register, base, [*views, fresh], gamma, **how)
