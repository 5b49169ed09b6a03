"""What lies on a cluster's disk beside a release goes with its run, or with the next one there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from privet.engines.spark.staging import Staging
from privet.errors import InternalError
from privet.placing import system

RUN = """
import sys
from pathlib import Path
from privet.engines.spark.staging import Staging
staging = Staging(Path(sys.argv[1]))
staging.fresh("read").write_text("a copy of somebody's records")
print("there", flush=True)
sys.stdin.read()
"""


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("read-*"))


def run(folder: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "there\n"
    return child


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with run(tmp_path) as killed, run(tmp_path) as alive:
        killed.kill()
        killed.wait()
        assert len(left(tmp_path)) == 2
        with monkeypatch.context() as patched:  # a disk without locks does not tell who was killed
            patched.setattr(system, "_taken", lambda _opened: True)
            Staging(tmp_path).fresh("other")
            assert len(left(tmp_path)) == 2
        staging = Staging(tmp_path)
        staging.fresh("other")
        assert len(left(tmp_path)) == 1, "of whoever lives"
        alive.communicate("")
        assert left(tmp_path) == []
        del staging
    assert list(tmp_path.iterdir()) == []


class Elsewhere:
    """A cluster that writes where nobody sees it, or as Spark and Sail call their files."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.write, self.asked = self, 0

    def range(self, _: int) -> Elsewhere:
        return self

    def parquet(self, place: str) -> None:
        self.asked += 1
        for name in self.names:
            Path(place).mkdir(exist_ok=True)
            (Path(place) / name).touch()


@pytest.mark.parametrize(
    ("names", "dealt"),
    [(("_SUCCESS", "part-00000-1f-c000.snappy.parquet"), False), (("Xa_0.parquet",), True)],
)
def test_who_deals_rows_out_is_asked_once(tmp_path: Path, names: tuple[str, ...], *, dealt: bool) -> None:
    pytest.importorskip("pyspark")
    staging, cluster = Staging(tmp_path), Elsewhere(*names)
    assert [staging.deals(cluster), staging.deals(cluster)] == [dealt, dealt]
    assert cluster.asked == 1


def test_a_cluster_that_writes_elsewhere_is_told_to_say_staging(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(InternalError, match="say staging"):
        Staging(tmp_path).deals(Elsewhere())
