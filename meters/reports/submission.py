"""The submission of a floor to the regulator (605a.8).

It has the games, the links, digests, and a list of what the house must add.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Final

from bonus.display import short_money
from bonus.errors import UserError
from bonus.law.chapter_file import Chapter
from bonus.law.choices import mini_royals, offered
from bonus.law.game_rankings import deck_of, ranking_of
from bonus.law.results import source_words
from bonus.odds.odds_entries import OddsEntry, exact
from bonus.odds.odds_words import GameNames
from bonus.odds.offers import Offer, choose
from meters.floor.facility import Facility
from meters.floor.floor_file import (
    Floor,
    FloorError,
    Link,
    Meter,
    Table,
    paytables_of_meters,
    read_floor,
)
from meters.floor.game_files import GameText, read_game_texts
from meters.ledger.approved_configuration import LinkConfiguration
from meters.reports import submission_contents as filed
from meters.reports.wager_filings import chance_of, hand_rows, rules_of, wager_odds
from meters.selfcheck.floor_offers import chance_ratio, floor_offers, meter_chances
from meters.selfcheck.must_hit_by_entries import must_hit_by_entries

Count = Callable[[Sequence[Offer]], Sequence[OddsEntry]]
"""Returns the odds of offers, in the order of the offers."""


@dataclass(frozen=True, slots=True)
class FloorTexts:
    """A floor, the digest of its file, and the texts of its house games."""

    floor: Floor
    file: filed.FileDigest
    games: dict[str, GameText]


def read_texts(config: Path, sha256: str = "") -> FloorTexts:
    """Read a floor file and its house games. With `sha256`, a file with another digest is refused.

    Raises:
        FloorError: the floor file is wrong, or it changed while it was read.
        GameError: a game file is wrong, or it changed while it was read.
    """
    sha256 = sha256 or sha256_of(config)
    floor = read_floor(config)
    games: dict[str, GameText] = {}
    if floor.facility.games is not None:
        games = read_game_texts(config.absolute().parent / floor.facility.games, floor.games)
    if sha256_of(config) != sha256:
        raise FloorError(f"{config}: the file changed while it was read: try again")
    return FloorTexts(floor, filed.FileDigest(name=config.name, sha256=sha256), games)


def build_submission(
    texts: FloorTexts, software: filed.SoftwareDigest, day: date, count: Count
) -> filed.Submission:
    """Build the submission of a floor.

    `day` is the day on which the submission is made, by the facility's clock. `count` can take
    minutes.

    Raises:
        UserError: no table offers a wager.
    """
    floor = texts.floor
    offers = floor_offers(floor)
    if not offers:
        raise UserError("no table of the floor file offers a wager, so there is nothing to submit")
    entries = count(offers)
    counted = list(zip(offers, entries, strict=True))
    played = {table.game for link in floor.link for table in link.table}
    games = tuple(
        _game_filing(floor, chapter, texts.games.get(game), counted)
        for game, chapter in floor.games.items()
        if game in played
    )
    return filed.Submission.taken_from(
        floor.facility,
        format=filed.FORMAT,
        facility=floor.facility.name,
        date=day.isoformat(),
        software=software,
        floor_file=texts.file,
        settings=_settings(floor.facility),
        games=games,
        links=link_filings(floor, entries),
        added_by_house=added_by_house(floor, games),
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a floor file, or raise `FloorError` if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FloorError(f"{path}: cannot be read: {error.strerror}") from None


def _settings(facility: Facility) -> filed.FacilitySettings:
    return filed.FacilitySettings.taken_from(
        facility,
        validate_from_cents=facility.validate_from,
        tax_documents_from_cents=facility.tax_documents_from,
        two_people_reject_above_cents=facility.two_people_reject_above,
    )


OF_CODE = "58 Pa. Code"
OF_HOUSE = "house rules"

_CHAPTERS = "chapters"
_SUFFIX = ".toml"


def _game_filing(
    floor: Floor,
    chapter: Chapter,
    text: GameText | None,
    counted: Sequence[tuple[Offer, OddsEntry]],
) -> filed.GameFiling:
    offers = [(offer, entry) for offer, entry in counted if offer.chapter.game == chapter.game]
    file = filed.FileDigest(name=text.name, sha256=text.digest) if text else _chapter_file(chapter)
    return filed.GameFiling.taken_from(
        chapter,
        titles=_titles(floor, chapter),
        source=OF_HOUSE if text else OF_CODE,
        file=file,
        text=text.text if text else None,
        results=deck_of(chapter).names if chapter.result else (),
        chances=source_words(chapter),
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
        for meter in link.hand_meters
        if chapter.game in meter.fed_in
    }
    return fed | {wager: names.wager(wager, "") for wager in wagers}


def _chapter_file(chapter: Chapter) -> filed.FileDigest:
    name = f"{chapter.chapter}{_SUFFIX}"
    data = files("bonus.law").joinpath(_CHAPTERS, name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return filed.FileDigest(name=f"bonus/law/{_CHAPTERS}/{name}", sha256=digest)


def _game_table(link: Link, table: Table, offers: Sequence[Offer]) -> filed.GameTable:
    chapter = table.chapter
    offered = {offer.wager for offer in offers if table.id in offer.at}
    wagers = [*chapter.main_wagers[:1], *(name for each in chapter.wager for name in each.names)]
    return filed.GameTable.taken_from(
        table,
        table=table.id,
        link=link.id,
        choices=tuple(_choices(link, table)),
        not_offered=tuple(name for name in wagers if name not in offered),
    )


def _choices(link: Link, table: Table) -> Iterator[filed.TableChoice]:
    """If a wager feeds meters, its paytable is the option of these meters."""
    chapter = table.chapter
    rules, royals = offered(chapter), mini_royals(chapter)
    meters = paytables_of_meters(table, link.meters_of(table).values())
    for name, option in {**table.paytables, **meters}.items():
        if isinstance(option, Mapping):
            for item, times in option.items():
                yield filed.TableChoice(
                    name=f"{name}: {item}", option=f"{times:,} to 1", rule=royals[item].rule
                )
        elif chapter.limit and name == chapter.limit.choice:
            yield filed.TableChoice(
                name=name, option=short_money(int(option)), rule=chapter.limit.rule
            )
        else:
            yield filed.TableChoice(name=name, option=str(option), rule=rules[name][str(option)])


def _wager_filing(floor: Floor, offer: Offer, entry: OddsEntry) -> filed.WagerFiling:
    fed = offer.tables.fed if offer.tables else ()
    return filed.WagerFiling.taken_from(
        offer,
        title=GameNames.of(floor.games, entry.game).wager(offer.wager, offer.reading)
        + (f" of {short_money(entry.smaller_wager)}" if entry.smaller_wager else ""),
        tables=offer.at,
        wager_cents=offer.wagers_cents[0] if fed else None,
        rules=rules_of(offer, floor.facility.validate_from),
        hands=hand_rows(offer, entry),
        feeds=tuple(_fed_meters(floor, offer, fed)),
        odds=wager_odds(offer, entry),
    )


def _fed_meters(floor: Floor, offer: Offer, kinds: Sequence[str]) -> Iterator[filed.FedMeter]:
    for link in floor.link:
        for meter in link.hand_meters:
            tables = [table for table in link.table if table.id in offer.at]
            if meter.kind in kinds and any(meter.meter_id in table.meters for table in tables):
                yield filed.FedMeter(link=link.id, meter=meter.meter_id, kind=meter.kind)


def link_filings(floor: Floor, entries: Sequence[OddsEntry]) -> tuple[filed.LinkFiling, ...]:
    """Return the links in the order of the floor file. `entries` are the odds of all wagers."""
    return tuple(
        filed.LinkFiling(
            link=link.id,
            name=link.name,
            configuration_sha256=LinkConfiguration.of(floor, link).digest,
            meters=tuple(_meter_filing(link, meter, entries) for meter in link.hand_meters),
            tables=tuple(
                filed.LinkedTable.taken_from(table, table=table.id) for table in link.table
            ),
            must_hit_by=tuple(one for one in must_hit_by_entries(floor) if one.link == link.id),
            promotions=tuple(
                filed.PromotionFiling.taken_from(
                    each, promotion=each.id, adds_cents=each.adds, days=each.days_of_week
                )
                for each in link.promotion
            ),
        )
        for link in floor.link
    )


def _meter_filing(link: Link, meter: Meter, entries: Sequence[OddsEntry]) -> filed.MeterFiling:
    terms, chances = meter.terms, meter_chances(link, meter, entries)
    return filed.MeterFiling.taken_from(
        meter,
        meter=meter.meter_id,
        wager_cents=meter.wager,
        smaller_wagers_cents=meter.smaller_wagers,
        seed_cents=terms.seed_cents,
        reseed_cents=terms.reseed_cents,
        primary_bps=terms.primary_bps,
        reserve_bps=terms.reserve_bps,
        limit_cents=meter.limit,
        contribution_max_cents=meter.contribution_max,
        magic_card_every=meter.magic_card_every if meter.has_draws else None,
        lucky_every=meter.lucky_every if meter.has_draws else None,
        feeds=tuple(_feeds(link, meter)),
        dollar_chances=tuple(
            filed.DollarChance.taken_from(each, chance=chance_of(each.of_a_dollar))
            for each in chances
        ),
        chance_ratio=exact(chance_ratio(chances)),
        threshold_cents=terms.threshold_cents or None,
        primary_above_bps=terms.primary_above_bps,
        reserve_above_bps=terms.reserve_above_bps,
    )


def _feeds(link: Link, meter: Meter) -> Iterator[filed.MeterFeed]:
    """If no table feeds the meter, its parameters come from the first game that has the meter."""
    games = meter.fed_in or (meter.games.with_meter(meter.kind)[0].game,)
    for game in games:
        chapter = meter.games[game]
        wager = next(each for each in chapter.wager if meter.kind in each.fed)
        paytable = choose(wager.table, ranking_of(chapter, wager.ranking), meter.paytable)
        yield filed.MeterFeed.taken_from(
            paytable.rates[meter.kind if wager.meters else ""],
            game=game,
            wagers=wager.names,
            tables=tuple(
                table.id
                for table in link.table
                if table.game == game and meter.meter_id in table.meters
            ),
            with_meters=tuple(kind for kind in wager.fed if kind != meter.kind),
        )


_BOXES: Final = {"649a": "649a.7(f)", "679a": "679a.7(e)", "682a": "682a.7(e)"}
"""For each chapter, the subsection that asks for the number of adjacent boxes."""
_PAIR_BONUS: Final = "pair_bonus"

_WHOLE: Final = (
    ("name, title and signature of the person who files, and the date of filing", "601a.2"),
    (
        "places of the server, displays and wagering devices, and the people with their keys",
        "605a.7",
    ),
    ("anything further that the regulator asks of linked progressive table games", "605a.8"),
    ("internal controls for seeds, hand pays, adjustments and the reconciliation of meters", ""),
)


def added_by_house(
    floor: Floor, games: Sequence[filed.GameFiling]
) -> tuple[filed.AddedByHouse, ...]:
    return (
        *(filed.AddedByHouse(game="", what=what, rule=rule) for what, rule in _WHOLE),
        *(
            filed.AddedByHouse(game=game.game, what=what, rule=rule)
            for game in games
            for what, rule in _of_game(game, floor.games[game.game])
        ),
    )


def _of_game(game: filed.GameFiling, chapter: Chapter) -> Iterator[tuple[str, str]]:
    if any(not wager.feeds for wager in game.wagers):
        yield "minimum and maximum of each wager that feeds no meter", ""
    if game.source != OF_CODE:
        yield "the full rules of play: the game file has only what decides money", chapter.chapter
        yield "layout and signs with the payout odds", ""
        yield "cards, shuffle and cut, and how the cards are dealt", ""
        return
    number = chapter.chapter
    yield "number of adjacent boxes on which a player can place a wager", _BOXES.get(number, "")
    yield (
        "layout, and the sign with the payout odds if the layout does not have them",
        f"{number}.2(b)",
    )
    yield "number of decks, and the automated shuffling device if there is one", f"{number}.3"
    dealt = f"{number}.8, {number}.9 or {number}.10"
    yield "how the cards are dealt: manual shoe, hand or automated shoe", dealt
    for wager in game.wagers:
        if not wager.feeds and wager.paytable is None and wager.wager not in chapter.main_wagers:
            placing = next(rule.rule for rule in wager.rules if rule.subject == "placing")
            reason = "the floor file does not say it, because the wager has only one paytable"
            yield f"whether tables offer {wager.wager}: {reason}", placing
        if wager.wager == _PAIR_BONUS:
            rules = f"{number}.8(h), {number}.9(g) or {number}.10(h)"
            yield "whether one community card decides all Pair Bonus wagers", rules
