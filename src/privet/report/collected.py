"""The page of `privet collect reconstruct`: what answers hide, what they say together, how it was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from privet.report.html import page
from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, counted, percent, tables
from privet.report.plots import above, legend, line, mark, pct, picture, shape, words
from privet.report.sections import Section

COLUMNS = 120  # of a plot; neighbours share one beyond that
HEIGHT = 200


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what the command answers with `--json`."""
    estimates, pairs = tables(found.get("columns")), tables(found.get("pairs"))
    parts = [Section("hides", "What each answer hides", hides)]
    parts += [
        Section(f"column-{at}", f"Reconstructed: {label_text(one['column'])}", _of(one, estimated))
        for at, one in enumerate(estimates)
    ]
    parts += [
        Section(
            f"pair-{at}", f"Together: {' and '.join(map(label_text, one['columns']))}", _of(one, together)
        )
        for at, one in enumerate(pairs)
    ]
    told = [(part, body) for part in parts if (body := part.body(found)) is not None]
    purpose = str(found.get("purpose") or "")
    headline = tag(
        "header",
        paragraph("Collection report", class_="over"),
        tag("h1", label_text(purpose) if purpose else "What perturbed answers say together"),
        paragraph(
            "Nobody's true answer was collected. What stands here are estimates of how true answers are "
            "distributed, with the uncertainty that the noise leaves."
        ),
        facts((("Answers", count(found["records"])), ("Questions", count(len(estimates) or len(pairs))))),
    )
    return page(
        f"Collection report: {label_text(purpose)}" if purpose else "Collection report", headline, told
    )


def _of(
    one: Mapping[str, Any], body: Callable[[Mapping[str, Any]], Safe]
) -> Callable[[Mapping[str, Any]], Safe]:
    return lambda _: body(one)


def hides(found: Mapping[str, Any]) -> Safe:
    """Interval, epsilon and bits of each column."""
    rows = []
    for one in tables(found.get("privacy")):
        told = one.get("information")
        rows.append(
            (
                label(one["column"]),
                str(one["mechanism"]),
                _epsilon(one),
                *(_within(one, hidden) for hidden in one["intervals"]),
                "-" if told is None else f"{told['bits']:.2f} of {told['of']:.2f}",
            )
        )
    return join(
        (
            paragraph(
                "Epsilon holds against everybody, whatever they know: no answer is more than exp(epsilon) "
                "times likelier from one true value than from another. The other columns are about somebody "
                "who knows nothing else: where the true value is with that confidence, and how many bits an "
                "answer tells if all true values are alike. Where epsilon is not finite, some answers give "
                "the true value away."
            ),
            table(
                ("Question", "Mechanism", "Epsilon", "Within, at 50%", "At 95%", "At 99.9%", "Bits told"),
                rows,
                numeric=(2, 3, 4, 5, 6),
                caption="What each answer hides",
            ),
        )
    )


def _epsilon(one: Mapping[str, Any]) -> str:
    if one["mechanism"] == "as-is":
        return "hides nothing"
    return "not finite" if one["epsilon"] is None else str(one["epsilon"])


def _within(one: Mapping[str, Any], hidden: Mapping[str, Any]) -> str:
    if one["mechanism"] == "as-is":
        return "-"
    if one["type"] == "category":
        return f"{hidden['width']} of {one['values']} values"
    return "whole range" if hidden["relative"] >= 1 else f"{hidden['width']:.4g}"


def estimated(one: Mapping[str, Any]) -> Safe:
    """One column: shares with their bands, how the iteration went, and the numbers."""
    banded = "low" in one
    said = f"{counted(one['records'], 'answer')}; {one['mechanism']}."
    if "iterations" in one:
        said += f" {counted(one['iterations'], 'iteration')}: {one['stopped']}."
    if one.get("dropped"):
        said += f" {counted(one['dropped'], 'answer')} that the plan cannot explain left out."
    if one.get("mean") is not None:
        said += f" Mean about {one['mean']:.4g}."
    if "bands" in one:
        said += f" Bands of {100 * one['confidence']:g} %: {one['bands']}."
    heads = ["True answer", "Share", *(["From", "To"] if banded else []), "In the perturbed answers"]
    rows = [
        (
            label(name),
            percent(one["shares"][at]),
            *((percent(one["low"][at]), percent(one["high"][at])) if banded else ()),
            percent(one["perturbed"][at]) if one.get("perturbed") else "-",
        )
        for at, name in enumerate(one["labels"])
    ]
    numbers = table(
        heads, rows, numeric=range(1, len(heads)), caption=f"Shares of {label_text(one['column'])}"
    )
    return join(
        (
            paragraph(said),
            _keys(banded=banded, perturbed=bool(one.get("perturbed"))),
            shares(one),
            behind("As a table", numbers),
            convergence(one),
        )
    )


def _keys(*, banded: bool, perturbed: bool) -> Safe:
    known = [("after", "estimated share" + (", with its band" if banded else ""))]
    return legend(*known, *([("before", "share among the perturbed answers")] if perturbed else []))


