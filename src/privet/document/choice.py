"""Which way to publish documents: what each is for, what it resists, and what it does not.

One list for the help, the report and the documentation; after Ozalp (2017), chapters 2 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """A way to publish trees, in words."""

    name: str
    recoding: str  # how evidence names it
    choose: str
    resists: str
    not_: str


WAYS = (
    Way(
        "generalised (clustree, ctoff)",
        "tree edits",
        "whole records that any tool can read, and coarse quasi-identifiers will do",
        "finding a person, or a value at a vertex, by quasi-identifiers and structure",
        "a value that all trees of a class have somewhere is learnt",
    ),
    Way(
        "halves, t-t (tree-anatomy)",
        "halves (t-t)",
        "exact quasi-identifiers, and links among one person's sensitive values",
        "linking a value to a person; with rules, also the repeated value attack",
        "whoever knows one sensitive value of a person may find all others",
    ),
    Way(
        "halves, v-v (tree-anatomy)",
        "halves (v-v)",
        "exact quasi-identifiers where somebody may know a sensitive value",
        "the same, also against who knows one sensitive value",
        "links among one person's sensitive values are given up",
    ),
)
