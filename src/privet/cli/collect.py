"""`privet collect`: people perturb their own answers before they send them."""

from __future__ import annotations

import json as notation
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Delimiter, FileName, Json, Overwrite, form_of, whole
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.collect.column import Column
    from privet.collect.stream import Target

ARGUMENTS["PLAN"] = "The plan of a collection, collect.toml; `privet collect init` drafts one."
ARGUMENTS["ANSWERS"] = "CSV, TSV, JSON lines (.gz too) or Parquet, or - for what is piped in."
ARGUMENTS["[ANSWERS]"] = ARGUMENTS["ANSWERS"]
ARGUMENTS["answer [ANSWERS]"] = "One JSON object, a file with it, or - for what is piped in."
ARGUMENTS["RESPONDENT"] = "A respondent's ledger, one file on the respondent's own device."

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help=ARGUMENTS["PLAN"])]
Answers = Annotated[
    str, typer.Argument(metavar="[ANSWERS]", help=ARGUMENTS["ANSWERS"], click_type=FileName())
]
Kind = Annotated[
    str | None, typer.Option("--format", help="csv, tsv, jsonl or parquet; else the file's ending decides.")
]
Written = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file to write; else stdout.")
]
Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger", metavar="FILE", help="The respondent's ledger: repeats what was answered before."
    ),
]


