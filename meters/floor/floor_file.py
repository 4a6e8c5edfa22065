"""The floor file: a TOML text that describes a facility. A file with an error is refused whole."""

import os
import pwd
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from msgspec.structs import asdict

from bonus.display import money, rate_text
from bonus.errors import UserError, nearest
from bonus.law.chapter_file import Chapter
from bonus.law.choices import choice_problem
from bonus.law.games import Games, chapter_games
from bonus.law.meter_terms import MeterTerms, meter_terms, paytable_choices
from bonus.wagers import MICROS_PER_CENT, MUST_HIT_BY, Percent, jackpot_item
from meters.floor.branding import Branding, ThemeName, branding_problems
from meters.floor.facility import (
    SERVICE_PATHS,
    ArchiveSettings,
    Config,
    Facility,
    Problem,
    Service,
    archive_problems,
    facility_problems,
    service_from,
    service_problems,
)
from meters.floor.fixed_jackpots import FixedJackpotSettings, fixed_payout_cents, validation_problem
from meters.floor.game_files import read_games
from meters.floor.must_hit_by_settings import MUST_HIT_BY_TITLE, MustHitBy, must_hit_by_problems
from meters.floor.promotions import PromotionSettings, promotion_problems
from meters.floor.themes import BUILT_IN, theme_problem
from meters.floor.toml_errors import read_file, read_toml, unprintable_texts
from meters.wire.messages import LINK_PLAYERS_BYTES_MAX, link_players_bytes
from meters.wire.topics import IDENTIFIER, METER_IDENTIFIER

Identifier = Annotated[
    str,
    msgspec.Meta(pattern=rf"\A{IDENTIFIER}\Z", description="1 to 32 letters, digits and hyphens"),
]
MeterIdentifier = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"\A{METER_IDENTIFIER}\Z",
        description="1 to 32 letters, digits, hyphens and underscores",
    ),
]

# With these signs, two numbers never look the same to the people who approve them (duty D5).
_ASSET: Final = re.compile("[!-~]+(?: [!-~]+)*")
_ASSET_WRONG: Final = (
    "asset must have only letters, digits and signs of ASCII, with single blanks between them"
)


Pools = dict[str, dict[str, str | None]]
"""The games that feed each meter of a link, with the reason why a game does not fit, or None.

All games must have the seed, reseed and rates of the first game. A link can have thousands of
tables, so each game is compared only once for each meter.
"""

_PATHS: Final = frozenset({*SERVICE_PATHS, "directory", "logo", "theme", "games"})

ConfigOption = Annotated[
    Path, typer.Option("--config", help="The floor file.", metavar="FLOOR.toml")
]


class FloorError(UserError):
    """Floor file with an error. The message has the reason, and the line if it is known."""


NOT_APPROVED: Final = "the floor file is not as approved"
"""The beginning of a link's problem if people have not approved the floor file for the link."""


WAGER_CENTS_MAX: Final = 1_000_000
LIMIT_CENTS_MAX: Final = 10**11
"""Largest payout limit, and largest contribution, that a floor file can set: a billion dollars.

The ledger can count nine times this amount exactly.
"""


