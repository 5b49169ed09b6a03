"""Is it a policy? What is wrong in a place, and what is right in each place and wrong together.

One answer for a policy that is read from a file and for one that is made in Python: every complaint, with its
place and its fix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from privet.core import Attribute, Form, Nulls, Purse, Role, Terms
from privet.declared import TABLE, AlgorithmFacts, ModelFacts, Order, missing
from privet.disguise import Shift
from privet.engine import unwritable
from privet.errors import PolicyError, one_of
from privet.policy.notation import Complaints, fill, ill_typed, noted, written
from privet.readings import Absent, Formulas, Rows
from privet.registry import installed, known
from privet.spreadsheets import like_formula

NO_COLUMN = "attributes: names every column that is published, each with its role"
NO_PROMISE = 'models: at least one promise, for example [[models]] type = "k-anonymity" k = 5'
ALSO_PERTURBED = (Role.QUASI, Role.SENSITIVE, Role.TARGET)  # columns that an algorithm may change
ROWS_THAT_LEAVE = 'is a table of a column and its values, for example { in_study = ["yes"] }'


def check(terms: Terms) -> None:
    """Raise every complaint about what should be a policy."""
    complaints = Complaints()
    complaints.add(*formed(terms))
    complaints.raise_all()  # what is not even of its kind cannot be asked anything
    terms.declared()
    complaints.add(*together(terms), *undecided(terms))
    complaints.raise_all()


def formed(terms: Terms) -> Iterator[str]:
    """What is not of the kind that its place needs; TOML has no way to say some of it, Python has."""
    if terms.kind != TABLE and not known("shapes", terms.kind):
        yield other_kind(terms.kind)
    elif terms.kind != TABLE and terms.shape is None:
        yield f"{terms.kind}: what these data look like is not described; it needs a shape"
    elif terms.kind == TABLE and terms.shape is not None:
        yield "kind: a table has no shape; leave it out, or say the kind that it describes"
    if not terms.attributes and not (terms.shape is not None and terms.shape.bare):
        yield NO_COLUMN
    attributes: tuple[Any, ...] = terms.attributes
    for at, attribute in enumerate(attributes):
        if not isinstance(attribute, Attribute):
            yield f'attributes[{at}]: is an attribute such as Attribute("age", "quasi")'
        else:
            yield from (f"attributes.{attribute.name}: {wrong}" for wrong in ill_typed(attribute))
    names = Counter(a.name for a in attributes if isinstance(a, Attribute))
    yield from (f"attributes.{name}: named {times} times" for name, times in names.items() if times > 1)
    if not terms.models:
        yield NO_PROMISE
    for at, model in enumerate(terms.models):
        if isinstance(model, type):
            yield f"models[{at}]: is a promise such as KAnonymity(k=5), not a class of them"
        elif lacks := missing(model, ModelFacts):
            yield f"models[{at}]: is a promise such as KAnonymity(k=5); there is no {' and no '.join(lacks)}"
        else:
            yield from (f"models[{at}]: {wrong}" for wrong in ill_typed(model))
    if isinstance(terms.algorithm, type):
        yield "algorithm: is an algorithm such as TopDown(), not a class of them"
    elif lacks := missing(terms.algorithm, AlgorithmFacts):
        yield f"algorithm: is an algorithm such as TopDown(); there is no {' and no '.join(lacks)}"
    elif not missing(terms.algorithm, ModelFacts) or hasattr(terms.algorithm, "to_policy"):
        yield "algorithm: is an algorithm such as TopDown(), not a promise, a hierarchy or a disguise"
    else:
        yield from (f"algorithm: {wrong}" for wrong in ill_typed(terms.algorithm))
    if not isinstance(terms.purpose, str):
        yield "purpose: is a text"
    if not isinstance(terms.nulls, Nulls):
        yield f"nulls: {one_of('it', [nulls.value for nulls in Nulls], terms.nulls)}"
    if not isinstance(terms.order, Order):
        yield f"order: {one_of('it', [order.value for order in Order], terms.order)}"
    if not isinstance(terms.rows, Rows):
        yield f"rows: {one_of('it', [Rows.PERSONS.value], terms.rows)}"
    if terms.person is not None and not isinstance(terms.person, str):
        yield 'person: is the column that says whose a row is, for example "patient_id"'
    if not isinstance(terms.across, bool):
        yield "across: is true or false"
    if not isinstance(terms.absent, Absent):
        yield f"absent: {one_of('it', [absent.value for absent in Absent], terms.absent)}"
    if not isinstance(terms.formulas, Formulas):
        yield f"formulas: {one_of('it', [one.value for one in Formulas], terms.formulas)}"
    if not isinstance(terms.form, Form):
        yield 'form: is a form such as Form(delimiter=";")'
    else:
        try:
            said = {f.name: noted(getattr(terms.form, f.name)) for f in written(Form)}
            fill(Form, {name: value for name, value in said.items() if value is not None})
            yield from (f"form: {complaint}" for complaint in unwritable(terms.form))
        except PolicyError as error:
            yield from (f"form: {complaint}" for complaint in error.complaints)
    yield from (f"publish_only: {wrong}" for wrong in rows_that_leave(terms.publish_only))
    if terms.ledger is not None and not isinstance(terms.ledger, Purse):
        yield 'ledger: is a file and a data set, such as Purse("ledger.sqlite", "admissions")'


def other_kind(kind: object) -> str:
    """The complaint about a kind of data that nobody knows."""
    return f"kind: {one_of('kind', [TABLE, *installed('shapes')], kind)}"


def rows_that_leave(only: object) -> list[str]:
    """What is wrong with a column and its values that say which rows leave."""
    if not isinstance(only, Mapping):
        return [ROWS_THAT_LEAVE]
    if len(only) > 1:
        return ["names one column that says which rows leave"]
    return [
        f'{name} is a list of texts, for example ["yes"]'
        for name, values in only.items()
        if not isinstance(values, tuple) or not values or not all(isinstance(v, str) for v in values)
    ]


def unfit(attribute: Attribute) -> list[str]:
    """What is said of one column and does not go with its role."""
    found, role = [], attribute.role
    if attribute.hierarchy is not None and role not in {Role.QUASI, Role.UNDECIDED}:
        found.append(f"hierarchy: only a quasi-identifier is generalised, the role here is {role.value}")
    if attribute.disguise is not None and role is not Role.IDENTIFIER:
        found.append(f"publish: only an identifier is disguised, the role here is {role.value}")
    if attribute.person is not None and not isinstance(attribute.disguise, Shift):
        found.append('by: only publish = "shift" asks whose dates they are')
    if attribute.values and role not in {Role.TARGET, Role.UNDECIDED}:
        found.append(f"values: only a target lists its values, the role here is {role.value}")
    if attribute.values and len(set(attribute.values)) < max(2, len(attribute.values)):
        found.append("values: at least two values, all different")
    return found


def undecided(terms: Terms) -> list[str]:
    """A complaint for each column or field that nobody has decided about."""
    if terms.shape is not None and terms.shape.describes_fields:
        found: list[str] = terms.shape.undecided
        return found
    roles = ", ".join(role.value for role in Role if role is not Role.UNDECIDED)
    return [
        f"attributes.{attribute.name}: the role is still undecided; it is one of {roles}"
        for attribute in terms.attributes
        if attribute.role is Role.UNDECIDED
    ]


def together(policy: Terms) -> list[str]:
    """What is right in each place and wrong together. An algorithm that could not be read is None."""
    complaints = Complaints()
    attributes, models = policy.attributes, policy.models
    _same_kind(policy, complaints)
    complaints.add(*_formulas(policy))
    if policy.shape is not None:
        complaints.add(*policy.shape.complaints(policy))
        if policy.shape.describes_fields and attributes != policy.shape.attributes:
            complaints.add(f"attributes: fields are described in [{policy.kind}]; leave them out here")
    if not attributes:
        return [*complaints]
    roles = {attribute.name: attribute.role for attribute in attributes}
    if policy.kind == TABLE and not {Role.QUASI, Role.UNDECIDED} & set(roles.values()):
        complaints.add('attributes: no quasi-identifier; give at least one the role "quasi"')
    targets = [name for name, role in roles.items() if role is Role.TARGET]
    if len(targets) > 1:
        complaints.add(f"attributes: one target at most, not {', '.join(targets)}")
    for attribute in attributes:
        if policy.shape is None or not policy.shape.describes_fields:
            complaints.add(*(f"attributes.{attribute.name}: {wrong}" for wrong in unfit(attribute)))
        if attribute.person is not None and attribute.person not in roles:
            complaints.add(f"attributes.{attribute.name}: by: no attribute {attribute.person!r}")
    _population(policy, complaints)
    complaints.add(*_persons(policy))
    _public(policy, complaints)
    for at, model in enumerate(models):
        for place, name in model.protects():
            if roles.get(name, Role.SENSITIVE) is Role.UNDECIDED:
                continue
            if roles.get(name) is not Role.SENSITIVE:
                complaints.add(
                    f'models[{at}]: {place}.{name}: no attribute with that name and role "sensitive"'
                )
        for name in model.known() or ():
            if roles.get(name) not in {Role.QUASI, Role.UNDECIDED}:
                complaints.add(f'models[{at}]: quasi: no attribute {name!r} with role "quasi"')
    return [*complaints]


def _population(policy: Terms, complaints: Complaints) -> None:
    """A population and the rows of it that leave: what a policy says of them in three places agrees."""
    only, roles = policy.publish_only, {a.name: a.role for a in policy.attributes}
    for name in only:
        if roles.get(name) not in {Role.SENSITIVE, Role.UNDECIDED}:
            complaints.add(f'publish_only: {name}: no attribute with that name and role "sensitive"')
    algorithm: Any = policy.algorithm
    if only and algorithm is not None and (policy.kind != TABLE or algorithm.road is not None):
        complaints.add(f"publish_only: {algorithm.name} publishes every row; use another algorithm")
    for at, model in enumerate(policy.models):
        for _, name in model.protects():
            if name in only:
                complaints.add(f"models[{at}]: sensitive: {name} says which rows leave, and does not leave")
        if not model.population:
            continue
        said = model.leaving()
        if {name: set(values) for name, values in said.items()} != {n: set(v) for n, v in only.items()}:
            complaints.add(
                f"models[{at}]: {model.name} is about the rows that leave: its subset and values are those "
                'of publish_only, for example publish_only = { in_study = ["yes"] }'
            )


def _formulas(policy: Terms) -> Iterator[str]:
    """Values that leave with an apostrophe before them are others than a promise names."""
    if policy.formulas is not Formulas.ESCAPED:
        return
    if policy.kind != TABLE:
        yield f'formulas: "escaped" is for tables; {policy.kind} are read again from what is written'
    for attribute in policy.attributes:
        if attribute.published and like_formula(attribute.name):
            yield (
                f"attributes.{attribute.name}: the name begins like a formula, and no apostrophe can stand "
                'before the name of a column; rename it in the data, or use formulas = "cautioned"'
            )
    for at, model in enumerate(policy.models):
        if any(like_formula(value) for _, _, value in model.guarded()):
            yield (
                f"models[{at}]: {model.name}: a protected value begins like a formula, and would leave in "
                'another spelling; use formulas = "cautioned"'
            )


def _persons(policy: Terms) -> Iterator[str]:
    """Persons who have several rows: who says so, and who can count them."""
    column = policy.person
    if column is None:
        if policy.across:
            yield 'across: knowing several rows of a person needs person = "…", the column that says whose'
        return
    if policy.rows is Rows.PERSONS:
        yield 'rows: either rows = "persons", or person = "…", not both'
    if policy.kind != TABLE:
        yield f"person: {policy.kind} have a person for each record already; leave it out"
        return
    attribute = next((a for a in policy.attributes if a.name == column), None)
    if attribute is None or attribute.role not in {Role.IDENTIFIER, Role.UNDECIDED}:
        yield f'person: no attribute {column!r} with role "identifier"'
    elif attribute.disguise is not None:
        yield (
            f"person: {column!r} is published in disguise, so anybody could put the rows of a person "
            "together; drop it"
        )
    if policy.nulls is Nulls.WILDCARD:
        yield 'person: nulls = "wildcard" puts a record in several groups; use nulls = "value"'
    algorithm: Any = policy.algorithm
    if algorithm is not None and not algorithm.persons:
        why = algorithm.why_records or "it counts records, not persons; use top-down or optimal"
        yield f"person: {algorithm.name}: {why}"
    elif algorithm is not None and policy.across and not algorithm.across:
        yield (
            f"across: {algorithm.name} looks at one row of a person at a time; use top-down or optimal, or "
            "leave across out"
        )
    for at, model in enumerate(policy.models):
        if not model.persons:
            why = model.why_records or "it counts records, not persons; with person, use another promise"
            yield f"models[{at}]: {model.name}: {why}"
        elif policy.across and model.name != "lkc-privacy":
            yield f"models[{at}]: {model.name} bounds no number of known values; with across, use lkc-privacy"


def _public(policy: Terms, complaints: Complaints) -> None:
    """What an algorithm asks of a policy besides; and what only one that spends can use."""
    algorithm: Any = policy.algorithm
    if algorithm is None:
        return
    complaints.add(*algorithm.complaints(policy), *_unnamed(policy))
    if algorithm.public_domains:
        return
    if policy.ledger is not None:
        complaints.add(f"ledger: {algorithm.name} spends no budget; remove it, or choose diffgen")
    for attribute in policy.attributes:
        if attribute.values:
            complaints.add(f"attributes.{attribute.name}: values: {algorithm.name} reads them off the data")
        if attribute.hierarchy is not None and attribute.hierarchy.public_only:
            complaints.add(
                f"attributes.{attribute.name}: hierarchy: {algorithm.name} has no use for sets, units or "
                "null = true; diffgen has"
            )


def _unnamed(policy: Terms) -> Iterator[str]:
    """Columns that an algorithm's settings name, and no attribute."""
    settings: Mapping[str, Collection[str]] = policy.algorithm.named()
    for setting, names in settings.items():
        possible = ALSO_PERTURBED if setting == "columns" else (Role.QUASI,)
        known = {a.name for a in policy.with_role(*possible, Role.UNDECIDED)}
        roles = " or ".join(f'"{role.value}"' for role in possible)
        for name in names:
            if name not in known:
                yield f"algorithm: {setting}.{name}: no attribute with that name and role {roles}"


def _same_kind(policy: Terms, complaints: Complaints) -> None:
    """Promises and searches serve some kinds of data, tables unless they say so; and a promise that is
    spent, not checked, needs a search that spends.
    """
    algorithm: Any = policy.algorithm
    for place, thing in (
        *((f"models[{at}]", model) for at, model in enumerate(policy.models)),
        ("algorithm", algorithm),
    ):
        if thing is not None and policy.kind not in thing.kinds:
            complaints.add(
                f"{place}: {thing.name} is for {' and '.join(thing.kinds)}, this policy for {policy.kind}"
            )
    if algorithm is None:
        return
    spends = algorithm.spends
    for at, model in enumerate(policy.models):
        if model.spent and model.name != spends:
            complaints.add(
                f"models[{at}]: {model.name} is kept by how a release is made, and {algorithm.name} does not"
            )
    if spends is not None and policy.models and spends not in {model.name for model in policy.models}:
        complaints.add(f'algorithm: {algorithm.name} keeps the promise [[models]] type = "{spends}"; add it')
