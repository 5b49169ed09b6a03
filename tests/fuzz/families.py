"""What is damaged, and who is given it."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import polars as pl
from tests.contract.pairs import policy_of, table_of
from tests.fuzz.mutate import damaged, repacked, reshaped
from tests.roads import noisy

from privet.cli import main

CANARY = "zqx" + "jkv"
HERE = Path(__file__).parent
Words = Sequence[str]
SQL = [
    "SELECT SUM(pay) FROM staff WHERE dept = 'a' AND age > 40",
    "SELECT MAX(pay) FROM staff WHERE age BETWEEN 20 AND 30 OR dept IN ('a', 'b')",
    "SELECT SUM(pay), MAX(pay) FROM staff GROUP BY dept",
]


@dataclass(frozen=True)
class Family:
    """Files of one kind: how they are hurt, and which commands are given them."""

    name: str
    file: str  # where the damaged one lies
    commands: Sequence[Words]
    hurt: Callable[[bytes, Random], bytes] = damaged
    quotes: bool = False  # its own words are the steward's, and may be repeated
    seeds: list[bytes] = field(default_factory=list)

    def weights(self) -> list[int]:
        """Publishing takes ten times as long as what else reads a file, and reads it alike."""
        return [1 if words[0] == "publish" else 4 for words in self.commands]


def made(folder: Path) -> list[Family]:
    """Everything sound, in `folder`, and the families that damage a part of it."""
    folder.mkdir(parents=True, exist_ok=True)
    place = {name: str(folder / name) for name in ("raw.csv", "p.toml", "out", "docs.toml", "ledger.sqlite")}
    table = table_of(1, rows=40).with_columns(
        pl.Series("name", [f"{CANARY}{at}" for at in range(40)]), pl.Series("town", [CANARY, "b"] * 20)
    )
    table.write_csv(place["raw.csv"])
    policy = policy_of(["k-anonymity"], "mondrian", name={"role": "identifier"}, town={"role": "other"})
    Path(place["p.toml"]).write_text(policy.dumps(), "utf-8")
    publish = ("-o", str(folder / "made"), "--overwrite")
    draft = ("-o", str(folder / "made.toml"), "--overwrite")
    assert main(["publish", place["raw.csv"], place["p.toml"], "-o", place["out"]]) == 0
    families = []
    writers: dict[str, Callable[[Path], object]] = {
        "csv": table.write_csv,
        "tsv": lambda path: table.write_csv(path, separator="\t"),
        "jsonl": table.write_ndjson,
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
    }
    for ending, write in writers.items():
        write(folder / f"seed.{ending}")
        data = str(folder / f"data.{ending}")
        families.append(
            Family(
                ending,
                data,
                [
                    ("check", data, place["p.toml"]),
                    ("check", data, place["p.toml"], "--engine", "plain"),
                    ("publish", data, place["p.toml"], *publish),
                    ("init", data, *draft),
                ],
                seeds=[(folder / f"seed.{ending}").read_bytes()],
            )
        )
    packed = str(folder / "data.csv.gz")
    reads = [("check", packed, place["p.toml"]), ("check", packed, place["p.toml"], "--engine", "plain")]
    seed = gzip.compress((folder / "seed.csv").read_bytes(), mtime=0)
    families.append(Family("gzip", packed, [*reads, ("init", packed, *draft)], repacked, seeds=[seed]))
    for ending in ("json", "xml"):
        data = str(folder / f"docs.{ending}")
        sample = [
            "sample",
            "transcripts",
            "-o",
            data,
            "--rows",
            "6",
            "--policy",
            place["docs.toml"],
            "--overwrite",
        ]
        assert main(sample) == 0
        hurts = [("check", data, place["docs.toml"]), ("publish", data, place["docs.toml"], *publish)]
        hurts.append(("init", data, *draft))
        families.append(Family(ending, data, hurts, seeds=[Path(data).read_bytes()]))
    texts = [policy.dumps(), Path(place["docs.toml"]).read_text("utf-8"), noisy.TEXT]
    hurt_policy = str(folder / "hurt.toml")
    families.append(
        Family(
            "policy",
            hurt_policy,
            [("check", place["raw.csv"], hurt_policy), ("publish", place["raw.csv"], hurt_policy, *publish)],
            quotes=True,
            seeds=[text.encode() for text in texts],
        )
    )
    families += [*_hierarchies(folder, place), *_releases(folder, place, publish), *_ledgers(folder)]
    families.append(Family("sql", "", [], quotes=True, seeds=[text.encode() for text in SQL]))
    for family in families:
        family.seeds.extend(path.read_bytes() for path in sorted((HERE / "seeds").glob(f"{family.name}.*")))
    return families


def _hierarchies(folder: Path, place: dict[str, str]) -> list[Family]:
    tree = {"Any": {"young": ["20", "21"], "old": ["30", "40", "50"]}}
    lines = "20;young;*\n21;young;*\n30;old;*\n40;old;*\n"
    found = []
    for ending, text in {"csv": lines, "json": json.dumps(tree)}.items():
        file, policy = folder / f"tree.{ending}", folder / f"tree-{ending}.toml"
        file.write_text(text)
        kind = "csv" if ending == "csv" else "tree"
        policy.write_text(
            'policy = 1\n[attributes]\nage = { role = "quasi", hierarchy = '
            f'{{ type = "{kind}", path = "tree.{ending}" }} }}\n[[models]]\ntype = "k-anonymity"\nk = 2\n'
        )
        words = [("check", place["raw.csv"], str(policy))]
        found.append(Family(f"hierarchy-{ending}", str(file), words, quotes=True, seeds=[text.encode()]))
    return found


def _releases(folder: Path, place: dict[str, str], publish: Words) -> list[Family]:
    shutil.copytree(place["out"], folder / "theirs", dirs_exist_ok=True)
    shutil.copytree(place["out"] + ".private", folder / "theirs.private", dirs_exist_ok=True)
    theirs = str(folder / "theirs")
    reading = [
        ("verify", theirs),
        ("verify", theirs, "--json"),
        ("explain", theirs),
        ("compare", place["raw.csv"], theirs),
        ("publish", place["raw.csv"], place["p.toml"], "--like", theirs, *publish),
    ]
    evidence, notes = Path(theirs) / "evidence.json", Path(theirs + ".private") / "steward.json"
    return [
        Family("evidence", str(evidence), reading, reshaped, seeds=[evidence.read_bytes()]),
        Family("evidence-bytes", str(evidence), reading, seeds=[evidence.read_bytes()]),
        Family("notes", str(notes), reading, reshaped, seeds=[notes.read_bytes()]),
        Family(
            "release-data",
            str(Path(theirs) / "data.csv"),
            reading,
            seeds=[(Path(theirs) / "data.csv").read_bytes()],
        ),
    ]


def _ledgers(folder: Path) -> list[Family]:
    noisy.ledger(folder)
    path = folder / "ledger.sqlite"
    hurt = str(folder / "hurt.sqlite")
    words = [("ledger", "show", hurt), ("ledger", "witness", hurt), ("ledger", "show", hurt, "--json")]
    return [Family("ledger", hurt, words, seeds=[path.read_bytes()])]
