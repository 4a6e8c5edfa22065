"""Configuration files of Redis: TLS, and the Redis users with their rights."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.books.slip_numbers import SLIPS_TAG
from meters.redis_client.credentials import (
    ARCHIVE_USER,
    REDIS_USER,
    REPLICA_USER,
    SENTINEL_USER,
    USERS_REDIS_USER,
)
from meters.redis_client.user_keys import USERS_TAG

_EVERYBODY: Final = (
    # Commands for the connection, and for the check of Redis's health.
    "auth", "hello", "ping", "select", "client|setname", "config|get", "info",
    # Commands that find the primary, and that wait for replicas.
    "cluster|slots", "role", "wait",
    # Commands for Lua scripts and transactions. These can use only commands of this list.
    "evalsha", "script|load", "script|exists", "multi", "exec",
    # Commands for the data of links and for the data of users.
    "del", "exists", "set", "time",
    "hdel", "hget", "hgetall", "hincrby", "hmget", "hset",
    "xadd", "xrange", "xrevrange",
    "zadd", "zcard", "zrange", "zrem", "zremrangebyscore", "zrevrangebyscore", "zscore",
)  # fmt: skip

COMMANDS: Final = (*_EVERYBODY, "hexists", "hlen", "zcount", "zrevrangebylex")
"""All Redis commands that the service uses on the data of links.

None of them can empty a database or change a setting.
"""

USERS_COMMANDS: Final = (*_EVERYBODY, "pexpire", "pttl", "sadd", "scard", "smembers", "srem")
"""All Redis commands that the service uses on users, sessions and the operators' log."""

ARCHIVE_COMMANDS: Final = (*COMMANDS, "xtrim")
"""Those of the service, and one that deletes archived entries."""

_REPLICA_COMMANDS: Final = ("psync", "replconf", "ping")
_SENTINEL_COMMANDS: Final = (
    "multi", "exec", "ping", "info", "role", "publish", "subscribe", "slaveof", "replicaof",
    "config|rewrite", "client|setname", "client|kill", "script|kill",
)  # fmt: skip

_LINK_KEYS: Final = ("pitlink:{[^@]*", "pitlink:probe")
"""Patterns for all Redis keys of links, and for the small write that replicas confirm.

No link's id begins with @, so the first pattern covers only links. Replicas confirm under Sentinel.
"""
_BOOKS_KEYS: Final = (*_LINK_KEYS, f"pitlink:{{{SLIPS_TAG}}}:*")
_USERS_KEYS: Final = (f"pitlink:{{{USERS_TAG}}}:*",)

_NOBODY: Final = "user default off resetpass ~* &* +@all"
"""Redis user of clients that have not signed in. It is off, so nobody can use it.

It has all rights but no password. When Redis starts, it reads its append-only file as this user,
and would skip every command that this user is not allowed to run, so data could be lost.
"""

REPLICA_ACCESS: Final = "replica-access.conf"
SENTINEL_ACCESS: Final = "sentinel-access.conf"

_OURS: Final = frozenset(
    {"default", REDIS_USER, USERS_REDIS_USER, ARCHIVE_USER, REPLICA_USER, SENTINEL_USER}
)


@dataclass(frozen=True, slots=True)
class RedisPasswords:
    """Passwords of pitlink's Redis users.

    ``books`` and ``users`` have one for each worker, for the data of links, and for pitlink's users
    and the operators' log. ``replica`` is that of a replica at the primary, and ``sentinel`` that
    of a sentinel at the Redis servers.
    """

    books: Sequence[str]
    users: Sequence[str]
    archive: str
    replica: str | None = None
    sentinel: str | None = None


def users(passwords: RedisPasswords, before: str = "") -> str:
    """Return the file of Redis users, with the hashes of their passwords (duty D20).

    It has the Redis users of pitlink, and those of the facility in the file `before`.
    """
    lines = [
        _NOBODY,
        _user(REDIS_USER, _BOOKS_KEYS, COMMANDS, passwords.books),
        _user(USERS_REDIS_USER, _USERS_KEYS, USERS_COMMANDS, passwords.users),
        _user(ARCHIVE_USER, _LINK_KEYS, ARCHIVE_COMMANDS, [passwords.archive]),
        *_server_users(passwords),
        *(line for line in before.splitlines() if _is_of_facility(line)),
    ]
    return "\n".join(lines) + "\n"


def _server_users(passwords: RedisPasswords) -> Iterator[str]:
    """Yield the users of the Redis servers and sentinels. They have access to no key."""
    if passwords.replica is not None:
        yield _user(REPLICA_USER, (), _REPLICA_COMMANDS, [passwords.replica])
    if passwords.sentinel is not None:
        sentinel = _user(SENTINEL_USER, (), _SENTINEL_COMMANDS, [passwords.sentinel])
        # Sentinels find each other by a channel.
        yield sentinel.replace("resetchannels", "allchannels")


def _user(name: str, keys: Sequence[str], commands: Sequence[str], passwords: Sequence[str]) -> str:
    hashed = (f"#{hashlib.sha256(each.encode()).hexdigest()}" for each in passwords)
    may = " ".join([*(f"+{command}" for command in commands), *hashed])
    patterns = "".join(f" ~{pattern}" for pattern in keys)
    return f"user {name} on{patterns} resetchannels -@all {may}"


def _is_of_facility(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0] == "user" and words[1] not in _OURS


def tls(home: Path) -> str:
    """Return the settings with which Redis accepts only users of pitlink, over TLS."""
    return f"""\
# Written by `pitlink keys` once; change it as you like. deploy/redis.conf includes it.
# Here the files are on Redis's machine; --redis-home DIRECTORY says that they are elsewhere.
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
    """Return the settings with which a sentinel signs in, and others sign in at the sentinel.

    `service` is the sentinels' name for the Redis. `at_redis` is the password of a sentinel at the
    Redis servers, and `at_sentinels` that of services, commands and other sentinels at a sentinel.
    """
    return f"""\
# Written by `pitlink keys`. deploy/redis/sentinel.conf includes it.
sentinel auth-user {service} {SENTINEL_USER}
sentinel auth-pass {service} {at_redis}
requirepass {at_sentinels}
sentinel sentinel-pass {at_sentinels}
"""
