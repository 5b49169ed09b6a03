"""Releases of every kind with random data, random forgeries of them, and what two checkers say of each.

Run it for figures: `python -m tests.forge.every COUNT SEED [KIND ...]` prints, for each kind, how many
forgeries were tried, what `privet verify` said, and what the checker of one file did (0, 1, or 3: it cannot
tell). It stops at the first that the two judge otherwise, and at the first that is accepted and the third
judge (`oracle`) objects to: it is asked about every one that is accepted.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from tests.contract.pairs import policy_of
from tests.forge.forging import evidence, seal
from tests.forge.oracle import objections
from tests.forge.test_verifier import MODELS, module, sliced
from tests.parties import hospitals
from tests.roads import noisy as noisy_table

import privet as pv
from privet import parts
from privet.errors import PrivetError
from privet.rehearsal import rehearse
from privet.verification import Verification

Chance = random.Random


def table(chance: Chance, place: Path) -> pv.Release:
    rows = chance.randint(8, 40)
    data = pl.DataFrame(
        {
            "age": [str(chance.randint(20, 26)) for _ in range(rows)],
            "hours": [chance.choice(["10", "20", "30", "40"]) for _ in range(rows)],
            "ill": [chance.choice("aabbc") for _ in range(rows)],
        }
    )
    del place
    search = chance.choice(["top-down", "optimal", "mondrian", "local"])
    try:
        return pv.publish(data, policy_of([chance.choice(MODELS)], search))
    except (pv.UnsupportedError, pv.PolicyError):
        return pv.publish(data, policy_of([chance.choice(MODELS)], "optimal"))


def buckets(chance: Chance, place: Path) -> pv.Release:
    del place
    rows = chance.randint(10, 40)
    data = pl.DataFrame(
        {
            "age": [str(chance.randint(20, 60)) for _ in range(rows)],
            "ill": [chance.choice("abcdef") for _ in range(rows)],
        }
    )
    return pv.publish(data, _loaded(
        'age = "quasi"\nill = "sensitive"',
        f'type = "distinct-l-diversity"\nl = {chance.randint(2, 3)}\nsensitive = ["ill"]',
        chance.choice(["anatomy", "bucketisation"]),
    ))  # fmt: skip


def paths(chance: Chance, place: Path) -> pv.Release:
    del place
    rows = chance.randint(6, 20)
    data = pl.DataFrame(
        {
            "path": [
                " ".join(
                    f"{chance.choice('abc')}{at}"
                    for at in sorted(chance.sample(range(1, 5), chance.randint(1, 3)))
                )
                for _ in range(rows)
            ],
            "ill": [chance.choice("aab") for _ in range(rows)],
        }
    )
    c = chance.choice(["1/2", "3/4", "1"])
    return pv.publish(data, pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n[trajectories]\nform = "column"\npath = "path"\n[attributes]\n'
        f'ill = "sensitive"\n[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\nc = "{c}"\n'
        'sensitive = { ill = ["b"] }\n[algorithm]\ntype = "lightest"\n'
    ))  # fmt: skip


def _tree(chance: Chance) -> dict[str, Any]:
    return {
        "year": chance.choice(["1990", "1991"]),
        "gpa": chance.choice(["1", "2", "3"]),
        "courses": [
            {"course": chance.choice(["c1", "c2"]), "grade": chance.choice(["A", "B", "C"])}
            for _ in range(chance.randint(0, 2))
        ],
    }


TREES = """
policy = 1
kind = "documents"
[documents.record]
type = "student"
xml = "/students/student"
[documents.types.student]
quasi = ["year"]
sensitive = "gpa"
children = { courses = "course" }
[documents.types.course]
quasi = ["course"]
sensitive = "grade"
"""


def _documents(kind: str) -> Callable[[Chance, Path], pv.Release]:
    def made(chance: Chance, place: Path) -> pv.Release:
        del place
        model = chance.choice(['"document-k-anonymity"\nk = 2', '"document-l-diversity"\nl = 2'])
        way = chance.choice(["ctoff", "clustree"])
        policy = pv.Policy.loads(TREES + f'[[models]]\ntype = {model}\n[algorithm]\ntype = "{way}"\n')
        return pv.publish([_tree(chance) for _ in range(chance.randint(8, 16))], policy, output=kind)

    return made


def nested(chance: Chance, place: Path) -> pv.Release:
    """Records deep inside a file, with numbers and missing values, or with fields as elements."""
    trees = [_tree(chance) for _ in range(chance.randint(8, 16))]
    nulls = chance.random() < 0.5
    if chance.random() < 0.5:
        for tree in trees:
            tree["gpa"] = None if nulls and chance.random() < 0.2 else int(tree["gpa"])
            tree["year"] = int(tree["year"])
        source = place / "raw.json"
        source.write_text(json.dumps({"school": {"students": trees}}), encoding="utf-8")
    else:
        lines = []
        for tree in trees:
            gpa = "<gpa/>" if nulls and chance.random() < 0.2 else f"<gpa>{tree['gpa']}</gpa>"
            inner = "".join(f'<course course="{c["course"]}" grade="{c["grade"]}"/>' for c in tree["courses"])
            lines.append(f'<student year="{tree["year"]}">{gpa}{inner}</student>')
        source = place / "raw.xml"
        source.write_text(f"<school><students>{''.join(lines)}</students></school>", encoding="utf-8")
    model = chance.choice(['"document-k-anonymity"\nk = 2', '"document-l-diversity"\nl = 2'])
    at = 'xml = "/school/students/student"\njson = "$.school.students[*]"'
    policy = TREES.replace('xml = "/students/student"', at)
    return pv.publish(
        source, pv.Policy.loads(f'{policy}[[models]]\ntype = {model}\n[algorithm]\ntype = "ctoff"\n')
    )


def lines(chance: Chance, place: Path) -> pv.Release:
    """A table with an object on each line."""
    numbers: list[Any] = chance.choice([[1, 2, 3], [1.5, 2.0, 1e-9], [None]])
    rows = [
        {
            "age": chance.randint(20, 26),
            "ill": chance.choice(numbers) if chance.random() < 0.9 else None,
            "ward": chance.choice("abc"),
        }
        for _ in range(chance.randint(8, 30))
    ]
    source = place / "raw.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = 'age = "quasi"\nward = "quasi"\nill = "sensitive"'
    return pv.publish(
        source, _loaded(columns, 'type = "k-anonymity"\nk = 2', chance.choice(["optimal", "mondrian"]))
    )


def halves(chance: Chance, place: Path) -> pv.Release:
    del place
    model = '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[algorithm]\ntype = "tree-anatomy"\n'
    trees = [_tree(chance) for _ in range(chance.randint(8, 16))]
    return pv.publish(trees, pv.Policy.loads(TREES + model), output=chance.choice(["json", "xml"]))


def vertices(chance: Chance, place: Path) -> pv.Release:
    del place
    model = (
        '[[models]]\ntype = "anatomy-l-diversity"\nl = 2\n[algorithm]\ntype = "tree-anatomy"\nstyle = "v-v"\n'
    )
    trees = [_tree(chance) for _ in range(chance.randint(8, 16))]
    return pv.publish(trees, pv.Policy.loads(TREES + model), output=chance.choice(["json", "xml"]))


def persons(chance: Chance, place: Path) -> pv.Release:
    """People with several rows, of whom the release does not say whose they are."""
    del place
    rows = chance.randint(16, 40)
    data = pl.DataFrame(
        {
            "pid": [f"p{chance.randrange(rows // 2)}" for _ in range(rows)],
            "age": [str(chance.randint(20, 26)) for _ in range(rows)],
            "hours": [chance.choice(["10", "20", "30", "40"]) for _ in range(rows)],
            "ill": [chance.choice("aabbc") for _ in range(rows)],
        }
    )
    model = chance.choice(
        [
            'type = "k-anonymity"\nk = 3',
            'type = "lkc-privacy"\nl = 1\nk = 2\nc = "9/10"\nsensitive = { ill = ["a"] }',
            'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]',
        ]
    )
    columns = 'pid = "identifier"\nage = "quasi"\nhours = "quasi"\nill = "sensitive"'
    search = chance.choice(["top-down", 'optimal"\nsuppression = "1/5'])
    return pv.publish(data, _loaded(columns, model, search, top='person = "pid"\n'))


def visits(chance: Chance, place: Path) -> pv.Release:
    del place
    data = pl.DataFrame(
        [
            (f"p{who}", chance.choice("abc"), str(at), ill)
            for who in range(chance.randint(8, 16))
            for ill in [chance.choice("aab")]
            for at in sorted(chance.sample(range(1, 5), chance.randint(1, 3)))
        ],
        schema=["id", "place", "time", "ill"],
        orient="row",
    )
    return pv.publish(data, pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n[trajectories]\nform = "visits"\nperson = "id"\nplace = "place"\n'
        'time = "time"\n[attributes]\nill = "sensitive"\n[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\n'
        'c = "3/4"\nsensitive = { ill = ["b"] }\n[algorithm]\ntype = "lightest"\n'
    ))  # fmt: skip


def noisy(chance: Chance, place: Path) -> pv.Release:
    del chance
    noisy_table.ledger(place)
    return pv.publish(noisy_table.table(200), noisy_table.policy(place))


def sets(chance: Chance, place: Path) -> pv.Release:
    baskets = chance.random() < 0.5
    rows = [
        sorted(chance.sample(["a", "b", "c", "7", "7.5"], chance.randint(1, 3)))
        for _ in range(chance.randint(12, 30))
    ]
    promise = chance.choice(
        [
            '[[models]]\ntype = "km-anonymity"\nm = 2\nk = 3\n',
            '[[hide]]\nantecedent = ["a"]\nconsequent = ["b"]\nsupport = 2\nconfidence = "1/3"\n',
        ]
    )
    if baskets:
        (place / "raw.csv").write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
        how, source = 'form = "baskets"', place / "raw.csv"
    else:
        how = 'form = "column"\nset = "items"\nseparator = ";"'
        source = pl.DataFrame({"items": [";".join(row) for row in rows]})  # type: ignore[assignment]
    return pv.publish(
        source, pv.Policy.loads(f'policy = 1\nkind = "transactions"\n[transactions]\n{how}\n{promise}')
    )


def packed(chance: Chance, place: Path) -> pv.Release:
    """Tables and documents that leave packed."""
    if chance.random() < 0.5:
        return lines(chance, place) if chance.random() < 0.5 else _packed_table(chance)
    model = '[[models]]\ntype = "document-k-anonymity"\nk = 2\n[algorithm]\ntype = "ctoff"\n'
    trees = [_tree(chance) for _ in range(chance.randint(8, 16))]
    return pv.publish(trees, pv.Policy.loads(TREES + model), output=chance.choice(["json.gz", "xml.gz"]))


def _packed_table(chance: Chance) -> pv.Release:
    data = pl.DataFrame({"age": [str(chance.randint(20, 26)) for _ in range(24)], "ill": ["a", "b"] * 12})
    columns = 'age = "quasi"\nill = "sensitive"'
    policy = _loaded(columns, 'type = "k-anonymity"\nk = 3', chance.choice(["optimal", "mondrian"]))
    return pv.publish(data, policy, output=chance.choice(["csv.gz", "jsonl.gz"]))


class Placed:
    """A release that somebody else wrote, where it lies."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def write(self, folder: Path) -> Path:
        return self.out.rename(folder)


