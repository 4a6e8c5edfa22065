"""A small floor with keys: two links, two tables on one of them, connections over TLS."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.floor_text import Value, floor_text, link_text, meter_text, table_text
from tests.processes import invoke_pitlink

_LINKS: Final = (
    link_text(
        "main",
        meter_text("progressive"),
        meter_text("five_card_progressive"),
        table_text("A-1", "progressive", asset="1"),
        table_text("A-2", "progressive", "five_card_progressive", asset="2"),
        name="Main",
    ),
    link_text(
        "other",
        meter_text("progressive", 500, paytable="B"),
        table_text("B-1", "progressive", asset="3"),
        name="Other",
    ),
)

METERS: Final = 3
ANOTHER_TABLE: Final = table_text("B-2", "progressive", asset="4")
"""Text of one more table. At the end of the floor file it is on the link `other`."""


def write_floor(
    path: Path,
    *,
    broker: str = "embedded",
    redis: str = "embedded",
    http: int = 8080,
    data: Path | None = None,
    keys: Path | None = None,
    links: Sequence[str] = _LINKS,
) -> Path:
    service: dict[str, Value] = {
        "broker": broker,
        "redis": redis,
        "http": f"127.0.0.1:{http}",
        "data": data or path.parent / "data",
        "keys": keys,
    }
    path.write_text(floor_text(*links, service=service))
    return path


def with_moved_table(text: str) -> str:
    """Return the floor file with its first table, A-1, on the link `other`."""
    begin = text.index("[[link.table]]")
    end = text.index("[[link.table]]", begin + 1)
    return text[:begin] + text[end:] + text[begin:end]


def make_keys(floor: Path, out: Path, *options: str) -> str:
    done = invoke_pitlink("keys", "--config", str(floor), "--out", str(out), *options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
