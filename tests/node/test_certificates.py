"""Who a node is to its peers: authorities, invitations, and nobody who speaks for another."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from tests.node.nodes import houses

from privet.cli import main
from privet.errors import InputError, PolicyError
from privet.node import certificates
from privet.node.faces import Faces
from privet.node.house import House, Peer, made


def known(found: dict[str, House]) -> dict[str, tuple[str, str]]:
    return {name: (house.me().authority, house.url) for name, house in found.items()}


def test_a_certificate_is_of_its_own_node_only(tmp_path: Path) -> None:
    found = houses(tmp_path)
    for name, house in found.items():
        assert certificates.whose(certificates.own(house.folder), known(found)) == name


def test_a_renewed_certificate_is_of_the_same_node_and_nobody_is_told(tmp_path: Path) -> None:
    found = houses(tmp_path)
    before = certificates.own(found["B"].folder)
    assert main(["node", "renew", "--node", str(found["B"].folder)]) == 0
    after = certificates.own(found["B"].folder)
    assert after != before
    assert certificates.whose(after, known(found)) == "B"


def test_no_authority_speaks_for_another_node(tmp_path: Path) -> None:
    """B's own authority issues a certificate for C's host: it is nobody's."""
    for name, host in (("B", "b.example"), ("C", "c.example")):
        made(tmp_path / name, name=name, url=f"https://{host}:8471")
    found = {name: House.load(tmp_path / name) for name in ("B", "C")}
    certificates.issue(found["B"].folder, "C", found["C"].url)
    assert certificates.whose(certificates.own(found["B"].folder), known(found)) is None


def test_a_certificate_that_ran_out_is_nobodys_and_its_owner_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = houses(tmp_path)
    monkeypatch.setattr(certificates, "DAYS", 0)
    monkeypatch.setattr(certificates, "EARLY", timedelta(days=2))
    folder = found["B"].folder
    certificates.issue(folder, "B", found["B"].url)
    with pytest.raises(InputError, match=r"has run out; `privet node renew`"):
        certificates.own(folder)
    # A node whose own ran out while it serves still says who others are, and that it is nobody itself.
    pem = (folder / certificates.CERTIFICATE).read_bytes()
    der = x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)
    assert certificates.whose(der, known(found)) is None
    for shown, who in ((certificates.own(found["A"].folder), "A"), (der, None)):
        request = SimpleNamespace(state=SimpleNamespace(visitor=SimpleNamespace(certificate=shown)))
        assert Faces(found["B"]).who(request) == who


def test_who_is_known_is_who_is_invited_now(tmp_path: Path) -> None:
    found, other = houses(tmp_path, ("A", "B")), houses(tmp_path / "new", ("B",))["B"]
    faces, place = Faces(found["A"]), found["A"].folder / "peers" / "B.toml"

    def who(house: House) -> str | None:
        shown = SimpleNamespace(certificate=certificates.own(house.folder))
        return faces.who(SimpleNamespace(state=SimpleNamespace(visitor=shown)))

    assert [who(one) for one in (found["A"], found["B"], other)] == ["A", "B", None]
    found["A"].accept(tmp_path / "new" / "B.invitation.toml", overwrite=True)
    assert [who(one) for one in (found["A"], found["B"], other)] == ["A", None, "B"]
    place.write_text("not an invitation")
    assert [who(one) for one in (found["A"], found["B"], other)] == ["A", None, None]
    place.unlink()
    assert [who(one) for one in (found["A"], found["B"], other)] == ["A", None, None]


@pytest.mark.parametrize("shown", [b"", b"garbage", b"\x30\x82" + b"\0" * 40])
def test_what_is_not_a_certificate_is_nobodys(shown: bytes, tmp_path: Path) -> None:
    assert certificates.whose(shown, known(houses(tmp_path, ("A",)))) is None


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    houses(tmp_path, ("A",))
    for name in ("authority.key", "node.key", "sign.key", "node.toml"):
        assert (tmp_path / "A" / name).stat().st_mode & 0o077 == 0, name
    assert (tmp_path / "A").stat().st_mode & 0o077 == 0


def test_a_certificate_of_the_organisation(tmp_path: Path) -> None:
    """Instead of an authority of its own: what issued it goes into the invitation."""
    there = houses(tmp_path, ("office",))["office"].folder
    given = [there / name for name in ("node.pem", "node.key", "authority.pem")]
    port = House.load(there).port
    words = ["--certificate", str(given[0]), "--certificate-key", str(given[1]), "--authority", str(given[2])]
    node = str(tmp_path / "north")
    asked = ["node", "init", "--name", "north", "--address", f"127.0.0.1:{port}", "--node", node]
    assert main([*asked, *words[:2]]) == 2
    assert main([*asked, *words]) == 0
    house = House.load(tmp_path / "north")
    assert certificates.whose(certificates.own(house.folder), known({"north": house})) == "north"
    with pytest.raises(InputError, match="no authority of its own"):
        certificates.issue(house.folder, house.name, house.url)


def test_a_changed_invitation_is_not_accepted_silently(tmp_path: Path) -> None:
    found = houses(tmp_path, ("A", "B"))
    other = Peer("B", "https://127.0.0.1:1", found["B"].me().key, found["B"].me().authority)
    path = tmp_path / "B.invitation.toml"
    path.write_text(other.to_text())
    with pytest.raises(InputError, match="compare the fingerprint"):
        found["A"].accept(path)
    assert found["A"].accept(path, overwrite=True) == other


