import socket
from dataclasses import dataclass
from typing import Self


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
