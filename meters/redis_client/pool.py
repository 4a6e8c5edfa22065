"""Pool of Redis connections."""

from typing import final

from redis.asyncio import BlockingConnectionPool


@final
class KeptConnections(BlockingConnectionPool):
    """Pool that checks if Redis has closed a connection before the connection is used again.

    Since version 8, the client library omits this check over TCP, because unrequested data can be a
    maintenance notice. Without the check, a restart of Redis causes one failed command for each
    connection that Redis has closed. Each failed command stops the link again.
    """

    def maint_notifications_enabled(self) -> bool:
        """Return False: unrequested data is never a maintenance notice here."""
        return False