def parted(chance: Chance, place: Path) -> Placed:
    """The data of a table in a folder of parts, as a cluster writes it."""
    out = table(chance, place).write(place / "whole")
    data = out / "data.csv"
    head, *rows = data.read_text(encoding="utf-8").splitlines(keepends=True)
    data.unlink()
    data.mkdir()
    cuts = sorted(chance.sample(range(1, len(rows)), min(2, len(rows) - 1)))
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        (data / parts.name(number, ".csv")).write_text(head + "".join(rows[start:end]), encoding="utf-8")
    said = evidence(out)
    said["data"]["parts"] = len(cuts) + 1
    return Placed(seal(out, said))


def joint(chance: Chance, place: Path) -> Placed:
    """What three hospitals publish together."""
    for party in "ABC":
        rows = [
            ",".join(
                (
                    chance.choice([*hospitals.ABOVE]),
                    chance.choice("MF"),
                    chance.choice(["[1-30)", "[30-60)", "[60-99)"]),
                    chance.choice("YN"),
                    chance.choice(["Transgender", "Plastic", "Urology", "Vascular"]),
                )
            )
            for _ in range(chance.randint(4, 8))
        ]
        text = "Job,Sex,Age,Transfuse,Surgery\n" + "\n".join(rows) + "\n"
        (place / f"{party}.csv").write_text(text, encoding="utf-8")
    agreed = hospitals.contract(reveal=chance.choice(["counts", "decisions"]))
    rehearse(agreed, [place / f"{party}.csv" for party in "ABC"], output=place / "whole")
    return Placed(place / "whole")


