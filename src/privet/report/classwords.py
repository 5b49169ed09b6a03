"""Words for promises about classes and risks: diversity, closeness, likeness, disclosure, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from privet.evidence.values import Promise
from privet.report.claims import Claim, Wording, figure, in_order, settings, shown, size_claim, these
from privet.report.markup import label_text
from privet.report.numerals import count, exact, fraction_percent, listing, whole

FINDING = "Finding which record is a person's: a group may have one member."
SKEWED = "A value that is rare elsewhere and common in one group."


def distinct_l(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    limits = "Guessing the commonest value of a group, which may be that of nearly everybody in it."
    return Wording(
        f"Distinct l-diversity with {settings(model, l='l')}", quasi, values_claims(promise, quasi), limits
    )


def p_sensitive(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    return Wording(
        f"p-sensitive k-anonymity with {settings(model, p='p', k='k')}",
        quasi,
        (
            size_claim(promise, f"Anybody who knows {these(quasi)} finds at least"),
            *values_claims(promise, quasi, "p"),
        ),
        "Guessing the commonest value of a group, which may be that of nearly everybody in it.",
    )


def entropy_l(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    claims = attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, the values of {{attribute}} are at least as mixed as "
        f"{figure(model.get('l'))} equally common ones.",
        "l",
        "never less than {found} equally common values",
        lambda found: in_order(model.get("l"), found),
    )
    return Wording(f"Entropy l-diversity with {settings(model, l='l')}", quasi, claims, SKEWED)


def recursive_l(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    claims = attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, the commonest value of {{attribute}} has fewer than "
        f"{figure(model.get('c'))} times as many records as all values but the "
        f"{shown(less_one(model.get('l')))} commonest together.",
        "l",
        "so even without the {found} commonest",
        lambda found: in_order(model.get("l"), found),
        shape=less_one,
    )
    return Wording(f"Recursive (c, l)-diversity with {settings(model, c='c', l='l')}", quasi, claims, SKEWED)


DISTANCES = {
    "variational": "half the sum of all differences of shares",
    "equal": "the share of records that would have to change",
    "ordered": "the share of records that would have to change, times how far in the order of values",
    "hierarchical": "the share of records that would have to change, times how far in the tree of values",
    "costs": "the share of records that would have to change, times what each change costs",
    "kl": "the Kullback-Leibler divergence, in nats",
}


def t_closeness(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    measured = DISTANCES.get(str(model.get("distance")), "a distance of another version")
    claims = attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, the values of {{attribute}} are at most "
        f"{figure(model.get('t'))} away from how they lie in the whole table ({measured}).",
        "t",
        "never more than {found}",
        lambda found: in_order(found, model.get("t")),
    )
    return Wording(f"t-closeness with {settings(model, t='t')}", quasi, claims, FINDING)


def beta_likeness(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    enhanced = model.get("type") == "enhanced-beta-likeness"
    also = ", and by no more than the logarithm of how rare it is" if enhanced else ""
    claims = attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, no value of {{attribute}} is commoner than in the "
        f"whole table by more than {figure(model.get('beta'))} times its share there{also}.",
        "beta",
        "never by more than {found} times",
        lambda found: in_order(found, model.get("beta")),
    )
    title = "Enhanced beta-likeness" if enhanced else "Beta-likeness"
    return Wording(f"{title} with {settings(model, beta='beta')}", quasi, claims, FINDING)


def delta_disclosure(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = promise.model
    claims = attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, every value of {{attribute}} occurs, and the logarithm "
        "of how much commoner or rarer it is than in the whole table stays below "
        f"{figure(model.get('delta'))}.",
        "delta",
        "never more than {found}",
        lambda found: in_order(found, model.get("delta")),
    )
    return Wording(f"delta-disclosure with {settings(model, delta='delta')}", quasi, claims, FINDING)


def personalised(promise: Promise, quasi: Sequence[str]) -> Wording:
    claim = limit_claim(
        promise,
        f"Among records that agree in {these(quasi)}, at most {{at_most}} have a value below the node that "
        f"any one of them guards (“{label_text(promise.model.get('guard'))}”).",
        "share",
    )
    return Wording(
        "Personalised privacy", quasi, (claim,), "Learning what a person did not ask to be guarded."
    )


def safe_harbor(promise: Promise, quasi: Sequence[str]) -> Wording:
    """The rule about dates, areas and ages, and how many labels break it."""
    model = promise.model
    fine = promise.achieved.get("values")
    rules = (
        ("dates", "leaves as years"),
        ("areas", "leaves as areas of more than 20,000 people, or as 000"),
        ("ages", "leaves with everybody above 89 in one group"),
    )
    claims = tuple(
        Claim(
            f"Of {these([str(name) for name in model.get(key) or ()])}, every value {how}.",
            "no label is finer" if fine == 0 else "some labels are finer",
            None if fine is None else fine == 0,
        )
        for key, how in rules
        if model.get(key)
    ) or (Claim("No date, postal code or age is named in the policy.", "no value was looked at", None),)
    return Wording("Safe harbor", quasi, claims, "Finding a person by other values, or by how they combine.")


def risk_limit(promise: Promise, quasi: Sequence[str]) -> Wording:
    kind = str(promise.model.get("type"))
    above = fraction_percent(promise.model.get("above"))
    number = "risk" if kind in {"average-risk", "maximum-risk"} else "share"
    match kind:
        case "average-risk":
            sentence = (
                "Somebody who knows {known} and picks a matching record for everybody finds the right one "
                "for at most {{at_most}} of all records on average."
            )
            limits = "Finding one person's record: a few small groups hardly move an average."
        case "maximum-risk":
            sentence = (
                "Somebody who knows {known} and picks a matching record finds the right one with a chance of "
                "at most {{at_most}}."
            )
            limits = "Learning a sensitive value that everybody in a group shares."
        case "records-at-risk":
            sentence = (
                f"At most {{{{at_most}}}} of all records can be found with a chance above {above} by "
                "somebody who knows {known}."
            )
            limits = "Finding the records that are left."
        case "population-uniqueness":
            drawn = fraction_percent(promise.model.get("fraction"))
            sentence = (
                f"If the records are {drawn} of a population, drawn by chance, at most {{{{at_most}}}} of it "
                "is estimated to be the only one that matches {known}."
            )
            limits = "Finding the people who are. It is an estimate, as good as its model of the population."
        case _:
            sentence = "At most {{at_most}} of all records are the only one that matches {known}."
            limits = "Finding the records that are left, and those in groups of two."
    title = kind.replace("-", " ").capitalize()
    claim = limit_claim(promise, sentence.format(known=these(quasi)), number)
    return Wording(title, quasi, (claim,), limits)


def attribute_claims(
    promise: Promise,
    sentence: str,
    number: str,
    told: str,
    holds: Callable[[Any], bool | None],
    *,
    shape: Callable[[Any], Any] = lambda found: found,
) -> tuple[Claim, ...]:
    """One claim for each sensitive attribute: the sentence names it, `number` is what was found."""
    achieved, claims = promise.achieved, []
    for attribute in listing(promise.model.get("sensitive")):
        found = achieved.get(f"{number} of {attribute}", achieved.get(number))
        said = "not stated" if exact(found) is None else told.format(found=figure(shape(found)))
        # A promise of two parts may be broken by the one that has no number here.
        fits = holds(found) if promise.holds is not False or holds(found) is False else None
        claims.append(Claim(sentence.format(attribute=f"“{label_text(attribute)}”"), said, fits))
    return tuple(claims)


def values_claims(promise: Promise, quasi: Sequence[str], number: str = "l") -> tuple[Claim, ...]:
    """How many different values a group has."""
    asked = promise.model.get(number)
    return attribute_claims(
        promise,
        f"Among records that agree in {these(quasi)}, there are at least {count(asked) or shown(asked)} "
        "different values of {attribute}.",
        number,
        "never fewer than {found}",
        lambda found: in_order(asked, found),
    )


def limit_claim(promise: Promise, sentence: str, number: str) -> Claim:
    """A share or a chance that has one upper bound."""
    at_most, found = promise.model.get("at_most"), promise.achieved.get(number)
    told = fraction_percent(found)
    asked = fraction_percent(at_most) or shown(at_most)
    said = "not stated" if told is None else f"never more than {told}"
    return Claim(sentence.format(at_most=asked), said, in_order(found, at_most))


def less_one(number: Any) -> Any:
    """One less, for counts that include the value itself."""
    found = whole(number)
    return None if found is None else max(0, found - 1)
