"""Attacks on the query gateway: without an audit everybody is found, with it nobody is."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.audit_place import firm

import privet as pv
from privet.attackers.attack import Judged, Outcome
from privet.attackers.desk import Ask, Gate, gateway
from privet.attackers.integers import Integers
from privet.attackers.scene import Scene
from privet.attackers.tracker import Tracker, determined
from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import Database
from privet.disclose.audit.exact import exact


def unaudited(_: AuditConfig, source: Database) -> Ask:
    """A gateway that answers everything."""
    return lambda sql: exact(source.fetch(sql)[0][0])


def open_gate(folder: Path) -> Scene:
    config, url = firm(folder)
    target = gateway(folder / "audit.toml")
    return Scene((replace(target, data=Gate(config, unaudited)),), raw=url)


def by_column(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    return {word: one for one in outcomes for word in ("salary", "bonus", "days") if word in one.goal}


def test_a_gateway_without_an_audit_gives_everybody_away(tmp_path: Path) -> None:
    scene = open_gate(tmp_path)
    found = by_column(Tracker().run(scene))
    assert (found["salary"].rate, found["salary"].judged) == (1, Judged.BEYOND)
    assert found["bonus"].judged is found["days"].judged is Judged.BEYOND
    (narrow,) = Integers().run(scene)
    assert (narrow.rate, narrow.judged) == (1, Judged.BEYOND)


def test_the_audit_keeps_everybody(tmp_path: Path) -> None:
    _, url = firm(tmp_path)
    found = pv.attack(tmp_path, raw=url)
    assert {one.attack for one in found.outcomes} == {"tracker", "integers"}
    assert all((one.succeeded, one.allowed, one.judged) == (0, 0, Judged.WITHIN) for one in found.outcomes)
    assert all("queries were answered" in one.note for one in found.outcomes)
    assert not [one for one in found.outcomes if one.note.startswith("0 of")], "a gateway that says nothing"


def test_an_attack_is_not_remembered(tmp_path: Path) -> None:
    """The attacker has a log of its own: real analysts are neither denied for it nor shielded by it."""
    config, url = firm(tmp_path)
    pv.attack(tmp_path, raw=url, only=["tracker"])
    assert not config.log.exists()


def test_integers_near_their_limit_are_narrowed(tmp_path: Path) -> None:
    """A sum that everybody must have the most of: no difference is needed."""
    scene = open_gate(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set salary = 200000")
    db.close()
    gate = scene.target.data

    def total_only(config: AuditConfig, source: Database) -> Ask:
        everything = unaudited(config, source)
        return lambda sql: everything(sql) if "WHERE" not in sql else None

    only = replace(scene.target, data=Gate(gate.config, total_only))
    (found,) = Integers().run(replace(scene, targets=(only,)))
    assert (found.rate, found.judged) == (1, Judged.BEYOND)
    assert by_column(Tracker().run(replace(scene, targets=(only,))))["salary"].succeeded == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 3), min_size=1), max_size=5), st.data())
def test_elimination_determines_what_every_solution_agrees_in(
    sets: list[frozenset[int]], data: st.DataObject
) -> None:
    values = [Fraction(data.draw(st.integers(0, 2))) for _ in range(4)]
    heard = [(members, sum((values[at] for at in members), Fraction(0))) for members in sets]
    # Over all fractions a value is determined, or any number will do; -2 to 4 shows which.
    room = [Fraction(n) for n in range(-2, 5)]
    solutions = (
        [
            guess
            for guess in product(room, repeat=4)
            if all(sum((guess[at] for at in members), Fraction(0)) == total for members, total in heard)
        ]
        if len(sets) < 3
        else []
    )
    found = determined(heard, 4)
    assert all(values[at] == said for at, said in found.items())
    for at in range(4):
        seen = {guess[at] for guess in solutions}
        if solutions and len(seen) > 1:
            assert at not in found


@pytest.mark.slow
def test_the_audit_keeps_everybody_over_random_tables(tmp_path: Path) -> None:
    for seed in range(5):
        folder = tmp_path / str(seed)
        folder.mkdir()
        _, url = firm(folder)
        draw = random.Random(seed)
        with sqlite3.connect(folder / "staff.db") as db:
            db.execute("delete from staff where id > ?", (draw.randrange(6, 24),))
            for person in range(24):
                extreme = draw.choice([0, 200_000, draw.randrange(200_001)])
                db.execute("update staff set salary = ? where id = ?", (extreme, person))
        db.close()
        assert pv.attack(folder, raw=url).holds
