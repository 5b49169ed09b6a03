"""The page where data is opened: a file of the project, or one that is dropped on the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, NoReturn
from urllib.parse import unquote

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from privet.errors import InputError, PrivetError
from privet.studio.look import looked
from privet.studio.pages import Asked, Pages, refusal
from privet.studio.project import DATA

LARGEST = 4 << 30  # bytes of a file that is dropped


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/", begin)
    pages.get("/open", show)
    pages.post("/open/path", by_path)
    pages.post("/open/again", again)

    async def upload(request: Request) -> Response:
        return await uploaded(pages, request)

    pages.app.add_api_route("/open/upload", upload, methods=["POST"], response_model=None)


def begin(asked: Asked) -> Response:
    """Where a visitor is sent first: to the data, or to its columns."""
    project = asked.project
    if project.source is None:
        return asked.go("open")
    if not project.policy_file.exists() and not asked.studio.gate.read_only:
        project.begin(project.source, asked.studio.look.text)
    return asked.go("columns" if project.policy_file.exists() else "open")


def show(asked: Asked) -> Response:
    return asked.page(
        "open.html", here="open", title="Open", files=asked.project.files(), releases=asked.project.releases()
    )


def by_path(asked: Asked) -> Response:
    """A file of the project's folder, by its path in it."""
    return _taken(asked, asked.project.inside(asked.get("path")))


def again(asked: Asked) -> Response:
    """Draft the policy of the same data anew."""
    asked.project.begin(asked.project.given, looked(asked.project.given, asked.project.selected()).text)
    return asked.go("columns")


def _taken(asked: Asked, path: Path) -> Response:
    asked.project.begin(path, looked(str(path)).text)  # what cannot be read is said before anything is taken
    return asked.go("columns")


async def uploaded(pages: Pages, request: Request) -> Response:
    """A file that was dropped: written as it arrives, up to a limit, and taken if it can be read."""
    studio = pages.studio
    if not studio.gate.is_ours(request.headers.get("x-studio-token", "")):
        return refusal(403)
    declared = request.headers.get("content-length", "")
    if not declared.isdigit():
        return refusal(411)
    if int(declared) > LARGEST:
        return refusal(413)
    try:
        place = studio.project.room_for(DATA, unquote(request.headers.get("x-file-name", "")))
        await _kept(place, request.stream())
        try:
            found = await run_in_threadpool(looked, str(place))
        except PrivetError:
            await run_in_threadpool(place.unlink)
            raise
        studio.project.begin(place, found.text)
    except PrivetError as error:
        return JSONResponse({"complaints": list(error.complaints)}, status_code=422)
    return JSONResponse({"go": studio.url("columns")})


async def _kept(place: Path, parts: AsyncIterator[bytes]) -> None:
    size = 0
    file = await run_in_threadpool(_fresh, place)
    try:
        async for part in parts:
            size += len(part)
            if size > LARGEST:
                _refuse_size()
            await run_in_threadpool(file.write, part)
    except BaseException:
        await run_in_threadpool(place.unlink)
        raise
    finally:
        await run_in_threadpool(file.close)


def _refuse_size() -> NoReturn:
    raise InputError("this file is larger than what is taken here")


def _fresh(place: Path) -> IO[bytes]:
    place.touch(mode=0o600, exist_ok=False)
    return place.open("wb")
