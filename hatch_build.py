"""Packaging: a wheel carries the compiled loops, where the machine that makes it has a C compiler."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledLoops(BuildHookInterface[Any]):
    """Build `privet/native` into the wheel; without a compiler the wheel is pure Python, and slower."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # `make setup` builds them for its own processor
            return
        path = Path(self.root) / "src" / "privet" / "native" / "build.py"
        spec = importlib.util.spec_from_file_location("privet_native_build", path)
        if spec is None or spec.loader is None:
            return
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if module.build(here_only=False) is not None:
            build_data["artifacts"].append("src/privet/native/_loops-*.so")
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
