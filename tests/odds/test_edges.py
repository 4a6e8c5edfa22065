"""The edges of the optional wagers, with and without a meter."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb

import msgspec
import pytest

from bonus.law.chapter import chapters, load
from bonus.odds.enumerations import Enumerator, fives
from bonus.odds.main_edges import folded_strengths
from bonus.odds.odds_entries import OddsEntry, decimal, exact
from bonus.odds.offers import DrawOdds, Offer, offers_of
from bonus.odds.wager_odds import entry_of

FIVE_CARDS = comb(52, 5)
SEVEN_DRAWN = DrawOdds(magic_card_every=24, lucky_every=12, positions=7)


def all_offers(draws: DrawOdds = SEVEN_DRAWN) -> Iterator[Offer]:
    for chapter in chapters().values():
        yield from offers_of(chapter, {"ante_bonus": 5, "pair_plus": 40}, draws)


def entries(
    counted: Enumerator, wager: str, game: str = "three_card_poker", draws: DrawOdds = SEVEN_DRAWN
) -> list[OddsEntry]:
    return [
        entry_of(offer, counted)
        for offer in all_offers(draws)
        if (offer.chapter.game, offer.wager) == (game, wager)
    ]


def edges(found: list[OddsEntry]) -> dict[str, str]:
    return {
        f"{entry.paytable or ''}{'+' if entry.mini_royal else ''}{entry.reading}": entry.house_edge
        for entry in found
    }


@pytest.mark.section("649a.12(d)")
@pytest.mark.section("649a.12(g)(2)")
@pytest.mark.reading("T4")
def test_pair_plus(counted: Enumerator) -> None:
    assert edges(entries(counted, "pair_plus")) == {
        "A": "253/5525", "A+": "248/5525", "B": "308/5525", "B+": "308/5525", "C": "402/5525",
        "C+": "402/5525", "D": "128/5525", "D+": "128/5525", "E": "193/5525", "E+": "193/5525",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.section("649a.12(g)(1)")
@pytest.mark.reading("T4")
def test_a_mini_royal_is_added_to_the_ante_bonus_of_b_alone(counted: Enumerator) -> None:
    found = {name: edge for name, edge in edges(entries(counted, "ante")).items() if "+" in name}
    # Table C pays 4 hands of 22,100 one to one more than a straight flush. Table A does not.
    assert found == {
        "b-A+": "686689/20358520", "b-B+": "3672957/101792600", "b-C+": "3875621/101792600",
    }  # fmt: skip
    assert Fraction(778809, 20358520) - Fraction(found["b-C+"]) == Fraction(4, 22_100)


@pytest.mark.slow
@pytest.mark.section("649a.12(f)")
@pytest.mark.reading("T5")
def test_six_card_bonus_with_fixed_sums_by_the_wager(counted: Enumerator) -> None:
    found = entries(counted, "six_card_bonus")
    assert edges(found) == {
        "A": "15306/149695", "B": "26393/391510", "C": "12816/149695", "D": "55546/363545",
        "E": "330562/2544815",
    }  # fmt: skip
    by_wager = found[-1].house_edge_by_wager
    assert by_wager == {"100": "330562/2544815", "500": "460562/2544815"}
    # $1,300,000 in total, divided by all deals, is four fifths less than $5.
    less = Fraction(1_300_000, comb(52, 6)) * Fraction(4, 5)
    assert Fraction(by_wager["500"]) - Fraction(by_wager["100"]) == less
    assert not found[0].house_edge_by_wager


@pytest.mark.section("679a.12(d)")
@pytest.mark.section("679a.12(e)")
@pytest.mark.section("679a.12(f)")
@pytest.mark.reading("P4")
@pytest.mark.reading("P5")
def test_prime_and_pair_bonus_of_679a(counted: Enumerator) -> None:
    game = "three_card_prime"
    assert edges(entries(counted, "prime", game)) == {"": "405/11186"}
    found = entries(counted, "pair_bonus", game)
    assert edges(found) == {
        "A": "8622/270725", "B": "9181/270725", "C": "12258/270725", "D": "15786/270725",
    }  # fmt: skip
    for entry in found:
        cards = {line.fourth_card for line in entry.hands}
        assert cards == {"a 2", "not a 2"}
        twos = sum(line.combinations for line in entry.hands if line.fourth_card == "a 2")
        assert Fraction(twos, entry.hands[0].of) == Fraction(1, 13)


@pytest.mark.section("682a.12(d)")
@pytest.mark.section("682a.12(e)")
@pytest.mark.reading("F6")
@pytest.mark.reading("F12")
def test_prime_and_aces_bonus_of_682a(counted: Enumerator) -> None:
    game = "four_card_prime"
    assert edges(entries(counted, "prime", game)) == {"A": "79/1666", "B": "5/51"}
    found = entries(counted, "aces_bonus", game)
    assert [(entry.paytable, entry.reading) for entry in found[:2]] == [
        ("A", "five_cards"), ("A", "best_four"),
    ]  # fmt: skip
    assert edges(found) == {
        "Afive_cards": "50159/108290", "Abest_four": "3593/324870",
        "Bfive_cards": "76651/162435", "Bbest_four": "6653/324870",
        "Cfive_cards": "49629/108290", "Cbest_four": "11149/324870",
        "Dfive_cards": "25292/54145", "Dbest_four": "16319/324870",
        "Efive_cards": "51539/108290", "Ebest_four": "551/8330",
        "Ffive_cards": "121673/216580", "Fbest_four": "1826/54145",
        "Gfive_cards": "112747/216580", "Gbest_four": "1503/54145",
        "Hfive_cards": "161597/324870", "Hbest_four": "12643/324870",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.section("679a.12(g)")
@pytest.mark.section("682a.12(f)")
@pytest.mark.parametrize("game", ["three_card_prime", "four_card_prime"])
def test_all_six(game: str, counted: Enumerator) -> None:
    assert edges(entries(counted, "all_six", game)) == {
        "A": "15306/149695", "B": "55546/363545", "C": "26393/391510", "D": "12816/149695",
        "E": "460562/2544815",
    }  # fmt: skip


@pytest.mark.section("649a.12(e)")
@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(e)(5)")
@pytest.mark.reading("T8")
@pytest.mark.reading("T14")
def test_the_three_card_progressive(counted: Enumerator) -> None:
    by_a, by_b = entries(counted, "progressive")
    # The 22,100 hands pay 500 x 3 + 70 x 44 + 60 x 52 + 6 x 720, and the meter once.
    back = 500 * 3 + 70 * 44 + 60 * 52 + 6 * 720
    assert Fraction(by_a.house_edge_at_empty_meter) == 1 - Fraction(back, 22_100)
    assert Fraction(by_a.meter_return) == Fraction(1, 22_100)
    assert Fraction(by_a.house_edge) == 1 - Fraction(back + 1_000, 22_100) == Fraction(454, 1_105)
    assert Fraction(by_b.house_edge) == Fraction(526, 1_105)
    assert by_a.seed_meter == {"100": 100_000, "500": 500_000}
    assert by_a.break_even_meter == {"100": (22_100 - back) * 100, "500": (22_100 - back) * 500}
    # Each other hand pays $100 once and $25 three times.
    assert by_a.envy_return == {"100": exact(Fraction(175, 22_100))} | {
        "500": exact(Fraction(175, 22_100))
    }
    assert by_a.break_even_meter_with_envy == tuple(
        {str(cents): (22_100 - back - 175 * others) * cents for cents in (100, 500)}
        for others in range(1, 7)
    )


def paid_cents(entry: OddsEntry, meter_cents: int, wager_cents: int, players: int = 1) -> int:
    """Return what all deals pay in cents, each to the cent, according to the printed cells."""
    paid = 0
    for line in entry.hands:
        if line.pays.endswith("% of meter"):
            jackpot = meter_cents * int(line.pays.split("%")[0]) // 100
            paid += line.combinations * (jackpot // players)
        elif line.pays.endswith(" for 1"):
            paid += line.combinations * int(line.pays.split()[0].replace(",", "")) * wager_cents
    return paid


WITHOUT = DrawOdds()


@pytest.mark.section("649a.12(e)")
@pytest.mark.section("649a.12(h)")
@pytest.mark.section("649a.12(i)(1)")
@pytest.mark.reading("G3")
@pytest.mark.parametrize(
    "wager",
    [
        "progressive", "five_card_progressive", "five_card_hand_bonus",
        pytest.param("five_of_six_progressive", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_break_even_is_the_least_meter_that_leaves_the_house_nothing(
    wager: str, counted: Enumerator
) -> None:
    for entry in entries(counted, wager, draws=WITHOUT):
        of = entry.hands[0].of
        for wager_cents, meter in entry.break_even_meter.items():
            wagered = of * int(wager_cents)
            assert paid_cents(entry, meter, int(wager_cents)) >= wagered
            assert paid_cents(entry, meter - 1, int(wager_cents)) < wagered
        for others, meters in enumerate(entry.break_even_meter_with_envy, start=1):
            for wager_cents, meter in meters.items():
                envy = of * int(wager_cents) * others * Fraction(entry.envy_return[wager_cents])
                lacking = of * int(wager_cents) - envy
                assert paid_cents(entry, meter, int(wager_cents)) >= lacking
                assert paid_cents(entry, meter - 1, int(wager_cents)) < lacking


@pytest.mark.section("649a.12(h)")
@pytest.mark.section("649a.12(h)(5)")
def test_the_five_card_progressive(counted: Enumerator) -> None:
    (entry,) = entries(counted, "five_card_progressive")
    assert entry.paytable is None
    assert entry.house_edge == "1402/3185"
    assert entry.envy_return["100"] == exact(Fraction(4 * 1_000 + 36 * 300, FIVE_CARDS))
    assert entry.break_even_meter == {"100": 16_053_055, "500": 80_265_266}


@pytest.mark.slow
@pytest.mark.section("649a.12(j)")
@pytest.mark.section("649a.12(j)(5)")
def test_the_five_of_six_progressive(counted: Enumerator) -> None:
    (entry,) = entries(counted, "five_of_six_progressive")
    assert entry.house_edge == "261748/508963"
    assert entry.envy_return["500"] == exact(Fraction(47 * 100 + 141 * 50, comb(52, 6)))
    assert Fraction(entry.meter_return) == (47 + Fraction(141, 4)) / comb(52, 6)
    assert entry.when_folding is None


@pytest.mark.section("649a.11(b)(2)")
@pytest.mark.reading("T7")
def test_a_fold_takes_threes_and_straights_off_the_five_card_progressive(
    counted: Enumerator,
) -> None:
    """A folded hand has three ranks and no flush, so two more cards add nothing else to it."""
    (entry,) = entries(counted, "five_card_progressive")
    assert entry.when_folding is not None
    folded = folded_strengths(load("649a"), counted)
    lost: dict[str, int] = {}
    for strength, deals in counted.get(fives("three_card")).deals.items():
        for hand, number in deals.items():
            lost[hand] = lost.get(hand, 0) + number * (strength in folded)
    assert {hand for hand, number in lost.items() if number} == {
        "straight", "three_of_a_kind", "two_pair", "pair", "high_card",
    }  # fmt: skip
    # 7,200 hands are folded. Any two more cards of one of their ranks make a three of a kind.
    assert lost["three_of_a_kind"] == 7_200 * 3 * comb(3, 2)
    gone = Fraction(lost["three_of_a_kind"] * 9 + lost["straight"] * 30, FIVE_CARDS * 10)
    assert Fraction(entry.when_folding.house_edge) - Fraction(entry.house_edge) == gone
    assert entry.when_folding.meter_return == entry.meter_return


@pytest.mark.section("649a.12(h)(5)")
@pytest.mark.reading("T8")
def test_no_hand_that_brings_a_five_card_envy_bonus_is_folded(counted: Enumerator) -> None:
    envy = {"royal_flush_spades", "royal_flush", "straight_flush"}
    folded = folded_strengths(load("649a"), counted)
    by_strength = counted.get(fives("three_card")).deals
    played = [set(deals) for strength, deals in by_strength.items() if strength not in folded]
    thrown = [set(deals) for strength, deals in by_strength.items() if strength in folded]
    assert envy <= set().union(*played)
    assert len(thrown) == len(folded) > 0
    assert envy.isdisjoint(set().union(*thrown))


HANDS_BACK = Fraction(624 * 500 + 3_744 * 100 + 5_108 * 50, FIVE_CARDS)
METER = Fraction(4 * 100 + 36 * 10, 100 * FIVE_CARDS)


@pytest.mark.section("649a.12(i)(1)")
@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.section("649a.12(i)(4)")
@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.parametrize(
    ("draws", "drawn"),
    [
        (WITHOUT, Fraction(0)),
        (DrawOdds(24, 0, 7), Fraction(5 * 20, 52 * 24)),
        (DrawOdds(0, 12, 7), Fraction(5, 8 * 12)),
        (DrawOdds(24, 12, 6), Fraction(5 * 20, 52 * 24) + Fraction(5, 7 * 12)),
    ],
)
def test_the_five_card_hand_bonus_with_its_draws(
    draws: DrawOdds, drawn: Fraction, counted: Enumerator
) -> None:
    for wager in ("five_card_hand_bonus", "five_card_hand_bonus_dealer"):
        (entry,) = entries(counted, wager, draws=draws)
        assert Fraction(entry.house_edge) == 1 - HANDS_BACK - 10_000 * METER - drawn
        assert Fraction(entry.house_edge_at_empty_meter) == 1 - HANDS_BACK - drawn
        assert entry.magic_card is not None
        assert entry.lucky is not None
        assert entry.positions == draws.positions
        assert (entry.magic_card.every, entry.lucky.every) == (
            draws.magic_card_every, draws.lucky_every,
        )  # fmt: skip
        returns = Fraction(entry.magic_card.wager_return) + Fraction(entry.lucky.wager_return)
        assert returns == drawn


@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.reading("T19")
def test_the_frequency_at_which_draws_leave_the_house_nothing(counted: Enumerator) -> None:
    """Each draw is weighted with its own frequency."""
    (entry,) = entries(counted, "five_card_hand_bonus", draws=DrawOdds())
    bare = 1 - HANDS_BACK - 10_000 * METER
    assert entry.magic_card is not None
    assert entry.lucky is not None
    assert Fraction(entry.magic_card.house_edge_gone_at) * Fraction(100, 52) == bare
    assert Fraction(entry.lucky.house_edge_gone_at) * Fraction(5, 8) == bare
    magic, lucky = entry.magic_card.house_edge_gone_every, entry.lucky.house_edge_gone_every
    assert Fraction(100, 52 * magic) >= bare > Fraction(100, 52 * (magic + 1))
    assert Fraction(5, 8 * lucky) >= bare > Fraction(5, 8 * (lucky + 1))
    (both,) = entries(counted, "five_card_hand_bonus", draws=DrawOdds(5, 2))
    assert both.magic_card is not None
    assert both.lucky is not None
    beside = bare - Fraction(5, 8 * 2)
    assert Fraction(both.magic_card.house_edge_gone_at) * Fraction(100, 52) == beside
    assert both.magic_card.house_edge_gone_every == 6
    beside = bare - Fraction(100, 52 * 5)
    assert Fraction(both.lucky.house_edge_gone_at) * Fraction(5, 8) == beside
    assert Fraction(both.house_edge) < 0
    (lost,) = entries(counted, "five_card_hand_bonus", draws=DrawOdds(2, 12))
    assert lost.lucky is not None
    assert (lost.lucky.house_edge_gone_at, lost.lucky.house_edge_gone_every) == ("0/1", 0)


@pytest.mark.reading("T20")
def test_a_lucky_bonus_that_can_be_drawn_in_any_round(counted: Enumerator) -> None:
    draws = DrawOdds(positions=8)
    (entry,) = entries(counted, "five_card_hand_bonus", draws=draws)
    assert entry.lucky is not None
    assert (entry.lucky.house_edge_gone_at, entry.lucky.house_edge_gone_every) == ("", 0)


@pytest.mark.section("649a.12(i)(2)")
@pytest.mark.reading("T17")
def test_the_dealers_jackpot_is_divided_among_those_who_wagered(counted: Enumerator) -> None:
    (own,) = entries(counted, "five_card_hand_bonus", draws=WITHOUT)
    (entry,) = entries(counted, "five_card_hand_bonus_dealer", draws=WITHOUT)
    assert own.when_shared == ()
    assert [share.players for share in entry.when_shared] == [1, 2, 3, 4, 5, 6, 7]
    assert entry.when_shared[0].house_edge == entry.house_edge == own.house_edge
    for share in entry.when_shared:
        edge = 1 - HANDS_BACK - 10_000 * METER / share.players
        assert Fraction(share.house_edge) == edge
        meter = share.break_even_meter["100"]
        assert paid_cents(entry, meter, 100, share.players) >= FIVE_CARDS * 100
        assert paid_cents(entry, meter - 1, 100, share.players) < FIVE_CARDS * 100


@pytest.mark.slow
def test_every_entry_accounts_for_every_deal_and_pays_its_printed_cells(
    counted: Enumerator,
) -> None:
    """The test calculates the edge again, only from the cells that the entry prints."""
    found = [entry_of(offer, counted) for offer in all_offers(WITHOUT)]
    assert len(found) == 71
    for entry in found:
        assert sum(line.combinations for line in entry.hands) == entry.hands[0].of
        assert {line.of for line in entry.hands} == {entry.hands[0].of}
        assert decimal(Fraction(entry.house_edge)) == entry.house_edge_decimal
        if entry.strategy:
            continue
        back = Fraction(0)
        seed = entry.seed_meter.get("100", 0)
        for line in entry.hands:
            number, _, kind = line.pays.replace(",", "").partition(" ")
            if kind in {"to 1", "for 1"}:
                back += line.combinations * (int(number) + (kind == "to 1"))
            elif kind == "of meter":
                back += Fraction(line.combinations * int(number[:-1]) * seed, 100 * 100)
            elif number.startswith("$"):
                back += line.combinations * (int(number[1:]) + 1)
            else:
                assert line.pays in {"", "N/A"}
        assert Fraction(entry.house_edge) == 1 - back / entry.hands[0].of


def test_entries_say_nothing_of_what_does_not_apply(counted: Enumerator) -> None:
    (entry, *_) = entries(counted, "pair_plus")
    assert set(msgspec.to_builtins(entry)) == {
        "game", "wager", "paytable", "house_edge", "house_edge_decimal", "hands", "rule", "note",
        "hit_frequency",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "shown"),
    [("686689/20358520", "0.033730"), ("-1/3", "-0.333333"), ("2", "2.000000"), ("0", "0.000000")],
)
def test_decimals_have_six_places(number: str, shown: str) -> None:
    assert decimal(Fraction(number)) == shown
