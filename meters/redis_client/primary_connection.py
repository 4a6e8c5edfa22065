"""Connections that ask where the primary is each time that they are made."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio.connection import Connection, SSLConnection
from redis.exceptions import ReadOnlyError

from meters.redis_client.primary_discovery import PrimaryDiscovery


class PrimaryConnection(Connection):
    """A connection to wherever the primary is when it is made."""

    def __init__(self, *, discovery: PrimaryDiscovery, **settings: object) -> None:
        super().__init__(**settings, redis_connect_func=_reach_primary)  # type: ignore[arg-type]
        self._discovery = discovery

    async def _connect(self) -> None:
        place = await self._discovery.primary()
        self.host, self.port = place.host, place.port
        await super()._connect()  # type: ignore[no-untyped-call]


class PrimarySSLConnection(PrimaryConnection, SSLConnection):
    """The same over TLS."""


async def _reach_primary(connection: Connection) -> None:
    """Make a new connection ready, unless the server is no primary after all.

    Raises:
        ReadOnlyError: it is a replica: one that was demoted, or is not promoted yet.
    """
    await connection.on_connect()
    await connection.send_command("ROLE", check_health=False)
    role, *_ = cast("Sequence[bytes]", await connection.read_response())
    if role != b"master":
        place = f"{connection.host}:{connection.port}"
        raise ReadOnlyError(f"{place} is a replica, and is to be the primary")
