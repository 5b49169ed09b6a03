"""Every field of every kind's evidence, changed one at a time as a forger would: a complaint, or the mark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl
import pytest
from tests.contract.pairs import policy_of
from tests.evidence.test_reader import KINDS, SETS, Released, parts, released  # noqa: F401 - a fixture
from tests.forge import every, forging
from tests.forge.forging import evidence, refused, seal
from tests.forge.test_verifier import some
from tests.parties import test_noisy_contract as two
from tests.parties.noisy import quick

import privet as pv
from privet.evidence.folder import read
from privet.evidence.part import Part, Standing
from privet.evidence.signing import PrivateKey
from privet.evidence.values import Evidence
from privet.evidence.whole import OPTIONAL, complaints
from privet.policy import handed
from privet.rehearsal import rehearse

Way = tuple[Any, ...]
# Lists in which an item less, or another order, says nothing false: each item that is there is counted again.
PARTIAL = {"spends", "distribution", "stops"}
FEW = 2  # items of a list that are changed: the first and the last
# `-m slow` takes all of everything. Else:
SHARE = 8  # what a plain table says too is changed, or left out, in one of so many other kinds
LEFT_OUT = 3  # of what only other kinds say, every field is changed and one in so many is left out


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """Every place of a document; of a long list the first and the last item."""
    if way:
        yield way
    if isinstance(value, dict):
        for key in value:
            yield from ways(value[key], (*way, key))
    elif isinstance(value, list):
        for at in sorted({0, len(value) - 1}) if len(value) > FEW else range(len(value)):
            yield from ways(value[at], (*way, at))


def looked(whole: Any, way: Way) -> Any:
    for step in way:
        whole = whole[step]
    return whole


def others(value: Any) -> Iterator[Any]:
    """Other values of the same type: what a forger would rather say."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value:
            yield value - 1
    elif isinstance(value, float):
        yield value + 0.125
    elif isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        if slash and numerator.isdigit() and denominator.isdigit():
            yield f"{int(numerator) + 1}/{denominator}"
        else:
            yield value + "x"
    elif isinstance(value, list) and value:
        yield value[:-1]
        if len(value) > 1:
            yield value[::-1]
    elif value is None:
        yield from (1, "x")


Made = Callable[[], dict[str, Any]]


def forgeries(whole: dict[str, Any]) -> Iterator[tuple[str, Way, Made]]:
    """Each place with another value, and each place that may be left out without it; made when asked for."""
    for way in ways(whole):
        if way[0] == "files":
            continue  # digests are made to fit
        old = looked(whole, way)
        for new in others(old):
            if new == old or (way[-1] in PARTIAL and sorted(map(str, new)) == sorted(map(str, old))):
                continue  # payments add up in any order
            if way[-1] == "stops" and isinstance(new, list):
                continue  # a place that is not on the map is no false number
            yield "changed", way, partial(forged, whole, way, new)
        if isinstance(looked(whole, way[:-1]), dict) and ".".join(map(str, way)) not in OPTIONAL:
            yield "left out", way, partial(forged, whole, way)


def forged(whole: dict[str, Any], way: Way, *new: Any) -> dict[str, Any]:
    """The evidence with another value at a place, or without the place."""
    made: dict[str, Any] = json.loads(json.dumps(whole))
    if new:
        looked(made, way[:-1])[way[-1]] = new[0]
    else:
        del looked(made, way[:-1])[way[-1]]
    return made


def readable(made: dict[str, Any]) -> bool:
    try:
        return Evidence.read(made) is not None
    except pv.TamperedError:
        return False


def standing(way: Way, marks: dict[str, Standing]) -> Standing | None:
    """The mark of the field that a place is, or lies in; None: of a table of fields."""
    for length in range(len(way), 0, -1):
        mark = marks.get(".".join(map(str, way[:length])))
        if mark is not None:
            return mark
    return None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", [*KINDS, *SETS])
def test_every_field_is_checked_or_marked(kind: str, released: Released, tmp_path: Path) -> None:  # noqa: F811
    """Each field once, wherever it stands; what every kind says, of tables and in some others."""
    unseen, tried = unnoticed(released[kind], tmp_path, Share.beside(released["table"], kind))
    assert not unseen
    assert tried >= 5


