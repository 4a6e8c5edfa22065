"""Properties of every settlement, over rounds drawn at random by Hypothesis."""

from collections import Counter

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bonus.cards import DECK, Card
from bonus.law.games import chapter_games
from bonus.settling.meter_holdings import resolve
from bonus.settling.round_checks import check_round
from bonus.settling.rounds import Draw, LuckyPosition, Round, RoundPosition
from bonus.settling.settlement import settle_round
from bonus.settling.settlement_lines import Line, MeterHolding, Outcome, PercentWon, Settlement
from bonus.settling.table_rules import meter_rules
from bonus.wagers import MICROS_PER_CENT, PaidFrom
from tests.rules.dealing import terms_at

pytestmark = pytest.mark.slow

RULES = meter_rules("three_card_poker")
TERMS = terms_at()
SPADES = [card for card in DECK if card & 3 == 3]
# Wagers that feed a meter; a settlement pays the others separately from meters.
WAGERS = set(chapter_games().meters.terms)

LUCKY: st.SearchStrategy[LuckyPosition | None] = st.sampled_from([None, "dealer", *range(1, 8)])


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """Return a round of one to seven positions.

    A third of the decks have spades on top. In another third, the community cards and the cards of
    the first position are a straight flush in spades, which brings Envy Bonuses.
    """
    count = draw(st.integers(1, 7))
    deck: list[Card] = list(draw(st.permutations(DECK)))
    stacked = draw(st.sampled_from(["no", "spades", "straight_flush"]))
    if stacked == "spades":
        top = draw(st.permutations(SPADES))
        deck = [*top, *(card for card in deck if card not in SPADES)]
    elif stacked == "straight_flush":
        lowest = draw(st.integers(0, len(SPADES) - 5))
        run = draw(st.permutations(sorted(SPADES)[lowest : lowest + 5]))
        others = [card for card in deck if card not in run]
        deck = [*run[:2], *others[:3], *run[2:], *others[3:]]
    community = (deck[0], deck[1])
    dealer = (deck[2], deck[3], deck[4])
    boxes = []
    for index, position in enumerate(
        draw(st.lists(st.integers(1, 7), min_size=count, max_size=count, unique=True))
    ):
        first, second, third = deck[5 + 3 * index : 8 + 3 * index]
        boxes.append(
            RoundPosition(
                position,
                draw(st.sampled_from([None, "ann", "bob"])),
                (first, second, third),
                draw(st.booleans()),
                dict.fromkeys(draw(st.sets(st.sampled_from(sorted(WAGERS)))), 100),
            )
        )
    drawn = Draw(
        draw(st.none() | st.sampled_from(DECK)),
        draw(LUCKY),
    )
    return Round(tuple(boxes), dealer, community, drawn)


holdings = st.fixed_dictionaries(
    {kind: st.builds(MeterHolding, st.integers(0, 10**12)) for kind in TERMS}
    | {
        "five_card_hand_bonus": st.builds(
            MeterHolding, st.integers(0, 10**12), st.integers(0, 10**10)
        )
    }
)


@settings(max_examples=200, deadline=None)
@given(rounds(), holdings)
def test_every_wager_gets_exactly_one_line(played: Round, held: dict[str, MeterHolding]) -> None:
    check_round(played, RULES, TERMS)
    dues, _ = resolve(settle_round(played, RULES, TERMS), held, TERMS)
    lines = [due.line for due in dues]
    made = Counter((box.position, wager) for box in played.positions for wager in box.wagers)
    assert Counter((line.position, line.item) for line in lines if line.item in WAGERS) == made
    for line in lines:
        assert line.outcome in {Outcome.PAID, Outcome.COLLECTED}
        assert line.returned == 0
        assert line.wagered == 100
        assert (line.paid_from is not None) == (line.outcome == Outcome.PAID)
        assert (line.percent is not None) == (line.paid_from == PaidFrom.HAND_PAY)
        assert line.outcome == Outcome.PAID or line.paid == 0
        assert line.item in WAGERS or line.outcome == Outcome.PAID


@settings(max_examples=200, deadline=None)
@given(rounds(), st.data())
def test_the_order_in_which_positions_are_named_does_not_matter(
    played: Round, data: st.DataObject
) -> None:
    shuffled = tuple(data.draw(st.permutations(played.positions)))
    again = replace(played, positions=shuffled)
    assert settled(again) == settled(played)


def settled(played: Round) -> tuple[list[tuple[Line, int | None]], tuple[PercentWon, ...]]:
    """Return a settlement without the JSON text of lines that are kept for other rounds."""
    settlement = settle_round(played, RULES, TERMS)
    return [(due.line, due.take) for due in settlement.dues], settlement.takes


@settings(max_examples=300, deadline=None)
@given(rounds(), holdings)
def test_what_percentages_pay_is_what_leaves_the_meters(
    played: Round, held: dict[str, MeterHolding]
) -> None:
    """Meter and reserve together change by payments and reseeds, and by no more."""
    settlement = settle_round(played, RULES, TERMS)
    dues, after = resolve(settlement, held, TERMS)
    lines = [due.line for due in dues]
    for kind, terms in TERMS.items():
        paid_cents = sum(line.paid for line in lines if line.percent and line.item in terms.wagers)
        wins = sum(take.meter == kind and take.percent == 100 for take in settlement.takes)
        before = held[kind].amount_micros + held[kind].reserve_micros
        expected = before + (wins * terms.reseed_cents - paid_cents) * MICROS_PER_CENT
        assert after[kind].amount_micros + after[kind].reserve_micros == expected


@settings(max_examples=200, deadline=None)
@given(rounds())
@pytest.mark.reading("T8")
def test_the_cards_of_a_collected_hand_change_nothing(played: Round) -> None:
    rules = RULES
    collected = tuple(
        box if box.shows_cards(rules.survivors) else replace(box, cards=None)
        for box in played.positions
    )
    assert settled(replace(played, positions=collected)) == settled(played)


def envy_bonuses(played: Round) -> list[tuple[str | int, str | int]]:
    """Return the player and the holder of the hand of each Envy Bonus of a round."""
    player = {box.position: box.player for box in played.positions}
    return [
        (player[due.line.position], player[due.line.envy_of])
        for due in settle_round(played, RULES, TERMS).dues
        if due.line.envy_of is not None
    ]


@settings(max_examples=200, deadline=None)
@given(rounds())
@pytest.mark.reading("T9")
def test_no_envy_bonus_comes_from_ones_own_hand(played: Round) -> None:
    for player, holder in envy_bonuses(played):
        assert player != holder


def test_rounds_with_envy_bonuses_are_drawn() -> None:
    """Otherwise the test above would check nothing."""
    find(
        rounds(),
        lambda played: bool(envy_bonuses(played)),
        settings=settings(max_examples=200, derandomize=True, deadline=None),
    )


@settings(max_examples=200, deadline=None)
@given(rounds())
def test_takes_are_numbered_in_the_order_of_their_first_lines(played: Round) -> None:
    settlement: Settlement = settle_round(played, RULES, TERMS)
    numbers = [due.take for due in settlement.dues if due.take is not None]
    assert list(dict.fromkeys(numbers)) == list(range(len(settlement.takes)))
    for index, take in enumerate(settlement.takes):
        assert numbers.count(index) == take.shares
    assert all(due.line.paid == 0 for due in settlement.dues if due.take is not None)
