"""The report's sections that say what was promised, published and done; findings.py has what was measured.

A section is a name, a title and a function from evidence to its body, or to None where the evidence
has nothing for it. Another room adds its own by putting one more into the list that `render` is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from privet.evidence.values import Evidence, Promise, StepNote
from privet.report.choices import compared, measure_of
from privet.report.claims import Claim, shown
from privet.report.markup import (
    Content,
    Safe,
    behind,
    facts,
    join,
    label,
    label_text,
    paragraph,
    table,
    tag,
)
from privet.report.numerals import (
    count,
    counted,
    decimal,
    moment,
    percent,
    risk,
    whole,
)
from privet.report.words import NULLS, kept, refusal, wording

STEPS = 300  # lines of the step log; evidence.json has them all


Told = TypeVar("Told")  # evidence, or an answer about data


@dataclass(frozen=True, slots=True)
class Section(Generic[Told]):
    """A part of a page that may have nothing to say."""

    ident: str
    title: str
    body: Callable[[Told], Safe | None]
    of: Callable[[Told], object] | None = None  # what it tells of; where that is not there, nothing is asked


def quasi_columns(evidence: Evidence) -> list[str]:
    """The columns an adversary may know."""
    return [name for name, note in evidence.attributes.items() if note.role == "quasi"]


def partial_knowledge(evidence: Evidence) -> int | None:
    """How many values the promises suppose somebody knows; None where it is all of them."""
    # Elsewhere l is another letter: how many values a class has, not how many somebody knows.
    known = [
        whole(promise.model.get("l")) if promise.type == "lkc-privacy" else None
        for promise in evidence.promises
    ]
    if not known or None in known:
        return None
    most = max(l for l in known if l is not None)
    return most if most < len(quasi_columns(evidence)) else None


def verdict(evidence: Evidence) -> bool | None:
    """Is every promise kept? None where there is none."""
    return all(map(kept, evidence.promises)) if evidence.promises else None


def unchecked(promise: Promise) -> bool:
    """Is this about how the data was made, which nobody can check?"""
    return not promise.shown and kept(promise)


def verdict_words(evidence: Evidence) -> tuple[str, str, str]:
    """The headline's sign, tone and sentence; what nobody checked is never called kept."""
    promises = evidence.promises
    many = len(promises)
    if not promises:
        return "?", "", "No promise was made for this release"
    broken = sum(not kept(promise) for promise in promises)
    if broken:
        return "✗", "no", f"{counted(broken, 'promise')} of {many} {'is' if broken == 1 else 'are'} not kept"
    told_only = sum(map(unchecked, promises))
    if told_only == many:
        return "●", "", "The release says how it was made; nobody can check that from the data"
    if told_only:
        sure = counted(many - told_only, "promise")
        verb = "was" if many - told_only == 1 else "were"
        return "✓", "yes", f"{sure} of {many} {verb} checked and kept; the rest is about how it was made"
    said = {1: "The promise is kept", 2: "Both promises are kept"}
    return "✓", "yes", said.get(many, f"All {many} promises are kept")


def outcome(promise: Promise) -> Safe:
    """A promise's answer, or that there can be none."""
    return tag("span", "made so", class_="answer") if unchecked(promise) else answer(holds=kept(promise))


def answer(*, holds: bool | None) -> Safe:
    """Yes or no, in a word and a sign: never by colour alone."""
    if holds is None:
        return tag("span", "not stated", class_="answer")
    return tag("span", "✓ kept" if holds else "✗ broken", class_=f"answer {'yes' if holds else 'no'}")


def headline(evidence: Evidence) -> Safe:
    """The first thing everybody reads."""
    sign, tone, said = verdict_words(evidence)
    return tag(
        "header",
        paragraph("Privacy report", class_="over"),
        tag("h1", evidence.purpose or "A release of personal data"),
        paragraph(
            tag("span", sign, class_="sign", aria_hidden="true"),
            tag("strong", said),
            class_=f"verdict {tone}",
        ),
        facts(
            (
                ("Records", count(evidence.records)),
                ("Records left out", count(evidence.suppressed_records or None)),
                ("Columns published", count(len(evidence.columns) or None)),
                ("Made", moment(evidence.made)),
                ("Made with", evidence.software),
            )
        ),
        figures(evidence),
    )


