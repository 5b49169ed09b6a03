"""What each promise means, in plain words: what was promised, what was found, what it does not cover.

`MODELS` says which function words which model; a room that brings a model adds its own. A model that
nobody words is shown by its parameters: `unworded`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from privet.evidence.values import Promise, StepNote
from privet.report import classwords, documentwords, presencewords, setwords, spent
from privet.report.claims import Claim, Wording, settings, share_claims, shown, size_claim, these
from privet.report.numerals import listing, whole

NULLS = {
    "value": (
        "A missing value counts as a value of its own: two missing values are alike and differ from "
        "every other value. This is the strict reading."
    ),
    "wildcard": (
        "A missing value was read as matching every value. This is the looser reading: a record with "
        "missing values counts towards several groups at once."
    ),
}
ROLE_NAMES = {"quasi": "quasi-identifier"}
ROLES = {
    "identifier": "names a person by itself",
    "quasi": "may name a person together with others",
    "sensitive": "must not be learnt about a person",
    "target": "what the recipient wants to predict",
    "path": "where the person was, and when",
    "person": "says whose visit it is",
    "other": "neither identifying nor protected",
}
PUBLISHED = {
    "dropped": "left out of the release",
    "in groups": "published in groups: which value is whose is not said",
    "in buckets": "published in buckets, in a table of its own: which value is whose is not said",
    "unchanged": "published unchanged",
    "perturbed": "published with values changed by chance or by calculation: a cell need not be true",
    "generalised": "published in more general values",
    "pseudonym": "published as pseudonyms: the same value gets the same invented code",
    "hash": "published as keyed digests: the same value gets the same digest",
    "mask": "published with characters masked",
    "noisy": "published with noise in its numbers",
    "numbered": "published as numbers that were drawn anew for this release",
    "thinned": "published with some points removed",
    "shift": "dates published shifted, each person's by one secret distance",
}


def kept(promise: Promise) -> bool:
    """Is the promise kept, by the verdict and by every number that can be compared?"""
    return promise.holds is True and all(c.kept is not False for c in wording(promise, ()).claims)


def wording(promise: Promise, quasi: Sequence[str]) -> Wording:
    """A promise in plain words; `quasi` are the columns an adversary may know."""
    worder = MODELS.get(promise.type, unworded)
    return of_paths(worder(promise, ())) if promise.about == "paths" else worder(promise, quasi)


def of_paths(worded: Wording) -> Wording:
    """The same promise where visits are what somebody knows."""

    def said(text: str) -> str:
        for values in (these(()), "these values"):
            text = text.replace(values, "a person's visits, each a place and a time")
        return text

    claims = tuple(replace(claim, promised=said(claim.promised)) for claim in worded.claims)
    return replace(worded, title=f"{worded.title}, of paths", claims=claims, limits=said(worded.limits))


def lkc(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    l = whole(model.get("l"))
    everything = l is not None and 0 < len(quasi) <= l
    known = these(quasi) if everything else f"up to {shown(l)} of {these(quasi)}"
    beyond = "" if everything else f"Somebody who knows more than {shown(l)} of these values. "
    return Wording(
        f"LKC-privacy with {settings(model, L='l', K='k', C='c')}",
        quasi,
        (
            size_claim(promise, f"Anybody who knows {known} finds at least"),
            *share_claims(promise, "Among the records they find,", model.get("c")),
        ),
        beyond + "Learning a sensitive value that is not named here.",
    )


def k_anonymity(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    return Wording(
        f"k-anonymity with {settings(model, k='k')}",
        quasi,
        (size_claim(promise, f"Anybody who knows {these(quasi)} finds at least"),),
        "Learning a sensitive value that everybody in such a group shares.",
    )


def confidence(promise: Promise, quasi: Sequence[str]) -> Wording:
    named = [str(name) for name in listing(promise.model.get("quasi"))] or quasi
    return Wording(
        "Confidence bounding",
        named,
        share_claims(promise, f"Among records that agree in {these(named)},", None),
        "Finding which record is a person's: a group may have one member.",
    )


def alpha_k(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    return Wording(
        f"(alpha, k)-anonymity with {settings(model, alpha='alpha', k='k')}",
        quasi,
        (
            size_claim(promise, f"Anybody who knows {these(quasi)} finds at least"),
            *share_claims(promise, "Among the records they find,", model.get("alpha")),
        ),
        "A rare value that is more common in one group than elsewhere, as long as it stays below its bound.",
    )


def by_construction(promise: Promise, _quasi: Sequence[str]) -> Wording:
    found = ", ".join(f"{name} = {shown(value)}" for name, value in promise.achieved.items())
    return Wording(
        "Made as its algorithm says",
        (),
        (
            Claim(
                "Values were changed as the algorithm says; what it did is told.", found or "not stated", None
            ),
        ),
        "Any attack, for certain: nothing here could be checked on the data.",
    )


def unworded(promise: Promise, _quasi: Sequence[str]) -> Wording:
    """A model this version has no sentence for: its parameters and what was found, as they stand."""
    model = promise.model
    asked = ", ".join(f"{name} = {shown(value)}" for name, value in model.items() if name != "type")
    found = ", ".join(f"{name} = {shown(value)}" for name, value in promise.achieved.items())
    claim = Claim(asked or "no parameters", found or "not stated", promise.holds)
    return Wording(str(model.get("type") or "A promise of an unknown kind"), (), (claim,))


Worder: TypeAlias = Callable[[Promise, Sequence[str]], Wording]
MODELS: dict[str, Worder] = {
    "by-construction": by_construction,
    "lkc-privacy": lkc,
    "k-anonymity": k_anonymity,
    "km-anonymity": setwords.known_items,
    "hidden-rule": setwords.hidden_rule,
    "confidence-bounding": confidence,
    "alpha-k-anonymity": alpha_k,
    "p-sensitive-k-anonymity": classwords.p_sensitive,
    "distinct-l-diversity": classwords.distinct_l,
    "entropy-l-diversity": classwords.entropy_l,
    "recursive-l-diversity": classwords.recursive_l,
    "t-closeness": classwords.t_closeness,
    "beta-likeness": classwords.beta_likeness,
    "enhanced-beta-likeness": classwords.beta_likeness,
    "delta-disclosure": classwords.delta_disclosure,
    "anatomy-l-diversity": documentwords.halves,
    "document-k-anonymity": documentwords.anonymity,
    "document-l-diversity": documentwords.diversity,
    "pm-privacy": documentwords.rules,
    "differential-privacy": spent.differential_privacy,
    "personalised-privacy": classwords.personalised,
    "average-risk": classwords.risk_limit,
    "k-map": presencewords.k_map,
    "delta-presence": presencewords.delta_presence,
    "maximum-risk": classwords.risk_limit,
    "records-at-risk": classwords.risk_limit,
    "safe-harbor": classwords.safe_harbor,
    "sample-uniqueness": classwords.risk_limit,
    "population-uniqueness": classwords.risk_limit,
}


def refusal(step: StepNote) -> str | None:
    """Why a step of a search was not made; None where it was."""
    if step.performed:
        return None
    return f"refused: would break {shown(step.refused)}" if step.refused else "refused"
