"""Real mosquitto and Redis with the shipped configuration files and the generated keys."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

from meters.keys.server_files import broker_passwords
from tests.deploy.tree import DEPLOY
from tests.setup.written_server import WrittenServer

OBSERVER: Final = ("observer", "sees all")


class SecuredMosquitto(WrittenServer):
    """mosquitto with `deploy/mosquitto.conf` and one more user, who sees all messages.

    `made_at` is the directory that the part's configuration names.
    """

    def __init__(self, keys: Path, *, made_at: Path | None = None) -> None:
        super().__init__("mosquitto", _laid_out("mosquitto", keys / "broker", made_at), 8883, 8884)
        with self.conf.open("a") as more:
            more.write("log_dest stderr\nsys_interval 1\n")
        with (self.part / "acl").open("a") as acl:
            acl.write("\nuser observer\ntopic readwrite #\ntopic read $SYS/#\n")
        with (self.part / "passwords").open("a") as passwords:
            passwords.write(broker_passwords(dict([OBSERVER]), ""))

    def take_lists(self, keys: Path) -> None:
        """Copy lists that `pitlink keys` has written since; the next start reads them."""
        for name in ("acl", "passwords", "revoked.crl"):
            shutil.copy(keys / "broker" / name, self.part / name)

    def lose_access_list(self) -> None:
        (self.part / "acl").unlink()
        os.kill(self.pid, signal.SIGHUP)

    @property
    def port(self) -> int:
        """Port of the listener for certificates."""
        return self.ports[0]

    @property
    def password_port(self) -> int:
        return self.ports[1]

    @property
    def url(self) -> str:
        return f"mqtts://localhost:{self.port}"

    @property
    def password_url(self) -> str:
        return f"mqtts://localhost:{self.password_port}"


class SecuredRedis(WrittenServer):
    """redis-server with `deploy/redis.conf`, over TLS on `port` and on no other port."""

    def __init__(self, keys: Path, *, made_at: Path | None = None) -> None:
        super().__init__("redis-server", _laid_out("redis", keys / "redis", made_at), 6379)

    @property
    def port(self) -> int:
        return self.ports[0]

    @property
    def url(self) -> str:
        return f"rediss://localhost:{self.port}/0"


def _laid_out(name: str, keys: Path, made_at: Path | None) -> Callable[[Path], Path]:
    """Return what lays the shipped configuration and a server's part of the keys out, as in /etc.

    The part has the name of its directory of keys in its configuration.
    """

    def lay_out(home: Path) -> Path:
        etc = home / "etc" / name
        part = shutil.copytree(keys, etc / "pitlink")
        for path in part.glob("*.conf"):
            made = str((made_at or keys.parent) / keys.name)
            path.write_text(path.read_text().replace(made, str(part)))
        return Path(shutil.copy(DEPLOY / f"{name}.conf", etc))

    return lay_out
