"""How a page is asked for and made: one way in for every form, one way out for every template.

Handlers are plain functions. Every form passes `Pages.said`, which reads no more than it may and refuses what
does not carry the token of our own pages; so no handler can forget it.
"""

from __future__ import annotations

import asyncio
import errno
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from privet.declared import TABLE
from privet.errors import InternalError, MissingExtraError, PrivetError
from privet.policy.consistency import NO_PROMISE
from privet.report.markup import Safe, label_text
from privet.studio.before_after import Prepared
from privet.studio.counting import Counts
from privet.studio.gate import LARGEST_FORM, REFUSALS, Gate, form_of
from privet.studio.jobs import Jobs, spoken
from privet.studio.later import MOMENT, Latest, WaitingError
from privet.studio.look import Incoming, Look, Looks
from privet.studio.nodes import Lattices
from privet.studio.outline import Outlines
from privet.studio.project import Project
from privet.studio.shape import undecided
from privet.studio.typed import whole

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
    from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
    from markupsafe import Markup
    from starlette.concurrency import run_in_threadpool
except ImportError:
    raise MissingExtraError("the studio", "studio") from None

FULL = "there is no space left on the disk of the project: nothing was changed; make room, and say it again"
LOOKING = "the data is being looked at"
TURNS = "x-turns"  # a script asks, which goes itself where a form leads: browsers do not tell it an anchor
TEMPLATES = files("privet.studio") / "templates"
WHOSE = "say whose the rows are: an identifier repeats, so a person may have several"
DECIDED, PROMISED = ("done", "✓", "decided"), ("done", "✓", "something is promised")
OF_COLUMN = re.compile(r"attributes\.(?P<name>[^:]+): (?P<said>.+)", re.DOTALL)
STEPS = (
    ("open", "Open"),
    ("columns", "Columns"),
    ("hierarchies", "Hierarchies"),
    ("promise", "Promise"),
    ("explore", "Explore"),
    ("publish", "Publish"),
    ("releases", "Releases"),
)


@dataclass
class Studio:
    """What one run of the studio works on."""

    project: Project
    gate: Gate
    looks: Looks = field(default_factory=Looks)
    candidate: Incoming | None = None
    counts: Counts = field(default_factory=Counts)
    lattices: Lattices = field(default_factory=Lattices)
    beside: Latest[Prepared | None] = field(default_factory=Latest)
    standing: Latest[Any] = field(default_factory=Latest)  # of hierarchies
    outlines: Outlines = field(default_factory=Outlines)  # of trees
    before: dict[tuple[str, str], dict[str, Any]] = field(
        default_factory=dict
    )  # of a source's columns: trees
    jobs: Jobs = field(default_factory=Jobs)
    turn: threading.Lock = field(default_factory=threading.Lock, repr=False)  # to publish

    @property
    def look(self) -> Look:
        return self.looks.at(self.project)

    def url(self, path: str, anchor: str = "", **query: object) -> str:
        """Where a page is, for links and for going there after a form."""
        asked = f"?{urlencode({key: str(value) for key, value in query.items()})}" if query else ""
        return f"{self.gate.path}/{path}{asked}{f'#{quote(anchor)}' if anchor else ''}"


@dataclass(frozen=True)
class Asked:
    """One request: what stands in its address, and what its form says."""

    studio: Studio
    query: Mapping[str, str]
    form: Mapping[str, list[str]]

    @property
    def project(self) -> Project:
        return self.studio.project

    @property
    def look(self) -> Look:
        """What is seen of the data. A page that asks too early becomes one that waits; a form waits."""
        return self.studio.looks.at(self.project, None if self.form else MOMENT)

    def get(self, name: str) -> str:
        """What was asked or said by a name; nothing is an empty text."""
        return self.form[name][0] if name in self.form else self.query.get(name, "")

    def number(self, name: str) -> int:
        return whole(self.get(name), name)

    def page(self, template: str, status: int = 200, **shown: Any) -> Response:
        return HTMLResponse(render(self.studio, template, **shown), status_code=status)

    def go(self, path: str, anchor: str = "", **query: object) -> Response:
        """After a form: the page that shows what it did."""
        return RedirectResponse(self.studio.url(path, anchor, **query), status_code=303)


