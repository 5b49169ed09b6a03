"""The recoding of an earlier release, used again on the next batch (`--like`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.core import Tally
from privet.engine import Engine
from privet.errors import UnsupportedError
from privet.evidence.folder import read as read_evidence
from privet.policy.values import Policy
from privet.recoding import Generalization, Recoding, Regions
from privet.relational.reuse import same_cuts
from privet.relational.reuse_boxes import refuse_other_than_boxes, same_boxes
from privet.roads.stations import data_file
from privet.roads.tables import population


def recoding_of(like: Path, raw: Tally, policy: Policy, engine: Engine[Any]) -> Recoding:
    """The recoding of an earlier release on this table's values, or a refusal that says what does not fit."""
    evidence = read_evidence(like)
    how = evidence.recoding
    if how == Generalization.name:
        return same_cuts(raw, evidence)
    if how != Regions.name:
        raise UnsupportedError(
            f"the earlier release changed values record by record ({how}); only ranges of values fit other "
            "records: publish without --like"
        )
    refuse_other_than_boxes(evidence)
    path, form = data_file(like, evidence)
    earlier = engine.tally_published(engine.read(path, form), population.leaving(policy))
    return same_boxes(raw, evidence, earlier, policy.algorithm.droppable)
