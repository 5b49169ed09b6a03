"""The page where something is promised: in sentences, with numbers that say what it would take today."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi.responses import JSONResponse, Response

from privet import registry
from privet.core import Role
from privet.declared import TABLE
from privet.drafts.accept import Answers, accept
from privet.drafts.text import inline
from privet.effort import StoppedError
from privet.errors import InputError, PrivetError
from privet.evidence.values import Promise
from privet.policy.notation import build, describe
from privet.policy.presets import Preset
from privet.policy.presets import names as preset_names
from privet.readings import Rows
from privet.report.words import wording
from privet.studio import edits, fields
from privet.studio.counting import DroppedError
from privet.studio.later import MOMENT, WaitingError, now
from privet.studio.pages import Asked, Pages
from privet.studio.shape import Document

COUNTING = "Counting on every record …"
TOO_LONG = (
    "Not counted here: on every record this takes longer than a page can wait. Nothing is guessed instead; "
    "publishing counts it, and releases nothing that does not keep it."
)
SIZES = (2, 3, 5, 10, 20)  # of classes, side by side, where a promise has a k
FIRST = ("k-anonymity", "lkc-privacy", "distinct-l-diversity", "t-closeness", "differential-privacy")


@dataclass(frozen=True)
class Promised:
    """One promise of the policy, for people."""

    at: int
    type: str
    title: str
    sentences: tuple[str, ...]
    limits: str


@dataclass(frozen=True)
class Offer:
    """A promise or a search that can be chosen."""

    name: str
    summary: str


def routes(pages: Pages) -> None:
    """What can be asked and said here."""
    pages.get("/promise", show)
    pages.ask("/promise/live", live)
    pages.post("/promise/add", add)
    pages.post("/promise/drop", drop)
    pages.post("/promise/preset", preset)
    pages.post("/promise/algorithm", algorithm)
    pages.post("/promise/purpose", purpose)
    pages.post("/promise/text", text)


def show(asked: Asked) -> Response:
    document = asked.project.document()
    kind = str(document.get("kind", "table"))
    model, search = asked.get("model"), asked.get("algorithm")
    at = asked.get("at") if model else ""
    chosen = document.get("algorithm", {})
    return asked.page(
        "promise.html",
        here="promise",
        title="Promise",
        kind=kind,
        promised=list(promised(document)),
        models=list(offered("models", kind)),
        model=model,
        inputs=_inputs("models", model, edits.model_at(document, model, at)[1]),
        at=at,
        algorithms=list(offered("algorithms", kind)),
        algorithm=chosen.get("type", ""),
        search=search,
        settings=_inputs("algorithms", search, chosen if chosen.get("type") == search else None),
        protectable=_protectable(document),
        presets=[Preset.find(name) for name in preset_names()] if kind in {"table", "trajectories"} else [],
        purpose=document.get("purpose", ""),
        digest=asked.project.digest(),
    )


def _inputs(group: str, name: str, table: Mapping[str, Any] | None) -> list[fields.Input]:
    return list(fields.inputs(group, name, table)) if name in registry.installed(group) else []


def offered(group: str, kind: str) -> Iterator[Offer]:
    """What is installed for data of this kind, the usual first."""
    there = registry.installed(group)
    order = sorted(there, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    for name in order:
        if kind in there[name].load().kinds:
            yield Offer(name, there[name].summary.replace("`", "").split(". ")[0].removesuffix("."))


def promised(document: Document) -> Iterator[Promised]:
    """The promises of a policy in plain words."""
    quasi = [name for name, said in document.get("attributes", {}).items() if said.get("role") == "quasi"]
    for at, table in enumerate(document.get("models", ())):
        said = wording(_unchecked(table, str(document.get("kind", TABLE))), quasi)
        sentences = tuple(claim.promised for claim in said.claims)
        yield Promised(at, str(table.get("type")), said.title, sentences, said.limits)


def _unchecked(table: Mapping[str, Any], kind: str) -> Promise:
    """A promise of which nothing is known but what it says."""
    about = "paths" if kind == "trajectories" else None
    return Promise(model=table, about=about, holds=None, achieved={}, broken=0, at_risk=0)


def _protectable(document: Document) -> list[str]:
    """The columns that a promise can protect."""
    named = [
        name
        for name, said in document.get("attributes", {}).items()
        if said.get("role") == Role.SENSITIVE.value
    ]
    for kind, said in document.get("documents", {}).get("types", {}).items():
        named += [f"{kind}.{name}" for name in edits.listed(said.get("sensitive"))]
    return named


def live(asked: Asked) -> Response:
    """What a promise would take of the data as it stands: counted, not guessed, or not said yet."""
    try:
        return JSONResponse(told(asked, _promise(asked, asked.project.document())))
    except PrivetError as error:
        return JSONResponse({"text": error.complaints[0], "sizes": []})


def told(asked: Asked, table: Mapping[str, Any]) -> dict[str, Any]:
    """The sentence of a promise, and how many records would have to change."""
    made = build("models", table)
    if made.spent:
        return {"text": "Kept by how the release is made; nothing of the data is looked at.", "sizes": []}
    sizes = SIZES if made.name == "k-anonymity" else ()  # others take longer to check, each by itself

    def change(document: Document) -> None:
        document["models"] = [dict(table), *({**table, "k": size} for size in sizes)]
        document.pop("algorithm", None)

    policy = asked.project.trial(change)
    words = wording(_unchecked(describe(made), policy.kind), [one.name for one in policy.quasi])
    said = {
        "sentences": [claim.promised for claim in words.claims],
        "limits": words.limits,
        "sizes": [],
    }
    asker = asked.get("asker")[:40]
    soon = asked.studio.counts.verdicts(asked.project, policy, asker)
    try:
        verdicts = [verdict for _, verdict in now(soon, MOMENT, "", COUNTING)]
        records = asked.studio.looks.at(asked.project, MOMENT).records
    except StoppedError:
        return {**said, "text": TOO_LONG}
    except (WaitingError, DroppedError):  # dropped: the tab asks something else already
        return {**said, "text": COUNTING, "counting": True}
    risk = verdicts[0].at_risk
    today = (
        "The data keeps this as it stands."
        if verdicts[0].holds
        else f"Today {risk:,} of {records:,} records would have to change."
        if policy.kind == TABLE and not asked.project.is_silent
        else f"Today {risk:,} records would have to change."
    )
    if asked.project.is_silent and (read := asked.studio.counts.read_at(asker)) is not None:
        at = f"{read.astimezone():%H:%M}"
        today += f" Counted on what the database held at {at}; asked later, it is counted again."
    return {
        **said,
        "text": today,
        "records": records,
        "sizes": [[size, verdict.at_risk] for size, verdict in zip(sizes, verdicts[1:], strict=False)],
    }


def add(asked: Asked) -> Response:
    """One promise more, if it is one, or one that is changed where the form says so."""

    def change(document: Document) -> None:
        table = _promise(asked, document)
        made = build("models", table)
        _refuse_other_kind(made, document)
        edits.add_model(document, table, asked.get("at"))
        if made.spent and not _spends(document, made.name):
            keeps = _keeping(made.name, str(document.get("kind", TABLE)))
            edits.set_algorithm(document, None if keeps is None else {"type": keeps})

    asked.project.edit(change)
    return asked.go("promise", anchor="promised")


def _promise(asked: Asked, document: Document) -> dict[str, Any]:
    """The promise that a form makes of the one that stands there."""
    name = asked.get("type")
    old = edits.model_at(document, name, asked.get("at"))[1]
    return fields.table_of("models", name, asked.form, old)


def _refuse_other_kind(made: Any, document: Document) -> None:
    """The page offers what there is for this kind of data; a form that was kept may say another."""
    kind = str(document.get("kind", TABLE))
    if kind not in made.kinds:
        raise InputError(f"{made.name}: is for {' and '.join(made.kinds)}, not for {kind}")


def _spends(document: Document, promise: str) -> bool:
    """Does the policy's own search keep a promise by how it makes a release?"""
    there = registry.installed("algorithms")
    name = document.get("algorithm", {}).get("type")
    return name in there and there[name].load().spends == promise


