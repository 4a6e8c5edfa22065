"""The odds of every wager: known edges, and each figure reckoned again from the printed cells."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Final

import msgspec
import pytest

from bonus.law.games import chapters, load_chapter
from bonus.odds.enumerations import Enumerator, fives
from bonus.odds.main_edges import folded_strengths
from bonus.odds.odds_entries import Drawn, LongRun, OddsEntry, decimal, exact, odds_json
from bonus.odds.offers import DrawOdds, Offer, offers_of
from bonus.odds.wager_odds import entry_of
from tests.naive.tables_649a import LUCKY_BONUS, MAGIC_CARD, METER_OF, METERS, PROGRESSIVE, MeterLaw

FIVE_CARDS = comb(52, 5)
DRAWS = DrawOdds(magic_card_every=24, lucky_every=12, positions=6)
ALL_SIX = {"A": "15306/149695", "B": "55546/363545", "C": "26393/391510", "D": "12816/149695"}
HAND_BONUS = {"": "5647/9282"}

EDGES: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("three_card_poker", "ante"): {
        "b-A": "686689/20358520", "b-B": "3672957/101792600", "b-C": "778809/20358520",
        "c-A": "3668351/101792600", "c-B": "4833669/101792600", "c-C": "6510253/101792600",
        "b-A+": "686689/20358520", "b-B+": "3672957/101792600", "b-C+": "3875621/101792600",
    },
    ("three_card_poker", "pair_plus"): {
        "A": "253/5525", "A+": "248/5525", "B": "308/5525", "B+": "308/5525", "C": "402/5525",
        "C+": "402/5525", "D": "128/5525", "D+": "128/5525", "E": "193/5525", "E+": "193/5525",
    },
    ("three_card_poker", "progressive"): {"A": "454/1105", "B": "526/1105"},
    ("three_card_poker", "six_card_bonus"): {
        "A": "15306/149695", "B": "26393/391510", "C": "12816/149695", "D": "55546/363545",
        "E": "330562/2544815",
    },
    ("three_card_poker", "five_card_progressive"): {"": "1402/3185"},
    ("three_card_poker", "five_of_six_progressive"): {"": "261748/508963"},
    ("three_card_poker", "five_card_hand_bonus"): HAND_BONUS,
    ("three_card_poker", "five_card_hand_bonus_dealer"): HAND_BONUS,
    ("three_card_prime", "ante"): {
        "A": "919299/20358520", "B": "3966197/101792600", "C": "278667/5987800",
        "D": "4107041/101792600",
    },
    ("three_card_prime", "prime"): {"": "405/11186"},
    ("three_card_prime", "pair_bonus"): {
        "A": "8622/270725", "B": "9181/270725", "C": "12258/270725", "D": "15786/270725",
    },
    ("three_card_prime", "all_six"): {**ALL_SIX, "E": "460562/2544815"},
    ("four_card_prime", "ante"): {
        "A": "6962790397/211413050940", "B": "14439122699/465108712068",
        "C": "1311743099/42282610188", "D": "12990852715/465108712068",
    },
    ("four_card_prime", "prime"): {"A": "79/1666", "B": "5/51"},
    ("four_card_prime", "aces_bonus"): {
        "Afive_cards": "50159/108290", "Abest_four": "3593/324870",
        "Bfive_cards": "76651/162435", "Bbest_four": "6653/324870",
        "Cfive_cards": "49629/108290", "Cbest_four": "11149/324870",
        "Dfive_cards": "25292/54145", "Dbest_four": "16319/324870",
        "Efive_cards": "51539/108290", "Ebest_four": "551/8330",
        "Ffive_cards": "121673/216580", "Fbest_four": "1826/54145",
        "Gfive_cards": "112747/216580", "Gbest_four": "1503/54145",
        "Hfive_cards": "161597/324870", "Hbest_four": "12643/324870",
    },
    ("four_card_prime", "all_six"): {**ALL_SIX, "E": "460562/2544815"},
}  # fmt: skip
LONG_RUN: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("three_card_poker", "progressive"): {"A": "2993/11050", "B": "61/221"},
    ("three_card_poker", "five_card_progressive"): {"": "37753/154700"},
    ("three_card_poker", "five_of_six_progressive"): {"": "914649/3635450"},
    ("three_card_poker", "five_card_hand_bonus"): {"": "66431/191100"},
    ("three_card_poker", "five_card_hand_bonus_dealer"): {"": "66431/191100"},
}
SLOW: Final = {"six_card_bonus", "five_of_six_progressive", "all_six"}


def all_offers(draws: DrawOdds) -> Iterator[Offer]:
    for chapter in chapters().values():
        yield from offers_of(chapter, {"ante_bonus": 5, "pair_plus": 40}, draws)


def entries(
    counted: Enumerator, wager: str, game: str = "three_card_poker", draws: DrawOdds = DRAWS
) -> list[OddsEntry]:
    return [
        entry_of(offer, counted)
        for offer in all_offers(draws)
        if (offer.chapter.game, offer.wager) == (game, wager)
    ]


@pytest.mark.section("649a.12(a)", "649a.12(b)", "649a.12(c)", "649a.12(d)", "649a.12(f)")
@pytest.mark.section("649a.12(g)(1)", "649a.12(g)(2)", "649a.12(e)", "649a.12(h)", "649a.12(i)(1)")
@pytest.mark.section("649a.12(j)", "679a.12(a)", "679a.12(b)", "679a.12(c)", "679a.12(d)")
@pytest.mark.section("679a.12(e)", "679a.12(f)", "679a.12(g)", "682a.12(a)", "682a.12(b)")
@pytest.mark.section("682a.12(c)", "682a.12(d)", "682a.12(e)", "682a.12(f)")
@pytest.mark.parametrize(
    ("game", "wager"),
    [
        pytest.param(*key, marks=[pytest.mark.slow] * (key[1] in SLOW or key[1] == "ante"))
        for key in EDGES
    ],
)
def test_each_edge_is_the_known_one_and_what_the_printed_cells_come_to(
    game: str, wager: str, counted: Enumerator
) -> None:
    found = entries(counted, wager, game, DrawOdds())
    named = {
        f"{entry.paytable or ''}{'+' * bool(entry.mini_royal)}{entry.reading}": entry
        for entry in found
    }
    edges = {name: exact(entry.house_edge) for name, entry in named.items()}
    assert edges == EDGES[game, wager]
    lasting = {
        name: exact(entry.long_run.house_edge) for name, entry in named.items() if entry.long_run
    }
    assert lasting == LONG_RUN.get((game, wager), {})
    for entry in [*found, *(entries(counted, wager, game) if "hand_bonus" in wager else ())]:
        written = msgspec.json.decode(odds_json(entry))
        assert written["house_edge"] == exact(entry.house_edge)
        assert written["house_edge_decimal"] == decimal(entry.house_edge)
        assert sum(line.combinations for line in entry.hands) == entry.hands[0].of
        assert {line.of for line in entry.hands} == {entry.hands[0].of}
        if entry.strategy:
            won = {"higher", "not_qualified"} | ({"equal"} if "prime" in game else set())
            hits = sum(each.combinations for each in entry.outcomes if each.outcome in won)
            assert Fraction(entry.hit_frequency) == Fraction(hits, entry.outcomes[0].of)
            assert sum(each.combinations for each in entry.outcomes) == entry.outcomes[0].of
        else:
            check_edges(entry)
            check_draws(entry)
            for players, share in enumerate(entry.when_shared, start=1):
                assert share.players == players
                assert Fraction(share.house_edge) == at_seed(entry, players)
                assert entry.long_run is not None
                assert share.house_edge_long_run == entry.long_run.house_edge
                check_break_even(entry, share.break_even_meter, Fraction(0), players)


def law_of(entry: OddsEntry) -> MeterLaw | None:
    """Return the terms of the meter that a wager feeds, as the second implementation has them."""
    if entry.wager == "progressive":
        return PROGRESSIVE[str(entry.paytable)]
    return METERS.get(METER_OF.get(entry.wager, ""))


def drawn(entry: OddsEntry) -> Fraction:
    magic, lucky = entry.magic_card, entry.lucky
    back = Fraction(0)
    if magic and magic.every:
        back += Fraction(5 * MAGIC_CARD, 52 * magic.every)
    if lucky and lucky.every:
        back += Fraction(LUCKY_BONUS, (entry.positions + 1) * lucky.every)
    return back


def fixed(entry: OddsEntry, wager_cents: int) -> Fraction:
    """Return what odds, sums and draws give back of a wager."""
    back = Fraction(0)
    for line in entry.hands:
        number, _, kind = line.pays.replace(",", "").partition(" ")
        if kind in {"to 1", "for 1"}:
            back += line.combinations * (int(number) + (kind == "to 1"))
        elif number.startswith("$"):
            back += line.combinations * (Fraction(100 * int(number[1:]), wager_cents) + 1)
        else:
            assert kind == "of meter" or line.pays in {"", "N/A"}
    return back / entry.hands[0].of + drawn(entry)


def percents(entry: OddsEntry) -> Mapping[str, int]:
    return {
        line.hand: int(line.pays.removesuffix("% of meter")) * line.combinations
        for line in entry.hands
        if line.pays.endswith("% of meter")
    }


def at_seed(entry: OddsEntry, players: int = 1) -> Fraction:
    law, of = law_of(entry), entry.hands[0].of
    won = Fraction(law.seed * sum(percents(entry).values()), 100 * of * players) if law else 0
    return 1 - fixed(entry, 100) - won


def check_edges(entry: OddsEntry) -> None:
    of, law = entry.hands[0].of, law_of(entry)
    assert Fraction(entry.house_edge) == at_seed(entry)
    hits = sum(line.combinations for line in entry.hands if line.pays not in {"", "N/A"})
    assert Fraction(entry.hit_frequency) == Fraction(hits, of)
    for cents, edge in entry.house_edge_by_wager.items():
        assert Fraction(edge) == 1 - fixed(entry, int(cents))
    if law is None:
        assert entry.long_run is None
        return
    won = percents(entry)
    assert Fraction(entry.house_edge_at_empty_meter) == 1 - fixed(entry, 100)
    assert Fraction(entry.meter_return) == Fraction(sum(won.values()), 100 * of)
    assert entry.seed_meter == {cents: law.seed * int(cents) for cents in entry.seed_meter}
    whole = sum(deals // 100 for hand, deals in won.items() if pays(entry, hand) == "100% of meter")
    added, reseeds = Fraction(law.primary + law.reserve, 100), Fraction(whole * law.reseed, of)
    lasting = 1 - fixed(entry, 100) - added - reseeds
    assert entry.long_run == LongRun(
        house_edge=lasting, fixed_return=fixed(entry, 100), contributions=added, reseeds=reseeds
    )
    envy = {
        str(cents): sum(
            Fraction(line.combinations * hands.get(law.shown(line.hand), 0), of * cents)
            for line in entry.hands
        )
        + Fraction(0)
        for cents, hands in law.envy_cents.items()
    }
    assert entry.envy_return == envy
    check_break_even(entry, entry.break_even_meter, Fraction(0))
    for others, meters in enumerate(entry.break_even_meter_with_envy, start=1):
        check_break_even(entry, meters, others * envy["100"])


def pays(entry: OddsEntry, hand: str) -> str:
    return next(line.pays for line in entry.hands if line.hand == hand)


def check_break_even(
    entry: OddsEntry, meters: Mapping[str, int], envy: Fraction, players: int = 1
) -> None:
    """Check that the meters are the least that leave the house nothing, each paid to the cent."""
    of = entry.hands[0].of
    for cents, meter in meters.items():
        lacking = of * int(cents) * (1 - fixed(entry, int(cents)) - envy)

        def paid(meter_cents: int) -> int:
            return sum(
                line.combinations * (meter_cents * int(line.pays.split("%")[0]) // 100 // players)
                for line in entry.hands
                if line.pays.endswith("% of meter")
            )

        assert paid(meter) >= lacking
        assert meter == 0 or paid(meter - 1) < lacking


def check_draws(entry: OddsEntry) -> None:
    magic, lucky = entry.magic_card, entry.lucky
    if magic is None or lucky is None:
        return
    assert Fraction(magic.wager_return) + Fraction(lucky.wager_return) == drawn(entry)
    check_gone(entry, magic, Fraction(5 * MAGIC_CARD, 52))
    check_gone(entry, lucky, Fraction(LUCKY_BONUS, entry.positions + 1))


def check_gone(entry: OddsEntry, draw: Drawn, each: Fraction) -> None:
    """Check at which frequency of a draw, with that of the other, the house keeps nothing."""
    without = Fraction(entry.house_edge) + (each / draw.every if draw.every else 0)
    if without > each:
        assert (draw.house_edge_gone_at, draw.house_edge_gone_every) == ("", 0)
    elif without <= 0:
        assert (draw.house_edge_gone_at, draw.house_edge_gone_every) == ("0/1", 0)
    else:
        every = draw.house_edge_gone_every
        assert Fraction(draw.house_edge_gone_at) * each == without
        assert each / every >= without > each / (every + 1)


@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.parametrize(
    "draws", [DrawOdds(), DrawOdds(24, 0, 7), DrawOdds(0, 12, 7), DrawOdds(5, 2), DrawOdds(2, 12),
              DrawOdds(positions=8)],
)  # fmt: skip
def test_the_draws_of_the_hand_bonus_are_part_of_its_edge(
    draws: DrawOdds, counted: Enumerator
) -> None:
    (entry,) = entries(counted, "five_card_hand_bonus", draws=draws)
    assert entry.magic_card is not None
    assert entry.lucky is not None
    assert (entry.magic_card.every, entry.lucky.every, entry.positions) == (
        draws.magic_card_every, draws.lucky_every, draws.positions,
    )  # fmt: skip
    check_edges(entry)
    check_draws(entry)


def test_a_break_even_meter_and_a_long_run_by_hand(counted: Enumerator) -> None:
    """The 22,100 hands pay 500 x 3 + 70 x 44 + 60 x 52 + 6 x 720, and the meter once."""
    (by_a, _) = entries(counted, "progressive")
    back = 500 * 3 + 70 * 44 + 60 * 52 + 6 * 720
    assert by_a.break_even_meter == {"100": (22_100 - back) * 100, "500": (22_100 - back) * 500}
    # Each other hand pays $100 once and $25 three times.
    with_six = {str(cents): (22_100 - back - 175 * 6) * cents for cents in (100, 500)}
    assert by_a.break_even_meter_with_envy[5] == with_six
    assert by_a.long_run is not None
    assert Fraction(by_a.long_run.house_edge) == Fraction(454, 1_105) - Fraction(14, 100)
    (entry,) = entries(counted, "five_card_progressive")
    assert entry.break_even_meter == {"100": 16_053_055, "500": 80_265_266}
    (bonus,) = entries(counted, "five_card_hand_bonus", draws=DrawOdds(100, 40, 7))
    assert bonus.long_run is not None
    edges = (bonus.house_edge, bonus.long_run.house_edge)
    assert [round(100 * float(Fraction(edge)), 1) for edge in edges] == [57.4, 31.3]


@pytest.mark.section("649a.11(b)(2)")
@pytest.mark.reading("T7")
@pytest.mark.reading("T8")
def test_a_fold_takes_threes_and_straights_off_the_five_card_progressive(
    counted: Enumerator,
) -> None:
    """A folded hand has three ranks and no flush, so two more cards add nothing else to it.

    So no hand that brings an Envy Bonus is folded.
    """
    (entry,) = entries(counted, "five_card_progressive")
    assert entry.when_folding is not None
    folded = folded_strengths(load_chapter("649a"), counted)
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
    folding = entry.when_folding
    for then, now in (
        (folding.house_edge, entry.house_edge),
        (folding.house_edge_at_empty_meter, entry.house_edge_at_empty_meter),
        (folding.house_edge_long_run, entry.long_run.house_edge if entry.long_run else ""),
    ):
        assert Fraction(then) - Fraction(now) == gone
    assert folding.meter_return == entry.meter_return
    assert folding.break_even_meter == {"100": 18_563_580, "500": 92_817_899}
    assert folding.break_even_meter_with_envy[5]["100"] < folding.break_even_meter["100"]


def test_a_fold_costs_a_smaller_wager_the_same_part_as_the_full_wager(counted: Enumerator) -> None:
    """A $1 wager wins a fifth of each percentage of the meter of a $5 wager, at its seed."""
    offer = next(one for one in all_offers(DRAWS) if one.wager == "five_card_progressive")
    full, smaller = (
        entry_of(replace(offer, wagers_cents=(cents,), largest_cents=largest), counted)
        for cents, largest in ((500, 0), (100, 500))
    )
    assert full.when_folding is not None
    assert smaller.when_folding is not None
    assert smaller.house_edge == full.house_edge
    assert smaller.when_folding.house_edge == full.when_folding.house_edge


def test_entries_say_nothing_of_what_does_not_apply(counted: Enumerator) -> None:
    (entry, *_) = entries(counted, "pair_plus")
    assert set(msgspec.json.decode(odds_json(entry))) == {
        "game", "wager", "paytable", "house_edge", "house_edge_decimal", "hands", "rule", "note",
        "hit_frequency",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "shown"),
    [("686689/20358520", "0.033730"), ("-1/3", "-0.333333"), ("2", "2.000000"), ("0", "0.000000")],
)
def test_decimals_have_six_places(number: str, shown: str) -> None:
    assert decimal(Fraction(number)) == shown
