"""The part of the floor file that affects a link's money and players, as text with a digest.

This part has the link's meters, tables and promotions, and the facility's amounts in cents. It also
says whether a floorperson must confirm corrections of entered cards, whether tables must send the
cards of all hands, and whether the floor is a demonstration. If games of the house feed a meter,
the text has the names of the meter's wagers, and the meter's seed, reseed and rates; with smaller
wagers, also what the largest wager wins of the meter. The names that patrons read, the look of
pages, and network addresses are not in the text.

Two people can later change a parameter of a meter with a proposal, which changes neither the floor
file nor this text. So the parameters in the text can differ from the parameters in force.
"""

import hashlib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, Self, get_args

import msgspec
from msgspec.structs import asdict, astuple

from bonus.display import item_words, money, rate_text, wager_text
from bonus.law.games import GameMeters, chapter_games
from bonus.law.meter_terms import paytable_choices
from bonus.rounds import WrittenPercent, written_percent
from bonus.settling.progressives_and_envy import percent_of_item
from bonus.wagers import Percent
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor, Link, Meter, MeterSettings, Table, TableSettings
from meters.floor.promotions import PromotionTerms
from meters.ledger.money_terms import (
    Parameter,
    TermsText,
    read_terms,
    terms_as_text,
    terms_text,
    terms_with_pool,
)

_NONE: Final = "none"
_FACILITY_KEYS: Final = frozenset({
    "validate_from", "tax_documents_from", "two_people_reject_above", "confirm_corrections",
    "require_all_hands", "demonstration",
})  # fmt: skip
_IN_CENTS: Final = (
    "validate_from", "tax_documents_from", "wager", "limit", "contribution_max", "payout_limit",
    "seed_cents", "reseed_cents", "minimum", "maximum", "adds", "threshold_cents",
)  # fmt: skip
_NUMBERS: Final = {
    **dict.fromkeys(_IN_CENTS, money),
    **dict.fromkeys(
        ("primary_bps", "reserve_bps", "primary_above_bps", "reserve_above_bps"), rate_text
    ),
}
"""The functions that write values of settings as text, by the name of the setting."""
_IN_WORDS: Final = {
    "validate_from": "a floorperson validates wins from",
    "tax_documents_from": "tax documents for wins from",
    "two_people_reject_above": "two people must reject",
    "confirm_corrections": "a floorperson confirms each correction",
    "require_all_hands": "the dealer enters all hands",
    "demonstration": "demonstration without real money",
    "community_ordered": "the order of the community cards counts",
    "limit": "payout limit",
    "overflow_to": "what is above the payout limit goes to",
    "smaller_wagers": "smaller wagers, in cents",
    "percents": "percentages that its largest wager wins",
    "link_shares": "wagers whose players on the whole link divide a part of it",
    "contribution_max": "largest contribution",
    "chance_ratio_max": "largest ratio of the chances of its games",
    "magic_card_every": "Magic Card, one round in",
    "lucky_every": "Lucky Bonus, one round in",
    "seed_cents": "seed",
    "reseed_cents": "reseed",
    "primary_bps": "rate to the meter",
    "reserve_bps": "rate to the reserve",
    "threshold_cents": "amount from which other rates apply",
    "primary_above_bps": "rate to the meter from this amount",
    "reserve_above_bps": "rate to the reserve from this amount",
}

_SHOWN: Final = frozenset({"id", "name", "tier"})
"""Settings of a meter that do not affect its money."""

_BY_PROPOSAL: Final = frozenset(get_args(Parameter))
_Settings = dict[str, object]


class _Text(msgspec.Struct, frozen=True, omit_defaults=True):
    """The configuration as a mapping. Settings with their default value are left out.

    `games` has the files of the house's games, so that each cell of their paytables is shown. A
    promotion also has the facility's time zone, which decides when the promotion starts.
    """

    facility: _Settings
    meters: dict[str, _Settings]
    tables: dict[str, _Settings]
    games: dict[str, _Settings] = {}
    promotions: dict[str, _Settings] = {}


