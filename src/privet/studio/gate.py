"""Who may come in: this machine's own browser, with a link that works once, and nobody who sends it.

A page of a stranger may make the steward's browser ask this server for anything, and another user of the
machine may ask by himself. So: only requests that name this address (a name that a stranger lets point here
is refused), only below a path that nobody can guess, only with the cookie that the link was exchanged for,
and nothing changes without a token that only our own pages have, from our own origin. The cookie is bound to
the path, because browsers send cookies of this address to every port of it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Scope: TypeAlias = MutableMapping[str, Any]

LARGEST_FORM = 8 << 20  # bytes of what a form sends; a tree has a row for each value
ASKING, SAYING = ("GET", "HEAD"), "POST"
CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, browsers hide the origin of our own forms, too
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
REFUSALS = {
    400: "This request is not one that a browser sends to this page.",
    401: "This needs the link that privet studio has printed; it works once.",
    403: "This was not sent by a page of this studio, or the studio is read-only.",
    404: "There is nothing here.",
    405: "A page is asked for, or a form is sent.",
    411: "Say how long this is.",
    413: "This is larger than what is taken here.",
}


def _secret() -> str:
    return secrets.token_urlsafe(24)


@dataclass
class Gate:
    """The secrets of one run, and what each request must show."""

    port: int
    read_only: bool = False
    path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}", repr=False)
    token: str | None = field(default_factory=_secret, repr=False)  # None: it was used
    cookie: str = field(default_factory=_secret, repr=False)
    form_token: str = field(default_factory=_secret, repr=False)
    asking: set[str] = field(default_factory=set)  # forms that change nothing, which read-only allows
    _once: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def cookie_name(self) -> str:
        return f"privet-studio-{self.port}"

    @property
    def link(self) -> str:
        """What is printed: whoever opens it first is in."""
        return f"{self.origin}{self.path}/enter?token={self.token}"

    def exchanged(self, token: str) -> bool:
        """Is this the token? Then it is so for the last time."""
        with self._once:
            right = self.token is not None and secrets.compare_digest(token.encode(), self.token.encode())
            if right:
                self.token = None
            return right

    def knows(self, cookies: str) -> bool:
        """Does the cookie header have our cookie? Other services of this machine put theirs beside it."""
        said = (pair.strip().partition("=") for pair in cookies.split(";"))
        found = [value for name, _, value in said if name == self.cookie_name]
        return any(secrets.compare_digest(value.encode(), self.cookie.encode()) for value in found)

    def is_ours(self, form_token: str) -> bool:
        """Was this sent by a page of ours?"""
        return secrets.compare_digest(form_token.encode(), self.form_token.encode())

    def refusal(self, scope: Scope) -> int | None:
        """Why a request goes no further, as a status; None: it may come in."""
        headers: Mapping[str, list[str]] = _headers(scope["headers"])
        method = scope["method"]
        if headers.get("host") != [self.host]:
            return 400
        if not (scope["path"] + "/").startswith(self.path + "/"):
            return 404
        if method not in {*ASKING, SAYING}:
            return 405
        # A page of another site may not even ask, except by following a link to what is here.
        site = headers.get("sec-fetch-site", ["none"])
        if method == SAYING and (headers.get("origin") != [self.origin] or site[0] == "cross-site"):
            return 403
        if scope["path"] == f"{self.path}/enter" and method in ASKING:
            return None
        if not self.knows("; ".join(headers.get("cookie", []))):
            return 401
        harmless = scope["path"].removeprefix(self.path) in self.asking
        return 403 if method == SAYING and self.read_only and not harmless else None


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


class Guard:
    """The gate around an application: refuses before any of it runs, and says what browsers must refuse."""

    def __init__(self, app: Any, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there is no other way in: a socket of the web is closed unheard
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sealed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                said = _headers(message["headers"])
                added = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k not in said]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        status = self.gate.refusal(scope)
        if status is None:
            await self.app(
                {**scope, "path": scope["path"].removeprefix(self.gate.path) or "/"}, receive, sealed
            )
            return
        await _refuse(sealed, status)


async def _refuse(send: Any, status: int) -> None:
    body = f"{REFUSALS[status]}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def form_of(body: bytes) -> dict[str, list[str]]:
    r"""What a form sends, by name; what is not one is empty.

    Browsers send every end of a line as two letters, so a column's name of two lines would be another one.

    >>> form_of(b"column=Age%0D%0A(years)")
    {'column': ['Age\n(years)']}
    """
    try:
        found = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10_000)
    except ValueError:
        return {}
    return {name: [one.replace("\r\n", "\n") for one in said] for name, said in found.items()}
