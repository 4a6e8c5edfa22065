"""The games that tables can play, by name: the chapters of 58 Pa. Code, and games of the house.

A file in ``chapters`` copies the printed law cell by cell, and is checked completely before any
part of it is used. A chapter without a new kind of wager needs only a file, and no code.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Self

import msgspec

from bonus.display import bad_beat_title
from bonus.errors import UserError
from bonus.law.chapter_file import Chapter, WagerTables
from bonus.law.paytable_checks import check_chapter
from bonus.law.paytables import ChapterError, read_payout
from bonus.wagers import (
    LUCKY_BONUS,
    MAGIC_CARD,
    bad_beat_item,
    community_item,
    envy_item,
    envy_share_item,
    jackpot_item,
)

_SUFFIX: Final = ".toml"


@cache
def load_chapter(name: str) -> Chapter:
    """Return a chapter, such as ``649a``, from its file; a file that is wrong is a UserError."""
    path = files("bonus.law").joinpath("chapters", f"{name}{_SUFFIX}")
    text = ""
    try:
        text = path.read_bytes().decode()
        return read_chapter(text)
    except (OSError, ValueError, RecursionError) as error:
        wrong = text.find(error.text) if isinstance(error, ChapterError) and error.text else -1
        line = text.count("\n", 0, max(wrong, 0)) + 1
        place = path if wrong < 0 else f"{path}:{line}"
        reason = error.strerror if isinstance(error, OSError) else error
        raise changed(f"{place}: {reason}") from None


def changed(problem: str) -> UserError:
    """Return the error for installed files of the law that cannot be used."""
    return UserError(
        f"{problem}. The files of the law belong to pitlink and were changed: install pitlink"
        " again. Write a game of your own as a game file in the directory `games`"
    )


@cache
def chapters() -> Mapping[str, Chapter]:
    """Return every chapter by the name of its game, in the order of the chapters' numbers.

    Raises:
        UserError: a file is not valid, or two chapters have the same game.
    """
    directory = files("bonus.law").joinpath("chapters")
    try:
        names = sorted(
            entry.name.removesuffix(_SUFFIX)
            for entry in directory.iterdir()
            if entry.name.endswith(_SUFFIX)
        )
    except OSError as error:
        raise changed(f"{directory}: {error.strerror}") from None
    found: dict[str, Chapter] = {}
    for name in names:
        chapter = load_chapter(name)
        if chapter.game in found:
            same = f"{found[chapter.game].chapter} and {name} are both {chapter.game}"
            raise changed(f"{directory}: {same}")
        found[chapter.game] = chapter
    return MappingProxyType(found)


def read_chapter(text: str) -> Chapter:
    """Read and check the text of a chapter's file; a ChapterError says what is wrong."""
    try:
        chapter = msgspec.convert(tomllib.loads(text), Chapter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ChapterError(str(error)) from error
    check_chapter(chapter)
    return chapter


@dataclass(frozen=True, slots=True, eq=False)
class GameMeters:
    """The meters of one game or of several.

    ``titles`` has the title of each meter, in the order in which tables and displays show the
    meters. ``terms`` has the terms of each wager that feeds a meter, in the same order.
    ``meter_of`` has the meter of each item of settlement lines. If a wager feeds several meters,
    its payouts at odds belong to the first.
    """

    titles: Mapping[str, str]
    terms: Mapping[str, WagerTables]
    meter_of: Mapping[str, str]

    @classmethod
    def of(cls, games: Iterable[Chapter]) -> Self:
        titles: dict[str, str] = {}
        terms: dict[str, WagerTables] = {}
        meter_of: dict[str, str] = {}
        for game in games:
            for meter in game.meter:
                titles.setdefault(meter.name, meter.title)
                for tables in (each for each in game.wager if meter.name in each.fed):
                    terms.update(dict.fromkeys(tables.names, tables))
                    meter_of.update(dict.fromkeys(_items(tables, meter.name), meter.name))
        return cls(MappingProxyType(titles), MappingProxyType(terms), MappingProxyType(meter_of))

    def wagers_of(self, meter: str) -> tuple[str, ...]:
        return tuple(name for name, tables in self.terms.items() if meter in tables.fed)

    def items_of(self, meter: str) -> tuple[str, ...]:
        return tuple(item for item, paid in self.meter_of.items() if paid == meter)


def _items(tables: WagerTables, meter: str) -> Iterator[str]:
    # If a wager feeds several meters, or a hand wins a percentage and a fixed amount, each
    # percentage has a line of its own.
    if len(tables.fed) > 1 or any(" + " in cell for cell in tables.cells):
        yield jackpot_item(meter)
    yield from _share_items(tables, meter)
    if meter != tables.fed[0]:
        return
    yield from tables.names
    if tables.envy:
        yield envy_item(tables.names[0])
    if tables.draws:
        yield from (MAGIC_CARD, LUCKY_BONUS)


def _share_items(tables: WagerTables, meter: str) -> Iterator[str]:
    """Yield the items of the shares of a meter that hands bring to other players."""
    pays = tables.community.pays.values() if tables.community else ()
    if _is_share_of(pays, tables, meter):
        yield community_item(meter)
    schedules = tables.envy.schedule if tables.envy else ()
    if _is_share_of((cell for each in schedules for cell in each.pays.values()), tables, meter):
        yield envy_share_item(meter)
    for part, cell in tables.bad_beat.cells.items() if tables.bad_beat else ():
        if _is_share_of((cell,), tables, meter):
            yield bad_beat_item(meter, part)


def _is_share_of(cells: Iterable[str], tables: WagerTables, meter: str) -> bool:
    shares = [read_payout(cell).percents_of(tables.meter) for cell in cells if "%" in cell]
    return any(name == meter for share in shares for name, _ in share)


_JACKPOT: Final = "Jackpot"


def item_titles(games: Iterable[Chapter]) -> Mapping[str, str]:
    """Return the titles of items of settlement lines, for wagers with a title.

    The ledger has only the names of wagers, so a wager needs the same title in all games.

    Raises:
        ChapterError: a wager has different titles in two games, or a title is for several wagers.
    """
    found: dict[str, str] = {}
    for game in games:
        for tables in game.wager:
            if not tables.title:
                continue
            if len(tables.names) > 1:
                raise ChapterError(f"{tables.names[0]}: a title is for one wager, not for several")
            for item, title in _titles(game, tables):
                if found.setdefault(item, title) != title:
                    raise ChapterError(
                        f"{item} has the title {title!r}, but in another game {found[item]!r}: give"
                        " it the same title"
                    )
    return MappingProxyType(found)


def _titles(game: Chapter, tables: WagerTables) -> Iterator[tuple[str, str]]:
    wager = tables.names[0]
    yield wager, tables.title
    if tables.envy:
        yield envy_item(wager), f"{tables.title} Envy Bonus"
    for meter in game.meter:
        if meter.name in tables.fed:
            title = meter.title
            yield jackpot_item(meter.name), title if _JACKPOT in title else f"{title} {_JACKPOT}"
            words = {
                community_item(meter.name): f"{title} Community Share",
                envy_share_item(meter.name): f"{title} Envy Bonus (share)",
            }
            for item in _share_items(tables, meter.name):
                yield item, words.get(item) or bad_beat_title(title, item)


class Games(Mapping[str, Chapter]):
    """Games by name: the chapters, and the games of the house.

    ``digests`` has the SHA-256, in hexadecimal, of the file of each game of the house. Two objects
    are equal if their digests are equal. ``titles`` has the titles of items of settlement lines.
    """

    def __init__(self, house: Iterable[tuple[Chapter, str]] = ()) -> None:
        """Join the chapters with ``house``: each game of the house, and the SHA-256 of its file.

        Raises:
            ChapterError: two games have the same name, or disagree on the meters or the title
                of a wager.
        """
        games = dict(chapters())
        digests: dict[str, str] = {}
        for game, digest in house:
            if game.game in games:
                raise ChapterError(
                    f"the game {game.game} exists already, in {games[game.game].chapter}", ("game",)
                )
            games[game.game] = game
            digests[game.game] = digest
            _check_fed(games.values(), game)
        self._games = games
        self.titles: Mapping[str, str] = item_titles(games.values())
        self.digests: Mapping[str, str] = MappingProxyType(digests)
        self._hash = hash(tuple(sorted(digests.items())))

    def __getitem__(self, game: str) -> Chapter:
        return self._games[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Games) and self.digests == other.digests

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Copy only the games of the house to another process, which has the chapters itself."""
        return Games, ([(self._games[game], digest) for game, digest in self.digests.items()],)

    @cached_property
    def meters(self) -> GameMeters:
        return GameMeters.of(self._games.values())

    def with_meter(self, meter: str) -> tuple[Chapter, ...]:
        return tuple(
            game for game in self._games.values() if any(each.name == meter for each in game.meter)
        )


@cache
def chapter_games() -> Games:
    """Return the games of the chapters; a UserError if changed files contradict each other."""
    try:
        return Games()
    except ChapterError as error:
        raise changed(f"the files of the chapters contradict each other: {error}") from None


def _check_fed(games: Iterable[Chapter], game: Chapter) -> None:
    """Check that a wager feeds the same meters in every game.

    The ledger identifies a wager only by its name.
    """
    own = GameMeters.of([game])
    for other in games:
        theirs = GameMeters.of([other])
        for wager, tables in own.terms.items():
            others = theirs.terms.get(wager, tables)
            if others.fed != tables.fed:
                raise ChapterError(
                    f"{wager} feeds {_listed(tables.fed)}, but in {other.game} it feeds"
                    f" {_listed(others.fed)}: give it another name"
                )
        for item, meter in own.meter_of.items():
            if theirs.meter_of.get(item, meter) != meter:
                raise ChapterError(
                    f"{item} belongs to the meter {meter}, but in {other.game} to"
                    f" {theirs.meter_of[item]}: give it another name"
                )


def _listed(meters: Iterable[str]) -> str:
    return " and ".join(meters)
