"""Who vouches for a release: nothing of it can be changed under a signature, and no signature is moved."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import privet  # noqa: F401 - a fixture
from tests.forge.forging import evidence, refused, seal
from tests.forge.test_received import POLICY, RAW

import privet as pv
from privet.errors import InputError, TamperedError
from privet.evidence import signing
from privet.evidence.signing import Asked, PrivateKey

pytest.importorskip("cryptography")


@pytest.fixture
def key() -> PrivateKey:
    return PrivateKey.make("Office of Statistics")


@pytest.fixture
def out(tmp_path: Path, key: PrivateKey) -> Path:
    return pv.publish(RAW, pv.Policy.loads(POLICY)).write(tmp_path / "out", sign=key)


def test_a_signed_release_holds_for_who_asks(out: Path, key: PrivateKey) -> None:
    found = pv.verify(out, signers=Asked({key.public: "office"}))
    assert found.holds
    assert [(one.signature.signer, one.valid) for one in found.signed] == [("Office of Statistics", True)]
    assert "Office of Statistics" in (out / "report.html").read_text()


def test_another_key_does_not_do(out: Path) -> None:
    other = PrivateKey.make("other").public
    assert refused(out, signers=Asked({other: "the ministry"})) == ("not signed by the ministry",)
    assert refused(out, signers=Asked(some={other: ""})) == (
        "not signed by anybody on the list of allowed keys",
    )


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "report.html", "evidence.json"])
def test_nothing_changes_under_a_signature(name: str, out: Path, key: PrivateKey) -> None:
    """Whatever a forger makes fit: digests and report are made anew, the signature is not."""
    path = out / name
    if name == "evidence.json":
        seal(out, {**evidence(out), "made": "2020-01-01T00:00:00+00:00"})
    elif name == "policy.toml":
        path.write_text(path.read_text().replace("k = 5", "k = 4"))
        said = evidence(out)
        said["promises"][0]["model"]["k"] = 4
        seal(out, said)
    else:
        path.write_text(path.read_text() + "\n")
        seal(out, report=False)
    assert any("is not one of these files" in complaint for complaint in refused(out))


def test_a_weakened_policy_is_accepted_only_while_nobody_signed(tmp_path: Path, key: PrivateKey) -> None:
    """What digests alone cannot show, and why one signs."""
    out = pv.publish(RAW, pv.Policy.loads(POLICY)).write(tmp_path / "out")
    path = out / "policy.toml"
    path.write_text(path.read_text().replace("k = 5", "k = 4"))
    said = evidence(out)
    said["promises"][0]["model"]["k"] = 4
    said["measures"]["dimensionality"]["k"] = 4
    assert refused(seal(out, said)) == ()
    assert refused(out, signers=Asked({key.public: "office"}))


def test_a_signature_taken_away_is_missed(out: Path) -> None:
    (out / "signatures.json").unlink()
    assert any("Office of Statistics signed" in complaint for complaint in refused(out))


def test_a_signature_is_not_moved_to_another_release(out: Path, tmp_path: Path, key: PrivateKey) -> None:
    other = pv.publish(RAW.head(50), pv.Policy.loads(POLICY)).write(tmp_path / "other", sign=key)
    shutil.copyfile(out / "signatures.json", other / "signatures.json")
    assert refused(other)


@pytest.mark.parametrize("field", ["signer", "made", "key", "signature"])
def test_nothing_in_a_signature_can_be_changed(field: str, out: Path) -> None:
    path = out / "signatures.json"
    whole = json.loads(path.read_text())
    old = whole["signed"][0][field]
    if field in {"key", "signature"}:
        raw = bytearray(b64decode(old))
        raw[5] ^= 1
        old = b64encode(raw).decode()
    else:
        old += " "
    whole["signed"][0][field] = old
    path.write_text(json.dumps(whole, indent=1) + "\n")
    assert refused(out)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"signatures": 2, "signed": []}',
        '{"signatures": 1, "signed": [{}]}',
        '{"signatures": 1, "signed": [{"signer": 1, "key": "", "made": "", "signature": ""}]}',
        '{"signatures": 1, "signed": [], "eve": "hiv"}',
    ],
)
def test_what_is_not_a_signature_is_refused(text: str, out: Path) -> None:
    (out / "signatures.json").write_text(text)
    with pytest.raises(TamperedError, match="not signatures of version 1"):
        pv.verify(out)


def test_several_sign(out: Path, key: PrivateKey) -> None:
    other = PrivateKey.make("Auditor")
    signing.sign(out, other)
    signing.sign(out, other)  # again: it replaces the first
    assert pv.verify(out, signers=Asked({key.public: "", other.public: ""})).holds
    assert len(pv.verify(out).signed) == 2


def test_a_key_is_its_owners_alone(tmp_path: Path, key: PrivateKey) -> None:
    path, public = key.save(tmp_path / "office.key", b"correct horse")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert signing.public_key(str(public)) == key.public
    assert PrivateKey.load(path, b"correct horse").public == key.public
    for wrong in (None, b"battery staple"):
        with pytest.raises(InputError, match="passphrase"):
            PrivateKey.load(path, wrong)
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        PrivateKey.load(path, b"correct horse")
    with pytest.raises(InputError, match="never replaced"):
        key.save(tmp_path / "office.key")
    assert "secret" not in repr(key)


def test_openssl_reads_what_was_signed(out: Path, tmp_path: Path, key: PrivateKey) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    (one,) = signing.read(out)
    key.save(tmp_path / "k")
    (tmp_path / "m").write_bytes(signing.message(signing.digests(out), one.signer, one.made))
    (tmp_path / "s").write_bytes(b64decode(one.signature))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(tmp_path / "k.pub"), "-rawin"]
    subprocess.run([*command, "-in", str(tmp_path / "m"), "-sigfile", str(tmp_path / "s")], check=True)


def test_the_road_of_a_signature(privet: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.chdir(tmp_path)
    cli = privet
    RAW.write_csv(tmp_path / "raw.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    assert cli("key", "make", "-o", "office.key", "--name", "Office").code == 0
    assert cli("publish", "raw.csv", "policy.toml", "-o", "out", "--sign", "office.key").code == 0
    assert cli("key", "make", "-o", "auditor.key").code == 0
    assert cli("sign", "out", "--key", "auditor.key").code == 0
    both = cli("verify", "out", "--signer", "office.key.pub", "--signer", "auditor.key.pub")
    assert both.code == 0
    assert "signed by Office, key" in both.out
    line = cli("key", "make", "-o", "third.key", "--json").answer["key"] + " Third"
    (tmp_path / "allowed").write_text(line + "  # nobody yet\n")
    assert cli("verify", "out", "--allow", "allowed").code == 1
    assert cli("sign", "out", "--key", "third.key").code == 0
    assert cli("verify", "out", "--allow", "allowed").code == 0
    (tmp_path / "out" / "data.csv").write_text("age,zip,ill\n1,1,flu\n")
    assert cli("sign", "out", "--key", "third.key").code == 1


def test_unsigned_is_said(privet: Any, tmp_path: Path) -> None:  # noqa: F811
    pv.publish(RAW, pv.Policy.loads(POLICY)).write(tmp_path / "out")
    assert "unsigned: nobody vouches for it" in privet("verify", tmp_path / "out").out


def test_the_name_that_a_key_was_made_with_is_signed(tmp_path: Path) -> None:
    """It was said once, at `key make --name`, and the file's name was signed instead."""
    from privet.cli import main
    from privet.evidence.signing import PrivateKey

    (tmp_path / "secret").write_text("a passphrase", encoding="utf-8")
    for at, more in enumerate(([], ["--passphrase-file", str(tmp_path / "secret")])):
        place = tmp_path / f"k{at}.key"
        assert main(["key", "make", "-o", str(place), "--name", "Office für Statistik", *more]) == 0
        word = b"a passphrase" if more else None
        assert PrivateKey.load(place, word).name == "Office für Statistik"
        assert PrivateKey.load(place, word, "Deputy").name == "Deputy"
    plain = PrivateKey.make("x")
    plain.save(tmp_path / "plain.key")
    text = (tmp_path / "plain.key").read_bytes().split(b"\n", 1)[1]
    (tmp_path / "plain.key").write_bytes(text)  # as openssl makes one
    assert PrivateKey.load(tmp_path / "plain.key").name == "plain"
