"""The floor file: one TOML text that describes a facility, read whole or refused with its line."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

import msgspec

from bonus.errors import UserError
from bonus.paytables import MeterKind, MeterTerms, meter_terms
from meters.wire.places import Places, field_path
from meters.wire.topics import IDENTIFIER

POSITIONS_MAX: Final = {"three_card_poker": 7, "three_card_prime": 6, "four_card_prime": 6}
"""How many players a table may have: 649a.2(a), 679a.2(a), 682a.2(a)."""

Identifier = Annotated[str, msgspec.Meta(pattern=f"^{IDENTIFIER}$")]
Game = Literal["three_card_poker", "three_card_prime", "four_card_prime"]

_CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    "three_card_poker": {
        "ante_bonus": "b-A b-B b-C c-A c-B c-C",
        "pair_plus": "A B C D E",
        "progressive": "A B",
        "six_card_bonus": "A B C D E",
        "version": "1 2 3",
    },
    "three_card_prime": {"bad_beat": "A B C D", "pair_bonus": "A B C D", "all_six": "A B C D E"},
    "four_card_prime": {
        "bad_beat": "A B C D",
        "prime": "A B",
        "aces_bonus": "A B C D E F G H",
        "aces_bonus_reading": "five_cards best_four",
        "all_six": "A B C D E",
    },
}
_PAYOUT_LIMIT_LEAST_CENTS: Final = 5_000_000
_MINI_ROYAL_LEAST: Final = {"ante_bonus": 5, "pair_plus": 40}


class FloorError(UserError):
    """A floor file that cannot be used: the line, as far as it is known, and the reason."""


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all tables of the floor file share."""


class Facility(_Config, frozen=True, kw_only=True):
    """The licensed facility. `validate_from` in cents: smaller odds payouts need no floorperson."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    timezone: str
    validate_from: Annotated[int, msgspec.Meta(ge=0)] = 0


class Service(_Config, frozen=True, kw_only=True):
    """Where the parts are; `embedded` starts them beside the service."""

    broker: str = "embedded"
    redis: str = "embedded"
    http: str = "127.0.0.1:8080"
    data: str = "pitlink-data"


class Meter(_Config, frozen=True, kw_only=True):
    """One meter: `wager` in cents; the draws in one round of so many on average, 0 for none."""

    kind: MeterKind
    wager: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    paytable: str | None = None
    id: Identifier | None = None
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] | None = None
    magic_card_every: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    lucky_every: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0

    @property
    def meter_id(self) -> str:
        """The id by which topics and tables name the meter: its kind unless given."""
        return self.id or self.kind.value

    @property
    def title(self) -> str:
        """What patrons read above the amount."""
        return self.name or self.kind.value.replace("_", " ").title()

    @property
    def terms(self) -> MeterTerms:
        """The law's terms for this kind, wager amount and paytable."""
        return meter_terms(self.kind, self.wager, self.paytable)


class Table(_Config, frozen=True, kw_only=True):
    """One table; `asset` is the number by which the facility knows it (duty D5)."""

    id: Identifier
    asset: Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
    game: Game
    positions: Annotated[int, msgspec.Meta(ge=1)]
    meters: tuple[str, ...] = ()
    paytables: dict[str, str | int | dict[str, int]] = {}


class Link(_Config, frozen=True, kw_only=True):
    """Meters and the tables that feed them (605a.8)."""

    id: Identifier
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    meter: tuple[Meter, ...] = ()
    table: tuple[Table, ...] = ()

    def meters_of(self, table: Table) -> Mapping[MeterKind, Meter]:
        """The meters that a table of this link feeds, one of a kind at most."""
        return {meter.kind: meter for meter in self.meter if meter.meter_id in table.meters}


class Floor(_Config, frozen=True, kw_only=True):
    """A facility's whole floor."""

    facility: Facility
    service: Service = Service()
    link: Annotated[tuple[Link, ...], msgspec.Meta(min_length=1)]

    def find_table(self, table_id: str) -> tuple[Link, Table] | None:
        """A table and its link, or None where no link has the table."""
        for link in self.link:
            for table in link.table:
                if table.id == table_id:
                    return link, table
        return None


