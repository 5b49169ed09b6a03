"""The sections on what was measured: class sizes, risk, and loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.report.curves import legend
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
    part,
    percent,
    risk,
    share,
    short,
    tables,
    whole,
)
from privet.report.plots import Bar, Bin, Pair, bars, dumbbells, histogram
from privet.report.sections import Evidence, partial_knowledge, quasi_columns

BUCKETS, PERTURBED = "buckets", "perturbation"  # recodings that are not about coarser values
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
    found = part(evidence, "measures", "classes")
    if not found:
        return None
    bins = [
        b
        for b in tables(found.get("histogram"))
        if whole(b.get("from")) is not None and whole(b.get("classes")) is not None
    ]
    split = evidence.get("recoding") == BUCKETS
    return join(
        (
            paragraph(BUCKETED if split else CLASSED),
            facts(
                (
                    ("Buckets" if split else "Classes", count(found.get("count"))),
                    ("Smallest", count(found.get("smallest"))),
                    ("Average size", decimal(found.get("average"))),
                    ("Largest", count(found.get("largest"))),
                )
            ),
            class_plots(bins) if bins else None,
        )
    )


def class_plots(bins: list[Mapping[str, Any]]) -> Safe:
    rows = [(size_range(b), count(b.get("classes")) or "", count(b.get("records")) or "") for b in bins]
    views = [
        (f"By {what}", class_histogram(f"sizes-{what}", bins, what))
        for what in ("classes", "records")
        if all(whole(b.get(what)) is not None for b in bins)
    ]
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


def class_histogram(ident: str, bins: list[Mapping[str, Any]], what: str) -> Safe:
    made = []
    for b in bins:
        numbers = whole(b.get("classes")) or 0, whole(b.get("records"))
        tip = f"Classes of {size_range(b)}: {counted(numbers[0], 'class', 'classes')}"
        tip += "" if numbers[1] is None else f" with {counted(numbers[1], 'record')}"
        height = float(whole(b.get(what)) or 0)
        end = whole(b.get("to"))
        made.append(Bin(short(whole(b.get("from")) or 0), "" if end is None else short(end + 1), height, tip))
    return histogram(
        ident,
        made,
        title=f"Class sizes by number of {what}",
        description=f"A column for each range of class sizes, as high as the {what} in such classes.",
        across="records in a class",
        upwards=what,
    )


def size_range(b: Mapping[str, Any]) -> str:
    start, end = whole(b.get("from")) or 0, whole(b.get("to"))
    if end is None:
        return f"{start:,} records and more"
    return counted(start, "record") if end == start else f"{start:,} to {end:,} records"


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
    before, after = part(evidence, "measures", "risk", "before"), part(evidence, "measures", "risk", "after")
    pairs: list[Pair] = []
    rows: list[tuple[Content, ...]] = []
    for key, name, meaning in RISKS:
        old, new = share(before.get(key)), share(after.get(key))
        if old is None or new is None:
            continue
        tips = f"{name} before: {risk(old)}", f"{name} after: {risk(new)}"
        pairs.append(Pair(name, old, new, f"{percent(old)} → {percent(new)}", tips))
        rows.append((join((name, tag("br"), tag("small", meaning))), risk(old), risk(new)))
    for key, name in (("unique_records", "Unique records, counted"), ("classes", "Classes")):
        if count(before.get(key)) is not None or count(after.get(key)) is not None:
            rows.append((name, count(before.get(key)) or "", count(after.get(key)) or ""))
    if not rows or evidence.get("recoding") == BUCKETS:
        return None
    return join(
        (
            paragraph(
                "Suppose somebody knows that a person is in the data, and knows every identifying value of "
                "that person (the prosecutor's view). How likely do they pick the right record?",
                narrower(evidence),
                " Values of this release need not be true, so a record that seems to be theirs may not be."
                if evidence.get("recoding") == PERTURBED
                else None,
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
    found, columns = part(evidence, "measures", "loss"), part(evidence, "measures", "attributes")
    rows = [
        (join((name, tag("br"), tag("small", meaning))), said)
        for key, name, meaning, form in LOSSES
        if (said := form(found.get(key))) is not None
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
            percent(part(columns, name).get("lm")) or "",
            percent(part(columns, name).get("ncp")) or "",
            percent(part(columns, name).get("entropy")) or "",
            percent(part(columns, name).get("precision")) or "",
            decimal(part(columns, name).get("kl")) or "",
        )
        for name in columns
    ]
    return join(
        (
            paragraph(how_lost(evidence)),
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


def how_lost(evidence: Evidence) -> str:
    """What was done to values, before numbers say how much it cost."""
    if evidence.get("recoding") == BUCKETS:
        return "Every value is published as it is. What is lost is which sensitive value goes with whom."
    if evidence.get("recoding") == PERTURBED:
        return "Values were changed by chance or by calculation, so single cells need not be true any more."
    return (
        "Identifying values are published in a more general form, so that every promise holds. 0% "
        "means that a column is as detailed as it was, 100% that it tells nothing any more."
    )


def loss_bars(columns: Mapping[str, Any], key: str, name: str) -> Safe | None:
    """Columns by how much they lost, most first."""
    found = [
        (column, lost) for column in columns if (lost := share(part(columns, column).get(key))) is not None
    ]
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    rows = [
        Bar(label(c), lost, percent(lost) or "", f"{label_text(c)}: {name} {percent(lost)}")
        for c, lost in found
    ]
    return bars(rows, name=f"{name} by column", tone="loss")