def figures(evidence: Evidence) -> Safe | None:
    """The three numbers that are asked for most."""
    if evidence.recoding == "buckets":
        return None  # everybody can be found, on purpose; what is hidden is whose value is whose
    found, loss = evidence.measures.risk, evidence.measures.loss
    before, after = (None, None) if found is None else (found.before, found.after)
    known, earlier_highest = partial_knowledge(evidence), None if before is None else percent(before.highest)
    if known is not None and earlier_highest is not None:
        earlier_highest += f"; the promise is about somebody who knows at most {known} of them"
    cards: list[tuple[str | None, str, str | None]] = [
        (
            None if after is None else count(after.unique_records),
            "records stand alone in their combination of identifying values",
            None if before is None else count(before.unique_records),
        ),
        (
            None if after is None else risk(after.highest),
            "highest chance of picking the right record of a person whose identifying values are all known",
            earlier_highest,
        ),
        (
            None if loss is None else percent(loss.lm),
            "of the detail in the identifying columns was given up",
            None,
        ),
        *path_figures(evidence),
    ]
    made = [
        tag(
            "div",
            tag("b", number),
            tag("span", said),
            None if earlier is None else tag("small", f"in the original data: {earlier}"),
        )
        for number, said, earlier in cards
        if number is not None
    ]
    return tag("div", join(made), class_="cards") if made else None


def path_figures(evidence: Evidence) -> list[tuple[str | None, str, str | None]]:
    """What is left of paths, where the release has paths."""
    before, after = evidence.measures.before, evidence.measures.after
    patterns = evidence.measures.patterns
    if before is None or after is None or patterns is None:
        return []
    had = before.visits
    return [
        (percent(after.visits / had) if had else None, "of the visits are published", count(had)),
        (
            count(patterns.surviving),
            f"routes that at least {count(patterns.support)} people took are still there",
            count(patterns.before),
        ),
        (count(after.empty), "records have no visit left", count(before.empty)),
    ]


def promises(evidence: Evidence) -> Safe | None:
    """Each promise in plain words beside what was found."""
    quasi = quasi_columns(evidence)
    made = [promise_card(promise, quasi) for promise in evidence.promises]
    if not made:
        return None
    nulls = NULLS.get(evidence.nulls)
    unsure = bool(evidence.unshown)
    return join(
        (
            paragraph(
                "Some of this is about how the data was made; nobody can check that from the data itself."
                if unsure
                else "Everything here was checked on the published data itself, after it was made."
            ),
            *made,
            None if nulls is None else paragraph(tag("strong", "Missing values. "), nulls),
        )
    )


def promise_card(promise: Promise, quasi: list[str]) -> Safe:
    worded = wording(promise, quasi)
    return tag(
        "article",
        tag("h3", worded.title, " ", outcome(promise)),
        known_columns(list(worded.known)),
        tag(
            "div",
            table(
                ("Promised", "Found", "Kept?"),
                [claim_row(claim, promise) for claim in worded.claims],
                caption=f"{worded.title}: promised and found",
            ),
            class_="claims",
        ),
        paragraph(
            f"Broken in {counted(promise.broken, 'group')}, which hold {counted(promise.at_risk, 'record')}.",
            class_="warn",
        )
        if promise.broken
        else None,
        paragraph(tag("strong", "Not covered: "), worded.limits) if worded.limits else None,
        class_="card",
    )


def claim_row(claim: Claim, promise: Promise) -> tuple[Content, ...]:
    silent = claim.kept is None and unchecked(promise)
    return claim.promised, claim.found, outcome(promise) if silent else answer(holds=claim.kept)


def known_columns(names: list[str]) -> Safe | None:
    """Which values “these values” are."""
    if not names:
        return None
    chips = join([tag("span", label(name), class_="chip") for name in names], " ")
    return paragraph("Values that somebody may know: ", chips, class_="chips")


