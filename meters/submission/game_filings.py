import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from bonus.display import short_money
from bonus.law.chapter_file import Chapter
from bonus.law.choices import MINI_ROYAL, VERSION
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from meters.floor.floor_file import Floor, Link, Table, paytables_of_meters
from meters.floor.game_files import GameText
from meters.odds.names import GameNames
from meters.submission.contents import (
    DealFiling,
    FedMeter,
    FileDigest,
    GameFiling,
    GameTable,
    TableChoice,
    WagerFiling,
)
from meters.submission.wager_odds import hand_rows, wager_odds
from meters.submission.wager_rules import rules_of

OF_CODE = "58 Pa. Code"
OF_HOUSE = "house rules"

_CHAPTERS = "chapters"
_SUFFIX = ".toml"


def game_filings(
    floor: Floor,
    texts: Mapping[str, GameText],
    counted: Sequence[tuple[Offer, OddsEntry]],
) -> tuple[GameFiling, ...]:
    """Return every game that a table of the floor plays.

    `texts` are those of the house's game files, by the name of the game. `counted` are the offers
    of the floor.
    """
    played = {table.game for link in floor.link for table in link.table}
    return tuple(
        _game_filing(floor, chapter, texts.get(game), counted)
        for game, chapter in floor.games.items()
        if game in played
    )


def _game_filing(
    floor: Floor,
    chapter: Chapter,
    text: GameText | None,
    counted: Sequence[tuple[Offer, OddsEntry]],
) -> GameFiling:
    offers = [(offer, entry) for offer, entry in counted if offer.chapter.game == chapter.game]
    deal = chapter.deal
    return GameFiling(
        game=chapter.game,
        title=chapter.title,
        titles=_titles(floor, chapter),
        source=OF_HOUSE if text else OF_CODE,
        chapter=chapter.chapter,
        effective=chapter.effective,
        expires=chapter.expires,
        file=FileDigest(name=text.name, sha256=text.digest) if text else _chapter_file(chapter),
        text=text.text if text else None,
        deal=DealFiling(
            rule=deal.rule,
            deck_rule=deal.deck_rule,
            positions=deal.positions,
            positions_rule=deal.positions_rule,
            hand=deal.hand,
            dealer=deal.dealer,
            community=deal.community,
        ),
        tables=tuple(
            _game_table(link, table, [offer for offer, _ in offers])
            for link in floor.link
            for table in link.table
            if table.game == chapter.game
        ),
        wagers=tuple(_wager_filing(floor, offer, entry) for offer, entry in offers),
    )


def _titles(floor: Floor, chapter: Chapter) -> dict[str, str]:
    names = GameNames.of(floor.games, chapter.game)
    wagers = [*chapter.main_wagers[:1], *(name for each in chapter.wager for name in each.names)]
    fed = {
        meter.kind: floor.games.meters.titles[meter.kind]
        for link in floor.link
        for meter in link.meter
        if chapter.game in meter.fed_in
    }
    return fed | {wager: names.wager(wager, "") for wager in wagers}


def _chapter_file(chapter: Chapter) -> FileDigest:
    name = f"{chapter.chapter}{_SUFFIX}"
    data = files("bonus.law").joinpath(_CHAPTERS, name).read_bytes()
    return FileDigest(name=f"bonus/law/{_CHAPTERS}/{name}", sha256=hashlib.sha256(data).hexdigest())


def _game_table(link: Link, table: Table, offers: Sequence[Offer]) -> GameTable:
    chapter = table.chapter
    offered = {offer.wager for offer in offers if table.id in offer.at}
    wagers = [*chapter.main_wagers[:1], *(name for each in chapter.wager for name in each.names)]
    return GameTable(
        table=table.id,
        asset=table.asset,
        link=link.id,
        positions=table.positions,
        choices=tuple(_choices(link, table)),
        not_offered=tuple(name for name in wagers if name not in offered),
    )


def _choices(link: Link, table: Table) -> Iterator[TableChoice]:
    """Yield the options that a table has chosen, each with its subsection.

    The paytable of a wager that feeds meters is the option of its meters.
    """
    chapter = table.chapter
    rules = _choice_rules(chapter)
    meters = paytables_of_meters(table, link.meters_of(table).values())
    for name, option in {**table.paytables, **meters}.items():
        if isinstance(option, Mapping):
            for item, times in option.items():
                yield TableChoice(
                    name=f"{name}: {item}",
                    option=f"{times:,} to 1",
                    rule=rules[name, item],
                )
        elif chapter.limit and name == chapter.limit.choice:
            yield TableChoice(name=name, option=short_money(int(option)), rule=chapter.limit.rule)
        else:
            yield TableChoice(name=name, option=str(option), rule=rules[name, str(option)])


def _choice_rules(chapter: Chapter) -> Mapping[tuple[str, str], str]:
    """Return the subsection of each option of each choice of a chapter.

    An option of a mini-royal is the wager or bonus that pays it.
    """
    found = {(VERSION, each.name): each.rule for each in chapter.version}
    printed = [(bonus.choice, bonus.table) for bonus in chapter.main_bonuses]
    for wager in chapter.wager:
        printed.append(
            (wager.names[0], wager.fourth_card.table if wager.fourth_card else wager.table)
        )
        if wager.readings:
            rules = ", ".join(dict.fromkeys(table.rule for table in wager.table))
            found |= {(wager.readings.choice, name): rules for name in wager.readings.rankings}
        if wager.mini_royal:
            found[MINI_ROYAL, wager.names[0]] = wager.mini_royal.rule
    for bonus in chapter.main_bonuses:
        if bonus.mini_royal:
            found[MINI_ROYAL, bonus.item] = bonus.mini_royal.rule
    for name, tables in printed:
        found |= {(name, choice): table.rule for table in tables for choice in table.choices}
    return found


def _wager_filing(floor: Floor, offer: Offer, entry: OddsEntry) -> WagerFiling:
    fed = offer.tables.fed if offer.tables else ()
    return WagerFiling(
        wager=offer.wager,
        title=GameNames.of(floor.games, entry.game).wager(offer.wager, offer.reading),
        tables=offer.at,
        paytable=offer.paytable,
        reading=offer.reading,
        wager_cents=offer.wagers_cents[0] if fed else None,
        rules=rules_of(offer, floor.facility.validate_from),
        hands=hand_rows(offer, entry),
        feeds=tuple(_fed_meters(floor, offer, fed)),
        odds=wager_odds(offer, entry),
    )


def _fed_meters(floor: Floor, offer: Offer, kinds: Sequence[str]) -> Iterator[FedMeter]:
    for link in floor.link:
        for meter in link.meter:
            tables = [table for table in link.table if table.id in offer.at]
            if meter.kind in kinds and any(meter.meter_id in table.meters for table in tables):
                yield FedMeter(link=link.id, meter=meter.meter_id, kind=meter.kind)
