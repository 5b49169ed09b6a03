"""What does a larger k cost? python sweep_k.py [DATA POLICY]"""

import sys
from dataclasses import replace
from typing import Any

import privet as pv
from privet.samples import SAMPLES

KS = (2, 5, 10, 20, 50)


def given() -> tuple[Any, pv.Policy]:
    if len(sys.argv) > 2:
        return sys.argv[1], pv.Policy.load(sys.argv[2])
    patients = SAMPLES["patients"]
    return patients.generate(rows=20_000, seed=0), pv.Policy.loads(patients.policy(score="discernibility"))


data, policy = given()
print("   k  lost   risk")
for k in KS:
    # Only tried, not handed out: two releases of the same records can be combined.
    try:
        release = pv.publish(data, replace(policy, models=(pv.KAnonymity(k=k),)))
    except pv.PrivetError as error:
        print(f"{k:>4}  {error.code}")
        continue
    loss = release.measures["loss"]["lm"]
    risk = release.measures["risk"]["after"]["highest"]
    print(f"{k:>4}  {loss:>4.0%}  {risk:>5.1%}  {'#' * round(loss * 40)}")
