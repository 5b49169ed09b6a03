"""`privet studio`: the whole job in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, FileName, Json, Query

if TYPE_CHECKING:
    from privet.studio.pages import Studio


def studio(
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help=ARGUMENTS["[DATA]"], click_type=FileName())
    ] = None,
    *,
    project: Annotated[
        Path | None,
        typer.Option("--project", metavar="DIR", help="Where the work is kept; else beside the data."),
    ] = None,
    query: Query = None,
    port: Annotated[
        int,
        typer.Option("--port", help="Where to listen on this machine; 0 takes a free one.", min=0, max=65535),
    ] = 0,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show everything, change and publish nothing.")
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or print its link only.")
    ] = False,
    json: Json = False,
) -> int:
    """The whole job in a browser: open a file, decide roles, promise, explore, publish, verify, compare.

    It listens on this machine only, prints a link that works once, and asks nothing of the network. Whatever
    is decided stands at once in a folder beside the data: policy.toml and its files, and the releases. The
    page shows the commands that would do the same. Stop it with Ctrl-C; the next run goes on from there.

    DATA may also be a release folder: then it is opened to be looked at and verified.

    Example:
      privet studio patients.csv

    Next: the page tells; `privet publish` takes the policy.toml that it writes.

    """
    from privet.studio.project import Project
    from privet.studio.server import serve

    def ready(made: Studio) -> None:
        if json:
            screen.answer({"link": made.gate.link, "project": str(made.project.folder)})
        else:
            screen.say(
                f"open this link, it works once: {made.gate.link}",
                f"  the work is kept in {screen.shown(str(made.project.folder))}",
                "  stop with Ctrl-C",
            )
        screen.finish()
        if browser:
            import webbrowser

            webbrowser.open(made.gate.link)

    serve(Project.opened(data, project, query), port=port, read_only=read_only, ready=ready)
    return 0
