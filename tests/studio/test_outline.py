"""Trees of any size on pages of bounded size: what is drawn, found and edited of many thousand nodes."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from tests.studio.house import House, open_house
from tests.studio.test_branches import trees

from privet.hierarchy.tree import Branch, Tree
from privet.studio import branches, outline
from privet.studio.outline import MOST, Outline, Seen

VALUES = 6000
ROWS = "".join(f"c{at};g{at // 20};h{at // 400};*\n" for at in range(VALUES))


def drawn(node: Seen) -> list[Seen]:
    return [node, *(one for child in node.children for one in drawn(child))]


@pytest.fixture(scope="module")
def large() -> Outline:
    return Outline(Tree.from_csv(ROWS).root, {f"c{at}": 2 for at in range(VALUES)}, 2 * VALUES)


@settings(max_examples=30)
@given(trees())
def test_a_small_tree_is_drawn_whole(root: Branch) -> None:
    part = Outline(root, {}, 0).part()
    assert part.whole
    assert [one.label for one in drawn(part.top)] == [one.label for one in root.walk()]
    assert [one.number for one in drawn(part.top)] == list(range(part.nodes))


@settings(max_examples=60)
@given(trees())
def test_rows_that_are_not_read_again_would_be_read_as_the_tree(root: Branch) -> None:
    text = branches.rows(root)
    if branches.reads_back(root, text):
        assert Tree.from_csv(text + "\n") == Tree(root)  # a blank line more, so that nobody knows it yet


@pytest.mark.parametrize("label", ['a"b', "a;b", "a\nb", "a\rb", "a\x0bb", "a\u2028b", "a\x85b"])
def test_what_a_file_would_quote_or_break_is_read_again(label: str) -> None:
    root = Branch("*", (Branch("g", (Branch(label), Branch("x"))),))
    assert not branches.reads_back(root, branches.rows(root))
    root = Branch("a,b", (Branch("x"),))
    assert not branches.reads_back(root, branches.rows(root))


def test_no_page_draws_more_than_it_has_room_for(large: Outline) -> None:
    part = large.part()
    assert not part.whole
    assert len(drawn(part.top)) <= MOST + 1
    assert {one.label for one in part.top.children} == {f"h{at}" for at in range(15)}
    assert (part.top.records, part.top.step) == (2 * VALUES, outline.STEPS)
    below = large.part(large.number["h3"])
    assert [label for _, label in below.way] == ["*", "h3"]
    assert below.top.records == 800
    assert all(one.label in {f"g{at}" for at in range(60, 80)} for one in below.top.children)


def test_every_child_of_a_flat_tree_is_on_one_page() -> None:
    root = branches.added(Branch("*"), [f"v{at}" for at in range(1000)])
    flat, seen, first = Outline(root, {}, 0), [], 0
    while first < 1000:
        part = flat.part(0, first)
        assert len(drawn(part.top)) <= MOST + 1
        seen += [one.label for one in part.top.children]
        first += len(part.top.children)
    assert seen == [one.label for one in root.children]
    assert flat.part(5000, 5000) == flat.part()  # of a tree that another tab has made smaller


def test_what_is_searched_for_is_found_with_its_place(large: Outline) -> None:
    part = large.search(" G29 ")
    assert part.matching == 11  # g29 and g290 to g299
    assert part.found[0][0].label == "g29"
    assert part.found[0][1] == "h1"
    assert large.search("c").matching == VALUES
    assert len(large.search("c").found) == outline.PAGE


@pytest.fixture
def house(tmp_path: Path) -> House:
    data = tmp_path / "codes.csv"
    lines = "".join(f"c{at},{at % 7}\n" for at in range(VALUES))
    data.write_text("code,n\n" + lines, encoding="utf-8")
    made = open_house(data)
    made.get("/")
    made.done("/columns/role", {"column": "code", "role": "quasi"})
    made.done("/hierarchy/import", {"column": "code", "rows": ROWS})
    return made


def labels(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'name="node" value="([^"]+)"', page)]


def test_a_tree_of_thousands_is_walked_searched_and_edited_by_pages(house: House) -> None:
    page = house.page("/hierarchy?column=code")
    assert "All 6,000 values have their place" in page
    assert len(labels(page)) <= MOST + 1
    assert len(page) < 120_000
    assert "Find in 6,316 nodes" in page
    found = house.post("/hierarchy/find", {"column": "code", "find": "c5999"}).text
    assert labels(found) == ["c5999"]
    assert "below <bdi>g299</bdi>" in found
    there = re.search(
        r'(/hierarchy\?column=code&amp;at=\d+)#tree">[^<]*<span class="unseen">[^<]* below h7<', page
    )
    assert there
    page = house.page(unescape(there[1]))
    assert "g140" in labels(page)
    at = re.search(r'name="at" value="(\d+)"', page)
    assert at
    edit = {"column": "code", "at": at[1], "first": "0"}
    where = house.done("/hierarchy/tree", {**edit, "what": "merge", "node": ["g140", "g141"], "new": "both"})
    page = house.page(where)
    assert "both" in labels(page)
    assert re.search(r'aria-current="page">h7<', page)  # the page stays where it was
    number = parse_qs(urlsplit(where).query)["at"][0]
    where = house.done(
        "/hierarchy/tree", {**edit, "at": number, "what": "rename", "node": "h7", "new": "seven"}
    )
    assert re.search(r'aria-current="page">seven<', house.page(where))
    number = parse_qs(urlsplit(where).query)["at"][0]
    moved = {**edit, "at": number, "what": "move", "node": ["c2800", "c2801"], "under": "h0"}
    assert house.post("/hierarchy/tree", moved).status_code == 303
    where = house.done("/hierarchy/tree", {**edit, "at": number, "what": "split", "node": "seven"})
    assert "at=" not in where or house.page(where)
    written = Tree.from_csv((house.project.folder / "hierarchies" / "code.csv").read_text(encoding="utf-8"))
    assert set(written.leaves) == {f"c{at}" for at in range(VALUES)}
    ways = {row.split(";")[0]: row.split(";")[1:] for row in branches.rows(written.root).splitlines()}
    assert ways["c2800"] == ["h0", "*"]
    assert ways["c2802"] == ["g140", "both", "*"]
    assert ways["c2840"] == ["g142", "*"]
    assert "All 6,000 values have their place" in house.page("/hierarchy?column=code")


def test_no_address_holds_a_label(house: House) -> None:
    page = house.page("/hierarchy?column=code")
    addresses = re.findall(r'(?:href|action)="([^"]*)"', page)
    assert not [one for one in addresses if re.search(r"[=/][cgh]\d+", one)]


def test_a_tree_is_read_from_its_file_when_somebody_else_writes_it(house: House) -> None:
    house.done("/hierarchy/tree", {"column": "code", "what": "rename", "node": "h1", "new": "first"})
    file = house.project.folder / "hierarchies" / "code.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("first", "other"), encoding="utf-8")
    assert "other" in labels(house.page("/hierarchy?column=code"))
