"""What every model, algorithm and engine keeps, checked on random tables."""

from __future__ import annotations

import copy
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, ClassVar, TypeAlias

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from privet.core import (
    Algorithm,
    Attribute,
    Finding,
    Form,
    Nulls,
    PrivacyModel,
    Progress,
    Role,
    Tally,
    Terms,
    silent,
)
from privet.declared import ModelFacts, missing
from privet.domain import Cut, Value
from privet.engine import Cluster, Engine
from privet.engines.plain import Plain, Rows
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.hierarchy import Flat, Intervals
from privet.models.kanonymity import KAnonymity
from privet.recoding import Generalization, Perturbation, Recoding, Regions
from privet.testing.facts import check_algorithm_facts, check_model_facts
from privet.testing.strategies import MARK, descents, models, recodings, tallies, texts

ModelFor: TypeAlias = Callable[[Tally], PrivacyModel]


def run(test: Callable[[Any], None], examples: int, *, shrink: bool = True) -> None:
    """Run a test that draws its own inputs, here and now."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    chosen = settings(
        max_examples=examples,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[*phases, Phase.shrink] if shrink else phases,
    )
    made: Callable[[], None] = given(st.data())(test)
    chosen(made)()


def check_model(model: PrivacyModel | ModelFor, *, examples: int = 100, shrink: bool = True) -> None:
    """A promise is frozen, holds no data, gives the same answer twice, and is what it declares.

    A model that speaks of sensitive attributes is given as a function from a tally to a model: the
    attributes are called `s0`, `s1` and so on. `shrink`: look for the smallest failing case.
    """

    def made_for(tally: Tally) -> PrivacyModel:
        made: Any = model
        # A plug-in of the first contract is no PrivacyModel before it is given the facts it does not declare.
        promise: PrivacyModel = made(tally) if callable(made) and missing(made, ModelFacts) else made
        return promise

    def test(data: Any) -> None:
        tally: Tally = data.draw(tallies(nulls=None))
        promise = made_for(tally)
        check_model_facts(promise)
        _is_a_value(promise, made_for(tally))
        before = _snapshot(tally)
        try:
            verdict = promise.check(tally)
        except UnsupportedError:
            # The looser reading of nulls may be refused, and is then refused for every table.
            assert tally.nulls is Nulls.WILDCARD, f"{promise.name}: refuses a table without wildcards"
            return
        assert promise.check(tally) == verdict, f"{promise.name}: the same tally, another answer"
        near = promise.nearest(tally)
        assert _snapshot(tally) == before, f"{promise.name}: the tally was changed"
        _says_no_value(tally, verdict, promise, near)
        assert near.check(tally).holds, f"{promise.name}: the tally does not keep what nearest() says"
        if verdict.holds:
            assert near == promise, f"{promise.name}: nearest() changes a promise that is kept"
        # A null that matches everything stands in several groups: merging them is no longer a union.
        if promise.monotone and tally.nulls is Nulls.VALUE:
            walk = data.draw(descents(tally))
            holds = [promise.check(tally.recoded(recoding)).holds for recoding in walk]
            assert holds == sorted(holds, reverse=True), (
                f"{promise.name}: says it is monotone, but a coarser table breaks it"
            )

        if promise.monotone_with_suppression and tally.nulls is Nulls.VALUE:
            # A record in a class that keeps the promise stays in one, so dropping the others costs no more.
            at_risk = [promise.check(tally.recoded(one)).at_risk for one in data.draw(descents(tally))]
            assert at_risk == sorted(at_risk), (
                f"{promise.name}: says it is monotone with suppression, but a class that keeps it breaks it "
                "when records join"
            )

    run(test, examples, shrink=shrink)


def _is_a_value(promise: PrivacyModel, again: PrivacyModel) -> None:
    name = type(promise).__name__
    assert isinstance(promise, PrivacyModel), f"{name}: lacks a part of core.PrivacyModel"
    assert promise == again, f"{name}: equal parameters make equal promises"
    assert copy.deepcopy(promise) == promise, f"{name}: a copy is equal"
    assert repr(promise) == repr(again), f"{name}: equal promises read alike"
    assert hash(promise) == hash(again), f"{name}: equal promises have equal hashes"
    assert is_dataclass(promise), f"{name}: a promise is a frozen dataclass"
    for field in fields(promise):
        try:
            setattr(promise, field.name, getattr(promise, field.name))
        except AttributeError:
            continue
        raise AssertionError(f"{name}: {field.name} can be changed after signing; freeze it")


def _says_no_value(tally: Tally, verdict: object, *promises: PrivacyModel) -> None:
    said = " ".join(map(repr, (verdict, *promises, tally, *tally.quasi, *tally.sensitive)))
    assert MARK not in said, "a repr holds a value of a quasi-identifier"


def check_algorithm(
    make: Callable[[], Algorithm],
    *,
    models_for: Callable[[Tally], Any] = models,
    examples: int = 100,
) -> None:
    """A search keeps every promise, covers every value once, is deterministic and changes nothing.

    A promise that it does not serve it refuses by name. What it declares of itself is of its kind.
    `models_for` gives a strategy of promises for a tally, for searches that serve only some.
    """
    check_algorithm_facts(make())

    def test(data: Any) -> None:
        tally: Tally = data.draw(tallies(target=True, nulls=None))
        promises = tuple(data.draw(st.lists(models_for(tally), min_size=1, max_size=2)))
        policy = policy_for(tally, promises, make())
        name = policy.algorithm.name
        before = _snapshot(tally)
        try:
            finding = policy.algorithm.search(tally, policy)
        except UnsupportedError as refused:
            said = " ".join(refused.complaints)
            assert any(word in said for word in (name, *(p.name for p in promises))), (
                f"{name}: refuses a promise, and names neither it nor itself"
            )
            return
        except UnsatisfiableError:
            top = tally.topmost()
            assert not all(p.check(top).holds for p in promises), (
                f"{name}: gives up though the most general table keeps every promise"
            )
            return
        assert _snapshot(tally) == before, f"{name}: the tally was changed"
        _fits(tally, finding.recoding, name)
        published = tally.recoded(finding.recoding)
        for promise in promises:
            assert promise.check(published).holds, f"{name}: broke {promise.name}"
        again = make().search(tally, policy)
        assert _described(tally, again.recoding) == _described(tally, finding.recoding), (
            f"{name}: the same tally, another recoding"
        )
        assert again.steps == finding.steps, f"{name}: the same tally, another log"

    run(test, examples)


def policy_for(tally: Tally, promises: Sequence[PrivacyModel], algorithm: Algorithm) -> Terms:
    """A policy that fits a tally."""
    return Terms(
        attributes=(
            *(Attribute(column.name, Role.QUASI, Flat()) for column in tally.quasi),
            *(Attribute(column.name, Role.SENSITIVE) for column in tally.sensitive),
            *((Attribute(tally.target.name, Role.TARGET),) if tally.target else ()),
        ),
        models=tuple(promises),
        algorithm=algorithm,
        nulls=tally.nulls,
    )


@dataclass(frozen=True)
class _Nothing(Algorithm):
    """The algorithm of a policy that is not searched with."""

    name: ClassVar[str] = "nothing"

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        raise NotImplementedError


def check_engine(
    engine: Engine[Any], *, formats: Sequence[str] = ("csv", "tsv", "jsonl"), examples: int = 50
) -> None:
    """An engine reads, tallies, recodes and writes what the plain engine does, on random files.

    Rows stay in their order; on a cluster they have none before they are put into canonical order.
    """
    names = ("a", "b c", 'd"', "é", "other", "dropped")

    def test(data: Any) -> None:
        kind = data.draw(st.sampled_from(list(formats)))
        form = Form(
            format=kind,
            delimiter={"csv": data.draw(st.sampled_from([",", ";", "|"])), "tsv": "\t"}.get(kind),
            encoding="utf-8" if kind == "jsonl" else data.draw(st.sampled_from(["utf-8", "utf-16"])),
            nulls=data.draw(st.sampled_from([("",), ("NA", "?"), ("", "NA")])),
        )
        cell = st.none() | texts().filter(lambda text: text not in form.nulls or not text)
        height = data.draw(st.integers(1, 8))
        raw = {
            name: data.draw(st.lists(_numbers() if name == "b c" else cell, min_size=height, max_size=height))
            for name in names
        }
        policy = Terms(
            attributes=(
                Attribute("a", Role.QUASI, Flat()),
                Attribute("b c", Role.QUASI, Intervals()),
                Attribute('d"', Role.SENSITIVE),
                Attribute("é", Role.TARGET),
                Attribute("other", Role.OTHER),
            ),
            models=(KAnonymity(k=1),),
            algorithm=_Nothing(),
            nulls=data.draw(st.sampled_from(Nulls)),
            form=form,
        )
        with tempfile.TemporaryDirectory() as folder:
            ending = data.draw(st.sampled_from([f".{kind}", f".{kind}.gz"]))
            source = Path(folder) / f"source{ending}"
            Plain().write(Rows(dict(raw)), source, form)
            _compare(engine, source, policy, data)

    run(test, examples)


def _numbers() -> Any:
    return (
        st.none() | st.integers(0, 20).map(str) | st.decimals(0, 3, places=1).map(lambda d: str(Decimal(d)))
    )


def _compare(engine: Engine[Any], source: Path, policy: Terms, data: Any) -> None:
    plain, form = Plain(), policy.form
    folder, ending = source.parent, "".join(source.suffixes)
    wanted = [attribute.name for attribute in policy.attributes]
    ours, theirs = plain.read(source, form, wanted), engine.read(source, form, wanted)
    assert plain.columns(ours) == engine.columns(theirs), f"{engine.name}: other columns than plain"
    assert plain.rows(ours) == engine.rows(theirs), f"{engine.name}: other records than plain"
    counted, its_counted = plain.tally(ours, policy), engine.tally(theirs, policy)
    mine, its = counted.tally, its_counted.tally
    assert _decoded(mine) == _decoded(its), f"{engine.name}: another tally than plain"
    for a, b in zip(mine.quasi, its.quasi, strict=True):
        assert (a.domain.values, a.domain.root) == (b.domain.values, b.domain.root), (
            f"{engine.name}: another leaf order than plain"
        )
    how = data.draw(st.sampled_from([Generalization, Regions, Perturbation]))
    if how is Generalization:
        drawn = data.draw(recodings(mine))
        recoding: Recoding = drawn
        same: Recoding = Generalization({c.name: Cut(c.domain, drawn.cuts[c.name].nodes) for c in its.quasi})
    else:
        # Engines count cells in an order of their own, so this one is a rule that both can follow.
        seed = data.draw(st.integers(0, 10**6))
        by_rule = _regions if how is Regions else _perturbation
        recoding, same = by_rule(mine, seed), by_rule(its, seed)
    published, its_published = plain.apply(counted, policy, recoding), engine.apply(its_counted, policy, same)
    assert _decoded(plain.tally_published(published, policy)) == _decoded(mine.recoded(recoding)), (
        "plain: applies something else than the recoding says"
    )
    assert _decoded(plain.tally_published(published, policy)) == _decoded(
        engine.tally_published(its_published, policy)
    ), f"{engine.name}: another published tally than plain"
    if recoding.kept is None:
        assert published.values["other"] == ours.values["other"], "plain: rows have moved"
    plain.write(published, folder / f"plain{ending}", form)
    engine.write(its_published, folder / f"engine{ending}", form)
    # Each is read by the other: what is written must be what the reader finds.
    for reader in (plain, engine):
        tables = [reader.read(folder / f"{who}{ending}", form) for who in ("plain", "engine")]
        assert reader.columns(tables[0]) == reader.columns(tables[1])
        assert _decoded(reader.tally_published(tables[0], policy)) == _decoded(
            reader.tally_published(tables[1], policy)
        ), f"{engine.name}: writes other values than plain"
    kept = plain.read(folder / f"engine{ending}", form).values["other"]
    expected = plain.read(folder / f"plain{ending}", form).values["other"]
    passed = Counter(kept) == Counter(expected) if isinstance(engine, Cluster) else kept == expected
    assert passed, f"{engine.name}: changes a column that only passes through"


def _regions(tally: Tally, seed: int) -> Regions:
    """Each cell published on some level above its values, or not at all, as its values say."""
    nodes = {c.name: tuple(c.domain.root.walk()) for c in tally.quasi}
    positions: dict[str, list[int]] = {c.name: [] for c in tally.quasi}
    kept = []
    first = min(
        str(_values(tally, cell)) for cell in range(tally.cells)
    )  # stays: an empty table is not a table
    for cell in range(tally.cells):
        mixed = Random(f"{seed} {_values(tally, cell)}")
        for column in tally.quasi:
            above = [at for at, n in enumerate(nodes[column.name]) if n.lo <= int(column.codes[cell]) < n.hi]
            positions[column.name].append(mixed.choice(above))
        kept.append(mixed.random() < 0.8 or str(_values(tally, cell)) == first)
    return Regions(
        nodes,
        {name: np.array(found, dtype=np.intp) for name, found in positions.items()},
        np.array(kept) if seed % 2 else None,
    )


def _perturbation(tally: Tally, seed: int) -> Perturbation:
    """Each record's first quasi-identifier and first sensitive value replaced, as its values say."""
    columns = [tally.quasi[0], *tally.sensitive[:1]]
    labels = {c.name: (*sorted(v for v in c.domain.values if v is not None), "new", None) for c in columns}
    positions: dict[str, list[int]] = {c.name: [] for c in columns}
    for cell in range(tally.cells):
        mixed = Random(f"{seed} {_values(tally, cell)}")
        for column in columns:
            many = range(len(labels[column.name]))
            positions[column.name] += [mixed.choice(many) for _ in range(int(tally.counts[cell]))]
    return Perturbation(labels, {name: np.array(found, dtype=np.intp) for name, found in positions.items()})


