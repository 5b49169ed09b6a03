"""Templates: which sensitive values are protected, and how sure an adversary may become of each.

Wang, Fung and Yu, "Handicapping attacker's confidence", KAIS 2007, call `<QID -> s, h>` a template.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from privet.core import Tally
from privet.domain import Value
from privet.equality import name
from privet.errors import PolicyError


class Every(Enum):
    """Stands for each value of an attribute; no value of the data can be mistaken for it."""

    VALUE = "every value"

    def __repr__(self) -> str:
        return "EVERY"


EVERY = Every.VALUE


@dataclass(frozen=True, slots=True)
class Template:
    """At most this share of any group may have this value of this attribute."""

    attribute: str
    value: Value | Every  # EVERY: each value of the attribute, bounded one by one
    at_most: Fraction

    def __post_init__(self) -> None:
        exact_share("a confidence bound", self.at_most)


def exact_share(what: str, share: object) -> None:
    """Refuse anything but a Fraction in (0, 1]: a float's rounding would decide what is promised."""
    if not isinstance(share, Fraction) or not 0 < share <= 1:
        given = str(share) if isinstance(share, Fraction) else repr(share)
        raise PolicyError(f"{what} is an exact fraction above 0 and at most 1, not {given}")


# {"surgery": ["Transgender"]}, {"surgery": {"Transgender": Fraction(1, 5)}}, or ["surgery"] for every value
Protectable: TypeAlias = Value | Every
Sensitive: TypeAlias = (
    Mapping[str, Collection[Protectable] | Mapping[Protectable, Fraction]] | Collection[str]
)


def templates(sensitive: Sensitive, default: Fraction | None) -> tuple[Template, ...]:
    """Templates from the way people write them.

    >>> templates({"surgery": ["Transgender"]}, Fraction(1, 5))
    (Template(attribute='surgery', value='Transgender', at_most=Fraction(1, 5)),)
    """
    found = []
    for attribute in sensitive:
        values = sensitive[attribute] if isinstance(sensitive, Mapping) else (EVERY,)
        for value in values:
            bound = values[value] if isinstance(values, Mapping) else default
            if bound is None:
                raise PolicyError(f"sensitive.{attribute}: every value needs a bound")
            found.append(Template(name(attribute), value, bound))
    return tuple(sorted(found, key=lambda t: (t.attribute, str(t.value))))


@dataclass(frozen=True, slots=True)
class Protected:
    """A template met with data: the column, and the codes it is about."""

    template: Template
    codes: tuple[int, ...]  # bounded one by one
    column: int  # which of the tally's sensitive columns


def protected(tally: Tally, bounds: Collection[Template]) -> tuple[Protected, ...]:
    """Where the templates' values stand in a tally; a value that does not occur needs no protection."""
    places = {column.name: at for at, column in enumerate(tally.sensitive)}
    found = []
    for template in bounds:
        if template.attribute not in places:
            raise PolicyError(
                f"sensitive.{template.attribute}: the policy has no sensitive attribute of that name"
            )
        at = places[template.attribute]
        domain = tally.sensitive[at].domain
        if isinstance(template.value, Every):
            codes = tuple(range(domain.size))
        else:
            code = domain.code(template.value)
            codes = () if code is None else (code,)
        found.append(Protected(template, codes, at))
    return tuple(found)
