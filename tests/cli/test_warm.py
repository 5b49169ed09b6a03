"""Compiling ahead: a favour that never fails a set-up."""

from __future__ import annotations

import pytest

from privet import warm


def test_warming_runs_the_compiled_loops(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numba")
    assert warm.main() == 0
    said = capsys.readouterr().out
    assert said.startswith("privet.warm: compiled the counting loops in")
    assert said.count("\n") == 1
    compiled = pytest.importorskip("privet.relational.lookahead_compiled")
    assert any(getattr(made, "signatures", ()) for made in vars(compiled).values())


def test_without_the_compiler_nothing_happens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "find_spec", lambda name: None)
    assert warm.main() == 0
    assert "not installed" in capsys.readouterr().out


def test_a_compiler_that_fails_is_no_reason_to_stop(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_wide: int) -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(warm, "tiny", broken)
    monkeypatch.setattr(warm, "find_spec", lambda name: object())
    assert warm.main() == 0
    assert "RuntimeError" in capsys.readouterr().out
