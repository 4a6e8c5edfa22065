"""Connections to Redis that are kept for the next command."""

from typing import final

from redis.asyncio import BlockingConnectionPool


@final
class KeptConnections(BlockingConnectionPool):
    """A pool that looks whether a connection was closed before it is used again.

    Over TCP the client library leaves that out from version 8 on, since data that nobody asked for
    may be a notice of maintenance. Then each connection that a restart of Redis has closed fails
    one command more after its return, and stops the link once more.
    """

    def maint_notifications_enabled(self) -> bool:
        """Say that data nobody asked for is none to wait for."""
        return False
