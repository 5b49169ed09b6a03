"""Frequencies by pure-ldp: every answer privatised and aggregated, timed; run by its own environment.

Nothing of privet is imported here.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")


def oracles(mechanism: str, epsilon: float, size: int) -> tuple[Any, Any]:
    if mechanism == "k-randomised-response":
        home = import_module("pure_ldp.frequency_oracles.direct_encoding")
        made = home.DEClient(epsilon, size, lambda x: x), home.DEServer(epsilon, size, lambda x: x)
    else:
        home = import_module("pure_ldp.frequency_oracles.unary_encoding")
        best = mechanism == "optimised-unary"
        made = (
            home.UEClient(epsilon, size, best, lambda x: x),
            home.UEServer(epsilon, size, best, lambda x: x),
        )
    return made


def main(mechanism: str, epsilon: str, size: str, data: str) -> None:
    codes = json.loads(Path(data).read_text(encoding="utf-8"))
    client, server = oracles(mechanism, float(epsilon), int(size))
    begun = time.process_time()
    for code in codes:
        server.aggregate(client.privatise(code))
    shares = [float(server.estimate(at, suppress_warnings=True)) / len(codes) for at in range(int(size))]
    print(json.dumps({"seconds": time.process_time() - begun, "shares": shares}))


if __name__ == "__main__":
    main(*sys.argv[1:])
