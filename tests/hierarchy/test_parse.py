from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from privet.core import Hierarchy
from privet.errors import PolicyError
from privet.hierarchy import Auto, Dates, Flat, Intervals, Prefix, Tree, parse

TYPES = "type is one of csv, tree, intervals, prefix, dates, sets, flat, auto"
TREE = Tree.of({"ANY": {"A": ["x", "y"]}})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "intervals"}, Intervals()),
        ({"type": "intervals", "width": [5, 10, 20]}, Intervals(width=(5, 10, 20))),
        (
            {"type": "intervals", "width": 0.1, "origin": "0.05"},
            Intervals(width=(Decimal("0.1"),), origin=Decimal("0.05")),
        ),
        ({"type": "intervals", "edges": [0, 18, 65], "raw": False}, Intervals(edges=(0, 18, 65), raw=False)),
        ({"type": "intervals", "edges": [[0, 9, 18], [0, 18]]}, Intervals(edges=((0, 9, 18), (0, 18)))),
        ({"type": "intervals", "bottom": 18, "top": 90}, Intervals(bottom=18, top=90)),
        ({"type": "prefix", "keep": [3, 1]}, Prefix(keep=(3, 1))),
        ({"type": "prefix", "keep": 2}, Prefix(keep=(2,))),
        ({"type": "dates"}, Dates()),
        (
            {"type": "dates", "levels": ["year"], "format": "%d.%m.%Y"},
            Dates(levels=("year",), format="%d.%m.%Y"),
        ),
        ({"type": "flat"}, Flat()),
        ({"type": "auto"}, Auto()),
        ({"type": "tree", "tree": {"ANY": {"A": ["x", "y"]}}}, TREE),
    ],
    ids=str,
)
def test_forms(spec: dict[str, object], expected: Hierarchy) -> None:
    assert parse(spec, base=Path()) == expected


def test_paths_start_from_the_policy(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;A;ANY\ny;A;ANY\n")
    (tmp_path / "a.json").write_text('{"ANY": {"A": ["x", "y"]}}')
    (tmp_path / "a.toml").write_text('ANY = {A = ["x", "y"]}')
    assert parse({"type": "csv", "path": "a.csv"}, base=tmp_path) == TREE
    assert parse({"type": "tree", "path": "a.json"}, base=tmp_path) == TREE
    assert parse({"type": "tree", "path": "a.toml"}, base=tmp_path) == TREE
    assert parse({"type": "csv", "path": str(tmp_path / "a.csv")}, base=Path("/nowhere")) == TREE


@pytest.mark.parametrize(
    ("spec", "complaints"),
    [
        ({}, [f"{TYPES}, not None"]),
        ({"type": "interval"}, [f"{TYPES}, not 'interval'; did you mean intervals?"]),
        ({"type": ["flat"]}, [f"{TYPES}, not ['flat']"]),
        ({"type": "flat", "keep": 3}, ["keep: unknown key; remove it"]),
        (
            {"type": "intervals", "widht": 5, "low": "x", "edges": [2, 1], "colour": 1},
            [
                "widht: unknown key; did you mean width?",
                (
                    "colour: unknown key; "
                    "known are width, edges, origin, low, high, step, unit, bottom, top, raw, null"
                ),
                "low: a number, not 'x'",
                "edges: at least two, in ascending order",
            ],
        ),
        (
            {"type": "intervals", "width": [True], "raw": 1},
            ["width: a number, not True", "raw: true or false, not 1"],
        ),
        ({"type": "intervals", "high": float("inf")}, ["high: a number, not inf"]),
        ({"type": "prefix"}, ["keep: lengths of prefixes, longest first, each at least 1, as in [3, 1]"]),
        ({"type": "prefix", "keep": [1.5]}, ["keep: integers, as in [3, 1], not [1.5]"]),
        (
            {"type": "dates", "levels": ["week"], "format": 3},
            [
                "format: text, not 3",
                "levels: each is one of day, month, quarter, year, decade, not 'week'",
            ],
        ),
        ({"type": "csv"}, ["path: give a file with one row for each leaf, as in leaf;parent;*"]),
        (
            {"type": "csv", "path": "none.csv"},
            ["path: none.csv: the hierarchy file cannot be read (No such file or directory)"],
        ),
        ({"type": "tree"}, ["tree, path: give one of them"]),
        ({"type": "tree", "path": "a.yaml"}, ["path: a file that ends in .json, .toml, .csv, not 'a.yaml'"]),
        (
            {"type": "tree", "tree": {"A": [], "B": []}},
            ["a tree has one root, a mapping with one key, not 2"],
        ),
    ],
    ids=str,
)
def test_every_complaint_with_its_place(
    spec: dict[str, object], complaints: list[str], tmp_path: Path
) -> None:
    with pytest.raises(PolicyError) as raised:
        parse(spec, base=tmp_path)
    assert list(raised.value.complaints) == complaints