def test_the_fingerprint_is_the_same_at_both_desks_and_another_when_any_line_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever changes an invitation on the way keeps the authority and changes what stands beside it."""
    found = houses(tmp_path, ("A", "B"))
    sent, node = tmp_path / "sent.toml", ["node", "invite", "--json", "--node"]

    def shown(*words: str) -> str:
        assert main([*node, *words]) == 0
        return str(json.loads(capsys.readouterr().out)["fingerprint"])

    here = shown(str(tmp_path / "B"), "-o", str(sent))
    others = replace(houses(tmp_path / "evil", ("B",))["B"].me(), name="D", relay="hub")
    heard = {here}
    for changed in (None, "name", "url", "key", "authority", "relay"):
        (tmp_path / "A" / "peers" / "B.toml").unlink(missing_ok=True)
        one = found["B"].me()
        if changed is not None:
            one = replace(one, **{changed: getattr(others, changed)})
            sent.write_text(one.to_text())
        heard.add(shown(str(tmp_path / "A"), "--accept", str(sent)))
        (tmp_path / "A" / "peers" / f"{one.name}.toml").unlink()
    assert len(heard) == 6
    words = ["node", "init", "--json", "--name", "E", "--address", "e.test:1", "--node", str(tmp_path / "E")]
    sent.write_text(found["B"].me().to_text())
    assert main([*words, "--relay", str(sent)]) == 0
    assert json.loads(capsys.readouterr().out)["relay_fingerprint"] == here
    # A certificate is renewed under the same authority: the invitation is the one that peers have.
    assert main(["node", "renew", "--node", str(tmp_path / "B")]) == 0
    capsys.readouterr()
    assert shown(str(tmp_path / "B"), "-o", str(tmp_path / "again.toml")) == here


@pytest.mark.parametrize("beside", ["after", "before", "remark", "trusted"])
def test_an_authority_is_one_certificate_and_nothing_beside_it(beside: str, tmp_path: Path) -> None:
    """TLS would trust whatever else stands there."""
    house, evil = houses(tmp_path, ("A", "B"))["A"], houses(tmp_path / "evil", ("B",))["B"].me().authority
    place = house.folder / "peers" / "B.toml"
    true = house.peers()["B"].authority
    changed = {
        "after": true + evil,
        "before": evil + true,
        "remark": f"a remark\n{true}",
        "trusted": true + evil.replace("CERTIFICATE", "TRUSTED CERTIFICATE"),
    }[beside]
    text = place.read_text().replace(true, changed)
    assert text != place.read_text()
    sent = tmp_path / "sent.toml"
    sent.write_text(text)
    with pytest.raises(PolicyError, match="one certificate as PEM, and nothing beside it"):
        house.accept(sent, overwrite=True)
    place.write_text(text)  # as an older version has accepted it
    with pytest.raises(PolicyError, match="one certificate as PEM, and nothing beside it"):
        house.peers()


def test_an_organisations_file_may_have_remarks_and_no_second_certificate(tmp_path: Path) -> None:
    there = houses(tmp_path, ("office", "root"))
    given = [there["office"].folder / name for name in ("node.pem", "node.key", "authority.pem")]
    issued: Any = tuple(given)
    authority = there["office"].me().authority
    given[2].write_text(f"subject=the office\n{authority}")
    made(tmp_path / "north", name="north", url="https://127.0.0.1:1", issued=issued)
    assert House.load(tmp_path / "north").me().authority == authority
    given[2].write_text(authority + there["root"].me().authority)
    with pytest.raises(InputError, match="is not one certificate"):
        made(tmp_path / "south", name="south", url="https://127.0.0.1:1", issued=issued)
    assert not (tmp_path / "south").exists()


@pytest.mark.parametrize(
    "text",
    ["", "invitation = 2", "x", 'invitation = 1\nname = "B"\nurl = "u"\nkey = "k"\nauthority = "a"'],
    ids=["empty", "version", "words", "garbage"],
)
def test_what_is_not_an_invitation(text: str, tmp_path: Path) -> None:
    house = houses(tmp_path, ("A",))["A"]
    path = tmp_path / "some.toml"
    path.write_text(text)
    with pytest.raises(PolicyError):
        house.accept(path)


@pytest.mark.parametrize(
    "address", ["", "host", "host:port", "host:99999", "user@host:1", "host:1/path", "host:0"]
)
def test_an_address_is_a_host_and_a_port(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["node", "init", "--name", "north", "--address", address, "--node", str(tmp_path / "n")]
    assert main(asked) == 2
    assert "HOST:PORT" in capsys.readouterr().err
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("node = 1", "node = 2"), "has node = 1"),
        (("grace = 1", 'grace = "long"'), "numbers of seconds"),
        (("grace = 1", "patience2 = 3"), "and no more"),
        (("listen = ", 'listen = "nowhere"\n#'), "HOST:PORT"),
    ],
)
def test_a_wrong_node_file_says_what_is_wrong(change: Any, said: str, tmp_path: Path) -> None:
    house = houses(tmp_path, ("A",))["A"]
    form = house.folder / "node.toml"
    form.write_text(form.read_text().replace(*change))
    with pytest.raises(PolicyError, match=said):
        House.load(house.folder)


def test_a_node_is_never_replaced(tmp_path: Path) -> None:
    houses(tmp_path, ("A",))
    with pytest.raises(InputError, match="a node is never replaced"):
        made(tmp_path / "A", name="A", url="https://127.0.0.1:1")


def test_two_nodes_that_nobody_could_tell_apart_are_refused(tmp_path: Path) -> None:
    """One authority of an organisation, two nodes on one host: a peer would pass for another, or for us."""
    found = houses(tmp_path, ("A", "B"))
    for like in ("A", "B"):
        twin = replace(found[like].me(), name="twin", url="https://127.0.0.1:1")
        path = tmp_path / "twin.toml"
        path.write_text(twin.to_text())
        with pytest.raises(InputError, match=f"{like} has the same host and authority"):
            found["A"].accept(path)
