"""People, not rows: sizes and shares are of persons, by a naive count over their rows. Issue 13, line 3."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.equality.test_key import naive

import privet as pv
from privet.counts.door import Candidate
from privet.counts.memory import InMemory, OpenCutting
from privet.errors import InputError, PersonError, PolicyError, UnsatisfiableError
from privet.measure.audit import audit
from privet.relational.topdown import TopDown
from privet.roads import engine_of
from privet.verification import verify

QUASI = ("age", "sex")
Row = tuple[str, str | None, str | None, str | None]  # person, age, sex, ill
FORTY = pl.DataFrame(
    [(f"p{who}", str(20 + who), "FM"[who % 2], "HIV" if (5 * who + at) % 7 == 0 else "flu")
     for who in range(40) for at in range(5)],
    schema=["pid", *QUASI, "ill"],
    orient="row",
)  # fmt: skip
K = 'type = "k-anonymity"\nk = 5'
LKC = 'type = "lkc-privacy"\nl = 2\nk = 5\nc = "9/10"\nsensitive = { ill = ["HIV"] }'
SEARCHES = ["top-down", "optimal", "mondrian", "local"]
SIZES = {"mondrian", "local"}  # look at classes by themselves


def policy(
    model: str = K, *, top: str = 'person = "pid"', algorithm: str = "top-down", pid: str = ""
) -> pv.Policy:
    return pv.Policy.loads(
        f'policy = 1\n{top}\n[attributes]\npid = {{ role = "identifier"{pid} }}\n'
        f'age = "quasi"\nsex = "quasi"\nill = "sensitive"\n[[models]]\n{model}\n'
        f'[algorithm]\ntype = "{algorithm}"\n'
    )


# The definition, with sets of persons and loops.


def matching(rows: list[Row], known: tuple[tuple[int, Any], ...], *, across: bool) -> set[str]:
    """The persons whom an adversary cannot tell apart: in one row, or over all of somebody's rows."""
    people = {row[0] for row in rows}
    if not across:
        return {row[0] for row in rows if all(row[at] == value for at, value in known)}
    return {
        who
        for who in people
        if all(any(row[0] == who and row[at] == value for row in rows) for at, value in known)
    }


def knowledge(rows: list[Row], most: int, *, across: bool) -> set[tuple[tuple[int, Any], ...]]:
    """Every set of up to so many pairs that somebody has, in one row or in all of their rows."""
    found = set()
    for who in {row[0] for row in rows}:
        mine = [row for row in rows if row[0] == who]
        groups = [mine] if across else [[row] for row in mine]
        for group in groups:
            items = sorted({(at, row[at]) for row in group for at in (1, 2)}, key=repr)
            found |= set(chain.from_iterable(combinations(items, size) for size in range(most + 1)))
    return found


def reached(rows: list[Row], most: int, *, across: bool, value: str) -> tuple[int, Fraction]:
    """The fewest persons who match some knowledge, and the largest share of them with the value."""
    fewest, share = len({row[0] for row in rows}), Fraction(0)
    for way in {False, across}:
        for known in knowledge(rows, most, across=way):
            people = matching(rows, known, across=way)
            ill = {
                row[0]
                for row in rows
                if row[0] in people
                and naive(row[3]) == naive(value)
                and (way or all(row[at] == one for at, one in known))
            }
            fewest, share = min(fewest, len(people)), max(share, Fraction(len(ill), len(people)))
    return fewest, share


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(("pid", *QUASI, "ill"), pl.String), orient="row")


rows = st.lists(
    st.tuples(
        st.sampled_from(["p1", "p2", "p3", "p4", "p5"]),
        st.sampled_from(["30", "31", "40", None]),
        st.sampled_from(["F", "M"]),
        st.sampled_from(["7", "7.0", "flu", None]),
    ),
    min_size=1,
    max_size=14,
).filter(lambda rows: any(row[3] in {"7", "7.0"} for row in rows))


