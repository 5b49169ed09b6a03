"""Two months in one form: the second batch gets the recoding of the first, and a check of its own."""

from pathlib import Path

import privet as pv
from privet.samples import SAMPLES

patients = SAMPLES["patients"]
policy = pv.Policy.loads(patients.policy())

january = pv.publish(patients.generate(rows=5_000, seed=1), policy)
folder = january.write(Path("january"), overwrite=True)

february = pv.publish(patients.generate(rows=8_000, seed=2), policy, like=folder)
for attribute in policy.quasi:
    notes = [batch.evidence["attributes"][attribute.name] for batch in (january, february)]
    labels = [[value["label"] for value in note.get("values", ())] for note in notes]
    alike = labels[0] == labels[1]
    print(f"{attribute.name}: {notes[1]['published']}, the same {len(labels[0])} values: {alike}")

try:  # ten patients cannot hide among each other
    pv.publish(patients.generate(rows=10, seed=3), policy, like=folder)
except pv.PrivetError as error:
    print(f"ten patients are refused: {error.code}")
