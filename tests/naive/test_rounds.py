"""The random rounds try what they are for, and can be played."""

from collections import Counter
from random import Random

import pytest

from tests.naive import tables_649a, tables_prime
from tests.naive.declared import refusal
from tests.naive.rounds import SURVIVE_A_FOLD, random_round
from tests.naive.settle import settle
from tests.naive.shapes import Line, RefusedError, Round, patron_of

ROUNDS = 6_000
EXPECTED_PAYOUTS: dict[str, dict[str, set[int | str]]] = {
    "three_card_poker": {
        "ante_bonus": {1, 3, 4, 5, 6, 8, 10, 50},
        "pair_plus": {1, 3, 4, 5, 6, 25, 30, 35, 40},
        "progressive": {6, 60, 70, 90, 100, 500, "100%"},
        "six_card_bonus": {5, 7, 8, 9, 10, 15, 20, 25, 50, 100, 200, 1000},
        "five_card_progressive": {
            *tables_649a.FIVE_CARD.for_1.values(), "10%", "100%",
        },
        "five_card_hand_bonus": {50, 100, 500, "10%", "100%"},
        "five_card_hand_bonus_dealer": {50, 100, 500, "10%", "100%"},
        "five_of_six_progressive": {5, 10, 20, 100, 250, "25%", "100%"},
        "progressive_envy": {25, 100},
        "five_card_envy": {300, 1000},
        "five_of_six_envy": {50, 100},
        "magic_card": {20},
        "lucky_bonus": {5},
    },
    "three_card_prime": {
        "play": {1, 2, 4, 5, 6, 10, 12},
        "prime": {3, 4},
        "pair_bonus": {1, 2, 3, 4, 5, 6, 8, 10, 12, 30, 40, 45, 50, 60, 75, 80, 100},
        "all_six": {5, 7, 8, 9, 10, 15, 20, 25, 50, 100, 200, 1000, 20_000, 200_000},
    },
    "four_card_prime": {
        "ante": {1},
        "raise": {1},
        "win_bonus": {*tables_prime.WIN_BONUS.values()},
        "bad_beat_bonus": {2, 5, 10, 20, 25, 40, 50, 100},
        "prime": {1, 5, 6},
        "aces_bonus": {
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 100, 500,
        },
        "all_six": {5, 7, 8, 9, 10, 15, 20, 25, 50, 100, 200, 1000, 20_000, 200_000},
    },
}  # fmt: skip


def payout(line: Line) -> int | str | None:
    """Return what a paid line pays: a percentage, or a whole number of wagers."""
    if "percent" in line:
        return f"{line['percent']}%"
    odds, left = divmod(line["paid"], line["wagered"])
    return None if left else odds


def cards_of(played: Round) -> list[str]:
    """Every card that a round names."""
    cards = [*played["dealer"], *played.get("community", ())]
    for box in played["positions"]:
        cards += box.get("cards", [])
        if "fourth_card" in box:
            cards.append(box["fourth_card"])
    if "pair_bonus_community_card" in played:
        cards.append(played["pair_bonus_community_card"])
    if "all_six_card" in played:
        cards.append(played["all_six_card"])
    return cards


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
def test_no_card_is_twice_and_every_position_is_once(game: str) -> None:
    rng = Random(f"cards of {game}")
    for _ in range(2_000):
        played = random_round(game, rng)
        cards = cards_of(played)
        assert len(set(cards)) == len(cards)
        positions = [box["position"] for box in played["positions"]]
        assert len(set(positions)) == len(positions)
        assert 1 <= min(positions) <= max(positions) <= (7 if game == "three_card_poker" else 6)


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


@pytest.mark.section("649a.7(d)", "649a.7(e)(1)", "649a.7(e)(2)", "649a.7(e)(3)")
def test_wagers_of_three_card_poker_may_be_made() -> None:
    rng = Random("wagers")
    for _ in range(4_000):
        played = random_round("three_card_poker", rng)
        version = played["paytables"].get("version")
        for box in played["positions"]:
            wagers = box["wagers"]
            ante, pair_plus = wagers.get("ante", 0), wagers.get("pair_plus", 0)
            assert ante or pair_plus
            assert wagers.get("play", ante) == ante
            stays = "ante" in wagers and not box["folded"]
            assert "play" not in wagers or stays
            # A round that is void may have ended before they were asked.
            assert "play" in wagers or not stays or "irregularity" in played
            assert not box["folded"] or ante
            assert version != 1 or ante >= pair_plus
            assert version != 2 or 2 * ante >= pair_plus
            if version == 3:
                assert 0 < ante <= 5 * pair_plus
                assert 0 < pair_plus <= 5 * ante
            gone = "cards" not in box
            if "irregularity" not in played:
                folded_away = box["folded"] and not set(SURVIVE_A_FOLD) & set(wagers)
                assert not gone or folded_away or box.get("no_win")


@pytest.mark.section("649a.12(e)(3)", "649a.12(h)(3)", "649a.12(i)(4)", "649a.12(j)(3)")
@pytest.mark.reading("T14", "T22")
def test_meters_hold_the_rounds_own_contributions() -> None:
    rng = Random("meters")
    for _ in range(4_000):
        played = random_round("three_card_poker", rng)
        played["irregularity"] = "void"
        meters = played.get("meters", {})
        for box in played["positions"]:
            for wager, cents in box["wagers"].items():
                meter = wager.removesuffix("_dealer")
                if "progressive" in wager or "hand_bonus" in wager:
                    assert cents == meters[meter]["wager"]
        for after in settle(played)["meters"].values():
            assert after["amount"] >= 0
            assert after.get("reserve", 0) >= 0
