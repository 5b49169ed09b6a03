"""The three searches over the lattice against the whole lattice, node by node."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.relational import enumerated
from tests.tries import tries

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.rollup import Rollups
from privet.domain import Domain, flat
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.hierarchy import Intervals, Tree
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.models.lkc import LKC
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Generalization, Regions
from privet.relational import optimal as room
from privet.relational.field import Field
from privet.relational.incognito import Incognito, Kept, joined
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice
from privet.relational.objective import Loss, Objective
from privet.relational.optimal import Optimal
from privet.relational.samarati import Probe, Samarati
from privet.testing import class_models, models, policy_for, tallies

NONE, ALL = Fraction(0), Fraction(1)
LIMITS = st.sampled_from([NONE, Fraction(1, 5), Fraction(1, 2), ALL])


def table(rows: Sequence[Sequence[str]], trees: dict[str, Domain], sensitive: str) -> Tally:
    """A tally of rows with one column for each tree and one that is sensitive."""
    columns = []
    for at, (name, domain) in enumerate(trees.items()):
        codes = np.array([domain.codes[row[at]] for row in rows], dtype=np.intp)
        columns.append(Column(name, domain, domain.column(codes)))
    values = flat(tuple(dict.fromkeys(row[-1] for row in rows)))
    codes = np.array([values.codes[row[-1]] for row in rows], dtype=np.intp)
    last = Column(sensitive, values, values.column(codes))
    return Tally(tuple(columns), (last,), None, np.ones(len(rows), dtype=np.int64))


def table_20_1() -> Tally:
    """Table 20.1 of the toolbox, with the hierarchies of figures 20.1 and 20.2."""
    ages = [24, 25, 26, 36, 37, 38]
    decades = {"(20,30]": [str(age) for age in ages[:3]], "(30,40]": [str(age) for age in ages[3:]]}
    age = Tree.of({"(0,100]": {"(20,40]": decades}}).domain([str(age) for age in ages])
    east = {"NY": ["10547", "10598"], "MA": ["02139"]}
    west = {"CA": ["90210", "90345"], "NV": ["89119"]}
    zips = Tree.of({"ALL": {"N.E. US": east, "W. US": west}})
    rows = [
        ("24", "10547", "HIV"),
        ("37", "90210", "Hepatitis C"),
        ("26", "02139", "HIV"),
        ("38", "89119", "Hepatitis C"),
        ("36", "90345", "Diabetes"),
        ("25", "10598", "HIV"),
    ]
    return table(rows, {"age": age, "zip": zips.domain([row[1] for row in rows])}, "disease")


# Heights and nodes per k and MaxSup; spec 09, section 4.4, worked out for rows 1 to 6 of this table.
def test_suppressed_rows_of_every_node() -> None:
    tally = table_20_1()
    for k in (2, 3):
        want = {
            node.levels: node.suppressed for node in enumerated.nodes(tally, [KAnonymity(k=k)], tally.records)
        }
        for (a, z), suppressed in want.items():
            limits = {"age": a, "zip": z}
            try:
                found = Optimal(suppression=ALL, levels=limits).solve(tally, [KAnonymity(k=k)])
            except UnsatisfiableError:
                assert suppressed == tally.records
            else:
                assert found.suppressed == suppressed
                assert found.levels == limits


@settings(max_examples=60)
@given(st.data())
def test_optimal_is_the_optimum_of_the_whole_lattice(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False))
    promises = data.draw(st.lists(models(tally) | class_models(tally), min_size=1, max_size=2))
    limit = data.draw(LIMITS)
    loss = data.draw(st.sampled_from([Loss.LM, Loss.DISCERNIBILITY, Loss.CLASSES]))
    weights = data.draw(st.sampled_from([{}, {"q0": 3.0}])) if loss is Loss.LM else {}

    def lost(node: enumerated.Found) -> float:
        if loss is Loss.LM:
            return enumerated.lm(tally, node, weights)
        if loss is Loss.DISCERNIBILITY:
            return enumerated.discernibility(tally, node)
        return 1 / len(enumerated.kept_sizes(tally, node))

    every = [n for n in enumerated.nodes(tally, promises, int(limit * tally.records)) if n.holds]
    search = Optimal(loss=loss, suppression=limit, weights=weights)
    if not every:
        with pytest.raises(UnsatisfiableError):
            search.solve(tally, promises)
        return
    found = search.solve(tally, promises)
    assert found.proven
    assert found.loss == pytest.approx(min(map(lost, every)))
    (same,) = [node for node in every if node.levels == found.node]
    assert found.suppressed == same.suppressed
    assert found.loss == pytest.approx(lost(same))
    assert found.classes == len(enumerated.kept_sizes(tally, same))
    recoding = search.search(tally, policy_for(tally, promises, search)).recoding
    assert isinstance(recoding, Regions if found.suppressed else Generalization)
    published = tally.recoded(recoding)
    assert published.records == tally.records - found.suppressed
    assert all(promise.check(published).holds for promise in promises)


@settings(max_examples=25)
@given(st.data())
def test_a_lattice_too_large_to_enumerate_is_walked(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False))
    promise = KAnonymity(k=data.draw(st.integers(1, 4)))
    limit = data.draw(LIMITS)
    want = _or_none(Optimal(suppression=limit), tally, [promise])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "ENUMERABLE", 0)
        found = _or_none(Optimal(suppression=limit), tally, [promise])
    if want is None or found is None:
        assert want is found is None
    else:
        assert found.proven
        assert found.loss == pytest.approx(want.loss)


def _or_none(search: Optimal, tally: Tally, promises: Sequence[PrivacyModel]) -> Any:
    try:
        return search.solve(tally, promises)
    except UnsatisfiableError:
        return None


def test_when_the_time_is_up_the_best_so_far_is_said_to_be_no_more() -> None:
    tally = table_20_1()
    found = Optimal(time_limit=1e-9).solve(tally, [KAnonymity(k=2)])
    assert not found.proven
    assert found.loss <= 1
    assert Optimal(time_limit=60).solve(tally, [KAnonymity(k=2)]).proven
    for seconds, said in ((1e-9, 1), (60, 0)):
        search = Optimal(time_limit=seconds)
        notes = search.search(tally, policy_for(tally, [KAnonymity(k=2)], search)).notes
        assert len(notes) == said
        assert all("there may be a better one" in note for note in notes)


def test_where_nothing_can_be_proven_no_node_is_told_to_all_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seven of 7,776 nodes; where eight may be looked at, the lattice is settled node by node."""
    domain = Intervals(width=(2, 4, 8, 16)).domain([str(n) for n in range(64)])
    rng = np.random.default_rng(1)
    quasi = tuple(Column(f"q{at}", domain, domain.column(rng.integers(0, 64, 200))) for at in range(5))
    tally = Tally((*quasi,), (), None, np.ones(200, dtype=np.int64))
    assert Lattice.of(tally).size == 7_776
    made: list[Field] = []

    def field(*given: Any) -> Field:
        made.append(Field(*given))
        return made[-1]

    monkeypatch.setattr(room, "Field", field)
    for nodes, fields in ((7, 0), (8, 1)):
        search = Optimal(suppression=Fraction(1), nodes=nodes)
        found = search.solve(tally, [KAnonymity(k=3)])
        assert len(made) == fields
        assert not found.proven
        assert found.looked_at <= nodes + 1
        assert found == search.solve(tally, [KAnonymity(k=3)])
        made.clear()


