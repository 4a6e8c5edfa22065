"""The configuration files of an installed floor, with the texts that they must have."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from meters.setup.answers import Answers
from meters.setup.pieces import read_piece

REDIS: Final = "redis-server"
BROKER: Final = "mosquitto"
PROXY: Final = "caddy"
MONITORING: Final = "prometheus"
SERVERS: Final = (REDIS, BROKER, PROXY, MONITORING)
"""Debian's packages of the servers. Each package has a program and a unit of the same name."""

_EXAMPLE_SITE: Final = "{$PITLINK_SITE:pit.example}"


@dataclass(frozen=True, slots=True)
class WantedFile:
    """Configuration file that `pitlink setup` writes.

    Attributes:
        path: the path of the file.
        text: the text that the file must have.
        server: the server that reads the file; None for the floor file.
        is_example: whether people complete the file. If it exists, it is not changed.
        mark: a line of the text of a file that its server changes while it runs. A file with this
            line is from `pitlink setup`, and is not changed.
        needed: a further line without which a file with the mark is written again.
        example_mark: a line of the text with which the server's package was installed. The server
            may have changed that text already. A file with this line is replaced.
    """

    path: Path
    text: str
    server: str | None = None
    is_example: bool = False
    mark: str | None = None
    needed: str | None = None
    example_mark: str | None = None


def server_files(answers: Answers) -> Sequence[WantedFile]:
    """Return the configuration files of the servers."""
    site = f"{{$PITLINK_SITE:{', '.join(answers.hosts)}}}"
    caddy = read_piece("Caddyfile").replace(_EXAMPLE_SITE, site)
    monitoring = Path("/etc/prometheus")
    return [
        WantedFile(Path("/etc/redis/redis.conf"), read_piece("redis.conf"), REDIS),
        WantedFile(Path("/etc/mosquitto/mosquitto.conf"), read_piece("mosquitto.conf"), BROKER),
        WantedFile(Path("/etc/caddy/Caddyfile"), caddy, PROXY),
        *(
            WantedFile(
                monitoring / name, read_piece(f"prometheus/{name}"), MONITORING,
                is_example=name == "tables.yml",
            )
            for name in ("prometheus.yml", "alerts.yml", "services.yml", "tables.yml")
        ),
    ]  # fmt: skip
