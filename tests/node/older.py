"""A node of another version of the protocol: `python older.py VERSION FOLDER`; 1 says no version at all."""

from __future__ import annotations

import sys
from pathlib import Path

from privet.node import calling, runs, speaking
from privet.node.house import House
from privet.node.service import serve
from privet.parties import signing, transport


def main(version: str, folder: str) -> None:
    for module in (calling, runs, speaking, signing, transport):
        setattr(module, "SPEAKS", int(version))  # noqa: B010 - a constant to a type checker
    defaults = calling.Caller.__init__.__kwdefaults__ or {}
    defaults["speaks"] = int(version)
    if version == "1":
        for module in (calling, speaking):
            setattr(module, "HEADER", "x-nothing")  # noqa: B010
        setattr(calling.Caller, "_refuse_other", lambda *_: None)  # noqa: B010
        setattr(speaking, "version_of", lambda _: 1)  # noqa: B010
    serve(House.load(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
