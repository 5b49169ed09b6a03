"""Labels tell only what the promise covers: no lists of what the data holds, no end at the largest record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.cli import main
from privet.core import Column, Hierarchy
from privet.domain import BETWEEN
from privet.hierarchy import Dates, Flat, Intervals, Prefix, draft, parse
from privet.relational.coincident import _boxes
from privet.relational.ranges import FEW, labelled
from privet.relational.reuse_boxes import _stands_for

DAYS = [(date(2019, 1, 1) + timedelta(days=at)).isoformat() for at in range(0, 1500, 3)]
CODES = [f"{at * 37 % 90000 + 10000}" for at in range(400)]
PUBLIC = 'age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120 } }'
UNSAID = 'age = { role = "quasi", hierarchy = { type = "intervals" } }'


def policy(algorithm: str, *columns: str, model: str = 'type = "k-anonymity"\nk = 5') -> pv.Policy:
    return pv.Policy.loads(
        "policy = 1\n[attributes]\n"
        + "\n".join(columns)
        + f"\n[[models]]\n{model}\n[algorithm]\n{algorithm}\n"
    )


def table(rows: int = 600) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "born": [DAYS[at * 7 % len(DAYS)] for at in range(rows)],
            "code": [CODES[at * 11 % len(CODES)] for at in range(rows)],
            "ill": ["abc"[at % 3] for at in range(rows)],
        }
    )


BORN = 'born = { role = "quasi", hierarchy = { type = "dates", levels = ["month", "year"] } }'


@pytest.mark.one_in(2)
@pytest.mark.parametrize("search", ["mondrian", "coincident", "auto"])
@pytest.mark.parametrize("how", ['"flat"', '"prefix", keep = [3, 1]'])
def test_no_label_lists_what_the_data_holds(search: str, how: str, tmp_path: Path) -> None:
    code = f'code = {{ role = "quasi", hierarchy = {{ type = {how} }} }}'
    model = 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]'
    wanted = policy(f'type = "{search}"', BORN, code, 'ill = { role = "sensitive" }', model=model)
    folder = pv.publish(table(), wanted).write(tmp_path / "out")
    table().write_csv(tmp_path / "raw.csv")
    data = pl.read_csv(folder / "data.csv", infer_schema=False)
    for name in ("born", "code"):
        labels = data.get_column(name).unique().to_list()
        assert all(label.count(",") < FEW for label in labels)
    assert (folder / "data.csv").stat().st_size < 8 * (tmp_path / "raw.csv").stat().st_size
    ends = [end for label in data.get_column("born").unique().to_list() for end in label.split(BETWEEN)]
    assert all(len(end) in {1, 4, 7} or end in DAYS for end in ends)
    wide = [label for label in data.get_column("born").unique().to_list() if BETWEEN in label]
    assert all(len(end) == 7 for label in wide for end in label.split(BETWEEN))  # months, which are public


BRANCHES = {f"g{group}": [f"g{group}v{at}" for at in range(9)] for group in range(8)}
TREE = parse({"type": "tree", "tree": {"any": BRANCHES}}, base=Path())
HIERARCHIES: dict[str, tuple[Hierarchy, Sequence[str]]] = {
    "dates": (Dates(levels=("month", "year")), DAYS),
    "weeks": (Dates(levels=("month", "year"), step="week"), DAYS),
    "prefix": (Prefix(keep=(3, 1)), sorted(CODES)),
    "flat": (Flat(), [f"v{at:03}" for at in range(60)]),
    "tree": (TREE, [f"g{group}v{at}" for group in range(8) for at in range(9)]),
    "widths": (Intervals(width=(5, 20)), [str(at) for at in range(0, 300, 3)]),
    "edges": (Intervals(edges=(0, 18, 65, 400)), [str(at) for at in range(0, 300, 3)]),
    "top": (Intervals(width=(10,), top=90), [str(at) for at in range(120)]),
    "step": (Intervals(step=10), [str(at) for at in range(3, 120)]),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", HIERARCHIES)
@given(data=st.data())
def test_a_range_covers_its_values_and_names_few(kind: str, data: st.DataObject) -> None:
    hierarchy, values = HIERARCHIES[kind]
    some = data.draw(st.lists(st.sampled_from(values), min_size=2, unique=True, max_size=40))
    if data.draw(st.booleans()):
        some = [*some, None]  # type: ignore[list-item]
    domain = hierarchy.domain(some)
    low = data.draw(st.integers(0, domain.size - 1))
    high = data.draw(st.integers(low, domain.size - 1))
    node = labelled(domain, low, high)
    assert node.lo <= low <= high < node.hi
    if node.label is not None:
        assert node.label.count(", ") < FEW
    if node.interval is not None and domain.scale is not None:
        numbers = domain.scale.numbers[low : high + 1]
        assert all(node.interval[0] <= number < node.interval[1] for number in numbers)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["dates", "weeks", "prefix", "widths", "edges", "step"])
@given(data=st.data())
def test_a_label_does_not_tell_what_nobody_has(kind: str, data: st.DataObject) -> None:
    """Values between the ends may come or go: the label stays."""
    hierarchy, values = HIERARCHIES[kind]
    at = sorted(data.draw(st.lists(st.integers(0, len(values) - 1), min_size=4, max_size=30, unique=True)))
    order = [values[one] for one in at]
    full, gone = (
        hierarchy.domain([*values]),
        hierarchy.domain([*values[: at[0] + 1], order[0], order[-1], *values[at[-1] :]]),
    )
    first = labelled(full, full.codes[order[0]], full.codes[order[-1]])
    other = labelled(gone, gone.codes[order[0]], gone.codes[order[-1]])
    assert first.label == other.label


def test_who_is_withheld_is_not_named_in_a_label() -> None:
    domain = Flat().domain(["a", "b", "c", "d"])
    column = Column("x", domain, domain.column(np.array([0, 2, 0, 2])))
    nodes, _ = _boxes(column, np.array([0, 2, 0, 2]), np.array([0, 0, 1, 1]), 2)
    assert {node.label for node in nodes} == {"{a, c}"}  # b is in between, and only somebody withheld has it


@pytest.mark.parametrize(
    "search", ['type = "optimal"\nsuppression = "1/10"', 'type = "samarati"\nsuppression = "1/10"']
)
def test_labels_do_not_end_at_a_suppressed_record(search: str, tmp_path: Path) -> None:
    made = []
    for oldest in (91, 97):
        ages = [30 + at % 4 for at in range(60)] + [oldest]
        frame = pl.DataFrame({"age": ages, "ill": ["a"] * 61})
        wanted = policy(search, UNSAID, 'ill = { role = "other" }')
        folder = pv.publish(frame, wanted).write(tmp_path / str(oldest))
        made.append((folder / "data.csv").read_bytes())
        assert str(oldest + 1).encode() not in made[-1]
    assert made[0] == made[1]


@pytest.mark.parametrize("search", ["top-down", "mondrian", "optimal"])
def test_ends_that_come_from_the_data_are_a_caution_everywhere(
    search: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pl.DataFrame(
        {"age": [20 + at % 37 for at in range(80)], "ill": ["ab"[at % 2] for at in range(80)]}
    )
    frame.write_csv(tmp_path / "raw.csv")
    for column, said in ((UNSAID, True), (PUBLIC, search != "optimal")):
        text = policy(
            f'type = "{search}"', column, 'ill = { role = "other" }', model='type = "k-anonymity"\nk = 30'
        )
        (tmp_path / "policy.toml").write_text(text.dumps(), encoding="utf-8")
        out = tmp_path / f"out{said}{column == PUBLIC}"
        assert (
            main(["publish", str(tmp_path / "raw.csv"), str(tmp_path / "policy.toml"), "-o", str(out)]) == 0
        )
        evidence = json.loads((out / "evidence.json").read_text(encoding="utf-8"))
        cautions = [one for one in evidence["cautions"] if one.startswith("age: ")]
        assert bool(cautions) == said
        screen = " ".join(capsys.readouterr().err.split())
        assert all(one in screen for one in cautions)
        assert all(one in (out / "report.html").read_text(encoding="utf-8") for one in cautions)


def test_a_step_rounds_ranges_outward() -> None:
    frame = pl.DataFrame({"age": [20 + at * 3 % 61 for at in range(90)], "ill": ["a"] * 90})
    column = 'age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 100, step = 5 } }'
    wanted = policy('type = "mondrian"', column, 'ill = { role = "other" }')
    release = pv.publish(frame, wanted)
    for label in release.to_polars().get_column("age").unique().to_list():
        low, high = label.strip("[)").split("-")
        assert int(low) % 5 == int(high) % 5 == 0
    assert not [one for one in release.evidence["cautions"] if one.startswith("age: ")]
    again = pv.Policy.loads(wanted.dumps())
    assert again == wanted


def test_ranges_of_dates_and_codes_are_read_again_on_the_next_batch() -> None:
    for kind, values in (("dates", DAYS), ("weeks", DAYS), ("prefix", sorted(CODES))):
        domain = HIERARCHIES[kind][0].domain(values)
        for low, high in ((3, 90), (40, 200), (0, 350)):
            node = labelled(domain, low, high)
            mask = _stands_for(domain, node.label, None)
            assert mask.tolist() == [node.lo <= code < node.hi for code in range(domain.size)]


def test_drafted_intervals_have_public_bounds(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [17 + at % 70 for at in range(200)],
            "pay": [1000 + at * 613 % 88_000 for at in range(200)],
            "change": [-(at % 40) / 10 for at in range(200)],
            "ill": ["ab"[at % 2] for at in range(200)],
        }
    )
    frame.write_csv(tmp_path / "raw.csv")
    assert main(["init", str(tmp_path / "raw.csv"), "-o", str(tmp_path / "draft.toml")]) == 0
    text = (tmp_path / "draft.toml").read_text(encoding="utf-8")
    intervals = [line for line in text.splitlines() if '"intervals"' in line]
    assert intervals
    assert all("low = " in line and "high = " in line for line in intervals)
    assert "17" not in "".join(intervals)
    assert "86" not in "".join(intervals)


def test_what_is_guessed_at_run_time_is_rounded() -> None:
    domain: Any = draft(["17", "90"]).domain(["17", "90"])
    assert domain.root.label == "[10-100)"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("search", ["optimal", "samarati", "incognito"])
@pytest.mark.parametrize("column", [UNSAID, PUBLIC])
def test_a_suppressed_record_shapes_no_label(search: str, column: str) -> None:
    """The record of nobody's sex is dropped, whatever its age: nothing of the age is left."""
    seen = set()
    for oldest in ("59.25", "61", "77", "119"):
        ages = [str(30 + at % 29) for at in range(120)]
        frame = pl.DataFrame({"age": [*ages, oldest], "sex": [*("mf"[at % 2] for at in range(120)), "x"]})
        wanted = policy(
            f'type = "{search}"\nsuppression = "1/100"\nlevels = {{ sex = 0 }}',
            column,
            'sex = { role = "quasi" }',
        )
        release = pv.publish(frame, wanted)
        assert release.evidence["suppressed_records"] == 1
        labels = release.to_polars().get_column("age").unique().to_list()
        assert not any(end in label for label in labels for end in (".", "61", "77", "119"))
        lost = release.evidence["measures"]["loss"]
        seen.add((tuple(release.to_polars().rows()), json.dumps(lost.get("ncp")), json.dumps(lost.get("lm"))))
    assert len(seen) == 1


