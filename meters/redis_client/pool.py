"""Pool of Redis connections."""

from typing import final

from redis.asyncio import BlockingConnectionPool


@final
class KeptConnections(BlockingConnectionPool):
    """A pool that checks if a connection was closed before it uses it again.

    From version 8, the client library omits this check over TCP, because unrequested data may be a
    maintenance notice. Then, after a restart of Redis, one more command fails for each connection
    that it has closed, and stops the link once more.
    """

    def maint_notifications_enabled(self) -> bool:
        """Return False: unrequested data is not a maintenance notice."""
        return False
