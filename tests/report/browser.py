"""A real browser on a leash: pages are opened at a width, in light or dark, and asked what is wrong.

Chromium is spoken to over two pipes, as its developer tools do: no library, no port.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOUD = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

# What a person would see at once: a page that scrolls sideways, text beyond its edge, text on text.
FAULTS = """(() => {
  const width = document.documentElement.clientWidth, faults = [];
  if (document.documentElement.scrollWidth > width)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide, not ${width}`);
  const texts = "svg text, h1, h2, h3, p, dt, dd, .name, .number, .tree li, label";
  for (const text of document.querySelectorAll(texts)) {
    const box = text.getBoundingClientRect();
    if (box.width > 1 && !text.closest(".scroll, .unseen") && (box.left < -0.5 || box.right > width + 0.5))
      faults.push(`beyond the edge: ${text.textContent.slice(0, 40)}`);
  }
  for (const plot of document.querySelectorAll(".plot > svg")) {
    const boxes = [...plot.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    boxes.forEach(([text, a], at) => boxes.slice(0, at).forEach(([other, b]) => {
      const beside = a.left > b.right - 1 || b.left > a.right - 1;
      if (a.width && !beside && a.top < b.bottom - 3 && b.top < a.bottom - 3)
        faults.push(`on each other: ${text.textContent} and ${other.textContent}`);
    }));
  }
  return faults;
})()"""


class Browser:
    """Chromium without a window, as long as the `with` lasts."""

    def __init__(self, home: Path) -> None:
        told, self._tell = os.pipe()
        heard, answers = os.pipe()
        self._process = subprocess.Popen(
            [
                *("sh", "-c", f'exec "$0" "$@" 3</dev/fd/{told} 4>/dev/fd/{answers}', str(CHROMIUM)),
                *("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}"),
                "--remote-debugging-pipe",
            ],
            pass_fds=(told, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(told)
        os.close(answers)
        self._heard, self._rest, self._calls = os.fdopen(heard, "rb"), b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._tell)
        self._heard.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask, and wait for the answer; what happens meanwhile is kept in `events`."""
        self._calls += 1
        asked = {"id": self._calls, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._tell, json.dumps(asked).encode() + b"\0")
        while (answer := self._next()).get("id") != self._calls:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._heard.read1(1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(first)
        return answer

    def open(self, page: Path, *, width: int, dark: bool) -> None:
        self.events.clear()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def asked(self, script: str) -> Any:
        """What a script finds on the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def console(self) -> list[str]:
        """What the page has complained about."""
        return [str(event) for event in self.events if event.get("method") in LOUD]
