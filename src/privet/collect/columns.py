"""How a question is written in a plan: the one place where its table becomes a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privet.collect.channels import (
    LARGEST,
    LONGEST,
    SMALLEST,
    AsIs,
    Channel,
    Response,
    Unary,
    gaussian,
    laplace,
    uniform,
)
from privet.collect.column import Column
from privet.collect.fixedpoint import at_most_exp, log_above
from privet.collect.numerals import decimal, exact, written
from privet.errors import InputError, PolicyError, one_of, unknown_key

TYPES = ("number", "category")
# What each mechanism takes; exactly one of them is said.
NUMBERS = {"laplace": ("epsilon", "scale"), "gaussian": ("sigma",), "uniform": ("half_width",), "as-is": ()}
CATEGORIES = {
    "randomised-response": ("epsilon", "truth"),
    "k-randomised-response": ("epsilon", "truth"),
    "unary": ("epsilon",),
    "optimised-unary": ("epsilon",),
    "as-is": (),
}
OF_TYPE = {
    "number": ("type", "low", "high", "step", "mechanism", "missing", "outside"),
    "category": ("type", "values", "mechanism", "missing"),
}
MOST_VALUES = {"unary": 1_024, "optimised-unary": 1_024}
FARTHEST = 10**15
MOST = 2_000  # values of a category otherwise


def column_of(name: str, table: object) -> Column:
    """A column, or every complaint about it."""
    if not isinstance(table, Mapping):
        raise PolicyError('is a table such as { type = "category", values = [...], mechanism = "..." }')
    kind = table.get("type")
    if kind not in TYPES:
        raise PolicyError(one_of("type", TYPES, kind))
    known = NUMBERS if kind == "number" else CATEGORIES
    mechanism = table.get("mechanism")
    if mechanism not in tuple(known):  # whatever stands there: a table has no hash
        raise PolicyError(one_of("mechanism", tuple(known), mechanism))
    allowed = (*OF_TYPE[kind], *known[mechanism])
    wrong = [unknown_key(allowed, str(key)) for key in table if key not in allowed]
    amount = _amount(table, known[mechanism], wrong)
    build = _number if kind == "number" else _category
    made = build(name, table, mechanism, amount, wrong)
    if made is None or wrong:
        raise PolicyError(*wrong)
    return made


def _amount(table: Mapping[str, Any], keys: tuple[str, ...], wrong: list[str]) -> tuple[str, Fraction] | None:
    """The one parameter of a mechanism and its size."""
    there = [key for key in keys if key in table]
    if len(there) != 1:
        if keys:
            wrong.append(
                f"{keys[0]} is missing"
                if len(keys) == 1
                else f"say one of {' and '.join(keys)}, and only one"
            )
        return None
    (key,) = there
    try:
        size = exact(table[key])
    except PolicyError as error:
        wrong += error.at(key).complaints
        return None
    if key == "epsilon" and not SMALLEST <= size <= LARGEST:
        wrong.append(f"epsilon: is from {SMALLEST} to {LARGEST}, not {written(size)}")
        return None
    if key == "truth" and not 0 < size < 1:
        wrong.append(f"truth: is a probability above 0 and below 1, not {written(size)}")
        return None
    if size <= 0:
        wrong.append(f"{key}: is above 0; noise without variance hides nothing")
        return None
    return key, size


def _made(wrong: list[str], make: Callable[[], Channel]) -> Channel | None:
    try:
        return make()
    except PolicyError as error:
        wrong += error.complaints
        return None


def _number(
    name: str, table: Mapping[str, Any], mechanism: str, amount: tuple[str, Fraction] | None, wrong: list[str]
) -> Column | None:
    grid = {}
    for key in ("low", "high", "step"):
        try:
            grid[key] = exact(table.get(key, 1 if key == "step" else None))
            if not decimal(grid[key]):
                wrong.append(f"{key}: is a decimal number, so that answers can be written")
            if abs(grid[key]) > FARTHEST:
                wrong.append(f"{key}: is at most {FARTHEST:,}, which a browser can still hold exactly")
        except PolicyError as error:
            wrong += [f"{key} is missing"] if key not in table else error.at(key).complaints
    if (outside := table.get("outside", "refuse")) not in ("refuse", "clamp"):
        wrong.append(one_of("outside", ("refuse", "clamp"), outside))
    if len(grid) < 3:
        return None
    low, high, step = grid["low"], grid["high"], grid["step"]
    if step <= 0:
        wrong.append("step: is above 0")
    elif high <= low:
        wrong.append("high: is above low; a single value needs no question")
    elif ((high - low) / step).denominator != 1:
        wrong.append(f"step: the way from low to high is not a whole number of steps of {written(step)}")
    elif (high - low) / step >= LONGEST:
        wrong.append(f"step: makes more than {LONGEST:,} values; choose a larger one")
    if wrong or (amount is None and mechanism != "as-is"):
        return None
    inputs, width = int((high - low) / step) + 1, high - low
    if amount is None:
        channel: Channel = AsIs(inputs)
        epsilon: Fraction | None = None
    else:
        made, epsilon = _noise(mechanism, amount, (inputs, width, step), wrong)
        if made is None:
            return None
        channel = made
    said = {} if amount is None else {amount[0]: written(amount[1])}
    made_column = Column(
        name, mechanism, channel, said, epsilon, low=low, step=step, clamp=outside == "clamp"
    )
    return _with_missing(made_column, table, wrong)


def _noise(
    mechanism: str, amount: tuple[str, Fraction], grid: tuple[int, Fraction, Fraction], wrong: list[str]
) -> tuple[Channel | None, Fraction | None]:
    """The channel of additive noise on a grid of so many values, so wide, in such steps; and its epsilon."""
    inputs, width, step = grid
    key, size = amount
    if key != "epsilon" and size > width:
        also = "; for more privacy than that say epsilon" if key == "scale" else ""
        wrong.append(f"{key}: the noise is larger than the domain, which is {written(width)} wide{also}")
        return None, None
    if mechanism == "laplace":
        epsilon = size if key == "epsilon" else width / size
        if epsilon > LARGEST:
            wrong.append(f"scale: makes epsilon {float(epsilon):.3g}; up to {LARGEST} it hides anything")
            return None, None
        return _made(wrong, lambda: laplace(inputs, epsilon)), epsilon
    if mechanism == "gaussian":
        if size < step / 4:
            wrong.append(f"sigma: is less than a quarter of a step of {written(step)}, which hides nothing")
            return None, None
        return _made(wrong, lambda: gaussian(inputs, size / step)), None
    reach = size / step
    if reach.denominator != 1:
        wrong.append(f"half_width: is a whole number of steps of {written(step)}")
        return None, None
    return uniform(inputs, int(reach)), None


def _category(
    name: str, table: Mapping[str, Any], mechanism: str, amount: tuple[str, Fraction] | None, wrong: list[str]
) -> Column | None:
    values = table.get("values")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        wrong.append('values: is a list of texts in quotes, such as ["yes", "no"]')
        return None
    if any(not value.strip() or value != value.strip() or not value.isprintable() for value in values):
        wrong.append("values: each is printable text, not empty, without spaces around it")
    if len(set(values)) < len(values):
        wrong.append("values: each is there once")
    most = MOST_VALUES.get(mechanism, MOST)
    if not 2 <= len(values) <= most:
        wrong.append(f"values: are from 2 to {most:,}, not {len(values):,}")
    if mechanism == "randomised-response" and len(values) > 2:
        wrong.append("mechanism: randomised-response has two values; for more say k-randomised-response")
    if wrong or (amount is None and mechanism != "as-is"):
        return None
    size = len(values)
    channel: Channel = AsIs(size)
    epsilon: Fraction | None = None
    if amount is not None:
        key, much = amount
        epsilon = much
        if mechanism.endswith("unary"):
            channel = (Unary.symmetric if mechanism == "unary" else Unary.optimised)(size, much)
        elif key == "epsilon":
            channel = Response.of_epsilon(size, much)
        else:
            channel, epsilon = _truthful(size, much, wrong)
    said = {} if amount is None else {amount[0]: written(amount[1])}
    return _with_missing(Column(name, mechanism, channel, said, epsilon, values=tuple(values)), table, wrong)


def _truthful(size: int, truth: Fraction, wrong: list[str]) -> tuple[Response, Fraction | None]:
    """Randomised response as Warner says it, and the smallest epsilon that it keeps."""
    channel = Response.of_truth(size, truth)
    if truth == Fraction(1, size):
        wrong.append(f"truth: one in {size} answers would be true by chance alone; nothing could be learned")
    elif min(channel.keep, channel.other) <= 0 or not at_most_exp(channel.odds, LARGEST):
        wrong.append(f"truth: makes epsilon more than {LARGEST}, which hides nothing")
    else:
        return channel, log_above(channel.odds)
    return channel, None


def _with_missing(column: Column, table: Mapping[str, Any], wrong: list[str]) -> Column | None:
    """The column, with what stands for no answer."""
    if "missing" not in table:
        return column
    given = table["missing"]
    try:
        return replace(column, missing=column.code(None if isinstance(given, float) else given))
    except InputError:
        wrong.append("missing: is one of the column's own values, which stands for no answer")
        return None
