"""A node that is killed with its n-th message of a kind: `python dying.py KIND N FOLDER`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from privet.node.house import House
from privet.node.service import serve
from privet.parties.transport import Link


def main(fatal: str, number: str, folder: str) -> None:
    honest, left = Link.send, [int(number)]

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        if fatal in {kind, "any"}:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
        honest(self, to, kind, payload)

    setattr(Link, "send", send)  # noqa: B010 - not a method of that class to a type checker
    serve(House.load(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