def numbers(chance: Any, place: Path) -> pv.Release:
    """Sensitive numbers, whose order counts."""
    del chance, place
    table = pl.DataFrame({"age": [30, 31] * 8, "hours": [10] * 16, "ill": [1, 2, 3, 4, 5, 6, 7, 8] * 2})
    return pv.publish(table, policy_of(["k-anonymity"], "top-down"))


def signed(chance: Any, place: Path) -> every.Placed:
    """Somebody was to sign it; a forger cannot, and takes the signature away."""
    out = numbers(chance, place).write(place / "signed", sign=PrivateKey.make("Office of Statistics"))
    (out / "signatures.json").unlink()
    return every.Placed(out)


def noise_of_two(chance: Any, place: Path) -> every.Placed:
    """Two parties publish with noise, over connections with certificates; their signatures are taken away."""
    del chance
    with quick():
        keys = [PrivateKey.make(name) for name in ("north", "south")]
        agreed = two.contract("people", keys={key.name: key.public for key in keys})
        found = rehearse(
            agreed, two.parts(place, "people"), output=place / "two", keys=keys, purses=two.purses(place)
        )
    assert found.folder is not None
    (found.folder / "signatures.json").unlink()
    said = evidence(found.folder)
    for party in said["joint"]["parties"]:
        party["certificate"] = "0" * 64
    return every.Placed(seal(found.folder, said))


OTHERS = {kind: every.KINDS[kind] for kind in ("persons", "visits", "parted", "joint")}
OTHERS |= {"numbers": numbers, "signed": signed, "noise of two": noise_of_two}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", OTHERS)
def test_every_field_of_other_ways_to_publish_them(
    kind: str,
    released: Released,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Rows and visits of persons, parts of a cluster, what several publish together and nobody signed."""
    unseen, tried = unnoticed(
        some(OTHERS[kind], tmp_path), tmp_path / "forged", Share.beside(released["table"], kind)
    )
    assert not unseen
    assert tried >= 5


def test_no_field_is_forgotten(released: Released, tmp_path: Path) -> None:  # noqa: F811
    """Every field of every part that evidence can have is one that a test above changes."""
    folders = [*released.values()]
    for kind, maker in OTHERS.items():
        (tmp_path / kind).mkdir()
        folders.append(some(maker, tmp_path / kind))
    reached = {(type(one), key) for folder in folders for one in parts(read(folder)) for key in one}
    never = {
        f"{made.__name__}.{one.name}"
        for made in Part.__subclasses__()
        if made.__module__.startswith("privet.evidence.")
        for one in fields(made)  # type: ignore[arg-type]
        if (made, one.name.removesuffix("_")) not in reached
    }
    assert never == set()


def parts_of(said: dict[str, Any]) -> Iterator[Way]:
    """Every part of the evidence, and what is said of losses, whether it is counted again or not."""
    deep = {"measures": 2, "measures.risk": 3, "measures.loss": 3, "measures.attributes": 4}
    for way in ways(said):
        if len(way) <= max(deep.get(".".join(map(str, way[:n])), 1) for n in (1, 2)):
            yield way


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", [*KINDS, *SETS, *(f"random {kind}" for kind in every.KINDS)])
def test_no_part_is_left_out_unseen(kind: str, released: Released, tmp_path: Path) -> None:  # noqa: F811
    """Marked or counted again: what is not there is neither, so every part that a kind has must be there."""
    made = kind.removeprefix("random ")
    folder = released[kind] if made == kind else some(every.KINDS[made], tmp_path)
    said, policy = evidence(folder), handed.load(folder / "policy.toml")
    copy = shutil.copytree(folder, tmp_path / "forged")
    unseen, tried = [], 0
    for way in parts_of(said):
        if way == ("files",) or ".".join(map(str, way)) in OPTIONAL:  # digests are made to fit
            continue
        made_up = forged(said, way)
        tried += 1
        if readable(made_up) and not complaints(Evidence.read(made_up), policy):
            unseen += [".".join(map(str, way))] if forging.unnoticed(copy, made_up) else []
    assert not unseen
    assert tried >= 10


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("table", "measures.loss"),
        ("table", "measures.dimensionality"),
        ("chosen", "choice"),
        ("population", "population"),
        ("documents", "measures.attributes"),
        ("tree-anatomy", "measures.loss"),
        ("diffgen", "measures.loss"),
        ("anatomy", "measures.risk"),
        ("trajectories", "thinning"),
    ],
)
def test_what_was_left_out_is_named(kind: str, place: str, released: Released, tmp_path: Path) -> None:  # noqa: F811
    out = shutil.copytree(released[kind], tmp_path / "out")
    said, way = evidence(out), place.split(".")
    del looked(said, tuple(way[:-1]))[way[-1]]
    assert f"{place}: is missing" in refused(seal(out, said))


def test_whoever_hides_that_several_published_together_is_noticed(tmp_path: Path) -> None:
    """Nobody has seen the whole table as it was, and what only that tells is not there."""
    out = some(every.KINDS["joint"], tmp_path)
    said = evidence(out)
    del said["joint"]
    assert "measures.risk.before: is missing" in refused(seal(out, said))


def test_noisy_counts_that_nobody_speaks_of_are_noticed(released: Released, tmp_path: Path) -> None:  # noqa: F811
    """All that is said of them is the steward's word: left out, it would be marked nowhere."""
    out = shutil.copytree(released["diffgen"], tmp_path / "out")
    said = evidence(out)
    del said["measures"]["counts"]
    assert refused(seal(out, said)) == ("evidence.json: measures.counts: is missing",)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *SETS])
