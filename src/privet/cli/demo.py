"""`privet demo`: the whole road on sample data, explained."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Json
from privet.cli.summary import became
from privet.errors import InputError, InternalError

ROWS, SEED = 30_000, 7
SCORE = "discernibility"  # the reader of a demonstration predicts nothing


def demo(
    *,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Work in this new folder and keep it.")
    ] = None,
    json: Json = False,
) -> int:
    """The main job on built-in sample data: publish patients, verify, tamper, be caught.

    Works in a temporary folder that is removed afterwards; --keep DIR keeps everything to look at.
    The patients do not exist.

    Example:
      privet demo --keep tour

    Next: `privet init DATA` drafts a policy for your own data.

    """
    with _folder(keep) as folder, screen.working(json=json) as progress:
        story = _play(folder, progress)
    if json:
        screen.answer(story)
    else:
        screen.say(*_told(story, keep))
    return 0


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="privet-demo.") as made:
            yield Path(made)
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise InputError(f"{keep}: is not empty; name a new folder")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep


def _play(folder: Path, progress: Any) -> dict[str, Any]:
    """Everything that the demonstration does, and the numbers that came out."""
    from privet.core import Form
    from privet.engines import files
    from privet.evidence import notes as ev
    from privet.measure.attack import by_recoding
    from privet.models.kanonymity import KAnonymity
    from privet.policy.values import Policy
    from privet.recoding import Generalization
    from privet.roads import check, publish
    from privet.roads.tables.release import TableRelease
    from privet.samples import SAMPLES
    from privet.verification import verify

    patients = SAMPLES["patients"]
    data, policy_file, out = folder / "patients.csv", folder / "hospital.toml", folder / "out"
    files.write(patients.generate(ROWS, SEED), data, files.settled(data, Form(delimiter=",")))
    policy_file.write_text(patients.policy(score=SCORE), encoding="utf-8")
    policy = Policy.load(policy_file)
    # Records in a group of fewer than two are alone with what a neighbour could know of them.
    ((_, alone),) = check(data, replace(policy, models=(KAnonymity(k=2),)))
    before = check(data, policy)
    release = publish(data, policy, progress=progress)
    release.write(out)
    first = first_record(data)
    if not isinstance(release, TableRelease) or not isinstance(release.recoding, Generalization):
        raise InternalError("the demonstration recodes by value")
    became_of = by_recoding(release.recoding)  # by value: the order of a release tells nothing
    found = verify(out)
    tampered = folder / "tampered"
    shutil.copytree(out, tampered)
    offset = flip_one_byte(tampered / "data.csv")
    caught = verify(tampered)
    if not found.holds or caught.holds:
        raise InternalError("the demonstration did not end as it should")
    return {
        "records": release.evidence.records,
        "quasi": [attribute.name for attribute in policy.quasi],
        "dropped": [attribute.name for attribute in policy.attributes if not attribute.published],
        "unique": alone.at_risk,
        "before": [ev.promise(model, verdict) for model, verdict in before],
        "after": release.evidence.promises,
        "attributes": release.evidence.attributes,
        "measures": release.evidence.measures,
        "first": {
            "raw": first,
            "published": {a.name: "".join(map(str, became_of(a.name, first[a.name]))) for a in policy.quasi},
        },
        "files": sorted(path.name for path in out.iterdir()),
        "verified": found.holds,
        "tampered": {"byte": offset, "caught": not caught.holds, "complaints": list(caught.complaints)},
    }


def first_record(path: Path) -> dict[str, str]:
    """One record to show: these people do not exist."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))


def flip_one_byte(path: Path) -> int:
    """Change one byte near the middle, and say which."""
    raw = bytearray(path.read_bytes())
    at = next(i for i in range(len(raw) // 2, len(raw)) if chr(raw[i]).isdigit())
    raw[at] = ord("7") if raw[at] != ord("7") else ord("3")
    path.write_bytes(raw)
    return at


def _told(story: dict[str, Any], keep: Path | None) -> Iterator[str]:
    strong = screen.paint
    quasi = story["quasi"]
    model = story["after"][0].model
    values = " or ".join(value for found in model["sensitive"].values() for value in found)
    records = story["records"]
    yield strong("1. The problem", "strong")
    yield f"   {records:,} patients who do not exist. Without their names, {story['unique']:,} of them"
    yield f"   ({screen.share(story['unique'] / records)}) are still alone with their {', '.join(quasi)}:"
    yield "   whoever knows that much about a neighbour finds the neighbour's record, and the surgery."
    yield ""
    yield strong("2. The promise", "strong")
    yield f"   lkc-privacy: whoever knows any {model['l']} of these values still finds at least {model['k']}"
    yield f"   records, and of those at most {screen.share(Fraction(model['c']))} say {values}. The raw data:"
    yield from (f" {line}" for line in screen.promise_lines(story["before"]))
    yield ""
    yield strong("3. The release", "strong")
    yield f"   {', '.join(story['dropped'])} are dropped, the rest says less where it must:"
    yield from (f" {line}" for line in screen.promise_lines(story["after"]))
    yield from (f" {line}" for line in became(story["attributes"], story["measures"]))
    first = story["first"]
    yield f"   The first patient was   {', '.join(first['raw'][name] for name in quasi)}"
    yield f"   and is published as     {', '.join(first['published'][name] for name in quasi)}"
    yield ""
    yield strong("4. The proof", "strong")
    yield f"   The folder has {', '.join(story['files'])}. Anybody can check it without the raw data:"
    yield "   verify found every file, every promise and every number as the evidence says."
    yield f"   Then one byte of the data was changed (byte {story['tampered']['byte']:,}), and verify said:"
    yield from (f"     {screen.shown(complaint)}" for complaint in story["tampered"]["complaints"])
    if keep is None:
        yield from screen.next_steps(
            ("privet demo --keep tour", "the same again, with the files to look at"),
            ("privet init DATA", "drafts a policy for your own data"),
            ("privet --help", "everything else"),
        )
        return
    yield from screen.next_steps(
        (screen.command("privet verify", f"{keep}/out"), "holds"),
        (screen.command("privet verify", f"{keep}/tampered"), "does not"),
        (screen.command("privet explain", f"{keep}/out"), "why so much was lost"),
        (screen.command("open", f"{keep}/out/report.html"), "the report"),
    )