@dataclass(frozen=True)
class LinkConfiguration:
    """The configuration of a link as text; the same settings always give the same text."""

    text: str

    @classmethod
    def of(cls, floor: Floor, link: Link) -> Self:
        facility = floor.facility
        held = _Text(
            facility=_given(facility, _FACILITY_KEYS),
            meters={
                meter.meter_id: _given(meter, set(MeterSettings.__struct_fields__) - _SHOWN)
                | _from_games(meter)
                for meter in link.meter
            },
            tables={
                table.id: _given(
                    msgspec.structs.replace(table, meters=tuple(sorted(table.meters))),
                    set(TableSettings.__struct_fields__) - {"id"},
                )
                | _game_file(table)
                for table in link.table
            },
            games={
                table.game: dict(_cells(table.chapter))
                for table in link.table
                if table.game in table.games.digests
            },
            promotions={
                one.id: _given(
                    msgspec.structs.replace(one, days=one.days_of_week),
                    set(PromotionTerms.__struct_fields__),
                )
                | {"timezone": facility.timezone}
                for one in link.promotion
            },
        )
        return cls(msgspec.json.encode(held, order="sorted").decode())

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def changed_from(self, before: Self) -> tuple[str, ...]:
        """Describe each difference from an earlier configuration.

        Raises:
            msgspec.DecodeError: one of the texts is not a configuration.
        """
        old, new = (msgspec.json.decode(each.text, type=_Text) for each in (before, self))
        return (
            *_changes("", _with_defaults(old.facility), _with_defaults(new.facility)),
            *_of_each("meter", old.meters, new.meters),
            *_of_each("table", old.tables, new.tables),
            *_of_each("game", old.games, new.games),
            *_of_promotions(old.promotions, new.promotions),
        )

    def only_follows(self, before: Self, in_force: Mapping[str, str]) -> bool:
        """Check that the only differences are parameters that two people have changed by proposal.

        Each meter must have its terms in force or its terms in the earlier configuration.
        `in_force` has the texts of the terms in force, by meter id.
        """
        try:
            old, new = (msgspec.json.decode(each.text, type=_Text) for each in (before, self))
            was, now = approved_terms(before.text), approved_terms(self.text)
        except ValueError:
            return False
        kept = [
            msgspec.structs.replace(
                each,
                meters={
                    name: {key: of for key, of in settings.items() if key not in _BY_PROPOSAL}
                    for name, settings in each.meters.items()
                },
            )
            for each in (old, new)
        ]
        return kept[0] == kept[1] and all(
            now[meter] in {was[meter], in_force.get(meter)} for meter in now
        )

    @cached_property
    def in_words(self) -> tuple[str, ...]:
        """The whole configuration in words and dollars, for the people who approve it.

        The line of a meter begins with the seed, in dollars and as a multiple of the wager, because
        a wrong seed is the error that people must see here.
        """
        held = msgspec.json.decode(self.text, type=_Text)
        facility = sorted(_with_defaults(held.facility).items())
        return (
            *(
                _meter_in_words(name, read_terms(_approved_terms(settings)), settings)
                for name, settings in sorted(held.meters.items())
            ),
            *(
                f"table {name}: {_shown(name, settings)}"
                for name, settings in sorted(held.tables.items())
            ),
            *(line for name, cells in held.games.items() for line in _game_in_words(name, cells)),
            *(
                _promotion_in_words(name, msgspec.convert(settings, ApprovedPromotion))
                for name, settings in sorted(held.promotions.items())
            ),
            *(f"{_words(name)}: {_shown(name, value)}" for name, value in facility),
        )

    @cached_property
    def seeds_cents(self) -> dict[str, int]:
        held = msgspec.json.decode(self.text, type=_Text)
        return {
            name: read_terms(_approved_terms(settings)).seed_cents
            for name, settings in held.meters.items()
        }


