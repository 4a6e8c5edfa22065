"""Device events from a table's hardware to its agent, and the agent's answers.

The format is that of the public contract, "Device events". An unknown field is refused.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.printable import unseen_problem
from bonus.settling.settlement_lines import Line
from meters.wire.member_names import has_name_twice
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, Patron, Reason

LINE_BYTES_MAX: Final = 4096
"""Longest line in bytes; a longer line is refused. Real device events are much shorter."""

_Cards = Annotated[list[str], msgspec.Meta(max_length=8)]
_Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_AsShown = dict[int, Annotated[str, msgspec.Meta(max_length=16)]]
"""Indexes of lines in the settlement, from 0, each with the state that the panel showed."""


class _DeviceEvent(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="event"
):
    """Base of all device events."""


class WagerPlaced(_DeviceEvent, frozen=True, tag="wager", omit_defaults=True):
    """A wager on the wagering device of a position; `amount` in JSON is in cents."""

    position: int
    wager: str
    amount_cents: _Cents = msgspec.field(name="amount")
    patron: Patron | None = None


class WagerWithdrawn(_DeviceEvent, frozen=True, tag="withdraw"):
    """Withdrawal of a wager before lock-out."""

    position: int
    wager: str


class BettingLocked(_DeviceEvent, frozen=True, tag="lockout"):
    """Lock-out: the dealer announced "no more bets" and pressed the button (649a.8(b))."""


class ChipsCounted(_DeviceEvent, frozen=True, tag="chips"):
    """Number of value chips that the dealer collected and counted (649a.8(b))."""

    count: _Count


class HandRead(_DeviceEvent, frozen=True, tag="hand"):
    """Cards that were dealt to a position."""

    position: int
    cards: _Cards


class HandFolded(_DeviceEvent, frozen=True, tag="fold", omit_defaults=True):
    """A fold: a player ended their participation in the round (649a.11(b)).

    Attributes:
        position: the position that folded.
        cards: ``collected`` or ``stay``: what happens to its cards (649a.11(c), reading T8); an
            extension of the contract. Without it, an entered hand stays.
    """

    position: int
    cards: Literal["collected", "stay"] | None = None


class DealerRead(_DeviceEvent, frozen=True, tag="dealer"):
    """The dealer's cards."""

    cards: _Cards


class CommunityRead(_DeviceEvent, frozen=True, tag="community"):
    """The two community cards (649a.8(d))."""

    cards: _Cards


class SettlePressed(_DeviceEvent, frozen=True, tag="settle", omit_defaults=True):
    """Request to settle the round; all hands are entered.

    With `confirm`, an extension of the contract, re-entered hands that differ are settled only
    after a floorperson confirms them.
    """

    confirm: bool = False


class VoidPressed(_DeviceEvent, frozen=True, tag="void", omit_defaults=True):
    """Request to void the round (649a.13).

    With `confirm`, an extension of the contract, a round with entered cards becomes void only after
    a floorperson confirms it.
    """

    reason: Reason
    confirm: bool = False


class CorrectionWithdrawn(_DeviceEvent, frozen=True, tag="withdraw_correction"):
    """Withdrawal of the dealer's correction request; an extension of the contract."""


class Retracted(_DeviceEvent, frozen=True, tag="retract", omit_defaults=True):
    """Retraction of an entry before the round is settled; an extension of the contract.

    Attributes:
        what: the entry; `chips` is possible only until the first card or fold is entered.
        position: the position of the hand or fold.
        reason: the reason; a panel must send it when cards are retracted.
    """

    what: Literal["hand", "fold", "dealer", "community", "chips"]
    position: int | None = None
    reason: Reason | None = None

    @property
    def takes_cards(self) -> bool:
        """True if cards are retracted."""
        return self.what in {"hand", "dealer", "community"}


class NextRound(_DeviceEvent, frozen=True, tag="next", omit_defaults=True):
    """The dealer has paid; the panel closes the settlement; an extension of the contract.

    `done` has the indexes of the lines that the dealer completed, from 0. Without it, all lines
    that can be paid at that time are done. A panel sends the state that it showed with each line; a
    line whose state has changed since then is not done. `round` is the round of the settlement that
    the panel showed, so a late touch cannot close another settlement.
    """

    done: tuple[int, ...] | _AsShown | None = None
    round: str | None = None


class RoundDone(_DeviceEvent, frozen=True, tag="done", omit_defaults=True):
    """The dealer has completed lines of an earlier round; an extension of the contract.

    `line` is the index of one line in the settlement, from 0; without it, all lines are done. A
    panel sends `lines` with the state that it showed for each; if one state has changed since then,
    no line is done.
    """

    round: str
    line: int | None = None
    lines: _AsShown | None = None


class SamePlayer(_DeviceEvent, frozen=True, tag="same_player"):
    """Statement that two adjacent positions belong to one player, or no longer do.

    `position` is the lower one. This is an extension of the contract.
    """

    position: int
    same: bool


