"""The page where data is opened: a file of the project, one that is dropped on the page, or a database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, NoReturn
from urllib.parse import unquote

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from privet.declared import TABLE
from privet.engines import text
from privet.errors import InputError, PrivetError, one_of
from privet.studio.folder import DATA, RELEASES
from privet.studio.jobs import spoken
from privet.studio.later import MOMENT, WaitingError, now
from privet.studio.look import Incoming
from privet.studio.pages import FULL, STEPS, Asked, Pages, Studio, is_full, refusal
from privet.studio.received import unpacked
from privet.studio.shape import DOCUMENTS, TRAJECTORIES, TRANSACTIONS
from privet.studio.typed import is_whole

LARGEST = 4 << 30  # bytes of a file that is dropped
LOOKING = ("open/state", "looking at the data")
KINDS = {
    "": "let privet tell",
    TABLE: "a table: rows and columns",
    TRAJECTORIES: "trajectories: who was where, when",
    DOCUMENTS: "documents: records inside records",
    TRANSACTIONS: "sets of items: baskets, diagnoses",
}


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/", begin)
    pages.get("/open", show)
    pages.get("/open/state", state)
    pages.get("/open/taken", taken)
    pages.post("/open/path", by_path)
    pages.post("/open/database", database)
    pages.post("/open/again", again)
    pages.ask("/open/look", look_again)

    async def upload(request: Request) -> Response:
        return await uploaded(pages, request)

    pages.app.add_api_route("/open/upload", upload, methods=["POST"], response_model=None)


def begin(asked: Asked) -> Response:
    """Where a visitor is sent first: to the data, or to its columns."""
    project, studio = asked.project, asked.studio
    if project.source is None:
        return asked.go("open")
    if not studio.gate.read_only:
        if project.policy_file.exists():
            project.note()
        else:
            look = asked.look
            project.begin(project.source, look.text)
            studio.looks.keep(project, look)
    return asked.go("columns" if project.policy_file.exists() else "open")


def show(asked: Asked) -> Response:
    project = asked.project
    return asked.page(
        "open.html",
        here="open",
        title="Open",
        files=project.files(),
        releases=list(project.named()),
        kinds=KINDS,
        typed=spoken(["privet", "init", project.source or "DATA", "-o", str(project.policy_file)]),
    )


def state(asked: Asked) -> Response:
    """Has the data been looked at? For the page that waits."""
    candidate = asked.studio.candidate
    soon = asked.studio.looks.soon(asked.project) if candidate is None else candidate.soon
    return JSONResponse({"running": not soon.done(), "said": LOOKING[1], "of": None})


def _begun(asked: Asked, source: str, query: str | None = None) -> Response:
    kind = asked.get("kind")
    if kind not in KINDS:
        raise InputError(one_of("kind", tuple(KINDS), kind))
    asked.studio.candidate = Incoming.of(source, kind, query)
    return asked.go("open/taken")


def by_path(asked: Asked) -> Response:
    """A file of the project's folder, by its path in it."""
    return _begun(asked, str(asked.project.inside(asked.get("path"))))


def database(asked: Asked) -> Response:
    """A database, by its address and what to select; the address is kept nowhere but in this run."""
    url, query = asked.get("url").strip(), asked.get("query").strip()
    if not text.is_url(url):
        said = ", ".join(f"{scheme}://…" for scheme in text.SCHEMES)
        raise InputError(f"address: of a database: {said}")
    if not query:
        raise InputError("query: what to select, such as SELECT * FROM patients")
    return _begun(asked, url, query)


def again(asked: Asked) -> Response:
    """Draft the policy of the same data anew, perhaps as data of another kind."""
    return _begun(asked, asked.project.given, asked.project.selected())


def look_again(asked: Asked) -> Response:
    """Read a database anew that gives no sign of changes; what was decided stays."""
    if asked.project.is_silent:
        asked.project.looks += 1
    here = asked.get("here")
    return asked.go(here if here in dict(STEPS) else "columns")


def taken(asked: Asked) -> Response:
    """What somebody wanted to open, once it was looked at: if it can be read it is the project's data."""
    studio, candidate = asked.studio, asked.studio.candidate
    if candidate is None:
        return asked.go("")
    try:
        found = now(candidate.soon, MOMENT, *LOOKING)
    except WaitingError:
        raise
    except Exception:
        studio.candidate = None
        if candidate.dropped is not None:
            candidate.dropped.unlink(missing_ok=True)
        raise
    studio.candidate = None
    studio.project.begin(candidate.source, found.text, candidate.query)
    studio.looks.keep(studio.project, found)
    return asked.go("columns")


async def uploaded(pages: Pages, request: Request) -> Response:
    """A file that was dropped: written as it arrives, up to a limit; it is taken if it can be read."""
    studio = pages.studio
    if not studio.gate.is_ours(request.headers.get("x-studio-token", "")):
        return refusal(403)
    declared = request.headers.get("content-length", "")
    if not is_whole(declared):
        return refusal(411)
    if int(declared) > LARGEST:
        return refusal(413)
    kind = request.headers.get("x-kind", "")
    if kind not in KINDS:
        return refusal(400)
    try:
        place = studio.project.room_for(DATA, unquote(request.headers.get("x-file-name", "")))
        await _kept(place, request.stream())
        if place.suffix.lower() == ".zip":
            return await run_in_threadpool(_received, studio, place)
    except PrivetError as error:
        return JSONResponse({"complaints": list(error.complaints)}, status_code=422)
    except OSError as error:  # of two files with one name, sent at once; or there is no folder to put it in
        if is_full(error):
            return JSONResponse({"complaints": [FULL]}, status_code=507)
        return JSONResponse({"complaints": ["the file could not be kept: send it again"]}, status_code=422)
    studio.candidate = Incoming.of(str(place), kind, dropped=place)
    return JSONResponse({"go": studio.url("open/taken")})


def _received(studio: Studio, place: Path) -> Response:
    """A zip is a release that somebody sent: it is kept to be verified, and the zip goes."""
    try:
        folder = studio.project.room_for(RELEASES, f"received-{place.stem}")
        unpacked(place, folder)
    finally:
        place.unlink()
    return JSONResponse({"go": studio.url("release", name=folder.name)})


async def _kept(place: Path, parts: AsyncIterator[bytes]) -> None:
    """Write a file as it arrives; nothing of it stays if not all of it can be kept."""
    size = 0
    file = await run_in_threadpool(_fresh, place)
    try:
        try:
            async for part in parts:
                size += len(part)
                if size > LARGEST:
                    _refuse_size()
                await run_in_threadpool(file.write, part)
        finally:
            await run_in_threadpool(file.close)  # writes what is left of it, which may fail as well
    except BaseException:
        await run_in_threadpool(place.unlink)
        raise


def _refuse_size() -> NoReturn:
    raise InputError("this file is larger than what is taken here")


def _fresh(place: Path) -> IO[bytes]:
    place.touch(mode=0o600, exist_ok=False)
    place.chmod(0o600)  # whatever the umask
    return place.open("wb")
