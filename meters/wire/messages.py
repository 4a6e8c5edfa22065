"""The messages of the public contract, one frozen type each; an unknown field is refused.

Cards travel as their two characters, money as integer cents. Every decoder is strict: a number in
quotes, a boolean for a number or a field that the contract does not know is an error.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.settling.settlement_lines import Line

ROUND_LENGTH_MAX: Final = 64
EVENT_BYTES_MAX: Final = 16_384
"""A longer event is refused unread: no round of seven positions comes near it."""

CardName = str
"""A card by its two characters; the rules say whether it is one."""
KnownCard = Annotated[str, msgspec.Meta(pattern="^[2-9TJQKA][cdhs]$")]
"""The same where no rule looks at it."""
Seq = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
PositionNumber = Annotated[int, msgspec.Meta(ge=1, le=99)]
RoundId = Annotated[str, msgspec.Meta(min_length=1, max_length=ROUND_LENGTH_MAX)]
Patron = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Instant = str
"""A moment as we write it: RFC 3339 in UTC, such as ``2026-11-20T02:14:07.250Z``."""

Told = Annotated[datetime, msgspec.Meta(tz=True)]
"""A moment as a table tells it: RFC 3339 with its offset."""


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all messages share."""


class WageredPosition(_Message, frozen=True, kw_only=True):
    """What the wagering device of one position had accepted at lock-out, in cents by wager."""

    position: PositionNumber
    patron: Patron | None = None
    wagers: Annotated[dict[str, Cents], msgspec.Meta(min_length=1, max_length=16)]


class DealtPosition(_Message, frozen=True, kw_only=True):
    """A hand dealt to a position; the cards are left out for a folded hand that was collected."""

    position: PositionNumber
    patron: Patron | None = None
    cards: Annotated[list[CardName], msgspec.Meta(max_length=8)] | None = None
    folded: bool = False


class Wagers(_Message, frozen=True, kw_only=True, tag="wagers"):
    """The wagers that feed a meter, sent once betting is locked, before a card is dealt."""

    seq: Seq
    at: Told
    round: RoundId
    positions: Annotated[list[WageredPosition], msgspec.Meta(min_length=1, max_length=99)]


