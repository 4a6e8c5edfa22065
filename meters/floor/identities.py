"""Identities of programs at the broker: their names, and the directories of their key bundles."""

from dataclasses import dataclass
from typing import Final

AUTHORITY_FILE: Final = "ca.crt"
PASSWORD_FILE: Final = "password"  # noqa: S105  (the name of a file)
REDIS_PASSWORD_FILE: Final = "redis-password"  # noqa: S105
REDIS_USERS_PASSWORD_FILE: Final = "redis-people-password"  # noqa: S105
"""In a service's bundle: the password of a Redis user with few rights.

It can read and write only pitlink's users and the operators' log.
"""
EVENT_GROUP_FILE: Final = "event-group"
"""In a service's bundle: the secret group name at the broker.

By it, all services share the tables' events.
"""
LOG_SECRETS_FILE: Final = "log-secrets"
"""In a service's bundle: the secrets for the MACs (signatures) in the operators' log.

Each line has one secret, newest first. The file is the same for all services.
"""
SERVICES: Final = "services"
"""Directory with a bundle for every worker of the service, named by the worker's number."""
SENTINELS: Final = "sentinels"
"""Directory with one file, `password`: what services and commands need at a sentinel."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Program that has its own key bundle.

    Attributes:
        username: the name at the broker, and the common name of the certificate. Ids of links and
            tables have no dot, so no two identities have the same name.
        place: the directory of the key bundle, relative to the directory of keys.
        stem: the name of the certificate and key files, without ``.crt`` and ``.key``.
    """

    username: str
    place: str
    stem: str


CHECK: Final = Identity("check", "check", "check")
"""Of `pitlink check`, which may connect to the broker, but not read or send."""

ARCHIVE: Final = Identity("archive", "archive", "archive")
"""Of `pitlink archive` in Redis; it does not use the broker.

Only this identity is allowed to delete the oldest entries of a ledger.
"""

DISPLAY: Final = Identity("display", "display", "display")
"""Of a display or a dashboard, which may read public topics."""


def service_identity(number: int) -> Identity:
    """Return the identity of a worker of the meter service, counted from 1."""
    return Identity(f"service.{number}", f"{SERVICES}/{number}", "service")


def table_identity(link: str, table: str) -> Identity:
    return Identity(f"table.{table}", f"tables/{link}.{table}", "table")
