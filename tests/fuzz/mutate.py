"""Damage: what bad luck and bad people do to a file, from a seed so that it can be done again."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

WORDS = [
    *(
        b"",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\r\n",
        b'"',
        b"'",
        b",",
        b";",
        b"\t",
        b"=",
        b"*",
    ),
    *(
        b"NaN",
        b"inf",
        b"-0",
        b"1e99999999",
        b"9" * 400,
        b"-1",
        b"0.1.2",
        b"1/0",
        b"0/0",
        b"2026-02-30",
        b"1_000",
    ),
    *(
        b"null",
        b"true",
        b"[]",
        b"{}",
        b"[[",
        b"{{",
        b"]]>",
        b"<!--",
        b"&amp;",
        b"&x;",
        b"<a>",
        b"</a>",
        b"<![CDATA[",
    ),
    *(
        "\u202e".encode(),
        "é".encode(),
        "\U0001f600".encode(),
        b"\xc3",
        b"\xed\xa0\x80",
        b"%s%n",
        b"../../etc/passwd",
    ),
    *(
        b"SELECT",
        b"SUM(",
        b"WHERE",
        b"OR 1=1",
        b"--",
        b"/*",
        b"GROUP BY",
        b"policy = 2",
        b"[[models]]",
        b"k = -1",
    ),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**30,
        -(10**30),
        1e308,
        "",
        "x",
        "1/0",
        "1e99999999",
        "\x00",
        "\u202e",
    ),
    *([], {}, [[]], [None], {"": None}, ["x"] * 50, [1, [2, [3, [4]]]]),
]


ENDS = re.compile(rb"(?<=[0-9A-Za-z])(?=[^0-9A-Za-z])|(?<=[^0-9A-Za-z])(?=[0-9A-Za-z])")


def damaged(raw: bytes, random: Random) -> bytes:
    """A few hurts, one after the other."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        raw = random.choice(HURTS)(raw, random)
    return raw[: 1 << 20]


def _span(raw: bytes, random: Random) -> tuple[int, int]:
    at = random.randrange(len(raw) + 1)
    return at, min(len(raw), at + random.choice((1, 1, 2, 8, 64, 1000)))


def _flip(raw: bytes, random: Random) -> bytes:
    if not raw:
        return b"\x01"
    at = random.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << random.randrange(8))]) + raw[at + 1 :]


def _cut(raw: bytes, random: Random) -> bytes:
    a, b = _span(raw, random)
    return raw[:a] + raw[b:]


def _end(raw: bytes, random: Random) -> bytes:
    return raw[: random.randrange(len(raw) + 1)]


def _twice(raw: bytes, random: Random) -> bytes:
    a, b = _span(raw, random)
    return raw[:b] + raw[a:b] * random.choice((1, 1, 2, 30)) + raw[b:]


def _word(raw: bytes, random: Random) -> bytes:
    a, b = _span(raw, random)
    return raw[:a] + random.choice(WORDS) + raw[random.choice((a, b)) :]


def _noise(raw: bytes, random: Random) -> bytes:
    a, b = _span(raw, random)
    return raw[:a] + random.randbytes(b - a) + raw[b:]


def _lines(raw: bytes, random: Random) -> bytes:
    lines = raw.split(b"\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(3)
    if how == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif how == 1:
        del lines[a]
    else:
        lines.insert(a, lines[b])
    return b"\n".join(lines)


def _token(raw: bytes, random: Random) -> bytes:
    """A run of letters and digits becomes another one of the same file, or a word."""
    ends = [found.start() for found in islice(ENDS.finditer(raw), 4000)]
    if len(ends) < 4:
        return raw
    at = random.randrange(len(ends) - 1)
    other = random.randrange(len(ends) - 1)
    fresh = random.choice((raw[ends[other] : ends[other + 1]], random.choice(WORDS)))
    return raw[: ends[at]] + fresh + raw[ends[at + 1] :]


HURTS: list[Callable[[bytes, Random], bytes]] = [
    _flip,
    _cut,
    _end,
    _twice,
    _word,
    _noise,
    _lines,
    _token,
    _token,
    _word,
]


def repacked(raw: bytes, random: Random) -> bytes:
    """A packed file that is hurt; or a sound one whose text was."""
    if random.random() < 0.5:
        return damaged(raw, random)
    return gzip.compress(damaged(gzip.decompress(raw), random), mtime=0)


def reshaped(raw: bytes, random: Random) -> bytes:
    """JSON that is JSON still, with other things in its places; what is not JSON is damaged as bytes are."""
    try:
        document = json.loads(raw)
    except ValueError:
        return damaged(raw, random)
    for _ in range(random.choice((1, 1, 2, 4))):
        document = _changed(document, random)
    return json.dumps(document).encode()


def _changed(node: Any, random: Random) -> Any:
    if isinstance(node, dict) and node and random.random() < 0.9:
        key = random.choice(sorted(node))
        how = random.randrange(8)
        if how == 0:
            return {k: v for k, v in node.items() if k != key}
        if how == 1:
            return node | {random.choice(("x", "", "policy", key + "x")): random.choice(VALUES)}
        return node | {key: _changed(node[key], random)}
    if isinstance(node, list) and node and random.random() < 0.9:
        at = random.randrange(len(node))
        how = random.randrange(8)
        if how == 0:
            return node[:at] + node[at + 1 :]
        if how == 1:
            return [*node, random.choice((node[at], random.choice(VALUES)))]
        return [*node[:at], _changed(node[at], random), *node[at + 1 :]]
    return random.choice(VALUES)
