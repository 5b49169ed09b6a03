"""Siblings in documents: an order that is not that of what is published could tell whose is whose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.forge.every import TREES
from tests.forge.forging import changed, refused
from tests.forge.test_verifier import module

import privet as pv
from privet.roads.stations import SIBLINGS

K = '[[models]]\ntype = "document-k-anonymity"\nk = 2\n[algorithm]\ntype = "ctoff"\n'
L = '[[models]]\ntype = "document-l-diversity"\nl = 2\n[algorithm]\ntype = "ctoff"\n'
HALVES = '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[algorithm]\ntype = "tree-anatomy"\n'


def student(gpa: str, *courses: str) -> dict[str, Any]:
    return {"year": "1990", "gpa": gpa, "courses": [{"course": c[:2], "grade": c[2:]} for c in courses]}


DIFFERENT = [student(gpa, "c1A", "c2B") for gpa in "1234"]
DIVERSE = [student(gpa, f"c1{one}", f"c2{two}") for gpa, one, two in ("1AB", "2BA", "3AC", "4CD")]
ALIKE = [student("1", "c1A", "c1B"), student("2", "c1B", "c1A"), student("3", "c1A", "c1C")]
ALIKE += [student("4", "c1B", "c1D")]


def published(trees: list[dict[str, Any]], how: str, place: Path, top: str = "", form: str = "json") -> Path:
    policy = TREES.replace("policy = 1\n", f"policy = 1\n{top}") + how
    return pv.publish(trees, pv.Policy.loads(policy), output=form).write(place / "out")


def turned(text: str) -> str:
    """The same, with the children of the first record the other way round."""
    found = json.loads(text)
    first = next(one for one in found if len({json.dumps(c) for c in one["courses"]}) > 1)
    old = [json.dumps(course) for course in first["courses"]]
    return text.replace(", ".join(old), ", ".join(reversed(old)), 1)


@pytest.mark.parametrize(("trees", "how"), [(DIFFERENT, K), (DIVERSE, L), (ALIKE, K)], ids="dla")
def test_siblings_out_of_order_are_noticed(trees: Any, how: str, tmp_path: Path) -> None:
    out = published(trees, how, tmp_path)
    assert refused(out) == ()
    assert module().verdict(out)[0] == 0
    changed(out, "data.json", turned)
    assert any("order" in one for one in refused(out))
    code, lines = module().verdict(out)
    assert code == 1
    assert "order" in lines[-1]


def test_it_is_said_where_nobody_can_check_it(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    assert SIBLINGS not in pv.verify(published(DIVERSE, L, tmp_path / "more")).remarks
    assert SIBLINGS in pv.verify(published(ALIKE, L, tmp_path)).remarks


@pytest.mark.parametrize("style", ["t-t", "v-v"])
def test_halves_say_it_too(style: str, tmp_path: Path) -> None:
    out = published(ALIKE * 2, f'{HALVES}style = "{style}"\n', tmp_path)
    assert SIBLINGS in pv.verify(out).remarks


def test_kept_order_is_not_asked(tmp_path: Path) -> None:
    out = published(DIFFERENT, K, tmp_path, top='order = "kept"\n')
    changed(out, "data.json", turned)
    assert refused(out) == ()
    assert module().verdict(out)[0] == 0
    assert SIBLINGS not in pv.verify(out).remarks
