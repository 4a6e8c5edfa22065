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
        server: the server that reads the file; None for the floor file.
        is_example: whether people complete the file. If it exists, it is not changed.
        owner: the system user who owns the file, because its server changes it; None for root.
        is_known: whether the present text is from `pitlink setup` or from the server's package, and
            only the server changed it since.
    """

    path: Path
    text: str
    server: str | None = None
    is_example: bool = False
    owner: str | None = None
    is_known: bool = False


def server_files(answers: Answers) -> Sequence[WantedFile]:
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
