"""The sections on what was measured: class sizes, risk, what the worst class gives away, loss, and width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.evidence.measures import ClassSizes, ColumnLoss, Loss, RiskNote, SizeBin, Width, WorstClass
from privet.evidence.values import Evidence
from privet.report.markup import (
    Content,
    Safe,
    behind,
    facts,
    join,
    label,
    label_text,
    paragraph,
    switch,
    table,
    tag,
)
from privet.report.numerals import (
    count,
    counted,
    decimal,
    percent,
    risk,
    share,
    short,
)
from privet.report.plots import Bar, Bin, Pair, bars, dumbbells, histogram, legend
from privet.report.sections import partial_knowledge, quasi_columns

BUCKETS, PERTURBED = "buckets", "perturbation"  # recodings that are not about coarser values
FIGURES = (
    ("distinct_l", "Distinct l", "values that the class with the fewest has"),
    ("entropy_l", "Entropy l", "values that are as uncertain as those of its surest class"),
    (
        "recursive_c",
        "Recursive c",
        "for l = 2: how much the first value outweighs all others; none: a class has one",
    ),
    ("variational", "Variational t", "share of a class that would have to change to be like the whole table"),
    ("kl", "KL t, nats", "divergence from the whole table, natural logarithm"),
    ("ordered", "Ordered t", "earth mover's distance from the whole table, for numbers"),
)
CLASSED = (
    "A class is a set of records that agree in every identifying column. The larger the classes, "
    "the less anybody stands out. A promise about somebody who knows only some of the columns "
    "does not bound these classes, which are about somebody who knows all of them."
)
BUCKETED = (
    "Identifying values are published as they are: whoever knows them finds a person's record as easily as "
    "in the original data. Sensitive values stand in another table, by bucket; which of a bucket's values is "
    "whose is not said anywhere. So the larger and the more mixed the buckets, the less is learnt."
)


def classes(evidence: Evidence) -> Safe | None:
    """How many records share all their identifying values."""
    found = evidence.measures.classes
    return None if found is None else class_sizes(found, split=evidence.recoding == BUCKETS)


def class_sizes(found: ClassSizes, *, split: bool = False) -> Safe:
    """How large classes are, or buckets where sensitive values stand in a table of their own."""
    return join(
        (
            paragraph(BUCKETED if split else CLASSED),
            facts(
                (
                    ("Buckets" if split else "Classes", count(found.count)),
                    ("Smallest", count(found.smallest)),
                    ("Average size", decimal(found.average)),
                    ("Largest", count(found.largest)),
                )
            ),
            class_plots(found.histogram) if found.histogram else None,
        )
    )


def class_plots(bins: Sequence[SizeBin]) -> Safe:
    rows = [(size_range(b), count(b.classes) or "", count(b.records) or "") for b in bins]
    views = [(f"By {what}", class_histogram(f"sizes-{what}", bins, what)) for what in ("classes", "records")]
    return join(
        (
            switch("sizes", *views) if len(bins) > 1 else None,  # one column says nothing that facts do not
            behind(
                "As a table",
                table(
                    ("Records in a class", "Classes", "Records"), rows, numeric=(1, 2), caption="Class sizes"
                ),
            ),
        )
    )


def class_histogram(ident: str, bins: Sequence[SizeBin], what: str) -> Safe:
    made = []
    for b in bins:
        tip = f"Classes of {size_range(b)}: {counted(b.classes, 'class', 'classes')}"
        tip += f" with {counted(b.records, 'record')}"
        height = float(b.classes if what == "classes" else b.records)
        made.append(Bin(short(b.from_), short(b.to + 1), height, tip))
    return histogram(
        ident,
        made,
        title=f"Class sizes by number of {what}",
        description=f"A column for each range of class sizes, as high as the {what} in such classes.",
        across="records in a class",
        upwards=what,
    )


def size_range(b: SizeBin) -> str:
    return counted(b.from_, "record") if b.to == b.from_ else f"{b.from_:,} to {b.to:,} records"


RISKS = (
    ("highest", "Highest risk", "The chance of picking the right record of the person most exposed"),
    ("average", "Average risk", "The same chance, averaged over all persons"),
    ("unique_share", "Unique records", "The share of records that nobody else's record resembles"),
)


def narrower(evidence: Evidence) -> str | None:
    """Said where this view supposes more knowledge than a promise does: the two must not be mixed up."""
    known = partial_knowledge(evidence)
    if known is None:
        return None
    return (
        f" This is more than the promise is about: there, at most {known} of these "
        f"{len(quasi_columns(evidence))} values are known. So a person may stand out here although the "
        "promise is kept."
    )


def risks(evidence: Evidence) -> Safe | None:
    """What somebody who knows every identifying value of a person could do, before and after."""
    found = evidence.measures.risk
    if found is None or evidence.recoding == BUCKETS:
        return None
    untrue = " Values of this release need not be true, so a record that seems to be theirs may not be."
    return exposures(found, narrower(evidence), untrue if evidence.recoding == PERTURBED else None)


def exposures(found: RiskNote, *beside: str | None) -> Safe:
    """The prosecutor's chances, before and after; what else must be said of them stands beside."""
    before, after = found.before, found.after
    pairs: list[Pair] = []
    rows: list[tuple[Content, ...]] = []
    for key, name, meaning in RISKS:
        old, new = share(getattr(before, key, None)), share(getattr(after, key))
        if old is None or new is None:
            continue
        tips = f"{name} before: {risk(old)}", f"{name} after: {risk(new)}"
        pairs.append(Pair(name, old, new, f"{percent(old)} → {percent(new)}", tips))
        rows.append((join((name, tag("br"), tag("small", meaning))), risk(old), risk(new)))
    for key, name in (("unique_records", "Unique records, counted"), ("classes", "Classes")):
        rows.append((name, count(getattr(before, key, None)) or "", count(getattr(after, key)) or ""))
    return join(
        (
            paragraph(
                "Suppose somebody knows that a person is in the data, and knows every identifying value of "
                "that person (the prosecutor's view). How likely do they pick the right record?",
                *beside,
            ),
            legend(("before", "original data"), ("after", "this release")) if pairs else None,
            dumbbells(
                "risk",
                pairs,
                title="Risk before and after",
                description="For each measure, a circle for the original data, a diamond for this release.",
            )
            if pairs
            else None,
            behind(
                "As a table",
                table(
                    ("", "Original data", "This release"),
                    rows,
                    numeric=(1, 2),
                    caption="Risk before and after",
                ),
            ),
        )
    )


