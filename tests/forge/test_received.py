"""A release from a stranger: read as its policy says, from regular files, in limits, with nothing beside."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.forge.forging import changed, evidence, refused, seal
from tests.frozen import KEYED_TABLES
from tests.roads.test_documents import policy_of

import privet as pv
from privet.cli import main
from privet.engines import text
from privet.engines.embedded import Embedded
from privet.errors import InputError, TamperedError
from privet.evidence import sealed
from privet.policy import handed

POLICY = """
policy = 1
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", width = [10, 50] } }
zip = { role = "quasi", hierarchy = { type = "prefix", keep = [1] } }
ill = { role = "sensitive" }
[[models]]
type = "k-anonymity"
k = 5
"""
RAW = pl.DataFrame(
    {
        "age": [str(20 + n % 37) for n in range(60)],
        "zip": [f"{10 + n % 23}" for n in range(60)],
        "ill": [("flu", "cold", "hiv")[n % 3] for n in range(60)],
    }
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return pv.publish(RAW, pv.Policy.loads(POLICY)).write(tmp_path / "out")


def test_an_honest_release_is_accepted(out: Path) -> None:
    assert refused(out) == ()
    assert pv.verify(out).reading == ()


def raw_with_nulls(out: Path) -> dict[str, Any]:
    """The raw table as data, every quasi value a text that means "missing" in the evidence."""
    RAW.write_csv(out / "data.csv")
    said = evidence(out)
    said["data"]["nulls"] = sorted({*RAW["age"], *RAW["zip"]})
    said["promises"][0]["achieved"] = {"k": 60}
    return said


def test_what_means_missing_is_not_the_evidences_to_say(out: Path) -> None:
    complaints = refused(seal(out, raw_with_nulls(out)))
    assert any("another way to read the data" in complaint for complaint in complaints)
    assert any("k-anonymity" in complaint for complaint in complaints)
    assert not pv.verify(out).verdicts[0][1].holds


def test_nor_the_policys_beyond_one_text(out: Path) -> None:
    said = raw_with_nulls(out)
    tokens = ", ".join(f'"{token}"' for token in said["data"]["nulls"])
    policy = (out / "policy.toml").read_text().replace('nulls = [\n    "",\n]', f"nulls = [{tokens}]")
    (out / "policy.toml").write_text(policy)
    assert any("one text at most" in complaint for complaint in refused(seal(out, said)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "line",
    [
        "trim = true",
        'missing = { age = ["20"] }',
        'numbers = { age = "1.234,5" }',
        "header = false",
        'query = "SELECT 1"',
        'encoding = "utf-7"',
        'encoding = "rot13"',
        'encoding = "nonsense"',
        'delimiter = "a"',
        f'nulls = ["{"x" * 100}"]',
        'format = "xlsx"',
    ],
)
def test_a_policy_of_a_release_reads_it_as_it_stands(line: str, out: Path) -> None:
    text = handed.dumps(pv.Policy.load(out / "policy.toml"))
    key = line.split(" ", 1)[0]
    lines = [one for one in text.splitlines() if not one.startswith(f"{key} =")]
    text = "\n".join(lines).replace('nulls = [\n    "",\n]', "") if key == "nulls" else "\n".join(lines)
    (out / "policy.toml").write_text(text.replace("[form]", f"[form]\n{line}"))
    assert refused(seal(out))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"delimiter": ";"}, "the delimiter is ';'"),
        ({"encoding": "latin-1"}, "the encoding is latin-1"),
        ({"nulls": ("NA", "?")}, "missing values are written 'NA'"),
    ],
)
def test_what_is_not_the_default_stands_with_the_verdict(form: Any, said: str, tmp_path: Path) -> None:
    from dataclasses import replace

    separator = form.get("delimiter", ",")
    RAW.with_columns(pl.lit("NA").alias("ill")).write_csv(tmp_path / "raw.csv", separator=separator)
    policy = pv.Policy.loads(POLICY)
    policy = replace(policy, form=replace(policy.form, **form))
    out = pv.publish(tmp_path / "raw.csv", policy).write(tmp_path / "out")
    assert pv.verify(out).holds
    assert pv.verify(out).reading == (said,)
    assert pv.compare(tmp_path / "raw.csv", out)["records"] == 60  # the source is still read as it was


def test_null_as_wildcard_stands_with_the_verdict(tmp_path: Path) -> None:
    policy = pv.Policy.loads(POLICY.replace("policy = 1", 'policy = 1\nnulls = "wildcard"'))
    out = pv.publish(RAW, policy).write(tmp_path / "out")
    assert pv.verify(out).reading == ("a missing value matches every value",)


def test_a_text_that_looks_missing_in_a_quote_is_told_apart(out: Path) -> None:
    """Both read alike, so the file may be written in one way only."""
    assert refused(changed(out, "data.csv", lambda text: text.replace("flu", '"flu"', 1)))


# --- nothing beside the release


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "how",
    {
        "blank": lambda t: t + "\n",
        "quote": lambda t: t.replace("cold", '"cold"', 1),
        "windows": lambda t: t.replace("\n", "\r\n"),
        "one windows line": lambda t: t.replace("\n", "\r\n", 2).replace("\r\n", "\n", 1),
        "mark": lambda t: "\ufeff" + t,
        "no end": lambda t: t.rstrip("\n"),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_a_table_has_one_spelling(how: Any, out: Path) -> None:
    assert any("data.csv holds more" in complaint for complaint in refused(changed(out, "data.csv", how[1])))


def test_a_further_file_is_refused_though_it_has_a_digest(out: Path) -> None:
    (out / "register.csv").write_text("name\nEve\n")
    assert "register.csv is not part of the release" in refused(seal(out))


def test_a_data_file_has_the_name_that_privet_gives(out: Path) -> None:
    (out / "data.csv").rename(out / "other.csv")
    said = evidence(out)
    said["data"]["file"] = "other.csv"
    assert any("not a name of a data file" in complaint for complaint in refused(seal(out, said)))


def test_packed_tables_carry_nothing_else(tmp_path: Path) -> None:
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="csv.gz").write(tmp_path / "out")
    assert refused(out) == ()
    honest = (out / "data.csv.gz").read_bytes()
    for forged in (
        honest + b"register",
        honest + gzip.compress(b"", mtime=0),
        gzip.compress(gzip.decompress(honest), mtime=1234567),
        honest[:-3],
    ):
        (out / "data.csv.gz").write_bytes(forged)
        assert refused(seal(out))
    with gzip.GzipFile(out / "named", "wb", mtime=0) as named:
        named.write(gzip.decompress(honest))
    (out / "named").replace(out / "data.csv.gz")
    assert refused(seal(out))


DOCUMENTS: dict[str, dict[str, Any]] = {
    "json": {
        "key beside": lambda t: '{"note": 1, ' + t[1:] if t.startswith("{") else t.replace("[", "[\n ", 1),
        "after the end": lambda t: t + '[{"born": "1"}]\n',
        "another type": lambda t: t.replace('"1.5"', "1.5", 1),
        "blank": lambda t: t.replace('": ', '":  ', 1),
        "escape": lambda t: t.replace("chess", "\\u0063hess", 1),
    },
    "xml": {
        "comment": lambda t: t.replace("</", "<!-- Eve --></", 1),
        "instruction": lambda t: t.replace("</", "<?eve?></", 1),
        "name space": lambda t: t.replace("<student ", '<student xmlns:e="eve" ', 1),
        "root attribute": lambda t: t.replace("<students>", '<students note="eve">', 1),
        "blank": lambda t: t.replace("/>", " />", 1),
    },
}  # fmt: skip


def records(count: int = 8) -> list[Any]:
    return [
        {"name": f"N{n}", "year": "1993", "club": "chess", "gpa": ("1.5", "0.2", "2.5")[n % 3], "courses": []}
        for n in range(count)
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", ["ctoff", "t-t", "v-v"])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_have_one_spelling(way: str, kind: str, tmp_path: Path) -> None:
    honest = pv.publish(records(), policy_of(way), output=kind).write(tmp_path / "out")
    assert refused(honest) == ()
    before, tried = (honest / f"data.{kind}").read_text(), 0
    for name, how in DOCUMENTS[kind].items():
        forged = str(how(before))
        if forged == before:
            continue
        tried += 1
        shutil.copytree(honest, tmp_path / name)
        (tmp_path / name / f"data.{kind}").write_text(forged)
        assert refused(seal(tmp_path / name)), name
    assert tried >= 3


def test_bags_have_no_further_keys(tmp_path: Path) -> None:
    out = pv.publish(records(), policy_of("v-v")).write(tmp_path / "out")
    assert refused(
        changed(out, "data.json", lambda t: t.replace('"attribute"', '"eve": "hiv", "attribute"', 1))
    )


def test_tables_of_documents_have_no_further_table(tmp_path: Path) -> None:
    from tests.roads.test_documents import KEYED, PROMISES

    out = pv.publish(KEYED_TABLES, pv.Policy.loads(KEYED + next(iter(PROMISES.values())))).write(
        tmp_path / "out"
    )
    assert refused(out) == ()
    (out / "data.register.csv").write_text("name\nEve\n")
    said = evidence(out)
    said["data"]["tables"]["register"] = "data.register.csv"
    assert refused(seal(out, said))


def test_parquet_carries_no_notes(tmp_path: Path) -> None:
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="parquet").write(tmp_path / "out")
    assert refused(out) == ()
    pl.read_parquet(out / "data.parquet").write_parquet(out / "data.parquet", metadata={"eve": "hiv"})
    assert "data.parquet carries notes beside its columns" in refused(seal(out))


# --- nothing outside the folder


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[attributes.age]", '[ledger]\nfile = "../x"\ndataset = "y"\n\n[attributes.age]'),
        ("[attributes.zip.hierarchy]", '[attributes.zip.hierarchy]\npath = "/etc/passwd"'),
        (
            "[attributes.ill]",
            '[attributes.eve]\nrole = "identifier"\npublish = "hash"\nkey_file = "/e"\n\n[attributes.ill]',
        ),
    ],
)  # fmt: skip
def test_the_policy_of_a_release_names_no_file(old: str, new: str, out: Path) -> None:
    complaints = refused(changed(out, "policy.toml", lambda text: text.replace(old, new, 1)))
    assert any("names no file" in complaint for complaint in complaints), complaints
    assert not any("root:" in complaint for complaint in complaints)


def test_a_tree_from_a_pipe_is_not_waited_for(out: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    text = (out / "policy.toml").read_text()
    at = text.index("[attributes.zip.hierarchy]")
    end = text.index("[attributes.ill]")
    tree = f'[attributes.zip.hierarchy]\ntype = "csv"\npath = "{tmp_path / "pipe.csv"}"\n\n'
    (out / "policy.toml").write_text(text[:at] + tree + text[end:])
    assert any("names no file" in complaint for complaint in refused(seal(out)))


def test_keys_and_ledgers_do_not_leave(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("k" * 40)
    more = (
        f'name = {{ role = "identifier", publish = "hash", key_file = "{tmp_path / "key.txt"}" }}\n[[models]]'
    )
    text = POLICY.replace("[[models]]", more, 1)
    table = RAW.with_columns(pl.Series("name", [f"N{n}" for n in range(60)]))
    out = pv.publish(table, pv.Policy.loads(text)).write(tmp_path / "out")
    assert "key" not in (out / "policy.toml").read_text()
    assert refused(out) == ()


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "report.html", "evidence.json", "more"])
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "socket", "device"])
def test_only_regular_files_are_opened(name: str, what: str, out: Path, tmp_path: Path) -> None:
    (out / name).unlink(missing_ok=True)
    if what == "link":
        (tmp_path / "elsewhere").write_text("x")
        (out / name).symlink_to(tmp_path / "elsewhere")
    elif what == "pipe":
        os.mkfifo(out / name)
    elif what == "folder":
        (out / name).mkdir()
    elif what == "socket":
        os.chdir(out)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    else:
        (out / name).symlink_to("/dev/zero")
    found: list[Any] = []
    worker = threading.Thread(target=lambda: found.append(refused(out)), daemon=True)
    worker.start()
    worker.join(20)
    assert found, "verify waits"
    assert found[0]
    if (name, what) != ("data.csv", "folder"):  # a cluster writes parts into one: then it is looked into
        assert any("regular files only" in complaint for complaint in found[0])


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_only_regular_files_are_opened_in_a_folder_of_parts(what: str, out: Path, tmp_path: Path) -> None:
    part = out / "data.csv" / "part-00000.csv"
    (out / "data.csv").rename(tmp_path / "elsewhere")
    part.parent.mkdir()
    if what == "link":
        part.symlink_to(tmp_path / "elsewhere")
    elif what == "pipe":
        os.mkfifo(part)
    else:
        part.mkdir()
    found: list[Any] = []
    worker = threading.Thread(target=lambda: found.append(refused(out)), daemon=True)
    worker.start()
    worker.join(20)
    assert found, "verify waits"
    assert any("parts are regular files" in complaint for complaint in found[0])


def test_a_packed_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    import resource

    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="csv.gz").write(tmp_path / "out")
    with gzip.open(out / "data.csv.gz", "wb", compresslevel=1) as bomb:
        bomb.write(b"age,zip,ill\n")
        for _ in range(70):
            bomb.write(b"1,1,a\n" * (2**23 // 6))
    seal(out)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    complaints = refused(out)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert any("unpacks to more than" in complaint for complaint in complaints)
    assert grown < 200_000, "kilobytes"


def test_the_limit_can_be_said(out: Path) -> None:
    assert any("--limit raises it" in complaint for complaint in refused(out, limit=100))
    assert refused(out, limit=10_000) == ()
    assert sealed.size("512MB") == sealed.LARGEST
    for odd in ("", "much", "-1", "0", "1.5GB", "9" * 40):
        with pytest.raises(InputError, match="--limit"):
            sealed.size(odd)


@pytest.mark.parametrize("output", ["csv", "jsonl"])
def test_columns_without_end_are_not_read(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of two megabytes with 300,000 columns kept `verify` for minutes."""
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output=output).write(tmp_path / "out")
    assert refused(out) == ()
    names = [f"c{at}" for at in range(5000)]
    line = ",".join(names) if output == "csv" else json.dumps(dict.fromkeys(names, 1), separators=(",", ":"))
    path = out / f"data.{output}"
    path.write_text(f"{line}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    seal(out, report=False)
    monkeypatch.setattr(Embedded, "read", None)  # nobody comes so far
    assert refused(out) == (f"{out}: data.{output} has more columns than any release of this policy",)


@pytest.mark.parametrize("fields", [["a"] * 30_000, [""] * 30_000, [f"c{at}" for at in range(30_000)]])
def test_many_columns_are_named_at_once(fields: list[str]) -> None:
    names = text.naming(fields)
    assert len(set(names)) == len(fields)
    assert names[-1] in {"a_30000", "column_30000", "c29999"}


def test_columns_that_repeat_without_end_are_not_read(tmp_path: Path) -> None:
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="parquet").write(tmp_path / "out")
    many = pl.select(pl.repeat("1", 3_000_000).alias(name) for name in ("age", "zip", "ill"))
    many.write_parquet(out / "data.parquet")
    assert (out / "data.parquet").stat().st_size < 100_000
    with pytest.raises(TamperedError, match="announces 9,000,000 cells"):
        pv.verify(seal(out), limit=10_000_000)


