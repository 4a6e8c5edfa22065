"""What Redis is told: its users, what each may do, and TLS."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from meters.keys.redis_access import ARCHIVE_USER, REDIS_USER

COMMANDS: Final = (
    # The connection, and the look at Redis's health.
    "auth", "hello", "ping", "select", "client|setname", "config|get", "info",
    # Where the primary is, and that its replicas have what it has.
    "cluster|slots", "role", "wait",
    # Scripts and transactions, which may do nothing that is not named here.
    "evalsha", "script|load", "script|exists", "multi", "exec",
    # The books and the people.
    "del", "exists", "set", "pexpire", "pttl", "time",
    "hdel", "hexists", "hget", "hgetall", "hincrby", "hmget", "hset",
    "sadd", "scard", "srem",
    "xadd", "xlen", "xrange", "xrevrange",
    "zadd", "zcard", "zrange", "zrem", "zremrangebyscore", "zrevrangebylex", "zrevrangebyscore",
    "zscore",
)  # fmt: skip
"""All that the service does with Redis. It can empty no database and change no setting."""

ARCHIVE_COMMANDS: Final = (*COMMANDS, "xtrim")
"""What `pitlink archive` does beside: it cuts off what is in the archive."""

_NOBODY: Final = "user default off resetpass ~* &* +@all"
"""The user of who has not said who he is: off and without a password, so nobody can be him.

He may do all, since Redis reads its append-only file in his name. What he may not do it leaves out
as it starts, up to the whole of the books.
"""

_OURS: Final = frozenset({"default", REDIS_USER, ARCHIVE_USER})


def users(passwords: Sequence[str], archives: str, before: str = "") -> str:
    """Redis's file of users: ours, with the hashes of its passwords, and nobody else (duty D20).

    Args:
        passwords: each worker's.
        archives: the one of `pitlink archive`.
        before: the file as it was: the lines of users whom the house added are kept.
    """
    lines = [
        _NOBODY,
        _user(REDIS_USER, COMMANDS, passwords),
        _user(ARCHIVE_USER, ARCHIVE_COMMANDS, [archives]),
        *(line for line in before.splitlines() if _user_of(line) not in {*_OURS, None}),
    ]
    return "\n".join(lines) + "\n"


def _user(name: str, commands: Sequence[str], passwords: Sequence[str]) -> str:
    hashed = (f"#{hashlib.sha256(each.encode()).hexdigest()}" for each in passwords)
    may = " ".join([*(f"+{command}" for command in commands), *hashed])
    return f"user {name} on ~pitlink:* resetchannels -@all {may}"


def _user_of(line: str) -> str | None:
    match line.split():
        case ["user", name, *_]:
            return name
    return None


_TLS: Final = """\
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


def tls(home: Path) -> str:
    """Redis's settings: TLS alone, clients with a certificate of the authority, our users."""
    return _TLS.format(home=home)
