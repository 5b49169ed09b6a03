"""README and docs as programs: their blocks are run, and what they show is what comes out.

    python -m tests.pages            writes what the commands say today into every page
    python -m tests.pages docs/…     into these pages only

A page is run from top to bottom in an empty folder of its own. ```console: every line that begins with
`$ ` is a command, what follows is its output; a line `…` stands for any lines, a `…` in a line for any text.
```python: run, as a doctest where it has `>>>`. ```toml that begins with `policy = 1`: loaded.
`<!-- file: NAME -->` above a block: the block is written to that file first. Other blocks are not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent.parent
PAGES = [HERE / "README.md", *sorted((HERE / "docs").rglob("*.md"))]
# What a newcomer types first is run by the installed command, and what needs a shell by one; for all else the
# command's function is called, which is quicker.
TYPED = "README.md"
ANY = "…"
LANGUAGES = {"console", "python", "toml", "text", "csv", "json", "sh"}  # text, csv and sh are only shown

_FENCE = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n+)?^```(?P<language>\S*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SIMPLE = re.compile(r"privet(?: [^|;&<>$`\\*]*)?")
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")  # a shell reads nothing in these


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    body: str
    file: str | None
    span: tuple[int, int]  # of the body, in the page's text

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def name_of(page: Path) -> str:
    return page.relative_to(HERE).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            name_of(page),
            text.count("\n", 0, found.start("body")),
            found["language"],
            found["body"],
            found["file"],
            found.span("body"),
        )
        for found in _FENCE.finditer(text)
    ]


def commands(body: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that are shown below it."""
    command, shown = "", list[str]()
    for line in body.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        elif command.endswith("\\") and line.startswith("> "):
            command = f"{command}\n{line[2:]}"
        else:
            shown.append(line)
    if command:
        yield command, shown


def written(command: str) -> str:
    return "$ " + command.replace("\n", "\n> ")


def run_command(command: str, folder: Path, *, typed: bool) -> list[str]:
    """What a command says, on stdout and stderr together."""
    if not typed and _SIMPLE.fullmatch(_QUOTED.sub("quoted", command)):
        said = io.StringIO()
        with (
            contextlib.chdir(folder),
            _environment(COLUMNS="100"),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            from privet.cli import main

            main(shlex.split(command)[1:])
        return said.getvalue().splitlines()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout.splitlines()


@contextlib.contextmanager
def _environment(**said: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(said)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def agrees(shown: Sequence[str], said: Sequence[str]) -> bool:
    """Is this what was said, where `…` stands for anything?"""
    if not shown:
        return not said
    first, rest = shown[0].rstrip(), shown[1:]
    if first in {ANY, "..."}:
        return any(agrees(rest, said[at:]) for at in range(len(said) + 1))
    line = ".*".join(map(re.escape, first.split(ANY)))
    return bool(said) and re.fullmatch(line, said[0].rstrip()) is not None and agrees(rest, said[1:])


def stripped(lines: Sequence[str]) -> list[str]:
    """Without blank lines at the end, which a page need not show."""
    found = list(lines)
    while found and not found[-1].strip():
        found.pop()
    return found


def run_page(page: Path, folder: Path) -> Iterator[tuple[Block, str, list[str], list[str]]]:
    """Run every block; yields each command with what is shown and what was said."""
    from privet.policy.values import Policy

    module = ModuleType("page")  # classes on a page want a module to live in
    sys.modules[module.__name__] = module
    names = vars(module)
    first = True
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.body, encoding="utf-8")
        if block.language == "console":
            for command, shown in commands(block.body):
                said = run_command(command, folder, typed=first and block.page == TYPED)
                first = False
                yield block, command, stripped(shown), stripped(said)
        elif block.language == "python":
            with contextlib.chdir(folder):
                run_python(block, names)
        elif block.language == "toml" and block.body.startswith("policy = 1"):
            Policy.loads(block.body, place=block.place, base=folder)


def run_python(block: Block, names: dict[str, Any]) -> None:
    if ">>>" not in block.body:
        exec(compile("\n" * block.line + block.body, block.page, "exec", dont_inherit=True), names)
        return
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=options, verbose=False)
    test = doctest.DocTestParser().get_doctest(block.body, names, block.page, block.page, block.line)
    said = io.StringIO()
    runner.run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    if runner.failures:
        raise AssertionError(f"{block.place}\n{said.getvalue()}")


def renewed(page: Path) -> str:
    """The page with what its commands say today."""
    text = page.read_text(encoding="utf-8")
    said: dict[Block, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for block, command, shown, found in run_page(page, Path(folder)):
            keep = ANY in "\n".join(shown) and agrees(shown, found)
            lines = said.setdefault(block, [])
            lines += [written(command), *(shown if keep else found)]
            if not keep and ANY in "\n".join(shown):
                sys.stderr.write(f"{block.place}: what was left out with {ANY} is shown again; shorten it\n")
    for block in sorted(said, key=lambda one: -one.span[0]):
        body = _spaced(block, said[block])
        text = text[: block.span[0]] + body + text[block.span[1] :]
    return text


def _spaced(block: Block, lines: Sequence[str]) -> str:
    """With the blank lines that the page has between two commands."""
    gap = "\n\n$ " in block.body
    made = [f"\n{line}" if gap and at and line.startswith("$ ") else line for at, line in enumerate(lines)]
    return "\n".join(line.rstrip() for line in "\n".join(made).splitlines()) + "\n"


def main(arguments: Sequence[str]) -> int:
    for page in [Path(name).resolve() for name in arguments] or PAGES:
        page.write_text(renewed(page), encoding="utf-8")
        sys.stdout.write(f"{name_of(page)}\n")
    return 0


def keys_of(document: object) -> set[str]:
    """Every key of a nested document."""
    if isinstance(document, Mapping):
        return set(document).union(*(keys_of(value) for value in document.values()))
    return set().union(*(keys_of(item) for item in document)) if isinstance(document, list) else set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
