"""README and docs say what is true: their commands run, their links lead somewhere, nothing is left out."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from tests import pages
from tests.pages import HERE, PAGES, name_of

import privet
from privet import disguise, registry
from privet.cli.app import commands as command_line
from privet.core import Form, Role
from privet.errors import PrivetError
from privet.hierarchy.parse import _KINDS as HIERARCHIES
from privet.policy import values as policy
from privet.samples import SAMPLES

TEXTS = {name_of(page): page.read_text(encoding="utf-8") for page in PAGES}
PROSE = "\n".join(text for name, text in TEXTS.items() if name != "docs/reference/cli.md")
FIRST = {"README.md", "docs/tutorial.md"}  # what a newcomer types
RUN = [pytest.param(page, marks=pytest.mark.always) if name_of(page) in FIRST else page for page in PAGES]
SHOWN = [*PAGES, *sorted((HERE / "examples").glob("*.py"))]


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_a_page_says_what_its_commands_say(page: Path, tmp_path: Path) -> None:
    for block, command, shown, said in pages.run_page(page, tmp_path):
        renew = f"python -m tests.pages {block.page}"
        assert "Traceback" not in "\n".join(said), f"{block.place}: {command}"
        assert pages.agrees(shown, said), "\n".join(
            [f"{block.place}: {command} says something else now; `{renew}` renews the page", *said]
        )


def test_an_ellipsis_stands_for_anything_and_nothing_else_does() -> None:
    said = ["one", "two 2", "three"]
    for shown in (["…"], ["one", "…"], ["…", "three"], ["one", "two …", "three"], ["…", "two…", "..."]):
        assert pages.agrees(shown, said), shown
    for shown in (["one"], ["one", "…", "two 2"], ["one", "two 3", "three"], []):
        assert not pages.agrees(shown, said), shown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_known_language(page: Path) -> None:
    assert {block.language for block in pages.blocks(page)} <= pages.LANGUAGES
    assert TEXTS[name_of(page)].count("```") == 2 * len(pages.blocks(page))
    for block in pages.blocks(page):
        if block.language == "json":
            json.loads(block.body)


# Links.


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _links(page: Path) -> list[tuple[Path, str]]:
    found = re.findall(r"\]\(([^)\s]+)\)", _prose(TEXTS[name_of(page)]))
    return [((page.parent / link.partition("#")[0]).resolve(), link.partition("#")[2]) for link in found]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _links(page):
        place = target if target != page.parent.resolve() or not anchor else page
        assert place.exists(), f"{name_of(page)}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", _prose(place.read_text(encoding="utf-8")), re.MULTILINE)
            assert anchor in map(_anchor, headings), f"{name_of(page)}: {target.name}#{anchor}"


def test_every_page_is_linked_from_the_list_of_pages() -> None:
    listed = {target for target, _ in _links(HERE / "docs" / "README.md")}
    assert {page for page in PAGES if page.parent != HERE and page.name != "README.md"} <= listed


def test_every_example_is_named_in_a_page_or_the_folder_is() -> None:
    assert (HERE / "examples") in {target for target, _ in _links(HERE / "README.md")}


# Nothing is left out.


def test_public_names_are_in_the_docs() -> None:
    named = {*re.findall(r"\b(?:pv|privet)\.(\w+)", PROSE), *re.findall(r"`(\w+)", PROSE)}
    assert not [name for name in privet.__all__ if name not in named]


def _family(kind: type[PrivetError]) -> list[type[PrivetError]]:
    return [one for child in kind.__subclasses__() for one in (child, *_family(child))]


@pytest.mark.parametrize("kind", [k for k in _family(PrivetError) if k.__module__ == "privet.errors"])
def test_every_error_has_a_section(kind: type[PrivetError]) -> None:
    text = TEXTS["docs/reference/errors.md"]
    assert f"\n## `{kind.code}`\n" in text
    assert kind.__name__ in text


def test_every_command_has_its_help_in_the_docs() -> None:
    names = getattr(command_line(), "commands", {})
    assert names
    for name in names:
        assert f"\n## privet {name}\n\n```console\n$ privet {name} --help\n" in TEXTS["docs/reference/cli.md"]
        assert re.search(rf"privet {name}|make {name}", PROSE), name


@pytest.mark.parametrize("kind", ["models", "algorithms", "engines"])
def test_everything_installed_is_in_the_docs(kind: str) -> None:
    for name in registry.BUILT_IN[kind]:
        assert f"`{name}`" in TEXTS["docs/glossary.md"], name
        assert name in TEXTS["docs/reference/policy.md" if kind != "engines" else "README.md"], name


def test_every_key_of_a_policy_is_in_the_reference() -> None:
    text = TEXTS["docs/reference/policy.md"]
    keys = {
        *policy.TOP,
        *(field.name for field in fields(Form) if field.metadata.get("policy", True)),
        "role",
        "hierarchy",
        "publish",
    }
    keys |= {role.value for role in Role}
    keys |= {key for kind in HIERARCHIES.values() for key in kind.keys}
    keys |= {key for disguised in disguise._KEYS.values() for key in disguised} | set(disguise._KEYS)
    for kind in ("models", "algorithms"):
        made = [one.load() for one in registry.installed(kind).values() if not one.plugin]
        keys |= {field.name for one in made for field in fields(one) if field.init}
    assert not [key for key in keys if f"`{key}`" not in text]
    assert not [kind for kind in HIERARCHIES if f"\n### `{kind}`\n" not in text]


def test_every_sample_is_in_the_docs() -> None:
    assert not [name for name in SAMPLES if name not in "".join(TEXTS.values())]


def test_every_field_of_evidence_is_in_the_reference(tmp_path: Path) -> None:
    patients = SAMPLES["patients"]
    table = patients.generate(rows=600, seed=0)
    rules = privet.Policy.loads(patients.policy())
    first = privet.publish(table, rules).write(tmp_path / "first")
    again = privet.publish(table, rules, like=first).write(tmp_path / "again")
    named = {attribute.name for attribute in rules.attributes}
    made = {
        "k",
        "l",
        "c",
        "type",
        "score",
        "splits",
        "tries",
        "sensitive",
    }  # of models and algorithms: the policy's keys
    text = TEXTS["docs/reference/evidence.md"]
    for folder in (first, again):
        evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
        files = set(evidence["files"])
        keys = pages.keys_of(evidence) - named - made - files
        assert not [key for key in keys if f"`{key}`" not in text]
    measures = TEXTS["docs/reference/measures.md"]
    found = evidence["measures"]
    assert not [name for name in found["loss"] if f"`{name}`" not in measures]
    assert not [name for name in found["risk"]["after"] if f"`{name}`" not in measures and name != "classes"]


def test_a_word_has_one_entry_in_the_glossary() -> None:
    words = re.findall(r"^\*\*(.+?)\*\*:", TEXTS["docs/glossary.md"], re.MULTILINE)
    assert words == sorted(words)
    assert len(words) == len(set(words)) > 40


def test_the_map_names_every_room() -> None:
    rooms = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (HERE / "src" / "privet").iterdir()
        if path.name not in {"__pycache__", "py.typed"}
    }
    drawn = set(re.findall(r"^[├└]── (\S+)", TEXTS["README.md"], re.MULTILINE))
    assert drawn == rooms


# Nothing of the machine on which it was written.


@pytest.mark.parametrize("page", SHOWN, ids=name_of)
def test_no_path_or_host_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for mark in ("/work", "/root", "/tmp", "/home/", "/usr/", "https://", "http://", "localhost", "pypi"):
        assert mark not in text.lower(), mark
