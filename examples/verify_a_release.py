"""What a receiver does with a release folder: python verify_a_release.py FOLDER"""

import json
import sys
from pathlib import Path

import privet as pv

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
try:
    found = pv.verify(folder)
except pv.PrivetError as error:
    sys.exit(f"{error.code}: {error}")

for complaint in found.complaints:
    print(f"not as the evidence says: {complaint}")
for model, verdict in found.verdicts:
    print(f"{model}: {'holds' if verdict.holds else 'BROKEN'}")

evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
print(f"{evidence['records']} records, made {evidence['made']} by {evidence['software']}")
for name, column in evidence["attributes"].items():
    print(f"  {name} ({column['role']}): {column['published']}")
for caution in evidence["cautions"]:
    print(f"caution: {caution}")
sys.exit(0 if found.holds else 1)
