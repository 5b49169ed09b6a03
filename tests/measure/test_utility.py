import json
from collections import Counter, defaultdict
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Step, Tally
from privet.domain import Cut, Domain, Node, Value, flat
from privet.hierarchy import Dates, Intervals, Prefix, Tree
from privet.measure import classes, summary, utility
from privet.recoding import Generalization
from privet.testing import recodings, tallies

few = settings(max_examples=60, deadline=None)


def slow_lm(domain: Domain, node: Node) -> float:
    """Spec 2.9, once more."""
    if domain.size == 1:
        return 0.0
    if node.leaves == domain.size:
        return 1.0
    if node.interval is not None and domain.scale is not None:
        low, high = node.interval
        if domain.scale.integral and high - low == 1:
            return 0.0
        return min(1.0, float((high - low) / (domain.scale.high - domain.scale.low)))
    return (node.leaves - 1) / (domain.size - 1)


def slow_ncp(domain: Domain, node: Node) -> float:
    if node.interval is not None and domain.scale is not None:
        return slow_lm(domain, node)
    return 0.0 if node.leaves == 1 else node.leaves / domain.size


def slow_information(pairs: list[tuple[Any, Any]]) -> float:
    n, joint = len(pairs), Counter(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    return sum(k / n * log2(k * n / (first[a] * second[b])) for (a, b), k in joint.items())


def cell_values(tally: Tally, column: Column) -> list[Value]:
    return [
        column.domain.values[int(code)]
        for code, count in zip(column.codes, tally.counts, strict=True)
        for _ in range(count)
    ]


@few
@given(st.data())
def test_losses_agree_with_their_definitions(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(recodings(tally))
    for column, loss in zip(tally.quasi, utility.losses(tally, recoding), strict=True):
        cut = recoding.cuts[column.name]
        values = cell_values(tally, column)
        nodes = [next(n for n in cut.nodes if n.lo <= cut.domain.codes[v] < n.hi) for v in values]
        assert loss.lm == pytest.approx(sum(slow_lm(cut.domain, n) for n in nodes) / len(nodes))
        assert loss.ncp == pytest.approx(sum(slow_ncp(cut.domain, n) for n in nodes) / len(nodes))
        heights = [utility.height(cut.domain, n) for n in nodes]
        assert loss.height == pytest.approx(sum(heights) / len(nodes))
        assert loss.highest == max(heights)
        root = len(cut.nodes) == 1 and cut.domain.size > 1
        assert loss.suppressed == (len(values) if root else 0)
        assert loss.raw_values == len(set(values))
        published = Counter(n.label for n in nodes)
        assert dict(zip(loss.labels, loss.records.tolist(), strict=True)) == published
        assert loss.generalised == len({n.label for n in nodes if n.leaves > 1})
        if tally.target is None:
            assert loss.information is None
            assert loss.gain_retained is None
        else:
            target = cell_values(tally, tally.target)
            before = slow_information(list(zip(values, target, strict=True)))
            after = slow_information(list(zip((n.label for n in nodes), target, strict=True)))
            assert loss.information == pytest.approx((before, after), abs=1e-9)
            if before > 1e-9:
                assert loss.gain_retained == pytest.approx(after / before, abs=1e-6)


@few
@given(st.data())
def test_untouched_tables_lose_nothing_and_topmost_ones_everything(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    plain = {c.name: Cut(d := flat(c.domain.values), d.root.children or (d.root,)) for c in tally.quasi}
    untouched = Tally(
        tuple(Column(c.name, plain[c.name].domain, c.codes) for c in tally.quasi),
        tally.sensitive,
        tally.target,
        tally.counts,
    )
    for loss in utility.losses(untouched, Generalization(plain)):
        assert (loss.lm, loss.ncp, loss.height, loss.suppressed) == (0, 0, 0, 0)
        assert loss.gain_retained is None or loss.gain_retained == pytest.approx(1)
    top = Generalization({c.name: Cut(c.domain, (c.domain.root,)) for c in tally.quasi})
    for column, loss in zip(tally.quasi, utility.losses(tally, top), strict=True):
        everything = float(column.domain.size > 1)
        assert (loss.lm, loss.ncp) == (everything, everything)
        assert loss.gain_retained in {None, 0.0}


def test_lm_and_ncp_differ_as_the_spec_says() -> None:
    jobs = Tree.of({"ANY": {"Pro": ["Doctor", "Lawyer"], "Tech": ["Carpenter"], "Mover": None}})
    domain = jobs.domain(["Doctor"])
    pro, tech, mover = domain.root.children
    assert domain.loss(pro) == pytest.approx(1 / 3)
    assert utility.ncp(domain, pro) == 0.5
    assert (domain.loss(tech), utility.ncp(domain, tech)) == (0, 0)  # one leaf below: nothing is hidden
    assert (domain.loss(mover), utility.ncp(domain, mover)) == (0, 0)
    assert (domain.loss(domain.root), utility.ncp(domain, domain.root)) == (1, 1)


def test_ncp_of_numbers_is_the_width() -> None:
    domain = Intervals().domain(["0", "10", "19"])  # [0, 20)
    left, right = domain.split(domain.root, 1)
    assert utility.ncp(domain, left) == domain.loss(left) == 0.5
    assert utility.ncp(domain, right) == 0.5


@pytest.mark.parametrize(
    ("domain", "heights"),
    [
        (Tree.of({"ANY": {"A": {"B": ["x", "y"]}, "z": None}}).domain(["x"]), [3, 2, 1, 0, 0, 0]),
        (Prefix(keep=(3, 1)).domain(["53715", "53703"]), [3, 2, 1, 0, 0]),
        (Dates(levels=("month", "year")).domain(["2024-03-05", "2024-03-17"]), [3, 2, 1, 0, 0]),
        (Intervals().domain([str(n) for n in range(9)]), [4]),
        (Intervals().domain([*map(str, range(16)), None]), [5, 4, 0]),
        (Intervals().domain(["7"]), [0]),
        (Intervals(width=(5,), raw=False).domain(["1", "2", "7"]), [1, 0, 0]),
        (Intervals(top=90).domain([*map(str, range(80, 88)), "90", "95"]), [4, 3, 0]),
    ],
)
def test_height_is_how_far_a_node_stands_above_the_lowest(domain: Domain, heights: list[int]) -> None:
    assert [utility.height(domain, node) for node in domain.root.walk()] == heights


def test_height_of_a_node_that_was_rebuilt_without_its_children() -> None:
    domain = Prefix(keep=(3, 1)).domain(["53715", "53703"])
    for node in domain.root.walk():
        bare = Node(node.label, node.lo, node.hi)
        assert utility.height(domain, bare) == utility.height(domain, node)


def test_steps_are_the_splits_that_were_made() -> None:
    log = [Step("a", "*", ("x", "y"), 1.0, performed=made) for made in (True, False, True)]
    assert utility.steps(log) == 2


@few
@given(st.data())
def test_information_with_more_targets_than_fit_an_array(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    codes = [data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for _ in range(2)]

    def column(name: str, at: list[int]) -> Column:
        domain = Domain(tuple(map(str, range(3000))), Node("*", 0, 3000))
        return Column(name, domain, domain.column(np.array(at) * 1000))

    counts = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), dtype=np.int64)
    pairs = [pair for pair, times in zip(zip(*codes, strict=True), counts, strict=True) for _ in range(times)]
    found = utility.information(column("a", codes[0]), column("t", codes[1]), counts)
    assert found == pytest.approx(slow_information(pairs), abs=1e-9)


@few
@given(st.data())
def test_the_summary_is_made_of_these_and_fits_json(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    recoding = data.draw(recodings(tally))
    published = tally.recoded(recoding)
    found = summary.measures(tally, published, recoding)
    assert json.loads(json.dumps(found)) == found
    each = utility.losses(tally, recoding)
    after, before = classes.class_sizes(published), classes.class_sizes(tally)
    assert set(found) == {"records", "classes", "risk", "loss", "attributes"}
    assert found["records"] == tally.records
    assert found["classes"]["count"] == len(after)
    assert (found["classes"]["smallest"], found["classes"]["largest"]) == (after.min(), after.max())
    assert found["classes"]["average"] == tally.records / len(after)
    for when, sizes in (("before", before), ("after", after)):
        assert found["risk"][when] == {
            "unique_records": int((sizes == 1).sum()),
            "unique_share": int((sizes == 1).sum()) / tally.records,
            "highest": 1 / int(sizes.min()),
            "average": len(sizes) / tally.records,
            "classes": len(sizes),
        }
    assert set(found["loss"]) == {
        "lm", "ncp", "precision", "entropy", "kl",
        "discernibility", "discernibility_ratio", "average_class_size", "height",
        "suppressed_cells", "suppressed_records", "gain_retained",
    }  # fmt: skip
    assert found["loss"]["lm"] == pytest.approx(np.mean([loss.lm for loss in each]))
    assert found["loss"]["ncp"] == pytest.approx(np.mean([loss.ncp for loss in each]))
    assert found["loss"]["suppressed_cells"] == sum(loss.suppressed for loss in each)
    assert set(found["attributes"]) == {column.name for column in tally.quasi}
    for column in published.quasi:
        shown: dict[Any, int] = defaultdict(int)
        for code, count in zip(column.codes, tally.counts, strict=True):
            shown[column.domain.values[int(code)]] += int(count)
        note = found["attributes"][column.name]
        assert dict(note["distribution"]) == shown
        assert note["published_values"] == len(shown)


def test_of_a_long_distribution_the_largest_are_shown_and_the_rest_is_one_number() -> None:
    labels = tuple(map(str, range(50)))
    records = np.array([100 + at % 7 for at in range(50)])
    found = summary.distribution(labels, records)
    assert len(found) == 41
    assert found[-1][0] == "…"
    assert sum(n for _, n in found) == records.sum()
    assert min(n for _, n in found[:-1]) >= max(
        int(n) for label, n in zip(labels, records, strict=True) if [label, int(n)] not in found
    )
    shown = [int(label) for label, _ in found[:-1]]
    assert shown == sorted(shown)


def test_no_raw_value_is_in_the_summary() -> None:
    domain = Tree.of({"any": {"canary-parent": ["canary-1", "canary-2"]}}).domain(["canary-1"])
    column = Column("job", domain, domain.column(np.array([0, 1, 0])))
    tally = Tally((column,), (), None, np.ones(3, dtype=np.int64))
    recoding = Generalization({"job": Cut(domain, (domain.root,))})
    assert "canary" not in json.dumps(summary.measures(tally, tally.recoded(recoding), recoding))
