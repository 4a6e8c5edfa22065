"""Device events from a table's hardware to its agent, and the agent's answers.

The public contract defines them in its section "Device events". A field that it does not have is
refused.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from bonus.json_input import has_name_twice
from bonus.printable import name_problem, unseen_problem
from bonus.rounds import Line
from meters.wire.messages import ClaimOpened, DrawMade, ErrorDetail, Patron, Reason

NOT_PASSED_ON: Final = "not_passed_on"
"""The broker does not pass on the table's event to the service."""
LINE_BYTES_MAX: Final = 4096
"""A longer line is refused; real device events are much shorter."""

_Cards = Annotated[list[str], msgspec.Meta(max_length=8)]
_Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_AsShown = dict[int, Annotated[str, msgspec.Meta(max_length=16)]]
"""What the panel showed for each settlement line, by the line's index from 0."""


class _DeviceEvent(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="event"
):
    pass


class WagerPlaced(_DeviceEvent, frozen=True, tag="wager", omit_defaults=True):
    position: int
    wager: str
    amount_cents: _Cents = msgspec.field(name="amount")
    patron: Patron | None = None


class WagerWithdrawn(_DeviceEvent, frozen=True, tag="withdraw"):
    """A player takes a wager back, which is possible only before lock-out."""

    position: int
    wager: str


class BettingLocked(_DeviceEvent, frozen=True, tag="lockout"):
    """The dealer announced "no more bets" and pressed the button (649a.8(b))."""


class ChipsCounted(_DeviceEvent, frozen=True, tag="chips"):
    """Value chips that the dealer collected and counted (649a.8(b))."""

    count: _Count


class HandRead(_DeviceEvent, frozen=True, tag="hand"):
    position: int
    cards: _Cards


class HandFolded(_DeviceEvent, frozen=True, tag="fold", omit_defaults=True):
    """A player ended their participation in the round (649a.11(b)).

    `cards`, a field that pitlink adds to the public contract, is ``collected`` if the dealer
    collects them, and ``stay`` if they stay on the table (649a.11(c), reading T8). Without it, an
    entered hand stays.
    """

    position: int
    cards: Literal["collected", "stay"] | None = None


class NoWinDeclared(_DeviceEvent, frozen=True, tag="no_win", omit_defaults=True):
    """Declaration that a hand wins nothing, instead of its cards; an extension of the contract.

    Without `position`, it is for every position that has a wager and nothing entered, except those
    whose cards are needed as evidence.
    """

    position: int | None = None


class DealerRead(_DeviceEvent, frozen=True, tag="dealer"):
    cards: _Cards


class CommunityRead(_DeviceEvent, frozen=True, tag="community"):
    """The two community cards (649a.8(d))."""

    cards: _Cards


class SettlePressed(_DeviceEvent, frozen=True, tag="settle", omit_defaults=True):
    """Request to settle the round, after all hands were entered.

    With `confirm`, an extension of the contract, a floorperson must confirm the result first if
    entered cards were replaced by others.
    """

    confirm: bool = False


class VoidPressed(_DeviceEvent, frozen=True, tag="void", omit_defaults=True):
    """Request to void the round (649a.13).

    With `confirm`, an extension of the contract, a floorperson must confirm it first if cards were
    entered.
    """

    reason: Reason
    confirm: bool = False


class WagerCorrected(_DeviceEvent, frozen=True, tag="correct_wager", omit_defaults=True):
    """Correction of one chip wager after lock-out, before the first card; no part of the contract.

    A light was on without a chip, or a chip was there without a light. A floorperson must always
    confirm it.
    """

    action: Literal["add", "take_back"]
    position: int
    wager: str
    reason: Reason
    patron: Patron | None = None


class CorrectionWithdrawn(_DeviceEvent, frozen=True, tag="withdraw_correction"):
    """Withdrawal of a correction request; an extension of the contract."""


class Retracted(_DeviceEvent, frozen=True, tag="retract", omit_defaults=True):
    """Retraction of an entry before the round is settled; an extension of the contract.

    `chips` is possible only until the first card or fold is entered. `position` is that of the
    hand, the fold or the declaration; without it, `no_win` retracts all declarations. A panel must
    send a `reason` when cards are retracted.
    """

    what: Literal["hand", "fold", "no_win", "dealer", "community", "chips"]
    position: int | None = None
    reason: Reason | None = None

    @property
    def takes_cards(self) -> bool:
        return self.what in {"hand", "dealer", "community"}


