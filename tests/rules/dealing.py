from collections.abc import Mapping
from dataclasses import dataclass

from bonus.cards import Card, parse_card
from bonus.law.games import chapter_games
from bonus.law.meter_terms import MeterTerms, meter_terms
from bonus.rounds import Line, MeterHolding, Outcome, Round, RoundPosition
from bonus.settling.round_checks import check_round
from bonus.settling.settlement import resolve, settle_round
from bonus.settling.table_rules import meter_rules
from bonus.wagers import MICROS_PER_CENT

PROGRESSIVE = "progressive"
FIVE_CARD = "five_card_progressive"
FIVE_OF_SIX = "five_of_six_progressive"
HAND_BONUS = "five_card_hand_bonus"
DEALER_BONUS = "five_card_hand_bonus_dealer"

# Cards without any win, for tests in which they do not matter.
DEALER = "2c 7d 9h"
COMMUNITY = "4c 8d"


def cards(names: str) -> tuple[Card, ...]:
    return tuple(parse_card(name) for name in names.split())


def three(names: str) -> tuple[Card, Card, Card]:
    first, second, third = cards(names)
    return first, second, third


def terms_at(wager_cents: int = 100, paytable: str = "A") -> dict[str, MeterTerms]:
    return {
        kind: meter_terms(kind, wager_cents, paytable if kind == "progressive" else None)
        for kind in chapter_games().meters.titles
    }


def box(
    position: int,
    hand: str | None,
    *wagers: str,
    patron: str | None = None,
    folded: bool = False,
    cents: int = 100,
) -> RoundPosition:
    """Return a position with a hand; its wagers are all of ``cents``."""
    dealt = None if hand is None else three(hand)
    return RoundPosition(position, patron, dealt, folded, dict.fromkeys(wagers, cents))


@dataclass(frozen=True)
class Played:
    lines: tuple[Line, ...]
    after: Mapping[str, MeterHolding]

    def paid(self, item: str) -> list[tuple[int, int]]:
        return [
            (line.position, line.paid)
            for line in self.lines
            if line.item == item and line.outcome is Outcome.PAID
        ]


def seeds(terms: Mapping[str, MeterTerms]) -> dict[str, MeterHolding]:
    return {kind: MeterHolding(of.seed_cents * MICROS_PER_CENT) for kind, of in terms.items()}


def play(
    *boxes: RoundPosition,
    dealer: str = DEALER,
    community: str = COMMUNITY,
    held: Mapping[str, MeterHolding] | None = None,
) -> Played:
    """Check and settle a round; meters hold their seeds except those in ``held``."""
    terms = terms_at()
    first, second = cards(community)
    played = Round(boxes, three(dealer), community=(first, second))
    check_round(played, meter_rules("three_card_poker"), terms)
    settlement = settle_round(played, meter_rules("three_card_poker"), terms)
    dues, after = resolve(settlement, {**seeds(terms), **(held or {})}, terms)
    return Played(tuple(due.line for due in dues), after)