def _loaded(columns: str, model: str, algorithm: str, top: str = "") -> pv.Policy:
    return pv.Policy.loads(
        f'policy = 1\n{top}[attributes]\n{columns}\n[[models]]\n{model}\n[algorithm]\ntype = "{algorithm}"\n'
    )


KINDS: dict[str, Callable[[Chance, Path], pv.Release | Placed]] = {
    "table": table, "buckets": buckets, "paths": paths, "json": _documents("json"), "xml": _documents("xml"),
    "halves": halves, "vertices": vertices, "sets": sets, "noisy": noisy, "persons": persons,
    "visits": visits, "nested": nested, "lines": lines, "packed": packed, "parted": parted, "joint": joint,
}  # fmt: skip

SLICES: dict[str, str | None] = dict.fromkeys(
    ("table", "buckets", "persons", "lines", "parted", "joint"), "table"
)
SLICES |= dict.fromkeys(("json", "xml", "nested"), "documents")
SLICES |= {"paths": "trajectories", "visits": "trajectories", "halves": "halves", "vertices": "halves"}
SLICES |= {"sets": "transactions", "noisy": "noise", "packed": None}

TOKEN = re.compile(r"[A-Za-z0-9.*]+")


def forge(folder: Path, chance: Chance) -> str:
    """Change something, and make everything fit again that anybody could: what was done."""
    data = sorted(path for path in folder.iterdir() if path.name.startswith(("data", "buckets", "counts")))
    path = chance.choice(data)
    path = chance.choice(sorted(path.iterdir())) if path.is_dir() else path
    zipped = path.suffix == ".gz"
    text = (gzip.decompress(path.read_bytes()) if zipped else path.read_bytes()).decode()
    said = evidence(folder)
    what = chance.choice(
        [
            "token",
            "token",
            "token",
            "line",
            "order",
            "twice",
            "policy",
            "evidence",
            "beside",
            "blank",
            "shape",
        ]
    )
    lines = text.splitlines()
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match what:
        case "token":
            found = list(TOKEN.finditer(text))
            one, two = chance.choice(found), chance.choice(found)
            new = chance.choice([two[0], "zz", "1", "7.0"])
            text = text[: one.start()] + new + text[one.end() :]
        case "line":
            del lines[at]
        case "twice":
            lines.insert(at, lines[at])
        case "order":
            lines[at], lines[other] = lines[other], lines[at]
        case "blank":
            spot = chance.randrange(len(text))
            text = text[:spot] + chance.choice([" ", "\t", "\n", '"', "\u00a0", "#x"]) + text[spot:]
        case "shape":
            text = _shaped(text, chance)
        case "beside":
            text += chance.choice(["\n", "x\n", "<!-- x -->\n", "{}\n", '"x"\n'])
        case "policy":
            _policy(folder, chance)
        case "evidence":
            _evidence(said, chance)
    if what in {"line", "twice", "order"}:
        text = "\n".join(lines) + "\n"
        if path.suffix == ".csv" and what != "order" and chance.random() < 0.8:
            step = {"line": -1, "twice": 1}[what]
            if at and path.name.startswith(("data", "part-")):
                said["records"] += step
                said["measures"]["records"] = said["records"]
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if zipped else text.encode())
    seal(folder, said)
    return what


