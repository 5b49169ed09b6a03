"""The compiled loops: built by whatever compiler there is, and never missed."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privet import native
from privet.blocks import dealt, unions
from privet.native import __main__ as command
from privet.native import build, signatures


def needs_loops() -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")


def test_building_says_what_happened() -> None:
    done = subprocess.run([sys.executable, "-m", "privet.native"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("privet.native: ")
    assert done.stdout.count("\n") == 1


def test_without_a_compiler_everything_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "place", lambda: tmp_path / "_loops-none.so")
    monkeypatch.setattr(build, "compilers", lambda: iter(()))
    assert command.main() == 0
    assert "slower" in capsys.readouterr().out


def test_a_compiler_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "place", lambda: tmp_path / "_loops-none.so")
    monkeypatch.setattr(build, "compilers", lambda: iter([[sys.executable, "-c", "raise SystemExit(1)"]]))
    assert build.build() is None
    assert not list(tmp_path.iterdir())


def test_changed_sources_are_another_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = build.place()
    changed = tmp_path / "loop.c"
    changed.write_text("int changed;")
    monkeypatch.setattr(build, "SOURCES", (changed,))
    assert build.place() != before


def test_a_broken_library_is_not_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(native, "place", lambda: broken)
    assert native.library.__wrapped__() is None


def good() -> dict[str, Any]:
    """Arguments of `privet_mdav_groups` as it takes them."""
    return {"points": np.zeros((4, 2)), "n": 4, "d": 2, "k": 2, "group_of": np.zeros(4, dtype=np.int64)}


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"points": np.zeros((4, 2), dtype=np.float32)}, "points is an array of float64, not one of float32"),
        ({"points": np.zeros((4, 4))[:, 1:3]}, "points is not contiguous"),
        ({"points": 3}, "points is an array of float64, not int"),
        ({"points": [np.zeros(4)]}, "points is an array of float64, not list"),
        ({"n": 4.0}, "n is a whole number of 64 bits, not float"),
        ({"n": 2**63}, "n is a whole number of 64 bits"),
        ({"group_of": np.zeros(4, dtype=np.int32)}, "group_of is an array of int64, not one of int32"),
        ({"group_of": frozen(np.zeros(4, dtype=np.int64))}, "group_of is written to"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_not_as_declared_is_an_error_never_another_answer(
    changed: dict[str, Any], complaint: str
) -> None:
    needs_loops()
    assert native.call("privet_mdav_groups", *good().values()) == 2
    with pytest.raises(TypeError, match=f"privet_mdav_groups: {complaint}"):
        native.call("privet_mdav_groups", *(good() | changed).values())


def test_lists_of_arrays_are_checked_one_by_one() -> None:
    wide = next(p for p in signatures()["privet_trees_prices"] if p.name == "wide")
    with pytest.raises(TypeError, match="wide is a list of arrays of int64, not one of int32"):
        wide.passed([np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int32)], "f")


@pytest.mark.parametrize(
    ("at", "given", "complaint"),
    [
        (0, np.zeros(9), "points has fewer than 10 entries"),
        (4, np.zeros(4, np.int64), "group_of has fewer than 5 entries"),
        (0, np.ma.array(np.zeros(10), mask=[True] * 10), "points is an array of float64, not MaskedArray"),
        (1, True, "n is a whole number of 64 bits, not bool"),
    ],
)
def test_what_is_too_short_or_masked_or_a_truth_is_refused(at: int, given: Any, complaint: str) -> None:
    """C wrote beyond the end of an array."""
    arguments: list[Any] = [np.zeros(10), 5, 2, 2, np.zeros(5, np.int64)]
    arguments[at] = given
    with pytest.raises(TypeError, match=complaint):
        native.call("privet_mdav_groups", *arguments)


def test_a_length_that_stands_in_another_array_is_compared() -> None:
    def called(starts: list[int]) -> None:
        visits, counts = np.zeros(3, np.int32), np.ones(2, np.int64)
        handle = np.zeros(4, np.int64)
        native.call("privet_maximal_frequent", visits, np.array(starts), 2, counts, 1, 1, handle)

    with pytest.raises(TypeError, match="visits has fewer than 4 entries"):
        called([0, 1, 4])
    with pytest.raises(TypeError, match="visits is as long as an array says that is too short"):
        called([0, 3])


def test_too_few_arguments_are_refused() -> None:
    needs_loops()
    with pytest.raises(TypeError, match="takes 5 arguments, not 4"):
        native.call("privet_mdav_groups", *list(good().values())[:4])


def test_every_exported_function_is_declared_and_every_declared_one_has_a_caller() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in build.SOURCES)
    defined = set(re.findall(r"\b(privet_\w+)\(", sources)) | set(
        re.findall(r"(?:UNDER|LEAVES|MARKED|MOVED|KEYS)\((privet_\w+)", sources)
    )
    assert defined == set(signatures())
    house = Path(native.__file__).parents[1]
    code = "\n".join(path.read_text(encoding="utf-8") for path in house.rglob("*.py"))
    code = code.replace(
        'f"privet_trees_{name}"', "privet_trees_prices privet_trees_nearest privet_trees_merge"
    )
    code = code.replace(
        "privet_cells_under_{", "privet_cells_under_8 privet_cells_under_16 privet_cells_under_32"
    )
    leaves = ("under", "marked", "moved")
    code = code.replace(
        "privet_leaves_{loop}_{",
        " ".join(f"privet_leaves_{loop}_{bits}" for loop in leaves for bits in (8, 16, 32)),
    )
    code = code.replace("privet_keys_{", "privet_keys_16 privet_keys_32")
    assert {name for name in signatures() if name not in code} == set()


def test_the_compiler_compares_definitions_with_the_header(tmp_path: Path) -> None:
    """The header is the one declaration: a definition that differs does not compile."""
    compiler = next(build.compilers(), None)
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    text = (
        (build.HERE / "mdav.c")
        .read_text(encoding="utf-8")
        .replace("const double *points, int64_t n", "const float *points, int64_t n", 1)
    )
    text = re.sub(r"(privet_mdav_groups\()const double", r"\1const float", text)
    (tmp_path / "mdav.c").write_text(text)
    (tmp_path / "loops.h").write_bytes(build.HEADER.read_bytes())
    done = subprocess.run(
        [*compiler, "-std=c11", "-fsyntax-only", str(tmp_path / "mdav.c")], capture_output=True, check=False
    )
    assert done.returncode != 0


@pytest.mark.parametrize("code", [np.uint8, np.uint16, np.uint32])
@given(data=st.data())
def test_cells_under_a_node_are_found_counted_and_moved(code: type, data: st.DataObject) -> None:
    """Those whose code is of one of the `fan` children; `fan` says of a code that it is of none."""
    needs_loops()
    drawn = data.draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(1, 5)), min_size=1)
    )
    codes: np.ndarray[tuple[int], np.dtype[Any]] = np.array([c for c, _, _ in drawn], dtype=code)
    leaf, counts = (np.array([one[at] for one in drawn], dtype=np.int32) for at in (1, 2))
    fan = data.draw(st.integers(1, 4))
    child = np.array(data.draw(st.lists(st.integers(0, fan), min_size=10, max_size=10)), dtype=np.uint8)
    bits, begin = 8 * codes.itemsize, (codes, len(codes), child, 10, fan)
    under = [at for at, (c, _, _) in enumerate(drawn) if child[c] < fan]

    cells, of_cell = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.uint8)
    found = native.call(f"privet_cells_under_{bits}", *begin, cells, of_cell)
    assert cells[:found].tolist() == under
    assert of_cell[:found].tolist() == [int(child[drawn[at][0]]) for at in under]

    room, stride = 4 * (fan + 1), fan + 1
    key = [old * stride + int(child[c]) for c, old, _ in drawn]
    total = np.zeros(room, dtype=np.int64)
    native.call(f"privet_leaves_under_{bits}", *begin, leaf, counts, total)
    assert total.tolist() == [
        sum(one[2] for one, at in zip(drawn, key, strict=True) if at == n) for n in range(room)
    ]

    entry = np.array(data.draw(st.permutations(range(room))), dtype=np.int64)
    mark = np.array([data.draw(st.integers(-1, 2)) for _ in drawn], dtype=np.int32)
    marked = np.zeros(3 * room, dtype=np.int64)
    native.call(f"privet_leaves_marked_{bits}", *begin, leaf, counts, entry, mark, room, marked)
    assert marked.reshape(3, room).tolist() == [
        [sum(drawn[at][2] for at in under if mark[at] == m and entry[key[at]] == n) for n in range(room)]
        for m in range(3)
    ]

    to = np.array(data.draw(st.permutations(range(room))), dtype=np.int32)
    moved = leaf.copy()
    native.call(f"privet_leaves_moved_{bits}", *begin, to, moved)
    assert moved.tolist() == [int(to[at]) for at in key]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
    st.integers(1, 4),
    st.integers(1, 10**6),
    st.integers(1, 5),
)
def test_every_combination_has_one_home(widths: list[int], reach: int, entries: int, fan: int) -> None:
    reach = min(reach, len(widths))
    groups = dealt(widths, reach, entries, fan)
    if groups is None:
        return
    assert sorted(at for group in groups for at in group) == list(range(len(widths)))
    blocks = unions(groups, reach)
    seen = []
    for attributes, of_group, vanish in zip(blocks.attributes, blocks.groups, blocks.vanish, strict=True):
        group = {int(at): int(g) for at, g in zip(attributes, of_group, strict=True) if at >= 0}
        for subset in combinations(sorted(group), reach):
            untouched = set(group.values()) - {group[at] for at in subset}
            if all(g < vanish for g in untouched):
                seen.append(subset)
    # each combination has one home
    assert sorted(seen) == sorted(combinations(range(len(widths)), reach))
