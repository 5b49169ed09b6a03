"""One respondent's answers, perturbed where they are given: JSON in, JSON out, nothing heavy loaded.

    from privet.collect import answer
    answer(form, {"age": 41, "smokes": "no"})
    {"plan": "…", "answers": {"age": "38", "smokes": "no"}}

client.js beside this file does the same in a browser, with the same plan and the same draws from the same
random bytes; tests/collect/vectors.json binds the two together.

Privacy: each perturbed answer by itself keeps its column's epsilon; the answers of one person add up.
Trust: the respondent trusts this code and its device. The collector is not trusted.
Leaks: that somebody takes part; which questions are asked; without a ledger, more at every repetition.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from privet.collect.channels import Take
from privet.collect.plan import Plan
from privet.errors import InputError, unknown_key

if TYPE_CHECKING:
    from privet.collect.respondent import AnswerLedger


def answer(
    plan: Plan | Mapping[str, Any],
    answers: Mapping[str, Any],
    *,
    ledger: AnswerLedger | None = None,
    take: Take = os.urandom,
) -> dict[str, Any]:
    """Perturbed answers to every question of the plan, ready to be sent.

    With a ledger the answer to a question that was asked before is repeated and not drawn again. `take` gives
    random bytes, and is only ever another one in tests.
    """
    if not isinstance(plan, Plan):
        plan = Plan.from_document(plan)
    codes = coded(plan, answers)
    if ledger is not None:
        return {"plan": plan.digest, "answers": ledger.answers(plan, codes, take=take)}
    return {"plan": plan.digest, "answers": drawn(plan, codes, take)}


def coded(plan: Plan, answers: Mapping[str, Any]) -> dict[str, int]:
    """True answers by their numbers; every complaint at once, none with an answer in it."""
    if not isinstance(answers, Mapping):
        raise InputError("answers are an object with one entry for each column of the plan")
    wrong = [unknown_key(tuple(plan.columns), str(key)) for key in answers if key not in plan.columns]
    codes = {}
    for name, column in plan.columns.items():
        try:
            codes[name] = column.code(answers.get(name))
        except InputError as error:
            wrong += error.complaints
    if wrong:
        raise InputError(*wrong)
    return codes


def drawn(plan: Plan, codes: Mapping[str, int], take: Take) -> dict[str, str]:
    """One draw for each answer, in the order of their names: of a plan in JSON a browser knows no other."""
    columns = plan.columns
    return {
        name: columns[name].output_text(columns[name].channel.draw(codes[name], take))
        for name in sorted(columns)
    }
