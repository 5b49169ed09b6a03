"""The measures that go into every release's evidence: numbers and published labels only.

Too many quasi-identifiers are told too: how coarse values must become before k people share all of them.
Aggarwal, "On k-anonymity and the curse of dimensionality", VLDB 2005. A box that covers a share F of every
one of d ranges covers F**d of the space. To hold k of N people who are spread evenly it needs F**d = k / N,
so F goes to 1 as d grows. People are not spread evenly, so this is a warning and not a bound.

What kind of recoding turned one table into another is told by its type. *Unchanged*: every value as it was.
*Full-domain*: all values of an attribute at one level of its hierarchy. *Global*: equal values are always
published alike, different ones maybe at different levels. *Local*: equal values may be published differently
in different records. Each is a special case of the next.

What the worst class gives away is said by every measure that a promise could be about: a release says what
it promised and found, and these are the same figures for what nobody promised: how few sensitive values a
class has, how uneven they are, how far from the whole table. They come from the published data alone, so
that anybody could count them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.core import Column, Nulls, Tally
from privet.domain import Domain, Value
from privet.errors import InputError
from privet.hierarchy import numbers
from privet.measure.classes import (
    Ints,
    average_class_size,
    class_sizes,
    discernibility,
    discernibility_ratio,
    histogram,
    occurring,
    risk,
)
from privet.measure.utility import (
    AttributeLoss,
    losses,
    mean_entropy,
    mean_lm,
    mean_ncp,
    mean_precision,
    retained,
)
from privet.models.classes import Classes, Histogram
from privet.recoding import Generalization, Perturbation, Recoding, Regions

RECURSIVE = 2  # the l of (c, l)-diversity
FAR = Fraction(10**6)  # a bound that no class is near: what is asked for is what was reached
MOST = 1000  # values of an attribute; one with more is not a category, and every class is far from the table
SHOWN = 40  # values of a distribution; the rest is one number
REST = "…"
TYPES = ("unchanged", "full-domain", "global", "local")  # of recodings
TOO_WIDE = 0.5  # of every range: what is left is hardly worth publishing


def measures(raw: Tally, published: Tally, recoding: Recoding) -> dict[str, Any]:
    """What is lost and what risk is left, from the counts before and after."""
    if isinstance(recoding, Perturbation):
        return perturbed(raw, published, recoding)
    return generalised(losses(raw, recoding), raw.records, risk(class_sizes(raw)), published)


def generalised(
    found: Sequence[AttributeLoss], records: int, before: dict[str, Any], published: Tally
) -> dict[str, Any]:
    """The same of what was counted already: each attribute's loss, and the risk of the raw records."""
    after = class_sizes(published)
    missing = records - published.records
    return {
        "records": published.records,
        "classes": classes(after),
        "risk": {"before": before, "after": risk(after)},
        "loss": {
            "lm": tidy(mean_lm(found)),
            "ncp": tidy(mean_ncp(found)),
            "precision": tidy(mean_precision(found)),
            "entropy": tidy(mean_entropy(found)),
            "kl": tidy(sum(loss.kl for loss in found)),
            "discernibility": discernibility(after, suppressed=missing),
            "discernibility_ratio": discernibility_ratio(after, suppressed=missing),
            "average_class_size": average_class_size(after),
            "height": tidy(sum(loss.height for loss in found)),
            "suppressed_cells": sum(loss.suppressed for loss in found),
            "suppressed_records": missing,
            "gain_retained": tidy(retained(found)),
        },
        "attributes": {loss.name: _attribute(loss, missing) for loss in found},
    }


OF_RAW = ("entropy", "kl", "gain_retained", "raw_values")  # what only the table as it was could tell


def of_published(standing_in: Tally, published: Tally, recoding: Recoding) -> dict[str, Any]:
    """The measures that follow from what is published alone, where nobody has seen the table as it was.

    `standing_in` has for every record a value under each that is published: which one does not matter.
    """
    found = measures(standing_in, published, recoding)
    for table in (found["loss"], *found["attributes"].values()):
        for name in OF_RAW:
            table.pop(name, None)
    return {**found, "risk": {"after": found["risk"]["after"]}}


