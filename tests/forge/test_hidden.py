"""Texts that a release could carry beside what is checked: refused, said with the verdict, or marked."""

from __future__ import annotations

import gzip
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.forge.forging import changed, evidence, refused, seal
from tests.forge.test_received import POLICY, RAW, records
from tests.roads.test_documents import policy_of

import privet as pv
from privet.cli import main

EVE = "Eve has HIV"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return pv.publish(RAW, pv.Policy.loads(POLICY)).write(tmp_path / "out")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "how",
    [
        lambda t: t + f"# {EVE}\n",
        lambda t: f"# {EVE}\n{t}",
        lambda t: t.replace("policy = 1", "policy  =  1", 1),
        lambda t: t.replace("policy = 1", f"policy = 1 # {EVE}", 1),
        lambda t: t.replace("\n[", "\n\n[", 1),
    ],
)
def test_a_policy_carries_no_remarks(how: Callable[[str], str], out: Path) -> None:
    assert refused(out) == ()
    assert any("policy.toml holds more" in one for one in refused(changed(out, "policy.toml", how)))


def test_evidence_is_written_in_one_way(out: Path) -> None:
    ways: list[tuple[str, str]] = [("\n", " \n"), ('"evidence"', '"evi\\u0064ence"'), ("\n}", "\n\t}")]
    for old, new in ways:
        forged = shutil.copytree(out, out.parent / "forged")
        path = forged / "evidence.json"
        path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
        assert any("evidence.json holds more" in one for one in refused(forged))
        shutil.rmtree(forged)


def test_how_many_were_suppressed_is_not_left_out(out: Path) -> None:
    said = evidence(out)
    del said["suppressed_records"]
    assert "suppressed_records: is missing" in refused(seal(out, said))


def test_signatures_hold_nothing_else(out: Path) -> None:
    from privet.evidence.signing import PrivateKey, sign

    sign(out, PrivateKey.make("office"))
    assert refused(out) == ()
    path = out / "signatures.json"
    honest = path.read_text(encoding="utf-8")
    for forged in (
        honest.replace('"signatures": 1', f'"signatures": "{EVE}", "signatures": 1', 1),
        honest.replace('"signer": ', f'"signer": "{EVE}", "signer": ', 1),
        honest + " \t\n",
        honest.replace("office", "off\\u0069ce", 1),
    ):
        assert forged != honest
        path.write_text(forged, encoding="utf-8")
        assert refused(out)


def deflated(content: bytes, blocks: int) -> bytes:
    """The same content, packed with empty blocks between."""
    packer, made = zlib.compressobj(9, zlib.DEFLATED, -15), b""
    for at in range(blocks):
        made += packer.compress(content[at * 50 : at * 50 + 50]) + packer.flush(zlib.Z_FULL_FLUSH)
    made += packer.compress(content[blocks * 50 :]) + packer.flush()
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return header + made + struct.pack("<II", zlib.crc32(content), len(content))


def test_what_may_lie_between_packed_blocks_is_marked(tmp_path: Path, capsys: Any) -> None:
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="csv.gz").write(tmp_path / "out")
    assert pv.verify(out).unchecked == ()
    honest = (out / "data.csv.gz").read_bytes()
    content = gzip.decompress(honest)
    for forged in (
        deflated(content, 3),
        gzip.compress(content, 1, mtime=0),
        honest[:8] + b"EV" + honest[10:],
    ):
        (out / "data.csv.gz").write_bytes(forged)
        seal(out)
        found = pv.verify(out)
        assert not found.holds or found.unchecked == ("data.csv.gz",)
        capsys.readouterr()
        if main(["verify", str(out)]) == 0:
            assert "every file but data.csv.gz" in capsys.readouterr().out


def test_a_packed_release_in_another_encoding_is_one_of_ours(tmp_path: Path) -> None:
    """It was packed with its name and the time, and then refused."""
    text = POLICY.replace("[attributes", '[form]\nencoding = "latin-1"\n\n[attributes', 1)
    (tmp_path / "raw.csv").write_bytes(RAW.write_csv().encode("latin-1"))
    for engine in ("embedded", "plain"):
        made = pv.publish(tmp_path / "raw.csv", pv.Policy.loads(text), output="csv.gz", engine=engine)
        out = made.write(tmp_path / engine)
        found = pv.verify(out)
        assert found.holds
        assert found.unchecked == ()


