"""What is published in every measurement: a CSV file, a policy file, and a new folder for each release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree
from statistics import median

from bench import adult
from bench.child import PRIVET, Cost, answered, module, scratch, timed
from privet.samples import SAMPLES


@dataclass(frozen=True, slots=True)
class Task:
    """Files in a folder that will be gone."""

    data: Path
    policy: Path
    rows: int

    @property
    def megabytes(self) -> float:
        return self.data.stat().st_size / 1e6

    @contextmanager
    def target(self) -> Iterator[Path]:
        """A folder with nothing beside it: a release looks for earlier ones of the same data."""
        place = next(p for n in count() if not (p := self.data.parent / f"run{n}").exists())
        place.mkdir()
        try:
            yield place / "out"
        finally:
            rmtree(place)

    def published(self) -> Cost:
        """`privet publish` as a user runs it."""
        with self.target() as folder:
            command = [str(PRIVET), "publish", str(self.data), str(self.policy), "-o", str(folder)]
            return timed(command)[0]

    def staged(self) -> dict[str, float]:
        """The seconds of each stage, in a process that has loaded what it needs."""
        with self.target() as folder:
            return answered(module("stages", self.data, self.policy, folder))[1]


@contextmanager
def blow_up(rows: int) -> Iterator[Task]:
    """Adult and variations of it under L = 4, K = 20, C = 100 %: the source's own speed test."""
    with scratch() as folder:
        task = Task(folder / "adult.csv", folder / "policy.toml", rows)
        adult.write_blow_up(task.data, rows)
        task.policy.write_text(SAMPLES["census"].policy(l=4, k=20, c="1"), encoding="utf-8")
        yield task


@contextmanager
def transfusions(rows: int, *, l: int, k: int) -> Iterator[Task]:
    """64 columns, 41 of them quasi-identifiers."""
    sample = SAMPLES["transfusions"]
    with scratch() as folder:
        task = Task(folder / "blood.csv", folder / "policy.toml", rows)
        sample.generate(rows, seed=0).write_csv(task.data)
        task.policy.write_text(sample.policy(l=l, k=k, c="1/5"), encoding="utf-8")
        yield task


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of each stage by itself."""
    return {stage: median(run[stage] for run in runs) for stage in runs[0]}
