"""Actions of a person on the page on which a round is settled by hand."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playwright.async_api import Locator, Page, expect

from bonus.display import hand_words, item_words, money
from bonus.rounds import Line, Outcome
from bonus.settling.settle_round import settle_line
from tests.floor_text import METERS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.rounds import GAMES

FLOOR: Final = floor_text(
    link_text(
        "tcp-main",
        *(meter_text(kind) for kind in METERS),
        table_text(
            "TCP-03", *METERS, asset="104213",
            paytables={"ante_bonus": "b-A", "pair_plus": "A", "six_card_bonus": "A"},
        ),
        table_text(
            "TPR-01", game="three_card_prime", positions=6,
            paytables={"bad_beat": "B", "pair_bonus": "A", "all_six": "E"},
        ),
        table_text(
            "FPR-01", game="four_card_prime", positions=6,
            paytables={"bad_beat": "A", "prime": "A", "aces_bonus": "A", "all_six": "A",
                       "payout_limit": 5_000_000},
        ),
        table_text("TCP-09"),
    ),
    link_text(
        "house",
        meter_text("dice_jackpot", 500, smaller_wagers=[100]),
        meter_text("twenty_one_jackpot"),
        meter_text("joker_jackpot"),
        meter_text("flop_jackpot"),
        table_text("KD-01", "dice_jackpot", game="keystone_dice", positions=8),
        table_text("KB-01", "twenty_one_jackpot", asset="104230", game="keystone_twenty_one"),
        table_text("KJ-01", "joker_jackpot", asset="104231", game="keystone_joker", positions=6),
        table_text("KF-01", "flop_jackpot", asset="104232", game="keystone_flop", positions=6),
        meter_text("trips_jackpot", 500),
        table_text("KT-01", "trips_jackpot", game="keystone_trips"),
    ),
    games=str(HOUSE),
)  # fmt: skip
"""A table of each game, and tables without cards, of six decks, with a joker, with a wager on the
flop, and without paytables."""

Round = dict[str, Any]

ROUNDS: Final[Mapping[str, Round]] = {
    "TCP-03": {
        "game": "three_card_poker",
        "paytables": {"ante_bonus": "b-A", "pair_plus": "A", "six_card_bonus": "A",
                      "progressive": "A"},
        "positions": [
            {"position": 2, "cards": ["As", "Ks", "Qs"],
             "wagers": {"ante": 500, "play": 500, "pair_plus": 250, "progressive": 100,
                        "six_card_bonus": 1000, "five_card_progressive": 100,
                        "five_card_hand_bonus": 100, "five_of_six_progressive": 100}},
            {"position": 5, "folded": True, "wagers": {"ante": 1000, "progressive": 100}},
        ],
        "dealer": ["2c", "7d", "9h"], "community": ["Js", "Ts"],
        "draw": {"magic_card": "As", "lucky_position": 2},
        "meters": {
            "progressive": {"wager": 100, "amount": 123456},
            "five_card_progressive": {"wager": 100, "amount": 1050000},
            "five_card_hand_bonus": {"wager": 100, "amount": 5000000},
            "five_of_six_progressive": {"wager": 100, "amount": 990000},
        },
    },
    "TPR-01": {
        "game": "three_card_prime",
        "paytables": {"bad_beat": "B", "pair_bonus": "A", "all_six": "E"},
        "positions": [
            {"position": 1, "cards": ["9s", "9h", "Kd"], "fourth_card": "9c",
             "wagers": {"ante": 500, "play": 500, "prime": 100, "pair_bonus": 200, "all_six": 300}},
            {"position": 4, "cards": ["2h", "6h", "Th"],
             "wagers": {"ante": 1500, "play": 1500, "prime": 500}},
        ],
        "dealer": ["Qc", "7d", "2d"],
    },
    "FPR-01": {
        "game": "four_card_prime",
        "paytables": {"bad_beat": "A", "prime": "A", "aces_bonus": "A", "all_six": "A",
                      "payout_limit": 5_000_000},
        "positions": [
            {"position": 2, "cards": ["9s", "9h", "9d", "9c", "2h"],
             "wagers": {"ante": 1000, "raise": 3000, "prime": 500, "aces_bonus": 500,
                        "all_six": 500}},
            {"position": 6, "cards": ["Ah", "Ad", "4c", "5c", "7h"],
             "wagers": {"ante": 500, "raise": 500, "aces_bonus": 2500}},
        ],
        "dealer": ["Kc", "Kd", "Kh", "Ks", "3d", "4d"], "all_six_card": "2s",
    },
    "KD-01": {
        "game": "keystone_dice",
        "positions": [
            {"position": 3, "wagers": {"dice_bet": 100, "eight_bet": 500}},
            {"position": 8, "wagers": {"dice_bet": 500}},
        ],
        "dealer": ["hard_eight"],
        "meters": {"dice_jackpot": {"wager": 500, "smaller_wagers": [100], "amount": 20_000}},
    },
    "KB-01": {
        "game": "keystone_twenty_one",
        "positions": [
            {"position": 2, "cards": ["Qh", "Qh"],
             "wagers": {"twenty_one_progressive": 100, "queens_bet": 500}},
            {"position": 3, "cards": ["Qh", "Qh"], "wagers": {"twenty_one_progressive": 100}},
        ],
        "dealer": ["Qh"],
        "meters": {"twenty_one_jackpot": {"wager": 100, "amount": 90_000}},
    },
    "KJ-01": {
        "game": "keystone_joker",
        "positions": [
            {"position": 2, "cards": ["As", "Ah", "Ad", "Ac", "Jk", "2c", "3d"],
             "wagers": {"joker_progressive": 100, "fortune_wager": 500}},
            {"position": 3, "cards": ["2s", "3s", "4h", "8d", "9d", "Jd", "Kc"],
             "wagers": {"joker_progressive": 100}},
        ],
        "meters": {"joker_jackpot": {"wager": 100, "amount": 90_000}},
    },
    "KF-01": {
        "game": "keystone_flop",
        "positions": [
            {"position": 2, "cards": ["As", "Ks"],
             "wagers": {"flop_progressive": 100, "river_wager": 500}},
        ],
        "community": ["Qs", "Js", "Ts", "2c", "3d"],
        "meters": {"flop_jackpot": {"wager": 100, "amount": 90_000}},
    },
    "KT-01": {
        "game": "keystone_trips",
        "positions": [
            {"position": 2, "cards": ["straight_flush"], "wagers": {"trips_progressive": 500}},
            {"position": 3, "cards": ["other"], "wagers": {"trips_progressive": 500}},
        ],
        "meters": {"trips_jackpot": {"wager": 500, "amount": 300_000}},
    },
}  # fmt: skip
"""A round of each game with every wager of the game, by table."""

_HANDS: Final = {
    "dealer": "Dealer's hand", "community": "Community cards",
    "all_six_card": "All-Six Bonus card", "pair_bonus_community_card": "Pair Bonus card for all",
}  # fmt: skip


async def tap(page: Page | Locator, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).tap()


async def deal(page: Page, title: str, cards: Sequence[str]) -> None:
    await tap(page, f"Enter cards: {title}")
    await expect(page.locator("#pad-title")).to_have_text(title)
    for card in cards:
        await page.locator(f'[data-card="{card}"]').tap()


async def close_pad(page: Page) -> None:
    close = page.get_by_role("button", name="Close", exact=True)
    if await close.is_visible():
        await close.tap()


async def enter(page: Page, table: str, given: Round) -> None:
    """Enter a whole round by touches; only amounts are typed."""
    if await page.locator("#table").input_value() != table:
        await page.locator("#table").select_option(table)
    for position in given["positions"]:
        await tap(page, f"Position {position['position']}")
    for position in given["positions"]:
        await _enter_position(page, position)
    for field, title in _HANDS.items():
        if field in given:
            cards = given[field]
            of = "Result of the table" if given["game"] == "keystone_dice" else title
            of += " in the order of the deal" if given["game"] == "keystone_flop" else ""
            await deal(page, of, [cards] if isinstance(cards, str) else cards)
            await close_pad(page)
    for kind, meter in given.get("meters", {}).items():
        await page.locator(f'[id="meters.{kind}"]').fill(money(meter["amount"]))
    if draw := given.get("draw"):
        await deal(page, "Magic Card", [draw["magic_card"]])
        await close_pad(page)
        await page.locator('[id="draw.lucky_position"]').select_option(str(draw["lucky_position"]))


async def _enter_position(page: Page, position: Round) -> None:
    number, wagers = position["position"], position["wagers"]
    within = page.locator(f'[data-position="{number}"]')
    for wager, cents in wagers.items():
        field = page.locator(f'[id="{number}.wagers.{wager}"]')
        if wager in {"play", "raise"}:
            times = cents // wagers["ante"]
            await tap(within, f"{times} times the Ante, position {number}")
        elif await field.evaluate("field => field.tagName") == "INPUT":
            await field.fill(money(cents))
        else:
            await field.tap()
            if money(cents) not in await field.inner_text():  # the next touch is a smaller amount
                await field.tap()
    if position.get("folded"):
        await tap(within, "Folded")
    if "cards" in position:
        await deal(page, f"Hand of position {number}", position["cards"])
        await close_pad(page)
    if "fourth_card" in position:
        await deal(page, f"Fourth card of position {number}", [position["fourth_card"]])
        await close_pad(page)


async def shown_lines(page: Page) -> list[tuple[str, ...]]:
    await expect(page.get_by_role("heading", name="Settlement", exact=True)).to_be_visible()
    rows = await page.locator(".lines .line").all()
    return [
        tuple(
            [" ".join((await cell.inner_text()).split()) for cell in await row.locator("> *").all()]
        )
        for row in rows
    ]


def expected_lines(given: Round) -> list[tuple[str, ...]]:
    return [_expected(line) for line in settle_line(json.dumps(given).encode(), GAMES).lines]


def _expected(line: Line) -> tuple[str, ...]:
    words = item_words(line.item, GAMES.titles)
    if line.on and line.item != "dice_bet":
        words = f"{words}, {line.on}'s hand"
    if holder := line.envy_of or line.hand_of:
        words = f"{words} for the hand of position {holder}"
    amount = line.paid
    if not amount:
        amount = line.returned if line.outcome is Outcome.RETURNED else line.wagered
    returned = f" and the wager, {money(line.returned)}" if line.paid and line.returned else ""
    outcome = line.outcome.value.capitalize()
    sources = {
        "table_inventory": "from the table inventory", "hand_pay": "as a hand pay",
        "game_account": "to the player's game account",
    }  # fmt: skip
    if line.paid_from:
        outcome += f" {sources[line.paid_from.value]}"
    if line.percent:
        outcome += f", {line.percent}% of the meter"
    return (
        str(line.position), f"{words} {money(line.wagered)}", hand_words(line.hand or ""), outcome,
        f"{money(amount)}{returned}", line.rule,
    )  # fmt: skip


def problem(page: Page, field: str) -> Locator:
    return page.locator(f'[data-field="{field}"]')
