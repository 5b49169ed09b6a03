"""A package outside the repository, made of the how-to's own words: its model, its search, and an engine."""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import privet as pv
from privet.registry import installed

PAGE = Path(__file__).parent.parent / "docs" / "howto" / "write-a-plugin.md"
ENGINE = '''
from privet.engines.plain import Plain


class Counted(Plain):
    """Lists in pure Python that know how often they were counted."""

    name = "counted"
    times = 0

    def tally(self, table, policy):
        type(self).times += 1
        return super().tally(table, policy)
'''
POLICY = """
policy = 1
rows = "persons"
[attributes]
job = { role = "quasi" }
town = { role = "quasi" }
disease = { role = "sensitive" }
[[models]]
type = "distinct-values"
n = 2
sensitive = "disease"
[algorithm]
type = "all-or-nothing"
"""
ROWS = [
    ("Cook", "York", "Flu"),
    ("Cook", "Hull", "HIV"),
    ("Clerk", "York", "Flu"),
    ("Clerk", "Hull", "Asthma"),
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As an installer leaves it: modules, and beside them what says which names they bring."""
    page = PAGE.read_text(encoding="utf-8")
    code = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "@dataclass" in block]
    assert len(code) == 2, "a model and a search"
    points = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0].replace("[project.entry-points.", "[")
    points = re.sub(r'\["(.*)"\]', r"[\1]", points).replace('"', "")
    room = tmp_path / "site" / "hospital"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "models.py").write_text(code[0])
    (room / "search.py").write_text(f"{code[0].split('@dataclass')[0]}{code[1]}")
    (room / "engine.py").write_text(ENGINE)
    told = tmp_path / "site" / "hospital-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: hospital\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(f"{points}\n[privet.engines]\ncounted = hospital.engine:Counted\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "hospital"]:
        del sys.modules[name]


def test_a_package_outside_brings_a_model_a_search_and_an_engine(package: Path) -> None:
    for kind, name in [
        ("models", "distinct-values"),
        ("algorithms", "all-or-nothing"),
        ("engines", "counted"),
    ]:
        assert installed(kind)[name].plugin
    with (package / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("job", "town", "disease"), *ROWS])
    (package / "policy.toml").write_text(POLICY)
    pv.publish(package / "data.csv", package / "policy.toml", engine="counted").write(package / "out")
    assert sys.modules["hospital.engine"].Counted.times
    assert pv.verify(package / "out").holds
    assert pv.verify(package / "out", engine="counted").holds
    values = defaultdict(set)
    with (package / "out" / "data.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            values[row["job"], row["town"]].add(row["disease"])
    assert min(map(len, values.values())) >= 2, "counted once more, without privet"
    assert {job for job, _ in values} == {"Cook", "Clerk"}, "the first column is kept as it is"
    assert pv.Policy.load(package / "policy.toml").models[0].name == "distinct-values"