@settings(max_examples=40)
@given(st.data())
def test_samarati_and_incognito_find_what_is_there(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False))
    names = tuple(column.name for column in tally.sensitive)
    lasting = st.builds(KAnonymity, k=st.integers(1, 4)) | st.builds(
        DistinctLDiversity, l=st.integers(1, 3), sensitive=st.just(names)
    )
    limit = data.draw(LIMITS)
    promises = data.draw(
        st.lists(lasting if limit else lasting | class_models(tally), min_size=1, max_size=2)
    )
    every = {n.levels for n in enumerated.nodes(tally, promises, int(limit * tally.records)) if n.holds}
    if not every:
        with pytest.raises(UnsatisfiableError):
            Samarati(suppression=limit).solve(tally, promises)
        return
    lowest = Samarati(suppression=limit).solve(tally, promises)
    height = min(map(sum, every))
    assert lowest.height == height
    assert set(lowest.nodes) == {node for node in every if sum(node) == height}
    try:
        border = Incognito(suppression=limit).solve(tally, promises)
    except UnsupportedError:
        return
    assert border.kept == every
    assert set(border.minimal) == {
        node
        for node in every
        if not any(other != node and all(np.less_equal(other, node)) for other in every)
    }
    assert min(sum(node) for node in border.minimal) == height


