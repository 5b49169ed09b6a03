"""Several searches and parameters side by side: what each risks, what each loses, and which are dominated.

The data is read and counted once; every run searches and measures on the same tally, and nothing is
published. A run dominates another if it risks no more and loses no more, and one of the two is less.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.core import Algorithm, PrivacyModel, Progress, Tally, silent
from privet.declared import TABLE
from privet.engine import Engine
from privet.errors import PolicyError, PrivetError, UnsatisfiableError, UnsupportedError, one_of
from privet.measure import classes, summary
from privet.measure.bayes import bayes_error
from privet.measure.kept import kept
from privet.measure.query import median_error
from privet.measure.spread import Boxes
from privet.policy.notation import build, describe
from privet.policy.values import Policy, policy_of
from privet.recoding import Perturbation, Recoding
from privet.roads import engine_of, with_known_options
from privet.roads.answers import Exploration, Run
from privet.roads.stations import checkable, columns_needed, refuse_broken, settle
from privet.roads.tables import population

USUAL = ("top-down", "optimal", "mondrian", "local", "suppression")  # beside the policy's own
SIZES = (2, 5, 10, 20)  # of classes, where a promise has a k
SHARES = (Fraction(0), Fraction(1, 100), Fraction(5, 100))  # of records, where a search may drop some
BEST = 3  # runs that are looked at closely
PATIENCE = 30.0  # seconds for one run, where an algorithm takes a limit
RISKS = ("highest", "average", "unique")
LOSSES = ("lm", "ncp", "discernibility")


@dataclass(frozen=True)
class Trial:
    """One run: an algorithm with its parameters, and the promises that it keeps."""

    algorithm: Algorithm
    models: tuple[PrivacyModel, ...]
    k: int | None = None
    suppression: Fraction | None = None

    @property
    def name(self) -> str:
        size = "" if self.k is None else f", k = {self.k}"
        dropped = "" if self.suppression is None else f", suppression {_percent(self.suppression)}"
        return f"{self.algorithm.name}{size}{dropped}"


@with_known_options
def explore(
    source: Any,
    policy: Policy | str | Path,
    *,
    algorithms: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    suppression: Sequence[Fraction] | None = None,
    risk: str = "highest",
    loss: str = "lm",
    time_limit: float = PATIENCE,
    engine: Engine[Any] | str = "embedded",
    progress: Progress = silent,
) -> Exploration:
    """Try several algorithms and parameters on a table, and say which of them dominate which.

    Without `algorithms`, `k` or `suppression`: the policy's algorithm and a usual few, 2, 5, 10 and 20 and
    the policy's own k, and 0, 1 % and 5 % of the records. `risk` is "highest", "average" or "unique", `loss`
    is "lm", "ncp" or "discernibility": what a run is judged by. `time_limit` is in seconds, for one run.
    """
    for given, allowed, what in ((risk, RISKS, "risk"), (loss, LOSSES, "loss")):
        if given not in allowed:
            raise PolicyError(one_of(what, allowed, given))
    policy = policy_of(policy)
    tried = list(trials(policy, algorithms, k, suppression, time_limit))
    progress("read", 0)
    place = engine_of(engine)
    table = place.read(source, settle(source, policy.form), columns_needed(policy))
    progress("tally", 0)
    raw = place.tally(table, policy).tally
    runs = []
    for at, trial in enumerate(tried):
        progress("search", at, len(tried))
        runs.append({"name": trial.name, **_run(raw, policy, trial)})
    judged = {run["name"]: (_risk(run, risk), _loss(run, loss)) for run in runs if _comparable(run, loss)}
    best = frontier(judged)
    for run in runs:
        if run["name"] in judged:
            here = judged[run["name"]]
            run["frontier"] = run["name"] in best
            run["dominated_by"] = [name for name in best if dominates(judged[name], here)]
    left = population.part_that_leaves(raw, policy)
    return Exploration(
        records=left.records,
        risk=risk,
        loss=loss,
        before=_risks(classes.class_sizes(left)),
        runs=[Run.of(run) for run in runs],
        frontier=best,
        best=_best(runs, policy, loss),
    )


def _best(runs: Sequence[Mapping[str, Any]], policy: Policy, loss: str) -> list[str]:
    """The names of the runs to look at closely: of those that come to the same, the first."""
    own = {int(model.k) for model in policy.models if _has(model, "k")}  # type: ignore[attr-defined]
    able = [run for run in runs if _comparable(run, loss)]
    kept_ = [run for run in able if run["k"] is None or run["k"] in own] or able
    found: list[Mapping[str, Any]] = []
    for run in sorted(kept_, key=lambda run: float(_loss(run, loss))):
        same = any((one["loss"], one["utility"]) == (run["loss"], run["utility"]) for one in found)
        if not same and len(found) < BEST:
            found.append(run)
    return [str(run["name"]) for run in found]


def trials(
    policy: Policy,
    algorithms: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    suppression: Sequence[Fraction] | None = None,
    time_limit: float = PATIENCE,
) -> Iterator[Trial]:
    """The runs that are asked for, each once."""
    if policy.kind != "table":
        raise UnsupportedError(f"explore is for tables, this policy for {policy.kind}")
    spent = [model.name for model in policy.models if model not in checkable(policy)]
    if spent:
        raise UnsupportedError(f"explore compares promises that can be checked, not {', '.join(spent)}")
    sized = [model for model in policy.models if _has(model, "k")]
    if k and not sized:
        raise PolicyError("k: no promise of this policy has a k")
    if any(size < 1 for size in k or ()):
        raise PolicyError("k: is at least 1")
    own = [int(model.k) for model in sized]  # type: ignore[attr-defined]
    sizes: list[int | None] = [*sorted({*(k or ()), *(() if k else (*SIZES, *own))})] if sized else [None]
    usual = [*USUAL] if policy.algorithm.road else [policy.algorithm.name, *USUAL]
    for name in dict.fromkeys(algorithms or usual):
        algorithm = _algorithm(name, policy, time_limit)
        shares: list[Fraction | None] = [None]
        if _has(algorithm, "suppression"):
            own_share = algorithm.suppression  # type: ignore[attr-defined]
            taken = (share for share in {*(suppression or (*SHARES, own_share))} if _takes(algorithm, share))
            shares = [*sorted(taken)] or [own_share]
        for size in sizes:
            models = tuple(_resized(model, size) for model in policy.models)
            for share in shares:
                made: Any = algorithm
                yield Trial(made if share is None else replace(made, suppression=share), models, size, share)


def _algorithm(name: str, policy: Policy, time_limit: float) -> Algorithm:
    """An algorithm by its name, with the policy's parameters if it is the policy's own."""
    if name == policy.algorithm.name:
        made: Any = policy.algorithm
    else:
        try:
            made = build("algorithms", {"type": name})
        except PolicyError as error:
            raise error.at(f"algorithms: {name}") from None
    if made.road or made.spends or TABLE not in made.kinds:
        raise UnsupportedError(f"explore compares searches that recode one table; {name} does something else")
    if _has(made, "time_limit") and made.time_limit is None:
        made = replace(made, time_limit=time_limit)
    found: Algorithm = made
    return found


def _takes(algorithm: Any, share: Fraction) -> bool:
    """May it drop such a share? `auto` drops records in a full-domain search alone."""
    try:
        replace(algorithm, suppression=share)
    except PolicyError:
        return not 0 <= share <= 1  # what nobody takes is refused when it is tried, with its own words
    return True


def _has(thing: Any, name: str) -> bool:
    return any(field.name == name and field.init for field in fields(thing))


def _resized(model: Any, k: int | None) -> Any:
    return model if k is None or not _has(model, "k") else replace(model, k=k)


def _run(raw: Tally, policy: Policy, trial: Trial) -> dict[str, Any]:
    """What one run comes to, or why there is no such release."""
    asked: dict[str, Any] = {
        "algorithm": describe(trial.algorithm),
        "k": trial.k,
        "suppression": None if trial.suppression is None else str(trial.suppression),
    }
    started = time.perf_counter()
    try:
        changed = replace(policy, models=trial.models, algorithm=trial.algorithm)
        finding = trial.algorithm.search(raw, population.searched(changed), silent)
        recoding = population.recoding_of_part(raw, changed, finding.recoding)
    except (PolicyError, UnsatisfiableError, UnsupportedError) as error:
        return {**asked, "seconds": _seconds(started), "refused": _reason(error)}
    seconds = _seconds(started)
    left = population.part_that_leaves(raw, changed)
    final = recoding.recode(left)
    whole = finding.recoding.recode(raw) if changed.publish_only else final
    refuse_broken(population.judge_all(whole, final, changed), changed, None)
    return {**asked, "seconds": seconds, **_measured(left, final, recoding), "notes": list(finding.notes)}


def _measured(raw: Tally, final: Tally, recoding: Recoding) -> dict[str, Any]:
    measures = summary.measures(recoding.over(raw), final, recoding)
    lost = ("lm", "ncp", "discernibility", "discernibility_ratio")
    sizes = classes.class_sizes(final)
    return {
        "risk": _risks(sizes),
        "loss": {name: measures["loss"].get(name) for name in lost},
        "utility": _useful(recoding.over(raw), recoding),
        "classes": len(sizes),
        "suppressed_records": raw.records - final.records,
    }


def _useful(raw: Tally, recoding: Recoding) -> dict[str, Any] | None:
    """What a recipient feels: errors of counts and of predictions, and what is kept of columns by two."""
    if isinstance(recoding, Perturbation):
        return None
    found = {"query_error": summary.tidy(median_error(raw, recoding)), **kept(raw, Boxes.of(raw, recoding))}
    if raw.target is not None:
        found["prediction_error"] = summary.tidy(bayes_error(raw, recoding))
        found["prediction_error_raw"] = summary.tidy(bayes_error(raw))
    return found


def _risks(sizes: Any) -> dict[str, Any]:
    found = classes.risk(sizes)
    return {
        "highest": found["highest"],
        "average": found["average"],
        "unique": found["unique_share"],
        "unique_records": found["unique_records"],
    }


def frontier(judged: Mapping[str, tuple[float, float]]) -> list[str]:
    """The runs that none dominates, the least risk first; by sorting, so that each is looked at once."""
    found = []
    least = float("inf")
    last: tuple[float, float] | None = None
    for name, point in sorted(judged.items(), key=lambda item: item[1]):
        if point[1] < least or point == last:  # equals stand beside each other: neither dominates
            found.append(name)
            least, last = min(least, point[1]), point
    return found


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Does the one risk no more and lose no more, and is one of the two less?"""
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def _comparable(run: Mapping[str, Any], loss: str) -> bool:
    return "refused" not in run and _loss(run, loss) is not None


def _risk(run: Mapping[str, Any], risk: str) -> float:
    return float(run["risk"][risk])


def _loss(run: Mapping[str, Any], loss: str) -> Any:
    return run["loss"]["discernibility_ratio" if loss == "discernibility" else loss]


def _reason(error: PrivetError) -> str:
    return error.complaints[0].removeprefix("algorithm: ")


def _seconds(started: float) -> float:
    return round(time.perf_counter() - started, 3)


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):g} %"
