"""The house: who may import whom, what `import privet` loads, and what is public."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import privet

HOUSE = Path(privet.__file__).parent

# DESIGN.md, section 6: what each room may import, in the order in which they stand on each other. Nothing is
# allowed by standing on one floor: every arrow is drawn here.
BASE = {
    "errors",
    "tomltext",
    "jsonvalue",
    "parts",
    "spreadsheets",
    "equality",
    "readings",
    "domain",
    "declared",
    "core",
    "recoding",
    "engine",
    "notebook",
}
SEARCHES = {"relational", "trajectory", "document", "dp", "collect", "rules"}
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "tomltext": {"errors"},
    "jsonvalue": set(),
    "parts": {"errors"},
    "spreadsheets": set(),
    "notebook": set(),
    "blocks": set(),
    "sidebyside": set(),
    "native": set(),
    "equality": set(),
    "readings": set(),
    "domain": {"errors", "equality"},
    "declared": {"errors", "core"},  # the latter for its types only
    "core": {"errors", "equality", "readings", "domain", "declared", "notebook", "recoding"},  # its type only
    "recoding": {"core", "domain", "errors"},
    "engine": {"errors", "equality", "domain", "core", "recoding"},
    "verifier": set(),  # a program of its own: nothing imports it, and it imports nothing of ours
    "samples": {"errors"},
    "registry": {"errors"},
    "witness": {"errors"},
    "placing": {"errors"},
    "effort": {"errors"},
    "disguise": {*BASE},
    "hierarchy": {*BASE},
    "models": {*BASE, "hierarchy", "blocks", "native", "effort"},
    "measure": {*BASE, "hierarchy", "models"},
    "counts": {*BASE, "models", "blocks", "native", "sidebyside"},
    "relational": {*BASE, "hierarchy", "models", "measure", "counts", "native", "effort", "sidebyside"},
    "trajectory": {*BASE, "models", "native"},
    "document": {*BASE, "hierarchy", "native"},
    "dp": {*BASE, "hierarchy", "models", "counts", "relational", "witness"},  # for the one top-down loop
    "collect": {*BASE},
    "rules": {*BASE, "hierarchy", "models", "native", "trajectory"},  # a set is a path without times
    "disclose": {*BASE, "hierarchy", "models", "relational", "witness"},
    "policy": {*BASE, "hierarchy", "disguise", "models", "registry", "placing"},
    "parties": {*BASE, "hierarchy", "models", "counts", "relational", "dp", "policy"},
    # A cluster answers searches itself where its counts are too many to come here.
    "engines": {*BASE, "hierarchy", "counts", "native", "document", "trajectory", "rules", "placing"},
    "evidence": {*BASE, "policy"},
    "report": {*BASE, "hierarchy", "disclose", "document", "collect", "policy", "evidence"},
    "release": {*BASE, "policy", "evidence", "report", "placing", "dp"},  # was a killed run's paid for?
    "roads": {
        *BASE, *SEARCHES, "counts", "hierarchy", "models", "measure", "disclose", "engines", "policy",
        "evidence", "report", "release", "registry", "placing", "parties",
    },
    "rehearsal": {*BASE, "parties", "evidence", "release", "roads"},
    "verification": {*BASE, "policy", "evidence", "report", "roads"},
    "node": {
        *BASE, "disclose", "parties", "engines", "evidence", "placing", "registry", "roads", "verification",
    },
    "assess": {*BASE, "measure", "policy", "evidence", "release", "roads"},
    "attackers": {
        *BASE, "hierarchy", "models", "measure", "dp", "trajectory", "rules", "document", "disclose",
        "policy", "evidence", "release", "roads", "registry",
    },
    "exploration": {*BASE, "measure", "policy", "roads"},
    "difference": {*BASE, "policy", "evidence", "roads"},
    "drafts": {*BASE, "document", "hierarchy", "models", "policy", "registry", "engines", "roads"},
    "testing": {*BASE, "hierarchy", "models", "counts", "relational", "engines"},
    # Pages over what the command line calls too; it runs commands, and imports none of them.
    "studio": {
        *BASE, "hierarchy", "models", "counts", "relational", "disclose", "engines", "policy", "evidence",
        "report", "release", "registry", "placing", "roads", "drafts", "difference",
        "effort",
    },
}  # fmt: skip
TYPES_ONLY = {"declared": "core", "core": "recoding"}  # named for the type checker, and never loaded
TOP = {"cli"}  # whoever is asked by people: it may import every room below


@dataclass(frozen=True)
class Said:
    """What is asked of a module. Its tree is not kept: every collection would walk over a million nodes."""

    doc: str | None
    imports: tuple[tuple[int, str], ...]  # of ours: line and full name
    typed: frozenset[int]  # lines that are read by a type checker only
    attributes: tuple[str, ...]
    texts: tuple[str, ...]
    later: tuple[str, ...]  # what is named to be loaded when it is asked for


@cache  # parsed once, for hundreds of tests
def said(path: Path) -> Said:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    constants = [node for node in nodes if isinstance(node, ast.Constant)]
    return Said(
        ast.get_docstring(tree),
        tuple(_imported(nodes)),
        frozenset(
            inside.lineno
            for node in nodes
            if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
            for inside in node.body
        ),
        tuple(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        tuple(node.value for node in constants if isinstance(node.value, str)),
        tuple(
            str(argument.value)
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Later"
            for argument in node.args
            if isinstance(argument, ast.Constant)
        ),
    )


def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and full name of everything of ours that a module imports."""
    return said(path).imports


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "privet")


