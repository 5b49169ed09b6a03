"""From what devices say to visits: RFID readings, and any stream of who, where and when.

Readings are put in order; those at a place where the person already is are merged into the first, which is
the time of entry (Mohammed 2012, section 4.2.1); times become slots, of which a person's first place counts.
What comes out has the columns that came in, one row for each visit. It is for raw data: a release is read as
visits, for there somebody may well be at one place twice in a row, where what was between is suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.engines.trajectories.frames import complaint, grouped, need, refuse, unordered
from privet.engines.trajectories.moments import Moments
from privet.errors import InputError
from privet.trajectory.paths import Ints, misfits
from privet.trajectory.slots import Slot


class Clash(Enum):
    """What is done about somebody who is at two places at the very same time."""

    REFUSE = "refuse"
    FIRST = "first"  # the row that comes first counts


@dataclass(frozen=True, eq=False)
class Prepared:
    """Visits, and what was left out on the way to them."""

    frame: pl.DataFrame = field(repr=False)
    readings: int
    merged: int  # repeated where the person already was
    displaced: int  # came after another place in the same slot
    clashes: int  # at the very time of another place


def from_readings(
    frame: pl.DataFrame,
    *,
    person: str,
    place: str,
    time: str,
    slot: Slot | None = None,
    clash: Clash = Clash.REFUSE,
) -> Prepared:
    """Visits out of readings in any order; for RFID `person` is the tag, and `place` the reader."""
    need(frame, (person, place, time))
    refuse(
        *(
            complaint(
                f"{name}: nothing",
                frame.get_column(name).is_null().to_numpy(),
                "a reading says who, where and when",
            )
            for name in (person, place, time)
        )
    )
    try:
        moments = Moments.read(frame.get_column(time))
    except InputError as error:
        text = frame.get_column(time).cast(pl.String).str.strip_chars()
        odd = sorted(misfits(text.unique().to_list()))
        raise unordered(time, text.is_in(odd).to_numpy(), error) from None
    who, where = grouped(frame.get_column(person)), grouped(frame.get_column(place))
    when = moments.values.to_numpy()
    chosen = np.lexsort((when, who))
    chosen, merged = only(chosen, ~(alike(who[chosen]) & alike(where[chosen])))
    together = alike(who[chosen]) & alike(when[chosen])
    if clash is Clash.REFUSE:
        wrong = np.zeros(frame.height, dtype=bool)
        wrong[chosen[together]] = True
        refuse(
            complaint(
                f"{place}: two places at one time", wrong, 'keep one, or say clash = "first" for the first'
            )
        )
    chosen, clashes = only(chosen, ~together)
    displaced = 0
    if slot is not None:
        number = moments.slotted(slot).to_numpy()
        chosen, displaced = only(chosen, ~(alike(who[chosen]) & alike(number[chosen])))
    chosen, again = only(chosen, ~(alike(who[chosen]) & alike(where[chosen])))
    visits = frame[chosen]
    if slot is not None:
        begin = moments.written(pl.Series(number[chosen]), slot)
        visits = visits.with_columns(begin.alias(time))
    return Prepared(visits, frame.height, merged + again, displaced, clashes)


def only(rows: Ints, stay: NDArray[np.bool_]) -> tuple[Ints, int]:
    """The rows that stay, and how many do not."""
    return rows[stay], int(len(rows) - np.count_nonzero(stay))


def alike(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """For each value: is it that of the row before?"""
    same = np.zeros(len(values), dtype=bool)
    same[1:] = values[1:] == values[:-1]
    return same
