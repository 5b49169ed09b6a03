"""The report for people: one HTML file that needs no network, no library and no script to be read.

A strict content security policy stands in the file itself: nothing may be fetched, and the only script
that runs is the package's own, by its digest.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from operator import attrgetter
from typing import Any

from privet.evidence.values import Evidence
from privet.report import (
    documents,
    findings,
    joint,
    published,
    sections,
    spent,
    tradeoff,
    trajectories,
    transactions,
)
from privet.report.markup import Safe, join, label_text, tag
from privet.report.sections import Section

SECTIONS = (
    Section("promises", "What was promised, what was achieved", sections.promises),
    Section("spent", "What was spent, and what that means for a person", spent.spent, attrgetter("ledger")),
    Section("columns", "What each column became", published.columns),
    Section("marginals", "Each column by itself", spent.marginals, attrgetter("measures.marginals")),
    Section("classes", "Class sizes", findings.classes),
    Section("worst", "What the worst class gives away", findings.worst),
    Section("risk", "Risk before and after", findings.risks),
    Section("loss", "What was lost", findings.losses),
    Section("dimensions", "How many columns identify", findings.dimensions),
    Section("tradeoff", "What less risk has cost", tradeoff.tradeoff),
    Section("paths", "What became of the paths", trajectories.kept, attrgetter("measures.patterns")),
    Section("sets", "What became of the sets", transactions.kept, attrgetter("sets")),
    Section("heat", "Places and times", trajectories.heat, attrgetter("paths")),
    Section("loss-curve", "What each removal solved and cost", trajectories.curve, attrgetter("thinning")),
    Section("map", "Map", trajectories.places, attrgetter("stops")),
    Section("depths", "What is left of the trees", documents.depths, attrgetter("documents")),
    Section("tree", "A published class", documents.tree, attrgetter("documents")),
    Section("choice", "Which way to publish is for what", documents.choice, attrgetter("documents")),
    Section("joint", "Who took part, and what each of them saw", joint.taken_part, attrgetter("joint")),
    Section("made", "How it was made", sections.made),
    Section("cautions", "Cautions", sections.cautions),
    Section("verify", "How to verify", sections.verify),
)


def render(evidence: Evidence, parts: Sequence[Section[Evidence]] = SECTIONS) -> str:
    """The report as text. A section the evidence has nothing for is left out."""
    there = [part for part in parts if part.of is None or part.of(evidence) is not None]
    told = [(part, body) for part in there if (body := part.body(evidence)) is not None]
    purpose = evidence.purpose
    title = f"Privacy report: {label_text(purpose)}" if purpose else "Privacy report"
    return page(title, sections.headline(evidence), told)


def page(title: str, headline: Safe, told: Sequence[tuple[Section[Any], Safe]]) -> str:
    """A whole file: a headline, the contents, and sections."""
    contents = join([tag("li", tag("a", part.title, href=f"#{part.ident}")) for part, _ in told])
    script = asset("hover.js")
    whole = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=security(script)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("style", asset("style.css")),
        ),
        tag(
            "body",
            tag("a", "Skip to the report", href="#report", class_="skip"),
            headline,
            tag("nav", tag("ol", contents), aria_label="Contents"),
            tag("main", join([wrapped(part, body) for part, body in told]), id="report"),
            tag("div", id="tip", role="status", hidden=""),
            tag("script", script),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"


def wrapped(part: Section[Any], body: Safe) -> Safe:
    return tag(
        "section",
        tag("h2", part.title, id=f"{part.ident}-heading"),
        body,
        id=part.ident,
        aria_labelledby=f"{part.ident}-heading",
    )


@cache
def asset(name: str) -> Safe:
    """A file of the package, as it stands; the only text that is trusted."""
    return Safe(files("privet.report").joinpath(name).read_text(encoding="utf-8"))


def security(script: str) -> str:
    """What the browser is told to refuse: everything but this file's own style and its one script."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