def test_probes_of_samarati() -> None:
    tally = table_20_1()
    found = Samarati().solve(tally, [KAnonymity(k=3)])
    assert (found.height, found.nodes) == (3, ((1, 2),))
    assert found.probes == (Probe(3, True), Probe(1, False), Probe(2, False))
    found = Samarati(suppression=Fraction(2, 6)).solve(tally, [KAnonymity(k=2)])
    assert (found.height, found.nodes) == (2, ((1, 1),))
    assert found.probes == (Probe(3, True), Probe(1, False), Probe(2, True))
    assert Samarati().solve(tally, [KAnonymity(k=4)]).nodes == ((2, 3),)
    assert Samarati(suppression=Fraction(1, 6)).solve(tally, [KAnonymity(k=2)]).nodes == ((1, 2),)


@settings(max_examples=20)
@given(tallies(cells=25), st.integers(2, 4), LIMITS)
def test_the_least_loss_stands_first(tally: Tally, k: int, limit: Fraction) -> None:
    """Of nodes that lose the same, the first in lexical order: what is published depends on it."""
    try:
        found = Samarati(suppression=limit).solve(tally, [KAnonymity(k=k)])
    except UnsatisfiableError:
        return
    every = list(enumerated.nodes(tally, [KAnonymity(k=k)], int(limit * tally.records)))
    lost = {node.levels: round(enumerated.lm(tally, node, {}), 9) for node in every if node.holds}
    assert list(found.nodes) == sorted(found.nodes, key=lambda node: (lost[node], node))


def test_incognito_on_table_20_1() -> None:
    border = Incognito().solve(table_20_1(), [KAnonymity(k=3)])
    assert border.kept == {(a, z) for a in (1, 2, 3) for z in (2, 3)}
    assert border.minimal == ((1, 2),)


def test_join_and_prune_of_figure_20_4() -> None:
    # Attributes in the order age, zip, profession: joined on the zip, pruned by age and profession.
    kept: Kept = {
        (0, 1): {(3, 3), (2, 3), (3, 2), (2, 2), (3, 1)},
        (1, 2): {(3, 3), (3, 2), (2, 3), (2, 2), (3, 1)},
        (0, 2): {(3, 3), (2, 3), (3, 2)},
    }
    want = {(3, 3, 3), (2, 3, 3), (3, 3, 2), (3, 2, 3), (2, 2, 3), (3, 2, 2)}
    assert joined((0, 1, 2), kept) == want


def test_generalising_does_not_keep_entropy_once_records_are_dropped() -> None:
    # Spec 09, section 2.9: {a, b} and a hundred times a. The lower node drops the second class.
    domain = flat(("x", "y"))
    values = flat(("a", "b"))
    tally = Tally(
        (Column("q", domain, domain.column(np.array([0, 0, 1]))),),
        (Column("s", values, values.column(np.array([0, 1, 0]))),),
        None,
        np.array([1, 1, 100]),
    )
    promise = EntropyLDiversity(l=2, sensitive=("s",))
    with pytest.raises(UnsupportedError, match=r"samarati with suppression.*entropy-l-diversity"):
        Samarati(suppression=Fraction(100, 102)).solve(tally, [promise])
    with pytest.raises(UnsupportedError, match="incognito with suppression"):
        Incognito(suppression=Fraction(100, 102)).solve(tally, [promise])
    found = Optimal(suppression=Fraction(100, 102)).solve(tally, [promise])
    assert (found.node, found.suppressed, found.proven) == ((0,), 100, True)


@settings(max_examples=80)
@given(st.data())
@pytest.mark.parametrize("closeness", [True, False])
def test_bounds_hold_for_promises_that_suppression_makes_no_longer_monotone(
    closeness: bool,
    data: st.DataObject,
) -> None:
    tally = data.draw(tallies(target=False, quasi=2, sensitive=1, cells=30))
    t = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)]))
    promises: list[PrivacyModel] = [KAnonymity(k=data.draw(st.integers(1, 4)))]
    if closeness:
        promises.append(TCloseness(t=t, sensitive=("s0",), distance=Distance.EQUAL))
    else:
        promises.append(EntropyLDiversity(l=2, sensitive=("s0",)))
    limit = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(2, 3)]))
    every = [n for n in enumerated.nodes(tally, promises, int(limit * tally.records)) if n.holds]
    found = _or_none(Optimal(suppression=limit, trim=False), tally, promises)
    assert (found is None) == (not every)
    if found is not None:
        assert found.loss == pytest.approx(min(enumerated.lm(tally, node, {}) for node in every))


