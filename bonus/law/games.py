"""The games that tables can play, by name: those of the chapters, and games of the house."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from types import MappingProxyType

from bonus.law.cells import ChapterError
from bonus.law.chapter import changed, chapters
from bonus.law.chapter_file import Chapter
from bonus.law.game_meters import GameMeters
from bonus.law.item_titles import item_titles


class Games(Mapping[str, Chapter]):
    """Games by name. Two collections with the same game files are equal, and have the same hash.

    The chapters of the package are always among them. ``digests`` has the SHA-256 of the file of
    each game of the house, in hexadecimal. ``titles`` are those of items of settlement lines.
    """

    def __init__(self, house: Iterable[tuple[Chapter, str]] = ()) -> None:
        """Collect the chapters, and the games of the house, each with the SHA-256 of its file.

        Raises:
            ChapterError: two games have one name, or the same wager feeds different meters or has
                different titles in two games.
        """
        games = dict(chapters())
        digests: dict[str, str] = {}
        for game, digest in house:
            if game.game in games:
                raise ChapterError(
                    f"the game {game.game} exists already, in {games[game.game].chapter}",
                    ("game",),
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

    @cached_property
    def meters(self) -> GameMeters:
        return GameMeters.of(self._games.values())

    def with_meter(self, meter: str) -> tuple[Chapter, ...]:
        return tuple(
            game for game in self._games.values() if any(each.name == meter for each in game.meter)
        )


@cache
def chapter_games() -> Games:
    """Return the games of the chapters of the package.

    Raises:
        UserError: a file of a chapter was changed: each one is valid, but two disagree.
    """
    try:
        return Games()
    except ChapterError as error:
        raise changed(f"the files of the chapters contradict each other: {error}") from None


def _check_fed(games: Iterable[Chapter], game: Chapter) -> None:
    """Check that a wager that feeds meters feeds the same meters in every game.

    The ledger has only the names of wagers and meters.
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
