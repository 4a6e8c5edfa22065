"""Check of hands that the dealer declared to win nothing, without entering their cards.

A declared hand loses each wager that its own cards decide, and brings no Envy Bonus. Its position
can still win what other hands decide: Envy Bonuses, and the wager on the dealer's hand. Where the
cards are needed as evidence, the declaration is refused: if a Magic Card is drawn that is none of
the known cards and the position has a Five Card Hand Bonus wager on its own hand; and if the other
cards or the draws decide that a wager is paid or returned whatever cards the position has, as when
the dealer's hand does not qualify, or a community card is the Magic Card.

A declared hand also loses its Ante and its Play. So if the chapter returns those of equal hands, a
hand that equals the dealer's must not be declared to win nothing.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations, islice
from math import comb
from typing import Final

from msgspec.structs import replace

from bonus.cards import DECK, Card, card_name
from bonus.law.meter_terms import MeterTerms
from bonus.rounds import Outcome, Round, RoundError, RoundPosition
from bonus.settling.settlement import settle_round
from bonus.settling.table_rules import TableRules

_TRIED_MAX: Final = 512
"""Number of possible hands that are tried. If any loses all wagers, one of the first usually does.
"""
_MIXING: Final = 23


def check_no_win(played: Round, rules: TableRules, terms: Mapping[str, MeterTerms]) -> None:
    """Refuse a round, which the other checks accepted, with a wrong declaration.

    Raises:
        RoundError: ``cards_missing`` if only the cards of a declared hand decide a Magic Card
            (649a.12(i)(3)), or ``no_win_wins`` if a wager of the position would be paid or returned
            with every possible hand.
    """
    if not any(box.no_win for box in played.positions):
        return
    seen = _seen(played)
    for index, box in enumerate(played.positions):
        if box.no_win:
            _check_magic_card(played, rules, box, index, seen)
            if not _can_lose(played, rules, terms, box, seen):
                message = (
                    f"position {box.position} is declared to win nothing, but with the other cards"
                    " and the draws of this round one of its wagers is paid or returned: enter its"
                    " cards"
                )
                raise RoundError("no_win_wins", message, f"positions[{index}].no_win")


def _seen(played: Round) -> frozenset[Card]:
    single = (played.pair_bonus_community_card, played.all_six_card)
    piles = (
        *(box.cards or () for box in played.positions),
        played.dealer or (),
        played.community or (),
        (*single, *(box.fourth_card for box in played.positions)),
    )
    return frozenset(card for pile in piles for card in pile if card is not None)


def _check_magic_card(
    played: Round, rules: TableRules, box: RoundPosition, index: int, seen: Collection[Card]
) -> None:
    magic = played.draw.magic_card
    if magic is None or magic in seen:
        return
    for wager in box.wagers:
        placing = rules.placings[wager]
        if placing.draws and placing.cards == "hand_and_community":
            message = (
                f"the Magic Card {card_name(magic)} is drawn: the cards of position"
                f" {box.position} decide if its {wager} wins it (649a.12(i)(3))"
            )
            raise RoundError("cards_missing", message, f"positions[{index}].cards")


def _can_lose(
    played: Round,
    rules: TableRules,
    terms: Mapping[str, MeterTerms],
    box: RoundPosition,
    seen: Collection[Card],
) -> bool:
    """Return whether a possible hand loses all wagers that depend on more than its cards."""
    wagers = {
        wager: cents
        for wager, cents in box.wagers.items()
        if _depends_on_others(played, rules, wager)
    }
    if not wagers:
        return True
    for cards in _possible_hands(seen, rules.chapter.deal.hand):
        tried = replace(box, cards=cards, no_win=False, wagers=wagers)
        alone = settle_round(replace(played, positions=(tried,)), rules, terms)
        if all(due.line.outcome is Outcome.COLLECTED for due in alone.dues):
            return True
    return False


def _depends_on_others(played: Round, rules: TableRules, wager: str) -> bool:
    """Return whether a wager depends on the position's cards and on other cards or a draw."""
    if played.dealer_exposed and wager not in rules.chapter.irregular.settled:
        return False
    return rules.placings[wager].cards not in {"hand", "dealer_and_community"}


def _possible_hands(seen: Collection[Card], count: int) -> Iterator[tuple[Card, ...]]:
    """Yield possible hands, at equal distances in the list of all of them."""
    unseen = sorted((card for card in DECK if card not in seen), key=_mixed)
    apart = max(1, comb(len(unseen), count) // _TRIED_MAX)
    return islice(combinations(unseen, count), 0, None, apart)


def _mixed(card: Card) -> int:
    return card * _MIXING % len(DECK)
