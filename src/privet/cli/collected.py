"""`privet collect reconstruct` and `train`: what the collector learns from perturbed answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import screen
from privet.cli.collect import Kind, PlanFile, Written, _separator
from privet.cli.options import ARGUMENTS, Delimiter, FileName, Json, Overwrite, whole
from privet.errors import InputError, one_of

BAR = 30  # characters of the longest bar
LINES = 40  # bins that a terminal shows

Perturbed = Annotated[
    str, typer.Argument(metavar="ANSWERS", help=ARGUMENTS["ANSWERS"], click_type=FileName())
]
Bins = Annotated[
    int, typer.Option("--bins", metavar="N", min=2, max=10_000, help="Bins of a column of numbers.")
]
StopRule = Annotated[str, typer.Option("--stop", help="cross-validation, tolerance, chi-square, or never.")]
Tolerance = Annotated[
    float, typer.Option("--tolerance", help="Of --stop tolerance: the mean change of a share.")
]


def reconstruct(
    plan: PlanFile,
    answers: Perturbed,
    *,
    column: Annotated[
        list[str] | None, typer.Option("--column", metavar="NAME", help="This column; may be repeated.")
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", metavar="A,B", help="Two columns together; may be repeated."),
    ] = None,
    bins: Bins = 20,
    method: Annotated[
        str, typer.Option("--method", help="em, or bayes: the channel at each bin's midpoint only.")
    ] = "em",
    stop: StopRule = "cross-validation",
    tolerance: Tolerance = 1e-4,
    iterations: Annotated[
        int, typer.Option("--iterations", metavar="N", min=1, max=100_000, help="The most iterations.")
    ] = 2_000,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the bands; 0 leaves them out.")
    ] = 0.95,
    bands: Annotated[
        str,
        typer.Option("--bands", help="smooth: hold if shares change slowly; any-shape: always, and wider."),
    ] = "smooth",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also draw it into this HTML file.")
    ] = None,
    kind: Kind = None,
    delimiter: Delimiter = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Estimate how true answers are distributed, from perturbed ones and the plan that says how.

    Each step gives every answer to the true values that explain it. Going on for too long fits the noise, so
    part of the answers is held out and the iteration stops where it predicts these best. Bands say how far
    off a share may be; answers that the plan cannot explain are counted and left out.

    Example:
      privet collect reconstruct collect.toml perturbed.csv -o estimate.html
      privet collect reconstruct collect.toml perturbed.csv --column age --pair age,smokes --bins 50

    Next: `privet collect train` learns a classifier from the same answers.

    """
    from privet.cli.answered import opened
    from privet.collect.estimate import Bands, estimate
    from privet.collect.found import described, paired
    from privet.collect.joint import joint
    from privet.collect.matrix import Method
    from privet.collect.observe import read
    from privet.collect.plan import Plan
    from privet.collect.privacy import stated

    said, rule = Plan.load(plan), _stop(stop, tolerance, iterations)
    if method not in {one.value for one in Method}:
        raise InputError(f"--method: {one_of('it', [one.value for one in Method], method)}")
    if not 0 <= confidence < 1:
        raise InputError("--confidence: is from 0 to below 1, such as 0.95")
    if bands not in {one.value for one in Bands}:
        raise InputError(f"--bands: {one_of('it', [one.value for one in Bands], bands)}")
    pairs = [_pair(one) for one in pair or ()]
    names = list(column or (said.columns if not pairs else ()))
    wanted = list(dict.fromkeys([*names, *(name for two in pairs for name in two)]))
    for name in wanted:
        said.column(name)
    with screen.working(json=json) as progress:
        with opened(answers, kind=kind, delimiter=_separator(delimiter)) as source:
            seen = read(
                said, source.bytes, wanted, lines=source.lines, delimiter=source.delimiter, progress=progress
            )
        found: dict[str, Any] = {
            "purpose": said.purpose,
            "records": seen.records,
            "columns": [
                described(
                    estimate(
                        said.columns[name],
                        seen.columns[name],
                        bins=bins,
                        method=Method(method),
                        stop=rule,
                        confidence=confidence or None,
                        bands=Bands(bands),
                        progress=progress,
                    )
                )
                for name in names
            ],
            "pairs": [
                paired(
                    joint(
                        (said.columns[one], seen.columns[one]),
                        (said.columns[two], seen.columns[two]),
                        bins=bins,
                        stop=rule,
                        progress=progress,
                    )
                )
                for one, two in pairs
            ],
            "privacy": [stated(said.columns[name]) for name in wanted],
        }
    if output is not None:
        from privet.report.collected import render

        with whole(output, overwrite=overwrite) as fresh:
            fresh.write_text(render(found), encoding="utf-8")
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found))
    return 0


