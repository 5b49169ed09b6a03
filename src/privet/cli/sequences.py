"""`privet sequences`: the routes that many take, mined on their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Data, Engine, Json, Overwrite, ShowValues, engine_of, load_policy, whole
from privet.errors import InputError

LINES = 20


def sequences(
    data: Data,
    policy: Annotated[
        Path | None,
        typer.Argument(metavar="[POLICY]", help="Where the paths are; a release folder has its own."),
    ] = None,
    *,
    support: Annotated[
        str | None,
        typer.Option("--support", help="Records (50), or a share (1/100, 1%); else what the policy says."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write all of them as CSV.")
    ] = None,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Mine maximal frequent sequences: routes that enough people take, and that no longer one contains.

    DATA is raw data with its policy, or a release folder. Routes of raw data are raw values: they are
    counted only, unless you ask for a file of your own (-o) or for --show-values. Those of a release
    are published already, and are shown.

    Example:
      privet sample trips-metro -o trips.csv --policy trips.toml
      privet sequences trips.csv trips.toml --support 1%

    Next: `privet publish` keeps as many of them as the promise allows.

    """
    from privet.roads.trajectories.check import framed, read_paths, shape_of
    from privet.trajectory.frequent import frequent, threshold
    from privet.trajectory.searches import at_least

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    where = engine_of(engine)
    folder = Path(data)
    released = folder.is_dir()
    if released:
        said, frame = _released(folder, where)
    elif policy is None:
        raise InputError("POLICY: says where in the data the paths are; a release folder needs none")
    else:
        said = load_policy(policy)
        _needs_paths(said)
        frame = framed(data, said, where)
    with screen.working(json=json) as progress:
        progress("tally", 0)
        paths = read_paths(frame, said, published=released).paths
        if (stops := shape_of(said).known_stops()) is not None:
            stops.check(paths, "trajectories.stops")
        progress("search", 0)
        least = threshold(_support(support, said, at_least), paths.records)
        found = frequent(paths, least)
    shown = released or show_values
    listed = sorted(
        zip(found.labels(), found.support.tolist(), strict=True), key=lambda one: (-one[1], -len(one[0]), one)
    )
    if output is not None:
        import csv

        with (
            whole(output, overwrite=overwrite, private=not released) as fresh,
            fresh.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(("sequence", "points", "support"))
            writer.writerows((" → ".join(labels), len(labels), many) for labels, many in listed)
    by_length: dict[int, int] = {}
    for labels, _ in listed:
        by_length[len(labels)] = by_length.get(len(labels), 0) + 1
    if json:
        document: dict[str, Any] = {
            "records": paths.records,
            "support": least,
            "sequences": len(found),
            "by_length": {str(length): by_length[length] for length in sorted(by_length)},
        }
        if released:
            document["listed"] = [{"sequence": list(labels), "support": many} for labels, many in listed]
        screen.answer(document)
        return 0
    screen.say(
        f"{len(found):,} maximal sequences are in at least {least:,} of {paths.records:,} records",
        *screen.table(
            [(str(length), f"{by_length[length]:,}") for length in sorted(by_length)],
            head=("points", "sequences"),
        ),
    )
    if shown and listed:
        screen.say(
            "",
            *screen.table(
                [(f"{many:,}", " → ".join(labels)) for labels, many in listed[:LINES]],
                head=("records", "sequence"),
            ),
        )
        if len(listed) > LINES:
            screen.say(f"  and {len(listed) - LINES:,} more; -o FILE writes all")
    if output is not None:
        screen.say(f"wrote {screen.shown(str(output))}" + ("" if released else ": it holds raw values"))
    return 0


def _needs_paths(policy: Any) -> None:
    if policy.kind != "trajectories":
        raise InputError(f"sequences are mined from paths; this policy is for a {policy.kind}")


def _released(folder: Path, engine: Any) -> tuple[Any, Any]:
    from privet.cli.options import release_folder
    from privet.evidence import folder as ev
    from privet.policy import handed
    from privet.roads.stations import data_file, in_frame

    release_folder(folder)
    policy = handed.load(folder / "policy.toml")
    _needs_paths(policy)
    path, form = data_file(folder, ev.read(folder))
    return policy, in_frame(engine, engine.read(path, form))


def _support(said: str | None, policy: Any, at_least: Any) -> Any:
    from privet.errors import PolicyError
    from privet.policy.notation import exact

    try:
        return at_least(policy.algorithm.support if said is None else exact(said))
    except PolicyError as error:
        raise error.at("--support") from None