def modules() -> list[Path]:
    return sorted(path for path in HOUSE.rglob("*.py") if path != HOUSE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).with_suffix("").parts[0]


def wrong_arrows(here: str, names: Iterable[tuple[int, str]]) -> list[str]:
    """Imports that no arrow allows."""
    allowed = {*ARROWS, here} if here in TOP else {*ARROWS[here], here}
    return [f"line {line}: {name}" for line, name in names if name.split(".")[1] not in allowed]


def rooms() -> dict[str, list[Path]]:
    """The modules of each room: a test for each room, since one for each module costs more than it asks."""
    found: dict[str, list[Path]] = {}
    for path in modules():
        found.setdefault(room_of(path), []).append(path)
    return found


@pytest.mark.parametrize(("here", "paths"), rooms().items(), ids=rooms())
def test_arrows(here: str, paths: list[Path]) -> None:
    assert here in {*ARROWS, *TOP}, f"{here} has no place in DESIGN.md, section 6"
    wrong = {path.name: wrong_arrows(here, imports(path)) for path in paths}
    assert not any(wrong.values()), f"{here} imports what no arrow allows"


def test_every_arrow_points_down() -> None:
    """No two rooms stand on each other, but for the types that are named."""
    seen: set[str] = set()
    for room, below in ARROWS.items():
        later = below - seen - {room, TYPES_ONLY.get(room)}
        assert not later, f"{room} stands on {sorted(later)}, which stands later"
        seen.add(room)


def graph(paths: Iterable[Path]) -> dict[str, set[str]]:
    """What each module imports of the others, early or late; not what it names for a type alone."""
    every = {module_name(path): path for path in paths}
    found: dict[str, set[str]] = {}
    for name, path in every.items():
        loaded = [one for line, one in imports(path) if line not in said(path).typed]
        used = {one if one in every else one.rpartition(".")[0] for one in loaded}
        found[name] = {one for one in used if one in every and one != name}
    return found


def test_no_modules_import_each_other() -> None:
    """Not in a circle either, however long; a command may load late what loads it."""
    TopologicalSorter(graph(path for path in modules() if room_of(path) not in TOP)).prepare()


def test_a_circle_of_modules_is_noticed() -> None:
    every = graph(path for path in modules() if room_of(path) not in TOP)
    every["privet.roads.stations"].add("privet.roads.tables.road")
    with pytest.raises(CycleError):
        TopologicalSorter(every).prepare()


def loaded_by(path: Path) -> set[str]:
    """The rooms that stand in memory once a module is loaded."""
    code = f"import sys, {module_name(path)}; print(*(n for n in sys.modules if n.startswith('privet.')))"
    return {name.split(".")[1] for name in run(code).split()}


@pytest.mark.parametrize("room", sorted(TYPES_ONLY))
def test_what_is_named_for_its_type_is_not_loaded(room: str) -> None:
    assert TYPES_ONLY[room] not in loaded_by(HOUSE / f"{room}.py")


# What no other module imports, and why it stays.
PROGRAMS = {
    "privet.attackers._anonymeter": "run in an environment of its own, which has no privet",
    "privet.verifier.verify": "handed out as one file by `privet verifier`",
}
FROM_PYTHON_ONLY = {
    "privet.disclose.safe.traversal": "safe choices over listed states (spec 11, algorithms 4.1 to 4.3)",
    "privet.disclose.sources.planning": "may a view join those that are out? (spec 13, acceptance 12)",
    "privet.disclose.sources.public": "restoring by a public rule: an experiment that no command offers",
    "privet.disclose.structure": "symmetry of somebody's own partitions (spec 12, acceptance 8)",
    "privet.dp.queries": "the interactive baseline that a release by `diffgen` is compared with",
    "privet.parties.virtual.harness": "secure set union (spec 08, acceptance 12)",
    "privet.samples.worked": "worked examples that the tests and docs/explain count with",
}


