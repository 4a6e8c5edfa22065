"""Invalid rounds, one row for each kind of error."""

import pytest

from bonus.settling.round_checks import check_round
from bonus.settling.rounds import Draw, Round, RoundError, RoundPosition, one_card, read_cards
from bonus.settling.settlement import settle_round
from bonus.settling.table_rules import meter_rules
from tests.rules.dealing import (
    COMMUNITY,
    DEALER,
    FIVE_CARD,
    FIVE_OF_SIX,
    HAND_BONUS,
    PROGRESSIVE,
    box,
    terms_at,
    three,
    two,
)

RAGS = "2h 5s Jc"
MORE_RAGS = "3h 6s Tc"

RULES = meter_rules("three_card_poker")


def dealt(
    *boxes: RoundPosition,
    dealer: str = DEALER,
    community: str | None = COMMUNITY,
    draw: Draw = Draw(),  # noqa: B008
) -> Round:
    return Round(boxes, three(dealer), None if community is None else two(community), draw)


@pytest.mark.reading("T8")
@pytest.mark.parametrize(
    "played",
    [
        dealt(),
        dealt(box(7, RAGS, PROGRESSIVE, FIVE_OF_SIX), community=None),
        dealt(box(1, None, PROGRESSIVE, FIVE_CARD, folded=True)),
        dealt(box(1, None, folded=True), community=None),
        dealt(box(1, RAGS), draw=Draw(None, 7)),
        dealt(box(1, RAGS), draw=Draw(three(RAGS)[0], "dealer")),
    ],
)
def test_a_round_that_can_be_passes(played: Round) -> None:
    check_round(played, RULES, terms_at())


def test_cards_are_read_in_their_order() -> None:
    assert read_cards(["As", "2c", "Td"], 3, "dealer") == three("As 2c Td")
    assert read_cards(["As", "2c"], 2, "community") == two("As 2c")
    with pytest.raises(RoundError):
        read_cards(["As"], 2, "community")
    with pytest.raises(RoundError):
        one_card("A", "draw.magic_card")


def test_settling_a_round_that_was_not_checked_raises_rather_than_guesses() -> None:
    with pytest.raises(RoundError, match="has no cards"):
        settle_round(dealt(box(1, None, PROGRESSIVE)), RULES, terms_at())
    with pytest.raises(RoundError, match="community cards are missing"):
        settle_round(
            dealt(box(1, RAGS, HAND_BONUS), community=None),
            RULES,
            terms_at(),
        )
