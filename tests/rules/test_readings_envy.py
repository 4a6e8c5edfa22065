"""The readings on folding and on Envy Bonuses, each shown by a round."""

import pytest
from msgspec.structs import replace

from bonus.settling.settlement_lines import Outcome
from tests.rules.dealing import (
    DEALER_BONUS,
    FIVE_CARD,
    FIVE_OF_SIX,
    HAND_BONUS,
    PROGRESSIVE,
    box,
    items,
    play,
    terms_at,
)

SPADES = "As Ks Qs"
HEARTS = "Ah Kh Qh"
RAGS = "2h 5s Jc"
MORE_RAGS = "3h 6s Tc"

pytestmark = pytest.mark.section("649a.1")


@pytest.mark.reading("T6")
@pytest.mark.section("649a.11(b)(3)")
def test_reading_t6_five_of_six_and_five_card_hand_bonus_survive_a_fold() -> None:
    played = play(
        box(3, "9d 9c 5d", FIVE_OF_SIX, HAND_BONUS, DEALER_BONUS, folded=True),
        dealer="9h 9s 2c",
        community="5h 5s",
    )
    assert played.paid("five_of_six_progressive") == [(3, 10_000)]
    assert played.paid("five_card_hand_bonus") == [(3, 10_000)]
    assert played.of("five_card_hand_bonus_dealer") == [(3, Outcome.COLLECTED, 0)]


@pytest.mark.reading("T7")
@pytest.mark.section("649a.11(b)(2)")
def test_reading_t7_a_fold_forfeits_the_three_and_five_card_progressive() -> None:
    played = play(
        box(3, "9d 9c 9s", PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, folded=True),
        community="9h 5s",
        dealer="2c 7d Kh",
    )
    assert [(line.item, line.outcome, line.rule, line.hand) for line in played.lines[:2]] == [
        ("progressive", Outcome.COLLECTED, "649a.11(b)(2)", None),
        ("five_card_progressive", Outcome.COLLECTED, "649a.11(b)(2)", None),
    ]


@pytest.mark.reading("T7")
@pytest.mark.section("649a.11(b)(2)")
def test_reading_t7_a_folder_still_receives_the_envy_bonuses_of_all_three() -> None:
    played = play(
        box(5, SPADES),
        box(3, RAGS, PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, folded=True),
        community="Js Ts",
        dealer="2c 7d Kh",
    )
    assert played.paid("progressive_envy") == [(3, 10_000)]
    assert played.paid("five_card_envy") == [(3, 100_000)]
    royal_with_dealer = play(
        box(5, "As Ks 2h"),
        box(3, None, PROGRESSIVE, folded=True),
        box(2, "3s 6h 8c", FIVE_OF_SIX, folded=True),
        dealer="Qs Js Ts",
    )
    assert royal_with_dealer.paid("five_of_six_envy") == [(2, 10_000)]


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
def test_reading_t8_a_hand_folded_and_collected_brings_nobody_an_envy_bonus() -> None:
    played = play(
        box(5, SPADES, PROGRESSIVE, FIVE_CARD, folded=True),
        box(3, RAGS, PROGRESSIVE, FIVE_CARD),
        community="Js Ts",
    )
    without_cards = play(
        box(5, None, PROGRESSIVE, FIVE_CARD, folded=True),
        box(3, RAGS, PROGRESSIVE, FIVE_CARD),
        community="Js Ts",
    )
    assert played == without_cards
    assert played.paid("progressive_envy") == played.paid("five_card_envy") == []


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
@pytest.mark.parametrize("kept_by", [FIVE_OF_SIX, HAND_BONUS, DEALER_BONUS])
def test_reading_t8_a_folded_hand_that_stays_brings_envy_bonuses_of_all_kinds(
    kept_by: str,
) -> None:
    played = play(
        box(5, SPADES, PROGRESSIVE, kept_by, folded=True),
        box(3, RAGS, PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX),
        community="Js Ts",
        dealer="2c 7d Kh",
    )
    assert played.paid("progressive_envy") == [(3, 10_000)]
    assert played.paid("five_card_envy") == [(3, 100_000)]
    assert played.paid("progressive") == []
    royal_with_dealer = play(
        box(5, "As Ks 2h", kept_by, folded=True), box(3, MORE_RAGS, FIVE_OF_SIX), dealer="Qs Js Ts"
    )
    assert royal_with_dealer.paid("five_of_six_envy") == [(3, 10_000)]


@pytest.mark.reading("T8")
@pytest.mark.section("649a.11(c)")
def test_reading_t8_a_folded_hand_that_stays_for_another_wager_brings_envy_bonuses_too() -> None:
    """A Six Card Bonus feeds no meter. Here it is only known that its cards stayed."""
    played = play(
        replace(box(5, SPADES, PROGRESSIVE, folded=True), kept=True), box(3, RAGS, PROGRESSIVE)
    )
    assert played.paid("progressive_envy") == [(3, 10_000)]
    assert played.paid("progressive") == []


