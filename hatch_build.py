"""Packaging: a wheel carries the compiled loops, where the machine that makes it has a C compiler.

The loops are no extension of one Python: one wheel for a kind of machine serves every Python from 3.11 on.
They are built aside, so the checkout stays as it is. PRIVET_WHEEL names another kind of machine than this
one, by the tag of its wheels; that takes `ziglang` in the environment that builds (`make wheels`).
PRIVET_WHEEL=any is a wheel without the loops.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MACHINES = {  # by the tag of the wheel: what zig calls the machine, with the oldest system that serves
    "manylinux2014_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux2014_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_1_x86_64": "x86_64-linux-musl",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}


class CompiledLoops(BuildHookInterface[Any]):
    """Build `privet/native` into the wheel; without a compiler the wheel is pure Python, and slower."""

    aside: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get("PRIVET_WHEEL", "")
        if version == "editable" or wanted == "any":  # `make setup` builds them for its own processor
            return
        if wanted and wanted not in MACHINES:
            raise SystemExit(f"PRIVET_WHEEL is any, or one of {', '.join(MACHINES)}")
        path = Path(self.root) / "src" / "privet" / "native" / "build.py"
        spec = importlib.util.spec_from_file_location("privet_native_build", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.aside = TemporaryDirectory()
        folder = Path(self.aside.name)
        compiler = module.build(here_only=False, target=MACHINES.get(wanted), into=folder)
        if compiler is None:
            self.aside.cleanup()
        if compiler is None and wanted:
            raise SystemExit(f"no compiler for {wanted}: pip install ziglang")
        if compiler is not None:
            made = next(folder.glob("_loops-*"))
            build_data["force_include"][str(made)] = f"privet/native/{made.name}"
            build_data["pure_python"] = False
            platform = wanted or sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del version, build_data, artifact_path
        if self.aside is not None:
            self.aside.cleanup()
