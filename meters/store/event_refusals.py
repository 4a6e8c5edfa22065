"""Reasons why a table's event is refused. Each reason has a code and a message for people."""

from typing import Final

import msgspec

from meters.ledger.script_steps import Status
from meters.wire.messages import HELD_MESSAGE, ErrorDetail, Reply, held_by

_UNNUMBERED: Final = b'{"seq":0'


class EventRefusal(Exception):  # noqa: N818  (the contract's word)
    """The refusal of a table's event, which changes nothing.

    `code` is the reason for programs; `message` is the reason for people. `field` is the wrong
    field of the event, such as ``positions[2].wagers.progressive``; None if no single field is
    wrong.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


BY_STATUS: Final = {
    Status.SEQ_REUSED: "this seq was used before, for another event",
    Status.SEQ_PASSED: "this seq was answered long ago, and its reply is no longer kept",
    Status.ROUND_OPEN: "the table's last round has neither result nor void",
    Status.AFTER_LOCKOUT: "this round's betting was locked when its wagers were sent",
    Status.ROUND_OVER: "this round is over: it has its result, or is void",
    Status.LINK_CLOSED: "the link is closed: it takes no wagers",
    Status.HELD: HELD_MESSAGE,
    Status.UNCONFIRMED: "this correction waits for a floorperson's confirmation",
    Status.UNKNOWN_ROUND: "the table has no open round with this name",
    Status.METER_FULL: "a meter cannot hold more",
    Status.BOOKS_FULL: "the ledger's accounts cannot hold more",
    Status.OTHER_METERS: "the round's wagers went to other meters: settle the round, or void it",
}


def refused(seq: int | None, code: str, message: str, field: str | None = None) -> bytes:
    return msgspec.json.encode(
        Reply(seq=seq, status="refused", error=ErrorDetail(code=code, message=message, field=field))
    )


def refused_by_script(seq: int, status: Status) -> bytes:
    return refused(seq, status.value, BY_STATUS[status], None)


def refusal_texts() -> str:
    """Return, as JSON and by code, the replies with which `apply_events` (Lua) refuses events.

    The script adds the missing beginning of a reply, which has the event's number. The reply with
    the code ``held`` also gets the claims that hold the table: the script writes their data between
    the first brackets, and their ids between the first parentheses.
    """
    begin = len(_UNNUMBERED)
    texts = {
        status.value: refused_by_script(0, status)[begin:].decode()
        for status in BY_STATUS
        if status not in {Status.SEQ_REUSED, Status.SEQ_PASSED}
    }
    error = ErrorDetail(code=Status.HELD.value, message=held_by(()))
    held = msgspec.json.encode(Reply(seq=0, status="refused", claims=(), error=error))[begin:]
    return msgspec.json.encode(texts | {Status.HELD.value: held.decode()}).decode()


def correction_refusal(who: str, reason: str) -> str:
    """Return the reply to a refused correction; only the beginning, with the number, is missing."""
    message = f"{who} refused this correction: {reason}"
    return refused(0, Status.CORRECTION_REFUSED.value, message)[len(_UNNUMBERED) :].decode()


def out_of_order(seq: int, expected: int) -> bytes:
    """Return the reply to an event that came too early: the table must first send `expected`."""
    return msgspec.json.encode(Reply(seq=seq, status="out_of_order", expected=expected))
