"""A draft that somebody accepts: guesses become roles, and a preset that was named becomes the promise.

No parameter of privacy is chosen here. Identifiers are dropped; what a recipient might predict is sensitive
like the rest; and a promise about sensitive values leaves out those that nearly everybody has, by name, since
no release could keep it for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from privet.core import Role
from privet.domain import Value
from privet.drafts.guess import Guess
from privet.drafts.safeharbor import Coarsened, nothing_found, safe_harbor
from privet.drafts.text import Draft, form_lines, inline, key_of, whose
from privet.engines.text import listed
from privet.errors import InputError, UnsupportedError
from privet.policy.presets import Preset
from privet.readings import Rows

COMMON = Fraction(3, 4)  # of a bound: values with a larger share of all records are not protected by it
MOST_LISTED = 200  # protected values of one column that a policy lists


@dataclass(frozen=True)
class Answers:
    """What a steward said otherwise than the draft."""

    roles: Mapping[str, Role] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Rows = Rows.UNSAID  # is each row a person, though an identifier repeats?
    person: str | None = None  # the column that says whose a row is


@dataclass(frozen=True)
class Accepted:
    """A policy that was not written by hand, and what its steward should know of it."""

    text: str
    told: tuple[str, ...]


def accept(drafted: Draft, preset: Preset, answers: Answers | None = None) -> Accepted:
    """The draft with every role decided and the promise of the preset."""
    answers = answers or Answers()
    if answers.person is not None and answers.person not in {one.name for one in drafted.guesses}:
        raise InputError(f"person: there is no column {answers.person!r}")
    form = replace(drafted.form, missing={**drafted.form.missing, **answers.missing})
    drafted = replace(drafted, form=form)
    columns = [
        Coarsened(one.name, _role(one, answers), one.hierarchy, one.reason, label=one.label)
        for one in drafted.guesses
        if one.name not in drafted.of_paths
    ]
    models, algorithm = list(preset.models), dict(preset.algorithm)
    told: list[str] = []
    if drafted.paths is not None:
        if preset.trajectories is None:
            raise UnsupportedError(
                f"the preset {preset.name} is about tables, and this looks like trajectories"
            )
        models, algorithm = preset.trajectories["models"], preset.trajectories["algorithm"]
    leans = {one.name for one in drafted.guesses if one.leans} - answers.roles.keys()
    if preset.rules is not None and drafted.paths is None:
        # The rules are about what others may know, and nobody has said that it is not that.
        looked_at = [
            replace(one, values=_different(drafted, one.name)) for one in _known_to_others(columns, leans)
        ]
        header = drafted.form.header
        columns, models, algorithm = safe_harbor(looked_at, models, algorithm, header=header)
        told += [
            f"{after.name}: {after.reason}"
            for before, after in zip(looked_at, columns, strict=True)
            if after.role is Role.IDENTIFIER and before.role is not Role.IDENTIFIER
        ]
        told += nothing_found(models, header=header)
    else:
        if all(one.role is not Role.QUASI for one in columns):  # a promise has to be about something
            columns = _known_to_others(columns, leans)
        told += _unchanged([one.name for one in columns if one.name in leans and one.role is Role.SENSITIVE])
    sensitive = [column.name for column in columns if column.role is Role.SENSITIVE]
    if not sensitive and drafted.paths is None:
        models = list(preset.without_sensitive) if preset.rules is None else models
    protect = _Protect(drafted, sensitive, answers.person, told)
    models = [protect.filled(model) for model in models]
    said = list(_whose(answers))
    if said:
        drafted = replace(drafted, repeated=())
    lines = list(_lines(drafted, preset, columns, models, algorithm))
    after = lines.index('nulls = "value"') + 1
    lines[after:after] = said
    return Accepted("\n".join(lines) + "\n", (*drafted.doubts, *told))


def _known_to_others(columns: Sequence[Coarsened], leans: Collection[str]) -> list[Coarsened]:
    """The columns, those that only lean to being secret as what others may know."""
    return [
        replace(one, role=Role.QUASI) if one.name in leans and one.role is Role.SENSITIVE else one
        for one in columns
    ]


def _unchanged(names: Sequence[str]) -> Iterator[str]:
    """What leaves as it is, though neither a rule nor a person has said that others do not know it."""
    if names:
        leave = "leaves" if len(names) == 1 else "leave"
        yield (
            f"{listed(names)}: {leave} unchanged, as most columns like that are answers or measures; if "
            "others can look it up, say so (`privet init --ask`)"
        )


def _different(drafted: Draft, name: str) -> list[str]:
    return [value for value, _ in drafted.counts(name) if value is not None]


def _whose(answers: Answers) -> Iterator[str]:
    """Whose rows are, where the steward said it."""
    if answers.person is not None:
        yield f"person = {inline(answers.person)}"
    elif answers.rows is Rows.PERSONS:
        yield f'rows = "{answers.rows.value}"'


def _role(one: Guess, answers: Answers) -> Role:
    if one.name == answers.person:
        return Role.IDENTIFIER
    role = answers.roles.get(one.name, one.role)
    return Role.SENSITIVE if role is Role.TARGET else role


@dataclass(frozen=True)
class _Protect:
    """Which sensitive values a promise can speak of."""

    drafted: Draft
    sensitive: Sequence[str]
    person: str | None  # where it is said whose a row is, shares are of persons
    told: list[str]

    def filled(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """A model of a preset with the columns of this table in place of "each"."""
        if model.get("sensitive") != "each":
            return dict(model)
        bound = Fraction(model.get("alpha", model.get("c", "1")))
        found = {name: self._values(name, bound * COMMON) for name in self.sensitive}
        return {**model, "sensitive": {name: values for name, values in found.items() if values}}

    def _values(self, name: str, common: Fraction) -> str | list[Any]:
        counts = self.drafted.counts(name, self.person)
        records = sum(many for _, many in counts)
        if self.person is not None:
            records = len(self.drafted.counts(self.person))  # of whom one may have several values
        often = [value for value, many in counts if many > common * records]
        if not often:
            return "every"
        rest = [value for value, many in counts if many <= common * records]
        if len(rest) > MOST_LISTED:
            self.told.append(f"{name}: one value is common and the others are many: not part of the promise")
            return []
        self.told.append(
            f"{name}: {'a value' if len(often) == 1 else 'values'} that most records have cannot be protected"
        )
        return [_item(value) for value in rest]


def _item(value: Value) -> Any:
    return {"null": True} if value is None else {"value": value}


def _lines(
    drafted: Draft,
    preset: Preset,
    columns: Sequence[Coarsened],
    models: Sequence[Mapping[str, Any]],
    algorithm: Mapping[str, Any],
) -> Iterator[str]:
    yield f"# {preset.title}, and the guesses of `privet init` accepted as they were. Look at the roles."
    yield f"# Source: {preset.source}"
    yield f"# Promised: {preset.promise}"
    yield from (f"# Not promised: {line}" for line in preset.not_promised)
    yield "policy = 1"
    yield 'kind = "table"' if drafted.paths is None else 'kind = "trajectories"'
    yield f"purpose = {inline(f'released under the preset {preset.name}')}"
    yield 'nulls = "value"'
    repeated, persons = (
        [name for name in names if _named(columns, name)] for names in (drafted.repeated, drafted.persons)
    )
    yield from whose(repeated, persons)
    yield ""
    yield "[form]"
    yield from form_lines(drafted.form)
    yield ""
    if drafted.paths is not None:
        yield "[trajectories]"
        yield from (f"{key} = {inline(value)}" for key, value in _paths(drafted.paths, preset).items())
        yield ""
    yield "[attributes]"
    yield from (_attribute(column) for column in columns)
    for model in models:
        yield ""
        yield "[[models]]"
        yield from (f"{key} = {inline(value)}" for key, value in model.items())
    yield ""
    yield "[algorithm]"
    yield from (f"{key} = {inline(value)}" for key, value in algorithm.items())


def _named(columns: Sequence[Coarsened], name: str) -> bool:
    return any(column.name == name and column.role is Role.IDENTIFIER for column in columns)


def _paths(paths: Mapping[str, str], preset: Preset) -> dict[str, Any]:
    """Where the paths are; and for points of GPS the slot and the grid of the preset."""
    said_of = dict(preset.trajectories or {})
    more = (
        {"slot": said_of["slot"], "grid": said_of["grid"], "clash": "first"}
        if paths.get("form") == "points"
        else {}
    )
    return {**paths, **more}


def _attribute(column: Coarsened) -> str:
    rule = f", hierarchy = {inline(column.hierarchy.to_policy())}" if column.role is Role.QUASI else ""
    return f'{key_of(column.name)} = {{ role = "{column.role.value}"{rule} }}  # {column.reason}'
