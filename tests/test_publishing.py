"""The road: what is published keeps its policy, whatever the table; and nothing else leaves."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle import Row, holds

import privet as pv
from privet.core import Form, Hierarchy, PrivacyModel
from privet.declared import Order
from privet.disguise import Hash, Key, Mask, Pseudonym, Shift
from privet.engines.embedded import Embedded, Frame
from privet.engines.frames import in_order
from privet.errors import (
    BrokenPromiseError,
    InputError,
    InternalError,
    PolicyError,
    TamperedError,
    UnsatisfiableError,
    UnsupportedError,
)
from privet.evidence import folder as ev
from privet.evidence.notes import cuts_after
from privet.hierarchy import Auto, Flat, Intervals, Prefix, Tree
from privet.readings import Absent, Rows
from privet.recoding import Generalization
from privet.roads.tables.release import TableRelease
from privet.samples import SAMPLES
from privet.verification import verify

HALF = Fraction(1, 2)
JOBS = Tree.of(
    {"Any": {"Artist": ["Dancer", "Writer"], "Desk": {"Clerk": ["Typist", "Teller"], "Boss": None}}}
)
Table = dict[str, list[Any]]
QUASI = ("job", "age", "zip")


def attributes(*, age: Hierarchy | None = None) -> tuple[pv.Attribute, ...]:
    return (
        pv.Attribute("name", pv.Role.IDENTIFIER),
        pv.Attribute("job", pv.Role.QUASI, JOBS),
        pv.Attribute("age", pv.Role.QUASI, age or Intervals()),
        pv.Attribute("zip", pv.Role.QUASI, Prefix(keep=(2, 1))),
        pv.Attribute("ill", pv.Role.SENSITIVE),
        pv.Attribute("town", pv.Role.SENSITIVE),
        pv.Attribute("good", pv.Role.TARGET),
        pv.Attribute("note", pv.Role.OTHER),
    )


@st.composite
def tables(draw: st.DrawFn, most: int = 25) -> Table:
    height = draw(st.integers(1, most))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=height, max_size=height))

    few = draw(st.booleans())  # equal rows, so that some tables can be published as they are
    return {
        "note": column(
            st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
        ),
        "name": [f"person {at}" for at in range(height)],
        "job": column(
            st.sampled_from(["Dancer"] if few else ["Dancer", "Writer", "Typist", "Teller", "Boss", None])
        ),
        "age": column(st.sampled_from(["30", "40"]) if few else st.none() | st.integers(20, 50).map(str)),
        "zip": column(st.sampled_from(["101", "102", "110", "200", "210"])),
        "ill": column(st.sampled_from(["flu", "HIV", "cold", None])),
        "town": column(st.sampled_from(["Ülm", "Bonn"])),
        "good": column(st.sampled_from(["Y", "N"])),
        "never named": [f"secret {at}" for at in range(height)],
    }


@st.composite
def policies(draw: st.DrawFn) -> pv.Policy:
    small, share = st.integers(1, 4), st.sampled_from([Fraction(1, 4), Fraction(1, 3), HALF, Fraction(3, 4)])
    ill = st.sampled_from([{"ill": ["HIV"]}, {"ill": ["HIV", None], "town": ["Ülm"]}, ["ill"]])
    own = st.fixed_dictionaries({"ill": st.fixed_dictionaries({"HIV": share, "flu": share})})
    model: st.SearchStrategy[PrivacyModel] = st.one_of(
        st.builds(pv.KAnonymity, k=small),
        st.builds(pv.LKC, l=small, k=small, c=share, sensitive=ill),
        st.builds(pv.AlphaKAnonymity, alpha=share, k=small, sensitive=ill),
        st.builds(pv.ConfidenceBounding, sensitive=own, quasi=st.sampled_from([None, ("job", "zip")])),
    )
    made = pv.Policy.loads(POLICY)
    ages: list[Hierarchy] = [Intervals(), Intervals(width=(5, 10)), Flat(), Auto()]
    named = attributes(age=draw(st.sampled_from(ages)))
    if draw(st.booleans()):
        named = tuple(a for a in named if a.role is not pv.Role.TARGET)
    return replace(
        made,
        attributes=named,
        models=tuple(draw(st.lists(model, min_size=1, max_size=2))),
        nulls=draw(st.sampled_from(pv.Nulls)),
        absent=Absent.ALLOWED,
    )


POLICY = """
policy = 1
purpose = "tests"
[attributes]
name = "identifier"
job = { role = "quasi", hierarchy = { type = "tree", tree = { Any = ["a", "b"] } } }
age = "quasi"
ill = "sensitive"
note = "other"
[[models]]
type = "k-anonymity"
k = 2
"""


def rows_of(frame: pl.DataFrame) -> list[Row]:
    return list(frame.iter_rows(named=True))


def topmost(table: Table) -> list[Row]:
    return [
        {**dict.fromkeys(QUASI, "*"), "ill": ill, "town": town}
        for ill, town in zip(table["ill"], table["town"], strict=True)
    ]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies())
def test_what_is_published_keeps_its_policy(table: Table, policy: pv.Policy) -> None:
    raw = pl.DataFrame(table, schema=dict.fromkeys(table, pl.String))
    wildcard = policy.nulls is pv.Nulls.WILDCARD
    try:
        release = pv.publish(raw, replace(policy, order=Order.KEPT))  # to see what became of each row
    except UnsatisfiableError:
        top = topmost(table)
        assert not all(holds(top, QUASI, model) for model in policy.models)
        return
    published = release.to_polars()
    rows = rows_of(published)
    for model, verdict in release.verdicts:
        assert verdict.holds
        assert holds(rows, QUASI, model, wildcard=wildcard), model
    # Nothing else leaves, and what only passes through is untouched.
    named = [a.name for a in policy.attributes if a.role is not pv.Role.IDENTIFIER]
    assert sorted(published.columns) == sorted(named)
    kept = [name for name in named if name not in QUASI]
    assert published.select(kept).equals(raw.select(kept), null_equal=True)
    # Global recoding: a raw value is published in one way only.
    for name in QUASI:
        became: dict[object, set[object]] = {}
        for before, after in zip(table[name], published[name], strict=True):
            became.setdefault(before, set()).add(after)
        assert all(len(labels) == 1 for labels in became.values())


# One table and one policy for the rest.

PEOPLE: Table = {
    "note": ["a", "b,c", 'd"e', None, "", "é", "007", "1.50"] * 3,
    "name": [f"person {at}" for at in range(24)],
    "job": ["Dancer", "Writer", "Typist", "Teller"] * 6,
    "age": [str(20 + at % 12) for at in range(24)],
    "zip": ["101", "102", "110", "200", "210", "211"] * 4,
    "ill": ["flu", "HIV", "cold", "flu", "cold", "flu", "flu", "cold"] * 3,
    "town": ["Ülm", "Bonn", "Bonn"] * 8,
    "good": ["Y", "N"] * 12,
    "never named": [f"secret {at}" for at in range(24)],
}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame(PEOPLE).write_csv(path)
    return path


def policy_of(*models: PrivacyModel, **changes: Any) -> pv.Policy:
    made = replace(pv.Policy.loads(POLICY), attributes=attributes())
    return replace(made, models=models or (pv.LKC(l=2, k=2, c=HALF, sensitive={"ill": ["HIV"]}),), **changes)


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_from_file_to_folder_and_verified(people: Path, tmp_path: Path, engine: str) -> None:
    folder = pv.publish(people, policy_of(), engine=engine).write(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == [
        "data.csv", "evidence.json", "policy.toml", "report.html",
    ]  # fmt: skip
    assert verify(folder).holds
    assert verify(folder, engine="plain").holds
    read = pl.read_csv(folder / "data.csv", infer_schema=False, empty_string_is_null=True)
    assert Counter(read["note"]) == Counter(PEOPLE["note"])
    assert set(read.columns) == {"note", "job", "age", "zip", "ill", "town", "good"}


def test_both_engines_publish_the_same(people: Path) -> None:
    one, other = (pv.publish(people, policy_of(), engine=name) for name in ("embedded", "plain"))
    assert one.to_polars().equals(other.to_polars(), null_equal=True)
    for part in ("promises", "attributes", "steps", "measures", "records", "columns"):
        assert one.evidence[part] == other.evidence[part]


def test_typed_columns_survive(tmp_path: Path) -> None:
    raw = pl.DataFrame(PEOPLE).with_columns(
        pl.col("age").cast(pl.Int16),
        pl.Series("note", [1.5, None, 2.25, 3.0] * 6, dtype=pl.Float64),
        pl.Series("town", [True, False] * 12),
    )
    release = pv.publish(raw, policy_of(pv.KAnonymity(k=1)), output="parquet")
    release.write(tmp_path / "out")
    published = pl.read_parquet(tmp_path / "out" / "data.parquet")
    assert published["age"].sort().to_list() == raw["age"].sort().to_list()
    assert [published[n].dtype for n in ("age", "note", "town")] == [pl.Int16, pl.Float64, pl.Boolean]
    assert in_order(published.select("note", "town")).equals(in_order(raw.select("note", "town")))
    assert verify(tmp_path / "out").holds


def test_undecided_refuses(people: Path) -> None:
    undecided = tuple(
        replace(a, role=pv.Role.UNDECIDED) if a.name in {"job", "town"} else a for a in attributes()
    )
    with pytest.raises(PolicyError) as caught:
        pv.publish(people, policy_of(pv.KAnonymity(k=2), attributes=undecided))
    assert [c.split(":")[0] for c in caught.value.complaints] == ["attributes.job", "attributes.town"]


def test_a_search_that_breaks_its_promise_releases_nothing(people: Path) -> None:
    class Careless(pv.TopDown):
        def search(self, tally: Any, policy: Any, progress: Any = None) -> Any:
            return super().search(tally, replace(policy, models=(pv.KAnonymity(k=1),)))

    with pytest.raises(InternalError, match="k-anonymity"):
        pv.publish(people, policy_of(pv.KAnonymity(k=3), algorithm=Careless()))


# Identifiers in disguise.

KEY = Key(env="PRIVET_TEST_KEY")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVET_TEST_KEY", "k" * 32)


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("engine", ["embedded", "plain"])
@pytest.mark.parametrize("disguise", [Mask(last=2), Hash(KEY), Pseudonym(KEY)], ids=lambda d: d.name)
def test_identifiers_in_disguise(people: Path, tmp_path: Path, engine: str, disguise: Any) -> None:
    disguised = tuple(replace(a, disguise=disguise) if a.name == "name" else a for a in attributes())
    release = pv.publish(people, policy_of(attributes=disguised), engine=engine)
    assert Counter(release.to_polars()["name"]) == Counter(disguise.cover(PEOPLE["name"]))
    assert release.evidence["attributes"]["name"]["published"] == disguise.name
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert "person" not in (folder / "data.csv").read_text()
    assert "k" * 32 not in "".join(path.read_text() for path in folder.iterdir())


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_dates_are_shifted_by_person_and_the_person_is_dropped(tmp_path: Path, engine: str) -> None:
    table = PEOPLE | {"name": [f"P{at % 3}" for at in range(24)], "seen": ["2024-03-05"] * 24}
    pl.DataFrame(table).write_csv(tmp_path / "people.csv")
    shifted = (*attributes(), pv.Attribute("seen", pv.Role.IDENTIFIER, None, Shift(KEY, 30), "name"))
    policy = replace(policy_of(attributes=shifted), order=Order.KEPT, rows=Rows.PERSONS)
    release = pv.publish(tmp_path / "people.csv", policy, engine=engine)
    seen = release.to_polars()["seen"].to_list()
    assert "name" not in release.to_polars().columns
    assert all(day != "2024-03-05" for day in seen)
    assert all(len(set(seen[person::3])) == 1 for person in range(3))


# The same recoding on the next batch.


def test_like_gives_the_same_cuts(people: Path, tmp_path: Path) -> None:
    first = pv.publish(people, policy_of())
    first.write(tmp_path / "out")
    again = pv.publish(people, policy_of(), like=tmp_path / "out")
    assert again.to_polars().equals(first.to_polars(), null_equal=True)
    folder = again.write(tmp_path / "again")
    assert verify(folder).holds
    assert again.evidence["like"] == ev.digest(tmp_path / "out" / "evidence.json")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 23), min_size=1, max_size=40), st.integers(1, 3))
def test_like_on_another_batch_recodes_alike_or_refuses(picked: list[int], k: int) -> None:
    policy = replace(policy_of(pv.KAnonymity(k=k)), order=Order.KEPT, rows=Rows.PERSONS)
    first = pv.publish(pl.DataFrame(PEOPLE), policy)
    batch = pl.DataFrame({name: [values[at] for at in picked] for name, values in PEOPLE.items()})
    with _written(first) as folder:
        try:
            release = pv.publish(batch, policy, like=folder)
        except BrokenPromiseError:
            expected = first.to_polars()[picked]
            assert not holds(rows_of(expected), QUASI, policy.models[0])
            return
    assert release.to_polars().equals(first.to_polars()[picked], null_equal=True)
    assert holds(rows_of(release.to_polars()), QUASI, policy.models[0])


class _written:  # noqa: N801 - reads as a word where it is used
    def __init__(self, release: pv.Release) -> None:
        self.release = release

    def __enter__(self) -> Path:
        import tempfile

        self.folder = Path(tempfile.mkdtemp())
        return self.release.write(self.folder / "out")

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder)


def test_like_refuses_a_value_that_has_no_place(people: Path, tmp_path: Path) -> None:
    pv.publish(people, policy_of(pv.KAnonymity(k=6))).write(tmp_path / "out")
    older = pl.DataFrame(PEOPLE).with_columns(pl.Series("age", ["99"] * 24))
    with pytest.raises(UnsupportedError, match="age: 1 of 1 values have no place"):
        pv.publish(older, policy_of(pv.KAnonymity(k=6)), like=tmp_path / "out")


def test_like_refuses_a_batch_that_breaks_the_promise(people: Path, tmp_path: Path) -> None:
    pv.publish(people, policy_of(pv.KAnonymity(k=2))).write(tmp_path / "out")
    with pytest.raises(BrokenPromiseError, match="publish without --like"):
        pv.publish(pl.DataFrame(PEOPLE).head(1), policy_of(pv.KAnonymity(k=2)), like=tmp_path / "out")


def test_like_needs_a_release(people: Path, tmp_path: Path) -> None:
    with pytest.raises(TamperedError, match=r"evidence\.json"):
        pv.publish(people, policy_of(), like=tmp_path)


# Whole or not at all.


class Failing(Embedded):
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def write(self, table: Frame, target: Path, form: Form) -> None:
        super().write(table, target, form)
        raise self.error


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
def test_an_interrupted_release_leaves_nothing(people: Path, tmp_path: Path, error: BaseException) -> None:
    release = pv.publish(people, policy_of(), engine=Failing(error))
    with pytest.raises(type(error)):
        release.write(tmp_path / "deep" / "out")
    assert not (tmp_path / "deep").exists()


def test_an_interrupted_overwrite_leaves_the_old_release(people: Path, tmp_path: Path) -> None:
    folder = pv.publish(people, policy_of()).write(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(OSError, match="disk full"):
        pv.publish(people, policy_of(), engine=Failing(OSError("disk full"))).write(folder, overwrite=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_written_over_by_chance(people: Path, tmp_path: Path) -> None:
    release = pv.publish(people, policy_of())
    release.write(tmp_path / "out")
    with pytest.raises(InputError, match="overwrite"):
        release.write(tmp_path / "out")
    release.write(tmp_path / "out", overwrite=True)
    assert verify(tmp_path / "out").holds
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds no release"):
        release.write(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_private_notes_are_for_the_steward_only(people: Path, tmp_path: Path) -> None:
    pv.publish(people, policy_of()).write(tmp_path / "out")
    notes = tmp_path / "out.private" / "steward.json"
    assert notes.stat().st_mode & 0o077 == 0
    published_as = json.loads(notes.read_text())["published_as"]
    assert {pair["raw"] for pair in published_as["age"]} == set(PEOPLE["age"])


# Anybody verifies.


@pytest.fixture
def folder(people: Path, tmp_path: Path) -> Path:
    return pv.publish(people, policy_of()).write(tmp_path / "out")


def caught(folder: Path) -> bool:
    try:
        return not verify(folder).holds
    except TamperedError:
        return True


def said_of(folder: Path) -> str:
    try:
        return str(verify(folder).complaints)
    except TamperedError as error:
        return str(error)


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "report.html"])
def test_a_changed_file_is_caught(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes() + b"\n# changed\n")
    assert caught(folder)
    assert f"{name} is not the file that the evidence was made for" in said_of(folder)


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "report.html", "evidence.json"])
def test_a_removed_file_is_caught(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert caught(folder)


@pytest.mark.parametrize("name", ["raw.csv", ".hidden", "data.csv.bak"])
def test_an_added_file_is_caught(folder: Path, name: str) -> None:
    (folder / name).write_text("more")
    assert caught(folder)


def test_an_added_folder_is_caught(folder: Path) -> None:
    (folder / "more").mkdir()
    assert caught(folder)


def edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the evidence, and make every digest fit again."""
    evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    evidence["files"] = {name: ev.digest(folder / name) for name in evidence["files"]}
    change(evidence)
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def nothing(_: dict[str, Any]) -> None:
    """No change."""