def init(
    answers: Answers = "-",
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")] = Path(
        "collect.toml"
    ),
    kind: Kind = None,
    delimiter: Delimiter = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Draft collect.toml from the names of columns; mechanisms and domains are left for you to decide.

    Names are read, and whether a column holds numbers. No value is written into the draft: what answers
    may be is decided from what everybody knows before anybody has answered.

    Example:
      privet collect init survey.csv
      echo age,smokes | privet collect init - -o collect.toml

    Next: decide the mechanisms, then `privet collect show collect.toml`.

    """
    from privet.cli.answered import opened
    from privet.collect.draft import columns_of, drafted

    with opened(answers, kind=kind, delimiter=_separator(delimiter)) as source:
        columns = columns_of(source)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(drafted(columns), encoding="utf-8")
    if json:
        screen.answer({"plan": str(output), "undecided": list(columns)})
        return 0
    screen.say(f"drafted {screen.shown(str(output))}: {len(columns)} questions to decide about")
    screen.say(
        *screen.next_steps(
            (f"edit {output}", "decide what may be answered, and how it is perturbed"),
            (screen.command("privet collect show", output), "what each column hides"),
        )
    )
    return 0


def show(
    plan: PlanFile,
    *,
    records: Annotated[
        int | None,
        typer.Option(
            "--records",
            metavar="N",
            min=1,
            max=10**15,
            help="About how many will answer: says what is learned.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """What each answer hides: as an interval, as local epsilon, and in bits. No data is read.

    The interval is how wide one must look around an answer to find the true value with that confidence,
    knowing nothing else. Epsilon holds against everybody, whatever they know; it is enumerated exactly from
    the mechanism. Uniform and Gaussian noise have no finite one: an answer at the edge of the noise says
    where the true value is. Bits are what an answer tells on average if all true values are alike.

    Example:
      privet collect show collect.toml --records 2000

    Next: `privet collect form collect.toml` for the respondents, or `privet collect perturb` for a file.

    """
    from privet.collect.plan import Plan
    from privet.collect.privacy import stated, total

    said = Plan.load(plan)
    found: dict[str, Any] = {
        "purpose": said.purpose,
        "digest": said.digest,
        "columns": [stated(column) for column in said.columns.values()],
        "one_person": total(said),
    }
    if records is not None:
        found["records"] = records
        for one, column in zip(found["columns"], said.columns.values(), strict=True):
            one["expected_error"] = _expected(column, records)
    if json:
        screen.answer(found)
    else:
        screen.say(*_shown(found))
    return 0


def form(
    plan: PlanFile,
    *,
    output: Written = None,
    client: Annotated[
        Path | None,
        typer.Option(
            "--client", metavar="FILE", help="Also write the client for browsers, one JavaScript file."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> int:
    """Write the plan as JSON, which clients read; and the client that runs in a browser.

    The client perturbs answers on the respondent's own device, with the same plan and the same arithmetic as
    `privet collect perturb`. Serve both files with your page; nothing else is needed.

    Example:
      privet collect form collect.toml -o form.json --client privet-collect.js

    Next: in the page, privetCollect.answer(form, {age: 41, smokes: "no"}, {storage: localStorage}).

    """
    from importlib.resources import files

    from privet.collect.plan import Plan

    text = notation.dumps(Plan.load(plan).form(), ensure_ascii=False, indent=1) + "\n"
    if output is None:
        screen.listened()
    for path in (output, client):
        if path is not None and path.exists() and not overwrite:
            raise InputError(f"{path}: there is a file already; say --overwrite to replace it")
    if client is not None:
        with whole(client, overwrite=overwrite) as fresh:
            fresh.write_bytes(files("privet.collect").joinpath("client.js").read_bytes())
    if output is None:
        screen.say(text.rstrip("\n"))
        return 0
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(text, encoding="utf-8")
    screen.say(f"wrote {screen.shown(str(output))}" + (f" and {screen.shown(str(client))}" if client else ""))
    return 0


def perturb(
    plan: PlanFile,
    answers: Answers = "-",
    *,
    output: Written = None,
    kind: Kind = None,
    delimiter: Delimiter = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Perturb true answers, record by record, in constant memory: a file, or a pipe in and out.

    Columns that the plan does not name are left out. A record that does not fit the plan stops everything:
    it is named by its number, and a file is not written at all. Do this where the answers are given;
    whoever runs it has seen them.

    Example:
      privet collect perturb collect.toml survey.csv -o perturbed.csv
      cat survey.csv | privet collect perturb collect.toml - > perturbed.csv

    Next: `privet collect reconstruct collect.toml perturbed.csv`.

    """
    from privet.cli.answered import opened
    from privet.collect.plan import Plan
    from privet.collect.stream import perturb_csv, perturb_json

    if json and output is None:
        raise InputError("--json: says what was done, so the answers need a file of their own: say -o FILE")
    said = Plan.load(plan)
    with (
        screen.working(json=json or output is None) as progress,
        _target(output, overwrite=overwrite) as target,
        opened(answers, kind=kind, delimiter=_separator(delimiter)) as source,
    ):
        if source.lines:
            done = perturb_json(said, source.bytes, target, progress=progress)
        else:
            done = perturb_csv(said, source.bytes, target, delimiter=source.delimiter, progress=progress)
    if json:
        screen.answer({"records": done.records, "dropped": list(done.dropped), "plan": said.digest})
        return 0
    if done.dropped:
        screen.warn(f"left out, since the plan does not name them: {', '.join(done.dropped)}")
    if output is not None:
        screen.say(f"perturbed {done.records:,} records into {screen.shown(str(output))}")
        steps = screen.command("privet collect reconstruct", plan, output)
        screen.say(*screen.next_steps((steps, "estimates the true distributions")))
    return 0


def answer(
    plan: PlanFile,
    answers: Annotated[str, typer.Argument(metavar="[ANSWERS]", help=ARGUMENTS["answer [ANSWERS]"])] = "-",
    *,
    ledger: Ledger = None,
) -> int:
    """Perturb one respondent's answers: one JSON object in, what is sent out.

    With a ledger the answer to a question that was asked before is repeated and not drawn again: fresh
    noise in every round would average out. What all answers cost together stays under the ledger's budget.

    Example:
      privet collect answer collect.toml '{"age": 41, "smokes": "no"}' --ledger mine.json

    Next: send what it says; `privet collect given mine.json` shows what was given so far.

    """
    from privet.cli.answers import said
    from privet.collect import AnswerLedger, Plan
    from privet.collect import answer as perturbed

    screen.listened()
    given = said(_piped() if answers == "-" else answers, "ANSWERS")
    told = perturbed(Plan.load(plan), given, ledger=None if ledger is None else AnswerLedger(ledger))
    screen.say(notation.dumps(told, ensure_ascii=False))
    return 0


