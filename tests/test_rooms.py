"""The house: who may import whom, what `import privet` loads, and what is public."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import privet

HOUSE = Path(privet.__file__).parent

# DESIGN.md, section 6: each room may import from those above it, and rooms on one line from each other.
FLOORS = [
    {"errors", "notebook"},
    {"domain"},
    {"core", "declared"},  # the nouns, and what promises and algorithms declare
    {"witness"},  # what is chained, and who saw how far it had come
    {"blocks", "native"},  # counting, without a noun of ours but the arrays
    {"hierarchy", "models", "engines", "measure", "disguise", "samples"},
    {"counts"},  # what searches ask of data; no search, no engine
    {"relational", "trajectory", "document", "dp", "collect", "rules"},
    {"disclose", "parties"},
    {
        "policy",
        "evidence",
        "registry",
        "report",
        "roads",
        "release",
        "verification",
        "assess",
        "publishing",
        "exploration",
        "testing",
    },
    {"cli", "node", "studio"},
]
FLOOR = {room: at for at, rooms in enumerate(FLOORS) for room in rooms}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything of ours that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_arrows(path: Path) -> None:
    here = room_of(path)
    assert here in FLOOR, f"{here} has no place in DESIGN.md, section 6"
    wrong = [
        f"line {line}: {name}" for line, name in imports(path) if FLOOR[name.split(".")[1]] > FLOOR[here]
    ]
    assert not wrong, f"{here} is below what it imports"


def test_no_algorithm_imports_an_engine() -> None:
    for room in ("relational", "models", "hierarchy", "measure", "counts", "dp"):
        for path in (HOUSE / room).rglob("*.py"):
            libraries = re.findall(
                r"^\s*(?:import|from) (polars|pandas|pyarrow|duckdb)\b", path.read_text(), re.MULTILINE
            )
            assert not libraries, path
            assert not [name for _, name in imports(path) if name.startswith("privet.engines")], path


# What asks questions of data, and the only modules of `counts` through which it may: all others answer.
ASKERS = {
    "relational": (
        "specialize", "topdown", "boxes", "mondrian", "fulldomain", "optimal", "samarati", "incognito",
        "judge", "objective", "lattice", "infeasible",
    ),
    "dp": ("diffgen", "splitting", "setsplit", "leaves"),
}  # fmt: skip
DOOR = ("privet.counts.door.", "privet.counts.live.", "privet.counts.memory.counted")


def test_no_search_reaches_behind_the_door() -> None:
    for room, names in ASKERS.items():
        for name in names:
            path = HOUSE / room / f"{name}.py"
            behind = [n for _, n in imports(path) if n.startswith("privet.counts") and not n.startswith(DOOR)]
            assert not behind, path
    for path in (HOUSE / "counts").rglob("*.py"):
        searches = ("privet.relational", "privet.dp", "privet.engines")
        assert not [name for _, name in imports(path) if name.startswith(searches)], path


def test_no_road_imports_an_engine_or_asks_its_name() -> None:
    for path in (HOUSE / "roads").rglob("*.py"):
        engines = ("privet.engines.embedded", "privet.engines.plain", "privet.engines.spark")
        assert not [name for _, name in imports(path) if name.startswith(engines)], path
        assert not re.search(r"engine\.name\s*[!=]=", path.read_text(encoding="utf-8")), path


def test_the_check_and_the_search_share_no_counting() -> None:
    """What a search believed is checked again with code that it does not use."""
    for path in (*(HOUSE / "relational").rglob("*.py"), *(HOUSE / "counts").rglob("*.py")):
        assert not [name for _, name in imports(path) if name.startswith("privet.models.groups")], path
    for path in (HOUSE / "models").rglob("*.py"):
        searches = ("privet.relational", "privet.counts")
        assert not [name for _, name in imports(path) if name.startswith(searches)], path


def test_plain_does_without_polars() -> None:
    code = "import sys, privet.engines.plain; print('polars' in sys.modules)"
    assert run(code) == "False"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
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


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, "what are its two ideas?"


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
