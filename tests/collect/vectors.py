"""What every client must answer: forms, true answers, random bytes, and what is sent.

    python -m tests.collect.vectors        writes vectors.json anew, after a deliberate change

The Python client, the stream and client.js are held to the same file.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.collect import naive

from privet.collect import Plan, answer

# Names that a table in JavaScript holds in another order than they came, or finds where none is.
ODD = ("ä b", "10", "9", "__proto__", "constructor", "\U0001f98a", "\uffe0")
FILE = Path(__file__).with_name("vectors.json")


class Known:
    """Random bytes that are known beforehand, and noted."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.taken = b""

    def __call__(self, size: int) -> bytes:
        drawn = self._chance.randbytes(size)
        self.taken += drawn
        return drawn


def cases() -> list[dict[str, Any]]:
    chance = random.Random(16)
    made = []
    for number in range(120):
        first = naive.MECHANISMS[number % len(naive.MECHANISMS)]
        columns = {
            "a": naive.random_column(chance, first, largest=60),
            ODD[number % len(ODD)]: naive.random_column(chance, chance.choice(naive.MECHANISMS), largest=12),
        }
        if number % 4 == 0:
            columns["open"] = {"type": "category", "values": ["no", "yes"], "mechanism": "as-is"}
        plan = Plan.from_document({"collect": 1, "columns": columns})
        truth = {
            name: column.input_text(chance.randrange(column.channel.inputs))
            for name, column in plan.columns.items()
        }
        known = Known(number)
        sent = answer(plan, truth, take=known)
        made.append({"form": plan.form(), "answers": truth, "bytes": known.taken.hex(), "sent": sent})
    return made


def written() -> str:
    return json.dumps(cases(), indent=0, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
