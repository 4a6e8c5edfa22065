"""Settling a round, in the order in which 649a.11(c) has the dealer pay.

``settle_round`` says who won what and needs no meter. What a percentage comes to depends on what
the meter holds at its turn, so it stands as a take, which ``resolve`` (or whoever keeps the meters)
carries out in order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from bonus.cards import Card
from bonus.hands import best_five_of, five_card_hand, three_card_hand
from bonus.holdings import MICROS_PER_CENT, contributions, resolve, take_off
from bonus.lines import Due, Holding, Item, Line, Outcome, Settlement, Take
from bonus.paytables import METER_OF, MeterKind, MeterTerms, PaidFrom, Row, Wager
from bonus.rounds import DealtPosition, Round, RoundError

__all__ = [
    "DEALER_EXPOSED_RULE",
    "MICROS_PER_CENT",
    "VOID_RULE",
    "Due",
    "Holding",
    "Item",
    "Line",
    "Outcome",
    "PaidFrom",
    "Settlement",
    "Take",
    "contributions",
    "resolve",
    "settle_round",
    "take_off",
    "void_lines",
]

Cards = tuple[Card, Card, Card]
Terms = Mapping[MeterKind, MeterTerms]

_ITEM: Final = {wager: Item(wager.value) for wager in METER_OF}
_FORFEITED_RULE: Final = "649a.11(b)(2)"
_DIVIDED_RULE: Final = "649a.12(i)(2)"
VOID_RULE: Final = "649a.13"
DEALER_EXPOSED_RULE: Final = "649a.13(d)"
# The order of 649a.11(c)(5), (7), (8) and (9); own hand before the dealer's (reading T18).
_VOID_ORDER: Final = (
    Wager.PROGRESSIVE,
    Wager.FIVE_CARD_PROGRESSIVE,
    Wager.FIVE_CARD_HAND_BONUS,
    Wager.FIVE_CARD_HAND_BONUS_DEALER,
    Wager.FIVE_OF_SIX_PROGRESSIVE,
)


def settle_round(played: Round, terms: Terms) -> Settlement:
    """Settle a round that ``check_round`` has passed.

    Positions are paid highest first (reading G1); at each, the wagers of 649a.11(c)(5), (7), (8)
    and (9) in turn (reading T13), each followed by the Envy Bonuses that the hand brings others.

    Raises:
        RoundError: cards are missing that ``check_round`` would have asked for.
    """
    turns = _Turns(played, terms)
    for box in turns.boxes:
        turns.progressive(box)
        turns.five_card_progressive(box)
        turns.five_card_hand_bonus(box)
        turns.five_of_six(box)
    return Settlement(tuple(turns.dues), tuple(turns.takes))


def void_lines(positions: Sequence[DealtPosition], rule: str = VOID_RULE) -> tuple[Line, ...]:
    """The lines of a void round: every wager goes back (649a.13, reading T28).

    ``rule`` names the irregularity where it is known, such as 649a.13(d).
    """
    return tuple(
        Line(
            position=box.position,
            item=_ITEM[wager],
            outcome=Outcome.RETURNED,
            wagered=box.wagers[wager],
            paid=0,
            returned=box.wagers[wager],
            rule=rule,
        )
        for box in _paying_order(positions)
        for wager in _VOID_ORDER
        if wager in box.wagers
    )


def _paying_order(positions: Sequence[DealtPosition]) -> list[DealtPosition]:
    return sorted(positions, key=lambda box: box.position, reverse=True)


class _Turns:
    """The turns of one round as they are taken, and the lines and takes that come of them."""

    def __init__(self, played: Round, terms: Terms) -> None:
        self.boxes = _paying_order(played.positions)
        self.dues: list[Due] = []
        self.takes: list[Take] = []
        self._terms = terms
        self._dealer = played.dealer
        self._community = played.community
        self._draw = played.draw
        self._bettors = {
            wager: [box for box in self.boxes if wager in box.wagers] for wager in METER_OF
        }
        self._dealer_take: int | None = None
        self._had_dealer_share: set[str | int] = set()

    def progressive(self, box: DealtPosition) -> None:
        """Settle 649a.11(c)(5), on the player's three cards."""
        self._turn(box, Wager.PROGRESSIVE, Item.PROGRESSIVE_ENVY, three_card_hand)

    def five_card_progressive(self, box: DealtPosition) -> None:
        """Settle 649a.11(c)(7), on the player's three cards and the two community cards."""
        self._turn(
            box,
            Wager.FIVE_CARD_PROGRESSIVE,
            Item.FIVE_CARD_ENVY,
            lambda cards: five_card_hand((*cards, *self._two())),
        )

    def five_of_six(self, box: DealtPosition) -> None:
        """Settle 649a.11(c)(9), on the best five of the player's and the dealer's cards."""
        self._turn(
            box,
            Wager.FIVE_OF_SIX_PROGRESSIVE,
            Item.FIVE_OF_SIX_ENVY,
            lambda cards: best_five_of((*cards, *self._dealer)),
        )

    def five_card_hand_bonus(self, box: DealtPosition) -> None:
        """Settle 649a.11(c)(8): own hand, dealer's hand, Magic Card, Lucky Bonus.

        They survive a fold (649a.11(b)(3)), Magic Card and Lucky Bonus with them (reading T19).
        """
        own = Wager.FIVE_CARD_HAND_BONUS in box.wagers
        dealers = Wager.FIVE_CARD_HAND_BONUS_DEALER in box.wagers
        if not own and not dealers:
            return
        terms = self._terms[MeterKind.FIVE_CARD_HAND_BONUS]
        community = self._two()
        if own:
            row = terms.rows[five_card_hand((*_turned_up(box), *community))]
            self._pay(box, Wager.FIVE_CARD_HAND_BONUS, row)
        if dealers:
            row = terms.rows[five_card_hand((*self._dealer, *community))]
            self._pay_on_dealer(box, row)
        magic, lucky = self._draw.magic_card, self._draw.lucky_position
        if own and magic in (*_turned_up(box), *community):
            self._pay_draw(box, Item.MAGIC_CARD, "player", terms.magic_card_for_1)
        if dealers and magic in (*self._dealer, *community):
            self._pay_draw(box, Item.MAGIC_CARD, "dealer", terms.magic_card_for_1)
        if own and lucky == box.position:
            self._pay_draw(box, Item.LUCKY_BONUS, "player", terms.lucky_bonus_for_1)
        if dealers and lucky == "dealer":
            self._pay_draw(box, Item.LUCKY_BONUS, "dealer", terms.lucky_bonus_for_1)

    def _two(self) -> tuple[Card, Card]:
        if self._community is None:
            raise RoundError("community_missing", "the community cards are missing", "community")
        return self._community

    def _turn(
        self, box: DealtPosition, wager: Wager, envy: Item, hand_of: Callable[[Cards], str]
    ) -> None:
        """Settle a box's wager, then the Envy Bonuses that its hand brings to other players.

        A hand that was folded and collected is nobody's, and brings none; whether its holder made
        the wager does not matter (readings T8, T10). The dealer's hand has no turn (reading T12).
        """
        bettors = self._bettors[wager]
        if not bettors:
            return
        forfeited = box.folded and wager is not Wager.FIVE_OF_SIX_PROGRESSIVE
        row = None
        if box.shows_cards:
            row = self._terms[METER_OF[wager]].rows[hand_of(_turned_up(box))]
        if wager in box.wagers:
            if forfeited or row is None:
                self._collect(box, wager, _FORFEITED_RULE)
            else:
                self._pay(box, wager, row)
        if row is not None and row.envy_cents:
            for other in bettors:
                if other.player != box.player:
                    self._pay_envy(other, wager, envy, row, box.position)

    def _pay(self, box: DealtPosition, wager: Wager, row: Row, take: int | None = None) -> None:
        """Pay a wager as the row of its hand has it, or collect it where the row pays nothing."""
        terms = self._terms[METER_OF[wager]]
        if not row.for_1 and not row.percent:
            self._collect(box, wager, terms.rule, row.hand)
            return
        if row.percent and take is None:
            take = self._take(Take(terms.kind, row.percent))
        line = Line(
            position=box.position,
            item=_ITEM[wager],
            outcome=Outcome.PAID,
            hand=row.hand,
            wagered=box.wagers[wager],
            paid=row.for_1 * box.wagers[wager],
            returned=0,
            paid_from=PaidFrom.HAND_PAY if row.percent else terms.paid_from,
            percent=row.percent or None,
            rule=terms.rule,
        )
        self.dues.append(Due(line, take))

    def _pay_on_dealer(self, box: DealtPosition, row: Row) -> None:
        """Pay a wager on the dealer's hand.

        A percentage is one jackpot, taken when its first player is paid and divided equally among
        the players who wagered on the hand: one share each, at the first of his boxes. His other
        boxes have had their share in that one, and are collected (649a.12(i)(2), reading T17).
        """
        wager = Wager.FIVE_CARD_HAND_BONUS_DEALER
        if not row.percent:
            self._pay(box, wager, row)
        elif box.player in self._had_dealer_share:
            self._collect(box, wager, _DIVIDED_RULE, row.hand)
        else:
            if self._dealer_take is None:
                players = {bettor.player for bettor in self._bettors[wager]}
                self._dealer_take = self._take(
                    Take(MeterKind.FIVE_CARD_HAND_BONUS, row.percent, len(players))
                )
            self._had_dealer_share.add(box.player)
            self._pay(box, wager, row, self._dealer_take)

    def _take(self, take: Take) -> int:
        self.takes.append(take)
        return len(self.takes) - 1

    def _collect(
        self, box: DealtPosition, wager: Wager, rule: str, hand: str | None = None
    ) -> None:
        line = Line(
            position=box.position,
            item=_ITEM[wager],
            outcome=Outcome.COLLECTED,
            hand=hand,
            wagered=box.wagers[wager],
            paid=0,
            returned=0,
            rule=rule,
        )
        self.dues.append(Due(line))

    def _pay_envy(
        self, box: DealtPosition, wager: Wager, envy: Item, row: Row, holder: int
    ) -> None:
        terms = self._terms[METER_OF[wager]]
        line = Line(
            position=box.position,
            item=envy,
            outcome=Outcome.PAID,
            hand=row.hand,
            wagered=box.wagers[wager],
            paid=row.envy_cents,
            returned=0,
            paid_from=terms.paid_from,
            rule=terms.envy_rule,
            envy_of=holder,
        )
        self.dues.append(Due(line))

    def _pay_draw(
        self, box: DealtPosition, item: Item, on: Literal["player", "dealer"], for_1: int
    ) -> None:
        terms = self._terms[MeterKind.FIVE_CARD_HAND_BONUS]
        line = Line(
            position=box.position,
            item=item,
            outcome=Outcome.PAID,
            wagered=terms.wager_cents,
            paid=for_1 * terms.wager_cents,
            returned=0,
            paid_from=terms.paid_from,
            rule=terms.draw_rule,
            on=on,
        )
        self.dues.append(Due(line))


def _turned_up(box: DealtPosition) -> Cards:
    if box.cards is None:
        message = f"the hand of position {box.position} is to be turned up, and has no cards"
        raise RoundError("cards_missing", message)
    return box.cards
