"""The compiled loops: built by whatever compiler there is, and never missed."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import native
from privet.blocks import dealt, unions
from privet.native import __main__ as command
from privet.native import build


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


def test_scattered_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        native.pointer(np.zeros((4, 4))[:, 1])
    assert isinstance(native.pointer(np.zeros(4)), ctypes.c_void_p)


@pytest.mark.parametrize("code", [np.uint8, np.uint16, np.uint32])
@given(data=st.data())
def test_under_finds_the_cells_of_a_range(code: type, data: st.DataObject) -> None:
    needs_loops()
    drawn = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=30))
    codes: np.ndarray[tuple[int], np.dtype[Any]] = np.array(drawn, dtype=code)
    lo = data.draw(st.integers(0, 9))
    hi = data.draw(st.integers(lo + 1, 10))
    child_of = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=hi - lo, max_size=hi - lo)), dtype=np.uint8
    )
    cells, child = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.uint8)
    found = native.call(
        f"privet_under_{8 * codes.itemsize}", codes, len(codes), lo, hi, child_of, cells, child
    )
    expected = [at for at, value in enumerate(codes.tolist()) if lo <= value < hi]
    assert cells[:found].tolist() == expected
    assert child[:found].tolist() == [int(child_of[int(codes[at]) - lo]) for at in expected]


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
