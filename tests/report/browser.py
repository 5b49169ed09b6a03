"""A real browser on a leash: pages are opened at a width, in light or dark, and asked what is wrong.

Chromium is spoken to over two pipes, as its developer tools do: no library, no port.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 300.0  # seconds without what is awaited, after which something is wrong, however busy the machine
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
        answer = self._answer(method, **parameters)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _answer(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        asked = {"id": self._calls, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._tell, json.dumps(asked).encode() + b"\0")
        while (answer := self._next()).get("id") != self._calls:
            self.events.append(answer)
        return answer

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._heard], [], [], PATIENCE)
            assert ready, "the browser says nothing any more"
            more = self._heard.read1(1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(first)
        return answer

    def open(self, page: Path | str, *, width: int, dark: bool) -> None:
        """A file or an address, at a width."""
        self.leaving()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.arrived()  # not the event of a load: that may be the last page's, told late

    def waited(self, script: str) -> Any:
        """What a script finds on the page, once it finds something; also across a change of pages."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            asked = {"expression": script, "returnByValue": True}
            found = self._answer("Runtime.evaluate", **asked).get("result", {}).get("result", {}).get("value")
            if found:
                return found
            time.sleep(0.02)
        shown = self.asked("document.body.innerText")[:500]
        raise AssertionError(f"the page never came to {script[:200]}: {shown}")

    def leaving(self) -> None:
        """Mark the page: the next one is known by not being marked, and so is one that a click renews."""
        self.events.clear()
        renewed = "document.addEventListener('renewed', () => { window.left = false; }, {once: true})"
        self.call("Runtime.evaluate", expression=f"window.left = true; {renewed}")

    def arrived(self) -> None:
        """Wait until another page is there, whole."""
        self.waited("!window.left && document.readyState === 'complete'")

    def click(self, selector: str, *, leads: bool = True) -> None:
        """A real click on what a selector finds first; `leads` to another page, which is awaited."""
        found = json.dumps(selector)
        box = self.waited(
            f"(() => {{ const one = document.querySelector({found}); "
            "one.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const box = one.getBoundingClientRect(); "
            "const at = {x: box.x + box.width / 2, y: box.y + box.height / 2}; "
            "return box.width && one.contains(document.elementFromPoint(at.x, at.y)) && at; })()"
        )
        self.leaving()
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **box)
        if leads:
            self.arrived()

    def fill(self, selector: str, text: str) -> None:
        """Type into a field, in place of what stands there."""
        self.waited(f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.focus(); "
                    "one.select && one.select(); return true; })()")  # fmt: skip
        self.call("Input.insertText", text=text)

    def press(self, key: str, *, leads: bool = False) -> None:
        """A key of the keyboard."""
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40}.get(key) or ord(key.upper())
        self.leaving()
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        said = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **said)
        self.call("Input.dispatchKeyEvent", type="keyUp", **said)
        if leads:
            self.arrived()

    def typed(self, text: str) -> None:
        """Type where the cursor is."""
        self.call("Input.insertText", text=text)

    def tabbed(self, selector: str) -> None:
        """Press Tab until something is reached that a selector fits; it must be seen to be reached."""
        found = json.dumps(selector)
        for _ in range(400):
            self.press("Tab")
            if self.asked(f"document.activeElement.matches({found})"):
                break
        else:
            raise AssertionError(f"no way leads to {selector} by keyboard")
        style = self.asked(
            "(({outlineStyle, outlineWidth, boxShadow}) => `${outlineStyle} ${outlineWidth} ${boxShadow}`)"
            "(getComputedStyle(document.activeElement))"
        )
        assert not style.startswith("none 0px none"), f"{selector} is reached, and nobody sees it"

    def drag(self, source: str, target: str) -> None:
        """Drag what a selector finds onto another, with a real mouse, to another page."""
        self.call("Input.setInterceptDrags", enabled=True)
        start, end = (
            self.waited(
                f"(() => {{ const box = document.querySelector({json.dumps(one)}).getBoundingClientRect(); "
                "return {x: box.x + 30, y: box.y + box.height / 2}; })()"
            )
            for one in (source, target)
        )
        self.leaving()
        self.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **start)
        for step in (5, 15):
            at = {"x": start["x"] + step, "y": start["y"] + step}
            self.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **at)
        until = time.monotonic() + PATIENCE
        held = None
        while held is None and time.monotonic() < until:
            self.asked("1")
            held = next((e for e in self.events if e.get("method") == "Input.dragIntercepted"), None)
        assert held is not None, "nothing is dragged"
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, data=held["params"]["data"], **end)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **end)
        self.call("Input.setInterceptDrags", enabled=False)
        self.arrived()

    def give(self, selector: str, file: Path) -> None:
        """Choose a file in a field for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """What is seen, as a PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(b64decode(found["data"]))

    def asked(self, script: str) -> Any:
        """What a script finds on the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def console(self) -> list[str]:
        """What the page has complained about."""
        return [str(event) for event in self.events if event.get("method") in LOUD]