@settings(max_examples=60, phases=[Phase.generate])
@given(st.data())
@pytest.mark.parametrize("closeness", [True, False])
def test_what_a_node_says_of_finer_ones_is_no_more_than_the_truth(
    closeness: bool,
    data: st.DataObject,
) -> None:
    tally = data.draw(tallies(target=False, quasi=2, sensitive=1, cells=30))
    t = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 3)]))
    close = TCloseness(t=t, sensitive=("s0",), distance=Distance.EQUAL)
    entropy = EntropyLDiversity(l=2, sensitive=("s0",))
    promises = [KAnonymity(k=data.draw(st.integers(1, 6))), close if closeness else entropy]
    limit = data.draw(st.sampled_from([Fraction(1, 10), Fraction(2, 3)]))
    bounds_hold(tally, promises, limit, {})


def bounds_hold(
    tally: Tally, promises: Sequence[PrivacyModel], limit: Fraction, weights: dict[str, float]
) -> None:
    lattice = Lattice.of(tally)
    for trim in (False, True):
        judge, objective = (
            Judge(tally, promises, limit, trim=trim),
            Objective(tally, lattice, weights=weights),
        )
        one_way_holds(judge, objective, lattice, Rollups(tally, lattice.ladders, judge.sensitive))


def one_way_holds(judge: Judge, objective: Objective, lattice: Lattice, rollups: Rollups) -> None:
    rulings = {node: judge.rule(rollups, node) for node in lattice.nodes()}
    for above, said in rulings.items():
        more = objective.below(rollups.at(above), said)
        for node, ruling in rulings.items():
            if ruling.holds and all(np.less_equal(node, above)):
                assert said.at_least <= ruling.suppressed
                least = sum(each[level] for each, level in zip(objective.floors, node, strict=True))
                least += sum(each[level] for each, level in zip(more, node, strict=True)) if more else 0
                assert least <= objective.of(rollups.at(node), ruling) + 1e-9


def test_a_class_that_breaks_a_promise_may_have_parts_that_keep_it() -> None:
    # Above, {a, a, b} is too uneven and the last record alone; below, {a, b} is kept.
    rows = [("x", "1", "a"), ("x", "1", "b"), ("y", "1", "a"), ("x", "2", "a")]
    tally = table(rows, {"q": flat(("x", "y")), "r": flat(("1", "2"))}, "s")
    promises: list[PrivacyModel] = [KAnonymity(k=2), EntropyLDiversity(l=2, sensitive=("s",))]
    bounds_hold(tally, promises, Fraction(1, 2), {"q": 0.1})
    assert Optimal(suppression=Fraction(1, 2)).solve(tally, promises).suppressed == 2


def test_an_exact_share_may_be_suppressed_and_not_one_record_more() -> None:
    tally = table_20_1()
    found = Optimal(suppression=Fraction(2, 6), levels={"age": 1, "zip": 1}).solve(tally, [KAnonymity(k=2)])
    assert found.suppressed == 2
    with pytest.raises(UnsatisfiableError, match="raise the limit"):
        Optimal(suppression=Fraction(199, 600), levels={"age": 1, "zip": 1}).solve(tally, [KAnonymity(k=2)])


def test_weights_and_levels() -> None:
    tally = table_20_1()
    assert Optimal(levels={"zip": [3, 3]}).solve(tally, [KAnonymity(k=2)]).levels == {"age": 1, "zip": 3}
    lattice = Lattice.of(tally, {"age": [1, 2]})
    assert lattice.shape == (2, 4)
    with pytest.raises(PolicyError, match=r"levels.zip: the hierarchy has levels 0 to 3, not 4"):
        Optimal(levels={"zip": 4}).solve(tally, [KAnonymity(k=2)])
    with pytest.raises(PolicyError, match=r"levels.job: the policy has no such quasi-identifier"):
        Optimal(levels={"job": 1}).solve(tally, [KAnonymity(k=2)])
    with pytest.raises(PolicyError, match=r"weights.job: the policy has no such quasi-identifier"):
        Optimal(weights={"job": 1}).solve(tally, [KAnonymity(k=2)])


@pytest.mark.parametrize(
    "given",
    [
        {"suppression": 0.05},
        {"suppression": Fraction(2)},
        {"suppression": Fraction(-1, 100)},
        {"time_limit": 0},
        {"weights": {"age": -1}},
        {"weights": {"age": "2"}},
        {"weights": ["age"]},
        {"levels": {"age": -1}},
        {"levels": {"age": [2, 1]}},
        {"levels": {"age": [0, 1, 2]}},
        {"levels": ["age"]},
    ],
)
def test_wrong_parameters_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        Optimal(**given)