class NextRound(_DeviceEvent, frozen=True, tag="next", omit_defaults=True):
    """Report that the dealer has paid, so the settlement is closed; an extension of the contract.

    `done` has the settlement lines that the dealer completed, by index from 0; without it, all that
    they can complete now. A panel also sends the state that it showed for each line: a line whose
    state has changed since is not completed. `round` is the round whose settlement the panel
    showed, so a late touch cannot close another one.
    """

    done: tuple[int, ...] | _AsShown | None = None
    round: str | None = None


class RoundDone(_DeviceEvent, frozen=True, tag="done", omit_defaults=True):
    """Report that the dealer has completed lines of an earlier round; an extension of the contract.

    `line` is the index of one settlement line, from 0; without `line` and `lines`, all lines are
    completed. A panel sends `lines`, with the state that it showed for each: if one of these states
    has changed since, no line is completed.
    """

    round: str
    line: int | None = None
    lines: _AsShown | None = None


class SamePlayer(_DeviceEvent, frozen=True, tag="same_player"):
    """Report whether a position and the next belong to one player; an extension of the contract."""

    position: int
    same: bool


class Repeated(_DeviceEvent, frozen=True, tag="repeat"):
    """Request to repeat the wagers of the previous round; an extension of the contract."""


EntryEvent = (
    WagerPlaced
    | WagerWithdrawn
    | ChipsCounted
    | HandRead
    | HandFolded
    | DealerRead
    | CommunityRead
    | Retracted
    | NextRound
    | RoundDone
    | SamePlayer
    | Repeated
)
"""Events that the table decides without the service."""

DeviceEvent = (
    EntryEvent
    | BettingLocked
    | NoWinDeclared
    | SettlePressed
    | VoidPressed
    | WagerCorrected
    | CorrectionWithdrawn
)


class DeviceRefusal(Exception):  # noqa: N818  (a refusal is not an error)
    """Refusal of a device event: a code in snake case, and the reason for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def detail(self) -> ErrorDetail:
        return ErrorDetail(code=self.code, message=self.message)


class DeviceAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's answer to one device event.

    Attributes:
        event: name of the device event; None if the line had no name.
        wager: also for an accepted `correct_wager`.
        light: whether the light of the wager at the position is lit now (649a.7(d)(4)).
        round: only if the round's wagers were sent to the service.
        draw: for `lockout`; null if no draw was made (649a.12(i)(3)).
        chips: for `lockout` and `correct_wager`: value chips that the dealer should count.
        lines: for `settle`, in paying order.
        claims: for `settle`: the wins that wait for a floorperson.
        positions: for `no_win`: the positions that were declared to win nothing.
        held: for `settle` and a refused `lockout`: the claims that hold the table until their
            documents are complete (649a.11(c)(5)(iv)).
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

    @property
    def code(self) -> str:
        """Code of the refusal; empty for an accepted event."""
        return self.error.code if isinstance(self.error, ErrorDetail) else ""


_EVENT: Final[msgspec.json.Decoder[DeviceEvent]] = msgspec.json.Decoder(DeviceEvent)
_ANSWER: Final = msgspec.json.Decoder(DeviceAnswer)
_ENCODER: Final = msgspec.json.Encoder()


class _Named(msgspec.Struct, frozen=True):
    event: str | None = None


_NAMED: Final = msgspec.json.Decoder(_Named)


def parse_event(line: bytes) -> DeviceEvent:
    """Read one device event from a line of JSON.

    A DeviceRefusal is ``line_too_long``, ``not_json``, ``bad_event`` or ``unprintable_text``.

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
    return _ENCODER.encode(event)


def name_of(event: DeviceEvent) -> str:
    return str(event.__struct_config__.tag)


def name_in(line: bytes) -> str | None:
    """Return at most 32 characters of the event name in an invalid line, if it has one."""
    try:
        name = _NAMED.decode(line[:LINE_BYTES_MAX]).event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if name is None else name[:32]


def refused(name: str | None, refusal: DeviceRefusal) -> DeviceAnswer:
    return DeviceAnswer(event=name, ok=False, error=refusal.detail)


def encode_answer(answer: DeviceAnswer) -> bytes:
    """Return one line of JSON, without a line end."""
    return _ENCODER.encode(answer)


def decode_answer(data: bytes) -> DeviceAnswer:
    return _ANSWER.decode(data)
