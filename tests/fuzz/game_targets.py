"""Target for game files: a file is refused with its line, or its game can be settled."""

import re
from collections.abc import Sequence
from importlib.resources import files
from random import Random
from typing import Final

from bonus.cards import DECK, Card
from bonus.law.cells import ChapterError
from bonus.law.chapter_file import Chapter
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms, meter_terms, paytable_choices
from bonus.settling.meter_holdings import resolve
from bonus.settling.round_checks import check_round
from bonus.settling.rounds import Round, RoundError, RoundPosition
from bonus.settling.settlement import settle_round
from bonus.settling.settlement_lines import MeterHolding
from bonus.settling.table_rules import TableRules, meter_rules
from meters.floor.game_files import GameError, parse_game
from tests.fuzz.junk import mutated
from tests.fuzz.target import Target, check_message, pure
from tests.games.naive import HOUSE

_GAME: Final = re.compile(rb'^game = "', re.MULTILINE)
_CHAPTERS: Final = files("bonus.law").joinpath("chapters")


def _seeds() -> list[bytes]:
    """Return the house games of the tests, and the chapters under other names."""
    chapters = [
        _CHAPTERS.joinpath(f"{name}.toml").read_bytes() for name in ("649a", "679a", "682a")
    ]
    renamed = [
        _GAME.sub(b'game = "x', text).replace(b'name = "pro', b'name = "xpro') for text in chapters
    ]
    return [*(path.read_bytes() for path in sorted(HOUSE.glob("*.toml"))), *renamed]


SEEDS: Final = tuple(_seeds())


def make_game(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return a game file after changes of lines: left out, repeated, moved, or with new values."""
    if random.random() < 0.2:
        return mutated(random, seeds)
    lines = random.choice(seeds).split(b"\n")
    for _ in range(random.randrange(1, 4)):
        number = random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                del lines[number]
            case 1:
                lines.insert(number, lines[random.randrange(len(lines))])
            case 2:
                lines.insert(number, random.choice(random.choice(seeds).split(b"\n")))
            case 3:
                lines[number] = _with_word(random, lines[number], lines)
            case _:
                key, equals, _ = lines[number].partition(b" = ")
                lines[number] = key + equals + random.choice(_VALUES) if equals else lines[number]
    return b"\n".join(lines)


def _with_word(random: Random, line: bytes, lines: Sequence[bytes]) -> bytes:
    """Return a line in which one word is replaced by a word of another line."""
    words = re.findall(rb"[\w$%,.]+", line)
    others = re.findall(rb"[\w$%,.]+", random.choice(lines))
    if not words or not others:
        return line
    return line.replace(random.choice(words), random.choice(others), 1)


_VALUES: Final = (
    *(b"0", b"-1", b"1", b"7", b"52", b"1.5", b"nan", b"true", b"1979-05-27", b"9" * 5_000),
    *(b'""', b'"x"', b'"' + b"x" * 5_000 + b'"', b"[]", b"{}", b'["", ""]', b"[1, 2]"),
    *(b'"five_card"', b'"hand"', b'["hand"]', b'["hand_and_dealer"]', b'"100% of meter"'),
    *(b'"999,999,999,999 for 1"', b'"$999,999,999,999"', b'"0% of meter"', b'"N/A"'),
    *(b'"100% of keystone_mega + 100% of keystone_major"', b"[" * 300 + b"]" * 300),
)


def check_game(data: bytes) -> None:
    """Check that a file is refused with a line and a reason, or that its game can be settled."""
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
    """Settle a round with every wager that feeds a meter, at every paytable."""
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


def _settle_one(rules: TableRules, terms: dict[str, MeterTerms], random: Random) -> None:
    deal = rules.chapter.deal
    deck: list[Card] = random.sample(DECK, len(DECK))
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
