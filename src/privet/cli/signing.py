"""`privet key` and `privet sign`: who vouches for a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli import screen
from privet.cli.options import Folder, Json, release_folder
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.evidence.signing import Asked, PrivateKey

GIST = "keys that sign releases"
KeyFile = Annotated[Path, typer.Option("--key", metavar="KEY", help="Your private key.")]
Passphrase = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file", metavar="FILE", help="A file with the key's passphrase, if it has one."
    ),
]


def make(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="KEY", help="Where the key is kept.")],
    *,
    name: Annotated[
        str | None, typer.Option("--name", help="Whose key it is; the file's name unless said.")
    ] = None,
    passphrase_file: Passphrase = None,
    json: Json = False,
) -> int:
    """Make a key that signs releases: KEY stays with you, KEY.pub is for everybody.

    The private key can be read by you alone, and is kept under a passphrase where you name a file that holds
    one. Tell receivers the public key, or read its fingerprint to them, by another way than the releases go.

    Example:
      privet key make -o office.key --name "Office of Statistics"

    Next: `privet publish DATA POLICY -o out --sign office.key`, or `privet sign out --key office.key`.

    """
    from privet.evidence.signing import PrivateKey, fingerprint

    key = PrivateKey.make(name or output.stem)
    private, public = key.save(output, secret(passphrase_file))
    told = {
        "name": key.name,
        "private": str(private),
        "public": str(public),
        "key": key.public,
        "fingerprint": fingerprint(key.public),
    }
    if json:
        screen.answer(told)
        return 0
    screen.say(
        f"wrote {screen.shown(str(private))}, which stays with you, and {screen.shown(str(public))}",
        f"  for a list of allowed keys: {key.public} {screen.shown(key.name)}",
        f"  fingerprint: {told['fingerprint']}",
    )
    return 0


def sign(
    folder: Folder,
    *,
    key: KeyFile,
    name: Annotated[str | None, typer.Option("--name", help="The name that you sign with.")] = None,
    passphrase_file: Passphrase = None,
    json: Json = False,
) -> int:
    """Sign a release that you have looked at: your name stands in signatures.json beside it.

    What is signed are the digests of every file, the policy and the evidence among them: from now on nobody
    can change one of them unseen. Several people may sign. The release is verified first; one that does not
    hold is not signed.

    Example:
      privet sign out --key office.key

    Next: `privet verify out --signer office.key.pub` is what a receiver runs.

    """
    from privet.evidence.signing import sign as signed
    from privet.verification import verify

    release_folder(folder)
    mine = private(key, passphrase_file, name)
    if not (found := verify(folder)).holds:
        screen.problems(*(f"{folder}: {complaint}" for complaint in found.complaints))
        screen.problems(f"{folder}: not signed: it does not hold")
        return 1
    made = signed(folder, mine)
    if json:
        screen.answer({"folder": str(folder), "signer": made.signer, "key": made.key, "made": made.made})
        return 0
    screen.say(f"{screen.shown(str(folder))}: signed by {screen.shown(made.signer)}, key {made.fingerprint}")
    return 0


def private(key: Path, passphrase_file: Path | None = None, name: str | None = None) -> PrivateKey:
    """The key that signs."""
    from privet.evidence.signing import PrivateKey

    return PrivateKey.load(key, secret(passphrase_file), name)


def secret(path: Path | None) -> bytes | None:
    """A passphrase; never on a command line, where everybody on the machine reads it."""
    if path is None:
        return None
    try:
        found = path.read_bytes().rstrip(b"\r\n")
    except OSError:
        raise InputError(f"{path}: no such passphrase file, or it cannot be read") from None
    if not found:
        raise InputError(f"{path}: the passphrase is empty")
    return found


def asked(signer: list[str] | None, allow: Path | None) -> Asked:
    """Whose signatures a receiver asks for."""
    from privet.evidence.signing import Asked, allow_list, public_key

    every = {public_key(one): Path(one).name for one in signer or ()}
    return Asked(every, {} if allow is None else allow_list(allow))
