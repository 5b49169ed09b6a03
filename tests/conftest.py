"""How hypothesis runs here: as long as it takes, and straight to the smallest failing case.

`make test` and `make test-more` try the same examples every time, so that what passes here passes in CI, and
the first few tell most. `make test-explore` tries others on every run, ten times as many as a test asks for:
that is where new faults are found. Which of the first two runs a test, `tests/tiers.py` says.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from tests import tiers
from tests.tries import tries

settings.register_profile(
    "privet",
    deadline=None,  # a loaded machine is not a fault of the code
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("explore", settings.get_profile("privet"), derandomize=False)
settings.load_profile(os.environ.get("PRIVET_HYPOTHESIS", "privet"))

MEMORY, AMPLE = Path("/dev/shm"), 4 * 2**30  # a file system in memory; what a run may need


def in_memory() -> bool:
    """Whether there is room in memory for what tests write, and programs may run there."""
    try:
        may_run = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
        return may_run and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= AMPLE
    except (OSError, AttributeError):  # another system
        return False


class Doctests:
    """Of files that have some: four of five would be loaded and gone through for nothing."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        found = yield
        if not any(isinstance(one, DoctestModule) for one in found) or b">>>" in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    """Thousands of releases are brought to the disk, one after the other; in memory nobody waits for that.

    Workers beside each other have one thread each for their small tables and matrices: a tenth of the
    processor time went into threads that waited for each other, and a third of it in what solves equations.
    `test_same.py` says how many threads a command has; in `make test-slow` there is one worker, with as many
    as there are.
    """
    config.pluginmanager.register(Doctests())  # for src, too
    if "PYTEST_XDIST_WORKER" in os.environ:
        for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(threads, "1")  # before polars and numpy are loaded
    if "TMPDIR" not in os.environ and in_memory():
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # here it has been looked up


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests wait for processes and each other a third of their time.

    Each worker collects every test and starts what it forks commands from: six seconds of processor time.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, cores + cores // 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is loaded stays: to look for garbage in it took a third of the time that collecting takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before slow ones are deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seen, cases = set(), Counter[str]()
    for item in items:
        test = getattr(item, "obj", None)
        one_in = item.get_closest_marker("one_in")
        if one_in is not None and item.get_closest_marker("slow") is None and settings().derandomize:
            name = tiers.test_of(item)
            if cases[name] % one_in.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[name] += 1
        if test is not None and is_hypothesis_test(test) and id(test) not in seen:
            seen.add(id(test))  # the cases of a parametrised test are one function
            asked = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(asked, max_examples=tries(asked.max_examples))
    usual = [item for item in items if not {mark.name for mark in item.iter_markers()} & {"slow", "services"}]
    left = list(tiers.left(usual, tiers.listed()))
    for item in left:
        item.add_marker(pytest.mark.more)
    config.stash[tiers.TIERS] = ([item for item in usual if item.get_closest_marker("more") is None], left)


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: the collector need not walk over them again and again.

    Nor over what one test makes: cycles of a few thousand objects can wait for each other.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
