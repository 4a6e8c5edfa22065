"""The rankings of 649a.6, 679a.6 and 682a.6: the hands that cards can form, and their order.

Another number of cards than a hand of the ranking has is refused with ValueError.
"""

from bonus.hands.aces import AcesHand, aces_hand, aces_hand_best_four
from bonus.hands.colors import FivePrimeHand, PrimeHand, five_prime_hand, prime_hand
from bonus.hands.five import FiveCardHand, best_five_of, five_card_hand
from bonus.hands.four import FourCardHand, best_four
from bonus.hands.six import SixCardHand, SuperRoyalHand, six_card_hand, super_royal_hand
from bonus.hands.three import (
    ThreeCardHand,
    dealer_qualifies,
    three_card,
    three_card_hand,
    three_card_strength,
)

__all__ = [
    "AcesHand",
    "FiveCardHand",
    "FivePrimeHand",
    "FourCardHand",
    "PrimeHand",
    "SixCardHand",
    "SuperRoyalHand",
    "ThreeCardHand",
    "aces_hand",
    "aces_hand_best_four",
    "best_five_of",
    "best_four",
    "dealer_qualifies",
    "five_card_hand",
    "five_prime_hand",
    "prime_hand",
    "six_card_hand",
    "super_royal_hand",
    "three_card",
    "three_card_hand",
    "three_card_strength",
]
