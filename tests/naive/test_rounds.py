"""The random rounds try what they are for. pitlink refuses those that cannot be played."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from tests.naive import tables_649a, tables_prime
from tests.naive.declared import refusal
from tests.naive.rounds import random_round
from tests.naive.settle import settle
from tests.naive.shapes import Line, RefusedError, patron_of

ROUNDS = 6_000
Payouts = dict[str, set[int | str]]


def odds(*tables: Mapping[str, int]) -> set[int | str]:
    return {number for table in tables for number in table.values()}


def of_meter(*laws: tables_649a.MeterLaw) -> set[int | str]:
    percents = {f"{percent}%" for law in laws for percent in law.percent.values()}
    return percents | odds(*(law.for_1 for law in laws))


def envy(law: tables_649a.MeterLaw) -> set[int | str]:
    return {cents // 100 for cents in law.envy_cents[100].values()}


PROGRESSIVE = tables_649a.PROGRESSIVE
EXPECTED_PAYOUTS: dict[str, Payouts] = {
    "three_card_poker": {
        "ante_bonus": odds(*tables_649a.ANTE_BONUS.values()),
        "pair_plus": odds(*tables_649a.PAIR_PLUS.values()),
        "progressive": of_meter(*PROGRESSIVE.values()),
        "six_card_bonus": odds(*tables_649a.SIX_CARD_BONUS.values()),
        "five_card_progressive": of_meter(tables_649a.FIVE_CARD),
        "five_card_hand_bonus": of_meter(tables_649a.HAND_BONUS),
        "five_card_hand_bonus_dealer": of_meter(tables_649a.HAND_BONUS),
        "five_of_six_progressive": of_meter(tables_649a.FIVE_OF_SIX),
        "progressive_envy": envy(PROGRESSIVE["A"]),
        "five_card_envy": envy(tables_649a.FIVE_CARD),
        "five_of_six_envy": envy(tables_649a.FIVE_OF_SIX),
        "magic_card": {20},
        "lucky_bonus": {5},
    },
    "three_card_prime": {
        "play": odds(tables_prime.PLAY_679A, *tables_prime.BAD_BEAT_679A.values()),
        "prime": odds(tables_prime.PRIME_679A),
        "pair_bonus": odds(
            tables_prime.PAIR_BONUS_NOT_A_TWO, *tables_prime.PAIR_BONUS_TWO.values()
        ),
        "all_six": odds(*tables_prime.ALL_SIX.values()),
    },
    "four_card_prime": {
        "ante": {1},
        "raise": {1},
        "win_bonus": odds(tables_prime.WIN_BONUS),
        "bad_beat_bonus": odds(*tables_prime.BAD_BEAT_682A.values()),
        "prime": odds(*tables_prime.PRIME_682A.values()),
        "aces_bonus": odds(*tables_prime.ACES_BONUS.values()),
        "all_six": odds(*tables_prime.ALL_SIX.values()),
    },
}


def payout(line: Line) -> int | str | None:
    """Return what a paid line pays: a percentage, or a whole number of wagers."""
    if "percent" in line:
        return f"{line['percent']}%"
    odds, left = divmod(line["paid"], line["wagered"])
    return None if left else odds


@pytest.mark.slow
@pytest.mark.parametrize("game", EXPECTED_PAYOUTS)
def test_every_payout_is_tried(game: str) -> None:
    rng = Random(f"payouts in {game}")
    paid: dict[str, Counter[int | str | None]] = {}
    outcomes: dict[str, set[str]] = {}
    for _ in range(ROUNDS):
        try:
            settled = settle(random_round(game, rng))
        except RefusedError:
            continue
        for line in settled["lines"]:
            outcomes.setdefault(line["item"], set()).add(line["outcome"])
            if line["outcome"] == "paid":
                paid.setdefault(line["item"], Counter())[payout(line)] += 1
    for item, payouts in EXPECTED_PAYOUTS[game].items():
        assert set(payouts) <= set(paid[item]), item
    everything = {"paid", "returned", "collected"}
    additions = {"ante_bonus", "win_bonus", "bad_beat_bonus", "magic_card", "lucky_bonus"}
    for item, seen in outcomes.items():
        assert seen == ({"paid"} if item in additions or "envy" in item else everything), item


@pytest.mark.parametrize("game", EXPECTED_PAYOUTS)
def test_rounds_are_of_many_kinds(game: str) -> None:
    rng = Random(f"kinds of {game}")
    seen: Counter[str] = Counter()
    for _ in range(2_000):
        played = random_round(game, rng)
        boxes = played["positions"]
        patrons = {patron_of(box) for box in boxes}
        seen["one patron, several boxes"] += len(patrons) < len(boxes)
        seen["nobody is named"] += all("patron" not in box for box in boxes)
        seen["fold with its cards"] += any(box["folded"] and "cards" in box for box in boxes)
        seen["fold without its cards"] += any("cards" not in box for box in boxes)
        seen[f"irregularity {played.get('irregularity')}"] += 1
        seen["limit"] += "payout_limit" in played["paytables"]
        seen["no draw"] += "draw" not in played
        if any(box.get("no_win") for box in boxes):
            code = refusal(played) or "rightly"
            impossible = code in {"no_win_with_cards", "no_win_folded"}
            seen[f"declared, {'impossible' if impossible else code}"] += 1
    expected = {
        "one patron, several boxes", "nobody is named", "fold with its cards",
        "fold without its cards", "irregularity void", "irregularity dealer_exposed",
        "irregularity None", "no draw", "declared, rightly", "declared, impossible",
    }  # fmt: skip
    if game == "three_card_poker":
        expected.add("declared, cards_missing")
    if game != "four_card_prime":
        expected.add("declared, no_win_wins")
    if game != "three_card_poker":
        expected.add("limit")
    assert {kind for kind, count in seen.items() if count >= 3} == expected
