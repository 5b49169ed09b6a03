"""A draft of a contract: what a policy says already, and places for what only people can agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from privet.hierarchy import Tree
from privet.parties.words import Reveal, Split
from privet.policy.values import Policy

COLUMNS = """\
person = "id"                # the column by which rows are matched; it is not published

[owners]                     # who has which quasi-identifiers; the target is known to all
"""


def proposed(policy: Policy, parties: Sequence[str], keys: Mapping[str, str], split: Split) -> str:
    """The text of a contract; whatever is still to be said stands there as a remark."""
    lines = [
        "contract = 1",
        tomli_w.dumps({"purpose": policy.purpose}).strip(),
        f'split = "{split.value}"',
        tomli_w.dumps({"parties": list(parties)}).replace("\n", " ").strip().replace("[     ", "["),
        f'reveal = "{Reveal.DECISIONS.value}"         # `privet joint show` says what each party would learn',
    ]
    spends = policy.algorithm.spends is not None
    if split is Split.PEOPLE and spends:
        lines.append(
            "rows_at_most = 10000         # of each party; circuits are as wide, nobody learns how many"
        )
    elif split is Split.PEOPLE:
        lines.append("# rows_at_most = 10000       # hides how many rows each party has")
    else:
        lines += [COLUMNS.rstrip(), *(f"{party} = []" for party in parties)]
    if keys:
        lines += ["", tomli_w.dumps({"keys": dict(keys)}).strip()]
    for attribute in policy.attributes:
        if spends or not attribute.published or isinstance(attribute.hierarchy, Tree):
            continue
        lines += [
            "",
            tomli_w.dumps({"public": {attribute.name: {}}}).strip().splitlines()[-1],
            '# all that could occur, said by nobody\'s data: range = [0, 120] or values = ["a", "b"]',
        ]
    return "\n".join([*lines, "", tomli_w.dumps({"policy": _without_none(policy.to_document())}).strip(), ""])


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, (list, tuple)) else value