EDITS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "version": lambda e: e.update(evidence=2),
    "records": lambda e: e.update(records=e["records"] + 1),
    "columns": lambda e: e["columns"].append("name"),
    "k achieved": lambda e: e["promises"][0]["achieved"].update(k=1000),
    "c achieved": lambda e: e["promises"][0]["achieved"].update(c="1/1000"),
    "promised k": lambda e: e["promises"][0]["model"].update(k=1000),
    "broken": lambda e: e["promises"][0].update(broken=7),
    "holds": lambda e: e["promises"][0].update(holds=False),
    "at risk": lambda e: e["promises"][0].update(at_risk=7),
    "no promises": lambda e: e.update(promises=[]),
    "twice": lambda e: e.update(promises=e["promises"] * 2),
    "no digests": lambda e: e.pop("files"),
    "one digest less": lambda e: e["files"].pop("report.html"),
    "another digest": lambda e: e["files"].update({"data.csv": "0" * 64}),
    "no data": lambda e: e.pop("data"),
    "another file": lambda e: e["data"].update(file="../people.csv"),
}


def test_an_edit_that_changes_nothing_is_fine(folder: Path) -> None:
    edit(folder, nothing)
    assert verify(folder).holds


@pytest.mark.parametrize("name", EDITS)
def test_edited_evidence_is_caught(folder: Path, name: str) -> None:
    edit(folder, EDITS[name])
    assert caught(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"evidence": 1}', "\udcff"], ids=repr)
