"""A wheel serves every Python of a kind of machine, and making one leaves the checkout as it is."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from privet.native import build

ROOT = Path(__file__).parents[2]
COMPILER = """#!/bin/sh
while [ "$1" != "-o" ]; do shift; done
echo built > "$2"
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that is quick, and builds nothing."""
    path = tmp_path / "cc"
    path.write_text(COMPILER, encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    return path


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """hatch_build.py without hatchling, which only packaging installs."""

    class Hook:
        def __class_getitem__(cls, _: Any) -> type:
            return cls

    names = ["hatchling", "builders", "hooks", "plugin", "interface"]
    for many in range(1, len(names) + 1):
        monkeypatch.setitem(sys.modules, ".".join(names[:many]), ModuleType(names[many - 1]))
    sys.modules[".".join(names)].BuildHookInterface = Hook  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.CompiledLoops()
    made.root = str(ROOT)
    return made


def data() -> dict[str, Any]:
    return {"force_include": {}, "artifacts": [], "pure_python": True}


def lying() -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in (ROOT / "src" / "privet" / "native").glob("*.*")}


@pytest.mark.usefixtures("compiler")
def test_a_wheel_is_of_no_one_python_and_built_aside(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_WHEEL", raising=False)
    before, said = lying(), data()
    hook.initialize("standard", said)
    assert lying() == before
    assert said["tag"].startswith("py3-none-")
    assert not said["pure_python"]
    ((source, inside),) = said["force_include"].items()
    assert inside == f"privet/native/{build.place().name}"
    assert Path(source).is_file()
    hook.finalize("standard", said, "")
    assert not Path(source).exists()


@pytest.mark.parametrize(("version", "wanted"), [("editable", ""), ("standard", "any")])
def test_a_wheel_without_loops_is_pure(
    hook: Any, monkeypatch: pytest.MonkeyPatch, version: str, wanted: str
) -> None:
    monkeypatch.setenv("PRIVET_WHEEL", wanted)
    said = data()
    hook.initialize(version, said)
    assert said == data()


def test_where_no_compiler_is_the_wheel_is_pure(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("PRIVET_WHEEL", raising=False)
    said = data()
    hook.initialize("standard", said)
    if importlib.util.find_spec("ziglang") is None:
        assert said == data()


@pytest.mark.parametrize("wanted", ["vax", "win_amd64"])
def test_another_machine_that_cannot_be_built_for_is_refused(
    hook: Any, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    """Never a wheel for this machine under the name of another."""
    if importlib.util.find_spec("ziglang") is not None and wanted != "vax":
        pytest.skip("there is a compiler for it")
    monkeypatch.setenv("PRIVET_WHEEL", wanted)
    with pytest.raises(SystemExit, match=r"PRIVET_WHEEL is any|no compiler for win_amd64"):
        hook.initialize("standard", data())


def test_a_library_of_other_sources_is_left_where_it_is_built_aside(compiler: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    assert build.build(here_only=False, into=into) == compiler.name
    assert [path.name for path in into.iterdir()] == [build.place().name]
