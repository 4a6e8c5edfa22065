"""The paytables as data against the figures of 649a.12, typed from the text a second time."""

import re

import pytest

from bonus.law.games import chapter_games
from bonus.law.meter_terms import meter_terms
from bonus.law.paytables import ChapterError, Payout, read_cents, read_payout, read_seed

PROGRESSIVE = "progressive"
FIVE_CARD = "five_card_progressive"
HAND_BONUS = "five_card_hand_bonus"
FIVE_OF_SIX = "five_of_six_progressive"


@pytest.mark.section("649a.7(d)")
def test_the_meters_five_wagers_feed_four_meters() -> None:
    assert {wager: tables.meter for wager, tables in chapter_games().meters.terms.items()} == {
        "progressive": "progressive",
        "five_card_progressive": "five_card_progressive",
        "five_of_six_progressive": "five_of_six_progressive",
        "five_card_hand_bonus": "five_card_hand_bonus",
        "five_card_hand_bonus_dealer": "five_card_hand_bonus",
    }


@pytest.mark.reading("T22")
@pytest.mark.reading("wager amount")
@pytest.mark.parametrize(
    ("kind", "paytable", "rule"),
    [
        (PROGRESSIVE, "A", "649a.12(e)(5)"),
        (FIVE_CARD, None, "649a.12(h)(5)"),
        (FIVE_OF_SIX, None, "649a.12(j)(5)"),
    ],
)
@pytest.mark.parametrize("cents", [-100, 0, 1, 99, 101, 200, 1_000])
def test_reading_t22_an_amount_without_envy_bonuses_is_refused(
    kind: str, paytable: str | None, rule: str, cents: int
) -> None:
    with pytest.raises(ValueError, match=re.escape(rule) if cents > 0 else "at least one cent"):
        meter_terms(kind, cents, paytable)


@pytest.mark.reading("T22")
@pytest.mark.reading("wager amount")
def test_reading_t22_the_five_card_hand_bonus_is_offered_at_any_amount_of_whole_cents() -> None:
    assert meter_terms(HAND_BONUS, 1).seed_cents == 10_000
    assert meter_terms(HAND_BONUS, 2_500).seed_cents == 25_000_000
    with pytest.raises(ValueError, match="at least one cent"):
        meter_terms(HAND_BONUS, 0)


@pytest.mark.parametrize(
    ("kind", "paytable", "reason"),
    [
        (PROGRESSIVE, None, "A or B of 649a.12(e)(1)"),
        (PROGRESSIVE, "C", "649a.12(e)(1) has the paytables A or B, not 'C'"),
        (PROGRESSIVE, "", "not ''"),
        (FIVE_CARD, "A", "649a.12(h)(1) has only one paytable"),
        (FIVE_OF_SIX, "A", "649a.12(j)(1) has only one paytable"),
        (HAND_BONUS, "B", "649a.12(i)(1) has only one paytable"),
    ],
)
def test_a_paytable_is_chosen_if_there_is_a_choice_and_only_then(
    kind: str, paytable: str | None, reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        meter_terms(kind, 100, paytable)


def test_cells_are_read_as_they_are_written() -> None:
    assert read_payout("1,000 for 1") == Payout(times=1_000)
    assert read_payout("1000 for 1") == Payout(times=1_000)
    assert read_payout("35 to 1") == Payout(times=35, stake_back=True)
    assert read_payout("10% of meter") == Payout(percents=(("meter", 10),))
    assert read_payout("$1,000,000") == Payout(sum_cents=100_000_000, stake_back=True)
    assert read_payout("N/A") == read_payout("") == Payout()
    assert read_seed("$10,000 for 1") == 10_000
    assert read_cents("$1,500") == 150_000
    for cell in (" ", "500", "1,00 for 1", "0 for 1", "0 to 1", "$5.00", "\u0665 for 1"):
        with pytest.raises(ChapterError):
            read_payout(cell)
