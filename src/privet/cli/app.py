"""What commands there are, in the order in which a steward meets them."""

from __future__ import annotations

from functools import cache
from typing import Annotated

import click
import typer
import typer.main

from privet.cli.deferred import Group, command, laid_out, nested

# The order in which help lists commands; what is not named here stands at the end.
CHAPTERS = (
    (
        "The road of a release",
        ("demo", "studio", "init", "check", "publish", "sign", "verify", "verifier", "key"),
    ),
    (
        "How exposed, how useful",
        ("risk", "compare", "diff", "explain", "explore", "attack", "link", "sequences", "documents"),
    ),
    ("With noise from a budget", ("plan", "ledger")),
    ("Without trust in the collector", ("collect",)),
    ("What mining would reveal", ("rules",)),
    ("Several organisations, one release", ("joint", "node")),
    ("Several releases, or answers instead of data", ("sources", "audit")),
    ("Besides", ("sample", "list", "completion")),
)


class Chapters(Group):
    """All commands, in chapters."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of help, which completion keeps too."""
        known = super().list_commands(ctx)
        order = [name for _, names in CHAPTERS for name in names]
        return sorted(known, key=lambda name: order.index(name) if name in order else len(order))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A heading for each chapter."""
        known = self.list_commands(ctx)
        named = {name for _, inside in CHAPTERS for name in inside}
        for title, chapter in CHAPTERS:
            last = title == CHAPTERS[-1][0]
            names = [name for name in known if name in chapter or (last and name not in named)]
            with formatter.section(title):
                formatter.write_dl(self.gists(names, formatter.width))


app = typer.Typer(
    name="privet",
    cls=Chapters,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: loading the decorated one takes longer than showing it
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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
      2  usage or bad input        3  a fault in privet        130  stopped by Ctrl-C (143 by a kill)
    """


app.callback(help=laid_out(privet.__doc__))(privet)

