"""The one road out of the house: read, tally, search, apply, check again, release."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet import core
from privet.core import Engine, Finding, Form, PrivacyModel, Progress, Tally, Verdict, silent
from privet.engines import text
from privet.errors import BrokenPromiseError, InputError, InternalError, PolicyError, one_of
from privet.measure import summary
from privet.measure.relax import relaxations
from privet.notation import describe
from privet.policy import Policy, undecided
from privet.registry import find
from privet.relational.again import same_cuts
from privet.release import Release
from privet.report import evidence as ev


def publish(
    source: Any,
    policy: Policy,
    *,
    engine: Engine[Any] | str = "embedded",
    like: str | Path | None = None,
    output: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a release of `source` that keeps `policy`, or raise; nothing is written yet.

    `source` is a path, a database URL, or a polars, pandas or pyarrow table. `like` names an earlier
    release folder whose recoding is used again instead of a search. `output` is another format than
    the input's.
    """
    refuse_undecided(policy)
    where = find("engines", engine)() if isinstance(engine, str) else engine
    form = settle(source, policy.form)
    written = as_written(form, output)
    # Hashing and measuring need not wait for each other; the check waits for nothing and nobody.
    with ThreadPoolExecutor() as beside:
        digest = beside.submit(source_digest, source)
        progress("read", 0)
        table = where.read(source, form, columns_needed(policy))
        progress("tally", 0)
        raw = where.tally(table, policy)
        progress("search", 0)
        if like is None:
            finding = policy.algorithm.search(raw, policy, progress)
        else:
            finding = Finding(same_cuts(raw, ev.read(Path(like))))
        progress("apply", 0)
        published = where.apply(table, policy, finding.recoding)
        progress("check", 0)
        final = where.tally_published(published, policy)
        verdicts = judge(final, policy)
        refuse_broken(verdicts, policy, like)
        progress("measure", 0)
        relaxed = beside.submit(relaxations, raw, policy, finding, describe=describe)
        measures = summary.measures(raw, final, finding.recoding)
        columns = where.columns(published)
        evidence: dict[str, Any] = {
            **ev.header(),
            "kind": policy.kind,
            "purpose": policy.purpose,
            "nulls": policy.nulls.value,
            "records": final.records,
            "columns": list(columns),
            "promises": [ev.promise(model, verdict) for model, verdict in verdicts],
            "algorithm": describe(policy.algorithm),
            "attributes": ev.attribute_notes(policy, finding.recoding, columns),
            "steps": ev.step_notes(finding.steps),
            "measures": measures,
            "cautions": list(CAUTIONS),
        }
        if like is not None:
            evidence["like"] = ev.digest(Path(like) / "evidence.json")
        return Release(
            table=published,
            engine=where,
            policy=policy,
            recoding=finding.recoding,
            verdicts=verdicts,
            evidence=evidence,
            steps=finding.steps,
            form=written,
            private={"source": digest.result(), "relaxations": relaxed.result()},
        )


def refuse_broken(
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...], policy: Policy, like: str | Path | None
) -> None:
    """Nothing leaves that breaks a promise; whose fault it is depends on where the recoding came from."""
    broken = [(model, verdict) for model, verdict in verdicts if not verdict.holds]
    if not broken:
        return
    if like is None:
        raise InternalError(f"{policy.algorithm.name} broke {', '.join(model.name for model, _ in broken)}")
    raise BrokenPromiseError(
        *(
            f"{model.name}: {model} is broken by {verdict.broken} groups of this batch"
            for model, verdict in broken
        ),
        f"{like}: its recoding does not keep the policy here; publish without --like",
    )


CAUTIONS = (
    "Release one version only: two releases of the same records can be combined by whoever has both.",
    (
        "Promises of this kind do not stop minimality, composition, deFinetti or foreground-knowledge "
        "attacks; differential privacy does."
    ),
)


def check(
    source: Any, policy: Policy, *, engine: Engine[Any] | str = "embedded"
) -> tuple[tuple[PrivacyModel, Verdict], ...]:
    """What a table achieves as it stands, without any recoding."""
    where = find("engines", engine)() if isinstance(engine, str) else engine
    table = where.read(source, settle(source, policy.form), columns_needed(policy))
    return judge(where.tally_published(table, policy), policy)


def judge(tally: Tally, policy: core.Policy) -> tuple[tuple[PrivacyModel, Verdict], ...]:
    """Every promise of the policy, checked on a tally."""
    return tuple((model, model.check(tally)) for model in policy.models)


def refuse_undecided(policy: Policy) -> None:
    """A column that nobody has decided about stops the road."""
    complaints = undecided(policy.attributes)
    if complaints:
        raise PolicyError(*complaints)


def columns_needed(policy: Policy) -> list[str]:
    """What must be read: what is published, and what says whose record it is."""
    published = [attribute.name for attribute in policy.attributes if attribute.published]
    persons = [a.person for a in policy.attributes if a.published and a.person is not None]
    return list(dict.fromkeys([*published, *persons]))


def settle(source: Any, form: Form) -> Form:
    """The form with everything said that can be told from a file."""
    if isinstance(source, (str, Path)) and not text.is_url(source):
        return text.settled(Path(source), form)
    return form


def as_written(form: Form, output: str | None) -> Form:
    """How the data leaves: as it came, unless another format is asked for ("parquet", "csv.gz")."""
    if output is None:
        return replace(form, format=form.format or "csv", query=None)
    kind = output.removesuffix(".gz")
    if kind not in text.SUFFIX:
        raise InputError(one_of("the format to write", sorted(text.SUFFIX), output))
    delimiter = form.delimiter if kind == form.format else None
    return replace(form, format=kind, delimiter=delimiter, query=None, gzip=output.endswith(".gz"))


def source_digest(source: Any) -> str | None:
    """What the steward can recognise a source by; it never leaves: a digest confirms a guess."""
    if isinstance(source, (str, Path)) and Path(source).is_file():
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return None
