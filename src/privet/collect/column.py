"""One question of a plan: its values in order, its channel, and the texts of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from privet.collect.channels import Additive, Channel, Unary
from privet.collect.numerals import BLANKS, answered, shown, written
from privet.errors import InputError


@dataclass(frozen=True)
class Column:
    """A question. Inputs and outputs are numbered; this knows their texts.

    A number has a grid from `low` in steps of `step`; a category has its `values`. `missing` is the value
    that stands for no answer; `clamp` says that a number beyond the ends counts as the end.
    """

    name: str
    mechanism: str
    channel: Channel
    said: Mapping[str, Any]  # the mechanism's parameters, as the plan has them
    epsilon: Fraction | None  # what is promised; None: no finite epsilon
    values: tuple[str, ...] = ()
    low: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    missing: int | None = None
    clamp: bool = False

    @property
    def numeric(self) -> bool:
        return not self.values

    @property
    def high(self) -> Fraction:
        return self.low + (self.channel.inputs - 1) * self.step

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    def document(self) -> dict[str, Any]:
        """As its table in the plan."""
        if self.numeric:
            about: dict[str, Any] = {
                "type": "number",
                "low": written(self.low),
                "high": written(self.high),
                "step": written(self.step),
            }
        else:
            about = {"type": "category", "values": list(self.values)}
        about |= {"mechanism": self.mechanism, **self.said}
        if self.missing is not None:
            about["missing"] = self.input_text(self.missing)
        return about | ({"outside": "clamp"} if self.clamp else {})

    def input_text(self, code: int) -> str:
        return shown(self.low + code * self.step) if self.numeric else self.values[code]

    def code(self, given: object) -> int:
        """The number of a true answer; what is wrong is said without the answer."""
        if given is None or (isinstance(given, str) and not given.strip(BLANKS)):
            if self.missing is None:
                raise InputError(f"{self.name}: no answer, and the plan does not say what stands for none")
            return self.missing
        if not self.numeric:
            found = self._codes.get(given) if isinstance(given, str) else None
            if found is None:
                raise InputError(f"{self.name}: is not one of the {len(self.values)} values of the plan")
            return found
        number = answered(given)
        if number is None:
            raise InputError(f"{self.name}: is not a number")
        if not self.low <= number <= self.high:
            if not self.clamp:
                raise InputError(f"{self.name}: is not between {written(self.low)} and {written(self.high)}")
            number = min(max(number, self.low), self.high)
        at = (number - self.low) / self.step + Fraction(1, 2)
        return at.numerator // at.denominator

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    def output_text(self, output: int) -> str:
        """What is sent for an output."""
        if isinstance(self.channel, Unary):
            return "b" + "".join("1" if output >> at & 1 else "0" for at in range(self.channel.inputs))
        if not self.numeric:
            return self.values[output]
        first = self.channel.first if isinstance(self.channel, Additive) else 0
        return shown(self.low + (first + output) * self.step)

    def output(self, text: object) -> int:
        """The number of an output that arrived; one that no client sends is refused."""
        found = None
        if isinstance(self.channel, Unary):
            size = self.channel.inputs
            if (
                isinstance(text, str)
                and len(text) == size + 1
                and text[0] == "b"
                and set(text[1:]) <= {"0", "1"}
            ):
                found = int(text[:0:-1], 2)
        elif not self.numeric:
            found = self._codes.get(text) if isinstance(text, str) else None
        elif (number := answered(text)) is not None:
            first = self.channel.first if isinstance(self.channel, Additive) else 0
            at = (number - self.low) / self.step - first
            found = int(at) if at.denominator == 1 and 0 <= at < self.channel.outputs else None
        if (
            found is None or self.output_text(found) != text
        ):  # 3e0 and " 3 " are 3, and no client writes it so
            raise InputError(f"{self.name}: is not an answer that this plan's mechanism gives")
        return found
