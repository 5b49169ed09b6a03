"""Addresses of databases: what may be shown of them, and how a password goes to a command unseen.

Whoever uses the machine sees the words of every command that runs on it, so a password is not one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from privet.engines.text import is_url

VARIABLE = "PGPASSWORD"  # where PostgreSQL's own library looks
HIDDEN = "…"
_KEY = "password"


def parted(word: str) -> tuple[str, str | None]:
    """An address without its password, and the password; any other word as it is.

    >>> parted("postgresql://me:a%20b@db/x?sslmode=require")
    ('postgresql://me@db/x?sslmode=require', 'a b')
    >>> parted("postgresql://db/x?password=secret"), parted("people.csv")
    (('postgresql://db/x', 'secret'), ('people.csv', None))
    """
    if not is_url(word):
        return word, None
    address = urlsplit(word)
    user, colon, said = address.netloc.rpartition("@")[0].partition(":")
    found = unquote(said) if colon else None
    asked = parse_qsl(address.query, keep_blank_values=True)
    found = next((value for key, value in asked if key == _KEY), found)
    if found is None:
        return word, None
    host = address.netloc.rpartition("@")[2]
    rest = urlencode([(key, value) for key, value in asked if key != _KEY])
    return address._replace(netloc=f"{user}@{host}" if user else host, query=rest).geturl(), found


def shown(word: str) -> str:
    """The same for people: that there is a password, and not which.

    >>> shown("postgresql://me:secret@db/x")
    'postgresql://me:…@db/x'
    """
    plain, password = parted(word)
    if password is None:
        return word
    user, at, host = urlsplit(plain).netloc.rpartition("@")
    return urlsplit(plain)._replace(netloc=f"{user}:{HIDDEN}@{host}" if at else f":{HIDDEN}@{host}").geturl()


def unseen(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words of a command without a password, and what its environment says instead."""
    found = [parted(word) for word in words]
    told = [password for _, password in found if password is not None]
    return [word for word, _ in found], {VARIABLE: told[0]} if told else {}
