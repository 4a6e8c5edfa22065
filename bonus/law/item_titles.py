from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from bonus.law.cells import ChapterError
from bonus.law.chapter_file import Chapter, WagerTables
from bonus.wagers import envy_item, jackpot_item

_JACKPOT: Final = "Jackpot"


def item_titles(games: Iterable[Chapter]) -> Mapping[str, str]:
    """Return the titles of the items of settlement lines, for wagers with a title.

    The ledger has only the names of wagers, so a wager can have only one title in all games.

    Raises:
        ChapterError: a wager has two titles, or a title is for several wagers.
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
