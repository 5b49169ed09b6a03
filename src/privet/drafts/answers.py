"""Values that are answers, findings or decisions: what somebody said, was found to have, or was given.

A column of "agree, disagree" or "mild, severe" says this of a person whatever it is called. Yes and no are
left out: anything may be asked so.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.drafts.lexicon import Words

CHOICES = 12  # answers to choose from, at most
ANSWERS = Words("""
    agree- disagree- neutral undecided approv- disapprov- favor favour oppose- support- satisf- dissatisf-
    unsatisf- likely unlikely happy unhappy trust- confident important unimportant
    always often sometimes rarely never seldom usually frequently occasional- occasionally regularly
    daily weekly     poor fair excellent better worse improv- unchanged stable bad terrible
    positive negative pos neg reactive nonreactive normal abnormal benign malignant present absent detected
    undetected mild moderate severe acute chronic none slight
    alive dead deceased died survived recovered discharged relapse- remission progress- censored
    placebo treated untreated control active verum exposed unexposed smoker
    nonsmoker
    approved denied rejected accepted granted guilty acquitted convicted dismissed released
    fired promoted
    pass fail passed failed won lost default defaulted bankrupt overdue
    liberal conservative democrat republican labour independent catholic protestant muslim jewish
    atheist christian
    stimmt trifft zustimm- ablehn- zufrieden unzufrieden nie selten manchmal immer haufig oft gut schlecht
    schwer leicht negativ positiv verstorben lebend
    jamais parfois souvent toujours rarement accord satisfait bon mauvais grave leger positif negatif
    decede vivant
    nunca siempre acuerdo desacuerdo satisfecho bueno malo positivo negativo fallecido vivo
    mai spesso sempre raramente soddisfatto grave lieve deceduto
    nigdy rzadko czasem czesto zawsze zgadzam dobry zly dodatni ujemny
    никогда редко иногда часто всегда согласен хорошо плохо
    -同意- -満足- -満意- -从不- -经常- -阳性- -阴性- -陽性- -陰性-
""")


def answers(values: Sequence[str]) -> bool:
    """Are they a few to choose from, and half of them or more answers?

    >>> answers(["Strongly agree", "Disagree", "7"]), answers(["yes", "no"]), answers(["Mild", "severe"])
    (True, False, True)
    """
    if not 2 <= len(values) <= CHOICES:
        return False
    return sum(map(ANSWERS.speak, values)) * 2 >= len(values)