SHAPES = [
    (r': "([0-9.]+)"', r": \1"),  # a text as a number
    (r":( ?)([0-9.e-]+)([,}])", r':\1"\2"\3'),  # a number as a text
    (r":( ?)([0-9]+)([,}])", r":\1\2.0\3"),  # the same number
    (r':( ?)("[^"]*"|[0-9.]+)', r":\1null"),
    (r'("[^"]*": "[^"]*"), ("[^"]*": "?[^",]*"?)', r"\2, \1"),  # fields in another order
    (r'"[^"]*": ("[^"]*"|[0-9.]+), ', ""),  # a field less
    (r"\}(, |\])", r'}, {"course": "c1"}\1'),
    (r"\{", '{"courses": [], '),
    (r" (\w+=\"[^\"]*\") (\w+=\"[^\"]*\")", r" \2 \1"),
    (r' (\w+)="([^"]*)"(/?)>', r"\3>"),
    (r"<(\w[^>/]*)(/?)>", r'<\1 x="1"\2>'),
    (r"<(\w[^>/]*)(/?)>", r'<\1 year=""\2>'),
    (r"<(\w+)>([^<]+)</\1>", r"<\1> \2</\1>"),
    (r"<(\w+)>([^<\n]+)</\1>", r"<\1/>"),
    (r"<(\w+)([^>]*)/>", r"<\1\2></\1>"),
    (r"</courses>", r"</courses>\n    <courses/>"),
    (r"student ", r"pupil "),
]


