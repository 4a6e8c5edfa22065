"""Three Card Prime and Four Card Prime, settled by 679a.11-.12 and 682a.11-.12 step by step."""

from tests.naive import lines as say
from tests.naive import tables_prime as law
from tests.naive.ranking import (
    FOUR_CARD,
    aces_bonus_hand,
    best_five_card,
    best_four_card,
    is_mini_royal,
    is_queen_high_or_better,
    is_red,
    is_six_card_royal,
    three_card,
    three_card_strength,
)
from tests.naive.shapes import Box, Line, Paytables, Round, Settlement, from_the_right, patron_of

ORDER = {
    "three_card_prime": ("ante", "play", "prime", "pair_bonus", "all_six"),
    "four_card_prime": ("ante", "raise", "prime", "aces_bonus", "all_six"),
}


class Limit:
    """An aggregate payout limit, per patron in a round of play."""

    def __init__(self, cents: int | None) -> None:
        self.cents = cents
        self.had: dict[tuple[str, str | int], int] = {}

    def apply(self, box: Box, line: Line) -> Line:
        """Return the line, limited to what the patron may still be paid."""
        if self.cents is None or line["outcome"] != "paid":
            return line
        left = self.cents - self.had.get(patron_of(box), 0)
        line["paid"] = min(line["paid"], left)
        if not line["paid"]:
            del line["paid_from"]
        self.had[patron_of(box)] = self.had.get(patron_of(box), 0) + line["paid"]
        return line


def by_odds(position: int, item: str, wager: int, odds: int) -> Line:
    """Settle a wager that wins at "odds to 1", or loses if the hand has no odds."""
    if odds:
        return say.paid_to_one(position, item, wager, odds)
    return say.collected(position, item, wager)


def one_color(cards: tuple[str, ...]) -> bool:
    return len({is_red(card) for card in cards}) == 1


def three_card_prime_hand(cards: tuple[str, ...]) -> str:
    """Return the hand of 679a.6(b), with the mini-royal above the other straight flushes."""
    return "mini_royal" if is_mini_royal(cards) else three_card(cards)


def all_six_odds(six: tuple[str, ...], choice: str) -> int:
    """Return the odds of 679a.12(g) and 682a.12(f)."""
    table = law.ALL_SIX[choice]
    if choice == "E" and is_six_card_royal(six):
        return table["six_card_royal_diamonds" if six[0][1] == "d" else "six_card_royal"]
    return table.get(best_five_card(six), 0)


# --- 679a.11(c) and (d) ---


def ante_and_play(box: Box, dealer: tuple[str, ...], paytables: Paytables) -> list[Line]:
    """Settle Ante and Play by 679a.11(c)(3), before any limit."""
    position, ante, play = box["position"], box["wagers"]["ante"], box["wagers"].get("play")
    if box["folded"] or play is None:
        return [say.collected(position, "ante", ante)]
    if box.get("no_win"):
        return [say.collected(position, "ante", ante), say.collected(position, "play", play)]
    cards = tuple(box["cards"])
    if not is_queen_high_or_better(dealer):
        return [say.returned(position, "ante", ante), say.paid_to_one(position, "play", play, 1)]
    if three_card_strength(cards) >= three_card_strength(dealer):
        return [
            say.paid_to_one(position, "ante", ante, 1),
            say.paid_to_one(position, "play", play, law.PLAY_679A[three_card_prime_hand(cards)]),
        ]
    bad_beat = law.BAD_BEAT_679A[paytables["bad_beat"]].get(three_card(cards), 0)
    return [say.collected(position, "ante", ante), by_odds(position, "play", play, bad_beat)]


def is_bad_beat(lines: list[Line]) -> bool:
    return lines[0]["outcome"] == "collected"


def prime_679a(box: Box, dealer: tuple[str, ...]) -> Line:
    """Settle the Prime Wager by 679a.11(d)(1)."""
    cards = tuple(box["cards"])
    odds = 0
    if one_color(cards + dealer):
        odds = law.PRIME_679A["same_color_player_and_dealer"]
    elif one_color(cards):
        odds = law.PRIME_679A["same_color_player"]
    return by_odds(box["position"], "prime", box["wagers"]["prime"], odds)


def pair_bonus(box: Box, community: str | None, paytables: Paytables) -> Line:
    """Settle the Pair Bonus by 679a.11(d)(2). A community card replaces the fourth card."""
    hand = three_card_prime_hand(tuple(box["cards"]))
    fourth = box["fourth_card"] if community is None else community
    if fourth[0] == "2":
        odds = law.PAIR_BONUS_TWO[paytables["pair_bonus"]].get(hand, 0)
    else:
        odds = law.PAIR_BONUS_NOT_A_TWO.get(hand, 0)
    return by_odds(box["position"], "pair_bonus", box["wagers"]["pair_bonus"], odds)


