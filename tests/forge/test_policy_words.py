"""What a policy in a release says, and how, as both checkers ask for it. Issue 13, line 11.

The checker of one file does not judge how a policy is spelt, nor hierarchies: it says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.forge import every
from tests.forge.forging import changed, seal
from tests.forge.test_verifier import module

import privet as pv
from privet.errors import PrivetError


def some(kind: Any, place: Path, seed: int = 0) -> Path:
    for at in range(seed, seed + 40):
        try:
            (place / str(at)).mkdir(parents=True)
            return Path(kind(Random(at), place / str(at)).write(place / f"out{at}"))
        except PrivetError:
            continue
    raise AssertionError("no release")


OTHERWISE = {  # kind, what stands there, and what is written instead
    "a key of an attribute": ("table", 'role = "sensitive"\n', 'role = "sensitive"\nremark = "Ann"\n'),
    "a disguise nobody asked for": ("table", 'role = "sensitive"\n', 'role = "sensitive"\nfirst = 3\n'),
    "a key of the form": ("table", 'encoding = "utf-8"\n', 'encoding = "utf-8"\ntrim = true\n'),
    "an unknown key of the form": ("table", 'encoding = "utf-8"\n', 'encoding = "utf-8"\nremark = "Ann"\n'),
    "a key of a type": ("json", 'sensitive = "gpa"\n', 'sensitive = "gpa"\nremark = "Ann"\n'),
    "a key of a hierarchy": ("table", 'type = "intervals"\n', 'type = "intervals"\nremark = "Ann"\n'),
    "keys in another order": (
        "table",
        'kind = "table"\nnulls = "value"\n',
        'nulls = "value"\nkind = "table"\n',
    ),
    "a key that need not be said": (
        "table",
        'order = "canonical"\n',
        'order = "canonical"\nrows = "unsaid"\n',
    ),
    "a key left out": ("table", 'nulls = "value"\n', ""),
    "another quote": ("table", 'nulls = "value"', "nulls = 'value'"),
    "an escape": ("table", 'nulls = "value"', 'nulls = "\\u0076alue"'),
    "another number": ("table", "policy = 1\n", "policy = 0x1\n"),
    "a list in a line": ("table", 'nulls = [\n    "",\n]', 'nulls = [""]'),
    "a table in a line": ("table", "[attributes.ill]\nrole = ", "[attributes]\nill.role = "),
    "a blank line": ("table", 'nulls = "value"\n', 'nulls = "value"\n\n'),
    "a remark": ("table", 'nulls = "value"\n', 'nulls = "value" # Ann\n'),
    "a long text for missing": ("table", '    "",\n', f'    "{"x" * 65}",\n'),
    "a text for missing that nobody sees": ("table", '    "",\n', '    "\\u0007",\n'),
    "an encoding of several spellings": ("table", '"utf-8"', '"unicode-escape"'),
    "the same with another hyphen": ("table", '"utf-8"', '"raw_unicode_escape"'),
    "a letter between fields": ("table", 'delimiter = ","', 'delimiter = "a"'),
    "a setting of another search": ("table", "[algorithm]\n", "[algorithm]\nmode = 'cells'\n"),
    "a setting of an order": ("json", 'infeasible = "skip"\n', 'infeasible = "skip"\nstrict = true\n'),
    "a table of another kind": (
        "table",
        "[algorithm]\n",
        '[transactions]\nform = "baskets"\n\n[algorithm]\n',
    ),
}


UNJUDGED = {  # of which the checker of one file says that it does not judge it
    "a key of a hierarchy": "hierarchies",
    "keys in another order": "the spelling of policy.toml",
    "an escape": "the spelling of policy.toml",
    "another number": "the spelling of policy.toml",
    "a list in a line": "the spelling of policy.toml",
    "a table in a line": "the spelling of policy.toml",
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_is_written_otherwise_is_seen_by_both(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, old, new = OTHERWISE[what]
    out = some(every.KINDS[kind], tmp_path, seed=3)
    assert every.both(out)[:2] == ("accepted", 0)
    assert old in (out / "policy.toml").read_text("utf-8")
    said, code, _ = every.both(changed(out, "policy.toml", lambda text: text.replace(old, new, 1)))
    assert said != "accepted"
    if what not in UNJUDGED:
        assert code in {1, 3}
        return
    monkeypatch.setattr("sys.argv", ["verify.py", str(out)])
    module().main()
    unjudged = capsys.readouterr().out.rpartition("not judged here: ")[2]
    assert UNJUDGED[what] in unjudged


@pytest.mark.parametrize("kind", ["table", "paths", "json", "halves", "sets", "visits", "buckets"])
def test_every_value_changed_and_every_key_added(kind: str, tmp_path: Path) -> None:
    """Something else is said, or more; whether the evidence still fits only one of them looks at."""
    out = some(every.KINDS[kind], tmp_path)
    text = (out / "policy.toml").read_text("utf-8")
    lines = text.splitlines(keepends=True)
    forged = []
    for at, line in enumerate(lines):
        if line.startswith("["):
            forged.append([*lines[: at + 1], 'remark = "Ann"\n', *lines[at + 1 :]])
        elif found := re.fullmatch(r'(\S+ = )(".*"|\d+|true|false)\n', line):
            forged += [[*lines[:at], *lines[at + 1 :]], [*lines[:at], f"{found[1]}-7\n", *lines[at + 1 :]]]
            forged.append([*lines[:at], f'{found[1]}"Ann"\n', *lines[at + 1 :]])
    for one in forged:
        (out / "policy.toml").write_text("".join(one), "utf-8")
        seal(out)
        said, code, words = every.both(out)
        unjudged = all("as privet writes it" in why for why in words[1]) or "hierarchy: " in words[1][0]
        assert said != "wrong" or code != 0 or unjudged, ("".join(one), words)
        assert said != "accepted" or code != 1, ("".join(one), words)


def test_names_and_purposes_may_be_anything(tmp_path: Path) -> None:
    import polars as pl

    name = 'a "b"\t\\é.[c] \x7f'
    table = pl.DataFrame({name: ["1", "2"] * 3, "s": ["x"] * 6})
    quasi = pv.Attribute(name, pv.Role.QUASI)
    said = pv.Policy(
        (quasi, pv.Attribute("s", pv.Role.OTHER)), (pv.KAnonymity(k=2),), purpose="a\tb\nc\x01 '\""
    )
    assert every.both(Path(pv.publish(table, said).write(tmp_path / "out")))[:2] == ("accepted", 0)
