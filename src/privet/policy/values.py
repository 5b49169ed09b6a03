"""Policies: valid or they do not exist, whether they are read from a file or made in Python.

A wrong policy is answered with every complaint at once, each with its place and its fix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import tomli_w

from privet import equality, notebook, tomltext
from privet.core import Algorithm, Attribute, Form, Nulls, Purse, Role, Terms
from privet.declared import Frozen, Order
from privet.disguise import Hash, Pseudonym, Shift
from privet.errors import InputError, PolicyError
from privet.hierarchy import Auto
from privet.placing import aside, followed
from privet.policy import consistency, reading
from privet.policy.notation import Complaints, describe, noted, settled, written
from privet.policy.reading import TOP, VERSION
from privet.readings import Absent, Formulas, Rows

__all__ = ["TOP", "Policy", "Purse", "Shape", "policy_of"]

RARE = frozenset(("header", "trim", "numbers", "missing"))  # of a form, said only where they are not as usual
Naming: TypeAlias = Callable[[Path, str], str]


def as_it_is(base: Path, file: str) -> str:  # noqa: ARG001 - where a file is found from another folder
    """A file as the policy names it."""
    return file


class Shape(Protocol):
    """What a policy says of data that is not a table, in a table of the kind's name.

    >>> # kind = "trajectories"
    >>> # [trajectories]
    >>> # path = "stops"
    """

    algorithm: ClassVar[Mapping[str, Any]]  # what searches unless the policy says otherwise
    describes_fields: ClassVar[bool] = False  # itself: then [attributes] stands nowhere in the policy
    bare: ClassVar[bool] = False  # nothing need stand beside what it describes: [attributes] may be left out

    @classmethod
    def from_policy(cls, table: Mapping[str, Any], *, base: Path) -> Self:
        """Read it; raise PolicyError with every complaint. Paths are relative to `base`."""

    def to_policy(self, named: Naming = as_it_is) -> dict[str, Any]:
        """The table that `from_policy` reads; `named` says how a file in a folder is written."""

    def complaints(self, policy: Terms) -> list[str]:
        """What is right in each place of the policy and wrong together."""

    @classmethod
    def unfolded(cls, document: Mapping[str, Any], complaints: Complaints) -> Mapping[str, Any]:  # noqa: ARG003
        """A document with what only this kind of data has ([[hide]]) brought into the common form."""
        return document

    @staticmethod
    def folded(document: dict[str, Any]) -> dict[str, Any]:
        """The way back from `unfolded`."""
        return document

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in which it stands: they have no role of their own."""
        return ()

    @property
    def whose(self) -> str | None:
        """The one of them that says whose a row is."""
        return None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The fields, where it describes them itself."""
        return ()

    @property
    def undecided(self) -> list[str]:
        """A complaint for each field that nobody has decided about, where it describes them itself."""
        return []


@dataclass(frozen=True)
class Policy(Terms):
    """What the steward decided, before seeing the data: checked when it is made, as one that is read is.

    >>> from privet.models.kanonymity import KAnonymity
    >>> policy = Policy((Attribute("age", "quasi"), Attribute("name", "identifier")), (KAnonymity(k=5),))
    >>> policy.algorithm.name, Policy.loads(policy.dumps()) == policy
    ('top-down', True)
    >>> Policy((Attribute("age", "quasi"),), ())
    Traceback (most recent call last):
    privet.errors.PolicyError: models: at least one promise, for example [[models]] type = "k-anonymity" k = 5
    """

    algorithm: Algorithm = None  # type: ignore[assignment] # None: the usual one for this kind of data

    def __post_init__(self) -> None:
        for name, value in self._settled().items():
            object.__setattr__(self, name, value)
        consistency.check(self)

    def _settled(self) -> dict[str, Any]:
        """What may be left out or written in another way, as it is read from a file that does so."""
        said: dict[str, Any] = {}
        if not isinstance(self.kind, str):
            raise PolicyError(consistency.other_kind(self.kind))
        for name in ("attributes", "models"):
            given: Any = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, (list, tuple)):
                raise PolicyError(f"{name}: is a tuple")
            said[name] = tuple(given)
        said["models"] = tuple(map(settled, said["models"]))
        if self.shape is not None and not hasattr(self.shape, "describes_fields"):
            raise PolicyError("shape: is a shape such as Trajectories(...)")
        if self.shape is not None and self.shape.describes_fields:
            said["attributes"] = said["attributes"] or self.shape.attributes
        else:
            said["attributes"] = tuple(map(_arranged, said["attributes"]))
        kinds: dict[str, Any] = {
            "nulls": Nulls,
            "order": Order,
            "absent": Absent,
            "rows": Rows,
            "formulas": Formulas,
        }
        for name, kind in kinds.items():
            given = getattr(self, name)
            if isinstance(given, str) and given in {one.value for one in kind}:
                said[name] = kind(given)
        if isinstance(self.person, str):
            said["person"] = equality.name(self.person)
        only: Any = self.publish_only
        if isinstance(only, Mapping):
            said["publish_only"] = Frozen(
                (name, tuple(dict.fromkeys(values)) if isinstance(values, (list, tuple)) else values)
                for name, values in only.items()
            )
        if self.algorithm is None:
            try:
                said["algorithm"] = reading.usual_algorithm(self.kind, said["models"])
            except PolicyError:
                raise PolicyError(consistency.other_kind(self.kind)) from None
        else:
            said["algorithm"] = settled(self.algorithm)
        return said

    def _repr_html_(self) -> str:
        """The decisions, without the leaves of hierarchies: these are values of the data."""
        columns = [
            (a.name, a.role.value, None if a.hierarchy is None else type(a.hierarchy).__name__)
            for a in self.attributes
        ]
        rows = [
            ("kind", self.kind),
            ("purpose", self.purpose),
            ("columns", notebook.grid(("column", "role", "hierarchy"), columns)),
            ("promises", [model.name for model in self.models]),
            ("algorithm", self.algorithm.name),
        ]
        return notebook.card("Policy", rows)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; paths in it are relative to it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PolicyError(f"{path}: no such file; `privet init DATA` drafts a policy") from None
        except (ValueError, IsADirectoryError):  # not UTF-8, or a name that no file can have
            raise PolicyError(f"{path}: this is not a text file") from None
        return cls.loads(text, place=str(path), base=path.parent)

    @classmethod
    def loads(cls, text: str, *, place: str = "policy", base: Path | None = None) -> Self:
        """Read a policy from its text."""
        document = tomltext.document(text, place)
        try:
            return cls.from_document(document, base=base or Path())
        except PolicyError as error:
            raise error.at(place) from None

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, base: Path) -> Self:
        """Read a policy from what TOML (or any other notation) made of it."""
        complaints = Complaints()
        said = reading.read(document, base, complaints)
        if not list(complaints):
            return cls(**said)
        partly = Terms(**said)
        raise PolicyError(*complaints, *consistency.together(partly), *consistency.undecided(partly))

    def to_document(self) -> dict[str, Any]:
        """The policy as a document that TOML can hold."""
        document: dict[str, Any] = {"policy": VERSION, "kind": self.kind}
        if self.purpose:
            document["purpose"] = self.purpose
        document["nulls"] = self.nulls.value
        document["order"] = self.order.value
        if self.person is not None:
            document["person"] = self.person
        if self.rows is not Rows.UNSAID:
            document["rows"] = self.rows.value
        if self.across:
            document["across"] = True
        if self.absent is not Absent.REFUSED:
            document["absent"] = self.absent.value
        if self.formulas is not Formulas.CAUTIONED:
            document["formulas"] = self.formulas.value
        if self.publish_only:
            document["publish_only"] = {name: list(values) for name, values in self.publish_only.items()}
        if self.ledger is not None:
            document["ledger"] = {"file": self.ledger.file, "dataset": self.ledger.dataset}
        document["form"] = form_noted(self.form)
        if self.shape is None or not self.shape.describes_fields:
            document["attributes"] = {a.name: _attribute_document(a) for a in self.attributes}
        document["models"] = [describe(model) for model in self.models]
        document["algorithm"] = describe(self.algorithm)
        if self.shape is not None:
            document[self.kind] = self.shape.to_policy()
            if self.shape.bare and not self.attributes:
                del document["attributes"]
            document = self.shape.folded(document)
        return document

    def dumps(self) -> str:
        """The policy as the text of a file."""
        return tomli_w.dumps(self.to_document())

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the policy to a file, which appears under its name only when it is whole.

        Files that the policy names (a ledger, a key, stops) are looked for beside it: where they lie
        elsewhere, their whole path is written.
        """
        path = followed(Path(path))
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; name a file")
        if path.exists() and not overwrite:
            raise InputError(f"{path}: there is a file already; say overwrite=True to replace it")
        document = _as_found_from(self, path.parent)
        with aside(path) as made:
            made.fresh(path.name).write_text(tomli_w.dumps(document), encoding="utf-8", newline="\n")
            made.replace(path.name)
        return path


