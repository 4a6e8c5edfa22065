"""Targets of a table's agent: messages from the broker, and its devices' events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import msgspec

from controllers.agent.delivery import (
    Delivered,
    EventDelivery,
    Timing,
    _UnderWay,
    encode_money_event,
)
from controllers.panel.table_view import view_table
from controllers.table.device_events import decode_answer, encode_answer, parse_event
from controllers.table.replies import absorb, has_lost_events, reconcile
from controllers.table.state import Layout, TableState
from controllers.table.transitions import SentStep, Stamp, play
from controllers.table.win_decisions import decide
from meters.wire import topics
from meters.wire.messages import (
    TABLE_EVENT,
    HelloReply,
    Jackpot,
    MeterValue,
    MoneyEvent,
    Reply,
    Void,
    Wagers,
)
from tests.controllers.floors import HandTable, link_and_table
from tests.fuzz.junk import mutated
from tests.fuzz.target import Check, Target, pure
from tests.mqtt.events import AT, encode

SEQ_MAX: Final = 2**53 - 1
_LINK, _TABLE = link_and_table()
_LAYOUT: Final = Layout.of(_LINK, _TABLE)
_NOW: Final = datetime(2026, 11, 20, 2, 14, 7, tzinfo=UTC)
_STATE: Final = msgspec.json.Decoder(TableState)
_VALUES: Final[Mapping[str, MeterValue]] = {}

ROUND: Final = tuple(
    json.dumps(event).encode()
    for event in (
        {"event": "wager", "position": 3, "wager": "progressive", "amount": 100, "patron": "p3"},
        {"event": "wager", "position": 4, "wager": "five_card_hand_bonus", "amount": 200},
        {"event": "withdraw", "position": 3, "wager": "progressive"},
        {"event": "wager", "position": 3, "wager": "five_card_progressive", "amount": 100},
        {"event": "same_player", "position": 3, "same": True},
        {"event": "lockout"},
        {"event": "chips", "count": 1},
        {"event": "hand", "position": 3, "cards": ["As", "Ks", "Qs"]},
        {"event": "hand", "position": 4, "cards": ["2h", "7d", "9c"]},
        {"event": "fold", "position": 4, "cards": "collected"},
        {"event": "retract", "what": "fold", "position": 4},
        {"event": "dealer", "cards": ["3h", "8d", "Kc"]},
        {"event": "community", "cards": ["Js", "Ts"]},
        {"event": "settle"},
        {"event": "void", "reason": "misdeal"},
        {"event": "next"},
        {"event": "repeat"},
        {"event": "done", "round": "R1"},
    )
)
LINE: Final = {
    "position": 3, "item": "five_card_progressive", "outcome": "paid", "hand": "royal_flush",
    "wagered": 100, "paid": 151234, "returned": 0, "paid_from": "hand_pay", "percent": 100,
    "rule": "649a.12(h)(1)",
}  # fmt: skip
CLAIM: Final = {"claim": "one.T-1-2-1", "position": 3, "item": "five_card_progressive",
                "amount": 151234}  # fmt: skip
REPLIES: Final = tuple(
    encode(reply)
    for reply in (
        {"seq": 1, "status": "accepted", "draw": {"magic_card": "Ts", "lucky_position": 3}},
        {"seq": 1, "status": "accepted", "draw": None},
        {"seq": 1, "status": "accepted", "lines": [LINE], "claims": [CLAIM]},
        {"seq": 1, "status": "refused",
         "error": {"code": "round_open", "message": "the round is open", "field": "round"}},
        {"seq": 1, "status": "out_of_order", "expected": 42},
        {"type": "hello", "last_seq": 41, "open_round": "R1"},
        {"type": "hello", "last_seq": 0, "open_round": None},
    )
)  # fmt: skip
OTHERS: Final = tuple(
    encode(message)
    for message in (
        {"meter": "progressive", "amount": 100001, "version": 7, "cycle": 1, "state": "open",
         "at": AT},
        {"state": "operable", "reason": "", "beat": 1795000000, "at": AT},
        {"event": "validated", "claim": "one.T-1-2-1", "meter": "five_card_progressive",
         "table": "T-1", "position": 3, "item": "five_card_progressive", "hand": "royal_flush",
         "amount": 151234, "meter_after": 100000, "at": AT},
    )
)  # fmt: skip
_TOPICS: Final = (
    topics.table_in("one", "T-1"),
    topics.controller("one"),
    topics.jackpot("one"),
    topics.meter("one", "progressive"),
)


def check_state(state: TableState) -> None:
    assert _STATE.decode(msgspec.json.encode(state)) == state
    msgspec.json.encode(view_table(_LAYOUT, state, fault=None, values=_VALUES))


class Devices:
    """A table whose devices send anything; the service accepts all its events."""

    def __init__(self) -> None:
        self.table = HandTable(layout=_LAYOUT)
        self.lines = 0

    async def take(self, line: bytes) -> None:
        """Send a line: it is accepted, or it is refused and the table is unchanged."""
        self.lines += 1
        if self.lines % 400 == 0:
            self.table = HandTable(layout=_LAYOUT)
        before, sent = self.table.state, len(self.table.sent)
        answer = self.table.say_line(line)
        encoded = encode_answer(answer)
        assert decode_answer(encoded) == answer
        assert len(encoded) < 10_000 + 2 * len(line)
        if not answer.ok:
            assert len(self.table.sent) == sent
            after = msgspec.structs.replace(self.table.state, differs=before.differs)
            assert after == before
        for event in self.table.sent[sent:]:
            assert TABLE_EVENT.decode(encode_money_event(event)) == event
        check_state(self.table.state)


class Heard:
    """An agent's delivery, and a table with an unanswered event, without a broker."""

    def __init__(self) -> None:
        self.hellos: list[HelloReply] = []
        self.jackpots: list[Jackpot] = []
        agent: Any = SimpleNamespace(
            on_hello=self.hellos.append, on_jackpot=self.jackpots.append, on_behind=lambda _: None
        )
        self.delivery = EventDelivery("one", "T-1", "", agent, Timing(), meters=("progressive",))
        self.stages = [*_stages()]
        self.turn = 0

    async def take(self, payload: bytes) -> None:
        """Deliver a payload on every topic, and apply everything that was accepted."""
        self.turn += 1
        state, sent = self.stages[self.turn % len(self.stages)]
        answered: asyncio.Future[Delivered] = asyncio.get_running_loop().create_future()
        self.delivery._under_way = _UnderWay(1, b"", answered)
        for topic in _TOPICS:
            self.delivery._hear(topic, payload, retained=bool(self.turn % 2))
        self.delivery.heartbeat.fault(0.0)
        msgspec.json.encode(self.delivery.meter_values.values)
        if answered.done():
            delivered = answered.result()
            assert (delivered.reply.seq, delivered.payload) == (1, payload)
            step = absorb(_LAYOUT, state, sent, delivered.reply)
            assert decode_answer(encode_answer(step.answer)) == step.answer
            check_state(step.state)
        for hello in self.hellos:
            assert 0 <= hello.last_seq < SEQ_MAX, "a number that the outbox cannot go on from"
            has_lost_events(hello, last_seq=1, pending=True)
            check_state(reconcile(state, hello.open_round))
        for jackpot in self.jackpots:
            if jackpot.event != "hit":
                check_state(decide(state, jackpot.claim, jackpot.event))
        self.hellos.clear()
        self.jackpots.clear()


