"""The recorded shift as these tests play it: its floor with real parts, its lines by table."""

import gzip
import json
from pathlib import Path
from typing import Final

from tests.floor_text import section_text

SHIFT: Final = Path(__file__).parent.parent / "shift"
LINKS: Final = (("TCP-01", "TCP-02", "TCP-03", "TCP-04"), ("TCP-05", "TCP-06", "TCP-07", "TCP-08"))
"""Tables of each link. The meters of the two links are independent."""


def write_floor(home: Path, *, broker: str, redis: str, port: int) -> Path:
    path = home / "floor.toml"
    service = section_text(
        "[service]", broker=broker, redis=redis, http=f"127.0.0.1:{port}", data=home / "data"
    )
    path.write_text(f"{(SHIFT / 'floor.toml').read_text()}\n{service}")
    return path


def lines_of(table: str, rounds: int | None = None) -> list[bytes]:
    lines = gzip.decompress((SHIFT / "tables" / f"{table}.jsonl.gz").read_bytes()).splitlines()
    if rounds is None:
        return lines
    ends = [n for n, line in enumerate(lines) if json.loads(line)["event"] in {"settle", "void"}]
    return lines[: ends[rounds - 1] + 1]