def test_evidence_that_is_none_is_caught(folder: Path, text: str) -> None:
    (folder / "evidence.json").write_bytes(text.encode(errors="surrogateescape"))
    assert caught(folder)


def test_edited_data_is_caught_though_every_digest_fits(folder: Path) -> None:
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()
    (folder / "data.csv").write_text("\n".join(lines[:-3]) + "\n", encoding="utf-8")
    edit(folder, lambda e: e.update(records=e["records"] - 3))
    assert caught(folder)


def test_a_person_put_back_is_caught_though_every_digest_fits(folder: Path) -> None:
    frame = pl.read_csv(folder / "data.csv", infer_schema=False)
    odd = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("Dancer!")).otherwise("job").alias("job")
    )
    odd.write_csv(folder / "data.csv")
    edit(folder, nothing)
    found = verify(folder)
    assert not found.holds
    assert any(not verdict.holds for _, verdict in found.verdicts)


def test_a_column_put_back_is_caught_though_every_digest_fits(folder: Path) -> None:
    frame = pl.read_csv(folder / "data.csv", infer_schema=False)
    frame.with_columns(pl.Series("name", PEOPLE["name"])).write_csv(folder / "data.csv")
    edit(folder, nothing)
    assert any("'name' is published" in complaint for complaint in verify(folder).complaints)


