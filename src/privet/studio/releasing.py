"""The pages at the end of the road: publish, what came of it, verify, hand over, and what differs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import urlencode

from fastapi.responses import JSONResponse, Response, StreamingResponse

from privet.declared import TABLE
from privet.difference import difference
from privet.errors import InputError, PrivetError
from privet.evidence import folder as ev
from privet.evidence import sealed
from privet.evidence.values import Evidence, Promise
from privet.report import html
from privet.report.markup import label_text
from privet.report.numerals import percent
from privet.report.words import wording
from privet.studio import edits
from privet.studio.addresses import shown
from privet.studio.before_after import SHOWN, Prepared, prepared
from privet.studio.jobs import Job, State, spoken
from privet.studio.later import MOMENT, now
from privet.studio.pages import Asked, Pages, attached, whose
from privet.studio.promises import promised
from privet.studio.shape import Document
from privet.studio.told import attackers, exposure, loss

PROMISING = {"publish", "verify"}  # commands that say what became of promises
AT_RISK = "still-at-risk"
DRAWN = {AT_RISK: exposure, "compare": loss, "attack": attackers}
WRITTEN = {"explain", "compare"}  # which are drawn for tables, and read as the command writes them for others
STAGES = {
    "read": "reading",
    "tally": "counting",
    "search": "searching",
    "apply": "recoding",
    "check": "checking again",
    "measure": "measuring",
    "attack": "attacking",
    "write": "writing",
}
TITLES = {
    AT_RISK: "Who is still at risk",
    "risk": "Who could be found",
    "compare": "What was lost",
    "explain": "Why so much was lost",
    "attack": "What attackers get",
}
BECOMES = {
    "identifier": ("Identifiers", "never leave"),
    "replaced": ("Replaced", "leave as pseudonyms, hashes, masks or shifted"),
    "quasi": ("Quasi-identifiers", "leave as coarse as the promise needs"),
    "sensitive": ("Sensitive", "leave as they are; the promise is about them"),
    "target": ("Targets", "leave as they are"),
    "other": ("Others", "leave as they are"),
}
ASKED = ("verify", "explain", "compare", "attack", AT_RISK)  # of a release
CHUNK = 1 << 20
FEW = 8  # labels of a column that a line lists
LEDGER = "ledger.sqlite"  # of the project
ALONE = {"verify"}  # what the report says because it stands by itself
SAME_DAY = (1980, 1, 1, 0, 0, 0)  # of files in a zip: when it was packed tells nothing


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/publish", show)
    pages.post("/publish/start", start)
    pages.post("/publish/ledger", ledger)
    pages.get("/job", job_page)
    pages.get("/job/state", job_state)
    pages.ask("/job/cancel", cancel)
    pages.get("/releases", history)
    pages.get("/release", release)
    pages.get("/release/report", report)
    pages.get("/release/zip", zipped)
    pages.get("/release/beside", before_and_after)
    pages.get("/release/beside/state", beside_state)
    pages.ask("/release/beside", before_and_after)
    pages.ask("/release/ask", ask)
    pages.get("/diff", compared)


def show(asked: Asked) -> Response:
    project = asked.project
    folder = project.next_release()
    words = () if project.source is None else publish_words(asked, folder)
    return asked.page(
        "publish.html",
        here="publish",
        title="Publish",
        folder=folder,
        digest=project.standing(),
        leaves=list(_leaves(project.document())),
        promised=[said for one in promised(project.document()) for said in (one.sentences or (one.title,))],
        typed=spoken(["privet", *words]) if words else "",
        python=_python(asked, folder) if words else "",
        complaints=[*project.complaints(), *whose(asked.studio, project.document())]
        if words
        else ["there is no data yet"],
        spends=_spends(asked),
        purse=project.document().get("ledger", {}),
        recent=[job for job in asked.studio.jobs if job.kind == "publish"][-5:],
    )


def _leaves(document: Document) -> Iterator[tuple[str, str, list[str]]]:
    """What becomes of the columns, or of the fields of documents, by their roles."""
    said = {
        name: "replaced" if one.get("publish", "drop") != "drop" else str(one.get("role"))
        for name, one in document.get("attributes", {}).items()
    }
    for kind, of_type in document.get("documents", {}).get("types", {}).items():
        for role in edits.FIELD_ROLES:
            said |= {f"{kind}.{name}": role for name in edits.listed(of_type.get(role))}
    for role, (title, meaning) in BECOMES.items():
        if names := [name for name, given in said.items() if given == role]:
            yield title, meaning, names


def _spends(asked: Asked) -> bool:
    """Does the policy publish with noise, which is paid for?"""
    try:
        return bool(asked.project.policy().algorithm.public_domains)
    except PrivetError:
        return False


def publish_words(asked: Asked, folder: Path) -> tuple[str, ...]:
    """The command of a release."""
    return ("publish", asked.project.given, str(asked.project.policy_file), "-o", str(folder))


def _python(asked: Asked, folder: Path) -> str:
    return (
        "import privet as pv\n\n"
        f"release = pv.publish({shown(asked.project.given)!r}, {str(asked.project.policy_file)!r})\n"
        f"release.write({str(folder)!r})\n"
        f"assert pv.verify({str(folder)!r}).holds\n"
    )


def ledger(asked: Asked) -> Response:
    """Set a data set's budget, once, and pay this policy's releases from it."""
    place, dataset = asked.project.folder / LEDGER, " ".join(asked.get("dataset").split())
    if not dataset or dataset.startswith("-"):
        raise InputError("dataset: give the data set a name, the same for every release of it")
    if budget := asked.get("budget").strip():
        job = asked.studio.jobs.start(
            "ledger", "ledger", "open", str(place), "--dataset", dataset, f"--budget={budget}"
        )
        job.finished.wait(30)
        if job.state is not State.DONE:
            return asked.go("job", n=job.number)
    asked.project.edit(lambda document: edits.set_ledger(document, LEDGER, dataset))
    return asked.go("publish")


def start(asked: Asked) -> Response:
    """Publish with what stands in the policy now."""
    asked.project.policy()  # a policy that is not one yet says so here
    attack, digest = ("--attack",) if asked.get("attack") else (), asked.get("digest")
    with asked.studio.turn:  # two tabs may say it at once
        under_way = [job for job in asked.studio.jobs if job.kind == "publish" and job.running]
        same = [job for job in under_way if job.about == digest]
        if same:  # it would be two releases of one thing, and with noise paid for twice
            return asked.go("job", n=same[0].number)
        folder = asked.project.next_release([place_of(job) for job in under_way])
        words = (*publish_words(asked, folder), *attack)
        begun = asked.project.taken_as_shown(
            digest, lambda: asked.studio.jobs.start("publish", *words, about=digest)
        )
    return asked.go("job", n=begun.number)


def place_of(job: Job) -> str:
    """The folder that a publication is to become, by name."""
    return Path(job.command[job.command.index("-o") + 1]).name


def _job(asked: Asked) -> Job:
    found = asked.studio.jobs.find(asked.number("n"))
    if found is None:
        raise InputError("this studio has run no such job")
    return found


def job_page(asked: Asked) -> Response:
    job = _job(asked)
    made = Path(str(job.answer.get("folder", ""))).name if job.kind == "publish" else ""
    name = job.about if job.kind in ASKED else made
    return asked.page(
        "job.html",
        here={"publish": "publish", "explore": "explore", "plan": "explore", "risk": "explore"}.get(
            job.kind, "releases"
        ),
        title=TITLES.get(job.kind, job.kind.capitalize()),
        job=job,
        stage=STAGES.get(job.stage, job.stage),
        release=name,
        typed=spoken(job.command),
        promises=_promises(job.answer.get("promises", ())) if job.kind in PROMISING else [],
        drawn=DRAWN[job.kind](job.answer) if job.kind in DRAWN and job.state is State.DONE else [],
    )


def job_state(asked: Asked) -> Response:
    """How far a job is, for the page that waits."""
    job = _job(asked)
    told = STAGES.get(job.stage, job.stage) or "starting"
    many = "" if not job.done else f" {job.done:,}" if job.of is None else f" {job.done:,} of {job.of:,}"
    return JSONResponse({"running": job.running, "said": told + many, "done": job.done, "of": job.of})


def cancel(asked: Asked) -> Response:
    job = _job(asked)
    job.cancel()
    job.finished.wait(10)
    return asked.go("job", n=job.number)


def _promises(told: Any) -> list[dict[str, Any]]:
    """Promises as evidence notes them, in words."""
    found = []
    for promise in map(Promise.read, told):
        said = wording(promise, ())
        found.append({"title": said.title, "claims": said.claims, "holds": promise.holds})
    return found


def history(asked: Asked) -> Response:
    rows, broken = [], []
    for name, path in asked.project.named().items():
        try:
            rows.append((name, ev.read(path)))
        except PrivetError as error:
            broken.append((name, error.complaints[0]))
    return asked.page("releases.html", here="releases", title="Releases", rows=rows, broken=broken)


def release(asked: Asked) -> Response:
    """What a release says of itself."""
    name = asked.get("name")
    folder = asked.project.release(name)
    evidence = ev.read(folder)
    return asked.page(
        "release.html",
        here="releases",
        title=name,
        name=name,
        folder=folder,
        evidence=evidence,
        told=[
            (part.ident, part.title, body)
            for part in html.SECTIONS
            if part.ident not in ALONE and (body := part.body(evidence)) is not None
        ],
        facts=_facts(evidence),
        others=[other for other in asked.project.named() if other != name],
        typed=spoken(["privet", "verify", str(folder)]),
        compares=asked.project.source is not None,
        files=_files(folder, evidence),
    )


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    """A release in four numbers, where it has them."""
    every = evidence.records + (evidence.suppressed_records or 0)
    found = [(f"{evidence.records:,}", "records published")]
    if evidence.suppressed_records:
        share = percent(evidence.suppressed_records / every)
        found.append((f"{evidence.suppressed_records:,}", f"records left out, {share} of {every:,}"))
    loss = evidence.measures.loss
    if loss is not None and loss.lm is not None:
        found.append((f"{percent(loss.lm)}", "of the detail lost (LM)"))
    kept = [one for one in evidence.promises if one.holds]
    if evidence.promises:
        found.append((f"{len(kept):,} of {len(evidence.promises):,}", "promises kept, by its own word"))
    return found


def _files(folder: Path, evidence: Evidence) -> list[str]:
    """What belongs to a release, by its own list; nothing else of the folder is handed out."""
    named = [*(evidence.files or ()), ev.FILE, *ev.SIGNATURES]
    return [name for name in named if Path(name).name == name and (folder / name).is_file()]


def report(asked: Asked) -> Response:
    """The report as it lies there. It may be a stranger's, so it runs apart from the studio's own pages."""
    path = asked.project.release(asked.get("name")) / ev.REPORT
    sealed.regular(path)
    return Response(
        path.read_bytes(),
        media_type="text/html; charset=utf-8",
        headers={
            "content-security-policy": f"{html.security(html.asset('hover.js'))}; sandbox allow-scripts"
        },
    )


def zipped(asked: Asked) -> Response:
    """The release as one file to hand over; its private notes are not in it."""
    folder = asked.project.release(asked.get("name"))
    packed: IO[bytes] = SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115 - closed when it was sent
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(_files(folder, ev.read(folder))):
            sealed.regular(folder / name)
            entry = zipfile.ZipInfo(f"{folder.name}/{name}", SAME_DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with made.open(entry, "w", force_zip64=True) as into, (folder / name).open("rb") as file:
                while chunk := file.read(CHUNK):
                    into.write(chunk)
    packed.seek(0)

    def parts() -> Any:
        with packed:
            while chunk := packed.read(CHUNK):
                yield chunk

    return StreamingResponse(parts(), media_type="application/zip", headers=attached(f"{folder.name}.zip"))


def before_and_after(asked: Asked) -> Response:
    """Some records as they are, and as they leave."""
    first = asked.number("first") if asked.get("first") else 0
    name = asked.get("name")
    asked.project.release(name)
    state = f"release/beside/state?{urlencode({'name': name})}"
    ready = now(_beside(asked), None if asked.form else MOMENT, state, "reading the records")
    return asked.page(
        "beside.html",
        here="releases",
        title="Before and after",
        name=name,
        found=None if ready is None else ready.some(asked.get("search"), first),
        search=asked.get("search"),
        shown=SHOWN,
    )


def _beside(asked: Asked) -> Future[Prepared | None]:
    """The records of the data and of a release; read once, until one of them changes."""
    folder, source = asked.project.release(asked.get("name")), asked.project.given
    key = (asked.project.signature(), folder, (folder / ev.FILE).stat().st_mtime_ns)
    return asked.studio.beside.at(key, lambda: prepared(source, folder))


def beside_state(asked: Asked) -> Response:
    """Are the records read? For the page that waits."""
    return JSONResponse({"running": not _beside(asked).done(), "said": "reading the records", "of": None})


def ask(asked: Asked) -> Response:
    """A command about a release: verify, explain, compare or attack."""
    folder, what = asked.project.release(asked.get("name")), asked.get("what")
    words = {
        "verify": ("verify", str(folder)),
        "explain": ("explain", str(folder)),
        "compare": ("compare", asked.project.source or "", str(folder)),
        "attack": ("attack", str(folder), "--raw", asked.project.source or ""),
        AT_RISK: ("risk", *_as_data(folder)),
    }
    if what not in words:
        raise InputError("a release can be verified, explained, compared, attacked or looked at for risk")
    written = what in WRITTEN and ev.read(folder).kind != TABLE
    job = asked.studio.jobs.start(what, *words[what], about=asked.get("name"), written=written)
    return asked.go("job", n=job.number)


def _as_data(folder: Path) -> tuple[str, str]:
    """A release as somebody sees it who has nothing else: its data, under its own policy."""
    data = ev.read(folder).data
    if data is None or Path(data.file).name != data.file:
        raise InputError("this release has not one table")
    return str(folder / data.file), str(folder / "policy.toml")


def compared(asked: Asked) -> Response:
    """What differs between two releases."""
    old, new = (asked.project.release(asked.get(which)) for which in ("old", "new"))
    found = difference(old, new)
    return asked.page(
        "diff.html",
        here="releases",
        title="What differs",
        found=found,
        names=(asked.get("old"), asked.get("new")),
        policy=[(row["place"], _said(row["old"]), _said(row["new"])) for row in found.policy],
        columns=[
            (row["column"], row["old"], row["new"], _few(row["labels_gone"]), _few(row["labels_new"]))
            for row in found.columns
        ],
        promises=[(row["type"], _found(row["old"]), _found(row["new"])) for row in found.promises],
        loss=[
            (_measured(row), *(_amount(row["measure"], row[which]) for which in ("old", "new")), _change(row))
            for row in found.loss
            if row["old"] != row["new"]
        ],
        typed=spoken(["privet", "diff", str(old), str(new)]),
    )


def _said(value: Any) -> str | None:
    """What a policy says in one place, as text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _few(labels: Any) -> str:
    shown = ", ".join(label_text(label) for label in labels[:FEW])
    return f"{shown} and {len(labels) - FEW:,} more" if len(labels) > FEW else shown


def _found(one: Any) -> str | None:
    return None if one is None else ", ".join(f"{key} = {value}" for key, value in one["achieved"].items())


def _measured(row: Any) -> str:
    return str(row["measure"]) if row["column"] is None else f"{row['measure']} of {row['column']}"


def _change(row: Any) -> str | None:
    """By how much a measure changed, with a sign that says which way."""
    if row["old"] is None or row["new"] is None:
        return None
    by = row["new"] - row["old"]
    sign = "▲ " if by > 0 else "▼ "
    return f"{sign}{_amount(row['measure'], abs(by))}"


def _amount(measure: str, value: Any) -> str | None:
    if value is None:
        return None
    return f"{value:,}" if measure == "discernibility" else percent(value)