class MeterSettings(Config, frozen=True, kw_only=True):
    """One meter (duty D3), as the floor file has it.

    Attributes:
        kind: the kind of the meter in its game: ``"progressive"``, ``"five_card_progressive"``,
            ``"five_of_six_progressive"``, ``"five_card_hand_bonus"``, or a meter of a house
            game; or ``"must_hit_by"``, with the section ``[link.meter.must_hit_by]``.
        wager: the amount of every wager on the meter, in cents: $1 or $5 for the progressives of
            the chapters, any amount for the Five Card Hand Bonus. Only ``"must_hit_by"`` has no
            such amount. With `smaller_wagers`, the largest amount.
        paytable: ``"A"`` or ``"B"`` for `progressive`, or the letter that a house game asks for.
        id: the meter's name for tables and topics; by default, the name of its kind.
        name: the name that patrons read; by default, the usual name of its kind.
        magic_card_every: for `five_card_hand_bonus`: a Magic Card is drawn once in so many rounds,
            on average; 0 for never.
        lucky_every: for `five_card_hand_bonus`: a Lucky Bonus is drawn once in so many rounds, on
            average; 0 for never.
        limit: the payout limit in cents. The meter does not rise above this amount. Further
            contributions wait in the meter's overflow, and refill the meter as soon as there is
            room, even between two wins of one round. `pitlink check` warns if wins at the limit pay
            less than the wagers add.
        contribution_max: the most, in cents, that the wagers of one round at one table can add to
            the meter and its reserve. The service refuses wagers that add more: they must be an
            error.
        chance_ratio_max: games or wagers that share the meter can differ in the probability that a
            dollar wins it. `pitlink check` fails if the highest probability is more than so many
            times the lowest (duty D21). If a hand wins a percentage of the meter, only this
            percentage of its probability counts.
        tier: the rank of the meter on displays: its place, size and metal. Without the key, meters
            that the same wager feeds are ranked by their seeds; all other meters are equal.
        overflow_to: the id of another meter of the link, which gets at once what would raise this
            meter above its limit. What is above the limit of that meter too waits in its overflow.
            That meter is no must-hit-by meter, and has no `overflow_to` of its own. The key cannot
            change once the meter has begun.
        smaller_wagers: for a meter of a house game: smaller amounts, in cents, that a wager on the
            meter can also have, the largest first. Every percentage of the meter is in proportion:
            with `wager = 500` and `smaller_wagers = [100]`, ``10% of meter`` is 2% for $1. The seed
            is for `wager`. The key cannot change once the meter has begun.
    """

    kind: str
    wager: Annotated[int, msgspec.Meta(ge=1, le=WAGER_CENTS_MAX)] = 0
    paytable: str | None = None
    id: MeterIdentifier | None = None
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] | None = None
    magic_card_every: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    lucky_every: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=LIMIT_CENTS_MAX)] | None = None
    contribution_max: Annotated[int, msgspec.Meta(ge=1, le=LIMIT_CENTS_MAX)] | None = None
    chance_ratio_max: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1
    tier: Annotated[int, msgspec.Meta(ge=1, le=3)] | None = None
    must_hit_by: MustHitBy | None = None
    overflow_to: MeterIdentifier | None = None
    smaller_wagers: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=1, le=WAGER_CENTS_MAX)], ...],
        msgspec.Meta(max_length=3),
    ] = ()

    @property
    def wagers_cents(self) -> tuple[int, ...]:
        """Every amount of a wager on the meter, the largest first."""
        return (self.wager, *self.smaller_wagers)

    @property
    def meter_id(self) -> str:
        return self.id or self.kind


class Meter(MeterSettings, frozen=True, kw_only=True):
    """One meter. `fed_in` has the games whose tables on the link feed it."""

    games: Games
    fed_in: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        if self.must_hit_by:
            return self.name or MUST_HIT_BY_TITLE
        return self.name or self.games.meters.titles[self.kind]

    @property
    def terms(self) -> MeterTerms:
        """The terms, with the payouts of the first game that feeds the meter."""
        return self.terms_in(next(iter(self.fed_in), ""))

    @property
    def wagers(self) -> tuple[str, ...]:
        if self.must_hit_by:
            return self.must_hit_by.wagers
        return self.games.meters.wagers_of(self.kind)

    @property
    def has_draws(self) -> bool:
        """True if Magic Cards and Lucky Bonuses can be drawn for the meter."""
        terms = self.games.meters.terms
        return not self.must_hit_by and any(terms[wager].draws for wager in self.wagers)

    def terms_in(self, game: str) -> MeterTerms:
        """Return the terms in a game, with the payouts of this game's wager.

        If `game` is empty, the first game with such a meter is used.

        Raises:
            ValueError: the game does not allow a meter with these terms.
        """
        if self.must_hit_by:
            return self.must_hit_by.terms
        return meter_terms(
            self.kind, self.wager, self.paytable, game, self.games, self.smaller_wagers
        )


class TableSettings(Config, frozen=True, kw_only=True):
    """One table, as the floor file has it.

    Attributes:
        id: the table's name in topics and on pages.
        asset: the facility's number for the table (duty D5): letters, digits and signs of ASCII,
            with single blanks between them. So two different numbers never look the same.
        game: ``"three_card_poker"``, ``"three_card_prime"``, ``"four_card_prime"``, or a game of
            the house.
        positions: at most 7 for Three Card Poker, and at most 6 for the Prime games. The file of a
            house game has the game's own maximum.
        meters: the ids of the meters that the table feeds, at most one of each kind. If a wager
            feeds several meters, the table needs all of them. Games with the same seed, reseed and
            rates can share a meter.
        paytables: what the house chose for the table in its Rules Submission, such as ``{
            ante_bonus = "b-A", pair_plus = "A" }``.
    """

    id: Identifier
    asset: Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
    game: str
    positions: Annotated[int, msgspec.Meta(ge=1)]
    meters: tuple[str, ...] = ()
    paytables: dict[str, str | int | dict[str, int]] = {}  # noqa: RUF012  (a struct copies it)


class Table(TableSettings, frozen=True, kw_only=True):
    games: Games

    @property
    def chapter(self) -> Chapter:
        return self.games[self.game]