def test_every_place_is_checked_or_marked(kind: str, released: Released, tmp_path: Path) -> None:  # noqa: F811
    """Each field at each place, and in each way."""
    assert not unnoticed(released[kind], tmp_path)[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
def test_every_place_of_other_ways_to_publish_them(kind: str, tmp_path: Path) -> None:
    assert not unnoticed(some(OTHERS[kind], tmp_path), tmp_path / "forged")[0]


Field = tuple[str, ...]


@dataclass
class Share:
    """Each field once, and of those that a plain table has too a few."""

    kind: str
    common: set[Field]

    @classmethod
    def beside(cls, table: Path, kind: str) -> Share:
        whole = evidence(table)
        return cls(
            kind, set() if kind == "table" else {field(whole, h, way) for h, way, _ in forgeries(whole)}
        )

    def takes(self, one: Field) -> bool:
        """Everything of a plain table; which of others, a checksum says: the same on every run."""
        share = SHARE if one in self.common else LEFT_OUT if self.common and one[0] == "left out" else 1
        return crc32(repr((self.kind, one)).encode()) % share == 0


def field(whole: dict[str, Any], how: str, way: Way) -> Field:
    """What is changed, whichever column or item it is said of."""
    return (how, *(step for step in way if isinstance(step, str) and step not in whole["attributes"]))


def unnoticed(folder: Path, tmp_path: Path, share: Share | None = None) -> tuple[list[str], int]:
    """Forgeries that verify accepts though nothing marks them, and how many were tried: a share, or all."""
    whole = evidence(folder)
    marks = read(folder).every_standing()
    copy = shutil.copytree(folder, tmp_path / "copy")
    unseen, tried, seen = [], 0, set()
    for how, way, made in forgeries(whole):
        one = field(whole, how, way)
        if share is not None and (one in seen or not share.takes(one)):
            continue
        mark = standing(way, marks)
        inside = [m for place, m in marks.items() if place.startswith(".".join(map(str, way)) + ".")]
        if mark is Standing.STATED or (mark is None and all(m is Standing.STATED for m in inside)):
            continue
        said = made()
        if not readable(said):
            continue  # refused by its reader, which has tests of its own
        seen.add(one)
        tried += 1
        if forging.unnoticed(copy, said):
            unseen.append(f"{how}: {'.'.join(map(str, way))}")
    return unseen, tried
