"""Device events from a table's hardware to its agent, and the agent's answers.

The public contract defines the format in its section "Device events". An event with an unknown
field is refused.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.printable import name_problem, unseen_problem
from bonus.settling.settlement_lines import Line
from meters.wire.member_names import has_name_twice
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, Patron, Reason

NOT_PASSED_ON: Final = "not_passed_on"
"""Code of the fault that the broker does not pass on the table's event to the service."""
LINE_BYTES_MAX: Final = 4096
"""Maximum length of a device event's line, in bytes; a longer line is refused.

Real device events are much shorter.
"""

_Cards = Annotated[list[str], msgspec.Meta(max_length=8)]
_Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_AsShown = dict[int, Annotated[str, msgspec.Meta(max_length=16)]]
"""State that the panel showed for each settlement line, by the index of the line, from 0."""


class _DeviceEvent(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="event"
):
    """Base of all device events."""


class WagerPlaced(_DeviceEvent, frozen=True, tag="wager", omit_defaults=True):
    """A wager that was placed at the wagering device of a position.

    The field `amount` in JSON is in cents.
    """

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
        cards: ``collected`` if the dealer collects the cards; ``stay`` if the cards stay on the
            table (649a.11(c), reading T8). pitlink adds this field to the
            public contract of device events. Without this field, an entered hand stays.
    """

    position: int
    cards: Literal["collected", "stay"] | None = None


class NoWinDeclared(_DeviceEvent, frozen=True, tag="no_win", omit_defaults=True):
    """Declaration that a hand wins nothing; an extension of the contract.

    The dealer makes this declaration instead of entering the cards of the hand.

    Without `position`, the declaration is for every position that has a wager, and for which
    nothing is entered: no hand, no fold and no declaration. Positions whose cards are needed as
    evidence are left out.
    """

    position: int | None = None


class DealerRead(_DeviceEvent, frozen=True, tag="dealer"):
    """The dealer's cards."""

    cards: _Cards


class CommunityRead(_DeviceEvent, frozen=True, tag="community"):
    """The two community cards (649a.8(d))."""

    cards: _Cards


class SettlePressed(_DeviceEvent, frozen=True, tag="settle", omit_defaults=True):
    """Request to settle the round, after all hands were entered.

    `confirm` is an extension of the contract. If `confirm` is true and entered cards were replaced
    by other cards, a floorperson must confirm the result before the round is settled.
    """

    confirm: bool = False


class VoidPressed(_DeviceEvent, frozen=True, tag="void", omit_defaults=True):
    """Request to void the round (649a.13).

    `confirm` is an extension of the contract. If `confirm` is true and cards were entered, a
    floorperson must confirm the void before the round becomes void.
    """

    reason: Reason
    confirm: bool = False


class WagerCorrected(_DeviceEvent, frozen=True, tag="correct_wager", omit_defaults=True):
    """Correction of one chip wager after lock-out, before the first card; no part of the contract.

    For example, a light was on without a chip, or a chip was there without a light. A floorperson
    must always confirm the correction.
    """

    action: Literal["add", "take_back"]
    position: int
    wager: str
    reason: Reason
    patron: Patron | None = None


class CorrectionWithdrawn(_DeviceEvent, frozen=True, tag="withdraw_correction"):
    """Withdrawal of the dealer's correction request; an extension of the contract."""


class Retracted(_DeviceEvent, frozen=True, tag="retract", omit_defaults=True):
    """Retraction of an entry before the round is settled; an extension of the contract.

    Attributes:
        what: the entry that is retracted. `chips` is possible only until the first card or fold is
            entered.
        position: the position of the hand, the fold or the declaration; None for other entries. If
            `what` is `no_win`, None retracts all declarations.
        reason: reason of the retraction; a panel must send a reason when cards are retracted.
    """

    what: Literal["hand", "fold", "no_win", "dealer", "community", "chips"]
    position: int | None = None
    reason: Reason | None = None

    @property
    def takes_cards(self) -> bool:
        """True if cards are retracted."""
        return self.what in {"hand", "dealer", "community"}