def policy_of(given: Policy | str | Path) -> Policy:
    """A policy, or the one in the file of that name; nothing else begins a road."""
    if isinstance(given, (str, Path)):
        return Policy.load(given)
    if not isinstance(given, Policy):
        what = type(given).__name__
        raise PolicyError(f"policy: a privet.Policy, or the path of a policy file, not a {what}")
    consistency.check(given)  # again: a subclass, an unpickled or a changed one was perhaps never checked
    return given


def form_noted(form: Form) -> dict[str, Any]:
    """A form as its table in a policy."""
    usual = Form()
    said = {f.name: noted(getattr(form, f.name)) for f in written(Form)}
    return {
        name: value
        for name, value in said.items()
        if value is not None and (name not in RARE or getattr(form, name) != getattr(usual, name))
    }


def _as_found_from(policy: Policy, folder: Path) -> dict[str, Any]:
    """The policy's document with every file named so that it is found from that folder."""

    def named(base: Path, file: str | Path) -> str:
        there = (base / file).resolve()
        return str(file) if (folder / file).resolve() == there else str(there)

    document = policy.to_document()
    if policy.ledger is not None:
        document["ledger"]["file"] = named(Path(), policy.ledger.file)
    for attribute in policy.attributes:
        disguise = attribute.disguise
        if isinstance(disguise, (Hash, Pseudonym, Shift)) and (file := disguise.key.file) is not None:
            document["attributes"][attribute.name]["key_file"] = named(disguise.key.base, file)
    if policy.shape is not None:
        document[policy.kind] = policy.shape.to_policy(named)
    return document


def _arranged(attribute: Any) -> Any:
    """A quasi-identifier without a hierarchy gets one by what its values look like."""
    if isinstance(attribute, Attribute) and attribute.role is Role.QUASI and attribute.hierarchy is None:
        return replace(attribute, hierarchy=Auto())
    return attribute


def _attribute_document(attribute: Attribute) -> dict[str, Any]:
    table: dict[str, Any] = {"role": attribute.role.value}
    if attribute.hierarchy is not None:
        table["hierarchy"] = attribute.hierarchy.to_policy()
    if attribute.disguise is not None:
        table.update(attribute.disguise.to_policy())
    if attribute.person is not None:
        table["by"] = attribute.person
    if attribute.values:
        table["values"] = [{"null": True} if value is None else value for value in attribute.values]
    return table
