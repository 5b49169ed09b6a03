"""The page of `privet compare`: what a release lost, and what risk is left, beside the raw data.

It is made of figures about raw data, so it stays with the steward, and says so first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evidence.measures import ColumnLoss, Loss, RiskNote, WorstClass
from privet.report import findings
from privet.report.exposed import STAYS, sizes, widths
from privet.report.html import page
from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, switch, table, tag
from privet.report.numerals import count, decimal, part, percent, share
from privet.report.plots import Bar, bars
from privet.report.sections import Section

ERRORS = (
    ("be", "Raw data"),
    ("ce", "Published data"),
    ("ue", "Without identifying columns"),
)


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what `privet.compare` returns of a table."""
    parts = (
        Section("risk", "Risk before and after", risks),
        Section("classes", "Class sizes", sizes),
        Section("worst", "What the worst class gives away", gives_away),
        Section("loss", "What was lost", losses),
        Section("columns", "What each column can still tell", columns),
        Section("counts", "Counts from the release", counts),
        Section("classifier", "A classifier on both", classifier),
        Section("dimensions", "How many columns identify", widths),
    )
    bodies = [(one, body) for one in parts if (body := one.body(found)) is not None]
    lost = percent(part(found, "loss").get("lm"))
    headline = tag(
        "header",
        paragraph("Comparison", class_="over"),
        tag("h1", "What the release lost"),
        paragraph(tag("strong", f"{lost} of the detail in identifying columns was given up"))
        if lost
        else None,
        paragraph(STAYS, class_="warn"),
        facts(
            (
                ("Records published", count(found.get("records"))),
                ("Records left out", count(part(found, "loss").get("suppressed_records"))),
                ("Recoding", part(found, "recoding").get("type")),
            )
        ),
    )
    return page("Comparison: a release and its raw data", headline, bodies)


def risks(found: Mapping[str, Any]) -> Safe:
    """The prosecutor's chances, in the raw data and in the release."""
    return findings.exposures(RiskNote.read(found["risk"]))


def gives_away(found: Mapping[str, Any]) -> Safe | None:
    """By sensitive attribute, where there is one."""
    each = {name: WorstClass.read(one) for name, one in part(found, "worst_classes").items()}
    return findings.gives_away(each) if each else None


def losses(found: Mapping[str, Any]) -> Safe | None:
    """What the reader of the release no longer sees."""
    columns = {name: ColumnLoss.read(one) for name, one in found["attributes"].items()}
    recoding = found.get("kind") or part(found, "recoding").get("type")
    return findings.given_up(Loss.read(found["loss"]), columns, findings.how_lost(str(recoding)))


def columns(found: Mapping[str, Any]) -> Safe | None:
    """How many values each column has left, how far its counts are, and what it tells about the target."""
    each = part(found, "attributes")
    if not each:
        return None
    kept = [
        Bar(
            label(name),
            of,
            f"{percent(of)}",
            f"{label_text(name)}: {count(part(each, name).get('published_values'))} of "
            f"{count(part(each, name).get('raw_values'))} values",
        )
        for name in each
        if (of := left(part(each, name))) is not None
    ]
    gain = [
        Bar(
            label(name),
            height,
            percent(height) or "",
            f"{label_text(name)}: {percent(height)} of its gain is kept",
        )
        for name in each
        if (height := share(part(each, name).get("gain_retained"))) is not None
    ]
    high = max((part(each, name).get("kl") or 0.0 for name in each), default=0.0)
    far = [
        Bar(
            label(name),
            bits / high if high else 0.0,
            f"{decimal(bits)} bits",
            f"{label_text(name)}: counts are {decimal(bits)} bits away from the raw ones",
        )
        for name in each
        if (bits := part(each, name).get("kl")) is not None
    ]
    return join(
        (
            switch(
                "columns",
                ("Values left", bars(kept, name="Published values for raw ones") if kept else None),
                ("Divergence of counts (KL)", bars(far, name="KL by column", tone="loss") if far else None),
                ("Gain about the target kept", bars(gain, name="Gain kept by column") if gain else None),
            ),
            behind(
                "As a table",
                table(
                    (
                        "Column",
                        "Raw values",
                        "Published values",
                        "Cells that say nothing",
                        "KL, bits",
                        "Gain kept",
                    ),
                    [
                        (
                            label(name),
                            count(part(each, name).get("raw_values")),
                            count(part(each, name).get("published_values")),
                            percent(part(each, name).get("suppressed_share")),
                            decimal(part(each, name).get("kl")),
                            percent(part(each, name).get("gain_retained")),
                        )
                        for name in each
                    ],
                    numeric=(1, 2, 3, 4, 5),
                    caption="What each column can still tell",
                ),
            ),
        )
    )


def left(column: Mapping[str, Any]) -> float | None:
    """Published values for each raw one; never above all of them."""
    now, before = column.get("published_values"), column.get("raw_values")
    return min(1.0, now / before) if now is not None and before else None


def counts(found: Mapping[str, Any]) -> Safe | None:
    """How far off a random count is that somebody makes from the release."""
    loss = part(found, "loss")
    error, far = share(loss.get("query_error")), decimal(loss.get("joint_kl"))
    if error is None and far is None:
        return None
    rows = (
        []
        if error is None
        else [Bar("median error of a count", error, percent(error) or "", f"{percent(error)}")]
    )
    return join(
        (
            paragraph(
                "Somebody counts records by some identifying values and a sensitive one, supposing that each "
                "published record may have any of the values its label stands for with the same chance."
            ),
            bars(rows, name="Error of a random count", tone="loss") if rows else None,
            paragraph(f"All columns together are {far} bits away from the raw data (KL).") if far else None,
        )
    )


def classifier(found: Mapping[str, Any]) -> Safe | None:
    """What a decision tree gets wrong."""
    trained = part(found, "classification")
    if not trained:
        return None
    if "skipped" in trained:
        return paragraph(f"No classifier was trained: {trained['skipped']}.")
    rows = [
        Bar(name, height, percent(height) or "", f"{name}: wrong in {percent(height)} of cases")
        for key, name in ERRORS
        if (height := share(trained.get(key))) is not None
    ]
    said = f"A decision tree, trained on {count(trained.get('train'))} records, is wrong in so many of "
    return join(
        (
            paragraph(f"{said}{count(trained.get('test'))} others."),
            bars(rows, name="Error of a classifier", tone="loss"),
            learners(trained),
        )
    )


def learners(trained: Mapping[str, Any]) -> Safe:
    """What other learners get wrong on the same records."""
    others = [
        (name, errs) for name, errs in (trained.get("learners") or {}).items() if name != "decision tree"
    ]
    if not others:
        return join(())
    return table(
        ("Learner", *(name for _, name in ERRORS)),
        [(name, *(percent(share(errs.get(key))) or "-" for key, _ in ERRORS)) for name, errs in others],
        numeric=(1, 2, 3),
        caption="Other learners on the same records",
    )