def given(
    ledger: Annotated[Path, typer.Argument(metavar="RESPONDENT", help=ARGUMENTS["RESPONDENT"])],
    *,
    json: Json = False,
) -> int:
    """What a respondent has given over all rounds, question by question, and what it has cost.

    A question counts once for each true value that was answered; repetitions cost nothing.

    Example:
      privet collect given mine.json

    """
    from privet.collect import AnswerLedger

    if not ledger.is_file():
        raise InputError(f"{ledger}: no such file; `privet collect answer --ledger` makes it")
    found = AnswerLedger(ledger).spent()
    if json:
        screen.answer(found)
        return 0
    rows = [
        (
            one["column"],
            one["mechanism"],
            "not finite" if one["epsilon"] is None else str(one["epsilon"]),
            str(one["answers"]),
            str(one["rounds"]),
        )
        for one in found["questions"]
    ]
    screen.say(*screen.table(rows, head=("question", "mechanism", "epsilon", "drawn", "rounds")))
    budget = "no budget" if found["budget"] is None else f"budget {found['budget']}"
    screen.say("", f"epsilon spent: {found['spent']}; {budget}")
    if found["without_epsilon"]:
        screen.say(f"answers without a finite epsilon: {found['without_epsilon']:,}")
    return 0


def _separator(delimiter: str | None) -> str | None:
    from privet.core import Form

    return None if delimiter is None else form_of(Form(), delimiter=delimiter).delimiter


@contextmanager
def _target(output: Path | None, *, overwrite: bool) -> Iterator[Target]:
    """A file that appears when it is whole, or stdout."""
    if output is not None:
        with whole(output, overwrite=overwrite) as fresh, fresh.open("wb") as target:
            yield target
        return
    screen.listened()
    screen.finish()
    stdout = screen.Stdout()
    yield stdout
    stdout.flush()


def _piped() -> str:
    from privet.collect.source import standard_input

    try:
        return standard_input().read().decode("utf-8")
    except ValueError:
        raise InputError("ANSWERS: this is not UTF-8") from None


def _expected(column: Column, records: int) -> float | None:
    """How far the share of a value is off in 95 of 100 collections, at the most."""
    from privet.collect.channels import Additive, telling

    if isinstance(column.channel, Additive) or column.numeric:
        return None
    return 1.96 * 0.5 / math.sqrt(records) / abs(telling(column.channel)[1])


def _shown(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{screen.shown(found['purpose']) or 'a collection'} (plan {found['digest']}); no data is read"
    yield ""
    head = ["column", "mechanism", "epsilon", "within, at 50 %", "at 95 %", "at 99.9 %", "bits told"]
    if "records" in found:
        head.append(f"a share is off, of {found['records']:,}")
    rows = []
    for one in found["columns"]:
        told = one.get("information")
        row = [
            one["column"],
            one["mechanism"],
            _epsilon(one),
            *(_hidden(one, hidden) for hidden in one["intervals"]),
            "-" if told is None else f"{told['bits']:.2f} of {told['of']:.2f}",
        ]
        if "records" in found:
            error = one["expected_error"]
            row.append("-" if error is None else f"±{100 * error:.1f} points")
        rows.append(row)
    yield from screen.table(rows, head=head)
    yield ""
    person = found["one_person"]
    if person["without_epsilon"]:
        names = ", ".join(person["without_epsilon"])
        yield f"no finite epsilon: {screen.shown(names)}; some answers give the true value away"
    else:
        yield f"one person's answers to all questions: epsilon {person['epsilon']}"
    if person["as_is"]:
        yield f"sent as they are: {screen.shown(', '.join(person['as_is']))}"
    if person["budget"] is not None:
        yield f"a respondent's ledger lets out at most {person['budget']} over all rounds"


def _epsilon(one: Mapping[str, Any]) -> str:
    if one["mechanism"] == "as-is":
        return "hides nothing"
    return "not finite" if one["epsilon"] is None else str(one["epsilon"])


def _hidden(one: Mapping[str, Any], hidden: Mapping[str, Any]) -> str:
    if one["mechanism"] == "as-is":
        return "-"
    if one["type"] == "category":
        return f"{hidden['width']} of {one['values']} values"
    if hidden["relative"] >= 1:
        return "whole range"
    return f"{hidden['width']:.3g} ({100 * hidden['relative']:.0f} %)"