def _keeping(promise: str, kind: str) -> str | None:
    """The search that keeps a promise by how it makes a release, where one is there for this kind of data."""
    for name, one in registry.installed("algorithms").items():
        if (made := one.load()).spends == promise and kind in made.kinds:
            return name
    return None


def drop(asked: Asked) -> Response:
    at, kind = asked.number("at"), asked.get("type")

    def change(document: Document) -> None:
        edits.drop_model(document, at, kind)
        if _spends(document, kind):  # it keeps no other promise
            edits.set_algorithm(document, None)

    asked.project.edit(change)
    return asked.go("promise", anchor="promised")


def algorithm(asked: Asked) -> Response:
    """What searches; "usual" leaves it to the promises."""
    name = asked.get("type")

    def change(document: Document) -> None:
        old = document.get("algorithm", {})
        table = None
        if name not in {"", "usual"}:
            same = old if old.get("type") == name else None
            table = fields.table_of("algorithms", name, asked.form, same)
            _refuse_other_kind(build("algorithms", table), document)
        edits.set_algorithm(document, table)

    asked.project.edit(change)
    return asked.go("promise", anchor="search")


def purpose(asked: Asked) -> Response:
    asked.project.edit(lambda document: edits.set_purpose(document, asked.get("purpose")))
    return asked.go("promise")


