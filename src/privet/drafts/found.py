"""What a rule found a column to be: the role, on which ground, and the words for its steward.

What follows from a guess (is it open to its neighbours? may it say whose a row is? how is it told in short?)
follows from the ground. The words may change.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from privet.core import Role


class Ground(Enum):
    """On what a guess rests."""

    RULE = auto()  # a rule of which nothing but its words matters
    DOUBT = auto()  # nothing speaks for it or against it
    KNOWN = auto()  # a word of its name, which others may know
    FORM = auto()  # the form of its values, whatever it is called
    PEOPLE = auto()  # values that are names of people
    NAMES = auto()  # values that may be names of people
    PARTS = auto()
    PERSON = auto()  # a name that speaks of a person
    FREE = auto()  # answers in somebody's own words
    ADDRESSES = auto()
    REGISTER = auto()
    ENTRIES = auto()
    TEXTS = auto()  # many texts that nobody has explained
    OWN = auto()  # every record has its own
    DOOR = auto()

    @property
    def open(self) -> bool:
        """May what stands beside the column decide otherwise?"""
        return self in {Ground.DOUBT, Ground.KNOWN}


SHORT = {  # how a list of what was left out says them
    Ground.PEOPLE: "names",
    Ground.NAMES: "names",
    Ground.PARTS: "names",
    Ground.PERSON: "the header speaks of a person",
    Ground.FREE: "free text",
    Ground.ADDRESSES: "e-mail addresses or links",
    Ground.REGISTER: "numbers of a register",
    Ground.ENTRIES: "numbers of persons or entries",
    Ground.TEXTS: "many texts that nobody has explained",
    Ground.OWN: "every record has its own value",
    Ground.DOOR: "places to the door",
}


class Found(NamedTuple):
    """The answer of a rule."""

    role: Role
    reason: str
    ground: Ground = Ground.RULE


def short(reason: str, ground: Ground) -> str:
    """Why a column is left out, in a few words.

    >>> short("names of people (12 different values)", Ground.PEOPLE), short("looks like links", Ground.FORM)
    ('names', 'links')
    """
    told = re.sub(r" \([0-9,]+ different values?\).*", "", reason).removeprefix("looks like ")
    return SHORT.get(ground, told)
