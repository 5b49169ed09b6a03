from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import HierarchyError
from privet.hierarchy import Tree
from privet.hierarchy.tree import Branch

ARX = Path(__file__).parents[3] / "shared" / "data" / "arx" / "example"
CANARY = "Canary-7731"

labels = st.text('ab01 ;,*"\n\r\u2028éß日\U0001d518', min_size=1, max_size=3)


@pytest.mark.skipif(not ARX.exists(), reason="the ARX examples are not on this machine")
def test_every_arx_example_loads() -> None:
    files = sorted(ARX.glob("*hierarchy*.csv"))
    assert files
    for path in files:
        tree = Tree.from_csv(path)
        lines = [line for line in path.read_text().splitlines() if line]
        assert len(tree.leaves) == len(lines)
        assert tree.domain(tree.leaves).size == len(lines)


def shape(text: str) -> object:
    return Tree.from_csv(text).to_policy()["tree"]


def test_arx_shapes() -> None:
    assert shape("1;0-4;0-9;*\n7;5-9;0-9;*\n") == {"*": {"0-9": {"0-4": ["1"], "5-9": ["7"]}}}
    assert shape("29;[20,30[;*\r\n43;>=40;*\r\n30;[30,40[;*") == {
        "*": {"[20,30[": ["29"], ">=40": ["43"], "[30,40[": ["30"]}
    }
    assert shape("male;*\nfemale;*\n") == {"*": ["male", "female"]}
    assert shape("47677;4767*;*****\n47602;4760*;*****") == {
        "*****": {"4767*": ["47677"], "4760*": ["47602"]}
    }


def test_rows_of_a_group_need_not_stand_together() -> None:
    tree = Tree.from_csv("fox;wild;*\ncat;pet;*\nwolf;wild;*\ndog;pet;*\n")
    assert tree.leaves == ("fox", "wolf", "cat", "dog")


def test_labels_repeated_at_the_next_level_are_one_node() -> None:
    assert shape("x;x;*\ny;g;g;*\n") == {"*": ["x", {"g": ["y"]}]}


def test_rows_may_differ_in_length_and_repeat_themselves() -> None:
    assert shape("a;*\nb;g;h;*\na;*\n") == {"*": ["a", {"h": {"g": ["b"]}}]}


def test_commas_quotes_byte_order_mark_and_blank_lines() -> None:
    assert shape('\ufeff"a,1","x; ""y""",*\n\nb,"x; ""y""",*\n') == {"*": {'x; "y"': ["a,1", "b"]}}
    assert shape('"a";"Any, or none"\nb;"Any, or none"') == {"Any, or none": ["a", "b"]}
    assert shape('5" pipe;x;*\n6" pipe;x;*') == {"*": {"x": ['5" pipe', '6" pipe']}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "one row for each leaf"),
        (CANARY, "one row for each leaf"),
        (f"a;*\nb,{CANARY}\n", "on every line alike"),
        (f"a;*\n{CANARY}\n", "line 2: a leaf without a root"),
        (f"a;x;*\nb;x;*\nc;x;{CANARY}\n", "line 3: does not end in the root of line 1"),
        (f"a;;*\n{CANARY};x;*\n", "line 1: an empty label"),
        ("*;*\na;*", "line 1: nothing but the root"),
        (
            f"a;{CANARY};x;*\nb;{CANARY};y;*\n",
            "line 2, level 2: the label stands under another parent on line 1",
        ),
        (f"{CANARY};x;*\n{CANARY};y;*\n", "line 2, level 1"),
        (f"a;{CANARY};*\n{CANARY};*\n", "line 2: the leaf is a group"),
        (f"a;{CANARY};a;*\n", "line 1, level 3"),
        (f"*;{CANARY};*\n", "line 1, level 1: the root stands below"),
        (f'a;"{CANARY};*\n', "line 1: a quoted field is not closed"),
    ],
)
def test_malformed_rows_are_named_by_line(text: str, says: str) -> None:
    with pytest.raises(HierarchyError) as raised:
        Tree.from_csv(text)
    assert says in str(raised.value)
    assert CANARY not in str(raised.value)


def test_many_clashes_are_counted() -> None:
    text = "".join(f"{leaf};{parent};*\n" for parent in "xy" for leaf in range(9))
    with pytest.raises(HierarchyError, match="and 4 lines more"):
        Tree.from_csv(text)


@given(st.lists(labels, min_size=1, max_size=8, unique=True), st.sampled_from(";,"), st.data())
def test_rows_agree_with_a_naive_reading(names: list[str], delimiter: str, data: st.DataObject) -> None:
    """Groups and leaves of two levels, written by hand with every field quoted."""
    groups = {name: data.draw(st.sampled_from(["G1", "G2", name])) for name in names}
    rows = [[name, groups[name], "root"] for name in names]
    quoted = [delimiter.join('"' + field.replace('"', '""') + '"' for field in row) for row in rows]
    tree = Tree.from_csv("\n".join(quoted))
    above = {leaf.label: group.label for group in tree.root.children for leaf in (group.children or (group,))}
    assert above == groups


