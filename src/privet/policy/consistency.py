"""What is right in each place of a policy and wrong together: every complaint, with its place and its fix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from privet.core import PrivacyModel, Role
from privet.policy.notation import Complaints

if TYPE_CHECKING:
    from privet.policy.values import Policy

TABLE = "table"  # the kind of data that a policy is about unless it says otherwise


def cross_check(policy: Policy, complaints: Complaints) -> None:
    """What is right in each place and wrong together."""
    attributes, models = policy.attributes, policy.models
    _same_kind(policy, complaints)
    if policy.shape is not None:
        complaints.add(*policy.shape.complaints(policy))
    if not attributes:
        return
    roles = {attribute.name: attribute.role for attribute in attributes}
    undecided = Role.UNDECIDED in roles.values()
    if policy.kind == TABLE and not undecided and Role.QUASI not in roles.values():
        complaints.add('attributes: no quasi-identifier; give at least one the role "quasi"')
    targets = [name for name, role in roles.items() if role is Role.TARGET]
    if len(targets) > 1:
        complaints.add(f"attributes: one target at most, not {', '.join(targets)}")
    for attribute in attributes:
        if attribute.person is not None and attribute.person not in roles:
            complaints.add(f"attributes.{attribute.name}: by: no attribute {attribute.person!r}")
    _population(policy, complaints)
    _public(policy, complaints)
    for at, model in enumerate(models):
        for place, name in _sensitive_named(model):
            if roles.get(name, Role.SENSITIVE) is Role.UNDECIDED:
                continue
            if roles.get(name) is not Role.SENSITIVE:
                complaints.add(
                    f'models[{at}]: {place}.{name}: no attribute with that name and role "sensitive"'
                )
        for name in getattr(model, "quasi", None) or ():
            if roles.get(name) not in {Role.QUASI, Role.UNDECIDED}:
                complaints.add(f'models[{at}]: quasi: no attribute {name!r} with role "quasi"')


def _population(policy: Policy, complaints: Complaints) -> None:
    """A population and the rows of it that leave: what a policy says of them in three places agrees."""
    only, roles = policy.publish_only, {a.name: a.role for a in policy.attributes}
    for name in only:
        if roles.get(name) not in {Role.SENSITIVE, Role.UNDECIDED}:
            complaints.add(f'publish_only: {name}: no attribute with that name and role "sensitive"')
    algorithm: Any = policy.algorithm
    road = getattr(algorithm, "road", None)
    if only and algorithm is not None and (policy.kind != TABLE or road is not None):
        complaints.add(f"publish_only: {algorithm.name} publishes every row; use another algorithm")
    for at, model in enumerate(policy.models):
        for _, name in _sensitive_named(model):
            if name in only:
                complaints.add(f"models[{at}]: sensitive: {name} says which rows leave, and does not leave")
        if not getattr(model, "population", False):
            continue
        said = {getattr(model, "subset", ""): getattr(model, "values", ())}
        if {name: set(values) for name, values in said.items()} != {n: set(v) for n, v in only.items()}:
            complaints.add(
                f"models[{at}]: {model.name} is about the rows that leave: its subset and values are those "
                'of publish_only, for example publish_only = { in_study = ["yes"] }'
            )


def _public(policy: Policy, complaints: Complaints) -> None:
    """What an algorithm asks of a policy besides; and what only one that spends can use."""
    algorithm: Any = policy.algorithm
    asks = getattr(algorithm, "complaints", None)
    if asks is not None:
        complaints.add(*asks(policy))
    if algorithm is None or getattr(algorithm, "domains", None) == "public":
        return
    if policy.ledger is not None:
        complaints.add(f"ledger: {algorithm.name} spends no budget; remove it, or choose diffgen")
    for attribute in policy.attributes:
        if attribute.values:
            complaints.add(f"attributes.{attribute.name}: values: {algorithm.name} reads them off the data")
        if getattr(attribute.hierarchy, "public_only", False):
            complaints.add(
                f"attributes.{attribute.name}: hierarchy: {algorithm.name} has no use for sets, units or "
                "null = true; diffgen has"
            )


def _same_kind(policy: Policy, complaints: Complaints) -> None:
    """Promises and searches serve some kinds of data, tables unless they say so; and a promise that is
    spent, not checked, needs a search that spends.
    """
    algorithm: Any = policy.algorithm
    for place, thing in (
        *((f"models[{at}]", model) for at, model in enumerate(policy.models)),
        ("algorithm", algorithm),
    ):
        kinds = getattr(thing, "kinds", (TABLE,))
        if thing is not None and policy.kind not in kinds:
            complaints.add(
                f"{place}: {thing.name} is for {' and '.join(kinds)}, this policy for {policy.kind}"
            )
    spends = getattr(algorithm, "spends", None)
    for at, model in enumerate(policy.models):
        if algorithm is not None and getattr(model, "spent", False) and model.name != spends:
            complaints.add(
                f"models[{at}]: {model.name} is kept by how a release is made, and {algorithm.name} does not"
            )
    if spends is not None and policy.models and spends not in {model.name for model in policy.models}:
        complaints.add(f'algorithm: {algorithm.name} keeps the promise [[models]] type = "{spends}"; add it')


def _sensitive_named(model: PrivacyModel) -> Iterator[tuple[str, str]]:
    """The attributes that a promise speaks of, each with the key that names it."""
    if hasattr(model, "bounds"):
        yield from (("sensitive", template.attribute) for template in model.bounds)
    else:
        yield from (("sensitive", name) for name in getattr(model, "sensitive", ()))
    if isinstance(guard := getattr(model, "guard", None), str):
        yield "guard", guard
