"""`privet rules`: what mining would reveal, hiding some of it, and classifiers that guess too well."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import (
    Data,
    Encoding,
    Engine,
    Format,
    Json,
    Overwrite,
    ShowValues,
    engine_of,
    load_policy,
    whole,
)
from privet.errors import InputError, PolicyError, one_of

if TYPE_CHECKING:
    from privet.policy.values import Policy
    from privet.rules.baskets import Baskets
    from privet.rules.rule import Thresholds

METHODS = ("border", "items", "exact", "transactions")
LINES = 20
Support = Annotated[
    str | None, typer.Option("--support", help="From when on it is seen: records (50), or a share (1%).")
]
Confidence = Annotated[str | None, typer.Option("--confidence", help="A share, such as 1/2 or 60%.")]
PolicyOption = Annotated[
    Path | None, typer.Option("--policy", metavar="FILE", help="A policy that says where the sets are.")
]
SetColumn = Annotated[
    str | None, typer.Option("--set", metavar="COLUMN", help="A column that holds the sets.")
]
Person = Annotated[str | None, typer.Option("--person", metavar="COLUMN", help="Whose item a row is.")]
Item = Annotated[str | None, typer.Option("--item", metavar="COLUMN", help="The item of a row.")]
Separator = Annotated[str | None, typer.Option("--separator", help="What stands between items.")]


def mine(
    data: Data,
    *,
    support: Support = None,
    confidence: Confidence = None,
    policy: PolicyOption = None,
    set_: SetColumn = None,
    person: Person = None,
    item: Item = None,
    separator: Separator = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write all rules as CSV.")
    ] = None,
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    encoding: Encoding = None,
    engine: Engine = "embedded",
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Mine frequent itemsets and association rules: what a recipient would find.

    DATA is a file with one basket on each line, a table with --set COLUMN, or one with a row for each item
    (--person and --item); or a release folder. Rules of raw data are raw values: they are counted only,
    unless you ask for a file of your own (-o) or for --show-values.

    Example:
      privet sample baskets -o baskets.csv
      privet rules mine baskets.csv --set items --support 2% --confidence 1/2 -o rules.csv

    Next: `privet rules hide` takes away those that nobody should find.

    """
    from privet.rules.mining import mine as mined

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    where = engine_of(engine)
    layout = {"set": set_, "person": person, "item": item, "separator": separator}
    released = Path(data).is_dir()
    thresholds = _thresholds(support, confidence)
    with screen.working(json=json) as progress:
        progress("read", 0)
        baskets = _read(data, policy, layout, where, format=format, encoding=encoding)
        progress("search", 0)
        found = mined(baskets, thresholds)
        rules = sorted(found.rules, key=lambda r: (-found.support[r.itemset], -found.confidence(r), r))
    items = baskets.items
    rows = (
        (
            ", ".join(items[i] for i in rule.antecedent),
            ", ".join(items[i] for i in rule.consequent),
            found.support[rule.itemset],
            float(found.confidence(rule)),
        )
        for rule in rules
    )
    least = thresholds.least(baskets.records)
    if output is not None:
        with (
            whole(output, overwrite=overwrite) as fresh,
            fresh.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(("antecedent", "consequent", "support", "confidence"))
            writer.writerows(rows)
    if json:
        screen.answer(
            {
                "records": baskets.records,
                "support": least,
                "itemsets": len(found.itemsets),
                "rules": len(rules),
                **({"listed": [list(row) for row in rows]} if released else {}),
            }
        )
        return 0
    screen.say(
        f"{len(found.itemsets):,} itemsets are in at least {least:,} of {baskets.records:,} records, "
        f"and make {len(rules):,} rules"
    )
    if (released or show_values) and rules:
        shown = [
            (f"{many:,}", screen.share(sure), screen.shown(f"{left} => {right}"))
            for left, right, many, sure in (row for row, _ in zip(rows, range(LINES), strict=False))
        ]
        screen.say("", *screen.table(shown, head=("records", "confidence", "rule")))
        if len(rules) > LINES:
            screen.say(f"  and {len(rules) - LINES:,} more; -o FILE writes all")
    if output is not None:
        screen.say(f"wrote {screen.shown(str(output))}" + ("" if released else ": it holds raw values"))
    return 0


def hide(
    data: Data,
    rules: Annotated[
        list[str],
        typer.Option("--rule", metavar="RULE", help='"a, b => c", or an itemset "a, b"; repeat it.'),
    ],
    *,
    support: Support = None,
    confidence: Confidence = None,
    method: Annotated[
        str, typer.Option("--method", help="border, items, exact, or transactions.")
    ] = "border",
    by: Annotated[str, typer.Option("--by", help="support, confidence, or either.")] = "support",
    set_: SetColumn = None,
    person: Person = None,
    item: Item = None,
    separator: Separator = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to make.")],
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    encoding: Encoding = None,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Publish baskets in which the named rules are not seen any more, with as little else lost as can be.

    The same as `privet publish` with a policy of kind "transactions"; the policy is written into the
    release. Deleting items along the border (`border`) loses few innocent rules; `exact` the fewest itemsets
    of that border, for few rules; `transactions` removes whole records and leaves the others as they are.

    Example:
      privet sample baskets -o baskets.csv
      privet rules hide baskets.csv --set items --rule "nappies => beer" --support 1% --confidence 1/3 -o out

    Next: `privet verify out` checks the release as its reader would.

    """
    from privet.cli.summary import summary
    from privet.release import claimed
    from privet.roads import publish
    from privet.rules.goals import By
    from privet.rules.rule import sides

    thresholds = _thresholds(support, confidence)
    ways = tuple(one.value for one in By)
    for option, word, words in (("--method", method, METHODS), ("--by", by, ways)):
        if word not in words:
            raise InputError(one_of(f"{option}: it", words, word))
    hidden = []
    for at, text in enumerate(rules):
        try:
            left, right = sides(text)
        except PolicyError as error:
            raise InputError(*(f"--rule {at + 1}: {one}" for one in error.complaints)) from None
        one: dict[str, Any] = {"support": str(thresholds.support)}
        if left:
            one |= {"antecedent": list(left), "consequent": list(right)}
            if thresholds.confidence is not None:
                one["confidence"] = str(thresholds.confidence)
        else:
            one["itemset"] = list(right)
        hidden.append(one)
    algorithm: dict[str, Any] = {"type": f"hide-{method}"}
    if method != "transactions":
        algorithm["by"] = by
    layout = {"set": set_, "person": person, "item": item, "separator": separator}
    if thresholds.confidence is not None and not any("confidence" in one for one in hidden):
        # Itemsets have none of their own: it says how the recipient mines.
        layout |= {"support": str(thresholds.support), "confidence": str(thresholds.confidence)}
    said = _policy(layout, format, encoding, {"hide": hidden, "algorithm": algorithm})
    with claimed(output, overwrite=overwrite) as claim, screen.working(json=json) as progress:
        release = publish(data, said, engine=engine_of(engine), progress=progress)
        progress("write", 0)
        release.write(output, overwrite=overwrite, claim=claim)
    if json:
        evidence = release.evidence.to_dict()
        keys = ("records", "promises", "recoding", "sets")
        screen.answer({"folder": str(output), **{key: evidence[key] for key in keys}})
        return 0
    screen.say(
        *summary(release, output),
        *screen.next_steps(
            (screen.command("privet verify", output), "checks the release from its folder alone"),
            (screen.command("privet explain", output), "says what went with the rules"),
        ),
    )
    return 0


def downgrade(
    data: Data,
    target: Annotated[
        str, typer.Option("--class", metavar="COLUMN", help="What nobody should be able to guess.")
    ],
    *,
    at_most: Annotated[
        str, typer.Option("--at-most", help="How much better than the commonest class a guess may be: 1/20.")
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="COLUMN", help="What guesses are made from; else all."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The table to write.")],
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    encoding: Encoding = None,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Suppress cells until classifiers guess a sensitive class hardly better than its commonest value.

    Naive Bayes and a decision tree are trained and tried by cross-validation, again and again; each time the
    cells go that told most about the class for what they cost. It is an experiment, not a promise: another
    classifier may guess better, so nothing is called a release here.

    Example:
      privet sample patients -o patients.csv
      privet rules downgrade patients.csv --class Surgery --column Job --column Sex --at-most 1/20 -o less.csv

    Next: `privet publish` with t-closeness bounds what any reader learns.

    """
    from privet.core import Form
    from privet.engines import text
    from privet.engines.trajectories.frames import coded
    from privet.engines.transactions.frames import read_by
    from privet.rules.downgrade import downgrade as suppressed

    where = engine_of(engine)
    form = text.settled(Path(data), _form(Form(), format, encoding))
    frame = read_by(where, data, form)
    named = columns or [name for name in frame.columns if name != target]
    missing = [name for name in (*named, target) if name not in frame.columns]
    if missing:
        raise InputError(*(f"the data has no column {name}" for name in missing))
    if target in named:
        raise InputError("--column: the class is not guessed from itself")
    with screen.working(json=json) as progress:
        values = [coded(frame.get_column(name)) for name in named]
        classes, of = coded(frame.get_column(target))
        found = suppressed(
            [codes for codes, _ in values], classes, at_most=_exact(at_most, "--at-most"), progress=progress
        )
    made = frame.select([*named, target])
    for name, gone in zip(named, found.suppressed, strict=True):
        import polars as pl

        made = made.with_columns(
            pl.when(~pl.Series(gone)).then(pl.col(name)).otherwise(pl.lit("*")).alias(name)
        )
    with whole(output, overwrite=overwrite) as fresh:
        where.write(where.read(made, form), fresh, form)
    told = {
        "records": frame.height,
        "classes": len(of),
        "majority": float(found.majority),
        "accuracy_before": float(found.before),
        "accuracy_after": float(found.after),
        "suppressed_cells": found.cells,
        "cells": frame.height * len(named),
    }
    if json:
        screen.answer(told)
        return 0
    screen.say(
        f"the commonest class is right in {screen.share(found.majority)} of cases",
        *screen.table(
            [
                ("best classifier before", screen.share(found.before)),
                ("best classifier after", screen.share(found.after)),
                ("cells suppressed", f"{found.cells:,} of {told['cells']:,}"),
            ]
        ),
        f"wrote {screen.shown(str(output))}",
    )
    return 0


def _exact(given: str, option: str) -> Fraction:
    from privet.policy.notation import exact

    try:
        return exact(given)
    except PolicyError as error:
        raise InputError(*(f"{option}: {one}" for one in error.complaints)) from None


def _thresholds(support: str | None, confidence: str | None) -> Thresholds:
    from privet.rules.rule import Thresholds

    if support is None:
        raise InputError("--support: say from how many records on a rule is seen, for example 1%")
    share = None if confidence is None else _exact(confidence, "--confidence")
    try:
        return Thresholds(_exact(support, "--support"), share)
    except PolicyError as error:
        raise InputError(*(f"--{one}" for one in error.complaints)) from None


def _form(form: Any, format: str | None, encoding: str | None) -> Any:  # noqa: A002 - the option's own name
    from privet.cli.options import form_of

    return form_of(form, format=format, delimiter=None, encoding=encoding, null=None, query=None)


def _policy(
    layout: dict[str, str | None],
    format: str | None,  # noqa: A002 - the option's own name
    encoding: str | None,
    more: dict[str, Any],
) -> Policy:
    """A policy from what the command line says of the data."""
    from dataclasses import replace

    from privet.policy.values import Policy

    said = {key: value for key, value in layout.items() if value is not None}
    kind = "column" if "set" in said else "items" if {"person", "item"} & said.keys() else "baskets"
    document = {"policy": 1, "kind": "transactions", "transactions": {"form": kind, **said}, **more}
    made = Policy.from_document(document, base=Path())
    return replace(made, form=_form(made.form, format, encoding))


def _read(
    data: str,
    policy: Path | None,
    layout: dict[str, str | None],
    engine: Any,
    *,
    format: str | None,  # noqa: A002 - the option's own name
    encoding: str | None,
) -> Baskets:
    from privet.cli.options import release_folder
    from privet.evidence.folder import read as read_evidence
    from privet.policy import handed
    from privet.roads.stations import data_file
    from privet.roads.transactions.check import read_sets

    if Path(data).is_dir():
        folder = release_folder(Path(data))
        said = handed.load(folder / "policy.toml")
        _needs_sets(said)
        path, form = data_file(folder, read_evidence(folder))
        return read_sets(path, said, engine, form=form, published=True).baskets
    if policy is not None:
        said = load_policy(policy)
        _needs_sets(said)
    else:
        anything = {"models": [{"type": "km-anonymity", "m": 1, "k": 1}]}
        said = _policy(layout, format, encoding, anything)
    return read_sets(data, said, engine).baskets


def _needs_sets(policy: Policy) -> None:
    if policy.kind != "transactions":
        raise InputError(f"rules are mined from sets; this policy is for {policy.kind}")
