"""`privet verify`: anybody re-checks a release from the release alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli import screen
from privet.cli.options import Effort, Engine, Folder, Json, Master, engine_of
from privet.cli.signing import asked
from privet.effort import allowed
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.verification import Verification


def verify(
    folder: Folder,
    *,
    limit: Annotated[
        str | None,
        typer.Option("--limit", metavar="SIZE", help="Read data files up to this size; 512MB unless said."),
    ] = None,
    signer: Annotated[
        list[str] | None,
        typer.Option("--signer", metavar="PUBLIC", help="Whose key must have signed; may be repeated."),
    ] = None,
    allow: Annotated[
        Path | None,
        typer.Option("--allow", metavar="FILE", help="A list of keys, one of which must have signed."),
    ] = None,
    engine: Engine = "embedded",
    master: Master = None,
    effort: Effort = None,
    json: Json = False,
) -> int:
    """Re-check a release from its folder alone: no raw data, no trust in whoever made it.

    Every file must be the one the evidence was made for and hold nothing beside the release, every
    promise must hold on the data as it lies there, read as the policy says, and every number that the
    evidence claims must come out again. Exit code 1 if anything fails, with one line for each thing
    that is wrong. Nothing outside the folder is opened, and no file larger than --limit, packed or not.

    A release says who signed it only to those who ask with a key that they have from its owner: --signer
    names a public key, --allow a list of them. Unsigned, anybody could have made the folder, policy and all.

    Example:
      privet verify out
      privet verify out --signer office.key.pub

    Next: `privet explain out` says why so much was lost; report.html in the folder shows it all.

    """
    from privet.evidence import sealed
    from privet.report.numerals import counted
    from privet.verification import verify as verified

    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    most = sealed.LARGEST if limit is None else sealed.size(limit)
    with allowed(effort):
        found = verified(folder, engine=engine_of(engine, master), limit=most, signers=asked(signer, allow))
    if json:
        screen.answer({**found.to_dict(), "folder": str(folder)})
        return 0 if found.holds else 1
    screen.say(*screen.promise_lines(found.promises))
    if found.reading:
        screen.say(f"  read so that {screen.shown('; '.join(found.reading))}")
    screen.say(*signatures(found))
    if found.holds:
        said = "every file and every promise checked"
        if found.made:
            said = "every file checked; what is said of how it was made, nobody can check"
        if found.unchecked:
            said = said.replace("every file", f"every file but {', '.join(found.unchecked)}")
        many = len(found.unseen)
        empty = f", though {counted(many, 'protected value')} {'does' if many == 1 else 'do'} not occur"
        screen.say(
            f"{screen.shown(str(folder))}: {said}, {found.counted:,} numbers counted again; all hold"
            + (empty if many else ""),
            f"  the steward's word, which the release does not show: {screen.shown(', '.join(found.stated))}",
            *found.remarks,
        )
        return 0
    broken = [
        f"{promise.type}: this promise is broken" for promise in found.promises if promise.holds is False
    ]
    screen.problems(*(f"{folder}: {complaint}" for complaint in (*found.complaints, *broken)))
    return 1


def signatures(found: Verification) -> list[str]:
    """Who vouches for a release, one line for each; or that nobody does."""
    if not found.signed:
        return [
            "  unsigned: nobody vouches for it, and a policy could be weakened together with its evidence"
        ]
    return [
        f"  {'signed by' if one.valid else 'NOT signed by'} {screen.shown(one.signature.signer)}, "
        f"key {one.signature.fingerprint}"
        for one in found.signed
    ]
