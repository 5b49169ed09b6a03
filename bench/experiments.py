"""The experiments of Mohammed (2012), section 3.4: what privacy costs as L, K and C vary.

CE comes from the classification mode (information gain), DR from the general mode (discernibility).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from bench import adult
from bench.figures import (
    Points,
    agreement,
    beside,
    binding,
    error_chart,
    gaps,
    grid,
    infeasible,
    ratio_chart,
    reached,
    spread,
)
from bench.outcome import Outcome, Table
from bench.reported import ADULT, BLOOD, KS, RATIO_BY_C, RATIO_BY_K
from bench.sweep import Setting, Subject, ties_by_column
from privet.errors import InternalError
from privet.samples import SAMPLES
from privet.samples.plans import CENSUS, Plan

LS = (2, 4, 6)
CS = ("5%", "10%", "15%", "20%", "25%", "30%")
GENERAL = "discernibility"
BASELINE = "gain-per-loss"  # top-down specialisation for k-anonymity, by its own score
SEPARATED = ("Separated",)  # 3.12 % of Adult, so that a small C can be kept

Measure: TypeAlias = Callable[[Setting], float | None]


def blood(*, full: bool) -> Outcome:
    """Figures 3.4a and 3.4b."""
    sample = SAMPLES["transfusions"]
    if not isinstance(sample.plan, Plan):
        raise InternalError("transfusions are a table")
    subject = Subject(sample.plan, sample.generate(10_000, seed=0))
    return blood_curves(subject, KS if full else (20, 100))


def blood_curves(subject: Subject, ks: Sequence[int]) -> Outcome:
    errors = {f"L {l}": by_k(subject.error, l, ks) for l in LS}
    ratios = {f"L {l}": by_k(subject.ratio, l, ks, score=GENERAL) for l in LS}
    with ties_by_column(subject) as other:
        columns = {f"L {l}": by_k(other.ratio, l, ks, score=GENERAL) for l in LS}
    baseline = by_k(subject.ratio, len(subject.quasi), ks, c="1", score=BASELINE)
    be, ue = bounds(subject)
    ours = {
        "BE": [be],
        "UE": [ue],
        "CE, L 2 and 4": reached(errors, "L 2", "L 4"),
        "CE, L 6": reached(errors, "L 6"),
    }
    return Outcome(
        "blood",
        f"figures 3.4a and 3.4b: {subject.records:,} transfusions, {len(subject.quasi)} quasi-identifiers",
        "C = 20 %. A generated stand-in for the source's private table, made for its BE and UE. TDS is "
        "k-anonymity by top-down specialisation (score gain-per-loss, L = all, C = 100 %).",
        (
            grid("3.4a: CE by K", "K", errors, ".1%"),
            grid("3.4b: DR by K", "K", {**ratios, "TDS": baseline}, ".4f"),
            grid("3.4b with ties broken by the order of columns", "K", {**columns, "TDS": baseline}, ".4f"),
            Table(
                "percent, beside what Mohammed reports on the private table",
                {"": "", "here": "", "source": ""},
                [[what, spread(ours[what]), said] for what, said in BLOOD.items()],
            ),
        ),
        (
            f"DR of TDS less ours: {gaps(baseline, ratios)} (source: 0.1 to 0.45).",
            f"The same with ties broken by the order of columns: {gaps(baseline, columns)}.",
        ),
        {
            "figure-3.4a": error_chart("3.4a Blood: classification error, C = 20 %", "K", errors, be, ue),
            "figure-3.4b": ratio_chart(
                "3.4b Blood: discernibility, C = 20 %", "K", ratios, {"TDS": baseline}
            ),
        },
    )


def error(*, full: bool) -> Outcome:
    """Figures 3.5a and 3.5b."""
    subject = Subject(CENSUS, adult.load())
    return error_curves(subject, KS if full else (20, 100), CS if full else ("10%", "15%", "30%"))


def error_curves(subject: Subject, ks: Sequence[int], cs: Sequence[str]) -> Outcome:
    along_k = {f"L {l}": by_k(subject.error, l, ks) for l in LS}
    along_c = {f"L {l}": by_c(subject.error, l, cs) for l in LS}
    separated = {f"L {l}, S": by_c(subject.error, l, cs, protected=SEPARATED) for l in LS}
    blind = [
        subject.error(Setting(l, k, "20%"), without=tuple(subject.plan.sensitive))
        for l in LS
        for k in (ks[0], ks[-1])
    ]
    be, ue = bounds(subject)
    ours = {
        "BE": [be],
        "UE": [ue],
        "CE, L 2": reached(along_k, "L 2"),
        "CE, L 4 and 6": reached(along_k, "L 4", "L 6"),
        "CE, no marital status to predict from": [ce for ce in blind if ce is not None],
        "CE by C, L 2": reached(along_c, "L 2"),
        "CE by C, L 4 and 6": reached(along_c, "L 4", "L 6"),
    }
    return Outcome(
        "error",
        f"figures 3.5a and 3.5b: classification error on {subject.records:,} records of Adult",
        "Score information gain; a tree trained on two thirds of the published records and tested on the "
        "rest; BE on the raw table, UE on it without its quasi-identifiers. Sensitive: Divorced, Separated; "
        "in the columns S only Separated.",
        (
            grid("3.5a: CE by K, C = 20 %", "K", along_k, ".1%"),
            grid("3.5b: CE by C in percent, K = 100", "C", {**along_c, **separated}, ".1%"),
            Table(
                "percent, beside what Mohammed reports, and spec 01, 5.3 with a C4.5-style tree",
                {"": "", "here": "", "source": "", "spec": ""},
                [[what, spread(ours[what]), *said] for what, said in ADULT.items()],
            ),
        ),
        (infeasible(along_c), "CE hardly moves with C; DR does (figure 3.6b)."),
        {
            "figure-3.5a": error_chart("3.5a Adult: classification error, C = 20 %", "K", along_k, be, ue),
            "figure-3.5b": error_chart(
                "3.5b Adult: classification error, K = 100", "C, %", {**along_c, **separated}, be, ue
            ),
        },
    )


def discernibility(*, full: bool) -> Outcome:
    """Figures 3.6a and 3.6b."""
    subject = Subject(CENSUS, adult.load())
    cs = (*CS, "100%") if full else ("10%", "15%", "30%")
    return discernibility_curves(subject, KS if full else (20, 60, 100), cs)


def discernibility_curves(subject: Subject, ks: Sequence[int], cs: Sequence[str]) -> Outcome:
    along_k, along_c = general_curves(subject, ks, cs)
    with ties_by_column(subject) as other:
        columns_k, columns_c = general_curves(other, ks, cs)
    separated = {f"L {l}, S": by_c(subject.ratio, l, cs, score=GENERAL, protected=SEPARATED) for l in LS}
    baseline = by_k(subject.ratio, len(subject.quasi), ks, c="1", score=BASELINE)
    compared = [
        *beside(RATIO_BY_K, along_k, columns_k, "K"),
        *beside(RATIO_BY_C, along_c, columns_c, "K 100, C"),
    ]
    return Outcome(
        "discernibility",
        f"figures 3.6a and 3.6b: discernibility ratio on {subject.records:,} records of Adult",
        "Score discernibility; a lower DR is better. TDS is k-anonymity by top-down specialisation (score "
        "gain-per-loss, L = 13, C = 100 %). Sensitive: Divorced, Separated; in the columns S only Separated.",
        (
            grid("3.6a: DR by K, C = 20 %", "K", {**along_k, "TDS": baseline}, ".4f"),
            grid("3.6b: DR by C in percent, K = 100", "C", {**along_c, **separated}, ".4f"),
            Table(
                "beside spec 01, 5.3; `columns` breaks ties by the order of columns, as that run did",
                {"": "", "at": "", "privet": ".3f", "columns": ".3f", "spec": ".3f"},
                compared,
            ),
        ),
        (
            agreement(compared),
            infeasible(along_c),
            f"At the same C, L 6 and L 13 are {'' if along_k['L 6'] == along_k['L 13'] else 'not '}equal.",
        ),
        {
            "figure-3.6a": ratio_chart(
                "3.6a Adult: discernibility, C = 20 %", "K", along_k, {"TDS": baseline}
            ),
            "figure-3.6b": ratio_chart(
                "3.6b Adult: discernibility, K = 100", "C, %", binding(along_c), binding(separated)
            ),
        },
    )


def general_curves(
    subject: Subject, ks: Sequence[int], cs: Sequence[str]
) -> tuple[dict[str, Points], dict[str, Points]]:
    """DR by K at C = 20 %, and by C at K = 100."""
    every = len(subject.quasi)
    along_k = {f"L {l}": by_k(subject.ratio, l, ks, score=GENERAL) for l in (*LS, every)}
    along_k["k-anonymity"] = by_k(subject.ratio, every, ks, c="1", score=GENERAL)
    return along_k, {f"L {l}": by_c(subject.ratio, l, cs, score=GENERAL) for l in LS}


def by_k(
    measure: Measure, l: int, ks: Sequence[int], c: str = "20%", score: str = "information-gain"
) -> Points:
    return [(k, measure(Setting(l, k, c, score))) for k in ks]


def by_c(
    measure: Measure,
    l: int,
    cs: Sequence[str],
    score: str = "information-gain",
    protected: tuple[str, ...] | None = None,
) -> Points:
    return [(float(c.rstrip("%")), measure(Setting(l, 100, c, score, protected))) for c in cs]


def bounds(subject: Subject) -> tuple[float, float]:
    """BE and UE, which no setting changes."""
    found = subject.classified(Setting(1, 1, "1"))
    assert found is not None  # every record keeps a promise that promises nothing
    return found.be, found.ue
