"""What a page asks for each parameter of a promise or a search, in words.

A letter means another thing in another promise, so a question belongs to a parameter of one of them;
those that mean the same wherever they stand are shared.
"""

from __future__ import annotations

from collections.abc import Mapping

VALUES = "How many different protected values must a class have, at least?"
OWN: Mapping[tuple[str, str], str] = {
    ("lkc-privacy", "l"): "How many values of a person may somebody know?",
    ("lkc-privacy", "c"): "What share of those records may have one protected value, at most?",
    ("distinct-l-diversity", "l"): VALUES,
    ("p-sensitive-k-anonymity", "p"): VALUES,
    ("entropy-l-diversity", "l"): (
        "As uncertain as with how many equally frequent values must a class be, at least?"
    ),
    ("recursive-l-diversity", "c"): (
        "The commonest value of a class stays below how many times the rarer ones together?"
    ),
    ("recursive-l-diversity", "l"): (
        "From which place on are values the rarer ones? With 2, all but the commonest"
    ),
    ("document-l-diversity", "l"): (
        "How many records must be alike, at least? No protected value has a share above one in so many"
    ),
    ("anatomy-l-diversity", "l"): (
        "How many people must a group have, at least? No protected value has a share above one in so many"
    ),
    ("average-risk", "at_most"): "How large may the chance be of finding a record, on average?",
    ("maximum-risk", "at_most"): "How large may the chance be of finding a record, for any of them?",
    ("records-at-risk", "above"): "Above what chance of being found is a record at risk?",
    ("records-at-risk", "at_most"): "What share of the records may be at risk, at most?",
    ("sample-uniqueness", "at_most"): (
        "What share of the records may be the only ones of their kind, at most?"
    ),
    ("population-uniqueness", "at_most"): (
        "What share of the whole population may be the only ones of their kind, at most?"
    ),
    ("population-uniqueness", "fraction"): "What share of the whole population is in this table?",
    ("personalised-privacy", "at_most"): "What share of a class may have what somebody guards, at most?",
    ("personalised-privacy", "guard"): "Which column says what each person guards?",
    ("personalised-privacy", "tree"): "The tree of the protected values, whose labels people name",
    ("k-map", "k"): "How many people of the population must a published record fit, at least?",
    ("hidden-rule", "support"): "Below how many records, or what share of them, must it stay?",
    ("hidden-rule", "confidence"): (
        "Or below what share of those with the first items must those with the others stay?"
    ),
    ("hidden-rule", "antecedent"): "The items from which the rule concludes",
    ("hidden-rule", "consequent"): "The items that it concludes",
    ("hidden-rule", "itemset"): "Or items that must not be seen together",
    ("confidence-bounding", "quasi"): "Which columns may somebody know? None: all quasi-identifiers",
    ("pm-privacy", "rules"): "Which values must nobody be linked to, how often, and how surely?",
    ("pm-privacy", "exact"): "Is it counted from the true shares of each group, and not bounded?",
    ("safe-harbor", "dates"): "Which columns are dates?",
    ("safe-harbor", "areas"): "Which columns are postal codes?",
    ("safe-harbor", "ages"): "Which columns are ages?",
}
SHARED: Mapping[str, str] = {
    "k": "How many records must look alike to them, at least?",
    "alpha": "What share of a class may have one protected value, at most?",
    "t": "How far may the values of a class be from those of the whole table?",
    "epsilon": "How much does this release spend of the budget?",
    "sensitive": "Which columns are protected?",
    "suppression": "What share of the records may be left out?",
    "time_limit": "After how many seconds is the best so far taken?",
    "score": "What is a good split?",
    "m": "How many items of a person may somebody know?",
    "beta": "How much more frequent may a value be in a class than in the table, relatively?",
    "delta": "How far may the share of a value in a class be from its share in the table, as a logarithm?",
    "low": "How likely must it be, at least, that a person is in the data?",
    "high": "How likely may it be, at most, that a person is in the data?",
    "subset": "Which column says who is in the release?",
    "values": "Which of its values say so?",
    "at_most": "How much of it may there be, at most?",
    "distance": "How is the distance between values measured?",
    "loss": "Which measure of loss is made small?",
    "nodes": "How many nodes of the lattice are looked at, at most?",
    "seed": "Where does chance begin? The same number gives the same release",
    "support": "What share of the people must take a route so that it counts as frequent?",
}


def asked(owner: str, parameter: str) -> str:
    """The question for a parameter of a promise or a search; its own name, where there is none.

    >>> asked("lkc-privacy", "l"), asked("somebody-elses", "how_far")
    ('How many values of a person may somebody know?', 'how far')
    """
    return OWN.get((owner, parameter)) or SHARED.get(parameter, parameter.replace("_", " "))