def shares(one: Mapping[str, Any]) -> Safe:
    """Estimated shares as points with bands, perturbed ones as circles."""
    groups = _groups(len(one["labels"]))
    values = [sum(one["shares"][at] for at in group) for group in groups]
    raw = [sum(one["perturbed"][at] for at in group) for group in groups] if one.get("perturbed") else None
    alone = len(groups) == len(one["labels"]) and "low" in one  # bands of several bins do not add up
    highest = max([*values, *(raw or ()), *(one["high"] if alone else ())]) or 1.0
    step = _round(highest / 4)
    top = step * math.ceil(highest / step - 1e-9)
    parts = [above("share")]
    for rung in range(round(top / step) + 1):
        y = f"{HEIGHT * (1 - rung * step / top):.1f}"
        parts += [
            line("0", y, "100%", y, "grid"),
            words("0", y, f"{100 * rung * step:g}%", "end", dx=-8, dy=4),
        ]
    every = -(-len(groups) // 4)  # as many names as a phone has room for
    for at, (group, value) in enumerate(zip(groups, values, strict=True)):
        x, y = pct((at + 0.5) / len(groups)), f"{HEIGHT * (1 - value / top):.1f}"
        first, last = one["labels"][group[0]], one["labels"][group[-1]]
        name = label_text(first if len(group) == 1 else f"{first} … {last}")
        tip = f"{name}: {percent(value)}"
        if alone:
            low, high = one["low"][at], one["high"][at]
            tip += f", from {percent(low)} to {percent(high)}"
            parts.append(
                line(x, f"{HEIGHT * (1 - low / top):.1f}", x, f"{HEIGHT * (1 - high / top):.1f}", "path")
            )
        if raw is not None:
            parts.append(
                mark(
                    f"{name}: {percent(raw[at])} of the perturbed answers",
                    shape("before", x, f"{HEIGHT * (1 - raw[at] / top):.1f}"),
                    first=False,
                )
            )
        parts.append(mark(tip, shape("after", x, y), first=at == 0))
        if at % every == 0:
            parts.append(words(x, str(HEIGHT), label_text(first)[:9], dy=20))
    parts.append(line("0", str(HEIGHT), "100%", str(HEIGHT), "axis"))
    return picture(
        f"shares-{_ident(one)}",
        f"Shares of {label_text(one['column'])}",
        "Each true answer with its estimated share; the table below has the numbers.",
        *parts,
        height=HEIGHT + 36,
        class_="left tall",
    )


def convergence(one: Mapping[str, Any]) -> Safe | None:
    """How well the estimate fitted, and predicted what was held out, iteration by iteration."""
    steps = [step for step in tables(one.get("convergence")) if step["fit"] is not None]
    if len(steps) < 2:
        return None
    held = all(step.get("held_out") is not None for step in steps)
    curves = {"stair": [step["fit"] for step in steps]}
    if held:
        curves["path dashed"] = [step["held_out"] for step in steps]
    low, high = min(map(min, curves.values())), max(map(max, curves.values()))
    room = high - low or 1.0
    last = max(step["iteration"] for step in steps)

    def across(iteration: float) -> str:
        return pct(math.log1p(iteration) / math.log1p(last))  # the first steps change most

    def upwards(value: float) -> str:
        return f"{HEIGHT * (1 - (value - low) / room):.1f}"

    parts = [above("log-likelihood of an answer"), line("0", str(HEIGHT), "100%", str(HEIGHT), "axis")]
    parts += [words("0", upwards(value), f"{value:.4f}", "end", dx=-8, dy=4) for value in (low, high)]
    for style, values in curves.items():
        places = [
            (across(step["iteration"]), upwards(value)) for step, value in zip(steps, values, strict=True)
        ]
        parts += [line(*here, *there, style) for here, there in pairwise(places)]
    chosen = min(steps, key=lambda step: abs(step["iteration"] - one["iterations"]))
    value = chosen["held_out"] if held else chosen["fit"]
    tip = f"iteration {one['iterations']:,} was taken: {one['stopped']}"
    parts.append(mark(tip, shape("after", across(one["iterations"]), upwards(value)), first=True))
    ticks = [10**power for power in range(6) if 10**power <= last]
    parts += [words(across(tick), str(HEIGHT), f"{tick:,}", dy=20) for tick in ticks]
    parts.append(words("50%", str(HEIGHT), "iterations", dy=40))
    said = "The line is how well the estimate fits the answers that it was made from; it never falls." + (
        " The dashed line is how well it predicts answers that were held out. Where that stops rising, "
        "going on would fit the noise."
        if held
        else ""
    )
    drawn = picture(
        f"convergence-{_ident(one)}", "Convergence", said, *parts, height=HEIGHT + 48, class_="left tall"
    )
    return join((tag("h3", "How the iteration went"), paragraph(said), drawn))


def together(one: Mapping[str, Any]) -> Safe:
    """Two columns: shares of pairs as a table."""
    first, second = map(label_text, one["columns"])
    rows = [
        (label(name), *(percent(share) for share in row))
        for name, row in zip(one["labels"][0], one["shares"], strict=True)
    ]
    said = (
        f"{counted(one['records'], 'answer')}. One answer tells {one['information']:.3f} bits about the "
        "other, as far as the noise lets it be seen."
    )
    numbers = table(
        (f"{first} \\ {second}", *map(label_text, one["labels"][1])),
        rows,
        numeric=range(1, len(one["labels"][1]) + 1),
        caption=f"Shares of {first} and {second}",
    )
    return join((paragraph(said), numbers))


def _ident(one: Mapping[str, Any]) -> str:
    """Something that may stand in an id, whatever the column is called."""
    return "".join(f"{ord(letter):x}" for letter in str(one["column"])[:40])


def _groups(size: int) -> list[Sequence[int]]:
    """Neighbouring bins that share a place of a plot."""
    every = -(-size // COLUMNS)
    return [range(at, min(at + every, size)) for at in range(0, size, every)]


def _round(rough: float) -> float:
    """A round number from this on.

    >>> _round(0.034), _round(0.2)
    (0.05, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(rough) + 1e-9)
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
