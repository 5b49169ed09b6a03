"""Paths of people, published without the points that give somebody away: python publish_trips.py [FOLDER]"""

import sys
from pathlib import Path

import privet as pv
from privet.samples import SAMPLES

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "trips")
sample = SAMPLES["trips-city"]
trips = sample.generate(rows=4000, seed=0)
policy = pv.Policy.loads(sample.policy(l=2, k=20))

for _, verdict in pv.check(trips, policy):
    print(f"raw: smallest group {verdict.achieved['k']}, {verdict.at_risk} records at risk")

release = pv.publish(trips, policy)
release.write(folder, overwrite=True)
print(release.to_polars().head(3))

patterns = release.measures["patterns"]
print(f"{patterns['surviving']} of {patterns['before']} routes survive")
for route in release.evidence["paths"]["frequent"]["listed"][:3]:
    print(f"  {' → '.join(route['sequence'])}: {route['support']} records")

print("verified:", pv.verify(folder).holds)
