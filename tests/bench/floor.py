"""The floor that the benchmark plays: many tables over two links, seven positions, two wagers each.

The service reads it as a floor file; the load knows the same tables by the same names.
"""

from dataclasses import dataclass
from typing import Final

from bonus.law.meter_terms import MeterTerms, meter_terms
from bonus.wagers import MeterKind
from meters.wire.topics import TableAddress

LINKS: Final = ("bench-a", "bench-b")
POSITIONS: Final = 7
"""649a.2(a): so many players at most."""
WAGER_CENTS: Final = 100
PAYTABLE: Final = "A"
METERS: Final = (MeterKind.PROGRESSIVE, MeterKind.FIVE_CARD_PROGRESSIVE)
"""Every position places a wager on each of them; their ids are their kinds."""
WAGERS_AN_EVENT: Final = POSITIONS * len(METERS)


@dataclass(frozen=True, slots=True)
class FloorParts:
    """Where the parts of the benchmark are, as a floor file names them."""

    broker: str
    redis: str
    http: str
    data: str


def terms_of(meter: MeterKind) -> MeterTerms:
    """The terms of one of the floor's meters."""
    return meter_terms(meter, WAGER_CENTS, PAYTABLE if meter is MeterKind.PROGRESSIVE else None)


def table_address(number: int) -> TableAddress:
    """The link and the id of a table, counted from 0: the links in turn."""
    return TableAddress(LINKS[number % len(LINKS)], f"B-{number + 1:06d}")


def floor_text(parts: FloorParts, tables: int, validate_from_cents: int = 0) -> str:
    """The floor file for so many tables; smaller odds payouts wait for no floorperson."""
    head = _head(parts, validate_from_cents)
    links = (
        _LINK.format(link=link, wager=WAGER_CENTS, paytable=PAYTABLE)
        + "".join(
            _TABLE.format(table=table_address(number).table, positions=POSITIONS)
            for number in range(at, tables, len(LINKS))
        )
        for at, link in enumerate(LINKS)
    )
    return head + "".join(links)


def bare_floor_text(parts: FloorParts, links: int, meters: int) -> str:
    """The floor file for so many links with so many meters each, and no tables."""
    head = _head(parts)
    opened = (
        _LINK_HEAD.format(link=f"bench-{link:03d}")
        + "".join(
            _METER.format(wager=WAGER_CENTS, paytable=PAYTABLE)
            + f'id = "progressive-{meter:03d}"\n'
            for meter in range(meters)
        )
        for link in range(links)
    )
    return head + "".join(opened)


def _head(parts: FloorParts, validate_from_cents: int = 0) -> str:
    return _HEAD.format(
        broker=parts.broker,
        redis=parts.redis,
        http=parts.http,
        data=parts.data,
        validate_from=validate_from_cents,
    )


_HEAD: Final = """\
[facility]
name = "The benchmark"
timezone = "America/New_York"
validate_from = {validate_from}

[service]
broker = "{broker}"
redis = "{redis}"
http = "{http}"
data = '{data}'
"""

_LINK_HEAD: Final = """
[[link]]
id = "{link}"
name = "Link {link}"
"""

_METER: Final = """
[[link.meter]]
kind = "progressive"
wager = {wager}
paytable = "{paytable}"
"""

_FIVE_CARD_METER: Final = """
[[link.meter]]
kind = "five_card_progressive"
wager = {wager}
"""

_LINK: Final = _LINK_HEAD + _METER + _FIVE_CARD_METER

_TABLE: Final = """
[[link.table]]
id = "{table}"
asset = "{table}"
game = "three_card_poker"
positions = {positions}
meters = ["progressive", "five_card_progressive"]
"""
