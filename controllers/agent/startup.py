"""How agents start: addresses, files, and the first error of their tasks."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bonus.errors import UserError
from controllers.agent.delivery import BrokerPlace
from meters.floor.addresses import embedded_broker_url, parse_broker_url
from meters.floor.credentials import broker_address
from meters.floor.floor_file import Floor, Link, Table
from meters.floor.key_bundle import table_identity


def outbox_path(floor: Floor, table_id: str) -> Path:
    return Path(floor.service.data) / "tables" / f"{table_id}.sqlite"


def broker_of(floor: Floor, link: Link, table: Table) -> BrokerPlace:
    """Return a function for the broker's address with the table's credentials.

    The agent calls it before each connection, so a renewed key or password is used from the next
    one on.

    Raises:
        UserError: the address, the table's keys or the table's password cannot be used, or no
            embedded broker is running.
    """
    service = floor.service
    if service.broker == "embedded":
        data = Path(service.data)
        embedded_broker_url(data)
        return lambda: parse_broker_url(embedded_broker_url(data))
    party = table_identity(link.id, table.id)
    broker_address(service, party)
    return lambda: broker_address(service, party)


def user_error_in(group: BaseExceptionGroup[BaseException]) -> UserError | None:
    found = group.subgroup(UserError)
    while found is not None:
        first = found.exceptions[0]
        if isinstance(first, UserError):
            return first
        found = first if isinstance(first, BaseExceptionGroup) else None
    return None


@dataclass(frozen=True, slots=True)
class ListeningAddress:
    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self:
        host, _, port = text.rpartition(":")
        return cls(host, int(port))

    @property
    def is_local(self) -> bool:
        """True if only programs of the same machine can reach it."""
        return self.host in {"127.0.0.1", "[::1]", "localhost"}

    def panel(self, key: str, scheme: str = "http") -> str:
        everywhere = self.host in {"0.0.0.0", "[::]"}  # noqa: S104  (what the user asked for)
        host = socket.gethostname() if everywhere else self.host
        return f"{scheme}://{host}:{self.port}/?key={key}"
