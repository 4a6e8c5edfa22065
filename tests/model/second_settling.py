"""Settling a round for the second set of books, turn by turn, in the order of 649a.11(c).

It alone moves the second books' meters as it goes, and makes the claims that the reply must have;
it settles the wagers on meters only. `tests.naive` settles the others, on meters that are given.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, Final

from tests.model.hands import best_name_of_six, five_card_name, three_card_name
from tests.model.law import LUCKY_BONUS_FOR_1, MAGIC_CARD_FOR_1, METER_KIND
from tests.model.second_books import SecondBooks, SecondClaim, SecondMeter, shows_cards

OWN: Final = "five_card_hand_bonus"
ON_DEALER: Final = "five_card_hand_bonus_dealer"

Record = dict[str, Any]


@dataclass
class _Box:
    """A position that was dealt a hand."""

    position: int
    player: object
    cards: list[str]
    folded: bool
    shows: bool
    wagers: set[str]


class Settling:
    """One round as its result settles it; its lines and claims as the reply must have them."""

    def __init__(self, books: SecondBooks, table_id: str, event: Record) -> None:
        self.lines: list[Record] = []
        self.claims: list[Record] = []
        self._books = books
        self._table = books.tables[table_id]
        self._table_id = table_id
        self._seq = event["seq"]
        self._dealer = event["dealer"]
        self._community = event.get("community", [])
        self._boxes = [self._box(box) for box in event["positions"]]
        self._boxes.sort(key=lambda box: -box.position)
        self._dealers_share: int | None = None
        self._had_share: set[object] = set()
        self._envies: list[tuple[str, str, int, int]] = []

    def _box(self, dealt: Record) -> _Box:
        bet = self._table.bets.get(dealt["position"])
        patron = (bet or {}).get("patron") or dealt.get("patron")
        return _Box(
            position=dealt["position"],
            player=patron or dealt["position"],
            cards=dealt.get("cards", []),
            folded=dealt["folded"],
            shows=shows_cards(dealt, bet),
            wagers=set(bet["wagers"]) if bet else set(),
        )

    def run(self) -> None:
        """Book every turn."""
        for box in self._boxes:
            self._turn(box, "progressive", "progressive_envy", three_card_name, [])
            self._turn(
                box, "five_card_progressive", "five_card_envy", five_card_name, self._community
            )
            self._hand_bonus(box)
            self._turn(
                box, "five_of_six_progressive", "five_of_six_envy", best_name_of_six, self._dealer
            )
        for envy in self._envies:
            self._owe(*envy)
        self._books.tallies["rounds"] += 1
        self._books.end(self._table_id)

    def _owe(self, wager: str, meter: str, holder: int, cents: int) -> None:
        """Owe an Envy Bonus under the win by which a floorperson looks at its hand, if any.

        That is the win of the same wager, or else the first of the hand that waits.
        """
        of_hand = [claim for claim in self.claims if claim["position"] == holder]
        same = [claim for claim in of_hand if claim["item"] == wager]
        if under := (same or of_hand)[:1]:
            self._books.owe(under[0]["claim"], meter, cents, alone=False)
        elif cents >= self._books.validate_from_cents:
            claim = f"model.{self._table_id}-{self._seq}-e{holder}"
            self._books.owe(claim, meter, cents, alone=True)
        else:
            self._books.move("house", "paid", Fraction(cents))
            self._books.tallies[f"table_paid_cents:{meter}"] += cents

    def _meter(self, wager: str) -> tuple[str, SecondMeter]:
        meter = self._table.meters[METER_KIND[wager]]
        return meter, self._books.meters[meter]

    def _bettors(self, wager: str) -> list[_Box]:
        return [box for box in self._boxes if wager in box.wagers]

    def _turn(self, box: _Box, wager: str, envy: str, name: Any, more: list[str]) -> None:  # noqa: ANN401
        bettors = self._bettors(wager)
        if not bettors:
            return
        hand = name([*box.cards, *more]) if box.shows else None
        if wager in box.wagers:
            if hand is None or (box.folded and wager != "five_of_six_progressive"):
                self._line(box, wager, "collected", None)
            else:
                self._pay(box, wager, hand)
        meter, one = self._meter(wager)
        each = one.law.envy.get(one.law.shown(hand), 0) if hand else 0
        for other in bettors:
            if each and other.player != box.player:
                cents = each * one.wager_cents
                line = self._line(other, envy, "paid", one.law.shown(hand or ""), cents)
                line |= {"envy_of": box.position, "paid_from": one.law.inventory}
                self._count(meter, cents)
                self._envies.append((wager, meter, box.position, cents))

    def _pay(self, box: _Box, wager: str, hand: str) -> None:
        meter, one = self._meter(wager)
        shown = one.law.shown(hand)
        if percent := one.law.percent.get(shown):
            claim = self._next_claim()
            share = self._books.take_off(meter, percent, [f"claim:{claim}"])
            self._pay_percent(box, wager, shown, share, claim)
        elif times := one.law.for_1.get(shown):
            cents = times * one.wager_cents
            line = self._line(box, wager, "paid", shown, cents)
            line["paid_from"] = one.law.inventory
            if self._waits(wager, cents, one):
                self._pay_out(line, meter, self._open_claim(line, meter, percent=False))
            else:
                self._pay_out(line, meter, "paid")
        else:
            self._line(box, wager, "collected", shown)

    def _waits(self, wager: str, cents: int, one: SecondMeter) -> bool:
        if cents < self._books.validate_from_cents:
            return False
        return wager not in {OWN, ON_DEALER} or cents >= 500 * one.wager_cents

    def _pay_percent(self, box: _Box, wager: str, hand: str, share: int, claim: str) -> None:
        meter, one = self._meter(wager)
        line = self._line(box, wager, "paid", hand, share)
        line |= {"percent": one.law.percent[hand], "paid_from": "hand_pay"}
        assert self._open_claim(line, meter, percent=True) == f"claim:{claim}"
        self._books.tallies[f"hits:{meter}"] += 1
        self._count(meter, share)

    def _hand_bonus(self, box: _Box) -> None:
        own, on_dealer = OWN in box.wagers, ON_DEALER in box.wagers
        if own:
            self._pay(box, OWN, five_card_name([*box.cards, *self._community]))
        if on_dealer:
            self._pay_on_dealer(box, five_card_name([*self._dealer, *self._community]))
        if not (own or on_dealer):
            return
        meter, one = self._meter(OWN)
        draw = self._table.draw or {"magic_card": None, "lucky_position": None}
        magic, lucky = draw["magic_card"], draw["lucky_position"]
        for item, on, made, drawn, times in (
            ("magic_card", "player", own, magic in [*box.cards, *self._community],
             MAGIC_CARD_FOR_1),
            ("magic_card", "dealer", on_dealer, magic in [*self._dealer, *self._community],
             MAGIC_CARD_FOR_1),
            ("lucky_bonus", "player", own, lucky == box.position, LUCKY_BONUS_FOR_1),
            ("lucky_bonus", "dealer", on_dealer, lucky == "dealer", LUCKY_BONUS_FOR_1),
        ):  # fmt: skip
            if made and drawn:
                line = self._line(box, item, "paid", None, times * one.wager_cents)
                line |= {"on": on, "paid_from": one.law.inventory}
                self._pay_out(line, meter, "paid")

    def _pay_on_dealer(self, box: _Box, hand: str) -> None:
        meter, one = self._meter(ON_DEALER)
        shown = one.law.shown(hand)
        percent = one.law.percent.get(shown)
        if not percent:
            self._pay(box, ON_DEALER, hand)
        elif box.player in self._had_share:
            self._line(box, ON_DEALER, "collected", shown)
        else:
            self._had_share.add(box.player)
            if self._dealers_share is None:
                players = {other.player for other in self._bettors(ON_DEALER)}
                self._dealers_share = self._books.take_off(meter, percent, ["pot"] * len(players))
            claim = self._next_claim()
            self._books.move("pot", f"claim:{claim}", Fraction(self._dealers_share))
            self._pay_percent(box, ON_DEALER, shown, self._dealers_share, claim)

    def _line(self, box: _Box, item: str, outcome: str, hand: str | None, cents: int = 0) -> Record:
        line: Record = {"position": box.position, "item": item, "outcome": outcome, "paid": cents}
        if hand is not None:
            line["hand"] = hand
        self.lines.append(line)
        return line

    def _next_claim(self) -> str:
        return f"model.{self._table_id}-{self._seq}-{len(self.claims) + 1}"

    def _open_claim(self, line: Record, meter: str, *, percent: bool) -> str:
        claim = self._next_claim()
        self.claims.append(
            {"claim": claim, "position": line["position"], "item": line["item"],
             "amount": line["paid"]}
        )  # fmt: skip
        self._books.claims[claim] = SecondClaim(
            meter, line["paid"], floor(self._books.held(meter)), percent,
            line["paid_from"] == "hand_pay", self._table_id,
        )  # fmt: skip
        return f"claim:{claim}"

    def _pay_out(self, line: Record, meter: str, payee: str) -> None:
        self._books.move("house", payee, Fraction(line["paid"]))
        if payee == "paid":
            self._books.tallies[f"table_paid_cents:{meter}"] += line["paid"]
        self._count(meter, line["paid"])

    def _count(self, meter: str, cents: int) -> None:
        for name, by in (("wins", 1), ("won_cents", cents)):
            self._books.tallies[name] += by
            self._books.tallies[f"{name}:{meter}"] += by