# Each person has the value in one group only, so that it is everybody's in the union of both.
CROSSED: list[Row] = [
    ("p1", "30", "F", "7"), ("p1", "40", "F", "flu"), ("p2", "30", "F", "flu"), ("p2", "40", "F", "7"),
]  # fmt: skip
APART: list[Row] = [(who, age, "F" if age == "30" else "M", ill) for who, age, _, ill in CROSSED]
# Values of two rows together are one person's, though each is shared.
TOGETHER: list[Row] = [
    ("p1", "30", "F", "7"), ("p1", "40", "M", "flu"), ("p2", "30", "F", "flu"), ("p3", "40", "M", "flu"),
]  # fmt: skip


@example(CROSSED, 2, False, 1, Fraction(1, 2))
@example(APART, 1, False, 1, Fraction(1, 2))
@example(TOGETHER, 2, True, 2, Fraction(1, 2))
@settings(max_examples=150, deadline=None)
@given(
    rows,
    st.integers(1, 3),
    st.booleans(),
    st.integers(1, 4),
    st.fractions(Fraction(1, 5), 1, max_denominator=6),
)
def test_lkc_is_the_naive_count_of_persons(
    rows: list[Row], l: int, across: bool, k: int, c: Fraction
) -> None:
    said = f'type = "lkc-privacy"\nl = {l}\nk = {k}\nc = "{c}"\nsensitive = {{ ill = ["7e0"] }}'
    top = 'person = "pid"\nacross = true' if across else 'person = "pid"'
    ((model, verdict),) = pv.check(frame(rows), policy(said, top=top))
    fewest, share = reached(rows, l if across else min(l, 2), across=across, value="7")
    assert verdict.achieved["k"] == fewest
    if c < 1:
        assert verdict.achieved["c"] == share
    assert verdict.holds == (fewest >= k and (c == 1 or share <= c))
    looser = model.nearest(tally(frame(rows), policy(said, top=top)))
    assert looser.check(tally(frame(rows), policy(said, top=top))).holds, "what is said to be feasible is"


def tally(data: pl.DataFrame, said: pv.Policy, engine: str = "embedded") -> Any:
    where = engine_of(engine)
    return where.tally_published(where.read(data, said.form), said)


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 4))
def test_models_about_classes_count_persons(rows: list[Row], k: int) -> None:
    classes: dict[Any, dict[str, set[Any]]] = {}
    for who, age, sex, ill in rows:
        classes.setdefault((age, sex), {}).setdefault(who, set()).add(naive(ill))
    fewest = min(map(len, classes.values()))
    shares = [
        Fraction(sum(naive("7") in values for values in people.values()), len(people))
        for people in classes.values()
    ]

    def diversity(people: dict[str, set[Any]]) -> int:
        everybodys = set.intersection(*people.values())
        return 1 if everybodys else len(set.union(*people.values()))

    found = {}
    for model in (
        f'type = "k-anonymity"\nk = {k}',
        f'type = "alpha-k-anonymity"\nk = {k}\nalpha = "1/2"\nsensitive = {{ ill = ["7"] }}',
        'type = "confidence-bounding"\nsensitive = { ill = { 7 = "1/2" } }',
        'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]',
        f'type = "p-sensitive-k-anonymity"\np = 1\nk = {k}\nsensitive = ["ill"]',
        'type = "maximum-risk"\nat_most = "1/2"',
    ):
        ((made, verdict),) = pv.check(frame(rows), policy(model))
        found[made.name] = verdict
    assert found["k-anonymity"].achieved["k"] == fewest
    assert found["k-anonymity"].holds == (fewest >= k)
    assert found["alpha-k-anonymity"].achieved == {"k": fewest, "c": max(shares)}
    assert found["confidence-bounding"].achieved["c"] == max(shares)
    assert found["distinct-l-diversity"].achieved["l"] == min(map(diversity, classes.values()))
    assert found["p-sensitive-k-anonymity"].achieved["k"] == fewest
    assert found["maximum-risk"].achieved["risk"] == Fraction(1, fewest)


