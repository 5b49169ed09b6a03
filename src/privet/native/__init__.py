"""A few counting loops in C, for large tables; everything works without them, only slower.

(One is not tried without: `relational/regroup.py` walks millions of steps.)

They are plain C functions over numpy's arrays, called through ctypes (which lets other threads run
meanwhile), so there is nothing to load but a small library. Numba would spare us the C, but every
process would pay half a second for it and more (docs/explain/why-these-libraries.md).

`make setup` builds the library beside this file; `python -m privet.native` builds it by hand. What each loop
takes is declared once, in `loops.h`, and compared with what is handed over: C believes whatever it gets, and
a float32 array behind a pointer to doubles would be another answer, or a crash, and so would one that is too
short. So nothing passes that is not of the declared type and length. This room knows numbers only: no table,
no model, no search.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from threading import Thread, current_thread, main_thread
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from privet.native.build import HEADER, place

Argument: TypeAlias = NDArray[Any] | int

_FUNCTION = re.compile(r"^int64_t (privet_\w+)\(([^)]*)\);", re.MULTILINE)
_PARAMETER = re.compile(r"^(const )?(?:_Atomic )?(\w+) (\*const \*|\*)?(\w+)(?: /\* (.+) \*/)?$")
_TERM = re.compile(r"([+-]?) *([^+-]+)")
_ENTRY = re.compile(r"(\w+)\[(\w+)\]")
_TYPES: dict[str, np.dtype[Any]] = {
    "uint8_t": np.dtype(np.uint8),
    "uint16_t": np.dtype(np.uint16),
    "uint32_t": np.dtype(np.uint32),
    "int32_t": np.dtype(np.int32),
    "int64_t": np.dtype(np.int64),
    "double": np.dtype(np.float64),
}

LONG = {"privet_rare", "privet_itemsets", "privet_minimal_violations", "privet_maximal_frequent"}
HEARS = 0.2  # seconds until a signal is heard, at the most
WORTH_CALLING = 200_000  # increments; for fewer, numpy is as quick


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops, or None where they were not built."""
    path = place()
    if not path.is_file():
        return None
    try:
        loops = ctypes.CDLL(str(path))
        for name, parameters in signatures().items():
            function = getattr(loops, name)
            function.restype = ctypes.c_int64
            function.argtypes = [parameter.ctype for parameter in parameters]
    except (OSError, AttributeError):  # built for another machine, or from other sources
        return None
    return loops


def pays(work: int) -> bool:
    """Shall this many increments be counted by the compiled loops?"""
    return work >= WORTH_CALLING and library() is not None


def call(name: str, *arguments: Argument | Sequence[NDArray[Any]]) -> int:
    """Call a loop; what is not as `loops.h` declares it is a TypeError, never another answer."""
    loops = library()
    if loops is None:
        raise RuntimeError("the compiled loops are not built")
    parameters = signatures()[name]
    if len(arguments) != len(parameters):
        raise TypeError(f"{name} takes {len(parameters)} arguments, not {len(arguments)}")
    given = [
        parameter.passed(argument, name) for parameter, argument in zip(parameters, arguments, strict=True)
    ]
    said = dict(zip((parameter.name for parameter in parameters), arguments, strict=True))
    for parameter in parameters:
        parameter.compare_length(said, name)
    loop = getattr(loops, name)
    if name in LONG and current_thread() is main_thread():
        return _heard(lambda: int(loop(*given)))
    return int(loop(*given))


def _heard(loop: Callable[[], int]) -> int:
    """A loop in a thread of its own, so that this one hears signals while it waits.

    Python runs handlers of signals between its own steps, and a loop in C is one step. Whoever is stopped
    leaves the loop behind, and the process ends with it.
    """
    said: list[int] = []
    worker = Thread(target=lambda: said.append(loop()), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(HEARS)
    return said[0]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a compiled function."""

    name: str
    dtype: np.dtype[Any]
    pointer: str  # "" a whole number, "*" an array, "*const *" a list of arrays
    written: bool  # does C write to it?
    least: tuple[tuple[int, tuple[str, ...]], ...] = ()  # its length: a sum of products, each with its sign

    @property
    def ctype(self) -> Any:
        return ctypes.c_void_p if self.pointer else ctypes.c_int64

    def passed(self, argument: Argument | Sequence[NDArray[Any]], function: str) -> Any:
        """What ctypes hands over, or a TypeError that names the place."""
        if self.pointer == "*" and _plain(argument):
            return self._address(argument, function)
        if self.pointer == "*const *" and isinstance(argument, (list, tuple)):
            addresses = [self._address(each, function) for each in argument]
            return (ctypes.c_void_p * len(addresses))(*addresses)
        if isinstance(argument, bool):
            raise TypeError(f"{function}: {self.name} is {self._told}, not bool")
        if not self.pointer and isinstance(argument, (int, np.integer)) and -(2**63) <= argument < 2**63:
            return int(argument)
        raise TypeError(f"{function}: {self.name} is {self._told}, not {type(argument).__name__}")

    def _address(self, array: NDArray[Any], function: str) -> int:
        if not _plain(array):
            raise TypeError(f"{function}: {self.name} is {self._told}, not {type(array).__name__}")
        if array.dtype != self.dtype:
            raise TypeError(f"{function}: {self.name} is {self._told}, not one of {array.dtype}")
        if not array.flags.c_contiguous:
            raise TypeError(f"{function}: {self.name} is not contiguous")
        if self.written and not array.flags.writeable:
            raise TypeError(f"{function}: {self.name} is written to, this array is read-only")
        return array.ctypes.data

    def compare_length(self, said: Mapping[str, Any], function: str) -> None:
        """Refuse an array that is shorter than C takes it to be."""
        if not self.least:
            return
        try:
            least = sum(sign * prod(_number(one, said) for one in factors) for sign, factors in self.least)
        except IndexError:
            raise TypeError(
                f"{function}: {self.name} is as long as an array says that is too short"
            ) from None
        given = said[self.name]
        if (given.size if self.pointer == "*" else len(given)) < least:
            raise TypeError(f"{function}: {self.name} has fewer than {least} entries")

    @property
    def _told(self) -> str:
        kinds = {"": "a whole number of 64 bits", "*": "an array of ", "*const *": "a list of arrays of "}
        return kinds[self.pointer] + (str(self.dtype) if self.pointer else "")


def _plain(argument: Any) -> TypeGuard[NDArray[Any]]:
    """An array and nothing besides: a mask, for one, would be left behind."""
    return type(argument) is np.ndarray or type(argument) is np.memmap


def _number(factor: str, said: Mapping[str, Any]) -> int:
    """A number, an argument, or an entry of an array."""
    if entry := _ENTRY.fullmatch(factor):
        at = _number(entry[2], said)
        return int(said[entry[1]].flat[at]) if at >= 0 else 0
    return int(factor) if factor.isdigit() else int(said[factor])


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
    const, kind, pointer, name, length = found.groups()
    least = tuple(
        (-1 if sign == "-" else 1, tuple(one.strip() for one in product.split("*")))
        for sign, product in _TERM.findall(length or "")
    )
    return Parameter(name, _TYPES[kind], pointer or "", pointer == "*" and not const, least)
