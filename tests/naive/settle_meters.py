"""The wagers on meters, settled by 649a.11(c)(5) and (7) to (9) step by step.

The keeper of the meters is passed in. A single round has given amounts. In the books of
`tests.model` meters are accounts that are followed from event to event.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol

from tests.naive import lines as say
from tests.naive import tables_649a as law
from tests.naive.ranking import Cards, best_five_card_named, three_card_named
from tests.naive.shapes import Box, Line, Round, from_the_right, patron_of

LIVE_AFTER_A_FOLD = (
    "six_card_bonus", "five_card_hand_bonus", "five_card_hand_bonus_dealer",
    "five_of_six_progressive",
)  # fmt: skip
"""649a.11(b)(3) and (c): these are not forfeited, and keep the folded cards on the table."""

OWN = "five_card_hand_bonus"
ON_DEALER = "five_card_hand_bonus_dealer"


class Meters(Protocol):
    def take(
        self, kind: str, percent: int | Fraction, shares: int, hand: object | None = None,
        payees: int = 0,
    ) -> int:  # fmt: skip
        """Take a percentage off in equal shares of whole cents. Return the cents of one share.

        Some of the `shares` can stay on the meter: `payees` are the paid ones, by default all.

        All percentages of one `hand` are of the same balance. A meter that was won whole restarts
        immediately.
        """


class MeterWagers:
    """The wagers on meters of one round. Each line is passed on when it is settled."""

    def __init__(
        self,
        played: Round,
        laws: Mapping[str, law.MeterLaw],
        meters: Meters,
        report: Callable[[Line], None],
    ) -> None:
        draw = played.get("draw") or {}
        self.boxes = from_the_right(played)
        self.dealer = tuple(played["dealer"])
        self.community = tuple(played.get("community", ()))
        self.magic_card = draw.get("magic_card")
        self.lucky_position = draw.get("lucky_position")
        self.laws = laws
        self.meters = meters
        self.report = report
        # The part of the meter that each patron gets for the dealer's hand, once it is known,
        # and who has had it.
        self.dealer_share: int | None = None
        self.had_dealer_share: set[tuple[str, str | int]] = set()

    # --- 649a.11(c)(5), (7) and (9): the progressives and their Envy Bonuses ---

    def settle_progressive(self, box: Box) -> None:
        self.settle_with_envy(box, "progressive", "progressive_envy", three_card_named, ())

    def settle_five_card_progressive(self, box: Box) -> None:
        self.settle_with_envy(
            box, "five_card_progressive", "five_card_envy", best_five_card_named, self.community
        )

    def settle_five_of_six(self, box: Box) -> None:
        self.settle_with_envy(
            box, "five_of_six_progressive", "five_of_six_envy", best_five_card_named, self.dealer
        )

    def settle_with_envy(
        self, box: Box, wager: str, envy: str, name: Callable[[Cards], str], more: Cards
    ) -> None:
        if not any(wager in one["wagers"] for one in self.boxes):
            return
        hand = None
        if self.is_holder(box):
            hand = self.laws[wager].shown(name((*box["cards"], *more)))
        if wager in box["wagers"]:
            if hand is None or (box["folded"] and wager not in LIVE_AFTER_A_FOLD):
                self.report(say.collected(box["position"], wager, box["wagers"][wager]))
            else:
                self.pay(box, wager, hand)
        if hand is not None:
            self.pay_envy(box, wager, envy, hand)

    def is_holder(self, box: Box) -> bool:
        """Check whether the box's cards are still on the table at its turn."""
        if box.get("no_win"):
            return False
        live = any(wager in box["wagers"] for wager in LIVE_AFTER_A_FOLD)
        return not box["folded"] or live or box.get("kept", False)

    def pay_envy(self, holder: Box, wager: str, item: str, hand: str) -> None:
        """Pay an Envy Bonus to everybody else with the wager, folded or not."""
        for box in self.boxes:
            if wager in box["wagers"] and patron_of(box) != patron_of(holder):
                wagered = box["wagers"][wager]
                cents = self.laws[wager].envy_cents[wagered].get(hand)
                if cents is not None:
                    line = say.paid(box["position"], item, wagered, cents)
                    self.report(line | {"hand": hand, "envy_of": holder["position"]})

    # --- 649a.11(c)(8): Five Card Hand Bonus, Magic Card, Lucky Bonus ---

    def settle_five_card_hand_bonus(self, box: Box) -> None:
        position = box["position"]
        own_wager, dealer_wager = box["wagers"].get(OWN), box["wagers"].get(ON_DEALER)
        if own_wager is not None and box.get("no_win"):
            self.report(say.collected(position, OWN, own_wager))
            own_wager = None
        if own_wager is not None:
            five = (*box["cards"], *self.community)
            self.pay(box, OWN, self.laws[OWN].shown(best_five_card_named(five)))
        if dealer_wager is not None:
            self.settle_on_dealer(box, dealer_wager)
        if self.magic_card is not None:
            if own_wager is not None and self.magic_card in (*box["cards"], *self.community):
                self.credit(position, "magic_card", own_wager, law.MAGIC_CARD, "player")
            if dealer_wager is not None and self.magic_card in (*self.dealer, *self.community):
                self.credit(position, "magic_card", dealer_wager, law.MAGIC_CARD, "dealer")
        if own_wager is not None and self.lucky_position == position:
            self.credit(position, "lucky_bonus", own_wager, law.LUCKY_BONUS, "player")
        if dealer_wager is not None and self.lucky_position == "dealer":
            self.credit(position, "lucky_bonus", dealer_wager, law.LUCKY_BONUS, "dealer")

    def settle_on_dealer(self, box: Box, wager: int) -> None:
        hand = self.laws[OWN].shown(best_five_card_named((*self.dealer, *self.community)))
        percent = self.laws[OWN].percent.get(hand)
        if percent is None:
            self.pay(box, ON_DEALER, hand)
            return
        # The part of the meter is divided equally among those who wagered on the dealer's hand.
        if self.dealer_share is None:
            patrons = {patron_of(other) for other in self.boxes if ON_DEALER in other["wagers"]}
            self.dealer_share = self.meters.take(OWN, percent, len(patrons))
        if patron_of(box) in self.had_dealer_share:
            self.report(say.collected(box["position"], ON_DEALER, wager) | {"hand": hand})
            return
        self.had_dealer_share.add(patron_of(box))
        self.pay_percentage(box, ON_DEALER, hand, percent, self.dealer_share)

    def credit(self, position: int, item: str, wager: int, odds: int, hand_of: str) -> None:
        paid_from = self.laws[OWN].paid_from
        line = say.paid(position, item, wager, odds * wager, paid_from=paid_from)
        self.report(line | {"on": hand_of})

    # --- What several of them need ---

    def pay(self, box: Box, wager: str, hand: str) -> None:
        """Pay a percentage of the meter, or winnings at "odds for 1", or collect the wager."""
        position, wagered = box["position"], box["wagers"][wager]
        kind = law.METER_OF[wager]
        terms = self.laws[kind]
        if hand in terms.percent:
            won = self.meters.take(kind, terms.percent[hand], 1)
            self.pay_percentage(box, wager, hand, terms.percent[hand], won)
        elif hand in terms.for_1:
            cents = terms.for_1[hand] * wagered
            line = say.paid(position, wager, wagered, cents, paid_from=terms.paid_from)
            self.report(line | {"hand": hand})
        else:
            self.report(say.collected(position, wager, wagered) | {"hand": hand})

    def pay_percentage(self, box: Box, wager: str, hand: str, percent: int, cents: int) -> None:
        wagered = box["wagers"][wager]
        line = say.paid(box["position"], wager, wagered, cents, paid_from="hand_pay")
        self.report(line | {"hand": hand, "percent": percent})
