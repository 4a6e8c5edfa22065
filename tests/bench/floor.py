"""The benchmark's floor: tables on one or two links, seven positions, two wagers each.

The service reads it as a floor file. The load uses the same names of tables.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from bonus.law.meter_terms import MeterTerms, meter_terms
from bonus.wagers import MUST_HIT_BY
from meters.wire.topics import TableAddress
from tests.floor_text import Value, floor_text, link_text, meter_text, section_text, table_text

LINKS: Final = ("bench-a", "bench-b")
POSITIONS: Final = 7
"""Largest number of players (649a.2(a))."""
WAGER_CENTS: Final = 100
PAYTABLE: Final = "A"
METERS: Final = ("progressive", "five_card_progressive")
"""Meters on which every position places a wager; the id of each is its kind."""
WAGERS_AN_EVENT: Final = POSITIONS * len(METERS)

MYSTERY: Final = "mystery"
"""Id of the must-hit-by meter, which every wager feeds."""
MINIMUM_CENTS: Final = 1_000_00
MYSTERY_BPS: Final = 1_000
_MAXIMUM_CENTS: Final = 10_000_000_00
"""So far above all contributions of a run that hardly any run has a win."""


@dataclass(frozen=True, slots=True)
class FloorParts:
    broker: str
    redis: str
    http: str
    data: str


def terms_of(meter: str) -> MeterTerms:
    return meter_terms(meter, WAGER_CENTS, PAYTABLE if meter == "progressive" else None)


def table_address(number: int, links: Sequence[str] = LINKS) -> TableAddress:
    """Return the link and the id of a table, counted from 0. Links take turns."""
    return TableAddress(links[number % len(links)], f"B-{number + 1:06d}")


def bench_floor_text(
    parts: FloorParts,
    tables: int,
    links: Sequence[str] = LINKS,
    which: slice = slice(None),
    validate_from: int = 0,
    *,
    must_hit_by: bool = False,
) -> str:
    """Return the floor file of some links, with their part of the tables.

    Wins at fixed odds below `validate_from` cents need no floorperson. With `must_hit_by`, every
    wager also feeds a must-hit-by meter of its link.
    """
    more = (MYSTERY,) if must_hit_by else ()
    some = (
        link_text(
            link,
            *(meter_text(meter, WAGER_CENTS) for meter in METERS),
            *(_mystery_text() for _ in more),
            *(
                table_text(table_address(number, links).table, *METERS, *more, positions=POSITIONS)
                for number in range(at, tables, len(links))
            ),
            name=f"Link {link}",
        )
        for at, link in [*enumerate(links)][which]
    )
    return _floor_text(parts, *some, validate_from=validate_from)


def _mystery_text() -> str:
    terms: dict[str, Value] = {
        "minimum": MINIMUM_CENTS,
        "maximum": _MAXIMUM_CENTS,
        "rate": f"{MYSTERY_BPS // 100}%",
        "wagers": METERS,
    }
    return section_text("[[link.meter]]", kind=MUST_HIT_BY, id=MYSTERY, must_hit_by=terms)


def bare_floor_text(parts: FloorParts, links: int, meters: int) -> str:
    of_each = [
        meter_text("progressive", WAGER_CENTS, id=f"progressive-{meter:03d}")
        for meter in range(meters)
    ]
    names = (f"bench-{link:03d}" for link in range(links))
    opened = (link_text(name, *of_each, name=f"Link {name}") for name in names)
    return _floor_text(parts, *opened)


def _floor_text(parts: FloorParts, *links: str, validate_from: int = 0) -> str:
    return floor_text(
        *links, service=asdict(parts), name="The benchmark", validate_from=validate_from
    )
