"""What is at risk, what was lost, and why: the calls behind `privet risk`, `compare` and `explain`.

Each returns a value with fields, whose `to_dict()` JSON can hold. None of them decides about a release, and
none repeats a value of the data unless the caller asks for it. What can be asked besides depends on the road.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.core import Form
from privet.domain import Value
from privet.engine import Engine
from privet.evidence import folder as ev
from privet.measure.attack import Attack
from privet.policy import handed
from privet.policy.values import Policy, policy_of
from privet.release import Release
from privet.roads import engine_of, fit, options, road_of, with_known_options
from privet.roads.answers import Answer
from privet.roads.received import at_home
from privet.roads.tables import linking, opened
from privet.roads.tables.linking import Linked


def risk(
    source: Any, policy: Policy | str | Path, *, engine: Engine[Any] | str = "embedded", **asked: Any
) -> Answer:
    """How exposed the people in the data are, as it stands.

    Of tables: `threshold`, the chance of being found that is too high (without it, what the policy's
    strictest k promises); `trials` and `seed` of simulated attacks; `show_values` lists the groups that
    break a promise with their values; `progress`.
    """
    policy = policy_of(policy)
    call = road_of(policy).risk
    return call(source, policy, engine=fit(engine, policy), **options(call, policy, asked))


def compare(
    raw: Any, release: Release | str | Path, *, engine: Engine[Any] | str = "embedded", **asked: Any
) -> Answer:
    """What was lost between data and its release, and what risk is left; all counted again.

    Of tables: `classify` trains decision trees (it needs the extra `classify`, a target, and the rows in
    the same order in both tables); `seed` decides which records train and which test; `progress`.
    """
    made = release if isinstance(release, Release) else Path(release)
    policy = made.policy if isinstance(made, Release) else at_home(made, _policy(made))
    call = road_of(policy).compare
    return call(raw, made, policy, engine=fit(engine, policy), **options(call, policy, asked))


def explain(folder: str | Path, *, engine: Engine[Any] | str = "embedded", **asked: Any) -> Answer:
    """Why a release lost so much: what stopped the search, the tightest groups, what relaxing would buy.

    What relaxing would buy and the whole log stand in the private notes, if they still lie beside the
    folder. Of tables: `show_values` names the published values of the tightest groups, and the values that
    refused splits would have made; without it they are counted.
    """
    folder = Path(folder)
    evidence = ev.read(folder)
    policy = _policy(folder)
    call = road_of(policy).explain
    return call(folder, evidence, policy, engine=fit(engine, policy), **options(call, policy, asked))


@with_known_options
def attack(
    raw: Any,
    release: Release | str | Path,
    known: Mapping[str, Value],
    *,
    engine: Engine[Any] | str = "embedded",
) -> Attack:
    """What somebody who knows these raw values of a person finds in a raw table and in its release."""
    made = release if isinstance(release, Release) else Path(release)
    return opened.attack(raw, made, known, engine=engine_of(engine))


@with_known_options
def link(
    people: Any,
    target: Any,
    policy: Policy | str | Path | None = None,
    *,
    form: Form | None = None,
    engine: Engine[Any] | str = "embedded",
) -> Linked:
    """Everybody in a public list against every record of a release folder, or of a raw table by its policy.

    `to_dict` of what it returns has numbers only; the rest is for whoever may see raw values.
    """
    policy = None if policy is None else policy_of(policy)
    return linking.link(people, target, policy, form=form, engine=engine_of(engine))


def _policy(folder: Path) -> Policy:
    ev.read(folder)  # no release folder: say so, rather than that a policy is missing
    return handed.load(folder / ev.POLICY)
