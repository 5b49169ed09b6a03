"""What the tests of several sources share: the employees of the worked examples, and the obvious slow way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from privet.disclose.sources.views import Comparison, Register, View, counted
from privet.domain import Value

NAMES = ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia", "Helen", "Jessica", "Kathy", "Lucy"]
ALAN, BOB, CLARK, DONALD, ELLEN, FEN, GARCIA, HELEN, JESSICA, KATHY, LUCY = range(11)
SEX = "MMMMFFFFFFF"
AGE = (23, 24, 25, 26, 27, 28, 28, 29, 30, 30, 33)
HD, SARS, VI, FLU = "Heart Disease", "SARS", "Viral Infection", "Flu"
SEVEN: tuple[Value, ...] = (HD, SARS, VI, SARS, VI, SARS, FLU)
ELEVEN: tuple[Value, ...] = (*SEVEN, SARS, VI, HD, VI)
MISLEADING: tuple[Value, ...] = (SARS, SARS, HD, VI, SARS, SARS, FLU)  # E3
CONDITIONS = {
    "A": ("sex = M",),
    "B": ("age >= 26", "age <= 28"),
    "C": ("age >= 25", "age <= 26"),
    "D": ("age >= 26", "age <= 27"),
    "E": ("age >= 29", "age <= 33"),
}
PEOPLE = {"F": (DONALD, LUCY), "G": (BOB, DONALD)}  # disjunctions: the people one by one
HALF = Fraction(1, 2)


def register(people: int) -> Register:
    columns = {"sex": tuple(SEX[:people]), "age": tuple(str(age) for age in AGE[:people])}
    return Register(tuple(NAMES[:people]), columns)


def view(name: str, base: Sequence[Value]) -> View:
    if name in PEOPLE:
        return View.of(PEOPLE[name], [base[at] for at in PEOPLE[name]], name)
    where = tuple(map(Comparison.parse, CONDITIONS[name]))
    people = register(len(base)).selected(where)
    return View.of(people, [base[at] for at in people], name, where)


def views(names: str, base: Sequence[Value]) -> list[View]:
    return [view(name, base) for name in names]


def every_table(given: Sequence[View]) -> Iterator[dict[int, Value]]:
    """Every table that agrees with every view: all assignments, one by one."""
    people = sorted({person for one in given for person in one.people})
    values = sorted({value for one in given for value, _ in one.counts}, key=str)
    for row in product(values, repeat=len(people)):
        table = dict(zip(people, row, strict=True))
        if all(counted(table[person] for person in one.people) == one.counts for one in given):
            yield table


def share(tables: Sequence[dict[int, Value]], person: int, value: Value) -> Fraction:
    return Fraction(sum(table[person] == value for table in tables), len(tables))
