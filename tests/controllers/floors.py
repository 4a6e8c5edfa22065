"""A small floor for the table side's tests, and a table played by its rules alone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from bonus.settling.settlement_lines import Line
from controllers.table.device_events import DeviceAnswer, DeviceRefusal, parse_event
from controllers.table.replies import absorb
from controllers.table.state import Layout, TableState
from controllers.table.transitions import Stamp, play
from meters.floor.floor_file import Link, Table, parse_floor
from meters.wire.messages import ClaimOpened, MoneyEvent, Reply
from tests.floor_text import METERS, floor_text, link_text, meter_text, table_text

Sent = TypeVar("Sent", bound=MoneyEvent)

FLOOR: Final = floor_text(
    link_text(
        "one",
        *(meter_text(kind) for kind in METERS[:-1]),
        meter_text("five_card_hand_bonus", 200),
        table_text("T-1", *METERS, asset="1"),
        table_text("T-2", "progressive", asset="2", positions=5),
        table_text("T-3", asset="3", game="four_card_prime", positions=6),
        name="One Dollar",
    )
)


def link_and_table(table_id: str = "T-1") -> tuple[Link, Table]:
    found = parse_floor(FLOOR).find_table(table_id)
    assert found is not None
    return found


def refusal_code(answer: DeviceAnswer) -> str | None:
    """Return the code with which an answer refuses an event, or None."""
    return None if answer.ok else getattr(answer.error, "code", "")


class HandTable:
    """A table without agent or service: device events go through the rules alone.

    Events for the service are collected in `sent`. Each is accepted immediately unless `replies`
    has another reply.
    """

    def __init__(self, table_id: str = "T-1", layout: Layout | None = None) -> None:
        self.layout = layout or Layout.of(*link_and_table(table_id))
        self.state = TableState()
        self.seq = 0
        self.sent: list[MoneyEvent] = []
        self.replies: list[Reply] = []
        self.fault: DeviceRefusal | None = None

    def say(self, event: str, **fields: object) -> DeviceAnswer:
        return self.say_line(msgspec.json.encode({"event": event, **fields}))

    def say_line(self, line: bytes) -> DeviceAnswer:
        stamp = Stamp(self.seq + 1, datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC))
        step = play(self.layout, self.state, parse_event(line), stamp, self.fault)
        self.state = step.state
        if step.send is None:
            assert step.answer is not None
            return step.answer
        self.seq += 1
        self.sent.append(step.send)
        reply = self.replies.pop(0) if self.replies else accepted(self.seq)
        step = absorb(self.layout, self.state, step.send, reply)
        self.state = step.state
        assert step.answer is not None
        return step.answer

    def say_all(self, text: str) -> DeviceAnswer:
        """Send several device events in short form, such as ``wager 3 progressive; lockout``."""
        answer = DeviceAnswer(event=None, ok=False)
        for part in text.split(";"):
            answer = self.say_short(part)
            assert answer.ok, (part, answer)
        return answer

    def say_short(self, text: str) -> DeviceAnswer:
        return self.say_line(line_of(text))

    def refusal(self, text: str) -> str | None:
        """Send one device event in short form; return the code that refuses it, or None."""
        return refusal_code(self.say_short(text))

    def last(self, kind: type[Sent]) -> Sent:
        """Return the event that was sent last, which must be of a kind."""
        sent = self.sent[-1]
        assert isinstance(sent, kind)
        return sent


def line_of(text: str) -> bytes:
    return msgspec.json.encode(dict(_fields(text.split())))


def _fields(words: list[str]) -> Iterator[tuple[str, object]]:
    name = words[0]
    yield "event", name
    if name in {"wager", "withdraw", "hand", "fold"}:
        yield "position", int(words[1])
    if name == "correct_wager":
        yield "action", words[1]
        yield "position", int(words[2])
        yield "wager", words[3]
        yield "reason", "light without a chip"
    match name:
        case "wager":
            yield "wager", words[2]
            usual = 200 if "hand" in words[2] else 100
            yield "amount", int(words[3]) if len(words) > 3 else usual
        case "withdraw":
            yield "wager", words[2]
        case "hand":
            yield "cards", words[2:]
        case "dealer" | "community":
            yield "cards", words[1:]
        case "chips":
            yield "count", int(words[1])
        case "void":
            yield "reason", "misdeal"
        case "done":
            yield "round", words[1]
        case "no_win" if len(words) > 1:
            yield "position", int(words[1])
        case "retract":
            yield "what", words[1]
            if len(words) > 2:
                yield "position", int(words[2])


def accepted(seq: int, lines: tuple[Line, ...] = (), claims: tuple[ClaimOpened, ...] = ()) -> Reply:
    return Reply(seq=seq, status="accepted", lines=lines, claims=claims)