COMMANDS = (
    command("demo", "demo:demo", "the main job on sample data, explained"),
    command("studio", "studio:studio", "the whole job in a browser, on this machine"),
    command("init", "init:init", "drafts a policy from the data"),
    command("check", "check:check", "what the raw data achieves"),
    command("plan", "plan:plan", "what an epsilon would buy, before any is spent"),
    command("publish", "publish:publish", "makes a release that keeps its policy"),
    command("sign", "signing:sign", "puts your name to a release"),
    command("verify", "verify:verify", "re-checks a release from its folder alone"),
    command("verifier", "verifier:verifier", "writes a checker of one file that needs no trust in privet"),
    command("risk", "risk:risk", "how exposed the people in a table are"),
    command("compare", "compare:compare", "what a release lost"),
    command("diff", "diff:diff", "what differs between two releases"),
    command("explain", "explain:explain", "why so much was lost, and what less would cost"),
    command("explore", "explore:explore", "several algorithms and parameters side by side"),
    command("attack", "attack:attack", "lets attackers loose on a release"),
    command("link", "link:link", "who in a public list could be found"),
    command("sequences", "sequences:sequences", "the routes that many take"),
    command("sample", "sample:sample", "writes data of people who do not exist"),
    command("list", "listing:show", "what is installed"),
    command("completion", "completion:completion", "makes the Tab key finish commands"),
    nested("key", "keys that sign releases", (("make", "signing:make", "makes a key that signs releases"),)),
    nested(
        "ledger",
        "what differential privacy has spent, and what is left",
        (
            ("open", "ledger:open_account", "sets a data set's budget, once"),
            ("show", "ledger:show_ledger", "what is spent and what is left"),
            ("amend", "ledger:amend_budget", "changes a budget, on the record"),
            ("book", "ledger_kept:book", "enters what another tool spends"),
            ("match", "ledger_kept:match", "ties a release to the entry that paid for it"),
            ("witness", "ledger_kept:witness", "the head to keep elsewhere; who notices an older copy"),
            ("distinct", "ledger_kept:distinct", "states that two data sets are other people"),
            ("upgrade", "ledger_kept:upgrade", "chains a ledger of an earlier privet"),
        ),
    ),
    nested(
        "documents",
        "what a release of documents answers",
        (
            ("count", "answers:count", "how many match a pattern, estimated and exact"),
            ("reconstruct", "answers:reconstruct", "one way to put two halves together"),
        ),
        told="answers:GIST",
    ),
    nested(
        "rules",
        "association rules: mine them, hide some, and keep classifiers from guessing",
        (
            ("mine", "rules:mine", "frequent itemsets and rules, as a recipient would find them"),
            ("hide", "rules:hide", "baskets in which the named rules are not seen any more"),
            ("downgrade", "rules:downgrade", "cells suppressed until a class cannot be guessed"),
        ),
    ),
    nested(
        "sources",
        "several releases of the same people, looked at together",
        (
            ("check", "sources:check_sources", "how likely each value is for each person, given every view"),
            (
                "restore",
                "sources:restore_sources",
                "more true views that bring every chance back under gamma",
            ),
        ),
    ),
    nested(
        "audit",
        "answers SUM and MAX queries so that nobody is given away",
        (
            ("init", "audit:init", "drafts audit.toml for a table"),
            ("key", "audit:key", "makes an API key for an analyst"),
            ("keys", "audit:keys", "whose keys there are, and until when"),
            ("serve", "audit:serve", "the gateway in front of the table"),
            ("ask", "audit:ask", "poses a query"),
            ("replay", "audit:replay", "proves from the log that nobody is determined"),
        ),
    ),
    nested(
        "joint",
        "one release of several organisations' tables that nobody brings together",
        (
            ("show", "joint:show", "what a contract says, and what each party would learn"),
            ("sign", "joint:sign", "puts your organisation's name to a contract"),
            ("rehearse", "joint:rehearse", "all parties on one machine, with the real protocol"),
            ("mine", "joint:mine", "frequent itemsets of several parties together"),
            ("query", "joint_database:query", "asks a virtual database: rows, and not whose they are"),
            ("propose", "joint_run:propose", "drafts a contract from a policy"),
            ("run", "joint_run:run", "starts a contract that all have signed on your node"),
            ("status", "joint_run:status", "every run of your node, and how it stands"),
            ("stop", "joint_run:stop", "ends a run of your node"),
            ("fetch", "joint_run:fetch", "brings the release of a run"),
            ("verify", "joint_run:verify", "is this the release of this contract, signed by all?"),
        ),
    ),
    nested(
        "node",
        "the service that an organisation runs to publish together with others",
        (
            ("init", "node:init", "makes a node: address, certificate, signing key"),
            ("invite", "node:invite", "what peers need to know of each other"),
            ("serve", "node:serve", "runs the node until it is stopped"),
            ("relay", "node:relay", "runs a relay, where nodes without a port meet"),
            ("status", "node:status", "does it run, and which peers answer?"),
            ("renew", "node:renew", "a new certificate; peers need not be told"),
        ),
    ),
    nested(
        "collect",
        "people perturb their own answers; distributions are estimated from what arrives",
        (
            ("init", "collect:init", "drafts collect.toml from the names of columns"),
            ("show", "collect:show", "what each answer hides, from the plan alone"),
            ("form", "collect:form", "the plan as JSON, and the client for browsers"),
            ("answer", "collect:answer", "perturbs one respondent's answers, with a ledger"),
            ("perturb", "collect:perturb", "perturbs a file or a pipe of answers"),
            ("given", "collect:given", "what a respondent has given over all rounds"),
            ("reconstruct", "collected:reconstruct", "estimates the true distributions"),
            ("train", "collected:train", "a classifier on reconstructed distributions"),
            ("classify", "collected:classify", "asks a classifier about true records"),
        ),
    ),
)


@cache
def commands() -> click.Command:
    """The whole command line as click runs it; what was built once is there for the next who asks."""
    built = typer.main.get_group(app)
    built.commands = {str(one.name): one for one in COMMANDS}
    return built
