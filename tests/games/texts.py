"""Texts of small game files, for tests that need a game with one property."""

from collections.abc import Mapping, Sequence
from typing import Final

ROWS = {
    "royal_flush": "100% of meter",
    "straight_flush": "10% of meter",
    "four_of_a_kind": "100 for 1",
    "full_house": "50 for 1",
    "flush": "20 for 1",
    "straight": "10 for 1",
    "three_of_a_kind": "3 for 1",
}


def tier_rows(first: str, second: str) -> dict[str, str]:
    return {**ROWS, "royal_flush": f"100% of {first}", "straight_flush": f"100% of {second}"}


def wager_text(
    name: str,
    *meters: str,
    rows: Mapping[str, str] = ROWS,
    cards: str = "hand_and_community",
    seed: str = "$100 for 1",
    after: str = "",
) -> str:
    """Return the text of a wager that feeds meters. `after` is the text after its table."""
    terms = f'rule = "H.4"\nseed = "{seed}"\nreseed = "{seed}"\nprimary = "5%"\n'
    listed = ", ".join(f'"{meter}"' for meter in meters)
    fed = f"meter = {listed}" if len(meters) == 1 else f"meters = [{listed}]"
    rates = [f"[wager.table.progressions.{meter}]\n{terms}" for meter in meters]
    if len(meters) == 1:
        rates = [f"[wager.table.progression]\n{terms}"]
    pays = "".join(f'{hand} = "{cell}"\n' for hand, cell in rows.items())
    return f"""
[[wager]]
names = ["{name}"]
{fed}
short = ["{name[:4]}"]
validation = {{ rule = "H.5", stays = "H.5" }}
ranking = "five_card"
cards = ["{cards}"]
placing = "H.3"
lowest = "three_of_a_kind"
paid_from = "table_inventory"
[[wager.table]]
rule = "H.4"
[wager.table.pays]
{pays}
{"".join(rates)}
{after}
"""


def envy_text(**pays: str) -> str:
    """Return the text of the Envy Bonuses of a $1 wager, by hand, the highest first."""
    cells = ", ".join(f'{hand} = "{cell}"' for hand, cell in pays.items())
    return f"""
[wager.envy]
rule = "H.4"
lowest = "{[*pays][-1]}"
[[wager.envy.schedule]]
wager = "$1"
pays = {{ {cells} }}
"""


def game_text(
    game: str,
    meters: Sequence[str],
    *wagers: str,
    hand: int = 2,
    dealer: int = 0,
    community: int = 3,
) -> str:
    titles = "".join(f'[[meter]]\nname = "{meter}"\ntitle = "{meter}"\n' for meter in meters)
    return f"""
chapter = "H"
game = "{game}"
title = "{game.title()}"
{titles}
[deal]
deck_rule = "H.1"
rule = "H.2"
positions = 6
positions_rule = "H.2"
hand = {hand}
dealer = {dealer}
community = {community}
{"".join(wagers)}
[irregular]
void = "H.6"
dealer_exposed = "H.6"
settled = []
"""


DRAWN: Final = game_text(
    "drawn",
    ["five_card_hand_bonus"],
    wager_text(
        "own", "five_card_hand_bonus", cards='hand_and_community", "dealer_and_community',
        rows=dict([*ROWS.items()][:5]), seed="$10,000 for 1",
        after='[wager.draws]\nrule = "H.4"\nmagic_card = "20 for 1"\nlucky_bonus = "5 for 1"\n',
    )
    .replace('names = ["own"]', 'names = ["own", "own_dealer"]\ndivided = "H.4"')
    .replace('short = ["own"]', 'short = ["Own", "OwnD"]')
    .replace("three_of_a_kind", "flush")
    .replace('reseed = "$10,000 for 1"', 'reseed = "$0"')
    .replace('primary = "5%"', 'primary = "21%"\nreserve = "8%"'),
    hand=3,
    dealer=3,
    community=2,
)  # fmt: skip
"""A game whose wager has draws, and a chip. It feeds the meter of the Five Card Hand Bonus."""
