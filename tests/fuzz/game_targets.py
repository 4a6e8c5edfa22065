"""Target for game files: a file is refused with its line, or its game can be settled."""

import re
from importlib.resources import files
from random import Random
from typing import Final

from bonus.law.chapter_file import Chapter
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms, meter_terms, paytable_choices
from bonus.law.paytables import ChapterError
from bonus.rounds import MeterHolding, Round, RoundError, RoundPosition
from bonus.settling.round_checks import check_round
from bonus.settling.settlement import resolve, settle_round
from bonus.settling.table_rules import TableRules, meter_rules
from meters.floor.game_files import GameError, parse_game
from tests.fuzz.junk import toml_with
from tests.fuzz.target import Target, check_message, pure
from tests.games.naive import HOUSE

_GAME: Final = re.compile(rb'^game = "', re.MULTILINE)
_CHAPTERS: Final = files("bonus.law").joinpath("chapters")


def _seeds() -> list[bytes]:
    chapters = [
        _CHAPTERS.joinpath(f"{name}.toml").read_bytes() for name in ("649a", "679a", "682a")
    ]
    renamed = [
        _GAME.sub(b'game = "x', text).replace(b'name = "pro', b'name = "xpro') for text in chapters
    ]
    return [*(path.read_bytes() for path in sorted(HOUSE.glob("*.toml"))), *renamed]


SEEDS: Final = tuple(_seeds())


make_game: Final = toml_with(
    *(b'"five_card"', b'"hand"', b'["hand"]', b'["hand_and_dealer"]', b'"100% of meter"'),
    *(b'"999,999,999,999 for 1"', b'"$999,999,999,999"', b'"0% of meter"', b'"N/A"'),
    b'"100% of keystone_mega + 100% of keystone_major"',
)


def check_game(data: bytes) -> None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    try:
        game = parse_game(text)
        games = Games([(game, "0")])
    except GameError as error:
        check_message(str(error), "game file", data)
        return
    except ChapterError:
        return
    _settle(game, games)


def _settle(game: Chapter, games: Games) -> None:
    rules = meter_rules(game.game, games)
    random = Random(game.title)
    for choice in (None, "A", "B"):
        terms: dict[str, MeterTerms] = {}
        for meter in rules.meters.titles:
            offered = paytable_choices(meter, games)
            try:
                terms[meter] = meter_terms(
                    meter, 100, choice if choice in offered else None, game.game, games
                )
            except ValueError:
                return
        _settle_one(rules, terms, random)


_DEALT_MAX: Final = 50
_RESULTS: Final = _DEALT_MAX
"""How often each result can come: results repeat, unlike the cards of a deck."""


def _settle_one(rules: TableRules, terms: dict[str, MeterTerms], random: Random) -> None:
    deal = rules.chapter.deal
    every = [*rules.deck.numbers.values()]
    deck = random.sample(every * (rules.deck.copies or _RESULTS), _DEALT_MAX)
    wagers = {
        name: terms[placing.meters[0]].wager_cents for name, placing in rules.placings.items()
    }
    positions = tuple(
        RoundPosition(number, None, tuple(deck.pop() for _ in range(deal.hand)), folded=False,
                      wagers=wagers)
        for number in range(1, min(deal.positions, 3) + 1)
    )  # fmt: skip
    played = Round(
        positions,
        tuple(deck.pop() for _ in range(deal.dealer)) or None,
        tuple(deck.pop() for _ in range(deal.community)) or None,
    )
    try:
        check_round(played, rules, terms)
    except RoundError:
        return
    settlement = settle_round(played, rules, terms)
    held = {meter: MeterHolding(10**9, 10**6) for meter in terms}
    dues, after = resolve(settlement, held, terms)
    assert all(due.line.paid >= 0 for due in dues)
    assert all(holding.amount_micros >= 0 for holding in after.values())
    own = [due.line.item for due in dues if due.line.item in wagers]
    assert sorted(own) == sorted([*wagers] * len(positions))


TARGETS: Final = (Target("games", SEEDS, pure(check_game), make_game, share=1),)
