"""Identities at the broker, their names, and the directories of their key bundles."""

from dataclasses import dataclass
from typing import Final

AUTHORITY_FILE: Final = "ca.crt"
PASSWORD_FILE: Final = "password"  # noqa: S105  (the name of a file)
REDIS_PASSWORD_FILE: Final = "redis-password"  # noqa: S105
REDIS_PEOPLE_PASSWORD_FILE: Final = "redis-people-password"  # noqa: S105
"""In a service's bundle: the password of the Redis user that keeps users and operators' log."""
EVENT_GROUP_FILE: Final = "event-group"
"""In a service's bundle: the secret name by which all services share the tables' events."""
LOG_SECRETS_FILE: Final = "log-secrets"
"""In a service's bundle: the secrets for the MACs of the operators' log, one on each line, the
newest first; the same for all services."""
SERVICES: Final = "services"
"""The directory with a bundle for every worker of the service, named by the worker's number."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A holder of a credential.

    Attributes:
        username: its name at the broker, and the common name of its certificate. The id of a link
            or a table has no dot, so no two identities have the same name.
        place: the directory of its bundle, under the directory of keys.
        stem: the name of its certificate and key files there, before ``.crt`` and ``.key``.
    """

    username: str
    place: str
    stem: str


CHECK: Final = Identity("check", "check", "check")
"""`pitlink check`, which may connect and nothing more."""

ARCHIVE: Final = Identity("archive", "archive", "archive")
"""`pitlink archive`. Only this identity may trim the beginning of a ledger; it does not use the
broker."""

DISPLAY: Final = Identity("display", "display", "display")
"""A display or a dashboard, which reads public topics."""


def service_identity(number: int) -> Identity:
    """Return the identity of a worker of the meter service; numbers start at 1."""
    return Identity(f"service.{number}", f"{SERVICES}/{number}", "service")


def table_identity(link: str, table: str) -> Identity:
    """Return the identity of a table's agent."""
    return Identity(f"table.{table}", f"tables/{link}.{table}", "table")
