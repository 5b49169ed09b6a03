"""`privet verifier`: a checker of one file that shares no code with privet."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite, whole

PARTS = {  # of the program, by the kinds that need them; what no kind names is needed by all
    "table": ["classes", "tables"],
    "trajectories": ["classes", "paths"],
    "documents": ["documents"],
    "transactions": ["sets"],
}


def verifier(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the program.")
    ] = Path("verify.py"),
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="For releases of this kind only, which is less to read: " + ", ".join(PARTS) + ".",
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

    if kind is not None and kind not in PARTS:
        raise OptionError(one_of("--kind", tuple(PARTS), kind))
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
    """The program without the parts of other kinds, and without what only they import."""
    left = {part for parts in PARTS.values() for part in parts} - set(PARTS[kind])
    head, *parts = re.split(r"^(?=# --- )", text, flags=re.MULTILINE)
    kept = [head, *(part for part in parts if re.findall("[a-z]+", part)[0] not in left)]
    lines = "".join(kept).splitlines(keepends=True)
    used = Counter(re.findall(r"\w+", "".join(lines)))

    def wanted(line: str) -> str:
        """A line, less the names that it imports and nobody uses."""
        found = re.fullmatch(r"((?:from \S+ )?import )(\S.*)\n", line)
        if found is None or "__future__" in line:
            return line
        names = [name for name in found[2].split(", ") if used[name.split()[-1]] > 1]
        return f"{found[1]}{', '.join(names)}\n" if names else ""

    return "".join(map(wanted, lines))
