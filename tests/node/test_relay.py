"""Nodes without a port meet at a relay, and two of them publish with noise: real processes on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.node.nodes import SECONDS, Process, caller, contract_of, free_port, over, runs
from tests.parties.test_noisy_contract import document, parts

import privet as pv
from privet.cli import main
from privet.core import Purse
from privet.dp.ledger import Ledger
from privet.errors import PartyError
from privet.evidence import folder as ev
from privet.node import certificates
from privet.node.calling import Caller
from privet.node.house import House, made
from privet.node.relay import PIECE
from privet.roads.noisy.match import matched

pytestmark = pytest.mark.services

NAMES = ("north", "south")
SECRETS = ("Janitor", "Carpenter", "Technician", "Engineer", "p7", "north-2026")


class Scene:
    """A relay, and two nodes that have no port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hub = made(folder / "hub", name="hub", url=f"https://127.0.0.1:{free_port()}")
        (folder / "hub.toml").write_text(self.hub.me().to_text(), encoding="utf-8")
        self.houses = {}
        for name in NAMES:
            house = made(
                folder / name, name=name, url=f"https://{name}.example:8471", relay=folder / "hub.toml"
            )
            form = folder / name / "node.toml"
            text = form.read_text(encoding="utf-8")
            form.write_text(
                text.replace("patience = 600", "patience = 300")
                + f'\n[ledger]\nfile = "ledger.sqlite"\ndataset = "{name}-2026"\n',
                encoding="utf-8",
            )
            self.houses[name] = House.load(folder / name)
            Ledger(house.folder / "ledger.sqlite").open(f"{name}-2026", Fraction(20))
            (folder / f"{name}.toml").write_text(self.houses[name].me().to_text(), encoding="utf-8")
        for name in NAMES:
            self.hub.accept(folder / f"{name}.toml")
            self.houses[name].accept(folder / f"{NAMES[1 - NAMES.index(name)]}.toml")
        self.running: dict[str, Process] = {}

    def contract(self, name: str, split: str, **changes: Any) -> Path:
        changes = {"noisy": {"key_bits": 2048}, **changes}
        return contract_of(
            self.folder / name, self.houses, of=lambda **more: document(split, **more), **changes
        )

    def serve(self, name: str) -> Process:
        if name == "hub":
            one = Process(self.hub, "-m", "privet.cli", "node", "relay", "--node")
        else:
            one = Process(self.houses[name])
        self.running[name] = one
        return one.ready()

    def start(self, name: str, path: Path, data: Path) -> None:
        with caller(self.houses[name]) as one:
            status, said = one.call("POST", "/v1/runs", document={"contract": str(path), "data": str(data)})
        assert status == 200, said

    def left(self, name: str) -> Fraction:
        return Ledger(self.houses[name].folder / "ledger.sqlite").balance(f"{name}-2026").left

    def meet(self) -> None:
        """Both can be reached through the relay."""
        until = time.monotonic() + SECONDS
        while True:
            with caller(self.houses["north"], self.houses["south"]) as one:
                try:
                    if one.call("GET", "/healthz")[0] == 200:
                        return
                except PartyError:
                    assert time.monotonic() < until, "the nodes do not meet"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    one = Scene(tmp_path_factory.mktemp("relay"))
    try:
        for name in ("hub", *NAMES):
            one.serve(name)
        one.meet()
        yield one
    finally:
        for process in one.running.values():
            process.kill()


def listening_ports(pid: int) -> list[str]:
    """The TCP sockets of a process that listen, as the kernel tells."""
    own = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            own.add(str(one.readlink()))
        except OSError:
            continue
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in own:
                found.append(words[1])
    return found


