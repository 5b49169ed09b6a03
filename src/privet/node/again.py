"""May a contract be run with these rows, after what was run before?

Two tables of the same persons can be put together, and of two runs of one contract with a row less in between
one can be taken from the other. Whoever has seen a table has it, so what counts is what was seen, not what
was signed; and every decision of a search tells of the rows, so a run counts from its first message on. A
steward may do it all the same (`--again`).

What a party sees that lies about its mark, and is willing to be found out: a table of a run that it breaks
off before we have the result, one of a run that ends, and one that is another, whereupon nobody starts again:
three, with other rows of its own in each. Runs that broke off and results could be counted together, and it
would see two. But then stewards whose line broke in one search and in the signing of the next could go on
with `--again` only, which asks nothing: neither for the same marks nor for the same result, as the run that
is refused to them would be asked. Two accidents are more frequent than such a liar, and `--again` shows it
more than one table. So they are counted apart. Of a virtual database it sees two searches: the boxes fall by
chance and are no result to be held to, but what is cut where, and how many rows lie there, counts the others'
around whatever rows it has put in; and one that was made is not made again.

Noise is paid for instead, in a ledger, by each party for its own rows and before anything is drawn from them:
whoever stops such a run half-way, or repeats it with other rows, has had what was paid for, and the budget
ends it. Across people nothing of a row is told before. Across columns two things are, which no noise covers:
who is there, and whether both have the same classes. One class changed in each run, and the run stopped
before it is paid, would tell them all. So a noisy run counts like any other from there until it is paid.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.errors import InputError
from privet.node.notes import Noted
from privet.parties.agreements import Signed
from privet.parties.contract import Contract
from privet.parties.rows import OTHERS
from privet.parties.virtual.contract import DatabaseContract

FORGIVEN = 1  # runs that broke off between their first message and the result: one may be an accident
OTHER_RESULT = (
    "the same rows made another result when this contract was run before: a party has put in others than it "
    "says; nothing is published"
)
TWO_RESULTS = (
    "the same rows made two results under this contract: a party has put in others than it says, and has "
    "seen both; --again runs it all the same"
)
BROKEN_OFF = (
    "this contract was broken off more than once when its search had begun: another party may have seen "
    "what this node has not, each time with other rows; --again runs it all the same"
)


def seen(contract: Signed, over: Sequence[Noted]) -> list[Noted]:
    """Runs of this contract of which anybody has seen what nobody has paid for, of those that are over."""
    found = [one for one in over if one.contract == contract.digest.hex() and one.seen]
    if isinstance(contract, Contract) and contract.noisy:
        return [one for one in found if one.opened and not one.paid]
    return found


def refuse_second(contract: Signed, over: Sequence[Noted], me: str, known: str, told: str) -> None:
    """Refuse rows that must not go in once more; `known`, `told`: their marks, for us and for others."""
    before = seen(contract, over)
    if any(one.marks.get(me, told) != told for one in before):
        raise InputError(f"{me}: {OTHERS}")
    if sum(not one.result and not one.release for one in before) > FORGIVEN:
        raise InputError(BROKEN_OFF)
    if len({one.result for one in before if one.result}) > 1:
        raise InputError(TWO_RESULTS)
    if isinstance(contract, Contract) and contract.noisy:
        return
    made = [one for one in over if one.seen and one.rows == known]
    if isinstance(contract, DatabaseContract) and any(one.left for one in made):
        raise InputError(
            "a virtual database of these rows was made already: in another one the same rows lie in "
            "other groups and are united again, and who sees both concludes more than from either; "
            "--again does it all the same"
        )
    if others := [one for one in made if one.contract != contract.digest.hex()]:
        how = "published" if others[0].left else "opened among the parties"
        raise InputError(
            f"these rows were {how} under another contract already ({others[0].contract[:16]}): who "
            "has both results can put them together, and no promise of either covers that; --again does "
            "it all the same"
        )
