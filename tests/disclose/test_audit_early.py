"""A request that arrives in one piece with the end of the TLS handshake, before anybody was told of it."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from privet.disclose.audit.door import Door, Limits, Visitor
from privet.disclose.audit.metrics import Metrics


class Wire(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.said = b""

    def write(self, data: Any) -> None:
        self.said += bytes(data)

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def answered() -> bytes:
    config = uvicorn.Config(application, log_config=None)
    config.load()
    door = Door(Limits(), Metrics())
    visitor = Visitor(door, config=config, server_state=ServerState(), app_state={})
    visitor._inside = door.enter(visitor)
    wire = Wire()
    visitor.data_received(b"GET / HTTP/1.1\r\nHost: node\r\n\r\n")
    visitor._welcome(wire)
    for _ in range(100):
        await asyncio.sleep(0)
    visitor.connection_lost(None)
    return wire.said


def test_a_request_that_comes_with_the_handshake_is_answered() -> None:
    said = asyncio.run(answered())
    assert said.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"ok")
