"""`privet sources`: several views of the same people, looked at together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json, Overwrite, ShowValues, whole
from privet.cli.sources_told import columns_of, document, named, restored, told
from privet.errors import InputError, PolicyError, TamperedError

if TYPE_CHECKING:
    from privet.disclose.sources.gamma import Confidence
    from privet.roads.sources.description import Sources

Given = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCES...",
        help=ARGUMENTS["SOURCES..."],
    ),
]
RawFile = Annotated[
    Path | None, typer.Option("--raw", help="With release folders: the data that they were made from.")
]
Key = Annotated[str | None, typer.Option("--key", help="With --raw: the column that names a person.")]
Sensitive = Annotated[
    str | None, typer.Option("--sensitive", help="With --raw: the column whose values must not be learnt.")
]
Gamma = Annotated[
    str | None,
    typer.Option("--gamma", help="The largest chance allowed, such as 1/2; else the file says it."),
]
Epsilon = Annotated[
    str, typer.Option("--epsilon", help="How far off a sampled chance may be, where counting takes too long.")
]
Theta = Annotated[str, typer.Option("--theta", help="With which confidence.")]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="Ask for that confidence in everybody at once, not in each one.")
]
Exact = Annotated[
    bool, typer.Option("--exact", help="Count only, never sample; what cannot be counted is undecided.")
]
Most = Annotated[int, typer.Option("--most", min=1, help="How many more views at most.")]
Columns = Annotated[
    int, typer.Option("--columns", min=1, help="How many columns a new view's condition may speak of.")
]
Written = Annotated[
    Path | None, typer.Option("-o", "--output", help="Where the proposed views are written, as TOML.")
]


def check_sources(
    sources: Given,
    *,
    raw: RawFile = None,
    key: Key = None,
    sensitive: Sensitive = None,
    gamma: Gamma = None,
    epsilon: Epsilon = "1/20",
    theta: Theta = "19/20",
    everywhere: Everywhere = False,
    exact: Exact = False,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Are several views of the same people safe together?

    Counts the tables that agree with a public register and with every view, and says in what share of
    them anybody has any value. If no share is above gamma, the views are gamma-private. Where there are
    too many tables to count, some are drawn at random and the answer is within epsilon, with confidence
    theta. Exit code 1 if somebody's chance is above gamma, or if that cannot be decided.

    Releases made by privet are recognised as being of the same people by their private notes.

    Example:
      privet sources check sources.toml
      privet sources check out1 out2 --raw patients.csv --gamma 1/2

    Next: `privet sources restore` looks for views that mend it.

    """
    from privet.disclose.sources.gamma import assess

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    given = _gathered(sources, raw, key, sensitive, gamma)
    confidence = None if exact else _confidence(epsilon, theta, everywhere=everywhere)
    with screen.working(json=json) as progress:
        found = assess(given.views, _asked(given), confidence=confidence, progress=progress)
    holds = found.decision.value == "private"
    if json:
        screen.answer({"holds": holds, **document(given, found)})
        return 0 if holds else 1
    screen.say(*told(given, found))
    if show_values:
        screen.say(*named(given, found))
    if not holds:
        again = " ".join(map(str, sources)) + (f" --raw {raw} --gamma {_asked(given)}" if raw else "")
        step = (f"privet sources restore {again}", "looks for views that bring every chance back")
        screen.say(*screen.next_steps(step))
    return 0 if holds else 1


