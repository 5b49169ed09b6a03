"""An invitation is replaced or removed while a node or a relay serves: a stolen key is of no use then."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.node.nodes import SECONDS, Process, caller, houses

from privet.cli import main
from privet.errors import PartyError
from privet.node.house import House

pytestmark = pytest.mark.services


def answered(house: House, to: House) -> int:
    """The status on a connection of its own; 0: none was made."""
    with caller(house, to) as one:
        try:
            return one.call("GET", "/healthz")[0]
        except PartyError:
            return 0


def comes(house: House, to: House, status: int) -> None:
    until = time.monotonic() + SECONDS
    while answered(house, to) != status:
        assert time.monotonic() < until, "nothing changes"
        time.sleep(0.2)


@pytest.mark.parametrize("program", ["serve", "relay"])
def test_an_invitation_that_is_replaced_or_removed_is_no_longer_answered(
    program: str, tmp_path: Path
) -> None:
    known, new = houses(tmp_path, ("A", "B")), houses(tmp_path / "new", ("B",))["B"]
    here, stolen = known["A"], known["B"]
    running = Process(here, "-m", "privet.cli", "node", program, "--node")
    try:
        running.ready()
        with caller(stolen, here) as old:
            assert old.call("GET", "/healthz")[0] == 200
            sent = str(tmp_path / "new" / "B.invitation.toml")
            assert main(["node", "invite", "--node", str(here.folder), "--accept", sent, "--overwrite"]) == 0
            assert old.call("GET", "/healthz")[0] == 403, "a connection that was made before"
        assert answered(stolen, here) in {0, 403}
        comes(new, here, 200)
        assert answered(stolen, here) == 0, "does not get through the handshake"
        with caller(new, here) as old:
            assert old.call("GET", "/healthz")[0] == 200
            (here.folder / "peers" / "B.toml").unlink()
            assert old.call("GET", "/healthz")[0] == 403
        comes(new, here, 0)
        assert answered(here, here) == 200, "its own steward"
    finally:
        running.kill()
