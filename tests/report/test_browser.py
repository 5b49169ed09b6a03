"""The report in a real browser: it runs its script, asks for nothing, and complains about nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.report.pages import render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]


@pytest.fixture
def visits() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and what it was asked for."""
    asked: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def opened(page: str, tmp_path: Path) -> tuple[str, list[str]]:
    """The page as the browser has it after loading, and what stands on its console."""
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            *(
                str(CHROMIUM),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={tmp_path / 'profile'}",
            ),
            *("--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def poisoned(evidence: dict[str, Any], address: str) -> dict[str, Any]:
    image = f'<img src="{address}/stolen" onerror="console.error(1)">'
    hostile = f'</script></title>{image}<script src="{address}/x"></script>'
    evidence["purpose"] = hostile
    evidence["attributes"]["age"]["values"][0]["label"] = hostile
    evidence["measures"]["attributes"]["age"]["distribution"][0][0] = hostile
    evidence["steps"][0]["label"] = hostile
    evidence["cautions"].append(hostile)
    return evidence


def test_it_runs_asks_for_nothing_and_complains_about_nothing(
    evidence: dict[str, Any], visits: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = visits
    page, console = opened(render(poisoned(evidence, address)), tmp_path)
    assert console == []
    assert asked == []
    marks = re.findall(r'<g class="mark[^>]*>', page)
    assert marks
    assert all("aria-label=" in mark for mark in marks)  # the script ran: titles became names


def test_a_page_that_asks_would_be_seen(visits: tuple[str, list[str]], tmp_path: Path) -> None:
    address, asked = visits
    _, console = opened(f'<img src="{address}/seen"><script>console.error("seen")</script>', tmp_path)
    assert asked == ["/seen"]
    assert len(console) == 1


def test_the_policy_stops_what_escaping_would_miss(
    evidence: dict[str, Any], visits: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = visits
    broken = render(evidence).replace(
        "</main>", f'<img src="{address}/x"><script>document.title = "owned"</script></main>'
    )
    page, console = opened(broken, tmp_path)
    assert asked == []
    assert "<title>owned" not in page
    assert len([line for line in console if "Content Security Policy" in line]) == 2