def train(
    plan: PlanFile,
    answers: Perturbed,
    *,
    label: Annotated[str, typer.Option("--label", metavar="NAME", help="The class, which is sent as it is.")],
    model: Annotated[str, typer.Option("--model", help="naive-bayes or tree.")] = "naive-bayes",
    strategy: Annotated[
        str, typer.Option("--strategy", help="by-class, global, local, or perturbed (to compare).")
    ] = "by-class",
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="True records, to see how often it is right.")
    ] = None,
    bins: Bins = 20,
    depth: Annotated[int, typer.Option("--depth", min=1, max=20, help="Of a tree.")] = 6,
    stop: StopRule = "tolerance",
    tolerance: Tolerance = 1e-4,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where the model is written, as JSON."),
    ] = None,
    kind: Kind = None,
    delimiter: Delimiter = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Train a classifier on reconstructed distributions: nobody's true record is needed.

    by-class reconstructs each column for each class, global once for all classes, local (trees) again at
    every node. The strategy perturbed reconstructs nothing and takes the noise for true, to see what that
    would cost.

    Example:
      privet collect train collect.toml perturbed.csv --label income --test clean.csv
      privet collect train collect.toml perturbed.csv --label income --model tree --strategy local -o
      tree.json

    """
    from privet.cli.answered import opened
    from privet.collect import bayes, tree
    from privet.collect.observe import read
    from privet.collect.plan import Plan
    from privet.collect.training import Strategy, Training

    said, rule = Plan.load(plan), _stop(stop, tolerance, 2_000)
    if model not in {"naive-bayes", "tree"}:
        raise InputError(f"--model: {one_of('it', ('naive-bayes', 'tree'), model)}")
    if strategy not in {one.value for one in Strategy}:
        raise InputError(f"--strategy: {one_of('it', [one.value for one in Strategy], strategy)}")
    how = Strategy(strategy)
    if how is Strategy.LOCAL and model != "tree":
        raise InputError("--strategy: local is for trees; naive Bayes has no nodes")
    said.column(label)
    with screen.working(json=json) as progress:
        with opened(answers, kind=kind, delimiter=_separator(delimiter)) as source:
            seen = read(said, source.bytes, lines=source.lines, delimiter=source.delimiter, progress=progress)
        training = Training.of(seen, label)
        trained: bayes.NaiveBayes | tree.Tree
        if model == "tree":
            trained = tree.train(training, how, bins=bins, stop=rule, depth=depth, progress=progress)
        else:
            trained = bayes.train(training, how, bins=bins, stop=rule)
        found: dict[str, Any] = {
            "label": label,
            "strategy": strategy,
            "bins": bins,
            "records": seen.records,
            "plan": said.digest,
            **trained.document(),
        }
        if test is not None:
            found["test"] = _tested(trained, said, label, (test, kind, _separator(delimiter)))
    if output is not None:
        import json as notation

        with whole(output, overwrite=overwrite) as fresh:
            fresh.write_text(notation.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if json:
        screen.answer(found)
    else:
        screen.say(*_learned(found))
    return 0


def classify(
    plan: PlanFile,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A classifier that `privet collect train -o` has written.")
    ],
    answers: Perturbed,
    *,
    output: Written = None,
    kind: Kind = None,
    delimiter: Delimiter = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Ask a trained classifier: the likeliest class of each true record, one line for each.

    Records are read as they are, without noise: this is for whoever has them and was given the model. The
    model names the plan that it was trained with; answers to another one are refused.

    Example:
      privet collect train collect.toml perturbed.csv --label income -o model.json
      privet collect classify collect.toml model.json new.csv -o classes.csv

    """
    import csv
    import io

    from privet.cli.answered import opened
    from privet.cli.collect import _target
    from privet.collect.classify import load
    from privet.collect.plan import Plan
    from privet.collect.stream import true_codes

    if json and output is None:
        raise InputError("--json: says what was done, so the classes need a file of their own: say -o FILE")
    said = Plan.load(plan)
    asked = load(said, model)
    label = asked.label
    with opened(answers, kind=kind, delimiter=_separator(delimiter)) as source:
        if source.lines:
            raise InputError("ANSWERS: is a CSV, TSV or Parquet file of true records")
        codes = true_codes(said, source.bytes, source.delimiter, without=label.name)
    classes = asked.predict(codes)
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([label.name])
    writer.writerows([label.values[at]] for at in classes.tolist())
    with _target(output, overwrite=overwrite) as target:
        target.write(lines.getvalue().encode())
    counts = {value: int((classes == at).sum()) for at, value in enumerate(label.values)}
    if json:
        screen.answer({"records": len(classes), "label": label.name, "classes": counts})
    elif output is not None:
        screen.say(f"classified {len(classes):,} records into {screen.shown(str(output))}")
    return 0


