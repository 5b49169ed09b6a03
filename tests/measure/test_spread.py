"""Losses of local recodings, distributions and count queries, against rows written out one by one."""

from __future__ import annotations

from collections import Counter
from math import log2, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measure.regions import any_recoding, regions, shown
from tests.measure.test_utility import slow_information, slow_lm, slow_ncp

from privet.core import Column, Tally
from privet.domain import Node, flat
from privet.measure import query, summary, utility
from privet.measure.spread import Boxes, distinct, joint_divergence
from privet.recoding import Regions
from privet.testing import tallies

few = settings(max_examples=60, deadline=None)


@few
@given(st.data())
def test_losses_of_local_recoding_are_means_over_records(data: st.DataObject) -> None:
    """A record that is not published counts as if it were published as the root."""
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(regions(tally))
    for column, loss in zip(tally.quasi, utility.losses(tally, recoding), strict=True):
        domain, rows = column.domain, shown(tally, recoding, column)
        nodes = [node or domain.root for _, node in rows]
        assert loss.lm == pytest.approx(sum(slow_lm(domain, n) for n in nodes) / len(rows))
        assert loss.ncp == pytest.approx(sum(slow_ncp(domain, n) for n in nodes) / len(rows))
        heights = [utility.height(domain, n) for n in nodes]
        assert loss.height == pytest.approx(sum(heights) / len(rows))
        assert loss.highest == max(heights)
        missing = sum(node is None for _, node in rows)
        whole = sum(node is not None and node.leaves == domain.size > 1 for _, node in rows)
        assert loss.suppressed == missing + whole
        assert loss.raw_values == len({code for code, _ in rows})
        published = Counter(node.label for _, node in rows if node is not None)
        assert dict(zip(loss.labels, loss.records.tolist(), strict=True)) == published
        if tally.target is not None:
            told = [code for code, n in zip(tally.target.codes, tally.counts, strict=True) for _ in range(n)]
            before = slow_information(list(zip((code for code, _ in rows), told, strict=True)))
            left = [(node.label, t) for (_, node), t in zip(rows, told, strict=True) if node is not None]
            assert loss.information == pytest.approx((before, slow_information(left)), abs=1e-9)


@few
@given(st.data())
def test_precision_entropy_and_divergence_are_what_their_papers_say(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(any_recoding(tally))
    for column, loss in zip(tally.quasi, utility.losses(tally, recoding), strict=True):
        domain, rows = column.domain, shown(tally, recoding, column)
        nodes = [node or domain.root for _, node in rows]
        top = utility.height(domain, domain.root)
        kept = 1 - sum(utility.height(domain, n) / top for n in nodes) / len(rows) if top else 1.0
        assert loss.precision == pytest.approx(kept)
        raw = Counter(code for code, _ in rows)

        def bits(code: int, node: Node, raw: Counter[int] = raw) -> float:
            return -log2(raw[code] / sum(raw[other] for other in range(node.lo, node.hi)))

        lost = sum(bits(code, node) for (code, _), node in zip(rows, nodes, strict=True))
        most = sum(bits(code, domain.root) for code, _ in rows)
        assert loss.entropy == pytest.approx(lost / most if most > 1e-9 else 0.0, abs=1e-9)
        assumed = [sum(n.lo <= code < n.hi and 1 / n.leaves for n in nodes) for code in range(domain.size)]
        kl = sum(n / len(rows) * log2(n / assumed[code]) for code, n in raw.items())
        assert loss.kl == pytest.approx(kl, abs=1e-9)
        assert 0 <= loss.entropy <= 1
        assert 0 <= loss.precision <= 1
        assert loss.kl >= 0


@few
@given(st.data())
def test_joint_divergence_spreads_every_record_over_its_box(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3, cells=8))
    recoding = data.draw(any_recoding(tally))
    each = [shown(tally, recoding, column) for column in tally.quasi]
    rows = Counter(tuple(code for code, _ in record) for record in zip(*each, strict=True))
    kl = 0.0
    for place, n in rows.items():
        assumed = 0.0
        for record in zip(*each, strict=True):
            nodes = [
                node or column.domain.root for (_, node), column in zip(record, tally.quasi, strict=True)
            ]
            if all(node.lo <= code < node.hi for node, code in zip(nodes, place, strict=True)):
                assumed += 1 / prod(node.leaves for node in nodes)
        kl += n / tally.records * log2(n / assumed)
    found = joint_divergence(tally, Boxes.of(tally, recoding))
    assert found == pytest.approx(kl, abs=1e-9)
    assert joint_divergence(tally, Boxes.of(tally, recoding), effort=0) is None


