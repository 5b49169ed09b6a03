"""`python -m privet.warm`: compile the counting loops once, at set-up, so that no user waits for it.

Numba keeps what it compiled beside the source; afterwards a cold process only loads it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from types import ModuleType

import numpy as np

from privet.core import Attribute, Column, Policy, Role, Tally
from privet.domain import flat
from privet.models.lkc import LKC
from privet.models.template import protected
from privet.relational import lookahead
from privet.relational.topdown import TopDown

PROMISE = LKC(l=3, k=2, c=Fraction(3, 4), sensitive={"s": ["1"]})


def warm() -> str:
    """Run every compiled loop once; what happened, in one line."""
    if find_spec("numba") is None:
        return "numba is not installed, nothing to compile (pip install 'privet[fast]' brings it)"
    start = time.perf_counter()
    for wide in (2, 300):  # values of a column: codes of one byte, and of more
        tally = tiny(wide)
        bounds = protected(tally, PROMISE.bounds)
        subsets = list(combinations(range(len(tally.quasi)), 2))
        compiled = import_module("privet.models.groups_compiled")
        compiled.survey(tally, tally.quasi, subsets, 1, bounds)
        with _always_compiled(lookahead):
            search(tally)
    return f"compiled the counting loops in {time.perf_counter() - start:.1f} s"


def tiny(wide: int) -> Tally:
    """A table of four quasi-identifiers, one sensitive attribute and a target, in a few hundred cells."""
    cells = 8 * wide

    def column(name: str, values: int, step: int) -> Column:
        domain = flat(tuple(str(value) for value in range(values)))
        return Column(name, domain, domain.column(np.arange(cells) // step % values))

    quasi = tuple(
        column(name, wide if name == "a" else 2, step)
        for name, step in zip("abcd", (1, 2, 3, 5), strict=True)
    )
    return Tally(
        quasi=quasi,
        sensitive=(column("s", 4, 3),),
        target=column("t", 2, 4),
        counts=np.full(cells, 3, dtype=np.int64),
    )


def search(tally: Tally) -> None:
    attributes = (
        *(Attribute(column.name, Role.QUASI) for column in tally.quasi),
        *(Attribute(column.name, Role.SENSITIVE) for column in tally.sensitive),
        Attribute("t", Role.TARGET),
    )
    TopDown().search(tally, Policy(attributes, (PROMISE,), TopDown()))


@contextmanager
def _always_compiled(module: ModuleType) -> Iterator[None]:
    """Small tables are counted without the compiler; not now."""
    before = module.WORTH_COMPILING
    try:
        module.WORTH_COMPILING = 0  # type: ignore[attr-defined]
        yield
    finally:
        module.WORTH_COMPILING = before  # type: ignore[attr-defined]


def main() -> int:
    """Warming is a favour: whatever goes wrong, set-up goes on."""
    try:
        said = warm()
    except Exception as error:  # noqa: BLE001 - see above
        said = f"could not compile the counting loops ({type(error).__name__}); the slower ones serve"
    sys.stdout.write(f"privet.warm: {said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
