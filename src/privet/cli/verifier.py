"""`privet verifier`: a checker of one file that shares no code with privet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite, whole


def verifier(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the program.")
    ] = Path("verify.py"),
    *,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Write a program that checks releases and needs no trust in privet.

    One file of plain Python with nothing but the standard library, to be read before it is run: digests,
    signatures, how the data is read, and every promise that can be checked, said once more by its definition.
    Where it does not know something, it says so and does not guess.

    Example:
      privet verifier -o verify.py
      python verify.py out

    Next: read it. `privet verify out` must say the same.

    """
    from importlib.resources import files

    text = files("privet.verifier").joinpath("verify.py").read_text(encoding="utf-8")
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(text, encoding="utf-8")
    if json:
        screen.answer({"written": str(output), "lines": text.count("\n")})
    else:
        screen.say(f"wrote {screen.shown(str(output))}: {text.count(chr(10))} lines; read them, then run it")
    return 0
