"""How a policy reads data where that decides what is promised: the strict reading is the usual one."""

from __future__ import annotations

from enum import Enum


class Nulls(Enum):
    """How a missing value is read when a promise is checked."""

    VALUE = "value"  # a value of its own: strict, the default
    WILDCARD = "wildcard"  # matches everything: looser, recorded in the evidence


class Rows(Enum):
    """Whose the rows of a table are, where the policy names no person."""

    UNSAID = "unsaid"  # refused where an identifier repeats
    PERSONS = "persons"  # each row is a person of its own, whatever repeats


class Formulas(Enum):
    """What becomes of texts that a spreadsheet may run as formulas."""

    CAUTIONED = "cautioned"  # they leave as they are, and a caution says so: the default
    ESCAPED = "escaped"  # an apostrophe stands before each, as spreadsheets want it


class Absent(Enum):
    """What becomes of a policy that protects a value which does not occur."""

    REFUSED = "refused"  # it is most likely misspelt: the default
    ALLOWED = "allowed"  # a list that is kept over years; a remark stands in the evidence
