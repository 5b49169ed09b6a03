"""Sets on the whole road: every form, every search, forged releases, hostile input."""

from __future__ import annotations

import json
import random
import shutil
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.rules import naive
from tests.tries import seldom

import privet as pv
from privet.errors import (
    InputError,
    PolicyError,
    PrivetError,
    TamperedError,
    UnsatisfiableError,
    UnsupportedError,
)
from privet.evidence import folder as ev

HIDE = '[[hide]]\nantecedent = ["a"]\nconsequent = ["b"]\nsupport = 5\nconfidence = "1/2"\n'
KNOWN = '[[models]]\ntype = "km-anonymity"\nm = 2\nk = 9\n'
TREE = 'hierarchy = { type = "tree", tree = { all = { left = ["a", "b", "c"], right = ["d", "e", "f"] } } }\n'


def policy(transactions: str, promise: str, algorithm: str = "", attributes: str = "") -> pv.Policy:
    search = f"[algorithm]\n{algorithm}\n" if algorithm else ""
    columns = f"[attributes]\n{attributes}\n" if attributes else ""
    head = f'policy = 1\nkind = "transactions"\n[transactions]\n{transactions}\n'
    return pv.Policy.loads(head + columns + promise + search)


def records(seed: int = 0, many: int = 60) -> list[naive.Record]:
    return naive.database(random.Random(seed), many, 6, 0.45)


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    path = tmp_path / "raw.csv"
    path.write_text("".join(",".join(sorted(one)) + "\n" for one in records()), encoding="utf-8")
    return path


def published(folder: Path) -> list[frozenset[str]]:
    text = (folder / "data.basket").read_text(encoding="utf-8").split("\n")[:-1]
    return [frozenset(line.split(",")) - {""} for line in text]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "search", ["hide-transactions", "hide-items", "hide-border", "hide-exact", "by-promise"]
)
def test_hidden_rules_go_the_whole_road(search: str, baskets: Path, tmp_path: Path) -> None:
    made = pv.publish(baskets, policy('form = "baskets"', HIDE, f'type = "{search}"'))
    folder = made.write(tmp_path / "out")
    assert pv.verify(folder).holds
    left = published(folder)
    assert naive.visible(records(), "a", "b", 5, Fraction(1, 2))
    assert not naive.visible(left, "a", "b", 5, Fraction(1, 2))
    assert made.evidence["sets"]["effects"]["failures"] == 0
    assert pv.compare(baskets, folder)["after"]["records"] == len(left)
    assert pv.explain(folder)["margins"][0]["rule"] == "a => b"
    assert tomllib.loads((folder / "policy.toml").read_text())["hide"][0]["support"] == "5"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "search", ["suppress-items", "suppress-items-locally", "generalise-items", "by-promise"]
)
def test_known_items_go_the_whole_road(search: str, baskets: Path, tmp_path: Path) -> None:
    shape = 'form = "baskets"\n' + (TREE if search in {"generalise-items", "by-promise"} else "")
    made = pv.publish(baskets, policy(shape, KNOWN, f'type = "{search}"'))
    folder = made.write(tmp_path / "out")
    assert pv.verify(folder).holds
    assert all(many >= 9 for many in naive.known(published(folder), 2).values())
    assert "hierarchy" not in tomllib.loads((folder / "policy.toml").read_text())["transactions"]
    assert pv.risk(baskets, made.policy)["levels"][0][-1]["rare"] > 0


def table(rows: list[naive.Record]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [f"p{at}" for at in range(len(rows))],
            "town": [["x", "y"][at % 2] for at in range(len(rows))],
            "job": ["cook"] * len(rows),
            "items": [sorted(one) for one in rows],
        }
    )


def as_text(rows: list[naive.Record], folder: Path) -> Path:
    path = folder / "raw.csv"
    table(rows).with_columns(pl.col("items").list.join(";")).write_csv(path)
    return path


def as_lists(rows: list[naive.Record], folder: Path) -> Path:
    path = folder / "raw.jsonl"
    table(rows).write_ndjson(path)
    return path


def as_parquet(rows: list[naive.Record], folder: Path) -> Path:
    path = folder / "raw.parquet"
    table(rows).write_parquet(path)
    return path