@pytest.mark.reading("T9")
@pytest.mark.section("649a.11(c)(5)(v)")
def test_reading_t9_no_envy_bonus_among_the_boxes_of_one_patron() -> None:
    played = play(
        box(5, SPADES, PROGRESSIVE, FIVE_CARD, patron="ann"),
        box(4, RAGS, PROGRESSIVE, FIVE_CARD, patron="ann"),
        box(3, MORE_RAGS, PROGRESSIVE, FIVE_CARD, patron="bob"),
        community="Js Ts",
        dealer="2c 7d 9h",
    )
    assert played.paid("progressive_envy") == [(3, 10_000)]
    assert played.paid("five_card_envy") == [(3, 100_000)]


@pytest.mark.reading("T9")
def test_reading_t9_a_patron_receives_on_each_of_his_wagers() -> None:
    played = play(
        box(5, SPADES, patron="ann"),
        box(4, RAGS, PROGRESSIVE, patron="bob"),
        box(3, MORE_RAGS, PROGRESSIVE, patron="bob"),
    )
    assert played.paid("progressive_envy") == [(4, 10_000), (3, 10_000)]


@pytest.mark.reading("T9")
def test_reading_t9_two_hands_of_one_other_patron_count_twice() -> None:
    played = play(
        box(6, SPADES, patron="ann"),
        box(5, HEARTS, patron="ann"),
        box(4, RAGS, PROGRESSIVE, patron="bob"),
        dealer="3c 7d 9h",
    )
    envy = [line for line in played.lines if line.item == "progressive_envy"]
    assert [(line.position, line.envy_of, line.paid) for line in envy] == [
        (4, 6, 10_000),
        (4, 5, 2_500),
    ]


@pytest.mark.reading("T9")
def test_reading_t9_a_position_that_names_no_patron_is_a_player_of_its_own() -> None:
    played = play(box(5, SPADES, PROGRESSIVE), box(4, RAGS, PROGRESSIVE))
    assert played.paid("progressive_envy") == [(4, 10_000)]


@pytest.mark.reading("T10")
def test_reading_t10_the_holder_need_not_have_made_the_wager() -> None:
    played = play(box(5, HEARTS), box(4, RAGS, PROGRESSIVE), dealer="3c 7d 9h")
    assert played.paid("progressive_envy") == [(4, 2_500)]


@pytest.mark.reading("T11")
@pytest.mark.section("649a.12(h)(5)")
@pytest.mark.section("649a.11(c)(7)")
def test_reading_t11_only_five_card_progressive_wagers_receive_the_five_card_envy_bonus() -> None:
    played = play(
        box(5, "9s 8s 7s"),
        box(4, RAGS, PROGRESSIVE, FIVE_OF_SIX),
        box(3, MORE_RAGS, FIVE_CARD),
        community="Js Ts",
        dealer="2c 7d 9h",
    )
    envy = [line for line in played.lines if line.item.endswith("_envy")]
    assert items(envy) == [(3, "five_card_envy")]
    assert (envy[0].paid, envy[0].rule, envy[0].hand) == (
        30_000,
        "649a.12(h)(5)",
        "straight_flush",
    )


@pytest.mark.reading("T11")
@pytest.mark.section("649a.12(j)(5)")
@pytest.mark.section("649a.11(c)(9)")
@pytest.mark.parametrize(
    ("suit", "cents", "paid"),
    [("s", 100, 10_000), ("h", 100, 5_000), ("s", 500, 50_000), ("c", 500, 25_000)],
)
def test_reading_t11_five_of_six_envy_is_by_the_fifth_paragraph_of_j(
    suit: str, cents: int, paid: int
) -> None:
    played = play(
        box(5, f"A{suit} K{suit} 5d"),
        box(4, "3d 6d 9d", FIVE_OF_SIX, cents=cents),
        dealer=f"Q{suit} J{suit} T{suit}",
        terms=terms_at(cents),
    )
    assert played.paid("five_of_six_envy") == [(4, paid)]
    assert played.lines[0].rule == "649a.12(j)(5)"


@pytest.mark.reading("T12")
def test_reading_t12_the_dealers_hand_brings_no_envy_bonus() -> None:
    played = play(
        box(4, RAGS, PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX), dealer=SPADES, community="Js Ts"
    )
    assert not [line for line in played.lines if line.item.endswith("_envy")]


@pytest.mark.section("649a.12(e)(5)")
@pytest.mark.parametrize(
    ("hand", "cents", "paid"),
    [(SPADES, 100, 10_000), (HEARTS, 100, 2_500), (SPADES, 500, 50_000), (HEARTS, 500, 12_500)],
)
def test_envy_goes_by_the_amount_of_the_wager(hand: str, cents: int, paid: int) -> None:
    played = play(box(5, hand), box(4, "3s 6s Tc", PROGRESSIVE, cents=cents), terms=terms_at(cents))
    assert [
        (line.position, line.item, line.paid, line.wagered, line.rule, line.paid_from)
        for line in played.lines
        if line.envy_of == 5
    ] == [(4, "progressive_envy", paid, cents, "649a.12(e)(5)", "table_inventory")]


def test_a_straight_flush_of_three_brings_no_three_card_envy() -> None:
    played = play(box(5, "Ks Qs Js"), box(4, RAGS, PROGRESSIVE))
    assert played.paid("progressive_envy") == []


def test_a_straight_flush_of_six_brings_no_five_of_six_envy() -> None:
    played = play(box(5, "Ks Qs 5d"), box(4, "3d 6d 9d", FIVE_OF_SIX), dealer="9s Js Ts")
    assert played.paid("five_of_six_envy") == []