def test_nulls_that_match_everything() -> None:
    domain = flat(("x", "y", None))
    values = flat(("a",))
    tally = Tally(
        (Column("q", domain, domain.column(np.array([0, 1, 2]))),),
        (Column("s", values, values.column(np.array([0, 0, 0]))),),
        None,
        np.array([1, 1, 1]),
        Nulls.WILDCARD,
    )
    assert Optimal().solve(tally, [KAnonymity(k=2)]).node == (0,)
    for search in (Samarati(), Incognito()):
        with pytest.raises(UnsupportedError, match="wildcard"):
            search.solve(tally, [KAnonymity(k=2)])


def test_incognito_refuses_promises_about_parts_of_what_is_known() -> None:
    promise = LKC(l=1, k=2, c=Fraction(1), sensitive=("disease",))
    with pytest.raises(UnsupportedError, match="lkc-privacy is about more"):
        Incognito().solve(table_20_1(), [promise])
    assert Samarati().solve(table_20_1(), [promise]).nodes


def test_where_two_records_would_do_it_is_not_said_that_nothing_does() -> None:
    """Issue 13, line 12: five of eight have the value; without two of them half do, as is allowed."""
    import polars as pl

    import privet as pv

    rows = pl.DataFrame({"a": list("aabbabab"), "s": list("xxxxxyyy")})
    said = pv.Policy.loads(
        'policy = 1\n[attributes]\na = { role = "quasi", hierarchy = { type = "flat" } }\ns = "sensitive"\n'
        '[[models]]\ntype = "lkc-privacy"\nl = 1\nk = 3\nc = "1/2"\nsensitive = { s = ["x"] }\n'
        '[algorithm]\ntype = "optimal"\nsuppression = "1/4"\n'
    )
    release = pv.publish(rows, said)
    assert release.evidence.records == 6
    assert release.evidence.suppressed_records == 2
    whole = pv.Policy.loads(said.dumps().replace("trim = true", "trim = false"))
    with pytest.raises(UnsatisfiableError, match="leaving out a few of their records beforehand") as told:
        pv.publish(rows, whole)
    feasible = [one for one in told.value.complaints if "smallest feasible" in one]
    assert all(one.startswith("with nobody suppressed: ") for one in feasible)


def _keep(rows: Sequence[tuple[str, str]], k: int, shares: dict[str, Fraction]) -> bool:
    groups: dict[str, list[str]] = {}
    for known, value in rows:
        groups.setdefault(known, []).append(value)
    return all(
        len(group) >= k and all(group.count(value) <= most * len(group) for value, most in shares.items())
        for group in groups.values()
    )


@pytest.mark.parametrize("seed", range(4))
def test_it_is_refused_only_where_no_records_can_be_left_out(seed: int) -> None:
    """By brute force: every node, every set of records that may go."""
    import polars as pl

    import privet as pv

    chance = random.Random(seed)
    for _ in range(tries(4)):
        count = chance.randint(4, 8)
        known = [chance.choice("ab") for _ in range(count)]
        values = ["x", "y", *(chance.choice("xxyyz") for _ in range(count - 2))]
        k, limit = chance.randint(1, 3), chance.choice(["1/4", "1/3", "1/2"])
        shares = {value: Fraction(chance.choice(["1/4", "1/3", "1/2"])) for value in "xy"}

        may_go = int(Fraction(limit) * count)
        feasible = any(
            _keep([("*" if top else known[one], values[one]) for one in kept], k, shares)
            for top in (False, True)
            for size in range(max(1, count - may_go), count + 1)
            for kept in combinations(range(count), size)
        )
        bounds = ", ".join(f'{value} = "{most}"' for value, most in shares.items())
        said = pv.Policy.loads(
            'policy = 1\n[attributes]\na = { role = "quasi", hierarchy = { type = "flat" } }\n'
            's = "sensitive"\n'
            f'[[models]]\ntype = "k-anonymity"\nk = {k}\n[[models]]\ntype = "confidence-bounding"\n'
            f'sensitive = {{ s = {{ {bounds} }} }}\n[algorithm]\ntype = "optimal"\nsuppression = "{limit}"\n'
        )
        try:
            pv.publish(pl.DataFrame({"a": known, "s": values}), said)
        except UnsatisfiableError:
            assert not feasible
        else:
            assert feasible