@given(
    st.lists(st.integers(0, 900), min_size=12, max_size=40), st.integers(0, 2_000_000), st.integers(0, 900)
)
def test_what_is_dropped_could_have_been_anything(ages: list[int], one: int, other: int) -> None:
    """Whatever the age of the only record with its sex: the ends of intervals are drawn from the others."""
    made = []
    for oldest in (one, other):
        frame = pl.DataFrame({"age": [*ages, oldest], "sex": [*("m" for _ in ages), "x"]})
        top = 'type = "optimal"\nsuppression = "1/10"\nlevels = { sex = 0 }'
        try:
            made.append(
                pv.publish(
                    frame,
                    policy(top, UNSAID, 'sex = { role = "quasi" }', model='type = "k-anonymity"\nk = 3'),
                )
            )
        except pv.UnsatisfiableError:
            return
    for release in made:
        ends = [
            int(end)
            for label in release.to_polars().get_column("age").unique().to_list()
            for end in str(label).strip("[)").split("-")
        ]
        assert max(ends) <= 1000  # the power of ten above the others


@pytest.mark.parametrize("search", ["mondrian", "coincident", "auto"])
def test_ranges_between_widths_are_a_caution_that_verify_expects(search: str, tmp_path: Path) -> None:
    ages = [25 + at % 20 for at in range(60)] + [987_654]
    frame = pl.DataFrame({"age": ages, "ill": ["ab"[at % 2] for at in range(61)]})
    wide = 'age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10] } }'
    coded = wide.replace("[5, 10]", "[5, 10], bottom = 20, top = 45")
    edges = 'age = { role = "quasi", hierarchy = { type = "intervals", edges = [0, 30, 40, 1000000] } }'
    for at, (column, told) in enumerate(((wide, True), (coded, False), (edges, False))):
        wanted = policy(f'type = "{search}"', column, 'ill = { role = "other" }')
        folder = pv.publish(frame, wanted).write(tmp_path / f"{search}{at}")
        evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
        cautions = [one for one in evidence["cautions"] if one.startswith("age: ")]
        assert bool(cautions) == told
        assert pv.verify(folder).holds
        if told:
            evidence["cautions"] = [one for one in evidence["cautions"] if one not in cautions]
            (folder / "evidence.json").write_text(
                json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
            assert any("cautions: is not said" in one for one in pv.verify(folder).complaints)
