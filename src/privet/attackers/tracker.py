"""Tracker: two queries about many people that differ in one.

Denning, Denning and Schwartz, "The tracker", ACM TODS 1979. Everybody, and everybody but one; or, where small
sets are refused, the one padded with others. For maxima and minima: if leaving one out changes the answer, it
was that one's value. Whoever is determined by what was answered is found by solving the equations exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.desk import PEOPLE, Ask, Crowd, Gate, attacked, literal
from privet.attackers.scene import GATEWAY, Scene
from privet.disclose.audit.config import AuditedColumn


class Tracker:
    """Who may ask about many asks twice, with one person between the two queries."""

    name: ClassVar[str] = "tracker"
    assumes: ClassVar[str] = "may pose queries, and knows everybody's public columns"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (GATEWAY,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        gate: Gate = scene.target.data
        return [_tracked(scene, column) for column in gate.config.columns.values()]


def _tracked(scene: Scene, column: AuditedColumn) -> Outcome:
    with attacked(scene, column) as (crowd, ask):
        people = [p for p in range(len(crowd.true)) if crowd.alone(p) is not None][:PEOPLE]
        if not people:
            raise NotTriedError("the public columns point at nobody")
        heard = asked_of_all(column, crowd, ask, people)
        found = determined(heard, len(crowd.true)) if column.kind == "sum" else _by_extreme(heard)
        right = sum(found.get(person) == crowd.true[person] for person in people)
        common = Counter(crowd.true).most_common(1)[0][1]
        return Outcome(
            attack=Tracker.name,
            goal=f"the {column.name} of one person, from answers about many",
            tried=len(people),
            succeeded=right,
            baseline=common / len(crowd.true),
            worst=float(right > 0),
            allowed=0.0,
            promise="audit: nobody is determined",
            note=f"{len(heard)} of the queries were answered",
        ).judge(beyond=right > 0)


Heard = list[tuple[frozenset[int], Fraction]]


def asked_of_all(column: AuditedColumn, crowd: Crowd, ask: Ask, people: Sequence[int]) -> Heard:
    """Everybody; everybody but each; and each padded with those who share a public value."""
    everybody = frozenset(range(len(crowd.true)))
    head = f'SELECT {column.kind.upper()}("{column.name}") FROM "{crowd.table}"'  # noqa: S608 - an attack is what this is
    queries: list[tuple[frozenset[int], str]] = [(everybody, head)]
    for person in people:
        alone = crowd.alone(person)
        queries.append((everybody - {person}, f"{head} WHERE NOT ({alone})"))
        for name, value in crowd.public[person].items():
            crew = crowd.where(name, value)
            if value is None or len(crew) < 3:
                continue
            pad = f'"{name}" = {literal(value)}'
            queries += [
                (crew, f"{head} WHERE {pad}"),
                (crew - {person}, f"{head} WHERE {pad} AND NOT ({alone})"),
                (everybody - crew | {person}, f"{head} WHERE NOT ({pad}) OR ({alone})"),
            ]
    known = [all(value is not None for value in one.values()) for one in crowd.public]
    heard: Heard = []
    for members, sql in dict.fromkeys(queries):
        # A missing public value makes SQL answer neither yes nor no: such conditions are not posed.
        if "NOT" in sql and not all(known):
            continue
        answer = ask(sql)
        if answer is not None:
            heard.append((members, answer))
    return heard


def determined(heard: Heard, people: int) -> dict[int, Fraction]:
    """Whose value follows from the sums, by elimination in fractions."""
    rows = [[Fraction(at in members) for at in range(people)] + [answer] for members, answer in heard]
    lead = 0
    for column in range(people):
        pivot = next((at for at in range(lead, len(rows)) if rows[at][column]), None)
        if pivot is None:
            continue
        rows[lead], rows[pivot] = rows[pivot], rows[lead]
        first = rows[lead][column]
        rows[lead] = [number / first for number in rows[lead]]
        for at, row in enumerate(rows):
            if at != lead and row[column]:
                factor = row[column]
                rows[at] = [mine - factor * other for mine, other in zip(row, rows[lead], strict=True)]
        lead += 1
    found = {}
    for row in rows[:lead]:
        there = [at for at, number in enumerate(row[:-1]) if number]
        if len(there) == 1:
            found[there[0]] = row[-1]
    return found


def _by_extreme(heard: Heard) -> dict[int, Fraction]:
    """Whose value is the extreme of a set that loses it without them."""
    said = dict(heard)
    found = {}
    for members, answer in heard:
        for person in members:
            less = said.get(members - {person})
            if less is not None and less != answer:
                found[person] = answer
    return found