@pytest.mark.parametrize("split", ["people", "columns"])
def test_two_nodes_without_a_port_publish_with_differential_privacy(
    scene: Scene, split: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scene.contract(f"agreed-{split}", split)
    folder = scene.folder / f"data-{split}"
    folder.mkdir()
    data = dict(zip(NAMES, parts(folder, split), strict=True))
    before = {name: scene.left(name) for name in NAMES}
    scene.start("south", path, data["south"])
    words = ["joint", "run", str(path), "--node", str(scene.folder / "north"), "--data", str(data["north"])]
    assert main(words) == 0, capsys.readouterr().err
    count = len(runs(scene.houses["north"]))
    found = {name: over(house, count) for name, house in scene.houses.items()}
    assert {one["state"] for one in found.values()} == {"done"}
    folders = {name: scene.houses[name].releases / found[name]["release"] for name in NAMES}
    names = sorted(one.name for one in folders["north"].iterdir())
    assert "counts.csv" in names
    for name in names:
        assert (folders["north"] / name).read_bytes() == (folders["south"] / name).read_bytes(), name
    assert pv.verify(folders["north"]).holds
    assert main(["joint", "verify", str(folders["north"]), str(path)]) == 0
    evidence = ev.read(folders["south"])
    assert evidence.joint is not None
    assert {one.certificate for one in evidence.joint.parties} == {
        certificates.digest(certificates.own(house.folder)).hex() for house in scene.houses.values()
    }, "through the relay each saw the other's certificate"
    for name in NAMES:
        ledger = Ledger(scene.houses[name].folder / "ledger.sqlite")
        assert matched(folders[name], ledger)[1] == []
        assert scene.left(name) == before[name] - 1
    # Through the relay also what a steward asks of a peer.
    out = str(scene.folder / f"fetched-{split}")
    node = ["--node", str(scene.folder / "north")]
    assert main(["joint", "fetch", str(path), "-o", out, "--from", "south", *node]) == 0
    assert main(["node", "status", *node]) == 0
    for name in NAMES:
        assert listening_ports(scene.running[name].running.pid) == [], "no port"
    assert len(listening_ports(scene.running["hub"].running.pid)) == 1
    said = "".join(process.said() for process in scene.running.values())
    assert not [word for word in SECRETS if word in said], "data in a log"


def test_the_relay_knows_its_nodes_and_nobody_else(scene: Scene, tmp_path: Path) -> None:
    stranger = made(tmp_path / "x", name="stranger", url="https://north.example:9")
    with caller(stranger, scene.hub) as one, pytest.raises(PartyError, match=r"hangs up|certificates"):
        one.call("GET", "/v1/calls")
    with caller(scene.houses["north"], scene.hub) as one:
        assert one.call("POST", "/v1/calls/nobody")[0] == 403
        assert one.call("POST", "/v1/calls/north")[0] == 403
        assert one.call("PUT", f"/v1/tunnels/{'0' * 32}/0", body=b"x")[0] == 410
        assert one.call("GET", f"/v1/tunnels/{'0' * 32}/0")[0] == 410
        assert one.call("GET", "/v1/tunnels/garbage/0")[0] == 410
    with httpx.Client(verify=False, trust_env=False) as plain, pytest.raises(httpx.HTTPError):
        plain.get(scene.hub.url + "/healthz")
    with caller(scene.hub) as own:
        status, said = own.call("GET", "/healthz")
    assert status == 200
    assert said["there"] == ["north", "south"]


BEGUN = b"\x16"  # the first byte of a handshake: who has it waits for more


def test_a_tunnel_takes_pieces_in_order_once_and_not_too_long(scene: Scene) -> None:
    def opened(one: Caller) -> str:
        status, said = one.call("POST", "/v1/calls/south")
        assert status == 200
        return str(said["tunnel"])

    with caller(scene.houses["north"], scene.hub) as one:
        at = opened(one)
        assert one.call("PUT", f"/v1/tunnels/{at}/0", body=BEGUN)[0] == 200
        assert one.call("PUT", f"/v1/tunnels/{at}/0", body=BEGUN)[0] == 200, "the answer may be lost"
        assert one.call("PUT", f"/v1/tunnels/{at}/0", body=b"another")[0] == 409, "replayed"
        assert one.call("PUT", f"/v1/tunnels/{at}/1", body=b"x")[0] == 410, "and it is closed"
        at = opened(one)
        assert one.call("PUT", f"/v1/tunnels/{at}/3", body=b"x")[0] == 409, "left out"
        at = opened(one)
        assert one.call("PUT", f"/v1/tunnels/{at}/0", body=bytes(PIECE + 1))[0] == 413, "too long"
    scene.running["hub"].says("replayed, left out or reordered")
    scene.running["hub"].says("too long")
    scene.running["south"].says("shows no certificate of an invited peer")


def test_a_certificate_of_somebody_else_is_refused_through_the_relay(scene: Scene, tmp_path: Path) -> None:
    """The relay itself, which may use its own certificate, does not get into a node: TLS ends there."""
    stranger = made(
        tmp_path / "x", name="stranger", url="https://north.example:9", relay=scene.folder / "hub.toml"
    )
    peer = scene.houses["south"].me()
    sockets = tmp_path / "x" / "sockets"
    sockets.mkdir()
    (sockets / "south.sock").symlink_to(scene.folder / "north" / "sockets" / "south.sock")
    with Caller(stranger.folder, peer) as one, pytest.raises(PartyError, match=r"hangs up|certificates"):
        one.call("GET", "/healthz")


def test_a_node_that_is_killed_is_noticed_and_says_what_stays_spent(scene: Scene) -> None:
    path = scene.contract("killed", "people")
    folder = scene.folder / "data-killed"
    folder.mkdir()
    data = dict(zip(NAMES, parts(folder, "people"), strict=True))
    count = len(runs(scene.houses["north"])) + 1
    before = scene.left("north")
    dying = Path(__file__).with_name("dying.py")
    scene.running["south"].kill()
    scene.running["south"] = Process(scene.houses["south"], str(dying), "noisy digest", "0")
    scene.running["south"].ready()
    scene.meet()
    scene.start("south", path, data["south"])
    scene.start("north", path, data["north"])
    failed = over(scene.houses["north"], count)
    assert failed["state"] == "failed"
    assert "south" in failed["why"]
    assert "stays spent" in failed["why"]
    assert scene.left("north") == before - 1
    assert not [one.name for one in scene.houses["north"].releases.iterdir() if failed["session"] in one.name]
    scene.running["south"].kill()
    scene.serve("south")
    scene.meet()
    noted = [one for one in runs(scene.houses["south"]) if one["session"] == failed["session"]]
    assert [one["state"] for one in noted] == ["failed"]
    scene.start("south", path, data["south"])
    scene.start("north", path, data["north"])
    assert over(scene.houses["north"], count + 1)["state"] == "done", "a second run works, and pays again"
    assert over(scene.houses["south"], len(runs(scene.houses["south"])))["state"] == "done"


def test_what_is_not_signed_changed_or_without_a_ledger_is_not_run(scene: Scene) -> None:
    data = scene.folder / "data-refused"
    data.mkdir()
    file = parts(data, "people")[0]

    def refused(path: Path, **more: str) -> str:
        with caller(scene.houses["north"]) as one:
            status, said = one.call(
                "POST", "/v1/runs", document={"contract": str(path), "data": str(file), **more}
            )
        assert status == 422
        return str(said["complaints"])

    assert "not signed by north, south" in refused(scene.contract("unsigned", "people", signed=False))
    changed = scene.contract("changed", "people")
    changed.write_text(changed.read_text().replace("rows_at_most = 20", "rows_at_most = 30"))
    assert "or changed since" in refused(changed)
    form = scene.folder / "north" / "node.toml"
    kept = form.read_text()
    other = scene.contract("other", "people", rows_at_most=25)
    with caller(scene.houses["north"]) as one:
        status, said = one.call(
            "POST",
            "/v1/runs",
            document={"contract": str(other), "data": str(file), "ledger": "none.sqlite", "dataset": "x"},
        )
        assert status == 200, "which ledger it is, is seen when it is opened"
        digest = said["contract"]
        assert one.call("DELETE", f"/v1/runs/{digest}")[0] == 200
    assert form.read_text() == kept


def test_a_node_says_what_is_wrong_with_its_relay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub = made(tmp_path / "hub", name="hub", url="https://hub.example:8470")
    (tmp_path / "hub.toml").write_text(hub.me().to_text(), encoding="utf-8")
    words = ["node", "init", "--name", "north", "--address", "north.example:8471", "--relay"]
    assert main([*words, str(tmp_path / "hub.toml"), "--node", str(tmp_path / "a")]) == 0
    assert House.load(tmp_path / "a").relay == "hub"
    assert "listen" not in (tmp_path / "a" / "node.toml").read_text()
    for more in (["--listen", "127.0.0.1:1"], []):
        place = "hub.toml" if more else "nothing.toml"
        assert main([*words, str(tmp_path / place), *more, "--node", str(tmp_path / "b")]) == 2
        assert not (tmp_path / "b").exists()
    (tmp_path / "a" / "peers" / "hub.toml").unlink()
    assert main(["node", "serve", "--node", str(tmp_path / "a")]) == 2
    assert "hub has sent no invitation" in capsys.readouterr().err
    deep = tmp_path / ("d" * 90)
    made(deep, name="north", url="https://north.example:8471", relay=tmp_path / "hub.toml")
    assert main(["node", "serve", "--node", str(deep)]) == 2
    assert "too long for a socket file" in capsys.readouterr().err


def test_purses_of_a_node(tmp_path: Path) -> None:
    house = made(tmp_path / "a", name="a", url="https://127.0.0.1:1")
    form = house.folder / "node.toml"
    plain = form.read_text()
    form.write_text(plain + '[ledger]\nfile = "l.sqlite"\ndataset = "d"\n')
    assert House.load(house.folder).purse == Purse(str(house.folder / "l.sqlite"), "d")
    form.write_text(plain + '[ledger]\nfile = "postgresql://x/y"\ndataset = "d"\n')
    assert House.load(house.folder).purse == Purse("postgresql://x/y", "d")
    for wrong in ('[ledger]\nfile = "l"\n', "ledger = 3\n", "[ledger]\nfile = 1\ndataset = 2\n"):
        form.write_text((wrong + plain) if wrong.startswith("ledger") else plain + wrong)
        with pytest.raises(Exception, match="ledger: file and dataset"):
            House.load(house.folder)
