"""Messages of the public contract, one frozen type each; an unknown field is refused.

Cards are sent as two characters, money as integer cents. Every decoder is strict: a number in
quotes, a boolean instead of a number, or a field that the contract does not have is an error.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.settling.settlement_lines import Line

ROUND_LENGTH_MAX: Final = 64
EVENT_BYTES_MAX: Final = 16_384
"""Largest event in bytes. A longer one is refused without decoding; a round of seven positions is
far smaller."""

CardName = str
"""A card as two characters; the rules check if it is one."""
KnownCard = Annotated[str, msgspec.Meta(pattern="^[2-9TJQKA][cdhs]$")]
"""A card as two characters, checked here because no rule checks it."""
Seq = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
PositionNumber = Annotated[int, msgspec.Meta(ge=1, le=99)]
RoundId = Annotated[str, msgspec.Meta(min_length=1, max_length=ROUND_LENGTH_MAX)]
Patron = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Instant = str
"""A time as pitlink writes it: RFC 3339 in UTC, such as ``2026-11-20T02:14:07.250Z``."""

Told = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time as a table sends it: RFC 3339 with its offset."""


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings common to all messages."""


class WageredPosition(_Message, frozen=True, kw_only=True):
    """The wagers that a position's wagering device had accepted at lock-out, in cents by wager."""

    position: PositionNumber
    patron: Patron | None = None
    wagers: Annotated[dict[str, Cents], msgspec.Meta(min_length=1, max_length=16)]


class DealtPosition(_Message, frozen=True, kw_only=True):
    """A hand dealt to a position; `cards` is missing for a folded hand that was collected."""

    position: PositionNumber
    patron: Patron | None = None
    cards: Annotated[list[CardName], msgspec.Meta(max_length=8)] | None = None
    folded: bool = False


class Wagers(_Message, frozen=True, kw_only=True, tag="wagers"):
    """The wagers that feed a meter, sent after lock-out and before the first card is dealt."""

    seq: Seq
    at: Told
    round: RoundId
    positions: Annotated[list[WageredPosition], msgspec.Meta(min_length=1, max_length=99)]


class EnteredCards(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Cards that were entered at a table and are not in the result of their round.

    Attributes:
        what: the kind of cards: a hand, the dealer's, or community cards.
        position: the position of a hand.
        cards: the cards.
        taken_back: whether they were taken back before the round was settled or void.
        reason: the reason for it, if somebody entered one.
    """

    what: Literal["hand", "dealer", "community"]
    position: PositionNumber | None = None
    cards: Annotated[list[KnownCard], msgspec.Meta(min_length=1, max_length=8)]
    taken_back: bool = False
    reason: Reason | None = None


_Entered = Annotated[list[EnteredCards], msgspec.Meta(max_length=128)]


class Result(_Message, frozen=True, kw_only=True, tag="result", omit_defaults=True):
    """Every position that was dealt a hand, the dealer's hand and the community cards.

    `entered_before`, an extension of the contract, has cards that were taken back and entered
    differently; it is left out if there are none. `confirm`, another extension, requests that the
    service applies such a result only after a floorperson has confirmed it.
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
    """A round that is void before it has a result (649a.13): all wagers are returned.

    `entered`, an extension of the contract, has the cards that had been entered by then; it is left
    out if there were none. `confirm`, another extension, requests that the service applies a void
    with such cards only after a floorperson has confirmed it.
    """

    seq: Seq
    at: Told
    round: RoundId
    reason: Reason
    entered: _Entered | UnsetType = UNSET
    confirm: bool = False


class Withdrawal(_Message, frozen=True, kw_only=True, tag="withdrawal"):
    """The withdrawal of a table's correction request; an extension of the contract."""

    seq: Seq
    at: Told
    round: RoundId


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """An agent's first message; the service replies with the state of the table."""

    at: Told | None = None


TableEvent = Wagers | Result | Void | Withdrawal | Hello
MoneyEvent = Wagers | Result | Void | Withdrawal
"""The events that a table numbers and repeats until it has a reply."""


class DrawMade(_Message, frozen=True, kw_only=True):
    """The draw of the table game system for a round (649a.12(i)(3)); null if nothing was drawn."""

    magic_card: CardName | None
    lucky_position: int | Literal["dealer"] | None


class ErrorDetail(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Reason for a refusal: a code for programs, a plain message, and the wrong field, if any."""

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
    """Any reply to an event, as agents read it.

    `status` is ``accepted``, ``refused`` or ``out_of_order``. `seq` is null only if so little of
    the event could be read that its number is unknown.
    """

    seq: int | None
    status: Literal["accepted", "refused", "out_of_order"]
    draw: DrawMade | None = None
    lines: tuple[Line, ...] | None = None
    claims: tuple[ClaimOpened, ...] | None = None
    error: ErrorDetail | None = None
    expected: int | None = None


class HelloReply(_Message, frozen=True, kw_only=True, tag_field="type", tag="hello"):
    """The state of a table: the last `seq` that was used, and the open round."""

    last_seq: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 2)]
    open_round: str | None


class LedgerSeal(_Message, frozen=True, kw_only=True):
    """A digest of a link's ledger entries up to one, at which an audit found no error."""

    entries: int
    seal: str
    at: str


class TableStatus(_Message, frozen=True, kw_only=True):
    """A table's retained state."""

    online: bool
    state: str
    at: Instant


class MeterValue(_Message, frozen=True, kw_only=True):
    """A meter's current value; amount in cents. `version` only increases."""

    meter: str
    amount: int
    version: int
    cycle: int
    state: Literal["open", "pending", "closed", "inoperable"]
    at: Instant


class ControllerBeat(_Message, frozen=True, kw_only=True):
    """The controller's state, sent every second; `reason` is empty while it is operable."""

    state: Literal["operable", "inoperable", "closed"]
    reason: str
    beat: int
    at: Instant


class Jackpot(_Message, frozen=True, kw_only=True):
    """A win and each later decision about it; amounts in cents."""

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
"""The errors that a decoder raises for bytes that are not a valid message."""


class _Sequenced(msgspec.Struct, frozen=True):
    """The number of an event that cannot be read otherwise, so the reply can name it."""

    seq: Seq


_SEQUENCED: Final = msgspec.json.Decoder(_Sequenced)


def seq_of(payload: bytes) -> int | None:
    """Return the `seq` of an event that cannot be read otherwise, or None if it has none."""
    if len(payload) > 4 * EVENT_BYTES_MAX:
        return None
    try:
        return _SEQUENCED.decode(payload).seq
    except UNREADABLE:
        return None
