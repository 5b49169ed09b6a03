"""`privet sources`: several views of the same people, looked at together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json, Overwrite, ShowValues, whole
from privet.errors import InputError, PolicyError

if TYPE_CHECKING:
    from privet.disclose.sources.gamma import Assessment, Confidence
    from privet.report.sources import Sources

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
        screen.answer({"holds": holds, **_document(given, found)})
        return 0 if holds else 1
    screen.say(*_told(given, found))
    if show_values:
        screen.say(*_named(given, found))
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
    document = {
        "restored": found.found,
        "complete": found.complete,
        "candidates": found.candidates,
        "tried": found.tried,
        "views": [{"people": len(view.people), "columns": _columns(view)} for view in found.views],
        "before": _document(given, found.before),
        "after": None if found.after is None else _document(given, found.after),
    }
    if json:
        screen.answer(document)
    else:
        screen.say(*_restored(given, found, output, most=most, show_values=show_values))
    return 0 if found.found else 1


def _gathered(
    places: Sequence[Path], raw: Path | None, key: str | None, sensitive: str | None, gamma: str | None
) -> Sources:
    from privet.report import sources as read

    if raw is not None:
        from privet.cli.options import release_folder

        given = read.from_releases(
            raw, [release_folder(place) for place in places], key=key, sensitive=sensitive
        )
    elif len(places) == 1 and not places[0].is_dir():
        if key is not None or sensitive is not None:
            raise InputError("--key, --sensitive: go with --raw; a file of sources says them itself")
        given = read.load(places[0])
    else:
        raise InputError("release folders need --raw, the data they were made from: it says who there is")
    return read.with_gamma(given, gamma)


def _asked(given: Sources) -> Fraction:
    if given.gamma is None:
        raise PolicyError('gamma: is missing; say --gamma 1/2, or gamma = "1/2" in the file')
    return given.gamma


def _confidence(epsilon: str, theta: str, *, everywhere: bool) -> Confidence:
    from privet.disclose.sources.gamma import Confidence
    from privet.notation import exact

    def read(name: str, text: str) -> Fraction:
        try:
            return exact(text)
        except PolicyError as error:
            raise error.at(name) from None

    return Confidence(read("--epsilon", epsilon), read("--theta", theta), everywhere=everywhere)


def _document(given: Sources, found: Assessment) -> dict[str, Any]:
    """Counts and chances; no person, no value."""
    worst = found.worst
    return {
        "decision": found.decision.value,
        "gamma": found.gamma,
        "people": found.people,
        "register": len(given.register.keys),
        "views": sum(len(part.part.views) for part in found.parts),
        "releases": len(given.releases),
        "recognised": given.recognised,
        "instances": found.instances,
        "log10_instances": None
        if found.log_instances is None
        else round(found.log_instances / 2.302585093, 3),
        "worst": worst.worst,
        "exposed": len(found.exposed),
        "tolerated": sum(part.tolerated for part in found.parts),
        "components": [
            {
                "people": part.part.people,
                "views": len(part.part.views),
                "decision": part.decision.value,
                "method": part.method,
                "instances": part.instances,
                "worst": part.worst,
                "half_width": part.half,
                "exposed": len(part.exposed),
                "draws": part.draws,
                "effective_draws": round(part.effective, 1),
            }
            for part in found.parts
        ],
    }


def _told(given: Sources, found: Assessment) -> Iterator[str]:
    document = _document(given, found)
    views, people = document["views"], document["people"]
    yield f"{views:,} views of {people:,} people, {len(given.register.keys) - people:,} more in no view"
    if given.releases:
        how = (
            "made from the same source, by their private notes"
            if given.recognised
            else ("not known to be of the same source: private notes are missing")
        )
        yield f"{len(given.releases):,} releases, {how}"
    yield f"possible tables: {_many(document)}"
    worst = found.worst
    around = f" give or take {worst.half:.3f}" if worst.method == "sampled" else ""
    yield f"the surest guess is right with chance {_chance(worst.worst)}{around}; allowed is {found.gamma}"
    sampled = [part for part in found.parts if part.method == "sampled"]
    if sampled:
        draws = sum(part.draws for part in sampled)
        worth = sum(part.effective for part in sampled)
        which = f"{len(sampled):,} of {len(found.parts):,} parts"
        yield f"{which} sampled: {draws:,} draws, worth {worth:,.0f} even ones"
    mark = {"private": "good", "not private": "bad", "undecided": "warn"}[found.decision.value]
    said = {
        "private": "holds: nobody's chance of any value is above gamma",
        "not private": f"BROKEN: {_persons(len(found.exposed))} a chance above gamma",
        "undecided": "UNDECIDED: too many tables to count, and too uneven to sample",
    }[found.decision.value]
    near = document["tolerated"]
    more = (
        f" by more than epsilon ({near:,} people within it)"
        if near and found.decision.value == "private"
        else ""
    )
    yield screen.paint(said + more, mark)


def _persons(many: int) -> str:
    return "1 person has" if many == 1 else f"{many:,} people have"


def _chance(worst: Fraction | float) -> str:
    return f"{worst} ({screen.share(worst)})" if isinstance(worst, Fraction) else f"{worst:.3f}"


def _many(document: Mapping[str, Any]) -> str:
    exact, size = document["instances"], document["log10_instances"]
    if exact is not None and exact < 10**12:
        return f"{exact:,}"
    return "not known" if size is None else f"about 10^{size:.1f}"


def _named(given: Sources, found: Assessment) -> Iterator[str]:
    for part in found.parts:
        for members, shares in zip(part.part.classes, part.shares, strict=True):
            for person in sorted(set(members) & part.exposed):
                at = max(range(len(shares)), key=lambda i: shares[i])
                value = part.part.values[at]
                yield screen.shown(f"  {given.register.keys[person]}: {value}, chance {_chance(shares[at])}")


def _columns(view: Any) -> list[str]:
    return sorted({one.attribute for one in view.where or ()})


def _restored(
    given: Sources, found: Any, output: Path | None, *, most: int, show_values: bool
) -> Iterator[str]:
    before, after = _document(given, found.before), found.after and _document(given, found.after)
    if found.before.decision.value == "private":
        yield "the views are private as they are; nothing is needed"
        return
    if after is None:
        searched = "" if found.complete else "; the search was stopped, there may be some"
        yield (
            f"not found: no {most} or fewer of {found.candidates:,} candidate views bring every chance "
            f"back under gamma{searched}"
        )
        yield f"sets of views tried: {found.tried:,}"
        return
    yield f"found: {len(found.views):,} more views"
    for view in found.views:
        which = f" ({', '.join(_columns(view))})" if _columns(view) else ""
        shown = (
            f": {view.name}: {', '.join(f'{value} x {n}' for value, n in view.counts)}" if show_values else ""
        )
        yield screen.shown(f"  a view of {len(view.people):,} people{which}{shown}")
    yield f"possible tables: {_many(before)} before, {_many(after)} after: less is left to doubt in total"
    worst = (found.before.worst.worst, found.after.worst.worst)
    yield f"the surest guess: {_chance(worst[0])} before, {_chance(worst[1])} after"
    yield f"written to {screen.shown(str(output))}" if output else "-o FILE writes them"


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
