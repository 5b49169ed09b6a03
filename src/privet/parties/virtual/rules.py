"""What the regions of a virtual database keep: so many records, from so many sites.

Site-diversity (Jurczyk and Xiong 2009 name it; the report of 2008 has k-anonymity only): a group that one
organisation fills alone is k-anonymous and shows whose customers these are. All three forms hold for a union
of groups that keep them, so they may be tested while regions are split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import prod

from privet.errors import UnsupportedError


class Diversity(Enum):
    """How many sites a group has rows of is counted."""

    DISTINCT = "distinct"  # so many have a row in it
    ENTROPY = "entropy"  # its entropy over sites is at least that of so many equal shares
    RECURSIVE = "recursive"  # the largest share is below c times the smallest ones together


class Halving(Enum):
    """From how many records on a region is split."""

    STRICT = "strict"  # more than 2k, as in the source
    MONDRIAN = "mondrian"  # 2k or more


class Ties(Enum):
    """Which of the records at the median go left."""

    ORDERED = "ordered"  # those that are smaller in the other columns
    SHUFFLE = "shuffle"  # by chance


class Boxes(Enum):
    """What is published of a region."""

    TIGHT = "tight"  # the smallest and largest values in it
    CUT = "cut"  # where it was cut out


@dataclass(frozen=True)
class Rules:
    """How regions are split, and what each keeps."""

    k: int
    sites: int = 1
    diversity: Diversity = Diversity.DISTINCT
    c: Fraction | None = None  # of recursive diversity
    halving: Halving = Halving.STRICT
    ties: Ties = Ties.ORDERED
    boxes: Boxes = Boxes.TIGHT

    def __post_init__(self) -> None:
        if self.k < 1 or self.sites < 1:
            raise UnsupportedError("k and sites are 1 or more")
        if (self.c is not None) != (self.diversity is Diversity.RECURSIVE) or (self.c or 1) <= 0:
            raise UnsupportedError('c: above 0, with diversity = "recursive" and only there')

    def may_split(self, records: int) -> bool:
        return records >= 2 * self.k + (self.halving is Halving.STRICT)

    @property
    def asks_sizes(self) -> bool:
        """Does it take how many records each site has, or only how many sites have some?"""
        return self.sites > 1 and self.diversity is not Diversity.DISTINCT

    def diverse(self, by_site: Sequence[int]) -> bool:
        """Is a group with so many records of each site diverse enough?

        >>> Rules(2, 2, Diversity.ENTROPY).diverse([3, 3]), Rules(2, 2, Diversity.ENTROPY).diverse([2, 1])
        (True, False)
        """
        sizes = sorted((size for size in by_site if size), reverse=True)
        if self.sites == 1:
            return True
        match self.diversity:
            case Diversity.DISTINCT:
                return len(sizes) >= self.sites
            case Diversity.RECURSIVE:
                return bool(sizes) and sizes[0] < (self.c or 0) * sum(sizes[self.sites - 1 :])
        # The entropy of shares s/N is ln L or more where N**N >= L**N * prod s**s: exactly, in whole numbers.
        total = sum(sizes)
        return bool(total) and total**total >= self.sites**total * prod(size**size for size in sizes)
