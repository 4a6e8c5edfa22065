"""Payouts of one round, position by position, up to the payout limit of each player.

All steps of a position (``wagers_at_odds``, ``progressives_and_envy``) come before the steps of the
next position.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NoReturn, Protocol

import msgspec

from bonus.cards import Card
from bonus.hands.counts import counts_of
from bonus.hands.rankings import Compare, Judge
from bonus.law.chapter_file import DEALERS_ALONE, CardsOf
from bonus.law.meter_terms import MeterTerms
from bonus.rounds import (
    Due,
    Line,
    Outcome,
    PercentWon,
    Round,
    RoundError,
    RoundPosition,
    SettledPosition,
)
from bonus.wagers import PaidFrom


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCards:
    """The cards that decide a wager, and the function that returns their hand.

    ``Turns`` finds a hand by the identity of this object, which only ``judged_cards`` makes.
    """

    judge: Judge
    cards: CardsOf


@cache
def judged_cards(judge: Judge, cards: CardsOf) -> JudgedCards:
    return JudgedCards(judge, cards)


class Decision(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Decision of a rule about a wager, or about a bonus paid with it, for one hand.

    A decision is made once. Each settlement line that uses the decision adds the position and the
    amount of the wager. Decisions are compared by identity.

    Attributes:
        wager: the name of the wager on whose amount the decision is based.
        hand: the name of the hand in the paytable; None if no hand decides.
        stake_back: true if the wager is returned (reading G2).
        sum_cents: a fixed sum that is paid instead of a multiple, or 0.
        limited: true if the aggregate payout limit covers the payout.
    """

    wager: str
    item: str
    outcome: Outcome
    hand: str | None
    rule: str
    times: int = 0
    stake_back: bool = False
    sum_cents: int = 0
    paid_from: PaidFrom | None = None
    limited: bool = False


@cache
def collected(wager: str, rule: str, hand: str | None = None) -> Decision:
    return Decision(wager=wager, item=wager, outcome=Outcome.COLLECTED, hand=hand, rule=rule)


@cache
def returned(wager: str, rule: str, hand: str | None = None) -> Decision:
    return Decision(
        wager=wager, item=wager, outcome=Outcome.RETURNED, hand=hand, rule=rule, stake_back=True
    )


@dataclass(frozen=True, slots=True)
class PayoutLimit:
    """The highest sum of one player's limited payouts in one round (reading G6)."""

    rule: str
    limit_cents: int


Fact = Callable[["Turns", RoundPosition], Hashable]
"""Function that returns a fact of a round, such as which of two hands is higher."""


class SettlingStep(Protocol):
    """A step of settlement: one kind of wager, which the dealer settles at each position."""

    def concerns(self, made: frozenset[str]) -> bool:
        """Return whether the step can add a line to a round with the wagers ``made``."""

    def decided_by(self, box: RoundPosition, *, shown: bool) -> JudgedCards | Fact | None:
        """Return what decides the lines of a position: a hand, a fact, or neither.

        ``box`` is the position without its cards; ``shown`` is true if the position's hand is
        turned up. For the same wagers, hand and fact, ``settle`` must always add the same lines, or
        else set ``Turns.repeats`` to false.
        """

    def settle(self, turns: "Turns", box: RoundPosition) -> None:
        pass

    def __hash__(self) -> int: ...


def paying_order(positions: Sequence[RoundPosition]) -> list[RoundPosition]:
    """Return positions in paying order: the highest first, from the dealer's right (reading G1)."""
    return sorted(positions, key=lambda box: box.position, reverse=True)


_Pile = tuple[tuple[Card, ...], int]
"""Cards that decide wagers, with their counts (``counts_of``)."""


