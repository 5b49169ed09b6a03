"""Certificates: who a node is to its peers, from a small authority of its own or the organisation's.

`init` makes an authority that signs nothing but this node's certificates. A peer is told the authority's
certificate once, in an invitation; the node's own certificate is renewed under it and nobody has to be told.
Where an organisation has an authority already, its certificate goes into the invitation instead: the one that
issued the node's certificate.

Whoever connects must show a certificate that was issued by the authority of one invited peer *and* names the
host of that peer's address: no peer's authority can speak for another.

Trust: invitations are compared by another way than they are sent (`Peer.fingerprint`).
Leaks: the node's name and host, to whoever connects.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from privet.errors import InputError, MissingExtraError

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError:
    raise MissingExtraError("a node", "node") from None

AUTHORITY, AUTHORITY_KEY = "authority.pem", "authority.key"
CERTIFICATE, KEY = "node.pem", "node.key"
YEARS = 10  # of an authority
DAYS = 365  # of a node's certificate
EARLY = timedelta(minutes=5)  # clocks that differ a little
PARTIAL = getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000)


def make_authority(folder: Path, name: str) -> None:
    """A key and a certificate that issue this node's certificates."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"privet node authority of {name}")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLY)
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(sign_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write(folder / AUTHORITY_KEY, _pem(key), secret=True)
    _write(folder / AUTHORITY, made.public_bytes(serialization.Encoding.PEM))


def issue(folder: Path, name: str, url: str) -> x509.Certificate:
    """A new certificate of the node under its own authority; the old one is replaced."""
    try:
        authority = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
        signing = serialization.load_pem_private_key((folder / AUTHORITY_KEY).read_bytes(), None)
    except (OSError, ValueError):
        raise InputError(
            f"{folder}: this node has no authority of its own; ask the organisation's for a certificate, and "
            f"put it into {CERTIFICATE} with its key in {KEY}"
        ) from None
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLY)
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(sign_certificates=False), critical=True)
        .add_extension(x509.SubjectAlternativeName([_host_name(host_of(url))]), critical=False)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            critical=False,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()),  # type: ignore[arg-type]
            critical=False,
        )
        .sign(signing, hashes.SHA256())  # type: ignore[arg-type]
    )
    _write(folder / KEY, _pem(key), secret=True)
    _write(folder / CERTIFICATE, made.public_bytes(serialization.Encoding.PEM))
    return made


def own(folder: Path) -> bytes:
    """The node's certificate in DER form; a word where it has run out."""
    try:
        found = x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes())
    except (OSError, ValueError):
        raise InputError(
            f"{folder / CERTIFICATE}: is not a certificate; `privet node init` makes one"
        ) from None
    if found.not_valid_after_utc < datetime.now(UTC):
        raise InputError(f"{folder / CERTIFICATE}: has run out; `privet node renew` makes a new one")
    return found.public_bytes(serialization.Encoding.DER)


def valid_until(folder: Path) -> datetime:
    """When the node's certificate runs out."""
    return x509.load_der_x509_certificate(own(folder)).not_valid_after_utc


def digest(certificate: bytes) -> bytes:
    """What a certificate is known by: the SHA-256 of its DER form."""
    return hashlib.sha256(certificate).digest()


def sole(pem: str) -> str | None:
    """The one certificate of a text, in the one form that PEM is written in here; None unless it is one.

    TLS trusts every certificate that it is given, so nothing else may come along with an authority's.
    """
    try:
        found = x509.load_pem_x509_certificates(pem.encode())
    except ValueError:
        return None
    return found[0].public_bytes(serialization.Encoding.PEM).decode() if len(found) == 1 else None


def whose(certificate: bytes, peers: Mapping[str, tuple[str, str]]) -> str | None:
    """Which peer shows this certificate; `peers`: by name the authority's certificate and the address."""
    try:
        shown = x509.load_der_x509_certificate(certificate)
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return None
    now = datetime.now(UTC)
    if not shown.not_valid_before_utc <= now <= shown.not_valid_after_utc:
        return None
    for name, (authority, url) in peers.items():
        if _host_name(host_of(url)) in list(names) and _issued_by(shown, _parsed(authority)):
            return name
    return None


def _issued_by(shown: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        shown.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def serving(folder: Path, authorities: Sequence[str] = ()) -> ssl.SSLContext:
    """How a node is connected to: TLS 1.3, and only by who shows a certificate of one of these."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    return _armed(context, folder, authorities)


def connecting(folder: Path, authority: str) -> ssl.SSLContext:
    """How a node connects to one peer: TLS 1.3, under that peer's authority and no other."""
    return _armed(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), folder, [authority])


def _armed(context: ssl.SSLContext, folder: Path, authorities: Sequence[str]) -> ssl.SSLContext:
    """What a node shows and whom it accepts."""
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_flags |= ssl.VerifyFlags(PARTIAL)  # an issuing authority is trusted without its root
    try:
        context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    except OSError:
        raise InputError(f"{folder / CERTIFICATE}: is not a certificate with its key in {KEY}") from None
    if authorities:
        context.load_verify_locations(cadata="\n".join(authorities))
    return context


def host_of(url: str) -> str:
    return str(urlsplit(url).hostname or "")


def _host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _parsed(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, text: bytes, *, secret: bool = False) -> None:
    """A file that appears whole; a key for its owner alone."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