def restore_sources(
    sources: Given,
    *,
    output: Written = None,
    raw: RawFile = None,
    key: Key = None,
    sensitive: Sensitive = None,
    gamma: Gamma = None,
    most: Most = 2,
    columns: Columns = 1,
    epsilon: Epsilon = "1/20",
    theta: Theta = "19/20",
    everywhere: Everywhere = False,
    exact: Exact = False,
    overwrite: Overwrite = False,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """More true views that bring every chance back under gamma.

    More views mean fewer possible tables, so that protection falls in total; but they can move it to those
    who lack it. A proposed view selects part of a view that is out already, its values are those of the base
    table, and nothing is published: that is for you to do, with the file that -o writes. Once somebody is
    certain nothing helps. Exit code 1 if no such views were found.

    Whoever knows by which preference views are chosen may learn from the choice itself.

    Example:
      privet sources restore sources.toml -o views.toml

    """
    from privet.disclose.sources.restoring import restore

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    given = _gathered(sources, raw, key, sensitive, gamma)
    if given.base is None:
        raise InputError(
            "restoring needs the true values: name the table in [base] of the file, or with --raw"
        )
    confidence = None if exact else _confidence(epsilon, theta, everywhere=everywhere)
    with screen.working(json=json) as progress:
        found = restore(
            given.register,
            given.base,
            given.views,
            _asked(given),
            most=most,
            attributes=columns,
            confidence=confidence,
            progress=progress,
        )
    if found.views and output is not None:
        _write(found.views, output, overwrite=overwrite)
    answer = {
        "restored": found.found,
        "certain": found.certain,
        "parts": found.parts,
        "complete": found.complete,
        "candidates": found.candidates,
        "tried": found.tried,
        "views": [{"people": len(view.people), "columns": columns_of(view)} for view in found.views],
        "before": document(given, found.before),
        "after": None if found.after is None else document(given, found.after),
    }
    if json:
        screen.answer(answer)
    else:
        screen.say(*restored(given, found, output, most=most, show_values=show_values))
    return 0 if found.found else 1


def _gathered(
    places: Sequence[Path], raw: Path | None, key: str | None, sensitive: str | None, gamma: str | None
) -> Sources:
    from privet.roads.sources import description as read

    if raw is not None:
        from privet.cli.options import release_folder

        folders = [release_folder(place) for place in places]
        for folder in folders:
            _refuse_forged(folder)
        given = read.from_releases(raw, folders, key=key, sensitive=sensitive)
    elif len(places) == 1 and not places[0].is_dir():
        if key is not None or sensitive is not None:
            raise InputError("--key, --sensitive: go with --raw; a file of sources says them itself")
        given = read.load(places[0])
    else:
        raise InputError("release folders need --raw, the data they were made from: it says who there is")
    return read.with_gamma(given, gamma)


def _refuse_forged(folder: Path) -> None:
    """What several releases tell together follows from their evidence, too: it must be that of their data."""
    from privet.verification import verify

    found = verify(folder)
    if not found.holds:
        broken = [model.name for model, verdict in found.verdicts if not verdict.holds]
        said = [*found.complaints, *(f"{name}: this promise is broken" for name in broken)]
        raise TamperedError(*(f"{folder}: {one}" for one in said))


def _asked(given: Sources) -> Fraction:
    if given.gamma is None:
        raise PolicyError('gamma: is missing; say --gamma 1/2, or gamma = "1/2" in the file')
    return given.gamma


def _confidence(epsilon: str, theta: str, *, everywhere: bool) -> Confidence:
    from privet.disclose.sources.gamma import Confidence
    from privet.policy.notation import exact

    def read(name: str, text: str) -> Fraction:
        try:
            return exact(text)
        except PolicyError as error:
            raise error.at(name) from None

    return Confidence(read("--epsilon", epsilon), read("--theta", theta), everywhere=everywhere)


def _write(views: Sequence[Any], path: Path, *, overwrite: bool) -> None:
    """The views as they stand in a file of sources. They are what will be published, and no more."""
    import tomli_w

    unworded = sum(view.where is None for view in views)
    if unworded:
        raise InputError(f"{unworded} of the views found cannot be written as a condition; try --columns 2")
    listed = [
        {"name": view.name, "where": [str(one) for one in view.where], "values": _values(view)}
        for view in views
    ]
    with whole(path, overwrite=overwrite) as fresh:
        fresh.write_text(tomli_w.dumps({"views": listed}), encoding="utf-8")


def _values(view: Any) -> list[str]:
    if any(value is None for value, _ in view.counts):
        raise InputError("a view has missing values, which TOML cannot hold")
    return [value for value, count in view.counts for _ in range(count)]
