"""A column that is said to be in disguise holds nothing that a disguise never makes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.forge.forging import refused, seal

import privet as pv
from privet.core import Disguise

NAMES = [f"Nadia Okonkwo-{at}" for at in range(40)]
RAW = pl.DataFrame(
    {
        "name": NAMES,
        "born": [f"19{50 + at}-03-0{1 + at % 9}" for at in range(40)],
        "age": [20 + at % 4 for at in range(40)],
        "stop": ["a b" if at % 2 else "b c" for at in range(40)],
        "ill": ["ab"[at % 2] for at in range(40)],
    }
)
WORN = {
    "mask": 'publish = "mask", first = 1, last = 2',
    "stars": 'publish = "mask"',
    "hash": 'publish = "hash", key_env = "PRIVET_TEST_KEY"',
    "pseudonym": 'publish = "pseudonym", key_env = "PRIVET_TEST_KEY"',
    "shift": 'publish = "shift", key_env = "PRIVET_TEST_KEY", by = "name"',
}
ALGORITHMS = {
    "top-down": '[[models]]\ntype = "k-anonymity"\nk = 3\n[algorithm]\ntype = "top-down"\n',
    "anatomy": (
        '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]\n'
        '[algorithm]\ntype = "anatomy"\n'
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("worn", WORN)
@pytest.mark.parametrize("search", ALGORITHMS)
@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_a_raw_value_in_a_disguised_column_is_refused(
    worn: str, search: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (search, engine) == ("anatomy", "plain"):
        engine = "embedded"
    monkeypatch.setenv("PRIVET_TEST_KEY", "0123456789abcdef" * 2)
    column = "born" if worn == "shift" else "name"
    name = "" if column == "name" else 'name = { role = "identifier" }\n'
    policy = pv.Policy.loads(
        f'policy = 1\nrows = "persons"\n[attributes]\n{column} = {{ role = "identifier", {WORN[worn]} }}\n'
        f"{name}"
        'age = { role = "quasi" }\nill = { role = "sensitive" }\n' + ALGORITHMS[search]
    )
    RAW.write_csv(tmp_path / "raw.csv")
    out = pv.publish(tmp_path / "raw.csv", policy, engine=engine).write(tmp_path / "out")
    assert refused(out, engine=engine) == ()
    data = pl.read_csv(out / "data.csv", infer_schema=False)
    data = data.with_columns(
        pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(NAMES[5])).otherwise(column).alias(column)
    )
    data.sort(data.columns).write_csv(out / "data.csv")
    found = refused(seal(out), engine=engine)
    kind = "mask" if worn == "stars" else worn
    assert f'column {column!r}: 1 value is not what publish = "{kind}" makes of a value' in found


@given(
    st.lists(st.text(min_size=0, max_size=20), min_size=1, unique=True), st.integers(0, 4), st.integers(0, 4)
)
def test_whatever_a_disguise_makes_fits_it(values: list[str], first: int, last: int) -> None:
    key = pv.Key(env="PATH")  # long enough, and always there
    worn: list[Disguise] = [pv.Mask(first=first, last=last), pv.Hash(key), pv.Pseudonym(key)]
    for disguise in worn:
        made = disguise.cover([value for value in values if value.isprintable()])
        assert all(one is None or disguise.fits(one) for one in made)


def test_a_mask_shows_no_more_than_it_says() -> None:
    mask = pv.Mask(first=1, last=2)
    assert mask.fits("N****42")
    assert mask.fits("****")
    for bare in ("Nadia", "N***42", "N****421", "NN****42", "", "***", "N****"):
        assert not mask.fits(bare)
