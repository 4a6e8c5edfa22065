"""Identities of programs at the broker: their names, and the directories of their key bundles."""

from dataclasses import dataclass
from typing import Final

AUTHORITY_FILE: Final = "ca.crt"
PASSWORD_FILE: Final = "password"  # noqa: S105  (the name of a file)
REDIS_PASSWORD_FILE: Final = "redis-password"  # noqa: S105
REDIS_USERS_PASSWORD_FILE: Final = "redis-people-password"  # noqa: S105
"""File in a service's key bundle: the password of the Redis user that can read and write only
pitlink's users and the operators' log."""
EVENT_GROUP_FILE: Final = "event-group"
"""File in a service's key bundle: the secret group name at the broker, by which all services share
the tables' events."""
LOG_SECRETS_FILE: Final = "log-secrets"
"""File in a service's key bundle: the secrets for the MACs (signatures) in the operators' log. Each
line has one secret, newest first. The file is the same for all services."""
SERVICES: Final = "services"
"""Directory with a key bundle for every worker of the service. The name of each bundle is the
worker's number."""
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
"""Identity of `pitlink check`. It is allowed to connect to the broker, but not to read or send."""

ARCHIVE: Final = Identity("archive", "archive", "archive")
"""Identity of `pitlink archive` in Redis. Only this identity is allowed to delete the oldest
entries of a ledger. `pitlink archive` does not use the broker."""

DISPLAY: Final = Identity("display", "display", "display")
"""Identity of a display or a dashboard. It is allowed to read public topics."""


def service_identity(number: int) -> Identity:
    """Return the identity of a worker of the meter service. The first worker has number 1."""
    return Identity(f"service.{number}", f"{SERVICES}/{number}", "service")


def table_identity(link: str, table: str) -> Identity:
    """Return the identity of a table's agent."""
    return Identity(f"table.{table}", f"tables/{link}.{table}", "table")
