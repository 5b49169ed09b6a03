"""Nodes with different versions of the protocol: whoever can tell, tells, and at once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.node import older
from tests.node.nodes import SECONDS, Process, caller, contract_of, houses, over, runs, start, tables

from privet.errors import PartyError
from privet.node import certificates
from privet.node.calling import HEADER, UnreachableError, version_of
from privet.node.house import House
from privet.parties import signing
from privet.parties.signing import beside
from privet.parties.transport import SPEAKS, OtherSpeechError

pytestmark = pytest.mark.services


def test_what_a_header_says() -> None:
    found = [version_of(said) for said in (None, "", "1", "2", "17", "-1", "2.0", "x", "9" * 5, "\u0662")]
    assert found == [1, 0, 1, 2, 17, 0, 0, 0, 0, 0]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[tuple[dict[str, House], dict[str, Process], Path]]:
    """A and B of this version, C to come; a contract that all three have signed."""
    known = houses(tmp_path)
    path = contract_of(tmp_path / "contract", known)
    running = {name: Process(known[name]) for name in "AB"}
    try:
        for one in running.values():
            one.ready()
        yield known, running, path
    finally:
        for one in running.values():
            one.kill()


def answers(house: House) -> None:
    """Wait until it serves; whoever calls it, its own steward too, hears that it is of another version."""
    until, one = time.monotonic() + SECONDS, caller(house)
    while time.monotonic() < until:
        try:
            one.call("GET", "/healthz")
        except OtherSpeechError:
            return
        except UnreachableError:
            time.sleep(0.05)
    raise AssertionError("it is not of another version, or does not come up")


def begun(known: dict[str, House], path: Path, names: str) -> None:
    data = tables(path.parent.parent)
    for name in names:
        status, said = start(known[name], path, data[name])
        assert status == 200, said


@pytest.mark.parametrize("version", ["1", str(SPEAKS + 1)])
def test_a_party_of_another_version_is_named_and_nothing_runs(version: str, scene: Any) -> None:
    known, running, path = scene
    running["C"] = Process(known["C"], older.__file__, version)
    answers(known["C"])
    begun(known, path, "BA")
    found = over(known["A"])
    assert found["state"] == "failed"
    told = f"C: speaks version {version} of the protocol between parties, we speak {SPEAKS}"
    assert found["why"].startswith(told)
    assert "C" in over(known["B"])["why"]


def test_a_leader_of_another_version_is_refused_and_who_waits_for_it_is_told(scene: Any) -> None:
    known, running, path = scene
    running["A"].kill()
    running["A"] = Process(known["A"], older.__file__, "1")
    answers(known["A"])
    begun(known, path, "B")
    where = known["B"].url
    tls = certificates.connecting(known["A"].folder, known["B"].me().authority)
    with httpx.Client(base_url=where, verify=tls, trust_env=False) as old:
        answer = old.post(f"/v1/sessions/{'5' * 32}", json={"contract": "0" * 64})
        assert (answer.status_code, answer.headers[HEADER]) == (426, str(SPEAKS))
        assert old.get("/healthz").status_code == 200, "health is for whatever looks after machines"
    (found,) = runs(known["B"])
    assert found["state"] == "failed"
    assert found["why"].startswith("A: speaks version 1 of the protocol between parties, we speak")
    running["B"].says(
        f'"status": 426, "why": "speaks version 1 of the protocol, this node {SPEAKS}", "peer": "A"'
    )


def test_a_header_that_is_no_version_is_not_taken_for_the_first(scene: Any) -> None:
    known, running, _ = scene
    tls = certificates.connecting(known["A"].folder, known["B"].me().authority)
    with httpx.Client(base_url=known["B"].url, verify=tls, trust_env=False) as odd:
        for said in ("x", "-3", "99999"):
            answer = odd.post(f"/v1/sessions/{'5' * 32}", json={}, headers={HEADER: said})
            assert answer.status_code == 426
            told = f"speaks no version that there is of the protocol, this node {SPEAKS}"
            assert answer.json() == {"error": told}
    running["B"].says("speaks no version that there is")


def test_a_contract_that_was_signed_for_another_version_is_not_started(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _, path = scene
    with monkeypatch.context() as before:
        before.setattr(signing, "SPEAKS", 1)
        path = contract_of(path.parent, known)
    status, said = start(known["A"], path, tables(path.parent.parent)["A"])
    assert status == 422
    assert (
        "was signed for version 1 of the protocol between parties, this node speaks" in said["complaints"][0]
    )
    assert json.loads(beside(path).read_text())["protocol"] == 1


def test_a_caller_hears_of_another_version_before_anything_else(scene: Any) -> None:
    known, _, _ = scene
    one = caller(known["A"], known["B"])
    one._speaks = 7
    with pytest.raises(PartyError, match=f"B: speaks version {SPEAKS} of the protocol between parties"):
        one.call("GET", f"/v1/sessions/{'5' * 32}")
    one.close()