class Repeated(_DeviceEvent, frozen=True, tag="repeat"):
    """Request to repeat the wagers of the previous round; an extension of the contract."""


DeviceEvent = (
    WagerPlaced
    | WagerWithdrawn
    | BettingLocked
    | ChipsCounted
    | HandRead
    | HandFolded
    | DealerRead
    | CommunityRead
    | SettlePressed
    | VoidPressed
    | CorrectionWithdrawn
    | Retracted
    | NextRound
    | RoundDone
    | SamePlayer
    | Repeated
)


class DeviceRefusal(Exception):  # noqa: N818  (a refusal is not an error)
    """Refusal of a device event.

    Attributes:
        code: short name of the reason, in snake case.
        message: the reason as text for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def detail(self) -> ErrorDetail:
        """The refusal in the form that an answer contains."""
        return ErrorDetail(code=self.code, message=self.message)


class DeviceAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's answer to one device event.

    Attributes:
        event: name of the device event, or None if the line had none.
        ok: true if the event was accepted.
        position: position of the wager.
        wager: name of the wager.
        light: true if the light of that wager at that position is now lit (649a.7(d)(4)).
        round: name of the round, if the service has one.
        draw: for `lockout`: the draw, or null if there was none (649a.12(i)(3)).
        chips: for `lockout`: number of value chips that the dealer should count.
        lines: for `settle`: lines of the settlement in paying order.
        claims: for `settle`: the wins that wait for a floorperson.
        held: for `settle` and a refused `lockout`: the claims whose documents hold the table
            (649a.11(c)(5)(iv)).
        error: reason of a refusal.
    """

    event: str | None
    ok: bool
    position: int | UnsetType = UNSET
    wager: str | UnsetType = UNSET
    light: bool | UnsetType = UNSET
    round: str | UnsetType = UNSET
    draw: DrawMade | UnsetType | None = UNSET
    chips: int | UnsetType = UNSET
    lines: tuple[Line, ...] | UnsetType = UNSET
    claims: tuple[ClaimOpened, ...] | UnsetType = UNSET
    held: tuple[str, ...] | UnsetType = UNSET
    error: ErrorDetail | UnsetType = UNSET


_EVENT: Final[msgspec.json.Decoder[DeviceEvent]] = msgspec.json.Decoder(DeviceEvent)
_ANSWER: Final = msgspec.json.Decoder(DeviceAnswer)
_ENCODER: Final = msgspec.json.Encoder()


class _Named(msgspec.Struct, frozen=True):
    """The name of an event in an invalid line, for the answer."""

    event: str | None = None


_NAMED: Final = msgspec.json.Decoder(_Named)


def parse_event(line: bytes) -> DeviceEvent:
    """Read one device event from a line of JSON.

    Raises:
        DeviceRefusal: ``line_too_long``, ``not_json``, ``bad_event`` or ``unprintable_text``.

    >>> parse_event(b'{"event": "chips", "count": 4}')
    ChipsCounted(count=4)
    """
    if len(line) > LINE_BYTES_MAX:
        raise DeviceRefusal(
            "line_too_long", f"a device event has no more than {LINE_BYTES_MAX} bytes"
        )
    try:
        event = _EVENT.decode(line)
    except msgspec.ValidationError as error:
        raise DeviceRefusal("bad_event", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DeviceRefusal("not_json", f"a device event is one line of JSON: {error}") from None
    if has_name_twice(line):
        raise DeviceRefusal("bad_event", "a device event must have each field only once")
    for field in ("patron", "reason", "round"):
        text = getattr(event, field, None)
        if text is not None and (problem := unseen_problem(text)):
            raise DeviceRefusal("unprintable_text", f"{field} {problem}")
    return event


def encode_event(event: DeviceEvent) -> bytes:
    """Return a device event as one line of JSON, without a line end."""
    return _ENCODER.encode(event)


def name_of(event: DeviceEvent) -> str:
    """Return a device event's name in the contract, such as ``wager``."""
    return str(event.__struct_config__.tag)


def name_in(line: bytes) -> str | None:
    """Return the event name in an invalid line, shortened, or None if it has none."""
    try:
        name = _NAMED.decode(line[:LINE_BYTES_MAX]).event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if name is None else name[:32]


def refused(line: bytes, refusal: DeviceRefusal) -> DeviceAnswer:
    """Return the answer to a line that is refused."""
    return DeviceAnswer(event=name_in(line), ok=False, error=refusal.detail)


def encode_answer(answer: DeviceAnswer) -> bytes:
    """Return an answer as one line of JSON, without a line end."""
    return _ENCODER.encode(answer)


def decode_answer(data: bytes) -> DeviceAnswer:
    """Decode a stored answer.

    Raises:
        msgspec.DecodeError: the data is not an answer.
    """
    return _ANSWER.decode(data)