def test_nested_forms_mean_the_same() -> None:
    forms: list[dict[str, object]] = [
        {"ANY": {"A": {"x": None, "y": None}, "B": None}},
        {"ANY": {"A": ["x", "y"], "B": {}}},
        {"ANY": [{"A": ["x", {"y": []}]}, "B"]},
    ]
    first, *others = map(Tree.of, forms)
    assert all(other == first for other in others)
    assert Tree.of({"ANY": [1, 2]}).leaves == ("1", "2")


@pytest.mark.parametrize(
    "nested",
    [
        {},
        {"A": ["x"], "B": ["y"]},
        {"ANY": {"A": ["x"], "B": ["x"]}},
        {"ANY": ["ANY"]},
        {"ANY": [True]},
        {"ANY": [0.5]},
        {"ANY": [""]},
        {"ANY": [["x"]]},
        {"ANY": "x"},
    ],
)
def test_malformed_trees_are_refused(nested: dict[str, object]) -> None:
    with pytest.raises(HierarchyError):
        Tree.of(nested)


def test_files(tmp_path: Path) -> None:
    nested = {"ANY": {"Müll": ["x", "y"], "z": []}}
    (tmp_path / "t.json").write_text(json.dumps(nested), "utf-8")
    (tmp_path / "t.toml").write_text('[ANY]\n"Müll" = ["x", "y"]\nz = []\n', "utf-8")
    (tmp_path / "t.csv").write_bytes("\ufeffx;Müll;ANY\r\ny;Müll;ANY\r\nz;ANY\r\n".encode())
    trees = [
        Tree.from_json(tmp_path / "t.json"),
        Tree.from_toml(tmp_path / "t.toml"),
        Tree.from_csv(tmp_path / "t.csv"),
    ]
    assert trees == [Tree.of(nested)] * 3


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("Müll;*".encode("latin-1"))
    (tmp_path / "json").write_text(f'{{"ANY":\n {CANARY}')
    (tmp_path / "twice").write_text(f'{{"ANY": {{"{CANARY}": [], "{CANARY}": []}}}}')
    (tmp_path / "toml").write_text(f"[ANY]\na = {{{CANARY} = 1, {CANARY} = 2}}")
    (tmp_path / "deep").write_text("[" * 100_000)
    for read, name, says in (
        (Tree.from_csv, "latin", "not UTF-8"),
        (Tree.from_csv, "none", "cannot be read"),
        (Tree.from_json, "json", "line 2: not JSON"),
        (Tree.from_json, "twice", "stands twice"),
        (Tree.from_json, "deep", "deeper than"),
        (Tree.from_toml, "toml", "line 2: not TOML"),
    ):
        with pytest.raises(HierarchyError, match=says) as raised:
            read(tmp_path / name)
        assert CANARY not in str(raised.value)


def test_leaves_without_data_are_kept_and_null_comes_last() -> None:
    domain = Tree.of({"ANY": {"A": ["x", "y"], "B": None}}).domain(["y", None])
    assert domain.values == ("x", "y", "B", None)
    assert [child.label for child in domain.root.children] == ["A", "B", None]


def test_inner_labels_are_not_values() -> None:
    tree = Tree.of({"ANY": {"A": ["x", "y"]}})
    assert tree.uncovered(["A", "x", None, "ANY"]) == ["A", "ANY"]
    with pytest.raises(
        HierarchyError, match="2 of 3 values are not in the hierarchy; run with --show-values"
    ):
        tree.domain(["A", "x", None, "ANY", "A"])


def test_pruning_compares_no_leaf_with_all_others() -> None:
    """100,000 codes of illnesses took a minute."""
    compared = 0

    class Counted(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    leaves = [Counted(f"v{at}") for at in range(500)]
    Tree(Branch("any", tuple(map(Branch, leaves)))).pruned(leaves)
    assert compared < 20 * len(leaves)


def test_pruned_shows_nothing_below_the_cut() -> None:
    tree = Tree.of({"ANY": {"A": ["x", "y"], "B": {"C": ["z"], "w": None}}})
    assert tree.pruned(["A", "C", "w", None]).to_policy()["tree"] == {"ANY": ["A", {"B": ["C", "w"]}]}
    assert tree.pruned(["ANY"]).leaves == ("ANY",)
    assert tree.pruned(tree.leaves) == tree
    for cut in (["A"], ["A", "B", "C"], ["A", "B", "nowhere"], ["A", "A", "B"], []):
        with pytest.raises(HierarchyError, match="a cut has one label"):
            tree.pruned(cut)
