"""Quasi-identifiers as points in space, for searches that work with distances and means."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.domain import Scale, Value, plain
from privet.errors import UnsupportedError


def points(tally: Tally, who: str) -> NDArray[np.float64]:
    """A row for each cell and a column for each quasi-identifier; all must be numbers without gaps."""
    complaints = []
    for column in tally.quasi:
        if column.domain.scale is None:
            complaints.append(f"attributes.{column.name}: {who} needs numbers; give it another role")
        elif column.domain.null is not None:
            complaints.append(
                f"attributes.{column.name}: {who} needs a number in every record, some are missing"
            )
    if complaints:
        raise UnsupportedError(*complaints)
    return np.column_stack([numbers(column)[column.codes] for column in tally.quasi])


def numbers(column: Column) -> NDArray[np.float64]:
    """The number of each code."""
    return np.array([float(number) for number in scale_of(column).numbers])


def scale_of(column: Column) -> Scale:
    if column.domain.scale is None:
        raise UnsupportedError(f"attributes.{column.name}: there are no numbers")
    return column.domain.scale


def label(scale: Scale, number: float) -> Value:
    """A mean or a made-up value as text, with one digit more than the data has."""
    exact = Decimal(number).quantize(scale.step / 10, rounding=ROUND_HALF_EVEN)
    return plain(exact + 0)  # there is one zero, without a sign


def value(scale: Scale, number: float) -> Value:
    """The nearest value that the data could have: within its range, on its grid."""
    steps = ((Decimal(number) - scale.numbers[0]) / scale.step).to_integral_value(rounding=ROUND_HALF_EVEN)
    found = scale.numbers[0] + steps * scale.step
    return plain(min(max(found, scale.numbers[0]), scale.numbers[-1]) + 0)
