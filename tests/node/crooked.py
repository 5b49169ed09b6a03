"""A relay that does not carry what it is given: `python crooked.py WAY NUMBER FOLDER`.

Ways: `lost`, `twice`, `turned` (two pieces in the other order), `changed` (a bit), `made up` (a piece of its
own), `late`. It does so with the NUMBER-th piece that passes, counted over all tunnels; with 0, with every
second. `withheld`: takes that piece and all that come after it, and hands out none; `tail`: all but the first
kilobyte of each of them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from privet.node import relay
from privet.node.house import House
from privet.node.wires import Ordered, Taken


def main(way: str, number: str, folder: str) -> None:
    honest, passed = Ordered.take, [0]
    begun: set[int] = set()  # pipes of which something was handed out
    kept: dict[int, bytes] = {}  # by pipe a piece that waits for the next one

    def take(self: Ordered, at: int, piece: bytes) -> Taken:
        taken = honest(self, at, piece)
        if taken is not Taken.TAKEN:
            return taken
        if id(self) in kept:  # the one before this was held back
            self.pieces.append(kept.pop(id(self)))
            return taken
        passed[0] += 1
        if way in {"withheld", "tail"} and passed[0] >= int(number):
            last = self.pieces.pop()
            if way == "tail" and id(self) not in begun:
                begun.add(id(self))
                self.pieces.append(last[:1000])
            return taken
        if passed[0] != int(number) and (int(number) or passed[0] % 2):
            return taken
        last = self.pieces.pop()
        if way == "twice":
            self.pieces += [last, last]
        elif way == "turned":
            kept[id(self)] = last
        elif way == "changed":
            self.pieces.append(last[:-1] + bytes([last[-1] ^ 1]))
        elif way == "made up":
            self.pieces += [last, bytes(range(40))]
        elif way == "late":
            time.sleep(0.3)
            self.pieces.append(last)
        return taken

    setattr(Ordered, "take", take)  # noqa: B010 - not a method of that class to a type checker
    relay.serve(House.load(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