def module_name(path: Path) -> str:
    """As it is imported; a package by its folder."""
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def named(path: Path) -> frozenset[str]:
    """Every module that one imports, or names as text so that it is loaded when it is asked for."""
    here = module_name(path)
    found = {name for _, name in imports(path)}
    found |= {name.rpartition(".")[0] for name in found}
    found |= {f"{here.rpartition('.')[0]}.{later}" for later in said(path).later}
    for text in said(path).texts:
        if re.fullmatch(r"privet(\.\w+)+(:\w+)?", text):  # the registry
            found.add(text.partition(":")[0])
        elif here == "privet.cli.app" and re.fullmatch(r"\w+:\w+", text):  # a command
            found.add(f"privet.cli.{text.partition(':')[0]}")
    return frozenset(found - {here})


def unused(paths: Iterable[Path]) -> set[str]:
    """Modules that none of the others names; packages and `python -m` are not asked."""
    every = list(paths)
    used: set[str] = set().union(*map(named, every))
    asked = {module_name(path) for path in every if path.stem not in {"__init__", "__main__"}}
    return asked - used


def test_every_module_has_its_user() -> None:
    """A module for tests alone belongs to tests/; `testing` is what plug-ins test with."""
    found = unused([*modules(), HOUSE / "__init__.py"])
    found = {name for name in found if not name.startswith("privet.testing.")}
    assert found == {*PROGRAMS, *FROM_PYTHON_ONLY}, "nobody imports it, or somebody does by now"


@pytest.mark.parametrize("name", sorted(FROM_PYTHON_ONLY))
def test_what_is_for_python_only_says_so(name: str) -> None:
    doc = importlib.import_module(name).__doc__ or ""
    assert "From Python only: " in doc or "tests and the explanations" in doc


def test_a_module_without_a_user_is_noticed() -> None:
    """Without the command line's list, its commands have no user; without a road, its later answers."""
    without = {
        "privet.cli.app": "privet.cli.plan",
        "privet.roads.tables.road": "privet.roads.tables.explanation",
    }
    for user, left in without.items():
        assert left in unused(path for path in modules() if module_name(path) != user)


LIBRARIES = re.compile(r"^\s*(?:import|from) (polars|pandas|pyarrow|duckdb|pyspark)\b", re.MULTILINE)


WITHOUT_ENGINES = sorted({*SEARCHES, "models", "hierarchy", "measure", "counts", "evidence", "policy"})


def engines_of(path: Path) -> list[str]:
    """The engines, and their libraries, that a module knows."""
    libraries = LIBRARIES.findall(path.read_text(encoding="utf-8"))
    return [*libraries, *(name for _, name in imports(path) if name.startswith("privet.engines"))]


@pytest.mark.parametrize("room", WITHOUT_ENGINES)
def test_no_search_knows_an_engine_or_its_library(room: str) -> None:
    for path in (HOUSE / room).rglob("*.py"):
        assert not engines_of(path), path


# The searches that ask through the door, with all that they are made of; of what answers, they know who
# answers for a table in this process, and no more.
AT_THE_DOOR = [
    *("relational/topdown.py", "relational/specialize.py", "relational/mondrian.py", "relational/boxes.py"),
    *("relational/axis.py", "relational/optimal.py", "relational/annealing.py", "relational/judge.py"),
    *("relational/objective.py", "relational/lattice.py", "relational/suits.py"),
    *("relational/fulldomain.py", "relational/samarati.py", "relational/incognito.py"),
    *("relational/trimming.py", "relational/ranges.py", "dp/diffgen.py", "dp/splitting.py", "dp/leaves.py"),
]
DOOR = ("privet.counts.door.", "privet.counts.live.", "privet.counts.memory.counted")


def behind_the_door(path: Path) -> list[str]:
    """What a search knows of those who answer it: their modules, and cells and rows of a table."""
    known = [
        name for _, name in imports(path) if name.startswith("privet.counts") and not name.startswith(DOOR)
    ]
    cells = {"cells", "by_record", "recoded", "recode", "class_codes", "of_cell"}
    return known + [name for name in said(path).attributes if name in cells]


@pytest.mark.parametrize("search", AT_THE_DOOR)
def test_no_search_that_asks_reaches_behind_the_door(search: str) -> None:
    assert not behind_the_door(HOUSE / search)