def as_rows(rows: list[naive.Record], folder: Path) -> Path:
    path = folder / "raw.csv"
    long = table(rows).filter(pl.col("items").list.len() > 0).explode("items")
    long.sample(fraction=1, shuffle=True, seed=3).write_csv(path)
    return path


@pytest.mark.one_in(2)
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("shape", "write"),
    [
        ('form = "column"\nset = "items"', as_text),
        ('form = "column"\nset = "items"', as_lists),
        ('form = "column"\nset = "items"', as_parquet),
        ('form = "items"\nperson = "id"\nitem = "items"', as_rows),
    ],
)
def test_every_form_with_and_without_quasi_identifiers(
    shape: str, write: Callable[[list[naive.Record], Path], Path], beside: bool, tmp_path: Path
) -> None:
    rows = [one for one in records(5, 80) if one]
    raw = write(rows, tmp_path)
    town = '\ntown = { role = "quasi" }' if beside else ""
    said = policy(f"{shape}\n{TREE}", KNOWN, attributes=f'id = "identifier"\njob = "other"{town}')
    made = pv.publish(raw, said)
    folder = made.write(tmp_path / "out")
    assert pv.verify(folder).holds
    frame = made.to_polars()
    assert "p1" not in set(frame.get_column("id").cast(pl.String)) if "id" in frame.columns else True
    if 'form = "items"' in shape:
        frame = frame.group_by("id", *(["town"] if beside else [])).agg(pl.col("items").drop_nulls())
    elif frame.schema["items"] == pl.String:
        frame = frame.with_columns(pl.col("items").str.split(";").list.set_difference([""]))
    assert frame.height == len(rows)
    groups = frame.partition_by("town") if beside else [frame]
    for group in groups:
        sets = [frozenset(one) for one in group.get_column("items").to_list()]
        assert len(sets) >= 9
        assert all(many >= 9 for many in naive.known(sets, 2).values())