class EnteredCards(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Cards that were entered at a table and are not in the result of their round.

    Attributes:
        what: whose they are.
        position: the position of a hand.
        cards: the cards.
        taken_back: whether they were taken back before the round was settled or void.
        reason: why they were, where somebody said so.
    """

    what: Literal["hand", "dealer", "community"]
    position: PositionNumber | None = None
    cards: Annotated[list[KnownCard], msgspec.Meta(min_length=1, max_length=8)]
    taken_back: bool = False
    reason: Reason | None = None


_Entered = Annotated[list[EnteredCards], msgspec.Meta(max_length=128)]


class Result(_Message, frozen=True, kw_only=True, tag="result", omit_defaults=True):
    """Every position that was dealt a hand, the dealer's hand and the community cards.

    `entered_before`, an extension of the contract, are cards that were taken back and entered
    differently; it is left out where there are none. `confirm`, another extension, asks that
    such a result is applied only once a floorperson has confirmed it.
    """

    seq: Seq
    at: Told
    round: RoundId
    positions: Annotated[list[DealtPosition], msgspec.Meta(min_length=1, max_length=99)]
    dealer: Annotated[list[CardName], msgspec.Meta(max_length=8)]
    community: Annotated[list[CardName], msgspec.Meta(max_length=8)] | None = None
    entered_before: _Entered | UnsetType = UNSET
    confirm: bool = False


class Void(_Message, frozen=True, kw_only=True, tag="void", omit_defaults=True):
    """A round that is void before it has a result (649a.13): all wagers go back.

    `entered`, an extension of the contract, are the cards that had been entered by then; it is left
    out where there were none. `confirm`, another extension, asks that a void with such cards is
    applied only once a floorperson has confirmed it.
    """

    seq: Seq
    at: Told
    round: RoundId
    reason: Reason
    entered: _Entered | UnsetType = UNSET
    confirm: bool = False


class Withdrawal(_Message, frozen=True, kw_only=True, tag="withdrawal"):
    """The table no longer asks a floorperson to confirm a correction; an extension."""

    seq: Seq
    at: Told
    round: RoundId


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """What an agent says first: the service answers where the table stands."""

    at: Told | None = None


TableEvent = Wagers | Result | Void | Withdrawal | Hello
MoneyEvent = Wagers | Result | Void | Withdrawal
"""What a table numbers and repeats until it is answered."""


class DrawMade(_Message, frozen=True, kw_only=True):
    """What the table game system drew for a round (649a.12(i)(3)); null where nothing was."""

    magic_card: CardName | None
    lucky_position: int | Literal["dealer"] | None


class ErrorDetail(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Why something was refused: a code for programs, a plain message, the field if one is."""

    code: str
    message: str
    field: str | None = None


class ClaimOpened(_Message, frozen=True, kw_only=True):
    """A progressive win that waits for a floorperson; amount in cents."""

    claim: str
    position: int
    item: str
    amount: int


class WagersAccepted(_Message, frozen=True, kw_only=True, tag_field="status", tag="accepted"):
    """The reply to wagers that were counted."""

    seq: int
    draw: DrawMade | None


class Reply(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Any reply to an event, as the table side reads it.

    `status` is ``accepted``, ``refused`` or ``out_of_order``; `seq` is null only where the event
    could not be read far enough to know it.
    """

    seq: int | None
    status: Literal["accepted", "refused", "out_of_order"]
    draw: DrawMade | None = None
    lines: tuple[Line, ...] | None = None
    claims: tuple[ClaimOpened, ...] | None = None
    error: ErrorDetail | None = None
    expected: int | None = None


class HelloReply(_Message, frozen=True, kw_only=True, tag_field="type", tag="hello"):
    """Where the table stands: the last `seq` that was used up, and the round that is open."""

    last_seq: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 2)]
    open_round: str | None


class LedgerSeal(_Message, frozen=True, kw_only=True):
    """A digest over all ledger entries of a link up to one, at which all was found to hold."""

    entries: int
    seal: str
    at: str


class TableStatus(_Message, frozen=True, kw_only=True):
    """A table's retained state."""

    online: bool
    state: str
    at: Instant


class MeterValue(_Message, frozen=True, kw_only=True):
    """A meter's current value; amount in cents. `version` only rises."""

    meter: str
    amount: int
    version: int
    cycle: int
    state: Literal["open", "pending", "closed", "inoperable"]
    at: Instant


class ControllerBeat(_Message, frozen=True, kw_only=True):
    """The controller's state, every second; `reason` is empty while it is operable."""

    state: Literal["operable", "inoperable", "closed"]
    reason: str
    beat: int
    at: Instant


class Jackpot(_Message, frozen=True, kw_only=True):
    """A hit, and what became of it; amounts in cents."""

    event: Literal["hit", "validated", "rejected", "paid"]
    claim: str
    meter: str
    table: str
    position: int
    item: str
    hand: str
    amount: int
    meter_after: int
    at: Instant


TABLE_EVENT: Final = msgspec.json.Decoder(TableEvent)
REPLY: Final = msgspec.json.Decoder(Reply)
HELLO_REPLY: Final = msgspec.json.Decoder(HelloReply)
METER_VALUE: Final = msgspec.json.Decoder(MeterValue)
CONTROLLER_BEAT: Final = msgspec.json.Decoder(ControllerBeat)
JACKPOT: Final = msgspec.json.Decoder(Jackpot)
TABLE_STATUS: Final = msgspec.json.Decoder(TableStatus)


UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises at bytes that are not the message they should be."""


class _Sequenced(msgspec.Struct, frozen=True):
    """Just enough of a bad event to answer it by its number."""

    seq: Seq


_SEQUENCED: Final = msgspec.json.Decoder(_Sequenced)


def seq_of(payload: bytes) -> int | None:
    """The `seq` of an event that is otherwise unreadable, or None where it has none."""
    if len(payload) > 4 * EVENT_BYTES_MAX:
        return None
    try:
        return _SEQUENCED.decode(payload).seq
    except UNREADABLE:
        return None
