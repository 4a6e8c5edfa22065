"""Three Card Poker, settled by 649a.11 and 649a.12 step by step."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

from tests.naive import lines as say
from tests.naive import tables_649a as law
from tests.naive.ranking import (
    best_five_card,
    is_mini_royal,
    is_queen_high_or_better,
    three_card,
    three_card_named,
    three_card_strength,
)
from tests.naive.ranking import is_six_card_royal as is_super_royal
from tests.naive.settle_meters import MeterWagers
from tests.naive.shapes import Box, Line, Meter, Paytables, Round, Settlement, from_the_right

ORDER = (
    "ante", "play", "pair_plus", "progressive", "six_card_bonus", "five_card_progressive",
    "five_card_hand_bonus", "five_card_hand_bonus_dealer", "five_of_six_progressive",
)  # fmt: skip


class GivenMeters:
    """The meters of a round without books, in cents."""

    def __init__(self, given: Mapping[str, Meter], laws: Mapping[str, law.MeterLaw]) -> None:
        self.laws = laws
        self.now: dict[str, Meter] = {name: meter.copy() for name, meter in given.items()}
        # The Five Card Hand Bonus has a reserve, though there may be nothing in it.
        if "five_card_hand_bonus" in self.now:
            self.now["five_card_hand_bonus"].setdefault("reserve", 0)

    def take(
        self, kind: str, percent: int | Fraction, shares: int, hand: object | None = None,
        payees: int = 0,
    ) -> int:  # fmt: skip
        meter, terms = self.now[kind], self.laws[kind]
        share = floor(meter["amount"] * Fraction(percent) / 100) // shares
        meter["amount"] -= share * (payees or shares)
        if percent == 100:
            meter["amount"] += terms.reseed * meter["wager"]
            if terms.reserve:
                meter["amount"] += meter["reserve"]
                meter["reserve"] = 0
        if "limit" in meter:
            # What is over the limit waits in the overflow, and comes back as soon as there is room.
            held = meter["amount"] + meter["overflow"]
            meter["amount"] = min(held, meter["limit"])
            meter["overflow"] = held - meter["amount"]
        return share

    def take_back(self, boxes: Sequence[Box]) -> None:
        """Take off the meters what the wagers of a void round added (649a.13)."""
        for name, meter in self.now.items():
            cents = sum(
                wagered
                for box in boxes
                for wager, wagered in box["wagers"].items()
                if law.METER_OF.get(wager) == name
            )
            rate, limit = self.laws[name].primary, meter.get("limit")
            held = meter["amount"] + meter.get("overflow", 0)
            meter["amount"] = without(held, cents, rate)
            if limit is not None and meter["amount"] >= limit:
                meter["amount"] = limit
                meter["overflow"] = without(held - limit, cents, rate)
            elif limit is not None:
                meter["overflow"] = 0
            if meter.get("reserve"):
                meter["reserve"] = without(meter["reserve"], cents, self.laws[name].reserve)

    def after(self) -> dict[str, Meter]:
        after: dict[str, Meter] = {}
        for name, meter in self.now.items():
            after[name] = {"amount": meter["amount"]}
            if "reserve" in meter:
                after[name]["reserve"] = meter["reserve"]
            if "limit" in meter:
                after[name]["overflow"] = meter["overflow"]
        return after


def without(amount: int, wagered: int, percent: int | Fraction) -> int:
    """Return a meter's cents without the percentage that the wagers added, rounded down."""
    return floor((amount * 100 - wagered * percent) / Fraction(100))


