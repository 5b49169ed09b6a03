"""The parts of a policy, read from a document: what stands in each place, and every complaint about it.

What is wrong only together with something else is said by `consistency`, for a policy that was read and for
one that was made in Python alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privet import core, disguise, equality, hierarchy
from privet.core import Attribute, Form, Nulls, Purse, Role
from privet.declared import TABLE, ModelFacts, Order, missing
from privet.domain import Value
from privet.errors import PolicyError
from privet.policy.consistency import (
    NO_COLUMN,
    NO_PROMISE,
    ROWS_THAT_LEAVE,
    other_kind,
    rows_that_leave,
    unfit,
)
from privet.policy.notation import Complaints, build, fill, word
from privet.readings import Absent, Formulas, Rows
from privet.registry import find, known

VERSION = 1
WITH_TREE = ("t-closeness", "personalised-privacy")  # promises with a tree over sensitive values
TOP = (
    "policy",
    "kind",
    "person",
    "rows",
    "across",
    "purpose",
    "nulls",
    "order",
    "absent",
    "formulas",
    "attributes",
    "models",
    "algorithm",
    "form",
    "publish_only",
    "ledger",
)


def read(document: Mapping[str, Any], base: Path, complaints: Complaints) -> dict[str, Any]:
    """What a document says, by the fields of a policy; what could not be read is left out or empty."""
    kind = document.get("kind", TABLE)
    if document.get("policy") != VERSION:
        complaints.add(f"the first line must be `policy = {VERSION}`")
    if kind != TABLE and not known("shapes", kind):
        complaints.add(other_kind(kind))
        kind = TABLE
    if kind != TABLE:
        document = find("shapes", kind).unfolded(document, complaints)
    complaints.unknown(document, TOP if kind == TABLE else (*TOP, kind))
    said: dict[str, Any] = {"purpose": str(document.get("purpose", "")), "kind": kind}
    if kind != TABLE:
        with complaints.at(kind):
            said["shape"] = find("shapes", kind).from_policy(document.get(kind, {}), base=base)
    for key, reader, usual in (
        ("nulls", lambda given: word(Nulls, given), "value"),
        ("order", lambda given: word(Order, given), "canonical"),
        ("absent", lambda given: word(Absent, given), "refused"),
        ("formulas", lambda given: word(Formulas, given), "cautioned"),
        ("person", _person, None),
        ("rows", lambda given: word(Rows, given), "unsaid"),
        ("across", _across, False),
        ("form", _form, {}),
        ("publish_only", _publish_only, {}),
        ("ledger", lambda given: _purse(given, base), None),
    ):
        with complaints.at(key):
            said[key] = reader(document.get(key, usual))
    if kind != TABLE and find("shapes", kind).describes_fields:
        said["attributes"] = said["shape"].attributes if "shape" in said else ()
        if "attributes" in document:
            complaints.add(f"attributes: fields are described in [{kind}]; remove it here")
    elif kind != TABLE and find("shapes", kind).bare and not document.get("attributes", {}):
        said["attributes"] = ()
    else:
        said["attributes"] = _attributes(document.get("attributes"), complaints, base)
    said["models"] = _models(document.get("models"), complaints, base)
    said["algorithm"] = None
    with complaints.at("algorithm"):
        said["algorithm"] = (
            build("algorithms", document["algorithm"])
            if "algorithm" in document
            else usual_algorithm(kind, said["models"])
        )
    return said


def usual_algorithm(kind: str, models: Sequence[Any]) -> Any:
    """What searches unless a policy says otherwise: top-down, where generalising keeps what is promised."""
    if kind != TABLE:
        return build("algorithms", find("shapes", kind).algorithm)
    prunes = all(missing(model, ModelFacts) or model.monotone for model in models)
    return build("algorithms", {"type": "top-down" if prunes else "optimal"})


def _form(table: object) -> Form:
    if not isinstance(table, Mapping):
        raise PolicyError("is a table, for example { delimiter = ';', nulls = ['', 'NA'] }")
    form: Form = fill(Form, table)
    return form


def _person(given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise PolicyError('is the column that says whose a row is, for example "patient_id"')
    return None if given is None else equality.name(given)


def _across(given: object) -> bool:
    if not isinstance(given, bool):
        raise PolicyError("is true or false")
    return given


def _purse(table: object, base: Path) -> Purse | None:
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise PolicyError('is a table, for example { file = "ledger.sqlite", dataset = "admissions" }')
    said: Purse = fill(Purse, table)
    if said.file.startswith(("postgresql://", "postgres://")):
        return said
    return Purse(str(base / said.file), said.dataset)


def _publish_only(table: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(table, Mapping):
        raise PolicyError(ROWS_THAT_LEAVE)
    lists = {name: tuple(given) if isinstance(given, list) else given for name, given in table.items()}
    if wrong := rows_that_leave(lists):
        raise PolicyError(*wrong)
    return {name: tuple(dict.fromkeys(values)) for name, values in lists.items()}


def _attributes(table: object, complaints: Complaints, base: Path) -> tuple[Attribute, ...]:
    if not isinstance(table, Mapping) or not table:
        complaints.add(NO_COLUMN)
        return ()
    found = []
    for name, spec in table.items():
        with complaints.at(f"attributes.{name}"):
            found.append(_attribute(name, spec, base))
    return tuple(found)


def _attribute(name: str, spec: object, base: Path) -> Attribute:
    if isinstance(spec, str):
        spec = {"role": spec}
    if not isinstance(spec, Mapping) or "role" not in spec:
        raise PolicyError('needs a role, for example { role = "quasi" }')
    complaints = Complaints()
    role = Role.UNDECIDED
    with complaints.at("role"):
        role = word(Role, spec["role"], what="it")
    arranged = masked = None
    if "hierarchy" in spec:
        with complaints.at("hierarchy"):
            arranged = hierarchy.parse(spec["hierarchy"], base=base)
        # A draft gives each column a hierarchy; what is dropped has no use for it, and nobody is misled.
        if role is Role.IDENTIFIER:
            arranged = None
    if "publish" in spec:
        try:
            masked = disguise.parse({key: v for key, v in spec.items() if key != "hierarchy"}, base=base)
        except PolicyError as error:
            complaints.add(*error.complaints)
    else:
        complaints.unknown(spec, ("role", "hierarchy", "publish", "values"))
    values: tuple[Value, ...] = ()
    if "values" in spec:
        with complaints.at("values"):
            values = _values(spec["values"])
    made = Attribute(name, role, arranged, masked, spec.get("by"), values)
    complaints.raise_all(also=unfit(made))
    return made


def _values(given: object) -> tuple[Value, ...]:
    """A missing value is { null = true }, as everywhere in a policy."""
    if not isinstance(given, list) or not all(isinstance(v, str | int) or v == {"null": True} for v in given):
        raise PolicyError(
            'is a list of all that could stand there, for example ["yes", "no"] or ["yes", { null = true }]'
        )
    texts = ({True: "true", False: "false"}[v] if isinstance(v, bool) else v for v in given)
    return tuple(None if isinstance(v, Mapping) else str(v) for v in texts)


def _models(tables: object, complaints: Complaints, base: Path) -> tuple[core.PrivacyModel, ...]:
    if not isinstance(tables, list) or not tables:
        complaints.add(NO_PROMISE)
        return ()
    found = []
    for at, table in enumerate(tables):
        with complaints.at(f"models[{at}]"):
            found.append(build("models", _with_tree(table, base)))
    return tuple(found)


def _with_tree(table: object, base: Path) -> object:
    """A promise whose tree stands in a file, with the tree itself: read as any other tree is."""
    if not isinstance(table, Mapping) or "path" not in table or table.get("type") not in WITH_TREE:
        return table
    given = {key: table[key] for key in ("tree", "path") if key in table}
    found = hierarchy.parse({"type": "tree", **given}, base=base).to_policy()
    return {**{key: value for key, value in table.items() if key != "path"}, "tree": found["tree"]}
