"""`python -m privet.warm`: compile the counting loops once, at set-up, so that no user waits for it.

Numba keeps what it compiled beside the source; afterwards a cold process only loads it, and for a large
file `ahead_of_time` does that beside the reading.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from importlib.util import find_spec
from threading import Thread

import numpy as np

from privet.core import Column, Tally
from privet.domain import flat
from privet.models.lkc import LKC
from privet.models.template import protected
from privet.relational.bounds import bounds_of
from privet.relational.partition import Partition
from privet.relational.specialize import Candidate

PROMISE = LKC(l=3, k=2, c=Fraction(3, 4), sensitive={"s": ["1"]})


def warm() -> str:
    """Run every compiled loop once; what happened, in one line."""
    if find_spec("numba") is None:
        return "numba is not installed, nothing to compile (pip install 'privet[fast]' brings it)"
    from privet.models import groups_compiled  # noqa: PLC0415 - an optional extra, slow to load
    from privet.relational import lookahead_compiled, partition_compiled  # noqa: PLC0415

    start = time.perf_counter()
    for wide in (2, 300):  # values of a column: codes of one byte, and of more
        tally = tiny(wide)
        groups_compiled.survey(tally, tally.quasi, 2, 1, protected(tally, PROMISE.bounds))
    tally = tiny(2)
    bounds, masks = bounds_of(tally, [PROMISE.linkage()])
    partition = Partition(tally, masks, needs_leaves=False)
    root = tally.quasi[0].domain.root
    candidate = Candidate(0, root, root.children, 0)
    lookahead_compiled.keeps(partition, candidate, partition.ahead(candidate), [1, 2], 2, bounds[0])
    for small in (np.uint8, np.uint16, np.uint32):
        partition_compiled.under(np.zeros(4, dtype=small), 0, 1, np.zeros(1, dtype=np.uint8))
    return f"compiled the counting loops in {time.perf_counter() - start:.1f} s"


def ahead_of_time() -> None:
    """Load the compiled loops in the background; whoever needs them first waits for the rest of it."""
    if find_spec("numba") is not None:
        Thread(target=warm, daemon=True).start()


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
