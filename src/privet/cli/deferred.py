"""Commands that are loaded when they are asked for: help lists all of them and loads none.

Building one takes a look at its function's signature and every type in it; for all of them together that took
longer than many commands run.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click
import typer
import typer.core
import typer.main
from typer.models import CommandInfo

from privet.cli.options import ARGUMENTS


class Command(typer.core.TyperCommand):
    """A command whose help lists its arguments once: click 8.5 lists them, and so does typer."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Leave it to typer."""


class Deferred(click.Command):
    """A name and a line of help, until somebody wants more."""

    def __init__(self, name: str, gist: str, build: Callable[[], click.Command]) -> None:
        super().__init__(name, help=gist)
        self.build = build


class Group(typer.core.TyperGroup):
    """Commands of which only the one that is asked for is built."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself."""
        found = super().get_command(ctx, cmd_name)
        if isinstance(found, Deferred):
            found = self.commands[cmd_name] = found.build()
        return found

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What there is, with a line each, from the list alone."""
        with formatter.section("Commands"):
            formatter.write_dl(self.gists(list(self.commands), formatter.width))

    def gists(self, names: list[str], width: int) -> list[tuple[str, str]]:
        """Names in a column, and what each is for."""
        longest = max(map(len, self.commands))
        return [
            (name.ljust(longest), self.commands[name].get_short_help_str(width - 6 - longest))
            for name in names
        ]


def laid_out(text: str | None) -> str:
    """Help as click wants it: paragraphs are filled, but one with lines further in stays as it is."""
    paragraphs = cleandoc(text or "").split("\n\n")
    return "\n\n".join(f"\b\n{part}" if "\n  " in part else part for part in paragraphs)


def command(name: str, where: str, gist: str) -> Deferred:
    """A command by the place of its function, `module:function` of this room."""

    def build() -> click.Command:
        function = _found(where)
        info = CommandInfo(
            name=name, cls=Command, callback=function, help=laid_out(function.__doc__), short_help=gist
        )
        built = typer.main.get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)
        for argument in built.params:
            # click 8.5 gives arguments a help of their own, and typer 0.23 loses its text to that. Older ones
            # have no such attribute, so a type checker may or may not complain.
            if isinstance(argument, click.Argument) and not getattr(argument, "help", None):
                metavar = str(argument.metavar)
                text = ARGUMENTS.get(f"{name} {metavar}", ARGUMENTS.get(metavar))
                argument.help = text  # type: ignore[attr-defined, unused-ignore]
        return built

    return Deferred(name, gist, build)


def nested(name: str, gist: str, commands: tuple[tuple[str, str, str], ...], told: str = "") -> Deferred:
    """Commands under a noun of their own, `privet audit serve`; `told` is where a longer help stands."""

    def build() -> click.Command:
        return Group(
            name=name,
            commands=[command(*one) for one in commands],
            help=_found(told) if told else gist,
            no_args_is_help=True,
            rich_markup_mode=None,
        )

    return Deferred(name, gist, build)


def _found(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(f"privet.cli.{module}"), name)
