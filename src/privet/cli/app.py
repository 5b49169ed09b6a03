"""What commands there are, in the order in which a steward meets them."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.check import check
from privet.cli.compare import compare
from privet.cli.demo import demo
from privet.cli.explain import explain
from privet.cli.init import init
from privet.cli.list import show
from privet.cli.publish import publish
from privet.cli.risk import risk
from privet.cli.sample import sample
from privet.cli.verify import verify

app = typer.Typer(
    name="privet",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: loading the decorated one takes longer than showing it
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def privet(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,  # noqa: ARG001 - answered before
) -> None:
    """Publish personal data without publishing people.

    A policy says what each column is and what is promised; `publish` makes a release that keeps the
    promise, with evidence that anybody can check again with `verify`.

    \b
    Start here:
      privet demo                                 see the whole road on sample data
      privet init patients.csv                    draft a policy for your own data
      privet publish patients.csv policy.toml -o out
      privet verify out

    \b
    Exit codes:
      0  everything asked about holds
      1  a promise is broken or cannot be kept, or a release was tampered with
      2  usage or bad input        3  a fault in privet        130  stopped by Ctrl-C
    """


for name, command in {
    "demo": demo,
    "init": init,
    "check": check,
    "publish": publish,
    "verify": verify,
    "risk": risk,
    "compare": compare,
    "explain": explain,
    "sample": sample,
    "list": show,
}.items():
    app.command(name)(command)