@settings(max_examples=40, deadline=None)
@given(rows, st.sampled_from(SEARCHES), st.booleans(), st.integers(1, 3))
def test_what_leaves_keeps_the_promise_for_persons(
    rows: list[Row], algorithm: str, across: bool, k: int
) -> None:
    """Judged by the naive count on the very table that leaves, put together again with its persons."""
    boxes = algorithm in SIZES
    l, c, across = (2, Fraction(1), False) if boxes else (1, Fraction(2, 3), across)
    said = f'type = "lkc-privacy"\nl = 1\nk = {k}\nc = "2/3"\nsensitive = {{ ill = ["7"] }}'
    if boxes:
        said = f'type = "k-anonymity"\nk = {k}'
    top = 'person = "pid"\nacross = true' if across else 'person = "pid"'
    marked = frame(rows).with_columns(row=pl.int_range(len(rows)).cast(pl.String))
    asked = policy(said, top=top, algorithm=algorithm).dumps()
    asked = asked.replace("[attributes.ill]", '[attributes.row]\nrole = "other"\n\n[attributes.ill]')
    try:
        left = pv.publish(marked, pv.Policy.loads(asked)).to_polars()
    except UnsatisfiableError:
        fewest, share = reached([(a, "*", "*", d) for a, _, _, d in rows], l, across=across, value="7")
        assert fewest < k or share > c
        return
    assert left.height == len(rows)
    assert "pid" not in left.columns
    whose = dict(zip(marked["row"], marked["pid"], strict=True))
    found = [(whose[row["row"]], row["age"], row["sex"], row["ill"]) for row in left.iter_rows(named=True)]
    fewest, share = reached(found, l, across=across, value="7")
    assert fewest >= k
    assert share <= c


# Ages are split first; then women are two people who both have the value, though in no age both have it.
LATE: list[Row] = [
    ("p1", "30", "F", "7"), ("m1", "30", "M", "flu"), ("p2", "30", "F", "flu"), ("m2", "30", "M", "flu"),
    ("p1", "40", "F", "flu"), ("m3", "40", "M", "flu"), ("p2", "40", "F", "7"), ("m4", "40", "M", "flu"),
]  # fmt: skip


@example(LATE, 2, 2)
@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 3), st.integers(1, 3))
def test_looking_ahead_is_the_check_of_the_table_as_it_would_be(rows: list[Row], l: int, k: int) -> None:
    """Of top-down: a split is refused exactly where the table after it would break the promise."""
    more: list[Row] = [(f"q{at}", age, sex, "flu") for at, (_, age, sex, _) in enumerate(rows) if at % 2]
    said = policy(f'type = "lkc-privacy"\nl = {l}\nk = {k}\nc = "2/3"\nsensitive = {{ ill = ["7"] }}')
    where = engine_of("embedded")
    counted = where.tally(where.read(frame([*rows, *more]), said.form), said).tally
    asked = 0

    class Twice(OpenCutting):
        def breaks(self, candidate: Candidate) -> str | None:
            nonlocal asked
            asked += 1
            found = super().breaks(candidate)
            after = self._counts.published(self._recoding(candidate))
            assert (found is None) == said.models[0].check(after).holds
            return found

    class Counted(InMemory):
        def cutting(self, score: Any, models: Any) -> OpenCutting:
            return Twice(self, score, models)

    try:
        TopDown().search(Counted(counted), said)
    except UnsatisfiableError:
        assert not asked


@settings(max_examples=40, deadline=None)
@given(rows)
def test_the_auditor_counts_persons_too(rows: list[Row]) -> None:
    said = policy('type = "lkc-privacy"\nl = 2\nk = 2\nc = "1/2"\nsensitive = { ill = ["7"] }')
    found = audit(tally(frame(rows), said), said.models[0])  # type: ignore[arg-type]
    groups = [
        known for known in knowledge(rows, 2, across=False) if len({at for at, _ in known}) == len(known)
    ]
    fewest = min(len(matching(rows, known, across=False)) for known in groups if known)
    assert min(level.smallest for level in found.levels) == fewest


def test_every_engine_counts_the_same_persons(tmp_path: Path) -> None:
    source = tmp_path / "raw.csv"
    FORTY.write_csv(source)
    for engine in ("embedded", "plain"):
        release = pv.publish(source, policy(LKC), engine=engine)
        assert release.verdicts[0][1].achieved == {"k": 5, "c": Fraction(4, 5)}


