"""The paytables as data against the figures of 649a.12, typed from the text a second time."""

import re
from importlib.resources import files

import pytest

from bonus.law.cells import ChapterError, Payout, read_cents, read_payout, read_seed
from bonus.law.chapter import read_chapter
from bonus.law.games import chapter_games
from bonus.law.meter_terms import meter_terms

PROGRESSIVE = "progressive"
FIVE_CARD = "five_card_progressive"
HAND_BONUS = "five_card_hand_bonus"
FIVE_OF_SIX = "five_of_six_progressive"


@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(h)(3)")
@pytest.mark.section("649a.12(i)(4)")
@pytest.mark.section("649a.12(j)(3)")
@pytest.mark.parametrize(
    ("kind", "paytable", "figures"),
    [
        (PROGRESSIVE, "A", (1_000, 1_000, 14, 0)),
        (PROGRESSIVE, "B", (1_000, 1_000, 20, 0)),
        (FIVE_CARD, None, (10_000, 10_000, 21, 0)),
        (HAND_BONUS, None, (10_000, 0, 21, 8)),
        (FIVE_OF_SIX, None, (10_000, 10_000, 28, 0)),
    ],
)
@pytest.mark.parametrize("wager_cents", [100, 500])
def test_seeds_and_rates_follow_the_wager(
    kind: str, paytable: str | None, figures: tuple[int, int, int, int], wager_cents: int
) -> None:
    """The figures are seed and reseed for 1, and primary and reserve rate in percent."""
    terms = meter_terms(kind, wager_cents, paytable)
    seed, reseed, primary_percent, reserve_percent = figures
    assert (terms.seed_cents, terms.reseed_cents) == (seed * wager_cents, reseed * wager_cents)
    assert terms.primary_bps == primary_percent * 100
    assert terms.reserve_bps == reserve_percent * 100
    assert (terms.kind, terms.wager_cents, terms.paytable) == (kind, wager_cents, paytable)


@pytest.mark.section("649a.12(i)(3)")
def test_only_the_five_card_hand_bonus_offers_draws_and_it_no_envy() -> None:
    bonus = meter_terms(HAND_BONUS, 100)
    assert (bonus.magic_card_for_1, bonus.lucky_bonus_for_1) == (20, 5)
    assert bonus.draw_rule
    assert not bonus.envy_rule
    for kind, paytable in ((PROGRESSIVE, "A"), (FIVE_CARD, None), (FIVE_OF_SIX, None)):
        terms = meter_terms(kind, 100, paytable)
        assert terms.envy_rule
        assert not terms.draw_rule


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
@pytest.mark.reading("Wager amount")
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
@pytest.mark.reading("Wager amount")
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


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('straight_flush = ["70 for 1", "100 for 1"]\n', "", "straight_flush missing"),
        ('straight = ["6 for 1", "N/A"]\n', "", "straight missing"),
        ('three_of_a_kind = "9 for 1"\n', "", "three_of_a_kind missing"),
        ('royal_flush = "100% of meter"\n', "", "begin with the highest hand"),
        ('mini_royal = ["500', 'mini_royals = ["500', "'mini_royals' is not a hand of three_card"),
        ('flush = "40 for 1"', 'flush = "51 for 1"', "full_house pays less than flush"),
        ('"10% of meter"', '"301 for 1"\npair = "1 for 1"', "not in the order of rank"),
        (
            'flush = "40 for 1"\nstraight = "30 for 1"',
            'straight = "40 for 1"\nflush = "30 for 1"',
            "not in the order of rank",
        ),
        ('"70 for 1"', '"70 to 1"', "both 'to 1' and 'for 1'"),
        ('"25% of meter"', '"101% of meter"', "is not a payout"),
        ('"25% of meter"', '"0% of meter"', "is not a payout"),
        ('= "$100"', '= "$24"', "mini_royal_spades pays less than mini_royal"),
        (', mini_royal = "$25"', "", "mini_royal missing"),
        ('wager = "$5"', 'wager = "$1"', "each wager amount needs one schedule"),
        ('wager = "$5"', 'wager = "5"', "'5' is not a sum"),
        ('primary = ["14%"', 'primary = ["0%"', "the rates must be above 0%"),
        ('reserve = "8%"', 'reserve = "79%"', "the rates must be above 0%"),
        ('primary = ["14%"', 'primary = ["14.555%"', "is not a rate"),
        ('seed = ["$1,000 for 1"', 'seed = ["$0"', "no seed"),
        ('reseed = "$0"', 'reseed = "nothing"', "is not a seed"),
        ('choices = ["A", "B"]', 'choices = ["A", "A"]', "need different letters"),
        ('choices = ["A", "B"]', 'choices = ["A"]', "each choice (1), and has 2"),
        ('rule = "649a.12(e)(1)"', 'rule = "649a(e)"', "names no subsection"),
        ('rule = "649a.12(e)(5)"', 'rule = "679a.12(e)(5)"', "names no subsection"),
        ('lowest = "straight"', 'lowest = "straights"', "'straights' is not a hand of its ranking"),
        ('lowest = "straight"', 'lowest = "straight"\nodds = 1', "unknown field `odds`"),
        ('names = ["five_card_progressive"]', 'names = ["progressive"]', "two entries"),
        ('names = ["five_card_progressive"]', "names = []", "no name or no paytable"),
        ('names = ["five_card_progressive"]', 'names = ["Jackpot"]', "Expected `str` match"),
        ('magic_card = "20 for 1"', 'magic_card = "N/A"', "'N/A' has not the form 'N for 1'"),
        ('chapter = "649a"', "chapter = 649a", "Expected newline or end of document"),
    ],
)
def test_a_chapter_that_does_not_hold_together_is_refused(
    was: str, becomes: str, reason: str
) -> None:
    text = files("bonus.law").joinpath("chapters", "649a.toml").read_text("utf-8")
    read_chapter(text)
    assert was in text
    with pytest.raises(ChapterError, match=re.escape(reason)):
        read_chapter(text.replace(was, becomes, 1))


def test_cells_are_read_as_they_are_written() -> None:
    assert read_payout("1,000 for 1") == Payout(times=1_000)
    assert read_payout("35 to 1") == Payout(times=35, stake_back=True)
    assert read_payout("10% of meter") == Payout(percent=10)
    assert read_payout("$1,000,000") == Payout(sum_cents=100_000_000, stake_back=True)
    assert read_payout("N/A") == read_payout("") == Payout()
    assert read_seed("$10,000 for 1") == 10_000
    assert read_cents("$1,500") == 150_000
    for cell in (" ", "500", "1,00 for 1", "0 for 1", "0 to 1", "$5.00", "\u0665 for 1"):
        with pytest.raises(ChapterError):
            read_payout(cell)