def _meter_in_words(name: str, terms: TermsText, settings: _Settings) -> str:
    if terms.must_hit_by:
        return _must_hit_by_in_words(name, terms)
    ratio = settings.get("chance_ratio_max")
    times, rest = divmod(terms.seed_cents, terms.wager_cents)
    multiple = f"{'about ' if rest else ''}{times:,} times its {wager_text(terms.wager_cents)}"
    parts = (
        f"seed {money(terms.seed_cents)}, {multiple}",
        *(
            f"a {wager_text(cents)} wins {cents}/{terms.wager_cents} of each percentage of it"
            for cents in terms.smaller_wagers
        ),
        f"reseed {money(terms.reseed_cents)}",
        f"{rate_text(terms.primary_bps)} of a wager to the meter",
        f"{rate_text(terms.reserve_bps)} to the reserve",
        terms.threshold_cents
        and f"from {money(terms.threshold_cents)}, {rate_text(terms.primary_above_bps)} to the"
        f" meter and {rate_text(terms.reserve_above_bps)} to the reserve",
        f"payout limit {money(terms.limit_cents) if terms.limit_cents else _NONE}",
        terms.overflow_to and f"what is above it goes to {terms.overflow_to}",
        terms.contribution_max_cents
        and f"largest contribution {money(terms.contribution_max_cents)}",
        terms.paytable and f"paytable {terms.paytable}",
        terms.magic_card_every and f"Magic Card, one round in {terms.magic_card_every}",
        terms.lucky_every and f"Lucky Bonus, one round in {terms.lucky_every}",
        ratio
        and f"a dollar can win the meter up to {ratio} times as often at one game as at another",
    )
    kind = "" if terms.kind == name else f" ({terms.kind})"
    return f"meter {name}{kind}: {'; '.join(str(part) for part in parts if part)}"


def _must_hit_by_in_words(name: str, terms: TermsText) -> str:
    wagers = " and ".join(map(item_words, terms.wagers))
    parts = (
        f"minimum {money(terms.seed_cents)}",
        f"must hit by {money(terms.maximum_cents)}",
        f"{terms.distribution} hidden value",
        f"{rate_text(terms.primary_bps)} of each {wagers} wager",
        terms.contribution_max_cents
        and f"largest contribution {money(terms.contribution_max_cents)}",
        terms.rule and f"rule {terms.rule}",
    )
    return f"meter {name} (must-hit-by): {'; '.join(str(part) for part in parts if part)}"


def _game_in_words(name: str, cells: _Settings) -> Iterator[str]:
    parts: dict[str, list[str]] = {}
    for path, cell in cells.items():
        part, _, last = path.rpartition(", ")
        parts.setdefault(part, []).append(f"{last} {cell}")
    for part, found in parts.items():
        yield f"game {name}{part and f', {part}'}: {'; '.join(found)}"


def _promotion_in_words(name: str, promotion: "ApprovedPromotion") -> str:
    parts = (
        f"the house adds {promotion.added_in_words}",
        promotion.days_in_words,
        f"{promotion.starts} to {promotion.ends} ({promotion.timezone})",
        promotion.period_in_words,
    )
    return f"promotion {name}: {'; '.join(filter(None, parts))}"


def approved_terms(text: str) -> dict[str, str]:
    """Return the terms of each meter, read from an approved text.

    Raises:
        msgspec.DecodeError: the text is not a configuration.
        ValueError: the chapters do not allow the terms of a meter.
    """
    held = msgspec.json.decode(text, type=_Text)
    return {meter: _approved_terms(settings) for meter, settings in held.meters.items()}


class ApprovedTable(msgspec.Struct, frozen=True):
    """A table in an approved text. `game_file` is the digest of a house game's file, or empty.

    `community_ordered` is true if the order of the community cards counts: the game has a wager on
    the first of them.
    """

    asset: str
    game: str
    positions: int
    game_file: str = ""
    meters: tuple[str, ...] = ()
    community_ordered: bool = False

    @property
    def plays(self) -> tuple[str, str]:
        return self.game, self.game_file