# Who checks, and which search it must not believe: who shares its counting shares its mistakes.
AUDITORS = {
    "models": ("privet.relational", "privet.counts"),
    "measure/audit.py": (
        "privet.relational",
        "privet.counts",
        "privet.models.groups",
        "privet.models.blockwise",
    ),
    "trajectory/audit.py": (
        *("privet.trajectory.violations", "privet.trajectory.suppress", "privet.trajectory.local"),
        *("privet.trajectory.searches", "privet.trajectory.choose", "privet.native"),
    ),
    "document/audit.py": (
        *("privet.document.clustree", "privet.document.diversify", "privet.document.compiled"),
        *("privet.document.partition", "privet.document.edits", "privet.native"),
    ),
    "document/anatomy_audit.py": (
        *("privet.document.anatomy_merge", "privet.document.anatomy_best", "privet.document.anatomy_assign"),
        "privet.native",
    ),
    "roads/noisy/check.py": (
        "privet.dp.diffgen",
        "privet.dp.splitting",
        "privet.dp.noisytable",
        "privet.counts",
    ),
    "rules/audit.py": (
        *("privet.rules.deleting", "privet.rules.lightest", "privet.rules.supporting", "privet.rules.exact"),
        *("privet.rules.searches", "privet.rules.mining"),
        *("privet.rules.generalising", "privet.rules.thinning", "privet.rules.rare", "privet.native"),
    ),
}


def believed(path: Path, searches: tuple[str, ...]) -> list[str]:
    """What an auditor imports of the search that it must not believe."""
    return [name for _, name in imports(path) if name.startswith(searches)]


@pytest.mark.parametrize("auditor", sorted(AUDITORS))
def test_an_auditor_shares_nothing_with_its_search(auditor: str) -> None:
    place = HOUSE / auditor
    for path in [place] if place.is_file() else place.rglob("*.py"):
        assert not believed(path, AUDITORS[auditor]), path


COUNTED_BY_THE_CHECK = ("privet.models.groups", "privet.models.blockwise")


@pytest.mark.parametrize("room", ["relational", "counts", "dp"])
def test_a_search_does_not_count_with_the_check(room: str) -> None:
    for path in (HOUSE / room).rglob("*.py"):
        assert not believed(path, COUNTED_BY_THE_CHECK), path


# Each rule, broken on purpose: a test that cannot fail guards nothing.


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str], Path]:
    """A module that says one thing too much."""
    number = iter(range(10**6))

    def made(text: str) -> Path:
        path = tmp_path / f"broken{next(number)}.py"
        path.write_text(f'"""Broken on purpose."""\n{text}\n', encoding="utf-8")
        return path

    return made


def test_every_arrow_that_is_not_drawn_is_noticed() -> None:
    """From every room to every other: what no arrow allows is found, and nothing else is."""
    for here, allowed in ARROWS.items():
        for there in (*ARROWS, *TOP):
            found = wrong_arrows(here, [(1, f"privet.{there}.thing")])
            assert bool(found) == (there != here and there not in allowed), (here, there)
    assert not [there for there in ARROWS if wrong_arrows("cli", [(1, f"privet.{there}.thing")])]


@pytest.mark.parametrize(
    "form",
    [
        "from privet.{0} import thing",
        "import privet.{0}",
        "import privet.{0} as x",
        "from privet import {0}",
        "def late():\n    from privet.{0} import thing",
    ],
)
def test_an_import_is_noticed_however_it_is_written(form: str, broken: Callable[[str], Path]) -> None:
    assert wrong_arrows("hierarchy", imports(broken(form.format("roads"))))


def test_a_circle_of_arrows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, below in ARROWS.items():
        for under in below - {TYPES_ONLY.get(room)}:
            if TYPES_ONLY.get(under) == room:
                continue
            with monkeypatch.context() as patch:
                patch.setitem(ARROWS, under, {*ARROWS[under], room})
                with pytest.raises(AssertionError, match="which stands later"):
                    test_every_arrow_points_down()


@pytest.mark.parametrize(
    "known",
    [
        "import polars as pl",
        "from pyspark.sql import SparkSession",
        "import duckdb",
        "from privet.engines.embedded import Embedded",
    ],
)
def test_an_engine_in_a_search_is_noticed(known: str, broken: Callable[[str], Path]) -> None:
    assert engines_of(broken(f"def search():\n    {known}"))


