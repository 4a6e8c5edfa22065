"""Pool of Redis connections."""

from collections.abc import Mapping
from typing import Final, final

from redis.asyncio import BlockingConnectionPool

UNNAMED: Final[Mapping[str, None]] = {"driver_info": None}
"""Setting of connections that do not tell Redis which client library they use.

To name it, the library would search its installation for its version at each new connection, and
all links would wait meanwhile.
"""


@final
class KeptConnections(BlockingConnectionPool):
    """Pool that checks a connection before each use, in case Redis has closed it.

    Since version 8, the client library does not make this check over TCP. The reason is that
    unrequested data can be a maintenance notice. Without the check, a restart of Redis causes one
    failed command for each closed connection. Each failed command stops the link.
    """

    def maint_notifications_enabled(self) -> bool:
        """Return False, because pitlink's Redis never sends maintenance notices."""
        return False
