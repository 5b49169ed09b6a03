"""Identifiers that are published in another form instead of being dropped.

Stops: reading a name, a number or an exact date off the release. Does not stop: whoever holds the key
recomputes every hash and pseudonym, and equal values stay equal, so records of one person can be linked
with each other. A disguise is not a promise: the quasi-identifiers beside it decide who can be found.

Keys never stand in a policy: they come from a file or an environment variable, when they are needed.
"""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from privet.core import Disguise
from privet.declared import settle
from privet.domain import Value
from privet.errors import InputError, InternalError, PolicyError, one_of, unknown_key

SHORTEST_KEY = 16  # bytes
DEFAULT_ENV = "PRIVET_KEY"
STARS = "****"  # always so many: their number must not tell how long the value was
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # base 32 without I, L, O and U, which are misread
CODE_LENGTH = 12  # characters of 5 bits

_CODE = re.compile(rf"P-[{CROCKFORD}]{{{CODE_LENGTH}}}")
_HEX = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """Where a secret is kept; it is read at each use and never held, shown or compared."""

    file: Path | None = None
    env: str | None = None
    base: Path = field(default=Path(), compare=False)  # the folder that `file` starts from

    def __post_init__(self) -> None:
        settle(self)
        if (self.file is None) == (self.env is None):
            raise PolicyError("key_file, key_env: give one of them")
        if not self.env and self.file in {None, Path()}:
            raise PolicyError(f"{'key_file' if self.env is None else 'key_env'}: text, and not empty")

    def __repr__(self) -> str:
        return "Key()"

    def secret(self) -> bytes:
        if self.file is not None:
            place = f"key_file {self.file}"
            try:
                key = (self.base / self.file).read_bytes().rstrip(b"\r\n")
            except OSError as error:
                raise PolicyError(f"{place}: cannot be read ({error.strerror}); {_MAKE_A_KEY}") from None
        else:
            place = f"key_env {self.env}"
            key = os.fsencode(os.environ.get(str(self.env), ""))
            if not key:
                raise PolicyError(f"{place}: the environment variable is not set; {_MAKE_A_KEY}")
        if len(key) < SHORTEST_KEY:
            raise PolicyError(f"{place}: a key has at least {SHORTEST_KEY} bytes; {_MAKE_A_KEY}")
        return key

    def to_policy(self) -> dict[str, object]:
        return {"key_file": str(self.file)} if self.file is not None else {"key_env": str(self.env)}


_MAKE_A_KEY = "make one with: openssl rand -hex 32"


def _digest(key: Key, purpose: bytes) -> Callable[[str], bytes]:
    # One key for each purpose: what one disguise publishes must tell nothing about another's output.
    derived = hmac.digest(key.secret(), b"privet/1/" + purpose, "sha256")
    return lambda text: hmac.digest(derived, text.encode(), "sha256")


@dataclass(frozen=True, slots=True)
class Mask:
    """The first and last characters, stars between; a value that would be shown in full is all stars.

    >>> Mask(last=3).cover(["0155 1234567", "567", None])
    ['****567', '****', None]
    """

    first: int = 0
    last: int = 0

    name: ClassVar[str] = "mask"

    def __post_init__(self) -> None:
        settle(self)
        if any(kept < 0 for kept in (self.first, self.last)):
            raise PolicyError("first, last: how many characters are kept, 0 or more")

    def cover(self, values: Sequence[Value], person: Sequence[Value] | None = None) -> list[Value]:  # noqa: ARG002 - for shift
        return [None if value is None else self._masked(value) for value in values]

    def fits(self, published: str) -> bool:
        if published == STARS:
            return True
        kept = self.first + self.last
        return len(published) == kept + len(STARS) and published[self.first :].startswith(STARS) and kept > 0

    def _masked(self, value: str) -> str:
        if len(value) <= self.first + self.last:
            return STARS
        return value[: self.first] + STARS + value[len(value) - self.last :]

    def to_policy(self) -> dict[str, object]:
        return {"publish": self.name, "first": self.first, "last": self.last}


@dataclass(frozen=True, slots=True)
class Hash:
    """HMAC-SHA256 in hexadecimal, under a key derived from the given one."""

    key: Key

    name: ClassVar[str] = "hash"

    def __post_init__(self) -> None:
        settle(self)

    def cover(self, values: Sequence[Value], person: Sequence[Value] | None = None) -> list[Value]:  # noqa: ARG002 - for shift
        digest = _digest(self.key, b"hash")
        published = {value: digest(value).hex() for value in set(values) if value is not None}
        return [None if value is None else published[value] for value in values]

    def fits(self, published: str) -> bool:
        return _HEX.fullmatch(published) is not None

    def to_policy(self) -> dict[str, object]:
        return {"publish": self.name} | self.key.to_policy()


