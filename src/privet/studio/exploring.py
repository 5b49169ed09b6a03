"""The pages that look around before anything leaves: searches, the lattice, what an epsilon buys."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fastapi.responses import JSONResponse, Response

from privet.declared import TABLE
from privet.errors import InputError, PrivetError, UnsupportedError
from privet.relational.fulldomain import FullDomain
from privet.report import explored, planned
from privet.report.markup import Safe
from privet.studio import edits
from privet.studio.jobs import State, spoken
from privet.studio.later import MOMENT, now
from privet.studio.nodes import Explored
from privet.studio.pages import Asked, Pages
from privet.studio.shape import Document
from privet.studio.told import exposure
from privet.studio.typed import is_whole

WAIT = 600.0  # seconds
LOOKING = "looking at the nodes"
SEARCHES = ("top-down", "optimal", "mondrian", "local", "suppression", "incognito", "samarati")


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/explore", show)
    pages.post("/explore/start", start)
    pages.post("/explore/take", take)
    pages.post("/explore/plan", plan)
    pages.post("/explore/risk", risk)
    pages.get("/explore/lattice", lattice)
    pages.get("/explore/lattice/state", state)
    pages.ask("/explore/lattice/stop", stop)
    pages.get("/explore/lattice/nodes", nodes)
    pages.get("/explore/lattice/node", node)
    pages.get("/explore/lattice/finer", finer)
    pages.post("/explore/lattice/pin", pin)


def show(asked: Asked) -> Response:
    last, drawn = asked.studio.jobs.last("explore"), asked.studio.jobs.last("plan")
    found = None if last is None else last.answer
    spends = _spends(asked)
    return asked.page(
        "explore.html",
        here="explore",
        title="Explore",
        kind=str(asked.project.document().get("kind", TABLE)),
        searches=SEARCHES,
        found=found,
        frontier=None if found is None else explored.frontier(found),
        runs=None if found is None else explored.runs(found),
        refused=None if found is None else explored.refused(found),
        best=[] if found is None else [run for run in found["runs"] if run.get("frontier")],
        spends=spends,
        curve=None if drawn is None else planned.curve(drawn.answer),
        plans=None if drawn is None else planned.plans(drawn.answer),
        at_risk=_at_risk(asked),
        earlier={kind for kind in ("explore", "plan", "risk") if _is_earlier(asked, kind)},
        complaints=asked.project.complaints(),
        typed=spoken(["privet", "explore", asked.project.source or "DATA", str(asked.project.policy_file)]),
    )


def _is_earlier(asked: Asked, kind: str) -> bool:
    """Was what is shown of this kind of work found with another policy, or of other data?"""
    last = asked.studio.jobs.last(kind)
    return last is not None and last.about != asked.project.standing()


def _spends(asked: Asked) -> bool:
    try:
        return bool(asked.project.policy().algorithm.public_domains)
    except PrivetError:
        return False


def _at_risk(asked: Asked) -> list[tuple[str, Safe]]:
    """Who could be found in the data as it stands, as `privet risk` draws it."""
    last = asked.studio.jobs.last("risk")
    return [] if last is None else exposure(last.answer)


def risk(asked: Asked) -> Response:
    """How exposed the people in the data are, as it stands."""
    asked.project.policy()
    words = ("risk", asked.project.given, str(asked.project.policy_file))
    return asked.go("job", n=asked.studio.jobs.start("risk", *words, about=asked.project.standing()).number)


def start(asked: Asked) -> Response:
    """Several searches and parameters, in the background."""
    asked.project.policy()
    chosen = [name for name in asked.form.get("search", ()) if name in SEARCHES]
    sizes = [word for word in asked.get("k").replace(" ", "").split(",") if word]
    if not all(map(is_whole, sizes)):
        raise InputError("k: numbers with commas between them, such as 2,5,10")
    words = ["explore", asked.project.given, str(asked.project.policy_file)]
    words += ["--algorithms", ",".join(chosen)] if chosen else []
    words += ["--k", ",".join(sizes)] if sizes else []
    return asked.go(
        "job", n=asked.studio.jobs.start("explore", *words, about=asked.project.standing()).number
    )


def take(asked: Asked) -> Response:
    """A run that was tried becomes the policy's own."""
    last = asked.studio.jobs.last("explore")
    runs: list[dict[str, Any]] = [] if last is None else list(last.answer["runs"])
    chosen = next((run for run in runs if run["name"] == asked.get("run")), None)
    if chosen is None:
        raise InputError("there is no such run")

    def change(document: Document) -> None:
        edits.set_algorithm(document, chosen["algorithm"])
        for model in document.get("models", ()):
            if chosen["k"] is not None and "k" in model:
                model["k"] = chosen["k"]

    asked.project.trial(change)
    asked.project.edit(change)
    return asked.go("publish")


