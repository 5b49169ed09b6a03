"""A noisy table as a release: records or counts, what was paid, and its entry in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import parts
from privet.core import Form, Role
from privet.dp.cuts import loss, noted
from privet.dp.ledger import Reservation
from privet.dp.noisytable import Labels, NoisyTable
from privet.dp.plan import mean_error, mean_error_of_two
from privet.dp.settings import COUNT, Drawn, Output, Settings
from privet.dp.spend import cost
from privet.engine import Cluster, Engine, suffix
from privet.errors import InputError
from privet.evidence import notes as ev
from privet.evidence.folder import FILE, digest
from privet.measure import summary
from privet.placing import told
from privet.policy.values import Policy
from privet.release import Release, named
from privet.roads.stations import in_frame

RECODING = "noisy counts"


@dataclass(frozen=True, kw_only=True)
class NoisyRelease(Release):
    """Generalised records with noise in their numbers, and the entries that paid for them."""

    made: NoisyTable = field(repr=False)
    output: Output
    reservation: Reservation = field(repr=False)
    engine: Engine[Any] = field(repr=False)
    form: Form = field(repr=False)

    def to_polars(self) -> Any:
        """The records, or the rows with their counts, as the policy says."""
        return in_frame(self.engine, self.engine.read(self._frame(self.output), self.form, empty=True))

    def counts(self) -> Any:
        """The rows with their counts."""
        return self._frame(Output.COUNTS)

    def write_data(self, folder: Path) -> dict[str, Any]:
        notes: dict[str, Any] = {"file": f"data{suffix(self.form)}"}
        self._write(self.output, folder / notes["file"])
        if (folder / notes["file"]).is_dir():
            notes["parts"] = len(parts.listed(folder / notes["file"]))
        if self.output is Output.RECORDS:
            notes["counts"] = f"counts{suffix(self.form)}"
            self._write(Output.COUNTS, folder / notes["counts"])
        return {**notes, **ev.form_notes(self.form)}

    def published_policy(self) -> Policy:
        # Domains are public, all of them; where the ledger lies is nobody else's business.
        return replace(self.policy, ledger=None, form=self.form)

    def write(self, folder: Path | str, **how: Any) -> Path:
        try:
            return super().write(folder, **how)
        except OSError as error:
            found = told(error, named(Path(folder)))
            if found.strerror is None:
                raise
            raise InputError(
                f"{found.filename}: {found.strerror}",
                "the release did not arrive, and what was drawn for it stays spent: `privet ledger show` "
                f"lists {self.reservation.name} as reserved",
            ) from None

    def leaving(self, folder: Path) -> None:
        """Enter it in the ledger: the evidence has the digests of all the other files."""
        self.reservation.release(f"sha256:{digest(folder / FILE)}")

    def remarks(self) -> tuple[str, ...]:
        return () if self.reservation.remark is None else (self.reservation.remark,)

    def _write(self, output: Output, path: Path) -> None:
        # Noise may leave no record at all. That was paid for like any other table, and leaves like it.
        engine = self.engine
        if isinstance(engine, Cluster) and output is Output.RECORDS:
            # As many as there were: they are made where they lie, and never here.
            counts = engine.read(self._frame(Output.COUNTS), self.form, empty=True)
            records = engine.settled(engine.in_order(engine.repeat(counts, COUNT)))
            engine.write(records, path, self.form)
            return
        if isinstance(engine, Cluster):  # counts were drawn in this process, and are one file
            from privet.engines.embedded import Embedded  # noqa: PLC0415 - loads the engine's library

            engine = Embedded()
        engine.write(engine.read(self._frame(output), self.form, empty=True), path, self.form)

    def _frame(self, output: Output) -> Any:
        """In canonical order, as every table leaves."""
        from privet.engines.frames import in_order  # noqa: PLC0415 - loads the engine's library

        if output is Output.RECORDS:
            return in_order(frame(self.made.expand()))
        rows, counts = self.made.rows()
        return in_order(frame(rows, counts))


def frame(rows: Mapping[str, Labels], counts: NDArray[np.int64] | None = None) -> Any:
    """Published columns as a polars frame, labels by their numbers until a file is written."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    from privet.engines.frames import labelled  # noqa: PLC0415

    made = [labelled(name, column.labels, column.codes) for name, column in rows.items()]
    return pl.DataFrame(made if counts is None else [*made, pl.Series(COUNT, counts)])


