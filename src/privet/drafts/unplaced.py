"""What neither its name nor its values explain: in doubt an identifier, where it might tell one from another.

Many texts, register numbers, numbers that a list hands out. What is left is a few values or a measurement,
and names nobody by itself.
"""

from __future__ import annotations

from privet.core import Role
from privet.drafts import assigned, lexicon, likely, recognisers
from privet.drafts.column import FEW_RECORDS, MANY_TEXTS, Seen
from privet.drafts.found import Found, Ground

SURE_CODE = 5  # digits of a code beside letters that nobody takes for a kind of something
LETTERED = 100  # different whole numbers under one letter; fewer may be counts
OPEN = 0.5  # more than this in a name says that a column is measured or answered


def unplaced(seen: Seen) -> Found | None:
    """What neither its name nor its values explain is an identifier until somebody says otherwise."""
    if seen.nearly_unique and (not seen.measured or recognisers.register_numbers(seen.looked)):
        same = len(seen.values) == seen.records
        return Found(
            Role.IDENTIFIER, f"{'' if same else 'nearly '}every record has its own value", Ground.OWN
        )
    if _sparse(seen):
        return Found(Role.IDENTIFIER, f"codes or numbers as registers give them ({seen.many})")
    if seen.numeric:
        return _assigned(seen)
    if free(seen) and seen.various:
        return Found(
            Role.IDENTIFIER, f"long texts, which may say anything about a person ({seen.many})", Ground.FREE
        )
    if lexicon.GROUPS.speak(seen.name) and len(seen.values) * 2 <= seen.records:
        return Found(Role.QUASI, f"names of groups that several share ({seen.many})")
    if len(seen.values) > FEW_RECORDS and not seen.dated:
        return Found(
            Role.IDENTIFIER,
            f"many texts that nobody has explained; drop it unless you know better ({seen.many})",
            Ground.TEXTS,
        )
    return None


def _assigned(seen: Seen) -> Found | None:
    """Whole numbers as a list hands them out, or many that most have to themselves and nothing speaks of."""
    if lexicon.amounts(f"{seen.name} {seen.label}") or lexicon.counting(seen.name):
        return None
    if assigned.gapless(seen.looked, len(seen.values), seen.records):
        return Found(Role.IDENTIFIER, f"numbers without a gap, as a list gives them ({seen.many})")
    letter = len(seen.name.strip()) == 1 and not seen.label
    if letter and len(seen.values) > LETTERED and assigned.whole(seen.looked) is not None:
        return Found(
            Role.IDENTIFIER, f"many whole numbers under one letter, which says nothing ({seen.many})"
        )
    open_ = likely.named(f"{seen.name} {seen.label}") < OPEN
    if seen.own_half and len(seen.values) > MANY_TEXTS and open_ and assigned.whole(seen.looked) is not None:
        return Found(Role.IDENTIFIER, f"whole numbers, and most records have their own ({seen.many})")
    return None


def _sparse(seen: Seen) -> bool:
    """What few records have, or most have to themselves, and looks as registers write it."""
    if seen.dated or lexicon.amounts(f"{seen.name} {seen.label}"):
        return False
    digits = recognisers.register_codes(seen.looked)
    if seen.sparse and (digits >= SURE_CODE or (digits and seen.own_half)):
        return True
    if not seen.own_half or seen.records < FEW_RECORDS or not recognisers.register_numbers(seen.looked):
        return False
    return bool(seen.blanks) or recognisers.one_length(seen.looked)


def free(seen: Seen) -> bool:
    """Sentences rather than names?"""
    return seen.texts and recognisers.free_text(seen.looked)