# Repeated identifiers.


@pytest.mark.parametrize("act", [pv.publish, pv.check])
def test_a_repeated_identifier_is_refused_until_the_policy_says_whose(act: Any) -> None:
    with pytest.raises(PersonError, match=r'pid: 200 of 200 .* person = "pid" .* rows = "persons"') as error:
        act(FORTY, policy(top=""))
    assert "p1" not in str(error.value)
    act(FORTY, policy(top='rows = "persons"'))
    act(FORTY, policy())
    act(FORTY.unique("pid"), policy(top=""))


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_equal_identifiers_repeat_and_missing_ones_do_not(engine: str, tmp_path: Path) -> None:
    source, where = tmp_path / "raw.csv", engine_of(engine)
    source.write_text("pid,x\n1,a\n1.0,a\n2,a\n,a\n,a\n")
    assert where.repeated(where.read(source, pv.Form()), "pid") == (2, 2)
    source.write_text("pid,x\na,a\nb,a\n,a\n")
    assert where.repeated(where.read(source, pv.Form()), "pid") == (0, 1)


def test_forty_people_with_five_rows_are_not_two_hundred() -> None:
    """What issue 13 found: k = 5 was said to hold with one person in each class."""
    said = policy(top='rows = "persons"')
    alone = pv.publish(FORTY, said).to_polars().with_columns(FORTY["pid"])
    assert alone.group_by(QUASI).agg(pl.col("pid").n_unique())["pid"].min() == 1
    counted = pv.publish(FORTY, policy()).to_polars().with_columns(FORTY["pid"])
    assert counted.group_by(QUASI).agg(pl.col("pid").n_unique())["pid"].min() == 5


def test_a_row_of_nobody_is_refused() -> None:
    data = FORTY.with_columns(pid=pl.when(pl.col("pid") == "p3").then(None).otherwise("pid"))
    with pytest.raises(InputError, match="5 records say nobody"):
        pv.publish(data, policy())


# What a policy may say.


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"top": 'person = "age"'}, "person: no attribute 'age' with role \"identifier\""),
        ({"top": 'person = "nobody"'}, "no attribute 'nobody'"),
        ({"top": "across = true"}, "across: .* needs person"),
        ({"top": 'person = "pid"\nrows = "persons"'}, "either rows"),
        ({"top": 'person = "pid"\nacross = true'}, "k-anonymity bounds no number of known values"),
        ({"top": 'person = "pid"\nnulls = "wildcard"'}, "wildcard"),
        ({"top": 'rows = "people"'}, "rows"),
        ({"top": "person = 3"}, "person: is the column"),
        ({"pid": ', publish = "mask"'}, "published in disguise"),
        ({"algorithm": "coincident"}, "person: coincident: it pairs people .* give each person one row"),
        ({"algorithm": "local", "model": LKC}, "local needs promises that merging classes keeps, not shares"),
        ({"algorithm": "suppression", "model": LKC}, "shares of persons change with every record that goes"),
        (
            {"model": 'type = "population-uniqueness"\nat_most = "1/2"\nfraction = "1/2"'},
            "population-uniqueness: its estimators .* use sample-uniqueness",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(said: dict[str, str], complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        policy(**said)


def test_a_policy_with_persons_is_written_and_read() -> None:
    for top in ('person = "pid"\nacross = true', 'rows = "persons"'):
        said = policy(LKC, top=top)
        assert pv.Policy.loads(said.dumps()) == said
        assert (said.person, said.across) == (("pid", True) if "across" in top else (None, False))


@pytest.mark.parametrize(
    "model", [LKC, 'type = "alpha-k-anonymity"\nalpha = "1/2"\nk = 2\nsensitive = { ill = ["flu"] }']
)
def test_mondrian_says_what_it_cannot(model: str) -> None:
    with pytest.raises(PolicyError, match="mondrian needs promises that merging classes keeps, not shares"):
        policy(model, algorithm="mondrian")


# What a receiver can check.


def released(tmp_path: Path) -> Path:
    return pv.publish(FORTY, policy(LKC)).write(tmp_path / "out")


def test_a_receiver_checks_records_and_takes_persons_on_trust(tmp_path: Path) -> None:
    folder = released(tmp_path)
    found = verify(folder)
    assert found.holds
    assert found.verdicts[0][1].achieved == {"k": 25}, "records, and no share: that would be of persons"
    assert [promise.type for promise in found.made] == ["lkc-privacy"]
    evidence = json.loads((folder / "evidence.json").read_text("utf-8"))
    assert evidence["promises"][0]["checked_with"] == "list of persons"
    assert any("persons" in caution for caution in evidence["cautions"])
    for path in folder.iterdir():
        assert b"p17" not in path.read_bytes(), f"{path.name} names a person"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda e: e["promises"].clear(), "other promises"),
        (lambda e: e["promises"][0].update(checked_with=None, checked=None), "other promises"),
        (lambda e: e["promises"][0]["model"].update(k=4), "other promises"),
        (lambda e: e["promises"][0].update(holds=False), "says itself"),
    ],
)
def test_evidence_that_says_something_else_of_persons(change: Any, complaint: str, tmp_path: Path) -> None:
    folder = released(tmp_path)
    evidence = json.loads((folder / "evidence.json").read_text("utf-8"))
    change(evidence)
    (folder / "evidence.json").write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", "utf-8")
    found = verify(folder)
    assert not found.holds
    assert any(complaint in said for said in found.complaints), found.complaints


