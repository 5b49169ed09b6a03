"""What a stranger got past the checker of one file: columns of names, unknown roles, words in signatures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.forge import every
from tests.forge.forging import changed

import privet as pv
from privet.errors import PrivetError
from privet.evidence.signing import PrivateKey, sign


def judged(folder: Path) -> tuple[bool, int]:
    """Does `privet verify` hold, and the code of the program of one file."""
    said, code, _ = every.both(folder)
    return said == "accepted", code


@pytest.mark.parametrize("kind", [every.paths, every.visits, every.sets])
def test_a_column_of_names_is_seen(kind: Callable[[Random, Path], pv.Release], tmp_path: Path) -> None:
    for seed in range(20):
        (tmp_path / str(seed)).mkdir()
        try:
            release = kind(Random(seed), tmp_path / str(seed))
        except PrivetError:  # a promise that this one cannot keep
            continue
        out = Path(release.write(tmp_path / f"out{seed}"))
        if not (out / "data.csv").exists() or 'form = "baskets"' in (out / "policy.toml").read_text("utf-8"):
            continue

        def named(text: str) -> str:
            head, *rows = text.rstrip("\n").split("\n")
            return "\n".join([f"{head},name", *(f"{row},Ann{at}" for at, row in enumerate(rows))]) + "\n"

        assert judged(changed(out, "data.csv", named))[1] == 1
        return
    pytest.fail("no release of a table with several columns")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('role = "quasi"', 'role = "quasi-identifier"'),
        ('role = "quasi"', 'role = "undecided"'),
        ('"quasi"', '"quasi "'),
        ("policy = 1", 'policy = 1\nnulls = "anything"'),
        ("policy = 1", 'policy = 1\norder = "whatever"'),
        ("policy = 1", 'policy = 1\nrows = "cats"'),
    ],
)
def test_a_word_that_no_policy_has_is_not_read_as_another(old: str, new: str, tmp_path: Path) -> None:
    out = Path(every.table(Random(1), tmp_path / "made").write(tmp_path / "out"))
    text = (out / "policy.toml").read_text("utf-8")
    assert old in text
    key = new.rpartition("\n")[2].partition(" ")[0]
    if new.startswith("policy") and f"\n{key} = " in text:
        text = "\n".join(line for line in text.split("\n") if not line.startswith(f"{key} = "))
    found = judged(changed(out, "policy.toml", lambda _: text.replace(old, new, 1)))
    assert found == (False, 1)


def test_signatures_are_nothing_but_signatures(tmp_path: Path) -> None:
    out = Path(every.table(Random(1), tmp_path / "made").write(tmp_path / "out"))
    path = out / "signatures.json"
    path.write_text('{"raw table": [["Ann", "HIV"]], "signed": []}')
    assert judged(out) == (False, 1)
    path.unlink()
    sign(out, PrivateKey.make("Ann"))
    sound = path.read_text("utf-8")
    assert judged(out) == (True, 0)
    one = json.loads(sound)["signed"][0]
    for old, new in (
        ('"signatures": 1', '"signatures": 1,\n "more": "Ann has HIV"'),
        ('"signatures": 1', '"signatures": true'),
        (one["key"], f"{one['key'][:5]}!{one['key'][5:]}"),
        (one["signature"], f" {one['signature']}"),
        ('"signer"', '"note": "x",\n   "signer"'),
    ):
        path.write_text(sound.replace(old, new, 1), "utf-8")
        assert judged(out) == (False, 1), new


def test_an_edge_beyond_every_exponent_is_refused_at_once(tmp_path: Path) -> None:
    from privet.verifier import verify

    about = {
        "types": {"t": {"sensitive": "s"}},
        "attributes": {"t.s": {"buckets": {"edges": ["1e-99999999", "2"]}}},
    }
    with pytest.raises(verify.Wrong):
        verify.seen("1", "t", about)
    about["attributes"]["t.s"]["buckets"]["edges"] = ["-2", "0", "2.5"]  # type: ignore[index]
    assert verify.seen("-1", "t", about) == ("value", 1)
