"""A table whose wager can have several amounts: devices, corrections and bots."""

from typing import Final

import pytest

from controllers.games.trial_floor import read_trial_floor
from controllers.games.trial_rounds import Trial
from controllers.table.state import Layout
from meters.floor.floor_file import FloorError, parse_floor
from tests.controllers.floors import HandTable
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE

FLOOR: Final = floor_text(
    link_text(
        "one",
        meter_text("dice_jackpot", 500, smaller_wagers=[250, 100]),
        table_text("T-1", "dice_jackpot", game="keystone_dice", positions=8),
    ),
    games=str(HOUSE),
)


def layout_of() -> Layout:
    (link,) = parse_floor(FLOOR).link
    return Layout.of(link, link.table[0])


STORIES = {
    "each amount lights the wager, and another amount replaces it": """
        wager 3 dice_bet 500 patron=p3; wager 5 dice_bet 100; wager 3 dice_bet 250; light: yes
        wager 3 dice_bet 250 -> wager_twice; wager 4 dice_bet 200 -> wrong_amount
        wager 3 dice_bet 100 patron=p4 -> patron_differs
        lockout; chips: 2; positions: 3 dice_bet 250, 5 dice_bet 100; patrons: 3 p3, 5 None
    """,
    "the same again has the same amounts": """
        wager 3 dice_bet 500; wager 5 dice_bet 100; lockout; chips 2; dealer other; settle
        repeat; lockout; positions: 3 dice_bet 500, 5 dice_bet 100
    """,
    "a replaced amount needs a live link, and a wager taken back does not": """
        wager 3 dice_bet 500; fault link_down; wager 3 dice_bet 100 -> link_down
        withdraw 3 dice_bet; lit: none
    """,
    "a correction adds an amount, and takes back what is there": """
        wager 3 dice_bet 100; lockout; correct_wager add 4 dice_bet amount=250; chips: 2
        positions: 3 dice_bet 100, 4 dice_bet 250; correct_wager take_back 3 dice_bet
        correct_wager add 5 dice_bet; positions: 4 dice_bet 250, 5 dice_bet 500
        correct_wager add 6 dice_bet amount=200 -> wrong_amount
        correct_wager add 5 dice_bet amount=100 -> wager_twice
    """,
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_wagers_of_a_round_have_their_own_amounts(story: str) -> None:
    HandTable(layout=layout_of()).play(story)


def test_bots_of_a_trial_play_each_amount() -> None:
    floor = read_trial_floor(HOUSE / "keystone_dice.toml", (100, 500, 250))
    (meter,) = floor.link[0].meter
    assert (meter.wager, meter.smaller_wagers) == (500, (250, 100))
    trial = Trial.of(floor, 3)
    seen = set[int]()
    for _ in range(60):
        played = trial.play()
        seen |= {line.wagered for line in played.lines if line.item == "dice_bet"}
    assert seen == {500, 250, 100}
    with pytest.raises(FloorError, match=r"--wager 500 --wager 333: .*333/500 of 12.5%"):
        read_trial_floor(HOUSE / "keystone_dice.toml", (500, 333))
