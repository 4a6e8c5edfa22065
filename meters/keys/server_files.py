"""Configuration files of mosquitto and Redis: TLS, and their users with passwords and rights."""

import base64
import contextlib
import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from meters.floor.floor_file import Floor
from meters.floor.key_bundle import DISPLAY, service_identity, table_identity
from meters.store.credentials import (
    ARCHIVE_USER,
    AUDIT_USER,
    REDIS_USER,
    REPLICA_USER,
    SENTINEL_USER,
    USERS_REDIS_USER,
)
from meters.store.slip_register import SLIPS_TAG
from meters.store.user_keys import USERS_TAG
from meters.wire import topics

_ROUNDS: Final = 1_000
"""Rounds of the password hash.

A few rounds are enough: the passwords have 256 random bits, so nobody can guess them.
"""
_SALT_BYTES: Final = 12
"""The length of a salt that mosquitto 2.0 accepts."""
_HASH_PARTS: Final = 5
"""A hash has these parts between dollar signs: empty, method, rounds, salt, digest."""


def broker_access_list(floor: Floor, services: int) -> str:
    """Return the broker's access list. A client that is not listed has no rights (duty D20).

    A client that may read a topic may also subscribe to it, even in a shared subscription. `pitlink
    check` is not listed, because it needs no rights.
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


def broker_passwords(passwords: Mapping[str, str], before: str) -> str:
    """Return mosquitto's password file. Each line has a user and a PBKDF2-SHA512 hash.

    If a password is unchanged, its line in the file `before` stays.
    """
    hashes = dict(line.split(":", 1) for line in before.splitlines() if ":" in line)
    return "".join(
        f"{user}:{_hash_of(password, hashes.get(user, ''))}\n"
        for user, password in passwords.items()
    )


def _hash_of(password: str, before: str) -> str:
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


def broker_listeners(home: Path) -> str:
    """Return mosquitto's TLS listeners: one for client certificates, and one for passwords."""
    common = f"""\
cafile {home}/ca.crt
certfile {home}/broker.crt
keyfile {home}/broker.key
# A new client disconnects an older client of the same name, so each client's name is its user name.
use_username_as_clientid true"""
    return f"""\
# Written by `pitlink keys` once; change it as you like. deploy/mosquitto.conf includes it.
# The paths are those on the broker's machine. `pitlink keys --broker-home DIRECTORY` writes others.
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


_EVERYBODY: Final = (
    # Commands for the connection, and for the check of Redis's health.
    "auth", "hello", "ping", "select", "client|setname", "config|get", "info",
    # Commands that find the primary, and that wait for replicas.
    "cluster|slots", "role", "wait",
    # Commands for Lua scripts and transactions. These can use only their user's commands.
    "evalsha", "script|load", "script|exists", "multi", "exec",
    # Commands for the data of links and for the data of users.
    "del", "exists", "set", "time",
    "hdel", "hget", "hgetall", "hincrby", "hmget", "hset",
    "xadd", "xrange", "xrevrange",
    "zadd", "zcard", "zrange", "zrem", "zremrangebyscore", "zrevrangebyscore", "zscore",
)  # fmt: skip

COMMANDS: Final = (*_EVERYBODY, "hexists", "hlen", "zcount", "zrevrangebylex")
"""All Redis commands that the service uses on the data of links.

No command can empty a database or change a setting.
"""

USERS_COMMANDS: Final = (*_EVERYBODY, "pexpire", "pttl", "sadd", "scard", "smembers", "srem")
"""All Redis commands that the service uses on users, sessions and the operators' log."""

ARCHIVE_COMMANDS: Final = (*COMMANDS, "xtrim")
"""The commands of the service, and a command that deletes archived entries."""

AUDIT_COMMANDS: Final = (
    "auth", "hello", "ping", "select", "client|setname", "cluster|slots", "role", "multi", "exec",
    "exists", "hget", "hgetall", "hmget", "xrange", "xrevrange",
    "zcard", "zcount", "zrange", "zrevrangebyscore", "zscore",
)  # fmt: skip
"""All Redis commands that a service's auditor uses. None of them changes anything."""

_REPLICA_COMMANDS: Final = ("psync", "replconf", "ping")
_SENTINEL_COMMANDS: Final = (
    "multi", "exec", "ping", "info", "role", "publish", "subscribe", "slaveof", "replicaof",
    "config|rewrite", "client|setname", "client|kill", "script|kill",
)  # fmt: skip

