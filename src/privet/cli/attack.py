"""`privet attack`: what do attackers get from a release?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Drawn, Engine, FileName, Json, Overwrite, drawn, engine_of
from privet.cli.screen import share

if TYPE_CHECKING:
    from privet.attackers.attack import Outcome
    from privet.attackers.suite import Attacked

ELSEWHERE = "it is about "  # how the reason begins where an attack is about other kinds of releases
STYLES = {"beyond": "bad", "within": "good", "not covered": "faint"}


def attack(
    folders: Annotated[list[Path], typer.Argument(metavar="DIRS...", help=ARGUMENTS["DIRS..."])],
    *,
    raw: Annotated[
        str | None,
        typer.Option("--raw", metavar="DATA", help=ARGUMENTS["RAW"], click_type=FileName()),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            "--known", metavar="LIST", help="A list of people that an attacker has.", click_type=FileName()
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="ATTACK", help="Try this one; may be repeated.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="How often an attack that draws is tried.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="What the attackers' choices begin with.")] = 0,
    output: Drawn = None,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Attack a release: every attacker that applies, against guessing and against what is promised.

    Each attack says what it assumes, how often it succeeds and between which rates that is certain, how
    often guessing does without the release, and what the promise allows. "beyond" means that a promise is
    broken, and the exit code is 1; "not covered" that the promise says nothing about this attack.

    With --raw the attackers know whether they are right, and those who know the order of the data or the
    algorithm can be tried. Several folders of the same people are attacked together too. DIR may be the
    folder of a query gateway (audit.toml); --raw then names its database.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet publish patients.csv hospital.toml -o out
      privet attack out --raw patients.csv -o attack.html

    Next: `privet publish --attack` does this before anything is written.

    """
    from privet.attackers.suite import attack as attacked

    with screen.working(json=json) as progress:
        found = attacked(
            *folders,
            raw=raw,
            known=known,
            only=only,
            trials=trials,
            seed=seed,
            engine=engine_of(engine),
            progress=progress,
        )
    drawn(output, lambda: _page(found), overwrite=overwrite)
    if json:
        screen.answer(found.to_dict())
    else:
        screen.say(*told(found))
        if output is not None:
            screen.say("", f"it is drawn in {output}" + (", which stays with you" if raw is not None else ""))
    return 0 if found.holds else 1


def _page(found: Attacked) -> str:
    from privet.report.attacked import render

    return render(found.to_dict())


def told(found: Attacked) -> Iterator[str]:
    """Every outcome in a line, and what was not tried."""
    rows = [(_verdict(one), one.attack, one.goal, *_numbers(one)) for one in found.outcomes]
    if rows:
        head = ("", "attack", "what it is after", "success", "guessing", "at worst", "allowed")
        yield from screen.table(rows, head=head)
    for one in found.outcomes:
        if one.note and one.judged.value == "beyond":
            yield f"  {screen.shown(one.attack)}: {screen.shown(one.note)}"
    yield ""
    many = len(found.beyond)
    if many:
        yield screen.paint(f"{many} of {len(found.outcomes)} attacks got more than the promise allows", "bad")
    elif not found.outcomes:
        yield "nothing was tried"
    else:
        yield f"no attack of {len(found.outcomes)} got more than the promise allows"
    open_ = sum(one.allowed is None for one in found.outcomes)
    if open_:
        yield f"of {open_} the promise says nothing: it neither allows nor prevents what they got"
    if found.not_tried:
        yield ""
        yield "not tried"
        yield from screen.table(_grouped(found.not_tried))


def _verdict(one: Outcome) -> str:
    return screen.paint(one.judged.value, STYLES[one.judged.value])


def _numbers(one: Outcome) -> tuple[str, str, str, str]:
    return (
        share(one.rate),
        share(one.baseline),
        "-" if one.worst is None else share(one.worst),
        "-" if one.allowed is None else share(one.allowed),
    )


def _grouped(not_tried: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that lack something, each with what; and in one line those that are about other kinds."""
    others = [name for name, why in not_tried if why.startswith(ELSEWHERE)]
    found = [(name, why) for name, why in not_tried if name not in others]
    return [*found, *([("about other kinds", ", ".join(others))] if others else [])]
