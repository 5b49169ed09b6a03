"""Which version of the protocol a node speaks: said with every request and every answer.

Nodes of different versions would misread each other, or wait for each other in vain: their contracts need not
even have the same digest. So a node refuses a caller with another version, names it, and says its own. Only
health is told to anybody whose certificate is known, whatever it speaks. A relay says its version and refuses
nobody for another: it carries what it cannot read. Whose certificate nobody knows is refused by both.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from privet.disclose.audit.lines import say
from privet.node.calling import HEADER, version_of
from privet.node.faces import Faces
from privet.parties.transport import SPEAKS

try:
    from starlette.requests import Request
except ImportError:
    from privet.errors import MissingExtraError

    raise MissingExtraError("a node", "node") from None

FREE = "/healthz"


class Speaking:
    """What stands between the network and the application."""

    def __init__(self, app: Any, faces: Faces, other: Callable[[str, int], None] | None = None) -> None:
        """`other` hears of a peer with another version; without it nobody is refused."""
        self._app, self._faces, self._other = app, faces, other

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                said = [*message.get("headers", ()), (HEADER.encode(), str(SPEAKS).encode())]
                message = {**message, "headers": said}
            await send(message)

        async def refuse(status: int, why: str) -> None:
            say("refused", level=logging.WARNING, anybody=True, status=status, why=why, **told)
            body = json.dumps({"error": why}).encode()
            about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await answer({"type": "http.response.start", "status": status, "headers": about})
            await answer({"type": "http.response.body", "body": body})

        request = Request(scope)
        told = self._faces.told(request)
        if "peer" not in told:  # also whoever was known when it connected
            await refuse(403, "not a peer")
            return
        theirs = version_of(request.headers.get(HEADER))
        if self._other is None or theirs == SPEAKS or scope["path"] == FREE:
            await self._app(scope, receive, answer)
            return
        which = f"version {theirs}" if theirs else "no version that there is"
        why = f"speaks {which} of the protocol, this node {SPEAKS}"
        self._other(told["peer"], theirs)
        await refuse(426, why)