class MeterNames(msgspec.Struct, frozen=True):
    """The names of the wagers that feed a meter, and of the items that the meter pays.

    Items are the wagers, and the bonuses that are paid with these wagers. If no game of the house
    feeds the meter, both tuples are empty: the chapters of the law have these names. For a meter
    with smaller wagers, `percents` has what the largest wager wins of the meter, by the item, a
    blank and the hand. `link_shares` has, for each game that divides a part of the meter among all
    players of a wager on the link, the name of this wager.
    """

    wagers: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    percents: dict[str, tuple[WrittenPercent, ...]] = {}
    link_shares: dict[str, str] = {}


_NAMES: Final = tuple(MeterNames.__struct_fields__)


class ApprovedFacility(msgspec.Struct, frozen=True):
    """If `two_people_reject_above` is set, two people must reject wins above this many cents."""

    two_people_reject_above: int | None = None


class ApprovedPromotion(PromotionTerms, frozen=True, kw_only=True):
    """A promotion in an approved text."""

    timezone: str


class ApprovedFloor(msgspec.Struct, frozen=True):
    """What an audit needs from an approved text.

    `meters` has names only for the meters that games of the house feed.
    """

    tables: dict[str, ApprovedTable]
    meters: dict[str, MeterNames] = {}
    facility: ApprovedFacility = ApprovedFacility()
    promotions: dict[str, ApprovedPromotion] = {}

    @property
    def assets(self) -> dict[str, str]:
        return {table: approved.asset for table, approved in self.tables.items()}

    def community_ordered(self, table: str) -> bool:
        return table in self.tables and self.tables[table].community_ordered


APPROVED_FLOOR: Final = msgspec.json.Decoder(ApprovedFloor)
NOTHING_APPROVED: Final = ApprovedFloor({})


class _GameTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pool of a meter's terms, in the same order."""

    seed_cents: int
    reseed_cents: int
    primary_bps: int
    reserve_bps: int
    threshold_cents: int = 0
    primary_above_bps: int = 0
    reserve_above_bps: int = 0


_GAME_TERMS: Final = tuple(_GameTerms.__struct_fields__)


def _approved_terms(settings: _Settings) -> str:
    own = {name: of for name, of in settings.items() if name not in (*_NAMES, *_GAME_TERMS)}
    meter = msgspec.convert(own, MeterSettings)
    if _GAME_TERMS[0] not in settings:
        return terms_text(Meter(**asdict(meter), games=chapter_games()))
    of_games = msgspec.convert(settings, _GameTerms)
    return terms_as_text(terms_with_pool(meter, astuple(of_games)))


def _from_games(meter: Meter) -> _Settings:
    """Return the names and terms of a meter that a game of the house feeds.

    The result has the names of the wagers and items, the seed, the reseed and the rates. So a
    ledger explains the wagers of house games without the files of these games, which can change or
    be deleted.
    """
    if meter.must_hit_by:
        return {}
    known = chapter_games().meters
    of_house = any(game in meter.games.digests for game in meter.fed_in)
    if not of_house and meter.kind in known.titles:
        return {}
    terms = _GameTerms(*meter.terms.pool)
    games = GameMeters.of(meter.games[game] for game in meter.fed_in)
    named: _Settings = {
        "wagers": sorted(games.wagers_of(meter.kind)),
        "items": sorted(games.items_of(meter.kind)),
        **({"percents": _percents(meter, games)} if meter.smaller_wagers else {}),
        **({"link_shares": shared} if (shared := _link_shares(meter)) else {}),
    }
    pool: _Settings = msgspec.to_builtins(terms)
    return named | pool


def _link_shares(meter: Meter) -> _Settings:
    """Return the wager of each game whose players on the link divide a part of a meter."""
    found: dict[str, str] = {}
    for game in meter.fed_in:
        terms = meter.terms_in(game)
        divided = any(row.community_of(meter.kind) for row in terms.rows.values())
        if terms.community_on_link and divided:
            (found[game],) = terms.wagers
    return {**found}


