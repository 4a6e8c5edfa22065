"""Real servers with the files that `pitlink setup` wrote. Only directories and ports differ."""

import contextlib
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

from tests.servers import Server, free_port, require


class WrittenServer(Server):
    """Server with a configuration file that setup wrote, and with the files around it.

    `conf` may also be what writes the file below a directory; `ports` are those in the files.
    """

    def __init__(self, program: str, conf: Path | Callable[[Path], Path], *ports: int) -> None:
        self._program = require(program)
        super().__init__()
        self.conf = conf if isinstance(conf, Path) else conf(self.home)
        self.part = self.conf.parent / "pitlink"
        self.ports = ports
        etc = self.conf.parent.parent
        self.change(rf"(?<![\w/])/etc/(?={self.conf.parent.name})", f"{etc}/")
        self.change(r"/var/lib/(redis|mosquitto)", str(self.home))
        self.change(r"^listener (\d+)$", r"listener \1 127.0.0.1")

    def change(self, old: str, new: str) -> None:
        for path in self.conf.parent.rglob("*.conf"):
            path.write_text(re.sub(old, new, path.read_text(), flags=re.MULTILINE))

    def _choose_port(self) -> None:
        before, self.ports = self.ports, tuple(free_port() for _ in self.ports)
        for old, new in zip(before, self.ports, strict=True):
            self.change(rf"^(tls-port|listener) {old}\b", rf"\g<1> {new}")

    def _command(self) -> list[str]:
        if self.conf.name == "redis.conf":
            return [self._program, str(self.conf)]
        if self.conf.name == "sentinel.conf":
            return [self._program, str(self.conf), "--sentinel"]
        if os.geteuid() == 0 and "user root" not in self.conf.read_text():
            with self.conf.open("a") as more:
                more.write("user root\n")
        return [self._program, "-c", str(self.conf)]

    def _answers(self) -> bool:
        for port in self.ports:
            with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
                pass
        return True
