"""What the choice of a release tells, what it costs to make it tell nothing, and how long choosing takes.

Zhang (2010), chapter 4, reports no experiments. Shown are those that chapter's claims call for: how often
"release the first generalisation that is diverse" exposes somebody, how much further up the safe rules
release, and that backward and forward traversal take polynomial time while deciding optimality does not.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench import adult
from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table
from privet.core import Form, Tally
from privet.disclose.safe.adversary import believed, orderings, released
from privet.disclose.safe.chain import Groups, Lattice
from privet.disclose.safe.lattice import RULES, Choice, choose, safe_lattice
from privet.disclose.safe.predicates import AtLeast, bag, diverse
from privet.disclose.safe.settings import Disclosure, Predicate, Setting, is_optimal, is_safe
from privet.disclose.safe.traversal import backward, forward, naive
from privet.engines.embedded import Embedded
from privet.policy.values import Policy

PEOPLE = (4, 5, 6)
Shown = tuple[tuple[int, tuple[int, ...]], ...]  # the bag of each group

LEAST = 2  # l, and people in every group of the first generalisation
VALUES = 6  # that somebody may have
K = 2  # states that a safe set has in the abstract problems
TRAVERSALS: dict[str, Callable[[Setting, Predicate], Disclosure]] = {
    "naive": naive,
    "backward": backward,
    "forward": forward,
}


@dataclass
class Family:
    """Random chains with a bag of values, and every table that has the bag."""

    tables: int = 0
    index: Counter[str] = field(default_factory=Counter)  # by rule: released members of the chain, added up
    exposed: Counter[str] = field(default_factory=Counter)  # by rule: tables after which somebody is exposed
    certain: Counter[str] = field(default_factory=Counter)  # and those after which somebody is certain

    def add(self, chain: Sequence[Groups], values: Sequence[int], rules: Sequence[str] = RULES) -> None:
        ones = np.ones(len(values), dtype=np.int64)
        every = list(orderings(tuple(values)))
        self.tables += len(every)
        for rule in rules:
            # Tables with one release and one look share a disclosure set.
            sets: dict[tuple[int | None, Shown], list[tuple[int, ...]]] = defaultdict(list)
            for table in every:
                at = choose(chain, np.array(table, dtype=np.int64), ones, LEAST, rule)
                shown = () if at is None else tuple(sorted(released(chain[at], table).items()))
                sets[at, shown].append(table)
                self.index[rule] += len(chain) if at is None else at
            for (at, _), members in sets.items():
                if at is None:
                    continue  # the bag itself is not diverse: nobody could have helped it
                columns = list(zip(*members, strict=True))
                if not all(diverse(bag(column), LEAST) for column in columns):
                    self.exposed[rule] += len(members)
                if any(len(set(column)) == 1 for column in columns):
                    self.certain[rule] += len(members)


def random_chain(rng: np.random.Generator, people: int) -> list[Groups]:
    """Nested groupings: the first has at least two people in each group, the last everybody in one."""
    cuts = [at for at in range(LEAST, people - LEAST + 1) if rng.random() < 0.7]
    kept: list[int] = []
    for at in cuts:
        if at - (kept[-1] if kept else 0) >= LEAST:
            kept.append(at)
    chain = [np.searchsorted(np.array(kept), np.arange(people), side="right").astype(np.int64)]
    while kept:
        kept.pop(int(rng.integers(len(kept))))
        chain.append(np.searchsorted(np.array(kept), np.arange(people), side="right").astype(np.int64))
    return chain


def random_list(rng: np.random.Generator, people: int) -> list[Groups]:
    """Groups of ever more people who are thrown together anew each time: as when other columns are hidden."""
    places = np.arange(people)
    wide = range(LEAST, people // 2 + 1)
    found = [np.minimum(rng.permutation(places) // size, people // size - 1) for size in wide]
    return [*found, np.zeros(people, dtype=np.int64)]


def families(
    draw: Callable[[np.random.Generator, int], list[Groups]],
    rules: Sequence[str],
    sizes: Sequence[int],
    instances: int,
) -> dict[int, Family]:
    """For each number of people, so many chains with something to choose and something to release."""
    found = {}
    for people in sizes:
        rng = np.random.default_rng(people)
        found[people] = Family()
        left = instances
        while left:
            chain, values = draw(rng, people), sorted(rng.integers(VALUES, size=people).tolist())
            if len(chain) > 1 and diverse(bag(values), LEAST):
                found[people].add(chain, values, rules)
                left -= 1
    return found


def attack(sizes: Sequence[int], instances: int) -> tuple[list[Table], dict[str, Chart]]:
    """How often somebody is exposed, and how far up each rule releases."""
    heads = {
        "people": "d",
        "tables": "d",
        "groupings": "",
        "rule": "",
        "exposed %": ".1f",
        "certain %": ".1f",
        "index": ".2f",
    }
    rows: list[list[Cell]] = []
    # Only the usual recipe can walk a list whose members do not refine each other.
    for kind, draw, rules in (("chain", random_chain, RULES), ("list", random_list, ("naive",))):
        for people, family in families(draw, rules, sizes, instances).items():
            for rule in rules:
                exposed, certain = (100 * of[rule] / family.tables for of in (family.exposed, family.certain))
                index = family.index[rule] / family.tables
                rows.append([people, family.tables, kind, rule, exposed, certain, index])
    charts = {}
    for name, title, y, column in (
        ("safe-exposed", "Tables in which the choice exposes somebody", "% of tables", 4),
        ("safe-price", "How far up is released (0: the first)", "index on average", 6),
    ):
        lines = [
            Series(
                f"{rule}, {kind}", [_point(row, column) for row in rows if (row[2], row[3]) == (kind, rule)]
            )
            for kind, rule in dict.fromkeys((str(row[2]), str(row[3])) for row in rows)
        ]
        charts[name] = Chart(title, "people", y, lines)
    title = f"entropy {LEAST}-diversity: {instances} random groupings and bags each, every table of a bag"
    return [_patients(), Table(title, heads, rows)], charts


def _point(row: Sequence[Cell], column: int) -> tuple[float, float]:
    x, y = row[0], row[column]
    assert isinstance(x, int)
    assert isinstance(y, float)
    return float(x), y


def _patients() -> Table:
    """Six patients (table 4.1) by age and sex, age, sex, or together; the usual recipe takes the third."""
    chain = [np.array(groups) for groups in ((0, 0, 1, 2, 3, 3), (0, 0, 1, 1, 2, 2), (0, 0, 0, 1, 1, 1))]
    chain.append(np.zeros(6, dtype=np.int64))
    ill = (0, 1, 2, 2, 3, 4)
    rows: list[list[Cell]] = []
    # The third does not follow from the second by merging groups: the safe rule leaves it out.
    for rule, members in (("naive", chain), ("permutation", [chain[0], chain[1], chain[3]])):
        at = choose(members, np.array(ill), np.ones(6, dtype=np.int64), LEAST, rule)
        assert at is not None
        belief = believed(members, at, released(members[at], ill), LEAST, rule=rule)
        rows.append([rule, at + 1, belief.instances, belief.left, belief.certain])
    heads = {"rule": "", "released": "d", "look alike": "d", "possible": "d", "people certain": "d"}
    return Table("six patients (table 4.1)", heads, rows)


def nested(rng: np.random.Generator, states: int, schemas: int) -> Setting:
    """Random partitions, each made of whole cells of the one before; the last says nothing."""
    cell = np.arange(states)
    found = []
    for _ in range(schemas - 1):
        cells = int(cell.max()) + 1
        onto = rng.integers(max(1, -(-cells // 2)), size=cells)
        cell = np.unique(onto[cell], return_inverse=True)[1]
        found.append(tuple(cell.tolist()))
    return Setting((*found, (0,) * states))


def price(states: Sequence[int], problems: int) -> tuple[Table, Chart]:
    """The average schema of the usual recipe, of backward and of forward traversal."""
    heads = {"states": "d", "problems": "d", "naive unsafe %": ".0f", **dict.fromkeys(TRAVERSALS, ".2f")}
    rows: list[list[Cell]] = []
    for many in states:
        rng = np.random.default_rng(many)
        index, unsafe = Counter[str](), 0
        for _ in range(problems):
            setting = nested(rng, many, int(rng.integers(3, 6)))
            for name, traverse in TRAVERSALS.items():
                chosen = traverse(setting, AtLeast(K))
                index[name] += sum(chosen)
                unsafe += name == "naive" and not is_safe(setting, chosen, AtLeast(K))
        shares = [index[name] / (many * problems) for name in TRAVERSALS]
        rows.append([many, problems, 100 * unsafe / problems, *shares])
    lines = [Series(name, [_point(row, 3 + at) for row in rows]) for at, name in enumerate(TRAVERSALS)]
    chart = Chart(f"Released schema on average, sets of {K} are safe", "states", "index", lines)
    title = "random problems with schemas that refine each other (0: the most useful)"
    return Table(title, heads, rows), chart


def growth(
    states: Sequence[int], schemas: Sequence[int], few: Sequence[int]
) -> tuple[list[Table], dict[str, Chart]]:
    """Seconds by states and by schemas; and of deciding optimality, which enumerates."""
    by_states = [(many, schemas[0]) for many in states]
    by_schemas = [(states[0], many) for many in schemas[1:]]
    rows: list[list[Cell]] = []
    for many, deep in [*by_states, *by_schemas]:
        setting = nested(np.random.default_rng(many), many, deep)
        rows.append([many, deep, *(_timed(lambda: t(setting, AtLeast(K))) for t in (backward, forward))])  # noqa: B023 - called at once
    exact: list[list[Cell]] = []
    for many in few:
        setting = nested(np.random.default_rng(many), many, 4)
        nothing = (setting.nothing,) * many
        exact.append([many, 4**many, _timed(lambda: is_optimal(setting, nothing, AtLeast(many)))])  # noqa: B023 - called at once
    heads = {"states": "d", "schemas": "d", "backward s": ".4f", "forward s": ".4f"}
    lines = [
        Series(name, [_point(row, 2 + at) for row in rows[: len(by_states)]])
        for at, name in enumerate(("backward", "forward"))
    ]
    lines.append(Series("optimality", [_point(row, 2) for row in exact], dashed=True))
    chart = Chart("Time by number of states", "states", "s", lines, logarithmic=True)
    decided = {"states": "d", "functions": "d", "s": ".4f"}
    tables = [
        Table("backward and forward traversal", heads, rows),
        Table("deciding that a function is optimal: all are looked at, four schemas", decided, exact),
    ]
    return tables, {"safe-time": chart}


# Numbers in levels that each halve the one below: the rule passes by groups that are a small part of one.
COLUMNS = {
    "age": 'age = { role = "quasi", hierarchy = { type = "intervals", raw = false, edges = '
    "[[17, 24, 28, 33, 37, 42, 47, 54, 91], [17, 28, 37, 47, 91], [17, 37, 91]] } }",
    "sex": 'sex = { role = "quasi" }',
    "education": 'education-num = { role = "quasi", hierarchy = { type = "intervals" } }',
    "race": 'race = { role = "quasi" }',
    "hours": 'hours-per-week = { role = "quasi", hierarchy = { type = "intervals" } }',
}
ADULT = """
policy = 1
[attributes]
COLUMNS
occupation = { role = "sensitive" }
[[models]]
type = "entropy-l-diversity"
l = 2
sensitive = ["occupation"]
[algorithm]
type = "safe-lattice"
"""
SETS = (("age",), ("sex", "age"), ("age", "sex", "education", "race", "hours"))


def on_adult(parameters: Sequence[int]) -> Table:
    """The 45,222 people of Adult: groups that are published, by the usual recipe and by the safe rule."""
    people = adult.load()
    rows: list[list[Cell]] = []
    for names in SETS:
        text = "\n".join(COLUMNS[name] for name in names)
        policy = Policy.loads(ADULT.replace("COLUMNS", text))
        engine = Embedded()
        columns = [attribute.name for attribute in policy.attributes]
        tally = engine.tally(engine.read(people, Form(), columns), policy).tally
        for l in parameters:
            begun = time.perf_counter()
            chosen = [
                safe_lattice(tally, l, sensitive="occupation", rule=rule) for rule in ("naive", "permutation")
            ]
            spent = (time.perf_counter() - begun) / len(chosen)
            rows.append([", ".join(names), l, *(_groups(tally, choice) for choice in chosen), spent])
    heads = {"columns": "", "l": "d", "naive": "d", "permutation": "d", "s": ".1f"}
    return Table(
        "groups of Adult's people by occupation, safe-lattice (1: nothing but the values)", heads, rows
    )


def _groups(tally: Tally, choice: Choice) -> int | None:
    if choice.index is None:
        return None
    return int(Lattice.of(tally).groups(choice.chain[choice.index]).max()) + 1


def _timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def run(*, full: bool) -> Outcome:
    tables, charts = attack(PEOPLE, 40 if full else 4)
    priced, chart = price((6, 12, 24) if not full else (6, 12, 24, 48), 200 if full else 20)
    states, few = ((200, 400, 800, 1_600), range(3, 10)) if full else ((100, 200), range(3, 6))
    times, curves = growth(states, (4, 8, 16), few)
    return Outcome(
        "safe",
        "Choosing what to release when everybody knows how it is chosen",
        "Zhang (2010), chapter 4, has no experiments. A pilot over 2,269 random chains added the released "
        "index up to 340,586 (naive), 487,308 (rotation) and 531,402 (permutation): 1 to 1.43 to 1.56.",
        (*tables, priced, *times, on_adult((2, 3, 4) if full else (2,))),
        notes=(
            "naive and rotation are unsafe and are here for comparison; permutation exposes nobody.",
            "exposed: knowing the rule, somebody's value is less than entropy 2-diverse.",
            "chain: each grouping merges groups of the one before; list: people are grouped anew each time.",
        ),
        charts={**charts, "safe-traversals": chart, **curves},
    )
