"""The HTTP address of a table's pages."""

import socket
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class ListeningAddress:
    """Address to listen on and TCP port of a table's panel or metrics."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the address in ``HOST:PORT``."""
        host, _, port = text.rpartition(":")
        return cls(host, int(port))

    def panel(self, key: str, scheme: str = "http") -> str:
        """Return the URL that opens the panel on a tablet."""
        everywhere = self.host in {"0.0.0.0", "[::]"}  # noqa: S104  (what the user asked for)
        host = socket.gethostname() if everywhere else self.host
        return f"{scheme}://{host}:{self.port}/?key={key}"
