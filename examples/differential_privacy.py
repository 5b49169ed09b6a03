"""A release with differential privacy: a budget, a payment, and what is left of it."""

from dataclasses import replace
from fractions import Fraction

import privet as pv
from privet.dp.ledger import Ledger
from privet.policy.values import Purse
from privet.samples import SAMPLES

RULES = """
policy = 1
purpose = "an example"
[attributes]
sex = { role = "quasi", hierarchy = { type = "tree", tree = { ANY = ["M", "F"] } } }
age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120 } }
transfused = { role = "target", values = ["Y", "N"] }
[[models]]
type = "differential-privacy"
epsilon = "1/2"
[algorithm]
type = "diffgen"
h = 4
noise = "exact"  # privet's own samplers; without this line OpenDP's, which need the extra dp
"""

ledger = Ledger("ledger.sqlite")
ledger.open("patients", budget=Fraction(1))  # all that may ever be spent on these people
rules = replace(pv.Policy.loads(RULES), ledger=Purse("ledger.sqlite", "patients"))

release = pv.publish(SAMPLES["patients"].generate(rows=5000, seed=0), rules)  # paid before noise is drawn
folder = release.write("out")  # and entered in the ledger before anything leaves
print(release.to_polars().head())
print(f"{folder}: as it should be: {pv.verify(folder).holds}")
print(f"left of the budget: {ledger.balance('patients').left}")
