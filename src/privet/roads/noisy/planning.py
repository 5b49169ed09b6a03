"""What an epsilon buys, before anything is spent and without any data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.dp.choose_h import planned_h
from privet.dp.contingency import refuse
from privet.dp.plan import expect, mean_error
from privet.dp.settings import DiffGenSettings, epsilon_of, public, with_h
from privet.errors import InputError, OptionError, PolicyError
from privet.policy.notation import exact
from privet.policy.values import Policy, policy_of
from privet.roads import road_of, with_known_options
from privet.roads.answers import Planned
from privet.roads.noisy.road import NoisyRoad, settings_of

EPSILONS = ("1/10", "1/4", "1/2", "1", "2")
SMALLEST, LARGEST = Fraction(1, 10**9), Fraction(10**9)
ROUNDS = (2, 4, 6, 8, 10, 12, 15, 20)


@with_known_options
def plan(
    policy: Policy | str | Path,
    *,
    records: int | None = None,
    epsilon: Sequence[str | int | Fraction] = (),
    h: Sequence[int] = (),
) -> Planned:
    """What epsilons and rounds would buy under a policy with differential privacy; no data is read.

    Without `epsilon` and `h`, the policy's own and a usual few. `records` is a public guess.
    """
    policy = policy_of(policy)

    if not isinstance(road_of(policy), NoisyRoad):
        raise InputError(f"privet plan is for differential privacy; {policy.algorithm.name} spends nothing")
    settings, own, known = settings_of(policy), epsilon_of(policy), public(policy)
    settings.refuse(known)
    asked = [_epsilon(text) for text in epsilon] or sorted({_epsilon(own), *map(Fraction, EPSILONS)})
    document: dict[str, Any] = {
        "algorithm": settings.name,
        "records": records,
        "epsilon": str(own),
        "epsilon_of_a_person": str(own * settings.records_per_person),
        "records_per_person": settings.records_per_person,
    }
    if not isinstance(settings, DiffGenSettings):
        if h:
            raise OptionError(f"h: {settings.name} has no rounds")
        return Planned.of(document | {"plans": [_counted(known, one, records) for one in asked]})
    tried = sorted(set(h) or {*ROUNDS, *([settings.h] if settings.h else [])})
    document["h"] = settings.h
    document["sets"] = known.sets
    document["plans"] = [
        _expected(settings, known, one, rounds, records) for one in asked for rounds in tried
    ]
    if records is not None:
        document["suggested"] = {str(one): _suggested(settings, known, one, records) for one in asked}
    return Planned.of(document)


def _expected(settings: Any, known: Any, epsilon: Fraction, h: int, records: int | None) -> dict[str, Any]:

    share = 1 - (settings.buy_h or 0)
    found = expect(
        with_h(settings, h).search_of(epsilon * share),
        known.predictors,
        len(known.classes),
        records=records,
        draws=60,
    )
    drops = {"dropped": round(found.dropped, 4)} if records is not None and known.sets else {}
    return {
        "epsilon": str(epsilon),
        "h": h,
        "leaves": round(found.leaves, 1),
        "leaves_low": round(found.leaves_low, 1),
        "leaves_high": round(found.leaves_high, 1),
        "counts": round(found.counts, 1),
        "count_epsilon": round(float(found.count_epsilon), 6),
        "error": round(found.error, 3),
        **drops,
        **_noise(found.total_error, records),
        "clear_lead": round(found.odds, 3),
    }


def _counted(known: Any, epsilon: Fraction, records: int | None) -> dict[str, Any]:

    cells = refuse([p.domain for p in known.predictors], len(known.classes))
    error = mean_error(float(epsilon))
    return {
        "epsilon": str(epsilon),
        "counts": cells,
        "error": round(error, 3),
        **_noise(cells * error, records),
    }


def _noise(total: float, records: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"total_error": round(total, 1)}
    return found if records is None else found | {"noise": round(total / records, 4)}


def _suggested(settings: Any, known: Any, epsilon: Fraction, records: int) -> int:

    return planned_h(settings.search_of(epsilon), known.predictors, len(known.classes), records)


def _epsilon(said: str | int | Fraction) -> Fraction:
    try:
        found = said if isinstance(said, Fraction) else exact(said)
    except PolicyError as error:
        raise OptionError(*(f"epsilon: {complaint}" for complaint in error.complaints)) from None
    if found <= 0:
        raise OptionError("epsilon: above 0")
    if not SMALLEST <= found <= LARGEST:
        raise OptionError("epsilon: a plan needs one from 1e-9 to 1e9; beyond, all is noise or none is")
    return found
