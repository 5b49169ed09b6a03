"""Randomised collection: people perturb their own answers, and the collector estimates from what arrives.

Nobody is trusted with a true answer. A plan (`plan`) that both sides read says what is asked and how each
answer is perturbed; `client` perturbs one person's answers, `stream` a file of them, `client.js` in a
browser. The collector counts what arrives (`observe`), reconstructs distributions (`estimate`, `joint`) and
learns from them (`learn`). Every mechanism is a finite channel in whole numbers (`channels`), so that what
it guarantees is enumerated and not estimated (`privacy`).

What is imported here is light: a device that only answers loads neither numpy nor polars.
"""

from privet.collect.client import answer
from privet.collect.plan import Plan
from privet.collect.respondent import AnswerLedger

__all__ = ["AnswerLedger", "Plan", "answer"]
