import secrets

from bonus.cards import DECK, card_name
from meters.intake.table_catalog import CatalogTable
from meters.wire.messages import DrawMade, Wagers


def draw_for(known: CatalogTable, event: Wagers) -> DrawMade | None:
    """Draw the Magic Card and the Lucky position of a round (649a.12(i)(3)).

    The chances are 1 in `magic_card_every` and 1 in `lucky_every`, two parameters of the meter; if
    a parameter is 0, its draw is never made. Return None if the table offers no draws, or if nobody
    made a wager that a draw can decide (readings T19 and T20).
    """
    meters = known.meters.values()
    meter = next((each for each in meters if each.magic_card_every or each.lucky_every), None)
    if meter is None:
        return None
    placings = known.rules.placings
    drawn = {wager for wager in known.offers if placings[wager].draws}
    if not any(drawn & position.wagers.keys() for position in event.positions):
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
