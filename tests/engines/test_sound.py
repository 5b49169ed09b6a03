"""Files of columns that say of themselves what cannot be: refused, where polars would end the process."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.panic import unpanicked
from privet.engines.sound import refuse_unsound
from privet.errors import InputError

ROWS = 400
WHOLE = pl.DataFrame(
    {
        "n": [1, None, 3, 4] * (ROWS // 4),
        "s": ["x", None, "yy" * 40, ""] * (ROWS // 4),
        "b": [True, None] * (ROWS // 2),
        "x": [0.5] * ROWS,
        "c": pl.Series(["u", "v"] * (ROWS // 2), dtype=pl.Categorical),
        "of": [[1, 2], []] * (ROWS // 2),
        "in": [{"q": 1, "w": "e"}] * ROWS,
        "none": [None] * ROWS,
    }
)


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_what_polars_writes_is_sound(rows: int) -> None:
    some = WHOLE.head(rows)
    for packing in ("zstd", "lz4", "snappy", "gzip", "brotli", "uncompressed"):
        for size in (None, 1000):
            raw = io.BytesIO()
            some.write_parquet(raw, compression=packing, data_page_size=size, row_group_size=150)
            refuse_unsound(raw.getvalue(), "parquet")
    ways: list[Any] = ["zstd", "lz4", "uncompressed"]
    for packing in ways:
        for level in (pl.CompatLevel.oldest(), pl.CompatLevel.newest()):
            raw = io.BytesIO()
            some.write_ipc(raw, compression=packing, compat_level=level)
            refuse_unsound(raw.getvalue(), "arrow")


@pytest.mark.parametrize("packing", ["none", "snappy", "zstd"])
def test_what_others_write_is_sound(packing: str) -> None:
    parquet, ipc = (pytest.importorskip(f"pyarrow.{name}") for name in ("parquet", "ipc"))
    table = WHOLE.to_arrow()
    for version in ("1.0", "2.0"):
        for listed in (True, False):
            raw = io.BytesIO()
            parquet.write_table(
                table,
                raw,
                data_page_version=version,
                use_dictionary=listed,
                compression=packing,
                write_page_index=True,
                write_page_checksum=True,
                data_page_size=300,
                row_group_size=130,
            )
            refuse_unsound(raw.getvalue(), "parquet")
    for old in (False, True):
        options = ipc.IpcWriteOptions(
            compression="zstd" if packing == "zstd" and not old else None,
            use_legacy_format=old,
            unify_dictionaries=True,
        )
        raw = io.BytesIO()
        with ipc.new_file(raw, table.schema, options=options) as file:
            file.write_table(table, max_chunksize=130)
        refuse_unsound(raw.getvalue(), "arrow")


def test_a_column_that_packs_as_well_as_can_be_is_sound() -> None:
    zeros = pl.DataFrame({"z": pl.zeros(2_000_000, eager=True)})
    for packing in ("zstd", "lz4"):
        raw = io.BytesIO()
        zeros.write_ipc(raw, compression=packing)
        refuse_unsound(raw.getvalue(), "arrow")


def test_a_buffer_that_says_that_it_is_larger_than_any_memory(tmp_path: Path) -> None:
    raw, path = io.BytesIO(), tmp_path / "a.arrow"
    pl.DataFrame({"n": [7] * 1000}).write_ipc(raw, compression="zstd")
    whole, said = raw.getvalue(), struct.pack("<q", 8000)
    for claim in (2**62, -2, 2**40):
        path.write_bytes(whole.replace(said, struct.pack("<q", claim), 1))
        with pytest.raises(InputError, match="cannot be read as arrow"):
            Embedded().read(path, Form())


DAMAGED = """
import sys
from random import Random
from datetime import date
from pathlib import Path
import polars as pl
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.errors import InputError

path, chance = Path(sys.argv[1]), Random(0)
whole, refused = path.read_bytes(), 0
for _ in range(int(sys.argv[2])):
    raw = bytearray(whole)
    for _ in range(chance.choice([1, 1, 2, 3])):
        raw[chance.randrange(len(raw))] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
    path.write_bytes(raw)
    try:
        Embedded().read(path, Form())
    except InputError:
        refused += 1
print(refused)
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("times", [400, pytest.param(8000, marks=pytest.mark.slow)])
def test_whatever_is_damaged_the_process_lives(kind: str, times: int, tmp_path: Path) -> None:
    path, chance = tmp_path / f"a.{kind}", Random(1)
    frame = pl.DataFrame(
        {
            "n": [chance.choice([1, None, 3]) for _ in range(30)],
            "s": [chance.choice(["x", "y", None]) for _ in range(30)],
            "b": [chance.choice([True, None]) for _ in range(30)],
        }
    )
    frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path, compression="zstd")
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(path), str(times)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert 0 < int(done.stdout) < times


def test_a_panic_is_an_error_that_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """What no look ahead foresees. Rust writes to standard error by itself, and what it says may be data."""

    def panicking() -> None:
        with unpanicked():
            os.write(2, b"thread panicked at 'Kowalczyk'")
            raise pl.exceptions.PanicException("Kowalczyk")

    with pytest.raises(ValueError, match=r"^$") as told:
        panicking()
    assert told.value.__suppress_context__
    print("after", file=sys.stderr)
    assert capfd.readouterr().err == "after\n"


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (pl.Datetime("us"), 2**62),
        (pl.Datetime("ms"), -(2**60)),
        (pl.Datetime("ms"), 253_402_300_800_000),  # the first moment of the year 10000
        (pl.Date, 2**31 - 1),
    ],
)
@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_moments_that_no_calendar_has_are_refused(
    tmp_path: Path, dtype: pl.DataType, value: int, ending: str
) -> None:
    """A panic inside polars, when it was asked for their text."""
    days = pl.Series([0, value], dtype=pl.Int32 if dtype == pl.Date else pl.Int64)
    frame = pl.DataFrame({"t": days.cast(dtype)})
    path = tmp_path / f"a.{ending}"
    (frame.write_ipc if ending == "arrow" else frame.write_parquet)(path)
    for source in (path, frame):
        with pytest.raises(InputError, match="outside the years 1 to 9999"):
            Embedded().read(source, Form())


def test_the_first_and_the_last_moment_are_read(tmp_path: Path) -> None:
    days = pl.Series([date.min, date.max, None])
    frame = pl.DataFrame({"t": days.cast(pl.Datetime("us")), "d": days})
    frame.write_parquet(tmp_path / "a.parquet")
    engine = Embedded()
    assert engine.distinct(engine.read(tmp_path / "a.parquet", Form()), "d") == [
        "0001-01-01",
        "9999-12-31",
        None,
    ]
