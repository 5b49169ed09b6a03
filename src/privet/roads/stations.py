"""What every road passes: how a source is named, what is refused, what is said at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet import core
from privet.core import Form, PrivacyModel, Tally, Verdict
from privet.engines import text
from privet.errors import BrokenPromiseError, InputError, InternalError, PolicyError, TamperedError, one_of
from privet.policy.values import Policy

CAUTIONS = (
    "Release one version only: two releases of the same records can be combined by whoever has both.",
    (
        "Promises of this kind do not stop minimality, composition, deFinetti or foreground-knowledge "
        "attacks; differential privacy does."
    ),
)


def judge(tally: Tally, policy: core.Policy) -> tuple[tuple[PrivacyModel, Verdict], ...]:
    """Every promise of the policy that can be checked, checked on a tally."""
    return tuple((model, model.check(tally)) for model in checkable(policy))


def checkable(policy: core.Policy) -> list[PrivacyModel]:
    """The promises about a release itself, not about how it was made."""
    return [model for model in policy.models if not getattr(model, "spent", False)]


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


def refuse_undecided(policy: Policy) -> None:
    """A column that nobody has decided about stops the road."""
    complaints = policy.undecided
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
        form = text.settled(Path(source), form)
        if form.format in {"stata", "spss", "sas"} and Path(source).is_file():
            from privet.engines import packed  # noqa: PLC0415 - and with it polars, which few files need here

            form = replace(form, labels=packed.labels(Path(source), str(form.format)))
    return form


def handed_out(form: Form) -> Form:
    """The form as it may be told to anybody: how the source was found and read is the steward's business.

    A query or a sheet may name persons; and what was read without a header, or in a notation of its own,
    leaves with a header and in privet's notation.
    """
    kind = None if form.format is None else text.READ_ONLY.get(form.format, form.format)
    return replace(form, format=kind, query=None, sheet=None, header=True, trim=False, numbers={}, missing={})


def as_written(form: Form, output: str | None) -> Form:
    """How the data leaves: as it came, unless another format is asked for ("parquet", "csv.gz")."""
    form = handed_out(form)
    if output is None:
        return replace(form, format=form.format or "csv")
    kind = output.removesuffix(".gz")
    if kind not in text.SUFFIX:
        raise InputError(one_of("the format to write", sorted(text.SUFFIX), output))
    delimiter = form.delimiter if kind == form.format else None
    return replace(form, format=kind, delimiter=delimiter, gzip=output.endswith(".gz"))


def source_digest(source: Any) -> str | None:
    """What the steward can recognise a source by; it never leaves: a digest confirms a guess."""
    if isinstance(source, (str, Path)) and Path(source).is_file():
        with Path(source).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def data_file(folder: Path, notes: Mapping[str, Any]) -> tuple[Path, Form]:
    """Where the data of a release folder lies, and how it is written, as its evidence says."""
    data = folder / str(notes["file"])
    form = Form(notes["format"], notes.get("delimiter"), notes["encoding"], tuple(notes["nulls"]))
    if data.parent != folder or not data.is_file():
        raise TamperedError(f"{folder}: the data file that the evidence names is missing")
    return data, form