def _tested(trained: Any, said: Any, label: str, where: tuple[str, str | None, str | None]) -> dict[str, Any]:
    """How often the classifier is right on true records, and how often the commonest class would be."""
    import numpy as np

    from privet.cli.answered import opened
    from privet.collect.stream import true_codes

    test, kind, delimiter = where
    with opened(test, kind=kind, delimiter=delimiter) as source:
        if source.lines:
            raise InputError("--test: is a CSV or TSV file of true records")
        codes = true_codes(said, source.bytes, source.delimiter)
    truth = codes[label]
    if not len(truth):
        raise InputError(f"{test}: there are no records")
    right = float((trained.predict(codes) == truth).mean())
    return {
        "records": len(truth),
        "accuracy": right,
        "majority": float(np.bincount(truth).max() / len(truth)),
    }


def _pair(given: str) -> tuple[str, str]:
    one, comma, two = given.partition(",")
    if not comma or not one.strip() or not two.strip() or one.strip() == two.strip():
        raise InputError("--pair: names two different columns, such as --pair age,smokes")
    return one.strip(), two.strip()


def _stop(rule: str, tolerance: float, most: int) -> Any:
    from privet.collect.iterate import Rule, Stop

    if rule not in {one.value for one in Rule}:
        raise InputError(f"--stop: {one_of('it', [one.value for one in Rule], rule)}")
    if not 0 < tolerance < 1:
        raise InputError("--tolerance: is above 0 and below 1, such as 1e-4")
    return Stop(Rule(rule), tolerance, most)


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    for one in found["columns"]:
        yield f"{screen.shown(one['column'])}: {one['records']:,} answers, {one['mechanism']}, {_how(one)}"
        if one["mean"] is not None:
            yield f"  mean about {one['mean']:.4g}"
        highest = max(one.get("high", one["shares"])) or 1
        rows = []
        for at, (label, share) in enumerate(zip(one["labels"], one["shares"], strict=True)):
            if at == LINES:
                rows.append([f"and {len(one['labels']) - LINES:,} more: --json, or -o FILE", "", "", ""])
                break
            band = f"{100 * one['low'][at]:.1f} to {100 * one['high'][at]:.1f}" if "low" in one else ""
            rows.append([label, f"{100 * share:.1f} %", band, "#" * round(BAR * share / highest)])
        said = f"{100 * one['confidence']:g} % band" if "low" in one else ""
        said += " if smooth" if one.get("supposes") == "smooth" else ""
        yield from screen.table(rows, head=("true answer", "share", said, ""))
        if "bands" in one:
            yield f"  bands: {one['bands']}"
        yield ""
    for one in found["pairs"]:
        names = " and ".join(screen.shown(name) for name in one["columns"])
        yield f"{names}: {one['records']:,} answers; one tells {one['information']:.3f} bits about the other"
        across = one["labels"][1][:8]
        rows = [
            [label, *(f"{100 * share:.1f} %" for share in row[:8])]
            for label, row in zip(one["labels"][0][:LINES], one["shares"][:LINES], strict=True)
        ]
        yield from screen.table(rows, head=("", *across))
        if len(one["labels"][1]) > 8 or len(one["labels"][0]) > LINES:
            yield "  and more: --json, or -o FILE"
        yield ""


def _how(one: Mapping[str, Any]) -> str:
    if "iterations" not in one:
        return "corrected for its noise"
    lost = f"; {one['dropped']:,} that the plan cannot explain" if one["dropped"] else ""
    return f"{one['iterations']:,} iterations ({one['stopped']}){lost}"


def _learned(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{found['model']}, {found['strategy']}, from {found['records']:,} perturbed records"
    if "test" in found:
        test = found["test"]
        yield (
            f"  right on {screen.share(test['accuracy'])} of {test['records']:,} true records; "
            f"the commonest class alone on {screen.share(test['majority'])}"
        )
