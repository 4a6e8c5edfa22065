"""Configuration files of mosquitto: access list, password hashes and listeners."""

import base64
import contextlib
import hashlib
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from meters.floor.floor_file import Floor
from meters.floor.key_bundle import DISPLAY, service_identity, table_identity
from meters.wire import topics

_ROUNDS: Final = 1_000
"""Rounds of the password hash.

A few are enough: the passwords have 256 random bits, so nobody can guess them.
"""
_SALT_BYTES: Final = 12
"""The length that mosquitto 2.0 accepts."""
_HASH_PARTS: Final = 5
"""Between dollar signs: empty, method, rounds, salt, digest."""


def access_list(floor: Floor, services: int) -> str:
    """Return the broker's access list. A client that is not listed has no rights (duty D20).

    Who may read a topic may also subscribe to it, even in a shared subscription. `pitlink check` is
    not listed, because it only connects.
    """
    every_link, every = "+", "+"
    blocks = [
        "# `pitlink keys` writes this file from the floor file each time.",
        *(
            _block(
                service_identity(number).username,
                reads=[
                    topics.EVERY_TABLE_OUT,
                    topics.EVERY_TABLE_STATUS,
                    topics.controller(every_link),
                    topics.meter(every_link, every),
                ],
                writes=[
                    topics.table_in(every_link, every),
                    topics.meter(every_link, every),
                    topics.controller(every_link),
                    topics.jackpot(every_link),
                    topics.ledger(every_link),
                    topics.OPERATORS_LOG,
                ],
            )
            for number in range(1, services + 1)
        ),
        _block(
            DISPLAY.username,
            reads=[
                topics.meter(every_link, every),
                topics.controller(every_link),
                topics.jackpot(every_link),
                topics.ledger(every_link),
                topics.OPERATORS_LOG,
                topics.EVERY_TABLE_STATUS,
            ],
        ),
        *(
            _block(
                table_identity(link.id, table.id).username,
                reads=[
                    topics.table_in(link.id, table.id),
                    topics.controller(link.id),
                    topics.jackpot(link.id),
                    *(topics.meter(link.id, meter) for meter in table.meters),
                ],
                writes=[
                    topics.table_out(link.id, table.id),
                    topics.table_status(link.id, table.id),
                ],
            )
            for link in floor.link
            for table in link.table
        ),
    ]
    return "\n".join(blocks)


def _block(user: str, *, reads: Iterable[str], writes: Iterable[str] = ()) -> str:
    lines = [
        f"user {user}",
        *(f"topic read {topic}" for topic in reads),
        *(f"topic write {topic}" for topic in writes),
    ]
    return "\n".join(lines) + "\n"


def password_lines(passwords: Mapping[str, str], before: str) -> str:
    """Return mosquitto's password file. Each line has a user and a PBKDF2-SHA512 hash.

    The line of an unchanged password in the file `before` remains, so a run that changes no
    password leaves the file unchanged.
    """
    hashes = dict(line.split(":", 1) for line in before.splitlines() if ":" in line)
    return "".join(
        f"{user}:{_hash_of(password, hashes.get(user, ''))}\n"
        for user, password in passwords.items()
    )


def _hash_of(password: str, before: str) -> str:
    """Return the hash before if it is of this password, or else a hash with a new salt."""
    parts = before.split("$")
    if len(parts) == _HASH_PARTS:
        with contextlib.suppress(ValueError):
            if _hashed(password, base64.b64decode(parts[3], validate=True)) == before:
                return before
    return _hashed(password, secrets.token_bytes(_SALT_BYTES))


def _hashed(password: str, salt: bytes) -> str:
    found = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _ROUNDS)
    encoded = (base64.b64encode(part).decode() for part in (salt, found))
    return "$".join(("", "7", str(_ROUNDS), *encoded))


def listeners(home: Path) -> str:
    """Return mosquitto's TLS listeners: one for client certificates, and one for passwords."""
    common = f"""\
cafile {home}/ca.crt
certfile {home}/broker.crt
keyfile {home}/broker.key
# A client with another's name would disconnect it, so each client's name is its user name.
use_username_as_clientid true"""
    return f"""\
# Written by `pitlink keys` once; change it as you like. deploy/mosquitto.conf includes it.
# Here the files are on the broker's machine; --broker-home DIRECTORY says that they are elsewhere.
allow_anonymous false
password_file {home}/passwords
acl_file {home}/acl

# By a client certificate, whose common name is the user.
listener 8883
{common}
require_certificate true
use_identity_as_username true
crlfile {home}/revoked.crl

# By user and password.
listener 8884
{common}
require_certificate false
"""