def test_the_last_sentence_says_that_a_report_was_not_compared(out: Path, capsys: Any) -> None:
    (out / "report.html").write_text("<p>all is well</p>", encoding="utf-8")
    said = evidence(out)
    seal(out, said, report=False)
    assert refused(out)
    said["software"] = "x 0.0.9"
    seal(out, said, report=False)
    assert refused(out) == ("report.html: drawn by something that is not a version of privet",)
    said["software"] = "privet 0.0.9"
    seal(out, said, report=False)
    found = pv.verify(out)
    assert found.holds
    assert "report.html" in found.unchecked
    assert main(["verify", str(out)]) == 0
    *_, promise, _, last = capsys.readouterr().out.strip().splitlines()
    assert "every file but report.html" in promise
    assert last.startswith("report.html: said to be of another version of privet, so it was not compared")


BUCKETS = """\
policy = 1
[attributes]
age = { role = "quasi" }
ill = { role = "sensitive" }
[[models]]
type = "distinct-l-diversity"
l = 2
sensitive = ["ill"]
[algorithm]
type = "anatomy"
"""


@pytest.mark.parametrize(
    "held",
    [
        ("45,1", "45.0,1"),  # one value in two spellings
        ("caf\u00e9,1", "cafe\u0301,1"),
        ("45,3", "46,-1"),
        ("45,2", "46,0"),
        ("45,+1", "46,1"),
        ("45,1.0", "46,1"),
        ("45, 1", "46,1"),
    ],
)
def test_buckets_hold_different_values_in_numbers_that_are_counts(
    held: tuple[str, str], tmp_path: Path
) -> None:
    people = pl.DataFrame({"age": range(30, 38), "ill": ["45", "46"] * 4})
    folder = pv.publish(people, pv.Policy.loads(BUCKETS)).write(tmp_path / "out")
    buckets = folder / "buckets.csv"
    names = sorted({line.split(",")[0] for line in buckets.read_text().splitlines()[1:]})
    forged = "bucket,ill,records\n" + "".join(f"{name},{one}\n" for name in names for one in held)
    buckets.write_text(forged, encoding="utf-8")
    seal(folder)
    assert refused(folder)


def test_a_column_that_is_called_every_column_is_one_column(tmp_path: Path) -> None:
    """The engine's library reads "*" as all of them, and fell over one that holds no text."""
    raw = tmp_path / "raw.jsonl"
    raw.write_text('{"age":"30","ill":null}\n' * 4, encoding="utf-8")
    policy = pv.Policy.loads(
        'policy = 1\n[attributes]\nage = "quasi"\nill = "sensitive"\n[[models]]\n'
        'type = "k-anonymity"\nk = 2\n[algorithm]\ntype = "top-down"\n'
    )
    out = pv.publish(raw, policy).write(tmp_path / "out")
    changed(out, "data.jsonl", lambda text: text.replace('"age"', '"*"', 1))
    assert refused(out)