def _shaped(text: str, chance: Chance) -> str:
    """The same, or nearly the same, written in another way at one place: such a record could be found."""
    ways = [(found, new) for old, new in SHAPES for found in re.finditer(old, text)]
    if not ways:
        return text + "\n"
    kind = chance.choice([new for _, new in SHAPES if any(new == other for _, other in ways)])
    found, new = chance.choice([one for one in ways if one[1] == kind])
    return text[: found.start()] + found.expand(new) + text[found.end() :]


def _policy(folder: Path, chance: Chance) -> None:
    path = folder / "policy.toml"
    text = path.read_text(encoding="utf-8")
    numbers = list(re.finditer(r"\b(k|l|m|c|t|support|at_most|beta) = \"?([0-9/]+)", text))
    if numbers and chance.random() < 0.7:
        one = chance.choice(numbers)
        new = (
            chance.choice(["2", "3", "5", "9"])
            if "/" not in one[2]
            else chance.choice(["1/3", "1/100", "9/10"])
        )
        text = text[: one.start(2)] + new + text[one.end(2) :]
    else:
        said = re.search(r'\{ (type = "[^"]+")((?:, \w+ = (?:"[^"]*"|[0-9]+))*)', text)
        words = re.findall(r', \w+ = (?:"[^"]*"|[0-9]+)', said[2]) if said else []
        more = chance.choice([", l = 1", ", k = 1", ', c = "1"', ", m = 1"])
        text = chance.choice(
            [
                text + "# x\n",
                text.replace("\n", "\n\n", 1),
                text.replace('"quasi"', '"other"', 1),
                text.replace(chance.choice(words) if words else "policy = 1\n", "", 1),  # half a promise
                text.replace(said[1], said[1] + more, 1) if said else text + "k = 1\n",  # or more than one
            ]
        )
    path.write_text(text, encoding="utf-8")