@pytest.mark.parametrize(
    "known",
    [
        "from privet.counts.rollup import Rollups",
        "from privet.counts.memory import InMemory",
        "from privet.counts import partition",
        "def search(tally):\n    return tally.cells",
        "def search(tally, found):\n    return tally.recoded(found)",
        "def search(tally, found):\n    return found.recode(tally)",
    ],
)
def test_a_search_that_reaches_behind_the_door_is_noticed(known: str, broken: Callable[[str], Path]) -> None:
    assert behind_the_door(broken(known))


@pytest.mark.parametrize("auditor", sorted(AUDITORS))
def test_an_auditor_that_believes_its_search_is_noticed(auditor: str, broken: Callable[[str], Path]) -> None:
    for search in AUDITORS[auditor]:
        package, _, module = search.rpartition(".")
        assert believed(broken(f"import {search}"), AUDITORS[auditor])
        assert believed(broken(f"from {search} import thing"), AUDITORS[auditor])
        assert believed(broken(f"from {package} import {module}"), AUDITORS[auditor])


def test_every_rule_is_about_modules_that_there_are() -> None:
    """A rule about a module that was renamed would hold for ever."""
    named = {*COUNTED_BY_THE_CHECK, *(search for searches in AUDITORS.values() for search in searches)}
    places = [HOUSE.parent.joinpath(*name.split(".")) for name in named]
    missing = [place for place in places if not place.is_dir() and not place.with_suffix(".py").is_file()]
    missing += [HOUSE / place for place in (*AUDITORS, *AT_THE_DOOR) if not (HOUSE / place).exists()]
    missing += [HOUSE / room for room in WITHOUT_ENGINES if not (HOUSE / room).is_dir()]
    assert not missing
    rooms = {room_of(path) for path in modules()}
    assert rooms == {*ARROWS, *TOP}, "a room without a place, or a place without a room"


def test_plain_does_without_polars() -> None:
    code = "import sys, privet.engines.plain; print('polars' in sys.modules)"
    assert run(code) == "False"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=600
    )
    return done.stdout.strip()


HEAVY = [
    "numpy",
    "polars",
    "pandas",
    "pyarrow",
    "numba",
    "sklearn",
    "typer",
    "rich",
    "hypothesis",
    "psycopg",
    "pyspark",
]


def test_import_privet_loads_nothing_heavy() -> None:
    loaded = run("import sys, privet; print(*sys.modules)").split()
    assert not [name for name in loaded if name.split(".")[0] in HEAVY or name.startswith("privet.")]


def test_naming_a_promise_loads_no_engine() -> None:
    loaded = run("import sys, privet as pv; pv.KAnonymity(k=2); print(*sys.modules)").split()
    assert not [
        name for name in loaded if name.split(".")[0] == "polars" or name.startswith("privet.engines")
    ]


def test_the_public_list_is_exact() -> None:
    assert privet.__all__ == list(privet._HOME)
    assert privet.__all__ == sorted(privet.__all__, key=lambda name: (name[0].islower(), name))
    assert dir(privet) == sorted(privet.__all__)
    for name in privet.__all__:
        thing = getattr(privet, name)
        assert thing.__module__ == privet._HOME[name], name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = privet.nothing
    listed = [name.rpartition(".")[2] for _, name in imports(HOUSE / "__init__.py")]
    assert sorted(listed) == sorted(privet.__all__)


@pytest.mark.parametrize("name", privet.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    doc = getattr(privet, name).__doc__
    assert doc
    assert not doc.startswith(f"{name}("), "a docstring that nobody wrote"


@pytest.mark.parametrize(("here", "paths"), rooms().items(), ids=rooms())
def test_every_module_says_what_it_is(here: str, paths: list[Path]) -> None:
    # The verifier is one file on purpose, and handed out by kind of data: what is to be read for one is
    # bounded by tests/forge/test_verifier.py (a line a second is a quarter of an hour).
    most = 1_410 if here == "verifier" else 500
    for path in paths:
        assert said(path).doc, f"{path}: says nothing of itself"
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= most, f"{path}: what are its two ideas?"


def test_every_error_is_drawn_in_the_tree_and_has_its_own_code() -> None:
    from privet import errors

    family = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.PrivetError)]
    assert {c.__name__ for c in family} <= set(re.findall(r"\w+Error", errors.__doc__ or ""))
    assert len({c.code for c in family}) == len(family)


def test_every_registered_thing_is_there() -> None:
    from privet.registry import BUILT_IN, installed

    for kind, names in BUILT_IN.items():
        for name, target in names.items():
            module, _, attribute = target.partition(":")
            thing = getattr(importlib.import_module(module), attribute)
            assert thing.name == name
            assert installed(kind)[name].summary.endswith((".", ":", "s"))