def settle_three_card_prime(played: Round) -> Settlement:
    paytables = played.get("paytables", {})
    dealer = tuple(played["dealer"])
    limit = Limit(paytables.get("payout_limit"))
    lines: list[Line] = []
    for box in from_the_right(played):
        position, wagers = box["position"], box["wagers"]
        if played.get("irregularity") == "dealer_exposed":
            lines += back(box, ("ante", "play"))
        else:
            main = ante_and_play(box, dealer, paytables)
            # 679a.12(h): the limit is on what (a) and (b) pay, not on a Bad Beat Bonus.
            lines += main if is_bad_beat(main) else [limit.apply(box, line) for line in main]
        if box.get("no_win"):
            lines += lost(box, ("prime", "pair_bonus", "all_six"))
            continue
        if "prime" in wagers:
            lines.append(prime_679a(box, dealer))
        if "pair_bonus" in wagers:
            community = played.get("pair_bonus_community_card")
            lines.append(pair_bonus(box, community, paytables))
        if "all_six" in wagers:
            odds = all_six_odds(tuple(box["cards"]) + dealer, paytables["all_six"])
            lines.append(by_odds(position, "all_six", wagers["all_six"], odds))
    return {"lines": lines, "meters": {}}


# --- 682a.11(d) and (e) ---


def ante_and_raise(box: Box, dealer: tuple[str, ...], paytables: Paytables) -> list[Line]:
    """Settle Ante and Raise by 682a.11(d)."""
    position, ante, raised = box["position"], box["wagers"]["ante"], box["wagers"].get("raise")
    if box["folded"] or raised is None:
        return [say.collected(position, "ante", ante)]
    if box.get("no_win"):
        return [say.collected(position, "ante", ante), say.collected(position, "raise", raised)]
    player = best_four_card(tuple(box["cards"]))
    hand = FOUR_CARD[player[0]]
    if player >= best_four_card(dealer):
        lines = [
            say.paid_to_one(position, "ante", ante, 1),
            say.paid_to_one(position, "raise", raised, 1),
        ]
        if hand in law.WIN_BONUS:
            lines.append(say.paid(position, "win_bonus", ante, law.WIN_BONUS[hand] * ante))
        return lines
    bad_beat = law.BAD_BEAT_682A[paytables["bad_beat"]].get(hand, 0)
    if not bad_beat:
        return [say.collected(position, "ante", ante), say.collected(position, "raise", raised)]
    return [
        say.returned(position, "ante", ante),
        say.collected(position, "raise", raised),
        say.paid(position, "bad_beat_bonus", ante, bad_beat * ante),
    ]


def prime_682a(box: Box, paytables: Paytables) -> Line:
    """Settle the Prime Wager by 682a.11(e)(1)."""
    reds = sum(is_red(card) for card in box["cards"])
    table = law.PRIME_682A[paytables["prime"]]
    odds = {5: table["all_five_same_color"], 4: table["four_same_color"]}.get(
        max(reds, 5 - reds), 0
    )
    return by_odds(box["position"], "prime", box["wagers"]["prime"], odds)


def aces_bonus(box: Box, paytables: Paytables) -> Line:
    """Settle the Aces Bonus by 682a.11(e)(2), on the five cards or on the table's best four."""
    size = 4 if paytables.get("aces_bonus_reading") == "best_four" else 5
    hand = aces_bonus_hand(tuple(box["cards"]), size)
    odds = law.ACES_BONUS[paytables["aces_bonus"]].get(hand, 0)
    return by_odds(box["position"], "aces_bonus", box["wagers"]["aces_bonus"], odds)


def settle_four_card_prime(played: Round) -> Settlement:
    paytables = played.get("paytables", {})
    dealer = tuple(played["dealer"])
    limit = Limit(paytables.get("payout_limit"))
    lines: list[Line] = []
    for box in from_the_right(played):
        position, wagers = box["position"], box["wagers"]
        if played.get("irregularity") == "dealer_exposed":
            lines += back(box, ("ante", "raise"))
        else:
            lines += ante_and_raise(box, dealer, paytables)
        if box.get("no_win"):
            lines += lost(box, ("prime", "aces_bonus", "all_six"))
            continue
        if "prime" in wagers:
            lines.append(prime_682a(box, paytables))
        if "aces_bonus" in wagers:
            lines.append(limit.apply(box, aces_bonus(box, paytables)))
        if "all_six" in wagers:
            six = (*box["cards"], played["all_six_card"])
            odds = all_six_odds(six, paytables["all_six"])
            line = by_odds(position, "all_six", wagers["all_six"], odds)
            # 682a.12(g): the six-card royal flush is outside the limit.
            is_outside = paytables["all_six"] == "E" and is_six_card_royal(six)
            lines.append(line if is_outside else limit.apply(box, line))
    return {"lines": lines, "meters": {}}


# --- Both ---


def back(box: Box, items: tuple[str, ...]) -> list[Line]:
    wagers = box["wagers"]
    return [say.returned(box["position"], item, wagers[item]) for item in items if item in wagers]


def lost(box: Box, items: tuple[str, ...]) -> list[Line]:
    wagers = box["wagers"]
    return [say.collected(box["position"], item, wagers[item]) for item in items if item in wagers]


def return_everything(played: Round) -> Settlement:
    items = ORDER[played["game"]]
    return {
        "lines": [line for box in from_the_right(played) for line in back(box, items)],
        "meters": {},
    }
