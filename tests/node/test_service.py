"""Real nodes in processes of their own, with certificates of their own, over loopback."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bench import adult, joint, joint_nodes
from tests.engines.test_postgres import url  # noqa: F401 - a fixture
from tests.node import dying
from tests.node.nodes import (
    NAMES,
    Process,
    caller,
    contract_of,
    fresh,
    houses,
    over,
    runs,
    serving,
    start,
    tables,
)
from tests.parties import test_loan

import privet as pv
from privet.cli import main
from privet.errors import InputError, PartyError
from privet.node.calling import Caller
from privet.node.house import House
from privet.node.wires import PIECE
from privet.parties.contract import Contract
from privet.parties.transport import HEAD, MAGIC, NOUGHT, SPEAKS

pytestmark = pytest.mark.services

SECRETS = ("Transgender", "Janitor", "Carpenter", "hush-hush")


class Scene:
    """Three nodes that know each other, two of which serve; the third is called when it is needed."""

    def __init__(self, folder: Path, running: dict[str, Process]) -> None:
        self.folder = folder
        self.houses = {name: House.load(folder / name) for name in NAMES}
        self.running = running
        self.data = tables(folder)

    def contract(self, name: str, **changes: Any) -> Path:
        return contract_of(self.folder / name, self.houses, **changes)

    def start(self, name: str, path: Path) -> dict[str, Any]:
        status, said = start(self.houses[name], path, self.data[name])
        assert status == 200, said
        return said

    def as_peer(self, name: str, to: str) -> Caller:
        """The test itself, with a node's certificate."""
        return caller(self.houses[name], self.houses[to])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("nodes")
    with serving(houses(folder), "A", "B") as running:
        yield Scene(folder, running)


def nothing_left(house: House, session: str) -> None:
    assert not [path.name for path in house.releases.iterdir() if session in path.name]


def no_secrets(*running: Process) -> None:
    for one in running:
        assert not [word for word in SECRETS if word in one.said()], "data in a log"


