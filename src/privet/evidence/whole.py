"""What evidence of a release always holds: whoever leaves a part out is noticed.

Of a part that is there, `verify` counts the numbers again or marks them as the steward's word. A part that is
not there is marked nowhere, so its absence must be a complaint. Which parts there are follows from the road
that a release took and from its policy. A few follow from neither, and may be absent: they are `OPTIONAL`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from privet.core import Terms
from privet.evidence.part import Part, at
from privet.evidence.values import ANATOMY, DOCUMENTS, HALVES, NOISY, TABLES, TRAJECTORIES, Evidence
from privet.recoding import Perturbation

SETS = "transactions"

# Nothing in a release says that these should be there.
OPTIONAL = {
    "like": "only of a release that was made like an earlier one (--like)",
    "stops": "only where the steward's policy names a list of places, which does not leave",
    "signers": "only of a release that somebody was to sign; unsigned is said of the others",
    "measures.marginals": "only where a column was bought by itself",
    "measures.worst_classes": "only where there is a sensitive column: counted again, so none is none",
}

BESIDE = {
    NOISY: ("ledger",),
    DOCUMENTS: ("documents",),
    HALVES: ("documents",),
    TRAJECTORIES: ("paths", "thinning"),
    SETS: ("sets",),
}
MEASURED = {
    TABLES: ("classes", "risk", "loss", "attributes"),
    ANATOMY: ("classes", "risk", "loss", "attributes"),
    DOCUMENTS: ("classes", "risk", "loss", "attributes"),
    HALVES: ("groups", "loss", "attributes"),
    NOISY: ("counts", "loss", "attributes"),
    TRAJECTORIES: ("before", "after", "patterns"),
}
LOST = {
    TABLES: (
        "lm", "ncp", "precision", "entropy", "kl", "discernibility", "discernibility_ratio",
        "average_class_size", "height", "suppressed_cells", "suppressed_records", "gain_retained",
    ),
    ANATOMY: ("query_error",),
    DOCUMENTS: ("lm", "lm_weighted", "discernibility", "average_class_size"),
    HALVES: ("suppression_accuracy",),
    NOISY: ("lm",),
}  # fmt: skip
LOST_OF_COLUMN = {
    TABLES: (
        "lm", "ncp", "precision", "entropy", "kl", "published_values", "raw_values", "suppressed_share",
        "gain_retained", "distribution",
    ),
    DOCUMENTS: ("lm", "cut"),
    NOISY: ("published_values", "distribution"),
}  # fmt: skip
DRAWN = ("changed", "discernibility", "discernibility_ratio", "average_class_size", "suppressed_records")
DRAWN_OF_COLUMN = ("changed", "published_values", "raw_values", "distribution")
OF_RAW = ("entropy", "kl", "gain_retained", "raw_values")  # nobody has seen the rows of all parties


def complaints(evidence: Evidence, policy: Terms) -> list[str]:
    """A complaint for each part that such a release has and this evidence has not, or the other way round."""
    return [f"{place}: is missing" for place in missing(evidence, policy)] + _made_up(evidence, policy)


def missing(evidence: Evidence, policy: Terms) -> Iterator[str]:
    """The places of parts that are not there."""
    road, measures = evidence.road, evidence.measures
    yield from _absent(evidence, (*BESIDE.get(road, ()), *_asked(evidence, policy)))
    yield from _absent(measures, MEASURED.get(road, ()), "measures")
    if measures.risk is not None and evidence.joint is None and measures.risk.before is None:
        yield "measures.risk.before"  # only several organisations have never seen the whole table
    if measures.loss is not None:
        yield from _absent(measures.loss, _lost(evidence), "measures.loss")
    columns = measures.attributes
    if columns is not None:
        expected = [name for name in _measured(evidence, policy) if name not in columns]
        yield from (at("measures.attributes", name) for name in expected)
        for name, lost in columns.items():
            yield from _absent(lost, _lost_of_column(evidence), at("measures.attributes", name))
    if road == TABLES and measures.dimensionality is None and _class_size(policy) and not _drawn(evidence):
        yield "measures.dimensionality"


def _asked(evidence: Evidence, policy: Terms) -> Iterator[str]:
    """Parts that are there because of what the policy says, or because of what else is there."""
    if evidence.algorithm.get("type") == "auto" and evidence.like is None:  # there nothing was searched
        yield "choice"
    if policy.publish_only:
        yield "population"
    counts = evidence.measures.counts
    if counts is not None and counts.noises is not None:
        yield "joint"  # only several organisations add several noises


def _made_up(evidence: Evidence, policy: Terms) -> list[str]:
    """Parts that no release of such a policy has."""
    copies = evidence.algorithm.get("alpha", 1) if evidence.algorithm.get("type") == "condensation" else 1
    counts, added = evidence.measures.counts, 1 if evidence.joint is None else len(evidence.joint.parties)
    wrong = {
        "measures.counts.noises": counts is not None and (counts.noises or 1) != added,  # each adds its own
        "choice": evidence.choice is not None and evidence.algorithm.get("type") != "auto",
        "population": evidence.population is not None and not policy.publish_only,
        "copies": (evidence.copies or 1) != copies,
    }
    found = [f"{name}: the evidence says another than the policy" for name, is_so in wrong.items() if is_so]
    return found + (["signers: is left out where there is nobody"] if evidence.signers == () else [])


def _absent(part: Part, names: Iterator[str] | tuple[str, ...], place: str = "") -> Iterator[str]:
    """A value that is null is said: there is none. One that is left out is not."""
    yield from (at(place, name) for name in names if name not in part)


def _drawn(evidence: Evidence) -> bool:
    return evidence.recoding == Perturbation.name


def _lost(evidence: Evidence) -> tuple[str, ...]:
    names = DRAWN if evidence.road == TABLES and _drawn(evidence) else LOST.get(evidence.road, ())
    return tuple(name for name in names if evidence.joint is None or name not in OF_RAW)


def _lost_of_column(evidence: Evidence) -> tuple[str, ...]:
    drawn = evidence.road == TABLES and _drawn(evidence)
    names = DRAWN_OF_COLUMN if drawn else LOST_OF_COLUMN.get(evidence.road, ())
    return tuple(name for name in names if evidence.joint is None or name not in OF_RAW)


def _measured(evidence: Evidence, policy: Terms) -> list[str]:
    """The columns of which it is said what was lost."""
    match evidence.road:
        case "table" if _drawn(evidence):
            return [name for name, note in evidence.attributes.items() if note.published == "perturbed"]
        case "table" | "documents":
            return [a.name for a in policy.quasi if a.name in evidence.columns]
        case "diffgen":
            known: Mapping[str, object] = evidence.attributes
            return [name for name in evidence.columns if name in known]
        case _:
            return []


def _class_size(policy: Terms) -> int:
    """How many records share all they are known by, as the promises about those who leave say."""
    models = [m for m in policy.models if not (policy.publish_only and m.population)]
    return max((n for model in models if (n := model.class_size)), default=0)
