"""A policy is valid or does not exist: made in Python it is checked as one that is read from a file."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl
import pytest

import privet as pv
from privet.core import Form, Tally, Terms, Verdict
from privet.disguise import Hash, Mask
from privet.document.promises import DocumentDiversity
from privet.dp.settings import DiffGenSettings
from privet.errors import InputError, PolicyError
from privet.hierarchy import Auto, Flat, Intervals, Sets, Tree
from privet.policy.values import Purse
from privet.roads.trajectories.shape import Layout, Trajectories
from privet.trajectory.searches import SuppressPoints

AGE, JOB = pv.Attribute("age", pv.Role.QUASI), pv.Attribute("job", pv.Role.QUASI)
ILL = pv.Attribute("ill", pv.Role.SENSITIVE)
TABLE = pl.DataFrame({"name": ["Ann", "Bob"], "age": ["30", "40"], "job": ["a", "b"], "ill": ["x", "y"]})
TWO = pv.KAnonymity(k=2)


def complaints(*given: Any, **said: Any) -> tuple[str, ...]:
    with pytest.raises(PolicyError) as caught:
        pv.Policy(*given, **said)
    return caught.value.complaints


# The two that published before.


def test_a_policy_without_a_promise_does_not_exist() -> None:
    """`Policy(models=())` published raw names and ages."""
    everything = tuple(pv.Attribute(name, pv.Role.OTHER) for name in TABLE.columns)
    found = complaints(everything, (), pv.TopDown())
    assert found == ('models: at least one promise, for example [[models]] type = "k-anonymity" k = 5',)


def test_differential_privacy_needs_an_algorithm_that_spends() -> None:
    """With `Sampling` it wrote a folder whose evidence says `holds: true`."""
    found = complaints(
        (AGE,), (pv.DifferentialPrivacy(epsilon=Fraction(1)),), pv.Sampling(share=Fraction(1, 2))
    )
    assert "models[0]: differential-privacy is kept by how a release is made, and sampling does not" in found


def test_nobody_publishes_by_terms_that_were_not_checked() -> None:
    calls: list[Any] = [pv.publish, pv.check, pv.risk, pv.explore]
    for call in calls:
        with pytest.raises(PolicyError, match=r"a privet.Policy, or the path of a policy file, not a Terms"):
            call(TABLE, Terms((AGE,), (), pv.TopDown()))
        with pytest.raises(PolicyError, match="not a dict"):
            call(TABLE, {"policy": 1})


# What TOML refuses, Python refuses, in the same words.


MADE: dict[str, tuple[tuple[Any, ...], str]] = {
    "no column": (((), (TWO,)), "attributes: names every column"),
    "undecided": (
        ((replace(AGE, role=pv.Role.UNDECIDED),), (TWO,)),
        "attributes.age: the role is still undecided",
    ),
    "no quasi-identifier": (((ILL,), (TWO,)), "attributes: no quasi-identifier"),
    "named twice": (((AGE, ILL, AGE), (TWO,)), "attributes.age: named 2 times"),
    "a text for a promise": (((AGE,), ("k-anonymity",)), "models[0]: is a promise such as KAnonymity(k=5)"),
    "a text for an algorithm": (((AGE,), (TWO,), "top-down"), "algorithm: is an algorithm such as TopDown()"),
    "a text for an attribute": ((("age",), (TWO,)), "attributes[0]: is an attribute such as"),
    "no such sensitive attribute": (
        ((AGE,), (pv.DistinctLDiversity(l=2, sensitive=("ill",)),)),
        'models[0]: sensitive.ill: no attribute with that name and role "sensitive"',
    ),
    "no such quasi-identifier": (
        ((AGE, ILL), (pv.ConfidenceBounding(sensitive={"ill": {"x": Fraction(1, 2)}}, quasi=("zip",)),)),
        "models[0]: quasi: no attribute 'zip'",
    ),
    "a promise of another kind": (
        ((AGE,), (DocumentDiversity(l=2),)),
        "models[0]: document-l-diversity is for documents, this policy for table",
    ),
    "an algorithm of another kind": (((AGE,), (TWO,), SuppressPoints()), "algorithm: suppress-points is for"),
    "a promise that the algorithm cannot keep": (
        ((AGE,), (TWO,), pv.Sampling(share=Fraction(1, 2))),
        'algorithm: sampling keeps the promise [[models]] type = "by-construction"; add it',
    ),
    "nothing public": (
        ((AGE,), (pv.DifferentialPrivacy(epsilon=Fraction(1)),), DiffGenSettings()),
        "attributes: diffgen needs a target with its values",
    ),
    "a hierarchy of what is not generalised": (
        ((AGE, replace(ILL, hierarchy=Flat())), (TWO,)),
        "attributes.ill: hierarchy: only a quasi-identifier is generalised",
    ),
    "a disguise of what leaves": (
        ((AGE, replace(ILL, disguise=Mask())), (TWO,)),
        "attributes.ill: publish: only an identifier is disguised",
    ),
    "whose?": (((replace(AGE, person="who"),), (TWO,)), "attributes.age: by: no attribute 'who'"),
    "values of no target": (
        ((replace(AGE, values=("1", "2")),), (TWO,)),
        "attributes.age: values: only a target lists its values",
    ),
    "one value": (
        ((AGE, pv.Attribute("t", pv.Role.TARGET, values=("1", "1"))), (TWO,)),
        "attributes.t: values: at least two values, all different",
    ),
    "sets of one who reads off the data": (
        ((replace(AGE, hierarchy=Sets(Tree.of({"*": ["a", "b"]}))),), (TWO,)),
        "attributes.age: hierarchy: top-down has no use for sets",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MADE)
def test_made_in_python_it_is_checked(case: str) -> None:
    given, words = MADE[case]
    assert any(found.startswith(words) for found in complaints(*given)), complaints(*given)


SAID: dict[str, tuple[dict[str, Any], str]] = {
    "kind": (
        {"kind": "tables"},
        "kind: kind is one of table, documents, trajectories, transactions, not 'tables'",
    ),
    "no shape": ({"kind": "trajectories"}, "trajectories: what these data look like is not described"),
    "a table's shape": (
        {"shape": Trajectories(Layout.COLUMN, path="p")},
        "kind: a table has no shape",
    ),
    "nulls": ({"nulls": "maybe"}, "nulls: it is one of value, wildcard, not 'maybe'"),
    "purpose": ({"purpose": 7}, "purpose: is a text"),
    "form": ({"form": {"delimiter": ";"}}, "form: is a form such as"),
    "rows that leave": ({"publish_only": {"ill": []}}, "publish_only: ill is a list of texts"),
    "rows of two columns": ({"publish_only": {"a": ["x"], "b": ["x"]}}, "publish_only: names one column"),
    "a list of rows": ({"publish_only": ["x"]}, "publish_only: is a table of a column and its values"),
    "a ledger": ({"ledger": "ledger.sqlite"}, "ledger: is a file and a data set"),
    "a ledger for nothing": ({"ledger": Purse("l", "d")}, "ledger: top-down spends no budget"),
}


@pytest.mark.parametrize("case", SAID)
def test_what_else_is_said_is_checked(case: str) -> None:
    said, words = SAID[case]
    assert any(found.startswith(words) for found in complaints((AGE, ILL), (TWO,), **said))


def test_every_complaint_comes_at_once() -> None:
    attributes = (replace(ILL, hierarchy=Flat()), replace(AGE, person="who"))
    models = (pv.KMap(k=2, subset="s", values=("y",)),)
    found = complaints(attributes, models, ledger=Purse("l", "d"))
    assert [one.split(":")[0] for one in found] == [
        "attributes.ill",
        *("attributes.age", "attributes.age"),  # it has nothing to shift, and there is no such person
        *("models[0]", "ledger"),
    ]


def test_changing_a_policy_checks_it_again() -> None:
    policy = pv.Policy((AGE, ILL), (TWO,))
    with pytest.raises(PolicyError, match="at least one promise"):
        replace(policy, models=())
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        replace(policy, attributes=(ILL,))


def test_a_role_is_a_value_or_its_word() -> None:
    assert pv.Attribute("age", "quasi") == AGE  # type: ignore[arg-type]
    words = (
        "attributes.age: role: it is one of identifier, quasi, sensitive, target, other, undecided, not 'qid'"
    )
    with pytest.raises(PolicyError) as caught:
        pv.Attribute("age", "qid")  # type: ignore[arg-type]
    assert str(caught.value) == words


# Defaults are the same.


def test_a_setting_is_a_value_or_its_word() -> None:
    """A search with a text compared it with a value, and took the other branch."""
    close: Any = pv.TCloseness(t=Fraction(1, 2), sensitive=["ill"], distance="equal")  # type: ignore[arg-type]
    assert close.distance is pv.Distance.EQUAL
    said: Any = pv.Mondrian(choice="best")  # type: ignore[arg-type]
    policy = pv.Policy((AGE, ILL), (TWO, close), said)
    assert policy == pv.Policy((AGE, ILL), (TWO, close), pv.algorithm("mondrian", choice="best"))
    assert pv.Policy.loads(policy.dumps()) == policy
    with pytest.raises(PolicyError, match=r"choice: it is one of median, best, not 'bst'; did you mean best"):
        pv.Mondrian(choice="bst")  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="relaxed cuts in the middle"):
        pv.Policy((AGE,), (TWO,), pv.Mondrian(relaxed=True, choice="best"))  # type: ignore[arg-type]
    with pytest.raises(
        PolicyError, match=r"distance: it is one of .*, equal, .*, not 'equl'; did you mean equal\?"
    ):
        pv.TCloseness(t=Fraction(1, 2), sensitive=["ill"], distance="equl")  # type: ignore[arg-type]


def test_what_is_left_out_means_the_same_in_python_and_in_a_file() -> None:
    made = pv.Policy([AGE, ILL], [TWO])  # type: ignore[arg-type]
    read = pv.Policy.loads(
        'policy = 1\n[attributes]\nage = "quasi"\nill = "sensitive"\n'
        '[[models]]\ntype = "k-anonymity"\nk = 2\n'
    )
    assert made == read
    assert (made.attributes[0].hierarchy, made.algorithm, made.nulls) == (
        Auto(),
        pv.TopDown(),
        pv.Nulls.VALUE,
    )
    assert pv.publish(TABLE, made).to_polars()["age"].to_list() == ["[30-50)", "[30-50)"]
    assert pv.Policy((AGE,), (TWO,), nulls="wildcard").nulls is pv.Nulls.WILDCARD  # type: ignore[arg-type]


def test_the_usual_algorithm_follows_the_kind() -> None:
    shape = Trajectories(Layout.COLUMN, path="path")
    search: object = pv.Policy((ILL,), (TWO,), kind="trajectories", shape=shape).algorithm
    assert search == SuppressPoints()


# A draft is a text, not a policy.


def test_a_draft_is_a_text_that_is_not_a_policy_yet() -> None:
    draft = pv.draft(TABLE)
    with pytest.raises(PolicyError, match=r"attributes\.age: the role is still undecided"):
        pv.Policy.loads(draft.dumps())
    with pytest.raises(PolicyError, match=r"attributes\.age: the role is still undecided"):
        pv.Policy.loads(f'{draft.dumps()}\n[[models]]\ntype = "k-anonymity"\nk = 2\n')


# Files.


def test_a_policy_is_saved_and_loaded(tmp_path: Path) -> None:
    policy = pv.Policy((replace(AGE, hierarchy=Intervals(width=(5,))), ILL), (TWO,), purpose="a test")
    path = policy.save(tmp_path / "p.toml")
    assert pv.Policy.load(path) == policy
    with pytest.raises(InputError, match="there is a file already"):
        policy.save(path)
    other = replace(policy, models=(pv.KAnonymity(k=1),))
    other.save(path, overwrite=True)
    assert pv.Policy.load(path) == other
    assert [found.name for found in tmp_path.iterdir()] == ["p.toml"]
    with pytest.raises(InputError, match="this is a folder"):
        policy.save(tmp_path, overwrite=True)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = pv.Policy((AGE, ILL), (TWO,))
    path = policy.save(tmp_path / "p.toml")
    before = path.read_bytes()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace(policy, purpose="longer").save(path, overwrite=True)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["p.toml"]


def test_files_that_a_policy_names_are_found_from_where_it_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    (home / "key.txt").write_text("0123456789abcdef")
    (home / "p.toml").write_text(
        'policy = 1\n[attributes]\nage = "quasi"\n'
        'name = { role = "identifier", publish = "hash", key_file = "key.txt" }\n'
        '[[models]]\ntype = "k-anonymity"\nk = 2\n'
    )
    policy = pv.Policy.load(home / "p.toml")
    policy.save(away / "p.toml")
    policy.save(home / "q.toml")
    monkeypatch.chdir(away)
    for path in ("p.toml", home / "q.toml"):
        (_, name) = pv.Policy.load(path).attributes
        assert isinstance(name.disguise, Hash)
        assert name.disguise.key.secret() == b"0123456789abcdef"
    assert 'key_file = "key.txt"' in (home / "q.toml").read_text()
    age = pv.Attribute("age", pv.Role.QUASI, Intervals(low=0, high=9, unit=1))
    target = pv.Attribute("t", pv.Role.TARGET, values=("a", "b"))
    promise = pv.DifferentialPrivacy(epsilon=Fraction(1))
    paid = pv.Policy((age, target), (promise,), DiffGenSettings(), ledger=Purse("./l.sqlite", "d"))
    paid.save(home / "paid.toml")
    assert pv.Policy.load(home / "paid.toml").ledger == Purse(str((away / "l.sqlite").resolve()), "d")


def test_a_path_is_as_good_as_a_policy(tmp_path: Path) -> None:
    policy = pv.Policy((JOB, ILL), (pv.KAnonymity(k=1),))
    path = policy.save(tmp_path / "p.toml")
    assert pv.publish(TABLE, path).to_polars().equals(pv.publish(TABLE, policy).to_polars())
    assert pv.check(TABLE, str(path)) == pv.check(TABLE, policy)
    assert pv.risk(TABLE, path, trials=0) == pv.risk(TABLE, policy, trials=0)
    assert pv.explore(TABLE, path, algorithms=["top-down"], k=[1])["frontier"]
    with pytest.raises(PolicyError, match="no such file"):
        pv.publish(TABLE, tmp_path / "q.toml")


# Plug-ins.


@dataclass(frozen=True, slots=True)
class Many:
    """A promise of the first contract: four parts, and nothing inherited."""

    n: int
    sensitive: str = "ill"

    name: ClassVar[str] = "many"
    monotone: ClassVar[bool] = True

    def check(self, tally: Tally) -> Verdict:
        return Verdict({"n": tally.records}, int(tally.records < self.n))

    def nearest(self, tally: Tally) -> Self:
        return replace(self, n=min(self.n, tally.records))


@dataclass(frozen=True, slots=True)
class Top:
    """An algorithm of the first contract."""

    name: ClassVar[str] = "top"

    def search(self, tally: Any, policy: Any, progress: Any = None) -> Any:
        return pv.Optimal().search(tally, policy)


def test_plug_ins_of_the_first_contract_still_work() -> None:
    policy = pv.Policy((JOB, ILL), (Many(2),), Top())  # type: ignore[arg-type]
    assert pv.publish(TABLE, policy).to_polars().height == 2
    with pytest.raises(pv.PrivetError):
        pv.publish(TABLE, replace(policy, models=(Many(3),)))  # type: ignore[arg-type]


def test_a_plug_in_that_lacks_a_part_is_told_which() -> None:
    class Nameless:
        monotone = True

    assert complaints((AGE,), (Nameless(),)) == (
        "models[0]: is a promise such as KAnonymity(k=5); there is no name and no check",
    )
    assert complaints((AGE,), (pv.KAnonymity,))[0].startswith(
        "models[0]: is a promise such as KAnonymity(k=5)"
    )


# What a stranger tried.


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"algorithm": TWO}, "algorithm: is an algorithm"),
        ({"shape": 5}, "shape: is a shape"),
        ({"nulls": []}, "nulls: it is one of"),
    ],
)
def test_what_is_not_of_its_kind_is_a_complaint_and_nothing_else(said: dict[str, Any], place: str) -> None:
    """Some raised whatever Python raises, some were policies that failed inside of a road."""
    (said_of_it,) = complaints(**{"attributes": (AGE,), "models": (TWO,), **said})
    assert said_of_it.startswith(place)


@pytest.mark.parametrize("role", [["quasi"], {}, 5, None])
def test_a_role_that_is_no_text_is_refused(role: Any) -> None:
    with pytest.raises(PolicyError, match=r"attributes\.age: role: (it is one of|is missing)"):
        pv.Attribute("age", role)


def test_a_purse_is_two_texts() -> None:
    with pytest.raises(PolicyError, match="ledger: file: is a text"):
        Purse(5, "d")  # type: ignore[arg-type]


def test_a_promise_that_no_file_could_say_is_refused() -> None:
    class Plain:
        name = "plain"
        monotone = True

        def check(self, tally: Tally) -> Verdict:
            raise NotImplementedError

    (said,) = complaints((AGE,), (Plain(),))
    assert said.startswith("models[0]: is a dataclass")


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{b=" * 5000])
def test_a_text_that_nests_too_deep_is_no_policy(text: str) -> None:
    with pytest.raises(PolicyError):
        pv.Policy.loads(text)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(PolicyError):
        pv.Policy.load("a\0b")


class Unchecked(pv.Policy):
    """A subclass that forgets to look at itself."""

    def __post_init__(self) -> None:
        pass


def test_a_policy_that_was_never_checked_begins_no_road() -> None:
    """A subclass, and one whose fields were changed behind its back: both published raw values."""
    changed = pv.Policy((AGE,), (TWO,))
    object.__setattr__(changed, "models", ())
    for policy in (Unchecked((AGE,), (), algorithm=pv.TopDown()), changed):
        for call in (pv.publish, pv.risk, pv.check, pv.explore):
            with pytest.raises(PolicyError, match="at least one promise"):
                call(TABLE, policy)


# What a stranger put into Python that no file could say.


@pytest.mark.parametrize(
    ("made", "said", "words"),
    [
        (pv.Mondrian, {"relaxed": "no"}, "relaxed: is true or false"),
        (pv.Mondrian, {"choice": None}, "choice: is missing"),
        (pv.Optimal, {"trim": "false"}, "trim: is true or false"),
        (pv.Optimal, {"seed": "x"}, "seed: is a whole number"),
        (pv.Optimal, {"time_limit": float("inf")}, "time_limit: is a number"),
        (pv.TopDown, {"tries": float("nan")}, "tries: is a whole number"),
        (pv.TopDown, {"splits": None}, "splits: is missing"),
        (pv.TopDown, {"score": "x"}, "score: it is one of"),
        (pv.Sampling, {"share": 0.5}, "share: is an exact fraction"),
        (pv.Pram, {"keep": 0.5}, "keep: is an exact fraction"),
        (DiffGenSettings, {"buy_h": 0.5}, "buy_h: is an exact fraction"),
        (pv.LKC, {"l": 2, "k": 2, "c": Fraction(1, 2), "sensitive": 5}, "sensitive: is a table"),
        (pv.KMap, {"k": 2, "subset": "s", "values": [[0]]}, "values: is a text"),
        (pv.Trajectories, {"form": "paths"}, "form: it is one of column, visits"),
        (pv.Trajectories, {"form": "visits", "path": "p"}, 'person is missing; form = "visits"'),
        (pv.Transactions, {"form": "column", "set": ""}, "set: is the name of a column"),
        (pv.Transactions, {"form": "baskets", "separator": "||"}, "separator: is one character"),
        (pv.DocumentShape, {"schema": {}}, "schema: is a Schema"),
        (Form, {"delimiter": 7}, "delimiter: is a text"),
        (Form, {"encoding": None}, "encoding: is missing"),
        (Form, {"numbers": {"age": 5}}, "numbers: age: is a text"),
        (pv.Key, {"file": 5}, "file: is the path of a file"),
        (pv.Attribute, {"name": 5, "role": "quasi"}, r"attributes\.5: name: is a text"),
        (pv.Attribute, {"name": "a", "role": "quasi", "hierarchy": "flat"}, r"\.a: hierarchy: is a"),
        (pv.Attribute, {"name": "a", "role": "quasi", "hierarchy": Flat}, r"\.a: hierarchy: is a"),
        (pv.Attribute, {"name": "a", "role": "identifier", "disguise": "hash"}, r"\.a: disguise: is"),
    ],
)  # fmt: skip
def test_parameters_are_those_that_a_file_can_say(made: Any, said: dict[str, Any], words: str) -> None:
    """It was published, and `verify` could not read the policy; or it meant the opposite; or it was whatever
    Python raises.
    """
    with pytest.raises(PolicyError, match=words):
        made(**said)


def test_so_are_those_of_a_hierarchy() -> None:
    with pytest.raises(pv.HierarchyError, match="format: is a text"):
        pv.Dates(format=7)  # type: ignore[arg-type]


def test_a_plug_in_is_asked_by_the_policy() -> None:
    """It does not look at itself when it is made."""
    assert complaints((AGE,), (Many("two"),)) == ("models[0]: n: is a whole number, not 'two'",)  # type: ignore[arg-type]


def test_what_a_policy_was_made_of_may_change_and_the_policy_does_not() -> None:
    """A promise that was emptied behind its back held."""
    sensitive, bounds = {"ill": ["flu"]}, {"ill": {"flu": Fraction(1, 2)}}
    only, numbers, weights = {"in": ["yes"]}, {"age": "1.234,5"}, {"age": 2.0}
    models = (
        pv.LKC(l=1, k=2, c=Fraction(1, 2), sensitive=sensitive),
        pv.ConfidenceBounding(sensitive=bounds),
    )
    policy = pv.Policy(
        (AGE, ILL, pv.Attribute("in", "sensitive")),  # type: ignore[arg-type]
        models,
        pv.Optimal(weights=weights),
        form=Form(numbers=numbers),
        publish_only=only,  # type: ignore[arg-type]
    )
    before = policy.dumps()
    sensitive["ill"].clear()
    bounds["ill"]["flu"] = Fraction(99)
    only["in"].append("no")
    for table in (numbers, weights):
        table.clear()
    assert policy.dumps() == before
    kept: list[Any] = [models[0].sensitive, models[1].sensitive, policy.publish_only, policy.form.numbers]
    for table in kept:
        with pytest.raises(TypeError, match="does not change"):
            table["age"] = ()
    assert pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy
    assert pickle.loads(pickle.dumps(policy)).dumps() == before


@pytest.mark.parametrize(
    "search",
    [
        *(made(weights={"nope": 1.0}) for made in (pv.AutoSearch, pv.Suppression, pv.Mondrian, pv.Local)),
        *(made(weights={"ill": 1.0}) for made in (pv.Optimal, pv.Incognito, pv.Samarati)),
        *(made(levels={"nope": 1}) for made in (pv.Optimal, pv.Local)),
    ],
    ids=repr,
)
def test_settings_name_columns_that_there_are(search: Any) -> None:
    """Some were refused when the data was read, some by nobody."""
    (found,) = complaints((AGE, ILL), (TWO,), search)
    assert re.match(r'algorithm: (weights|levels)\.\w+: no attribute with that name and role "quasi"', found)


@pytest.mark.parametrize(
    "search", [pv.Pram(keep=Fraction(1, 2), columns=("n",)), pv.RankSwap(within=Fraction(1), columns=("n",))]
)
def test_columns_that_are_changed_are_there(search: Any) -> None:
    (found,) = complaints((AGE, ILL), (pv.ByConstruction(),), search)
    assert found.startswith("algorithm: columns.n: no attribute with that name and role")
