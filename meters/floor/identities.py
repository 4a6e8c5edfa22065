"""Who speaks to the broker, by which name, and where his bundle is in the directory of keys."""

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
"""In a service's bundle: the secrets of which the MACs of the operators' log are made, a line each,
the newest first; the same for all services."""
SERVICES: Final = "services"
"""The directory in which every worker of the service has a bundle, named by its number."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody with a credential of his own.

    Attributes:
        username: his name at the broker, and the common name of his certificate. A link or a table
            has no dot in its id, so no two parties share a name.
        place: his bundle's directory, under the directory of keys.
        stem: what his certificate and its key are called in it, before ``.crt`` and ``.key``.
    """

    username: str
    place: str
    stem: str


CHECK: Final = Identity("check", "check", "check")
"""`pitlink check`, which may connect and nothing more."""

ARCHIVE: Final = Identity("archive", "archive", "archive")
"""`pitlink archive`, which alone may cut off the beginning of a ledger; it has nothing to do with
the broker."""

DISPLAY: Final = Identity("display", "display", "display")
"""A display or a dashboard, which reads what is for all."""


def service_identity(number: int) -> Identity:
    """A worker of the meter service, numbered from 1 on."""
    return Identity(f"service.{number}", f"{SERVICES}/{number}", "service")


def table_identity(link: str, table: str) -> Identity:
    """A table's agent."""
    return Identity(f"table.{table}", f"tables/{link}.{table}", "table")
