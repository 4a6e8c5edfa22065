"""Device events from a table's hardware to its agent, and the agent's answers.

The section "Device events" of the public contract defines these events. pitlink adds the events
`no_win`, `correct_wager`, `withdraw_correction`, `retract`, `next`, `done`, `same_player` and
`repeat`, the field `confirm`, and the field `cards` of `fold`. An unknown field is refused.
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
"""A longer line is refused. Real device events are much shorter."""

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
    """Places a wager. Its amount must be one that its meter has in the floor file.

    If the wager is lit with another amount, the new amount replaces it.

    Slips print `patron`: write it in Latin (also Vietnamese), Greek, Cyrillic, Chinese, Japanese or
    Korean letters. Write any other name as in the passport.
    """

    position: int
    wager: str
    amount_cents: _Cents = msgspec.field(name="amount")
    patron: Patron | None = None


class WagerWithdrawn(_DeviceEvent, frozen=True, tag="withdraw"):
    """Withdraws a wager, before lock-out."""

    position: int
    wager: str


class BettingLocked(_DeviceEvent, frozen=True, tag="lockout"):
    """Ends betting and sends the wagers to the service (649a.8(b)).

    The answer has `draw`, and `chips`: how many value chips the dealer must count.
    """


class ChipsCounted(_DeviceEvent, frozen=True, tag="chips"):
    """Enters the dealer's count of value chips (649a.8(b)).

    Five Card Hand Bonus wagers are electronic and have no chip.
    """

    count: _Count


class HandRead(_DeviceEvent, frozen=True, tag="hand"):
    """Enters the cards of a hand."""

    position: int
    cards: _Cards


class HandFolded(_DeviceEvent, frozen=True, tag="fold", omit_defaults=True):
    """Folds a hand (649a.11(b)).

    `cards` is ``collected`` if the dealer took the cards, and ``stay`` if they stay on the table
    (649a.11(c), reading T8). Before ``stay``, enter the hand. Without `cards`, an entered hand
    stays.
    """

    position: int
    cards: Literal["collected", "stay"] | None = None  # an extension of the contract


class NoWinDeclared(_DeviceEvent, frozen=True, tag="no_win", omit_defaults=True):
    """Declares that a hand wins nothing, so that its cards need not be entered.

    Without `position`, the event is for every position that has a wager and neither a hand nor a
    fold. It leaves out positions whose cards decide a Magic Card or a Lucky Bonus. The answer has
    the declared `positions`. If the floor file has `require_all_hands = true`, the event is refused
    with ``all_hands``.
    """

    position: int | None = None


class DealerRead(_DeviceEvent, frozen=True, tag="dealer"):
    """Enters the dealer's cards."""

    cards: _Cards


class CommunityRead(_DeviceEvent, frozen=True, tag="community"):
    """Enters the community cards in the order of the deal (649a.8(d))."""

    cards: _Cards


class SettlePressed(_DeviceEvent, frozen=True, tag="settle", omit_defaults=True):
    """Sends the result of the round, after all hands were entered.

    The answer has the settlement (`lines`) and the wins that wait for a floorperson (`claims`).
    With `confirm`: if a hand or result was entered differently before, a floorperson must confirm
    the result first.
    """

    confirm: bool = False


class VoidPressed(_DeviceEvent, frozen=True, tag="void", omit_defaults=True):
    """Voids the round (649a.13).

    With `confirm`: if cards were entered, a floorperson must confirm the void first.
    """

    reason: Reason
    confirm: bool = False


class WagerCorrected(_DeviceEvent, frozen=True, tag="correct_wager", omit_defaults=True):
    """Corrects one chip wager after lock-out, before the first card, fold or `no_win`.

    Use it if a light was on without a chip, or a chip was there without a light. A floorperson must
    confirm the correction. `patron` and `amount` are only for ``add``; without `amount`, the wager
    has the largest amount that its meter has in the floor file. The answer has `light` and the new
    number of `chips`: the dealer counts again. If no wager is left, the round continues without
    progressive wagers.
    """

    action: Literal["add", "take_back"]
    position: int
    wager: str
    reason: Reason
    patron: Patron | None = None
    amount_cents: _Cents | None = msgspec.field(name="amount", default=None)