def test_a_weaker_policy_is_caught_though_every_digest_fits(folder: Path) -> None:
    policy = folder / "policy.toml"
    policy.write_text(policy.read_text().replace("k = 2", "k = 1"))
    edit(folder, nothing)
    assert caught(folder)


def test_a_policy_that_is_none_is_caught(folder: Path) -> None:
    (folder / "policy.toml").write_text("policy = 1\n")
    edit(folder, nothing)
    with pytest.raises(TamperedError, match="policy"):
        verify(folder)


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01", b"job\n", b'"'], ids=["empty", "binary", "header", "quote"]
)
def test_data_that_is_none_is_caught(folder: Path, content: bytes) -> None:
    (folder / "data.csv").write_bytes(content)
    edit(folder, nothing)
    assert caught(folder)


@pytest.mark.parametrize("name", ["ill", "good", "note", "age"])
def test_a_column_left_out_is_caught_though_every_digest_fits(folder: Path, name: str) -> None:
    pl.read_csv(folder / "data.csv", infer_schema=False).drop(name).write_csv(folder / "data.csv")
    edit(folder, nothing)
    assert f"column {name!r} is missing from the data" in verify(folder).complaints
    edit(folder, lambda e: e["columns"].remove(name))
    assert caught(folder)


@pytest.fixture(autouse=True)
def _no_stray_files(tmp_path: Path) -> Iterator[None]:
    """Whatever a test does, no temporary folder of a release stays behind."""
    yield
    assert not list(tmp_path.rglob(".out*"))


