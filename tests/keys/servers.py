"""Real mosquitto and Redis with the shipped configuration files and the generated keys."""

import contextlib
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Final

from meters.keys.broker_files import password_lines
from tests.servers import Server, free_port, require

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
OBSERVER: Final = ("observer", "sees all")


class SecuredServer(Server):
    """Server with its part of a directory of keys, moved to another directory.

    Args:
        keys: the directory.
        part: the server's subdirectory.
        made_at: the directory named in the part's configuration.
    """

    def __init__(self, keys: Path, part: str, made_at: Path) -> None:
        super().__init__()
        self._part = self.home / "pitlink"
        shutil.copytree(keys / part, self._part)
        self._made_at = str(made_at / part)

    def _settle(self, name: str, *changes: tuple[str, str]) -> None:
        """Edit a file of the part, as a person does who installs it."""
        path = self._part / name
        text = path.read_text()
        for before, after in ((self._made_at, str(self._part)), *changes):
            assert before in text or after in text, f"{before} is not in {name}"
            text = text.replace(before, after)
        path.write_text(text)

    def _shipped(self, name: str, *changes: tuple[str, str]) -> Path:
        text = (DEPLOY / name).read_text()
        for before, after in changes:
            assert before in text, f"{before} is not in {name}"
            text = text.replace(before, after)
        path = self.home / name
        path.write_text(text)
        return path


class SecuredMosquitto(SecuredServer):
    """mosquitto with `deploy/mosquitto.conf` and one more user, who sees all messages.

    Attributes:
        port: port of the listener for certificates.
        password_port: port of the listener for passwords.
    """

    def __init__(self, keys: Path, *, made_at: Path | None = None) -> None:
        self._program = require("mosquitto")
        super().__init__(keys, "broker", made_at or keys)
        with (self._part / "acl").open("a") as acl:
            acl.write("\nuser observer\ntopic readwrite #\ntopic read $SYS/#\n")
        with (self._part / "passwords").open("a") as passwords:
            passwords.write(password_lines(dict([OBSERVER]), ""))
        self.port = self.password_port = 0

    def take_lists(self, keys: Path) -> None:
        """Copy lists that `pitlink keys` has written since; the next start reads them."""
        for name in ("acl", "passwords", "revoked.crl"):
            shutil.copy(keys / "broker" / name, self._part / name)

    def lose_access_list(self) -> None:
        (self._part / "acl").unlink()
        os.kill(self.pid, signal.SIGHUP)

    @property
    def url(self) -> str:
        return f"mqtts://localhost:{self.port}"

    @property
    def password_url(self) -> str:
        return f"mqtts://localhost:{self.password_port}"

    def _choose_port(self) -> None:
        before = (self.port or 8883, self.password_port or 8884)
        self.port, self.password_port = free_port(), free_port()
        tail = " 127.0.0.1" if before[0] != 8883 else ""
        self._settle(
            "listeners.conf",
            (f"listener {before[0]}{tail}\n", f"listener {self.port} 127.0.0.1\n"),
            (f"listener {before[1]}{tail}\n", f"listener {self.password_port} 127.0.0.1\n"),
        )

    def _command(self) -> list[str]:
        conf = self._shipped(
            "mosquitto.conf",
            ("include_dir /etc/mosquitto/pitlink", f"include_dir {self._part}"),
            ("persistence_location /var/lib/mosquitto/", f"persistence_location {self.home}/"),
        )
        with conf.open("a") as more:
            more.write("log_dest stderr\nsys_interval 1\n")
            if os.geteuid() == 0:
                more.write("user root\n")
        return [self._program, "-c", str(conf)]

    def _answers(self) -> bool:
        for port in (self.port, self.password_port):
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                pass
        return True


class SecuredRedis(SecuredServer):
    """redis-server with `deploy/redis.conf`, over TLS on `port` and on no other port."""

    def __init__(self, keys: Path, *, made_at: Path | None = None) -> None:
        self._program = require("redis-server")
        super().__init__(keys, "redis", made_at or keys)
        self.port = 0

    @property
    def url(self) -> str:
        return f"rediss://localhost:{self.port}/0"

    def _choose_port(self) -> None:
        before = self.port or 6379
        self.port = free_port()
        self._settle("tls.conf", (f"tls-port {before}\n", f"tls-port {self.port}\n"))

    def _command(self) -> list[str]:
        conf = self._shipped(
            "redis.conf", ("include /etc/redis/pitlink/tls.conf", f"include {self._part}/tls.conf")
        )
        return [self._program, str(conf), "--dir", str(self.home)]

    def _answers(self) -> bool:
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), timeout=1)):
            return True