LOSSES = (
    ("lm", "Detail lost (LM)", "0%: values as they were, 100%: nothing told", percent),
    ("ncp", "Width lost (NCP)", "how wide published values are, against the whole range", percent),
    ("entropy", "Bits lost (entropy)", "of what told a record's value, common values weighing less", percent),
    ("precision", "Levels kept (precision)", "100%: no value was raised, 0%: all to the top", percent),
    (
        "kl",
        "Divergence of counts (KL)",
        "bits, each column by itself, added up; 0: counts are right",
        decimal,
    ),
    ("gain_retained", "Use for prediction kept", "information gain about the target that is left", percent),
    ("discernibility_ratio", "Discernibility", "0%: no two records alike, 100%: all alike", percent),
    ("discernibility", "Discernibility, as a sum", "sum of the squares of the class sizes", decimal),
    ("average_class_size", "Average class size", "records for each class", decimal),
    ("height", "Height", "levels that values were raised, added up over columns", decimal),
    ("suppressed_cells", "Cells hidden altogether", "cells published as the most general value", count),
    (
        "query_error",
        "Error of a count",
        "median, of random counts by identifying and sensitive values",
        percent,
    ),
)


def losses(evidence: Evidence) -> Safe | None:
    """What the reader of the data no longer sees."""
    return given_up(evidence.measures.loss, evidence.measures.attributes or {}, how_lost(evidence.recoding))


