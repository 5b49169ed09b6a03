"""`privet compare`: what did the release lose?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from privet.cli import buckets, documents, screen, trajectories, transactions
from privet.cli.options import (
    Drawn,
    Engine,
    Folder,
    Json,
    Master,
    Overwrite,
    Raw,
    drawn,
    engine_of,
    refuse_drawing,
    release_folder,
)
from privet.cli.screen import share


def compare(
    raw: Raw,
    folder: Folder,
    *,
    classify: Annotated[
        bool, typer.Option("--classify", help="Also train four learners on both; needs privet[classify].")
    ] = False,
    output: Drawn = None,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    master: Master = None,
    json: Json = False,
) -> int:
    """What was lost between the raw data and its release, and what risk is left.

    Loss of detail (LM, NCP, entropy, precision), discernibility, sizes of classes, how far counts from
    the release are off; with --classify also how much worse a decision tree predicts the target from the
    published columns. Nothing is published; the numbers and the HTML file are about the raw data, so they
    stay with you.

    Example:
      privet compare patients.csv out -o compare.html

    Next: `privet explain out` says which promise and which column forced the loss.

    """
    from privet.assess import compare as compared

    release_folder(folder)
    with screen.working(json=json) as progress:
        found = compared(raw, folder, classify=classify, engine=engine_of(engine, master), progress=progress)
    refuse_drawing(output, found)
    drawn(output, lambda: _page(found), overwrite=overwrite)
    if json:
        screen.answer(found)
    elif found.get("kind") == "noisy":
        from privet.cli import noisy

        screen.say(*noisy.told(found))
        screen.warn(found["warning"])
    else:
        screen.say(*_told(found))
        if output is not None:
            screen.say("", f"it is drawn in {output}, which stays with you")
        if "changed" not in found.get("loss", {}) and found.get("kind") != "buckets":
            screen.say(*screen.next_steps((f"privet explain {folder}", "says what forced the loss")))
    return 0


def _page(found: Mapping[str, Any]) -> str:
    from privet.report.compared import render

    return render(found)


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("kind") == "documents":
        yield from documents.compare(found)
        return
    if found.get("kind") == "transactions":
        yield from transactions.compare(found)
        return
    if found.get("kind") == "trajectories":
        yield from trajectories.compare(found)
        return
    if found.get("kind") == "buckets":
        yield from buckets.compare(found)
        return
    classes, loss = found["classes"], found["loss"]
    before, after = found["risk"]["before"], found["risk"]["after"]
    yield f"{found['records']:,} records in {classes['count']:,} classes that agree in all quasi-identifiers,"
    yield f"the smallest of {classes['smallest']:,} records, the largest of {classes['largest']:,}"
    yield ""
    yield from screen.table(
        [
            ("records that are alone", f"{before['unique_records']:,}", f"{after['unique_records']:,}"),
            ("classes", f"{before['classes']:,}", f"{after['classes']:,}"),
            ("chance to be found, at worst", share(before["highest"]), share(after["highest"])),
            ("chance to be found, on average", share(before["average"]), share(after["average"])),
        ],
        head=("", "raw", "published"),
    )
    yield ""
    yield from screen.table(
        [
            (
                name,
                f"{column['raw_values']:,}",
                f"{column['published_values']:,}",
                _known(column.get("changed", column["lm"])),
                _known(column["entropy"]),
                _bits(column["kl"]),
                _known(column["gain_retained"]),
            )
            for name, column in found["attributes"].items()
        ],
        head=(
            "column",
            "raw values",
            "published",
            "replaced" if "changed" in loss else "lost (LM)",
            "entropy",
            "KL, bits",
            "of the target's gain kept",
        ),
    )
    yield ""
    yield from screen.table(
        [
            *(_replaced(loss) if "changed" in loss else _coarser(loss)),
            ("error of a random count, median", _known(loss["query_error"])),
            ("counts by one column kept", _known(loss["marginals"])),
            ("counts by two columns kept", _known(loss["pairs"])),
            ("correlations kept", _known(loss["correlations"])),
            ("divergence of all columns together (KL), bits", _bits(loss["joint_kl"])),
            ("discernibility", f"{loss['discernibility']:,}"),
            ("discernibility, of the worst possible", share(loss["discernibility_ratio"])),
            ("average class", f"{loss['average_class_size']:,.1f}"),
            ("cells that say nothing any more", f"{loss['suppressed_cells']:,}"),
            ("information about the target kept", _known(loss["gain_retained"])),
        ]
    )
    if loss["query_error"] is None:
        yield "  counts and their divergence need the private notes beside the folder"
    yield from _wide(found["dimensionality"])
    trained = found.get("classification")
    if trained:
        yield ""
        yield from _classification(trained)


def _coarser(loss: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "detail lost on average (LM)", _known(loss["lm"])
    yield "the same, by width (NCP)", _known(loss["ncp"])
    yield "the same, by how common values are (entropy)", _known(loss["entropy"])
    yield "levels kept (precision)", _known(loss["precision"])


def _replaced(loss: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "values that were replaced", _known(loss["changed"])
    yield "records that were left out", f"{loss['suppressed_records']:,}"


def _known(number: float | None) -> str:
    return "-" if number is None else share(number)


def _bits(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"


def _wide(found: Mapping[str, Any] | None) -> Iterator[str]:
    """Said only where it is a warning."""
    if found is not None and found["too_wide"]:
        yield (
            f"  values cover {share(found['observed'])} of their ranges; with "
            f"{found['quasi_identifiers']} quasi-identifiers and {found['k']:,} people to a class about "
            f"{share(found['expected'][-1])} is to be expected: fewer would keep more"
        )


def _classification(trained: Mapping[str, Any]) -> Iterator[str]:
    if "skipped" in trained:
        yield f"no classifier was trained: {screen.shown(trained['skipped'])}"
        return
    yield f"a decision tree, trained on {trained['train']:,} records, tried on {trained['test']:,}, errs in"
    yield from screen.table(
        [
            (share(trained["be"]), "of cases with the raw data"),
            (share(trained["ce"]), "with the published data"),
            (share(trained["ue"]), "without any quasi-identifier"),
        ]
    )
    others = [
        (name, errs) for name, errs in (trained.get("learners") or {}).items() if name != "decision tree"
    ]
    if others:
        yield ""
        yield from screen.table(
            [(name, *(share(errs[key]) for key in ("be", "ce", "ue"))) for name, errs in others],
            head=("other learners", "raw", "published", "without"),
        )