def test_columns_in_another_spelling_are_marked(tmp_path: Path) -> None:
    for kind in ("parquet", "arrow"):
        out = pv.publish(RAW, pv.Policy.loads(POLICY), output=kind).write(tmp_path / kind)
        assert pv.verify(out).unchecked == ()
        frame = (
            pl.read_parquet(out / "data.parquet") if kind == "parquet" else pl.read_ipc(out / "data.arrow")
        )
        if kind == "parquet":
            frame.write_parquet(out / "data.parquet", compression="gzip", row_group_size=2)
        else:
            frame.write_ipc(out / "data.arrow", compression="lz4")
        found = pv.verify(seal(out))
        assert found.unchecked == (f"data.{kind}",)
        assert any(f"data.{kind}: its columns were checked" in one for one in found.remarks)


@pytest.mark.parametrize("where", ["field", "schema"])
def test_parquet_carries_no_notes_at_a_field(where: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    out = pv.publish(RAW, pv.Policy.loads(POLICY), output="parquet").write(tmp_path / "out")
    table = pl.read_parquet(out / "data.parquet").to_arrow()
    first = table.schema.field(0)
    schema = table.schema
    if where == "field":
        schema = schema.set(0, first.with_metadata({"eve": EVE}))
    else:
        schema = schema.with_metadata({"eve": EVE})
    parquet.write_table(pa.Table.from_arrays(table.columns, schema=schema), out / "data.parquet")
    found = refused(seal(out))
    assert "data.parquet carries notes beside its columns" in found


@pytest.mark.parametrize("way", ["ctoff", "t-t"])
def test_words_around_documents_are_said_with_the_verdict(way: str, tmp_path: Path) -> None:
    honest = pv.publish(records(), policy_of(way), output="xml").write(tmp_path / "out")
    before = (honest / "data.xml").read_text(encoding="utf-8")
    root = before[before.index("<", 2) + 1 :].split(">")[0].split(" ")[0]
    texts = (
        before.replace(f"<{root}", f'<{root} xmlns:e="{EVE}"', 1),
        before.replace(f"<{root}", f'<{root} xsi:e="{EVE}"', 1),
        before.replace(f"<{root}", "<EveHasHIV", 1).replace(f"</{root}>", "</EveHasHIV>", 1),
        before.replace(f"<{root}", f'<{root} xmlns:e="{EVE * 100}"', 1),
    )
    for at, text in enumerate(texts):
        forged = shutil.copytree(honest, tmp_path / str(at))
        assert text != before
        (forged / "data.xml").write_text(text, encoding="utf-8")
        seal(forged)
        try:
            found = pv.verify(forged)
        except pv.TamperedError:
            continue
        said = " ".join(found.reading).replace(" ", "")
        assert not found.holds or "EvehasHIV".lower() in said.lower()
        if at == 3:
            assert not found.holds


def test_words_around_records_of_json_are_said_too(tmp_path: Path) -> None:
    out = pv.publish(records(), policy_of("ctoff")).write(tmp_path / "out")
    path = out / "data.json"
    path.write_text(
        '{"EveHasHIV": ' + path.read_text(encoding="utf-8").rstrip("\n") + "}\n", encoding="utf-8"
    )
    try:
        found = pv.verify(seal(out))
    except pv.TamperedError:
        return
    assert not found.holds or any("EveHasHIV" in one for one in found.reading)


def test_a_key_that_stands_twice_is_refused_wherever_json_is_read(tmp_path: Path, out: Path) -> None:
    private = out.parent / "out.private" / "steward.json"
    text = private.read_text(encoding="utf-8")
    private.write_text(text.replace("{", f'{{"digest": "{EVE}", ', 1), encoding="utf-8")
    with pytest.raises(pv.InputError, match="damaged"):
        pv.explain(out)
    (tmp_path / "stops.geojson").write_text(
        '{"type": "FeatureCollection", "features": [], "features": []}', encoding="utf-8"
    )
    from privet.trajectory.stops import geojson

    with pytest.raises(pv.InputError, match="not JSON"):
        list(geojson("stops.geojson", (tmp_path / "stops.geojson").read_text(encoding="utf-8")))
