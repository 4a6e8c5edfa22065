"""Hands that the dealer declared to win nothing: when the text needs their cards all the same.

A wager that other cards or a draw decide wins with every hand. Each case is read from the text; no
possible hand is tried.
"""

from tests.naive.ranking import is_queen_high_or_better, three_card
from tests.naive.shapes import Box, Round

OWN = "five_card_hand_bonus"
NOT_QUALIFIED = {"three_card_prime": "play", "three_card_poker": "play"}
"""The wager that is paid or returned if the dealer's hand does not qualify, by game."""

PAYS_THREE_OF_A_KIND = {"three_card_poker": "six_card_bonus", "three_card_prime": "all_six"}
"""The wager that wins with three of a kind among the player's and the dealer's cards, by game."""


def refusal(played: Round) -> str | None:
    """Return the code with which a round is refused because of a declared hand, if it is."""
    for box in played["positions"]:
        if not box.get("no_win"):
            continue
        if "cards" in box:
            return "no_win_with_cards"
        if box["folded"]:
            return "no_win_folded"
    for box in played["positions"]:
        if box.get("no_win"):
            if magic_card_may_be_held(played, box):
                return "cards_missing"
            if wins_with_every_hand(played, box):
                return "no_win_wins"
    return None


def magic_card_may_be_held(played: Round, box: Box) -> bool:
    """Check whether only the cards of the box show who has the Magic Card (649a.12(i)(3))."""
    magic = (played.get("draw") or {}).get("magic_card")
    shown = [*played["dealer"], *played.get("community", ())]
    for other in played["positions"]:
        shown += other.get("cards", [])
    return magic is not None and OWN in box["wagers"] and magic not in shown


def wins_with_every_hand(played: Round, box: Box) -> bool:
    """Check whether a wager of the box is paid or returned, whatever its cards are."""
    game, wagers = played.get("game", "three_card_poker"), box["wagers"]
    draw, dealer = played.get("draw") or {}, tuple(played["dealer"])
    if OWN in wagers and (
        draw.get("lucky_position") == box["position"]
        or draw.get("magic_card") in played.get("community", ())
    ):
        return True
    if PAYS_THREE_OF_A_KIND.get(game) in wagers and three_card(dealer) == "three_of_a_kind":
        return True
    main = NOT_QUALIFIED.get(game)
    exposed = played.get("irregularity") == "dealer_exposed"
    return main in wagers and not exposed and not is_queen_high_or_better(dealer)
