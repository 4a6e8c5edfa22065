"""Three Card Poker, settled by 649a.11 and 649a.12 step by step."""

from tests.naive import lines as say
from tests.naive import tables_649a as law
from tests.naive.ranking import (
    best_five_card,
    is_mini_royal,
    is_queen_high_or_better,
    royal_suit,
    three_card,
    three_card_strength,
)
from tests.naive.ranking import is_six_card_royal as is_super_royal
from tests.naive.shapes import Box, Line, Meter, Paytables, Round, Settlement

ORDER = (
    "ante", "play", "pair_plus", "progressive", "six_card_bonus", "five_card_progressive",
    "five_card_hand_bonus", "five_card_hand_bonus_dealer", "five_of_six_progressive",
)  # fmt: skip
LIVE_AFTER_A_FOLD = (
    "six_card_bonus", "five_card_hand_bonus", "five_card_hand_bonus_dealer",
    "five_of_six_progressive",
)  # fmt: skip
"""649a.11(b)(3) and (c): these are not forfeited, and keep the folded cards on the table."""


def patron_of(box: Box) -> tuple[str, str | int]:
    """Who sits there; a position where nobody is named is a patron of its own."""
    if "patron" in box:
        return "named", box["patron"]
    return "unnamed", box["position"]


class Table:
    """A Three Card Poker table in the middle of being settled."""

    def __init__(self, played: Round) -> None:
        self.paytables: Paytables = played.get("paytables", {})
        self.boxes = sorted(played["positions"], key=lambda box: box["position"], reverse=True)
        self.dealer = tuple(played["dealer"])
        self.community = tuple(played.get("community", ()))
        draw = played.get("draw") or {}
        self.magic_card = draw.get("magic_card")
        self.lucky_position = draw.get("lucky_position")
        self.meters: dict[str, Meter] = {
            name: meter.copy() for name, meter in played.get("meters", {}).items()
        }
        # The Five Card Hand Bonus has a reserve, though there may be nothing in it.
        if "five_card_hand_bonus" in self.meters:
            self.meters["five_card_hand_bonus"].setdefault("reserve", 0)
        self.lines: list[Line] = []
        # The part of the meter that each patron gets for the dealer's hand, once it is known,
        # and who has had it.
        self.dealer_share: int | None = None
        self.had_dealer_share: set[tuple[str, str | int]] = set()

    def settled(self) -> Settlement:
        after: dict[str, Meter] = {}
        for name, meter in self.meters.items():
            after[name] = {"amount": meter["amount"]}
            if "reserve" in meter:
                after[name]["reserve"] = meter["reserve"]
        return {"lines": self.lines, "meters": after}

    # --- 649a.11(c)(3): Ante and Play ---

    def settle_ante_and_play(self, box: Box) -> None:
        position, wagers = box["position"], box["wagers"]
        ante, play = wagers.get("ante"), wagers.get("play")
        if ante is None:
            return
        if box["folded"] or play is None:
            self.lines.append(say.collected(position, "ante", ante))
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
        """649a.12(b) with (g), or (c)."""
        choice = self.paytables["ante_bonus"]
        table = law.ANTE_BONUS[choice]
        if is_mini_royal(cards):
            if choice.startswith("c-"):
                return table["akq_spades" if cards[0][1] == "s" else "akq_other"]
            return self.paytables.get("mini_royal", {}).get("ante_bonus", table["straight_flush"])
        return table.get(three_card(cards), 0)

    # --- 649a.11(c)(4): Pair Plus ---

    def settle_pair_plus(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("pair_plus")
        if wager is None:
            return
        if box["folded"]:
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

    # --- 649a.11(c)(5): Three-Card Progressive ---

    def settle_progressive(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("progressive")
        if wager is not None:
            if box["folded"]:
                self.lines.append(say.collected(position, "progressive", wager))
            else:
                self.settle_live_progressive(position, wager, tuple(box["cards"]))
        if self.is_holder(box) and is_mini_royal(tuple(box["cards"])):
            hand = "akq_spades" if box["cards"][0][1] == "s" else "akq_other"
            self.pay_envy(box, "progressive", "progressive_envy", hand)

    def settle_live_progressive(self, position: int, wager: int, cards: tuple[str, ...]) -> None:
        table = law.PROGRESSIVE[self.paytables["progressive"]]
        hand = three_card(cards)
        if is_mini_royal(cards):
            if cards[0][1] == "s":
                self.pay_of_meter(position, "progressive", wager, "progressive", 100)
                return
            hand = "akq_other"
        self.pay_for_one(position, "progressive", wager, table.get(hand, 0))

    # --- 649a.11(c)(6): Six Card Bonus ---

    def settle_six_card_bonus(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("six_card_bonus")
        if wager is None:
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

    # --- 649a.11(c)(7): Five-Card Progressive ---

    def settle_five_card_progressive(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("five_card_progressive")
        item = "five_card_progressive"
        hand = "nothing"
        if "cards" in box and self.community:
            hand = best_five_card(tuple(box["cards"]) + self.community)
        if wager is not None:
            if box["folded"]:
                self.lines.append(say.collected(position, item, wager))
            elif hand == "royal_flush":
                self.pay_of_meter(position, item, wager, item, 100)
            elif hand == "straight_flush":
                self.pay_of_meter(position, item, wager, item, 10)
            else:
                self.pay_for_one(position, item, wager, law.FIVE_CARD_PROGRESSIVE.get(hand, 0))
        if self.is_holder(box) and hand in ("royal_flush", "straight_flush"):
            self.pay_envy(box, item, "five_card_envy", hand)

    # --- 649a.11(c)(8): Five Card Hand Bonus, Magic Card, Lucky Bonus ---

    def settle_five_card_hand_bonus(self, box: Box) -> None:
        position = box["position"]
        own_wager = box["wagers"].get("five_card_hand_bonus")
        dealer_wager = box["wagers"].get("five_card_hand_bonus_dealer")
        if own_wager is not None:
            self.settle_own_hand_bonus(position, own_wager, tuple(box["cards"]) + self.community)
        if dealer_wager is not None:
            self.settle_dealer_hand_bonus(box, dealer_wager)
        if self.magic_card is not None:
            if own_wager is not None and self.magic_card in (*box["cards"], *self.community):
                self.credit(position, "magic_card", own_wager, law.MAGIC_CARD, "player")
            if dealer_wager is not None and self.magic_card in self.dealer + self.community:
                self.credit(position, "magic_card", dealer_wager, law.MAGIC_CARD, "dealer")
        if own_wager is not None and self.lucky_position == position:
            self.credit(position, "lucky_bonus", own_wager, law.LUCKY_BONUS, "player")
        if dealer_wager is not None and self.lucky_position == "dealer":
            self.credit(position, "lucky_bonus", dealer_wager, law.LUCKY_BONUS, "dealer")

    def settle_own_hand_bonus(self, position: int, wager: int, five: tuple[str, ...]) -> None:
        item = "five_card_hand_bonus"
        hand = best_five_card(five)
        if hand == "royal_flush":
            self.pay_of_meter(position, item, wager, item, 100)
        elif hand == "straight_flush":
            self.pay_of_meter(position, item, wager, item, 10)
        else:
            odds = law.FIVE_CARD_HAND_BONUS.get(hand, 0)
            self.pay_for_one(position, item, wager, odds, paid_from="game_account")

    def settle_dealer_hand_bonus(self, box: Box, wager: int) -> None:
        position, item = box["position"], "five_card_hand_bonus_dealer"
        hand = best_five_card(self.dealer + self.community)
        if hand not in ("royal_flush", "straight_flush"):
            odds = law.FIVE_CARD_HAND_BONUS.get(hand, 0)
            self.pay_for_one(position, item, wager, odds, paid_from="game_account")
            return
        # The part of the meter is divided equally among those who wagered on the dealer's hand.
        percent = 100 if hand == "royal_flush" else 10
        if self.dealer_share is None:
            patrons = {patron_of(other) for other in self.boxes if item in other["wagers"]}
            meter = self.meters["five_card_hand_bonus"]
            jackpot = meter["amount"] * percent // 100
            self.dealer_share = jackpot // len(patrons)
            meter["amount"] -= self.dealer_share * len(patrons)
            if percent == 100:
                self.restart("five_card_hand_bonus")
        if patron_of(box) in self.had_dealer_share:
            self.lines.append(say.collected(position, item, wager))
            return
        self.had_dealer_share.add(patron_of(box))
        line = say.paid(position, item, wager, self.dealer_share, paid_from="hand_pay")
        line["percent"] = percent
        self.lines.append(line)

    def credit(self, position: int, item: str, wager: int, odds: int, hand_of: str) -> None:
        line = say.paid(position, item, wager, odds * wager, paid_from="game_account")
        line["on"] = hand_of
        self.lines.append(line)

    # --- 649a.11(c)(9): 5 of 6 Progressive ---

    def settle_five_of_six(self, box: Box) -> None:
        position, wager = box["position"], box["wagers"].get("five_of_six_progressive")
        item = "five_of_six_progressive"
        if "cards" not in box:
            return
        six = tuple(box["cards"]) + self.dealer
        hand = best_five_card(six)
        if wager is not None:
            if hand == "royal_flush":
                percent = 100 if royal_suit(six) == "s" else 25
                self.pay_of_meter(position, item, wager, item, percent)
            else:
                self.pay_for_one(position, item, wager, law.FIVE_OF_SIX_PROGRESSIVE.get(hand, 0))
        if self.is_holder(box) and hand == "royal_flush":
            royal = "royal_spades" if royal_suit(six) == "s" else "royal_other"
            self.pay_envy(box, item, "five_of_six_envy", royal)

    # --- What several of them need ---

    def is_holder(self, box: Box) -> bool:
        """Whether the box's cards are still on the table when its turn comes."""
        return not box["folded"] or any(wager in box["wagers"] for wager in LIVE_AFTER_A_FOLD)

    def pay_envy(self, holder: Box, wager: str, item: str, hand: str) -> None:
        """An Envy Bonus to everybody else with the wager, folded or not."""
        for box in self.boxes:
            if wager in box["wagers"] and patron_of(box) != patron_of(holder):
                wagered = box["wagers"][wager]
                cents = law.ENVY_CENTS[item][wagered][hand]
                line = say.paid(box["position"], item, wagered, cents)
                line["envy_of"] = holder["position"]
                self.lines.append(line)

    def pay_for_one(
        self,
        position: int,
        item: str,
        wager: int,
        odds: int,
        *,
        paid_from: str = "table_inventory",
    ) -> None:
        """Winnings at "odds for 1", which keep the wager; a loss where there are no odds."""
        if odds:
            self.lines.append(say.paid(position, item, wager, odds * wager, paid_from=paid_from))
        else:
            self.lines.append(say.collected(position, item, wager))

    def pay_of_meter(self, position: int, item: str, wager: int, meter: str, percent: int) -> None:
        """A percentage of what the meter holds now, which goes off it at once."""
        won = self.meters[meter]["amount"] * percent // 100
        self.meters[meter]["amount"] -= won
        if percent == 100:
            self.restart(meter)
        line = say.paid(position, item, wager, won, paid_from="hand_pay")
        line["percent"] = percent
        self.lines.append(line)

    def restart(self, name: str) -> None:
        """A meter that was won whole takes its reseed, or else its reserve."""
        meter = self.meters[name]
        if name == "five_card_hand_bonus":
            meter["amount"] += meter["reserve"]
            meter["reserve"] = 0
        else:
            meter["amount"] += law.RESEED_FOR_ONE[name] * meter["wager"]

    # --- 649a.13 ---

    def return_everything(self) -> None:
        for box in self.boxes:
            for item in ORDER:
                if item in box["wagers"]:
                    self.lines.append(say.returned(box["position"], item, box["wagers"][item]))
        for name, meter in self.meters.items():
            feeding = [name]
            if name == "five_card_hand_bonus":
                feeding.append("five_card_hand_bonus_dealer")
            cents = sum(box["wagers"].get(wager, 0) for box in self.boxes for wager in feeding)
            meter["amount"] = without(meter["amount"], cents, self.rate_percent(name))
            if "reserve" in meter:
                rate = law.FIVE_CARD_HAND_BONUS_RESERVE_PERCENT
                meter["reserve"] = without(meter["reserve"], cents, rate)

    def rate_percent(self, meter: str) -> int:
        if meter == "progressive":
            return law.PROGRESSIVE_RATE_PERCENT[self.paytables["progressive"]]
        if meter == "five_card_progressive":
            return law.FIVE_CARD_PROGRESSIVE_RATE_PERCENT
        if meter == "five_of_six_progressive":
            return law.FIVE_OF_SIX_PROGRESSIVE_RATE_PERCENT
        return law.FIVE_CARD_HAND_BONUS_RATE_PERCENT


def without(amount: int, wagered: int, percent: int) -> int:
    """A meter's cents without what a percentage of the wagers had added, rounded down."""
    return (amount * 100 - wagered * percent) // 100


def settle_three_card_poker(played: Round) -> Settlement:
    """All wagers of a round of Three Card Poker, in paying order."""
    table = Table(played)
    if played.get("irregularity") is not None:
        table.return_everything()
        return table.settled()
    for box in table.boxes:
        table.settle_ante_and_play(box)
        table.settle_pair_plus(box)
        table.settle_progressive(box)
        table.settle_six_card_bonus(box)
        table.settle_five_card_progressive(box)
        table.settle_five_card_hand_bonus(box)
        table.settle_five_of_six(box)
    return table.settled()
