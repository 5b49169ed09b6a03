"""Asked to stop at the wrong moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from tests.tries import seldom

from privet.cli.stopping import stoppable

STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Whoever runs the tests in the background, or under nohup, has signals ignored, and so would we."""
    before = [signal.signal(number, signal.default_int_handler) for number in STOPS]
    yield
    for number, handler in zip(STOPS, before, strict=True):
        signal.signal(number, handler)


def polars_own(source: str, **known: Any) -> Any:
    """A function that stands in polars, as far as anybody can see."""
    space: dict[str, Any] = {"__name__": "polars.datatypes.classes", "signal": signal, **known}
    exec(source, space)
    return space["asked"]


def raised(number: int) -> None:
    """In a frame of its own, as what polars calls has one."""
    signal.raise_signal(number)
    time.sleep(0.05)  # asked again, and still inside


@pytest.mark.parametrize("moment", [0, 0.01])
@pytest.mark.parametrize("stop", [signal.raise_signal, raised])
@pytest.mark.parametrize("number", STOPS)
def test_a_stop_inside_polars_waits_until_rust_has_its_answer(
    number: signal.Signals,
    stop: Callable[[int], None],
    moment: float,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Rust asks Python for the types of columns, and panics where Python was interrupted."""
    monkeypatch.setattr("privet.cli.stopping.MOMENT", moment)  # 0: asked again before the handler is done
    monkeypatch.setattr("privet.cli.stopping.PATIENCE", 600.0)  # however busy the machine is
    table = pl.DataFrame({"a": ["x"]}, schema={"a": pl.Enum(["x"])})
    source = "def asked(*args):\n    stop(number)\n    return sound(*args)"
    asked = polars_own(source, number=number, stop=stop, sound=pl.Enum.__init__)
    monkeypatch.setattr(pl.Enum, "__init__", asked)
    found: list[pl.DataType] = []

    def looked() -> None:
        found.extend(table.dtypes)
        time.sleep(60)

    with pytest.raises(SystemExit) as ended, stoppable():
        looked()
    assert len(found) == 1
    assert ended.value.code == 128 + number
    assert "panicked" not in capfd.readouterr().err


def test_who_never_leaves_polars_is_stopped_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privet.cli.stopping.PATIENCE", 0.1)
    asked = polars_own("def asked():\n    while True: signal.raise_signal(signal.SIGTERM)")
    with pytest.raises(SystemExit), stoppable():
        asked()


def test_what_fails_after_a_stop_is_a_stop() -> None:
    def failed() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except SystemExit:
            raise ValueError("a panic, for all we know") from None

    with pytest.raises(SystemExit) as ended, stoppable():
        failed()
    assert ended.value.code == 143
    with pytest.raises(ValueError, match="nobody asked"), stoppable():
        raise ValueError("nobody asked")


def test_handlers_of_before_hear_again() -> None:
    before = [signal.getsignal(number) for number in STOPS]
    with stoppable():
        assert [signal.getsignal(number) for number in STOPS] != before
    assert [signal.getsignal(number) for number in STOPS] == before


ENDS = """
import atexit, os, signal, sys
from privet.cli import main
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
atexit.register(os.kill, os.getpid(), {number})
sys.argv = ["privet", {command}]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("number", "command", "code"),
    seldom(
        [(stop, *ends) for stop in STOPS for ends in (("list", 0), ("nothing-of-that-name", 2))],
        [(signal.SIGTERM, "list", 0), *((stop, "nothing-of-that-name", 2) for stop in STOPS)],
    ),
)
def test_a_stop_while_the_process_ends_changes_no_code(
    number: signal.Signals, command: str, code: int
) -> None:
    """It ended as a raw signal, though all was done: a library may take a while to say goodbye."""
    program = ENDS.format(number=int(number), command=repr(command))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == code, done.stderr


@pytest.mark.parametrize(("code", "kept"), [(130, False), (143, False), (0, True)])
def test_who_was_stopped_is_not_kept_by_a_goodbye(code: int, kept: bool) -> None:
    """A server in this process may be in the middle of a job: it was waited for without end."""
    program = (
        "import atexit, sys, time\nfrom privet.cli import stopping\nstopping.GOODBYE = 0.2\n"
        f"atexit.register(lambda: (time.sleep({3 if kept else 600}), print('goodbye', flush=True)))\n"
        f"stopping.ends_with({code})\nsys.exit({code})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == code
    assert done.stdout == ("goodbye\n" if kept else "")


AT_ONCE = """
import atexit, os, sys, threading, time
{before}
from privet.cli import main
class Kept:
    def __del__(self):
        os.write(1, b"freed ")
kept = Kept()
sys.argv = ["privet", {command}]
ended = main()
threading.Thread(target=lambda: (time.sleep(0.2), sys.stdout.write("waited for\\n"))).start()
atexit.register(sys.stdout.write, "goodbye\\n")
sys.exit(ended)
"""


@pytest.mark.parametrize(("command", "code"), [("list", 0), ("nothing-of-that-name", 2)])
def test_a_process_that_is_done_frees_nothing_piece_by_piece(command: str, code: int) -> None:
    """After a million rows it took a seventh of a second; what must happen before still does."""
    program = AT_ONCE.format(before="", command=repr(command))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout.endswith("waited for\ngoodbye\n")


def test_who_loads_us_and_wants_to_be_asked_at_the_end_is_asked() -> None:
    before = "atexit.register(print, 'the loader')"
    program = AT_ONCE.format(before=before, command="'list'")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("waited for\ngoodbye\nthe loader\nfreed ")