def told_of(
    policy: Policy, settings: Settings, drawn: Drawn, epsilon: Fraction, paid: Mapping[str, Any]
) -> ev.Told:
    """What may be said of the release: all of it is paid for, or was public before."""
    made, person = drawn.table, epsilon * settings.records_per_person
    spent = cost(drawn.charges)
    records = int(np.maximum(made.counts, 0).sum())
    columns = [*(p.name for p in made.predictors), made.target]
    if settings.output is Output.COUNTS:
        columns.append(COUNT)
    claims = {"epsilon": spent, "epsilon of a person": person}
    return ev.Told(
        records=records,
        columns=columns,
        promises=[ev.construction(model, claims) for model in policy.models],
        recoding=RECODING,
        attributes=_attributes(policy, made),
        steps=[
            {"attribute": step.attribute, "label": step.label, "children": list(step.children)}
            for step in made.steps
            if step.performed
        ],
        notes=[] if drawn.h is None else [f"the search had {drawn.h} rounds"],
        measures=_measures(drawn, records),
        cautions=cautions(settings.records_per_person),
        more={
            "ledger": {
                **paid,
                "epsilon": ev.number(epsilon),
                "records_per_person": settings.records_per_person,
                "person_epsilon": ev.number(person),
                "spent": ev.number(spent),
                "spends": [
                    {
                        "purpose": charge.purpose,
                        "mechanism": charge.mechanism,
                        "epsilon": ev.number(charge.epsilon),
                        "group": charge.group,
                    }
                    for charge in drawn.charges
                ],
            }
        },
    )


def cautions(per_person: int) -> list[str]:
    """What the guarantee supposes."""
    one = "one record" if per_person == 1 else f"{per_person} records"
    return [
        f"The guarantee is for people with at most {one} in the data; who has more is protected less.",
        (
            "Records are supposed to be independent of each other, and no exact statistics of the same data "
            "to have been published before: either can tell more than this release does."
        ),
        "Every further release of the same people adds its epsilon; the steward's ledger keeps the sum.",
        "Counts carry noise. Rare combinations are mostly noise; sums over many rows are more exact.",
        "How long the release took to make must not be told: it depends a little on the data.",
    ]


def _attributes(policy: Policy, made: NoisyTable) -> dict[str, Any]:
    cuts = {p.name: noted(p.domain, cut) for p, cut in zip(made.predictors, made.cuts, strict=True)}
    notes: dict[str, Any] = {}
    for attribute in policy.attributes:
        note: dict[str, Any] = {"role": attribute.role.value}
        if attribute.name in cuts:
            note |= {"published": "generalised", "values": cuts[attribute.name]}
        elif attribute.role is Role.TARGET:
            note["published"] = "noisy"
        else:
            note["published"] = "dropped"
        notes[attribute.name] = note
    return notes


def _measures(drawn: Drawn, records: int) -> dict[str, Any]:
    made = drawn.table
    weight = np.maximum(made.counts, 0)
    of_leaf = weight.sum(axis=1)
    attributes: dict[str, Any] = {}
    for at, (predictor, cut) in enumerate(zip(made.predictors, made.cuts, strict=True)):
        labels = made.labels(at)
        times = np.bincount(made.positions[:, at], weights=of_leaf, minlength=len(labels)).astype(np.int64)
        note: dict[str, Any] = {
            "published_values": len(labels),
            "distribution": summary.distribution(labels, times),
        }
        if predictor.name not in made.node_sets:  # a set says several nodes: no one loss
            each = np.array([loss(predictor.domain, node) for node in cut])
            note["lm"] = summary.tidy(float(each @ times / records) if records else 1.0)
        attributes[predictor.name] = note
    attributes[made.target] = {
        "published_values": len(made.classes),
        "distribution": summary.distribution(made.classes, weight.sum(axis=0)),
    }
    lost = [note["lm"] for note in attributes.values() if "lm" in note]
    error = mean_error if made.noises == 1 else mean_error_of_two
    found: dict[str, Any] = {
        "records": records,
        "counts": {
            "leaves": made.leaves,
            "cells": int(made.counts.size),
            "scale": ev.number(made.scale),
            "error": summary.tidy(error(float(1 / made.scale))),
            **({} if made.noises == 1 else {"noises": made.noises}),
        },
        "loss": {"lm": summary.tidy(float(np.mean(lost)) if lost else None)},
        "attributes": attributes,
    }
    if drawn.marginals:
        found["marginals"] = {
            marginal.name: {
                "scale": ev.number(marginal.scale),
                "distribution": [list(pair) for pair in zip(marginal.labels, marginal.counts, strict=True)],
            }
            for marginal in drawn.marginals
        }
    return found
