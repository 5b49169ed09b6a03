"""`privet audit serve` in a process of its own, and what analysts ask it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
from tests.forked import Forked

LOADED = (
    *("privet.cli.audit", "privet.disclose.audit.service", "privet.disclose.audit.draft"),
    "privet.disclose.audit.summation",  # which loads scipy
)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """`privet audit serve` in a process of its own; forked, where no other program is named."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        db: str | None = None,
        program: tuple[str, ...] | None = None,
    ) -> None:
        words = ["audit", "serve", "--db", db or f"sqlite:///{folder}/staff.db"]
        words += ["--config", str(folder / "audit.toml"), "--port", "0", *more]
        self.said = folder / "gateway.log"  # a pipe that nobody empties would stop the gateway
        with self.said.open("wb") as said:
            self.running: Forked | subprocess.Popen[bytes] = (
                Forked(words, load=LOADED, stderr=said.fileno())
                if program is None
                else subprocess.Popen([*program, *words], stderr=said, stdout=subprocess.DEVNULL)
            )
        self.port = self._listening()
        self.scheme = "https" if "--tls-key" in more else "http"
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"
        assert httpx.get(f"{self.url}/healthz", verify=False, timeout=120).status_code == 200

    def _listening(self) -> int:
        """Where, as its log says: a port that was free a moment ago may be somebody else's now."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            began, ended, _ = self.said.read_text(encoding="utf-8").partition("\n")
            if ended:
                return int(json.loads(began)["port"])
            assert self.running.poll() is None, began
            time.sleep(0.02)
        raise AssertionError("the gateway does not come up")

    def stop(self, number: int = signal.SIGTERM) -> str:
        os.kill(self.running.pid, number)
        self.running.wait(timeout=60)
        return self.said.read_text(encoding="utf-8")


def sqls(analyst: int, count: int) -> list[str]:
    kinds = ("max(bonus)", "min(days)")
    return [
        f"select {kinds[at % 2]} from staff "
        f"where age > {20 + (analyst * 7 + at * 5) % 44} or dept = '{'ABC'[at % 3]}'"
        for at in range(count)
    ]
