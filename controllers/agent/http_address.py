"""Where a table's pages are served."""

import socket
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class ListeningAddress:
    """Where a table's panel or its metrics are served: the address to listen on, the TCP port."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self:
        """The place that HOST:PORT names."""
        host, _, port = text.rpartition(":")
        return cls(host, int(port))

    def panel(self, key: str, scheme: str = "http") -> str:
        """What opens the panel on a tablet."""
        everywhere = self.host in {"0.0.0.0", "[::]"}  # noqa: S104  (what the user asked for)
        host = socket.gethostname() if everywhere else self.host
        return f"{scheme}://{host}:{self.port}/?key={key}"
