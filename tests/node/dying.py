"""A node that is killed with its n-th message of a kind, or later: `python dying.py KIND N FOLDER`.

Kinds beside those of messages: `any`; `placing`: everything is signed and nothing is in its place; `ready`:
it is on the way there. In these two what it had to say has arrived, so that the others are not in doubt.
`full`: nothing dies, but its disk takes no file of more than N bytes.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from privet.node import running
from privet.node.house import House
from privet.node.service import serve
from privet.node.wires import Nodes
from privet.parties.transport import Link
from privet.placing import staging


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(fatal: str, number: str, folder: str) -> None:
    honest, left = Link.send, [int(number)]
    opened: list[Nodes] = []

    def send(self: Link, to: int, kind: str, payload: bytes) -> None:
        if fatal in {kind, "any"}:
            if not left[0]:
                die()
            left[0] -= 1
        honest(self, to, kind, payload)

    def wires(*given: Any, **named: Any) -> Nodes:
        opened.append(Nodes(*given, **named))
        return opened[-1]

    def dead(*_: Any, **__: Any) -> None:
        for one in opened:
            one.close()  # what was said arrives
        die()

    setattr(Link, "send", send)  # noqa: B010 - not a method of that class to a type checker
    setattr(running, "Nodes", wires)  # noqa: B010
    if fatal == "placing":
        setattr(staging.Aside, "placing", dead)  # noqa: B010
    if fatal == "ready":
        setattr(staging, "_finished", dead)  # noqa: B010
    if fatal == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), int(number)))
    serve(House.load(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
