"""Records that have no visit left, and whether they leave.

No sequence is in them, so the promise about paths is the same without them; but who is left out hides
nobody in the table beside the paths, and is missing from every share of all records.
"""

from __future__ import annotations

from privet.errors import UnsatisfiableError
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.roads.stations import needed
from privet.roads.trajectories.check import shape_of
from privet.roads.trajectories.shape import Empty, Read
from privet.trajectory.paths import Paths
from privet.trajectory.searches import PathFinding

LEFT_OUT = (
    "Records that had no visit left are left out, and not by chance: a share of the records here is not that "
    "share of the data."
)


def dropped(read: Read, finding: PathFinding) -> int:
    """How many records are left out because they have no visit left; raises if that would be all."""
    if read.shape.empty is Empty.KEEP:
        return 0
    left = finding.recoding.applied(read.paths).paths(read.paths)
    records = int(left.counts[left.lengths == 0].sum())
    if records == read.paths.records:
        raise UnsatisfiableError(
            'no record would have a visit left, and with trajectories.empty = "drop" nothing would leave; '
            "promise less, or make places and times coarser"
        )
    return records


def wrongly_left_out(paths: Paths, evidence: Evidence, policy: Policy) -> list[str]:
    """Complaints about records that have no visit left, and those that were left out for it."""
    complaints = []
    missing = needed(evidence.measures.before, "measures.before").records - paths.records
    if shape_of(policy).empty is Empty.DROP and (paths.lengths == 0).any():
        complaints.append("records without a visit are in the data, and the policy says they are left out")
    if missing != evidence.suppressed_records:
        complaints.append(
            f"suppressed_records: the evidence claims {evidence.suppressed_records}, {missing} are missing"
        )
    return complaints
