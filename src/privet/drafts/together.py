"""Guesses of one table that fit together: what stands beside a column says what its name leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from privet.core import Role
from privet.drafts import lexicon, likely
from privet.drafts.found import Ground
from privet.drafts.guess import Guess

OVERRULES = 2.0  # a score beyond which a name as a whole weighs more than one word in it


def settled(guesses: Sequence[Guess]) -> tuple[Guess, ...]:
    """One target at most; the times of a study of survival beside its outcome; open columns as they lean."""
    return tuple(_leaning(list(_fitting(guesses))))


def _fitting(guesses: Sequence[Guess]) -> Iterator[Guess]:
    targets = [at for at, one in enumerate(guesses) if one.role is Role.TARGET]
    tumours = any(lexicon.TUMOURS.speak(one.name) for one in guesses)
    followed = any(one.name.lower() in lexicon.OUTCOMES for one in guesses)
    for at, one in enumerate(guesses):
        if one.role is Role.TARGET and at != targets[-1]:
            yield replace(one, role=Role.SENSITIVE, reason=f"{one.reason}; one target at most")
        elif tumours and one.role is Role.QUASI and one.name.lower() in lexicon.OF_TUMOURS:
            yield replace(one, role=Role.SENSITIVE, reason="of a tumour that stands beside it")
        elif followed and one.role is Role.QUASI and one.name.lower() in lexicon.FOLLOWED:
            yield replace(one, role=Role.SENSITIVE, reason="how long until an outcome that stands beside it")
        else:
            yield one


def _leaning(guesses: Sequence[Guess]) -> Iterator[Guess]:
    """Columns that no rule settles, by what such columns mostly are."""
    scores = [one.leaning.score if one.leaning else None for one in guesses]
    alone = sum(score is not None for score in scores) == 1
    for one, score in zip(guesses, likely.beside(scores, [one.name for one in guesses]), strict=True):
        known = one.ground is Ground.KNOWN
        if score is None or one.leaning is None or one.role is not Role.QUASI or not one.ground.open:
            yield one
        elif score > (OVERRULES if known else 0) and not (known and alone):
            yield replace(one, role=Role.SENSITIVE, reason=f"{_mostly(one.name)} ({one.leaning.many})")
        else:
            yield one


def _mostly(name: str) -> str:
    piece = likely.because(name)
    called = f'names with "{piece}"' if piece else "such columns"
    return f"{called} are mostly answers, measures or outcomes, which others do not know"