Handler: TypeAlias = Callable[[Asked], Response]


class Pages:
    """The pages of a studio, as an application."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
        self.app.add_exception_handler(404, _nothing)
        self.app.add_exception_handler(405, _nothing)

    def get(self, path: str, handler: Handler) -> None:
        """A page that changes nothing."""

        async def endpoint(request: Request) -> Response:
            asked = Asked(self.studio, dict(request.query_params), {})
            return await run_in_threadpool(answered, asked, handler)

        self.app.add_api_route(path, endpoint, methods=["GET"], response_model=None)

    def post(self, path: str, handler: Handler) -> None:
        """A form of one of our own pages."""

        async def endpoint(request: Request) -> Response:
            said = await self.said(request)
            if isinstance(said, Response):
                return said
            asked = Asked(self.studio, dict(request.query_params), said)
            answer = await run_in_threadpool(answered, asked, handler)
            if TURNS in request.headers and answer.status_code == 303:
                return JSONResponse({"go": answer.headers["location"]})
            return answer

        self.app.add_api_route(path, endpoint, methods=["POST"], response_model=None)

    def ask(self, path: str, handler: Handler) -> None:
        """A form that changes nothing: it is one so that no value of the data stands in an address."""
        self.studio.gate.asking.add(path)
        self.post(path, handler)

    async def said(self, request: Request) -> dict[str, list[str]] | Response:
        """What a form says, or why it is refused."""
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                return refusal(413)
        form = await asyncio.to_thread(form_of, body)
        if not self.studio.gate.is_ours(form.get("token", [""])[0]):
            return refusal(403)
        return form


def refusal(status: int) -> Response:
    return PlainTextResponse(f"{REFUSALS[status]}\n", status_code=status)


def attached(name: str) -> dict[str, str]:
    """What makes a browser save an answer under a name, whatever letters it has."""
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    exactly = quote(name, safe="")
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exactly}"}


async def _nothing(_request: Request, error: Any) -> Response:
    return refusal(405 if getattr(error, "status_code", 404) == 405 else 404)


def answered(asked: Asked, handler: Handler) -> Response:
    """What a handler answers; what privet refuses is a page of its own, and a fault says its kind only."""
    try:
        return handler(asked)
    except WaitingError as wait:
        return asked.page(
            "waiting.html",
            alone=True,
            title="One moment",
            state=wait.state,
            said=wait.said,
            stop=wait.stop,
        )
    except PrivetError as error:
        return asked.page("refused.html", 422, title="Not done", complaints=error.complaints)
    except OSError as error:
        if is_full(error):
            return asked.page("refused.html", 507, alone=True, title="Not done", complaints=[FULL])
        return _fault(asked, error)
    except Exception as error:  # noqa: BLE001 - its own words may quote data
        return _fault(asked, error)


def is_full(error: OSError) -> bool:
    """Is there no room left on the disk, or for this user on it?"""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def _fault(asked: Asked, error: Exception) -> Response:
    fault = InternalError(f"{type(error).__name__} while making this page; nothing was released")
    return asked.page("refused.html", 500, alone=True, title="A fault", complaints=fault.complaints)


def render(studio: Studio, template: str, *, alone: bool = False, **shown: Any) -> str:
    """A template with what every page has around it; `alone`: less what the policy says, which may fail."""
    project = studio.project
    try:
        document = {} if alone else project.document()
        complaints = [*project.complaints(), *whose(studio, document)] if project.source and document else []
    except PrivetError as error:
        document, complaints = {}, list(error.complaints)
    around = {
        "base": studio.gate.path,
        "token": studio.gate.form_token,
        "read_only": studio.gate.read_only,
        "project": project,
        "steps": STEPS,
        "marks": _marks(project, document),
        "here": "",
        "title": "",
        "left": _left(document, complaints),
        "ready": bool(document) and not complaints,
        "toml": project.text() if document else "",
        "command": "" if alone else _command(project),
        "jobs": [job for job in studio.jobs if job.running],
        "seen": None if alone else _seen(studio),
    }
    return environment().get_template(template).render(**{**around, **shown})


def _seen(studio: Studio) -> str | None:
    """When the data was looked at, where it changes without a sign; None: a page need not say it."""
    look = studio.looks.there(studio.project) if studio.project.is_silent else None
    if look is None:
        return None
    at, today = look.since.astimezone(), datetime.now().astimezone().date()
    return f"{at:%H:%M}" if at.date() == today else f"{at:%Y-%m-%d %H:%M}"


def _marks(project: Project, document: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """How far each step is: a kind, a sign, and what it means."""
    found = {}
    if document:
        waiting = len(list(undecided(dict(document))))
        found["columns"] = ("open", f"{waiting:,}", f"{waiting:,} to decide") if waiting else DECIDED
        found["promise"] = PROMISED if document.get("models") else ("open", "!", "nothing promised yet")
    if many := len(project.releases()):
        found["releases"] = ("some", f"{many:,}", f"{many:,} made")
    return found


def _command(project: Project) -> str:
    if project.source is None or not project.policy_file.exists():
        return ""
    return spoken(["privet", "publish", project.source, str(project.policy_file), "-o", "out"])


def whose(studio: Studio, document: Mapping[str, Any]) -> list[str]:
    """Whose the rows are, where something that names people repeats: publishing refuses until it is said."""
    if document.get("rows") or document.get("person") or document.get("kind") != TABLE:
        return []
    named = [
        name for name, said in document.get("attributes", {}).items() if said.get("role") == "identifier"
    ]
    look = studio.looks.there(studio.project)
    if look is None:
        return [LOOKING] if named else []
    return [WHOSE] if any(name in named for name in look.repeated) else []


def _left(document: Mapping[str, Any], complaints: Sequence[str]) -> list[tuple[str, str]]:
    """What is left to decide, short where many columns wait for the same, and the step where it is done."""
    waiting = list(undecided(dict(document)))
    rest = _at_once([said for said in complaints if "undecided" not in said])
    if not waiting:
        return rest or [_place(said) for said in complaints]
    many = f"{len(waiting)} columns or fields" if len(waiting) > 1 else f"“{label_text(waiting[0])}”"
    return [(f"decide what {many} {'are' if len(waiting) > 1 else 'is'}", "columns"), *rest]


def _at_once(complaints: Sequence[str]) -> list[tuple[str, str]]:
    """Each complaint and its step; one that several columns have is said once, with their names."""
    alike: dict[str, list[str]] = {}
    for said in complaints:
        found = OF_COLUMN.fullmatch(said)
        alike.setdefault(said if found is None else found["said"], []).append(said)
    told = []
    for message, several in alike.items():
        names = [found["name"] for said in several if (found := OF_COLUMN.fullmatch(said))]
        short = (
            f"{', '.join(map(label_text, names))}: {message}" if len(several) > 1 and names else several[0]
        )
        told.append((short, _place(several[0])[1]) if len(several) > 1 else _place(several[0]))
    return told


def _place(said: str) -> tuple[str, str]:
    """A complaint, and the step where it is mended; empty: none in particular."""
    if said == NO_PROMISE:
        return "promise something", "promise"
    if said == WHOSE:
        return said, "columns"
    steps = {"attributes.": "hierarchies" if "hierarchy" in said else "columns", "models": "promise"}
    steps |= {"algorithm": "promise", "trajectories": "columns", "transactions": "columns"}
    return said, next((step for start, step in steps.items() if said.startswith(start)), "")


class _Packaged(BaseLoader):
    """Templates as they stand in the package."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:  # noqa: ARG002
        if not template.endswith(".html") or "/" in template:
            raise TemplateNotFound(template)
        return (TEMPLATES / template).read_text(encoding="utf-8"), template, lambda: True

    def list_templates(self) -> list[str]:
        return sorted(one.name for one in TEMPLATES.iterdir() if one.name.endswith(".html"))


@cache
def environment() -> Environment:
    """Everything is escaped, except what the report's own builders have made."""
    made = Environment(
        loader=_Packaged(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: Markup(value) if isinstance(value, Safe) else value,  # noqa: S704 - escaped there
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["label"] = label_text
    made.filters["many"] = lambda number: f"{number:,}"
    return made
