"""`privet completion`: what makes the Tab key finish commands and options."""

from __future__ import annotations

from typing import Annotated

import click.shell_completion
import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json
from privet.errors import InputError, one_of

SHELLS = ("bash", "zsh", "fish")
ASKED = "_PRIVET_COMPLETE"  # the shell sets this when it asks what could come next
ARGUMENTS["SHELL"] = "bash, zsh or fish."


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help=ARGUMENTS["SHELL"])], *, json: Json = False
) -> int:
    """Write a script after which the Tab key finishes commands and options; files go on as before.

    Example:
      privet completion bash >> ~/.bashrc
      privet completion zsh >> ~/.zshrc
      privet completion fish > ~/.config/fish/completions/privet.fish

    Next: open a new shell, type `privet pu` and press Tab.

    """
    from privet.cli.app import commands

    known = click.shell_completion.get_completion_class(shell) if shell in SHELLS else None
    if known is None:
        raise InputError(one_of("the shell", list(SHELLS), shell))
    script = known(commands(), {}, "privet", ASKED).source()
    if json:
        screen.answer({"shell": shell, "script": script})
    else:
        screen.say(script.rstrip("\n"))
    return 0


def answered(asked: str) -> int:
    """What could come next, for a shell that asks; its own exit code."""
    from privet.cli.app import commands

    return click.shell_completion.shell_complete(commands(), {}, "privet", ASKED, asked)