def _stages() -> list[tuple[TableState, MoneyEvent]]:
    """Return the table while its wagers, its result and its void wait for a reply."""
    accepted = Reply(seq=1, status="accepted")
    state = TableState()
    found: list[tuple[TableState, MoneyEvent]] = []
    for line in (*ROUND[:2], *ROUND[3:9], *ROUND[11:14]):
        step = play(_LAYOUT, state, parse_event(line), Stamp(len(found) + 1, _NOW))
        state = step.state
        if isinstance(step, SentStep):
            found.append((state, step.send))
            if isinstance(step.send, Wagers):
                state = absorb(_LAYOUT, state, step.send, accepted).state
    state = found[0][0]
    found.append((state, Void(seq=3, at=_NOW, round="R1", reason="misdeal")))
    return found


@asynccontextmanager
async def devices() -> AsyncIterator[Check]:
    yield Devices().take


@asynccontextmanager
async def heard() -> AsyncIterator[Check]:
    yield Heard().take


def make_line(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return a line; every second one is good, so rounds progress."""
    return random.choice(seeds) if random.random() < 0.5 else mutated(random, seeds)


def check_kept(data: bytes) -> None:
    try:
        state = _STATE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    check_state(state)


TARGETS: Final = (
    Target("devices", ROUND, devices, make_line, share=14),
    Target("replies", REPLIES, heard, share=14),
    Target("heard", OTHERS, heard, share=6),
    Target(
        "kept-state",
        tuple(msgspec.json.encode(state) for state, _ in _stages()),
        pure(check_kept),
        share=2,
    ),
)
