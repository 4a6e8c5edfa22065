"""Invalid rounds, one row for each kind of error."""

import pytest

from bonus.settling.round_checks import check_round
from bonus.settling.rounds import Draw, Round, RoundError, RoundPosition, one_card, read_cards
from bonus.settling.settlement import settle_round
from bonus.settling.table_rules import meter_rules
from tests.rules.dealing import (
    COMMUNITY,
    DEALER,
    DEALER_BONUS,
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


WRONG = [
    (dealt(box(0, RAGS)), "bad_position", "positions[0].position"),
    (dealt(box(1, RAGS), box(8, MORE_RAGS)), "bad_position", "positions[1].position"),
    (dealt(box(1, RAGS), box(1, MORE_RAGS)), "position_twice", "positions[1].position"),
    (dealt(box(1, "2h 2h Jc")), "card_twice", "positions[0].cards"),
    (dealt(box(1, RAGS), box(2, "3h Jc 9s")), "card_twice", "positions[1].cards"),
    (dealt(box(1, RAGS), dealer="2h 7d 9h"), "card_twice", "dealer"),
    (dealt(box(1, RAGS), community="2h 7c"), "card_twice", "community"),
    (dealt(box(1, RAGS), community="9h 7c"), "card_twice", "community"),
    (
        dealt(box(1, RAGS, folded=True), box(2, "2h 6s Tc")),
        "card_twice",
        "positions[1].cards",
    ),
    (dealt(box(1, None, PROGRESSIVE)), "cards_missing", "positions[0].cards"),
    (dealt(box(1, None)), "cards_missing", "positions[0].cards"),
    (dealt(box(1, None, FIVE_OF_SIX, folded=True)), "cards_missing", "positions[0].cards"),
    (dealt(box(1, None, HAND_BONUS, folded=True)), "cards_missing", "positions[0].cards"),
    (dealt(box(1, None, DEALER_BONUS, folded=True)), "cards_missing", "positions[0].cards"),
    (dealt(box(1, RAGS, FIVE_CARD), community=None), "community_missing", "community"),
    (dealt(box(1, RAGS, HAND_BONUS), community=None), "community_missing", "community"),
    (dealt(box(1, RAGS, DEALER_BONUS), community=None), "community_missing", "community"),
    (
        dealt(box(1, None, FIVE_CARD, folded=True), community=None),
        "community_missing",
        "community",
    ),
    (
        dealt(box(1, RAGS, PROGRESSIVE, cents=500)),
        "wrong_amount",
        "positions[0].wagers.progressive",
    ),
    (dealt(box(1, RAGS, HAND_BONUS, cents=0)), "wrong_amount", "positions[0].wagers."),
    (
        dealt(RoundPosition(1, None, three(RAGS), folded=False, wagers={"ante": 100})),
        "unknown_wager",
        "positions[0].wagers.ante",
    ),
    (dealt(box(1, RAGS), draw=Draw(None, 0)), "bad_position", "draw.lucky_position"),
    (dealt(box(1, RAGS), draw=Draw(None, 8)), "bad_position", "draw.lucky_position"),
]


@pytest.mark.section("649a.8(d)")
@pytest.mark.section("649a.2(a)")
@pytest.mark.reading("T8")
@pytest.mark.reading("T22")
@pytest.mark.parametrize(("played", "code", "field"), WRONG)
def test_a_round_that_cannot_be_is_refused(played: Round, code: str, field: str) -> None:
    with pytest.raises(RoundError) as refused:
        check_round(played, RULES, terms_at())
    assert refused.value.code == code
    assert (refused.value.field or "").startswith(field)
    assert refused.value.message == str(refused.value)


def test_a_wager_without_its_meter_is_refused() -> None:
    terms = terms_at()
    del terms["five_card_hand_bonus"]
    with pytest.raises(RoundError) as refused:
        check_round(dealt(box(1, RAGS, DEALER_BONUS)), RULES, terms)
    assert refused.value.code == "unknown_meter"


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


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ([], "wrong_cards"),
        (["As", "Ks"], "wrong_cards"),
        (["As", "Ks", "Qs", "Js"], "wrong_cards"),
        (["As", "Ks", "10s"], "bad_card"),
        (["As", "Ks", "qs"], "bad_card"),
    ],
)
@pytest.mark.section("649a.13")
def test_a_hand_that_is_not_three_cards_is_refused(names: list[str], code: str) -> None:
    with pytest.raises(RoundError) as refused:
        read_cards(names, 3, "positions[2].cards")
    assert (refused.value.code, refused.value.field) == (code, "positions[2].cards")


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