class Turns:
    """State of a round while it is settled.

    ``made`` are all wagers of the round, and ``takes`` the percentages that it wins from meters.
    ``box`` is the position whose turn it is, with the lines ``dues``; ``hands`` are the hands whose
    names are known in this turn. ``repeats`` is false if the lines must not be used for other
    rounds: they depend on other positions, on the payout limit or on a meter. ``limited_cents`` is
    the sum of the payouts in these lines that the payout limit covers. ``divided_takes`` has, by
    the meter, a jackpot on the dealer's hand, once it is won (reading T17): the positions that get
    a share, with the amounts of their wagers, and the indexes in ``takes`` by this amount.

    If ``check_cards`` did not check the round and cards are missing, a method that needs them
    raises RoundError.
    """

    __slots__ = (
        *("box", "divided_takes", "dues", "hands", "limited_cents", "made", "played"),
        *("repeats", "takes", "terms", "_boxes", "_dealer_hands", "_dealer_strength"),
        *("_limit", "_limited_cents", "_piles", "_shared_piles", "_survivors"),
    )

    def __init__(
        self,
        played: Round,
        survivors: frozenset[str],
        terms: Mapping[str, MeterTerms],
        limit: PayoutLimit | None = None,
    ) -> None:
        self.played: Final = played
        self.terms: Final = terms
        self.dues: list[Due] = []
        self.takes: Final[list[PercentWon]] = []
        self.repeats = True
        self.limited_cents = 0
        self.divided_takes: Final[dict[str, tuple[dict[int, int], dict[int, int]]]] = {}
        self._boxes = paying_order(played.positions)
        self.made: Final = frozenset().union(*[box.wagers for box in self._boxes])
        self._survivors = survivors
        self._limit = limit
        self._limited_cents: dict[str | int, int] = {}
        self.hands: dict[JudgedCards, str] = {}
        self._dealer_hands: dict[JudgedCards, str] = {}
        self._dealer_strength: int | None = None
        self._piles: dict[CardsOf, _Pile] = {}
        self._shared_piles: dict[CardsOf, _Pile] = {}

    def boxes(self) -> Iterator[RoundPosition]:
        for box in self._boxes:
            self.box = box
            self.hands = self._dealer_hands.copy()
            own = box.cards
            self._piles = {} if own is None else {"hand": (own, counts_of(own))}
            yield box

    @property
    def shown(self) -> bool:
        """True if the hand of the position is turned up (reading T8)."""
        return self.box.shows_cards(self._survivors)

    def bettors(self, wager: str) -> list[RoundPosition]:
        return [box for box in self._boxes if wager in box.wagers]

    def hand(self, judged: JudgedCards) -> str:
        """Return the name, in its ranking, of the hand that decides a wager at the position."""
        return self.hands.get(judged) or self.name_hand(judged)

    def name_hand(self, judged: JudgedCards) -> str:
        cards, counts = self._piles.get(judged.cards) or self._joined(judged.cards)
        hand = self.hands[judged] = judged.judge(cards, counts)
        if judged.cards in DEALERS_ALONE:
            self._dealer_hands[judged] = hand
        return hand

    def cards(self, cards: CardsOf) -> tuple[Card, ...]:
        return (self._piles.get(cards) or self._joined(cards))[0]

    def compared(self, judged: JudgedCards, compare: Compare) -> tuple[str, int, int]:
        """Return the name and the strength of the position's hand, and the dealer's strength.

        ``compare`` must give the hand the same name as ``judged.judge``. A chapter has only one
        ``compare``.
        """
        cards, counts = self._piles.get(judged.cards) or self._joined(judged.cards)
        hand, strength = compare(cards, counts)
        self.hands[judged] = hand
        if self._dealer_strength is None:
            if self.played.dealer is None:
                self._refuse("hand_and_dealer")
            self._dealer_strength = compare(self.played.dealer)[1]
        return hand, strength, self._dealer_strength

    def _joined(self, of: CardsOf) -> _Pile:
        if of in DEALERS_ALONE:
            return self._shared(of)
        hand, counts = self._piles.get("hand") or self._refuse(of)
        shared, shared_counts = self._shared(of)
        pile = self._piles[of] = hand + shared, counts + shared_counts
        return pile

    def _shared(self, of: CardsOf) -> _Pile:
        pile = self._shared_piles.get(of)
        if pile is None:
            cards = self._shared_cards(of) or self._refuse(of)
            pile = self._shared_piles[of] = cards, counts_of(cards)
        return pile

    def _shared_cards(self, of: CardsOf) -> tuple[Card, ...] | None:
        # The community cards are last: a wager can be on the first of them.
        played = self.played
        match of:
            case "dealer" | "hand_and_dealer":
                return played.dealer
            case "hand_and_community":
                return played.community
            case "hand_and_all_six":
                return None if played.all_six_card is None else (played.all_six_card,)
            case _:
                if played.dealer is None or played.community is None:
                    return None
                return played.dealer + played.community

    def _refuse(self, cards: CardsOf) -> NoReturn:
        if cards not in DEALERS_ALONE and self.box.cards is None:
            at = self.box.position
            message = f"the hand of position {at} must be turned up, but has no cards"
            raise RoundError("cards_missing", message)
        if cards == "hand_and_all_six":
            raise RoundError("cards_missing", "the All-Six Bonus card is missing", "all_six_card")
        if self.played.dealer is None and cards != "hand_and_community":
            raise RoundError("cards_missing", "the dealer's hand is missing", "dealer")
        raise RoundError("community_missing", "the community cards are missing", "community")

    def fourth_card(self) -> Card:
        """Return the fourth card for all Pair Bonuses, or else the position's own (reading P5)."""
        card = self.played.pair_bonus_community_card
        if card is None:
            card = self.box.fourth_card
        if card is None:
            raise RoundError("cards_missing", f"position {self.box.position} has no fourth card")
        return card

    def may_repeat(self, settled: SettledPosition) -> bool:
        """Return whether lines of another round are within the player's payout limit here too.

        If so, count their payouts towards the limit.
        """
        if self._limit is None:
            return True
        player = self.box.player
        limited_cents = self._limited_cents.get(player, 0) + settled.limited_cents
        if limited_cents > self._limit.limit_cents:
            return False
        self._limited_cents[player] = limited_cents
        return True

    def settle(self, decision: Decision) -> None:
        """Add the line of a decision; pay no more than the rest of the player's payout limit."""
        box = self.box
        due = _due(decision, box.position, box.wagers[decision.wager])
        if decision.limited and self._limit is not None:
            due = self._limited(due, box.player, self._limit)
        self.dues.append(due)

    def collect(self, wager: str, rule: str, hand: str | None = None) -> None:
        self.settle(collected(wager, rule, hand))

    def give_back(self, wager: str, rule: str) -> None:
        self.settle(returned(wager, rule))

    def _limited(self, due: Due, player: str | int, limit: PayoutLimit) -> Due:
        self.limited_cents += due.line.paid
        left_cents = limit.limit_cents - self._limited_cents.get(player, 0)
        if due.line.paid > left_cents:
            self.repeats = False
            source = due.line.paid_from if left_cents else None
            limited = {"paid": left_cents, "paid_from": source, "rule": limit.rule}
            due = Due(msgspec.structs.replace(due.line, **limited))
        self._limited_cents[player] = limit.limit_cents - left_cents + due.line.paid
        return due


def decided(decision: Decision, position: int, wagered_cents: int) -> Line:
    """Return the settlement line of a decision, without the payout limit."""
    paid_cents = decision.sum_cents or decision.times * wagered_cents
    return Line(
        position=position,
        item=decision.item,
        outcome=decision.outcome,
        hand=decision.hand,
        wagered=wagered_cents,
        paid=paid_cents,
        returned=wagered_cents if decision.stake_back else 0,
        paid_from=decision.paid_from if paid_cents else None,
        rule=decision.rule,
    )


# Players often repeat their wagers, so the same lines occur again.
@lru_cache(maxsize=4_096)
def _due(decision: Decision, position: int, wagered_cents: int) -> Due:
    return Due(decided(decision, position, wagered_cents))
