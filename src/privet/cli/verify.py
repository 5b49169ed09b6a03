"""`privet verify`: anybody re-checks a release from the release alone."""

from __future__ import annotations

from privet.cli import screen
from privet.cli.options import Engine, Folder, Json, engine_of
from privet.errors import InputError


def verify(folder: Folder, *, engine: Engine = "embedded", json: Json = False) -> int:
    """Re-check a release from its folder alone: no raw data, no trust in whoever made it.

    Every file must be the one the evidence was made for, every promise must hold on the data as it
    lies there, and every number that the evidence claims must come out again. Exit code 1 if
    anything fails, with one line for each thing that is wrong.

    Example:
      privet verify out

    Next: `privet explain out` says why so much was lost; report.html in the folder shows it all.

    """
    from privet.evidence import notes as ev
    from privet.verification import verify as verified

    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    found = verified(folder, engine=engine_of(engine))
    promises = [*(ev.promise(model, verdict) for model, verdict in found.verdicts), *found.made]
    if json:
        screen.answer(
            {
                "holds": found.holds,
                "folder": str(folder),
                "promises": promises,
                "complaints": list(found.complaints),
            }
        )
        return 0 if found.holds else 1
    screen.say(*screen.promise_lines(promises))
    if found.holds:
        said = "every file, every promise and every number checked; all hold"
        if found.made:
            said = "every file and number checked; what is said of how it was made, nobody can check"
        screen.say(f"{screen.shown(str(folder))}: {said}")
        return 0
    broken = [f"{promise.type}: this promise is broken" for promise in promises if not promise.holds]
    screen.problems(*(f"{folder}: {complaint}" for complaint in (*found.complaints, *broken)))
    return 1