def test_the_log_replays_to_the_published_cuts(tmp_path: Path) -> None:
    sample = SAMPLES["census"]
    release = pv.publish(sample.generate(2_000, 7), pv.Policy.loads(sample.policy()))
    after = dict(zip((step.attribute for step in release.steps), cuts_after(release.steps), strict=True))
    assert after
    assert isinstance(release, TableRelease)
    assert isinstance(release.recoding, Generalization)
    for name, cut in after.items():
        assert cut == release.recoding.cuts[name].labels
    notes = json.loads(
        (release.write(tmp_path / "out").with_name("out.private") / "steward.json").read_text("utf-8")
    )
    assert [tuple(step["cut"]) for step in notes["steps"]] == cuts_after(release.steps)


def test_of_notes_beside_only_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, line 8: fifty releases beside a new one took 1.5 s and 130 MB to look at."""
    from privet import release

    digest = "ab" * 32
    for name, said in (("one", digest), ("other", "cd" * 32)):
        (tmp_path / f"{name}.private").mkdir()
        begun = f'{{"private": 1, "keep": "it stays", "source": "{said}", "relaxations": ['
        (tmp_path / f"{name}.private" / "steward.json").write_text(begun, encoding="utf-8")  # and no end
    (tmp_path / "older.private").mkdir()
    whole = json.dumps({"keep": "it stays", "private": 1, "source": digest})
    (tmp_path / "older.private" / "steward.json").write_text(whole, encoding="utf-8")
    found = release.earlier_releases(tmp_path / "new", digest)
    assert [path.name for path in found] == ["older", "one"]
