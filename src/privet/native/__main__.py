"""`python -m privet.native`: build the compiled loops for this machine."""

from __future__ import annotations

import sys

from privet.native import build


def main() -> int:
    """Building is a favour: without the library everything works, only slower."""
    try:
        if build.place().is_file():
            said = "the compiled loops are there"
        elif (compiler := build.build()) is not None:
            said = f"built the compiled loops with {compiler}"
        else:
            said = "no C compiler here: the slower loops serve (pip install ziglang brings one)"
    except OSError as error:
        said = f"could not build the compiled loops ({type(error).__name__}); the slower ones serve"
    sys.stdout.write(f"privet.native: {said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