@dataclass(frozen=True, slots=True)
class Pseudonym:
    """A short code such as `P-7F3K9QXM2D4V` that can be read out loud; the same value, the same code."""

    key: Key

    name: ClassVar[str] = "pseudonym"

    def __post_init__(self) -> None:
        settle(self)

    def cover(self, values: Sequence[Value], person: Sequence[Value] | None = None) -> list[Value]:  # noqa: ARG002 - for shift
        digest = _digest(self.key, b"pseudonym")
        published = {value: _code(digest(value)) for value in set(values) if value is not None}
        if len(set(published.values())) < len(published):
            raise InternalError("two identifiers got the same pseudonym; use another key")
        return [None if value is None else published[value] for value in values]

    def fits(self, published: str) -> bool:
        return _CODE.fullmatch(published) is not None

    def to_policy(self) -> dict[str, object]:
        return {"publish": self.name} | self.key.to_policy()


def _code(digest: bytes) -> str:
    bits = int.from_bytes(digest, "big")
    return "P-" + "".join(CROCKFORD[bits >> 5 * at & 31] for at in range(CODE_LENGTH))


@dataclass(frozen=True, slots=True)
class Shift:
    """ISO dates moved by up to `days` in either direction, all dates of one person by the same number.

    How long something took stays right; when it happened does not. Never by 0 days.
    """

    key: Key
    days: int = 365

    name: ClassVar[str] = "shift"

    def __post_init__(self) -> None:
        settle(self)
        if self.days < 1:
            raise PolicyError("days: how far dates are shifted at most, 1 or more")

    def cover(self, values: Sequence[Value], person: Sequence[Value] | None = None) -> list[Value]:
        if person is None:
            raise PolicyError(
                'by: say whose dates they are, as in by = "patient": the column that names the person'
            )
        if len(person) != len(values):
            raise InternalError("dates and persons are two columns of the same table")
        digest = _digest(self.key, b"shift")
        offsets = {who: self._offset(digest(who)) for who in set(person) if who is not None}
        published: list[Value] = []
        nobody = wrong = 0
        for value, who in zip(values, person, strict=True):
            moved = None
            if value is not None and who is None:
                nobody += 1
            elif value is not None and who is not None:
                moved = _moved(value, offsets[who])
                wrong += moved is None
            published.append(moved)
        if nobody or wrong:
            raise InputError(
                *(
                    [f"{nobody} dates belong to no person; drop these records or fill the column in"]
                    if nobody
                    else []
                ),
                *(
                    [f"{wrong} values are not ISO dates that can be shifted; write them as 2024-03-05"]
                    if wrong
                    else []
                ),
            )
        return published

    def fits(self, published: str) -> bool:
        return _moved(published, 0) is not None

    def _offset(self, digest: bytes) -> int:
        # 256 bits over a few hundred days: no day is measurably likelier than another.
        at = int.from_bytes(digest, "big") % (2 * self.days)
        return at - self.days if at < self.days else at - self.days + 1

    def to_policy(self) -> dict[str, object]:
        return {"publish": self.name, "days": self.days} | self.key.to_policy()


_ISO = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})((?:[T ].+)?)")


def _moved(text: str, days: int) -> str | None:
    """The date moved, its time of day as it was; None if it is no ISO date or leaves the calendar."""
    parts = _ISO.fullmatch(text)
    if parts is None:
        return None
    try:
        datetime.fromisoformat(text)
        return (date.fromisoformat(parts[1]) + timedelta(days=days)).isoformat() + parts[2]
    except (ValueError, OverflowError):
        return None


_KEYS: Mapping[str, tuple[str, ...]] = {
    Pseudonym.name: ("key_file", "key_env"),
    Hash.name: ("key_file", "key_env"),
    Mask.name: ("first", "last"),
    Shift.name: ("key_file", "key_env", "days", "by"),
}


def parse(spec: Mapping[str, object], *, base: Path = Path()) -> Disguise:
    """The disguise that a policy asks for: `publish = "mask", last = 3`.

    `role` and `by` may stand beside it: they are the attribute's, and whoever loads the policy reads them.

    >>> parse({"publish": "mask", "last": 3})
    Mask(first=0, last=3)
    """
    kind = spec.get("publish")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise PolicyError(one_of("publish", tuple(_KEYS), kind))
    complaints = []
    for key in spec:
        if key == "key":
            complaints.append("key: a key never stands in a policy; give key_file or key_env")
        elif key not in (*_KEYS[kind], "publish", "role"):
            complaints.append(unknown_key(_KEYS[kind], key))
    given = {key: value for key, value in spec.items() if key in _KEYS[kind]}
    keys = [key for key in ("key_file", "key_env") if key in given]
    complaints += [
        f"{key}: text, and not empty" for key in keys if not isinstance(given[key], str) or not given[key]
    ]
    try:
        disguise = _build(kind, given, base)
    except PolicyError as error:
        complaints += error.complaints
    if complaints:
        raise PolicyError(*complaints)
    return disguise


def _build(kind: str, given: Mapping[str, object], base: Path) -> Disguise:
    counts: dict[str, Any] = {key: given[key] for key in ("first", "last", "days") if key in given}
    if kind == Mask.name:
        return Mask(**counts)
    file = Path(str(given["key_file"])) if "key_file" in given else None
    env = str(given["key_env"]) if "key_env" in given else None if file else DEFAULT_ENV
    key = Key(file, env, base)
    if kind == Shift.name:
        return Shift(key, **counts)
    return Hash(key) if kind == Hash.name else Pseudonym(key)