def test_an_identifier_that_repeats_in_another_spelling_is_refused_too() -> None:
    """One letter may be one sign, or two."""
    raw = pl.DataFrame(
        {
            "pid": [spelt for n in range(5) for spelt in (f"\u00e9{n}", f"e\u0301{n}")],
            "age": ["30"] * 10,
            "ill": ["u", "v"] * 5,
        }
    )
    policy = pv.Policy.loads(
        'policy = 1\n[attributes]\npid = "identifier"\nage = "quasi"\nill = "sensitive"\n'
        '[[models]]\ntype = "k-anonymity"\nk = 3\n'
    )
    with pytest.raises(PersonError, match="10 of 10 records share it"):
        pv.publish(raw, policy)


def test_whoever_knows_several_rows_may_know_several_values_of_one_column(tmp_path: Path) -> None:
    """Ann and Ben alone were seen in b and in c: with one quasi-identifier, two values of it are known."""
    rows = ["1a", "2a", "3a", "1b", "2b", "3b", "4a", "4c", "5a", "5c", "6a", "6c", "7b", "7c", "8b", "8c"]
    raw = pl.DataFrame({"pid": [row[0] for row in rows], "q": [row[1] for row in rows], "s": ["x", "y"] * 8})
    for l, fewest in ((1, 5), (2, 2), (3, 2)):
        said = pv.Policy.loads(
            f'policy = 1\nperson = "pid"\nacross = true\n[attributes]\npid = "identifier"\n'
            f'q = {{ role = "quasi", hierarchy = {{ type = "flat" }} }}\ns = "sensitive"\n'
            f'[[models]]\ntype = "lkc-privacy"\nl = {l}\nk = 3\nc = "1"\nsensitive = {{ s = ["x"] }}\n'
            '[algorithm]\ntype = "optimal"\n'
        )
        assert pv.check(raw, said)[0][1].achieved["k"] == fewest
        release = pv.publish(raw, said)
        assert pv.attack(release, raw=raw, only=["several-rows"]).holds
        assert release.to_polars()["q"].n_unique() == (3 if l == 1 else 1)


@pytest.mark.parametrize("algorithm", ["mondrian", "local"])
def test_a_search_that_looks_at_one_row_at_a_time_is_refused_across(algorithm: str) -> None:
    with pytest.raises(PolicyError, match=f"across: {algorithm} looks at one row of a person at a time"):
        pv.Policy.loads(
            'policy = 1\nperson = "pid"\nacross = true\n[attributes]\npid = "identifier"\nq = "quasi"\n'
            's = "sensitive"\n[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 2\nc = "1"\nsensitive = ["s"]\n'
            f'[algorithm]\ntype = "{algorithm}"\n'
        )
