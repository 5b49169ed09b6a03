"""Sets on the road: both promises at once, shares, searches without an end, forged numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.roads.test_transactions import HIDE, KNOWN, TREE, as_text, policy, published, records, reseal
from tests.rules import naive
from tests.tries import seldom

import privet as pv
from privet.errors import HierarchyError, InputError, PolicyError, UnsupportedError
from privet.roads.transactions import check


def written(path: Path, rows: list[naive.Record]) -> Path:
    path.write_text("".join(",".join(sorted(one)) + "\n" for one in rows), encoding="utf-8")
    return path


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", seldom(range(25), range(6)))
@pytest.mark.parametrize("tree", ["", TREE])
def test_rules_are_hidden_and_items_known_of_in_one_release(seed: int, tree: str, tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", records(seed))
    folder = pv.publish(raw, policy(f'form = "baskets"\n{tree}', HIDE + KNOWN)).write(tmp_path / "out")
    verdict = pv.verify(folder)
    assert verdict.holds, verdict.complaints
    left = published(folder)
    assert len(left) == 60
    assert all(many >= 9 for many in naive.known(left, 2).values())
    both, before = naive.support(left, "ab"), naive.support(left, "a")
    assert both < 5 or 2 * both < before
    said = json.loads((folder / "evidence.json").read_text())
    assert len(said["promises"]) == 2
    assert ("effects" in said["sets"]) == (not tree or all(one <= set("abcdef") for one in left))


@pytest.mark.parametrize(
    ("shares", "fine"), [("99%", True), ("100%", False), ("200%", False), ("1/2", True), ("1", True)]
)
def test_a_share_is_a_share(shares: str, fine: bool, tmp_path: Path) -> None:
    """100% was read as one record, and hid what nobody minded; 200% as two."""
    promise = f'[[hide]]\nitemset = ["a"]\nsupport = "{shares}"\n'
    if not fine:
        with pytest.raises(PolicyError, match="a share is below 100%"):
            policy('form = "baskets"', promise)
        with pytest.raises(PolicyError, match="a share is below 100%"):
            policy(f'form = "baskets"\nsupport = "{shares}"', HIDE)
        return
    found = policy('form = "baskets"', promise)
    raw = written(tmp_path / "raw.csv", records())
    least = {"99%": 60, "1/2": 30, "1": 1}[shares]
    ((_, verdict),) = pv.check(raw, found)
    assert verdict.holds == (naive.support(records(), "a") < least)


def test_a_broken_rule_is_complained_of_once() -> None:
    with pytest.raises(PolicyError) as caught:
        policy('form = "baskets"', '[[hide]]\nitemset = ["a"]\nsupport = "200%"\n')
    assert len(caught.value.complaints) == 1


def test_a_search_without_end_is_refused_before_it_begins(tmp_path: Path) -> None:
    """Two records of the same 60 items, m = 30: 10**17 itemsets. It went on for ever, and heard no signal."""
    raw = written(tmp_path / "raw.csv", [frozenset(f"i{at}" for at in range(60))] * 2)
    promise = '[[models]]\ntype = "km-anonymity"\nm = 30\nk = 2\n'
    for tree in ("", 'hierarchy = { type = "prefix", keep = [1] }\n'):
        begun = time.process_time()
        with pytest.raises(
            UnsupportedError, match=r"promise a smaller m \((\d+) is possible here\)"
        ) as caught:
            pv.publish(raw, policy(f'form = "baskets"\n{tree}', promise))
        assert time.process_time() - begun < 30
        assert "e+" in str(caught.value)
    assert list(tmp_path.iterdir()) == [raw]


def test_the_m_that_is_named_is_the_largest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", [frozenset("abcdef")] * 3 + [frozenset("ab")] * 2)
    monkeypatch.setattr(check, "MOST", 3 * (6 + 15 + 20) + 2 * 3)  # itemsets of up to three items
    found = pv.publish(raw, policy('form = "baskets"', KNOWN.replace("m = 2", "m = 3").replace("9", "2")))
    assert found.evidence.records == 5
    with pytest.raises(UnsupportedError, match=r"\(3 is possible here\)"):
        pv.publish(raw, policy('form = "baskets"', KNOWN.replace("m = 2", "m = 5").replace("9", "2")))


def test_items_that_are_rare_by_themselves_do_not_make_a_search_endless(tmp_path: Path) -> None:
    rows = [frozenset({"a", "b"})] * 5 + [frozenset(f"i{at}" for at in range(200))]
    raw = written(tmp_path / "raw.csv", rows)
    found = pv.publish(raw, policy('form = "baskets"', KNOWN.replace("m = 2", "m = 20").replace("9", "3")))
    assert found.evidence["sets"]["suppressed"] == 200


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals of Unix")
def test_a_loop_in_c_hears_a_signal(tmp_path: Path) -> None:
    """Whoever stops privet is heard within a second, also where it counts in C."""
    program = tmp_path / "long.py"
    program.write_text(
        "import signal, sys\n"
        "from privet.rules.baskets import Baskets\n"
        "from privet.rules.rare import rare\n"
        "def stop(*_): raise SystemExit(7)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "from privet import native\n"
        "assert native.library() is not None\n"
        "print('ready', flush=True)\n"
        "rare(Baskets.of([[str(i) for i in range(60)]] * 2), 30, 2)\n"
    )
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, env=dict(os.environ)
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        run.terminate()
        try:
            assert run.wait(300) == 7
        finally:
            run.kill()


def lies() -> dict[str, Callable[[dict[str, Any]], None]]:
    def changed(*path: str, by: float) -> Callable[[dict[str, Any]], None]:
        def change(evidence: dict[str, Any]) -> None:
            part = evidence["sets"]
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] += by

        return change

    return {
        "loss": changed("loss", by=-0.01),
        "suppressed": changed("suppressed", by=1),
        "before.cells": changed("before", "cells", by=3),
        "before.records": changed("before", "records", by=1),
        "effects.failures": changed("effects", "failures", by=1),
        "effects.cells": changed("effects", "cells", by=-1),
        "effects.removed": changed("effects", "removed", by=1),
    }


@pytest.mark.parametrize("lie", list(lies()))
def test_numbers_that_do_not_add_up_are_found(lie: str, tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", records())
    folder = pv.publish(raw, policy('form = "baskets"', HIDE)).write(tmp_path / "out")
    assert pv.verify(folder).holds
    reseal(folder, lies()[lie])
    found = pv.verify(folder)
    assert not found.holds
    assert any(one.startswith("sets: ") for one in found.complaints)


def test_a_loss_of_generalised_items_is_within_its_bounds(tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", records())
    folder = pv.publish(raw, policy(f'form = "baskets"\n{TREE}', KNOWN)).write(tmp_path / "out")
    assert pv.verify(folder).holds
    reseal(folder, lambda evidence: evidence["sets"].update(loss=-0.5))
    assert not pv.verify(folder).holds


@pytest.mark.parametrize(("old", "new"), [("a;b", "a;b;b"), ("a;b", "a;b;"), ("a;b", "b;a"), ("a;b", "a; b")])
def test_a_set_that_is_written_otherwise_is_found(old: str, new: str, tmp_path: Path) -> None:
    """A recipient who counts separators would count something else than was promised."""
    rows = [frozenset("ab")] * 30 + [frozenset("b")] * 30
    raw = as_text(rows, tmp_path)
    shape = 'form = "column"\nset = "items"'
    folder = pv.publish(raw, policy(shape, KNOWN)).write(tmp_path / "out")
    assert pv.verify(folder).holds
    data = folder / "data.csv"
    text = data.read_text()
    assert old in text
    data.write_text(text.replace(old, new, 1))
    reseal(folder)
    found = pv.verify(folder)
    assert not found.holds
    assert any("not written as publishing writes them" in one for one in found.complaints)


@pytest.mark.parametrize("change", ["b,a\n", "a,b,b\n", "a,b,\n", "a, b\n"])
def test_a_line_that_is_written_otherwise_is_found(change: str, tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", [frozenset("ab")] * 30 + [frozenset("b")] * 30)
    folder = pv.publish(raw, policy('form = "baskets"', KNOWN)).write(tmp_path / "out")
    data = folder / "data.basket"
    data.write_text(data.read_text().replace("a,b\n", change, 1))
    reseal(folder)
    assert not pv.verify(folder).holds


def test_a_row_that_stands_twice_is_found(tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("who,item\n" + "".join(f"{who},{item}\n" for who in range(20) for item in "ab"))
    folder = pv.publish(raw, policy('form = "items"\nperson = "who"\nitem = "item"', KNOWN)).write(
        tmp_path / "out"
    )
    assert pv.verify(folder).holds
    data = folder / "data.csv"
    rows = data.read_text().splitlines()
    data.write_text("\n".join([*rows, rows[-1]]) + "\n")
    reseal(folder)
    assert not pv.verify(folder).holds


def test_blanks_around_a_person_make_nobody_another(tmp_path: Path) -> None:
    """' 1' and '1' were two people, each with half of the items."""
    raw = tmp_path / "raw.csv"
    raw.write_text("who,item\n1,a\n 1,b\n2,a\n2 ,b\n")
    shape = 'form = "items"\nperson = "who"\nitem = "item"'
    found = pv.publish(raw, policy(shape, KNOWN.replace("9", "2")))
    assert found.evidence.records == 2
    assert sorted(found.to_polars().get_column("item").to_list()) == ["a", "a", "b", "b"]
    raw.write_text("who,item\n1,a\n ,b\n")
    with pytest.raises(InputError, match="every row says whose item it is"):
        pv.publish(raw, policy(shape, KNOWN.replace("9", "1")))


def test_blanks_around_a_label_of_the_tree_are_refused(tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", [frozenset("ab")] * 10)
    tree = 'hierarchy = { type = "tree", tree = { all = { "left " = ["a", "b"] } } }\n'
    with pytest.raises(HierarchyError, match="blanks around it"):
        pv.publish(raw, policy(f'form = "baskets"\n{tree}', KNOWN))


def test_exact_hiding_without_a_solver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    raw = written(tmp_path / "raw.csv", records())
    with pytest.raises(pv.errors.MissingExtraError, match=r"privet\[rules\]"):
        pv.publish(raw, policy('form = "baskets"', HIDE, 'type = "hide-exact"'))


def test_lists_are_compared_too(tmp_path: Path) -> None:
    raw = tmp_path / "raw.parquet"
    pl.DataFrame({"items": [["a", "b"]] * 20}).write_parquet(raw)
    folder = pv.publish(raw, policy('form = "column"\nset = "items"', KNOWN)).write(tmp_path / "out")
    assert pv.verify(folder).holds
    data = folder / "data.parquet"
    pl.DataFrame({"items": [["a", "b", "b"], *([["a", "b"]] * 19)]}).write_parquet(data)
    reseal(folder)
    assert not pv.verify(folder).holds


SPELT = [["7.0", "b"], ["7", "b"], ["7e0", "b"], ["c"]]
LAYOUTS = {
    "baskets": 'form = "baskets"',
    "column": 'form = "column"\nset = "what"',
    "items": 'form = "items"\nperson = "who"\nitem = "what"',
}


def laid_out(path: Path, form: str, sets: list[list[str]]) -> Path:
    if form == "items":
        lines = ["who,what", *(f"{who},{item}" for who, one in enumerate(sets) for item in one)]
    elif form == "column":
        lines = ["what", *map(";".join, sets)]
    else:
        lines = list(map(",".join, sets))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", list(LAYOUTS))
@pytest.mark.parametrize("rule", ["7", "7.00"])
def test_equal_items_are_one_item(form: str, rule: str, tmp_path: Path) -> None:
    """A rule about 7 was evaded by 7.0: three records that have it left as "support = 1, holds"."""
    raw = laid_out(tmp_path / "raw.csv", form, SPELT)
    promise = f'[[hide]]\nantecedent = ["{rule}"]\nconsequent = ["b"]\nsupport = 2\nconfidence = "1/2"\n'
    said = policy(LAYOUTS[form], promise)
    for engine in ("embedded", "plain"):
        ((_, before),) = pv.check(raw, said, engine=engine)
        assert before.achieved["support"] == 3
        assert not before.holds
    folder = pv.publish(raw, said).write(tmp_path / "out")
    for engine in ("embedded", "plain"):
        assert pv.verify(folder, engine=engine).holds
    text = next(folder.glob("data.*")).read_text()
    assert "7.0" not in text
    assert "7e0" not in text


@pytest.mark.parametrize("form", list(LAYOUTS))
def test_known_items_are_counted_in_every_spelling(form: str, tmp_path: Path) -> None:
    raw = laid_out(tmp_path / "raw.csv", form, [["7.0", "7"], ["7"], ["7e0"], ["7.0"]])
    tree = '\nhierarchy = { type = "tree", tree = { all = { some = ["7.000"], others = ["8"] } } }\n'
    for shape in (LAYOUTS[form], LAYOUTS[form] + tree):
        promise = KNOWN.replace("9", "4")
        found = pv.publish(raw, policy(shape, promise))
        assert (found.evidence["sets"]["before"]["cells"], found.evidence["sets"]["suppressed"]) == (4, 0)


@pytest.mark.parametrize("form", list(LAYOUTS))
def test_equal_items_in_two_spellings_are_found_in_a_release(form: str, tmp_path: Path) -> None:
    """How it is written would tell records apart that are promised to look alike."""
    raw = laid_out(tmp_path / "raw.csv", form, [["7", "b"]] * 20)
    folder = pv.publish(raw, policy(LAYOUTS[form], KNOWN)).write(tmp_path / "out")
    assert pv.verify(folder).holds
    data = next(folder.glob("data.*"))
    lines = data.read_text().splitlines()
    at = max(at for at, line in enumerate(lines) if "7" in line.split(",")[-1] or line.startswith("7,"))
    lines[at] = "7.0".join(lines[at].rsplit("7", 1))
    data.write_text("\n".join(lines) + "\n")
    reseal(folder)
    found = pv.verify(folder)
    assert not found.holds
    assert any("equal items in two spellings" in one for one in found.complaints)


def test_a_rule_names_an_item_once() -> None:
    with pytest.raises(PolicyError, match="stands in it twice"):
        policy('form = "baskets"', '[[hide]]\nitemset = ["7", "7.0"]\nsupport = 2\n')


def test_a_node_above_items_is_equal_to_none_of_them(tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", [frozenset("78")] * 10)
    tree = 'hierarchy = { type = "tree", tree = { all = { "7.0" = ["7", "8"] } } }\n'
    with pytest.raises(HierarchyError, match="equal"):
        pv.publish(raw, policy(f'form = "baskets"\n{tree}', KNOWN))
