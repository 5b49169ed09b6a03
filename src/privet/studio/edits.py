"""Small changes of a policy's document: what one click or one form decides.

Each takes the document as it stands and changes one thing in it; whether the whole is a policy already is
for `Policy` to say, never for a page.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from privet.core import Role
from privet.errors import InputError, one_of
from privet.studio.shape import Document
from privet.studio.typed import is_whole

FIELD_ROLES = ("identifier", "quasi", "sensitive", "other", "undecided")  # trees have no target
ITEMS = "items of the sets"  # which have one hierarchy, beside those of columns
ROLES = tuple(role.value for role in Role)
LEFT_OUT = "left-out"  # no role: the policy does not name the column, so it never leaves


def set_role(
    document: Document, name: str, role: str, hierarchy: Mapping[str, Any], known: Container[str] = ()
) -> None:
    """What a column is; a quasi-identifier without a hierarchy gets the drafted one.

    `known`: columns of the data, which may come back into a policy that does not name them.
    """
    columns = document.setdefault("attributes", {})
    if name not in columns and name not in known:
        raise InputError("the policy has no such column")
    if role == LEFT_OUT:
        columns.pop(name, None)
        return
    columns.setdefault(name, {})
    if role not in ROLES:
        raise InputError(one_of("role", ROLES, role))
    old = columns[name]
    said: dict[str, Any] = {"role": role}
    if role == Role.QUASI.value:
        said["hierarchy"] = old.get("hierarchy", dict(hierarchy))
    if role == Role.IDENTIFIER.value:
        said |= {key: value for key, value in old.items() if key in {"publish", "key_file", "key_env", "by"}}
    if role == Role.TARGET.value and "values" in old:
        said["values"] = old["values"]
    columns[name] = said


def set_field_role(document: Document, kind: str, name: str, role: str) -> None:
    """What a field of documents is: it stands in one of the lists of its type."""
    types = document.get("documents", {}).get("types", {})
    if role not in FIELD_ROLES:
        raise InputError(one_of("role", FIELD_ROLES, role))
    if kind not in types or not any(name in listed(types[kind].get(one)) for one in FIELD_ROLES):
        raise InputError("the policy has no such field")
    of_type = types[kind]
    for one in FIELD_ROLES:
        rest = [other for other in listed(of_type.get(one)) if other != name]
        if rest:
            of_type[one] = rest
        else:
            of_type.pop(one, None)
    of_type[role] = [*listed(of_type.get(role)), name]
    # One sensitive field is written as a list or as a word; a list says it for any number.


def listed(said: Any) -> list[str]:
    """The names of a list, or the one name that stands in its place."""
    return [said] if isinstance(said, str) else list(said or ())


def set_rows(document: Document, said: str) -> None:
    """Whose rows are: "persons", or the column that says it."""
    document.pop("rows", None)
    document.pop("person", None)
    if said == "persons":
        document["rows"] = said
    elif said.startswith("person:"):
        name = said.removeprefix("person:")
        if name not in document.get("attributes", {}):
            raise InputError("the policy has no such column")
        document["person"] = name
    elif said:
        raise InputError("rows: say whose they are")


def quasi(document: Document) -> dict[str, dict[str, Any]]:
    """The quasi-identifiers, columns or fields as `type.field`, with their hierarchies; the items of sets."""
    usual = {"type": "auto"}
    columns = {
        name: dict(said.get("hierarchy", usual))
        for name, said in document.get("attributes", {}).items()
        if said.get("role") == Role.QUASI.value
    }
    trees = document.get("documents", {})
    known = trees.get("attributes", {})
    fields = {
        f"{kind}.{name}": dict(known.get(f"{kind}.{name}", known.get(name, {})).get("hierarchy", usual))
        for kind, said in trees.get("types", {}).items()
        for name in listed(said.get(Role.QUASI.value))
    }
    sets = document.get("transactions")
    items = {} if sets is None else {ITEMS: dict(sets.get("hierarchy", {"type": "flat"}))}
    return {**columns, **fields, **items}


def set_ledger(document: Document, file: str, dataset: str) -> None:
    """What a release with noise is paid from."""
    document["ledger"] = {"file": file, "dataset": dataset}


def set_hierarchy(document: Document, name: str, spec: Mapping[str, Any]) -> None:
    """How the values of a quasi-identifier are generalised."""
    columns = document.get("attributes", {})
    if name == ITEMS and "transactions" in document:
        document["transactions"]["hierarchy"] = dict(spec)
        return
    if name not in columns and name in quasi(document):
        known = document["documents"].setdefault("attributes", {})
        short = name.partition(".")[2]
        place = short if short in known and name not in known else name
        known[place] = {**known.get(place, {}), "hierarchy": dict(spec)}
        return
    if name not in columns or columns[name].get("role") != Role.QUASI.value:
        raise InputError("only a quasi-identifier has a hierarchy")
    columns[name]["hierarchy"] = dict(spec)


def model_at(
    document: Mapping[str, Any], kind: str, at: str = ""
) -> tuple[int | None, dict[str, Any] | None]:
    """The promise that a form of this kind changes, and where it stands: the one it names, else the first."""
    models = document.get("models", [])
    same = [place for place, old in enumerate(models) if old.get("type") == kind]
    if not at:
        return (same[0], models[same[0]]) if same else (None, None)
    if not is_whole(at) or int(at) not in same:
        raise InputError("there is no such promise any more: look again")
    return int(at), models[int(at)]


def add_model(document: Document, model: Mapping[str, Any], at: str = "") -> None:
    """One promise more; the same kind of promise again takes the place of the one before."""
    place, _ = model_at(document, str(model["type"]), at)
    if place is None:
        document.setdefault("models", []).append(dict(model))
    else:
        document["models"][place] = dict(model)


def drop_model(document: Document, at: int, kind: str) -> None:
    """Take a promise back; refused where another stands in its place, as another tab may have made it."""
    models = document.get("models", [])
    if not 0 <= at < len(models) or models[at].get("type") != kind:
        raise InputError("there is no such promise any more: look again")
    del models[at]
    if not models:
        del document["models"]


def set_algorithm(document: Document, algorithm: Mapping[str, Any] | None) -> None:
    """What searches; None: what is usual for the promises."""
    document.pop("algorithm", None)
    if algorithm is not None:
        document["algorithm"] = dict(algorithm)


def set_paths(document: Document, said: Mapping[str, str]) -> None:
    """Where the paths are; what is left empty is not said."""
    _refuse_other(document, "trajectories")
    known: dict[str, Any] = {key: value for key, value in said.items() if value}
    for key in ("grid",):
        if key in known and is_whole(str(known[key])):
            known[key] = int(known[key])
    kept = {key: value for key, value in document.get("trajectories", {}).items() if key not in said}
    document["trajectories"] = {**known, **kept}


def set_values(document: Document, name: str, values: Sequence[str]) -> None:
    """All values that a column could have, where the data must not say it."""
    columns = document.get("attributes", {})
    if name not in columns:
        raise InputError("the policy has no such column")
    columns[name].pop("values", None)
    if values:
        columns[name]["values"] = list(dict.fromkeys(values))


def set_sets(document: Document, said: Mapping[str, str]) -> None:
    """Where the sets are; what is left empty is not said, and the items keep their hierarchy."""
    _refuse_other(document, "transactions")
    known: dict[str, Any] = {key: value for key, value in said.items() if value}
    if "hierarchy" in document.get("transactions", {}):
        known["hierarchy"] = document["transactions"]["hierarchy"]
    document["transactions"] = known
    columns = document.get("attributes", {})
    for name in [known[key] for key in ("set", "person", "item") if key in known]:
        columns.pop(name, None)  # the sets are read from it, so it has no role


def _refuse_other(document: Document, kind: str) -> None:
    if document.get("kind") != kind:
        raise InputError(f"the policy is not about {kind}: look again")


def set_purpose(document: Document, said: str) -> None:
    document["purpose"] = " ".join(said.split())
