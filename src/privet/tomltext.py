"""What a TOML text says, for every file that people write for us.

The parser of the standard library ends in three ways besides an answer: it is not TOML, a number has more
digits than Python reads, or lists stand so deep in each other that it gives up. A reader hears one error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from privet.errors import PolicyError

_BARE = re.compile(r"[A-Za-z0-9_\-]+")  # a key that needs no quotes
_PLAIN = re.compile(r"[ !#-\[\]-~]*")  # a text of which nothing is escaped
WIDE = 160  # letters of a line, up to which a table stands in one


def document(text: str, place: str) -> dict[str, Any]:
    """The tables of a text; `place` is what it is called in a complaint.

    >>> document("a = [1, 2]", "here")
    {'a': [1, 2]}
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:  # no TOML, or a number with more digits than Python reads
        raise PolicyError(f"{place}: {error}") from None
    except RecursionError:
        raise PolicyError(f"{place}: lists or tables stand too deep in each other") from None


def written(said: Mapping[str, Any]) -> str:
    """A document as a person would write it: small tables in one line each, large ones under a head.

    >>> print(written({"policy": 1, "attributes": {"age": {"role": "quasi"}}, "models": [{"k": 5}]}))
    policy = 1
    <BLANKLINE>
    [attributes]
    age = { role = "quasi" }
    <BLANKLINE>
    [[models]]
    k = 5
    <BLANKLINE>
    """
    text = "\n".join(_lines(said, ())).lstrip("\n") + "\n"
    return text if tomllib.loads(text) == said else tomli_w.dumps(said)


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    lines = {key: f"{_key(key)} = {_inline(value)}" for key, value in table.items()}
    wide = any(isinstance(value, Mapping) and len(lines[key]) > WIDE for key, value in table.items())
    below = [  # all tables or none, so that their order stays
        (key, value)
        for key, value in table.items()
        if (isinstance(value, Mapping) and (wide or not path)) or (not path and _tables(value))
    ]
    yield from (line for key, line in lines.items() if key not in dict(below))
    for key, value in below:
        name = ".".join(map(_key, (*path, key)))
        for one in [value] if isinstance(value, Mapping) else value:
            yield from ("", f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]")
            yield from _lines(one, (*path, key))


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_inline(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if type(value) is str and _PLAIN.fullmatch(value):
        return f'"{value}"'
    return tomli_w.dumps({"x": value}).removeprefix("x = ").removesuffix("\n")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else tomli_w.dumps({name: 0}).removesuffix(" = 0\n")