@few
@given(st.data())
def test_counts_from_boxes_are_what_a_reader_would_estimate(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(any_recoding(tally))
    seed, errors = data.draw(st.integers(0, 99)), []
    each = {column.name: shown(tally, recoding, column) for column in tally.quasi}
    for box in query.workload(tally, queries=7, seed=seed):
        truth, estimate = 0, 0.0
        for record in range(tally.records):
            inside, share = True, 1.0
            for name, lo, hi in box.ranges:
                code, node = each[name][record]
                inside &= lo <= code < hi
                share *= (
                    0 if node is None else len({*range(lo, hi)} & {*range(node.lo, node.hi)}) / node.leaves
                )
            truth += inside
            estimate += share
        errors.append(abs(estimate - truth) / max(truth, 0.001 * tally.records, 1.0))
    found = query.median_error(tally, recoding, queries=7, seed=seed)
    assert found == pytest.approx(float(np.median(errors)), abs=1e-9)


@few
@given(st.data())
def test_boxes_read_from_labels_are_those_of_the_recoding(data: st.DataObject) -> None:
    """`compare` has the two tables and the ranges of labels; publishing has the recoding."""
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(any_recoding(tally))
    ranges = {
        c.name: {node.label: (node.lo, node.hi) for node in recoding.shown(c).nodes} for c in tally.quasi
    }
    if any(len(ranges[c.name]) < len(recoding.shown(c).nodes) for c in tally.quasi):
        return  # two nodes read alike: what a label stands for is then wider than the node
    own = Boxes.of(tally, recoding)
    read = Boxes.read(tally.recoded(recoding), ranges, own.missing)
    assert query.box_error(tally, read, queries=5) == pytest.approx(query.box_error(tally, own, queries=5))
    assert joint_divergence(tally, read) == pytest.approx(joint_divergence(tally, own), abs=1e-9)


def column(name: str, codes: list[int], size: int) -> Column:
    domain = flat(tuple(map(str, range(size))))
    return Column(name, domain, domain.column(np.array(codes, dtype=np.intp)))


def test_what_is_lost_together_is_not_lost_in_each_column_alone() -> None:
    """Two columns that always agree, both published as their root: each count is right, no pair is."""
    tally = Tally((column("a", [0, 1], 2), column("b", [0, 1], 2)), (), None, np.array([5, 5]))
    roots = {c.name: (c.domain.root,) for c in tally.quasi}
    recoding = Regions(roots, {name: np.zeros(2, dtype=np.intp) for name in roots})
    assert [loss.kl for loss in utility.losses(tally, recoding)] == [0, 0]
    assert [loss.entropy for loss in utility.losses(tally, recoding)] == [1, 1]
    assert joint_divergence(tally, Boxes.of(tally, recoding)) == pytest.approx(1)


def test_hiding_a_common_value_among_rare_ones_loses_few_bits() -> None:
    """LM is the same for both; non-uniform entropy tells them apart."""
    tally = Tally((column("a", [0, 1, 2, 3], 4),), (), None, np.array([97, 1, 1, 1]))
    nodes = tuple(Node(f"{lo}:{hi}", lo, hi) for lo, hi in ((0, 2), (2, 4)))
    found = utility.losses(tally, Regions({"a": nodes}, {"a": np.array([0, 0, 1, 1])}))[0]
    own = sum(n / 100 * -log2(n / 100) for n in (97, 1, 1, 1))
    left = sum(n / 100 * -log2(n / s) for n, s in ((97, 98), (1, 98), (1, 2), (1, 2)))
    assert found.entropy == pytest.approx(left / own)
    assert found.lm == pytest.approx(1 / 3)


def test_different_records_are_counted_once_each() -> None:
    found, n = distinct((column("a", [1, 0, 1], 2), column("b", [2, 2, 2], 3)), np.array([4, 5, 6]))
    assert {(*row, int(count)) for row, count in zip(found.tolist(), n, strict=True)} == {
        (0, 2, 5),
        (1, 2, 10),
    }


@few
@given(st.data())
def test_the_summary_of_local_recoding_adds_them_up(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(regions(tally))
    found = summary.measures(tally, tally.recoded(recoding), recoding)
    each = utility.losses(tally, recoding)
    assert found["loss"]["precision"] == pytest.approx(np.mean([one.precision for one in each]))
    assert found["loss"]["entropy"] == pytest.approx(np.mean([one.entropy for one in each]))
    assert found["loss"]["kl"] == pytest.approx(sum(one.kl for one in each))
    left = sum(int(n) for n, cell in zip(tally.counts, range(tally.cells), strict=True)
               if recoding.kept is None or recoding.kept[cell])  # fmt: skip
    assert found["loss"]["suppressed_records"] == tally.records - left
    groups = Counter(
        tuple(each[at][1].label for each in rows)  # type: ignore[union-attr]
        for rows in [[shown(tally, recoding, c) for c in tally.quasi]]
        for at in range(tally.records)
        if rows[0][at][1] is not None
    )
    missing = tally.records - left
    assert found["loss"]["discernibility"] == sum(n**2 for n in groups.values()) + missing * tally.records
    assert found["loss"]["average_class_size"] == pytest.approx(left / len(groups))
