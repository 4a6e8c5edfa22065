"""Device events and their answers: what a table's hardware says to its agent, and hears back.

The shapes are those of the public contract, "Device events". An unknown field is refused.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.printable import unseen_problem
from bonus.settling.settlement_lines import Line
from meters.wire.member_names import has_name_twice
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, Patron, Reason

LINE_BYTES_MAX: Final = 4096
"""A longer line is refused: no device event comes near it."""

_Cards = Annotated[list[str], msgspec.Meta(max_length=8)]
_Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_AsShown = dict[int, Annotated[str, msgspec.Meta(max_length=16)]]
"""Lines by their places in the settlement from 0, each with the state that was in sight."""


class _DeviceEvent(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="event"
):
    """What all device events share."""


class WagerPlaced(_DeviceEvent, frozen=True, tag="wager", omit_defaults=True):
    """The wagering device of a position took a wager in; `amount` on the wire is in cents."""

    position: int
    wager: str
    amount_cents: _Cents = msgspec.field(name="amount")
    patron: Patron | None = None


class WagerWithdrawn(_DeviceEvent, frozen=True, tag="withdraw"):
    """A wager was taken back before lock-out."""

    position: int
    wager: str


class BettingLocked(_DeviceEvent, frozen=True, tag="lockout"):
    """The dealer announced "no more bets" and pressed lock-out (649a.8(b))."""


class ChipsCounted(_DeviceEvent, frozen=True, tag="chips"):
    """The value chips that the dealer collected and counted (649a.8(b))."""

    count: _Count


class HandRead(_DeviceEvent, frozen=True, tag="hand"):
    """The cards that were dealt to a position."""

    position: int
    cards: _Cards


class HandFolded(_DeviceEvent, frozen=True, tag="fold", omit_defaults=True):
    """A player ended his participation in the round (649a.11(b)).

    Attributes:
        position: whose hand it is.
        cards: whether its cards were collected or stay (649a.11(c), reading T8), an extension of
            the contract; without it they stay where they were entered.
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
    """All hands are entered: the round is to be settled.

    With `confirm`, an extension of the contract, hands that were entered differently before are
    settled only once a floorperson has confirmed them.
    """

    confirm: bool = False


class VoidPressed(_DeviceEvent, frozen=True, tag="void", omit_defaults=True):
    """The round is void (649a.13).

    With `confirm`, an extension of the contract, it is void after cards were entered only once a
    floorperson has confirmed it.
    """

    reason: Reason
    confirm: bool = False


class CorrectionWithdrawn(_DeviceEvent, frozen=True, tag="withdraw_correction"):
    """The dealer no longer asks a floorperson to confirm; an extension of the contract."""


class Retracted(_DeviceEvent, frozen=True, tag="retract", omit_defaults=True):
    """A mistake is taken back before the round is settled; an extension of the contract.

    Attributes:
        what: which entry; `chips` only until the first card or fold is in.
        position: whose hand or fold.
        reason: why, which a panel must say of cards.
    """

    what: Literal["hand", "fold", "dealer", "community", "chips"]
    position: int | None = None
    reason: Reason | None = None

    @property
    def takes_cards(self) -> bool:
        """Whether cards are taken back."""
        return self.what in {"hand", "dealer", "community"}


class NextRound(_DeviceEvent, frozen=True, tag="next", omit_defaults=True):
    """The dealer has paid: the settlement leaves the panel; an extension of the contract.

    `done` are the lines that they saw to, by their places in the settlement from 0. Left out, it is
    all that can be paid by then. A panel says with each what stood there: a line that has become
    another meanwhile is not done. `round` is the round whose settlement they saw, which a panel
    says: a touch that comes late must not put away another.
    """

    done: tuple[int, ...] | _AsShown | None = None
    round: str | None = None


class RoundDone(_DeviceEvent, frozen=True, tag="done", omit_defaults=True):
    """What was decided about the wins of a round before is done; an extension of the contract.

    `line` is the one line that is, by its place in the settlement from 0; left out, all of them. A
    panel sends `lines`, what stood there with each: where one has become another meanwhile, none is
    done.
    """

    round: str
    line: int | None = None
    lines: _AsShown | None = None


class SamePlayer(_DeviceEvent, frozen=True, tag="same_player"):
    """A position and the next one are one player's, or no longer; an extension of the contract."""

    position: int
    same: bool


class Repeated(_DeviceEvent, frozen=True, tag="repeat"):
    """The players wager as in the round before; an extension of the contract."""


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


class DeviceRefusal(Exception):  # noqa: N818  (the field's word: nothing went wrong, something was refused)
    """A device event that the table does not take.

    Attributes:
        code: what is wrong, a short name in snake case.
        message: the same for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def detail(self) -> ErrorDetail:
        """The refusal as an answer carries it."""
        return ErrorDetail(code=self.code, message=self.message)


class DeviceAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent answers to one device event.

    Attributes:
        event: the device event's name, or None where the line had none.
        ok: whether it was taken.
        position: whose wager it was.
        wager: which wager it was.
        light: whether the light of that wager at that position is lit now (649a.7(d)(4)).
        round: the round, where the service knows it by a name.
        draw: to `lockout`, what was drawn, null where nothing was (649a.12(i)(3)).
        chips: to `lockout`, how many value chips the dealer should count.
        lines: to `settle`, the settlement's lines in paying order.
        claims: to `settle`, the wins that wait for a floorperson.
        held: to `settle`, and to a refused `lockout`, the claims whose documents hold the table
            (649a.11(c)(5)(iv)).
        error: why it was not taken.
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
    """Just enough of a bad line to answer it by its name."""

    event: str | None = None


_NAMED: Final = msgspec.json.Decoder(_Named)


def parse_event(line: bytes) -> DeviceEvent:
    """Read one device event from a line of JSON.

    Raises:
        Refusal: ``line_too_long``, ``not_json``, ``bad_event`` or ``unprintable_text``.

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
        raise DeviceRefusal("bad_event", "a device event names each of its fields once")
    for field in ("patron", "reason", "round"):
        text = getattr(event, field, None)
        if text is not None and (problem := unseen_problem(text)):
            raise DeviceRefusal("unprintable_text", f"{field} {problem}")
    return event


def encode_event(event: DeviceEvent) -> bytes:
    """A device event as one line of JSON, without the line's end."""
    return _ENCODER.encode(event)


def name_of(event: DeviceEvent) -> str:
    """A device event's name in the contract, such as ``wager``."""
    return str(event.__struct_config__.tag)


def name_in(line: bytes) -> str | None:
    """The event that a bad line names, cut short, or None where it names none."""
    try:
        name = _NAMED.decode(line[:LINE_BYTES_MAX]).event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if name is None else name[:32]


def refused(line: bytes, refusal: DeviceRefusal) -> DeviceAnswer:
    """The answer to a line that cannot be taken for what it is."""
    return DeviceAnswer(event=name_in(line), ok=False, error=refusal.detail)


def encode_answer(answer: DeviceAnswer) -> bytes:
    """An answer as one line of JSON, without the line's end."""
    return _ENCODER.encode(answer)


def decode_answer(data: bytes) -> DeviceAnswer:
    """An answer that was kept.

    Raises:
        msgspec.DecodeError: it is none.
    """
    return _ANSWER.decode(data)
