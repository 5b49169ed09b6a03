"""Protected values that nobody has: what was perhaps meant, on the steward's own terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privet.cli import screen

if TYPE_CHECKING:
    from privet.policy.values import Policy


def near(data: str, policy: Policy, engine: Any) -> list[str]:
    """Values that were perhaps meant by those that the policy protects and nobody has."""
    from privet.core import Role
    from privet.roads import absent
    from privet.roads.stations import settle

    if policy.kind == "documents":
        from privet.roads.documents.data import collected
        from privet.roads.documents.raw_anatomy import of_forest

        known = of_forest(collected(data, policy, engine).forest)
    else:
        names = [attribute.name for attribute in policy.with_role(Role.SENSITIVE)]
        frame = engine.read(data, settle(data, policy.form), names)
        known = {name: engine.distinct(frame, name) for name in names}
    lines = []
    for (attribute, value), meant in absent.near(policy, known).items():
        said = ", ".join(map(screen.shown, meant)) or "nothing is near"
        lines.append(f"{screen.shown(attribute)}: {screen.shown(value)}: {said}")
    return lines
