"""Notebooks are run: `python -m tests.notebooks examples/tables.ipynb` runs one and keeps what it shows.

A cell shows what it prints and its last expression, as Jupyter shows them. No Jupyter is needed: a notebook
is a JSON file, and its cells are Python.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def executed(notebook: Path) -> dict[str, Any]:
    """The notebook with what its cells show now; run in the working folder."""
    document: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"] = number
            cell["outputs"] = _outputs("".join(cell["source"]), names, number)
    return document


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    value = None
    with redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    made: list[dict[str, Any]] = []
    if said.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(True)
        shown = {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        made.append(shown)
    return made


def main() -> int:
    for name in sys.argv[1:]:
        path, home = Path(name).resolve(), Path.cwd()
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            document = executed(path)
            os.chdir(home)
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