class Table:
    def __init__(self, played: Round) -> None:
        self.paytables: Paytables = played.get("paytables", {})
        self.boxes = from_the_right(played)
        self.dealer = tuple(played["dealer"])
        laws = law.METERS.copy()
        if "progressive" in self.paytables:
            laws["progressive"] = law.PROGRESSIVE[self.paytables["progressive"]]
        self.meters = GivenMeters(played.get("meters", {}), laws)
        self.lines: list[Line] = []
        self.on_meters = MeterWagers(played, laws, self.meters, self.lines.append)

    def settled(self) -> Settlement:
        return {"lines": self.lines, "meters": self.meters.after()}

    # --- 649a.11(c)(3): Ante and Play ---

    def settle_ante_and_play(self, box: Box) -> None:
        position, wagers = box["position"], box["wagers"]
        ante, play = wagers.get("ante"), wagers.get("play")
        if ante is None:
            return
        if box["folded"] or play is None:
            self.lines.append(say.collected(position, "ante", ante))
            return
        if box.get("no_win"):
            self.lines.append(say.collected(position, "ante", ante))
            self.lines.append(say.collected(position, "play", play))
            return
        player = three_card_strength(tuple(box["cards"]))
        dealer = three_card_strength(self.dealer)
        if not is_queen_high_or_better(self.dealer):
            self.lines.append(say.paid_to_one(position, "ante", ante, 1))
            self.lines.append(say.returned(position, "play", play))
        elif player < dealer:
            self.lines.append(say.collected(position, "ante", ante))
            self.lines.append(say.collected(position, "play", play))
        elif player > dealer:
            self.lines.append(say.paid_to_one(position, "ante", ante, 1))
            self.lines.append(say.paid_to_one(position, "play", play, 1))
        else:
            self.lines.append(say.returned(position, "ante", ante))
            self.lines.append(say.returned(position, "play", play))
        odds = self.ante_bonus_odds(tuple(box["cards"]))
        if odds:
            self.lines.append(say.paid(position, "ante_bonus", ante, odds * ante))

    def ante_bonus_odds(self, cards: tuple[str, ...]) -> int:
        """Return the odds of the Ante Bonus: 649a.12(b) with (g), or (c)."""
        choice = self.paytables["ante_bonus"]
        table = law.ANTE_BONUS[choice]
        if is_mini_royal(cards):
            if choice.startswith("c-"):
                return table[three_card_named(cards)]
            return self.paytables.get("mini_royal", {}).get("ante_bonus", table["straight_flush"])
        return table.get(three_card(cards), 0)

    # --- 649a.11(c)(4): Pair Plus ---

    def settle_pair_plus(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("pair_plus")
        if wager is None:
            return
        if box["folded"] or box.get("no_win"):
            self.lines.append(say.collected(position, "pair_plus", wager))
            return
        cards = tuple(box["cards"])
        table = law.PAIR_PLUS[self.paytables["pair_plus"]]
        odds = table.get(three_card(cards), 0)
        if is_mini_royal(cards):
            odds = self.paytables.get("mini_royal", {}).get("pair_plus", odds)
        if odds:
            self.lines.append(say.paid_to_one(position, "pair_plus", wager, odds))
        else:
            self.lines.append(say.collected(position, "pair_plus", wager))

    # --- 649a.11(c)(6): Six Card Bonus ---

    def settle_six_card_bonus(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("six_card_bonus")
        if wager is None:
            return
        if box.get("no_win"):
            self.lines.append(say.collected(position, "six_card_bonus", wager))
            return
        six = tuple(box["cards"]) + self.dealer
        choice = self.paytables["six_card_bonus"]
        if choice == "E" and is_super_royal(six):
            sum_cents = law.SUPER_ROYAL_CENTS
            if six[0][1] == "d":
                sum_cents = law.SUPER_ROYAL_DIAMONDS_CENTS
            self.lines.append(
                say.paid(position, "six_card_bonus", wager, sum_cents, returned=wager)
            )
            return
        odds = law.SIX_CARD_BONUS[choice].get(best_five_card(six), 0)
        if odds:
            self.lines.append(say.paid_to_one(position, "six_card_bonus", wager, odds))
        else:
            self.lines.append(say.collected(position, "six_card_bonus", wager))

    # --- 649a.13 ---

    def return_everything(self) -> None:
        for box in self.boxes:
            for item in ORDER:
                if item in box["wagers"]:
                    self.lines.append(say.returned(box["position"], item, box["wagers"][item]))
        self.meters.take_back(self.boxes)


def settle_three_card_poker(played: Round) -> Settlement:
    table = Table(played)
    if played.get("irregularity") is not None:
        table.return_everything()
        return table.settled()
    for box in table.boxes:
        table.settle_ante_and_play(box)
        table.settle_pair_plus(box)
        table.on_meters.settle_progressive(box)
        table.settle_six_card_bonus(box)
        table.on_meters.settle_five_card_progressive(box)
        table.on_meters.settle_five_card_hand_bonus(box)
        table.on_meters.settle_five_of_six(box)
    return table.settled()
