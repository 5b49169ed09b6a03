"""What commands there are, in the order in which a steward meets them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Annotated, TypeAlias

import click
import typer
import typer.core
import typer.main

from privet.cli import answers, collected, ledger_kept, rules
from privet.cli import audit as auditing
from privet.cli import collect as collecting
from privet.cli.check import check
from privet.cli.compare import compare
from privet.cli.completion import completion
from privet.cli.demo import demo
from privet.cli.explain import explain
from privet.cli.explore import explore
from privet.cli.init import init
from privet.cli.ledger import amend_budget, open_account, show_ledger
from privet.cli.link import link
from privet.cli.listing import show
from privet.cli.options import ARGUMENTS
from privet.cli.plan import plan
from privet.cli.publish import publish
from privet.cli.risk import risk
from privet.cli.sample import sample
from privet.cli.sequences import sequences
from privet.cli.sources import check_sources, restore_sources
from privet.cli.verify import verify


class Command(typer.core.TyperCommand):
    """A command whose help lists its arguments once: click 8.5 lists them, and so does typer."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Leave it to typer."""


# The order in which help lists commands; what is not named here stands at the end.
CHAPTERS = (
    ("The road of a release", ("demo", "init", "check", "publish", "verify")),
    ("How exposed, how useful", ("risk", "compare", "explain", "explore", "link", "sequences", "documents")),
    ("With noise from a budget", ("plan", "ledger")),
    ("Without trust in the collector", ("collect",)),
    ("What mining would reveal", ("rules",)),
    ("Several releases, or answers instead of data", ("sources", "audit")),
    ("Besides", ("sample", "list", "completion")),
)


class Chapters(typer.core.TyperGroup):
    """All commands, in chapters."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of help, which completion keeps too."""
        known = super().list_commands(ctx)
        order = [name for _, names in CHAPTERS for name in names]
        return sorted(known, key=lambda name: order.index(name) if name in order else len(order))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A heading for each chapter."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        told = {
            name: (name.ljust(width), found.get_short_help_str(formatter.width - 6 - width))
            for name in names
            if (found := self.get_command(ctx, name)) is not None
        }
        for title, chapter in CHAPTERS:
            last = title == CHAPTERS[-1][0]
            named = {name for _, inside in CHAPTERS for name in inside}
            rows = [told[name] for name in told if name in chapter or (last and name not in named)]
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    name="privet",
    cls=Chapters,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: loading the decorated one takes longer than showing it
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def laid_out(text: str | None) -> str:
    """Help as click wants it: paragraphs are filled, but one with lines further in stays as it is."""
    paragraphs = cleandoc(text or "").split("\n\n")
    return "\n\n".join(f"\b\n{part}" if "\n  " in part else part for part in paragraphs)


