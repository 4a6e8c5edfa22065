"""Floor of a chaos run: two links with all four meters each, and tables on both."""

from pathlib import Path
from typing import Final

from tests.chaos.accounts import LinkTerms
from tests.floor_text import (
    METERS,
    ONE_REJECTS,
    Value,
    floor_text,
    link_text,
    meter_text,
    table_text,
)

TERMS: Final = {"one": LinkTerms(100, 1_400), "five": LinkTerms(500, 2_000)}
_PAYTABLES: Final = {"one": "A", "five": "B"}


def tables_of(link: str, tables: int) -> tuple[str, ...]:
    """Return the tables of a link, given the number of tables on both links."""
    place = tuple(TERMS).index(link)
    return tuple(f"C-{number}" for number in range(1, tables + 1) if number % 2 == place)


def write_floor(path: Path, *, tables: int, broker: str, redis: str, port: int) -> Path:
    """Write the floor file; its data directory is next to it."""
    service: dict[str, Value] = {
        "broker": broker,
        "redis": redis,
        "http": f"127.0.0.1:{port}",
        "data": path.parent / "data",
    }
    links = (
        link_text(
            link,
            meter_text("progressive", terms.wager_cents, paytable=_PAYTABLES[link]),
            *(meter_text(kind, terms.wager_cents) for kind in METERS[1:]),
            *(table_text(table, *METERS) for table in tables_of(link, tables)),
        )
        for link, terms in TERMS.items()
    )
    path.write_text(floor_text(*links, service=service, two_people_reject_above=ONE_REJECTS))
    return path
