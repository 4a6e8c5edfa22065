"""What the tables of a floor offer, and the probability that a dollar there wins a meter (D21)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec

from bonus.law.choices import MINI_ROYAL
from bonus.law.patterns import patterns_of, tells_apart
from bonus.law.results import chances_of
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, Offer, choices_of, main_choice
from meters.floor.floor_file import Floor, Link, Meter, Table


def floor_offers(floor: Floor) -> list[Offer]:
    """Return the offers (wagers with a paytable) of a floor, each with the tables that have it."""
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
    """If a wager has several paytables, the table must choose one to offer the wager."""
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
            yield from _smaller_offers(replace(offer, wager=wager), meter)


def _smaller_offers(offer: Offer, meter: Meter | None) -> Iterator[Offer]:
    for cents in meter.smaller_wagers if meter else ():
        yield replace(offer, wagers_cents=(cents,), largest_cents=offer.wagers_cents[0])


def _place(offer: Offer, games: Sequence[str]) -> tuple[int, int]:
    chapter = offer.chapter
    names = [*chapter.main_wagers[:1], *(name for tables in chapter.wager for name in tables.names)]
    return games.index(chapter.game), names.index(offer.wager)


@dataclass(frozen=True, slots=True)
class MeterChance:
    """The chance of a wager for a meter: the probability that a wagered dollar wins the meter.

    If a hand wins a percentage of the meter, only this percentage of its probability counts. The
    chance assumes that the player never folds, and that a jackpot on the dealer's hand is not
    divided. ``tables`` has the link's tables with this wager on the meter. If the wager can have
    several amounts, the chance of a dollar is the same with each.
    """

    game: str
    wager: str
    tables: tuple[str, ...]
    of_a_dollar: Fraction


def shared_offers(floor: Floor, link: Link) -> tuple[tuple[Meter, ...], list[Offer]]:
    """Return a link's meters that different wagers can win, and the offers that feed these meters.

    Wagers with the same paytable, ranking and number of cards count as one.
    """
    offers = [
        offer
        for offer in floor_offers(msgspec.structs.replace(floor, link=(link,)))
        if offer.tables and offer.tables.fed
    ]
    feeding = {
        meter.meter_id: [offer for offer in offers if _tables(link, meter, offer.at, offer.wager)]
        for meter in link.hand_meters
    }
    shared = tuple(
        meter for meter in link.hand_meters if len({*map(_hands, feeding[meter.meter_id])}) > 1
    )
    return shared, [
        offer for offer in offers if any(offer in feeding[meter.meter_id] for meter in shared)
    ]


def _hands(offer: Offer) -> object:
    tables = offer.tables
    if tables is None:
        return None
    chapter, groups = offer.chapter, offer.groups
    chances = tuple(chances_of(chapter).items()) if chapter.result else ()
    patterns = patterns_of(chapter, offer.ranking)
    dealt = groups if tells_apart(patterns) else sum(groups)
    table = msgspec.json.encode(tables.table)
    return (
        offer.ranking, dealt, table, offer.paytable, chances, patterns, chapter.deal.decks,
    )  # fmt: skip


def meter_chances(
    link: Link, meter: Meter, entries: Iterable[OddsEntry], *, full_table: bool = False
) -> tuple[MeterChance, ...]:
    """Return the chance of each wager on a meter of a link, the highest first.

    Entries that do not feed the meter are left out. With ``full_table``, the bad beats among
    players are as many as can come at a full table.
    """
    found = []
    for entry in entries:
        tables = _tables(link, meter, entry.tables, entry.wager)
        if tables and not entry.largest_wager:
            share = next(
                (tier.meter_return for tier in entry.tiers if tier.meter == meter.kind),
                entry.meter_return,
            )
            if full_table and entry.full_table:
                share = entry.full_table.meter_return[meter.kind]
            of_a_dollar = share * 100 / meter.wager
            found.append(MeterChance(entry.game, entry.wager, tables, of_a_dollar))
    return tuple(sorted(found, key=lambda each: -each.of_a_dollar))


def chance_ratio(chances: Sequence[MeterChance]) -> Fraction:
    """Return the highest chance divided by the lowest; 1 if there are fewer than two."""
    if len(chances) < 2:
        return Fraction(1)
    return chances[0].of_a_dollar / chances[-1].of_a_dollar


def _tables(link: Link, meter: Meter, at: Sequence[str], wager: str) -> tuple[str, ...]:
    if wager not in meter.wagers:
        return ()
    return tuple(
        table.id for table in link.table if table.id in at and meter.meter_id in table.meters
    )