class CorrectionWithdrawn(_DeviceEvent, frozen=True, tag="withdraw_correction"):
    """Withdraws the table's correction request."""


class Retracted(_DeviceEvent, frozen=True, tag="retract", omit_defaults=True):
    """Takes back what was entered, before `settle`.

    `position` is for a hand, a fold or a `no_win`; without `position`, all `no_win` are taken back.
    The count of chips can be taken back only while no card, fold or `no_win` is entered. Cards can
    be taken back at most ten times in a round; for this, a panel must send `reason`. The service
    gets `reason` if a hand or result is entered differently or the round is voided.
    """

    what: Literal["hand", "fold", "no_win", "dealer", "community", "chips"]
    position: int | None = None
    reason: Reason | None = None

    @property
    def takes_cards(self) -> bool:
        return self.what in {"hand", "dealer", "community"}


class NextRound(_DeviceEvent, frozen=True, tag="next", omit_defaults=True):
    """Removes the settlement from the screen: the dealer has paid.

    `done` lists the lines that were paid, by index from 0; without it, every line that can be paid
    now counts as paid. `round` is the round whose settlement was shown: the event is refused if the
    settlement of another round is shown now. In `done`, a panel sends the state that it showed for
    each line. If the state of a line has changed since, the line stays on the screen.
    """

    done: tuple[int, ...] | _AsShown | None = None
    round: str | None = None


class RoundDone(_DeviceEvent, frozen=True, tag="done", omit_defaults=True):
    """Records that lines of an earlier round were paid or are not due.

    `line` is the index of one line, from 0; without `line` and `lines`, the event is for all lines.
    A panel sends `lines`, with the state that it showed for each line: if one of these states has
    changed since, the event is refused.
    """

    round: str
    line: int | None = None
    lines: _AsShown | None = None


class SamePlayer(_DeviceEvent, frozen=True, tag="same_player"):
    """Says whether `position` and the next position belong to one player.

    A player gets no Envy Bonus for their own hands. The event is refused if the wagers name
    different patrons (``patron_differs``), or if `same` is false and they name the same patron
    (``same_patron``).
    """

    position: int
    same: bool


class Repeated(_DeviceEvent, frozen=True, tag="repeat"):
    """Places all wagers of the table's last round again.

    If one of them cannot be placed, the event is refused and none is placed. If the last round had
    no wagers, the event is refused with ``nothing_there``.
    """


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
        event: the name of the device event; null if the line had no name.
        ok: false if the event was refused.
        position: with `wager`, `withdraw` and `correct_wager`.
        wager: with `wager`, `withdraw` and `correct_wager`.
        light: whether the light of this wager is on now (649a.7(d)(4)).
        round: with `lockout` and `settle`: the name of the round, if the service has wagers of it.
        draw: with `lockout`: what was drawn; null if nothing was drawn (649a.12(i)(3)).
        chips: with `lockout` and `correct_wager`: how many value chips the dealer must count.
        lines: with `settle`: the settlement, in paying order.
        claims: with `settle`: the wins that wait for a floorperson. With `lockout` and
            `correct_wager`: the must-hit-by wins of the wagers.
        positions: with `no_win`: the positions that were declared to win nothing.
        held: with `settle` and a refused `lockout`: the claims that hold the table until they are
            paid or rejected (649a.11(c)(5)(iv)).
        error: why the event was refused.
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

    Raise `DeviceRefusal`: ``line_too_long``, ``not_json``, ``bad_event`` or ``unprintable_text``.

    >>> parse_event(b'{"event": "chips", "count": 4}')
    ChipsCounted(count=4)
    """
    if len(line) > LINE_BYTES_MAX:
        raise DeviceRefusal(
            "line_too_long",
            f"the line is too long: a device event has at most {LINE_BYTES_MAX} bytes",
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
    """Return at most 32 characters of the event name in a line; None if no name can be read."""
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