class LinkSettings(Config, frozen=True, kw_only=True):
    """One link, as the floor file has it.

    Attributes:
        id: the name of the link in topics and addresses.
        name: the name that people read.
        theme: the theme of this link's pages; by default, the theme of `[signage]`.
    """

    id: Identifier
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    theme: ThemeName | None = None
    meter: tuple[MeterSettings, ...] = ()
    fixed_jackpot: tuple[FixedJackpotSettings, ...] = ()
    table: tuple[TableSettings, ...] = ()
    promotion: tuple[PromotionSettings, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedJackpot:
    """A fixed payout that displays show beside the meters, with its amount under present terms."""

    id: str
    name: str
    meter: Meter
    hand: str
    amount_cents: int


class Link(LinkSettings, frozen=True, kw_only=True):
    """A link: meters, and the tables whose wagers feed these meters (605a.8)."""

    meter: tuple[Meter, ...] = ()
    table: tuple[Table, ...] = ()
    games: Games

    def meters_of(self, table: Table) -> Mapping[str, Meter]:
        """Return the meters that hands of a table can win, by kind: at most one of each kind."""
        return {
            meter.kind: meter
            for meter in self.meter
            if meter.meter_id in table.meters and not meter.must_hit_by
        }

    @property
    def titles(self) -> Mapping[str, str]:
        """The names of wagers, bonuses and jackpots for people, by the items of their wins."""
        won = {jackpot_item(one.meter_id): one.title for one in self.meter if one.must_hit_by}
        return {**self.games.titles, **won}

    @property
    def hand_meters(self) -> tuple[Meter, ...]:
        """The meters that hands win: all but the must-hit-by meters."""
        return tuple(meter for meter in self.meter if not meter.must_hit_by)

    def overflow_of(self, meter: Meter) -> tuple[str, int]:
        """Return the meter that gets what is above a meter's limit, and its own limit in micros.

        The id is empty if the meter keeps it in its overflow. A limit of 0 means no limit.
        """
        for other in self.meter:
            if other.meter_id == meter.overflow_to:
                return other.meter_id, (other.limit or 0) * MICROS_PER_CENT
        return "", 0

    @property
    def fixed_jackpots(self) -> tuple[FixedJackpot, ...]:
        """The fixed jackpots that displays can show.

        If people changed the terms of a meter so that the hand has no fixed payout at some table,
        its jackpot is left out.
        """
        found = []
        for each in self.fixed_jackpot:
            try:
                found.append(_fixed_jackpot(self, each))
            except ValueError:
                continue
        return tuple(found)

    def must_hit_by_of(self, table: Table) -> tuple[Meter, ...]:
        """Return the must-hit-by meters that a table feeds."""
        return tuple(
            meter for meter in self.meter if meter.must_hit_by and meter.meter_id in table.meters
        )


def _terms_problems(meter: Meter, spot: tuple[str | int, ...]) -> Iterator[Problem]:
    if not meter.wager:
        yield spot, f"meter {meter.meter_id} needs `wager`, the amount of its wagers in cents"
    kinds = meter.games.meters.titles
    if meter.kind not in kinds:
        reason = f"there is no kind {meter.kind}{nearest(meter.kind, [*kinds, MUST_HIT_BY])}"
        if not meter.games.digests:
            reason += ". A game of the house needs the key `games` under [facility]"
        yield (*spot, "kind"), reason
    try:
        if wrong := limit_problem(meter):
            yield (*spot, "limit"), wrong
    except ValueError as error:
        if meter.smaller_wagers and _offered_at(msgspec.structs.replace(meter, smaller_wagers=())):
            yield (*spot, "smaller_wagers"), str(error)
        elif _offered_at(meter):
            yield (*spot, "paytable"), str(error)
        else:
            yield (*spot, "wager"), f"{error}; wager is in cents: $1 is 100"


_UNFIT: Final = (
    "wager", "paytable", "magic_card_every", "lucky_every", "limit", "chance_ratio_max",
    "overflow_to", "smaller_wagers",
)  # fmt: skip
"""The settings that a must-hit-by meter cannot have: no hand wins it."""
_PLAIN: Final = MeterSettings(kind="")


def _must_hit_by_problems(
    meter: Meter, wager_cents: Mapping[str, int], spot: tuple[str | int, ...]
) -> Iterator[Problem]:
    if meter.must_hit_by is None:
        yield (*spot, "kind"), f"{MUST_HIT_BY} needs the section [link.meter.{MUST_HIT_BY}]"
        return
    if meter.kind != MUST_HIT_BY:
        yield (*spot, MUST_HIT_BY), f'this section is only for kind = "{MUST_HIT_BY}"'
    for name in _UNFIT:
        if getattr(meter, name) != getattr(_PLAIN, name):
            yield (*spot, name), f"no hand wins a {MUST_HIT_BY} meter, so it has no `{name}`"
    if meter.meter_id in meter.games.meters.titles:
        yield (*spot, "id"), f"a game has a meter {meter.meter_id}: give this one another id"
    known = meter.games.meters.terms
    for path, reason in must_hit_by_problems(meter.must_hit_by, known, wager_cents):
        yield (*spot, MUST_HIT_BY, *path), reason


def paytables_of_meters(table: Table, meters: Iterable[Meter]) -> dict[str, str]:
    """For each wager that feeds a meter with a choice of paytables, return the chosen paytable."""
    chosen = {meter.kind: meter.paytable for meter in meters if meter.paytable}
    return {
        wager.names[0]: chosen[kind]
        for wager in table.chapter.wager
        for kind in wager.fed[:1]
        if kind in chosen
    }


def fewest_positions(link: Link, meter: Meter) -> int:
    """Return how many positions the smallest table that feeds a meter has; 1 if no table does."""
    return min(
        (table.positions for table in link.table if meter.meter_id in table.meters), default=1
    )


class FloorSettings(Config, frozen=True, kw_only=True):
    facility: Facility
    service: Service = Service()
    signage: Branding = Branding()
    archive: ArchiveSettings = ArchiveSettings()
    link: Annotated[tuple[LinkSettings, ...], msgspec.Meta(min_length=1)]


class Floor(FloorSettings, frozen=True, kw_only=True):
    link: tuple[Link, ...]
    games: Games

    @property
    def games_played(self) -> tuple[Chapter, ...]:
        """The games of the tables. A game of several tables is listed once."""
        names = dict.fromkeys(table.game for link in self.link for table in link.table)
        return tuple(self.games[name] for name in names)

    def find_table(self, table_id: str) -> tuple[Link, Table] | None:
        for link in self.link:
            for table in link.table:
                if table.id == table_id:
                    return link, table
        return None


def parse_floor(text: str, name: str = "floor file", directory: Path | None = None) -> Floor:
    """Parse and check the text of a whole floor file.

    If the floor file names its game files by a relative path, the path starts at `directory`.

    Raises:
        GameError: a game file of the house has an error.
        FloorError: the text has an error. The message has the line and the reason.
    """
    read, raw, source_lines = read_toml(text, name, FloorSettings, FloorError)
    named = read.facility.games
    games = chapter_games() if named is None else read_games((directory or Path()) / named)
    floor = _floor_of(read, games)
    for path, reason in chain(_problems(floor), unprintable_texts(raw, (), besides=_PATHS)):
        raise FloorError(f"{name}:{source_lines.line_of(path)}: {reason}")
    return floor


def _floor_of(text: FloorSettings, games: Games) -> Floor:
    links = tuple(
        Link(
            id=link.id,
            name=link.name,
            theme=link.theme,
            meter=tuple(
                Meter(**asdict(meter), games=games, fed_in=_fed_in(link, meter, games))
                for meter in link.meter
            ),
            fixed_jackpot=link.fixed_jackpot,
            table=tuple(Table(**asdict(table), games=games) for table in link.table),
            promotion=link.promotion,
            games=games,
        )
        for link in text.link
    )
    return Floor(**{**asdict(text), "link": links}, games=games)


def _fed_in(link: LinkSettings, meter: MeterSettings, games: Games) -> tuple[str, ...]:
    known: Iterable[str] = (game.game for game in games.with_meter(meter.kind))
    if meter.must_hit_by:
        known = games
    known = frozenset(known)
    played = [table.game for table in link.table if meter.meter_id in table.meters]
    return tuple(dict.fromkeys(game for game in played if game in known))


def read_floor(path: Path) -> Floor:
    """Read and check a floor file. Return the floor with absolute paths.

    Raises:
        FloorError: the file is missing, or has an error.
        GameError: a game file of the house has an error.
    """
    directory = path.absolute().parent
    floor = parse_floor(read_file(path, FloorError), str(path), directory)
    archive, signage = floor.archive, floor.signage
    logo = signage.logo and str(directory / signage.logo)

    def rooted(theme: str) -> str:
        return theme if theme in BUILT_IN else str(directory / theme)

    return msgspec.structs.replace(
        floor,
        service=service_from(floor.service, directory),
        archive=msgspec.structs.replace(archive, directory=str(directory / archive.directory)),
        signage=msgspec.structs.replace(signage, logo=logo, theme=rooted(signage.theme)),
        link=tuple(
            msgspec.structs.replace(link, theme=link.theme and rooted(link.theme))
            for link in floor.link
        ),
    )


def read_own_floor(path: Path) -> Floor:
    """Read the floor file for a command that uses the floor's data.

    Raises:
        UserError: `read_floor` fails, or root runs the command on another account's data.
    """
    floor = read_floor(path)
    _check_account(floor.service.data, floor.archive.directory)
    return floor


def links_named(config: Path, floor: Floor, link: str | None) -> Sequence[Link]:
    """Return the link with the id `link`, or all links if `link` is None.

    Raises:
        UserError: the link does not exist.
    """
    known = [each.id for each in floor.link]
    if link is not None and link not in known:
        raise UserError(f"{config}: there is no link {link}{nearest(link, known)}")
    return [each for each in floor.link if link in {None, each.id}]


def _check_account(*directories: str) -> None:
    """Raise `UserError` if root works on data of another account.

    The other account can put symbolic links there, and root would read or write their targets.
    """
    if os.geteuid() != 0:
        return
    for directory in map(Path, directories):
        there = next(each for each in (directory, *directory.parents) if each.exists())
        owner = there.stat().st_uid
        if owner == 0:
            continue
        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"'#{owner}'"
        raise UserError(
            f"{there} belongs to the account {name}, which can put symbolic links there that root"
            f" would follow. Run the command as that account: runuser -u {name} -- pitlink ..."
        )


def _problems(floor: Floor) -> Iterator[Problem]:
    # Only the first error is read, because each check relies on the checks before it.
    yield from facility_problems(floor.facility)
    yield from archive_problems(floor.archive)
    yield from service_problems(floor.service)
    if wrong := theme_problem(floor.signage.theme):
        yield ("signage", "theme"), wrong
    yield from branding_problems(floor.signage)
    tables: dict[str, str] = {}
    assets: dict[str, str] = {}
    links: set[str] = set()
    for number, link in enumerate(floor.link):
        here = ("link", number)
        if link.id in links:
            yield (*here, "id"), f"link {link.id} is in the file twice"
        links.add(link.id)
        if link.theme is not None and (wrong := theme_problem(link.theme)):
            yield (*here, "theme"), wrong
        yield from _meter_problems(link, here)
        yield from _overflow_problems(link, here)
        pools: Pools = {}
        for at, table in enumerate(link.table):
            spot = (*here, "table", at)
            if table.id in tables:
                yield (*spot, "id"), f"table {table.id} is already on link {tables[table.id]}"
            tables[table.id] = link.id
            asset = table.asset
            if not _ASSET.fullmatch(asset):
                yield (*spot, "asset"), _ASSET_WRONG
            if asset in assets:
                yield (*spot, "asset"), f"table {assets[asset]} already has the asset {asset}"
            assets[asset] = table.id
            yield from _game_problems(table, spot)
            yield from _table_problems(link, table, pools, spot)
        yield from _fixed_jackpot_problems(link, floor.facility.validate_from, here)
        yield from _link_share_problems(link, here)
        yield from _promotion_problems(link, floor.link, here)


def tier_problem(link: Link) -> str | None:
    problems = (
        _tier_problems(table, link.meters_of(table), ()) for table in differing_tables(link)
    )
    return next((reason for _, reason in chain.from_iterable(problems)), None)


def feeding_problem(link: Link) -> str | None:
    """Return why the terms or amounts of a meter do not fit a link; None if they fit.

    If games of several tables feed a meter, all must allow its terms, and have the same seed,
    reseed and rates for it.
    """
    pools: Pools = {}
    for table in differing_tables(link):
        for _, reason in _pool_problems(table, link.meters_of(table).values(), pools, ()):
            return reason
    wager_cents = _wager_cents(link)
    for meter in link.meter:
        for _, reason in _must_hit_by_problems(meter, wager_cents, ()) if meter.must_hit_by else ():
            return reason
    try:
        return next(filter(None, map(limit_problem, link.meter)), None)
    except ValueError as error:
        return str(error)


def link_problem(link: Link) -> str | None:
    return tier_problem(link) or feeding_problem(link)


def differing_tables(link: Link) -> tuple[Table, ...]:
    """Return one table for each game and choice of meters: a link can have thousands of tables."""
    return tuple({(table.game, table.meters): table for table in link.table}.values())


def _meter_problems(link: Link, here: tuple[str | int, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    wager_cents = _wager_cents(link)
    for at, meter in enumerate(link.meter):
        spot = (*here, "meter", at)
        if meter.meter_id in seen:
            reason = f"meter {meter.meter_id} appears twice on link {link.id}: change one id"
            yield (*spot, "id"), reason
        seen.add(meter.meter_id)
        if meter.must_hit_by or meter.kind == MUST_HIT_BY:
            yield from _must_hit_by_problems(meter, wager_cents, spot)
            continue
        yield from _terms_problems(meter, spot)
        for draw in ("magic_card_every", "lucky_every"):
            if getattr(meter, draw) and not meter.has_draws:
                reason = f"{draw} goes with five_card_hand_bonus only (649a.12(i)(3))"
                yield (*spot, draw), reason


def _overflow_problems(link: Link, here: tuple[str | int, ...]) -> Iterator[Problem]:
    by_id = {meter.meter_id: meter for meter in link.meter}
    for at, meter in enumerate(link.meter):
        spot, named = (*here, "meter", at, "overflow_to"), meter.overflow_to
        if named is None:
            continue
        if meter.limit is None:
            yield spot, f"{meter.meter_id} has no `limit`, so nothing is ever above it"
        if named not in by_id:
            reason = f"link {link.id} has no meter {named}{nearest(named, by_id)}"
            yield spot, reason
        if named == meter.meter_id:
            yield spot, f"{named} cannot get its own overflow: leave out `overflow_to`"
        if by_id[named].must_hit_by:
            reason = (
                f"{named} is a must-hit-by meter: the overflow could take it to the hidden value"
                " without a wager of its own"
            )
            yield spot, reason
        if by_id[named].overflow_to:
            reason = f"{named} itself has `overflow_to`: name {by_id[named].overflow_to} here"
            yield spot, reason
        if meter.fed_in and not by_id[named].fed_in:
            reason = f"no table of link {link.id} has the meter {named}: nobody could win"
            yield spot, reason


def _fixed_jackpot_problems(
    link: Link, validate_from_cents: int, here: tuple[str | int, ...]
) -> Iterator[Problem]:
    ids = {meter.meter_id for meter in link.meter}
    earlier: list[FixedJackpot] = []
    for at, each in enumerate(link.fixed_jackpot):
        spot = (*here, "fixed_jackpot", at)
        if each.jackpot_id in ids:
            reason = f"link {link.id} already has a meter or fixed jackpot {each.jackpot_id}"
            yield (*spot, "id"), f"{reason}: write another id"
        ids.add(each.jackpot_id)
        by_id = {meter.meter_id: meter for meter in link.hand_meters}
        if each.meter not in by_id:
            reason = f"link {link.id} has no meter {each.meter} that a hand wins"
            yield (*spot, "meter"), reason + nearest(each.meter, by_id)
        if not by_id[each.meter].fed_in:
            reason = f"no table of link {link.id} has the meter {each.meter}: nobody could win"
            yield (*spot, "meter"), reason
        try:
            jackpot = _fixed_jackpot(link, each)
        except ValueError as error:
            yield (*spot, "hand"), str(error)
            continue
        terms = _terms_by_game(jackpot.meter)
        cents = jackpot.amount_cents
        if wrong := validation_problem(cents, terms, link.games, validate_from_cents):
            yield (*spot, "hand"), wrong
        for other in earlier:
            if _is_same_win(link, jackpot, other):
                reason = f"fixed jackpot {other.id} is the same win: write it only once"
                yield (*spot, "hand"), reason
        earlier.append(jackpot)


def _link_share_problems(link: Link, here: tuple[str | int, ...]) -> Iterator[Problem]:
    """Report a link with so many tables that a reply could be too long for a broker.

    The reply to a result names the players of the link once for each meter that they divide.
    """
    for table in differing_tables(link):
        divided = sum(
            meter.terms_in(table.game).community_on_link for meter in link.meters_of(table).values()
        )
        longest = divided and divided * link_players_bytes(
            {each.id: each.positions for each in link.table}
        )
        if longest > LINK_PLAYERS_BYTES_MAX:
            reason = (
                f"{table.game} divides a community share among the players of the whole link, and"
                f" link {link.id} has too many tables for it: the reply to a result could name"
                f" players in {longest:,} bytes, and {LINK_PLAYERS_BYTES_MAX:,} are the most;"
                " divide the tables among several links"
            )
            yield (*here, "table"), reason


def _promotion_problems(
    link: Link, links: Iterable[Link], here: tuple[str | int, ...]
) -> Iterator[Problem]:
    by_id = {meter.meter_id: meter for meter in link.meter}
    seen: set[str] = set()
    for at, each in enumerate(link.promotion):
        spot = (*here, "promotion", at)
        if each.id in seen:
            yield (*spot, "id"), f"promotion {each.id} appears twice on link {link.id}"
        seen.add(each.id)
        if each.meter not in by_id:
            reason = f"link {link.id} has no meter {each.meter}{nearest(each.meter, by_id)}"
            for other in links:
                if each.meter in {meter.meter_id for meter in other.meter}:
                    reason = f"{each.meter} is a meter of link {other.id}"
                    reason += ": move the promotion below that link"
            yield (*spot, "meter"), reason
        if by_id[each.meter].must_hit_by:
            reason = (
                f"{each.meter} is a must-hit-by meter: a promotion could take it to the hidden"
                " value without a wager"
            )
            yield (*spot, "meter"), reason
        if not by_id[each.meter].fed_in:
            reason = f"no table of link {link.id} has the meter {each.meter}: nobody could win"
            yield (*spot, "meter"), reason
        for path, reason in promotion_problems(each):
            yield (*spot, *path), reason


def _fixed_jackpot(link: Link, settings: FixedJackpotSettings) -> FixedJackpot:
    """Return a fixed jackpot with its amount, or raise `ValueError` if it has no such amount."""
    meter = next(each for each in link.hand_meters if each.meter_id == settings.meter)
    cents = fixed_payout_cents(settings.hand, _terms_by_game(meter))
    return FixedJackpot(settings.jackpot_id, settings.name, meter, settings.hand, cents)


def _terms_by_game(meter: Meter) -> dict[str, MeterTerms]:
    return {game: meter.terms_in(game) for game in meter.fed_in}


def _is_same_win(link: Link, one: FixedJackpot, other: FixedJackpot) -> bool:
    """Check if two fixed jackpots are of one wager: a wager can feed several meters."""
    both = {one.meter.meter_id, other.meter.meter_id}
    shared = any(both.issubset(table.meters) for table in link.table)
    return shared and (one.hand, one.meter.wagers) == (other.hand, other.meter.wagers)


def _wager_cents(link: Link) -> dict[str, int]:
    """Return the largest amount of each wager that feeds a meter which hands win."""
    found: dict[str, int] = {}
    for meter in link.hand_meters:
        for wager in meter.wagers:
            found[wager] = max(meter.wager, found.get(wager, 0))
    return found


def limit_problem(meter: Meter) -> str | None:
    if meter.must_hit_by:
        return None
    if too_much := _amount_problem(meter.terms):
        return too_much
    threshold_cents = meter.terms.threshold_cents
    if meter.limit is None and not threshold_cents:
        return None
    games = [meter.terms_in(game) for game in meter.fed_in or ("",)]
    rows = [row for terms in games for row in terms.rows.values()]
    wins = {row.percent_of(meter.kind) + row.community_of(meter.kind) for row in rows}
    wins |= {terms.bad_beat.total for terms in games if terms.bad_beat}
    if threshold_cents and 100 not in wins:
        return (
            "no hand wins the whole meter, so nobody would win its reserve, to which wagers add"
            f" more from {money(threshold_cents)}: leave out [wager.table.progression.above]"
        )
    rows += [row for terms in games for of in terms.smaller_rows.values() for row in of.values()]
    percents = wins | {
        percent
        for row in rows
        for percent in (
            row.percent_of(meter.kind), row.community_of(meter.kind), row.envy_of(meter.kind)
        )
    }  # fmt: skip
    return None if meter.limit is None else _too_low(meter, meter.limit, percents)


def _too_low(meter: Meter, limit_cents: int, percents: Set[Percent]) -> str | None:
    least = max(meter.terms.seed_cents, meter.terms.reseed_cents)
    if limit_cents < least:
        return (
            f"a limit of {money(limit_cents)} is below the meter's seed or reseed of {money(least)}"
        )
    if limit_cents < meter.terms.threshold_cents:
        return (
            f"a limit of {money(limit_cents)} is below {money(meter.terms.threshold_cents)}, the"
            " amount from which other rates apply: they would never apply; set a higher limit"
        )
    if limit_cents == meter.terms.reseed_cents and percents <= {0, 100}:
        return (
            f"a limit of {money(limit_cents)} is the meter's reseed, and a hand wins the whole"
            " meter or nothing: what is above the limit could never be won; set a higher limit"
        )
    return None


def _amount_problem(terms: MeterTerms) -> str | None:
    wins = [row.fixed_cents(terms.wager_cents) + row.envy_cents for row in terms.rows.values()]
    amounts = (terms.seed_cents, terms.reseed_cents, terms.threshold_cents)
    if max(*amounts, *wins) <= LIMIT_CENTS_MAX:
        return None
    most = money(LIMIT_CENTS_MAX)
    return (
        "the seed, the reseed, the amount from which other rates apply, or a win of this wager is"
        f" more than {most}, the most that is allowed"
    )


def _offered_at(meter: Meter) -> bool:
    for paytable in paytable_choices(meter.kind, meter.games) or (None,):
        try:
            msgspec.structs.replace(meter, paytable=paytable).terms  # noqa: B018  (it raises)
        except ValueError:
            continue
        return True
    return False


def _game_problems(table: Table, spot: tuple[str | int, ...]) -> Iterator[Problem]:
    if table.game not in table.games:
        reason = f"there is no game {table.game}{nearest(table.game, table.games)}"
        yield (*spot, "game"), reason
    chapter = table.chapter
    positions_max = chapter.deal.positions
    if table.positions > positions_max:
        yield (*spot, "positions"), f"{table.game} has no more than {positions_max} positions"
    if table.meters and not chapter.meter:
        yield (*spot, "meters"), f"{table.game} has no wager that feeds a linked meter"
    for wager, choice in table.paytables.items():
        wrong = choice_problem(chapter, wager, choice, table.paytables)
        if wrong:
            yield (*spot, "paytables", wager), wrong


def _table_problems(
    link: Link, table: Table, pools: Pools, spot: tuple[str | int, ...]
) -> Iterator[Problem]:
    by_id = {meter.meter_id: meter for meter in link.meter}
    fed: dict[str, Meter] = {}
    for at, meter_id in enumerate(table.meters):
        place = (*spot, "meters", at)
        if meter_id not in by_id:
            reason = f"link {link.id} has no meter {meter_id}{nearest(meter_id, by_id)}"
            yield place, reason
        if meter_id in table.meters[:at]:
            yield place, f"{meter_id} is listed twice"
        if by_id[meter_id].must_hit_by:
            kinds = link.meters_of(table).keys()
            yield from _eligible_problems(table, by_id[meter_id], kinds, place)
            continue
        kind = by_id[meter_id].kind
        other = fed.setdefault(kind, by_id[meter_id]).meter_id
        if other != meter_id:
            reason = f"{meter_id} and {other} are both {kind}: a table has at most one of a kind"
            yield place, reason
    for meter in fed.values():
        for wager in meter.wagers:
            chosen = table.paytables.get(wager)
            if chosen and chosen != meter.paytable:
                reason = (
                    f"{wager} has paytable {chosen} here, but its meter {meter.meter_id} has"
                    f" {meter.paytable}: write the same paytable for both"
                )
                yield (*spot, "paytables", wager), reason
    yield from _tier_problems(table, fed, spot)
    yield from _pool_problems(table, fed.values(), pools, spot)


def _eligible_problems(
    table: Table, meter: Meter, fed: Set[str], place: tuple[str | int, ...]
) -> Iterator[Problem]:
    wagers = {
        name
        for tables in table.chapter.wager
        if tables.fed and fed >= set(tables.fed)
        for name in tables.names
    }
    if wagers.isdisjoint(meter.wagers):
        listed = ", ".join(meter.wagers)
        reason = (
            f"table {table.id} takes none of the wagers that feed {meter.meter_id}, because it"
            f" lacks their meters: {listed}"
        )
        yield place, reason


def _tier_problems(
    table: Table, meters: Mapping[str, Meter], spot: tuple[str | int, ...]
) -> Iterator[Problem]:
    for wager in table.chapter.wager:
        fed = [meters[kind] for kind in wager.fed if kind in meters]
        if not fed:
            continue
        lacking = [kind for kind in wager.fed if kind not in meters]
        if lacking:
            every = ", ".join(wager.fed)
            reason = f"{wager.names[0]} feeds {every}: the table needs {lacking[0]} too"
            yield (*spot, "meters"), reason
        for other in fed[1:]:
            same = (other.wagers_cents, other.paytable) == (fed[0].wagers_cents, fed[0].paytable)
            if not same:
                several = fed[0].smaller_wagers or other.smaller_wagers
                amounts = "wager, smaller wagers" if several else "wager"
                reason = (
                    f"{wager.names[0]} of {table.game} feeds {fed[0].meter_id} and"
                    f" {other.meter_id}: both need the same {amounts} and paytable"
                )
                yield (*spot, "meters"), reason


def _pool_problems(
    table: Table, meters: Iterable[Meter], pools: Pools, spot: tuple[str | int, ...]
) -> Iterator[Problem]:
    own = {each.name for each in table.chapter.meter}
    for meter in meters:
        place = (*spot, "meters", table.meters.index(meter.meter_id))
        if meter.kind not in own:
            known = nearest(meter.kind, own)
            yield place, f"{table.game} has no wager that feeds {meter.kind}{known}"
        games = pools.setdefault(meter.meter_id, {})
        if table.game not in games:
            games[table.game] = _pool_problem(meter, table.game, next(iter(games), table.game))
        if reason := games[table.game]:
            yield place, reason


def _pool_problem(meter: Meter, game: str, first: str) -> str | None:
    try:
        here, there = meter.terms_in(game), meter.terms_in(first)
    except ValueError as error:
        return f"in {game}, {error}"
    if here.pool != there.pool:
        return _pool_mismatch(game, here, first, there)
    if too_much := _amount_problem(here):
        return f"{game}: {too_much}"
    return None


def _pool_mismatch(game: str, terms: MeterTerms, other: str, others: MeterTerms) -> str:
    names = (
        "seed", "reseed", "primary rate", "reserve rate", "amount from which other rates apply",
        "primary rate from this amount", "reserve rate from this amount",
    )  # fmt: skip
    name, here, there = next(
        differing
        for differing in zip(names, terms.pool, others.pool, strict=True)
        if differing[1] != differing[2]
    )
    shown = rate_text if "rate from" in name or name.endswith("rate") else money
    return (
        f"{game} and {other} cannot feed the same {terms.kind} meter: its {name} is {shown(here)}"
        f" in {game}, but {shown(there)} in {other}"
    )