def perturbed(raw: Tally, published: Tally, recoding: Perturbation) -> dict[str, Any]:
    """What is lost where values were replaced: how many are not what they were."""
    records = raw.by_record()
    after = class_sizes(published)
    missing = raw.records - published.records
    once = raw.where(np.arange(raw.cells) < raw.cells // recoding.copies) if recoding.copies > 1 else raw
    attributes = {}
    for name, labels in recoding.labels.items():
        column = records.column(name)
        if column is None:
            continue
        new = np.array([column.domain.codes.get(label, -1) for label in labels])[recoding.positions[name]]
        times = np.bincount(recoding.positions[name], minlength=len(labels))
        there = np.flatnonzero(times)
        attributes[name] = {
            "changed": tidy(float(np.mean(new != column.codes))),
            "published_values": len({labels[at] for at in there.tolist()}),
            "raw_values": len(np.unique(column.codes)),
            "distribution": distribution(tuple(labels[at] for at in there.tolist()), times[there]),
        }
    return {
        "records": published.records,
        "classes": classes(after),
        "risk": {"before": risk(class_sizes(once)), "after": risk(after)},
        "loss": {
            "changed": tidy(float(np.mean([found["changed"] for found in attributes.values()] or [0.0]))),
            "discernibility": discernibility(after, suppressed=missing),
            "discernibility_ratio": discernibility_ratio(after, suppressed=missing),
            "average_class_size": average_class_size(after),
            "suppressed_records": missing,
        },
        "attributes": attributes,
    }


def classes(sizes: Ints) -> dict[str, Any]:
    """How many classes there are, and how large they are."""
    return {
        "count": len(sizes),
        "smallest": int(sizes.min(initial=sizes.sum())),
        "largest": int(sizes.max(initial=0)),
        "average": average_class_size(sizes),
        "histogram": histogram(sizes),
    }


def distribution(labels: tuple[Value, ...], records: Ints) -> list[list[Any]]:
    """Published values in leaf order and how many records have each; of many only the most frequent."""
    if len(labels) <= SHOWN:
        return [[label, int(n)] for label, n in zip(labels, records, strict=True)]
    # A stable sort, so that ties do not depend on the machine.
    shown = np.sort(np.argsort(-records, kind="stable")[:SHOWN])
    rest = int(records.sum() - records[shown].sum())
    return [*([labels[at], int(records[at])] for at in shown.tolist()), [REST, rest]]


def tidy(number: float | None) -> Any:
    """Nine digits are enough for a share, and the same on every machine."""
    return None if number is None else round(float(number), 9)


def _attribute(loss: AttributeLoss, missing: int) -> dict[str, Any]:
    records = int(loss.records.sum()) + missing  # a record that was left out is a suppressed cell too
    return {
        "lm": tidy(loss.lm),
        "ncp": tidy(loss.ncp),
        "precision": tidy(loss.precision),
        "entropy": tidy(loss.entropy),
        "kl": tidy(loss.kl),
        "published_values": len(loss.labels),
        "raw_values": loss.raw_values,
        "suppressed_share": loss.suppressed / records if records else 0.0,
        "gain_retained": tidy(loss.gain_retained),
        "distribution": distribution(loss.labels, loss.records),
    }


def worst_classes(published: Tally) -> dict[str, dict[str, Any]]:
    """For each sensitive attribute the figures of the class that is worst by each measure.

    Empty where a null matches every value: then classes overlap.
    """
    if published.nulls is Nulls.WILDCARD or not published.sensitive or not published.cells:
        return {}
    classes = Classes.of(published, "worst")
    found = {}
    for column in published.sensitive:
        if column.domain.size <= MOST:
            found[column.name] = _worst(_distributions(classes.histogram(published, column.name)))
    return found


def _distributions(histogram: Histogram) -> Histogram:
    """The same with one class for each value that is a class's only one.

    However many records such a class has, its distribution is that value; and in a large table most classes
    of a promise about less than all quasi-identifiers are of one record.
    """
    entries = np.diff(histogram.start, append=len(histogram.owner))
    single = np.flatnonzero(entries == 1)
    values, first = np.unique(histogram.value[histogram.start[single]], return_index=True)
    if len(values) == len(single):
        return histogram
    chosen = entries > 1
    chosen[single[first]] = True
    kept = chosen[histogram.owner]
    ends = np.cumsum(entries[chosen])
    return replace(
        histogram,
        size=histogram.size[chosen],
        start=ends - entries[chosen],
        owner=(np.cumsum(chosen) - 1)[histogram.owner[kept]],
        value=histogram.value[kept],
        count=histogram.count[kept],
    )


def _worst(histogram: Histogram) -> dict[str, Any]:
    # Loaded where there is something sensitive: a command that starts afresh pays for every model.
    from privet.models.ldiversity import (  # noqa: PLC0415
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
    )
    from privet.models.tcloseness import Distance, TCloseness  # noqa: PLC0415

    about = (histogram.column.name,)
    asked: dict[str, tuple[Any, str]] = {
        "distinct_l": (DistinctLDiversity(l=1, sensitive=about), "l"),
        "entropy_l": (EntropyLDiversity(l=1, sensitive=about), "l"),
        "recursive_c": (RecursiveLDiversity(c=FAR, l=RECURSIVE, sensitive=about), "c"),
        "variational": (TCloseness(t=Fraction(1), sensitive=about, distance=Distance.VARIATIONAL), "t"),
        "kl": (TCloseness(t=FAR, sensitive=about, distance=Distance.KL), "t"),
    }
    if all(value is None or numbers.read(value) is not None for value in histogram.occurring):
        asked["ordered"] = (TCloseness(t=Fraction(1), sensitive=about, distance=Distance.ORDERED), "t")
    found: dict[str, Any] = {}
    for name, (model, number) in asked.items():
        reached = model.read(histogram).reached.get(number)
        found[name] = (
            None if reached is None else reached if name == "distinct_l" else round(float(reached), 9)
        )
    return found


def expected_width(records: int, k: int, quasi: int) -> float:
    """The share of every range that a value must cover.

    >>> round(expected_width(10_000, 10, 10), 4), round(expected_width(1_000_000, 10, 50), 4)
    (0.5012, 0.7943)
    """
    if records <= k or not quasi:
        return 1.0 if quasi else 0.0
    return float((k / records) ** (1 / quasi))


def dimensionality(
    records: int, k: int, quasi: int, observed: float | None = None, widths: Sequence[float] | None = None
) -> dict[str, Any]:
    """What is expected for each number of quasi-identifiers, what was found, and whether it is too much.

    `widths`: what boxes of the table itself cover, for each number of quasi-identifiers, if that was tried.
    """
    expected = [expected_width(records, k, d) for d in range(1, quasi + 1)]
    found = observed if observed is not None else [0.0, *(widths or expected)][-1]
    tried = {} if widths is None else {"by_columns": [round(one, 9) for one in widths]}
    return tried | {
        "k": k,
        "quasi_identifiers": quasi,
        "expected": [round(one, 9) for one in expected],
        "observed": observed,
        "too_wide": found > TOO_WIDE,
    }


def recoding_type(domain: Domain, pairs: Iterable[tuple[int, Value]]) -> str:
    """The type by which codes of a domain became labels."""
    label_of: dict[int, Value] = {}
    for code, label in pairs:
        if label_of.setdefault(code, label) != label:
            return "local"
    if all(domain.values[code] == label for code, label in label_of.items()):
        return "unchanged"
    codes, wanted = np.array(list(label_of), dtype=np.intp), list(label_of.values())
    for row in domain.descent():
        of_code = np.searchsorted([node.lo for node in row], codes, side="right") - 1
        here = [row[at].label for at in of_code.tolist()]
        if here == wanted:
            return "full-domain"
        if len(set(here)) > len(set(wanted)):  # further down there are only more
            break
    return "global"


def recoding_types(raw: Tally, recoding: Recoding) -> dict[str, str]:
    """The type for each quasi-identifier; records that are left out have none. Nothing of perturbations."""
    if isinstance(recoding, Perturbation):
        return {}
    found = {}
    for column in raw.quasi:
        found[column.name] = recoding_type(column.domain, published_pairs(column, recoding))
    return found


def published_pairs(column: Column, recoding: Generalization | Regions) -> list[tuple[int, Value]]:
    """The codes of a column and the labels they are published under, each pair that occurs once."""
    if isinstance(recoding, Generalization):  # by value: a look at each value is enough
        cut = recoding.cuts[column.name]
        labels, codes = cut.labels, occurring(column.codes, column.domain.size)
        return [(code, labels[at]) for code, at in zip(codes.tolist(), cut.positions[codes], strict=True)]
    shown = recoding.shown(column)
    fan = len(shown.nodes)
    key = column.codes.astype(np.int64) * fan + shown.positions
    there = occurring(key if shown.kept is None else key[shown.kept], column.domain.size * fan).tolist()
    return [(at // fan, shown.nodes[at % fan].label) for at in there]


def of_rows(domain: Domain, raw: Sequence[Value], released: Sequence[Value]) -> str:
    """The type of one attribute of two tables whose rows stand in the same order."""
    if len(raw) != len(released):
        raise InputError(
            f"the raw column has {len(raw)} records, the released one {len(released)}: rows must match"
        )
    return recoding_type(domain, {(domain.codes[a], b) for a, b in zip(raw, released, strict=True)})


def loosest(types: Collection[str]) -> str:
    """The type of a whole table: that of its least regular attribute."""
    return max(types, key=TYPES.index, default=TYPES[0])
