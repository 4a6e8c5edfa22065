from collections.abc import Iterator, Sequence
from dataclasses import replace

from bonus.law.choices import MINI_ROYAL
from bonus.odds.offers import DrawOdds, Offer, choices_of, main_choice
from meters.floor.floor_file import Floor, Link, Table


def floor_offers(floor: Floor) -> list[Offer]:
    """Return the offers of a floor, each with the tables that have it.

    An offer is a wager with a paytable.
    """
    found: list[Offer] = []
    for link in floor.link:
        for table in link.table:
            for offer in _table_offers(link, table):
                for at, known in enumerate(found):
                    if replace(known, at=()) == offer:
                        found[at] = replace(known, at=(*known.at, table.id))
                        break
                else:
                    found.append(replace(offer, at=(table.id,)))
    return sorted(found, key=lambda offer: _place(offer, list(floor.games)))


def _table_offers(link: Link, table: Table) -> Iterator[Offer]:
    """Yield the offers of one table.

    If a wager has several paytables and the table has chosen none, the table does not offer it.
    """
    chapter = table.chapter
    chosen = table.paytables
    royal = chosen.get(MINI_ROYAL)
    royals = royal if isinstance(royal, dict) else {}
    main = chapter.main
    bonus = main_choice(chapter)
    if main and (bonus is None or bonus.choice in chosen):
        choice = str(chosen[bonus.choice]) if bonus else None
        times = royals.get(bonus.item, 0) if bonus else 0
        yield Offer(chapter, main.stake, choice, None, main.ranking, mini_royal=times)
    meters = link.meters_of(table)
    for tables in chapter.wager:
        meter = meters.get(tables.fed[0]) if tables.fed else None
        name = tables.names[0]
        choices = choices_of(tables)
        choice = meter.paytable if meter else None
        if not tables.fed and choices != (None,):
            choice = str(chosen[name]) if name in chosen else None
        if choice not in choices or (tables.fed and meter is None):
            continue
        offer = Offer(chapter, name, choice, tables, tables.ranking)
        if meter:
            offer = replace(offer, wagers_cents=(meter.wager,))
            if tables.draws:
                every = DrawOdds(meter.magic_card_every, meter.lucky_every, table.positions)
                offer = replace(offer, draws=every)
        elif tables.readings:
            default = next(iter(tables.readings.rankings))
            reading = str(chosen.get(tables.readings.choice, default))
            ranking = tables.readings.rankings[reading]
            offer = replace(offer, reading=reading, ranking=ranking)
        if tables.mini_royal:
            offer = replace(offer, mini_royal=royals.get(name, 0))
        for wager in tables.names:
            yield replace(offer, wager=wager)


def _place(offer: Offer, games: Sequence[str]) -> tuple[int, int]:
    """Return a sort key: by chapter, then by wager."""
    chapter = offer.chapter
    names = [*chapter.main_wagers[:1], *(name for tables in chapter.wager for name in tables.names)]
    return games.index(chapter.game), names.index(offer.wager)