def privet(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    """Publish personal data without publishing people.

    A policy says what each column is and what is promised; `publish` makes a release that keeps the
    promise, with evidence that anybody can check again with `verify`.

    Start here:
      privet demo                                 see the whole road on sample data
      privet init patients.csv                    draft a policy for your own data
      privet publish patients.csv policy.toml -o out
      privet verify out

    Exit codes:
      0  everything asked about holds
      1  a promise is broken or cannot be kept, or a release was tampered with
      2  usage or bad input        3  a fault in privet        130  stopped by Ctrl-C
    """


app.callback(help=laid_out(privet.__doc__))(privet)

Commands: TypeAlias = tuple[tuple[str, Callable[..., int], str], ...]  # name, function, gist


def registered(group: typer.Typer, commands: Commands) -> None:
    for name, command, gist in commands:
        group.command(name, cls=Command, help=laid_out(command.__doc__), short_help=gist)(command)


def nested(name: str, gist: str, commands: Commands) -> None:
    """Commands under a noun of their own: `privet audit serve`."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=name, help=gist)
    registered(group, commands)


registered(
    app,
    (
        ("demo", demo, "the main job on sample data, explained"),
        ("init", init, "drafts a policy from the data"),
        ("check", check, "what the raw data achieves"),
        ("plan", plan, "what an epsilon would buy, before any is spent"),
        ("publish", publish, "makes a release that keeps its policy"),
        ("verify", verify, "re-checks a release from its folder alone"),
        ("risk", risk, "how exposed the people in a table are"),
        ("compare", compare, "what a release lost"),
        ("explain", explain, "why so much was lost, and what less would cost"),
        ("explore", explore, "several algorithms and parameters side by side"),
        ("link", link, "who in a public list could be found"),
        ("sequences", sequences, "the routes that many take"),
        ("sample", sample, "writes data of people who do not exist"),
        ("list", show, "what is installed"),
        ("completion", completion, "makes the Tab key finish commands"),
    ),
)
nested(
    "ledger",
    "what differential privacy has spent, and what is left",
    (
        ("open", open_account, "sets a data set's budget, once"),
        ("show", show_ledger, "what is spent and what is left"),
        ("amend", amend_budget, "changes a budget, on the record"),
        ("book", ledger_kept.book, "enters what another tool spends"),
        ("match", ledger_kept.match, "ties a release to the entry that paid for it"),
        ("witness", ledger_kept.witness, "the head to keep elsewhere; who notices an older copy"),
        ("distinct", ledger_kept.distinct, "states that two data sets are other people"),
        ("upgrade", ledger_kept.upgrade, "chains a ledger of an earlier privet"),
    ),
)
nested(
    "documents",
    answers.GIST,
    (
        ("count", answers.count, "how many match a pattern, estimated and exact"),
        ("reconstruct", answers.reconstruct, "one way to put two halves together"),
    ),
)
nested(
    "rules",
    rules.GIST,
    (
        ("mine", rules.mine, "frequent itemsets and rules, as a recipient would find them"),
        ("hide", rules.hide, "baskets in which the named rules are not seen any more"),
        ("downgrade", rules.downgrade, "cells suppressed until a class cannot be guessed"),
    ),
)
nested(
    "sources",
    "several releases of the same people, looked at together",
    (
        ("check", check_sources, "how likely each value is for each person, given every view"),
        ("restore", restore_sources, "more true views that bring every chance back under gamma"),
    ),
)
nested(
    "audit",
    "answers SUM and MAX queries so that nobody is given away",
    (
        ("init", auditing.init, "drafts audit.toml for a table"),
        ("key", auditing.key, "makes an API key for an analyst"),
        ("keys", auditing.keys, "whose keys there are, and until when"),
        ("serve", auditing.serve, "the gateway in front of the table"),
        ("ask", auditing.ask, "poses a query"),
        ("replay", auditing.replay, "proves from the log that nobody is determined"),
    ),
)
nested(
    "collect",
    "people perturb their own answers; distributions are estimated from what arrives",
    (
        ("init", collecting.init, "drafts collect.toml from the names of columns"),
        ("show", collecting.show, "what each answer hides, from the plan alone"),
        ("form", collecting.form, "the plan as JSON, and the client for browsers"),
        ("answer", collecting.answer, "perturbs one respondent's answers, with a ledger"),
        ("perturb", collecting.perturb, "perturbs a file or a pipe of answers"),
        ("given", collecting.given, "what a respondent has given over all rounds"),
        ("reconstruct", collected.reconstruct, "estimates the true distributions"),
        ("train", collected.train, "a classifier on reconstructed distributions"),
    ),
)


def commands() -> click.Command:
    """The whole command line as click runs it."""
    built = typer.main.get_command(app)
    every = getattr(built, "commands", {}).values()
    for one in (*every, *(part for group in every for part in getattr(group, "commands", {}).values())):
        for argument in one.params:
            # click 8.5 gives arguments a help of their own, and typer 0.23 loses its text to that. Older ones
            # have no such attribute, so a type checker may or may not complain.
            if isinstance(argument, click.Argument) and not getattr(argument, "help", None):
                argument.help = ARGUMENTS.get(str(argument.metavar))  # type: ignore[attr-defined, unused-ignore]
    return built
