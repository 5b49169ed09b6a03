"""What each party learns in a run, beyond the published table and its own rows, in plain words.

It is said before anybody signs, and again beside every figure of a rehearsal.
"""

from __future__ import annotations

from privet.parties.contract import Contract
from privet.parties.noisy import known
from privet.parties.primitives.replicated import COMPUTING
from privet.parties.words import OBJECTED, SAME_ROWS, Adding, Reveal, Split

GROUPS = (
    "how large each group of a split would be, all parties together, and how many in it have each protected "
    "value; also of splits that are refused because a group is too small"
)
EVERYBODY = (
    "which value is split next, and whether that keeps every promise",
    "which combinations of published values occur, as the published table shows",
    "how many records all parties have together, as the published table shows",
)


KNOWN_PERSONS = (
    "of every person that all parties know, the published values of the other parties' columns: parties know "
    "whose row it is, which a reader of the published table does not"
)
MATCHED_OF_TWO = "how many persons each party has, and which of one's own the other has too"
MATCHED = (
    "how many persons each party has, which of one's own each other party has too, not only which all have, "
    "and how many any of them have in common"
)
DIFFER = "; if they differ, that they do, and nothing is published"


THE_OTHERS = (
    "which rows of the published table are the other party's: of two, the table less one's own rows; the "
    "other's rows alone need not keep the promise"
)


EACH_ROW = (
    "every row is taken for another person: whoever has rows at several parties counts as several in every "
    "group, and no party can see it"
)


def assumed(contract: Contract) -> tuple[str, ...]:
    """What the promises rest on, and no protocol looks at."""
    return (EACH_ROW,) if contract.split is Split.PEOPLE and contract.noisy is None else ()


def learned(contract: Contract) -> dict[str, tuple[str, ...]]:
    """By party what it comes to know."""
    more = (SAME_ROWS,) if contract.keys else ()  # without keys it is rehearsed, and never run
    return {party: (*said, *more) for party, said in _learned(contract).items()}


def _learned(contract: Contract) -> dict[str, tuple[str, ...]]:
    if contract.noisy is not None:
        return known.learned(contract)
    if contract.split is Split.COLUMNS:
        said = [*EVERYBODY[:1], MATCHED_OF_TWO if len(contract.parties) == 2 else MATCHED, KNOWN_PERSONS]
        if contract.reveal is Reveal.SCORES:
            said.append("the best score that each other party can offer, in every round")
        if contract.sensitive_owner is None:
            said.append(
                f"of every person, the sensitive values and the target, which all parties have anyway{DIFFER}"
            )
        else:
            said.append(
                f"of every person, the target, which all parties have anyway{DIFFER}; no sensitive values"
            )
        return dict.fromkeys(contract.parties, tuple(said))
    if len(contract.parties) == 2:
        return dict.fromkeys(contract.parties, (*EVERYBODY, THE_OTHERS))
    found = {}
    for at, party in enumerate(contract.parties):
        said = [*EVERYBODY, OBJECTED]
        if contract.rows_at_most is None:
            said.append("how many rows each party hands in (rows_at_most would hide it)")
        if contract.reveal is Reveal.COUNTS and at == 0:
            said += [
                GROUPS,
                "how often each target value occurs below each value that could be split, all together",
            ]
        found[party] = tuple(said)
    return found


def coalitions(contract: Contract) -> tuple[str, ...]:
    """Who could learn more by putting their notes together."""
    if contract.noisy is not None:
        return (known.TOGETHER,)
    if contract.split is Split.COLUMNS:
        if contract.reveal is Reveal.SCORES or len(contract.parties) == 2:
            return ("nobody learns more together than the sum of what each knows",)
        three = ", ".join(contract.parties[:COMPUTING])
        return (f"any two of {three}: the best score of every party in every round",)
    if len(contract.parties) == 2:
        return ("there are only two, and neither learns more than is said above",)
    three = ", ".join(contract.parties[:COMPUTING])
    said = [f"any two of {three}: every row handed in, by party, since they hold all of its shares"]
    if contract.reveal is Reveal.DECISIONS:
        said.append(f"any two of {three}: every count of every party")
    elif contract.adding is Adding.RING:
        said.append("the two neighbours of a party on the ring: the counts of the party between them")
    else:
        said.append("all parties but one, the leader among them: the counts of that one")
    return tuple(said)
