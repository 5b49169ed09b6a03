"""`privet verifier`: a checker of one file that shares no code with privet."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Annotated

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite, whole

KINDS = {  # what is asked for, and what the program calls it
    "table": "table",
    "noise": "table with noise",
    "trajectories": "trajectories",
    "documents": "documents",
    "halves": "documents in halves",
    "transactions": "transactions",
}
FUTURE = "from __future__ import annotations"  # which is used by being there


def verifier(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the program.")
    ] = Path("verify.py"),
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="For releases of this kind only, which is less to read: " + ", ".join(KINDS) + ".",
        ),
    ] = None,
    *,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Write a program that checks releases and needs no trust in privet.

    One file of plain Python with nothing but the standard library, to be read before it is run: digests,
    signatures, how the data is read, and every promise that can be checked, said once more by its definition.
    Where it does not know something, it says so and does not guess.

    Example:
      privet verifier -o verify.py --kind table
      python verify.py out

    Next: read it. `privet verify out` must say the same.

    """
    from importlib.resources import files

    from privet.errors import OptionError, one_of

    if kind is not None and kind not in KINDS:
        raise OptionError(one_of("--kind", tuple(KINDS), kind))
    text = files("privet.verifier").joinpath("verify.py").read_text(encoding="utf-8")
    text = text if kind is None else of_kind(text, kind)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(text, encoding="utf-8")
    if json:
        screen.answer({"written": str(output), "lines": text.count("\n")})
    else:
        screen.say(f"wrote {screen.shown(str(output))}: {text.count(chr(10))} lines; read them, then run it")
    return 0


def of_kind(text: str, kind: str) -> str:
    """The program without the other kinds, and without what only they use."""
    lines, parts = text.splitlines(keepends=True), ast.parse(text).body
    others = [f"KINDS[{name!r}]" for name in KINDS.values() if name != KINDS[kind]]
    kept = [part for part in parts if not ast.unparse(part).startswith(tuple(others))]
    uses = {part: _names(part) - _made(part) for part in kept}
    while True:
        used = set[str]().union(*(uses[part] for part in kept))
        wanted = [part for part in kept if not _made(part) or _made(part) & used]
        if wanted == kept:
            break
        kept = wanted
    for part in parts:
        first = min([part.lineno, *(one.lineno for one in getattr(part, "decorator_list", ()))])
        if part not in kept:
            lines[first - 1 : part.end_lineno] = [""] * len(lines[first - 1 : part.end_lineno])
        elif isinstance(part, ast.ImportFrom) and not _made(part) <= used:
            names = ", ".join(one.name for one in part.names if one.name in used)
            lines[first - 1] = f"from {part.module} import {names}\n"
    text = re.sub(r"^# --- .*\n\s*(?=# --- )", "", "".join(lines), flags=re.MULTILINE)
    return re.sub(r"\n{4,}", "\n\n\n", text)


def _names(part: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}


def _made(part: ast.stmt) -> set[str]:
    """The names that a statement of the program makes, for the others to use."""
    match part:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names) if ast.unparse(part) != FUTURE:
            return {one.asname or one.name for one in names}
    return set()
