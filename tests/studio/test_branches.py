"""Edits of trees: what they do to the leaves, and that they come back from a file as they were."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import InputError
from privet.hierarchy import parse
from privet.hierarchy.tree import Branch, Tree
from privet.studio import branches


@st.composite
def trees(draw: st.DrawFn) -> Branch:
    """Up to three levels, every label once; also with characters that files quote."""
    names = iter(
        draw(
            st.lists(st.text("ab;\",' ä", min_size=1, max_size=4).filter(str.strip), min_size=30, max_size=30)
        )
    )
    number = iter(range(1000))

    def label() -> str:
        return f"{next(names).strip()}{next(number)}"

    groups = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    children = [Branch(label(), tuple(Branch(label()) for _ in range(below))) for below in groups]
    return Branch("*", tuple(children))


def leaves(root: Branch) -> set[str]:
    return {node.label for node in root.walk() if not node.children}


def groups(root: Branch) -> list[str]:
    return [node.label for node in root.walk() if node.children]


@settings(max_examples=25)
@given(trees())
def test_a_tree_comes_back_from_its_rows(root: Branch) -> None:
    assert Tree.from_csv(branches.rows(root)).root == root


@settings(max_examples=40)
@given(trees(), st.data())
def test_no_edit_loses_or_invents_a_leaf(root: Branch, data: st.DataObject) -> None:
    inner = [label for label in groups(root) if label != root.label]
    siblings = [child.label for child in root.children]
    made = [branches.added(root, ["new", "new", *leaves(root)])]
    assert leaves(made[0]) == {*leaves(root), "new"}
    edited = []
    if inner:
        one = data.draw(st.sampled_from(inner))
        edited += [branches.renamed(root, one, "another"), branches.split(root, one)]
        assert "another" in groups(edited[0])
        assert one not in groups(edited[1])
        movable = [label for label in siblings if label != one]
        if movable:
            edited.append(branches.moved(root, [movable[0]], one))
            parent = next(node for node in edited[-1].walk() if node.label == one)
            assert movable[0] in {child.label for child in parent.children}
    if len(siblings) > 1:
        edited.append(branches.merged(root, siblings[:2], "both"))
        both = next(node for node in edited[-1].walk() if node.label == "both")
        assert [child.label for child in both.children] == siblings[:2]
        assert len(edited[-1].children) == len(siblings) - 1
    for tree in edited:
        assert leaves(tree) == leaves(root)
        Tree(tree)  # every label once


ODD = st.text('ab;," \n\r\t\ufeff\x1c\x85\u2028*', max_size=4)


@settings(max_examples=150)
@given(st.lists(ODD, min_size=6, max_size=6, unique=True), st.booleans(), st.integers(1, 3), st.booleans())
def test_a_tree_is_kept_as_it_is_or_refused(names: list[str], null: bool, times: int, level: bool) -> None:
    """Whatever its labels hold, by rows alone: also the levels that labels stand on, and null."""
    root, group, other, *below = names
    found = Branch(
        root, (Branch(group, (Branch(below[0]), Branch(below[1]))), Branch(other, (Branch(below[2]),)))
    )
    tree = Tree(
        found if level else Branch(root, (*found.children[:1], Branch(other))), null, ((other, times),)
    )
    try:
        text, said = branches.kept(tree)
    except InputError:
        assert "" in {node.label for node in tree.root.walk()}
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.csv").write_text("\ufeff" + text, encoding="utf-8", newline="\n")  # read again
        back = parse({**said, "path": "t.csv"}, base=Path(folder))
    assert isinstance(back, Tree)
    assert (back.root, back.null) == (tree.root, null)
    assert dict(back.repeat).get(other, 1) == times


def test_a_root_alone_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is below the root"):
        branches.kept(Tree(Branch("*")))


TREE = Branch("*", (Branch("g", (Branch("a"), Branch("b"))), Branch("h", (Branch("c"),))))


def test_the_last_leaf_that_leaves_a_group_takes_it_along() -> None:
    assert groups(branches.moved(TREE, ["c"], "g")) == ["*", "g"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda: branches.renamed(TREE, "a", "z"),  # a value of the data
        lambda: branches.renamed(TREE, "g", "h"),
        lambda: branches.renamed(TREE, "g", "  "),
        lambda: branches.renamed(TREE, "nobody", "z"),
        lambda: branches.merged(TREE, ["a", "c"], "z"),  # not side by side
        lambda: branches.merged(TREE, ["a"], "z"),
        lambda: branches.merged(TREE, ["g", "h"], "c"),
        lambda: branches.split(TREE, "*"),
        lambda: branches.split(TREE, "a"),
        lambda: branches.moved(TREE, ["g"], "g"),
        lambda: branches.moved(TREE, ["g"], "a"),
        lambda: branches.moved(TREE, ["*"], "g"),
        lambda: branches.moved(TREE, ["a"], "c"),  # a leaf is no group
    ],
)
def test_what_would_not_be_a_tree_is_refused(edit: Callable[[], Branch]) -> None:
    with pytest.raises(InputError):
        edit()