def _evidence(said: dict[str, Any], chance: Chance) -> None:
    """Another number somewhere, or something less."""
    here: Any = said
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = chance.choice([k for k in keys if k != "files"])
        value = here[key]
        if isinstance(value, (dict, list)) and value and chance.random() < 0.9:
            here = value
            continue
        if isinstance(here, dict) and chance.random() < 0.2:
            del here[key]
        elif isinstance(value, bool):
            here[key] = not value
        elif isinstance(value, int | float):
            here[key] = value + 1
        elif isinstance(value, str):
            here[key] = value + "x"
        return


# What only `privet verify` looks at: numbers of the evidence besides records, and the page drawn from it.
EVIDENCE_ONLY = re.compile(
    r"evidence|^measures|^attributes|^columns|^promises|^cautions|^suppressed|^paths:|^sets:|^proof|^mixed"
    r"|^the proof|report\.html|^documents|^promise |^steps|^thinning|^data:"
    r"|^choice|^population|^copies|^joint|^ledger: is"
)


def both(folder: Path, kind: str | None = None) -> tuple[str, int, Any]:
    """What privet says (accepted, wrong, or wrong in its evidence only), what the other does, and why.

    Of what is accepted, what is called the steward's word.
    """
    code, lines = module().verdict(folder)
    assert kind is None or sliced(kind).verdict(folder) == (code, lines), (
        "cut to its kind, it judges otherwise"
    )
    try:
        found: Verification = pv.verify(folder)
    except PrivetError as error:
        return ("evidence" if "evidence.json" in str(error) else "wrong"), code, (lines, error.complaints)
    if found.holds:
        return "accepted", code, (lines, found.stated)
    broken = [model.name for model, verdict in found.verdicts if not verdict.holds]
    serious = broken or [one for one in found.complaints if not EVIDENCE_ONLY.search(one)]
    return ("wrong" if serious else "evidence"), code, (lines, (*broken, *found.complaints))


def run(kind: str, count: int, seed: int, each: int = 20) -> Counter[str]:
    """Forge releases of a kind; an AssertionError where the two checkers judge otherwise."""
    chance, tried = Chance(f"{kind} {seed}"), Counter[str]()
    while tried["tried"] < count:
        place = Path(tempfile.mkdtemp(prefix="privet-forge-"))
        try:
            try:
                out = KINDS[kind](chance, place).write(place / "out")
            except (pv.UnsatisfiableError, pv.UnsupportedError, pv.InputError):
                continue  # not every random table can keep every promise
            said, code, why = both(out, SLICES[kind])
            assert said == "accepted", ("an honest release", kind, why)
            assert code in {0, 3}, ("an honest release", kind, why)
            for _ in range(min(each, count - tried["tried"])):
                forged = shutil.copytree(out, place / "forged")
                what = forge(forged, chance)
                said, code, why = both(forged, SLICES[kind])
                said = "evidence" if (said, what) == ("wrong", "evidence") else said
                tried.update(["tried", said, f"alone {code}", f"{what}"])
                wrongly = objections(forged, out, why[1]) if said == "accepted" else []
                if wrongly or (said == "accepted" and code == 1) or (said == "wrong" and code == 0):
                    kept = Path(tempfile.mkdtemp(prefix="privet-differ-")) / "out"
                    shutil.copytree(forged, kept)
                    raise AssertionError((kind, what, said, code, wrongly, why, str(kept)))
                shutil.rmtree(forged)
        finally:
            shutil.rmtree(place)
    return tried


def main(arguments: list[str]) -> None:
    count, seed = int(arguments[0]), int(arguments[1])
    for kind in arguments[2:] or KINDS:
        try:
            print(kind, dict(sorted(run(kind, count, seed).items())), flush=True)
        except AssertionError as differ:
            print(kind, "DIFFER", differ, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
