"""What Redis is told: its users, what each may do, and TLS."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.books.slip_numbers import SLIPS_TAG
from meters.redis_client.credentials import ARCHIVE_USER, PEOPLE_USER, REDIS_USER
from meters.redis_client.user_keys import PEOPLE_TAG

_EVERYBODY: Final = (
    # The connection, and the look at Redis's health.
    "auth", "hello", "ping", "select", "client|setname", "config|get", "info",
    # Where the primary is, and that its replicas have what it has.
    "cluster|slots", "role", "wait",
    # Scripts and transactions, which may do nothing that is not named here.
    "evalsha", "script|load", "script|exists", "multi", "exec",
    # Books and people alike.
    "del", "exists", "set", "time",
    "hdel", "hget", "hgetall", "hincrby", "hmget", "hset",
    "xadd", "xrange", "xrevrange",
    "zadd", "zcard", "zrange", "zrem", "zremrangebyscore", "zrevrangebyscore", "zscore",
)  # fmt: skip

COMMANDS: Final = (*_EVERYBODY, "hexists", "xlen", "zrevrangebylex")
"""All that the service does with the books. It can empty no database and change no setting."""

PEOPLE_COMMANDS: Final = (*_EVERYBODY, "pexpire", "pttl", "sadd", "scard", "smembers", "srem")
"""All that it does with users, sessions and the operators' log."""

ARCHIVE_COMMANDS: Final = (*COMMANDS, "xtrim")
"""What `pitlink archive` does beside: it cuts off what is in the archive."""

_LINK_KEYS: Final = ("pitlink:{[^@]*", "pitlink:replicated")
"""All links' keys, by glob: no link's id begins with @. And what replicas by Sentinel confirm."""
_BOOKS_KEYS: Final = (*_LINK_KEYS, f"pitlink:{{{SLIPS_TAG}}}:*")
_PEOPLE_KEYS: Final = (f"pitlink:{{{PEOPLE_TAG}}}:*",)

_NOBODY: Final = "user default off resetpass ~* &* +@all"
"""The user of who has not said who he is: off and without a password, so nobody can be him.

He may do all, since Redis reads its append-only file in his name. What he may not do it leaves out
as it starts, up to the whole of the books.
"""

_OURS: Final = frozenset({"default", REDIS_USER, PEOPLE_USER, ARCHIVE_USER})


@dataclass(frozen=True, slots=True)
class RedisPasswords:
    """The passwords of our users.

    Attributes:
        books: each worker's for the books.
        people: each worker's for users and operators' log.
        archive: the one of `pitlink archive`.
    """

    books: Sequence[str]
    people: Sequence[str]
    archive: str


def users(passwords: RedisPasswords, before: str = "") -> str:
    """Redis's file of users: ours, with the hashes of their passwords, and nobody else (duty D20).

    Args:
        passwords: ours.
        before: the file as it was: the lines of users whom the house added are kept.
    """
    lines = [
        _NOBODY,
        _user(REDIS_USER, _BOOKS_KEYS, COMMANDS, passwords.books),
        _user(PEOPLE_USER, _PEOPLE_KEYS, PEOPLE_COMMANDS, passwords.people),
        _user(ARCHIVE_USER, _LINK_KEYS, ARCHIVE_COMMANDS, [passwords.archive]),
        *(line for line in before.splitlines() if _user_of(line) not in {*_OURS, None}),
    ]
    return "\n".join(lines) + "\n"


def _user(name: str, keys: Sequence[str], commands: Sequence[str], passwords: Sequence[str]) -> str:
    hashed = (f"#{hashlib.sha256(each.encode()).hexdigest()}" for each in passwords)
    may = " ".join([*(f"+{command}" for command in commands), *hashed])
    patterns = " ".join(f"~{pattern}" for pattern in keys)
    return f"user {name} on {patterns} resetchannels -@all {may}"


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
