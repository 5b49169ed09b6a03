"""A CSV file in, a verified release out: python publish_a_csv.py [DATA POLICY FOLDER]"""

import sys
from pathlib import Path

import privet as pv
from privet.samples import SAMPLES


def sample() -> tuple[Path, Path, Path]:
    """Patients who do not exist, for whoever has no file at hand."""
    data, policy = Path("patients.csv"), Path("hospital.toml")
    SAMPLES["patients"].generate(rows=5_000, seed=0).write_csv(data)
    policy.write_text(SAMPLES["patients"].policy(), encoding="utf-8")
    return data, policy, Path("out")


data, policy_file, folder = map(Path, sys.argv[1:4]) if len(sys.argv) > 3 else sample()
policy = pv.Policy.load(policy_file)

for model, verdict in pv.check(data, policy):
    print(f"raw: {model.name} {'holds' if verdict.holds else 'is broken'}, {verdict.at_risk} records at risk")

release = pv.publish(data, policy)
for model, verdict in release.verdicts:
    achieved = ", ".join(f"{name} = {number}" for name, number in verdict.achieved.items())
    print(f"published: {model.name} holds, {achieved}")
for name, found in release.measures["attributes"].items():
    print(f"  {name}: {found['published_values']} values, {found['lm']:.0%} of the detail lost")

release.write(folder, overwrite=True)
print(f"written to {folder}; verified: {pv.verify(folder).holds}")
