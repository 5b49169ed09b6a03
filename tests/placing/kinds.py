"""Small data of every kind with its policy, and what must hold of a folder whatever was interrupted."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.contract.pairs import policy_of, table_of
from tests.roads import noisy

from privet.cli import main
from privet.dp.ledger import Ledger
from privet.evidence import folder as ev

KINDS = ("table", "buckets", "noisy", "trajectories", "documents", "baskets")
SAMPLE = {
    "trajectories": ("trips-city", "40", "csv"),
    "documents": ("transcripts", "25", "json"),
    "baskets": ("baskets", "120", "csv"),
}
BUDGET = 100_000
PUBLISH = ["publish", "raw.csv", "policy.toml", "-o", "out"]  # in a folder with a table


def prepared(folder: Path, kind: str) -> list[str]:
    """Data and policy in a folder; the words that publish them to `out` there."""
    folder.mkdir(parents=True)
    if kind == "noisy":
        noisy.table(200).write_csv(folder / "raw.csv")
        noisy.ledger(folder, BUDGET)
        (folder / "policy.toml").write_text(noisy.TEXT, "utf-8")
        return [*words("raw.csv"), "--ledger", "ledger.sqlite", "--dataset", "ward"]
    if kind in SAMPLE:
        name, rows, ending = SAMPLE[kind]
        data, policy = folder / f"raw.{ending}", folder / "policy.toml"
        assert main(["sample", name, "-o", str(data), "--rows", rows, "--policy", str(policy)]) == 0
        return words(data.name)
    table_of(1, rows=60).write_csv(folder / "raw.csv")
    promise, algorithm = {
        "table": ("k-anonymity", "mondrian"),
        "buckets": ("distinct-l-diversity", "anatomy"),
    }[kind]
    (folder / "policy.toml").write_text(policy_of([promise], algorithm).dumps(), "utf-8")
    return words("raw.csv")


def words(data: str) -> list[str]:
    return ["publish", data, "policy.toml", "-o", "out"]


def whole(folder: Path, kind: str) -> bool:
    """Is there a release? If so it is whole, has its notes, and is paid for."""
    out = folder / "out"
    if not out.exists():
        return False
    evidence = ev.read(out)
    assert ev.file_complaints(out, evidence) == []
    assert (folder / "out.private" / "steward.json").is_file()
    assert (folder / "out.private").stat().st_mode & 0o777 == 0o700
    if kind == "noisy":
        digest = hashlib.sha256((out / ev.FILE).read_bytes()).hexdigest()
        ledger = Ledger(folder / "ledger.sqlite", create=False)
        ledger.audit()
        paid = {entry.digest for entry in ledger.releases("ward") if entry.state == "released"}
        assert f"sha256:{digest}" in paid, "a release that nobody paid for"
    return True


def litter(folder: Path) -> list[str]:
    """What a run leaves behind that is neither a release nor ours."""
    known = {"raw.csv", "raw.json", "policy.toml", "ledger.sqlite", "out", "out.private", "said"}
    # SQLite finishes or undoes what a kill left of a transaction when it is next opened.
    found = (path.name for path in folder.iterdir() if not path.name.startswith("ledger.sqlite-"))
    return sorted(name for name in found if name not in known)
