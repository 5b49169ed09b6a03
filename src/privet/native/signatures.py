"""What the compiled loops take, read from `loops.h`, and the check of every argument against it.

C believes whatever it is handed: a float32 array behind a pointer to doubles would be another answer, or a
crash. So nothing passes that is not of the declared type.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.native.build import HEADER

Argument: TypeAlias = NDArray[Any] | int

_FUNCTION = re.compile(r"^int64_t (privet_\w+)\(([^)]*)\);", re.MULTILINE)
_PARAMETER = re.compile(r"^(const )?(?:_Atomic )?(\w+) (\*const \*|\*)?(\w+)$")
_TYPES: dict[str, np.dtype[Any]] = {
    "uint8_t": np.dtype(np.uint8),
    "uint16_t": np.dtype(np.uint16),
    "uint32_t": np.dtype(np.uint32),
    "int32_t": np.dtype(np.int32),
    "int64_t": np.dtype(np.int64),
    "double": np.dtype(np.float64),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a compiled function."""

    name: str
    dtype: np.dtype[Any]
    pointer: str  # "" a whole number, "*" an array, "*const *" a list of arrays
    written: bool  # does C write to it?

    @property
    def ctype(self) -> Any:
        return ctypes.c_void_p if self.pointer else ctypes.c_int64

    def passed(self, argument: Argument | Sequence[NDArray[Any]], function: str) -> Any:
        """What ctypes hands over, or a TypeError that names the place."""
        if self.pointer == "*" and isinstance(argument, np.ndarray):
            return self._address(argument, function)
        if self.pointer == "*const *" and isinstance(argument, (list, tuple)):
            addresses = [self._address(each, function) for each in argument]
            return (ctypes.c_void_p * len(addresses))(*addresses)
        if not self.pointer and isinstance(argument, (int, np.integer)) and -(2**63) <= argument < 2**63:
            return int(argument)
        raise TypeError(f"{function}: {self.name} is {self._told}, not {type(argument).__name__}")

    def _address(self, array: NDArray[Any], function: str) -> int:
        if array.dtype != self.dtype:
            raise TypeError(f"{function}: {self.name} is {self._told}, not one of {array.dtype}")
        if not array.flags.c_contiguous:
            raise TypeError(f"{function}: {self.name} is not contiguous")
        if self.written and not array.flags.writeable:
            raise TypeError(f"{function}: {self.name} is written to, this array is read-only")
        return array.ctypes.data

    @property
    def _told(self) -> str:
        kinds = {"": "a whole number of 64 bits", "*": "an array of ", "*const *": "a list of arrays of "}
        return kinds[self.pointer] + (str(self.dtype) if self.pointer else "")


@cache
def signatures() -> dict[str, tuple[Parameter, ...]]:
    """Every function that `loops.h` declares, by name."""
    return {
        name: tuple(_parameter(" ".join(each.split())) for each in parameters.split(","))
        for name, parameters in _FUNCTION.findall(HEADER.read_text(encoding="utf-8"))
    }


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.match(text)
    if found is None:
        raise ValueError(f"loops.h: cannot read the parameter {text!r}")
    const, kind, pointer, name = found.groups()
    return Parameter(name, _TYPES[kind], pointer or "", written=pointer == "*" and not const)
