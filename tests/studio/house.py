"""A studio without a socket: requests go to the application itself, as a browser would send them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import httpx

from privet.studio.app import application
from privet.studio.gate import Gate
from privet.studio.pages import Studio
from privet.studio.project import Project

PORT = 8123
MOMENT = 0.01  # seconds between two looks, so that what is waited for has the processor


class House:
    """A steward's browser in front of a studio."""

    def __init__(self, data: Path | None, folder: Path | None = None, *, read_only: bool = False) -> None:
        project = Project.opened(None if data is None else str(data), folder)
        self.studio = Studio(project, Gate(PORT, read_only=read_only))
        self.app = application(self.studio)
        self.cookie: str | None = None

    @property
    def project(self) -> Project:
        return self.studio.project

    def raw(self, method: str, path: str, **more: Any) -> httpx.Response:
        """A request with nothing that a browser of ours would add."""

        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.studio.gate.origin) as client:
                return await client.request(method, path, **more)

        return asyncio.run(go())

    def enter(self) -> httpx.Response:
        """Follow the link; the cookie is kept."""
        found = self.raw("GET", self.studio.gate.link)
        self.cookie = found.headers["set-cookie"].partition(";")[0]
        return found

    def get(self, path: str, **headers: str) -> httpx.Response:
        """A page; where it waits for the data to be looked at, so does this."""
        while True:
            found = self.raw("GET", self.studio.gate.path + path, headers=self.headers(headers))
            if 'data-state="hierarchies/state' in found.text:
                time.sleep(MOMENT)
                continue
            if 'data-state="open/state"' not in found.text:
                return found
            candidate = self.studio.candidate
            wait([self.studio.looks.soon(self.project) if candidate is None else candidate.soon], 120)

    def post(self, path: str, form: Mapping[str, Any] | None = None, **headers: str) -> httpx.Response:
        """A form of one of our pages; numbers that are still being counted are asked for again."""
        known = {"digest": self.project.standing()} if path == "/publish/start" else {}  # the page has it
        sent = {"token": self.studio.gate.form_token, **known, **(form or {})}
        said = {"origin": self.studio.gate.origin, **headers}
        while True:
            found = self.raw("POST", self.studio.gate.path + path, data=sent, headers=self.headers(said))
            if path != "/promise/live" or '"counting":true' not in found.text:
                return found
            time.sleep(MOMENT)

    def done(self, path: str, form: Mapping[str, Any] | None = None) -> str:
        """A form that must be taken; where it leads."""
        found = self.post(path, form)
        assert found.status_code == 303, found.text
        return str(found.headers["location"]).removeprefix(self.studio.gate.path)

    def opened(self, path: str, form: Mapping[str, Any]) -> httpx.Response:
        """A form that opens data, and what comes of it."""
        assert self.done(path, form) == "/open/taken"
        return self.get("/open/taken")

    def page(self, path: str) -> str:
        """A page that must be there."""
        found = self.get(path)
        assert found.status_code == 200, found.text
        return found.text

    def headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {**({"cookie": self.cookie} if self.cookie else {}), **more}

    def ran(self, path: str, form: Mapping[str, Any] | None = None) -> Any:
        """Start long work by a form, and wait until it has ended."""
        where = self.done(path, form)
        job = self.studio.jobs.find(int(where.rpartition("=")[2]))
        assert job is not None
        assert job.finished.wait(120), "the command does not end"
        return job


def routes(house: House, method: str) -> list[str]:
    """Every path that the studio answers with a method."""
    return [
        route.path.replace("{name}", "studio.css")
        for route in house.app.app.routes
        if method in getattr(route, "methods", ())
    ]


def open_house(data: Path | None, folder: Path | None = None, *, read_only: bool = False) -> House:
    """A studio whose link was followed."""
    house = House(data, folder, read_only=read_only)
    house.enter()
    return house