def _percents(meter: Meter, games: GameMeters) -> _Settings:
    """Return what the largest wager wins of a meter, with each paytable that people can choose.

    They cannot choose a paytable with which a smaller wager would have no exact percentage.
    """
    found: dict[str, set[Percent]] = {}
    for game in meter.fed_in:
        for paytable in paytable_choices(meter.kind, meter.games, game) or (None,):
            try:
                terms = msgspec.structs.replace(meter, paytable=paytable).terms_in(game)
            except ValueError:
                continue
            for row, item in product(terms.rows.values(), games.items_of(meter.kind)):
                if percent := percent_of_item(item, row, terms):
                    found.setdefault(f"{item} {row.hand}", set()).add(percent)
    return {name: [*map(written_percent, sorted(each))] for name, each in sorted(found.items())}


def _game_file(table: Table) -> _Settings:
    digest = table.games.digests.get(table.game)
    ordered = {"community_ordered": True} if table.chapter.community_ordered else {}
    return {"game_file": digest, **ordered} if digest else {}


def _cells(of: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each cell of the file of a game, with its place in words.

    Empty cells, and references to rules, are left out.
    """
    match msgspec.to_builtins(of):
        case dict(inner):
            for name, each in inner.items():
                if not name.endswith("rule"):
                    yield from _cells(each, f"{place}, {_words(name)}".removeprefix(", "))
        case [dict(), *_] as inner:
            for number, each in enumerate(inner, start=1):
                yield from _cells(each, f"{place} {number}")
        case list(inner) | tuple(inner):
            if inner:
                yield place, " / ".join(map(str, inner))
        case value if value not in {None, "", False}:
            yield place, "yes" if value is True else str(value)


def _given(of: msgspec.Struct, names: Set[str]) -> _Settings:
    return {
        field.encode_name: msgspec.to_builtins(value)
        for field in msgspec.structs.fields(of)
        if field.name in names and (value := getattr(of, field.name)) != _default(field)
    }


def _default(field: msgspec.structs.FieldInfo) -> object:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()


def _of_each(
    what: str, old: Mapping[str, _Settings], new: Mapping[str, _Settings]
) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield f"{what} {name} added"
        elif name not in new:
            yield f"{what} {name} removed"
        else:
            yield from _changes(f"{what} {name} ", old[name], new[name])


def _of_promotions(old: Mapping[str, _Settings], new: Mapping[str, _Settings]) -> Iterator[str]:
    """Yield the differences of promotions. An added promotion is whole: it can pay at once."""
    there = {name: settings for name, settings in new.items() if name in old}
    yield from _of_each(
        "promotion",
        *(
            {
                name: settings
                | {"days": msgspec.convert(settings, ApprovedPromotion).days_in_words}
                for name, settings in each.items()
            }
            for each in (old, there)
        ),
    )
    for name in sorted(new.keys() - old.keys()):
        words = _promotion_in_words(name, msgspec.convert(new[name], ApprovedPromotion))
        yield f"added: {words}"


def _with_defaults(settings: _Settings) -> _Settings:
    fields = msgspec.structs.fields(Facility)
    return {one.name: _default(one) for one in fields if one.name in _FACILITY_KEYS} | settings


def _changes(of: str, old: _Settings, new: _Settings) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield f"{of}{_words(name)}: {_shown(name, before)} → {_shown(name, after)}"


def _words(name: str) -> str:
    return _IN_WORDS.get(name, name.replace("_", " "))


def _shown(name: str, value: object) -> str:
    if isinstance(value, dict):
        if name == "percents":
            value = {hand: [f"{each}%" for each in found] for hand, found in value.items()}
        parts = (f"{_words(one)} {_shown(one, each)}" for one, each in sorted(value.items()))
        return ", ".join(parts)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or _NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "two_people_reject_above":
        return f"wins above {money(value)}" if isinstance(value, int) else "each hand pay"
    if isinstance(value, int) and name in _NUMBERS:
        return _NUMBERS[name](value)
    return _NONE if value is None else str(value)