def _values(tally: Tally, cell: int) -> list[Value]:
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    return [column.domain.values[int(column.codes[cell])] for column in columns]


def _fits(tally: Tally, recoding: Recoding, name: str) -> None:
    """A recoding speaks of every attribute, and of each cell truthfully."""
    if isinstance(recoding, Perturbation):
        assert all(len(found) == tally.records for found in recoding.positions.values()), (
            f"{name}: a perturbation has a value for each record"
        )
        return
    tally = recoding.over(tally)
    for column in tally.quasi:
        if isinstance(recoding, Generalization):
            assert recoding.cuts[column.name].domain is column.domain, (
                f"{name}: a cut is of the tally's own domain"
            )
        shown = recoding.shown(column)
        assert len(shown.positions) == tally.cells, f"{name}: every cell is published as a node"
        nodes = [shown.nodes[at] for at in shown.positions.tolist()]
        assert all(
            node.lo <= code < node.hi for node, code in zip(nodes, column.codes.tolist(), strict=True)
        ), f"{name}: a value is published as a node that does not stand for it"
    if recoding.kept is not None:
        assert len(recoding.kept) == tally.cells, f"{name}: every cell is kept or not"


def _described(tally: Tally, recoding: Recoding) -> list[Any]:
    """A recoding as something that can be compared."""
    kept = None if recoding.kept is None else recoding.kept.tolist()
    if isinstance(recoding, Perturbation):
        return [kept, dict(recoding.labels), {n: p.tolist() for n, p in recoding.positions.items()}]
    shown = {column.name: recoding.shown(column) for column in recoding.over(tally).quasi}
    return [
        kept,
        {name: [s.nodes[at].label for at in s.positions.tolist()] for name, s in shown.items()},
    ]


def _decoded(tally: Tally) -> Counter[tuple[Value, ...]]:
    """Records by their values, whatever the codes are."""
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    found: Counter[tuple[Value, ...]] = Counter()
    for at, count in enumerate(tally.counts.tolist()):
        found[tuple(c.domain.values[int(c.codes[at])] for c in columns)] += count
    return found


def _snapshot(tally: Tally) -> tuple[Any, ...]:
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    return (
        tally.counts.tolist(),
        tally.nulls,
        [(c.name, c.codes.tolist(), c.codes.dtype, c.domain.values, c.domain.root) for c in columns],
    )
