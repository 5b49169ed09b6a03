"""What a release of documents answers: counts, what somebody concludes, one way to put halves together.

A count needs nothing but the release where that is in halves; what a generalised label stands for only the
steward knows, who has the original. With it, the exact answer stands beside the estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from privet.document import posterior
from privet.document.belief import concluded, exposed
from privet.document.estimate import Estimator
from privet.document.forest import Vertex
from privet.document.pattern import pattern
from privet.document.publication import Publication
from privet.document.query import Query, count
from privet.document.settings import TreeAnatomy
from privet.document.spread import estimated
from privet.engine import Engine
from privet.engines.documents import files, publication_files
from privet.engines.documents.shape import Shape
from privet.errors import InputError, UnsupportedError
from privet.evidence import folder as ev
from privet.measure.summary import tidy
from privet.policy import handed
from privet.policy.values import Policy
from privet.release import Release
from privet.roads import engine_of
from privet.roads.documents import anatomy as document_anatomy
from privet.roads.documents import exposure as groves
from privet.roads.documents.data import Written, read_again, shape_of
from privet.roads.stations import file_of


def policy_of(release: Release | Path) -> Policy:
    """The policy as it was published with a release of documents."""
    policy = release.published_policy() if isinstance(release, Release) else _policy(release)
    if policy.kind != "documents":
        raise UnsupportedError(f"this is about releases of documents, and not of {policy.kind}")
    return policy


def _policy(folder: Path) -> Policy:
    ev.read(folder)  # no release folder: say so, rather than that a policy is missing
    return handed.load(folder / "policy.toml")


def is_halved(policy: Policy) -> bool:
    return isinstance(policy.algorithm, TreeAnatomy)


def publication_of(release: Release | Path, policy: Policy, engine: Engine[Any]) -> Publication:
    """What a release in halves holds; others have no halves."""
    if not is_halved(policy):
        raise UnsupportedError(
            f"{policy.algorithm.name} publishes whole trees; there are no halves to put together"
        )
    folder, notes, _ = groves.opened(release)
    return document_anatomy.opened(folder, notes, policy, engine)


def counted(
    release: Release | str | Path,
    where: Any,
    *,
    raw: Any = None,
    vertices: bool = False,
    engine: Engine[Any] | str = "embedded",
) -> dict[str, Any]:
    """How many people match a pattern (or, with `vertices`, how many vertices stand at its end), estimated
    from a release; with `raw`, also exactly. `where` reads like a record: `{"visits": [{"year": 2006}]}`.
    """
    made, engine = _opened(release), engine_of(engine)
    policy = policy_of(made)
    schema = shape_of(policy).schema
    query = Query(pattern(schema, where), vertices)
    query.check(schema)
    if raw is None and not is_halved(policy):
        raise InputError("what generalised labels stand for only the original says: give the raw data, too")
    folder, notes, evidence = groves.opened(made)
    forest = None
    if raw is not None:
        forest = groves.original_of(raw, groves.described_at_home(made, policy)[0], evidence, engine)
    if is_halved(policy):
        answer = Estimator(publication_of(made, policy, engine)).expected(query, Random(0))
    else:
        assert forest is not None
        answer = estimated(query, read_again(folder, notes, policy, engine), forest.schema, forest.domains)
    found: dict[str, Any] = {"estimated": tidy(float(answer)), "exactly": str(answer)}
    if forest is not None:
        true = count(query, forest, forest.schema)
        found |= {"true": true, "accuracy": tidy(1 - abs(float(answer) - true) / true) if true else None}
    return {"kind": "documents", "counted": "vertices" if vertices else "people", **found}


def conclusions(
    release: Release | str | Path,
    known: Any,
    *,
    show_values: bool = False,
    engine: Engine[Any] | str = "embedded",
) -> dict[str, Any]:
    """What somebody concludes of a person from a release in halves: `known` reads like a record with what is
    known of the person, sensitive values as well. Values are named only with `show_values`.
    """
    made, engine = _opened(release), engine_of(engine)
    policy = policy_of(made)
    publication = publication_of(made, policy, engine)
    belief = concluded(publication, pattern(publication.schema, known))
    told = belief.conclusions if show_values else tuple(belief.surest().values())
    return {
        "fit": int(belief.fit),
        "left": tidy(float(belief.left)),
        "conclusions": [
            {
                "path": one.path,
                **({"value": one.value} if show_values else {}),
                "before": str(one.before),
                "now": str(one.now),
                "given": one.given,
            }
            for one in told
        ],
    }


def linked(release: Release | str | Path, *, engine: Engine[Any] | str = "embedded") -> dict[str, Any]:
    """How surely a sensitive value is linked to a person of a release in halves, by what is known."""
    made, engine = _opened(release), engine_of(engine)
    policy = policy_of(made)
    publication = publication_of(made, policy, engine)
    nothing, one = exposed(publication)
    return {
        "kind": "documents",
        "style": publication.style.value,
        "records": len(publication),
        "groups": len(publication.groups),
        "linked": [
            {"known": name, "worst": str(found.worst), "average": tidy(float(found.average))}
            for name, found in (("quasi", nothing), ("one sensitive", one))
        ],
    }


def reconstructed(
    release: Release | str | Path, *, random: Random | None = None, engine: Engine[Any] | str = "embedded"
) -> Iterator[Vertex]:
    """One way, of many that nobody can tell apart, to put a release in halves together again."""
    made, engine = _opened(release), engine_of(engine)
    return posterior.reconstruct(publication_of(made, policy_of(made), engine), random)


def write_reconstructed(release: Release | str | Path, target: Path, *, engine: Engine[Any] | str) -> int:
    """The same as a file: JSON, JSON lines or XML by its ending; how many records."""
    made, engine = _opened(release), engine_of(engine)
    policy = policy_of(made)
    publication = publication_of(made, policy, engine)
    schema, kind = shape_of(policy).schema, files.format_of(target)
    shape = Written("", Shape()).to(kind, schema).shape
    folder, notes, _ = groves.opened(made)
    if notes.tables is None and (kind == "xml") == (notes.format == "xml"):
        learnt = Shape()  # how fields are written in the release
        publication_files.read(file_of(folder, notes.file), schema, learnt)
        shape = replace(shape, fields=learnt.fields, lists=learnt.lists, declared=learnt.declared)
    return files.write(posterior.reconstruct(publication), target, schema, shape)


def _opened(release: Release | str | Path) -> Release | Path:
    if isinstance(release, Release):
        return release
    folder = Path(release)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    return folder
