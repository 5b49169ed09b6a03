"""What every test costs, measured: `make test-costs` writes `dear.tsv`, by which `tests/tiers.py` decides.

Processor time, of the worker and of the processes that it waited for: a clock says more about who else is on
the machine. What a module's tests share (fixtures of more than a test) is paid by all that want it: else who
comes first would pay for making it, and who comes last for the processes that end then.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import pytest
from tests import forked
from tests.tiers import FAIR, LIST, test_of

_SECONDS, _CASES = defaultdict[str, float](float), Counter[str]()
_SHARED = defaultdict[str, float](float)  # by file: what making and ending what its tests share has cost
_WIDE = defaultdict[str, set[str]](set)  # by file: the fixtures that are shared
_SHARING = defaultdict[str, Counter[str]](Counter)  # by file: its tests that want one of these, and how often

_RUNNING = pytest.StashKey[str]()  # the file whose test is run


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        time.process_time() + children.ru_utime + children.ru_stime + forked.spent() - sum(_SHARED.values())
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    item.config.stash[_RUNNING] = _file_of(item)
    before = _spent()
    try:
        return (yield)
    finally:
        name, file = test_of(item), _file_of(item)
        _SECONDS[name] += _spent() - before
        _CASES[name] += 1
        _SHARING[file][name] += not _WIDE[file].isdisjoint(getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    before = _spent()
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function":
            file = request.config.stash[_RUNNING]
            _WIDE[file].add(fixturedef.argname)
            _SHARED[file] += _spent() - before


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    """Where a file ends, so does what its tests share."""
    before = _spent()
    try:
        return (yield)
    finally:
        if (nextitem is None or _file_of(nextitem) != _file_of(item)) and _WIDE[_file_of(item)]:
            _SHARED[_file_of(item)] += _spent() - before


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _shared_out() -> None:
    for file, seconds in _SHARED.items():
        sharing = _SHARING[file]
        for name, cases in sharing.items():
            _SECONDS[name] += seconds * cases / max(1, sharing.total())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker has measured, brought together."""
    for name, seconds in node.workeroutput["seconds"].items():
        _SECONDS[name] += seconds
    _CASES.update(node.workeroutput["cases"])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    _shared_out()
    if "PYTEST_XDIST_WORKER" in os.environ:
        session.config.workeroutput |= {"seconds": dict(_SECONDS), "cases": dict(_CASES)}  # type: ignore[attr-defined]
        return
    if exitstatus != pytest.ExitCode.OK or session.config.option.file_or_dir:
        return  # a list of some of them would have the others run whole
    lines = [
        f"{name}\t{_CASES[name]}\t{seconds:.2f}\n"
        for name, seconds in sorted(_SECONDS.items())
        if seconds > FAIR
    ]
    LIST.write_text("".join(lines), encoding="utf-8")
