"""The bonus draws of the table game system: Magic Card and Lucky position (649a.12(i)(3))."""

import secrets

from bonus.cards import DECK, card_name
from bonus.wagers import MeterKind
from meters.intake.table_catalog import CatalogTable
from meters.wire.messages import DrawMade, Wagers

_HAND_BONUS = frozenset({"five_card_hand_bonus", "five_card_hand_bonus_dealer"})


def draw_for(known: CatalogTable, event: Wagers) -> DrawMade | None:
    """Make the bonus draws of a round. In most rounds, nothing is drawn.

    The floor file sets the average number of rounds per draw. Return None if the table offers no
    draws, or if nobody made a Five Card Hand Bonus wager (readings T19 and T20).
    """
    meter = known.meters.get(MeterKind.FIVE_CARD_HAND_BONUS)
    if meter is None or not (meter.magic_card_every or meter.lucky_every):
        return None
    if not any(_HAND_BONUS & position.wagers.keys() for position in event.positions):
        return None
    return DrawMade(
        magic_card=card_name(secrets.choice(DECK)) if _falls(meter.magic_card_every) else None,
        lucky_position=(
            secrets.choice((*range(1, known.table.positions + 1), "dealer"))
            if _falls(meter.lucky_every)
            else None
        ),
    )


def _falls(every: int) -> bool:
    return every > 0 and secrets.randbelow(every) == 0
