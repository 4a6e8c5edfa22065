"""Real servers with the files that `pitlink setup` wrote. Only directories and ports differ."""

import contextlib
import os
import re
import socket
from pathlib import Path

from tests.servers import Server, free_port, require


class WrittenServer(Server):
    """Server with a configuration file that setup wrote, and with the files around it."""

    def __init__(self, program: str, conf: Path, *ports: int) -> None:
        super().__init__()
        self._program = require(program)
        self._conf = conf
        self.ports = ports
        etc = conf.parent.parent
        self.change(rf"(?<![\w/])/etc/(?={conf.parent.name})", f"{etc}/")
        self.change(r"/var/lib/(redis|mosquitto)", str(self.home))
        self.change(r"^listener (\d+)$", r"listener \1 127.0.0.1")

    def change(self, old: str, new: str) -> None:
        """Replace a pattern in the file and in the files around it."""
        for path in self._conf.parent.rglob("*.conf"):
            path.write_text(re.sub(old, new, path.read_text(), flags=re.MULTILINE))

    def _choose_port(self) -> None:
        before, self.ports = self.ports, tuple(free_port() for _ in self.ports)
        for old, new in zip(before, self.ports, strict=True):
            self.change(rf"^(tls-port|listener) {old}\b", rf"\g<1> {new}")

    def _command(self) -> list[str]:
        if self._conf.name == "redis.conf":
            return [self._program, str(self._conf)]
        if self._conf.name == "sentinel.conf":
            return [self._program, str(self._conf), "--sentinel"]
        if os.geteuid() == 0 and "user root" not in self._conf.read_text():
            with self._conf.open("a") as more:
                more.write("user root\n")
        return [self._program, "-c", str(self._conf)]

    def _answers(self) -> bool:
        for port in self.ports:
            with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
                pass
        return True
