"""Key bundle of an identity, made by `pitlink keys` and copied to this machine."""

import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.floor.identities import (
    AUTHORITY_FILE,
    EVENT_GROUP_FILE,
    LOG_SECRETS_FILE,
    PASSWORD_FILE,
    REDIS_PASSWORD_FILE,
    REDIS_PEOPLE_PASSWORD_FILE,
    Identity,
)

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{32,128}")
"""Long enough that nobody can guess it, and without characters that have a meaning in MQTT topics.
"""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files for TLS: the trusted authority, and the identity's certificate and key, if any."""

    authority: Path
    certificate: Path | None
    key: Path | None

    def context(self) -> ssl.SSLContext:
        """Return the settings for a client.

        They trust only our own authority and check the host's name.

        Raises:
            UserError: a file cannot be read, or is not of the expected kind.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_verify_locations(cafile=self.authority)
        except OSError as error:
            raise UserError(f"{self.authority}: {_reason(error)}") from None
        if self.certificate is not None:
            try:
                # Our keys have no passphrase. For a key with one, OpenSSL would wait at a terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
            except OSError as error:
                raise UserError(f"{self.certificate} or its key: {_reason(error)}") from None
        return context


@dataclass(frozen=True, slots=True)
class KeyBundle:
    """The files of an identity; only the authority's certificate is required."""

    party: Identity
    directory: Path

    @classmethod
    def of(cls, keys: Path, identity: Identity) -> "KeyBundle":
        """Return an identity's bundle in the directory of keys.

        Raises:
            UserError: it is missing.
        """
        directory = keys / identity.place
        if not (directory / AUTHORITY_FILE).is_file():
            raise UserError(
                f"there are no keys in {directory}: `pitlink keys` makes them; copy"
                f" {identity.place} of them to this machine"
            )
        return cls(identity, directory)

    def tls_files(self) -> TlsFiles:
        """Return the files for TLS.

        Raises:
            UserError: there is a certificate without its key.
        """
        authority = self.directory / AUTHORITY_FILE
        certificate = self.directory / f"{self.party.stem}.crt"
        if not certificate.is_file():
            return TlsFiles(authority, None, None)
        key = self.directory / f"{self.party.stem}.key"
        if not key.is_file():
            raise UserError(f"{certificate} exists without its key {key}")
        return TlsFiles(authority, certificate, key)

    def password(self) -> str | None:
        """Return the password for the broker, or None if there is none.

        Raises:
            UserError: it cannot be read.
        """
        return self._secret(PASSWORD_FILE)

    def redis_password(self) -> str | None:
        """Return the password for Redis, or None if there is none.

        Raises:
            UserError: it cannot be read.
        """
        return self._secret(REDIS_PASSWORD_FILE)

    def redis_people_password(self) -> str | None:
        """Return the password of the Redis user that keeps users and operators' log, or None.

        Raises:
            UserError: it cannot be read.
        """
        return self._secret(REDIS_PEOPLE_PASSWORD_FILE)

    def event_group(self) -> str | None:
        """Return the name by which services share the tables' events, or None if there is none.

        Raises:
            UserError: it cannot be read, or is not such a name.
        """
        found = self._secret(EVENT_GROUP_FILE)
        if found is not None and _SECRET.fullmatch(found) is None:
            raise UserError(
                f"{self.directory / EVENT_GROUP_FILE} does not contain a group name of at"
                " least 32 letters, digits, - and _: `pitlink keys` makes one"
            )
        return found

    def log_secrets(self) -> Sequence[str]:
        """Return the secrets for the MACs of the operators' log, the newest first.

        Raises:
            UserError: they cannot be read.
        """
        path = self.directory / LOG_SECRETS_FILE
        return read_secrets(path) if path.is_file() else ()

    def _secret(self, name: str) -> str | None:
        path = self.directory / name
        return read_secret(path) if path.is_file() else None


def read_secret(path: Path) -> str:
    """Return the single line of a file that contains a password.

    Raises:
        UserError: it cannot be read, or is not one line. The message does not show its contents.
    """
    text = _read(path)
    if not text or not text.isprintable():
        raise UserError(f"{path} does not contain one line with a password")
    return text


def read_secrets(path: Path) -> Sequence[str]:
    """Return the lines of a file that contains secrets.

    Raises:
        UserError: it cannot be read, or has other lines. The message does not show its contents.
    """
    lines = _read(path).splitlines()
    if not lines or not all(_SECRET.fullmatch(line) for line in lines):
        raise UserError(
            f"{path} does not contain lines of at least 32 letters, digits, - and _: `pitlink keys`"
            " makes them"
        )
    return lines


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return why a file cannot be used, without any of its contents."""
    if isinstance(error, ssl.SSLError):
        return f"is not a PEM file of the expected kind ({error.reason or 'unreadable'})"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return "is not UTF-8 text"
