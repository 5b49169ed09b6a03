"""What LKC-privacy and its relatives have in common, and the check that serves them all.

An adversary knows some values of a person. The records that match must be many (identity linkage),
and not too many of them may share a protected value (attribute linkage).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol, Self, runtime_checkable

from privet import effort
from privet.core import Column, Nulls, PrivacyModel, Tally, Verdict
from privet.domain import Value
from privet.errors import PolicyError
from privet.models import persons
from privet.models.groups import Survey, survey
from privet.models.template import Every, Template, protected

ENDLESS = 1 << 30  # values that are known where nobody says how many: all that somebody has


@dataclass(frozen=True, slots=True)
class Linkage:
    """Any `l` known values of `quasi` match at least `k` records, within every template's bound."""

    l: int | None  # None: all of them
    k: int
    templates: tuple[Template, ...]
    quasi: tuple[str, ...] | None = None  # None: every quasi-identifier

    def columns(self, tally: Tally) -> tuple[Column, ...]:
        """The quasi-identifiers that this bound is about."""
        if self.quasi is None:
            return tally.quasi
        found = tuple(column for column in tally.quasi if column.name in self.quasi)
        missing = set(self.quasi) - {column.name for column in found}
        if missing:
            raise PolicyError(f"quasi: the policy has no quasi-identifier {', '.join(sorted(missing))}")
        return found

    def knowledge(self, columns: Sequence[Column] | Sequence[str]) -> int:
        """How many values the adversary can know at most."""
        return len(columns) if self.l is None else min(self.l, len(columns))

    @property
    def binding(self) -> tuple[Template, ...]:
        """The templates that can be broken: no share is above 1."""
        return tuple(template for template in self.templates if template.at_most < 1)


@runtime_checkable
class LinkageModel(Protocol):
    """A model that is nothing but a linkage bound: searches know how to look ahead for it."""

    def linkage(self) -> Linkage: ...


class LinkageCheck(PrivacyModel):
    """The `check` of every model that is a linkage bound."""

    __slots__ = ()
    monotone: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    @property
    def share(self) -> Fraction | None:
        """The bound of every protected value that has none of its own."""
        return None

    def protects(self) -> tuple[tuple[str, str], ...]:
        return tuple(("sensitive", template.attribute) for template in self.linkage().templates)

    def guarded(self) -> tuple[tuple[str, str, Value], ...]:
        return tuple(
            ("sensitive", template.attribute, template.value)
            for template in self.linkage().templates
            if not isinstance(template.value, Every)
        )

    def known(self) -> tuple[str, ...] | None:
        return self.linkage().quasi

    def linkage(self) -> Linkage:
        raise NotImplementedError  # each model says which bound it is

    def refuse_endless(self, tally: Tally) -> None:
        """Said before the work: there may be more combinations than anybody can count."""
        bound = self.linkage()
        telling = [column for column in bound.columns(tally) if column.domain.size > 1]
        for size in _sizes(bound, tally):
            if size >= len(telling):
                continue  # all of them: one combination is soon counted
            effort.refuse_endless(self.name, columns=len(telling), known=size, records=tally.cells)

    def check(self, tally: Tally) -> Verdict:
        self.refuse_endless(tally)
        bound = self.linkage()
        columns = bound.columns(tally)
        found = _surveyed(bound, tally, columns, bound.k)
        achieved: dict[str, int | Fraction] = {"k": found.smallest}
        if bound.binding:
            achieved["c"] = max(found.shares)
        if len(bound.binding) > 1:
            for template, share in zip(bound.binding, found.shares, strict=True):
                achieved[f"c of {named(template)}"] = share
        return Verdict(achieved, found.broken, found.at_risk)

    def shortfalls(self, tally: Tally) -> list[str]:
        """Which numbers this tally does not reach, each with the nearest one that it does."""
        bound, looser = self.linkage(), self.relaxed(tally)
        found = []
        if looser.k < bound.k:
            found.append(
                f"{self.name}: k = {bound.k} cannot be kept, the smallest group has {looser.k} of "
                f"{_counted(tally)}; the largest feasible k is {looser.k}"
            )
        found += [
            f"{self.name}: a share of {asked.at_most} for {named(asked)} cannot be kept, {reached.at_most} "
            f"({float(reached.at_most):.2%}) of a group have it; the smallest feasible is {reached.at_most}"
            for asked, reached in zip(bound.templates, looser.templates, strict=True)
            if reached.at_most > asked.at_most
        ]
        return found

    def nearest(self, tally: Tally) -> Self:
        return self.loosened(self.relaxed(tally))

    def loosened(self, bound: Linkage) -> Self:
        """This promise with the numbers of a looser bound; each model says which of them are its own."""
        raise NotImplementedError

    def relaxed(self, tally: Tally) -> Linkage:
        """The bound with its numbers moved just as far as this tally needs."""
        self.refuse_endless(tally)
        bound = self.linkage()
        columns = bound.columns(tally)
        found = _surveyed(bound, tally, columns, 1)
        reached = dict(zip(bound.binding, found.shares, strict=True))
        return replace(
            bound,
            k=min(bound.k, found.smallest),
            templates=tuple(
                replace(template, at_most=max(template.at_most, reached.get(template, Fraction(0))))
                for template in bound.templates
            ),
        )


def _surveyed(bound: Linkage, tally: Tally, columns: Sequence[Column], k: int) -> Survey:
    """Every group that the bound is about, of records or of persons."""
    sizes = _sizes(bound, tally)
    guarded = protected(tally, bound.binding) if bound.binding else ()
    if tally.person is None:
        return survey(tally, columns, sizes, k, guarded)
    # Whoever knows values from several rows may know several of one column.
    most = (bound.l or ENDLESS) if tally.across else bound.knowledge(columns)
    return persons.survey(tally, columns, sizes, k, guarded, most)


def _sizes(bound: Linkage, tally: Tally) -> Sequence[int]:
    """How many values are known: the most only, where that implies all the rest."""
    most = bound.knowledge(bound.columns(tally))
    # Knowing fewer values only merges groups, and a union of groups that keep the promise keeps it
    # too: so only the largest combinations need a look. A null that matches everything is in several
    # groups at once, the argument fails, and every size is looked at.
    if tally.person is not None:
        # A share of persons may be larger in a union of groups than in each of them: see `persons`.
        return range(most + 1) if bound.binding and bound.l is not None else (most,)
    return range(1, most + 1) if tally.nulls is Nulls.WILDCARD else (most,)


def _counted(tally: Tally) -> str:
    if tally.person is None:
        return f"{tally.records} records"
    return f"{persons.total(tally)} persons"


def named(template: Template) -> str:
    """A template's value as the policy names it."""
    if isinstance(template.value, Every):
        return template.attribute
    return f"{template.attribute}={'null' if template.value is None else template.value}"
