"""A protected value that does not occur protects nobody: `Hiv` where the data says `HIV`.

A promise about it would hold whatever the data says, so it is refused, unless the policy expects it
(`absent = "allowed"`, for lists that are kept over years): then a remark stands in the evidence, on the
screen and in the report, and whoever verifies such a release is told. A message names what the policy says
and how many values occur, never which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from privet.core import PrivacyModel, Tally, Terms
from privet.domain import Value
from privet.equality import key, name
from privet.errors import AbsentError
from privet.readings import Absent

# The values that occur, by sensitive attribute; None where values stand for more than themselves (buckets).
Occurring: TypeAlias = Mapping[str, Sequence[Value] | None]

LOOK = "run with --show-values to see near ones"
NEAR = 3  # values that are named as near ones


def of_tally(tally: Tally) -> Occurring:
    """The sensitive values of a table."""
    return {column.name: column.domain.values for column in tally.sensitive}


def remarks(policy: Terms, occurring: Occurring, *, further: bool = False, look: str = LOOK) -> list[str]:
    """What readers should know of protected values that do not occur; raises unless the policy allows it.

    A `further` batch need not have all that the first had. `look`: how the steward sees what was meant.
    """
    found = list(_absent(policy, occurring))
    if not found:
        return []
    if further or policy.absent is Absent.ALLOWED:
        return [
            f"{model.name}: the protected value {_said(value)} of {attribute} does not occur in the data; "
            "the promise says nothing of any other spelling of it"
            for _, model, _, attribute, value in found
        ]
    complaints = []
    for at, _, place, attribute, value in found:
        many = len(occurring[attribute] or ())
        values = "1 value does" if many == 1 else f"{many} different values do"
        complaints.append(
            f"models[{at}]: {place}.{attribute}: {_said(value)} does not occur in the data, {values}; "
            f'{look}, or say absent = "allowed" in the policy'
        )
    raise AbsentError(*complaints)


def unseen(policy: Terms, occurring: Occurring) -> tuple[str, ...]:
    """The same of a release, by what it publishes; whoever has only that does not see why it is not there."""
    return tuple(
        f"{model.name}: the protected value {_said(value)} of {attribute} does not occur in what is "
        "published: nobody had it, whoever had it was left out, or it is spelt otherwise, and then nothing "
        "protects it"
        for _, model, _, attribute, value in _absent(policy, occurring)
    )


def near(policy: Terms, occurring: Occurring) -> dict[tuple[str, str], list[str]]:
    """By attribute and absent value, values of the data that were perhaps meant; for the steward."""
    found = {}
    for _, _, _, attribute, value in _absent(policy, occurring):
        if value is None:
            continue
        folded: dict[str, str] = {}
        for one in occurring[attribute] or ():
            if one is not None:
                folded.setdefault(name(one).casefold().strip(), one)
        meant = get_close_matches(name(value).casefold().strip(), list(folded), n=NEAR, cutoff=0.6)
        found[attribute, value] = [folded[one] for one in meant]
    return found


def _absent(policy: Terms, occurring: Occurring) -> Iterator[tuple[int, PrivacyModel, str, str, Value]]:
    """Each protected value that nobody has, behind its promise and the key that names it."""
    keys: dict[str, set[Value]] = {}
    for at, model in enumerate(policy.models):
        for place, attribute, value in model.guarded():
            values = occurring.get(attribute)
            if values is None:
                continue
            if attribute not in keys:
                keys[attribute] = set(map(key, values))
            if key(value) not in keys[attribute]:
                yield at, model, place, attribute, value


def _said(value: Value) -> str:
    return "a missing value" if value is None else repr(value)
