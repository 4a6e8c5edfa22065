"""A round and its settlement: positions, cards and draws, then the lines that pay them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Final, Literal, Protocol, Self

import msgspec

from bonus.cards import CARDS, Card, Deck
from bonus.display import percent_text
from bonus.wagers import (
    PaidFrom,
    Percent,
    envy_item,
    is_bad_beat,
    is_community_share,
    is_jackpot,
    is_on_dealer,
    read_percent,
)

LuckyPosition = int | Literal["dealer"]


class RoundError(ValueError):
    """Error of a round whose wagers or cards are not possible.

    ``code`` is in snake case. ``field`` is a place such as ``positions[2].cards``; None if the
    error is in no single field. ``all`` has every known error of the round, this error first.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.all: tuple[RoundError, ...] = (self,)


def refuse(errors: Sequence[RoundError]) -> None:
    """Raise the first error of a round, if there is one; its ``all`` has every error."""
    if errors:
        errors[0].all = tuple(errors)
        raise errors[0]


class Draw(msgspec.Struct, frozen=True):
    """The drawn Magic Card, and the drawn position of the Lucky Bonus (649a.1)."""

    magic_card: Card | None = None
    lucky_position: LuckyPosition | None = None


class KeptWagers(dict[str, int]):
    """Amounts of a position's wagers, in cents, as a key of caches.

    Objects are compared by identity: a comparison of the contents would take longer. Many rounds
    share one object, so it must not be changed.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has no hash


def kept_wagers(wagers: Mapping[str, int]) -> KeptWagers:
    """Return these wagers as an object that the cache shares between rounds."""
    return wagers if isinstance(wagers, KeptWagers) else _kept(tuple(wagers.items()))


@lru_cache(maxsize=8_192)
def _kept(placed: tuple[tuple[str, int], ...]) -> KeptWagers:
    return KeptWagers(placed)


class RoundPosition(msgspec.Struct, frozen=True):
    """A betting position that was dealt a hand.

    Attributes:
        position: the number, from 1 (farthest to the dealer's left).
        patron: if it is None, the position counts as a separate player.
        cards: None if the hand was folded and collected, if the dealer declared that it wins
            nothing, or if the round is void.
        folded: true if the player folded instead of making the wager after the Ante.
        wagers: the amount of each wager, in cents.
        kept: true if the cards stayed on the table after a fold because of a wager that is not in
            ``wagers``, such as a Six Card Bonus.
        fourth_card: the additional card for a Pair Bonus (679a.8(c)).
        no_win: true if the dealer declared that the hand wins nothing, without its cards.
    """

    position: int
    patron: str | None
    cards: tuple[Card, ...] | None
    folded: bool
    wagers: Mapping[str, int]
    kept: bool = False
    fourth_card: Card | None = None
    no_win: bool = False

    @property
    def player(self) -> str | int:
        """The patron, who can be one player at several positions (reading T9), or the position."""
        return self.position if self.patron is None else self.patron

    def shows_cards(self, survivors: frozenset[str]) -> bool:
        """Return whether the hand stays on the table and is turned up (649a.11(c), reading T8).

        ``survivors`` are the wagers that a fold does not forfeit.
        """
        if self.no_win:
            return False
        return not self.folded or self.kept or not survivors.isdisjoint(self.wagers)


class Round(msgspec.Struct, frozen=True):
    """A round after the deal, ready to be settled.

    Attributes:
        dealer: None if no wager depends on the dealer's hand.
        community: the community cards (649a.8(d)), if they were dealt.
        pair_bonus_community_card: the one card for every Pair Bonus (679a.8(h)).
        all_six_card: the All-Six Bonus card (682a.8(c)).
        dealer_exposed: true if a dealer's card was exposed, so that only some wagers are settled.
    """

    positions: tuple[RoundPosition, ...]
    dealer: tuple[Card, ...] | None
    community: tuple[Card, ...] | None = None
    draw: Draw = Draw()
    pair_bonus_community_card: Card | None = None
    all_six_card: Card | None = None
    dealer_exposed: bool = False


def read_cards(
    names: Sequence[str], count: int, field: str, rule: str = "", deck: Deck = CARDS
) -> tuple[Card, ...]:
    """Return the cards with these names; the subsection ``rule`` requires ``count`` cards.

    Raises:
        RoundError: ``wrong_cards`` if the number of names is wrong, ``bad_card`` if a name is not a
            card.
    """
    if len(names) != count:
        by = f" ({rule})" if rule else ""
        message = f"{len(names)} cards are given, but {count} are dealt{by}"
        raise RoundError("wrong_cards", message, field)
    try:
        return deck.parse(names)
    except ValueError as error:
        raise RoundError("bad_card", str(error), field) from None


def one_card(name: str, field: str) -> Card:
    """Return the card with a name; an unknown name is a RoundError ``bad_card``."""
    (card,) = read_cards([name], 1, field)
    return card


WrittenPercent = int | Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,2}\.[0-9]{1,2}$")]
"""A percentage in JSON: a whole number such as ``25``, or a text such as ``"12.5"``."""


def written_percent(percent: Percent) -> int | str:
    """Return a percentage as it is written in JSON.

    >>> written_percent(25), written_percent(read_percent("12.50"))
    (25, '12.5')
    """
    return percent if isinstance(percent, int) else percent_text(percent)


class Outcome(StrEnum):
    """Result of a wager: the wager is paid, returned or collected."""

    PAID = auto()
    RETURNED = auto()
    COLLECTED = auto()


class Line(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,  # no field can be part of a reference cycle
):
    """One line of a settlement, in the format of the public contract; sums are in cents.

    Attributes:
        position: the position of the wager.
        item: the name of the wager, or of a bonus paid with it. The name of an Envy Bonus ends with
            ``_envy``. In a line that pays only a percentage of a meter, beside the wager's own
            line, the name ends with ``_jackpot``.
        outcome: what happens to the wager.
        hand: the hand that decided the item; left out if no hand decided it.
        wagered: the amount of the wager on which the item is based.
        paid: the amount won.
        returned: the amount of the wager that is returned.
        paid_from: left out if nothing is won.
        percent: the percentage of the meter that is won, as a text such as ``"12.5"`` if it is no
            whole number.
        rule: the subsection that decides the item.
        envy_of: for an Envy Bonus, the position whose hand caused it.
        on: for the Magic Card and the Lucky Bonus, whose hand the wager is on. ``dealer`` is also
            for a wager that feeds a meter and is on the dealer's cards, or on the table's result.
        hand_of: for a share of a meter, the position whose hand brings it. The name of a community
            share ends with ``_community_share``; of an Envy Bonus that is a percentage, with
            ``_envy_share``. At a bad beat, the names end with ``_bad_beat_loser``,
            ``_bad_beat_winner`` and ``_bad_beat_table``; the table's share is for the beaten hand.
    """

    position: int
    item: str
    outcome: Outcome
    hand: str | None = None
    wagered: int
    paid: int
    returned: int
    paid_from: PaidFrom | None = None
    percent: WrittenPercent | None = None
    rule: str
    envy_of: int | None = None
    on: Literal["player", "dealer"] | None = None
    hand_of: int | None = None

    @property
    def holder(self) -> int:
        """The position whose hand decides the item."""
        return self.envy_of or self.hand_of or self.position

    @property
    def balance_of(self) -> str:
        """A name for the balance of which a percentage is: what has one name is of one balance.

        It is that of a hand, by its position, of the dealer's hand, or of a bad beat, which comes
        after the wins of its hands.
        """
        if is_bad_beat(self.item):
            return "bad beat"
        return "dealer" if is_divided(self) and self.hand_of is None else f"{self.holder}"

    @property
    def can_continue(self) -> bool:
        """True if the line's percentage can be of the balance of an earlier one (PercentWon)."""
        return self.hand_of is not None or is_divided(self)


def percent_won(line: Line) -> Percent:
    """Return the percentage of the meter that a line pays, or 0."""
    return 0 if line.percent is None else read_percent(line.percent)


def is_divided(line: Line) -> bool:
    """Return whether players can divide what the line pays of a meter (reading T17)."""
    item = line.item
    shared = is_community_share(item) or is_bad_beat(item)
    return shared or is_on_dealer(item) or line.on == "dealer"


def encode_line(line: Line) -> bytes:
    return _ENCODER.encode(line)


_ENCODER: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class PercentWon:
    """A percentage of a meter that a round wins.

    The percentages of a round are subtracted one by one, in paying order, each from the balance
    that the earlier percentages have left. Each is divided into equal ``shares`` (reading T17).

    Attributes:
        payees: how many of the shares are paid; 0 for all. If players with different amounts divide
            a percentage, there is one for each amount. It is paid to the players with this amount,
            and the other shares stay on the meter.
        before: what the same hand, or the same bad beat, has won of the meter before, in percent.
            All percentages of a hand, or of a bad beat, are of the same balance.
        link_wager: the wager whose players at the other tables of the link get shares too; empty if
            only players at this table do. ``shares`` are only those of this table.
    """

    meter: str
    percent: Percent
    shares: int = 1
    before: Percent = 0
    payees: int = 0
    link_wager: str = ""

    @property
    def paid(self) -> int:
        """The number of shares that are paid."""
        return self.payees or self.shares

    @property
    def after(self) -> Percent:
        """What the hand has won of the meter with this percentage, in percent."""
        return self.before + Fraction(self.percent) * self.paid / self.shares

    @property
    def continues(self) -> bool:
        """True if the percentage is of the balance before the hand's first percentage."""
        return self.before > 0

    @property
    def reseeds(self) -> bool:
        """True if the meter begins its next cycle after the percentage."""
        return self.after == 100

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 100 or not 1 <= self.paid <= self.shares:
            raise ValueError(f"cannot take {self.percent}% in {self.shares} shares off a meter")


class Due(msgspec.Struct, frozen=True, gc=False):
    """A settlement line whose amount can still depend on the balance of a meter.

    ``take`` is None if the amount is final. Otherwise, it is the index of a percentage in
    ``Settlement.takes``: the final amount is one share of this percentage, and ``line.paid`` is 0.
    """

    line: Line
    take: int | None = None

    @property
    def wins(self) -> bool:
        return self.take is not None or self.line.paid > 0


class SettledPosition(msgspec.Struct, frozen=True, gc=False):
    """The lines of a position's turn, or of a bad beat. Rounds with equal lines share the object.

    Attributes:
        text: the lines in JSON, with commas between them.
        wins: the lines that pay something.
        limited_cents: the sum of the payouts that a payout limit covers, if the table has one.
    """

    dues: tuple[Due, ...]
    text: bytes
    wins: tuple[Due, ...]
    limited_cents: int = 0

    @classmethod
    def of(cls, dues: Iterable[Due], limited_cents: int = 0) -> Self:
        every = tuple(dues)
        text = b",".join([encode_line(due.line) for due in every])
        return cls(every, text, tuple(due for due in every if due.wins), limited_cents)


class Settlement(msgspec.Struct, frozen=True):
    """Lines and percentages in paying order, without the amounts that depend on balances.

    A position without lines is left out.
    """

    positions: tuple[SettledPosition, ...]
    takes: tuple[PercentWon, ...] = ()

    @property
    def dues(self) -> tuple[Due, ...]:
        return tuple([due for each in self.positions for due in each.dues])


class MeterAfter(msgspec.Struct, frozen=True, omit_defaults=True):
    """The balances of a meter after a round, in cents. A balance that the meter lacks is left out.

    Attributes:
        amount: the money in the meter.
        reserve: the money in its reserve.
        overflow: the money above its payout limit.
    """

    amount: int
    reserve: int | None = None
    overflow: int | None = None


class SettlementText(msgspec.Struct, frozen=True):
    """The settlement of a round.

    Attributes:
        lines: a line for each wager, and for each bonus that is paid, in paying order.
        meters: the balances of each meter after the round.
    """

    lines: tuple[Line, ...]
    meters: dict[str, MeterAfter]


class MeterHolding(msgspec.Struct, frozen=True):
    """Balances of a meter, its reserve and its overflow, in micros.

    ``limit_micros`` is the payout limit; 0 if the meter has none. The money above the limit waits
    in the overflow, and refills the meter when a win takes the meter below the limit.
    """

    amount_micros: int
    reserve_micros: int = 0
    overflow_micros: int = 0
    limit_micros: int = 0

    def __post_init__(self) -> None:
        if min(self.amount_micros, self.reserve_micros, self.overflow_micros) < 0:
            raise ValueError("a meter cannot hold less than nothing")


class WaitingWin(Protocol):
    @property
    def position(self) -> int: ...

    @property
    def item(self) -> str: ...

    @property
    def hand_of(self) -> int | None: ...


def cause_of(envy: Line, waiting: Sequence[WaitingWin], lines: Iterable[Line]) -> int | None:
    """Return the index in ``waiting`` of the win on which an Envy Bonus depends, or None.

    The bonus depends on a waiting win of the hand that caused it: on the win of the bonus's own
    wager, or else on the first (reading T10). If no win of the hand waits, no floorperson examines
    the hand. ``waiting`` is in paying order; ``lines`` are all lines of the round.
    """
    of_hand = [
        index
        for index, win in enumerate(waiting)
        if win.position == envy.envy_of and win.hand_of is None and not is_bad_beat(win.item)
    ]
    if len(of_hand) > 1:
        items = frozenset(_items_of_wager(envy, lines))
        return next((index for index in of_hand if waiting[index].item in items), of_hand[0])
    return of_hand[0] if of_hand else None


def _items_of_wager(envy: Line, lines: Iterable[Line]) -> Iterator[str]:
    # The line of a wager is before the lines of its jackpots.
    own = False
    for line in lines:
        if line.position == envy.envy_of and line.envy_of is None and line.hand_of is None:
            own = own if is_jackpot(line.item) else envy_item(line.item) == envy.item
            if own:
                yield line.item