_LINK_KEYS: Final = ("pitlink:{[^@]*", "pitlink:probe")
"""Patterns for all Redis keys of links, and the key of a test write that replicas must confirm.

No link's id begins with @, so the first pattern covers only links. The second is for Sentinel.
"""
_BOOKS_KEYS: Final = (*_LINK_KEYS, f"pitlink:{{{SLIPS_TAG}}}:*")
_USERS_KEYS: Final = (f"pitlink:{{{USERS_TAG}}}:*",)

_NOBODY: Final = "user default off resetpass ~* &* +@all"
"""Redis user of clients that have not signed in. The user is off, so nobody can use it.

It has all rights but no password. When Redis starts, it reads its append-only file as this user. If
the user lacked a right, Redis would skip commands, and data could be lost.
"""

REPLICA_ACCESS: Final = "replica-access.conf"
SENTINEL_ACCESS: Final = "sentinel-access.conf"

_OURS: Final = frozenset(
    {"default", REDIS_USER, USERS_REDIS_USER, AUDIT_USER, ARCHIVE_USER, REPLICA_USER, SENTINEL_USER}
)


def redis_users(
    *,
    books: Sequence[str],
    users: Sequence[str],
    audit: Sequence[str],
    archive: str,
    replica: str | None = None,
    sentinel: str | None = None,
    before: str = "",
) -> str:
    """Return the file of Redis users, with the hashes of their passwords (duty D20).

    The file has the Redis users of pitlink, and the facility's users in the file `before`.
    ``books``, ``users`` and ``audit`` have a password for each service: ``books`` for the data of
    links, ``users`` for pitlink's users and the operators' log, ``audit`` for the auditor. The
    users of replicas and sentinels may use no Redis key.
    """
    lines = [
        _NOBODY,
        _user(REDIS_USER, _BOOKS_KEYS, COMMANDS, books),
        _user(USERS_REDIS_USER, _USERS_KEYS, USERS_COMMANDS, users),
        _user(AUDIT_USER, _BOOKS_KEYS, AUDIT_COMMANDS, audit),
        _user(ARCHIVE_USER, _LINK_KEYS, ARCHIVE_COMMANDS, [archive]),
    ]
    if replica is not None:
        lines.append(_user(REPLICA_USER, (), _REPLICA_COMMANDS, [replica]))
    if sentinel is not None:
        # Sentinels find each other through a channel.
        of_sentinel = _user(SENTINEL_USER, (), _SENTINEL_COMMANDS, [sentinel])
        lines.append(of_sentinel.replace("resetchannels", "allchannels"))
    lines += (line for line in before.splitlines() if _is_of_facility(line))
    return "\n".join(lines) + "\n"


def _user(name: str, keys: Sequence[str], commands: Sequence[str], passwords: Sequence[str]) -> str:
    hashed = (f"#{hashlib.sha256(each.encode()).hexdigest()}" for each in passwords)
    may = " ".join([*(f"+{command}" for command in commands), *hashed])
    patterns = "".join(f" ~{pattern}" for pattern in keys)
    return f"user {name} on{patterns} resetchannels -@all {may}"


def _is_of_facility(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0] == "user" and words[1] not in _OURS


def redis_tls(home: Path) -> str:
    """Return the settings with which Redis accepts only pitlink's users, over TLS."""
    return f"""\
# Written by `pitlink keys` once; change it as you like. deploy/redis.conf includes it.
# The paths are those on Redis's machine. `pitlink keys --redis-home DIRECTORY` writes others.
port 0
tls-port 6379
tls-cert-file "{home}/redis.crt"
tls-key-file "{home}/redis.key"
tls-ca-cert-file "{home}/ca.crt"
tls-auth-clients yes
tls-protocols "TLSv1.2 TLSv1.3"
aclfile "{home}/users.acl"
"""


def replica_access_text(password: str) -> str:
    return f"""\
# Written by `pitlink keys`. deploy/redis/replicated.conf includes it.
tls-replication yes
masteruser {REPLICA_USER}
masterauth {password}
"""


def sentinel_access_text(service: str, at_redis: str, at_sentinels: str) -> str:
    """Return the settings for a sentinel's sign-in at Redis, and for sign-ins at this sentinel.

    `service` is the sentinels' name for the Redis. `at_sentinels` is the password of services,
    commands and other sentinels at a sentinel.
    """
    return f"""\
# Written by `pitlink keys`. deploy/redis/sentinel.conf includes it.
sentinel auth-user {service} {SENTINEL_USER}
sentinel auth-pass {service} {at_redis}
requirepass {at_sentinels}
sentinel sentinel-pass {at_sentinels}
"""
