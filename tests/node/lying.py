"""A node that does not keep to the protocol at its end, or is unlucky there: `python lying.py WAY FOLDER`.

Ways, several of them joined by `+`: `searches`: it has seen what the search tells, and is gone before
anything is opened; `grows`: the same of a virtual database; `leaves`: it has seen the joint table, and is
gone; `withholds`: it has everybody's signature, and is gone without giving its own; `killed`: it dies when
its signature has gone out; `full`: its disk is, then; `marks`: keeps what it tells of its rows; `lies`: tells
that again, whatever rows it puts in, and minds nothing itself.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.evidence import signing
from privet.node import jobs, runs
from privet.node.house import House
from privet.node.service import serve
from privet.parties import rows
from privet.roads.parties import concluding, party
from privet.roads.parties.concluding import AllSign

GONE = 9


def main(ways: str, folder: str) -> None:
    kept, mark = Path(folder) / "kept", rows.mark

    def leaves(*_: Any) -> None:
        os._exit(GONE)

    def withholds(self: AllSign, folder: Path, files: dict[str, str], key: Any) -> None:
        for other in self.link.others:
            self._heard(other, files)
        os._exit(GONE)

    def killed(self: AllSign, folder: Path, files: dict[str, str], key: Any) -> None:
        link = self.link
        own = signing.signature(files, replace(key, name=link.name(link.me)))
        for other in link.others:
            link.send(other, "signature", concluding.NAMED.pack(own.made.encode(), b64decode(own.signature)))
        time.sleep(2)
        os._exit(GONE)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def marked(*given: Any) -> bytes:
        made = mark(*given)
        kept.write_bytes(made)
        return made

    changes: dict[str, list[tuple[Any, str, Any]]] = {
        "honest": [],
        "searches": [(party, "assembled", leaves)],
        "grows": [(jobs, "keep_together", leaves)],
        "leaves": [(AllSign, "put", leaves)],
        "withholds": [(AllSign, "_signed", withholds)],
        "killed": [(AllSign, "_signed", killed)],
        "full": [(signing, "write", full)],
        "marks": [(rows, "mark", marked)],
        "lies": [
            (rows, "mark", lambda *_: kept.read_bytes()),
            (runs.Runs, "_refuse_second", lambda *_: None),
            (runs.Runs, "_seen", lambda *_: []),
        ],
    }
    for way in ways.split("+"):
        for where, name, other in changes[way]:
            setattr(where, name, other)
    serve(House.load(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
