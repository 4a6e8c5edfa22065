from collections.abc import Iterable, Mapping
from typing import Final, final

from redis.asyncio import BlockingConnectionPool
from redis.asyncio.connection import AbstractConnection, Connection
from redis.exceptions import ConnectionError as RedisConnectionError

UNNAMED: Final[Mapping[str, None]] = {"driver_info": None}
"""Setting of connections that do not tell Redis which client library they use. To name it, the
library would search its installation for its version at each new connection, and all links would
wait meanwhile."""


class _KeptConnection(AbstractConnection):
    """Connection whose loss is a connection error, also if the event loop noticed it first.

    In uvloop, a write to a lost connection raises a RuntimeError. The client library passes it on,
    and so a crash of Redis at that moment would end the service.
    """

    async def send_packed_command(
        self,
        command: bytes | str | Iterable[bytes],
        check_health: bool = True,  # noqa: FBT001, FBT002  (the client's own)
    ) -> None:
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            raise RedisConnectionError("the connection was lost") from error


@final
class KeptConnections(BlockingConnectionPool):
    """Pool that checks a connection before each use, in case Redis has closed it.

    Since version 8, the client library does not make this check over TCP, because unrequested data
    can be a maintenance notice. Without the check, a restart of Redis causes one failed command for
    each closed connection, and each failed command stops the link.
    """

    def __init__(
        self, *, connection_class: type[AbstractConnection] = Connection, **settings: object
    ) -> None:
        kind = type(connection_class.__name__, (_KeptConnection, connection_class), {})
        super().__init__(connection_class=kind, **settings)  # type: ignore[arg-type]

    async def close_all(self) -> None:
        """Close every idle connection now, and every used one when it is released.

        The library's own `disconnect` keeps a connection in the pool while it closes it, so a
        command could begin on it meanwhile and fail.
        """
        await self.update_active_connections_for_reconnect()  # type: ignore[no-untyped-call]
        idle = list(self._available_connections)
        self._available_connections.clear()
        for connection in idle:
            await connection.disconnect(nowait=True)

    def maint_notifications_enabled(self) -> bool:
        """Return False, because pitlink's Redis never sends maintenance notices."""
        return False
