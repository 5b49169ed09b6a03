"""What a policy says of data that may lie in several forms: which keys each takes, and whose a column is.

Paths and sets both come as a column, as rows, or in forms of their own; the complaints are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Generic, TypeVar

from privet.core import Role, Terms
from privet.policy.notation import Complaints

Form = TypeVar("Form", bound=Enum)


@dataclass(frozen=True)
class Keys(Generic[Form]):
    """The keys of a table, by the form that it names."""

    anywhere: tuple[str, ...]
    needed: Mapping[Form, tuple[str, ...]]
    possible: Mapping[Form, tuple[str, ...]]

    def settled(self, shape: Any, columns: Sequence[str]) -> None:
        """Refuse a shape that says what its form does not have, or lacks what it needs, whoever made it."""
        complaints = Complaints()
        usual = {field.name: field.default for field in fields(shape)}
        said = {key: given for key, default in usual.items() if (given := getattr(shape, key)) != default}
        complaints.add(*(f"{key}: is the name of a column" for key in columns if said.get(key) == ""))
        self.fitting(shape.form, said, complaints)
        complaints.raise_all()

    def fitting(self, form: Form, table: Mapping[str, Any], complaints: Complaints) -> None:
        """What this form needs, and what belongs to another; a key of none is somebody else's complaint."""
        for key in self.needed[form]:
            if key not in table:
                needed = ", ".join(self.needed[form])
                complaints.add(f'{key} is missing; form = "{form.value}" needs {needed}')
        fits = {*self.anywhere, *self.needed[form], *self.possible[form]}
        for key in table:
            forms = [f'"{one.value}"' for one in self.needed if key in self._own(one)]
            if forms and key not in fits:
                complaints.add(f'{key}: form = "{form.value}" has none; it is for {" and ".join(forms)}')

    def _own(self, form: Form) -> tuple[str, ...]:
        return (*self.needed[form], *self.possible[form])


def said_twice(
    policy: Terms, columns: Sequence[str], *, table: str, person: str | None, what: str
) -> list[str]:
    """Columns of which the kind's own table says what they are, and [attributes] too."""
    roles = {attribute.name: attribute.role for attribute in policy.attributes}
    found = [
        f"attributes.{name}: [{table}] says what it is; leave it out here"
        for name in columns
        if name in roles and name != person
    ]
    if person in roles and roles[person] not in {Role.IDENTIFIER, Role.UNDECIDED}:
        found.append(f"attributes.{person}: it says whose {what} it is: the role is identifier")
    return found