def parse_floor(text: str, name: str = "floor file") -> Floor:
    """Read and check a floor file whole.

    Raises:
        FloorError: the line and the reason.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FloorError(f"{name}: {error}") from None
    places = Places(text)
    try:
        floor = msgspec.convert(raw, Floor)
    except msgspec.ValidationError as error:
        reason, path = field_path(str(error))
        raise FloorError(f"{name}:{places.line_of(path, reason)}: {reason}") from None
    for problem in _problems(floor):
        path, reason = problem
        raise FloorError(f"{name}:{places.line_of(path, reason)}: {reason}")
    return floor


def read_floor(path: Path) -> Floor:
    """Read the floor file at a path.

    Raises:
        FloorError: there is none, or it cannot be used.
    """
    try:
        return parse_floor(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FloorError(f"{path}: cannot be read: {error}") from None


Problem = tuple[tuple[str | int, ...], str]


def _problems(floor: Floor) -> Iterator[Problem]:
    """What the types alone cannot see, in the order of the file."""
    try:
        ZoneInfo(floor.facility.timezone)
    except (KeyError, ValueError, OSError):
        yield ("facility", "timezone"), f"{floor.facility.timezone!r} is no time zone"
    yield from _service_problems(floor.service)
    tables: dict[str, str] = {}
    assets: dict[str, str] = {}
    links: set[str] = set()
    for number, link in enumerate(floor.link):
        here = ("link", number)
        if link.id in links:
            yield (*here, "id"), f"link {link.id} stands twice"
        links.add(link.id)
        yield from _meter_problems(link, here)
        for at, table in enumerate(link.table):
            spot = (*here, "table", at)
            if table.id in tables:
                yield (*spot, "id"), f"table {table.id} is already on link {tables[table.id]}"
            tables[table.id] = link.id
            if table.asset in assets:
                yield (
                    (*spot, "asset"),
                    f"asset {table.asset} is already table {assets[table.asset]}",
                )
            assets[table.asset] = table.id
            yield from _table_problems(link, table, spot)


def _service_problems(service: Service) -> Iterator[Problem]:
    if not re.fullmatch(r"embedded|mqtts?://\S+", service.broker):
        yield ("service", "broker"), 'a broker is "embedded", "mqtt://…" or "mqtts://…"'
    if not re.fullmatch(r"embedded|rediss?://\S+|unix://\S+", service.redis):
        yield ("service", "redis"), 'a redis is "embedded", "redis://…", "rediss://…" or "unix://…"'
    if not re.fullmatch(r"\S+:\d{1,5}", service.http):
        yield ("service", "http"), 'http is an address and a port, such as "127.0.0.1:8080"'


def _meter_problems(link: Link, here: tuple[str | int, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, meter in enumerate(link.meter):
        spot = (*here, "meter", at)
        if meter.meter_id in seen:
            yield (*spot, "id"), f"meter {meter.meter_id} stands twice on link {link.id}"
        seen.add(meter.meter_id)
        try:
            meter_terms(meter.kind, meter.wager, meter.paytable)
        except ValueError as error:
            yield (*spot, "wager" if meter.paytable is None else "paytable"), str(error)
        if meter.kind is not MeterKind.FIVE_CARD_HAND_BONUS:
            for draw in ("magic_card_every", "lucky_every"):
                if getattr(meter, draw):
                    yield (
                        (*spot, draw),
                        (f"{draw} goes with five_card_hand_bonus only (649a.12(i)(3))"),
                    )


def _table_problems(link: Link, table: Table, spot: tuple[str | int, ...]) -> Iterator[Problem]:
    kinds: dict[MeterKind, str] = {}
    by_id = {meter.meter_id: meter for meter in link.meter}
    if table.positions > POSITIONS_MAX[table.game]:
        yield (
            (*spot, "positions"),
            (f"{table.game} has no more than {POSITIONS_MAX[table.game]} positions"),
        )
    if table.meters and table.game != "three_card_poker":
        yield (*spot, "meters"), f"{table.game} has no wager that feeds a meter"
    for meter_id in table.meters:
        meter = by_id.get(meter_id)
        if meter is None:
            yield (*spot, "meters"), f"link {link.id} has no meter {meter_id}"
        elif meter.kind in kinds:
            yield (
                (*spot, "meters"),
                f"{meter_id} and {kinds[meter.kind]} are both {meter.kind}: one of a kind a table",
            )
        else:
            kinds[meter.kind] = meter_id
    offered = _CHOICES[table.game]
    for wager, choice in table.paytables.items():
        reason = _choice_problem(table, wager, choice, offered.get(wager, "").split())
        if reason:
            yield (*spot, "paytables", wager), reason
    progressive = kinds.get(MeterKind.PROGRESSIVE)
    chosen = table.paytables.get("progressive")
    if progressive and chosen and chosen != by_id[progressive].paytable:
        yield (
            (*spot, "paytables", "progressive"),
            f"paytable {chosen}, but meter {progressive} is for {by_id[progressive].paytable}",
        )


def _choice_problem(table: Table, wager: str, choice: object, offered: list[str]) -> str | None:
    if wager == "payout_limit" and table.game != "three_card_poker":
        return _payout_limit_problem(choice)
    if wager == "mini_royal" and table.game == "three_card_poker":
        return _mini_royal_problem(choice)
    if not offered:
        return f"{table.game} has no paytable choice {wager}"
    if str(choice) not in offered:
        return f"{wager} is offered as {', '.join(offered)}, not {choice}"
    if str(choice).startswith("c-") and "version" not in table.paytables:
        return "the tables of 649a.12(c) go with a version of 649a.7(e): give version 1, 2 or 3"
    return None


def _payout_limit_problem(choice: object) -> str | None:
    """Reading G6: the aggregate limit of 679a.12(h) and 682a.12(g)."""
    if isinstance(choice, int) and choice >= _PAYOUT_LIMIT_LEAST_CENTS:
        return None
    return f"a payout_limit is at least {_PAYOUT_LIMIT_LEAST_CENTS} cents ($50,000)"


def _mini_royal_problem(choice: object) -> str | None:
    if isinstance(choice, dict) and all(
        key in _MINI_ROYAL_LEAST and odds >= _MINI_ROYAL_LEAST[key] for key, odds in choice.items()
    ):
        return None
    return "mini_royal pays at least 5 to 1 as ante_bonus, 40 to 1 as pair_plus (649a.12(g))"
