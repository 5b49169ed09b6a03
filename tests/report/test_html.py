from __future__ import annotations

import copy
import hashlib
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.report.pages import render

from privet.errors import TamperedError
from privet.evidence.values import Evidence
from privet.report.html import SECTIONS, asset
from privet.report.markup import Safe, tag
from privet.report.sections import Section

VOID = {"meta", "input", "br"}
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></svg><script>alert(1)</script>",
    "<!-- ",
    "]]><a href=https://example.org/>",
    "&lt;b&gt;&amp;&#0;",
    "javascript:alert(1)",
    "\x00\x1b[31m\u202ereversed",
]
shared = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Reading(HTMLParser):
    """What a browser would make of a page, and whether every element is closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.seen: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError("the report has no comments")

    def handle_data(self, data: str) -> None:
        self.seen.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        return "".join(data for where, data in self.seen if where not in ("script", "style"))

    def inside(self, tag: str) -> str:
        return "".join(data for where, data in self.seen if where == tag)

    def values(self, name: str) -> list[str]:
        return [value for _, each, value in self.attributes if each == name]


def test_every_section_is_there(evidence: dict[str, Any]) -> None:
    page = Reading(render(evidence))
    for section in SECTIONS:
        if section.body(Evidence.read(evidence)) is None:  # about another kind of release
            assert section.ident not in page.values("id")
            continue
        assert section.ident in page.values("id")
        assert f"#{section.ident}" in page.values("href")
        assert section.title in page.text
    told = {"promises", "columns", "classes", "risk", "loss", "tradeoff", "made", "cautions", "verify"}
    assert told <= set(page.values("id"))
    assert "The promise is kept" in page.text
    assert "5,000" in page.text
    assert "15 November 2026, 21:40 UTC" in page.text
    assert "privet verify DIR" in page.text
    assert "Release one version only" in page.text


def test_a_missing_value_is_named(evidence: dict[str, Any]) -> None:
    page = render(evidence)
    assert '<em class="none">(missing)</em>' in page
    assert ">None<" not in page
    assert "None" not in Reading(page).text


def test_it_is_the_same_every_time(evidence: dict[str, Any]) -> None:
    assert render(evidence) == render(copy.deepcopy(evidence))


def test_ids_are_unique(evidence: dict[str, Any]) -> None:
    page = Reading(render(evidence))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for name in ("for", "aria-labelledby"):
        assert {each for value in page.values(name) for each in value.split()} <= set(ids)


def test_every_picture_is_told_in_words(evidence: dict[str, Any]) -> None:
    page = render(evidence)
    assert len(re.findall(r'<div class="plot', page)) == len(re.findall(r"<svg[^>]*><title id=", page)) == 6
    assert page.count("<desc ") == 6
    assert page.count("<details>") >= 6  # the numbers behind


def test_the_only_script_is_ours_and_the_policy_names_it(evidence: dict[str, Any]) -> None:
    page = Reading(render(evidence))
    scripts = [tag for tag, _ in page.elements if tag == "script"]
    assert len(scripts) == 1
    script = page.inside("script")
    assert script == asset("hover.js")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [value for value in page.values("content") if value.startswith("default-src")]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; ")
    assert f"script-src 'sha256-{digest}';" in policy
    assert "img-src data:" in policy


def test_nothing_is_fetched(evidence: dict[str, Any]) -> None:
    page = Reading(render(evidence))
    assert all(value.startswith("#") for value in page.values("href"))
    assert not {"src", "srcset", "action", "data", "xlink:href", "poster"} & {
        n for _, n, _ in page.attributes
    }
    for own in ("style.css", "hover.js"):
        assert not re.search(
            r"url\(|@import|https?:|//[a-z]|fetch|XMLHttp|import\(|innerHTML|eval", asset(own)
        )
    assert "</" not in asset("hover.js")
    assert "<" not in asset("style.css")


def poisoned(evidence: dict[str, Any], text: str) -> dict[str, Any]:
    """Every text that a stranger could write says `text`, and so does every column's name."""
    keep = {"type", "role", "published", "achieved", "nulls", "made", "interval"}

    def put(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            columns = key in ("attributes", "sensitive", "algorithm")
            return {
                f"{text}{at}" if columns and k not in keep else k: part[k] if k in keep else put(part[k], k)
                for at, k in enumerate(part)
            }
        if isinstance(part, list):
            return [put(value) for value in part]
        return text if isinstance(part, str) else part

    whole: dict[str, Any] = put(evidence)
    return whole


def check_harmless(evidence: dict[str, Any], text: str) -> None:
    page, benign = (Reading(render(poisoned(evidence, said))) for said in (text, "benign"))
    assert page.elements == benign.elements  # not one element or attribute more or fewer
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert all(value.startswith("#") for value in page.values("href"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(evidence: dict[str, Any], text: str) -> None:
    check_harmless(evidence, text)
    render(poisoned(evidence, text)).encode()


def test_half_a_character_is_not_read(evidence: dict[str, Any]) -> None:
    with pytest.raises(TamperedError, match="is a text"):
        render(poisoned(evidence, "\ud800"))


def test_a_label_is_shown_as_it_is(evidence: dict[str, Any]) -> None:
    text = "</script><img src=x onerror=alert(1)>"
    page = render(poisoned(evidence, text))
    assert text in Reading(page).text
    assert "<img" not in page


@shared
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(
        lambda text: text.strip()
    )
)
def test_any_text_stays_text(evidence: dict[str, Any], text: str) -> None:
    check_harmless(evidence, text + "x")


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(part, (dict, list)):
        for key in part if isinstance(part, dict) else range(len(part)):
            yield from places(part[key], (*path, key))


ODD: tuple[Any, ...] = ("text", -1, float("nan"), [], {}, [[]], True, 10**30, float("inf"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("turn", range(4))
def test_a_part_that_is_missing_or_odd_is_refused_by_the_reader_or_left_out(
    evidence: dict[str, Any], turn: int
) -> None:
    refused = drawn = 0
    for at, path in enumerate(list(places(evidence))):
        odd = copy.deepcopy(evidence)
        here: Any = odd
        for key in path[:-1]:
            here = here[key]
        if turn == 0:
            del here[path[-1]]
        else:
            here[path[-1]] = None if turn == 1 else ODD[(at * turn + turn) % len(ODD)]
        try:
            page = render(odd)
        except TamperedError:
            refused += 1
            continue
        assert page.endswith("</html>\n")
        assert "None" not in page, path
        drawn += 1
    assert refused
    assert drawn


def test_a_section_without_evidence_is_left_out(evidence: dict[str, Any]) -> None:
    evidence["measures"] = {"records": 5000}
    evidence["steps"] = []
    page = Reading(render(evidence))
    assert not {"classes", "risk", "loss", "tradeoff"} & set(page.values("id"))
    assert {"promises", "columns", "made", "cautions", "verify"} <= set(page.values("id"))


def test_evidence_without_promises_claims_nothing(evidence: dict[str, Any]) -> None:
    page = Reading(render(evidence | {"promises": []}))
    assert "No promise was made" in page.text
    assert "✓" not in page.text
    assert "is kept" not in page.text


@pytest.mark.parametrize("holds", [False, None])
def test_a_promise_is_kept_only_if_the_verdict_says_so(evidence: dict[str, Any], holds: Any) -> None:
    evidence["promises"][0] |= {"holds": holds, "broken": 3, "at_risk": 41}
    page = Reading(render(evidence))
    assert "1 promise of 1 is not kept" in page.text
    assert "Broken in 3 groups, which hold 41 records." in page.text
    assert "The promise is kept" not in page.text


def test_the_full_view_is_not_mistaken_for_the_promise(evidence: dict[str, Any]) -> None:
    assert "at most 2 of these 3 values are known" in Reading(render(evidence)).text
    evidence["promises"][0]["model"]["l"] = 3
    assert "more than the promise is about" not in Reading(render(evidence)).text


def test_values_beyond_the_list_are_counted(large: dict[str, Any]) -> None:
    page = Reading(render(large))
    assert "189 other values, together" in page.text  # 200 less the 11 that are drawn
    assert "160 further values in the data." in page.text


def test_a_large_report_is_small(large: dict[str, Any]) -> None:
    page = render(large)
    Reading(page)
    assert len(page.encode()) < 400_000


def test_another_room_adds_a_section(evidence: dict[str, Any]) -> None:
    places_section: Section[Evidence] = Section("places", "Places & times", lambda _: tag("p", "<none>"))
    silent: Section[Evidence] = Section("silent", "Nothing", lambda _: None)
    page = render(evidence, (*SECTIONS, places_section, silent))
    assert '<a href="#places">Places &amp; times</a>' in page
    assert "<p>&lt;none&gt;</p>" in page
    assert "Nothing" not in page


def test_only_tags_are_safe() -> None:
    assert tag("p", "<b>", Safe("<i>"), title='"') == '<p title="&quot;">&lt;b&gt;<i></p>'


def test_importing_it_is_light() -> None:
    program = "import sys, privet.report.html; print([m for m in ('polars', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(theme: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", asset("style.css"), re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", blocks[theme]))
    for ground in ("ground", "paper"):
        for ink in ("ink", "quiet", "link", "yes", "no", "after", "before", "loss"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["yes"], colours["yes-ground"]) >= 4.5
    assert contrast(colours["no"], colours["no-ground"]) >= 4.5
    for drawn in ("after", "loss"):
        assert contrast(colours[drawn], colours["track"]) >= 3


def test_every_picture_has_a_name(evidence: dict[str, Any]) -> None:
    found = re.findall(r"<svg([^>]*)>(.*?)</svg>", render(evidence), re.DOTALL)
    assert found
    for attributes, inner in found:
        named = "aria-labelledby=" in attributes and "<title" in inner
        inside = (
            'class="at"' in attributes
        )  # a shape: the mark around it, or the legend beside it, has the name
        assert named or inside or 'aria-hidden="true"' in attributes


def test_what_nobody_can_check_is_not_called_kept(evidence: dict[str, Any]) -> None:
    made = {"model": {"type": "differential-privacy", "epsilon": "1/2"}, "holds": True, "checked": False}
    made |= {"broken": 0, "at_risk": 0}
    checked = evidence["promises"][0]
    evidence["promises"] = [made | {"achieved": {"epsilon": "1/2"}}]
    page = Reading(render(evidence)).text
    assert "nobody can check that from the data" in page
    assert "✓" not in page
    assert "kept" not in page.partition("What was promised, what was achieved")[0]
    evidence["promises"].append(checked)
    assert "1 promise of 2 was checked and kept" in Reading(render(evidence)).text
    evidence["promises"][0]["holds"] = False
    assert "1 promise of 2 is not kept" in Reading(render(evidence)).text


def test_two_promises_are_both_kept(evidence: dict[str, Any]) -> None:
    evidence["promises"] *= 2
    assert "Both promises are kept" in Reading(render(evidence)).text
    evidence["promises"] += evidence["promises"][:1]
    assert "All 3 promises are kept" in Reading(render(evidence)).text


def test_buckets_are_not_told_as_classes(evidence: dict[str, Any]) -> None:
    assert "finds a person's record as easily" not in Reading(render(evidence)).text
    evidence["recoding"] = "buckets"
    page = Reading(render(evidence))
    assert "finds a person's record as easily as in the original data" in page.text
    assert "risk" not in page.values("id")  # nobody is harder to find, on purpose: the sentence says so
    assert "stand alone" not in page.text


def test_changed_values_are_not_told_as_coarser_ones(evidence: dict[str, Any]) -> None:
    evidence["recoding"] = "perturbation"
    page = Reading(render(evidence)).text
    assert "single cells need not be true" in page
    assert "more general form" not in page


def test_one_size_of_class_needs_no_picture(evidence: dict[str, Any]) -> None:
    assert "Class sizes by number of classes" in render(evidence)
    del evidence["measures"]["classes"]["histogram"][1:]
    assert "Class sizes by number of classes" not in render(evidence)


def test_records_that_were_left_out_are_told(evidence: dict[str, Any]) -> None:
    assert "Records left out" not in Reading(render(evidence)).text
    evidence["measures"]["attributes"]["age"]["suppressed_share"] = 0.25
    assert "25% of its cells tell nothing." in Reading(render(evidence)).text
    evidence["suppressed_records"] = 1290
    assert "Records left out1,290" in Reading(render(evidence)).text
    assert "25% of its cells tell nothing or were left out." in Reading(render(evidence)).text


def test_notes_and_parameters_are_told_in_words(evidence: dict[str, Any]) -> None:
    evidence["notes"] = ["the search had 4 rounds"]
    evidence["algorithm"] |= {"class_totals": "1/10", "columns": None}
    page = Reading(render(evidence)).text
    assert "The search had 4 rounds" in page
    assert "Class totals1/10" in page
    assert "Columns" not in page.partition("How it was made")[2].rpartition("How it was made")[2]


def test_a_column_with_one_value_left_names_it(evidence: dict[str, Any]) -> None:
    evidence["attributes"]["job"]["values"].append(
        {"label": "Unpaid", "loss": 0.2}
    )  # in the cut, and nobody's
    assert "Published as one value “ANY” for everybody" in Reading(render(evidence)).text


def test_long_sets_stand_beside_their_bars_by_their_ends(evidence: dict[str, Any]) -> None:
    long = "{" + ", ".join(str(number) for number in range(10000, 10090)) + "}"
    evidence["measures"]["attributes"]["age"]["distribution"][0][0] = long
    assert '<span class="name"><bdi>{10000, 10001, …, 10089}</bdi></span>' in render(evidence)


def test_paths_have_their_figures(evidence: dict[str, Any]) -> None:
    del evidence["measures"]["risk"], evidence["measures"]["loss"]
    size = {"records": 100, "points": 40, "places": 10, "times": 4, "longest": 5}
    evidence["measures"] |= {
        "before": size | {"visits": 400, "empty": 0},
        "after": size | {"visits": 100, "empty": 7},
        "patterns": {
            "support": 20,
            "before": 96,
            "surviving": 5,
            "lost": 0.9,
            "remined": 5,
            "lost_remined": 0.9,
            "true_support": 5,
        },
    }
    page = Reading(render(evidence)).text
    assert "25%of the visits are published" in page
    assert "5routes that at least 20 people took" in page
    assert "7records have no visit left" in page


def test_a_document_is_drawn_as_lists_in_lists(evidence: dict[str, Any]) -> None:
    vertices = [
        {"type": "student", "labels": [{"field": "major", "loss": 0.0}]},
        {"type": "course", "parent": 0, "labels": [{"field": "name", "label": "<CS>", "loss": 0.5}]},
        {"type": "book", "parent": 1, "labels": [], "sensitive": {"field": "price", "different": 3}},
        {"type": "course", "parent": 0, "labels": []},
        {"type": "odd", "parent": 9, "labels": []},  # a parent that comes later is none
    ]
    evidence["documents"] = {
        "form": "json",
        "vertices": {"before": 5, "after": 5},
        "levels": [],
        "divergence": {},
        "drawn": {"records": 3, "vertices": vertices},
    }
    page = render(evidence)
    tree = page[page.index('<ul class="tree"') : page.index("</section>", page.index('<ul class="tree"'))]
    shape = re.sub(r"<(?!/?(?:ul|li))[^>]*>|[^<>]+(?=<)", "", tree[tree.index(">") + 1 :])
    assert shape.startswith("<li><ul><li><ul><li></li></ul></li><li></li></ul></li><li></li></ul>")
    assert "name = “&lt;CS&gt;” 50% lost" in re.sub(r"</?(bdi|small)>", "", tree)
    assert "price: 3 different values" in re.sub(r"</?(bdi|small)>", "", tree)
