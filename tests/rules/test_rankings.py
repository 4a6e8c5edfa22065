"""Rankings of hands against the second implementation of the law, and by their definitions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, groupby, pairwise, product
from random import Random

import pytest

from bonus.cards import DECK, Card, card_name, parse_card, rank_of, suit_of
from bonus.hands.counts import counts_of
from bonus.hands.five import best_five, best_five_of, five_card_hand
from bonus.hands.four import best_four
from bonus.hands.rankings import COMPARES, RANKINGS, six_card_hand, super_royal_hand
from bonus.hands.three import ThreeCardHand, three_card, three_card_hand, three_card_strength
from tests.naive.ranking import (
    Strength,
    aces_bonus_hand,
    best_five_card_named,
    best_four_card,
    is_six_card_royal,
    three_card_named,
)
from tests.naive.ranking import three_card_strength as naive_three_card_strength
from tests.rules.dealing import cards

THREE_CARDS = {
    "mini_royal_spades": 1, "mini_royal": 3, "straight_flush": 44, "three_of_a_kind": 52,
    "straight": 720, "flush": 1_096, "pair": 3_744, "high_card": 16_440,
}  # fmt: skip


def named(hand: Sequence[Card]) -> tuple[str, ...]:
    return tuple(map(card_name, hand))


@pytest.mark.section("649a.6(b)", "649a.6(c)", "679a.6(b)", "679a.6(c)", proof=True)
@pytest.mark.section("649a.6(e)")
@pytest.mark.reading("G4")
@pytest.mark.reading("P9")
def test_every_three_card_hand_has_its_kind_and_its_place() -> None:
    """Sorted by strength they are sorted for the second implementation too, with the same ties."""
    hands = list(combinations(DECK, 3))
    assert Counter(three_card_hand(hand).value for hand in hands) == THREE_CARDS
    for hand in hands:
        assert three_card(hand) == (three_card_hand(hand), three_card_strength(hand))
        assert three_card_hand(hand).value == three_card_named(named(hand))
    check_order(hands, three_card_strength, naive_three_card_strength)


@pytest.mark.section("682a.6(b)", "682a.6(c)")
@pytest.mark.reading("G4")
@pytest.mark.reading("F8")
def test_every_four_card_hand_has_its_place() -> None:
    """Of hands that differ only in their suits, one is enough."""
    hands = {
        (tuple(map(rank_of, hand)), len({suit_of(card) for card in hand}) == 1): hand
        for hand in combinations(DECK, 4)
    }
    assert len(hands) == 1_820 + 715
    check_order(list(hands.values()), lambda hand: best_four(hand)[1], best_four_card)


def check_order(
    hands: Sequence[tuple[Card, ...]],
    ours: Callable[[tuple[Card, ...]], int],
    theirs: Callable[[tuple[str, ...]], Strength],
) -> None:
    groups = [
        {str(theirs(named(hand))): hand for hand in group}
        for _, group in groupby(sorted(hands, key=ours), key=ours)
    ]
    assert {len(group) for group in groups} == {1}, "equal hands are equal for both"
    for (lower,), (higher,) in pairwise(group.values() for group in groups):
        assert theirs(named(lower)) < theirs(named(higher))


def six_card_named(hand: tuple[str, ...], royal: str) -> str:
    if is_six_card_royal(hand):
        return f"{royal}_diamonds" if hand[0][1] == "d" else royal
    return best_five_card_named(hand).removesuffix("_spades")


JUDGES: Mapping[str, Callable[[tuple[str, ...]], str]] = {
    "five_card": best_five_card_named,
    "six_card": lambda hand: six_card_named(hand, "six_card_royal"),
    "super_royal": lambda hand: six_card_named(hand, "super_royal"),
    "four_card": lambda hand: (
        "high_card", "pair", "two_pair", "straight", "flush", "three_of_a_kind", "straight_flush",
        "four_of_a_kind",
    )[best_four_card(hand)[0]],
    "aces": lambda hand: aces_bonus_hand(hand, 5).replace("nothing", "other"),
    "aces_best_four": lambda hand: aces_bonus_hand(hand, 4).replace("nothing", "other"),
}  # fmt: skip


@pytest.mark.section("649a.11(c)(9)", proof=True)
@pytest.mark.section("649a.6(d)", "679a.6(d)", "682a.6(b)", "682a.6(c)")
@pytest.mark.section("682a.6(d)", "682a.6(e)")
@pytest.mark.reading("F8")
@pytest.mark.reading("F12")
@pytest.mark.parametrize("lowest", [0, 5, 8])
@pytest.mark.parametrize("suits", [1, 2, 4])
@pytest.mark.parametrize("ranking", JUDGES)
def test_hands_of_short_decks_are_judged_as_by_the_second_implementation(
    ranking: str, suits: int, lowest: int
) -> None:
    """In these decks, hands that are rare in a whole deck are frequent.

    The three lowest ranks stay in each deck, so that A-2-3-4 is possible.
    """
    rng = Random(f"{ranking} {suits} {lowest}")
    deck = [card for card in DECK if suit_of(card) < suits]
    deck = [card for card in deck if rank_of(card) >= lowest or rank_of(card) < 3]
    judge, compare = RANKINGS[ranking].of, COMPARES.get(ranking)
    for size in RANKINGS[ranking].cards & {5, 6}:
        before: tuple[int, Strength] | None = None
        for _ in range(200):
            hand = rng.sample(deck, size)
            assert judge(hand) == JUDGES[ranking](named(hand)), named(hand)
            if compare:
                place = compare(hand)[1], best_four_card(named(hand))
                if before:
                    assert (place[0] > before[0]) == (place[1] > before[1]), named(hand)
                    assert (place[0] == before[0]) == (place[1] == before[1]), named(hand)
                before = place


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_neither_the_order_of_the_cards_nor_known_counts_change_a_hand(name: str) -> None:
    """Prime alone has cards of the player and of the dealer, each in any order."""
    rng, ranking, compare = Random(name), RANKINGS[name], COMPARES.get(name)
    for deck in (DECK, [card for card in DECK if suit_of(card) == 1], DECK[-16:]) * 150:
        for count in ranking.cards:
            hand = rng.sample(deck, count)
            ours = hand[:3] if name == "prime" else hand
            other = [*rng.sample(ours, len(ours)), *hand[len(ours) :]]
            counts = counts_of(hand[:3]) + counts_of(hand[3:])
            assert ranking.of(other) is ranking.of(hand) is ranking.of(hand, counts)
            assert compare is None or compare(hand, counts) == compare(other)


FIVE_CARDS = (
    "straight_flush four_of_a_kind full_house flush straight three_of_a_kind two_pair pair"
    " high_card"
)
PAI_GOW = (
    "seven_card_straight_flush seven_card_straight_flush_with_joker five_aces royal_flush"
    " straight_flush four_of_a_kind full_house flush three_of_a_kind straight other"
)
ACES = (
    "four_aces four_of_a_kind royal_flush straight_flush three_aces three_of_a_kind flush straight"
    " two_pair two_aces other"
)


@pytest.mark.section("649a.6(b)", "649a.6(d)", "679a.6(b)", "679a.6(d)", "682a.6(b)")
@pytest.mark.section("682a.6(d)", "682a.6(e)")
@pytest.mark.reading("F7")
@pytest.mark.parametrize(
    ("name", "tops", "hands"),
    [
        ("three_card", "mini_royal_spades mini_royal straight_flush", " ".join(THREE_CARDS)),
        (
            "five_card",
            "royal_flush_spades royal_flush",
            f"royal_flush_spades royal_flush {FIVE_CARDS}",
        ),
        (
            "six_card",
            "six_card_royal_diamonds royal_flush",
            f"six_card_royal_diamonds six_card_royal royal_flush {FIVE_CARDS}",
        ),
        (
            "super_royal",
            "super_royal_diamonds royal_flush",
            f"super_royal_diamonds super_royal royal_flush {FIVE_CARDS}",
        ),
        (
            "four_card",
            "four_of_a_kind",
            "four_of_a_kind straight_flush three_of_a_kind flush straight two_pair pair high_card",
        ),
        ("aces", "four_aces", ACES),
        ("aces_best_four", "four_aces", ACES),
        (
            "prime",
            "same_color_player_and_dealer",
            "same_color_player_and_dealer same_color_player mixed",
        ),
        ("five_prime", "all_five_same_color", "all_five_same_color four_same_color mixed"),
        ("pai_gow", "seven_card_straight_flush", PAI_GOW),
    ],
)
def test_the_hands_of_a_ranking_are_highest_first_and_a_paytable_begins_at_the_top(
    name: str, tops: str, hands: str
) -> None:
    assert RANKINGS[name].names == tuple(hands.split())
    assert RANKINGS[name].tops == {*tops.split()}


@pytest.mark.reading("G5")
@pytest.mark.section("649a.6(a)")
def test_reading_g5_an_ace_below_the_five_makes_a_straight() -> None:
    assert five_card_hand(cards("Ah 2s 3s 4d 5c")).value == "straight"
    assert five_card_hand(cards("Ah 2h 3h 4h 5h")).value == "straight_flush"
    assert five_card_hand(cards("Kh Ah 2s 3s 4d")).value == "high_card"
    assert three_card_hand(cards("Kh Ah 2s")) == ThreeCardHand.HIGH_CARD


@pytest.mark.section("649a.6(d)", "679a.6(d)", "682a.6(e)")
@pytest.mark.reading("T5")
def test_every_royal_flush_of_six_cards_has_the_name_of_its_ranking() -> None:
    for suit, sixth in product("cdhs", DECK):
        royal = list(cards(" ".join(rank + suit for rank in "TJQKA")))
        if sixth in royal:
            continue
        nine = card_name(sixth) == f"9{suit}"
        royal_of_six = f"six_card_royal{'_diamonds' * (suit == 'd')}" if nine else "royal_flush"
        assert six_card_hand([*royal, sixth]).value == royal_of_six
        assert super_royal_hand([sixth, *royal]).value == royal_of_six.replace("six_card", "super")
        assert best_five_of([*royal, sixth]).value == f"royal_flush{'_spades' * (suit == 's')}"


@pytest.mark.parametrize(
    ("dealt", "hand"),
    [
        ("Ah Kh Qh 9h 2h Ad Kd", "flush"),
        ("Ah Kh Qh 9h 2h Ad Ac Kd", "full_house"),
        ("Ah Kh Qh 9h 2h Ad Ac As", "four_of_a_kind"),
        ("Ah Kh Qh 9h 2h Ad Ac Qs 2c", "full_house"),
        ("6h 5h 4h 3h 2h 6d 6c 6s 5c", "straight_flush"),
        ("9h 8h 7h 6h 5h 4h 3h 2h Ah", "straight_flush"),
        ("Ah Kh Qh Jh Th 9h 8h 7h 6h", "royal_flush"),
        ("As Ks Qs Js Ts Td Tc Th 9s", "royal_flush_spades"),
        ("Ah Ad Kh Kd Qc Jc 9s 9d 2s", "two_pair"),
        ("Ah Ad Ac Kh Kd Kc Qs Qd Qc", "full_house"),
    ],
)
def test_of_seven_to_nine_cards_a_flush_gives_way_only_to_higher_hands(
    dealt: str, hand: str
) -> None:
    assert best_five(cards(dealt)).value == hand


def test_a_wrong_number_of_cards_is_refused() -> None:
    for judge, size, words in (
        (three_card_hand, 2, "unpack"),
        (three_card_strength, 4, "unpack"),
        (five_card_hand, 4, "not 4"),
        (best_five_of, 5, "not 5"),
        (best_five, 4, "five to nine cards, not 4"),
        (best_five, 10, "five to nine cards, not 10"),
        *((best_four, size, f"not {size}") for size in (0, 3, 7)),
    ):
        with pytest.raises(ValueError, match=words):
            judge(DECK[:size])  # type: ignore[operator]
    for name, ranking in RANKINGS.items():
        for size in {*range(10)} - ranking.cards - {4 if name == "four_card" else 10}:
            with pytest.raises(ValueError, match=r"cards, not|unpack|not on \d"):
                ranking.of(DECK[:size])


@pytest.mark.section("649a.3")
def test_every_card_has_a_name_of_its_own() -> None:
    assert [parse_card(card_name(card)) for card in DECK] == list(DECK)
    for text in ("", "A", "as", "1s", "AsAs"):
        with pytest.raises(ValueError, match="is not a card"):
            parse_card(text)
