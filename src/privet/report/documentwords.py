"""Promises about documents in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.values import Promise
from privet.report.claims import Claim, Wording, in_order, shown
from privet.report.numerals import counted, fraction_percent, tables, whole


def diversity(promise: Promise, quasi: Sequence[str]) -> Wording:
    l = promise.model.get("l")
    found = promise.achieved
    return Wording(
        f"l-diversity of documents with l\u00a0=\u00a0{shown(l)}",
        quasi,
        (
            Claim(
                f"Every tree is one of at least {shown(l)} that are alike but for sensitive values.",
                f"never fewer than {counted(whole(found.get('k')) or 0, 'record')}",
                in_order(l, found.get("k")),
            ),
            Claim(
                f"At no vertex of a class has a sensitive value a share above 1/{shown(l)}.",
                f"never above 1/{shown(found.get('l'))}",
                in_order(l, found.get("l")),
            ),
        ),
        "Learning that a value occurs somewhere in a tree, when it does in all trees of a class.",
    )


def anonymity(promise: Promise, quasi: Sequence[str]) -> Wording:
    k = promise.model.get("k")
    found = promise.achieved.get("k")
    return Wording(
        f"k-anonymity of documents with k\u00a0=\u00a0{shown(k)}",
        quasi,
        (
            Claim(
                f"Every tree is one of at least {shown(k)} that are alike but for sensitive values.",
                f"never fewer than {counted(whole(found) or 0, 'record')}",
                in_order(k, found),
            ),
        ),
        "Learning a sensitive value that everybody in a class shares at a vertex.",
    )


def halves(promise: Promise, quasi: Sequence[str]) -> Wording:
    l = promise.model.get("l")
    found = promise.achieved
    bound = f"1/{shown(l)}"
    return Wording(
        f"l-diversity by anatomy with l\u00a0=\u00a0{shown(l)}",
        quasi,
        (
            Claim(
                f"People stand in groups of at least {shown(l)} whose trees have one shape.",
                f"never fewer than {counted(whole(found.get('l')) or 0, 'person', 'people')}",
                in_order(l, found.get("l")),
            ),
            Claim(
                f"At no vertex can a sensitive value be linked to a person with a chance above {bound}.",
                f"never above {fraction_percent(found.get('share')) or 'not stated'}",
                in_order(found.get("share"), bound),
            ),
        ),
        "Finding a person's quasi-identifiers, which are published as they are; and learning that a value "
        "occurs somewhere in a tree.",
    )


def rules(promise: Promise, _quasi: Sequence[str]) -> Wording:
    model = promise.model
    found = fraction_percent(promise.achieved.get("p")) or "not stated"
    return Wording(
        "(p, m)-privacy",
        (),
        tuple(
            Claim(
                f"Nobody is linked to {shown(rule.get('m'))} or more of “{shown(rule.get('value'))}” of "
                f"{shown(rule.get('attribute'))} with a confidence above {shown(rule.get('p'))}.",
                f"never above {found}, over all rules",
                promise.holds,
            )
            for rule in tables(model.get("rules"))
        ),
        "Values that no rule names.",
    )