def reseal(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
    """What a forger does: digests that fit, and perhaps other claims."""
    evidence = json.loads((folder / "evidence.json").read_text())
    change(evidence)
    evidence["files"] = {name: ev.digest(folder / name) for name in evidence["files"]}
    (folder / "evidence.json").write_text(
        json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def test_a_forged_release_is_found(baskets: Path, tmp_path: Path) -> None:
    for promise, shape in ((HIDE, 'form = "baskets"'), (KNOWN, 'form = "baskets"\n' + TREE)):
        folder = tmp_path / "out"
        pv.publish(baskets, policy(shape, promise)).write(folder, overwrite=True)
        forged = tmp_path / "forged"

        def fresh(folder: Path = folder, forged: Path = forged) -> Path:
            shutil.rmtree(forged, ignore_errors=True)
            shutil.copytree(folder, forged)
            return forged

        data = fresh() / "data.basket"  # the raw data instead of the release
        shutil.copy(baskets, data)
        reseal(forged)
        assert not pv.verify(forged).holds
        rows = (fresh() / "data.basket").read_text().splitlines()  # one record more, one fewer, one changed
        for other in ([*rows, "a,b"], rows[1:], ["zzz", *rows[1:]]):
            (forged / "data.basket").write_text("\n".join(other) + "\n")
            reseal(forged)
            assert not pv.verify(forged).holds
        for place in ("promises", "measures", "sets", "records"):  # claims that are not so

            def lie(evidence: dict[str, Any], place: str = place) -> None:
                if place == "promises":
                    key = "support" if "support" in evidence["promises"][0]["achieved"] else "k"
                    evidence["promises"][0]["achieved"][key] += 1
                elif place == "measures":
                    evidence["sets"]["after"]["cells"] += 1
                elif place == "sets":
                    evidence["sets"]["levels"] = [[{"known": 1, "itemsets": 1, "smallest": 9, "rare": 0}]]
                else:
                    evidence["records"] += 1

            fresh()
            reseal(forged, lie)
            assert not pv.verify(forged).holds, place
        text = (fresh() / "policy.toml").read_text()  # a weaker policy under the same claims
        weaker = text.replace('support = "5"', 'support = "6"').replace("k = 9", "k = 8")
        assert weaker != text
        (forged / "policy.toml").write_text(weaker)
        reseal(forged)
        assert not pv.verify(forged).holds


def test_evidence_that_lacks_a_part_is_tampered(baskets: Path, tmp_path: Path) -> None:
    folder = pv.publish(baskets, policy('form = "baskets"', HIDE)).write(tmp_path / "out")
    for key in ("sets", "data", "promises", "measures"):
        forged = tmp_path / f"without-{key}"
        shutil.copytree(folder, forged)
        reseal(forged, lambda evidence, key=key: evidence.pop(key))  # type: ignore[misc]
        with pytest.raises(TamperedError):
            pv.verify(forged)


def test_a_column_more_in_a_release_is_found(tmp_path: Path) -> None:
    raw = as_text([one for one in records(5, 80) if one], tmp_path)
    made = pv.publish(raw, policy('form = "column"\nset = "items"\n' + TREE, KNOWN))
    folder = made.write(tmp_path / "out")
    data = folder / "data.csv"
    pl.read_csv(data).with_columns(pl.lit("secret").alias("name")).write_csv(data)
    reseal(folder)
    assert "column 'name' is published, the policy does not allow it" in pv.verify(folder).complaints


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('form = "bags"', "form"),
        ("", "form: says how sets lie"),
        ('form = "column"', "set is missing"),
        ('form = "items"\nperson = "id"', "item is missing"),
        ('form = "baskets"\nset = "x"', 'form = "baskets" has none'),
        ('form = "baskets"\nseparator = "ab"', "is one character"),
        ('form = "baskets"\nsupport = "3/2"', "support"),
        ('form = "baskets"\nconfidence = "1/2"', "goes with a support"),
        ('form = "items"\nperson = "x"\nitem = "x"', "two columns"),
        ('form = "baskets"\ncolour = "x"', "unknown key"),
    ],
)
def test_a_wrong_shape_is_refused(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(text, HIDE)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("promise", "algorithm", "attributes", "said"),
    [
        (HIDE + KNOWN, 'type = "hide-border"', "", "keeps no promise of km-anonymity"),
        (HIDE + KNOWN, 'type = "suppress-items"', "", "hides no rules"),
        ("", "", "", "at least one promise"),
        ("[[hide]]\nsupport = 5\n", "", "", "hide[0]"),
        ('[[hide]]\nitemset = ["a"]\nsupport = 0.1\n', "", "", 'write "0.1" in quotes'),
        ('[[hide]]\nitemset = ["a"]\n', "", "", "hide[0]: support is missing"),
        (HIDE, 'type = "suppress-items"', "", "km-anonymity"),
        (KNOWN, 'type = "hide-exact"', "", "hides rules"),
        (KNOWN, 'type = "top-down"', "", "is for table"),
        ('[[models]]\ntype = "k-anonymity"\nk = 3\n', "", "", "k-anonymity is for table"),
        (HIDE, "", 'town = "quasi"', "a file of baskets has no columns"),
        (HIDE, 'type = "hide-border"\nat_most = "3/2"', "", "at_most"),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(
    promise: str, algorithm: str, attributes: str, said: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        policy('form = "baskets"', promise, algorithm, attributes)
    assert said in str(caught.value)


def test_what_cannot_be_done_writes_nothing(baskets: Path, tmp_path: Path) -> None:
    cases: list[tuple[str, str, type[PrivetError], str]] = [
        (HIDE.replace('"b"', '"nowhere"'), "", InputError, "the data has no item 'nowhere'"),
        (HIDE, 'type = "hide-border"\nat_most = 0', UnsatisfiableError, "this search needs"),
        (HIDE, 'type = "hide-transactions"\nat_most = 0', UnsatisfiableError, "records"),
        (KNOWN.replace("k = 9", "k = 61"), "", UnsatisfiableError, "the largest k that can is 60"),
    ]
    for promise, algorithm, kind, said in cases:
        with pytest.raises(kind) as caught:
            pv.publish(baskets, policy('form = "baskets"', promise, algorithm))
        assert said in str(caught.value)
    with pytest.raises(PolicyError, match=r"needs transactions\.hierarchy"):
        pv.publish(baskets, policy('form = "baskets"', KNOWN, 'type = "generalise-items"'))
    with pytest.raises(UnsupportedError, match="publish without --like"):
        pv.publish(baskets, policy('form = "baskets"', HIDE), like=tmp_path)
    assert list(tmp_path.iterdir()) == [baskets]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not one record"),
        (b'"a,b\n"c', "a quote that does not end"),
        (b"a,\xff\xfe\n", "not text in utf-8"),
    ],
)
def test_hostile_files_are_refused_without_quoting_them(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        pv.publish(path, policy('form = "baskets"', HIDE))
    assert said in str(caught.value)


def test_other_hostile_input(tmp_path: Path) -> None:
    said = policy('form = "column"\nset = "items"', HIDE)
    broken = tmp_path / "raw.jsonl"
    broken.write_text('{"items": ["CANARY"\n')
    nested = tmp_path / "nested.jsonl"
    nested.write_text('{"items": [["CANARY"]]}\n')
    objects = tmp_path / "objects.jsonl"
    objects.write_text('{"items": {"a": "CANARY"}}\n')
    for path in (broken, nested, objects, tmp_path / "gone.jsonl", tmp_path):
        with pytest.raises(InputError) as caught:
            pv.publish(path, said)
        assert "CANARY" not in str(caught.value)
    rows = tmp_path / "rows.csv"
    rows.write_text("id,town,item\n1,x,a\n1,y,b\n,x,a\n")
    with pytest.raises(InputError, match="missing in 1 of 3 rows"):
        pv.publish(rows, policy('form = "items"\nperson = "id"\nitem = "item"', KNOWN))
    rows.write_text("id,town,item\n1,x,a\n1,y,b\n")
    with pytest.raises(InputError, match="differs within a person"):
        pv.publish(
            rows,
            policy(
                'form = "items"\nperson = "id"\nitem = "item"',
                KNOWN,
                attributes='town = "quasi"\nid = "identifier"',
            ),
        )


def test_odd_labels_come_back_as_they_were(tmp_path: Path) -> None:
    labels = ['a "quoted"', "b, with comma", "<script>", "ünïcode", "=1+1"]
    rows = [[one for at, one in enumerate(labels) if (n >> at) & 1] for n in range(32)] * 3
    said = policy('form = "baskets"', '[[hide]]\nitemset = ["<script>", "=1+1"]\nsupport = 5\n')
    folder = pv.publish(rows, said).write(tmp_path / "out")
    assert pv.verify(folder).holds
    assert "<script>alert" not in (folder / "report.html").read_text()
    again = pv.publish(folder / "data.basket", said)
    assert set(again.baskets.items) == set(labels)  # type: ignore[attr-defined]


def test_no_item_of_the_data_stands_in_evidence_or_page(tmp_path: Path) -> None:
    rows = [["a", "CANARY"], *([["a", "b"]] * 20)]  # one record alone has it
    folder = pv.publish(rows, policy('form = "baskets"', KNOWN)).write(tmp_path / "out")
    assert all("CANARY" not in path.read_text() for path in folder.iterdir())


def test_policies_come_back_from_text() -> None:
    for shape, promise in (('form = "baskets"', HIDE), ('form = "column"\nset = "s"\n' + TREE, KNOWN)):
        said = policy(shape, promise)
        assert pv.Policy.loads(said.dumps()).to_document() == said.to_document()


COLUMN = 'form = "column"\nset = "items"'
TWICE = KNOWN.replace("k = 9", "k = 2")


def test_a_byte_order_mark_is_no_part_of_the_first_item(tmp_path: Path) -> None:
    path = tmp_path / "raw.txt"
    path.write_bytes(b"\xef\xbb\xbfa,b\na,b\n")
    pv.publish(path, policy('form = "baskets"', TWICE)).write(tmp_path / "out")
    assert published(tmp_path / "out") == [frozenset("ab")] * 2


def test_lines_with_nul_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "raw.txt"
    path.write_bytes(b"a\0b,c\n" * 3)
    with pytest.raises(InputError, match="NUL bytes"):
        pv.publish(path, policy('form = "baskets"', TWICE))


@pytest.mark.parametrize("form", ["baskets", "column", "items"])
def test_an_item_in_two_spellings_that_look_alike_is_one(form: str, tmp_path: Path) -> None:
    """A rule hidden in one spelling would be read in the other."""
    composed, apart = "caf\u00e9", "cafe\u0301"
    sets = [[composed, "b"]] * 3 + [[apart, "b"]] * 30
    path = tmp_path / "raw.csv"
    if form == "items":
        said = 'form = "items"\nperson = "who"\nitem = "what"'
        rows = [f"{who},{item}" for who, one in enumerate(sets) for item in one]
        path.write_text("\n".join(["who,what", *rows]) + "\n", encoding="utf-8")
    else:
        said = COLUMN if form == "column" else 'form = "baskets"'
        mark = ";" if form == "column" else ","
        head = ["items"] if form == "column" else []
        path.write_text("\n".join([*head, *map(mark.join, sets)]) + "\n", encoding="utf-8")
    said_policy = policy(said, HIDE.replace('"a"', f'"{apart}"'))
    ((_, before),) = pv.check(path, said_policy)
    assert before.achieved["support"] == 33
    found = pv.publish(path, said_policy).write(tmp_path / "out")
    assert pv.verify(found).holds
    assert apart not in next(found.glob("data.*")).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "sets",
    [
        ['"a"', '["s3cr3t"]'],
        ['["a"]', '"a;s3cr3t"'],
        ['["a", ["s3cr3t"]]', '["a"]'],
        ['["a", {"b": 1}]', '["a"]'],
    ],
)
def test_lists_among_texts_are_refused(sets: list[str], tmp_path: Path) -> None:
    """The text of a list's JSON is not an item that anybody has."""
    path = tmp_path / "raw.jsonl"
    path.write_text("".join(f'{{"items": {one}}}\n' for one in sets * 3), encoding="utf-8")
    with pytest.raises(InputError, match="among single values") as caught:
        pv.publish(path, policy(COLUMN, TWICE))
    assert "s3cr3t" not in str(caught.value)


def test_an_item_may_look_like_a_list(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_text('{"items": ["[a]", "{b"]}\n' * 2, encoding="utf-8")
    found = pv.publish(path, policy(COLUMN, TWICE)).to_polars()
    assert found["items"].to_list() == [["[a]", "{b"]] * 2


def test_sets_after_many_empty_ones_keep_their_items(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_text('{"items": []}\n' * 150 + '{"items": ["a", "b"]}\n' * 2, encoding="utf-8")
    found = pv.publish(path, policy(COLUMN, TWICE)).to_polars()
    assert sorted(found["items"].to_list())[-2:] == [["a", "b"]] * 2


def test_evidence_of_another_kind_is_noticed(baskets: Path, tmp_path: Path) -> None:
    pv.publish(baskets, policy('form = "baskets"', HIDE)).write(tmp_path / "out")
    path = tmp_path / "out" / ev.FILE
    path.write_text(path.read_text().replace('"kind": "transactions"', '"kind": "table"'))
    found = pv.verify(tmp_path / "out")
    assert not found.holds
    assert any("kind: the evidence speaks of another" in one for one in found.complaints)


@pytest.mark.parametrize("seed", seldom(range(25), range(8)))
@pytest.mark.parametrize("search", ["generalise-items", "by-promise"])
def test_classes_that_few_full_sets_are_in_are_widened(search: str, seed: int) -> None:
    """Records without items made classes large and left few to hide among: what could be kept was refused."""
    chance = random.Random(seed)
    rows = naive.database(chance, chance.randint(6, 40), 6, chance.choice([0.05, 0.15, 0.3]))
    k, full = chance.randint(2, 5), sum(map(bool, rows))
    frame = pl.DataFrame(
        {
            "town": [chance.choice("xyz") for _ in rows],
            "full": [chance.choice(["no", "yes"]) for _ in rows],
            "items": [sorted(one) for one in rows],
        }
    )
    said = policy(
        f'form = "column"\nset = "items"\n{TREE}',
        f'[[models]]\ntype = "km-anonymity"\nm = 2\nk = {k}\n',
        f'type = "{search}"',
        attributes='town = "quasi"\nfull = "quasi"',
    )
    if 0 < full < k:
        with pytest.raises(UnsatisfiableError, match="even the most general items are too rare"):
            pv.publish(frame, said)
        return
    made = pv.publish(frame, said).to_polars()
    assert made.columns == ["town", "full", "items"]
    assert made.height == len(rows)
    for group in made.partition_by("town", "full"):
        sets = [frozenset(one) for one in group.get_column("items").to_list()]
        assert len(sets) >= k
        assert all(many >= k for many in naive.known(sets, 2).values())
