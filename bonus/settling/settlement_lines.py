"""The lines of a settlement, and the percentages of meters that they pay."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Annotated, Final, Literal, Protocol

import msgspec

from bonus.display import percent_text
from bonus.law.paytables import Percent, read_percent
from bonus.wagers import PaidFrom, envy_item, is_jackpot

WrittenPercent = int | Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,2}\.[0-9]{1,2}$")]
"""A percentage in JSON, where no number is a fraction: ``25``, or the text ``"12.5"``."""


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
        item: the name of the wager, or of a bonus paid with it.
        hand: the hand that decided the item; None if no hand was turned up.
        wagered: the amount of the wager on which the item is based.
        paid: the amount won.
        returned: the amount of the wager that is returned.
        percent: the percentage of the meter that is won, as a text such as ``"12.5"`` if it is no
            whole number.
        rule: the subsection that decides the item.
        envy_of: for an Envy Bonus, the position whose hand caused it.
        on: for the Magic Card and the Lucky Bonus, whose hand the wager is on.
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


def percent_won(line: Line) -> Percent:
    """Return the percentage of the meter that a line pays, or 0."""
    return 0 if line.percent is None else read_percent(line.percent)


def encode_line(line: Line) -> bytes:
    return _ENCODER.encode(line)


_ENCODER: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class PercentWon:
    """A percentage, at most 100, that a round wins from a meter's balance when it is subtracted.

    The percentages of a round are subtracted one by one, in paying order. ``shares`` is the number
    of equal shares into which the amount is divided (reading T17).
    """

    meter: str
    percent: Percent
    shares: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 100 or self.shares < 1:
            raise ValueError(f"cannot take {self.percent}% in {self.shares} shares off a meter")


class Due(msgspec.Struct, frozen=True, gc=False):
    """A settlement line whose amount can still depend on the balance of a meter.

    ``take`` is the index of a percentage in ``Settlement.takes``: the final amount is one share of
    it, and until that is known, ``paid`` of the line is 0. If ``take`` is None, the amount is
    final. ``text`` is the line in JSON, if it is kept for other rounds.
    """

    line: Line
    take: int | None = None
    text: bytes | None = None


class Settlement(msgspec.Struct, frozen=True):
    """Lines and percentages in paying order, without the amounts that depend on meter balances."""

    dues: tuple[Due, ...]
    takes: tuple[PercentWon, ...]


class MeterHolding(msgspec.Struct, frozen=True):
    """Balances of a meter, its reserve and its overflow, in micros (ten-thousandths of a cent).

    ``limit_micros`` is the payout limit, 0 for none. What it keeps out waits in the overflow, and
    refills the meter when an award takes it below the limit.
    """

    amount_micros: int
    reserve_micros: int = 0
    overflow_micros: int = 0
    limit_micros: int = 0

    def __post_init__(self) -> None:
        if min(self.amount_micros, self.reserve_micros, self.overflow_micros) < 0:
            raise ValueError("a meter cannot hold less than nothing")


class WaitingWin(Protocol):
    """A win that waits for a floorperson."""

    @property
    def position(self) -> int: ...

    @property
    def item(self) -> str: ...


def cause_of(envy: Line, waiting: Sequence[WaitingWin], lines: Iterable[Line]) -> int | None:
    """Return the index in ``waiting`` of the win on which an Envy Bonus depends, or None.

    The hand that caused the Envy Bonus can also have won. The Envy Bonus depends on its waiting win
    of the wager of the Envy Bonus, or else on its first waiting win, as when its holder did not
    make that wager (reading T10). If no win of the hand waits, no floorperson examines it.

    ``waiting`` are the wins that wait for a floorperson, in paying order, and ``lines`` all lines
    of the round.
    """
    of_hand = [index for index, win in enumerate(waiting) if win.position == envy.envy_of]
    if len(of_hand) > 1:
        items = frozenset(_items_of_wager(envy, lines))
        return next((index for index in of_hand if waiting[index].item in items), of_hand[0])
    return of_hand[0] if of_hand else None


def _items_of_wager(envy: Line, lines: Iterable[Line]) -> Iterator[str]:
    """Yield the items that the hand won with the wager of an Envy Bonus.

    The line of a wager is before the lines of its jackpots.
    """
    own = False
    for line in lines:
        if line.position == envy.envy_of and line.envy_of is None:
            own = own if is_jackpot(line.item) else envy_item(line.item) == envy.item
            if own:
                yield line.item