def given_up(found: Loss | None, columns: Mapping[str, ColumnLoss], how: str) -> Safe | None:
    """Loss by column and over all of them; first what was done to values."""
    rows = [
        (join((name, tag("br"), tag("small", meaning))), said)
        for key, name, meaning, form in LOSSES
        if (said := form(getattr(found, key, None))) is not None
    ]
    views = switch(
        "loss",
        ("LM: detail lost", loss_bars(columns, "lm", "LM")),
        ("NCP: width lost", loss_bars(columns, "ncp", "NCP")),
        ("Entropy: bits lost", loss_bars(columns, "entropy", "Entropy")),
    )
    if not rows and views is None:
        return None
    each = [
        (
            label(name),
            percent(lost.lm) or "",
            percent(lost.ncp) or "",
            percent(lost.entropy) or "",
            percent(lost.precision) or "",
            decimal(lost.kl) or "",
        )
        for name, lost in columns.items()
    ]
    return join(
        (
            paragraph(how),
            views,
            behind(
                "As a table",
                table(
                    ("Column", "LM", "NCP", "Entropy", "Precision", "KL, bits"),
                    each,
                    numeric=(1, 2, 3, 4, 5),
                    caption="Loss by column",
                ),
            )
            if views is not None
            else None,
            table(("Over all identifying columns", "Found"), rows, numeric=(1,), caption="Loss overall")
            if rows
            else None,
        )
    )


def how_lost(recoding: str) -> str:
    """What was done to values, before numbers say how much it cost."""
    if recoding == BUCKETS:
        return "Every value is published as it is. What is lost is which sensitive value goes with whom."
    if recoding == PERTURBED:
        return "Values were changed by chance or by calculation, so single cells need not be true any more."
    return (
        "Identifying values are published in a more general form, so that every promise holds. 0% "
        "means that a column is as detailed as it was, 100% that it tells nothing any more."
    )


def loss_bars(columns: Mapping[str, ColumnLoss], key: str, name: str) -> Safe | None:
    """Columns by how much they lost, most first."""
    found = [(name, lost) for name, one in columns.items() if (lost := share(getattr(one, key))) is not None]
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    rows = [
        Bar(label(c), lost, percent(lost) or "", f"{label_text(c)}: {name} {percent(lost)}")
        for c, lost in found
    ]
    return bars(rows, name=f"{name} by column", tone="loss")


def worst(evidence: Evidence) -> Safe | None:
    """A column for each sensitive attribute, a row for each measure."""
    found = evidence.measures.worst_classes
    return gives_away(found) if found else None


def gives_away(found: Mapping[str, WorstClass]) -> Safe:
    """By sensitive attribute."""
    rows = [
        (
            join((name, tag("br"), tag("small", meaning))),
            *(decimal(getattr(one, key)) or "none" for one in found.values()),
        )
        for key, name, meaning in FIGURES
        if any(key in one for one in found.values())
    ]
    return join(
        (
            paragraph(
                "For each sensitive column the class that gives away most, by measures that a promise could "
                "be about, whether one was made or not. Only the promises above are kept on purpose."
            ),
            table(
                ("", *(label(name) for name in found)),
                rows,
                numeric=range(1, len(found) + 1),
                caption="What the worst class gives away",
            ),
        )
    )


def dimensions(evidence: Evidence) -> Safe | None:
    """How wide values must become, by the number of identifying columns."""
    found = evidence.measures.dimensionality
    return None if found is None else widths(found)


def widths(found: Width, tried: Sequence[float] = ()) -> Safe:
    """What is expected of so many columns; `tried`: what was found in the table itself."""
    rows = [
        Bar(
            f"{at} column{'s' if at > 1 else ''}",
            width,
            percent(width) or "",
            f"With {at} identifying columns about {percent(width)} of every range is expected",
        )
        for at, width in enumerate(found.expected, start=1)
    ]
    observed = percent(found.observed)
    here = [
        Bar(
            f"{at} column{'s' if at > 1 else ''}",
            width,
            percent(width) or "",
            f"{at}: {percent(width)} covered",
        )
        for at, width in enumerate(tried, start=1)
    ]
    return join(
        (
            paragraph(
                "The more columns identify, the wider each value must be before "
                f"{count(found.k)} people share all of them. This is how much of every "
                "range a value would cover if people were spread evenly; they never are, so it is a guide "
                "and no bound."
            ),
            switch(
                "widths",
                ("Expected", bars(rows, name="Expected width by number of identifying columns")),
                ("In this table", bars(here, name="Width in this table by columns") if here else None),
            ),
            paragraph(f"In this release values cover {observed} of their ranges on average (NCP).")
            if observed
            else None,
            paragraph(
                "That is more than half: so many identifying columns leave little. Fewer would keep more.",
                class_="warn",
            )
            if found.too_wide
            else None,
        )
    )
