"""The floor's certificate authority. It signs certificates of servers and clients, and revocations.

Keys are ECDSA on P-256. Each key and each certificate is a PEM file.
"""

import contextlib
import datetime
import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from bonus.errors import UserError

AUTHORITY_DAYS: Final = 3_650
CERTIFICATE_DAYS: Final = 730
_BEFORE: Final = datetime.timedelta(hours=1)
"""The validity of a certificate begins this long before it is made: machines' clocks differ."""
_NAME_MAX: Final = 64
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?")
_USAGE: Final = dict.fromkeys(
    (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
        "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ),
    False,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Issued:
    """A private key and its certificate, as PEM."""

    key: bytes
    certificate: bytes


@dataclass(frozen=True, slots=True)
class Authority:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def found(cls, facility: str) -> tuple[Self, Issued]:
        """Make an authority. It cannot sign the certificate of another authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name(
            [
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, facility[:_NAME_MAX]),
                x509.NameAttribute(NameOID.COMMON_NAME, "pitlink authority"),
            ]
        )
        usage = x509.KeyUsage(**_USAGE | {"key_cert_sign": True, "crl_sign": True})
        built = (
            _begun(name, key.public_key(), AUTHORITY_DAYS)
            .issuer_name(name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(key, built), Issued(_pem_of(key), built.public_bytes(_PEM))

    @classmethod
    def read(cls, issued: Issued) -> Self:
        try:
            key = serialization.load_pem_private_key(issued.key, password=None)
            certificate = x509.load_pem_x509_certificate(issued.certificate)
        except (ValueError, TypeError):
            raise UserError("the authority's key or its certificate is not a PEM file") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise UserError("the authority's key is not an ECDSA key")
        if key.public_key() != certificate.public_key():
            raise UserError("the authority's key does not match its certificate")
        return cls(key, certificate)

    def issue(
        self,
        name: str,
        hosts: Sequence[str] = (),
        *,
        calls_others: bool = False,
        replaces: x509.Certificate | None = None,
    ) -> Issued:
        """Return a new key and certificate for a server on `hosts`; without hosts, for a client.

        `name` is the user name at the broker. With `calls_others`, the server is also a client of
        other servers, as Redis replicas are. The certificate keeps all names and addresses of the
        certificate that it `replaces`, because clients can still use them.
        """
        uses = [ExtendedKeyUsageOID.SERVER_AUTH] if hosts else []
        if calls_others or not hosts:
            uses.append(ExtendedKeyUsageOID.CLIENT_AUTH)
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            _begun(subject, key.public_key(), CERTIFICATE_DAYS)
            .issuer_name(self.certificate.subject)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(**_USAGE | {"digital_signature": True}), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(signer, critical=False)
        )
        if hosts:
            names = dict.fromkeys([*map(_general_name, hosts), *_names_in(replaces)])
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        built = builder.sign(self.key, hashes.SHA256())
        return Issued(_pem_of(key), built.public_bytes(_PEM))

    def sign_revocation_list(self, serials: Iterable[int]) -> bytes:
        """Return a signed PEM list of revoked certificates.

        The list expires only with the authority, because a broker with an expired list accepts no
        client.
        """
        now = _now()
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self.certificate.subject)
            .last_update(now - _BEFORE)
            .next_update(self.certificate.not_valid_after_utc)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
        )
        for serial in serials:
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()
            )
        return builder.sign(self.key, hashes.SHA256()).public_bytes(_PEM)


_PEM: Final = serialization.Encoding.PEM


def _begun(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = _now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _general_name(host: str) -> x509.GeneralName:
    with contextlib.suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(host))
    if _HOST.fullmatch(host) is None:
        raise UserError(f"{host!r} is not a host name or an address")
    return x509.DNSName(host)


def _names_in(certificate: x509.Certificate | None) -> Iterable[x509.GeneralName]:
    if certificate is None:
        return ()
    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
