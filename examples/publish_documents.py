"""JSON documents in, trees that are alike out: python publish_documents.py [DATA POLICY FOLDER]"""

import json
import sys
from pathlib import Path

import privet as pv
from privet.samples.collections import COLLECTIONS


def sample() -> tuple[Path, Path, Path]:
    """Students who do not exist, each with courses and books."""
    data, policy = Path("students.json"), Path("students.toml")
    data.write_text(json.dumps(list(COLLECTIONS["transcripts"].generate(rows=90, seed=0))), encoding="utf-8")
    policy.write_text(COLLECTIONS["transcripts"].policy(l=3), encoding="utf-8")
    return data, policy, Path("out")


data, policy_file, folder = map(Path, sys.argv[1:4]) if len(sys.argv) > 3 else sample()
release = pv.publish(data, pv.Policy.load(policy_file))
for model, verdict in release.verdicts:
    achieved = ", ".join(f"{name} = {number}" for name, number in verdict.achieved.items())
    print(f"published: {model.name} holds, {achieved}")
for one in release.evidence["documents"]["levels"]:
    print(f"  {'  ' * one['level']}{one['type']}: {one['after']} of {one['before']} vertices")

release.write(folder, overwrite=True)
print(f"written to {folder}; verified: {pv.verify(folder).holds}")