def test_three_nodes_one_of_them_on_postgresql_publish_the_pooled_table(
    scene: Scene,
    url: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    psycopg = pytest.importorskip("psycopg")
    path = scene.contract("together")
    rows = pl.read_csv(scene.data["B"], infer_schema=False)
    with psycopg.connect(url) as connection:
        columns = ", ".join(f'"{one}" text' for one in rows.columns)
        connection.execute(f"create table hospital ({columns})")
        connection.cursor().executemany("insert into hospital values (%s, %s, %s, %s, %s)", rows.rows())
    with serving(scene.houses, "C") as more:
        query = "select gen_random_uuid() as patient, * from hospital"  # a type that no text file has
        assert start(scene.houses["B"], path, url, query)[0] == 200
        scene.start("C", path)
        words = ["joint", "run", str(path), "--node", str(scene.folder / "A"), "--data", scene.data["A"]]
        assert main(words) == 0, capsys.readouterr().err
        assert "published together with B, C" in capsys.readouterr().out
        found = {name: over(house) for name, house in scene.houses.items()}
        assert {one["state"] for one in found.values()} == {"done"}
        # What the steward does with it.
        out = str(scene.folder / "out")
        node = ["--node", str(scene.folder / "B")]
        assert main(["joint", "fetch", str(path), "-o", out, *node]) == 0
        assert main(["joint", "fetch", str(path), "-o", f"{out}2", "--from", "C", *node]) == 0
        assert main(["joint", "verify", out, str(path)]) == 0
        other = scene.contract("other", rows_at_most=9)
        assert main(["joint", "verify", out, str(other)]) == 1
        assert "another contract" in capsys.readouterr().err
        assert main(["joint", "status", *node]) == 0
        assert "done" in capsys.readouterr().out
        assert main(["node", "status", *node]) == 0
        no_secrets(*scene.running.values(), *more.values())
    whole = pl.concat([pl.read_csv(place, infer_schema=False) for place in scene.data.values()])
    alone = pv.publish(whole, Contract.load(path).policy).write(scene.folder / "alone")
    folders = [scene.houses[name].releases / found[name]["release"] for name in NAMES]
    folders += [Path(out), Path(f"{out}2")]
    for folder in folders:
        assert (folder / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()
        assert sorted(one.name for one in folder.iterdir()) == sorted(
            ["data.csv", "evidence.json", "policy.toml", "report.html", "signatures.json"]
        )
        for one in folder.iterdir():
            assert one.read_bytes() == (folders[0] / one.name).read_bytes(), "all hold the same bytes"
    note = pv.verify(folders[0])
    assert note.holds
    assert [one.signature.signer for one in note.signed if one.valid] == list(NAMES)
    text = (folders[0] / "evidence.json").read_text(encoding="utf-8")
    assert text.count('"certificate"') == 3


class Adult:
    """Three nodes with Adult split three ways, the second part in PostgreSQL."""

    def __init__(self, folder: Path, url: str, reveal: str) -> None:  # noqa: F811 - not the fixture
        psycopg = pytest.importorskip("psycopg")
        try:
            self.table = adult.load().head(30_162)
        except InputError:
            pytest.skip("Adult is not here and cannot be fetched")
        agreed = joint.contract(reveal, "information-gain", "1/5", NAMES).to_document()
        said = {key: value for key, value in agreed.items() if value is not None}
        self.folder, self.houses = folder, houses(folder)
        self.path = contract_of(
            folder / "adult", self.houses, of=lambda **more: joint_nodes._plain({**said, **more})
        )
        rows = self.table.gather_every(3, 1)
        with psycopg.connect(url) as connection:
            columns = ", ".join(f'"{one}" text' for one in rows.columns)
            connection.execute(f"drop table if exists adult; create table adult ({columns})")
            with connection.cursor().copy("copy adult from stdin with (format csv)") as into:
                into.write(rows.write_csv(include_header=False).encode())
        for at, name in ((0, "A"), (2, "C")):
            self.table.gather_every(3, at).write_csv(folder / f"{name}.csv")
        self._url = url

    def start(self) -> None:
        assert start(self.houses["B"], self.path, self._url, "select * from adult")[0] == 200
        for name in ("C", "A"):
            assert start(self.houses[name], self.path, str(self.folder / f"{name}.csv"))[0] == 200

    def published(self, ended: dict[str, dict[str, Any]]) -> None:
        """Everybody has the table that all rows in one place give."""
        assert {one["state"] for one in ended.values()} == {"done"}, [
            (n, one["state"], one["why"]) for n, one in ended.items()
        ]
        contract = Contract.load(self.path)
        alone = pv.publish(self.table.select(list(contract.domains)), contract.policy)
        pooled = (alone.write(self.folder / "alone") / "data.csv").read_bytes()
        for name, house in self.houses.items():
            folder = house.releases / ended[name]["release"]
            assert (folder / "data.csv").read_bytes() == pooled
            assert pv.verify(folder).holds


@pytest.mark.slow
@pytest.mark.parametrize("reveal", ["counts", "decisions"])
def test_three_nodes_one_of_them_on_postgresql_publish_adult(
    reveal: str,
    tmp_path: Path,
    url: str,  # noqa: F811
) -> None:
    one = Adult(tmp_path, url, reveal)
    with serving(one.houses, *NAMES):
        one.start()
        one.published({name: over(house) for name, house in one.houses.items()})


@pytest.mark.slow
def test_one_of_three_nodes_with_adult_killed_at_every_stage_in_turn(
    tmp_path: Path,
    url: str,  # noqa: F811
) -> None:
    one = Adult(tmp_path, url, "decisions")
    with serving(one.houses, "A", "B"):
        for turn, (kind, number) in enumerate(STAGES.items(), start=1):
            dies = Process(one.houses["C"], dying.__file__, kind, number)
            try:
                dies.ready()
                one.start()
                ended = {name: over(one.houses[name], turn) for name in "AB"}
                assert dies.running.wait(timeout=30) == -9
            finally:
                dies.kill()
            for name, failed in ended.items():
                assert failed["state"] == "failed"
                nothing_left(one.houses[name], failed["session"])
            whys = [failed["why"] for failed in ended.values()]
            assert any(why.startswith("C: ") for why in whys), whys
            assert all("C: " in why or " names C;" in why for why in whys), whys
        with serving(one.houses, "C"):
            one.start()
            one.published({name: over(house) for name, house in one.houses.items()})


def test_two_nodes_publish_a_table_split_by_columns(scene: Scene) -> None:
    two = {name: scene.houses[name] for name in "AB"}
    owners = {"A": ["Job"], "B": ["Sex", "SalaryK"]}
    path = contract_of(
        scene.folder / "columns",
        two,
        of=test_loan.document,
        parties=["A", "B"],
        owners=owners,
        reveal="decisions",
    )
    before = len(runs(two["A"]))
    parts = dict(zip("AB", test_loan.parts(scene.folder), strict=True))
    for name, house in two.items():
        assert start(house, path, str(parts[name]))[0] == 200
    found = {name: over(house, before + 1 if name == "A" else 1) for name, house in two.items()}
    assert {one["state"] for one in found.values()} == {"done"}, found
    agreed = Contract.load(path)
    frames = [pl.read_csv(part, infer_schema=False) for part in parts.values()]
    whole = frames[0].join(frames[1].drop("Class"), on="ID").select(list(agreed.domains))
    alone = pv.publish(whole, agreed.policy).write(scene.folder / "columns-alone")
    joint = two["B"].releases / found["B"]["release"]
    assert (joint / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()
    assert pv.verify(joint).holds


STAGES = {"hello": "0", "any": "60", "release": "0", "signature": "0"}  # which message it dies with


def test_a_party_killed_at_any_stage_leaves_nothing_and_the_next_run_works(scene: Scene) -> None:
    sessions = []
    for kind, number in STAGES.items():
        path = scene.contract("killed")
        before = {name: len(runs(scene.houses[name])) for name in "AB"}
        dies = Process(scene.houses["C"], dying.__file__, kind, number)
        try:
            dies.ready()
            for name in NAMES[::-1]:
                scene.start(name, path)
            ended = {name: over(scene.houses[name], before[name] + 1) for name in "AB"}
            assert dies.running.wait(timeout=30) == -9
        finally:
            dies.kill()
        for name, one in ended.items():
            assert one["state"] == "failed"
            assert one["why"].startswith(("A: ", "B: ", "C: ", "ended before it began")), one["why"]
            # Whoever had not signed when the other died has nothing to fetch: what was sent may be lost.
            assert kind == "signature" or "joint fetch --from" not in one["why"]
            nothing_left(scene.houses[name], one["session"])
        assert any(one["why"].startswith("C: ") for one in ended.values()), "whoever is gone is named"
        assert all("C: " in one["why"] or " names C;" in one["why"] for one in ended.values()), ended
        sessions.append(ended["A"]["session"])
    # The one that was killed finds its notes and nothing half done; a further run works.
    with serving(scene.houses, "C") as again:
        mine = {one["session"]: one for one in runs(scene.houses["C"])}
        for session in sessions:
            assert mine[session]["state"] == "failed"
            assert "stopped in the middle" in mine[session]["why"]
            nothing_left(scene.houses["C"], session)
        for name in NAMES:
            scene.start(name, path)
        assert {over(house)["state"] for house in scene.houses.values()} == {"done"}
        no_secrets(*scene.running.values(), *again.values())


@pytest.mark.parametrize("stage", ["placing", "ready"])
def test_a_party_killed_after_all_have_signed(stage: str, scene: Scene) -> None:
    """The others have the release. Who had not begun to place it fetches it; who had, finds it there."""
    path = scene.contract(f"killed-{stage}")
    before = {name: len(runs(scene.houses[name])) for name in "AB"}
    dies = Process(scene.houses["C"], dying.__file__, stage, "0")
    try:
        dies.ready()
        for name in NAMES[::-1]:
            scene.start(name, path)
        ended = {name: over(scene.houses[name], before[name] + 1) for name in "AB"}
        assert dies.running.wait(timeout=30) == -9
    finally:
        dies.kill()
    assert {one["state"] for one in ended.values()} == {"done"}, [
        (n, one["state"], one["why"]) for n, one in ended.items()
    ]
    session = ended["A"]["session"]
    with serving(scene.houses, "C"):
        mine = next(one for one in runs(scene.houses["C"]) if one["session"] == session)
        assert mine["state"] == ("done" if stage == "ready" else "failed")
        if stage == "placing":
            nothing_left(scene.houses["C"], session)
        out = scene.folder / f"fetched-{stage}"
        words = ["joint", "fetch", str(path), "-o", str(out), "--node", str(scene.folder / "C")]
        assert main(words if stage == "ready" else [*words, "--from", "A"]) == 0
        for one in (scene.houses["A"].releases / session).iterdir():
            assert (out / one.name).read_bytes() == one.read_bytes()


def test_a_full_disk_at_one_party_publishes_nothing_and_the_next_run_works(scene: Scene) -> None:
    path = scene.contract("full")
    before = {name: len(runs(house)) for name, house in scene.houses.items() if name != "C"}
    small = Process(scene.houses["C"], dying.__file__, "full", "15000")  # room for notes, not for a report
    try:
        small.ready()
        already = len(runs(scene.houses["C"]))
        for name in NAMES[::-1]:
            scene.start(name, path)
        ended = {name: over(scene.houses[name], before.get(name, already) + 1) for name in NAMES}
        assert small.running.poll() is None, "it still serves"
    finally:
        small.kill()
    assert "C: the node's folder: File too large; nothing was published" in ended["C"]["why"]
    for name, one in ended.items():
        assert one["state"] == "failed"
        nothing_left(scene.houses[name], one["session"])
    assert any(one["why"].startswith("C: ") for name, one in ended.items() if name != "C")
    with serving(scene.houses, "C"):
        for name in NAMES:
            scene.start(name, path)
        assert {over(house)["state"] for house in scene.houses.values()} == {"done"}
    no_secrets(small, *scene.running.values())


def test_rows_that_changed_since_a_run_are_named_at_the_others_and_nothing_is_published(scene: Scene) -> None:
    """The same contract with a row less at one party: the two tables would tell what the row did."""
    path = scene.contract("changing", purpose="once")
    data = {name: scene.folder / f"{name}.changing.csv" for name in NAMES}
    for name, place in fresh(scene.folder, "once").items():
        pl.read_csv(place, infer_schema=False).write_csv(data[name])
    with serving(scene.houses, "C") as more:

        def run(again: str) -> dict[str, dict[str, Any]]:
            count = {name: len(runs(house)) for name, house in scene.houses.items()}
            for name in NAMES[::-1]:  # C first, which takes back that it has refused
                status, said = start(scene.houses[name], path, str(data[name]), again=name in again)
                assert status == 200, said
            return {name: over(house, count[name] + 1) for name, house in scene.houses.items()}

        assert {one["state"] for one in run("").values()} == {"done"}
        pl.read_csv(data["B"], infer_schema=False).reverse().write_csv(data["B"], line_terminator="\r\n")
        assert {one["state"] for one in run("").values()} == {"done"}, "the same rows: the same table"
        rows = data["C"].read_text().splitlines(keepends=True)
        data["C"].write_text("".join(rows[:-1]))
        for name in "BA":  # who waits for C is told that its node refuses, and does not wait to the end
            assert start(scene.houses[name], path, str(data[name]), again=False)[0] == 200
        count = {name: len(runs(scene.houses[name])) for name in "AB"}
        begun = time.monotonic()
        assert start(scene.houses["C"], path, str(data["C"]), again=False)[0] == 422, "its own node says so"
        for name in "AB":
            over(scene.houses[name], count[name])
            why = max(runs(scene.houses[name]), key=lambda one: str(one["begun"]))["why"]
            assert "C: its own node refuses to start this contract" in why or "names C" in why
        assert time.monotonic() - begun < scene.houses["A"].patience / 2
        found = run("C")
        for name in ("A", "B"):
            assert found[name]["state"] == "failed"
            nothing_left(scene.houses[name], found[name]["session"])
        assert any(found[name]["why"].startswith("C: has other rows than when") for name in ("A", "B"))
        assert {one["state"] for one in run("ABC").values()} == {"done"}, "all their stewards said --again"
        no_secrets(*scene.running.values(), *more.values())


def test_a_stranger_does_not_get_through_the_handshake(scene: Scene, tmp_path: Path) -> None:
    stranger = houses(tmp_path, ("stranger",))["stranger"]
    one = Caller(stranger.folder, scene.houses["A"].me())
    with pytest.raises(PartyError, match=r"^A: (the certificates do not fit|hangs up on us)"):
        one.call("GET", "/healthz")
    one.close()
    scene.running["A"].says("shows no certificate of an invited peer")


def test_a_node_that_is_not_the_one_that_was_invited_is_not_believed(scene: Scene) -> None:
    """Somebody else answers at A's address: its certificate is not of A's authority."""
    a, b = scene.houses["A"].me(), scene.houses["B"].me()
    one = Caller(scene.houses["C"].folder, type(a)(a.name, b.url, a.key, a.authority))
    with pytest.raises(PartyError, match=r"^A: the certificates do not fit"):
        one.call("GET", "/healthz")
    one.close()


def test_only_what_all_have_signed_is_run(scene: Scene) -> None:
    unsigned = scene.contract("unsigned", signed=False)
    status, said = start(scene.houses["A"], unsigned, scene.data["A"])
    assert (status, "not signed by A, B, C" in said["complaints"][0]) == (422, True)
    changed = scene.contract("changed")
    changed.write_text(changed.read_text().replace("k = 2", "k = 1"))
    status, said = start(scene.houses["A"], changed, scene.data["A"])
    assert (status, "or changed since" in said["complaints"][0]) == (422, True)
    nokeys = contract_of(scene.folder / "nokeys", scene.houses, signed=False, keys={})
    assert "needs every party's public key" in start(scene.houses["A"], nokeys, "x")[1]["complaints"][0]
    path = scene.contract("nodata")
    assert (
        "no such file" in start(scene.houses["A"], path, str(scene.folder / "none.csv"))[1]["complaints"][0]
    )


def test_nobody_but_its_steward_starts_or_ends_a_run(scene: Scene) -> None:
    one = scene.as_peer("C", "A")
    assert one.call("POST", "/v1/runs", document={"contract": "x"})[0] == 403
    assert one.call("DELETE", f"/v1/runs/{'0' * 64}")[0] == 403
    assert "runs" not in one.call("GET", "/healthz")[1]
    one.close()


def test_a_run_that_nobody_leads_is_stopped_by_its_steward(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scene.contract("stopped")
    scene.start("B", path)
    again = start(scene.houses["B"], path, scene.data["B"])
    assert (again[0], "running already" in again[1]["complaints"][0]) == (422, True)
    words = ["joint", "stop", str(path), "--node", str(scene.folder / "B")]
    assert main(words) == 0
    mine = [one for one in runs(scene.houses["B"]) if not one["session"]]
    assert [(one["state"], one["why"]) for one in mine] == [("failed", "ended by our own steward")]
    assert main(words) == 1
    assert "not running" in capsys.readouterr().out


@pytest.fixture
def joined(scene: Scene, request: pytest.FixtureRequest) -> Iterator[tuple[Scene, Caller, str, Path]]:
    """B runs a contract whose leader, with A's certificate, is the test."""
    name = "played-" + request.node.name.partition("[")[0][-12:] + secrets.token_hex(2)
    path = scene.contract(name)
    scene.start("B", path)
    one = scene.as_peer("A", "B")
    session = secrets.token_hex(16)
    digest = Contract.load(path).digest.hex()
    assert one.call("POST", f"/v1/sessions/{session}", document={"contract": digest})[0] == 200
    yield scene, one, session, path
    one.call("POST", f"/v1/sessions/{session}/end")
    over(scene.houses["B"])
    one.close()


def put(
    one: Caller, session: str, number: int, body: bytes, path: Path, *, contract: str | None = None
) -> int:
    digest = contract or Contract.load(path).digest.hex()
    where = f"/v1/sessions/{session}/pieces/{number}"
    return one.call("PUT", where, body=body, headers={"privet-contract": digest})[0]


def test_pieces_that_are_replayed_reordered_too_long_or_of_another_contract(
    joined: tuple[Scene, Caller, str, Path],
) -> None:
    scene, one, session, path = joined
    assert put(one, session, 0, b"\x99" * 3, path) == 200
    assert put(one, session, 0, b"\x99" * 3, path) == 200, "its answer may have been lost"
    assert put(one, session, 0, b"\x98" * 3, path) == 409
    assert put(one, session, 5, b"\x99" * 3, path) == 409
    assert put(one, session, 1, b"\x99" * (PIECE + 1), path) == 413
    assert put(one, session, 1, b"\x99", path, contract="0" * 64) == 409
    stranger = scene.as_peer("C", "B")
    digest = Contract.load(path).digest.hex()
    asked = {"contract": digest}
    assert stranger.call("POST", f"/v1/sessions/{secrets.token_hex(16)}", document=asked)[0] == 403, (
        "leads not"
    )
    assert one.call("POST", f"/v1/sessions/{secrets.token_hex(16)}", document=asked)[0] == 409, "another run"
    assert one.call("POST", f"/v1/sessions/{'z' * 32}", document=asked)[0] == 403
    assert one.call("POST", f"/v1/sessions/{session}", body=b"{" * 60_000)[0] == 400
    assert one.call("POST", f"/v1/sessions/{session}", body=b"{" * 70_000)[0] == 413
    for number in ("9" * 5000, "CANARY"):
        where = f"/v1/sessions/{session}/pieces/{number}"
        assert one.call("PUT", where, body=b"x") == (400, {"error": "not a request of this protocol"})
    stranger.close()
    log = scene.running["B"].said()
    for why in ("replayed, left out or reordered", "too long", "under another contract"):
        assert why in log
    assert '"peer": "A"' in log


def test_the_leader_ends_the_run_and_its_session_never_begins_again(
    joined: tuple[Scene, Caller, str, Path],
) -> None:
    scene, one, session, path = joined
    assert one.call("POST", f"/v1/sessions/{session}/end")[0] == 200
    found = over(scene.houses["B"])
    assert (found["state"], found["why"]) == ("failed", "A: has ended the run; nothing is published")
    assert put(one, session, 0, b"x", path) == 410
    digest = Contract.load(path).digest.hex()
    assert one.call("POST", f"/v1/sessions/{session}", document={"contract": digest})[0] == 410
    assert one.call("GET", f"/v1/releases/{session}")[0] == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"\xff" * 40, "A: sends a message of 18,446,744,073,709,551,615 bytes where"),
        ((30).to_bytes(8, "little") + b"Janitor,M,34,Y,Transgender,999", "A: sent something that is not"),
        (
            HEAD.size.to_bytes(8, "little")
            + HEAD.pack(MAGIC, NOUGHT + SPEAKS, b"s" * 16, b"c" * 32, 0, 1, 0, b"hello", 0),
            "A: sent a message of another session",
        ),
    ],
    ids=["length", "garbage", "session"],
)
def test_a_party_that_sends_garbage_is_named_and_nothing_of_it_is_logged(
    body: bytes, said: str, joined: tuple[Scene, Caller, str, Path]
) -> None:
    scene, one, session, path = joined
    assert put(one, session, 0, body, path) == 200
    found = over(scene.houses["B"])
    assert found["state"] == "failed"
    assert found["why"].startswith(said)
    nothing_left(scene.houses["B"], session)
    no_secrets(scene.running["B"])