def plan(asked: Asked) -> Response:
    """What an epsilon would buy: no data is read, and nothing is spent."""
    words = ("plan", str(asked.project.policy_file), "--records", str(asked.look.records))
    job = asked.studio.jobs.start("plan", *words, about=asked.project.standing())
    job.finished.wait(20)
    return asked.go("explore", anchor="plan") if job.state is State.DONE else asked.go("job", n=job.number)


def _lattice(asked: Asked) -> Explored:
    """The lattice, once it is there."""
    return _soon(asked).result(WAIT)


def _soon(asked: Asked) -> Future[Explored]:
    policy = asked.project.policy()
    if policy.kind != "table" or policy.algorithm.road is not None or policy.algorithm.public_domains:
        raise UnsupportedError("a lattice is there for tables that are generalised, not for this policy")
    key = asked.project.standing()
    return asked.studio.lattices.at(key, asked.project.given, policy)


def state(asked: Asked) -> Response:
    """Is the lattice there? For the page that waits."""
    soon, walk = _soon(asked), asked.studio.lattices.walk
    said = f"{LOOKING}: {walk.settled:,} of {walk.size:,} are settled" if walk.size else LOOKING
    return JSONResponse(
        {"running": not soon.done(), "said": said, "done": walk.settled, "of": walk.size or None}
    )


def stop(asked: Asked) -> Response:
    """No more looks at nodes: what is known is shown, and of the others it is said that nobody has looked."""
    asked.studio.lattices.walk.stop.set()
    return asked.go("explore/lattice")


def lattice(asked: Asked) -> Response:
    """All nodes; where they take longer than a moment, a page that waits for them."""
    soon = _soon(asked)
    found = now(soon, MOMENT, "explore/lattice/state", LOOKING, "explore/lattice/stop")
    chosen = asked.project.document().get("algorithm", {}).get("levels", {})
    order = found.loss.argsort(kind="stable")
    best = [at for at in order if found.keeps[at] == 1][:30]
    return asked.page(
        "lattice.html",
        here="explore",
        title="Lattice",
        found=found,
        size=len(found.loss),
        kept=int((found.keeps == 1).sum()),
        unknown=int((found.keeps == 2).sum()),
        best=[(tuple(int(x) for x in found.matrix[at]), float(found.loss[at])) for at in best],
        pinned=chosen,
    )


def nodes(asked: Asked) -> Response:
    """All nodes, for the picture."""
    return JSONResponse(_lattice(asked).to_dict())


def _levels(asked: Asked, found: Explored) -> tuple[int, ...]:
    words = asked.get("levels").split(",")
    if len(words) != len(found.top) or not all(map(is_whole, words)):
        raise InputError("levels: one number for each quasi-identifier")
    levels = tuple(map(int, words))
    if any(level > top for level, top in zip(levels, found.top, strict=True)):
        raise InputError("levels: a hierarchy has no such level")
    return levels


def node(asked: Asked) -> Response:
    """One node, looked at as the search does."""
    return _told(asked, Explored.node)


def finer(asked: Asked) -> Response:
    """What lies one step below it: of a million records that takes a while, so the node comes first."""
    return _told(asked, Explored.finer)


def _told(asked: Asked, what: Callable[[Explored, tuple[int, ...]], Any]) -> Response:
    found = _lattice(asked)
    try:
        return JSONResponse(what(found, _levels(asked, found)))
    except PrivetError as error:
        return JSONResponse({"complaints": list(error.complaints)}, status_code=422)


def pin(asked: Asked) -> Response:
    """Publish at this node: the search is told its levels."""
    found = _lattice(asked)
    levels = found.lattice.named(_levels(asked, found))
    own = asked.project.policy().algorithm
    name = own.name if isinstance(own, FullDomain) else "optimal"
    said = asked.project.document().get("algorithm", {}) if isinstance(own, FullDomain) else {}

    def change(document: Document) -> None:
        edits.set_algorithm(document, {**said, "type": name, "levels": levels})

    asked.project.trial(change)
    asked.project.edit(change)
    return asked.go("publish")