def text(asked: Asked) -> Response:
    """The policy as somebody typed it."""
    asked.project.replace_text(asked.get("toml").replace("\r\n", "\n"), asked.get("digest"))
    return asked.go("promise", anchor="policy")


def preset(asked: Asked) -> Response:
    """A promise that somebody wrote down: `privet init --accept --preset`, where nothing is decided."""
    found, look = Preset.find(asked.get("preset")), asked.look
    if look.drafted is None:
        raise InputError("presets are for tables and trajectories, not for documents yet")
    document = asked.project.document()
    # A column that is not named was left out, and stays out.
    named = {*document.get("attributes", {}), *look.drafted.of_paths}
    drafted = replace(look.drafted, guesses=tuple(one for one in look.drafted.guesses if one.name in named))
    decided = {
        name: Role(said["role"])
        for name, said in document.get("attributes", {}).items()
        if said.get("role") not in {None, "undecided"}
    }
    # A target leaves as it is, as was decided, so that no promise of the preset is about it.
    roles = {name: Role.OTHER if role is Role.TARGET else role for name, role in decided.items()}
    rows = Rows.PERSONS if document.get("rows") == "persons" else Rows.UNSAID
    made = tomllib.loads(accept(drafted, found, Answers(roles=roles, rows=rows)).text)
    coarse = {one.name: inline(one.hierarchy.to_policy()) for one in drafted.guesses}

    def is_ours(name: str, said: Mapping[str, Any]) -> bool:
        """Was it decided, and have the preset's own rules nothing to say of it?"""
        if name not in roles or found.rules is None:
            return name in roles
        finer = "hierarchy" not in said or inline(said["hierarchy"]) == coarse[name]
        return said["role"] == roles[name].value and finer

    def change(document: Document) -> None:
        document["models"], document["algorithm"] = made["models"], made["algorithm"]
        document["purpose"] = document.get("purpose") or made["purpose"]
        for key in ("slot", "grid", "clash"):
            if key in made.get("trajectories", {}):
                document["trajectories"].setdefault(key, made["trajectories"][key])
        for name, said in made["attributes"].items():
            if not is_ours(name, said):
                document["attributes"][name] = said

    asked.project.edit(change)
    return asked.go("promise", anchor="promised")
