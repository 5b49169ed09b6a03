"""Starts one command and notes what it cost: `python -I -S launch.py NOTE COMMAND...`.

A process of its own, because Linux lets a child inherit the peak memory of whoever started it: whatever
the benchmark itself holds would count for the command. This one holds nothing.
"""

import json
import os
import sys
import time


def main(note: str, *command: str) -> int:
    begun = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(child, 0)
    cost = {
        "wall": time.perf_counter() - begun,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),  # bytes there, kilobytes here
    }
    with open(note, "w", encoding="utf-8") as file:  # noqa: PTH123 - nothing is imported that could be spared
        json.dump(cost, file)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