class NextRound(_DeviceEvent, frozen=True, tag="next", omit_defaults=True):
    """Report that the dealer has paid, so the settlement is closed; an extension of the contract.

    `done` has the settlement lines that the dealer completed, by index from 0. Without `done`, all
    lines that the dealer can complete now are completed. A panel also sends the state that it
    showed for each line. If the state of a line has changed since the panel showed it, this line is
    not completed.

    `round` is the round whose settlement the panel showed. So a late touch cannot close the
    settlement of another round.
    """

    done: tuple[int, ...] | _AsShown | None = None
    round: str | None = None


class RoundDone(_DeviceEvent, frozen=True, tag="done", omit_defaults=True):
    """Report that the dealer has completed lines of an earlier round; an extension of the contract.

    `line` is the index of one settlement line, from 0. If `line` and `lines` are both missing, all
    lines are completed. A panel sends `lines`, with the state that it showed for each line. If the
    state of one of these lines has changed since the panel showed it, no line is completed.
    """

    round: str
    line: int | None = None
    lines: _AsShown | None = None


class SamePlayer(_DeviceEvent, frozen=True, tag="same_player"):
    """Report whether two adjacent positions belong to one player; an extension of the contract.

    `position` is the lower of the two positions. `same` is false if the positions no longer belong
    to one player.
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
    | NoWinDeclared
    | DealerRead
    | CommunityRead
    | SettlePressed
    | VoidPressed
    | WagerCorrected
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
        """Code and message of the refusal, in the form for an answer."""
        return ErrorDetail(code=self.code, message=self.message)


class DeviceAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's answer to one device event.

    Attributes:
        event: name of the device event; None if the line had no name.
        ok: true if the event was accepted.
        position: position of the wager.
        wager: name of the wager; for an accepted `correct_wager` too.
        light: true if the light of the wager at the position is lit after the event (649a.7(d)(4)).
        round: name of the round, if the round's wagers were sent to the service.
        draw: for `lockout`: the random draw at lock-out; null if there was none (649a.12(i)(3)).
        chips: for `lockout` and `correct_wager`: number of value chips that the dealer should
            count.
        lines: for `settle`: lines of the settlement in paying order.
        claims: for `settle`: the wins that wait for a floorperson.
        positions: for `no_win`: the positions that were declared to win nothing.
        held: for `settle` and a refused `lockout`: the claims that hold the table until their
            documents are complete (649a.11(c)(5)(iv)).
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
    positions: tuple[int, ...] | UnsetType = UNSET
    held: tuple[str, ...] | UnsetType = UNSET
    error: ErrorDetail | UnsetType = UNSET


_EVENT: Final[msgspec.json.Decoder[DeviceEvent]] = msgspec.json.Decoder(DeviceEvent)
_ANSWER: Final = msgspec.json.Decoder(DeviceAnswer)
_ENCODER: Final = msgspec.json.Encoder()


class _Named(msgspec.Struct, frozen=True):
    """Reader of the event name in an invalid line, for the answer to that line."""

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
        check = name_problem if field == "patron" else unseen_problem
        if text is not None and (problem := check(text)):
            raise DeviceRefusal("unprintable_text", f"{field} {problem}")
    return event


def encode_event(event: DeviceEvent) -> bytes:
    """Return a device event as one line of JSON, without a line end."""
    return _ENCODER.encode(event)


def name_of(event: DeviceEvent) -> str:
    """Return a device event's name in the contract, such as ``wager``."""
    return str(event.__struct_config__.tag)


def name_in(line: bytes) -> str | None:
    """Return the first 32 characters of the event name in an invalid line.

    Return None if the line has no event name.
    """
    try:
        name = _NAMED.decode(line[:LINE_BYTES_MAX]).event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if name is None else name[:32]


def refused(line: bytes, refusal: DeviceRefusal) -> DeviceAnswer:
    """Return the answer to a refused line."""
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