def made(evidence: Evidence) -> Safe | None:
    """The algorithm, its parameters, and every step it took."""
    if not evidence.algorithm and not evidence.steps and evidence.like is None:
        return None
    pairs = [("Algorithm", shown(evidence.algorithm.get("type")))] if evidence.algorithm else []
    pairs += [
        (label_text(name).replace("_", " ").capitalize(), shown(value))
        for name, value in evidence.algorithm.items()
        if name != "type" and value not in (None, {}, [])
    ]
    if evidence.like is not None:
        pairs.append(("Recoding taken from an earlier release, whose evidence has the digest", evidence.like))
    notes = (tag("li", note[:1].upper() + note[1:]) for note in evidence.notes)
    said = tag("ul", *notes) if evidence.notes else None
    return join((facts(pairs), chosen(evidence), said, step_log(evidence.steps)))


def chosen(evidence: Evidence) -> Safe | None:
    """What an algorithm that tries others took, and what the others would have lost."""
    if evidence.choice is None:
        return None
    rows = [
        (name, "not possible" if loss is None else f"{loss:.0%}", "taken" if taken else "")
        for name, loss, taken in compared(evidence.choice)
    ]
    return table(
        ("Search", measure_of(evidence.choice).capitalize(), ""),
        rows,
        numeric=(1,),
        caption="Searches that were tried, in whole per cent",
    )


def step_log(steps: Sequence[StepNote]) -> Safe | None:
    if not steps:
        return None
    rows = []
    for at, step in enumerate(steps[:STEPS], 1):
        refused = refusal(step)
        outcome: Content = children(step) if refused is None else refused
        score = decimal(step.score) if refused is None else None
        rows.append((f"{at:,}", label(step.attribute), label(step.label), outcome, score or ""))
    left = len(steps) - STEPS
    return behind(
        f"The step log: {counted(len(steps), 'step')}",
        table(
            ("Step", "Column", "Value", "Became", "Score"),
            rows,
            numeric=(0, 4),
            caption="Steps of the search",
        ),
        paragraph(f"{counted(left, 'further step')} in evidence.json.") if left > 0 else None,
    )


def children(step: StepNote) -> Safe:
    """What a value was split into."""
    parts = step.children or ()
    more = [f"{len(parts) - 8:,} more"] if len(parts) > 8 else []
    return join((*(label(part) for part in parts[:8]), *more), " · ")


def cautions(evidence: Evidence) -> Safe | None:
    said = evidence.cautions
    return tag("ul", *(tag("li", caution) for caution in said)) if said else None


def verify(evidence: Evidence) -> Safe:
    """How anybody checks all of this without trusting whoever made it."""
    data = evidence.data
    return join(
        (
            paragraph(
                "Nobody needs to believe this page. Whoever has the folder it came in can check every "
                "promise again, from the folder alone:"
            ),
            tag("pre", tag("code", "privet verify DIR")),
            paragraph(
                "where DIR is that folder. The check counts the published data afresh and compares what it "
                "finds with evidence.json; it also compares the SHA-256 digest of every file, this one "
                "included, with the digest there. Digests show that nothing was changed by accident or on "
                "the way. Whoever could rewrite the whole folder could rewrite evidence.json too: only a "
                "signature, checked with a key that comes from its owner (privet verify DIR --signer "
                "KEY.pub), says who made it."
            ),
            facts(
                (
                    *(
                        ()
                        if data is None
                        else (
                            ("Data file", data.file),
                            ("Format", data.format),
                            ("Encoding", data.encoding),
                        )
                    ),
                    ("Evidence version", str(evidence.evidence)),
                    ("Signed by", ", ".join(signers(evidence)) or "nobody, when it was made"),
                )
            ),
        )
    )


def signers(evidence: Evidence) -> list[str]:
    """Who was to sign; whether they did, `verify` says."""
    return [one.name for one in evidence.signers or ()]
